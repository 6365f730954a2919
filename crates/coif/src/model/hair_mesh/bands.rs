//! What couples columns of a mesh to each other, packed for the sweeps of the solver.
//!
//! A vertex is coupled to vertices of other columns on its own level and on the levels next to it. So two
//! columns side by side share up to three bands of blocks, one per shift of the level, and a product is
//! taken eight levels at a time. Blocks are kept once for both columns, as whole numbers of sixteen bits in units
//! of the band's largest: a sweep reads a third of what it would in [`BlockMatrix`].

use fearless_simd::{Level, Simd, dispatch};
use glam::Vec3A;

use super::lanes::{LANES, Slot};
use super::matrix::BlockMatrix;

/// Levels that are worked on together.
pub(super) const GROUP: usize = 8;

/// Where the first vertex after the root of a column lies in each of its three rows of numbers; what is before
/// it stays zero.
const AHEAD: usize = GROUP;

/// Largest whole number of a block.
const LARGEST: f32 = i16::MAX as f32;

/// Added to a number that sixteen bits can hold, this leaves that number, rounded to the nearest whole one, in the
/// lowest bits.
const ROUND: f32 = 12_582_912.0;

/// Where the vertices of a column lie in a [`Rows`].
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// First number.
    first: u32,
    /// Vertices after the root.
    vertices: u32,
    /// Vertices after the root, rounded up to whole groups.
    padded: u32,
}

/// Blocks between two columns with one shift of the level.
#[derive(Debug, Clone, Copy)]
struct Band {
    /// Column with the smaller index and the larger one.
    columns: [u32; 2],
    /// Level in the earlier column less that in the later one: -1, 0 or 1.
    shift: i32,
    /// First of nine rows of numbers, one per element of the blocks, by the later column's levels.
    first: u32,
    /// What a number stands for.
    unit: f32,
}

/// One vector per vertex, column by column as rows of x, of y and of z: what products are taken of.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows(pub(super) Vec<f32>);

/// The bands of a matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct Bands {
    shapes: Vec<Shape>,
    /// In the order of later columns.
    bands: Vec<Band>,
    /// Per column: its bands with columns before it.
    lower: Vec<std::ops::Range<u32>>,
    /// Bands in the order of earlier columns, and per column those with columns after it.
    upper: Vec<u32>,
    uppers: Vec<std::ops::Range<u32>>,
    numbers: Vec<i16>,
    /// Per band and level of the later column: the block of the matrix; none is the total.
    sources: Vec<u32>,
    /// Where each band's sources start.
    first_sources: Vec<u32>,
    level: Option<Level>,
}

impl Bands {
    /// For a matrix whose columns start at these vertices.
    /// Columns are gone through in the given order.
    pub(super) fn new(matrix: &BlockMatrix, starts: &[u32], order: &[u32]) -> Self {
        let count = starts.len().saturating_sub(1);
        let mut total = 0;
        let mut shapes = vec![Shape { first: 0, vertices: 0, padded: 0 }; count];
        let mut column_of = vec![0u32; matrix.rows()];
        let mut rank = vec![0; count];
        for (place, &column) in order.iter().enumerate() {
            let ends = &starts[column as usize..column as usize + 2];
            column_of[ends[0] as usize..ends[1] as usize].fill(column);
            rank[column as usize] = place;
            let vertices = (ends[1] - ends[0]).saturating_sub(1);
            let padded = vertices.next_multiple_of(GROUP as u32);
            shapes[column as usize] = Shape { first: total, vertices, padded };
            total += 3 * (AHEAD as u32 + padded);
        }
        // Every block between two columns, as place of the later column, columns, shift, level, block.
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
                let (later, earlier) = (rank[a as usize], rank[b as usize]);
                found.push(if later > earlier {
                    (later, [b, a], shift, level, k as u32)
                } else {
                    (earlier, [a, b], -shift, other, k as u32)
                });
            }
        }
        found.sort_unstable();
        let mut all = Self {
            shapes,
            lower: vec![0..0; count],
            uppers: vec![0..0; count],
            level: Some(Level::new()),
            ..Self::default()
        };
        let none = matrix.block_count() as u32;
        // Something before and after, so that a group may begin before its band and end after it.
        let mut numbers = GROUP as u32;
        for same in found.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)) {
            let (_, columns, shift, ..) = same[0];
            let later = columns[1];
            // Neighbours share bundles, whose columns are cut at the same levels.
            debug_assert!(shift.abs() <= 1);
            let padded = all.shapes[later as usize].padded;
            all.first_sources.push(all.sources.len() as u32);
            let first = all.sources.len();
            all.sources.resize(first + padded as usize, none);
            for &(.., level, block) in same {
                all.sources[first + level as usize - 1] = block;
            }
            all.bands.push(Band { columns, shift, first: numbers, unit: 0.0 });
            let band = all.bands.len() as u32;
            let lower = &mut all.lower[later as usize];
            *lower = if lower.end == 0 { band - 1..band } else { lower.start..band };
            numbers += 9 * padded;
        }
        all.upper = (0..all.bands.len() as u32).collect();
        all.upper.sort_by_key(|&b| rank[all.bands[b as usize].columns[0] as usize]);
        for (place, &band) in (0..).zip(&all.upper) {
            let upper = &mut all.uppers[all.bands[band as usize].columns[0] as usize];
            *upper = if upper.end == 0 { place..place + 1 } else { upper.start..place + 1 };
        }
        all.numbers = vec![0; numbers as usize + 2 * GROUP];
        all
    }

    /// How many numbers a [`Rows`] has.
    fn length(&self) -> usize {
        let end = |s: &Shape| s.first as usize + 3 * (AHEAD + s.padded as usize);
        self.shapes.iter().map(end).max().unwrap_or(0) + self.longest() + 2 * GROUP
    }

    /// Zero for every vertex.
    pub(super) fn rows(&self) -> Rows {
        Rows(vec![0.0; self.length()])
    }

    /// Most vertices after the root that a column has, rounded up.
    pub(super) fn longest(&self) -> usize {
        self.shapes.iter().map(|s| s.padded as usize).max().unwrap_or(0)
    }

    /// Where the first vertex of a column after its root lies in [`Rows`], and how far x, y and z of a vertex
    /// are from each other.
    #[inline(always)]
    pub(super) fn place(&self, column: usize) -> (usize, usize) {
        let shape = self.shapes[column];
        (shape.first as usize + AHEAD, AHEAD + shape.padded as usize)
    }

    /// Takes over the values of a matrix.
    pub(super) fn fill(&mut self, matrix: &BlockMatrix) {
        let Some(level) = self.level else { return };
        dispatch!(level, simd => self.fill_in(simd, matrix));
    }

    #[inline(always)]
    fn fill_in<S: Simd>(&mut self, simd: S, matrix: &BlockMatrix) {
        simd.vectorize(
            #[inline(always)]
            || {
                let none = matrix.block_count() as u32;
                for (band, &source) in self.bands.iter_mut().zip(&self.first_sources) {
                    let padded = self.shapes[band.columns[1] as usize].padded as usize;
                    let sources = &self.sources[source as usize..][..padded];
                    // The largest element of the band is the largest number.
                    let mut most = Vec3A::ZERO;
                    for &k in sources.iter().filter(|&&k| k != none) {
                        let block = &matrix.blocks()[k as usize];
                        let columns = [block.x_axis.abs(), block.y_axis.abs(), block.z_axis.abs()];
                        most = most.max(columns[0].max(columns[1]).max(columns[2]));
                    }
                    let most = most.max_element();
                    let scale = if most > 0.0 { LARGEST / most } else { 0.0 };
                    band.unit = most / LARGEST;
                    let turned = band.columns[0] > band.columns[1];
                    let numbers = &mut self.numbers[band.first as usize..][..9 * padded];
                    for (group, sources) in sources.as_chunks::<GROUP>().0.iter().enumerate() {
                        let mut values = [[0.0f32; GROUP]; 9];
                        for (lane, &k) in sources.iter().enumerate() {
                            if k != none {
                                let block = matrix.blocks()[k as usize].to_cols_array();
                                for (row, value) in values.iter_mut().zip(block) {
                                    row[lane] = value;
                                }
                            }
                        }
                        for (element, values) in values.iter().enumerate() {
                            // The matrix has the block of the columns' other order.
                            let element = if turned { 3 * (element % 3) + element / 3 } else { element };
                            let at = element * padded + group * GROUP;
                            let out: &mut [i16] = &mut numbers[at..at + GROUP];
                            for (out, value) in out.iter_mut().zip(values) {
                                *out = (value * scale + ROUND).to_bits() as i16;
                            }
                        }
                    }
                }
            },
        );
    }

    /// What the columns before each of these add to it: the sum of blocks times `x`, one column per lane.
    #[inline(always)]
    pub(super) fn from_before(&self, columns: &[u32], x: &Rows, sum: &mut [Slot]) {
        for (lane, &column) in columns.iter().enumerate() {
            let padded = self.shapes[column as usize].padded as usize;
            let lower = self.lower[column as usize].clone();
            let bands = &self.bands[lower.start as usize..lower.end as usize];
            for group in (0..padded).step_by(GROUP) {
                let mut total = [[0.0; GROUP]; 3];
                for band in bands {
                    let (from, stride) = self.place(band.columns[0] as usize);
                    let from = (from + group).wrapping_add_signed(band.shift as isize);
                    let part = self.part::<false>(band, padded, group, &x.0, from, stride);
                    add(&mut total, &part, band.unit);
                }
                put_lane(&total, sum, group, lane);
            }
        }
    }

    /// The same of the columns after each of these, whose blocks are transposed.
    #[inline(always)]
    pub(super) fn from_after(&self, columns: &[u32], x: &Rows, sum: &mut [Slot]) {
        for (lane, &column) in columns.iter().enumerate() {
            let padded = self.shapes[column as usize].padded as usize;
            let upper = self.uppers[column as usize].clone();
            let bands = &self.upper[upper.start as usize..upper.end as usize];
            for group in (0..padded).step_by(GROUP) {
                let mut total = [[0.0; GROUP]; 3];
                for &band in bands {
                    let band = &self.bands[band as usize];
                    let rows = self.shapes[band.columns[1] as usize].padded as usize;
                    let at = group.wrapping_add_signed(-band.shift as isize);
                    // Beyond the last level of the other column there is nothing.
                    if at as isize >= rows as isize {
                        continue;
                    }
                    let (from, stride) = self.place(band.columns[1] as usize);
                    let part = self.part::<true>(band, rows, at, &x.0, from.wrapping_add(at), stride);
                    add(&mut total, &part, band.unit);
                }
                put_lane(&total, sum, group, lane);
            }
        }
    }

    /// Puts vectors of these columns, one per lane, into rows.
    #[inline(always)]
    pub(super) fn put(&self, columns: &[u32], from: &[Slot], rows: &mut Rows) {
        for (lane, &column) in columns.iter().enumerate().take(LANES) {
            let (at, stride) = self.place(column as usize);
            let vertices = self.shapes[column as usize].vertices as usize;
            for k in 0..3 {
                let row = &mut rows.0[at + k * stride..][..vertices];
                for (to, from) in row.iter_mut().zip(from) {
                    *to = from[k][lane];
                }
            }
        }
    }

    /// Eight blocks of a band from the level `at` on times eight vectors.
    #[inline(always)]
    fn part<const TURNED: bool>(
        &self,
        band: &Band,
        rows: usize,
        at: usize,
        x: &[f32],
        from: usize,
        stride: usize,
    ) -> [[f32; GROUP]; 3] {
        let mut sum = [[0.0; GROUP]; 3];
        let first = (band.first as usize).wrapping_add(at);
        for j in 0..3 {
            let Some(x) = x.get(from + j * stride..).and_then(|x| x.first_chunk::<GROUP>()) else {
                continue;
            };
            for (i, sum) in sum.iter_mut().enumerate() {
                let element = if TURNED { 3 * i + j } else { 3 * j + i };
                let numbers = self.numbers.get(first.wrapping_add(element * rows)..);
                let Some(numbers) = numbers.and_then(|n| n.first_chunk::<GROUP>()) else { continue };
                for lane in 0..GROUP {
                    sum[lane] += f32::from(numbers[lane]) * x[lane];
                }
            }
        }
        sum
    }
}

/// `total += part * unit`
#[inline(always)]
fn add(total: &mut [[f32; GROUP]; 3], part: &[[f32; GROUP]; 3], unit: f32) {
    for (total, part) in total.iter_mut().zip(part) {
        for lane in 0..GROUP {
            total[lane] += part[lane] * unit;
        }
    }
}

/// Writes a group of levels into one lane.
#[inline(always)]
fn put_lane(total: &[[f32; GROUP]; 3], sum: &mut [Slot], group: usize, lane: usize) {
    let lane = lane % LANES;
    if let Some(slots) = sum.get_mut(group..group + GROUP) {
        for (level, slot) in slots.iter_mut().enumerate() {
            for k in 0..3 {
                slot[k][lane] = total[k][level];
            }
        }
    }
}
