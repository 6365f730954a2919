//! What surrounds a simulation, and how often it steps.

use glam::Vec3;

use super::{Surface, Wind};
use crate::contact::ContactSettings;
use crate::{Error, Result};

/// Gravity, wind, time step and contacts of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Acceleration of gravity (m/s^2).
    pub gravity: Vec3,
    /// Moving air.
    pub wind: Wind,
    /// Steps per second of simulated time.
    pub steps_per_second: u32,
    /// Whether and how hair collides with the body's own surface, besides its colliders.
    pub surface: Option<Surface>,
    /// Contact of hair on hair, in the order in which contacts act. None: it does not.
    pub contacts: Vec<ContactSettings>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            wind: Wind::default(),
            steps_per_second: 240,
            surface: None,
            contacts: Vec::new(),
        }
    }
}

impl World {
    /// Length of a step (s).
    pub fn dt(&self) -> f32 {
        1.0 / self.steps_per_second as f32
    }

    /// Mass of the hair over that of dry hair.
    pub(super) fn mass_scale(&self) -> f32 {
        self.contacts.iter().map(ContactSettings::mass_scale).product()
    }

    /// The number of steps a second nearest to what is asked for that has a whole number of steps
    /// in every frame.
    pub fn steps_for_fps(steps_per_second: u32, fps: u32) -> u32 {
        let per_frame = (f64::from(steps_per_second) / f64::from(fps)).round().max(1.0);
        fps * per_frame as u32
    }

    pub(super) fn validate(&self) -> Result<()> {
        if !self.gravity.is_finite() {
            return Err(Error::OutOfRange {
                name: "gravity (m/s^2)".into(),
                value: f64::NAN,
                expected: "finite numbers",
            });
        }
        if self.steps_per_second == 0 {
            return Err(Error::OutOfRange {
                name: "steps_per_second".into(),
                value: 0.0,
                expected: "1 or more",
            });
        }
        Ok(())
    }
}
