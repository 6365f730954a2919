//! Two-dimensional vectors and matrices in lanes, in the plane perpendicular to a direction.

use fearless_simd::{Select, Simd, SimdBase, f32x16, mask32x16};
use std::ops::{Add, AddAssign, Mul, Sub};

use super::lanes::Vec3x;

/// Two numbers per lane.
#[derive(Clone, Copy)]
pub(crate) struct Vec2x<S: Simd> {
    pub(crate) x: f32x16<S>,
    pub(crate) y: f32x16<S>,
}

impl<S: Simd> Vec2x<S> {
    #[inline(always)]
    pub(crate) fn zero(simd: S) -> Self {
        let o = f32x16::splat(simd, 0.0);
        Self { x: o, y: o }
    }

    /// `self` where the mask is set, `other` elsewhere.
    #[inline(always)]
    pub(crate) fn or(self, mask: mask32x16<S>, other: Self) -> Self {
        Self { x: mask.select(self.x, other.x), y: mask.select(self.y, other.y) }
    }
}

impl<S: Simd> Add for Vec2x<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y }
    }
}

impl<S: Simd> AddAssign for Vec2x<S> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<S: Simd> Sub for Vec2x<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y }
    }
}

impl<S: Simd> Mul<f32x16<S>> for Vec2x<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, s: f32x16<S>) -> Self {
        Self { x: self.x * s, y: self.y * s }
    }
}

/// Two vectors of three dimensions per lane: a basis of a plane, or a linear map from the plane to space.
#[derive(Clone, Copy)]
pub(crate) struct Columns<S: Simd> {
    pub(crate) x: Vec3x<S>,
    pub(crate) y: Vec3x<S>,
}

impl<S: Simd> Columns<S> {
    /// Two unit vectors perpendicular to a unit vector and to each other, without a branch.
    ///
    /// Source: Duff et al., *Building an Orthonormal Basis, Revisited*, JCGT 2017.
    #[inline(always)]
    pub(crate) fn tangents(e: Vec3x<S>) -> Self {
        let simd = e.x.simd;
        let one = f32x16::splat(simd, 1.0);
        let sign = e.z.simd_ge(0.0).select(one, f32x16::splat(simd, -1.0));
        let a = f32x16::splat(simd, -1.0) / (sign + e.z);
        let b = e.x * e.y * a;
        Self {
            x: Vec3x { x: sign * e.x * e.x * a + one, y: sign * b, z: e.x * sign * -1.0 },
            y: Vec3x { x: b, y: e.y * e.y * a + sign, z: e.y * -1.0 },
        }
    }

    #[inline(always)]
    pub(crate) fn scaled(self, s: f32x16<S>) -> Self {
        Self { x: self.x * s, y: self.y * s }
    }

    /// From the plane to space.
    #[inline(always)]
    pub(crate) fn mul(&self, v: Vec2x<S>) -> Vec3x<S> {
        self.x * v.x + self.y * v.y
    }

    /// From space to the plane.
    #[inline(always)]
    pub(crate) fn dot(&self, v: Vec3x<S>) -> Vec2x<S> {
        Vec2x { x: self.x.dot(v), y: self.y.dot(v) }
    }

    /// The composition with a map `m` of the plane, `m` first.
    #[inline(always)]
    pub(crate) fn after(&self, m: &Matrix2<S>) -> Self {
        Self { x: self.mul(m.x), y: self.mul(m.y) }
    }

    /// `self` where the mask is set, zero elsewhere.
    #[inline(always)]
    pub(crate) fn only(self, mask: mask32x16<S>) -> Self {
        let none = Vec3x::splat(self.x.x.simd, glam::Vec3::ZERO);
        Self { x: self.x.or(mask, none), y: self.y.or(mask, none) }
    }
}

/// A 2x2 matrix per lane, by its columns.
#[derive(Clone, Copy)]
pub(crate) struct Matrix2<S: Simd> {
    pub(crate) x: Vec2x<S>,
    pub(crate) y: Vec2x<S>,
}

impl<S: Simd> Matrix2<S> {
    #[inline(always)]
    pub(crate) fn mul(&self, v: Vec2x<S>) -> Vec2x<S> {
        self.x * v.x + self.y * v.y
    }

    #[inline(always)]
    pub(crate) fn transposed_mul(&self, v: Vec2x<S>) -> Vec2x<S> {
        Vec2x { x: self.x.x * v.x + self.x.y * v.y, y: self.y.x * v.x + self.y.y * v.y }
    }
}

/// A symmetric 2x2 matrix per lane.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric2<S: Simd> {
    pub(crate) xx: f32x16<S>,
    pub(crate) xy: f32x16<S>,
    pub(crate) yy: f32x16<S>,
}

impl<S: Simd> Symmetric2<S> {
    #[inline(always)]
    pub(crate) fn zero(simd: S) -> Self {
        let o = f32x16::splat(simd, 0.0);
        Self { xx: o, xy: o, yy: o }
    }

    /// `h I + k v v^T`.
    #[inline(always)]
    pub(crate) fn new(h: f32x16<S>, k: f32x16<S>, v: Vec2x<S>) -> Self {
        let w = v * k;
        Self { xx: w.x * v.x + h, xy: w.x * v.y, yy: w.y * v.y + h }
    }

    #[inline(always)]
    pub(crate) fn plus(&self, b: &Self) -> Self {
        Self { xx: self.xx + b.xx, xy: self.xy + b.xy, yy: self.yy + b.yy }
    }

    #[inline(always)]
    pub(crate) fn minus(&self, b: &Self) -> Self {
        Self { xx: self.xx - b.xx, xy: self.xy - b.xy, yy: self.yy - b.yy }
    }

    #[inline(always)]
    pub(crate) fn mul(&self, v: Vec2x<S>) -> Vec2x<S> {
        Vec2x { x: self.xx * v.x + self.xy * v.y, y: self.xy * v.x + self.yy * v.y }
    }

    /// The inverse of a positive definite matrix.
    #[inline(always)]
    pub(crate) fn inverse(&self) -> Self {
        let one = f32x16::splat(self.xx.simd, 1.0);
        let scale = one / (self.xx * self.yy - self.xy * self.xy);
        Self { xx: self.yy * scale, xy: self.xy * scale * -1.0, yy: self.xx * scale }
    }

    /// `A^T B`, if that is symmetric.
    #[inline(always)]
    pub(crate) fn product(a: &Matrix2<S>, b: &Matrix2<S>) -> Self {
        Self {
            xx: a.x.x * b.x.x + a.x.y * b.x.y,
            xy: a.x.x * b.y.x + a.x.y * b.y.y,
            yy: a.y.x * b.y.x + a.y.y * b.y.y,
        }
    }

    /// `self` where the mask is set, zero elsewhere.
    #[inline(always)]
    pub(crate) fn only(self, mask: mask32x16<S>) -> Self {
        let o = f32x16::splat(self.xx.simd, 0.0);
        Self {
            xx: mask.select(self.xx, o),
            xy: mask.select(self.xy, o),
            yy: mask.select(self.yy, o),
        }
    }
}
