//! A body that moves: skinned to bones, or sampled at frames. Positions and velocities are defined at any time, not
//! only at frames.

use std::sync::Arc;

use glam::{Affine3A, Vec3, Vec3A};

use super::{Collider, MovingCollider, PoseKeys, TriangleMesh};
use crate::math::{RigidTransform, fit_rigid};
use crate::{Error, Result};

/// How the bones of a body move.
pub trait Motion: Send + Sync {
    /// Number of bones.
    fn bones(&self) -> usize;
    /// Transform of a bone from the rest shape at `time` (s).
    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform;
}

/// One bone that never moves.
pub struct Still;

impl Motion for Still {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, _time: f64) -> RigidTransform {
        RigidTransform::IDENTITY
    }
}

/// Bones that never move.
struct StillBones(usize);

impl Motion for StillBones {
    fn bones(&self) -> usize {
        self.0
    }
    fn world_from_rest(&self, _bone: usize, _time: f64) -> RigidTransform {
        RigidTransform::IDENTITY
    }
}

/// Up to four bones that a vertex is skinned to, with weights that add up to 1.
pub type BoneWeights = [(u16, f32); 4];

/// An animated triangle mesh and the colliders that move with it.
#[derive(Clone)]
pub struct Body {
    rest: TriangleMesh,
    deformation: Deformation,
    colliders: Vec<Collider>,
    /// Triangles that hair grows on; all of them if absent.
    scalp: Option<Arc<[u32]>>,
    /// Triangles that hair collides with in a distance field; all of them if absent.
    solid: Option<Arc<[[u32; 3]]>>,
    /// Per collider of a sampled body: the vertices whose rigid motion it follows, [`ANCHORS`] at most.
    anchors: Vec<Vec<usize>>,
}

/// The pose of a body at one time.
#[derive(Clone, Copy)]
pub(crate) enum BodyPose<'a> {
    /// Its own animation at a time (s).
    At(f64),
    /// The pose that a caller has set.
    Driven(&'a PoseKeys),
}

#[derive(Clone)]
enum Deformation {
    /// Linear blend of bone transforms.
    Skinned { weights: Vec<BoneWeights>, motion: Arc<dyn Motion> },
    /// Vertex positions at equal time steps, interpolated smoothly between.
    Sampled { frames: Arc<Vec<Vec<Vec3>>>, fps: f64 },
}

/// Number of vertices whose common rigid motion a collider of a sampled body follows: enough to average
/// out the deformation of single triangles.
const ANCHORS: usize = 64;

/// Half the time step of the central difference that gives velocities of bones (s): short against
/// any motion, long against the rounding of f32 positions.
const VELOCITY_HALF_STEP: f64 = 1e-3;

impl Body {
    /// A body that does not move.
    pub fn still(rest: TriangleMesh) -> Result<Self> {
        Self::rigid(rest, Arc::new(Still))
    }

    /// A body whose vertices all follow bone 0.
    pub fn rigid(rest: TriangleMesh, motion: Arc<dyn Motion>) -> Result<Self> {
        let weights = vec![[(0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)]; rest.positions.len()];
        Self::skinned(rest, weights, motion)
    }

    /// A body whose vertices follow bones that a caller drives; at rest until then.
    pub fn driven(rest: TriangleMesh, weights: Vec<BoneWeights>, bones: usize) -> Result<Self> {
        Self::skinned(rest, weights, Arc::new(StillBones(bones)))
    }

    /// A body whose vertices follow several bones each.
    pub fn skinned(
        rest: TriangleMesh,
        weights: Vec<BoneWeights>,
        motion: Arc<dyn Motion>,
    ) -> Result<Self> {
        rest.validate()?;
        let (found, expected) = (weights.len(), rest.positions.len());
        if found != expected {
            return Err(Error::WrongCount { what: "bone weights per vertex", found, expected });
        }
        for &(bone, weight) in weights.iter().flatten() {
            if weight != 0.0 && usize::from(bone) >= motion.bones() {
                return Err(Error::OutOfRange {
                    name: "bone of a vertex".into(),
                    value: bone.into(),
                    expected: "a bone of the motion",
                });
            }
        }
        Ok(Self {
            rest,
            deformation: Deformation::Skinned { weights, motion },
            colliders: Vec::new(),
            scalp: None,
            solid: None,
            anchors: Vec::new(),
        })
    }

    /// A body given by its vertices at frames, `fps` a second; the first frame is the rest shape.
    /// Before the first and after the last frame it stands still.
    pub fn sampled(triangles: Vec<[u32; 3]>, frames: Vec<Vec<Vec3>>, fps: f64) -> Result<Self> {
        let first = frames.first().ok_or(Error::NoTriangles)?;
        let rest = TriangleMesh { positions: first.clone(), triangles };
        rest.validate()?;
        for frame in &frames {
            if frame.len() != rest.positions.len() {
                return Err(Error::WrongCount {
                    what: "vertices per frame of the body",
                    found: frame.len(),
                    expected: rest.positions.len(),
                });
            }
            if let Some(vertex) = frame.iter().position(|p| !p.is_finite()) {
                return Err(Error::VertexNotFinite { vertex });
            }
        }
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Error::OutOfRange {
                name: "frames per second of the body".into(),
                value: fps,
                expected: "a positive number",
            });
        }
        Ok(Self {
            rest,
            deformation: Deformation::Sampled { frames: Arc::new(frames), fps },
            colliders: Vec::new(),
            scalp: None,
            solid: None,
            anchors: Vec::new(),
        })
    }

    /// Fixes colliders to the body. On a sampled body a collider follows the vertices around it,
    /// and its bone does not matter.
    pub fn with_colliders(mut self, colliders: Vec<Collider>) -> Result<Self> {
        self.set_colliders(&colliders)?;
        Ok(self)
    }

    /// Replaces the colliders. On error nothing has changed.
    pub fn set_colliders(&mut self, colliders: &[Collider]) -> Result<()> {
        for collider in colliders {
            collider.shape.validate()?;
            if let Deformation::Skinned { motion, .. } = &self.deformation
                && collider.bone >= motion.bones()
            {
                return Err(Error::OutOfRange {
                    name: "bone of a collider".into(),
                    value: collider.bone as f64,
                    expected: "a bone of the motion",
                });
            }
        }
        if matches!(self.deformation, Deformation::Sampled { .. }) {
            self.anchors = colliders.iter().map(|c| self.vertices_around(c)).collect();
        }
        self.colliders.clear();
        self.colliders.extend_from_slice(colliders);
        Ok(())
    }

    /// Limits hair to some triangles: roots that the simulation binds itself (of strips and of columns of hair meshes)
    /// are bound to these only.
    pub fn with_scalp(mut self, triangles: &[u32]) -> Result<Self> {
        self.named(triangles)?;
        self.scalp = Some(triangles.into());
        Ok(self)
    }

    /// Limits the collision of hair with the body's distance field to some triangles.
    pub fn with_solid(mut self, triangles: &[u32]) -> Result<Self> {
        self.solid = Some(self.named(triangles)?.into());
        Ok(self)
    }

    /// Triangles given by index; an error if one does not exist, or if there is none.
    fn named(&self, triangles: &[u32]) -> Result<Vec<[u32; 3]>> {
        if triangles.is_empty() {
            return Err(Error::NoTriangles);
        }
        let of = |&t: &u32| self.rest.triangles.get(t as usize).copied();
        triangles
            .iter()
            .map(|t| {
                of(t).ok_or(Error::OutOfRange {
                    name: "triangle of the body".into(),
                    value: f64::from(*t),
                    expected: "a triangle of the mesh",
                })
            })
            .collect()
    }

    /// The triangles that hair grows on, if they are limited.
    pub fn scalp(&self) -> Option<&[u32]> {
        self.scalp.as_deref()
    }

    /// The triangles of the distance field that hair collides with.
    pub fn solid(&self) -> &[[u32; 3]] {
        self.solid.as_deref().unwrap_or(&self.rest.triangles)
    }

    /// The mesh in its rest shape.
    pub fn rest(&self) -> &TriangleMesh {
        &self.rest
    }

    /// The colliders in the rest shape.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// Positions (m) of the given vertices at `time` (s), appended to `out`.
    pub fn vertices_at(
        &self,
        vertices: impl Iterator<Item = usize>,
        time: f64,
        out: &mut Vec<Vec3>,
    ) {
        self.vertices_with(vertices, time, &mut Vec::new(), out);
    }

    /// As [`Body::vertices_at`], with memory for the bones that is kept between calls.
    fn vertices_with(
        &self,
        vertices: impl Iterator<Item = usize>,
        time: f64,
        bones: &mut Vec<Affine3A>,
        out: &mut Vec<Vec3>,
    ) {
        match &self.deformation {
            Deformation::Skinned { weights, motion } => {
                bones.clear();
                bones.extend((0..motion.bones()).map(|b| {
                    let pose = motion.world_from_rest(b, time);
                    Affine3A::from_rotation_translation(pose.rotation, pose.translation)
                }));
                let rest = &self.rest.positions;
                out.extend(vertices.map(|v| blend(rest[v], &weights[v], bones)));
            }
            Deformation::Sampled { frames, fps } => {
                let sample = Sample::new(frames.len(), time * fps);
                out.extend(vertices.map(|v| sample.position(frames, v)));
            }
        }
    }

    /// Positions (m) of the given vertices in a pose, appended to `out`.
    pub(crate) fn vertices_in(
        &self,
        pose: BodyPose<'_>,
        vertices: impl Iterator<Item = usize>,
        bones: &mut Vec<Affine3A>,
        out: &mut Vec<Vec3>,
    ) {
        match pose {
            BodyPose::At(time) => self.vertices_with(vertices, time, bones, out),
            BodyPose::Driven(keys) => keys.vertices(self, vertices, out),
        }
    }

    /// Number of bones; `None` if the body is given by its vertices.
    pub fn bones(&self) -> Option<usize> {
        self.skin().map(|(count, _)| count)
    }

    /// Map of a bone from the rest shape to a pose. `None` if the pose is given by vertices: see
    /// [`vertices_of_bone`](Self::vertices_of_bone).
    pub(crate) fn bone_in(&self, pose: BodyPose<'_>, bone: usize) -> Option<Affine3A> {
        match (pose, &self.deformation) {
            (BodyPose::Driven(keys), _) => keys.bone(bone),
            (BodyPose::At(time), Deformation::Skinned { motion, .. }) => {
                let pose = motion.world_from_rest(bone, time);
                Some(Affine3A::from_rotation_translation(pose.rotation, pose.translation))
            }
            (BodyPose::At(_), Deformation::Sampled { .. }) => None,
        }
    }

    /// The vertices with the largest weights for a bone: it has their common rigid motion.
    pub(crate) fn vertices_of_bone(&self, bone: usize) -> Vec<usize> {
        let Some((_, weights)) = self.skin() else { return Vec::new() };
        let own = |v: usize| {
            let of_bone = weights[v].iter().filter(|(b, _)| usize::from(*b) == bone);
            of_bone.map(|(_, w)| *w).sum::<f32>()
        };
        let mut most: Vec<usize> = (0..weights.len()).filter(|&v| own(v) > 0.0).collect();
        most.sort_by(|&a, &b| own(b).total_cmp(&own(a)).then(a.cmp(&b)));
        most.truncate(ANCHORS);
        most
    }

    /// Number of bones, and the weights of each vertex; `None` if the body is given by its vertices.
    pub(super) fn skin(&self) -> Option<(usize, &[BoneWeights])> {
        match &self.deformation {
            Deformation::Skinned { weights, motion } => Some((motion.bones(), weights)),
            Deformation::Sampled { .. } => None,
        }
    }

    /// Positions (m) of all vertices at `time` (s).
    pub fn positions_at(&self, time: f64) -> Vec<Vec3> {
        let mut out = Vec::with_capacity(self.rest.positions.len());
        self.vertices_at(0..self.rest.positions.len(), time, &mut out);
        out
    }

    /// Velocities (m/s) of all vertices at `time` (s).
    pub fn velocities_at(&self, time: f64) -> Vec<Vec3> {
        match &self.deformation {
            Deformation::Skinned { .. } => {
                let before = self.positions_at(time - VELOCITY_HALF_STEP);
                let after = self.positions_at(time + VELOCITY_HALF_STEP);
                let rate = (0.5 / VELOCITY_HALF_STEP) as f32;
                before.iter().zip(&after).map(|(a, b)| (*b - *a) * rate).collect()
            }
            Deformation::Sampled { frames, fps } => {
                let sample = Sample::new(frames.len(), time * fps);
                let vertices = 0..self.rest.positions.len();
                vertices.map(|v| sample.velocity(frames, v) * *fps as f32).collect()
            }
        }
    }

    /// Poses of the colliders at `time` (s), world from shape, in the order of [`Body::colliders`], written over `out`.
    pub fn collider_poses_at(&self, time: f64, out: &mut Vec<RigidTransform>) {
        out.clear();
        out.extend(self.colliders.iter().enumerate().map(|(i, c)| match &self.deformation {
            Deformation::Skinned { motion, .. } => {
                motion.world_from_rest(c.bone, time) * c.world_from_shape
            }
            Deformation::Sampled { frames, fps } => {
                let sample = Sample::new(frames.len(), time * fps);
                let (mut from, mut to) = ([Vec3::ZERO; ANCHORS], [Vec3::ZERO; ANCHORS]);
                for (k, &v) in self.anchors[i].iter().enumerate() {
                    (from[k], to[k]) = (self.rest.positions[v], sample.position(frames, v));
                }
                let count = self.anchors[i].len();
                fit_rigid(&from[..count], &to[..count]) * c.world_from_shape
            }
        }));
    }

    /// The colliders during a step, from their poses at its two ends.
    pub fn moving_colliders(
        &self,
        start: &[RigidTransform],
        end: &[RigidTransform],
        out: &mut Vec<MovingCollider>,
    ) {
        out.clear();
        out.extend(self.colliders.iter().zip(start.iter().zip(end)).map(|(c, (&start, &end))| {
            MovingCollider { shape: c.shape, friction: c.friction, start, end }
        }));
    }

    /// The vertices nearest to a collider, which follows their common rigid motion.
    pub(super) fn vertices_around(&self, collider: &Collider) -> Vec<usize> {
        let centre = collider.world_from_shape.translation;
        let distance2 = |v: usize| self.rest.positions[v].distance_squared(centre);
        let mut near: Vec<usize> = (0..self.rest.positions.len()).collect();
        near.sort_by(|&a, &b| distance2(a).total_cmp(&distance2(b)).then(a.cmp(&b)));
        near.truncate(ANCHORS);
        near
    }
}

/// Position of a vertex: linear blend skinning.
#[inline]
pub(super) fn blend(rest: Vec3, weights: &BoneWeights, bones: &[Affine3A]) -> Vec3 {
    let p = Vec3A::from(rest);
    let mut sum = Vec3A::ZERO;
    for &(b, w) in weights {
        if w != 0.0 {
            sum += bones[usize::from(b)].transform_point3a(p) * w;
        }
    }
    Vec3::from(sum)
}

/// The four frames around a time, and the fraction between the middle two.
struct Sample {
    frame: [usize; 4],
    fraction: f32,
    inside: bool,
}

impl Sample {
    fn new(count: usize, at: f64) -> Self {
        let last = count - 1;
        let clamped = at.clamp(0.0, last as f64);
        let i = (clamped.floor() as usize).min(last.saturating_sub(1));
        Self {
            frame: [i.saturating_sub(1), i, (i + 1).min(last), (i + 2).min(last)],
            fraction: (clamped - i as f64) as f32,
            inside: at >= 0.0 && at <= last as f64,
        }
    }

    /// Cubic Hermite through the frames, with central differences as tangents.
    fn position(&self, frames: &[Vec<Vec3>], v: usize) -> Vec3 {
        let [a, b, c, d] = self.frame.map(|f| frames[f][v]);
        let (m0, m1) = ((c - a) * 0.5, (d - b) * 0.5);
        let t = self.fraction;
        let (t2, t3) = (t * t, t * t * t);
        b * (2.0 * t3 - 3.0 * t2 + 1.0)
            + m0 * (t3 - 2.0 * t2 + t)
            + c * (3.0 * t2 - 2.0 * t3)
            + m1 * (t3 - t2)
    }

    /// Derivative of [`Sample::position`] by the frame number.
    fn velocity(&self, frames: &[Vec<Vec3>], v: usize) -> Vec3 {
        if !self.inside {
            return Vec3::ZERO;
        }
        let [a, b, c, d] = self.frame.map(|f| frames[f][v]);
        let (m0, m1) = ((c - a) * 0.5, (d - b) * 0.5);
        let t = self.fraction;
        let t2 = t * t;
        (b - c) * (6.0 * t2 - 6.0 * t) + m0 * (3.0 * t2 - 4.0 * t + 1.0) + m1 * (3.0 * t2 - 2.0 * t)
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::super::Shape;
    use super::*;

    fn triangle() -> TriangleMesh {
        TriangleMesh { positions: vec![Vec3::X, Vec3::Y, Vec3::Z], triangles: vec![[0, 1, 2]] }
    }

    /// Turns about y at one radian per second.
    struct Turning;
    impl Motion for Turning {
        fn bones(&self) -> usize {
            2
        }
        fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
            let angle = if bone == 1 { time as f32 } else { 0.0 };
            RigidTransform { rotation: Quat::from_rotation_y(angle), translation: Vec3::ZERO }
        }
    }

    #[test]
    fn skinned_vertices_follow_their_bones_with_the_right_velocity() {
        let (still, turning) = ([(0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)], [(1, 1.0); 1]);
        let turning = [turning[0], (0, 0.0), (0, 0.0), (0, 0.0)];
        let body =
            Body::skinned(triangle(), vec![turning, still, still], Arc::new(Turning)).unwrap();
        let p = body.positions_at(0.5);
        assert!(p[0].distance(Quat::from_rotation_y(0.5) * Vec3::X) < 1e-6);
        assert_eq!(p[2], Vec3::Z);
        let v = body.velocities_at(0.5);
        assert!(v[0].distance(Vec3::Y.cross(p[0])) < 1e-3, "{}", v[0]);
        assert_eq!(v[1], Vec3::ZERO);
    }

    #[test]
    fn sampled_bodies_pass_through_their_frames_and_move_smoothly() {
        let frames: Vec<Vec<Vec3>> = (0..5)
            .map(|i| triangle().positions.iter().map(|&p| p + Vec3::X * (i * i) as f32).collect())
            .collect();
        let body = Body::sampled(vec![[0, 1, 2]], frames.clone(), 10.0).unwrap();
        for (i, frame) in frames.iter().enumerate() {
            assert!(body.positions_at(i as f64 / 10.0)[1].distance(frame[1]) < 1e-5);
        }
        // A parabola is reproduced between inner frames, velocity included.
        assert!((body.positions_at(0.15)[1].x - 2.25).abs() < 1e-5);
        assert!((body.velocities_at(0.15)[1].x - 30.0).abs() < 1e-3);
        assert_eq!(body.positions_at(9.0)[1], frames[4][1]);
        assert_eq!(body.velocities_at(9.0)[1], Vec3::ZERO);
    }

    #[test]
    fn colliders_move_with_skinned_and_with_sampled_bodies() {
        let collider = Collider::new(Shape::Sphere { radius: 0.1 }, Vec3::X, Quat::IDENTITY, 1);
        let body = Body::rigid(triangle(), Arc::new(Turning))
            .unwrap()
            .with_colliders(vec![collider])
            .unwrap();
        let mut poses = Vec::new();
        body.collider_poses_at(1.0, &mut poses);
        assert!(poses[0].translation.distance(Quat::from_rotation_y(1.0) * Vec3::X) < 1e-6);

        let turn = Quat::from_rotation_z(0.6);
        let frames =
            vec![triangle().positions, triangle().positions.iter().map(|&p| turn * p).collect()];
        let body = Body::sampled(vec![[0, 1, 2]], frames, 1.0)
            .unwrap()
            .with_colliders(vec![collider])
            .unwrap();
        body.collider_poses_at(1.0, &mut poses);
        assert!(poses[0].translation.distance(turn * Vec3::X) < 1e-5, "{:?}", poses[0]);
    }

    #[test]
    fn wrong_counts_and_bones_are_refused() {
        assert!(Body::skinned(triangle(), vec![], Arc::new(Still)).is_err());
        assert!(Body::skinned(triangle(), vec![[(7, 0.25); 4]; 3], Arc::new(Still)).is_err());
        assert!(Body::sampled(vec![[0, 1, 2]], vec![vec![Vec3::ZERO; 2]], 1.0).is_err());
        assert!(Body::sampled(vec![], vec![], 1.0).is_err());
    }
}
