//! The frame of a free strand (`ends = free`), which no scalp carries.
//!
//! Model: a free strand is a hair that has been cut off. It falls, is blown away, collides and rests on the body, and keeps
//! its groomed shape, but not its place: the style is the potential of `style.rs`, minimised over all rigid transforms of the
//! groom (shape matching). With the best one at the end of the step, predicted from the velocities, in place of the pose of the scalp, and the
//! strand's own rigid motion (linear and angular velocity of its masses) in place of that of the scalp, the passes are those of a strand
//! that hangs on a scalp, and the root is their last unknown (`articulated/free_root.rs`). Forces of the style sum up to zero
//! and have no torque at the best fit; damping acts on the motion relative to the rigid one. No dead load balances gravity,
//! and contacts do not age.
//! Symbols: x position (m), v velocity (m/s), m mass, g groomed place (m), c centre of mass (m), w angular velocity (rad/s).
//! Source: `muller2012` figure 2 (c), of which the paper gives the average of two passes only (`other_ends.rs`).
//! The rotation continues from the last one (as in Muller et al., A Robust Method to Extract the Rotational Part of
//! Deformations, MIG 2016), so that it is continuous for straight strands too, whose rotation about themselves is undefined.

use glam::{Mat3, Quat, Vec3};

use super::Pass;
use super::block::{Block, FIXED};
use super::frames::FRAME;
use crate::math::lanes::{lane, set_lane};
use crate::math::{LANES, RigidTransform};

/// Largest number of iterations of a fit: some five suffice unless the strand is nearly straight.
const MAX_ITERATIONS: usize = 20;

/// Rotation (rad) in an iteration below which the fit has converged.
const CONVERGED: f32 = 1e-6;

/// Largest rotation (rad) of the frame in a step.
const MAX_ROTATION: f32 = 1.0;

/// Smallest spring of the style in the fit, where there is none, so that its frame still follows the strand.
const LEAST_SPRING: f32 = 1e-9;

/// Regularisation of a matrix, by its trace: that of a straight strand is singular. More takes the spin of curls about their
/// axis away, by this over the ratio of their moments of inertia in every step.
const REGULAR: f32 = 1e-6;

impl Block {
    /// Puts the frame of each lane in place of the pose of its scalp, at the end of the step; `frame` has the last rotation
    /// in its first row, which no segment uses.
    pub(super) fn load_free_frames(
        &mut self,
        position: &[f32],
        velocity: &[f32],
        frame: &mut [f32],
        pass: &Pass,
    ) {
        for l in 0..LANES {
            let points = 0..self.last[l] as usize + 1;
            let mass = |i: usize| self.fixed[i * FIXED + 6 * LANES + l];
            let total: f32 = points.clone().map(mass).sum();
            let mean =
                |of: &[f32]| points.clone().map(|i| lane(of, i, l) * mass(i)).sum::<Vec3>() / total;
            let (centre, drift) = (mean(position), mean(velocity));
            // Angular velocity of the masses.
            let (mut inertia, mut spin) = (Mat3::ZERO, Vec3::ZERO);
            for i in points.clone() {
                let r = lane(position, i, l) - centre;
                let across = Mat3::from_diagonal(Vec3::splat(r.length_squared()))
                    - Mat3::from_cols(r * r.x, r * r.y, r * r.z);
                inertia += across * mass(i);
                spin += r.cross(lane(velocity, i, l) - drift) * mass(i);
            }
            let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
            inertia += Mat3::from_diagonal(Vec3::splat(REGULAR * trace));
            let turn = inertia.inverse() * spin * pass.dt;
            let turn =
                if turn.is_finite() { turn.clamp_length_max(MAX_ROTATION) } else { Vec3::ZERO };
            let turn = Quat::from_scaled_axis(turn);
            // The strand's rigid motion in the step: centre and rotation.
            let moves = drift * pass.dt + pass.gravity * (pass.dt * pass.dt);
            let by = Mat3::from_quat(turn) - Mat3::IDENTITY;
            let motion = [by.x_axis, by.y_axis, by.z_axis, moves - by * centre];
            // Fit the groom to the predicted positions and directions, by the stiffnesses of the style.
            let y = |i: usize| lane(position, i, l) + lane(velocity, i, l) * pass.dt;
            let weight =
                |i: usize| mass(i) * self.spring_of(i, l, pass.tie.spring).max(LEAST_SPRING);
            let total: f32 = points.clone().map(weight).sum();
            let rest =
                points.clone().map(|i| lane(&self.rest, i, l) * weight(i)).sum::<Vec3>() / total;
            let centre = points.clone().map(|i| y(i) * weight(i)).sum::<Vec3>() / total
                + pass.gravity * (pass.dt * pass.dt);
            let mut correlation = Mat3::ZERO;
            for i in points.clone() {
                let (mut a, mut g) = (y(i) - centre, (lane(&self.rest, i, l) - rest) * weight(i));
                correlation += Mat3::from_cols(a * g.x, a * g.y, a * g.z);
                if i > 0 {
                    let spring = self.spring_of(i, l, pass.tie.spring).max(LEAST_SPRING);
                    a = y(i) - y(i - 1);
                    g = (lane(&self.rest, i, l) - lane(&self.rest, i - 1, l))
                        * (spring * self.link[l] / self.length_of(i, l));
                    correlation += Mat3::from_cols(a * g.x, a * g.y, a * g.z);
                }
            }
            let rotation = fit_rotation(rotation_of(frame, l), &correlation);
            set_rotation(frame, l, rotation);
            let translation = centre - rotation * rest;
            self.set_root(l, &RigidTransform { rotation, translation });
            for (to, v) in self.motion.iter_mut().zip(motion) {
                set_lane(to, 0, l, v);
            }
        }
        self.root_before = self.root;
    }
}

/// The rotation that fits a correlation matrix best, from a first guess.
fn fit_rotation(mut q: Quat, a: &Mat3) -> Quat {
    for _ in 0..MAX_ITERATIONS {
        let r = Mat3::from_quat(q);
        let torque = r.x_axis.cross(a.x_axis) + r.y_axis.cross(a.y_axis) + r.z_axis.cross(a.z_axis);
        let along = r.x_axis.dot(a.x_axis) + r.y_axis.dot(a.y_axis) + r.z_axis.dot(a.z_axis);
        // Newton's method: the symmetric part of the correlation in the frame is the second derivative.
        let s = *a * r.transpose();
        let second = Mat3::from_diagonal(Vec3::splat(along)) - (s + s.transpose()) * 0.5;
        let scale = along.abs().max(f32::MIN_POSITIVE);
        let regular = Mat3::from_diagonal(Vec3::splat(REGULAR * scale));
        let newton = (second + regular).inverse() * torque;
        // A gradient step where that is no ascent.
        let ascends = along > 0.0 && newton.is_finite() && newton.dot(torque) > 0.0;
        let turn = if ascends { newton } else { torque / scale };
        if !turn.is_finite() {
            break;
        }
        q = (Quat::from_scaled_axis(turn.clamp_length_max(MAX_ROTATION)) * q).normalize();
        if turn.length_squared() < CONVERGED * CONVERGED {
            break;
        }
    }
    q
}

fn rotation_of(frame: &[f32], l: usize) -> Quat {
    let n = |k: usize| frame[k * LANES + l];
    Quat::from_xyzw(n(1), n(2), n(3), n(0))
}

/// Stores the rotation of a lane's strand.
pub(super) fn set_rotation(frame: &mut [f32], l: usize, q: Quat) {
    for (k, value) in [q.w, q.x, q.y, q.z].into_iter().enumerate() {
        frame[k * LANES + l] = value;
    }
}

/// Rotates the frame of a lane's strand with a teleport.
pub(super) fn turn(frame: &mut [f32], l: usize, by: Quat) {
    let rotation = (by * rotation_of(frame, l)).normalize();
    set_rotation(frame, l, rotation);
}

const _: () = assert!(FRAME == 4 * LANES);

#[cfg(test)]
mod tests {
    use super::*;

    /// The fit recovers a rotation, also of a straight strand, whose rotation about itself stays as it was.
    #[test]
    fn a_rotation_is_recovered() {
        let by = Quat::from_scaled_axis(Vec3::new(0.7, -0.4, 0.9));
        for flat in [1.0, 0.0] {
            let mut a = Mat3::ZERO;
            for i in 0..20 {
                let t = i as f32 * 0.3;
                let g = Vec3::new(t.cos() * flat, t, t.sin() * flat);
                let y = by * g;
                a += Mat3::from_cols(y * g.x, y * g.y, y * g.z);
            }
            let found = fit_rotation(Quat::IDENTITY, &a);
            assert!((found * Vec3::Y).distance(by * Vec3::Y) < 1e-5, "{found}");
            if flat > 0.0 {
                assert!(found.dot(by).abs() > 1.0 - 1e-5, "{found} {by}");
            } else {
                let shortest = Quat::from_rotation_arc(Vec3::Y, by * Vec3::Y);
                assert!(found.dot(shortest).abs() > 1.0 - 1e-3, "{found} {shortest}");
            }
        }
        assert_eq!(fit_rotation(Quat::IDENTITY, &Mat3::ZERO), Quat::IDENTITY);
        assert_eq!(fit_rotation(Quat::IDENTITY, &(Mat3::IDENTITY * f32::NAN)), Quat::IDENTITY);
    }
}
