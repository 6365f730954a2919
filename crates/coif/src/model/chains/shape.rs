//! Springs that hold the groom: one from each particle to its rest position, which moves with the body.

use glam::{Mat3, Vec3};

use super::Chain;
use crate::math::RigidTransform;

/// Damping ratio of the spring: 1 is critical, so that hair returns to its groom without oscillation.
const DAMPING_RATIO: f32 = 1.0;

/// A rigid transform, or a linear interpolation of two, as matrix and translation.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Pose {
    rotation: Mat3,
    translation: Vec3,
}

impl Pose {
    pub(in crate::model) fn new(transform: &RigidTransform) -> Self {
        Self { rotation: Mat3::from_quat(transform.rotation), translation: transform.translation }
    }

    /// Transforms a point.
    #[inline]
    pub(in crate::model) fn point(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.translation
    }

    /// Transforms a direction.
    #[inline]
    pub(in crate::model) fn direction(&self, d: Vec3) -> Vec3 {
        self.rotation * d
    }

    /// The linear interpolation to another pose: points move on straight lines.
    pub(in crate::model) fn between(&self, other: &Self, fraction: f32) -> Self {
        Self {
            rotation: self.rotation * (1.0 - fraction) + other.rotation * fraction,
            translation: self.translation * (1.0 - fraction) + other.translation * fraction,
        }
    }
}

/// A spring from each particle to its position in the groom, which moves with the body.
///
/// Model: acceleration `k (target - x) + c (target' - v)` with `k = 1 / style_time^2` and `c` from
/// [`DAMPING_RATIO`], integrated implicitly: a step moves a particle by the fraction `k h^2 / D` of its offset from the
/// target and by the fraction `c h / D` of the target's displacement, `D = 1 + k h^2 + c h`. It is stable for any
/// step, and independent of the number of points, of iterations and of substeps. It is computed in
/// velocities, because the displacement of a short substep is lost in the rounding of a position.
/// Deviations: it is not a bending force: it depends on the position of a particle instead of the angle of its segment,
/// so that hair cannot stay folded over to the other side of the head.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Shape {
    pull: f32,
    drag: f32,
    inverse_h: f32,
}

impl Shape {
    /// The spring for steps of `h` seconds.
    pub(in crate::model) fn new(style_time: f32, h: f32) -> Self {
        let rate = h / style_time;
        let (spring, damper) = (rate * rate, 2.0 * DAMPING_RATIO * rate);
        let all = 1.0 + spring + damper;
        Self { pull: spring / all, drag: damper / all, inverse_h: 1.0 / h }
    }

    /// Displacement (m) in a step per velocity (m/s), of a particle at its target, which is at rest.
    pub(in crate::model) fn kept(&self, h: f32) -> f32 {
        (1.0 - self.pull - self.drag) * h
    }

    /// The velocity (m/s) of a particle at `x` that would have the velocity `free` without the spring,
    /// while its target moves from one position to another.
    #[inline]
    pub(in crate::model) fn pulled(&self, x: Vec3, free: Vec3, [from, to]: [Vec3; 2]) -> Vec3 {
        let tied = (to - x) * self.pull + (to - from) * self.drag;
        free * (1.0 - self.pull - self.drag) + tied * self.inverse_h
    }
}

impl Chain<'_> {
    /// Moves the embedded particles to their positions in a pose; their velocity is the average over the whole step.
    pub(in crate::model) fn follow_root(&mut self, pose: &Pose, inverse_dt: f32) {
        for i in 0..self.embedded {
            let rest = self.rest[i];
            self.position[i] = pose.point(rest);
            self.velocity[i] = (self.root.point(rest) - self.root_before.point(rest)) * inverse_dt;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The implicit spring converges to the exact solution with the step.
    #[test]
    fn the_spring_converges_with_the_step() {
        let left_after = |steps: u32| {
            let h = 0.2 / steps as f32;
            let shape = Shape::new(0.1, h);
            let (mut x, mut v) = (Vec3::X, Vec3::ZERO);
            for _ in 0..steps {
                v = shape.pulled(x, v, [Vec3::ZERO; 2]);
                x += v * h;
            }
            x.x
        };
        // Critically damped: (1 + t / T) exp(-t / T).
        let truth = 3.0 * (-2.0f32).exp();
        for (steps, tolerance) in [(20, 0.06), (200, 0.006), (2000, 0.0006)] {
            assert!(
                (left_after(steps) - truth).abs() < tolerance,
                "{steps}: {}",
                left_after(steps)
            );
        }
    }

    #[test]
    fn points_move_linearly_between_poses() {
        let a = Pose::new(&RigidTransform::IDENTITY);
        let b = Pose::new(&RigidTransform {
            rotation: glam::Quat::from_rotation_z(0.5),
            translation: Vec3::X,
        });
        let p = Vec3::new(0.3, -0.2, 0.7);
        let middle = a.between(&b, 0.25).point(p);
        assert!(middle.distance(a.point(p).lerp(b.point(p), 0.25)) < 1e-6);
        assert!(a.between(&b, 1.0).point(p).distance(b.point(p)) < 1e-6);
    }
}
