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

use super::collider::{Near, StepCollider};
use super::on_sphere::resolve_on_sphere;
use crate::math::lanes::Vec3x;

/// Rounds over all colliders in lanes before the exact enumeration takes over.
const ROUNDS: usize = 3;

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
