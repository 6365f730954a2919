//! The conjugate gradient method in its textbook form, for symmetric positive definite systems.

/// Outcome of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveReport {
    /// Number of iterations.
    pub iterations: u32,
    /// Norm of the residual relative to that of the right-hand side.
    pub residual: f64,
}

/// Improves `x` until the norm of `rhs - apply(x)` is at most `tolerance` times that of `rhs`, or for `max_iterations`
/// iterations. `diagonal` is that of the matrix, as Jacobi preconditioner.
pub(crate) fn conjugate_gradient(
    mut apply: impl FnMut(&[f64], &mut [f64]),
    diagonal: &[f64],
    rhs: &[f64],
    x: &mut [f64],
    tolerance: f64,
    max_iterations: u32,
) -> SolveReport {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut image = vec![0.0; x.len()];
    apply(x, &mut image);
    let mut left: Vec<f64> = rhs.iter().zip(&image).map(|(b, a)| b - a).collect();
    let size = dot(rhs, rhs).sqrt();
    let mut report = SolveReport::default();
    if size == 0.0 {
        x.fill(0.0);
        return report;
    }
    let mut scaled: Vec<f64> = left.iter().zip(diagonal).map(|(r, d)| r / d).collect();
    let mut direction = scaled.clone();
    let mut energy = dot(&left, &scaled);
    report.residual = dot(&left, &left).sqrt() / size;
    while report.iterations < max_iterations && report.residual > tolerance {
        apply(&direction, &mut image);
        let curvature = dot(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = energy / curvature;
        for i in 0..x.len() {
            x[i] += step * direction[i];
            left[i] -= step * image[i];
            scaled[i] = left[i] / diagonal[i];
        }
        let before = std::mem::replace(&mut energy, dot(&left, &scaled));
        for (d, z) in direction.iter_mut().zip(&scaled) {
            *d = z + *d * (energy / before);
        }
        report.iterations += 1;
        report.residual = dot(&left, &left).sqrt() / size;
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of springs between walls with a force in the middle has a piecewise linear displacement. The number of
    /// unknowns bounds the number of iterations.
    #[test]
    fn a_loaded_string_is_piecewise_linear() {
        let n = 21;
        let apply = |x: &[f64], y: &mut [f64]| {
            for i in 0..n {
                let before = if i > 0 { x[i - 1] } else { 0.0 };
                let after = if i + 1 < n { x[i + 1] } else { 0.0 };
                y[i] = 2.0 * x[i] - before - after;
            }
        };
        let mut rhs = vec![0.0; n];
        rhs[10] = 2.0;
        let mut x = vec![0.0; n];
        let report = conjugate_gradient(apply, &vec![2.0; n], &rhs, &mut x, 1e-12, 21);
        assert!(report.residual < 1e-12 && report.iterations <= 21, "{report:?}");
        for (i, x) in x.iter().enumerate() {
            let truth = 11.0 - (i as f64 - 10.0).abs();
            assert!((x - truth).abs() < 1e-9, "{i}: {x} {truth}");
        }
    }
}
