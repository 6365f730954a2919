//! Vectors and factors of eight columns side by side, one column per lane.
//!
//! A slot holds one vector of each of eight columns, all on the same level. Every function is
//! `inline(always)`, so that it is compiled for the instruction set of its caller. Multiplications and additions are not
//! fused, so that all instruction sets give the same bits.

use fearless_simd::{Simd, SimdBase, f32x8};
use glam::{Mat3A, Vec3A};

use crate::math::lanes::Vec3x8;

/// Columns that are solved together.
pub(super) const LANES: usize = 8;

/// Vectors of eight unknowns: all x, all y, all z.
pub(super) type Slot = [[f32; LANES]; 3];

/// Reads eight vectors.
#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, from: &Slot) -> Vec3x8<S> {
    Vec3x8 {
        x: f32x8::from_slice(simd, &from[0]),
        y: f32x8::from_slice(simd, &from[1]),
        z: f32x8::from_slice(simd, &from[2]),
    }
}

/// Row `k` of eight numbers each.
#[inline(always)]
fn at<S: Simd, const N: usize>(simd: S, rows: &[[f32; LANES]; N], k: usize) -> f32x8<S> {
    f32x8::from_slice(simd, &rows[k])
}

/// Writes eight vectors.
#[inline(always)]
pub(super) fn store<S: Simd>(value: Vec3x8<S>, to: &mut Slot) {
    value.x.store_slice(&mut to[0]);
    value.y.store_slice(&mut to[1]);
    value.z.store_slice(&mut to[2]);
}

/// Zero in all lanes.
#[inline(always)]
pub(super) fn zero<S: Simd>(simd: S) -> Vec3x8<S> {
    Vec3x8::splat(simd, glam::Vec3::ZERO)
}

/// Writes one lane of a slot.
#[inline(always)]
pub(super) fn set_lane(slot: &mut Slot, lane: usize, value: Vec3A) {
    let lane = lane % LANES;
    (slot[0][lane], slot[1][lane], slot[2][lane]) = (value.x, value.y, value.z);
}

/// Transposes eight rows of eight numbers.
///
/// Model: each of three rounds interleaves the first half of the rows with the second.
#[inline(always)]
pub(super) fn transpose<S: Simd>(simd: S, mut rows: [f32x8<S>; LANES]) -> [f32x8<S>; LANES] {
    for _ in 0..3 {
        let [a, b, c, d, e, f, g, h] = rows;
        rows = [
            simd.zip_low_f32x8(a, e),
            simd.zip_high_f32x8(a, e),
            simd.zip_low_f32x8(b, f),
            simd.zip_high_f32x8(b, f),
            simd.zip_low_f32x8(c, g),
            simd.zip_high_f32x8(c, g),
            simd.zip_low_f32x8(d, h),
            simd.zip_high_f32x8(d, h),
        ];
    }
    rows
}

/// One row of the factors of eight columns ([`super::gauss_seidel::BlockGaussSeidel`]).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Factor {
    /// Inverse of the block of G, a lower triangle, in column-major order.
    inverse: [[f32; LANES]; 6],
    /// Blocks of L one and two below the diagonal, in column-major order; zero where there is none.
    below: [[[f32; LANES]; 9]; 2],
}

impl Factor {
    /// Writes the factors of one column.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, inverse: Mat3A, below: [Mat3A; 2]) {
        let lane = lane % LANES;
        let (x, y, z) = (inverse.x_axis, inverse.y_axis, inverse.z_axis);
        for (row, value) in self.inverse.iter_mut().zip([x.x, x.y, x.z, y.y, y.z, z.z]) {
            row[lane] = value;
        }
        for (rows, block) in self.below.iter_mut().zip(below) {
            for (row, value) in rows.iter_mut().zip(block.to_cols_array()) {
                row[lane] = value;
            }
        }
    }

    /// `G^-1 v`
    #[inline(always)]
    pub(super) fn inverse_times<S: Simd>(&self, simd: S, v: Vec3x8<S>) -> Vec3x8<S> {
        let m = &self.inverse;
        Vec3x8 {
            x: at(simd, m, 0) * v.x,
            y: at(simd, m, 1) * v.x + at(simd, m, 3) * v.y,
            z: at(simd, m, 2) * v.x + at(simd, m, 4) * v.y + at(simd, m, 5) * v.z,
        }
    }

    /// `G^-T v`
    #[inline(always)]
    pub(super) fn inverse_transposed_times<S: Simd>(&self, simd: S, v: Vec3x8<S>) -> Vec3x8<S> {
        let m = &self.inverse;
        Vec3x8 {
            x: at(simd, m, 0) * v.x + at(simd, m, 1) * v.y + at(simd, m, 2) * v.z,
            y: at(simd, m, 3) * v.y + at(simd, m, 4) * v.z,
            z: at(simd, m, 5) * v.z,
        }
    }

    /// `L v` for the block one below the diagonal (0) or two (1).
    #[inline(always)]
    pub(super) fn times<S: Simd>(&self, simd: S, far: usize, v: Vec3x8<S>) -> Vec3x8<S> {
        let m = &self.below[far];
        Vec3x8 {
            x: row_times(simd, m, [0, 3, 6], v),
            y: row_times(simd, m, [1, 4, 7], v),
            z: row_times(simd, m, [2, 5, 8], v),
        }
    }

    /// `L^T v` for the block one below the diagonal (0) or two (1).
    #[inline(always)]
    pub(super) fn transposed_times<S: Simd>(&self, simd: S, far: usize, v: Vec3x8<S>) -> Vec3x8<S> {
        let m = &self.below[far];
        Vec3x8 {
            x: row_times(simd, m, [0, 1, 2], v),
            y: row_times(simd, m, [3, 4, 5], v),
            z: row_times(simd, m, [6, 7, 8], v),
        }
    }
}

/// Dot product, in every lane, of three elements of a block with a vector.
#[inline(always)]
fn row_times<S: Simd>(
    simd: S,
    m: &[[f32; LANES]; 9],
    [i, j, k]: [usize; 3],
    v: Vec3x8<S>,
) -> f32x8<S> {
    at(simd, m, i) * v.x + at(simd, m, j) * v.y + at(simd, m, k) * v.z
}
