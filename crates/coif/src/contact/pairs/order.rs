//! The order of segments along a curve through space, so that neighbours in space are neighbours in
//! memory.

use glam::Vec3;

use crate::math::morton_code;

/// Standard deviations of the hair's places that the cells span. What is outside is put into the
/// nearest cell: a strand that flew away must not make all cells large.
const SPAN: f32 = 5.0;

/// Bits of a cell's number along each axis.
const CELL_BITS: u32 = 6;

/// Bits of the place within a cell: two for the axis that hair goes along, five for each of the others.
const PLACE_BITS: u32 = 12;

/// Cells over the hair, in Morton order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cells {
    lo: Vec3,
    hi: Vec3,
    inverse_cell: f32,
}

impl Cells {
    /// Lays cells over the points within `bounds`.
    pub(super) fn fit(points: &[Vec3], (mut lo, mut hi): (Vec3, Vec3)) -> Self {
        if !lo.cmple(hi).all() {
            (lo, hi) = (Vec3::ZERO, Vec3::ZERO);
        }
        // Leave far strays to the outermost cells.
        let near = points.iter().step_by(16).filter(|p| p.cmpge(lo).all() && p.cmple(hi).all());
        let (mut sum, mut sum2, mut count) = (Vec3::ZERO, Vec3::ZERO, 0.0f32);
        for p in near {
            let p = *p - lo;
            (sum, sum2, count) = (sum + p, sum2 + p * p, count + 1.0);
        }
        if count > 1.0 {
            let mean = sum / count;
            let deviation = (sum2 / count - mean * mean).max(Vec3::ZERO);
            let span = SPAN * Vec3::from(deviation.to_array().map(f32::sqrt)) + Vec3::splat(1e-3);
            (lo, hi) = (lo.max(lo + mean - span), hi.min(lo + mean + span));
        }
        // Cells are cubes, as many along the longest side as a number has room for.
        let size = (hi - lo).max_element().max(1e-6);
        let cells = (1 << CELL_BITS) as f32;
        Self { lo, hi: lo + Vec3::splat(size), inverse_cell: cells / size }
    }

    /// A number by which a segment is sorted: its cell, then its place within it.
    #[inline]
    pub(super) fn key(&self, middle: Vec3, along: Vec3) -> u32 {
        // The code has ten bits for each axis.
        let cell = morton_code(middle, self.lo, self.hi) >> (3 * (10 - CELL_BITS));
        (cell << PLACE_BITS) | u32::from(self.place(middle, along))
    }

    /// Number of the place of a line within the cell of its middle: lines beside each other have near
    /// numbers, wherever along the line their middles are.
    ///
    /// Model: hair goes mostly along one axis; its place is where it goes through the plane across
    /// this axis in the middle of the cell.
    #[inline]
    fn place(&self, middle: Vec3, along: Vec3) -> u16 {
        let size = along.abs();
        let axis = if size.x >= size.y.max(size.z) {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let within = ((middle - self.lo) * self.inverse_cell).map(|x| x - x.floor());
        let slope = (0.5 - within[axis]) / along[axis];
        let slope = if slope.is_finite() { slope } else { 0.0 };
        // Leave half a cell on each side, and interleave the bits (Morton order).
        let spread = |across: usize| {
            let at = 0.25 + 0.5 * (within[across] + slope * along[across]);
            let x = (at * 32.0).clamp(0.0, 31.0) as u16;
            let x = (x | x << 4) & 0x10f;
            let x = (x | x << 2) & 0x133;
            (x | x << 1) & 0x155
        };
        ((axis as u16) << 10) | spread((axis + 1) % 3) << 1 | spread((axis + 2) % 3)
    }
}
