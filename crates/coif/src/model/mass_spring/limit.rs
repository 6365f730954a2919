//! Strain limiting (`selle2008` 4.2), sixteen strands at a time.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x16, mask32x16};

use super::block::Block;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x, lane, set_lane};

/// Largest number of passes between two pinned ends: a strand with slack needs three or four.
const MAX_PASSES: usize = 16;

/// Tolerance of the limit, as a fraction of the length of a segment.
const EXACT: f32 = 1e-6;

/// Lanes of a bit pattern.
#[inline(always)]
pub(super) fn mask<S: Simd>(simd: S, bits: u16) -> mask32x16<S> {
    mask32x16::from_bitmask(simd, bits.into())
}

/// Displacement of particles along their segments that brings the lengths within the fraction
/// `limit` of `rest`; `None` if none of the lanes `free` exceeds it. `segment` is the vector from the parent.
#[inline(always)]
fn back_within<S: Simd>(
    simd: S,
    segment: Vec3x<S>,
    rest: f32x16<S>,
    limit: f32,
    free: mask32x16<S>,
) -> Option<Vec3x<S>> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let distance = segment.length();
    let wanted = distance.min(rest * splat(1.0 + limit)).max(rest * splat(1.0 - limit));
    let moves = (wanted - distance).abs().simd_gt(rest * splat(EXACT)) & free;
    if !moves.any_true() {
        return None;
    }
    let change = segment * ((wanted - distance) / distance.max(splat(1e-12)));
    Some(change * moves.select(splat(1.0), splat(0.0)))
}

/// Changes the velocities `half` so that after `h` seconds the strain of no segment exceeds `limit`.
///
/// Model: march from the root to the tip; a particle that would be too far from its parent, or
/// too near to it, is moved along the line between the two. The parent of a point and of an extra
/// particle is the previous point.
/// Source: `selle2008` 4.2.
/// Deviations: strands that are pinned at both ends are marched from either end in turn.
#[inline(always)]
pub(super) fn limit_strain<S: Simd>(simd: S, block: &mut Block, h: f32, limit: f32) {
    let rows = block.rows;
    let x = &block.x.as_chunks::<VECTOR>().0[..rows];
    let half = &mut block.half.as_chunks_mut::<VECTOR>().0[..rows];
    let length = &block.length.as_chunks::<LANES>().0[..rows];
    let splat = |value: f32| f32x16::splat(simd, value);
    let (step, per_step) = (splat(h), splat(1.0 / h));
    // Keep the end positions of the last two particles.
    let mut before = Vec3x::of_row(simd, &x[0]) + Vec3x::of_row(simd, &half[0]) * step;
    let mut second = before;
    for j in 1..rows {
        let parent = second.or(mask(simd, block.two_back[j]), before);
        let velocity = Vec3x::of_row(simd, &half[j]);
        let end = Vec3x::of_row(simd, &x[j]) + velocity * step;
        let segment = end - parent;
        let rest = f32x16::from_slice(simd, &length[j]);
        let free = mask(simd, block.free[j] & !block.pinned_at_both);
        (second, before) = (before, end);
        if let Some(change) = back_within(simd, segment, rest, limit, free) {
            before = end + change;
            (velocity + change * per_step).to_row(&mut half[j]);
        }
    }
}

/// Limits the strain in the positions `next` after contact, which springs would correct only over several substeps.
///
/// Model: as [`limit_strain`]. A moved particle can end inside the body by a small fraction of the stretch, which the
/// next substep corrects.
#[inline(always)]
pub(super) fn limit_after_contact<S: Simd>(simd: S, block: &mut Block, limit: f32) {
    let rows = block.rows;
    let next = &mut block.next.as_chunks_mut::<VECTOR>().0[..rows];
    let length = &block.length.as_chunks::<LANES>().0[..rows];
    let mut before = Vec3x::of_row(simd, &next[0]);
    let mut second = before;
    for j in 1..rows {
        let parent = second.or(mask(simd, block.two_back[j]), before);
        let end = Vec3x::of_row(simd, &next[j]);
        let segment = end - parent;
        let rest = f32x16::from_slice(simd, &length[j]);
        let free = mask(simd, block.free[j] & !block.pinned_at_both);
        (second, before) = (before, end);
        if let Some(change) = back_within(simd, segment, rest, limit, free) {
            before = end + change;
            before.to_row(&mut next[j]);
        }
    }
}

/// [`limit_strain`] for the strands of a block that are pinned at both ends, or in between.
pub(super) fn limit_between_ends(block: &mut Block, h: f32, limit: f32) {
    let (lanes, pinned_at_both) = (block.lanes, block.pinned_at_both);
    for l in (0..lanes).filter(|l| pinned_at_both >> l & 1 == 1) {
        let count = block.count[l] as usize;
        // Write the end positions to `next`, which is unused until positions are advanced.
        for row in 0..count {
            let end = lane(&block.x, row, l) + lane(&block.half, row, l) * h;
            set_lane(&mut block.next, row, l, end);
        }
        march_from_both_ends(block, l, limit);
        for row in (0..count).filter(|&row| block.free[row] >> l & 1 == 1) {
            let displacement = lane(&block.next, row, l) - lane(&block.x, row, l);
            set_lane(&mut block.half, row, l, displacement / h);
        }
    }
}

/// [`limit_after_contact`] for the strands of a block that are pinned at both ends.
pub(super) fn limit_between_ends_after_contact(block: &mut Block, limit: f32) {
    let (lanes, pinned_at_both) = (block.lanes, block.pinned_at_both);
    for l in (0..lanes).filter(|l| pinned_at_both >> l & 1 == 1) {
        march_from_both_ends(block, l, limit);
    }
}

/// Limits the strain of a lane in `next`.
///
/// Model: alternate marches from the last pinned particle, in which the parent is the next point, and from the
/// root, until nothing moves. From the root alone, the last segment would get the whole residual.
fn march_from_both_ends(block: &mut Block, l: usize, limit: f32) {
    let count = block.count[l] as usize;
    let at_point = |row: usize| block.is_point[row] >> l & 1 == 1;
    let last_pinned = (0..count).rev().find(|&row| block.free[row] >> l & 1 == 0).unwrap_or(0);
    for pass in 0..MAX_PASSES {
        let from_tip = pass % 2 == 0;
        let mut moved = false;
        for k in 1..if from_tip { last_pinned + 1 } else { count } {
            let (row, parent) = if from_tip {
                let row = last_pinned - k;
                let skips = k > 1 && at_point(row) && !at_point(row + 1);
                (row, if skips { row + 2 } else { row + 1 })
            } else {
                let skips = k > 1 && at_point(k) && !at_point(k - 1);
                (k, if skips { k - 2 } else { k - 1 })
            };
            if block.free[row] >> l & 1 == 0 {
                continue;
            }
            // The sides of a triangle have the length of its segment.
            let rest = block.length[row.max(parent) * LANES + l];
            let end = lane(&block.next, row, l);
            let segment = end - lane(&block.next, parent, l);
            let distance = segment.length();
            let wanted = distance.clamp(rest * (1.0 - limit), rest * (1.0 + limit));
            if (wanted - distance).abs() > rest * EXACT {
                moved = true;
                let change = segment * ((wanted - distance) / distance.max(1e-12));
                set_lane(&mut block.next, row, l, end + change);
            }
        }
        // Stop if nothing has moved; particles beyond the last pin need a march from the root.
        if !(moved || from_tip && last_pinned + 1 < count) {
            break;
        }
    }
}
