//! Colliders and the body's surface during a pass.

use glam::Vec3;

use super::near::{Bounds, Group};
pub(super) use crate::collide::PosedShape as StepCollider;
use crate::model::FieldObstacle;

/// The obstacles of a pass.
pub(super) struct Obstacles<'a> {
    pub(super) colliders: &'a [StepCollider],
    /// The same in lanes.
    pub(super) groups: &'a [Group],
    pub(super) field: Option<&'a FieldObstacle<'a>>,
}

impl Obstacles<'_> {
    /// Depth of a point inside (m), 0 outside.
    pub(super) fn depth_at(&self, p: Vec3) -> f32 {
        let shapes = self.colliders.iter().filter_map(|c| c.inside(p)).map(|(_, d)| -d);
        let field = self.field.map_or(0.0, |f| f.skin - f.distance_at(p));
        shapes.fold(field.max(0.0), f32::max)
    }

    /// The nearest point outside, ignoring the length constraint.
    pub(super) fn push_out(&self, mut p: Vec3) -> Vec3 {
        for collider in self.colliders {
            if let Some((normal, distance)) = collider.inside(p) {
                p -= normal * distance;
            }
        }
        if let Some(obstacle) = self.field {
            let sample = obstacle.sample(p);
            if sample.distance < obstacle.skin {
                p += sample.gradient * (obstacle.skin - sample.distance);
            }
        }
        p
    }
}

/// The distance field in place of a collider's number.
pub(super) const SURFACE: usize = usize::MAX;

impl Obstacles<'_> {
    /// Normal and distance (m) of the surface with a number, with its skin, from a point; linear in the distance for a
    /// shape (its tangent plane).
    pub(super) fn surface(&self, number: usize, p: Vec3) -> Option<(Vec3, f32)> {
        if let Some(collider) = self.colliders.get(number) {
            return Some(collider.tangent_plane(p));
        }
        let obstacle = self.field?;
        let sample = obstacle.field.sample(p);
        Some((sample.gradient, sample.distance - obstacle.skin))
    }

    /// The surface that a point is deepest in: its number and the depth (m).
    pub(super) fn deepest(&self, p: Vec3) -> Option<(usize, f32)> {
        let mut deepest: Option<(usize, f32)> = None;
        let mut note = |number: usize, depth: f32| {
            if depth > deepest.map_or(0.0, |(_, depth)| depth) {
                deepest = Some((number, depth));
            }
        };
        for (number, collider) in self.colliders.iter().enumerate() {
            if let Some((_, distance)) = collider.inside(p) {
                note(number, -distance);
            }
        }
        if let Some(obstacle) = self.field {
            note(SURFACE, obstacle.skin - obstacle.field.distance_at(p));
        }
        deepest
    }
}

impl StepCollider {
    /// A box around it in the world.
    pub(super) fn bounds(&self) -> Bounds {
        Bounds { lo: self.centre - self.extent, hi: self.centre + self.extent }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use glam::Quat;

    use super::*;
    use crate::body::{MovingCollider, Shape};
    use crate::math::RigidTransform;

    /// A collider that stands still.
    pub(crate) fn fixed(shape: Shape, centre: Vec3, rotation: Quat) -> StepCollider {
        let pose = RigidTransform { rotation, translation: centre };
        StepCollider::new(&MovingCollider { shape, friction: 0.3, start: pose, end: pose }, 0.01)
    }
}
