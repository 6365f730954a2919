//! Results of the tasks of a broad phase, merged into the order of segments.

use super::broad_phase::PairList;
use crate::math::group::{Keyed, group};

/// Segments whose lists one task sorts.
const CHUNK: usize = 2048;

/// Largest number of pairs per segment; of more, the nearest are kept.
pub(super) const MAX_FOUND: usize = 32;

/// Result of one task.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Number of pairs of each of its segments.
    pub(super) counts: Vec<u8>,
    /// The other segments of these pairs.
    pub(super) others: Vec<u32>,
    pub(super) dropped: u64,
}

impl Found {
    pub(super) fn clear(&mut self) {
        self.counts.clear();
        self.others.clear();
        self.dropped = 0;
    }

    pub(super) fn bytes(&self) -> usize {
        self.others.capacity() * 4 + self.counts.capacity()
    }
}

/// The nearest segments found for a segment.
pub(super) struct Nearest {
    found: [(f32, u32); MAX_FOUND],
    count: usize,
    /// Index of the farthest, once the list is full.
    farthest: usize,
    /// Number left out, over all segments.
    pub(super) dropped: u64,
}

impl Nearest {
    pub(super) fn new() -> Self {
        Self { found: [(0.0, 0); MAX_FOUND], count: 0, farthest: 0, dropped: 0 }
    }

    /// Starts the list of the next segment.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Squared distances and numbers of the segments found.
    #[inline]
    pub(super) fn found(&self) -> &[(f32, u32)] {
        &self.found[..self.count]
    }

    #[inline]
    pub(super) fn add(&mut self, distance2: f32, number: u32) {
        if self.count < MAX_FOUND {
            self.found[self.count] = (distance2, number);
            self.count += 1;
            if self.count == MAX_FOUND {
                self.find_farthest();
            }
            return;
        }
        // Replace the farthest, if this one is nearer.
        self.dropped += 1;
        if (distance2, number) < self.found[self.farthest] {
            self.found[self.farthest] = (distance2, number);
            self.find_farthest();
        }
    }

    fn find_farthest(&mut self) {
        self.farthest = 0;
        for (i, found) in self.found.iter().enumerate() {
            if *found > self.found[self.farthest] {
                self.farthest = i;
            }
        }
    }
}

/// Merges the results of the tasks in the order of the segments. Each task has the next `chunk` segments of `order`.
pub(super) fn collect(
    tasks: &[Found],
    order: &[u32],
    chunk: usize,
    points: usize,
    pairs: &mut PairList,
) {
    let count = tasks.iter().map(|found| found.others.len()).sum();
    let all = AllFound { tasks, order, chunk };
    group(&all, points, count, &mut pairs.first, &mut pairs.other);
    sort_lists(&pairs.first, &mut pairs.other);
    pairs.dropped = tasks.iter().map(|found| found.dropped).sum();
}

/// All pairs in the order in which they were found.
struct AllFound<'a> {
    tasks: &'a [Found],
    order: &'a [u32],
    chunk: usize,
}

impl Keyed for AllFound<'_> {
    /// The lower number is the key.
    fn each(&self, mut take: impl FnMut(u32, u32)) {
        for (found, order) in self.tasks.iter().zip(self.order.chunks(self.chunk)) {
            let mut others = found.others.iter();
            for (&own, &count) in order.iter().zip(&found.counts) {
                for &other in others.by_ref().take(usize::from(count)) {
                    take(own.min(other), own.max(other));
                }
            }
        }
    }
}

/// Sorts each list of `values`; `first` holds the starts of the lists and the end of the last.
fn sort_lists(first: &[u32], values: &mut [u32]) {
    let lists = first.len() - 1;
    if lists <= CHUNK {
        let base = first[0];
        for w in first.windows(2) {
            values[(w[0] - base) as usize..(w[1] - base) as usize].sort_unstable();
        }
        return;
    }
    let middle = lists / 2;
    let (low, high) = values.split_at_mut((first[middle] - first[0]) as usize);
    rayon::join(|| sort_lists(&first[..=middle], low), || sort_lists(&first[middle..], high));
}
