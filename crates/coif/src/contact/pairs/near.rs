//! The search of one segment: rows of cells around its line, eight segments at a time.

use std::ops::Range;

use fearless_simd::Simd;
use glam::Vec3;
use rayon::prelude::*;

use super::grid::Grid;
use super::lanes::{Eight, Line, Probe, SLACK, WIDTH};
use super::{APART, CHUNK, Found, MOST_FOUND, Reach};
use crate::contact::segments::Segments;

/// Most segments that one segment looks at. Only hair that is far denser than any head's has more in
/// reach; the rest counts as dropped.
const MOST_SEEN: usize = 1 << 14;

/// Size of one class of segments over that of the class before it.
const GROWTH: f32 = 2.0;

/// Segments in the order of their cells.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// The segments, eight in each.
    lines: Vec<Eight>,
    /// Capsules around each eight, eight in each.
    capsules: Vec<Eight>,
    /// How often the usual size has to grow to hold this segment.
    class: Vec<u8>,
    /// Which segment it is.
    pub(super) segment: Vec<u32>,
    /// Half length and motion of most segments (m).
    pub(super) usual: f32,
}

impl Sorted {
    pub(super) fn bytes(&self) -> usize {
        let eights = self.lines.capacity() + self.capsules.capacity();
        size_of::<Eight>() * eights + 4 * self.segment.capacity() + self.class.capacity()
    }

    /// Takes the segments in the order of `self.segment`; `way` is how far points go.
    pub(super) fn fill(&mut self, reference: &[Vec3], way: &[Vec3], sizes: &[f32]) {
        let count = self.segment.len();
        self.class.resize(count, 0);
        self.lines.resize(count.div_ceil(WIDTH), Eight::default());
        self.capsules.resize(count.div_ceil(WIDTH * WIDTH), Eight::default());
        let usual = self.usual;
        // Each task takes whole eights of eights.
        let lines = self.lines.par_chunks_mut(CHUNK / WIDTH);
        let capsules = self.capsules.par_chunks_mut(CHUNK / WIDTH / WIDTH);
        let rest = (self.class.par_chunks_mut(CHUNK), self.segment.par_chunks(CHUNK));
        (lines, capsules, rest.into_par_iter()).into_par_iter().for_each(
            |(lines, capsules, (class, from))| {
                for (i, &segment) in from.iter().enumerate() {
                    let s = segment as usize;
                    let (a, b) = (reference[s], reference[s + 1]);
                    let line = Line {
                        middle: 0.5 * (a + b),
                        half: 0.5 * (b - a),
                        way: 0.25 * (way[s] + way[s + 1]),
                        pad: 0.25 * way[s].distance(way[s + 1]),
                    };
                    lines[i / WIDTH].set(i % WIDTH, &line);
                    class[i] = class_of(sizes[s], usual);
                }
                for (i, eight) in lines.iter().enumerate() {
                    let count = (from.len() - i * WIDTH).min(WIDTH);
                    capsules[i / WIDTH].set(i % WIDTH, &eight.capsule(count));
                }
            },
        );
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
struct Seeker<S: Simd> {
    index: usize,
    class: u8,
    line: Line,
    probe: Probe<S>,
    /// Within this of its line are the middles of all segments that are near (m).
    radius: f32,
}

/// The nearest that a segment has found.
struct Nearest {
    found: [(f32, u32); MOST_FOUND],
    count: usize,
    dropped: u64,
}

impl Nearest {
    #[inline]
    fn add(&mut self, distance2: f32, sorted: u32) {
        if self.count < MOST_FOUND {
            self.found[self.count] = (distance2, sorted);
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
        if (distance2, sorted) < self.found[farthest] {
            self.found[farthest] = (distance2, sorted);
        }
    }
}

/// Finds the pairs of the segments `range`, in the order of their cells.
#[inline(always)]
pub(super) fn look<S: Simd>(
    simd: S,
    grid: &Grid,
    hair: &Hair<'_>,
    reach: Reach,
    range: Range<usize>,
    to: &mut Found,
) {
    to.counts.clear();
    to.others.clear();
    let sorted = hair.sorted;
    let mut nearest = Nearest { found: [(0.0, 0); MOST_FOUND], count: 0, dropped: 0 };
    for index in range {
        let line = sorted.lines[index / WIDTH].get(index % WIDTH);
        let class = sorted.class[index];
        let pad = hair.sizes[sorted.segment[index] as usize] - line.half.length();
        let largest = largest_of(class, sorted.usual);
        let seeker = Seeker {
            index,
            class,
            line,
            probe: Probe::new(simd, &line, reach.distance + reach.margin),
            radius: (reach.distance + pad + largest) * (1.0 + SLACK),
        };
        nearest.count = 0;
        seeker.look(simd, grid, hair, &mut nearest);
        let found = &nearest.found[..nearest.count];
        to.counts.push(found.len() as u8);
        to.others.extend(found.iter().map(|&(_, other)| sorted.segment[other as usize]));
    }
    to.dropped = nearest.dropped;
}

/// What there is to look at.
pub(super) struct Hair<'a> {
    pub(super) sorted: &'a Sorted,
    pub(super) segments: &'a Segments,
    /// Per point: half length and motion of its segment (m).
    pub(super) sizes: &'a [f32],
}

impl<S: Simd> Seeker<S> {
    /// Goes through the rows of cells in which the middle of a near segment can be.
    ///
    /// Model: the middle of a segment that is no larger than this one's class and near is within a
    /// radius of this segment's line, from end to end.
    #[inline(always)]
    fn look(&self, simd: S, grid: &Grid, hair: &Hair<'_>, nearest: &mut Nearest) {
        let (radius, middle, half) = (self.radius, self.line.middle, self.line.half);
        let (a, b) = (middle - half, middle + half);
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
                    self.look_at(simd, hair, start..end, nearest);
                }
            }
        }
    }

    /// Adds those of the sorted segments `range` that are near, by way of the capsules around them.
    #[inline(always)]
    fn look_at(&self, simd: S, hair: &Hair<'_>, range: Range<usize>, nearest: &mut Nearest) {
        let eights = range.start / WIDTH..(range.end - 1) / WIDTH + 1;
        let mut distance2 = [0.0; WIDTH];
        for group in eights.start / WIDTH..=(eights.end - 1) / WIDTH {
            let mut bits = within(&eights, group);
            // One capsule is not worth a look of its own.
            if bits.count_ones() > 1 {
                bits &= self.probe.test(simd, &hair.sorted.capsules[group], &mut distance2);
            }
            while bits != 0 {
                let eight = group * WIDTH + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let lines = &hair.sorted.lines[eight];
                let mut near = within(&range, eight) & self.probe.test(simd, lines, &mut distance2);
                while near != 0 {
                    let lane = near.trailing_zeros() as usize;
                    near &= near - 1;
                    self.add(hair, eight * WIDTH + lane, distance2[lane], nearest);
                }
            }
        }
    }

    /// Adds a segment if it may touch and does not find this one itself.
    #[inline(always)]
    fn add(&self, hair: &Hair<'_>, other: usize, distance2: f32, nearest: &mut Nearest) {
        let sorted = hair.sorted;
        let class = sorted.class[other];
        let finds = class < self.class || (class == self.class && other < self.index);
        let (a, b) = (sorted.segment[self.index], sorted.segment[other]);
        if finds && hair.segments.may_touch(a, b, APART) {
            nearest.add(distance2, other as u32);
        }
    }
}

/// Which of the eight numbers from `WIDTH * group` are in a range, as bits.
#[inline(always)]
fn within(range: &Range<usize>, group: usize) -> u32 {
    let first = group * WIDTH;
    let from = range.start.saturating_sub(first);
    let to = (range.end - first).min(WIDTH);
    (1 << to) - (1 << from)
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
