//! Symmetric 3x3 matrices in lanes: one strand per lane.

use fearless_simd::{Select, Simd, SimdBase, f32x16, mask32x16};

use super::lanes::Vec3x;

/// A symmetric 3x3 matrix per lane.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric<S: Simd> {
    pub(crate) xx: f32x16<S>,
    pub(crate) yy: f32x16<S>,
    pub(crate) zz: f32x16<S>,
    pub(crate) xy: f32x16<S>,
    pub(crate) xz: f32x16<S>,
    pub(crate) yz: f32x16<S>,
}

impl<S: Simd> Symmetric<S> {
    #[inline(always)]
    pub(crate) fn zero(simd: S) -> Self {
        let o = f32x16::splat(simd, 0.0);
        Self { xx: o, yy: o, zz: o, xy: o, xz: o, yz: o }
    }

    #[inline(always)]
    pub(crate) fn plus_diagonal(mut self, d: f32x16<S>) -> Self {
        (self.xx, self.yy, self.zz) = (self.xx + d, self.yy + d, self.zz + d);
        self
    }

    #[inline(always)]
    pub(crate) fn mul(&self, v: Vec3x<S>) -> Vec3x<S> {
        Vec3x {
            x: self.xx * v.x + self.xy * v.y + self.xz * v.z,
            y: self.xy * v.x + self.yy * v.y + self.yz * v.z,
            z: self.xz * v.x + self.yz * v.y + self.zz * v.z,
        }
    }

    #[inline(always)]
    pub(crate) fn plus(mut self, b: &Self) -> Self {
        (self.xx, self.yy, self.zz) = (self.xx + b.xx, self.yy + b.yy, self.zz + b.zz);
        (self.xy, self.xz, self.yz) = (self.xy + b.xy, self.xz + b.xz, self.yz + b.yz);
        self
    }

    /// The inverse of a positive definite matrix, by its cofactors.
    #[inline(always)]
    pub(crate) fn inverse(&self) -> Self {
        let Self { xx, yy, zz, xy, xz, yz } = *self;
        let (cxx, cxy, cxz) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
        let scale = f32x16::splat(xx.simd, 1.0) / (xx * cxx + xy * cxy + xz * cxz);
        Self {
            xx: cxx * scale,
            yy: (xx * zz - xz * xz) * scale,
            zz: (xx * yy - xy * xy) * scale,
            xy: cxy * scale,
            xz: cxz * scale,
            yz: (xy * xz - xx * yz) * scale,
        }
    }

    /// `k A B + c v v^T` for matrices that commute.
    #[inline(always)]
    pub(crate) fn product(a: &Self, b: &Self, k: f32x16<S>, v: Vec3x<S>, c: f32x16<S>) -> Self {
        let w = v * c;
        Self {
            xx: (a.xx * b.xx + a.xy * b.xy + a.xz * b.xz) * k + w.x * v.x,
            yy: (a.xy * b.xy + a.yy * b.yy + a.yz * b.yz) * k + w.y * v.y,
            zz: (a.xz * b.xz + a.yz * b.yz + a.zz * b.zz) * k + w.z * v.z,
            xy: (a.xx * b.xy + a.xy * b.yy + a.xz * b.yz) * k + w.x * v.y,
            xz: (a.xx * b.xz + a.xy * b.yz + a.xz * b.zz) * k + w.x * v.z,
            yz: (a.xy * b.xz + a.yy * b.yz + a.yz * b.zz) * k + w.y * v.z,
        }
    }

    /// Itself where the mask is set, zero elsewhere.
    #[inline(always)]
    pub(crate) fn only(self, mask: mask32x16<S>) -> Self {
        let o = f32x16::splat(self.xx.simd, 0.0);
        Self {
            xx: mask.select(self.xx, o),
            yy: mask.select(self.yy, o),
            zz: mask.select(self.zz, o),
            xy: mask.select(self.xy, o),
            xz: mask.select(self.xz, o),
            yz: mask.select(self.yz, o),
        }
    }
}
