//! Strain limiting (`selle2008` 4.2), sixteen strands at a time.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x16, mask32x16};

use super::block::Block;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

/// Lanes of a bit pattern.
#[inline(always)]
pub(super) fn mask<S: Simd>(simd: S, bits: u16) -> mask32x16<S> {
    mask32x16::from_bitmask(simd, bits.into())
}

/// Changes the velocities `half` so that in `h` seconds no segment gets longer or shorter than the share
/// `limit` of its length.
///
/// Model: march from the root to the tip; a particle that would get too far from the one it hangs on, or
/// too near to it, is moved along the line between the two; the one nearer to the root stays. Extra
/// particles hang on the point before them by one of their two edges.
#[inline(always)]
pub(super) fn limit_strain<S: Simd>(simd: S, block: &mut Block, h: f32, limit: f32) {
    let rows = block.rows;
    let x = &block.x.as_chunks::<VECTOR>().0[..rows];
    let half = &mut block.half.as_chunks_mut::<VECTOR>().0[..rows];
    let length = &block.length.as_chunks::<LANES>().0[..rows];
    let splat = |value: f32| f32x16::splat(simd, value);
    let (step, per_step) = (splat(h), splat(1.0 / h));
    // Where the last two particles go.
    let mut before = Vec3x::of_row(simd, &x[0]) + Vec3x::of_row(simd, &half[0]) * step;
    let mut second = before;
    for j in 1..rows {
        let parent = second.or(mask(simd, block.two_back[j]), before);
        let velocity = Vec3x::of_row(simd, &half[j]);
        let end = Vec3x::of_row(simd, &x[j]) + velocity * step;
        let way = end - parent;
        let distance = way.length();
        let rest = f32x16::from_slice(simd, &length[j]);
        let wanted = distance.min(rest * splat(1.0 + limit)).max(rest * splat(1.0 - limit));
        let free = mask(simd, block.free[j]);
        let moves = (wanted - distance).abs().simd_gt(rest * splat(1e-6)) & free;
        (second, before) = (before, end);
        if moves.any_true() {
            let change = way * ((wanted - distance) / distance.max(splat(1e-12)));
            let change = change * moves.select(splat(1.0), splat(0.0));
            before = end + change;
            (velocity + change * per_step).to_row(&mut half[j]);
        }
    }
}
