//! Copies of the points of the hair in rows of sixteen, for contacts after a step.

use glam::Vec3;
use rayon::prelude::*;

use super::block::Block;
use super::couple::Place;
use crate::contact::Samples;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, lane, set_lane};
use crate::model::sample_rows::{ROWS_PER_TASK, SampleRows};

impl SampleRows {
    /// Copies the state; `unit` (kg) is the unit of masses in blocks.
    pub(super) fn fill(&mut self, blocks: &[Block], place: &[Place], unit: f32) -> Samples<'_> {
        let rows = place.len().div_ceil(LANES);
        self.position.resize(rows * VECTOR, 0.0);
        self.velocity.resize(rows * VECTOR, 0.0);
        self.mass.resize(rows * LANES, 0.0);
        self.present.resize(rows, 0);
        self.free.resize(rows, 0);
        self.free.fill(0);
        let pieces = place.par_chunks(ROWS_PER_TASK * LANES);
        let positions = self.position.par_chunks_mut(ROWS_PER_TASK * VECTOR);
        let velocities = self.velocity.par_chunks_mut(ROWS_PER_TASK * VECTOR);
        pieces.zip(positions).zip(velocities).for_each(|((place, position), velocity)| {
            for (i, p) in place.iter().enumerate() {
                let (block, row, l) = (&blocks[p.block as usize], p.row.into(), p.lane.into());
                set_lane(position, i / LANES, i % LANES, block.world_position(row, l));
                set_lane(velocity, i / LANES, i % LANES, lane(&block.v, row, l));
            }
        });
        for (i, p) in place.iter().enumerate() {
            let (row, l) = (i / LANES, i % LANES);
            let block = &blocks[p.block as usize];
            let (from, lane_from) = (usize::from(p.row), usize::from(p.lane));
            self.mass[i] = block.weight[from * LANES + lane_from] * unit;
            self.present[row] |= 1 << l;
            self.free[row] |= (block.free[from] >> lane_from & 1) << l;
        }
        self.lend()
    }

    /// Copies velocities back. Those of extra particles do not change: springs transmit the change.
    pub(super) fn take_velocities(&self, blocks: &mut [Block], place: &[Place]) {
        if self.velocity.is_empty() {
            return;
        }
        for (i, p) in place.iter().enumerate() {
            let new: Vec3 = lane(&self.velocity, i / LANES, i % LANES);
            let block = &mut blocks[p.block as usize];
            if block.free[usize::from(p.row)] >> p.lane & 1 == 1 {
                set_lane(&mut block.v, p.row.into(), p.lane.into(), new);
            }
        }
    }
}
