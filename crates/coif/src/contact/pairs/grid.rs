//! Cells over the hair.

use glam::Vec3;

/// Most cells per segment: more would cost more memory than the segments themselves.
const CELLS_PER_SEGMENT: f64 = 2.0;

/// Least number of cells that a grid may have.
const LEAST_CELLS: f64 = 4096.0;

/// Standard deviations of the hair's places that the grid spans. What is outside is put into the
/// nearest cell: a strand that flew away must not make all cells large.
const SPAN: f32 = 5.0;

/// Places within a cell: 32 by 32 for each axis that hair may go along.
pub(super) const PLACES: usize = 3 * 32 * 32;

/// Edge of a cell over the radius in which segments look.
const CELL: f32 = 1.2;

/// A box of cells, x fastest.
#[derive(Debug, Default)]
pub(super) struct Grid {
    origin: Vec3,
    pub(super) cell: f32,
    inverse_cell: f32,
    pub(super) len: [usize; 3],
    pub(super) cells: usize,
    /// Where each cell starts in the sorted segments, and the end.
    pub(super) first: Vec<u32>,
}

impl Grid {
    /// Lays cells over middles within `bounds` for segments whose half length is `usual` and that
    /// touch within `distance` (m).
    pub(super) fn fit(
        &mut self,
        points: &[Vec3],
        bounds: (Vec3, Vec3),
        usual: f32,
        distance: f32,
        used: u32,
    ) {
        let (mut lo, mut hi) = bounds;
        if used == 0 {
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
            let span = SPAN
                * Vec3::from(deviation.to_array().map(f32::sqrt))
                    .max(Vec3::splat(usual + distance));
            (lo, hi) = (lo.max(lo + mean - span), hi.min(lo + mean + span));
        }
        let size = (hi - lo).max(Vec3::ZERO).as_dvec3();
        // Grow the cells until they are few enough.
        let most = (CELLS_PER_SEGMENT * f64::from(used)).max(LEAST_CELLS);
        let mut cell = f64::from(CELL * (usual + distance)).max(1e-7);
        let count = |cell: f64| (size / cell).floor() + 1.0;
        while count(cell).element_product() > most {
            cell *= 1.1;
        }
        self.origin = lo;
        self.cell = cell as f32;
        self.inverse_cell = 1.0 / self.cell;
        self.len = count(cell).to_array().map(|n| n as usize);
        self.cells = self.len.iter().product();
    }

    /// The cell of a coordinate along an axis; the outermost cells reach out for ever.
    #[inline(always)]
    pub(super) fn index(&self, x: f32, axis: usize) -> usize {
        let cell = ((x - self.origin[axis]) * self.inverse_cell).max(0.0);
        // A number of 32 bits is made faster than one of 64, and there are not more cells.
        (cell as i32 as usize).min(self.len[axis] - 1)
    }

    /// Where a cell begins and ends along an axis (m); the outermost ones have no border.
    #[inline]
    pub(super) fn span(&self, index: usize, axis: usize) -> (f32, f32) {
        // A cell is widened by what a coordinate's rounding could put on its other side.
        let slack = 1e-3 * self.cell;
        let lo = self.origin[axis] + index as f32 * self.cell - slack;
        let hi = self.origin[axis] + (index + 1) as f32 * self.cell + slack;
        let lo = if index == 0 { f32::NEG_INFINITY } else { lo };
        (lo, if index + 1 == self.len[axis] { f32::INFINITY } else { hi })
    }

    /// Number of the cell around a point.
    #[inline]
    pub(super) fn key(&self, p: Vec3) -> u32 {
        let (x, y, z) = (self.index(p.x, 0), self.index(p.y, 1), self.index(p.z, 2));
        ((z * self.len[1] + y) * self.len[0] + x) as u32
    }

    /// Number of the place of a line within the cell of its middle: lines beside each other have near
    /// numbers, wherever along the line their middles are.
    ///
    /// Model: hair goes mostly along one axis; its place is where it goes through the plane across
    /// this axis in the middle of the cell.
    #[inline]
    pub(super) fn place(&self, middle: Vec3, along: Vec3) -> u16 {
        let size = along.abs();
        let axis = if size.x >= size.y.max(size.z) {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let within = ((middle - self.origin) * self.inverse_cell).map(|x| x - x.floor());
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

    /// The sorted segments in the cells `x0..=x1` of a row.
    #[inline(always)]
    pub(super) fn row(&self, x0: usize, x1: usize, y: usize, z: usize) -> (usize, usize) {
        let row = (z * self.len[1] + y) * self.len[0];
        (self.first[row + x0] as usize, self.first[row + x1 + 1] as usize)
    }
}
