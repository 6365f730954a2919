//! Collision on the length sphere (`muller2012` 3.1): the two free degrees of freedom of a particle
//! around its predecessor move it out of the body, so its segment keeps its length exactly.
//!
//! Model: every collider is convex, so the tangent plane at any of its surface points has the whole
//! collider on one side. A particle inside is moved to the other side of such a plane: on the sphere
//! around the predecessor that is a circle, and its point nearest to the candidate has a
//! closed form. Colliders are treated one after the other; what remains inside goes to an exact
//! enumeration of the few half-spaces around the particle (`on_sphere.rs`).

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8, mask32x8};
use glam::Vec3;

use super::Pass;
use super::collider::{Obstacles, StepCollider};
use super::near::Near;
use super::on_sphere::{leave_corner, resolve_on_sphere};
use super::resting::FIELD;
use crate::body::distance_field::MAX_SLOPE;
use crate::collide::GRAZING;
use crate::math::Bits;
use crate::math::lanes::Vec3x8;
use crate::math::on_sphere::search_around;
use crate::math::unit_ball::NO_GRADIENT;
use crate::model::FieldObstacle;

/// Rounds over all colliders in lanes before the exact enumeration takes over.
const ROUNDS: usize = 3;

/// Rounds in a distance field, whose surface is curved and whose planes are not exact.
pub(super) const FIELD_ROUNDS: usize = 6;

/// Least squared sine of the angle between a surface's normal and the segment before for which the intersection of
/// bending cone and tangent plane is computed.
pub(super) const NO_CONE: f32 = 1e-4;

/// Fraction of a segment's length by which it is turned farther out of a surface: more than rounding.
pub(super) const CLEAR_OF_ROUNDING: f32 = 1e-6;

/// The result of a collision in lanes.
pub(super) struct LaneContact<S: Simd> {
    /// Whether there was any collision; if not, the fields below are unused.
    pub(super) collided: bool,
    /// Velocity to subtract (m/s).
    pub(super) brake: Vec3x8<S>,
    /// The last two collisions: the number of a collider, or [`FIELD`], or [`NOTHING`].
    pub(super) collided_with: [f32x8<S>; 2],
    /// Depths of the points (m).
    pub(super) depth: f32x8<S>,
    /// Number of points left inside.
    pub(super) unresolved: u32,
}

/// Stands for no collider in place of a collider's number.
pub(super) const NOTHING: f32 = -1.0;

/// Eight segments: inner end, direction and length.
#[derive(Clone, Copy)]
pub(super) struct Segment<S: Simd> {
    pub(super) parent: Vec3x8<S>,
    /// Direction of the segments before.
    pub(super) ahead: Vec3x8<S>,
    /// Direction of the segments.
    pub(super) along: Vec3x8<S>,
    pub(super) length: f32x8<S>,
    /// The outer ends are at least this far from the surface of a distance field (m).
    pub(super) clear: f32x8<S>,
    /// Permitted depth of the outer ends (m): where hair began inside, it is pushed out gradually.
    pub(super) allowed: f32x8<S>,
    /// Cosine of the largest turn against the segments before.
    pub(super) limit: f32x8<S>,
    /// Friction of the outer ends, relative to the body's.
    pub(super) friction: f32x8<S>,
}

impl<S: Simd> Segment<S> {
    /// The outer ends.
    #[inline(always)]
    pub(super) fn end(&self) -> Vec3x8<S> {
        self.parent + self.along * self.length
    }
}

/// Accumulated collisions, for friction.
struct LaneCollision<S: Simd> {
    normal: Vec3x8<S>,
    depth: f32x8<S>,
    surface: Vec3x8<S>,
    friction: f32x8<S>,
    /// See [`LaneContact::collided_with`].
    what: [f32x8<S>; 2],
}

impl<S: Simd> LaneCollision<S> {
    /// Records collisions of lanes with a collider or the field.
    #[inline(always)]
    fn note(&mut self, lanes: mask32x8<S>, what: f32) {
        let [newest, older] = self.what;
        let other = lanes & !newest.simd_eq(what);
        self.what =
            [lanes.select(f32x8::splat(newest.simd, what), newest), other.select(newest, older)];
    }

    #[inline(always)]
    fn none(simd: S) -> Self {
        let (zero, none) = (Vec3x8::splat(simd, Vec3::ZERO), f32x8::splat(simd, 0.0));
        let what = [f32x8::splat(simd, NOTHING); 2];
        Self { normal: zero, depth: none, surface: zero, friction: none, what }
    }

    /// Removes the velocity into the surface; slows the sliding by Coulomb friction.
    #[inline(always)]
    fn brake(&self, simd: S, moved: Vec3x8<S>, inverse_dt: f32) -> Vec3x8<S> {
        let zero = f32x8::splat(simd, 0.0);
        let relative = moved * f32x8::splat(simd, inverse_dt) - self.surface;
        let speed_out = relative.dot(self.normal);
        let across = self.normal * speed_out;
        let sliding = relative - across;
        let speed = sliding.length();
        let max_brake = self.friction * self.depth * inverse_dt;
        let fraction =
            (max_brake / speed.max(f32x8::splat(simd, 1e-9))).min(f32x8::splat(simd, 1.0));
        (across + sliding * fraction).or(self.depth.simd_gt(zero), Vec3x8::splat(simd, Vec3::ZERO))
    }
}

/// Moves the outer ends of segments on the spheres around the inner ends out of the body; directions
/// and clearance of the segments follow. `before` is where the outer ends were at the start of the step.
#[inline(always)]
pub(super) fn leave_body<S: Simd>(
    simd: S,
    near: &Near<'_>,
    obstacles: &Obstacles<'_>,
    active: mask32x8<S>,
    segment: &mut Segment<S>,
    before: Vec3x8<S>,
    pass: &Pass,
) -> LaneContact<S> {
    let mut p = segment.end();
    let mut collided = false;
    let mut collision = LaneCollision::none(simd);
    // Iterate over the near colliders until no point has moved since the test of the same collider: a point
    // on a tangent plane is outside of that collider.
    let (count, mut settled) = (near.len(), 0);
    for (number, collider) in std::iter::repeat_n(near.numbered(), ROUNDS).flatten() {
        if settled == count {
            break;
        }
        settled += 1;
        // Test which points are inside.
        let (s, level2) = level_of(simd, collider, p);
        let inside = level2.simd_lt(1.0) & active;
        if !inside.any_true() {
            continue;
        }
        // Compute the tangent plane, and turn the segments onto it.
        let (n, distance) = tangent_of(simd, collider, s, level2);
        let distance = distance + segment.allowed;
        let inside = distance.simd_lt(0.0) & inside;
        if !inside.any_true() {
            continue;
        }
        collided = true;
        let (turned, reached) = onto_plane(segment, inside, n, distance);
        settled = usize::from(reached);
        // Record the collision for friction.
        collision.depth = inside.select((-distance).max(collision.depth), collision.depth);
        collision.normal = n.or(inside, collision.normal);
        collision.surface = material_velocity(simd, collider, p).or(inside, collision.surface);
        collision.friction =
            inside.select(f32x8::splat(simd, collider.friction), collision.friction);
        collision.note(inside, number as f32);
        segment.along = turned.or(inside, segment.along);
        p = segment.end();
    }
    let mut unresolved = 0;
    if settled < count {
        let exact = segment.allowed.simd_le(0.0) & active;
        unresolved += settle(near, exact, segment, pass.backward);
        p = segment.end();
    }
    if let Some(field) = obstacles.field {
        let (inside, stuck) = leave_field(simd, field, active, segment, p, &mut collision);
        if inside {
            collided = true;
            p = segment.end();
        }
        unresolved += stuck;
    }
    if collided && unbend_on_plane(simd, near, obstacles, active, segment, collision.normal) {
        p = segment.end();
    }
    collision.friction *= segment.friction;
    let brake =
        if collided { collision.brake(simd, p - before, 1.0 / pass.dt) } else { collision.normal };
    LaneContact {
        collided,
        brake,
        collided_with: collision.what,
        depth: collision.depth,
        unresolved,
    }
}

/// Turns segments that contact has bent beyond the bending limit along the surface until they are within it; returns
/// whether any has been turned.
///
/// Model: unit vectors `u` with `u . n = h` (on the tangent plane) and `u . a = c` (on the cone of the limit around the
/// segment before) are `x n + y a + z n x a`, with `x` and `y` of a 2x2 system and `z` of the length, on the side where
/// the segment is. Where there are none, or they are inside of another collider, contact has priority over the limit.
#[inline(always)]
fn unbend_on_plane<S: Simd>(
    simd: S,
    near: &Near<'_>,
    obstacles: &Obstacles<'_>,
    active: mask32x8<S>,
    segment: &mut Segment<S>,
    n: Vec3x8<S>,
) -> bool {
    let (a, c) = (segment.ahead, segment.limit);
    let bent = segment.along.dot(a).simd_lt(c) & n.dot(n).simd_gt(0.5) & active;
    if !bent.any_true() {
        return false;
    }
    let one = f32x8::splat(simd, 1.0);
    let h = segment.along.dot(n) + CLEAR_OF_ROUNDING;
    let s = n.dot(a);
    let sine2 = (one - s * s).max(f32x8::splat(simd, NO_CONE));
    let (x, y) = ((h - c * s) / sine2, (c - h * s) / sine2);
    let left = one - (x * h + y * c);
    let across = n.cross(a);
    let side = across.dot(segment.along).simd_lt(0.0).select(one * -1.0, one);
    let z = (left.max(f32x8::splat(simd, 0.0)) / sine2).sqrt() * side;
    let u = n * x + a * y + across * z;
    let p = segment.parent + u * segment.length;
    let mut found = bent & left.simd_gt(0.0) & sine2.simd_gt(NO_CONE);
    for collider in near.iter() {
        found &= !level_of(simd, collider, p).1.simd_lt(1.0);
    }
    if let Some(field) = obstacles.field {
        let (distance, _) = field.slopes(simd, p, found.to_bitmask() as u32);
        found &= distance.simd_ge(field.skin);
    }
    segment.along = u.or(found, segment.along);
    found.any_true()
}

/// Resolves the remaining penetrations lane by lane; returns the number of points left inside. Grazing points are
/// accepted where contact `holds` them from the next step on.
#[inline(never)]
fn settle<S: Simd>(
    near: &Near<'_>,
    active: mask32x8<S>,
    segment: &mut Segment<S>,
    holds: bool,
) -> u32 {
    let mut unresolved = 0;
    for lane in Bits(active.to_bitmask()) {
        let (parent, length) = (segment.parent.lane(lane), segment.length[lane]);
        let candidate = parent + segment.along.lane(lane) * length;
        if near.iter().any(|c| c.inside(candidate).is_some()) {
            let (found, free) = if holds {
                leave_corner(near.iter(), parent, length, candidate)
            } else {
                resolve_on_sphere(near.iter(), parent, length, candidate)
            };
            segment.along.set_lane(lane, (found - parent).normalize_or(Vec3::Y));
            unresolved += u32::from(!free);
        }
    }
    unresolved
}

/// Moves particles out of a distance field, as [`collide`] does with shapes: onto the plane through
/// the nearest point of the surface, iterated because the surface is curved. Returns whether any was
/// inside, and how many still are.
#[inline(always)]
fn leave_field<S: Simd>(
    simd: S,
    obstacle: &FieldObstacle<'_>,
    active: mask32x8<S>,
    segment: &mut Segment<S>,
    mut p: Vec3x8<S>,
    collision: &mut LaneCollision<S>,
) -> (bool, u32) {
    let near = segment.clear.simd_lt(obstacle.skin) & active;
    let mut asked = near.to_bitmask() as u32;
    let (mut any, mut stuck) = (false, 0);
    for round in 0..=FIELD_ROUNDS {
        let (distance, slope, number) = obstacle.numbered_slopes(simd, p, asked);
        let distance = distance - obstacle.skin;
        let mask = mask32x8::from_bitmask(simd, u64::from(asked));
        segment.clear = mask.select(distance, segment.clear);
        let distance = distance + segment.allowed;
        let inside_mask = distance.simd_lt(0.0) & mask;
        let inside = inside_mask.to_bitmask() as u32;
        if inside == 0 {
            break;
        }
        any = true;
        // Deeper than two lengths: no turn of the segment reaches the surface.
        let deep = (distance + segment.length * (2.0 * MAX_SLOPE)).simd_lt(0.0) & inside_mask;
        let deep = deep.to_bitmask() as u32;
        if round == FIELD_ROUNDS || deep != 0 {
            // Remaining penetrations are in a fold of the surface: search the whole sphere.
            let grazes = (distance + GRAZING).simd_gt(0.0).to_bitmask() as u32;
            let last = if round == FIELD_ROUNDS { inside & !grazes } else { deep };
            for lane in Bits(last.into()) {
                let parent = segment.parent.lane(lane);
                let length = segment.length[lane];
                // No free point within reach: go outward from the predecessor.
                let (along, free) = if deep & (1 << lane) != 0 {
                    (obstacle.sample(parent).gradient, false)
                } else {
                    search_field(obstacle, parent, length, p.lane(lane))
                };
                segment.along.set_lane(lane, along);
                stuck += u32::from(!free);
            }
            p = segment.end();
            asked = inside & !last;
            if asked == 0 || round == FIELD_ROUNDS {
                break;
            }
            continue;
        }
        asked = inside;
        let mut n = slope;
        let mut velocity = Vec3x8::splat(simd, Vec3::ZERO);
        let mut friction = f32x8::splat(simd, obstacle.friction);
        let size2 = n.dot(n);
        let usable = size2.simd_gt(0.01);
        n = n * (f32x8::splat(simd, 1.0) / size2.sqrt());
        let steep = usable.to_bitmask() as u32;
        for lane in Bits(inside.into()) {
            let (_, body) = obstacle.nearest(p.lane(lane));
            if steep & (1 << lane) == 0 {
                n.set_lane(lane, body.field.sample(p.lane(lane)).gradient);
            }
            let outside = distance[lane] - segment.allowed[lane] + obstacle.skin;
            let surface = p.lane(lane) - n.lane(lane) * outside;
            velocity.set_lane(lane, body.field.velocity_at(surface));
            friction[lane] = body.friction;
        }
        let (turned, _) = onto_plane(segment, inside_mask, n, distance);
        collision.depth = inside_mask.select((-distance).max(collision.depth), collision.depth);
        collision.normal = n.or(inside_mask, collision.normal);
        collision.surface = velocity.or(inside_mask, collision.surface);
        collision.friction = inside_mask.select(friction, collision.friction);
        if obstacle.others.is_empty() {
            collision.note(inside_mask, FIELD);
        } else {
            for k in 0..=obstacle.others.len() {
                let of_body = inside_mask & number.simd_eq(k as f32);
                collision.note(of_body, FIELD + k as f32);
            }
        }
        segment.along = turned.or(inside_mask, segment.along);
        p = segment.end();
    }
    (any, stuck)
}

/// The direction out of a distance field for a segment of a length at `parent` that is nearest to the
/// one towards `start`, of a few dozen samples; the least deep if none is free, and whether
/// one is.
#[inline(never)]
fn search_field(
    obstacle: &FieldObstacle<'_>,
    parent: Vec3,
    length: f32,
    start: Vec3,
) -> (Vec3, bool) {
    let along = (start - parent).normalize_or(Vec3::Y);
    let inner = obstacle.sample(parent);
    if inner.distance + length * MAX_SLOPE < obstacle.skin {
        // No free point within reach: go outward from the predecessor.
        return (inner.gradient, false);
    }
    let depth = |p: Vec3| obstacle.skin - obstacle.distance_at(p);
    let (direction, deep) = search_around(parent, length, along, inner.gradient, depth);
    (direction, deep <= 0.0)
}

/// A point in the scale of the unit ball, and a level that is below one inside.
#[inline(always)]
pub(super) fn level_of<S: Simd>(simd: S, c: &StepCollider, p: Vec3x8<S>) -> (Vec3x8<S>, f32x8<S>) {
    let m = &c.to_ball;
    let mut s = Vec3x8 {
        x: p.x * m.x_axis.x + p.y * m.y_axis.x + p.z * m.z_axis.x,
        y: p.x * m.x_axis.y + p.y * m.y_axis.y + p.z * m.z_axis.y,
        z: p.x * m.x_axis.z + p.y * m.y_axis.z + p.z * m.z_axis.z,
    } - Vec3x8::splat(simd, c.ball_centre);
    if c.plane {
        return (s, s.y + 1.0);
    }
    if c.sweep > 0.0 {
        let (lo, hi) = (f32x8::splat(simd, -c.sweep), f32x8::splat(simd, c.sweep));
        s.y = s.y - s.y.max(lo).min(hi);
    }
    (s, s.dot(s))
}

/// Lane form of [`StepCollider::inside`]'s plane.
#[inline(always)]
pub(super) fn tangent_of<S: Simd>(
    simd: S,
    c: &StepCollider,
    mut s: Vec3x8<S>,
    mut level2: f32x8<S>,
) -> (Vec3x8<S>, f32x8<S>) {
    let one = f32x8::splat(simd, 1.0);
    let above = s.y;
    if c.plane {
        (s, level2) = (Vec3x8::splat(simd, Vec3::Y), one);
    }
    let m = &c.to_ball;
    let gradient = Vec3x8 {
        x: s.x * m.x_axis.x + s.y * m.x_axis.y + s.z * m.x_axis.z,
        y: s.x * m.y_axis.x + s.y * m.y_axis.y + s.z * m.y_axis.z,
        z: s.x * m.z_axis.x + s.y * m.z_axis.y + s.z * m.z_axis.z,
    };
    let size2 = gradient.dot(gradient).max(f32x8::splat(simd, NO_GRADIENT));
    let inverse = one / size2.sqrt();
    let distance = if c.plane { above } else { (level2 - level2.sqrt()) * inverse };
    (gradient * inverse, distance)
}

#[inline(always)]
pub(super) fn material_velocity<S: Simd>(simd: S, c: &StepCollider, p: Vec3x8<S>) -> Vec3x8<S> {
    let m = &c.spin;
    Vec3x8 {
        x: p.x * m.x_axis.x + p.y * m.y_axis.x + p.z * m.z_axis.x,
        y: p.x * m.x_axis.y + p.y * m.y_axis.y + p.z * m.z_axis.y,
        z: p.x * m.x_axis.z + p.y * m.y_axis.z + p.z * m.z_axis.z,
    } + Vec3x8::splat(simd, c.drift)
}

/// Squared sine of the angle between a segment and a normal below which rounding dominates the segment's
/// direction along the surface and it is computed with more care.
const STRAIGHT_IN: f32 = 1e-3;

/// Directions that take the outer ends of segments to the nearest point of the circle where the planes
/// `distance` away from them cut the spheres around the inner ends. Where a plane misses its sphere,
/// the point nearest to the plane. Also returns whether all planes were reached, of the lanes `asked`.
///
/// Model: with `a` the component of a direction along the normal, the plane fixes that component of the new one
/// (`lift`); the component along the surface, `sqrt(1 - a^2)` long, is scaled to `sqrt(1 - lift^2)`.
#[inline(always)]
fn onto_plane<S: Simd>(
    segment: &Segment<S>,
    asked: mask32x8<S>,
    n: Vec3x8<S>,
    distance: f32x8<S>,
) -> (Vec3x8<S>, bool) {
    let simd = distance.simd;
    let one = f32x8::splat(simd, 1.0);
    let along = segment.along;
    let a = along.dot(n);
    let wanted = a - distance / segment.length;
    let lift = wanted.min(one);
    let flat2 = one - a * a;
    let scale = ((one - lift * lift) / flat2.max(f32x8::splat(simd, STRAIGHT_IN))).sqrt();
    let mut u = along * scale + n * (lift - a * scale);
    let straight = flat2.simd_lt(STRAIGHT_IN) & asked;
    if straight.any_true() {
        u = slide_ahead(segment, n, lift).or(straight, u);
    }
    let missed = wanted.simd_gt(one) & asked;
    // One Newton iteration removes the rounding error of the length.
    (u * (f32x8::splat(simd, 1.5) - u.dot(u) * 0.5), !missed.any_true())
}

/// Directions for segments nearly parallel to the normal of a surface: along the tangential component of a
/// given direction, or of the segment before.
#[inline(always)]
fn slide_ahead<S: Simd>(segment: &Segment<S>, n: Vec3x8<S>, lift: f32x8<S>) -> Vec3x8<S> {
    let simd = lift.simd;
    let enough = STRAIGHT_IN * STRAIGHT_IN;
    let own = segment.along - n * segment.along.dot(n);
    let before = segment.ahead - n * segment.ahead.dot(n);
    let mut slide = own.or(own.dot(own).simd_gt(enough), before);
    let side = Vec3x8 { x: n.y, y: n.z, z: n.x }.cross(n);
    slide = slide.or(slide.dot(slide).simd_gt(enough), side);
    // A normal along the diagonal has no such component either.
    let zero = f32x8::splat(simd, 0.0);
    let other = Vec3x8 { x: n.y, y: zero - n.x, z: zero };
    slide = slide.or(slide.dot(slide).simd_gt(enough), other);
    let flat = (f32x8::splat(simd, 1.0) - lift * lift).sqrt();
    n * lift + slide * (flat / slide.length())
}
