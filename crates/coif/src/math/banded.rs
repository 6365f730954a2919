//! Direct solution of narrow banded systems, sixteen at a time, one per lane.
//!
//! Unknowns are vectors; each is coupled with the [`BLOCKS`] before it and the [`BLOCKS`] after it, so
//! that a matrix has eleven sub-diagonals of numbers. The factorisation `L D L^T` (L with unit diagonal)
//! replaces the matrix, no memory is allocated, and there is no pivoting: matrices must be positive
//! definite.
//!
//! One row of a matrix in memory is [`ROW`] floats: three 3x3 blocks that couple with the first, second and third
//! unknown before (in row-major order, sixteen lanes for each number), then the lower triangle
//! of the diagonal block. Blocks that would couple with unknowns before the first are never read.

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x16};

use super::LANES;
use super::lanes::{VECTOR, Vec3x};

/// Number of preceding unknowns that an unknown is coupled with.
pub const BLOCKS: usize = 3;

/// Index of the first number of the diagonal block in a row, in numbers of sixteen lanes.
pub(crate) const DIAGONAL: usize = 9 * BLOCKS;

/// Floats of one row: the blocks before the diagonal and the lower triangle of the diagonal block.
pub const ROW: usize = (DIAGONAL + 6) * LANES;

/// Numbers before the diagonal block in one line of the matrix.
const BEFORE: usize = 3 * BLOCKS;

/// Smallest pivot, as a fraction of the diagonal: rounding in a nearly singular matrix must not
/// make a pivot negative.
const MIN_PIVOT: f32 = 1e-6;

/// Sixteen banded matrices of the same size, and their factors.
#[derive(Debug, Clone)]
pub struct Banded {
    band: Vec<f32>,
    level: Level,
}

impl Banded {
    /// Matrices of `rows` vector unknowns, all zero.
    pub fn new(rows: usize) -> Self {
        Self { band: vec![0.0; rows * ROW], level: Level::new() }
    }

    /// The rows, in the layout that the module describes.
    pub fn rows_mut(&mut self) -> &mut [f32] {
        &mut self.band
    }

    /// Adds to one number of the matrix in one lane: block `(row, row - before)`, with `before` up to
    /// [`BLOCKS`]; for the diagonal block (`before` 0) only the lower triangle, `r >= c`.
    pub fn add(&mut self, row: usize, before: usize, [r, c]: [usize; 2], lane: usize, value: f32) {
        let number =
            if before == 0 { DIAGONAL + lower(r, c) } else { 9 * (before - 1) + 3 * r + c };
        self.band[row * ROW + number * LANES + lane] += value;
    }

    /// Replaces the matrices by their factors.
    pub fn factor(&mut self) {
        factor_lanes(self.level, &mut self.band);
    }

    /// Replaces right-hand sides, in rows of sixteen x, y and z, by the solutions.
    pub fn solve(&self, vector: &mut [f32]) {
        solve_lanes(self.level, &self.band, vector);
    }
}

/// [`Banded::factor`] for rows in the caller's memory.
pub(crate) fn factor_lanes(level: Level, band: &mut [f32]) {
    dispatch!(level, simd => factor(simd, band));
}

/// [`Banded::solve`] for rows in the caller's memory.
pub(crate) fn solve_lanes(level: Level, band: &[f32], vector: &mut [f32]) {
    dispatch!(level, simd => solve(simd, band, vector));
}

/// Index of a number in the lower triangle of a 3x3 block.
pub(crate) const fn lower(r: usize, c: usize) -> usize {
    r * (r + 1) / 2 + c
}

/// Number `at` of a row.
#[inline(always)]
fn load<S: Simd>(simd: S, row: &[f32; ROW], at: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &row[at * LANES..(at + 1) * LANES])
}

#[inline(always)]
fn store<S: Simd>(row: &mut [f32; ROW], at: usize, value: f32x16<S>) {
    value.store_slice(&mut row[at * LANES..(at + 1) * LANES]);
}

/// Replaces sixteen matrices by their factors. Lower triangles of the diagonal blocks then hold
/// `l10, l20, l21` and the inverses of the three pivots.
///
/// Model: for each scalar row, `w_k = a_k - sum_(m<k) w_m l_km`, `l_k = w_k / d_k`, `d = a - sum_k w_k l_k`;
/// the three scalar rows of an unknown together, so that each `l_km` is loaded once for all three.
#[inline(always)]
fn factor<S: Simd>(simd: S, band: &mut [f32]) {
    let rows = band.as_chunks_mut::<ROW>().0;
    for j in 0..rows.len() {
        let (done, rest) = rows.split_at_mut(j);
        let row = &mut rest[0];
        match done {
            [.., c, b, a] => factor_row(simd, [c, b, a], row, 0),
            [b, a] => factor_row(simd, [b, b, a], row, 3),
            [a] => factor_row(simd, [a, a, a], row, 6),
            _ => factor_row(simd, [&[0.0; ROW]; BLOCKS], row, BEFORE),
        }
    }
}

/// Factors one row; `done` are the preceding rows, the farthest first, of which scalar columns before `first` do not
/// exist.
#[inline(always)]
fn factor_row<S: Simd>(simd: S, done: [&[f32; ROW]; BLOCKS], row: &mut [f32; ROW], first: usize) {
    let zero = f32x16::splat(simd, 0.0);
    // Eliminate the scalar columns in ascending order: the farthest block first.
    let mut w = [[zero; BEFORE]; 3];
    for q in first..BEFORE {
        let other = done[q / 3];
        let mut sum0 = load(simd, row, place(0, q));
        let mut sum1 = load(simd, row, place(1, q));
        let mut sum2 = load(simd, row, place(2, q));
        for m in first..q {
            // The element of the factor that couples the scalar unknowns q and m.
            let apart = q / 3 - m / 3;
            let number = if apart == 0 {
                DIAGONAL + (q % 3) * (q % 3 - 1) / 2 + m % 3
            } else {
                9 * (apart - 1) + 3 * (q % 3) + m % 3
            };
            let l = load(simd, other, number);
            sum0 -= w[0][m] * l;
            sum1 -= w[1][m] * l;
            sum2 -= w[2][m] * l;
        }
        w[0][q] = sum0;
        w[1][q] = sum1;
        w[2][q] = sum2;
    }
    // Divide by the pivots, and subtract the contributions of the earlier unknowns from the diagonal.
    let mut d00 = load(simd, row, DIAGONAL);
    let mut d10 = load(simd, row, DIAGONAL + 1);
    let mut d11 = load(simd, row, DIAGONAL + 2);
    let mut d20 = load(simd, row, DIAGONAL + 3);
    let mut d21 = load(simd, row, DIAGONAL + 4);
    let mut d22 = load(simd, row, DIAGONAL + 5);
    let (min0, min1, min2) = (d00 * MIN_PIVOT, d11 * MIN_PIVOT, d22 * MIN_PIVOT);
    for q in first..BEFORE {
        let pivot = load(simd, done[q / 3], DIAGONAL + 3 + q % 3);
        let (l0, l1, l2) = (w[0][q] * pivot, w[1][q] * pivot, w[2][q] * pivot);
        d00 -= w[0][q] * l0;
        d10 -= w[1][q] * l0;
        d11 -= w[1][q] * l1;
        d20 -= w[2][q] * l0;
        d21 -= w[2][q] * l1;
        d22 -= w[2][q] * l2;
        store(row, place(0, q), l0);
        store(row, place(1, q), l1);
        store(row, place(2, q), l2);
    }
    // Factor the rest of the diagonal block.
    let one = f32x16::splat(simd, 1.0);
    let inverse0 = one / d00.max(min0);
    let (l10, l20) = (d10 * inverse0, d20 * inverse0);
    let inverse1 = one / (d11 - d10 * l10).max(min1);
    let w21 = d21 - d20 * l10;
    let l21 = w21 * inverse1;
    let inverse2 = one / (d22 - d20 * l20 - w21 * l21).max(min2);
    store(row, DIAGONAL, l10);
    store(row, DIAGONAL + 1, l20);
    store(row, DIAGONAL + 2, l21);
    store(row, DIAGONAL + 3, inverse0);
    store(row, DIAGONAL + 4, inverse1);
    store(row, DIAGONAL + 5, inverse2);
}

/// Index in a row of the number in scalar column `q` of scalar row `r`.
#[inline(always)]
const fn place(r: usize, q: usize) -> usize {
    9 * (BLOCKS - 1 - q / 3) + 3 * r + q % 3
}

/// Replaces sixteen right-hand sides by the solutions, with the factors that [`factor`] left.
#[inline(always)]
fn solve<S: Simd>(simd: S, band: &[f32], vector: &mut [f32]) {
    let rows = band.as_chunks::<ROW>().0;
    let x = &mut vector.as_chunks_mut::<VECTOR>().0[..rows.len()];
    // Forward substitution with L.
    for (j, row) in rows.iter().enumerate() {
        let mut y = Vec3x::of_row(simd, &x[j]);
        for k in 0..j.min(BLOCKS) {
            let before = Vec3x::of_row(simd, &x[j - 1 - k]);
            let l = |r: usize, c: usize| load(simd, row, 9 * k + 3 * r + c);
            y.x -= l(0, 0) * before.x + l(0, 1) * before.y + l(0, 2) * before.z;
            y.y -= l(1, 0) * before.x + l(1, 1) * before.y + l(1, 2) * before.z;
            y.z -= l(2, 0) * before.x + l(2, 1) * before.y + l(2, 2) * before.z;
        }
        y.y -= load(simd, row, DIAGONAL) * y.x;
        y.z -= load(simd, row, DIAGONAL + 1) * y.x + load(simd, row, DIAGONAL + 2) * y.y;
        y.to_row(&mut x[j]);
    }
    // Divide by the pivots, then back substitution with the transpose of L.
    for (j, row) in rows.iter().enumerate().rev() {
        let mut y = Vec3x::of_row(simd, &x[j]);
        y.x *= load(simd, row, DIAGONAL + 3);
        y.y *= load(simd, row, DIAGONAL + 4);
        y.z *= load(simd, row, DIAGONAL + 5);
        // Subtract the contributions of later unknowns.
        for k in 0..BLOCKS.min(rows.len() - 1 - j) {
            let (later, known) = (&rows[j + 1 + k], Vec3x::of_row(simd, &x[j + 1 + k]));
            let l = |r: usize, c: usize| load(simd, later, 9 * k + 3 * r + c);
            y.x -= l(0, 0) * known.x + l(1, 0) * known.y + l(2, 0) * known.z;
            y.y -= l(0, 1) * known.x + l(1, 1) * known.y + l(2, 1) * known.z;
            y.z -= l(0, 2) * known.x + l(1, 2) * known.y + l(2, 2) * known.z;
        }
        y.y -= load(simd, row, DIAGONAL + 2) * y.z;
        y.x -= load(simd, row, DIAGONAL) * y.y + load(simd, row, DIAGONAL + 1) * y.z;
        y.to_row(&mut x[j]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dense::solve_positive_definite;
    use super::*;
    use crate::math::Random;

    /// Fills each lane with `sum s g g^T + I`, where each g involves four consecutive unknowns:
    /// positive definite for any numbers. Returns the same matrices dense and in double precision.
    fn fill(rows: usize, seed: u64, stiff: f64) -> (Banded, Vec<Vec<f64>>) {
        let n = 3 * rows;
        let mut banded = Banded::new(rows);
        let mut dense = vec![vec![0.0; n * n]; LANES];
        let mut random = Random::new(seed, 0);
        for (lane, dense) in dense.iter_mut().enumerate() {
            for i in 0..n {
                dense[i * n + i] = 1.0;
            }
            for start in 0..rows {
                for _ in 0..3 {
                    let g: Vec<f64> = (0..12).map(|_| random.signed().into()).collect();
                    let weight = stiff * f64::from(random.unit());
                    for (a, ga) in g.iter().enumerate() {
                        for (b, gb) in g.iter().enumerate() {
                            let (i, j) = (3 * start + a, 3 * start + b);
                            if i < n && j < n {
                                dense[i * n + j] += weight * ga * gb;
                            }
                        }
                    }
                }
            }
            for i in 0..n {
                for j in (3 * (i / 3).saturating_sub(BLOCKS))..=i {
                    let (row, before) = (i / 3, i / 3 - j / 3);
                    // Round to single precision in both.
                    let value = dense[i * n + j] as f32;
                    (dense[i * n + j], dense[j * n + i]) = (value.into(), value.into());
                    banded.add(row, before, [i % 3, j % 3], lane, value);
                }
            }
        }
        (banded, dense)
    }

    fn largest_error(rows: usize, seed: u64, stiff: f64) -> f64 {
        let (mut banded, mut dense) = fill(rows, seed, stiff);
        let mut random = Random::new(seed, 77);
        let mut vector: Vec<f32> = (0..rows * VECTOR).map(|_| random.signed()).collect();
        let rhs = vector.clone();
        banded.factor();
        banded.solve(&mut vector);
        let mut worst = 0.0f64;
        for (lane, dense) in dense.iter_mut().enumerate() {
            let at = |i: usize| (i / 3) * VECTOR + (i % 3) * LANES + lane;
            let mut truth: Vec<f64> = (0..3 * rows).map(|i| rhs[at(i)].into()).collect();
            assert!(solve_positive_definite(dense, &mut truth));
            let size = truth.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (i, x) in truth.iter().enumerate() {
                worst = worst.max((x - f64::from(vector[at(i)])).abs() / size);
            }
        }
        worst
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn the_solution_is_that_of_a_dense_solver(rows in 1usize..25, seed in 0u64..1000) {
            let error = largest_error(rows, seed, 3.0);
            prop_assert!(error < 1e-4, "{error}");
        }
    }

    /// A condition number of some thousands may cost three to four of seven digits.
    #[test]
    fn the_error_is_bounded_by_the_condition_number() {
        let error = largest_error(40, 5, 1000.0);
        assert!(error < 0.01, "{error}");
    }
}
