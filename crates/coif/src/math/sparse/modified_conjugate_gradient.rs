//! The Modified Conjugate Gradient method (`baraff1998` 5.2): conjugate gradients restricted to the
//! vectors that satisfy the constraints.
//!
//! An unknown is free or pinned. The solution starts from the prescribed values, and a filter projects
//! every change onto the permitted directions. Constraints hold exactly, and the matrix does not depend on them.

use glam::Vec3A;

use crate::math::SolveReport;

/// Constraint of an unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Constraint {
    /// Every change is permitted.
    Free,
    /// No change is permitted.
    Pinned,
}

impl Constraint {
    /// Projects a change onto its permitted part.
    #[inline(always)]
    pub(crate) fn filter(&self, change: Vec3A) -> Vec3A {
        match self {
            Self::Free => change,
            Self::Pinned => Vec3A::ZERO,
        }
    }
}

/// A symmetric positive definite system with its preconditioner.
pub(crate) trait System {
    /// The matrix times `x`.
    fn multiply(&self, x: &[Vec3A], y: &mut [Vec3A]);
    /// An approximate inverse of the matrix times `r`: symmetric and positive definite.
    /// `spare` is scratch.
    fn precondition(&self, r: &[Vec3A], z: &mut [Vec3A], spare: &mut [Vec3A]);
}

/// Memory of a solve.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    residual: Vec<Vec3A>,
    direction: Vec<Vec3A>,
    image: Vec<Vec3A>,
    scaled: Vec<Vec3A>,
    spare: Vec<Vec3A>,
}

impl Scratch {
    /// For this many unknowns.
    pub(crate) fn new(unknowns: usize) -> Self {
        let zero = vec![Vec3A::ZERO; unknowns];
        Self {
            residual: zero.clone(),
            direction: zero.clone(),
            image: zero.clone(),
            scaled: zero.clone(),
            spare: zero,
        }
    }
}

/// Stopping criteria.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Stops when `r . P r` is not above this, for the residual r and the preconditioner P.
    pub(crate) absolute: f32,
    /// Stops when `r . P r` is not above this fraction of its initial value.
    pub(crate) relative: f32,
    /// Largest number of iterations.
    pub(crate) iterations: u32,
}

/// Improves `x`, which satisfies the constraints, until `A x = rhs` in all unconstrained directions.
///
/// Model: preconditioned conjugate gradients with the filter S: the system
/// is `S A S` on the vectors with `S d = d`, the preconditioner `S P S`.
/// Source: `baraff1998` 5.3, procedure modified-pcg.
/// Deviations: the error in the preconditioner's norm has an absolute bound, because
/// it is mass times the square of a velocity; the paper compares with the right-hand side.
pub(crate) fn solve_constrained(
    system: &impl System,
    constraint: &[Constraint],
    rhs: &[Vec3A],
    x: &mut [Vec3A],
    limits: &Limits,
    scratch: &mut Scratch,
) -> SolveReport {
    let n = x.len();
    let Scratch { residual, direction, image, scaled, spare } = scratch;
    system.multiply(x, image);
    for i in 0..n {
        residual[i] = constraint[i].filter(rhs[i] - image[i]);
    }
    system.precondition(residual, scaled, spare);
    for i in 0..n {
        scaled[i] = constraint[i].filter(scaled[i]);
        direction[i] = scaled[i];
    }
    let mut energy = dot(residual, scaled);
    let start = energy;
    let target = limits.absolute.max(limits.relative * start);
    let mut report = SolveReport::default();
    while report.iterations < limits.iterations && energy > target {
        system.multiply(direction, image);
        let mut curvature = 0.0;
        for i in 0..n {
            // Filter the image; the direction is filtered, so that their product does not change.
            image[i] = constraint[i].filter(image[i]);
            curvature += f64::from(direction[i].dot(image[i]));
        }
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = (f64::from(energy) / curvature) as f32;
        for i in 0..n {
            x[i] += direction[i] * step;
            residual[i] -= image[i] * step;
        }
        system.precondition(residual, scaled, spare);
        let mut next = 0.0;
        for i in 0..n {
            scaled[i] = constraint[i].filter(scaled[i]);
            next += f64::from(residual[i].dot(scaled[i]));
        }
        let ratio = next as f32 / energy;
        energy = next as f32;
        for i in 0..n {
            direction[i] = scaled[i] + direction[i] * ratio;
        }
        report.iterations += 1;
    }
    report.residual = f64::from(if start > 0.0 { (energy / start).sqrt() } else { 0.0 });
    report
}

fn dot(a: &[Vec3A], b: &[Vec3A]) -> f32 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.dot(*b))).sum::<f64>() as f32
}
