//! The directions in which a strand rests: the groom as the equilibrium under gravity.

use glam::Vec3;

use super::Pass;

/// Largest angle (radians) by which gravity alone may bend a segment against its style. Where the
/// groomed shape would need more, the segment is made stiffer: a soft segment that leans far
/// against gravity would curl up as soon as the hair is weightless.
const LARGEST_LEAN: f32 = 0.3;

/// Stiffness of a segment that stands against its load, in units of the stiffness at which it would
/// just topple: hair that is groomed upright stays upright.
const AGAINST_BUCKLING: f32 = 4.0;

/// Damping of the style, in units of critical damping. Motion of one segment drives the next but not
/// the other way round, and dozens of weakly damped oscillators of equal frequency in a row amplify
/// rounding noise to centimetres: 1 lets a strand of 40 points drift by percents, 1.5 does not, and curls
/// of 40 points keep together while the head moves from 3 on.
const DAMPING_RATIO: f32 = 3.0;

/// How a strand wants to lie, per point.
pub(super) struct RestShape {
    /// Direction of the last embedded segment.
    pub(super) direction: Vec3,
    /// A unit vector across it, carried along the strand without twist.
    pub(super) normal: Vec3,
    /// From the predecessor to where the point wants to be, in the predecessor's frame (m).
    pub(super) goal: Vec<Vec3>,
    /// Share of the way to the goal that one step goes.
    pub(super) pull: Vec<f32>,
    /// Share of the predecessor's motion that one step takes over.
    pub(super) drag: Vec<f32>,
    /// Velocity that the correction of eq. 9 leaves in each point at rest (m/s): it stands for the
    /// pull of all points further out.
    pub(super) velocity: Vec<Vec3>,
}

impl RestShape {
    /// Inverse statics, tip to root.
    ///
    /// Model: a step leaves a strand at rest where it is if the pull of its style cancels the part
    /// across the segment of what the prediction adds: gravity, and the velocity that the
    /// correction of eq. 9 leaves in a particle at rest, which carries the weight of all particles
    /// further out. The style is an implicit spring of stiffness k (1/s^2) with damping c (1/s)
    /// relative to the predecessor's frame: one step goes the share `k dt^2 / D` of the way to the
    /// goal and takes over the share `c dt / D` of the goal's motion, with `D = 1 + k dt^2 + c dt`.
    /// The goal then has to lie `a_across / k` beyond the groomed place, against the load, whatever
    /// the step.
    pub(super) fn new(line: &[Vec3], embedded: usize, pass: &Pass, style_time: f32) -> Self {
        let n = line.len();
        let dt2 = pass.dt * pass.dt;
        let carried_on = 1.0 / (1.0 + pass.damping * pass.dt);
        let mut goal = vec![Vec3::ZERO; n];
        let mut pull = vec![0.0; n];
        let mut drag = vec![0.0; n];
        let mut velocity = vec![Vec3::ZERO; n];
        // Walk from the tip to the first free point; `load` is the acceleration left by the
        // correction.
        let mut load = Vec3::ZERO;
        for i in (embedded..n).rev() {
            let segment = line[i] - line[i - 1];
            let length = segment.length();
            let u = segment / length;
            let a = (load + pass.gravity) * carried_on;
            let along = u * a.dot(u);
            let across = a - along;
            let stiffness = (1.0 / (style_time * style_time))
                .max(across.length() / (LARGEST_LEAN * length))
                .max(-a.dot(u) * AGAINST_BUCKLING / length);
            goal[i] = segment - across / stiffness;
            let (spring, damper) =
                (stiffness * dt2, 2.0 * DAMPING_RATIO * stiffness.sqrt() * pass.dt);
            pull[i] = spring / (1.0 + spring + damper);
            drag[i] = damper / (1.0 + spring + damper);
            load = along * ((1.0 - pull[i] - drag[i]) * pass.correction);
            velocity[i - 1] = load * pass.dt;
        }
        // Express the goals in the transported frames of their predecessors.
        let first = embedded.max(2) - 1;
        let direction = (line[first] - line[first - 1]).normalize_or(Vec3::Y);
        let normal = direction.any_orthonormal_vector();
        let (mut u, mut across) = (direction, normal);
        for i in embedded..n {
            let other = u.cross(across);
            goal[i] = Vec3::new(goal[i].dot(u), goal[i].dot(across), goal[i].dot(other));
            let next = (line[i] - line[i - 1]).normalize_or(u);
            across = transport(across, u, next);
            u = next;
        }
        Self { direction, normal, goal, pull, drag, velocity }
    }
}

/// Carries `n`, which is across `u`, along by the smallest rotation that takes `u` to `next`.
pub(super) fn transport(n: Vec3, u: Vec3, next: Vec3) -> Vec3 {
    n - (u + next) * (n.dot(next) / (1.0 + u.dot(next)).max(SMALLEST_TURN))
}

/// Keeps the transport finite when a strand folds back on itself: below this `1 + cos(angle)` the
/// smallest rotation is not unique anyway.
pub(super) const SMALLEST_TURN: f32 = 1e-3;

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn transport_is_the_smallest_rotation() {
        let u = Vec3::new(0.3, 0.5, -0.2).normalize();
        let next = Vec3::new(-0.1, 0.9, 0.4).normalize();
        let n = u.any_orthonormal_vector();
        let expected = Quat::from_rotation_arc(u, next) * n;
        assert!(transport(n, u, next).distance(expected) < 1e-6);
        assert!(transport(n, u, -u).is_finite());
    }

    #[test]
    fn a_hanging_strand_needs_no_lean() {
        let line: Vec<Vec3> = (0..10).map(|i| Vec3::NEG_Y * 0.01 * i as f32).collect();
        let pass =
            Pass { dt: 1.0 / 240.0, gravity: Vec3::NEG_Y * 9.81, correction: 0.9, damping: 1.0 };
        let shape = RestShape::new(&line, 1, &pass, 0.06);
        for goal in &shape.goal[1..] {
            assert!(goal.distance(Vec3::X * 0.01) < 1e-7, "{goal}");
        }
    }
}
