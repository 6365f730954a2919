//! Access for contact by copying: the points of the groom in rows of sixteen, one after the
//! other, whatever strand they belong to.

use crate::contact::{Order, Samples};

/// Rows that one task copies: 1024 points.
pub(super) const ROWS_PER_TASK: usize = 64;

/// Copies in the groom's order. Vectors are empty until contact needs them.
#[derive(Default)]
pub(super) struct SampleRows {
    /// Positions (m).
    pub(super) position: Vec<f32>,
    /// How points moved in the step (m/s).
    pub(super) motion: Vec<f32>,
    /// Velocities (m/s).
    pub(super) velocity: Vec<f32>,
    /// Mass of each point (kg).
    pub(super) mass: Vec<f32>,
    /// Per row: which lanes hold a point, and which of those may move.
    pub(super) present: Vec<u16>,
    pub(super) free: Vec<u16>,
}

impl SampleRows {
    /// Access for contact. The motion in a step is the velocity with which the next one begins.
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
