//! The pairs of segments that are, or may come, near each other: the input of the responses.
//!
//! A broad phase finds them, with a margin; they are valid until a point has departed from its predicted path by half of
//! it, relative to the mean motion of all hair. The list is in the order of the segments and
//! the same for any number of threads.

use fearless_simd::{Level, dispatch};
use glam::Vec3;
use rayon::prelude::*;

use super::broad_phase::{BroadPhase, Method, Motion, PairList, Reach};
use super::culling::min_distances;
use super::segments::{Segments, usable};
use crate::math::cache::prefetch_item;
use crate::math::group::make_room;

/// Points or segments per task.
const CHUNK: usize = 2048;

/// Number of pairs from which a batch is processed, and the largest size of a batch.
const ASKED: usize = 256;
pub(in crate::contact) const BATCH: usize = 2 * ASKED;

/// Displacement of a segment: that of its middle (m), and the distance of those of its ends from it (m).
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::contact) struct Move {
    mean: Vec3,
    beside: f32,
}

impl Move {
    /// Upper bound of the approach (m) of two segments.
    #[inline]
    pub(in crate::contact) fn approach(&self, other: &Self) -> f32 {
        self.mean.distance(other.mean) + self.beside + other.beside
    }
}

/// The pairs that a broad phase has found, kept as long as they are valid.
pub struct Pairs {
    level: Level,
    broad_phase: Box<dyn BroadPhase>,
    list: PairList,
    /// Per pair: lower bound of the distance of its segments at `start` (m).
    apart: Vec<f32>,
    /// Positions of the points at the last update.
    start: Vec<Vec3>,
    /// Positions of the points in the middle of the motion of the last search.
    reference: Vec<Vec3>,
    /// Displacements in that motion, less the mean of all hair.
    displacement: Vec<Vec3>,
    reach: Reach,
    good: bool,
    searches: u64,
}

impl Pairs {
    /// An empty list, with a built-in broad phase.
    pub fn new(method: Method) -> Self {
        Self::with(method.build())
    }

    /// An empty list, with a custom broad phase.
    pub fn with(broad_phase: Box<dyn BroadPhase>) -> Self {
        Self {
            level: Level::new(),
            broad_phase,
            list: PairList::default(),
            apart: Vec::new(),
            start: Vec::new(),
            reference: Vec::new(),
            displacement: Vec::new(),
            reach: Reach { distance: 0.0, margin: 0.0 },
            good: false,
            searches: 0,
        }
    }

    /// Updates the list to contain all pairs that come within `reach` while the points move linearly
    /// from `start` to `end`. Runs the broad phase only if points have moved by more than the margin allows.
    pub fn find(&mut self, segments: &Segments, start: &[Vec3], end: &[Vec3], reach: Reach) {
        let points = segments.points().min(start.len()).min(end.len());
        let (start, end) = (&start[..points], &end[..points]);
        let same = self.good && self.reach == reach && self.reference.len() == points;
        if !(same && self.covers(start) && self.covers(end)) {
            self.search(segments, start, end, reach);
        }
        self.start.clear();
        self.start.extend_from_slice(start);
        self.measure_gaps();
    }

    /// Marks the pairs as invalid, so that the next update runs the broad phase.
    pub fn clear(&mut self) {
        self.good = false;
    }

    /// Clears all pairs and the state of the broad phase, after a jump of the hair.
    pub fn reset(&mut self) {
        self.clear();
        self.broad_phase.reset();
    }

    /// Appends the state, for a checkpoint.
    pub(in crate::contact) fn save(&self, out: &mut Vec<u8>) {
        self.broad_phase.save(out);
    }

    /// Restores what [`Pairs::save`] wrote; returns the bytes that follow it, or `None` if these are not its bytes.
    pub(in crate::contact) fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = self.broad_phase.restore(bytes)?;
        self.clear();
        Some(rest)
    }

    /// The pairs of a segment with segments of a higher number, in order.
    #[inline]
    pub fn of(&self, segment: usize) -> &[u32] {
        let PairList { first, other, .. } = &self.list;
        &other[first[segment] as usize..first[segment + 1] as usize]
    }

    /// Lower bound of the distance (m) of the segments of these pairs at the last update.
    #[inline]
    pub(in crate::contact) fn apart(&self, segment: usize) -> &[f32] {
        let first = &self.list.first;
        &self.apart[first[segment] as usize..first[segment + 1] as usize]
    }

    /// Calls `work` with the pairs of the segments `range` for which `near` is true, in order; see
    /// [`Pairs::each_batch`]. `near` gets both segments and the lower bound of their distance at the last update.
    #[inline]
    pub(in crate::contact) fn each_near(
        &self,
        range: std::ops::Range<usize>,
        vectors: &[&[Vec3]],
        near: impl Fn(usize, usize, f32) -> bool,
        mut work: impl FnMut(usize, usize),
    ) {
        self.each_batch(range, vectors, near, |kept| {
            kept.iter().for_each(|&(a, b)| work(a as usize, b as usize));
        });
    }

    /// Calls `work` with batches of a few hundred of the pairs for which `near` is true, in order. The ends of the second
    /// segments of a batch in `vectors` are prefetched before it is processed, so that cache misses overlap.
    #[inline]
    pub(in crate::contact) fn each_batch(
        &self,
        range: std::ops::Range<usize>,
        vectors: &[&[Vec3]],
        near: impl Fn(usize, usize, f32) -> bool,
        mut work: impl FnMut(&[(u32, u32)]),
    ) {
        let level = self.level;
        let mut work_on = |kept: &[(u32, u32)]| {
            for x in vectors {
                for &(_, b) in kept {
                    prefetch_item(level, x, b as usize);
                    prefetch_item(level, x, b as usize + 1);
                }
            }
            work(kept);
        };
        let mut kept = [(0u32, 0u32); BATCH];
        let mut count = 0;
        for a in range {
            let lists = self.of(a).chunks(ASKED).zip(self.apart(a).chunks(ASKED));
            for (others, apart) in lists {
                for (&b, &apart) in others.iter().zip(apart) {
                    kept[count] = (a as u32, b);
                    count += usize::from(near(a, b as usize, apart));
                }
                if count >= ASKED {
                    work_on(&kept[..count]);
                    count = 0;
                }
            }
        }
        work_on(&kept[..count]);
    }

    /// Whether these are the positions of the last update.
    pub(in crate::contact) fn are_for(&self, position: &[Vec3]) -> bool {
        self.start == position
    }

    /// Writes the displacements of the segments since the last update, for points that are at `now`.
    pub(in crate::contact) fn moves(&self, now: &[Vec3], moves: &mut Vec<Move>) {
        let segments = self.start.len().min(now.len()).saturating_sub(1);
        moves.resize(segments, Move::default());
        let start = &self.start;
        moves.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, moves)| {
            let first = chunk * CHUNK;
            let mut before = now[first] - start[first];
            for (i, to) in moves.iter_mut().enumerate() {
                let after = now[first + i + 1] - start[first + i + 1];
                *to = Move { mean: before.midpoint(after), beside: 0.5 * before.distance(after) };
                before = after;
            }
        });
    }

    /// The instruction set.
    pub(in crate::contact) fn level(&self) -> Level {
        self.level
    }

    /// Number of points of the hair.
    pub fn points(&self) -> usize {
        self.list.first.len().saturating_sub(1)
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.list.other.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.list.other.is_empty()
    }

    /// Pairs that the last search left out where hair was too dense to keep all of them.
    pub fn dropped(&self) -> u64 {
        self.list.dropped
    }

    /// Number of runs of the broad phase.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        let PairList { first, other, .. } = &self.list;
        let words = first.capacity() + other.capacity() + self.apart.capacity();
        4 * words + 36 * self.reference.capacity() + self.broad_phase.bytes()
    }

    /// Whether the pairs are valid for these positions: the hair may be translated as a whole, and its points may move
    /// along the predicted path.
    fn covers(&self, position: &[Vec3]) -> bool {
        let (reference, displacement) = (&self.reference, &self.displacement);
        let mean = mean_shift(reference, position);
        // Fit the time on the predicted path.
        let (mut along, mut all) = (0.0, 0.0);
        for p in (0..position.len()).step_by(16) {
            let moved = position[p] - reference[p] - mean;
            if moved.is_finite() && displacement[p].is_finite() {
                along += f64::from(moved.dot(displacement[p]));
                all += f64::from(displacement[p].length_squared());
            }
        }
        let time = if all > 0.0 { (along / all).clamp(-0.5, 0.5) as f32 } else { 0.0 };
        let max_drift = 0.5 * self.reach.margin;
        mean.is_finite()
            && position.par_chunks(CHUNK).enumerate().all(|(chunk, position)| {
                let first = chunk * CHUNK;
                position.iter().enumerate().all(|(i, now)| {
                    let expected = reference[first + i] + time * displacement[first + i] + mean;
                    now.distance_squared(expected) <= max_drift * max_drift || !usable(*now)
                })
            })
    }

    /// Computes lower bounds of the distances of all pairs.
    fn measure_gaps(&mut self) {
        self.apart.clear();
        make_room(&mut self.apart, self.list.other.len());
        self.apart.resize(self.list.other.len(), 0.0);
        let PairList { first, other, .. } = &self.list;
        fill_gaps(self.level, &self.start, first, other, 0, &mut self.apart);
    }

    fn search(&mut self, segments: &Segments, start: &[Vec3], end: &[Vec3], reach: Reach) {
        self.searches += 1;
        self.reach = reach;
        self.measure(start, end);
        let motion = Motion { middle: &self.reference, displacement: &self.displacement };
        self.broad_phase.search(segments, &motion, reach, &mut self.list);
        self.good = true;
    }

    /// Stores the middle of the motion, and the displacements relative to the mean.
    fn measure(&mut self, start: &[Vec3], end: &[Vec3]) {
        let points = start.len();
        self.reference.resize(points, Vec3::ZERO);
        self.displacement.resize(points, Vec3::ZERO);
        let shift = mean_shift(start, end);
        let shift = if shift.is_finite() { shift } else { Vec3::ZERO };
        self.reference
            .par_chunks_mut(CHUNK)
            .zip(self.displacement.par_chunks_mut(CHUNK))
            .zip(start.par_chunks(CHUNK).zip(end.par_chunks(CHUNK)))
            .for_each(|((reference, displacement), (start, end))| {
                for (i, (start, end)) in start.iter().zip(end).enumerate() {
                    reference[i] = 0.5 * (*start + *end);
                    displacement[i] = *end - *start - shift;
                }
            });
    }
}

/// Writes lower bounds of the distances of pairs; `first` holds the starts of the pairs of the segments from
/// number `segment` on, and the end of the last.
fn fill_gaps(
    level: Level,
    x: &[Vec3],
    first: &[u32],
    other: &[u32],
    segment: usize,
    apart: &mut [f32],
) {
    let lists = first.len() - 1;
    if lists <= CHUNK {
        let numbers = first.windows(2).zip(segment as u32..);
        let mut owners = numbers.flat_map(|(w, own)| (w[0]..w[1]).map(move |_| own));
        let mut pairs = [(0, 0); BATCH];
        for (others, apart) in other.chunks(BATCH).zip(apart.chunks_mut(BATCH)) {
            for ((pair, &b), a) in pairs.iter_mut().zip(others).zip(&mut owners) {
                *pair = (a, b);
                prefetch_item(level, x, b as usize);
            }
            let pairs = &pairs[..others.len()];
            dispatch!(level, simd => min_distances(simd, pairs, x, apart));
        }
        return;
    }
    let middle = lists / 2;
    let cut = (first[middle] - first[0]) as usize;
    let (low, high) = apart.split_at_mut(cut);
    rayon::join(
        || fill_gaps(level, x, &first[..=middle], &other[..cut], segment, low),
        || fill_gaps(level, x, &first[middle..], &other[cut..], segment + middle, high),
    );
}

/// Mean displacement of all points (m), summed in a fixed order.
fn mean_shift(from: &[Vec3], to: &[Vec3]) -> Vec3 {
    // Sample one point in sixteen.
    let displacements = from.iter().zip(to).step_by(16).map(|(from, to)| *to - *from);
    let (sum, count) = displacements
        .filter(|displacement| displacement.is_finite())
        .fold((Vec3::ZERO, 0u32), |(sum, count), displacement| (sum + displacement, count + 1));
    sum / count.max(1) as f32
}

#[cfg(test)]
mod tests;
