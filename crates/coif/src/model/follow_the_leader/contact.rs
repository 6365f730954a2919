//! Collision on the length sphere (`muller2012` 3.1): the two free degrees of freedom of a particle
//! around its predecessor bring it out of the body, so its segment keeps its length exactly.
//!
//! Model: every collider is convex, so the tangent plane at any of its surface points has the whole
//! collider on one side. A particle inside is moved to the other side of such a plane: on the sphere
//! around the predecessor that is a circle, and the nearest of its points to the candidate has a
//! closed form. Several colliders are treated in turn; what is left after that goes to an exact
//! enumeration of the few half-spaces around the particle ([`resolve_on_sphere`]).

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};
use glam::{Mat3, Vec3};

use crate::body::{MovingCollider, Shape};
use crate::math::lanes::Vec3x;

/// How far outside of a collider a particle is put (m): ten micrometres, a quarter of a fibre's
/// radius, so that rounding does not put it back inside.
const SKIN: f32 = 1e-5;

/// Rounds over all colliders in lanes before the exact enumeration takes over.
const ROUNDS: usize = 3;

/// Rounds of the exact enumeration with tangent planes at the newest candidate, before the planes
/// that separate the predecessor from the colliders.
const EXACT_ROUNDS: usize = 2;

/// A collider laid out for a pass. Sphere, ellipsoid and capsule are one shape here: a unit ball
/// scaled along the axes and swept along y.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepCollider {
    shape_from_world: Mat3,
    centre: Vec3,
    inverse_radii: Vec3,
    half_height: f32,
    plane: bool,
    friction: f32,
    /// Velocity of the material at `p` is `spin * p + drift` (m/s).
    spin: Mat3,
    drift: Vec3,
    /// A box around it in the world (m).
    bounds: Bounds,
}

/// An axis-aligned box in the world (m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) lo: Vec3,
    pub(super) hi: Vec3,
}

impl Bounds {
    fn meet(&self, other: &Bounds) -> bool {
        self.lo.cmple(other.hi).all() && self.hi.cmpge(other.lo).all()
    }
}

/// The colliders that could touch some particles.
pub(super) struct Near<'a> {
    all: &'a [StepCollider],
    /// Indices of the near ones, unless there are more of them than fit: then all count as near.
    picked: [u16; MOST_NEAR],
    count: usize,
}

/// Most colliders that are kept apart as near.
const MOST_NEAR: usize = 48;

impl<'a> Near<'a> {
    /// None are near yet.
    pub(super) fn none(all: &'a [StepCollider]) -> Self {
        Self { all, picked: [0; MOST_NEAR], count: 0 }
    }

    /// Keeps the colliders that meet a box.
    pub(super) fn pick(&mut self, bounds: &Bounds) {
        self.count = 0;
        for (i, collider) in self.all.iter().enumerate() {
            if collider.bounds.meet(bounds) {
                if self.count < MOST_NEAR {
                    self.picked[self.count] = i as u16;
                }
                self.count += 1;
            }
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        if self.count > MOST_NEAR { self.all.len() } else { self.count }
    }

    #[inline(always)]
    fn get(&self, i: usize) -> &'a StepCollider {
        if self.count > MOST_NEAR { &self.all[i] } else { &self.all[usize::from(self.picked[i])] }
    }
}

/// A half-space that holds no part of a collider: `normal . x >= offset`.
#[derive(Debug, Clone, Copy)]
struct HalfSpace {
    normal: Vec3,
    offset: f32,
}

/// What touched a particle: enough for friction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    /// Out of the surface.
    pub(super) normal: Vec3,
    /// How deep the candidate was (m).
    pub(super) depth: f32,
    /// Velocity of the surface (m/s).
    pub(super) velocity: Vec3,
    /// Coulomb friction.
    pub(super) friction: f32,
}

impl StepCollider {
    pub(super) fn new(collider: &MovingCollider, dt: f32) -> Self {
        let (inverse_radii, half_height, plane) = match collider.shape {
            Shape::Sphere { radius } => (Vec3::splat(1.0 / (radius + SKIN)), 0.0, false),
            Shape::Ellipsoid { radii } => (1.0 / (radii + SKIN), 0.0, false),
            Shape::Capsule { half_height, radius } => {
                (Vec3::splat(1.0 / (radius + SKIN)), half_height, false)
            }
            Shape::Plane => (Vec3::ONE, 0.0, true),
        };
        let world_from_shape = Mat3::from_quat(collider.end.rotation);
        let centre = collider.end.translation
            + if plane { world_from_shape * Vec3::new(0.0, SKIN, 0.0) } else { Vec3::ZERO };
        // The material point at p came from `back(p)`: its velocity is the difference over dt.
        let back = collider.start * collider.end.inverse();
        // Half extents of a turned ellipsoid, plus those of the piece of axis it is swept along.
        let extent = if plane {
            Vec3::INFINITY
        } else {
            let m = world_from_shape;
            let radii = 1.0 / inverse_radii;
            let scaled = [m.x_axis * radii.x, m.y_axis * radii.y, m.z_axis * radii.z];
            let round = scaled.iter().map(|c| *c * *c).sum::<Vec3>();
            Vec3::new(round.x.sqrt(), round.y.sqrt(), round.z.sqrt()) + m.y_axis.abs() * half_height
        };
        Self {
            bounds: Bounds { lo: centre - extent, hi: centre + extent },
            shape_from_world: world_from_shape.transpose(),
            centre,
            inverse_radii,
            half_height,
            plane,
            friction: collider.friction,
            spin: (Mat3::IDENTITY - Mat3::from_quat(back.rotation)) * (1.0 / dt),
            drift: -back.translation / dt,
        }
    }

    /// The tangent plane that a point inside is nearest to in the collider's own scale, and how far
    /// the point is from it (negative inside). `None` outside.
    pub(super) fn inside(&self, p: Vec3) -> Option<(Vec3, f32)> {
        let mut q = self.shape_from_world * (p - self.centre);
        let (normal, distance) = if self.plane {
            (Vec3::Y, q.y)
        } else {
            q.y -= q.y.clamp(-self.half_height, self.half_height);
            let s = q * self.inverse_radii;
            let level2 = s.dot(s);
            if level2 >= 1.0 {
                return None;
            }
            self.tangent(q, s, level2)
        };
        (distance < 0.0).then(|| (self.shape_from_world.transpose() * normal, distance))
    }

    /// Tangent plane at the surface point on the ray from the axis through `q`.
    fn tangent(&self, q: Vec3, s: Vec3, level2: f32) -> (Vec3, f32) {
        let level = level2.sqrt().max(1e-6);
        let gradient = s * self.inverse_radii;
        let size = gradient.length();
        let normal = if size > 1e-12 { gradient * (1.0 / size) } else { Vec3::X };
        (normal, (1.0 - 1.0 / level) * q.dot(normal))
    }

    /// A half-space free of the collider that is good around `p`, inside or outside.
    fn half_space(&self, p: Vec3) -> HalfSpace {
        let world_from_shape = self.shape_from_world.transpose();
        let mut q = self.shape_from_world * (p - self.centre);
        let (normal, distance) = if self.plane {
            (Vec3::Y, q.y)
        } else {
            q.y -= q.y.clamp(-self.half_height, self.half_height);
            let s = q * self.inverse_radii;
            self.tangent(q, s, s.dot(s))
        };
        let normal = world_from_shape * normal;
        HalfSpace { normal, offset: normal.dot(p) - distance }
    }

    /// Velocity (m/s) of the material at `p`.
    pub(super) fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.spin * p + self.drift
    }

    /// Coulomb friction.
    pub(super) fn friction(&self) -> f32 {
        self.friction
    }
}

/// The result of a collision in lanes.
#[derive(Clone, Copy)]
pub(super) struct LaneContact<S: Simd> {
    /// Where the particles are now.
    pub(super) position: Vec3x<S>,
    /// What to take off their velocities (m/s).
    pub(super) brake: Vec3x<S>,
    /// How many could not be brought out.
    pub(super) unresolved: u32,
}

/// Moves candidates `p` on the spheres of radius `length` around `parent` out of the near colliders.
///
/// `before` is where the particles were at the start of the step, `ahead` a direction to slide to
/// when a segment points straight into a surface.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn collide<S: Simd>(
    simd: S,
    near: &Near<'_>,
    active: mask32x16<S>,
    parent: Vec3x<S>,
    length: f32x16<S>,
    ahead: Vec3x<S>,
    mut p: Vec3x<S>,
    before: Vec3x<S>,
    inverse_dt: f32,
) -> LaneContact<S> {
    let zero = Vec3x::splat(simd, Vec3::ZERO);
    let mut contact = LaneContact { position: p, brake: zero, unresolved: 0 };
    let mut touched = false;
    let mut normal = zero;
    let mut depth = f32x16::splat(simd, 0.0);
    let mut surface = zero;
    let mut friction = f32x16::splat(simd, 0.0);
    let mut hit = true;
    for _round in 0..ROUNDS {
        hit = false;
        for collider in (0..near.len()).map(|i| near.get(i)) {
            // Test which lanes are inside.
            let q = to_shape(simd, collider, p);
            let (q, level2) = level_of(simd, collider, q);
            let inside = level2.simd_lt(1.0) & active;
            if !inside.any_true() {
                continue;
            }
            (hit, touched) = (true, true);
            // Find the tangent plane, and turn the segment onto it.
            let (n, distance) = tangent_of(simd, collider, q, level2);
            let turned = onto_plane(parent, length, p, ahead, n, distance);
            // Remember the touch for friction.
            let deeper = inside & (-distance).simd_gt(depth);
            depth = deeper.select(-distance, depth);
            normal = n.or(inside, normal);
            surface = material_velocity(simd, collider, p).or(inside, surface);
            friction = inside.select(f32x16::splat(simd, collider.friction), friction);
            p = turned.or(inside, p);
        }
        if !hit {
            break;
        }
    }
    if !touched {
        return contact;
    }
    if hit {
        // Settle what the rounds left open, lane by lane.
        let bits = active.to_bitmask();
        for lane in (0..crate::math::LANES).filter(|l| bits & (1 << l) != 0) {
            let candidate = p.lane(lane);
            if near.all.iter().any(|c| c.inside(candidate).is_some()) {
                let (found, free) =
                    resolve_on_sphere(near.all, parent.lane(lane), length[lane], candidate);
                p.set_lane(lane, found);
                contact.unresolved += u32::from(!free);
            }
        }
    }
    contact.position = p;
    // Stop the motion into the surface; slow the sliding down by Coulomb's law.
    let relative = (p - before) * f32x16::splat(simd, inverse_dt) - surface;
    let across = normal * relative.dot(normal);
    let sliding = relative - across;
    let speed = sliding.length();
    let most = friction * depth * inverse_dt;
    let share = (most / speed.max(f32x16::splat(simd, 1e-9))).min(f32x16::splat(simd, 1.0));
    contact.brake = (across + sliding * share).or(depth.simd_gt(0.0), zero);
    contact
}

#[inline(always)]
fn to_shape<S: Simd>(simd: S, c: &StepCollider, p: Vec3x<S>) -> Vec3x<S> {
    let d = p - Vec3x::splat(simd, c.centre);
    let m = &c.shape_from_world;
    Vec3x {
        x: d.x * m.x_axis.x + d.y * m.y_axis.x + d.z * m.z_axis.x,
        y: d.x * m.x_axis.y + d.y * m.y_axis.y + d.z * m.z_axis.y,
        z: d.x * m.x_axis.z + d.y * m.y_axis.z + d.z * m.z_axis.z,
    }
}

/// The point relative to the axis, and a level that is below one inside.
#[inline(always)]
fn level_of<S: Simd>(simd: S, c: &StepCollider, mut q: Vec3x<S>) -> (Vec3x<S>, f32x16<S>) {
    if c.plane {
        return (q, q.y + 1.0);
    }
    if c.half_height > 0.0 {
        let lo = f32x16::splat(simd, -c.half_height);
        let hi = f32x16::splat(simd, c.half_height);
        q.y = q.y - q.y.max(lo).min(hi);
    }
    let (x, y, z) = (q.x * c.inverse_radii.x, q.y * c.inverse_radii.y, q.z * c.inverse_radii.z);
    (q, x * x + y * y + z * z)
}

/// Lane form of [`StepCollider::tangent`]; the normal is turned into the world.
#[inline(always)]
fn tangent_of<S: Simd>(
    simd: S,
    c: &StepCollider,
    q: Vec3x<S>,
    level2: f32x16<S>,
) -> (Vec3x<S>, f32x16<S>) {
    let (local, distance) = if c.plane {
        (Vec3x::splat(simd, Vec3::Y), q.y)
    } else {
        let level = level2.sqrt().max(f32x16::splat(simd, 1e-6));
        let g = c.inverse_radii * c.inverse_radii;
        let gradient = Vec3x { x: q.x * g.x, y: q.y * g.y, z: q.z * g.z };
        let size = gradient.length();
        let scale = f32x16::splat(simd, 1.0) / size.max(f32x16::splat(simd, 1e-12));
        let normal = (gradient * scale).or(size.simd_gt(1e-12), Vec3x::splat(simd, Vec3::X));
        let distance =
            (f32x16::splat(simd, 1.0) - f32x16::splat(simd, 1.0) / level) * q.dot(normal);
        (normal, distance)
    };
    let m = &c.shape_from_world;
    let world = Vec3x {
        x: local.x * m.x_axis.x + local.y * m.x_axis.y + local.z * m.x_axis.z,
        y: local.x * m.y_axis.x + local.y * m.y_axis.y + local.z * m.y_axis.z,
        z: local.x * m.z_axis.x + local.y * m.z_axis.y + local.z * m.z_axis.z,
    };
    (world, distance)
}

#[inline(always)]
fn material_velocity<S: Simd>(simd: S, c: &StepCollider, p: Vec3x<S>) -> Vec3x<S> {
    let m = &c.spin;
    Vec3x {
        x: p.x * m.x_axis.x + p.y * m.y_axis.x + p.z * m.z_axis.x,
        y: p.x * m.x_axis.y + p.y * m.y_axis.y + p.z * m.z_axis.y,
        z: p.x * m.x_axis.z + p.y * m.y_axis.z + p.z * m.z_axis.z,
    } + Vec3x::splat(simd, c.drift)
}

/// The point of the circle where the plane `distance` away from `p` cuts the sphere around
/// `parent`, nearest to `p`. Where the plane misses the sphere, the point nearest to the plane.
#[inline(always)]
fn onto_plane<S: Simd>(
    parent: Vec3x<S>,
    length: f32x16<S>,
    p: Vec3x<S>,
    ahead: Vec3x<S>,
    n: Vec3x<S>,
    distance: f32x16<S>,
) -> Vec3x<S> {
    let simd = length.simd;
    let one = f32x16::splat(simd, 1.0);
    let inverse = one / length;
    let along = (p - parent) * inverse;
    // The parent's height over the plane fixes the part of the new direction along the normal.
    let height = distance + (parent - p).dot(n);
    let lift = (-height * inverse).max(-one).min(one);
    // The rest of the direction is kept; straight into the surface, slide ahead instead.
    let mut tangent = along - n * along.dot(n);
    let slide = ahead - n * ahead.dot(n);
    tangent = tangent.or(tangent.length().simd_gt(1e-3), slide);
    let side = Vec3x { x: n.y, y: n.z, z: n.x }.cross(n);
    tangent = tangent.or(tangent.length().simd_gt(1e-3), side);
    let scale = (one - lift * lift).max(f32x16::splat(simd, 0.0)).sqrt()
        / tangent.length().max(f32x16::splat(simd, 1e-12));
    let u = n * lift + tangent * scale;
    parent + u * (length / u.length().max(f32x16::splat(simd, 1e-12)))
}

/// The point of the sphere of radius `length` around `parent` that is outside of all colliders and
/// near to `candidate`, and whether there is one; otherwise the point that is least deep.
///
/// Model: take one half-space free of each collider. The feasible point nearest to the candidate is
/// the candidate, or lies on one circle, or where two circles meet: all of these are tried. Tangents
/// near the candidate give the nearest answer, but may close off the way between two colliders;
/// tangents that separate the predecessor from each collider leave a way out of every crease.
pub(super) fn resolve_on_sphere(
    colliders: &[StepCollider],
    parent: Vec3,
    length: f32,
    candidate: Vec3,
) -> (Vec3, bool) {
    let mut best = (candidate, depth_at(colliders, candidate));
    let mut tangent_at = candidate;
    for round in 0..=EXACT_ROUNDS {
        if round == EXACT_ROUNDS {
            tangent_at = parent;
        }
        let planes: Vec<HalfSpace> = colliders
            .iter()
            .map(|collider| collider.half_space(tangent_at))
            .filter(|plane| plane.normal.dot(parent) - plane.offset < length)
            .collect();
        let Some(next) = nearest_allowed(&planes, parent, length, candidate) else { break };
        let depth = depth_at(colliders, next);
        if depth < best.1 {
            best = (next, depth);
        }
        if depth == 0.0 {
            break;
        }
        tangent_at = next;
    }
    (best.0, best.1 <= 0.0)
}

/// How deep a point is inside (m, measured to tangent planes), 0 outside.
fn depth_at(colliders: &[StepCollider], p: Vec3) -> f32 {
    colliders.iter().filter_map(|c| c.inside(p)).map(|(_, d)| -d).fold(0.0, f32::max)
}

/// The point of the sphere nearest to `candidate` that no half-space forbids, otherwise the least
/// forbidden. `None` without half-spaces.
fn nearest_allowed(
    planes: &[HalfSpace],
    parent: Vec3,
    length: f32,
    candidate: Vec3,
) -> Option<Vec3> {
    let cost = |p: Vec3| {
        let worst = planes.iter().map(|h| h.offset - h.normal.dot(p)).fold(0.0f32, f32::max);
        let forbidden = if worst > 1e-6 { 1e3 + worst * 1e6 } else { 0.0 };
        forbidden + p.distance(candidate)
    };
    let mut best: Option<(Vec3, f32)> = None;
    let mut consider = |p: Vec3| {
        let cost = cost(p);
        if best.is_none_or(|(_, least)| cost < least) {
            best = Some((p, cost));
        }
    };
    for (i, a) in planes.iter().enumerate() {
        consider(nearest_on_circle(parent, length, candidate, a));
        for b in &planes[..i] {
            circles_meet(parent, length, a, b).into_iter().flatten().for_each(&mut consider);
        }
    }
    best.map(|(p, _)| p)
}

/// Scalar form of `onto_plane` with an absolute half-space.
fn nearest_on_circle(parent: Vec3, length: f32, p: Vec3, h: &HalfSpace) -> Vec3 {
    let lift = ((h.offset - h.normal.dot(parent)) / length).clamp(-1.0, 1.0);
    let along = (p - parent) / length;
    let tangent = (along - h.normal * along.dot(h.normal))
        .try_normalize()
        .unwrap_or_else(|| h.normal.any_orthonormal_vector());
    parent + (h.normal * lift + tangent * (1.0 - lift * lift).max(0.0).sqrt()) * length
}

/// The two points of the sphere that lie on both planes, if they meet there.
fn circles_meet(parent: Vec3, length: f32, a: &HalfSpace, b: &HalfSpace) -> Option<[Vec3; 2]> {
    let (ha, hb) =
        ((a.offset - a.normal.dot(parent)) / length, (b.offset - b.normal.dot(parent)) / length);
    let c = a.normal.dot(b.normal);
    let det = 1.0 - c * c;
    if det < 1e-6 {
        return None;
    }
    let base = a.normal * ((ha - c * hb) / det) + b.normal * ((hb - c * ha) / det);
    let rest = 1.0 - base.length_squared();
    if rest < 0.0 {
        return None;
    }
    let side = a.normal.cross(b.normal).normalize_or_zero() * rest.sqrt();
    Some([side, -side].map(|s| parent + (base + s).normalize_or(a.normal) * length))
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use proptest::prelude::*;

    use super::*;
    use crate::math::RigidTransform;

    fn fixed(shape: Shape, centre: Vec3, rotation: Quat) -> StepCollider {
        let pose = RigidTransform { rotation, translation: centre };
        StepCollider::new(&MovingCollider { shape, friction: 0.3, start: pose, end: pose }, 0.01)
    }

    fn vec3(size: f32) -> impl Strategy<Value = Vec3> {
        (-size..size, -size..size, -size..size).prop_map(Vec3::from)
    }

    proptest! {
        /// In a corner of two colliders the answer has the right length and is outside of both,
        /// wherever the predecessor is outside.
        #[test]
        fn corners_are_left_at_the_right_length(
            parent in vec3(0.3), direction in vec3(1.0), turn in -3.0f32..3.0
        ) {
            let colliders = [
                fixed(
                    Shape::Ellipsoid { radii: Vec3::new(0.1, 0.15, 0.12) },
                    Vec3::ZERO, Quat::from_rotation_z(turn)
                ),
                fixed(
                    Shape::Capsule { half_height: 0.2, radius: 0.06 },
                    Vec3::new(0.12, -0.1, 0.0), Quat::from_rotation_x(turn)
                ),
                fixed(Shape::Plane, Vec3::Y * -0.2, Quat::IDENTITY),
            ];
            prop_assume!(colliders.iter().all(|c| c.inside(parent).is_none()));
            let length = 0.012;
            let candidate = parent + direction.normalize_or(Vec3::X) * length;
            let (p, free) = resolve_on_sphere(&colliders, parent, length, candidate);
            prop_assert!(free);
            prop_assert!((p.distance(parent) / length - 1.0).abs() < 1e-4);
            prop_assert!(colliders.iter().all(|c| c.inside(p).is_none()));
        }
    }

    #[test]
    fn where_no_point_is_free_length_wins_and_it_is_said() {
        // The predecessor sits in the middle of a ball that the segment cannot leave.
        let ball = [fixed(Shape::Sphere { radius: 0.5 }, Vec3::ZERO, Quat::IDENTITY)];
        let (p, free) = resolve_on_sphere(&ball, Vec3::X * 0.1, 0.01, Vec3::X * 0.09);
        assert!(!free);
        assert!((p.distance(Vec3::X * 0.1) - 0.01).abs() < 1e-6);
        assert!(p.x > 0.105, "it should at least head out: {p}");
    }

    proptest! {
        /// No point inside a collider is outside of its box.
        #[test]
        fn boxes_hold_their_colliders(p in vec3(0.4), turn in -3.0f32..3.0) {
            let turn = Quat::from_rotation_z(turn) * Quat::from_rotation_x(turn * 0.7);
            for shape in [
                Shape::Ellipsoid { radii: Vec3::new(0.1, 0.3, 0.05) },
                Shape::Capsule { half_height: 0.2, radius: 0.06 },
                Shape::Plane,
            ] {
                let collider = fixed(shape, Vec3::new(0.05, 0.0, 0.0), turn);
                let here = Bounds { lo: p, hi: p };
                prop_assert!(collider.inside(p).is_none() || collider.bounds.meet(&here));
            }
        }
    }

    #[test]
    fn a_free_candidate_stays() {
        let ball = [fixed(Shape::Sphere { radius: 0.5 }, Vec3::ZERO, Quat::IDENTITY)];
        let candidate = Vec3::X * 0.7;
        let (p, free) = resolve_on_sphere(&ball, Vec3::X * 0.69, 0.01, candidate);
        assert!(free);
        assert!(p.distance(candidate) < 1e-6);
    }
}
