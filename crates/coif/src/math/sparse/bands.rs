//! The blocks between columns, packed into bands for the sweeps of block Gauss-Seidel.
//!
//! An unknown is coupled to unknowns of other columns on its own level and on adjacent levels. So two coupled
//! columns have up to three bands of blocks in common, one per shift of the level, and a product is
//! taken eight levels at a time. Blocks are stored once for both columns, as 16-bit integers relative to the largest
//! element of the block: a sweep reads two fifths of the bytes that it would read in [`BlockMatrix`].

use std::ops::Range;

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x8};

use super::block_matrix::BlockMatrix;
use super::lanes::{LANES, Slot, transpose};

/// Levels that are processed together: the number of lanes, so that a square of levels and columns is transposed.
const GROUP: usize = LANES;

/// Zeros before the first unknown after the pinned one, in each of the three rows of a column.
const PADDING: usize = GROUP;

/// Largest integer of a block.
const LARGEST: f32 = i16::MAX as f32;

/// 1.5 * 2^23: the lowest 16 bits of the sum of this and a number in the range of `i16` are the number, rounded to the
/// nearest integer.
const ROUND: f32 = 12_582_912.0;

/// Place of the unknowns of a column in a [`Rows`].
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    /// Index of its first number.
    first: u32,
    /// Number of groups of unknowns after the pinned one.
    groups: u32,
}

/// Blocks between two columns with one shift of the level.
#[derive(Debug, Clone, Copy)]
struct Band {
    /// The earlier column in a forward sweep, and the later one.
    columns: [u32; 2],
    /// Level in the earlier column less that in the later one: -1, 0 or 1.
    shift: i32,
    /// First group of blocks, by the later column's levels.
    first: u32,
}

/// Eight blocks of a band.
#[derive(Debug, Clone, Copy, Default)]
struct Blocks {
    /// Scale of each block. A block may be thousands of times larger than the others: rounded with its scale, they would
    /// no longer belong to a positive definite matrix.
    units: [f32; GROUP],
    /// Eight integers per element, in column-major order.
    elements: [[i16; GROUP]; 9],
}

/// One vector per unknown, stored per column as a row of x, one of y and one of z: the operand of products.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows(pub(super) Vec<f32>);

/// The bands of a matrix.
#[derive(Debug, Clone)]
pub(super) struct Bands {
    shapes: Vec<Shape>,
    /// In the order of later columns.
    bands: Vec<Band>,
    /// Per column: its bands with earlier columns.
    lower: Vec<Range<u32>>,
    /// Bands in the order of earlier columns, and per column those with later columns, by shift.
    upper: Vec<u32>,
    uppers: Vec<[Range<u32>; 3]>,
    blocks: Vec<Blocks>,
    /// Per block of `blocks`: its index in the matrix, or the number of blocks where there is none.
    sources: Vec<[u32; GROUP]>,
    level: Level,
}

impl Bands {
    /// For a matrix whose columns start at the unknowns `starts`; `order` is that of a forward sweep.
    pub(super) fn new(matrix: &BlockMatrix, starts: &[u32], order: &[u32]) -> Self {
        let count = order.len();
        let mut all = Self {
            shapes: vec![Shape::default(); count],
            bands: Vec::new(),
            lower: vec![0..0; count],
            upper: Vec::new(),
            uppers: vec![[0..0, 0..0, 0..0]; count],
            blocks: Vec::new(),
            sources: Vec::new(),
            level: Level::new(),
        };
        let mut column_of = vec![0u32; matrix.rows()];
        let (mut rank, mut total) = (vec![0; count], 0);
        for (place, &column) in order.iter().enumerate() {
            let ends = &starts[column as usize..column as usize + 2];
            column_of[ends[0] as usize..ends[1] as usize].fill(column);
            rank[column as usize] = place;
            let groups = (ends[1] - ends[0]).saturating_sub(1).div_ceil(GROUP as u32);
            all.shapes[column as usize] = Shape { first: total, groups };
            total += 3 * (PADDING as u32 + groups * GROUP as u32);
        }
        // Collect every block between two columns: rank of the later column, columns, shift, level, block.
        let mut found: Vec<(usize, [u32; 2], i32, u32, u32)> = Vec::new();
        for row in 0..matrix.rows() {
            for k in matrix.lower(row) {
                let column = matrix.columns()[k];
                let (a, b) = (column_of[row], column_of[column as usize]);
                if a == b {
                    continue;
                }
                let (level, other) = (row as u32 - starts[a as usize], column - starts[b as usize]);
                let shift = other as i32 - level as i32;
                // Columns are coupled on their own level and the ones next to it.
                debug_assert!(shift.abs() <= 1);
                let (later, earlier) = (rank[a as usize], rank[b as usize]);
                found.push(if later > earlier {
                    (later, [b, a], shift, level, k as u32)
                } else {
                    (earlier, [a, b], -shift, other, k as u32)
                });
            }
        }
        // Make a band of the blocks with the same columns and shift, by the later column.
        found.sort_unstable();
        let none = matrix.block_count() as u32;
        for same in found.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)) {
            let (_, columns, shift, ..) = same[0];
            let first = all.sources.len();
            let groups = all.shapes[columns[1] as usize].groups as usize;
            all.sources.resize(first + groups, [none; GROUP]);
            for &(.., level, block) in same {
                let at = level as usize - 1;
                all.sources[first + at / GROUP][at % GROUP] = block;
            }
            all.bands.push(Band { columns, shift, first: first as u32 });
            extend(&mut all.lower[columns[1] as usize], all.bands.len() as u32 - 1);
        }
        // Index the bands by the earlier column and the shift.
        all.blocks = vec![Blocks::default(); all.sources.len()];
        all.upper = (0..all.bands.len() as u32).collect();
        let key = |b: &Band| (rank[b.columns[0] as usize], b.shift);
        all.upper.sort_by_key(|&b| key(&all.bands[b as usize]));
        for (place, &band) in (0..).zip(&all.upper) {
            let band = &all.bands[band as usize];
            extend(&mut all.uppers[band.columns[0] as usize][(band.shift + 1) as usize], place);
        }
        all
    }

    /// Zero for every unknown.
    pub(super) fn rows(&self) -> Rows {
        let end = |s: &Shape| s.first as usize + 3 * (PADDING + s.groups as usize * GROUP);
        let end = self.shapes.iter().map(end).max().unwrap_or(0);
        // A group may start beyond the end of its column where the other column is longer.
        Rows(vec![0.0; end + self.longest() + 2 * GROUP])
    }

    /// Maximum number of unknowns after the pinned one that a column has, in whole groups.
    pub(super) fn longest(&self) -> usize {
        self.shapes.iter().map(|s| s.groups as usize * GROUP).max().unwrap_or(0)
    }

    /// Position of the first unknown of a column after its pinned one in [`Rows`], and the stride between x, y and z of an
    /// unknown.
    #[inline(always)]
    pub(super) fn place(&self, column: usize) -> (usize, usize) {
        let shape = self.shapes[column];
        (shape.first as usize + PADDING, PADDING + shape.groups as usize * GROUP)
    }

    /// Bytes of all blocks.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len() * size_of::<Blocks>()
    }

    /// Sets the values from a matrix.
    pub(super) fn fill(&mut self, matrix: &BlockMatrix) {
        dispatch!(self.level, simd => self.fill_in(simd, matrix));
    }

    #[inline(always)]
    fn fill_in<S: Simd>(&mut self, simd: S, matrix: &BlockMatrix) {
        simd.vectorize(
            #[inline(always)]
            || {
                for band in &self.bands {
                    let groups = self.shapes[band.columns[1] as usize].groups as usize;
                    let range = band.first as usize..band.first as usize + groups;
                    let sources = &self.sources[range.clone()];
                    // Transpose where the matrix has the block with row and column exchanged.
                    let transposed = band.columns[0] > band.columns[1];
                    for (blocks, sources) in self.blocks[range].iter_mut().zip(sources) {
                        fill_blocks(blocks, sources, matrix, transposed);
                    }
                }
            },
        );
    }

    /// Contributions of the earlier columns to each of `columns`: the sum of blocks times `x`, one column per lane.
    #[inline(always)]
    pub(super) fn add_before<S: Simd>(&self, simd: S, columns: &[u32], x: &Rows, sum: &mut [Slot]) {
        let groups = self.groups(columns);
        for lane in 0..LANES {
            let (own, lower) = columns.get(lane).map_or((0, 0..0), |&c| {
                (self.shapes[c as usize].groups as usize, self.lower[c as usize].clone())
            });
            for group in 0..groups {
                let mut total = [f32x8::splat(simd, 0.0); 3];
                let bands = if group < own { &self.bands[as_usize(&lower)] } else { &[] };
                for band in bands {
                    let (from, stride) = self.place(band.columns[0] as usize);
                    let from = (from + group * GROUP).wrapping_add_signed(band.shift as isize);
                    let x = read(simd, &x.0, from, stride);
                    let blocks = &self.blocks[band.first as usize + group];
                    total = add(simd, total, blocks, x, false);
                }
                write(total, &mut sum[group * GROUP + lane]);
            }
        }
        lanes_from_columns(simd, &mut sum[..groups * GROUP]);
    }

    /// Contributions of the later columns to each of `columns`: the sum of transposed blocks times `x`, one column per
    /// lane.
    ///
    /// Blocks are indexed by the levels of the later column: with a shift, two groups of them contribute to a group of
    /// the earlier column.
    #[inline(always)]
    pub(super) fn add_after<S: Simd>(&self, simd: S, columns: &[u32], x: &Rows, sum: &mut [Slot]) {
        let zero = [f32x8::splat(simd, 0.0); 3];
        let groups = self.groups(columns);
        for lane in 0..LANES {
            let none = [0..0, 0..0, 0..0];
            let [down, level, up] = columns.get(lane).map_or(&none, |&c| &self.uppers[c as usize]);
            let (mut before, mut here) = (zero, self.product_after(simd, down, 0, x));
            for group in 0..groups {
                let mut total = self.product_after(simd, level, group, x);
                let (next, above) = (
                    self.product_after(simd, down, group + 1, x),
                    self.product_after(simd, up, group, x),
                );
                for k in 0..3 {
                    total[k] += before[k].slide::<{ GROUP - 1 }>(above[k]);
                    total[k] += here[k].slide::<1>(next[k]);
                }
                (before, here) = (above, next);
                write(total, &mut sum[group * GROUP + lane]);
            }
        }
        lanes_from_columns(simd, &mut sum[..groups * GROUP]);
    }

    /// Sum over some bands of the products of transposed blocks with a group of vectors.
    #[inline(always)]
    fn product_after<S: Simd>(
        &self,
        simd: S,
        bands: &Range<u32>,
        group: usize,
        x: &Rows,
    ) -> [f32x8<S>; 3] {
        let mut total = [f32x8::splat(simd, 0.0); 3];
        for &band in &self.upper[as_usize(bands)] {
            let band = &self.bands[band as usize];
            let other = band.columns[1] as usize;
            if group < self.shapes[other].groups as usize {
                let (from, stride) = self.place(other);
                let x = read(simd, &x.0, from + group * GROUP, stride);
                let blocks = &self.blocks[band.first as usize + group];
                total = add(simd, total, blocks, x, true);
            }
        }
        total
    }

    /// Maximum number of groups of these columns.
    #[inline(always)]
    fn groups(&self, columns: &[u32]) -> usize {
        columns.iter().map(|&c| self.shapes[c as usize].groups as usize).max().unwrap_or(0)
    }

    /// Stores vectors of these columns, one per lane, in rows. `from` is zero beyond the end of a column.
    #[inline(always)]
    pub(super) fn put<S: Simd>(&self, simd: S, columns: &[u32], from: &[Slot], rows: &mut Rows) {
        for (group, slots) in from.as_chunks::<GROUP>().0.iter().enumerate() {
            for k in 0..3 {
                let lanes = transpose(simd, eight(simd, slots, k));
                for (values, &column) in lanes.iter().zip(columns) {
                    if group < self.shapes[column as usize].groups as usize {
                        let (at, stride) = self.place(column as usize);
                        let at = at + k * stride + group * GROUP;
                        values.store_slice(&mut rows.0[at..at + GROUP]);
                    }
                }
            }
        }
    }
}

/// Packs eight blocks.
#[inline(always)]
fn fill_blocks(
    blocks: &mut Blocks,
    sources: &[u32; GROUP],
    matrix: &BlockMatrix,
    transposed: bool,
) {
    let none = matrix.block_count() as u32;
    let (mut values, mut scales) = ([[0.0f32; GROUP]; 9], [0.0; GROUP]);
    blocks.units = [0.0; GROUP];
    for (lane, &k) in sources.iter().enumerate() {
        if k != none {
            let block = &matrix.blocks()[k as usize];
            for (row, value) in values.iter_mut().zip(block.to_cols_array()) {
                row[lane] = value;
            }
            // Scale the block so that its largest element becomes the largest integer.
            let columns = [block.x_axis.abs(), block.y_axis.abs(), block.z_axis.abs()];
            let largest = columns[0].max(columns[1]).max(columns[2]).max_element();
            if largest > 0.0 {
                (scales[lane], blocks.units[lane]) = (LARGEST / largest, largest / LARGEST);
            }
        }
    }
    for (element, values) in values.iter().enumerate() {
        let element = if transposed { 3 * (element % 3) + element / 3 } else { element };
        for ((to, value), scale) in blocks.elements[element].iter_mut().zip(values).zip(&scales) {
            *to = (value * scale + ROUND).to_bits() as i16;
        }
    }
}

/// Extends a range to include `last`; an empty range becomes `last` alone.
fn extend(range: &mut Range<u32>, last: u32) {
    *range = if range.end == 0 { last..last + 1 } else { range.start..last + 1 };
}

#[inline(always)]
fn as_usize(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Reads eight consecutive vectors of rows.
#[inline(always)]
fn read<S: Simd>(simd: S, rows: &[f32], at: usize, stride: usize) -> [f32x8<S>; 3] {
    [
        f32x8::from_slice(simd, &rows[at..at + GROUP]),
        f32x8::from_slice(simd, &rows[at + stride..at + stride + GROUP]),
        f32x8::from_slice(simd, &rows[at + 2 * stride..at + 2 * stride + GROUP]),
    ]
}

/// One coordinate of eight slots.
#[inline(always)]
fn eight<S: Simd>(simd: S, slots: &[Slot; GROUP], k: usize) -> [f32x8<S>; GROUP] {
    let [a, b, c, d, e, f, g, h] = slots;
    [
        f32x8::from_slice(simd, &a[k]),
        f32x8::from_slice(simd, &b[k]),
        f32x8::from_slice(simd, &c[k]),
        f32x8::from_slice(simd, &d[k]),
        f32x8::from_slice(simd, &e[k]),
        f32x8::from_slice(simd, &f[k]),
        f32x8::from_slice(simd, &g[k]),
        f32x8::from_slice(simd, &h[k]),
    ]
}

#[inline(always)]
fn write<S: Simd>(value: [f32x8<S>; 3], to: &mut Slot) {
    for (value, to) in value.iter().zip(to) {
        value.store_slice(to);
    }
}

/// Adds eight blocks, or their transposes, times eight vectors.
#[inline(always)]
fn add<S: Simd>(
    simd: S,
    mut total: [f32x8<S>; 3],
    blocks: &Blocks,
    x: [f32x8<S>; 3],
    transposed: bool,
) -> [f32x8<S>; 3] {
    let unit = f32x8::from_slice(simd, &blocks.units);
    let x = [x[0] * unit, x[1] * unit, x[2] * unit];
    for (i, total) in total.iter_mut().enumerate() {
        let at = if transposed { [3 * i, 3 * i + 1, 3 * i + 2] } else { [i, 3 + i, 6 + i] };
        *total += widen(simd, &blocks.elements[at[0]]) * x[0]
            + widen(simd, &blocks.elements[at[1]]) * x[1]
            + widen(simd, &blocks.elements[at[2]]) * x[2];
    }
    total
}

/// Converts eight integers to floating point.
#[inline(always)]
fn widen<S: Simd>(simd: S, from: &[i16; GROUP]) -> f32x8<S> {
    let mut numbers = [0.0; GROUP];
    for (to, from) in numbers.iter_mut().zip(from) {
        *to = f32::from(*from);
    }
    f32x8::from_slice(simd, &numbers)
}

/// Transposes eight columns of eight levels to eight levels of eight columns, group by group.
#[inline(always)]
fn lanes_from_columns<S: Simd>(simd: S, sum: &mut [Slot]) {
    for slots in sum.as_chunks_mut::<GROUP>().0 {
        for k in 0..3 {
            let levels = transpose(simd, eight(simd, slots, k));
            for (slot, level) in slots.iter_mut().zip(levels) {
                level.store_slice(&mut slot[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::Grid;
    use super::*;

    /// Every block equals that of the matrix up to 1/65,534 of its own largest element, however large
    /// the other blocks of its band are.
    #[test]
    fn the_relative_precision_of_a_block_does_not_depend_on_its_neighbours() {
        let grid = Grid::new([4, 3], |_| 11);
        let order: Vec<u32> = (0..grid.columns() as u32).rev().collect();
        let Grid { mut matrix, starts } = grid;
        let size = |k: usize| 10.0f32.powi(-(k as i32 % 7));
        for k in 0..matrix.block_count() {
            let at = |i: usize| size(k) * ((k * 9 + i) as f32 * 1.7).sin();
            matrix.blocks_mut()[k] = glam::Mat3A::from_cols_array(&std::array::from_fn(at));
        }
        let mut bands = Bands::new(&matrix, &starts, &order);
        bands.fill(&matrix);
        let mut checked = 0;
        for band in &bands.bands {
            let transposed = band.columns[0] > band.columns[1];
            let groups = bands.shapes[band.columns[1] as usize].groups as usize;
            let range = band.first as usize..band.first as usize + groups;
            for (blocks, sources) in bands.blocks[range.clone()].iter().zip(&bands.sources[range]) {
                for (lane, &k) in sources.iter().enumerate() {
                    let of = |e: usize| f32::from(blocks.elements[e][lane]) * blocks.units[lane];
                    let packed = glam::Mat3A::from_cols_array(&std::array::from_fn(of));
                    if k as usize == matrix.block_count() {
                        assert_eq!(packed, glam::Mat3A::ZERO);
                        continue;
                    }
                    let block = matrix.blocks()[k as usize];
                    let block = if transposed { block.transpose() } else { block };
                    let largest =
                        block.to_cols_array().iter().fold(0.0, |m: f32, e| m.max(e.abs()));
                    assert!(packed.abs_diff_eq(block, largest / 65_000.0), "{k}: {packed} {block}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 100);
    }
}
