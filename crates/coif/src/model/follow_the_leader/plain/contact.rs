//! Collision on the length sphere, one particle after the other.

use glam::Vec3;

use super::{PlainCollision, Surroundings};
use crate::model::FieldObstacle;
use crate::model::follow_the_leader::BendLimit;
use crate::model::follow_the_leader::collider::StepCollider;
use crate::model::follow_the_leader::contact::{CLEAR_OF_ROUNDING, FIELD_ROUNDS, NO_CONE};
use crate::model::follow_the_leader::on_sphere::{leave_corner, resolve_on_sphere};

pub(super) fn unbend(
    limit: &BendLimit,
    before: Vec3,
    length_before: f32,
    direction: Vec3,
    distance: f32,
) -> Vec3 {
    let along = before.dot(direction);
    if along >= length_before * distance * limit.cos {
        return direction;
    }
    let inverse = 1.0 / length_before.max(1e-9);
    let u = before * inverse;
    let mut tangent = direction - u * (along * inverse);
    if tangent.length() <= distance * 1e-4 {
        tangent = Vec3::new(u.y, u.z, u.x).cross(u);
    }
    u * (distance * limit.cos) + tangent * (distance * limit.sin / tangent.length().max(1e-9))
}

/// Turns a segment that contact has bent beyond the limit along the surface until it is within it, where possible.
pub(super) fn unbend_on_plane(
    around: &Surroundings<'_>,
    n: Vec3,
    [parent, a]: [Vec3; 2],
    length: f32,
    c: f32,
    p: Vec3,
) -> Vec3 {
    let along = (p - parent) / length;
    let (h, s) = (along.dot(n) + CLEAR_OF_ROUNDING, n.dot(a));
    let sine2 = 1.0 - s * s;
    let (x, y) = ((h - c * s) / sine2, (c - h * s) / sine2);
    let left = 1.0 - (x * h + y * c);
    if along.dot(a) >= c || sine2 <= NO_CONE || left <= 0.0 {
        return p;
    }
    let across = n.cross(a);
    let side = if across.dot(along) < 0.0 { -1.0 } else { 1.0 };
    let u = n * x + a * y + across * (side * (left / sine2).sqrt());
    let found = parent + u * length;
    let clear = |field: &FieldObstacle<'_>| field.distance_at(found) >= field.skin;
    let inside = around.colliders.iter().any(|c| c.inside(found).is_some());
    if inside || !around.field.is_none_or(clear) { p } else { found }
}

pub(super) fn collide(
    colliders: &[StepCollider],
    parent: Vec3,
    length: f32,
    ahead: Vec3,
    mut p: Vec3,
    holds: bool,
) -> (Vec3, Option<PlainCollision>) {
    let mut collision: Option<PlainCollision> = None;
    for _round in 0..3 {
        let mut hit = false;
        for (number, collider) in colliders.iter().enumerate() {
            let Some((n, distance)) = collider.inside(p) else { continue };
            hit = true;
            let depth = collision.map_or(0.0, |t| t.depth).max(-distance);
            collision = Some(PlainCollision {
                normal: n,
                depth,
                velocity: collider.velocity_at(p),
                friction: collider.friction,
                what: noted(&collision, number),
            });
            p = onto_plane(parent, length, p, ahead, n, distance);
        }
        if !hit {
            return (p, collision);
        }
    }
    if colliders.iter().any(|c| c.inside(p).is_some()) {
        let colliders = colliders.iter();
        p = if holds {
            leave_corner(colliders, parent, length, p).0
        } else {
            resolve_on_sphere(colliders, parent, length, p).0
        };
    }
    (p, collision)
}

/// The last two collisions, the latest first.
pub(super) fn noted(collision: &Option<PlainCollision>, what: usize) -> [Option<usize>; 2] {
    match collision.map(|t| t.what) {
        Some([Some(newest), older]) if newest == what => [Some(newest), older],
        Some([newest, _]) => [Some(what), newest],
        None => [Some(what), None],
    }
}

/// Moves a particle on its length sphere out of a distance field, onto the plane through the nearest
/// point of the surface, a few times.
pub(super) fn leave_field(
    obstacle: &FieldObstacle<'_>,
    number: usize,
    parent: Vec3,
    length: f32,
    ahead: Vec3,
    mut p: Vec3,
    collision: &mut Option<PlainCollision>,
) -> Vec3 {
    for _round in 0..FIELD_ROUNDS {
        let (body, near) = obstacle.nearest(p);
        let sample = near.field.sample(p);
        let distance = sample.distance - obstacle.skin;
        if distance >= 0.0 {
            break;
        }
        *collision = Some(PlainCollision {
            normal: sample.gradient,
            depth: collision.map_or(0.0, |t| t.depth).max(-distance),
            velocity: sample.velocity,
            friction: near.friction,
            what: noted(collision, number + body),
        });
        p = onto_plane(parent, length, p, ahead, sample.gradient, distance);
    }
    p
}

pub(super) fn onto_plane(
    parent: Vec3,
    length: f32,
    p: Vec3,
    ahead: Vec3,
    n: Vec3,
    distance: f32,
) -> Vec3 {
    let along = (p - parent) * (1.0 / length);
    let height = distance + (parent - p).dot(n);
    let lift = (-height * (1.0 / length)).clamp(-1.0, 1.0);
    let mut tangent = along - n * along.dot(n);
    if tangent.length() <= 1e-3 {
        tangent = ahead - n * ahead.dot(n);
    }
    if tangent.length() <= 1e-3 {
        tangent = Vec3::new(n.y, n.z, n.x).cross(n);
    }
    let scale = (1.0 - lift * lift).max(0.0).sqrt() / tangent.length().max(1e-12);
    let u = n * lift + tangent * scale;
    parent + u * (length / u.length().max(1e-12))
}

pub(super) fn brake_of(collision: &PlainCollision, moved: Vec3, inverse_dt: f32) -> Vec3 {
    let relative = moved * inverse_dt - collision.velocity;
    let across = collision.normal * relative.dot(collision.normal);
    let sliding = relative - across;
    let max_brake = collision.friction * collision.depth * inverse_dt;
    across + sliding * (max_brake / sliding.length().max(1e-9)).min(1.0)
}
