//! A vector in eight lanes. Every function is `inline(always)`, so that it is compiled for the instruction
//! set of the dispatched kernel around it.

use fearless_simd::{Select, Simd, SimdBase, f32x8, mask32x8};

use super::grid::WIDTH;

#[derive(Clone, Copy)]
pub(super) struct V<S: Simd>(pub(super) f32x8<S>, pub(super) f32x8<S>, pub(super) f32x8<S>);

impl<S: Simd> V<S> {
    /// Reads three coordinates from `first` on.
    #[inline(always)]
    pub(super) fn load(simd: S, from: &[[f32; WIDTH]], first: usize) -> Self {
        Self(
            f32x8::from_slice(simd, &from[first]),
            f32x8::from_slice(simd, &from[first + 1]),
            f32x8::from_slice(simd, &from[first + 2]),
        )
    }

    #[inline(always)]
    pub(super) fn minus(self, b: Self) -> Self {
        Self(self.0 - b.0, self.1 - b.1, self.2 - b.2)
    }

    #[inline(always)]
    pub(super) fn times(self, s: f32x8<S>) -> Self {
        Self(self.0 * s, self.1 * s, self.2 * s)
    }

    #[inline(always)]
    pub(super) fn dot(self, b: Self) -> f32x8<S> {
        self.0 * b.0 + self.1 * b.1 + self.2 * b.2
    }

    #[inline(always)]
    pub(super) fn cross(self, b: Self) -> Self {
        Self(self.1 * b.2 - self.2 * b.1, self.2 * b.0 - self.0 * b.2, self.0 * b.1 - self.1 * b.0)
    }

    /// `self` where the mask is set, `other` elsewhere.
    #[inline(always)]
    pub(super) fn or(self, mask: mask32x8<S>, other: Self) -> Self {
        Self(
            mask.select(self.0, other.0),
            mask.select(self.1, other.1),
            mask.select(self.2, other.2),
        )
    }
}
