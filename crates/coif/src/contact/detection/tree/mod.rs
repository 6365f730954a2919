//! A tree of capsules over all segments.
//!
//! ```text
//!  points ─► lines ─► order ─► tree of capsules ─► pairs by segment
//!            middle,   split by   eight to a node,    sorted
//!            motion    medians    eight tests at once
//! ```
//!
//! Segments are sorted so that neighbours in space are neighbours in memory. Eight neighbours have a
//! common capsule, eight capsules a larger one, and so on; most segments are culled with a capsule that
//! is not near. It has no state.

mod near;
mod nodes;
mod order;

use std::sync::{Mutex, PoisonError};

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use self::near::Scratch;
use self::nodes::Nodes;
use self::order::Item;
use super::broad_phase::{BroadPhase, Motion, PairList, Reach};
use super::found::{Found, collect};
use super::segments::Segments;

/// Segments per task.
const CHUNK: usize = 2048;

/// The broad phase `tree`.
#[derive(Default)]
pub(super) struct Tree {
    items: Vec<Item>,
    nodes: Nodes,
    tasks: Vec<Found>,
    /// Per thread.
    scratch: Vec<Mutex<Scratch>>,
}

impl BroadPhase for Tree {
    fn search(
        &mut self,
        segments: &Segments,
        motion: &Motion<'_>,
        reach: Reach,
        pairs: &mut PairList,
    ) {
        self.sort(segments, motion, reach);
        self.collect_pairs(segments, reach);
        collect(&self.tasks, &self.nodes.segment, CHUNK, motion.middle.len(), pairs);
    }

    fn bytes(&self) -> usize {
        let found: usize = self.tasks.iter().map(Found::bytes).sum();
        let own = |r: &Mutex<Scratch>| r.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        let scratch: usize = self.scratch.iter().map(own).sum();
        found + scratch + size_of::<Item>() * self.items.capacity() + self.nodes.bytes()
    }
}

impl Tree {
    /// Sorts the segments, and builds the tree over them.
    fn sort(&mut self, segments: &Segments, motion: &Motion<'_>, reach: Reach) {
        let points = motion.middle.len();
        let there = |p: &usize| motion.has_segment(segments, *p);
        self.items.clear();
        self.items.extend((0..points.saturating_sub(1)).filter(there).map(|p| {
            let (a, b) = (motion.middle[p], motion.middle[p + 1]);
            Item { middle: 0.5 * (a + b), extent: (b - a).abs(), segment: p as u32 }
        }));
        order::sort(&mut self.items, reach.total());
        let order = &mut self.nodes.segment;
        order.resize(self.items.len(), 0);
        order.par_iter_mut().zip(&self.items).with_min_len(CHUNK).for_each(|(segment, item)| {
            *segment = item.segment;
        });
        self.nodes.fill(motion);
    }

    /// Collects the pairs of every segment with those before it, in parallel.
    fn collect_pairs(&mut self, segments: &Segments, reach: Reach) {
        let count = self.nodes.segment.len();
        self.tasks.resize_with(count.div_ceil(CHUNK), Found::default);
        self.scratch.resize_with(rayon::current_num_threads().max(1), Mutex::default);
        let (nodes, scratch, level) = (&self.nodes, &self.scratch, Level::new());
        self.tasks.par_iter_mut().enumerate().for_each(|(task, found)| {
            let range = task * CHUNK..((task + 1) * CHUNK).min(count);
            // Lock the scratch memory of this thread; no other thread uses it.
            let thread = rayon::current_thread_index().unwrap_or(0) % scratch.len();
            let own = &mut *scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
            dispatch!(level, simd => {
                near::collect_pairs(simd, nodes, segments, reach, range, own, found);
            });
        });
    }
}
