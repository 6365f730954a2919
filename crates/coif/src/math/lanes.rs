//! Three-vectors in lanes: one strand per lane.
//!
//! Memory holds rows of sixteen strands, a cache line per coordinate. A kernel processes a whole row
//! ([`Vec3x`]) or its halves ([`Vec3x8`]): eight lanes fill one AVX register, so that
//! long computations stay in registers, and the two halves are independent instruction streams.
//!
//! Every function is `inline(always)` so that it is compiled for the instruction set of the dispatched
//! kernel around it. Multiplications and additions are not fused, so that all instruction sets give the same bits.

use std::ops::{Add, AddAssign, Mul, Sub};

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, f32x8, f32x16, mask32x8, mask32x16};
use glam::Vec3;

/// Strands per block, one per lane.
pub const LANES: usize = 16;

/// Half of the lanes of a row.
pub(crate) const HALF: usize = LANES / 2;

/// Floats of one lane vector in memory: all x, then all y, then all z.
pub(crate) const VECTOR: usize = 3 * LANES;

/// Declares three-vectors of a lane type.
macro_rules! lane_vectors {
    ($(#[$about:meta])* $name:ident, $float:ident, $mask:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name<S: Simd> {
            pub(crate) x: $float<S>,
            pub(crate) y: $float<S>,
            pub(crate) z: $float<S>,
        }

        impl<S: Simd> $name<S> {
            #[inline(always)]
            pub(crate) fn splat(simd: S, v: Vec3) -> Self {
                Self {
                    x: $float::splat(simd, v.x),
                    y: $float::splat(simd, v.y),
                    z: $float::splat(simd, v.z),
                }
            }

            #[inline(always)]
            pub(crate) fn dot(self, b: Self) -> $float<S> {
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
            pub(crate) fn length(self) -> $float<S> {
                self.dot(self).sqrt()
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

            /// `self` where the mask is set, `other` elsewhere.
            #[inline(always)]
            pub(crate) fn or(self, mask: $mask<S>, other: Self) -> Self {
                Self {
                    x: mask.select(self.x, other.x),
                    y: mask.select(self.y, other.y),
                    z: mask.select(self.z, other.z),
                }
            }
        }

        impl<S: Simd> Add for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
            }
        }

        impl<S: Simd> AddAssign for $name<S> {
            #[inline(always)]
            fn add_assign(&mut self, b: Self) {
                *self = *self + b;
            }
        }

        impl<S: Simd> Sub for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
            }
        }

        impl<S: Simd> Mul<$float<S>> for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: $float<S>) -> Self {
                Self { x: self.x * s, y: self.y * s, z: self.z * s }
            }
        }
    };
}

lane_vectors! {
    /// Sixteen vectors.
    Vec3x, f32x16, mask32x16
}

lane_vectors! {
    /// Eight vectors: half a row.
    Vec3x8, f32x8, mask32x8
}

impl<S: Simd> Vec3x<S> {
    /// Reads a row.
    #[inline(always)]
    pub(crate) fn of_row(simd: S, row: &[f32; VECTOR]) -> Self {
        Self {
            x: f32x16::from_slice(simd, &row[..LANES]),
            y: f32x16::from_slice(simd, &row[LANES..2 * LANES]),
            z: f32x16::from_slice(simd, &row[2 * LANES..]),
        }
    }

    /// Lanes 0 to 7, and lanes 8 to 15.
    #[inline(always)]
    pub(crate) fn halves(self) -> [Vec3x8<S>; 2] {
        let simd = self.x.simd;
        let [x, y, z] = [self.x, self.y, self.z].map(|row| simd.split_f32x16(row));
        [Vec3x8 { x: x.0, y: y.0, z: z.0 }, Vec3x8 { x: x.1, y: y.1, z: z.1 }]
    }

    /// A row of two halves.
    #[inline(always)]
    pub(crate) fn of_halves([a, b]: [Vec3x8<S>; 2]) -> Self {
        let simd = a.x.simd;
        Self {
            x: simd.combine_f32x8(a.x, b.x),
            y: simd.combine_f32x8(a.y, b.y),
            z: simd.combine_f32x8(a.z, b.z),
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
        Self::of_row(simd, &from.as_chunks::<VECTOR>().0[index])
    }

    /// Writes the vector number `index` of a block's array.
    #[inline(always)]
    pub(crate) fn store(self, to: &mut [f32], index: usize) {
        self.to_row(&mut to.as_chunks_mut::<VECTOR>().0[index]);
    }
}

/// Half a row of numbers: lanes 0 to 7, or 8 to 15.
#[inline(always)]
pub(crate) fn half_row<S: Simd>(simd: S, row: &[f32; LANES], half: usize) -> f32x8<S> {
    f32x8::from_slice(simd, &row.as_chunks::<HALF>().0[half])
}

impl<S: Simd> Vec3x8<S> {
    /// Reads half a row.
    #[inline(always)]
    pub(crate) fn of_row(simd: S, row: &[f32; VECTOR], half: usize) -> Self {
        let parts = row.as_chunks::<HALF>().0;
        Self {
            x: f32x8::from_slice(simd, &parts[half]),
            y: f32x8::from_slice(simd, &parts[2 + half]),
            z: f32x8::from_slice(simd, &parts[4 + half]),
        }
    }

    /// Writes half a row.
    #[inline(always)]
    pub(crate) fn to_row(self, row: &mut [f32; VECTOR], half: usize) {
        let parts = row.as_chunks_mut::<HALF>().0;
        self.x.store_slice(&mut parts[half]);
        self.y.store_slice(&mut parts[2 + half]);
        self.z.store_slice(&mut parts[4 + half]);
    }

    /// Reads half of the vector number `index` of a block's array.
    #[inline(always)]
    pub(crate) fn load(simd: S, from: &[f32], index: usize, half: usize) -> Self {
        Self::of_row(simd, &from.as_chunks::<VECTOR>().0[index], half)
    }

    /// Writes half of the vector number `index` of a block's array.
    #[inline(always)]
    pub(crate) fn store(self, to: &mut [f32], index: usize, half: usize) {
        self.to_row(&mut to.as_chunks_mut::<VECTOR>().0[index], half);
    }
}

/// Writes one lane of the vector number `index` of a block's array.
#[inline]
pub(crate) fn set_lane(to: &mut [f32], index: usize, lane: usize, v: Vec3) {
    let at = index * VECTOR + lane;
    to[at] = v.x;
    to[at + LANES] = v.y;
    to[at + 2 * LANES] = v.z;
}

/// Reads one lane of the vector number `index` of a block's array.
#[inline]
pub(crate) fn lane(from: &[f32], index: usize, lane: usize) -> Vec3 {
    let at = index * VECTOR + lane;
    Vec3::new(from[at], from[at + LANES], from[at + 2 * LANES])
}
