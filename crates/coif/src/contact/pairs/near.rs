//! The search of one segment: rows of cells around its line, eight segments at a time.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase, SimdMask, f32x8};
use glam::Vec3;
use rayon::prelude::*;

use super::grid::Grid;
use super::{APART, CHUNK, Found, MOST_FOUND};
use crate::contact::segments::{Segments, closest_points};

/// Segments looked at together.
const WIDTH: usize = 8;

/// Most segments that one segment looks at. Only hair that is far denser than any head's has more in
/// reach; the rest counts as dropped.
const MOST_SEEN: usize = 1 << 14;

/// Size of one class of segments over that of the class before it.
const GROWTH: f32 = 2.0;

/// Added to the distance for the rounding of single precision, as a share.
const SLACK: f32 = 1e-3;

/// Segments in the order of their cells, one array for each number.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Middle (m).
    middle: [Vec<f32>; 3],
    /// Half of the way from end to end (m).
    half: [Vec<f32>; 3],
    /// How far it may move (m).
    pad: Vec<f32>,
    /// How often the usual size has to grow to hold this segment.
    class: Vec<u8>,
    /// Which segment it is.
    pub(super) segment: Vec<u32>,
    /// Per point: how far its segment may move (m).
    pub(super) pad_of: Vec<f32>,
    /// Half length and motion of most segments (m).
    pub(super) usual: f32,
}

impl Sorted {
    pub(super) fn start(&mut self, points: usize) {
        self.pad_of.resize(points, 0.0);
    }

    pub(super) fn bytes(&self) -> usize {
        32 * self.segment.capacity() + self.class.capacity() + 4 * self.pad_of.capacity()
    }

    /// Takes the segments in the order of `self.segment`.
    pub(super) fn fill(&mut self, reference: &[Vec3], sizes: &[f32]) {
        let count = self.segment.len();
        // Room behind the last one, so that eight can always be read.
        let room = count + WIDTH;
        self.middle.iter_mut().chain(&mut self.half).for_each(|v| v.resize(room, 0.0));
        self.pad.resize(room, 0.0);
        self.class.resize(count, 0);
        let usual = self.usual;
        let [mx, my, mz] = &mut self.middle;
        let [hx, hy, hz] = &mut self.half;
        let middle = (mx.par_chunks_mut(CHUNK), my.par_chunks_mut(CHUNK), mz.par_chunks_mut(CHUNK));
        let half = (hx.par_chunks_mut(CHUNK), hy.par_chunks_mut(CHUNK), hz.par_chunks_mut(CHUNK));
        let rest = (self.pad.par_chunks_mut(CHUNK), self.class.par_chunks_mut(CHUNK));
        let from = self.segment.par_chunks(CHUNK);
        let pad_of = &self.pad_of;
        (middle.into_par_iter(), half.into_par_iter(), rest.into_par_iter(), from)
            .into_par_iter()
            .for_each(|((mx, my, mz), (hx, hy, hz), (pad, class), from)| {
                for (i, &segment) in from.iter().enumerate() {
                    let s = segment as usize;
                    let (a, b) = (reference[s], reference[s + 1]);
                    [mx[i], my[i], mz[i]] = (0.5 * (a + b)).to_array();
                    [hx[i], hy[i], hz[i]] = (0.5 * (b - a)).to_array();
                    pad[i] = pad_of[s];
                    class[i] = class_of(sizes[s], usual);
                }
            });
    }

    #[inline]
    fn middle(&self, i: usize) -> Vec3 {
        Vec3::new(self.middle[0][i], self.middle[1][i], self.middle[2][i])
    }

    #[inline]
    fn half(&self, i: usize) -> Vec3 {
        Vec3::new(self.half[0][i], self.half[1][i], self.half[2][i])
    }
}

/// How often `usual` has to grow to reach `size`.
fn class_of(size: f32, usual: f32) -> u8 {
    (0..u8::MAX).find(|&class| size <= largest_of(class, usual)).unwrap_or(u8::MAX)
}

/// Largest size in a class (m).
#[inline]
fn largest_of(class: u8, usual: f32) -> f32 {
    usual * GROWTH.powi(i32::from(class))
}

/// A segment that looks around.
struct Seeker {
    index: usize,
    class: u8,
    middle: Vec3,
    half: Vec3,
    /// Unit direction; zero if the segment has no length.
    along: Vec3,
    length: f32,
    pad: f32,
}

/// The nearest that a segment has found.
struct Nearest {
    found: [(f32, u32); MOST_FOUND],
    count: usize,
    dropped: u64,
}

impl Nearest {
    #[inline]
    fn add(&mut self, distance: f32, sorted: u32) {
        if self.count < MOST_FOUND {
            self.found[self.count] = (distance, sorted);
            self.count += 1;
            return;
        }
        // Put it in the place of the farthest.
        self.dropped += 1;
        let mut farthest = 0;
        for (i, found) in self.found.iter().enumerate() {
            if *found > self.found[farthest] {
                farthest = i;
            }
        }
        if (distance, sorted) < self.found[farthest] {
            self.found[farthest] = (distance, sorted);
        }
    }
}

/// Finds the pairs of the segments `range`, in the order of their cells.
#[inline(always)]
pub(super) fn look<S: Simd>(
    simd: S,
    grid: &Grid,
    sorted: &Sorted,
    segments: &Segments,
    reach: f32,
    range: Range<usize>,
    to: &mut Found,
) {
    to.counts.clear();
    to.others.clear();
    let mut nearest = Nearest { found: [(0.0, 0); MOST_FOUND], count: 0, dropped: 0 };
    for index in range {
        let half = sorted.half(index);
        let length = half.length();
        let seeker = Seeker {
            index,
            class: sorted.class[index],
            middle: sorted.middle(index),
            half,
            along: if length > 0.0 { half / length } else { Vec3::ZERO },
            length,
            pad: sorted.pad[index],
        };
        nearest.count = 0;
        seeker.look(simd, grid, sorted, segments, reach, &mut nearest);
        let found = &nearest.found[..nearest.count];
        to.counts.push(found.len() as u8);
        to.others.extend(found.iter().map(|&(_, other)| sorted.segment[other as usize]));
    }
    to.dropped = nearest.dropped;
}

impl Seeker {
    /// Goes through the rows of cells in which the middle of a near segment can be.
    ///
    /// Model: the middle of a segment that is no larger than this one's class and as near as `reach`
    /// is within a radius of this segment's line, from end to end.
    #[inline(always)]
    fn look<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        sorted: &Sorted,
        segments: &Segments,
        reach: f32,
        nearest: &mut Nearest,
    ) {
        let largest = largest_of(self.class, sorted.usual);
        let radius = (reach + self.pad + largest) * (1.0 + SLACK);
        let (a, b) = (self.middle - self.half, self.middle + self.half);
        let (lo, hi) = (a.min(b) - radius, a.max(b) + radius);
        let way = b - a;
        let inverse = way.recip();
        // Segments of the same class are looked for only before this one: they look for the rest.
        let limit = if self.class == 0 { self.index } else { usize::MAX };
        let mut seen = 0;
        for z in grid.index(lo.z, 2)..=grid.index(hi.z, 2) {
            // Cut off what of this segment is too far from the layer.
            let in_z = shares(grid.span(z, 2), radius, a.z, inverse.z);
            if in_z.0 > in_z.1 {
                continue;
            }
            let (y0, y1) = extent(a.y, way.y, in_z, radius);
            let (x0, x1) = extent(a.x, way.x, in_z, radius);
            let (x0, x1) = (grid.index(x0, 0), grid.index(x1, 0));
            for y in grid.index(y0, 1)..=grid.index(y1, 1) {
                let (start, end) = grid.row(x0, x1, y, z);
                if start >= limit {
                    return;
                }
                let end = end.min(limit);
                if start < end {
                    seen += end - start;
                    if seen > MOST_SEEN {
                        nearest.dropped += 1;
                        return;
                    }
                    self.test(simd, sorted, segments, reach, start..end, nearest);
                }
            }
        }
    }

    /// Adds those of the sorted segments `range` that are near.
    #[inline(always)]
    fn test<S: Simd>(
        &self,
        simd: S,
        sorted: &Sorted,
        segments: &Segments,
        reach: f32,
        range: Range<usize>,
        nearest: &mut Nearest,
    ) {
        let load = |from: &[Vec<f32>; 3], i: usize| -> [f32x8<S>; 3] {
            [0, 1, 2].map(|axis| f32x8::from_slice(simd, &from[axis][i..i + WIDTH]))
        };
        let splat = |v: Vec3| v.to_array().map(|x| f32x8::splat(simd, x));
        let (middle, along) = (splat(self.middle), splat(self.along));
        let (least, one) = (f32x8::splat(simd, 1e-30), f32x8::splat(simd, 1.0));
        let margin = f32x8::splat(simd, (reach + self.pad) * (1.0 + SLACK));
        let length = f32x8::splat(simd, self.length);
        let mut at = range.start;
        while at < range.end {
            // Split the way between the middles, and the half segment, into along and across.
            let [mx, my, mz] = load(&sorted.middle, at);
            let w = [mx - middle[0], my - middle[1], mz - middle[2]];
            let e = load(&sorted.half, at);
            let near = margin + f32x8::from_slice(simd, &sorted.pad[at..at + WIDTH]);
            let (wa, ea) = (dot(w, along), dot(e, along));
            let across = |v: [f32x8<S>; 3], a: f32x8<S>| {
                [v[0] - along[0] * a, v[1] - along[1] * a, v[2] - along[2] * a]
            };
            let (w, e) = (across(w, wa), across(e, ea));
            // Find where the other comes nearest to this segment's line.
            let t = dot(w, e) / dot(e, e).max(least);
            let t = t.max(-one).min(one);
            let q = [w[0] - e[0] * t, w[1] - e[1] * t, w[2] - e[2] * t];
            let close = dot(q, q).simd_le(near * near);
            let beside = wa.abs().simd_le(length + ea.abs() + near);
            let mut bits = (close & beside).to_bitmask() as u32;
            let left = range.end - at;
            if left < WIDTH {
                bits &= (1 << left) - 1;
            }
            while bits != 0 {
                self.add(sorted, segments, reach, at + bits.trailing_zeros() as usize, nearest);
                bits &= bits - 1;
            }
            at += WIDTH;
        }
    }

    /// Adds a segment if it really is near, may touch, and does not find this one itself.
    #[inline]
    fn add(
        &self,
        sorted: &Sorted,
        segments: &Segments,
        reach: f32,
        other: usize,
        nearest: &mut Nearest,
    ) {
        let class = sorted.class[other];
        let finds = class < self.class || (class == self.class && other < self.index);
        let (a, b) = (sorted.segment[self.index], sorted.segment[other]);
        if !finds || !segments.may_touch(a, b, APART) {
            return;
        }
        let (p, u) = ((self.middle - self.half).as_dvec3(), 2.0 * self.half.as_dvec3());
        let half = sorted.half(other);
        let (q, v) = ((sorted.middle(other) - half).as_dvec3(), 2.0 * half.as_dvec3());
        let distance = closest_points(p, u, q, v).distance();
        if distance <= (reach + self.pad + sorted.pad[other]) * (1.0 + SLACK) {
            nearest.add(distance, other as u32);
        }
    }
}

/// The shares of a segment along an axis that are within `radius` of a cell's span.
#[inline(always)]
fn shares((lo, hi): (f32, f32), radius: f32, start: f32, inverse: f32) -> (f32, f32) {
    let (a, b) = ((lo - radius - start) * inverse, (hi + radius - start) * inverse);
    // A segment across the axis has an inverse that is infinite: it is near all of the time.
    if !inverse.is_finite() || a.is_nan() || b.is_nan() {
        return (0.0, 1.0);
    }
    (a.min(b).max(0.0), a.max(b).min(1.0))
}

/// Least and largest coordinate near a part of a segment.
#[inline(always)]
fn extent(start: f32, way: f32, (from, to): (f32, f32), radius: f32) -> (f32, f32) {
    let (a, b) = (start + way * from, start + way * to);
    (a.min(b) - radius, a.max(b) + radius)
}

#[inline(always)]
fn dot<S: Simd>(a: [f32x8<S>; 3], b: [f32x8<S>; 3]) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
