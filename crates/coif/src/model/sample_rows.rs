//! Copies of the groom's points for contacts, in rows of sixteen consecutive points regardless of strands, for models
//! whose own layout contacts cannot read.

use crate::contact::{Order, Samples};

/// Rows that one task copies (1024 points): less costs scheduling, more leaves threads idle.
pub(super) const ROWS_PER_TASK: usize = 64;

/// Copies in the groom's order. Vectors are empty until a contact needs them.
#[derive(Default)]
pub(super) struct SampleRows {
    /// Positions (m).
    pub(super) position: Vec<f32>,
    /// Average velocities of the points in the step (m/s).
    pub(super) motion: Vec<f32>,
    /// Velocities (m/s).
    pub(super) velocity: Vec<f32>,
    /// Mass of each point (kg).
    pub(super) mass: Vec<f32>,
    /// Per row, bits of the lanes that hold a point, and of those whose point is free to move.
    pub(super) present: Vec<u16>,
    pub(super) free: Vec<u16>,
}

impl SampleRows {
    /// Lends the copies, with the velocity at the start of the step as motion.
    pub(super) fn lend(&mut self) -> Samples<'_> {
        self.motion.clone_from(&self.velocity);
        Samples {
            position: &self.position,
            motion: &self.motion,
            velocity: &mut self.velocity,
            mass: &self.mass,
            present: &self.present,
            free: &self.free,
            order: Order::ByPoint,
        }
    }
}
