//! Friction that grows while hair is at rest, with the hair around it and with the body.
//!
//! Contact with other hair is not simulated here, but hair at rest lies among other hair, and contacts
//! at rest strengthen with time. Without that, hair that was thrown over a face or snagged behind an ear creeps for seconds
//! along a saddle of its potential, or at the Coulomb limit, and then slips.
//!
//! Model: rate-and-state friction (Dieterich's ageing law). The state is the age of a strand's contacts,
//!
//! ```text
//! d age / dt = 1 - age (v / SLIP + v_driven / DRIVEN_SLIP)         f = (age / settling_time)^5
//! ```
//!
//! with `v` the largest speed of its points relative to the scalp, `v_driven` the speed of the scalp under it, of the wind
//! and of the surfaces that it lies on relative to the scalp; the age is at most [`OLDEST`] settling times. `f` is the
//! settledness: it adds a dry friction of `f` [`STRENGTH`] against the scalp's frame, and friction on the body grows by
//! `1 + f`. For moving hair it is negligible (its weight at 2 cm/s, 3 % of it at twice that), on a head that moves by some
//! tenths of a millimetre or in wind zero, and hair slower than some millimetres a second for a second or two sticks. This
//! is not sleeping: all forces still act, and friction in the frame of a scalp at rest only dissipates energy.
//!
//! The dry friction is a drag `f STRENGTH / v` with the speed of the last step (lagged diffusivity), at most [`MAX_DRAG`],
//! which adds to the diagonal of the implicit step.
//!
//! Source: not in `muller2012`. Deviations from Dieterich: there friction grows with the logarithm of the age; the fifth
//! power is negligible for hair in motion.

use super::Pass;
use crate::math::LANES;

/// Distance (m) over which contacts between hairs are renewed: in the default settling time at 2 cm/s, so that hair
/// comes to rest, which is below 1 cm/s. Less leaves hair creeping longer, more damps visible swings.
const SLIP: f32 = 0.01;

/// Distance (m) over which motion of the scalp, of the air and of the surfaces that hair lies on renews them, the thickness
/// of a fibre: that shears all hair at once. With more, settled hair would be carried along by a head that tilts slowly:
/// here it is below 0.05 degrees a second.
const DRIVEN_SLIP: f32 = 1e-4;

/// Dry friction by mass (m/s^2) of hair that has rested for the settling time: it can carry its own weight, as tangled
/// hair does.
const STRENGTH: f32 = 10.0;

/// Maximum age, by the settling time: friction is then some hundred times the weight, which is the force of the style where
/// hair lies on the wrong side of the head. More would only take longer to be renewed.
const OLDEST: f32 = 3.0;

/// Maximum drag by mass (1/s): hair under ten times its weight creeps by half a millimetre in a minute. With more,
/// the mass of a segment would be lost to rounding in the sums.
const MAX_DRAG: f32 = 1e7;

/// Age of the contacts of a strand.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Age {
    /// Time (s) that contacts have rested, reduced by motion.
    pub(super) age: f32,
    /// Drag of the next step by mass (1/s).
    pub(super) drag: f32,
}

impl Age {
    /// Update after a step in which points have moved by at most `moved` relative to the scalp and what drives them by
    /// `driven` (m).
    pub(super) fn grow(&mut self, moved: f32, driven: f32, pass: &Pass) {
        let age = (self.age + pass.dt) / (1.0 + moved / SLIP + driven / DRIVEN_SLIP);
        self.age = age.min(OLDEST * pass.settling_time);
        let friction = self.settled(pass.settling_time) * STRENGTH;
        self.drag = (friction * pass.dt / moved.max(f32::MIN_POSITIVE)).min(MAX_DRAG);
        // A strand that is not finite is reset to its rest shape.
        if !(self.age.is_finite() && self.drag.is_finite()) {
            *self = Self::default();
        }
    }

    /// The settledness `f`: 1 at the settling time.
    pub(super) fn settled(&self, settling_time: f32) -> f32 {
        (self.age / settling_time).powi(5)
    }
}

/// The ages of sixteen strands, with the quantities that a step uses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ages {
    pub(super) of: [Age; LANES],
    pub(super) drag: [f32; LANES],
    pub(super) settled: [f32; LANES],
}

impl Ages {
    /// Sets a lane.
    pub(super) fn set(&mut self, lane: usize, age: Age, settling_time: f32) {
        self.of[lane] = age;
        self.drag[lane] = age.drag;
        self.settled[lane] = age.settled(settling_time);
    }

    /// Renews the contacts of a lane that a pin moves by `moved` (m) relative to the scalp in the coming step, at `speed`
    /// (m/s), as motion of the scalp does.
    pub(super) fn renew(&mut self, lane: usize, moved: f32, speed: f32) {
        let left = 1.0 / (1.0 + moved / DRIVEN_SLIP);
        self.of[lane].age *= left;
        self.settled[lane] *= left.powi(5);
        self.drag[lane] = self.drag[lane].min(self.settled[lane] * STRENGTH / speed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Wind;
    use crate::groom::{Fibre, Groom, Strands};
    use crate::math::RigidTransform;
    use crate::model::follow_the_leader::{FollowTheLeader, Settings};
    use crate::model::{Environment, Model, StepReport};
    use glam::{Quat, Vec3};

    fn after(seconds: f32, speed: f32, driven: f32, rate: f32) -> f32 {
        let pass = Pass::new(&Settings::default(), 1.0 / rate, Vec3::NEG_Y);
        let mut age = Age::default();
        for _ in 0..(seconds * rate) as usize {
            age.grow(speed / rate, driven / rate, &pass);
        }
        age.age
    }

    /// The age is the time at rest, and tends to the slip distance over the speed in motion, for any step.
    #[test]
    fn contacts_age_at_rest_and_are_renewed_by_motion() {
        for rate in [60.0, 240.0, 960.0] {
            assert!((after(1.0, 0.0, 0.0, rate) - 1.0).abs() < 1e-3);
            let oldest = OLDEST * Settings::default().settling_time;
            assert!((after(3.0, 0.0, 0.0, rate) - oldest).abs() < 1e-3);
            for (speed, driven) in [(0.01, 0.0), (0.1, 0.0), (0.0, 0.01), (0.05, 0.002)] {
                let expected = 1.0 / (speed / SLIP + driven / DRIVEN_SLIP);
                // Backward Euler of a decay to `expected`: exact in the limit.
                let found = after(30.0 * expected, speed, driven, rate);
                assert!(
                    (found / expected - 1.0).abs() < 0.01,
                    "{rate} {speed}: {found} {expected}"
                );
            }
        }
    }

    /// Hair at twice the speed of full dry friction has three per cent of it.
    #[test]
    fn hair_in_motion_has_not_settled() {
        let time = Settings::default().settling_time;
        let settled = |age: f32| Age { age, drag: 0.0 }.settled(time);
        assert!((settled(time / 2.0) - 0.03125).abs() < 1e-5);
        assert_eq!(settled(time), 1.0);
        assert_eq!(Age { age: 1e3, drag: 0.0 }.settled(f32::INFINITY), 0.0);
    }

    const LENGTH: f32 = 0.3;

    /// Position of the tip of a strand in each of the steps of `seconds`, with the root at `pose(t)`, and the
    /// largest settledness.
    fn path(
        settling_time: f32,
        seconds: f32,
        pose: impl Fn(f32) -> RigidTransform,
    ) -> (Vec<Vec3>, f32) {
        let line: Vec<Vec3> = (0..30).map(|i| Vec3::NEG_Y * (LENGTH / 29.0 * i as f32)).collect();
        let dt = 1.0 / 240.0;
        let mut strands = Strands::new();
        strands.push(&line);
        let groom = Groom::new(strands, Fibre::default());
        let settings = Settings { settling_time, ..Settings::default() };
        let gravity = Vec3::NEG_Y * 9.81;
        let mut model = FollowTheLeader::new(&groom, &settings, dt, gravity).expect("valid");
        let mut x = vec![Vec3::ZERO; line.len()];
        let mut settled = 0.0f32;
        let step = |k: usize| {
            let env = Environment {
                time: f64::from(k as f32 * dt),
                dt,
                gravity,
                wind: &Wind::default(),
                world_from_rest: &[pose(k as f32 * dt)],
                colliders: &[],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            model.step(&env, &mut StepReport::default());
            model.positions(&mut x);
            settled = settled.max(model.blocks[0].ages.settled[0]);
            x[line.len() - 1]
        };
        let tips = (1..=(seconds * 240.0) as usize).map(step).collect();
        (tips, settled)
    }

    /// Settled hair follows the motion of the head like hair that never settles, in a jerk as in a slow tilt (a degree a
    /// second, which would carry settled hair to its side): their difference is at most that between other numbers of
    /// points or steps (`coif validate ftl`), 5 % of its length.
    #[test]
    fn settled_hair_moves_off_with_the_head() {
        let sway = |t: f32| {
            let t = (t - 2.0).max(0.0);
            RigidTransform::from_translation(Vec3::X * (0.05 * (1.0 - (6.0 * t).cos())))
        };
        let tilt = |t: f32| RigidTransform {
            rotation: Quat::from_rotation_z((t - 2.0).max(0.0).to_radians()),
            ..RigidTransform::IDENTITY
        };
        let settling_time = Settings::default().settling_time;
        for (name, seconds, pose) in
            [("sway", 3.0, &sway as &dyn Fn(f32) -> RigidTransform), ("tilt", 62.0, &tilt)]
        {
            let (found, settled) = path(settling_time, seconds, pose);
            let (reference, never) = path(f32::INFINITY, seconds, pose);
            assert_eq!((settled, never), (OLDEST.powi(5), 0.0));
            let off = found.iter().zip(&reference).map(|(a, b)| a.distance(*b));
            let off = off.fold(0.0, f32::max) / LENGTH;
            println!("{name}: settled hair is off by {off} of its length (0.05)");
            assert!(off < 0.05, "{name}: {off}");
        }
    }
}
