//! Sleep: a simulation that may sleep takes no steps once nothing around it has moved for a
//! while and its hair has come to rest. Any change wakes it.

use glam::Vec3;

use super::Simulation;

/// Speed (m/s) below which hair is at rest: a sixtieth of a millimetre a frame at 60 frames a second, which is invisible.
pub const REST_SPEED: f32 = 1e-3;

/// Time (s) without any change around the hair before the first check whether it rests, and between two checks.
const QUIET: f64 = 0.25;

/// State of sleeping.
#[derive(Default)]
pub(super) struct Sleep {
    /// Whether sleep is permitted.
    pub(super) may: bool,
    /// Time (s) since something changed or the last check.
    quiet: f64,
    /// Whether it sleeps.
    pub(super) asleep: bool,
    velocities: Vec<Vec3>,
}

impl Simulation {
    /// Lets a body that is driven and its hair sleep when nothing moves ([`REST_SPEED`]): frames cost next to nothing
    /// until the pose, a collider, the wind or a parameter changes. Off by default.
    pub fn set_sleep(&mut self, may: bool) {
        self.sleep = Sleep { may, ..Sleep::default() };
    }

    /// Whether it sleeps.
    pub fn is_asleep(&self) -> bool {
        self.sleep.asleep
    }

    /// Wakes the hair where something has changed.
    pub(super) fn wake_if(&mut self, changed: bool) {
        if changed {
            (self.sleep.asleep, self.sleep.quiet) = (false, 0.0);
        }
    }

    /// Records a frame of `dt` (s) in which the body moved or not, and falls asleep or wakes.
    pub(super) fn rest_or_wake(&mut self, moved: bool, dt: f64) {
        let gusty = !self.world.wind.is_still() && self.world.wind.gusts > 0.0;
        let others = self.colliders.any_moves() || self.bodies.any_moves() || self.pins.any_moves();
        self.wake_if(moved || gusty || others);
        if !self.sleep.may || self.sleep.asleep {
            return;
        }
        self.sleep.quiet += dt;
        if self.sleep.quiet < QUIET {
            return;
        }
        // Check whether any hair moves.
        self.sleep.quiet = 0.0;
        let mut velocities = std::mem::take(&mut self.sleep.velocities);
        velocities.resize(self.groom.strands.point_count(), Vec3::ZERO);
        self.velocities(&mut velocities);
        self.sleep.asleep = velocities.iter().all(|v| v.length_squared() < REST_SPEED * REST_SPEED);
        self.sleep.velocities = velocities;
    }
}
