//! Collision on the length sphere (`muller2012` 3.1): the two free degrees of freedom of a particle
//! around its predecessor bring it out of the body, so its segment keeps its length exactly.
//!
//! Model: every collider is convex, so the tangent plane at any of its surface points has the whole
//! collider on one side. A particle inside is moved to the other side of such a plane: on the sphere
//! around the predecessor that is a circle, and the nearest of its points to the candidate has a
//! closed form. Several colliders are treated in turn; what is left after that goes to an exact
//! enumeration of the few half-spaces around the particle (`on_sphere.rs`).

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::Pass;
use super::collider::{Near, Obstacles, StepCollider};
use super::on_sphere::resolve_on_sphere;
use crate::math::lanes::Vec3x;
use crate::model::FieldObstacle;

/// Rounds over all colliders in lanes before the exact enumeration takes over.
const ROUNDS: usize = 3;

/// Rounds in a distance field, whose surface is curved and whose planes are not exact.
const FIELD_ROUNDS: usize = 4;

/// Largest slope of an interpolated distance: a little more than that of an exact one.
const SLOPE: f32 = 1.2;

/// The result of a collision in lanes.
pub(super) struct LaneContact<S: Simd> {
    /// Whether anything was touched; if not, the rest says nothing.
    pub(super) touched: bool,
    /// Where the particles are now.
    pub(super) position: Vec3x<S>,
    /// What to take off their velocities (m/s).
    pub(super) brake: Vec3x<S>,
    /// How many could not be brought out.
    pub(super) unresolved: u32,
    /// Least distance from the surface of a distance field (m).
    pub(super) clear: f32x16<S>,
}

/// Sixteen segments: from where, and how long.
#[derive(Clone, Copy)]
pub(super) struct Segment<S: Simd> {
    pub(super) parent: Vec3x<S>,
    pub(super) grandparent: Vec3x<S>,
    pub(super) length: f32x16<S>,
    /// The inner ends are at least this far from the surface of a distance field (m).
    pub(super) clear: f32x16<S>,
}

/// What has been touched, for friction.
struct Touch<S: Simd> {
    normal: Vec3x<S>,
    depth: f32x16<S>,
    surface: Vec3x<S>,
    friction: f32x16<S>,
    restitution: f32x16<S>,
}

impl<S: Simd> Touch<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        let (zero, none) = (Vec3x::splat(simd, Vec3::ZERO), f32x16::splat(simd, 0.0));
        Self { normal: zero, depth: none, surface: zero, friction: none, restitution: none }
    }

    /// Stops the motion into the surface, or turns it round; slows the sliding by Coulomb's law.
    #[inline(always)]
    fn brake(&self, simd: S, moved: Vec3x<S>, inverse_dt: f32) -> Vec3x<S> {
        let zero = f32x16::splat(simd, 0.0);
        let relative = moved * f32x16::splat(simd, inverse_dt) - self.surface;
        let speed_out = relative.dot(self.normal);
        let across = self.normal * speed_out;
        let sliding = relative - across;
        let speed = sliding.length();
        let most = self.friction * self.depth * inverse_dt;
        let share = (most / speed.max(f32x16::splat(simd, 1e-9))).min(f32x16::splat(simd, 1.0));
        // The candidate came in with the depth over the step.
        let bounce = self.normal * (self.restitution * self.depth * inverse_dt);
        (across + sliding * share - bounce)
            .or(self.depth.simd_gt(zero), Vec3x::splat(simd, Vec3::ZERO))
    }
}

/// Moves candidates `p` on the spheres around the segments' inner ends out of the body. `before` is
/// where the particles were at the start of the step.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn collide<S: Simd>(
    simd: S,
    near: &Near<'_>,
    obstacles: &Obstacles<'_>,
    active: mask32x16<S>,
    segment: &Segment<S>,
    candidate: Vec3x<S>,
    before: Vec3x<S>,
    pass: &Pass,
) -> LaneContact<S> {
    let mut p = candidate;
    let mut touched = false;
    let mut touch = Touch::none(simd);
    let mut hit = true;
    for _round in 0..ROUNDS {
        hit = false;
        for collider in (0..near.len()).map(|i| near.get(i)) {
            // Test which lanes are inside.
            let level2 = level_of(simd, collider, p);
            let inside = level2.simd_lt(1.0) & active;
            if !inside.any_true() {
                continue;
            }
            (hit, touched) = (true, true);
            // Find the tangent plane, and turn the segment onto it.
            let (n, distance) = tangent_of(simd, collider, p, level2);
            let turned = onto_plane(segment, p, n, distance);
            // Remember the touch for friction.
            let deeper = inside & (-distance).simd_gt(touch.depth);
            touch.depth = deeper.select(-distance, touch.depth);
            touch.normal = n.or(inside, touch.normal);
            touch.surface = material_velocity(simd, collider, p).or(inside, touch.surface);
            touch.friction = inside.select(f32x16::splat(simd, collider.friction), touch.friction);
            p = turned.or(inside, p);
        }
        if !hit {
            break;
        }
    }
    let mut unresolved = 0;
    if touched && hit {
        // Settle what the rounds left open, lane by lane.
        let bits = active.to_bitmask();
        for lane in (0..crate::math::LANES).filter(|l| bits & (1 << l) != 0) {
            let candidate = p.lane(lane);
            if near.all.iter().any(|c| c.inside(candidate).is_some()) {
                let parent = segment.parent.lane(lane);
                let (found, free) =
                    resolve_on_sphere(near.all, parent, segment.length[lane], candidate);
                p.set_lane(lane, found);
                unresolved += u32::from(!free);
            }
        }
    }
    let mut clear = segment.clear;
    if let Some(field) = obstacles.field {
        let (inside, stuck) =
            leave_field(simd, field, active, segment, &mut p, &mut touch, &mut clear);
        touched |= inside;
        unresolved += stuck;
    }
    let brake = if touched { touch.brake(simd, p - before, 1.0 / pass.dt) } else { touch.normal };
    LaneContact { touched, position: p, brake, unresolved, clear }
}

/// Moves particles out of a distance field, as [`collide`] does with shapes: onto the plane through
/// the nearest point of the surface, a few times, since the surface is curved. Says whether any was
/// inside, and how many still are.
#[inline(always)]
fn leave_field<S: Simd>(
    simd: S,
    obstacle: &FieldObstacle<'_>,
    active: mask32x16<S>,
    segment: &Segment<S>,
    p: &mut Vec3x<S>,
    touch: &mut Touch<S>,
    clear: &mut f32x16<S>,
) -> (bool, u32) {
    // A point is at most a length nearer to the surface than its predecessor: where that is not near
    // enough, do not ask.
    *clear = segment.clear - segment.length * SLOPE;
    let near = clear.simd_lt(obstacle.skin) & active;
    let mut asked = near.to_bitmask() as u32;
    let mut any = false;
    for round in 0..=FIELD_ROUNDS {
        // Ask the field lane by lane.
        let mut inside = 0u32;
        let mut distances = f32x16::splat(simd, 0.0);
        for lane in bits(asked) {
            let d = obstacle.field.distance_at(p.lane(lane)) - obstacle.skin;
            clear[lane] = d;
            if d < 0.0 {
                inside |= 1 << lane;
                distances[lane] = d;
            }
        }
        if inside == 0 {
            return (any, 0);
        }
        if round == FIELD_ROUNDS {
            // What is left is in a fold: look all around.
            let mut stuck = 0;
            for lane in bits(inside) {
                let start = p.lane(lane);
                let (found, free) =
                    search_field(obstacle, segment.parent.lane(lane), segment.length[lane], start);
                p.set_lane(lane, found);
                stuck += u32::from(!free);
            }
            return (any, stuck);
        }
        any = true;
        asked = inside;
        let mut n = Vec3x::splat(simd, Vec3::Y);
        let mut velocity = Vec3x::splat(simd, Vec3::ZERO);
        for lane in bits(inside) {
            let sample = obstacle.field.sample(p.lane(lane));
            n.set_lane(lane, sample.gradient);
            velocity.set_lane(lane, sample.velocity);
        }
        let mask = mask32x16::from_bitmask(simd, u64::from(inside));
        let turned = onto_plane(segment, *p, n, distances);
        let deeper = mask & (-distances).simd_gt(touch.depth);
        touch.depth = deeper.select(-distances, touch.depth);
        touch.normal = n.or(mask, touch.normal);
        touch.surface = velocity.or(mask, touch.surface);
        touch.friction = mask.select(f32x16::splat(simd, obstacle.friction), touch.friction);
        touch.restitution =
            mask.select(f32x16::splat(simd, obstacle.restitution), touch.restitution);
        *p = turned.or(mask, *p);
    }
    (any, 0)
}

/// The place outside of a distance field on the sphere of radius `length` around `parent` that is
/// nearest to `start`, of a few dozen that are looked at; the least deep if there is none, and whether
/// there is one.
fn search_field(
    obstacle: &FieldObstacle<'_>,
    parent: Vec3,
    length: f32,
    start: Vec3,
) -> (Vec3, bool) {
    let along = (start - parent).normalize_or(Vec3::Y);
    let out = obstacle.field.sample(parent).gradient;
    let side = along.any_orthonormal_vector();
    let other = along.cross(side);
    let mut best = (start, obstacle.field.distance_at(start) - obstacle.skin, 0.0f32);
    let mut consider = |direction: Vec3| {
        let p = parent + direction.normalize_or(along) * length;
        let depth = (obstacle.field.distance_at(p) - obstacle.skin).min(0.0);
        let turn = p.distance_squared(start);
        if depth > best.1 || (depth == 0.0 && best.1 == 0.0 && turn < best.2) {
            best = (p, depth, turn);
        }
    };
    consider(out);
    // Circles around the direction that was wanted, wider and wider.
    for ring in 1..=6u8 {
        let (sin, cos) = (f32::from(ring) * 0.5).sin_cos();
        for step in 0..8u8 {
            let (s, c) = (f32::from(step) * std::f32::consts::FRAC_PI_4).sin_cos();
            consider(along * cos + (side * c + other * s) * sin);
        }
    }
    (best.0, best.1 >= 0.0)
}

/// The bits that are set.
fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..crate::math::LANES).filter(move |l| mask & (1 << l) != 0)
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

/// A level that is below one inside.
#[inline(always)]
fn level_of<S: Simd>(simd: S, c: &StepCollider, p: Vec3x<S>) -> f32x16<S> {
    if c.plane || c.half_height > 0.0 {
        return axis_level_of(simd, c, p).1;
    }
    let m = &c.to_ball;
    let s = Vec3x {
        x: p.x * m.x_axis.x + p.y * m.y_axis.x + p.z * m.z_axis.x,
        y: p.x * m.x_axis.y + p.y * m.y_axis.y + p.z * m.z_axis.y,
        z: p.x * m.x_axis.z + p.y * m.y_axis.z + p.z * m.z_axis.z,
    } - Vec3x::splat(simd, c.ball_centre);
    s.dot(s)
}

/// The point relative to the axis, and its level.
#[inline(always)]
fn axis_level_of<S: Simd>(simd: S, c: &StepCollider, p: Vec3x<S>) -> (Vec3x<S>, f32x16<S>) {
    let mut q = to_shape(simd, c, p);
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
    p: Vec3x<S>,
    level2: f32x16<S>,
) -> (Vec3x<S>, f32x16<S>) {
    let (q, _) = axis_level_of(simd, c, p);
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
    segment: &Segment<S>,
    p: Vec3x<S>,
    n: Vec3x<S>,
    distance: f32x16<S>,
) -> Vec3x<S> {
    let Segment { parent, grandparent, length, .. } = *segment;
    let simd = length.simd;
    let one = f32x16::splat(simd, 1.0);
    let inverse = one / length;
    let along = (p - parent) * inverse;
    // The parent's height over the plane fixes the part of the new direction along the normal.
    let height = distance + (parent - p).dot(n);
    let lift = (-height * inverse).max(-one).min(one);
    // The rest of the direction is kept; straight into the surface, slide ahead instead.
    let ahead = (parent - grandparent) * inverse;
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
