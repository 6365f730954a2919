//! A pose that a caller sets frame by frame, and its interpolation between two such frames.
//!
//! The last three poses are kept as keys. Between the last two the body moves on the parabola through all three, or on
//! a straight line where there is no third (after a jump). Bones turn about the middle of what they carry, so that a
//! head that turns does not come closer to the feet on its path. At the frame itself the body has exactly the pose of the key.

use glam::{Affine3A, DAffine3, DMat3, DVec3, Mat3, Mat3A, Mat4, Quat, Vec3};

use super::animation::blend;
use super::{Body, Collider, Shape};
use crate::math::bytes::{Reader, put_floats, put_u32};
use crate::math::{RigidTransform, WorldTransform, fit_rigid};
use crate::{Error, Result};

/// The pose of a body at the end of a frame.
#[derive(Debug, Clone, Copy)]
pub enum Pose<'a> {
    /// All of it moves as one: world from rest shape.
    Rigid(WorldTransform),
    /// A transform per bone of a [skinned](Body::driven) body: world from rest shape, that is the bone's matrix times
    /// its inverse bind matrix.
    Bones(&'a [BonePose]),
    /// Vertices that were skinned elsewhere (m), in the order of the body's mesh, and where they are in the world.
    /// Colliders follow the vertices around them.
    Vertices {
        /// In the frame of `world_from_mesh` (m).
        positions: &'a [Vec3],
        /// Where that frame is.
        world_from_mesh: WorldTransform,
    },
}

/// Transform of a bone from the rest shape: any linear map, so with scale, and a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BonePose {
    /// Rotation, scale and shear.
    pub linear: Mat3,
    /// In metres.
    pub translation: DVec3,
}

impl From<WorldTransform> for BonePose {
    fn from(t: WorldTransform) -> Self {
        Self { linear: Mat3::from_quat(t.rotation), translation: t.translation }
    }
}

impl From<RigidTransform> for BonePose {
    fn from(t: RigidTransform) -> Self {
        WorldTransform::from(t).into()
    }
}

impl From<DAffine3> for BonePose {
    fn from(t: DAffine3) -> Self {
        Self { linear: t.matrix3.as_mat3(), translation: t.translation }
    }
}

impl From<Mat4> for BonePose {
    fn from(t: Mat4) -> Self {
        Self { linear: Mat3::from_mat4(t), translation: t.w_axis.truncate().as_dvec3() }
    }
}

/// The kind of a pose. A pose can be converted to any later kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum PoseKind {
    /// One part that holds the whole body.
    #[default]
    Rigid,
    /// One part per bone.
    Bones,
    /// Vertices, in one part; the others are the colliders in its frame.
    Vertices,
}

/// A part of the body at a key: a linear map, factored into rotation and stretch, about a pivot of the rest shape.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    rotation: Quat,
    /// Stretch: the factor of the linear map that acts before the rotation.
    stretch: Mat3,
    /// Where the pivot is, relative to the origin (m).
    place: Vec3,
}

impl Part {
    /// Model: `A = R S` with a rotation `R` from the columns of `A`. Any `R` that is continuous in `A` suffices,
    /// because `S = R^T A` is the remainder.
    fn new(pose: &BonePose, pivot: Vec3, origin: DVec3) -> Self {
        let a = pose.linear;
        let pivot = pivot.as_dvec3();
        let place =
            DMat3::from_cols(a.x_axis.as_dvec3(), a.y_axis.as_dvec3(), a.z_axis.as_dvec3()) * pivot;
        let place = (place + (pose.translation - origin)).as_vec3();
        let x = a.x_axis.normalize_or(Vec3::X);
        let y = (a.y_axis - x * a.y_axis.dot(x)).normalize_or(x.any_orthonormal_vector());
        let rotation = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))).normalize();
        let stretch = Mat3::from_quat(rotation.conjugate()) * a;
        // A rigid bone stays exactly rigid.
        let is_rigid = stretch.abs_diff_eq(Mat3::IDENTITY, RIGID);
        Self { rotation, stretch: if is_rigid { Mat3::IDENTITY } else { stretch }, place }
    }

    fn rigid(pose: &RigidTransform, pivot: Vec3) -> Self {
        let place = pose.point(pivot);
        Self { rotation: pose.rotation, stretch: Mat3::IDENTITY, place }
    }

    fn affine(&self, pivot: Vec3) -> Affine3A {
        let matrix3 = Mat3A::from_quat(self.rotation) * Mat3A::from(self.stretch);
        let moved = matrix3 * glam::Vec3A::from(pivot);
        Affine3A { matrix3, translation: glam::Vec3A::from(self.place) - moved }
    }

    /// Between keys, about the one at the start: exactly there if none differs from it.
    fn between([before, start, end]: [&Self; 3], weights: [f32; 2]) -> Self {
        let turn = |q: Quat| {
            let by = q * start.rotation.conjugate();
            (if by.w < 0.0 { -by } else { by }).to_scaled_axis()
        };
        let turned = mix([turn(before.rotation), Vec3::ZERO, turn(end.rotation)], weights);
        let column = |i: usize| mix([before, start, end].map(|key| key.stretch.col(i)), weights);
        Self {
            rotation: (Quat::from_scaled_axis(turned) * start.rotation).normalize(),
            stretch: Mat3::from_cols(column(0), column(1), column(2)),
            place: mix([before.place, start.place, end.place], weights),
        }
    }
}

/// Largest difference of the stretch of a rigid bone from the identity: rounding of a matrix that an engine has
/// multiplied a few times.
const RIGID: f32 = 1e-5;

/// Between keys: exactly at the one at the start if none differs from it.
#[inline(always)]
fn mix([before, start, end]: [Vec3; 3], [a, b]: [f32; 2]) -> Vec3 {
    start + (before - start) * a + (end - start) * b
}

/// A pose at the end of a frame.
#[derive(Debug, Clone, Default, PartialEq)]
struct Key {
    kind: PoseKind,
    parts: Vec<Part>,
    /// In the frame of the first part, of a pose that is given by vertices.
    vertices: Vec<Vec3>,
}

/// The last poses of a driven body, and their interpolation.
#[derive(Debug, Clone, Default)]
pub(crate) struct PoseKeys {
    /// Before the start, start and end of the frame.
    keys: [Key; 3],
    /// How many of them there are, the last ones.
    count: usize,
    /// Length of the last two frames (s).
    dt: [f32; 2],
    /// Pivots of the parts, in the rest shape (m).
    pivots: Vec<Vec3>,
    middle: Vec3,
    /// Per collider: the vertices that it follows, of a pose that is given by vertices.
    anchors: Vec<Vec<usize>>,
    /// The present pose: weights of the keys against the start, none at the end; parts, and their maps.
    weights: Option<[f32; 2]>,
    now: Vec<Part>,
    maps: Vec<Affine3A>,
}

impl PoseKeys {
    /// Returns an error if a pose does not fit a body.
    pub(crate) fn check(body: &Body, pose: &Pose<'_>) -> Result<()> {
        let not_finite = |what: String| Err(Error::PoseNotFinite { what });
        let transform = |t: &WorldTransform| {
            // A quaternion of length zero is no rotation.
            t.is_finite() && t.rotation.length_squared() > 1e-6
        };
        match pose {
            Pose::Rigid(t) if !transform(t) => not_finite("the transform".into()),
            Pose::Rigid(_) => Ok(()),
            Pose::Bones(bones) => {
                let Some((expected, _)) = body.skin() else { return Err(Error::NoBones) };
                if bones.len() != expected {
                    let (what, found) = ("bones of a pose", bones.len());
                    return Err(Error::WrongCount { what, found, expected });
                }
                let bad = |b: &BonePose| !(b.linear.is_finite() && b.translation.is_finite());
                match bones.iter().position(bad) {
                    Some(bone) => not_finite(format!("bone {bone}")),
                    None => Ok(()),
                }
            }
            Pose::Vertices { positions, world_from_mesh } => {
                let (found, expected) = (positions.len(), body.rest().positions.len());
                if found != expected {
                    return Err(Error::WrongCount { what: "vertices of a pose", found, expected });
                }
                if !transform(world_from_mesh) {
                    return not_finite("the transform of its vertices".into());
                }
                match positions.iter().position(|p| !p.is_finite()) {
                    Some(vertex) => Err(Error::VertexNotFinite { vertex }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Sets a pose that [fits](Self::check) as the end of the next frame of `dt` (s), or as the only key if the body
    /// jumps there. The body is then at the start of that frame, or at its end after a jump.
    pub(crate) fn push(
        &mut self,
        body: &Body,
        pose: &Pose<'_>,
        origin: DVec3,
        dt: f32,
        jumps: bool,
    ) {
        if self.pivots.is_empty() {
            self.find_pivots(body);
        }
        self.keys.rotate_left(1);
        self.dt = [self.dt[1], dt];
        self.count = if jumps { 1 } else { (self.count + 1).min(3) };
        let (bones, middle) = (&self.pivots, self.middle);
        let key = &mut self.keys[2];
        key.parts.clear();
        key.vertices.clear();
        let unit = |t: &WorldTransform| WorldTransform { rotation: t.rotation.normalize(), ..*t };
        match pose {
            Pose::Rigid(t) => {
                key.kind = PoseKind::Rigid;
                key.parts.push(Part::new(&unit(t).into(), middle, origin));
            }
            Pose::Bones(poses) => {
                key.kind = PoseKind::Bones;
                let parts = poses.iter().zip(bones).map(|(b, p)| Part::new(b, *p, origin));
                key.parts.extend(parts);
            }
            Pose::Vertices { positions, world_from_mesh } => {
                key.kind = PoseKind::Vertices;
                key.parts.push(Part::new(&unit(world_from_mesh).into(), middle, origin));
                key.vertices.extend_from_slice(positions);
            }
        }
        // Bring all keys of the path to the same kind.
        let kinds = &self.keys[3 - self.count..];
        let kind = kinds.iter().map(|key| key.kind).max().unwrap_or_default();
        if kind == PoseKind::Vertices {
            self.find_anchors(body);
        }
        for k in 3 - self.count..3 {
            self.convert(body, k, kind);
        }
        self.set_fraction(if jumps { 1.0 } else { 0.0 });
    }

    /// Takes back the last [pushed](Self::push) pose, before the body has moved.
    pub(crate) fn take_back(&mut self) {
        self.keys.rotate_right(1);
        self.dt = [0.0, self.dt[0]];
        self.count = self.count.saturating_sub(1).max(1);
    }

    /// Sets the length (s) of the frame that ends with the last pose.
    pub(crate) fn set_frame_length(&mut self, dt: f32) {
        self.dt[1] = dt;
    }

    /// The body stands for a frame: the next one begins without velocity.
    pub(crate) fn stand(&mut self) {
        self.count = self.count.min(1);
    }

    /// Finds the pivots of the parts: the middle of the vertices that follow each.
    fn find_pivots(&mut self, body: &Body) {
        let rest = &body.rest().positions;
        let mean = |sum: DVec3, weight: f64| if weight > 0.0 { sum / weight } else { DVec3::ZERO };
        let all: DVec3 = rest.iter().map(|p| p.as_dvec3()).sum();
        self.middle = mean(all, rest.len() as f64).as_vec3();
        let (count, weights) = body.skin().unwrap_or((1, &[]));
        let mut sums = vec![(DVec3::ZERO, 0.0); count];
        for (p, weights) in rest.iter().zip(weights) {
            for &(bone, w) in weights.iter().filter(|(_, w)| *w > 0.0) {
                let (sum, weight) = &mut sums[usize::from(bone)];
                *sum += p.as_dvec3() * f64::from(w);
                *weight += f64::from(w);
            }
        }
        // A bone without vertices may carry a collider.
        let middle = self.middle.as_dvec3();
        let of = |(sum, weight): (DVec3, f64)| if weight > 0.0 { sum / weight } else { middle };
        self.pivots = sums.into_iter().map(|sum| of(sum).as_vec3()).collect();
    }

    /// Finds the vertices that colliders follow, unless they are known.
    fn find_anchors(&mut self, body: &Body) {
        if self.anchors.len() != body.colliders().len() {
            self.anchors = body.colliders().iter().map(|c| body.vertices_around(c)).collect();
        }
    }

    /// Clears the data of colliders, because they have been replaced. The body does not move.
    pub(crate) fn change_colliders(&mut self, body: &Body) {
        self.anchors.clear();
        if self.count == 0 || self.keys[2].kind != PoseKind::Vertices {
            return;
        }
        self.find_anchors(body);
        for k in 3 - self.count..3 {
            self.keys[k].parts.truncate(1);
            self.fit_colliders(body, k);
        }
        self.set_fraction(1.0);
    }

    /// Makes key `k` one of this kind or of a later one.
    fn convert(&mut self, body: &Body, k: usize, kind: PoseKind) {
        let key = &mut self.keys[k];
        if key.kind == kind && kind != PoseKind::Vertices {
            return;
        }
        if kind == PoseKind::Bones {
            let map = key.parts[0].affine(self.middle);
            let (whole, count) = (key.parts[0], self.pivots.len());
            key.parts.resize(count, whole);
            for (part, pivot) in key.parts.iter_mut().zip(&self.pivots) {
                part.place = map.transform_point3(*pivot);
            }
            key.kind = kind;
            return;
        }
        if key.kind != PoseKind::Vertices {
            let rest = &body.rest().positions;
            match body.skin().filter(|_| key.kind == PoseKind::Bones) {
                Some((_, weights)) => {
                    let pairs = key.parts.iter().zip(&self.pivots);
                    self.maps.clear();
                    self.maps.extend(pairs.map(|(part, pivot)| part.affine(*pivot)));
                    let posed = rest.iter().zip(weights);
                    key.vertices.extend(posed.map(|(p, w)| blend(*p, w, &self.maps)));
                    key.parts.clear();
                    key.parts.push(Part::rigid(&RigidTransform::IDENTITY, self.middle));
                }
                None => key.vertices.extend_from_slice(rest),
            }
            key.kind = kind;
        }
        if key.parts.len() == 1 {
            self.fit_colliders(body, k);
        }
    }

    /// Adds a part per collider to a key that is given by vertices: the rigid motion of the vertices around it.
    fn fit_colliders(&mut self, body: &Body, k: usize) {
        let Self { keys, anchors, .. } = self;
        let key = &mut keys[k];
        for (collider, anchors) in body.colliders().iter().zip(&*anchors) {
            let (mut from, mut to) = ([Vec3::ZERO; 64], [Vec3::ZERO; 64]);
            let count = anchors.len().min(64);
            for (i, &v) in anchors.iter().take(64).enumerate() {
                (from[i], to[i]) = (body.rest().positions[v], key.vertices[v]);
            }
            let pose = fit_rigid(&from[..count], &to[..count]);
            key.parts.push(Part::rigid(&pose, collider.world_from_shape.translation));
        }
    }

    /// Whether the body moves in this frame.
    pub(crate) fn moves(&self) -> bool {
        self.count > 1 && self.keys[1] != self.keys[2]
    }

    /// Moves the body to a fraction of the frame: 0 is its start, 1 its end.
    pub(crate) fn set_fraction(&mut self, fraction: f32) {
        self.weights = (fraction < 1.0 && self.count > 1).then(|| self.weights_at(fraction));
        let [before, start, end] = path(&self.keys, self.count);
        self.now.clear();
        match self.weights {
            None => self.now.extend_from_slice(&end.parts),
            Some(weights) => {
                let parts = before.parts.iter().zip(&start.parts).zip(&end.parts);
                let between = |((before, start), end)| Part::between([before, start, end], weights);
                self.now.extend(parts.map(between));
            }
        }
        let (is_bones, middle) = (end.kind == PoseKind::Bones, self.middle);
        self.maps.clear();
        if is_bones {
            let pairs = self.now.iter().zip(&self.pivots);
            self.maps.extend(pairs.map(|(part, pivot)| part.affine(*pivot)));
        } else {
            self.maps.extend(self.now.first().map(|part| part.affine(middle)));
        }
    }

    /// Weights of `before - start` and `end - start` at a fraction of the frame.
    ///
    /// Model: with time `t` from the start, the parabola through the keys at `-a`, 0 and `b` (Lagrange):
    /// `t (t - b) / (a (a + b))` for the first, `t (t + a) / (b (a + b))` for the last. Straight without the first.
    fn weights_at(&self, fraction: f32) -> [f32; 2] {
        let [a, b] = self.dt;
        if self.count < 3 || a < b * SHORT {
            return [0.0, fraction];
        }
        let t = fraction * b;
        [t * (t - b) / (a * (a + b)), t * (t + a) / (b * (a + b))]
    }

    /// Current positions (m) of vertices, appended to `out`.
    pub(crate) fn vertices(
        &self,
        body: &Body,
        vertices: impl Iterator<Item = usize>,
        out: &mut Vec<Vec3>,
    ) {
        let [before, start, end] = path(&self.keys, self.count);
        let Some(map) = self.maps.first() else {
            return body.vertices_at(vertices, 0.0, out);
        };
        let rest = &body.rest().positions;
        match (end.kind, body.skin(), self.weights) {
            (PoseKind::Bones, Some((_, weights)), _) => {
                out.extend(vertices.map(|v| blend(rest[v], &weights[v], &self.maps)));
            }
            (PoseKind::Vertices, _, None) => {
                out.extend(vertices.map(|v| map.transform_point3(end.vertices[v])));
            }
            (PoseKind::Vertices, _, Some(weights)) => out.extend(vertices.map(|v| {
                let at = [before, start, end].map(|key| key.vertices[v]);
                map.transform_point3(mix(at, weights))
            })),
            _ => out.extend(vertices.map(|v| map.transform_point3(rest[v]))),
        }
    }

    /// Current map of a bone from the rest shape; `None` if the pose is given by vertices.
    pub(crate) fn bone(&self, bone: usize) -> Option<Affine3A> {
        match self.keys[2].kind {
            PoseKind::Vertices => None,
            PoseKind::Bones => self.maps.get(bone).copied(),
            PoseKind::Rigid => self.maps.first().copied(),
        }
    }

    /// Present pose of a collider of the body, and its shape after scale.
    pub(crate) fn collider(&self, index: usize, collider: &Collider) -> (Shape, RigidTransform) {
        let (shape, home) = (collider.shape, collider.world_from_shape);
        match self.keys[2].kind {
            PoseKind::Vertices => {
                let (Some(mesh), Some(own)) = (self.now.first(), self.now.get(1 + index)) else {
                    return (shape, home);
                };
                let place = self.maps[0].transform_point3(own.place);
                let rotation = (mesh.rotation * own.rotation * home.rotation).normalize();
                (shape, RigidTransform { rotation, translation: place })
            }
            kind => {
                let bone = if kind == PoseKind::Bones { collider.bone } else { 0 };
                let (Some(part), Some(map)) = (self.now.get(bone), self.maps.get(bone)) else {
                    return (shape, home);
                };
                let rotation = (part.rotation * home.rotation).normalize();
                let translation = map.transform_point3(home.translation);
                let scaled = scaled(shape, &(part.stretch * Mat3::from_quat(home.rotation)));
                (scaled, RigidTransform { rotation, translation })
            }
        }
    }

    /// Appends the keys, for a checkpoint. The body is at the end of a frame.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        out.push(self.count as u8);
        put_floats(out, self.dt);
        for key in &self.keys[3 - self.count..] {
            out.push(key.kind as u8);
            put_u32(out, key.parts.len() as u32);
            for part in &key.parts {
                put_floats(out, part.rotation.to_array());
                put_floats(out, part.stretch.to_cols_array());
                put_floats(out, part.place.to_array());
            }
            put_u32(out, key.vertices.len() as u32);
            put_floats(out, key.vertices.iter().flat_map(|p| p.to_array()));
        }
    }

    /// Reads what [`save`](Self::save) wrote, of a body; `None` if it is something else.
    pub(crate) fn read(from: &mut Reader<'_>, body: &Body) -> Option<Self> {
        let mut keys = Self::default();
        keys.find_pivots(body);
        keys.count = usize::from(from.u8()?);
        if !(1..=3).contains(&keys.count) {
            return None;
        }
        keys.dt = [from.f32()?, from.f32()?];
        for k in 3 - keys.count..3 {
            let (kind, parts, vertices) = match from.u8()? {
                0 => (PoseKind::Rigid, 1, 0),
                1 => (PoseKind::Bones, keys.pivots.len(), 0),
                2 => {
                    let vertices = body.rest().positions.len();
                    (PoseKind::Vertices, 1 + body.colliders().len(), vertices)
                }
                _ => return None,
            };
            let key = &mut keys.keys[k];
            key.kind = kind;
            let found = from.u32()? as usize;
            for _ in 0..(found == parts).then_some(parts)? {
                let numbers: Vec<f32> = from.floats(16)?.collect();
                key.parts.push(Part {
                    rotation: Quat::from_slice(&numbers),
                    stretch: Mat3::from_cols_slice(&numbers[4..13]),
                    place: Vec3::from_slice(&numbers[13..]),
                });
            }
            let found = from.u32()? as usize;
            let numbers: Vec<f32> =
                from.floats((found == vertices).then_some(3 * vertices)?)?.collect();
            key.vertices.extend(numbers.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)));
        }
        let valid = &keys.keys[3 - keys.count..];
        let is_finite = |part: &Part| {
            part.rotation.is_finite() && part.stretch.is_finite() && part.place.is_finite()
        };
        let fits = |key: &Key| key.kind == valid[0].kind && key.parts.iter().all(is_finite);
        if !valid.iter().all(fits) {
            return None;
        }
        if keys.keys[2].kind == PoseKind::Vertices {
            keys.find_anchors(body);
        }
        keys.set_fraction(1.0);
        Some(keys)
    }

    /// Moves everything by `by` (m), for an origin that has moved by its negative.
    pub(crate) fn shift(&mut self, by: Vec3) {
        for key in &mut self.keys {
            let count = if key.kind == PoseKind::Vertices { 1 } else { key.parts.len() };
            key.parts.iter_mut().take(count).for_each(|part| part.place += by);
        }
        self.set_fraction(1.0);
    }
}

/// The keys that the body moves along; the one at the start counts twice where there is none before.
fn path([before, start, end]: &[Key; 3], count: usize) -> [&Key; 3] {
    match count {
        3 => [before, start, end],
        2 => [start, start, end],
        _ => [end, end, end],
    }
}

/// A shape on a bone with scale: each size by the stretch along its axis, a ball by their geometric mean.
fn scaled(shape: Shape, stretch: &Mat3) -> Shape {
    if *stretch == Mat3::IDENTITY {
        return shape;
    }
    let along =
        Vec3::new(stretch.x_axis.length(), stretch.y_axis.length(), stretch.z_axis.length())
            .max(Vec3::splat(MIN_SCALE));
    if along.abs_diff_eq(Vec3::ONE, RIGID) {
        return shape;
    }
    match shape {
        Shape::Sphere { radius } => {
            Shape::Sphere { radius: radius * (along.x * along.y * along.z).cbrt() }
        }
        Shape::Ellipsoid { radii } => Shape::Ellipsoid { radii: radii * along },
        Shape::Capsule { half_height, radius } => Shape::Capsule {
            half_height: half_height * along.y,
            radius: radius * (along.x * along.z).sqrt(),
        },
        Shape::Plane => Shape::Plane,
    }
}

/// Length of the frame before, relative to that of a frame, below which it is not used for the parabola: rounding
/// of its pose would be as large as its displacement. Frames of 240 Hz and 30 Hz may follow each other.
const SHORT: f32 = 0.05;

/// Smallest scale of a collider, so that one that a bone shrinks to nothing is still a valid shape.
const MIN_SCALE: f32 = 1e-3;

#[cfg(test)]
mod tests;
