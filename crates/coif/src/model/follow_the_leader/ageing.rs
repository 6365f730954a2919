//! Friction that grows while hair is at rest, with the hair around it and with the body.
//!
//! Contact with other hair is not simulated here, but hair that has come to rest lies among other hair, and contacts
//! that rest get stronger. Without that, hair that was thrown over a face or hooked behind an ear creeps for seconds
//! along a saddle of its potential, or at the limit of Coulomb's law, and then slips.
//!
//! Model: rate-and-state friction (Dieterich's ageing law). The state is the age of a strand's contacts,
//!
//! ```text
//! d age / dt = 1 - age (v / SLIP + v_driven / DRIVEN_SLIP)         f = min(1, age / settling_time)^5
//! ```
//!
//! with `v` the largest speed of its points beside the scalp, `v_driven` the speed of its root and of the wind. With `f`,
//! the settled fraction, the strand feels a dry friction of `f` [`STRENGTH`] against the scalp's frame, and friction on the
//! body grows by `1 + f`. Hair that moves has next to none (all of the friction at 2 cm/s, 3 % of it at twice that), and
//! hair on a head that moves by some millimetres or in wind has none. It is no sleep: forces act on hair as before, nothing is
//! set to zero, and friction in the frame of a scalp that stands still takes energy only.
//!
//! The dry friction is a drag `f STRENGTH / max(v, CREEP)` with the speed of the last step (lagged diffusivity), which adds to
//! the diagonal of the implicit step.
//!
//! Source: not in `muller2012`. Deviations from Dieterich: there friction grows with the logarithm of the age, and without
//! bound; the fifth power leaves hair in motion alone.

use super::Pass;
use crate::math::LANES;

/// Distance (m) over which contacts between hairs are renewed: in the default settling time at 2 cm/s, so that hair
/// comes to rest, which is below 1 cm/s. Less leaves hair creeping longer, more holds swings that can be seen.
const SLIP: f32 = 0.01;

/// Distance (m) over which motion of the root, and of the air, renews them: that shears all hair at once.
const DRIVEN_SLIP: f32 = 0.001;

/// Dry friction of settled hair by its mass (m/s^2): it can carry its own weight, as tangled hair does.
const STRENGTH: f32 = 10.0;

/// Speed (m/s) below which the dry friction is proportional to the speed: settled hair that is pulled with all of
/// [`STRENGTH`] creeps by half a millimetre in a minute.
const CREEP: f32 = 1e-5;

/// How old the contacts of a strand are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Age {
    /// Time (s) that contacts have rested, as motion leaves it.
    pub(super) age: f32,
    /// Drag of the next step by mass (1/s).
    pub(super) drag: f32,
}

impl Age {
    /// After a step in which points have moved by at most `moved` beside the scalp and what drives them by `driven` (m).
    pub(super) fn grow(&mut self, moved: f32, driven: f32, pass: &Pass) {
        self.age = (self.age + pass.dt) / (1.0 + moved / SLIP + driven / DRIVEN_SLIP);
        let speed = (moved / pass.dt).max(CREEP);
        self.drag = self.settled(pass.settling_time) * STRENGTH / speed;
        // What has left the world is put back on its rest shape.
        if !(self.age.is_finite() && self.drag.is_finite()) {
            *self = Self::default();
        }
    }

    /// The settled fraction `f`.
    pub(super) fn settled(&self, settling_time: f32) -> f32 {
        let fraction = (self.age / settling_time).min(1.0);
        fraction.powi(5)
    }
}

/// The ages of sixteen strands, as a step reads them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ages {
    pub(super) of: [Age; LANES],
    pub(super) drag: [f32; LANES],
    pub(super) settled: [f32; LANES],
}

impl Ages {
    /// Puts a lane in its place.
    pub(super) fn set(&mut self, lane: usize, age: Age, settling_time: f32) {
        self.of[lane] = age;
        self.drag[lane] = age.drag;
        self.settled[lane] = age.settled(settling_time);
    }

    /// A lane is taken along at `speed` (m/s) in the coming step: its dry friction is known to be no more than that of
    /// motion as fast.
    pub(super) fn hurry(&mut self, lane: usize, speed: f32) {
        self.drag[lane] = self.drag[lane].min(STRENGTH / speed.max(CREEP));
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
    use glam::Vec3;

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
            assert!((after(3.0, 0.0, 0.0, rate) - 3.0).abs() < 1e-3);
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

    /// Hair at twice the speed at which it has all of the friction feels three per cent of it.
    #[test]
    fn hair_in_motion_has_not_settled() {
        let time = Settings::default().settling_time;
        let settled = |age: f32| Age { age, drag: 0.0 }.settled(time);
        assert!((settled(time / 2.0) - 0.03125).abs() < 1e-5);
        assert_eq!(settled(2.0 * time), 1.0);
        assert_eq!(Age { age: 1e3, drag: 0.0 }.settled(f32::INFINITY), 0.0);
    }

    /// Hair that has settled moves off with the head as hair does that never settles: beside the scalp it is at most as far
    /// from it as other numbers of points or steps may be (`coif validate ftl`), 5 % of its length.
    #[test]
    fn settled_hair_moves_off_with_the_head() {
        const LENGTH: f32 = 0.3;
        let line: Vec<Vec3> = (0..30).map(|i| Vec3::NEG_Y * (LENGTH / 29.0 * i as f32)).collect();
        let dt = 1.0 / 240.0;
        let path = |settling_time: f32| {
            let mut strands = Strands::new();
            strands.push(&line);
            let groom = Groom::new(strands, Fibre::default());
            let settings = Settings { settling_time, ..Settings::default() };
            let gravity = Vec3::NEG_Y * 9.81;
            let mut model = FollowTheLeader::new(&groom, &settings, dt, gravity).expect("valid");
            let mut x = vec![Vec3::ZERO; line.len()];
            let mut settled = 0.0f32;
            let mut step = |model: &mut FollowTheLeader, k: usize| {
                let t = (k as f32 * dt - 2.0).max(0.0);
                let root = Vec3::X * (0.05 * (1.0 - (6.0 * t).cos()));
                let env = Environment {
                    time: f64::from(k as f32 * dt),
                    dt,
                    gravity,
                    wind: &Wind::default(),
                    world_from_rest: &[RigidTransform {
                        translation: root,
                        ..RigidTransform::IDENTITY
                    }],
                    colliders: &[],
                    field: None,
                    gusts: Default::default(),
                    pins: Default::default(),
                };
                model.step(&env, &mut StepReport::default());
                model.positions(&mut x);
                x[line.len() - 1]
            };
            let mut tips = Vec::new();
            for k in 1..=720 {
                tips.push(step(&mut model, k));
                settled = settled.max(model.blocks[0].ages.settled[0]);
            }
            (tips, settled)
        };
        let (found, settled) = path(Settings::default().settling_time);
        let (reference, never) = path(f32::INFINITY);
        assert_eq!((settled, never), (1.0, 0.0));
        let off = found.iter().zip(&reference).map(|(a, b)| a.distance(*b));
        let off = off.fold(0.0, f32::max) / LENGTH;
        println!("settled hair is off by {off} of its length (0.05)");
        assert!(off < 0.05, "{off}");
    }
}
