//! The points of a model that holds strands in lanes, and their output to the caller's memory.

use fearless_simd::{Simd, SimdBase, SimdFloat, f32x16};
use glam::Vec3;

use crate::environment::Onward;
use crate::math::LANES;
use crate::math::lane_layout::{LanePlaces, PlacedBlock, WriteBlock};
use crate::math::lanes::{VECTOR, Vec3x};
use crate::math::lines::{Line, WRITTEN, write_rows};

/// Positions and velocities of strands, sixteen at a time, in the layout of a model: reads between two steps need
/// no transposed copy of the points.
#[derive(Clone, Copy)]
pub struct StrandLanes<'a> {
    pub(super) places: &'a LanePlaces,
    pub(super) position: &'a [f32],
    pub(super) velocity: &'a [f32],
    /// Whether no scalp carries the strands.
    pub(super) is_free: bool,
}

/// Writes rows unchanged.
pub(super) struct Rows<'a>(pub(super) &'a [f32]);

impl WriteBlock for Rows<'_> {
    #[inline(always)]
    fn write<S: Simd>(&self, simd: S, block: &PlacedBlock, lines: &mut [Line<'_, 1>]) {
        let rows = &self.0.as_chunks::<VECTOR>().0[block.rows.clone()];
        write_rows(simd, |i| Vec3x::of_row(simd, &rows[i]), rows.len(), 0, lines);
    }
}

impl StrandLanes<'_> {
    /// Writes the positions of the points extrapolated to the drawn time (m). `embedded` is the number of points of each
    /// strand that the scalp carries.
    pub(crate) fn go_on(&self, onward: &Onward<'_>, embedded: &[u32], out: &mut [Vec3]) {
        self.places.write_blocks(out, &GoingOn { lanes: self, onward, embedded });
    }
}

struct GoingOn<'a> {
    lanes: &'a StrandLanes<'a>,
    onward: &'a Onward<'a>,
    embedded: &'a [u32],
}

impl WriteBlock for GoingOn<'_> {
    /// Model: as `Onward::of_strand`. Restores the segment lengths from root to tip.
    #[inline(always)]
    fn write<S: Simd>(&self, simd: S, block: &PlacedBlock, lines: &mut [Line<'_, 1>]) {
        let [position, velocity] = [self.lanes.position, self.lanes.velocity]
            .map(|rows| &rows.as_chunks::<VECTOR>().0[block.rows.clone()]);
        let motions = self.onward.of_strands(simd, &block.lines);
        let mut embedded = [0.0; LANES];
        for (to, &strand) in embedded.iter_mut().zip(&block.lines) {
            *to = self.embedded[strand as usize].max(1) as f32;
        }
        let embedded = f32x16::from_slice(simd, &embedded);
        let tiny = f32x16::splat(simd, f32::MIN_POSITIVE);
        let mut there = [[0.0; VECTOR]; WRITTEN];
        let mut inner = [Vec3x::splat(simd, Vec3::ZERO); 2];
        let ahead = f32x16::splat(simd, self.onward.ahead);
        for first in (0..position.len()).step_by(WRITTEN) {
            let count = (position.len() - first).min(WRITTEN);
            for k in 0..count {
                let i = first + k;
                let x = Vec3x::of_row(simd, &position[i]);
                let v = Vec3x::of_row(simd, &velocity[i]);
                let mut free = motions.by_place.point(x) + motions.by_velocity.direction(v);
                if self.lanes.is_free {
                    free = x + v * ahead;
                    if i == 0 {
                        free.to_row(&mut there[k]);
                        inner = [x, free];
                        continue;
                    }
                }
                let (edge, segment) = (free - inner[1], x - inner[0]);
                let scale = (segment.dot(segment) / edge.dot(edge).max(tiny)).sqrt();
                let fixed = f32x16::splat(simd, i as f32).simd_lt(embedded);
                let mut goes = inner[1] + edge * scale;
                if !self.lanes.is_free {
                    goes = motions.carried.point(x).or(fixed, goes);
                }
                goes.to_row(&mut there[k]);
                inner = [x, goes];
            }
            write_rows(simd, |k| Vec3x::of_row(simd, &there[k]), count, first, lines);
        }
    }
}
