//! Collision of single points along the normal: of those that have no length sphere, the roots of free strands and the
//! averaged points of `other_ends.rs`.

use glam::Vec3;

use super::collider::Obstacles;
use super::resting::FIELD;
use crate::collide::GRAZING;

/// Rounds over all colliders: a point in a crease is pushed out of one side into the other.
const ROUNDS: usize = 4;

/// A point after a collision.
pub(super) struct Hit {
    pub(super) place: Vec3,
    pub(super) normal: Vec3,
    /// Velocity of the surface (m/s).
    pub(super) velocity: Vec3,
    pub(super) friction: f32,
    /// Number of the collider, or [`FIELD`].
    pub(super) what: f32,
    /// Whether it is outside of all.
    pub(super) is_out: bool,
}

impl Hit {
    /// Velocity to subtract from `v` (m/s): that into the surface, and Coulomb friction for a push of `depth` (m) in a step.
    pub(super) fn brake(&self, v: Vec3, depth: f32, friction: f32, dt: f32) -> Vec3 {
        let relative = v - self.velocity;
        let into = self.normal * relative.dot(self.normal).min(0.0);
        let sliding = relative - self.normal * relative.dot(self.normal);
        let limit = self.friction * friction * depth / dt;
        into + sliding * (limit / sliding.length().max(f32::MIN_POSITIVE)).min(1.0)
    }
}

/// Moves a point out of the body along the normals; `None` if it is outside or at most `allowed` (m) deep.
pub(super) fn leave_body(mut p: Vec3, allowed: f32, obstacles: &Obstacles<'_>) -> Option<Hit> {
    let mut hit = None;
    let mut is_out = false;
    for _round in 0..ROUNDS {
        is_out = true;
        for (number, collider) in obstacles.colliders.iter().enumerate() {
            let Some((normal, distance)) = collider.inside(p) else { continue };
            let deep = -distance - allowed;
            if deep > 0.0 {
                is_out &= deep < GRAZING;
                p += normal * deep;
                let velocity = collider.velocity_at(p);
                hit = Some((normal, velocity, collider.friction, number as f32));
            }
        }
        if let Some(obstacle) = obstacles.field {
            let sample = obstacle.field.sample(p);
            let deep = obstacle.skin - sample.distance - allowed;
            if deep > 0.0 {
                is_out &= deep < GRAZING;
                p += sample.gradient * deep;
                hit = Some((sample.gradient, sample.velocity, obstacle.friction, FIELD));
            }
        }
        if is_out {
            break;
        }
    }
    hit.map(|(normal, velocity, friction, what)| Hit {
        place: p,
        normal,
        velocity,
        friction,
        what,
        is_out,
    })
}
