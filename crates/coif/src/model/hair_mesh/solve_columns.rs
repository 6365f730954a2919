//! Conjugate gradients for the system of a step, in variables that are scaled by a sweep over the columns.
//!
//! Constraints of contacts are in the matrix already ([`super::matrix::BlockMatrix::constrain`]). The scaling
//! is the symmetric Gauss-Seidel preconditioner of [`Columns`] on both sides, so that plain conjugate
//! gradients on scaled vectors are preconditioned ones on the others, and an iteration reads the matrix
//! once.

use glam::Vec3A;

use super::coarse::Coarse;
use super::lanes::Slot;
use super::matrix::BlockMatrix;
use super::precondition::{Columns, Sweep};
use super::solve::Limits;
use crate::math::SolveReport;

/// Memory of a solve.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnScratch {
    residual: Vec<Slot>,
    direction: Vec<Slot>,
    image: Vec<Slot>,
    solution: Vec<Slot>,
    sweep: Sweep,
    /// By vertex.
    guess: Vec<Vec3A>,
    rest: Vec<Vec3A>,
}

impl ColumnScratch {
    /// For a matrix in columns.
    pub(super) fn new(columns: &Columns, vertices: usize) -> Self {
        let zero = columns.slots();
        Self {
            residual: zero.clone(),
            direction: zero.clone(),
            image: zero.clone(),
            solution: zero,
            sweep: columns.sweep(),
            guess: vec![Vec3A::ZERO; vertices],
            rest: vec![Vec3A::ZERO; vertices],
        }
    }
}

/// Adds to `x` what makes `A x = right`, where `residual` is what is missing now, until the error is within
/// the limits. Roots of columns are left alone. The matrix comes with its columns and, if it is large,
/// with a coarse picture; `allowed` says what of a change a vertex may take.
///
/// Model: conjugate gradients on `S A S^T` with `S = F^T (D + L)^-1`; see [`Columns::image`]. The error
/// is `r . P r` with the preconditioner `P = S^T S`, as in [`super::solve::solve_constrained`]. The first
/// guess is that of the coarse picture, as long as it takes most of the energy away.
/// Source: `baraff1998` 5.3, `eisenstat1981`.
pub(super) fn solve_columns(
    (matrix, columns, coarse): (&BlockMatrix, &Columns, Option<&mut Coarse>),
    residual: &[Vec3A],
    x: &mut [Vec3A],
    allowed: impl Fn(usize, Vec3A) -> Vec3A,
    limits: &Limits,
    scratch: &mut ColumnScratch,
) -> SolveReport {
    let n = x.len();
    let ColumnScratch { residual: r, direction: p, image, solution, sweep, guess, rest } = scratch;
    columns.scale(residual, r, sweep);
    let mut energy = columns.squares(r);
    let start = energy;
    let target = f64::from(limits.absolute).max(f64::from(limits.relative) * start);
    if let Some(coarse) = coarse.filter(|_| energy > target) {
        coarse.guess(residual, guess);
        for i in 0..n {
            guess[i] = allowed(i, guess[i]);
        }
        matrix.multiply(guess, rest);
        // Go as far as the energy falls.
        let (mut along, mut curvature) = (0.0, 0.0);
        for i in 0..n {
            along += f64::from(guess[i].dot(residual[i]));
            curvature += f64::from(guess[i].dot(rest[i]));
        }
        if along > 0.0 && curvature > 0.0 {
            let step = (along / curvature) as f32;
            for i in 0..n {
                x[i] += guess[i] * step;
                rest[i] = residual[i] - rest[i] * step;
            }
            columns.scale(rest, r, sweep);
            energy = columns.squares(r);
        }
    }
    p.copy_from_slice(r);
    solution.fill(Slot::default());
    let mut report = SolveReport::default();
    while report.iterations < limits.iterations && energy > target {
        let curvature = columns.image(p, image, sweep);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = (energy / curvature) as f32;
        let next = columns.take(r, step, image);
        let ratio = (next / energy) as f32;
        energy = next;
        columns.turn(solution, step, p, ratio, r);
        report.iterations += 1;
    }
    if report.iterations > 0 {
        columns.add_plain(solution, x, sweep);
    }
    report.residual = if start > 0.0 { (energy / start).sqrt() } else { 0.0 };
    report
}
