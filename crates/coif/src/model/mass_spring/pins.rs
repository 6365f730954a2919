//! Pinned points ([`Environment::pins`]): particles with prescribed positions, like embedded ones.

use super::block::Block;
use crate::math::LANES;
use crate::model::{Environment, PinTarget};

/// A pinned particle of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub(super) row: usize,
    pub(super) lane: usize,
    pub(super) target: PinTarget,
}

impl Block {
    /// Reserves memory for a pin per strand, so that steps allocate none.
    pub(super) fn make_room_for_pins(&mut self) {
        self.pins.reserve(LANES.saturating_sub(self.pins.len()));
    }

    /// Frees the particles that were pinned.
    pub(super) fn release_pins(&mut self) {
        for pin in self.pins.drain(..) {
            self.free[pin.row] |= 1 << pin.lane;
        }
    }

    /// Sets the pins of a step. Points that are pinned otherwise are skipped.
    pub(super) fn load_pins(&mut self, env: &Environment<'_>) {
        for lane in 0..self.lanes {
            for target in env.pins.of(self.strands[lane] as usize) {
                let mut points = (0..self.rows).filter(|row| self.is_point[*row] >> lane & 1 == 1);
                let row = points.nth(target.point as usize);
                if let Some(row) = row.filter(|row| self.free[*row] >> lane & 1 == 1) {
                    self.free[row] &= !(1 << lane);
                    self.pinned_at_both |= 1 << lane;
                    self.pins.push(Pin { row, lane, target: *target });
                }
            }
        }
    }
}
