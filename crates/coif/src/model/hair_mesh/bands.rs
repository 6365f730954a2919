//! What couples columns of a mesh to each other, packed for the sweeps of the solver.
//!
//! A vertex is coupled to vertices of other columns on its own level and on the levels next to it. So two
//! columns side by side share up to three bands of blocks, one per shift of the level, and a product is
//! taken eight levels at a time. Blocks are kept once for both columns, as whole numbers of sixteen bits in units
//! of the band's largest: a sweep reads a third of what it would in [`BlockMatrix`].

use fearless_simd::{Level, Simd, dispatch};
use glam::Vec3A;

use super::matrix::BlockMatrix;

/// Levels that are worked on together.
const GROUP: usize = 8;

/// Where the first vertex after the root of a column lies in each of its three rows of numbers; what is before
/// it stays zero.
const AHEAD: usize = GROUP;

/// Largest whole number of a block.
const LARGEST: f32 = i16::MAX as f32;

/// Where the vertices of a column lie in a [`Rows`].
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// First number.
    first: u32,
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
    /// By later column.
    bands: Vec<Band>,
    /// First band of every column that is the later one, and the total.
    lower: Vec<u32>,
    /// Bands of every column that is the earlier one, where they start, and the total.
    upper: Vec<u32>,
    uppers: Vec<u32>,
    numbers: Vec<i16>,
    /// Per band and level of the later column: the block of the matrix; none is the total.
    sources: Vec<u32>,
    /// Where each band's sources start.
    first_sources: Vec<u32>,
    level: Option<Level>,
}

impl Bands {
    /// For a matrix whose columns start at these vertices.
    pub(super) fn new(matrix: &BlockMatrix, starts: &[u32]) -> Self {
        let count = starts.len().saturating_sub(1);
        let mut total = 0;
        let mut shapes = Vec::with_capacity(count);
        let mut column_of = vec![0u32; matrix.rows()];
        for (column, ends) in starts.windows(2).enumerate() {
            column_of[ends[0] as usize..ends[1] as usize].fill(column as u32);
            let vertices = (ends[1] - ends[0]).saturating_sub(1);
            let padded = vertices.next_multiple_of(GROUP as u32);
            shapes.push(Shape { first: total, padded });
            total += 3 * (AHEAD as u32 + padded);
        }
        // Every block between two columns, as later column, earlier column, shift, level, block.
        let mut found: Vec<(u32, u32, i32, u32, u32)> = Vec::new();
        for row in 0..matrix.rows() {
            for k in matrix.lower(row) {
                let (a, b) = (column_of[row], column_of[matrix.columns()[k] as usize]);
                if a != b {
                    let level = row as u32 - starts[a as usize];
                    let other = matrix.columns()[k] - starts[b as usize];
                    found.push((a, b, other as i32 - level as i32, level, k as u32));
                }
            }
        }
        found.sort_unstable();
        let mut all = Self {
            shapes,
            lower: vec![0; count + 1],
            uppers: vec![0; count + 1],
            level: Some(Level::new()),
            ..Self::default()
        };
        let none = matrix.block_count() as u32;
        // Something before and after, so that a group may begin before its band and end after it.
        let mut numbers = GROUP as u32;
        for same in found.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
            let (later, earlier, shift, ..) = same[0];
            // Neighbours share bundles, whose columns are cut at the same levels.
            debug_assert!(shift.abs() <= 1);
            let padded = all.shapes[later as usize].padded;
            all.first_sources.push(all.sources.len() as u32);
            let first = all.sources.len();
            all.sources.resize(first + padded as usize, none);
            for &(.., level, block) in same {
                all.sources[first + level as usize - 1] = block;
            }
            let columns = [earlier, later];
            all.bands.push(Band { columns, shift, first: numbers, unit: 0.0 });
            all.lower[later as usize + 1] += 1;
            all.uppers[earlier as usize + 1] += 1;
            numbers += 9 * padded;
        }
        for c in 0..count {
            all.lower[c + 1] += all.lower[c];
            all.uppers[c + 1] += all.uppers[c];
        }
        all.upper = (0..all.bands.len() as u32).collect();
        all.upper.sort_by_key(|&b| all.bands[b as usize].columns[0]);
        all.numbers = vec![0; numbers as usize + 2 * GROUP];
        all
    }

    /// How many numbers a [`Rows`] has.
    fn length(&self) -> usize {
        let end = self.shapes.last().map_or(0, |s| s.first as usize + 3 * (AHEAD + s.padded as usize));
        let longest = self.shapes.iter().map(|s| s.padded as usize).max().unwrap_or(0);
        end + longest + 2 * GROUP
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
                            let at = element * padded + group * GROUP;
                            let out: &mut [i16] = &mut numbers[at..at + GROUP];
                            for (out, value) in out.iter_mut().zip(values) {
                                let value = value * scale;
                                // Rounded to the nearest.
                                let rounded = value + 0.5f32.copysign(value);
                                *out = rounded.clamp(-LARGEST, LARGEST) as i32 as i16;
                            }
                        }
                    }
                }
            },
        );
    }

    /// What the columns before this one add to it: the sum of blocks times `x`. `sum` has three rows, of x, y
    /// and z, [`Bands::longest`] apart.
    #[inline(always)]
    pub(super) fn from_before(&self, column: usize, x: &Rows, sum: &mut [f32]) {
        let shape = self.shapes[column];
        let bands = &self.bands[self.lower[column] as usize..self.lower[column + 1] as usize];
        let (padded, longest) = (shape.padded as usize, sum.len() / 3);
        for group in (0..padded).step_by(GROUP) {
            let mut total = [[0.0; GROUP]; 3];
            for band in bands {
                let other = self.shapes[band.columns[0] as usize];
                let from = (other.first as usize + AHEAD + group).wrapping_add_signed(band.shift as isize);
                let stride = AHEAD + other.padded as usize;
                let part = self.part::<false>(band, padded, group, &x.0, from, stride);
                add(&mut total, &part, band.unit);
            }
            put(&total, sum, group, longest);
        }
    }

    /// The same of the columns after this one, whose blocks are transposed.
    #[inline(always)]
    pub(super) fn from_after(&self, column: usize, x: &Rows, sum: &mut [f32]) {
        let shape = self.shapes[column];
        let bands = &self.upper[self.uppers[column] as usize..self.uppers[column + 1] as usize];
        let (padded, longest) = (shape.padded as usize, sum.len() / 3);
        for group in (0..padded).step_by(GROUP) {
            let mut total = [[0.0; GROUP]; 3];
            for &band in bands {
                let band = &self.bands[band as usize];
                let other = self.shapes[band.columns[1] as usize];
                let shift = -(band.shift as isize);
                let rows = other.padded as usize;
                // Beyond the last level of the other column there is nothing.
                if group.wrapping_add_signed(shift) as isize >= rows as isize {
                    continue;
                }
                let from = (other.first as usize + AHEAD + group).wrapping_add_signed(shift);
                let at = group.wrapping_add_signed(shift);
                let part = self.part::<true>(band, rows, at, &x.0, from, AHEAD + rows);
                add(&mut total, &part, band.unit);
            }
            put(&total, sum, group, longest);
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

/// Writes a group into three rows.
#[inline(always)]
fn put(total: &[[f32; GROUP]; 3], sum: &mut [f32], group: usize, longest: usize) {
    for (k, total) in total.iter().enumerate() {
        let at = k * longest + group;
        if let Some(to) = sum.get_mut(at..at + GROUP) {
            to.copy_from_slice(total);
        }
    }
}
