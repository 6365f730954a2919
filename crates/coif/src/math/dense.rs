//! Small dense systems in double precision: for references, and for constants that are computed once.

/// Replaces `rhs` by the solution of a symmetric positive definite system. The matrix, in row-major order,
/// is replaced by its Cholesky factor. Returns whether it was positive definite.
pub fn solve_positive_definite(matrix: &mut [f64], rhs: &mut [f64]) -> bool {
    let n = rhs.len();
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let left = matrix[i * n + j] - sum;
            if i > j {
                matrix[i * n + j] = left / matrix[j * n + j];
            } else if left > 0.0 {
                matrix[i * n + i] = left.sqrt();
            } else {
                return false;
            }
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| matrix[i * n + k] * rhs[k]).sum();
        rhs[i] = (rhs[i] - sum) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| matrix[k * n + i] * rhs[k]).sum();
        rhs[i] = (rhs[i] - sum) / matrix[i * n + i];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved_and_an_indefinite_one_refused() {
        let mut matrix = [4.0, 2.0, 0.0, 2.0, 5.0, 1.0, 0.0, 1.0, 3.0];
        let mut rhs = [8.0, 15.0, 11.0];
        assert!(solve_positive_definite(&mut matrix, &mut rhs));
        for (x, truth) in rhs.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - truth).abs() < 1e-12, "{x} {truth}");
        }
        assert!(!solve_positive_definite(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
    }
}
