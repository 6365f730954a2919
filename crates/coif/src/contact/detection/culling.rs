//! Conservative tests that leave out most pairs of segments, sixteen at a time.
//!
//! They are in single precision, with a margin for rounding: pairs that are left out do not collide, or are not
//! near, by the exact computations in `crossing.rs` and `segments.rs`, which process only the rest.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x16};
use glam::Vec3;

use super::crossing::{FLAT, NEARLY};
use crate::math::LANES;
use crate::math::lanes::Vec3x;

/// Bound of the rounding error of a distance, as a fraction of the length of the segments. Where they are
/// nearly parallel, the closest points are ill-conditioned, but their distance is not.
const ROUNDING: f32 = 5e-4;

/// Twice the bounds of the exact test: rounding errors of single precision are a tenth of them.
const MIN_FRACTION: f32 = 2.0 * NEARLY as f32;
const MIN_VOLUME: f32 = 2.0 * FLAT as f32;

/// Writes the pairs that may collide while the points move from `start` to `end` to `kept`, as many as fit, and returns
/// their number.
#[inline(always)]
pub(in crate::contact) fn keep_passing<S: Simd>(
    simd: S,
    pairs: &[(u32, u32)],
    start: &[Vec3],
    end: &[Vec3],
    kept: &mut [(u32, u32)],
) -> usize {
    let mut count = 0;
    for pairs in pairs.chunks(LANES) {
        let (from, to) = (Edges::gather(pairs, start), Edges::gather(pairs, end));
        count = keep(pairs, may_pass(simd, &from, &to), count, kept);
    }
    count
}

/// [`keep_passing`] for the pairs that may be as near as `reach` (m).
#[inline(always)]
pub(in crate::contact) fn keep_near<S: Simd>(
    simd: S,
    pairs: &[(u32, u32)],
    position: &[Vec3],
    reach: f32,
    kept: &mut [(u32, u32)],
) -> usize {
    let mut count = 0;
    let reach = f32x16::splat(simd, reach);
    for pairs in pairs.chunks(LANES) {
        // Keep NaN, for the exact test to reject.
        let far = Edges::gather(pairs, position).min_distance(simd).simd_gt(reach);
        count = keep(pairs, !(far.to_bitmask() as u32), count, kept);
    }
    count
}

/// Writes lower bounds of the distances (m) of the segments of the pairs.
#[inline(always)]
pub(in crate::contact) fn min_distances<S: Simd>(
    simd: S,
    pairs: &[(u32, u32)],
    position: &[Vec3],
    distances: &mut [f32],
) {
    for (pairs, distances) in pairs.chunks(LANES).zip(distances.chunks_mut(LANES)) {
        let mut all = [0.0; LANES];
        Edges::gather(pairs, position).min_distance(simd).store_slice(&mut all);
        distances.copy_from_slice(&all[..distances.len()]);
    }
}

/// Appends the pairs whose bits are set to the first `count` of `kept`; returns the new count.
#[inline(always)]
fn keep(pairs: &[(u32, u32)], bits: u32, mut count: usize, kept: &mut [(u32, u32)]) -> usize {
    for (l, &pair) in pairs.iter().enumerate() {
        if let Some(to) = kept.get_mut(count) {
            *to = pair;
            count += (bits >> l & 1) as usize;
        }
    }
    count
}

/// The edges of sixteen pairs, and the offset from the first point of one to that of the other.
struct Edges {
    u: Lanes,
    v: Lanes,
    w: Lanes,
}

type Lanes = [[f32; LANES]; 3];

impl Edges {
    #[inline(always)]
    fn gather(pairs: &[(u32, u32)], x: &[Vec3]) -> Self {
        let zero = [[0.0; LANES]; 3];
        let mut all = Self { u: zero, v: zero, w: zero };
        for (l, &(a, b)) in pairs.iter().enumerate() {
            let (a, b) = (a as usize, b as usize);
            let (from, other) = (x[a], x[b]);
            let (u, v, w) = (x[a + 1] - from, x[b + 1] - other, other - from);
            for c in 0..3 {
                all.u[c][l] = u[c];
                all.v[c][l] = v[c];
                all.w[c][l] = w[c];
            }
        }
        all
    }

    /// Lower bound of the distance of the segments.
    ///
    /// Model: the point of the second segment nearest to the line of the first, projected on the first segment, and back on
    /// the second. The distance of any two points is an upper bound of that of the closest, so that rounding of the points
    /// can only increase it; a bound of the rounding error is subtracted.
    #[inline(always)]
    fn min_distance<S: Simd>(&self, simd: S) -> f32x16<S> {
        let (u, v, w) = (load(simd, &self.u), load(simd, &self.v), load(simd, &self.w));
        let tiny = f32x16::splat(simd, f32::MIN_POSITIVE);
        let (zero, one) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0));
        let unit = |t: f32x16<S>| t.max(zero).min(one);
        let (uu, vv) = (u.dot(u).max(tiny), v.dot(v).max(tiny));
        // Split off the components across the first segment.
        let (wa, va) = (w.dot(u) / uu, v.dot(u) / uu);
        let (wc, vc) = (w - u * wa, v - u * va);
        let t = unit(-wc.dot(vc) / vc.dot(vc).max(tiny));
        let s = unit(wa + va * t);
        let offset = w - u * s;
        let t = unit(-offset.dot(v) / vv);
        let distance = (offset + v * t).length();
        distance - (uu.max(vv)).sqrt() * f32x16::splat(simd, ROUNDING)
    }
}

/// The pairs that may collide on their paths, as bits.
///
/// Model: the volume `u x v . w` as a function of time is a cubic, and lies between the smallest and the largest of its
/// Bernstein coefficients, which are products of the vectors at start and end.
#[inline(always)]
fn may_pass<S: Simd>(simd: S, from: &Edges, to: &Edges) -> u32 {
    let (u0, v0, w0) = (load(simd, &from.u), load(simd, &from.v), load(simd, &from.w));
    let (u1, v1, w1) = (load(simd, &to.u), load(simd, &to.v), load(simd, &to.w));
    let (first, last) = (u0.cross(v0), u1.cross(v1));
    let mixed = u0.cross(v1) + u1.cross(v0);
    let third = f32x16::splat(simd, 1.0 / 3.0);
    let b0 = first.dot(w0);
    let b1 = (mixed.dot(w0) + first.dot(w1)) * third;
    let b2 = (mixed.dot(w1) + last.dot(w0)) * third;
    let b3 = last.dot(w1);
    // Find the largest coefficient in the power basis.
    let three = f32x16::splat(simd, 3.0);
    let k1 = (b1 - b0) * three;
    let k2 = (b0 - b1 - (b1 - b2)) * three;
    let k3 = b3 - b0 + (b1 - b2) * three;
    let largest = b0.abs().max(k1.abs()).max(k2.abs().max(k3.abs()));
    let area = u0.length().max(u1.length()) * v0.length().max(v1.length());
    let size = area * (w0.length() + (w1 - w0).length());
    let min_volume =
        (largest * f32x16::splat(simd, MIN_FRACTION)).max(size * f32x16::splat(simd, MIN_VOLUME));
    let (low, high) = (b0.min(b1).min(b2.min(b3)), b0.max(b1).max(b2.max(b3)));
    // Keep NaN, for the exact test to reject.
    !((low.simd_gt(min_volume) | (-high).simd_gt(min_volume)).to_bitmask() as u32)
}

#[inline(always)]
fn load<S: Simd>(simd: S, v: &Lanes) -> Vec3x<S> {
    let [x, y, z] = v.each_ref().map(|v| f32x16::from_slice(simd, v));
    Vec3x { x, y, z }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::contact::detection::crossing::first_crossing;
    use crate::contact::detection::segments::closest_points_segment_segment;
    use crate::math::Random;

    /// Random pairs of segments, as points of strands of one segment each.
    fn pairs(count: usize) -> (Vec<(u32, u32)>, Vec<Vec3>, Vec<Vec3>) {
        let mut random = Random::new(7, 0);
        let mut vector = |size: f32| random.vector() * size;
        let (mut list, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..count {
            // Displace the points by a hair's width, a millimetre or a centimetre.
            let spread = [1e-4, 1e-3, 1e-2][i % 3];
            let (place, along, displacement) = (vector(0.3), vector(0.01), vector(0.01));
            let first = start.len() as u32;
            list.push((first, first + 2));
            for p in [place, place + along, place, place + along] {
                let p = p + vector(spread);
                start.push(p);
                end.push(p + displacement + vector(spread));
            }
        }
        (list, start, end)
    }

    /// Pairs that collide by the exact test are kept, and more than half of all pairs are left out.
    #[test]
    fn pairs_that_collide_are_kept() {
        let (list, start, end) = pairs(100_000);
        let mut kept = list.clone();
        let count =
            dispatch!(Level::new(), simd => keep_passing(simd, &list, &start, &end, &mut kept));
        kept.truncate(count);
        let of = |x: &[Vec3], s: u32| [x[s as usize], x[s as usize + 1]];
        let collides = |&&(a, b): &&(u32, u32)| {
            first_crossing(of(&start, a), of(&end, a), of(&start, b), of(&end, b)).is_some()
        };
        let collided: Vec<_> = list.iter().filter(collides).collect();
        let still: Vec<_> = kept.iter().filter(collides).collect();
        assert_eq!(collided, still);
        assert!(collided.len() > 5000, "{}", collided.len());
        assert!(kept.len() < list.len() / 2, "{} of {}", kept.len(), list.len());
    }

    /// Distances are lower bounds of the exact ones within the rounding error, and near pairs are kept.
    #[test]
    fn pairs_that_are_near_are_kept() {
        let (mut list, mut position, _) = pairs(50_000);
        // Make some exactly parallel, and some of length zero.
        for i in (0..list.len()).step_by(50) {
            let [a, b] = [list[i].0, list[i].1].map(|s| s as usize);
            position[b + 1] = position[b] + (position[a + 1] - position[a]);
            if i % 3 == 0 {
                position[a + 1] = position[a];
            }
        }
        list.truncate(list.len() - 5);
        let of = |s: u32| [position[s as usize], position[s as usize + 1]];
        let exact = |&(a, b): &(u32, u32)| closest_points_segment_segment(of(a), of(b)).distance();
        let mut found = vec![0.0; list.len()];
        dispatch!(Level::new(), simd => min_distances(simd, &list, &position, &mut found));
        for (pair, found) in list.iter().zip(&found) {
            let truth = exact(pair);
            // No segment is longer than 52 mm.
            assert!((truth - 0.053 * ROUNDING..=truth).contains(found), "{found} {truth}");
        }
        let (reach, mut kept) = (2e-4, list.clone());
        let count =
            dispatch!(Level::new(), simd => keep_near(simd, &list, &position, reach, &mut kept));
        kept.truncate(count);
        let near = |pair: &&(u32, u32)| exact(pair) <= reach;
        let (all, still) = (list.iter().filter(near).count(), kept.iter().filter(near).count());
        assert!(all == still && all > 1000 && kept.len() < all + all / 4, "{all} {still}");
    }

    #[test]
    fn pairs_with_nan_are_kept() {
        let start = [Vec3::NAN, Vec3::X, Vec3::Y, Vec3::Z];
        let (pairs, mut kept) = ([(0, 2)], [(0, 0)]);
        let count =
            dispatch!(Level::new(), simd => keep_passing(simd, &pairs, &start, &start, &mut kept));
        assert_eq!((count, kept), (1, pairs));
        let (pairs, mut kept) = ([(0, 2)], [(0, 0)]);
        let count =
            dispatch!(Level::new(), simd => keep_near(simd, &pairs, &start, 0.1, &mut kept));
        assert_eq!((count, kept), (1, pairs));
    }
}
