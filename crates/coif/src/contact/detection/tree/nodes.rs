//! A tree of capsules: sorted segments, capsules around each eight of them, around each eight of those, and so on.

use fearless_simd::Simd;
use rayon::prelude::*;

use super::CHUNK;
use crate::contact::detection::broad_phase::Motion;
use crate::contact::detection::lines::{Eight, Line, Probe, WIDTH};

/// A tree of capsules over segments, eight to a node.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// The segments in the order of the tree.
    pub(super) segment: Vec<u32>,
    /// The lines of the segments, then the capsules around eights, level by level; eight lines per
    /// entry. The last level has one entry.
    levels: Vec<Vec<Eight>>,
}

impl Nodes {
    pub(super) fn bytes(&self) -> usize {
        let eights = self.levels.iter().map(Vec::capacity).sum::<usize>();
        size_of::<Eight>() * eights + 4 * self.segment.capacity()
    }

    /// The lines of the segments.
    pub(super) fn lines(&self) -> &[Eight] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    /// The capsule around an eight of segments.
    pub(super) fn capsule(&self, eight: usize) -> Line {
        self.levels[1][eight / WIDTH].get(eight % WIDTH)
    }

    /// The capsule around eight eights of segments.
    pub(super) fn large_capsule(&self, group: usize) -> Line {
        match self.levels.get(2) {
            Some(level) => level[group / WIDTH].get(group % WIDTH),
            // Build the capsule of a single group: there is no level above it.
            None => self.levels[1][0].capsule(self.lines().len()),
        }
    }

    /// Builds the tree over the segments in the order of `self.segment`.
    pub(super) fn fill(&mut self, motion: &Motion<'_>) {
        let count = self.segment.len();
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        self.levels[0].resize(count.div_ceil(WIDTH), Eight::default());
        let lines = self.levels[0].par_chunks_mut(CHUNK / WIDTH);
        lines.zip(self.segment.par_chunks(CHUNK)).for_each(|(lines, segments)| {
            for (i, &segment) in segments.iter().enumerate() {
                let line = Line::of_segment(motion, segment as usize);
                lines[i / WIDTH].set(i % WIDTH, &line);
            }
        });
        // Build levels of capsules until one eight is left.
        let (mut below, mut level) = (count, 1);
        while below > WIDTH || level == 1 {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let nodes = below.div_ceil(WIDTH);
            let (done, rest) = self.levels.split_at_mut(level);
            let (from, to) = (&done[level - 1], &mut rest[0]);
            to.resize(nodes.div_ceil(WIDTH), Eight::default());
            to.par_iter_mut().with_min_len(CHUNK / WIDTH).enumerate().for_each(|(i, to)| {
                for lane in 0..WIDTH.min(nodes - i * WIDTH) {
                    let node = i * WIDTH + lane;
                    let inside = (below - node * WIDTH).min(WIDTH);
                    to.set(lane, &from[node].capsule(inside));
                }
            });
            (below, level) = (nodes, level + 1);
        }
        self.levels.truncate(level);
    }

    /// Calls `found` with all eights of segments up to number `last` whose capsules come near the probe,
    /// in order, until it returns false.
    #[inline(always)]
    pub(super) fn eights_near<S: Simd>(
        &self,
        simd: S,
        probe: &Probe<S>,
        last: usize,
        mut found: impl FnMut(usize) -> bool,
    ) {
        // Keep a stack of nodes to visit: at most seven per level.
        let mut open = [(0u8, 0u32); 8 * WIDTH];
        let mut count = 1;
        open[0] = (self.levels.len() as u8 - 1, 0);
        while count > 0 {
            count -= 1;
            let (level, node) = (usize::from(open[count].0), open[count].1 as usize);
            let range = 0..(last >> (3 * (level - 1))) + 1;
            let lines = &self.levels[level][node];
            let bits = within(&range, node) & probe.rough_test(simd, lines);
            if level == 1 {
                let mut bits = bits;
                while bits != 0 {
                    if !found(node * WIDTH + bits.trailing_zeros() as usize) {
                        return;
                    }
                    bits &= bits - 1;
                }
                continue;
            }
            // Push in reverse, so that the first one is popped next.
            for lane in (0..WIDTH).rev().filter(|lane| bits >> lane & 1 == 1) {
                open[count] = (level as u8 - 1, (node * WIDTH + lane) as u32);
                count += 1;
            }
        }
    }
}

/// Which of the eight numbers from `WIDTH * group` are in a range, as bits.
#[inline(always)]
pub(super) fn within(range: &std::ops::Range<usize>, group: usize) -> u32 {
    let first = group * WIDTH;
    let from = range.start.saturating_sub(first).min(WIDTH);
    let to = range.end.saturating_sub(first).min(WIDTH);
    (1u32 << to).wrapping_sub(1 << from) & if to > from { u32::MAX } else { 0 }
}
