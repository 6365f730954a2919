//! Preconditioned conjugate gradients, in variables that are scaled by a Gauss-Seidel sweep over the columns.
//!
//! Constraints are part of the matrix ([`super::block_matrix::BlockMatrix::constrain`]). The scaling
//! applies the symmetric Gauss-Seidel preconditioner of [`BlockGaussSeidel`] on both sides, so that plain conjugate
//! gradients on scaled vectors are preconditioned conjugate gradients on the original ones, and an iteration reads the
//! matrix once.
//!
//! Connected components are independent systems that are solved in the same pass: each
//! has its own step lengths and its own bound. With one bound on the total energy, light components
//! beside heavy ones would have large relative errors, and drift.

use glam::Vec3A;

use super::aggregation::CoarseLevel;
use super::block_matrix::BlockMatrix;
use super::gauss_seidel::{BlockGaussSeidel, ByLane, Sweep};
use super::lanes::Slot;
use crate::math::SolveReport;

/// Memory of a solve.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnScratch {
    residual: Vec<Slot>,
    direction: Vec<Slot>,
    image: Vec<Slot>,
    solution: Vec<Slot>,
    sweep: Sweep,
    /// By unknown.
    guess: Vec<Vec3A>,
    rest: Vec<Vec3A>,
    /// By component.
    energy: Vec<f64>,
    next: Vec<f64>,
    target: Vec<f64>,
    step: Vec<f32>,
    ratio: Vec<f32>,
    /// By lane.
    sums: ByLane<f64>,
    steps: ByLane<f32>,
    ratios: ByLane<f32>,
}

/// Stopping criteria.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// Per component: it has converged when `r . P r` is not above this, for the residual r and the preconditioner
    /// P; 0 for components beyond the end.
    pub(crate) absolute: &'a [f64],
    /// A component has converged when `r . P r` is not above this fraction of its initial value.
    pub(crate) relative: f64,
    /// Largest number of iterations.
    pub(crate) iterations: u32,
}

impl ColumnScratch {
    /// For a matrix in columns.
    pub(crate) fn new(columns: &BlockGaussSeidel, unknowns: usize) -> Self {
        let zero = columns.slots();
        Self {
            residual: zero.clone(),
            direction: zero.clone(),
            image: zero.clone(),
            solution: zero,
            sweep: columns.sweep(),
            guess: vec![Vec3A::ZERO; unknowns],
            rest: vec![Vec3A::ZERO; unknowns],
            energy: vec![0.0; columns.component_count()],
            next: vec![0.0; columns.component_count()],
            target: vec![0.0; columns.component_count()],
            step: vec![0.0; columns.component_count()],
            ratio: vec![0.0; columns.component_count()],
            sums: columns.by_lane(),
            steps: columns.by_lane(),
            ratios: columns.by_lane(),
        }
    }
}

/// Improves `x` towards `A x = rhs`, where `residual` is the current residual, until the error is within
/// the limits. The first unknowns of columns are not changed. The matrix is given with its columns and, if it is large,
/// with a coarse level; `allowed` projects a change of an unknown onto its permitted directions.
///
/// Model: conjugate gradients on `S A S^T` with `S = F^T (D + L)^-1`; see [`BlockGaussSeidel::image`]. S does not couple
/// components of A, so that scaled vectors split into the same components. The error
/// is `r . P r` with the preconditioner `P = S^T S`, as in [`super::modified_conjugate_gradient::solve_constrained`]. The first
/// guess is that of the coarse level, scaled by a line search, unless that finds no descent.
/// Source: `baraff1998` 5.3, `eisenstat1981`.
pub(crate) fn solve_columns(
    (matrix, columns, coarse): (&BlockMatrix, &BlockGaussSeidel, Option<&mut CoarseLevel>),
    residual: &[Vec3A],
    x: &mut [Vec3A],
    allowed: impl Fn(usize, Vec3A) -> Vec3A,
    limits: &Limits<'_>,
    scratch: &mut ColumnScratch,
) -> SolveReport {
    let n = x.len();
    let ColumnScratch { residual: r, direction: p, image, solution, sweep, guess, rest, .. } =
        scratch;
    let ColumnScratch { energy, next, target, step, ratio, sums, steps, ratios, .. } = scratch;
    // Scale the residual, and set the target of each component.
    columns.scale(residual, r, sweep);
    columns.squares(r, sums);
    columns.sum_components(sums, energy);
    let start: f64 = energy.iter().sum();
    for (component, target) in target.iter_mut().enumerate() {
        let absolute = limits.absolute.get(component).copied().unwrap_or(0.0);
        *target = absolute.max(limits.relative * energy[component]);
    }
    let is_done = |energy: &[f64], target: &[f64]| energy.iter().zip(target).all(|(e, t)| e <= t);
    if let Some(coarse) = coarse.filter(|_| !is_done(energy, target)) {
        // Take the coarse guess along its permitted directions.
        coarse.guess(residual, guess);
        for i in 0..n {
            guess[i] = allowed(i, guess[i]);
        }
        matrix.multiply(guess, rest);
        // Find the step along the guess by exact line search.
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
            columns.squares(r, sums);
            columns.sum_components(sums, energy);
        }
    }
    p.copy_from_slice(r);
    solution.fill(Slot::default());
    let mut report = SolveReport::default();
    while report.iterations < limits.iterations && !is_done(energy, target) {
        columns.image(p, image, sweep, sums);
        columns.sum_components(sums, next);
        // Find the step of each component: 0 where it has converged, or broken down by rounding.
        for (component, step) in step.iter_mut().enumerate() {
            let (energy, curvature) = (energy[component], next[component]);
            let is_active = energy > target[component] && curvature > 0.0;
            *step = if is_active { (energy / curvature) as f32 } else { 0.0 };
        }
        if step.iter().all(|step| *step == 0.0) {
            break;
        }
        // Update the residual, then the solution and the direction.
        columns.spread_components(step, steps);
        columns.subtract_image(r, steps, image, sums);
        columns.sum_components(sums, next);
        for (component, ratio) in ratio.iter_mut().enumerate() {
            let is_active = step[component] > 0.0;
            *ratio = if is_active { (next[component] / energy[component]) as f32 } else { 0.0 };
        }
        columns.spread_components(ratio, ratios);
        energy.copy_from_slice(next);
        columns.update(solution, steps, p, ratios, r);
        report.iterations += 1;
    }
    if report.iterations > 0 {
        columns.add_plain(solution, x, sweep);
    }
    let left: f64 = energy.iter().sum();
    report.residual = if start > 0.0 { (left / start).sqrt() } else { 0.0 };
    report
}
