//! Three-vectors in lanes: sixteen strands at a time, one strand per lane.
//!
//! Every function is `inline(always)` so that it takes on the instruction set of the dispatched
//! kernel around it. Multiplications and additions are never fused: the bits are the same whatever
//! the instruction set.

use std::ops::{Add, AddAssign, Mul, Sub};

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, f32x16, mask32x16};
use glam::Vec3;

/// Strands per block, one per lane.
pub const LANES: usize = 16;

/// Floats that one lane vector takes in memory: all x, then all y, then all z.
pub(crate) const VECTOR: usize = 3 * LANES;

/// Sixteen vectors.
#[derive(Clone, Copy)]
pub(crate) struct Vec3x<S: Simd> {
    pub(crate) x: f32x16<S>,
    pub(crate) y: f32x16<S>,
    pub(crate) z: f32x16<S>,
}

impl<S: Simd> Vec3x<S> {
    #[inline(always)]
    pub(crate) fn splat(simd: S, v: Vec3) -> Self {
        Self {
            x: f32x16::splat(simd, v.x),
            y: f32x16::splat(simd, v.y),
            z: f32x16::splat(simd, v.z),
        }
    }

    /// Reads a row.
    #[inline(always)]
    pub(crate) fn of_row(simd: S, row: &[f32; VECTOR]) -> Self {
        Self {
            x: f32x16::from_slice(simd, &row[..LANES]),
            y: f32x16::from_slice(simd, &row[LANES..2 * LANES]),
            z: f32x16::from_slice(simd, &row[2 * LANES..]),
        }
    }

    /// Writes a row.
    #[inline(always)]
    pub(crate) fn to_row(self, row: &mut [f32; VECTOR]) {
        self.x.store_slice(&mut row[..LANES]);
        self.y.store_slice(&mut row[LANES..2 * LANES]);
        self.z.store_slice(&mut row[2 * LANES..]);
    }

    /// Reads the vector number `index` of a block's array.
    #[inline(always)]
    pub(crate) fn load(simd: S, from: &[f32], index: usize) -> Self {
        let at = &from[index * VECTOR..(index + 1) * VECTOR];
        Self {
            x: f32x16::from_slice(simd, &at[..LANES]),
            y: f32x16::from_slice(simd, &at[LANES..2 * LANES]),
            z: f32x16::from_slice(simd, &at[2 * LANES..]),
        }
    }

    /// Writes the vector number `index` of a block's array.
    #[inline(always)]
    pub(crate) fn store(self, to: &mut [f32], index: usize) {
        let at = &mut to[index * VECTOR..(index + 1) * VECTOR];
        self.x.store_slice(&mut at[..LANES]);
        self.y.store_slice(&mut at[LANES..2 * LANES]);
        self.z.store_slice(&mut at[2 * LANES..]);
    }

    #[inline(always)]
    pub(crate) fn dot(self, b: Self) -> f32x16<S> {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, b: Self) -> Self {
        Self {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }

    #[inline(always)]
    pub(crate) fn length(self) -> f32x16<S> {
        self.dot(self).sqrt()
    }

    /// `self` where the mask is set, `other` elsewhere.
    #[inline(always)]
    pub(crate) fn or(self, mask: mask32x16<S>, other: Self) -> Self {
        Self {
            x: mask.select(self.x, other.x),
            y: mask.select(self.y, other.y),
            z: mask.select(self.z, other.z),
        }
    }

    /// One lane.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }

    /// Replaces one lane.
    #[inline(always)]
    pub(crate) fn set_lane(&mut self, lane: usize, v: Vec3) {
        self.x[lane] = v.x;
        self.y[lane] = v.y;
        self.z[lane] = v.z;
    }
}

impl<S: Simd> Add for Vec3x<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl<S: Simd> AddAssign for Vec3x<S> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<S: Simd> Sub for Vec3x<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl<S: Simd> Mul<f32x16<S>> for Vec3x<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: f32x16<S>) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

/// Writes one lane of the vector number `index` of a block's array.
pub(crate) fn set_lane(to: &mut [f32], index: usize, lane: usize, v: Vec3) {
    let at = index * VECTOR + lane;
    to[at] = v.x;
    to[at + LANES] = v.y;
    to[at + 2 * LANES] = v.z;
}

/// Reads one lane of the vector number `index` of a block's array.
pub(crate) fn lane(from: &[f32], index: usize, lane: usize) -> Vec3 {
    let at = index * VECTOR + lane;
    Vec3::new(from[at], from[at + LANES], from[at + 2 * LANES])
}
