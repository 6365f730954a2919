//! Which of sixteen points are inside of an obstacle: a conservative test before each of them is treated alone.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, mask32x16};

use super::around::BodyAround;
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x, Vec3x8};

impl BodyAround<'_> {
    /// One bit for every point (m; all x, all y, all z) that is inside of a solid or below the body's own
    /// surface, but for rounding.
    pub(super) fn inside(&self, level: Level, points: &[f32; VECTOR]) -> u32 {
        dispatch!(level, simd => self.inside_lanes(simd, points))
    }

    #[inline(always)]
    fn inside_lanes<S: Simd>(&self, simd: S, points: &[f32; VECTOR]) -> u32 {
        let p = Vec3x::of_row(simd, points);
        let mut inside = mask32x16::splat(simd, false);
        for shape in self.shapes {
            inside |= shape.holds(simd, p);
        }
        let mut bits = inside.to_bitmask() as u32;
        if let Some(field) = self.field {
            for half in 0..LANES / HALF {
                let p = Vec3x8::of_row(simd, points, half);
                let (distance, _) = field.field.slopes(simd, p, (1 << HALF) - 1);
                bits |= (distance.simd_lt(field.skin).to_bitmask() as u32) << (half * HALF);
            }
        }
        bits
    }
}
