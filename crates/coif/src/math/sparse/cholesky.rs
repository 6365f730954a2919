//! Cholesky factors of 3x3 blocks: the pivots in the factorisation of a column.

use glam::{Mat3A, Vec3A};

/// The lower triangle G of a symmetric block `G G^T`: elements below its diagonal, and the inverse diagonal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cholesky {
    g10: f32,
    g20: f32,
    g21: f32,
    over: [f32; 3],
}

impl Cholesky {
    /// The factor of a block; `None` if it is not positive definite within rounding.
    #[inline(always)]
    pub(super) fn new(m: Mat3A) -> Option<Self> {
        /// Smallest ratio of a remainder to its diagonal element: below it, the remainder is rounding error.
        const MIN_PIVOT: f32 = 1e-6;
        let (a, b, c) = (m.x_axis, m.y_axis, m.z_axis);
        let over0 = 1.0 / a.x.sqrt();
        let (g10, g20) = (a.y * over0, a.z * over0);
        let d1 = b.y - g10 * g10;
        let over1 = 1.0 / d1.sqrt();
        let g21 = (b.z - g20 * g10) * over1;
        let d2 = c.z - g20 * g20 - g21 * g21;
        // A comparison with NaN fails.
        let fine = a.x > 0.0 && d1 > MIN_PIVOT * b.y && d2 > MIN_PIVOT * c.z;
        fine.then(|| Self { g10, g20, g21, over: [over0, over1, 1.0 / d2.sqrt()] })
    }

    /// `a G^-T`, by substitution. Where a block is a million times stiffer in one direction than across it, rounding in a
    /// product with the inverse would mix the two, and the factors would belong to a matrix that is not positive definite.
    #[inline(always)]
    pub(super) fn divide_transposed(&self, a: Mat3A) -> Mat3A {
        let x = a.x_axis * self.over[0];
        let y = (a.y_axis - x * self.g10) * self.over[1];
        let z = (a.z_axis - x * self.g20 - y * self.g21) * self.over[2];
        Mat3A::from_cols(x, y, z)
    }

    /// `a G^-1`, by substitution.
    #[inline(always)]
    pub(super) fn divide(&self, a: Mat3A) -> Mat3A {
        let z = a.z_axis * self.over[2];
        let y = (a.y_axis - z * self.g21) * self.over[1];
        let x = (a.x_axis - y * self.g10 - z * self.g20) * self.over[0];
        Mat3A::from_cols(x, y, z)
    }

    /// `G^-1`, a lower triangle.
    #[inline(always)]
    pub(super) fn inverse(&self) -> Mat3A {
        let [i00, i11, i22] = self.over;
        let i10 = -self.g10 * i00 * i11;
        let i21 = -self.g21 * i11 * i22;
        let i20 = -(self.g20 * i00 + self.g21 * i10) * i22;
        Mat3A::from_cols(
            Vec3A::new(i00, i10, i20),
            Vec3A::new(0.0, i11, i21),
            Vec3A::new(0.0, 0.0, i22),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_times_its_transpose_is_the_block() {
        for i in 0..50 {
            let at = |k: f32| (i as f32 * k + k).sin();
            let half = Mat3A::from_cols_array(&std::array::from_fn(|j| at(0.7 + j as f32)));
            let block = half * half.transpose() + Mat3A::from_diagonal(glam::Vec3::splat(0.1));
            let own = Cholesky::new(block).unwrap();
            let root = own.inverse();
            let one = root * block * root.transpose();
            assert!(one.abs_diff_eq(Mat3A::IDENTITY, 1e-3), "{one}");
            assert_eq!((root.y_axis.x, root.z_axis.x, root.z_axis.y), (0.0, 0.0, 0.0));
            assert!(own.divide(half).abs_diff_eq(half * root, 1e-3));
            assert!(own.divide_transposed(half).abs_diff_eq(half * root.transpose(), 1e-3));
        }
        for bad in [Mat3A::ZERO, -Mat3A::IDENTITY, Mat3A::IDENTITY * f32::NAN] {
            assert!(Cholesky::new(bad).is_none());
        }
    }
}
