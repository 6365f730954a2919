//! Symmetric 3x3 matrices in lanes: one strand per lane.

use fearless_simd::{Select, Simd, SimdBase, f32x16, mask32x16};

use super::lanes::Vec3x;
use super::tangent::Columns;

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

    /// The solution `a` of `A a = v`, by cofactors.
    #[inline(always)]
    pub(crate) fn solve(&self, v: Vec3x<S>) -> Vec3x<S> {
        let Self { xx, yy, zz, xy, xz, yz } = *self;
        let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
        let (d, e, f) = (xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy);
        let inverse = f32x16::splat(xx.simd, 1.0) / (xx * a + xy * b + xz * c);
        Vec3x {
            x: (a * v.x + b * v.y + c * v.z) * inverse,
            y: (b * v.x + d * v.y + e * v.z) * inverse,
            z: (c * v.x + e * v.y + f * v.z) * inverse,
        }
    }

    /// `A - B C^T`, for a `B C^T` that is symmetric.
    #[inline(always)]
    pub(crate) fn minus_product(&self, b: &Columns<S>, c: &Columns<S>) -> Self {
        let (u, v, p, q) = (b.x, b.y, c.x, c.y);
        Self {
            xx: self.xx - u.x * p.x - v.x * q.x,
            yy: self.yy - u.y * p.y - v.y * q.y,
            zz: self.zz - u.z * p.z - v.z * q.z,
            xy: self.xy - u.x * p.y - v.x * q.y,
            xz: self.xz - u.x * p.z - v.x * q.z,
            yz: self.yz - u.y * p.z - v.y * q.z,
        }
    }

    /// `self` where the mask is set, zero elsewhere.
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
