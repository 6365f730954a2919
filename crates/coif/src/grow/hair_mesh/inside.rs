//! Which of sixteen points are inside of an obstacle: a conservative test before each of them is treated alone.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, f32x16, mask32x16};

use super::around::BodyAround;
use crate::environment::ChainCulling;
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x, Vec3x8};

impl BodyAround<'_> {
    /// One bit for every point (m; all x, all y, all z) that is inside of a solid or below the body's own
    /// surface, but for rounding.
    pub(super) fn inside(&self, level: Level, points: &[f32; VECTOR]) -> u32 {
        dispatch!(level, simd => self.inside_lanes(simd, points, &mut ChainCulling::new(0.0)))
    }

    /// The same for the next row of chains: solids that are too far away are left out.
    pub(super) fn inside_row(
        &self,
        level: Level,
        points: &[f32; VECTOR],
        culling: &mut ChainCulling,
    ) -> u32 {
        dispatch!(level, simd => self.inside_lanes(simd, points, culling))
    }

    #[inline(always)]
    fn inside_lanes<S: Simd>(
        &self,
        simd: S,
        points: &[f32; VECTOR],
        culling: &mut ChainCulling,
    ) -> u32 {
        let p = Vec3x::of_row(simd, points);
        let mut inside = mask32x16::splat(simd, false);
        culling.begin();
        for (k, shape) in self.shapes.iter().enumerate() {
            if !culling.is_due_for(k) {
                continue;
            }
            let holds = shape.holds(simd, p);
            inside |= holds;
            if holds.any_true() {
                culling.keep();
            } else {
                let [all, some] = culling.distances();
                let all = shape.may_reach_lanes(simd, p, f32x16::splat(simd, all));
                let some = shape.may_reach_lanes(simd, p, f32x16::splat(simd, some));
                culling.skip(k, [!all.any_true(), !some.any_true()]);
            }
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
