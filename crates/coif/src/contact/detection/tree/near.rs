//! The search for segments that come near each other.
//!
//! Sixty-four neighbouring segments traverse the tree together; the result is
//! narrowed down for each eight of them, then for each segment.

use std::ops::Range;

use fearless_simd::Simd;

use super::nodes::{Nodes, within};
use crate::contact::detection::broad_phase::{APART, Reach};
use crate::contact::detection::found::{Found, Nearest};
use crate::contact::detection::lines::{Eight, Line, Probe, WIDTH};
use crate::contact::detection::segments::Segments;
use crate::math::group::make_room_after;

/// Segments that traverse the tree together.
const GROUP: usize = WIDTH * WIDTH;

/// Largest number of eights of segments that are tested for a group. Only hair far denser than that of any head
/// has more within reach; then the rest is left out, and counts as one dropped pair per group.
const MAX_TESTED: usize = 1 << 12;

/// Eights of segments, with the capsules around them in lanes.
#[derive(Debug)]
struct Shortlist {
    eight: Vec<u32>,
    capsules: Vec<Eight>,
}

impl Shortlist {
    /// Bytes of memory in use.
    fn bytes(&self) -> usize {
        4 * self.eight.capacity() + size_of::<Eight>() * self.capsules.capacity()
    }

    fn clear(&mut self) {
        self.eight.clear();
    }

    #[inline]
    fn push(&mut self, eight: u32, capsule: &Line) {
        let at = self.eight.len();
        if self.capsules.len() * WIDTH == at {
            self.capsules.push(Eight::default());
        }
        self.capsules[at / WIDTH].set(at % WIDTH, capsule);
        self.eight.push(eight);
    }

    /// Calls `found` with the index in the list of every capsule that may come near the probe.
    #[inline(always)]
    fn near<S: Simd>(
        &self,
        simd: S,
        probe: &Probe<S>,
        bits: &mut Vec<u8>,
        mut found: impl FnMut(usize),
    ) {
        let groups = &self.capsules[..self.eight.len().div_ceil(WIDTH)];
        // Make all tests first, so that they overlap; in a plain loop, because a closure would not be compiled for the
        // dispatched instruction set.
        bits.resize(groups.len(), 0);
        for (bits, capsules) in bits.iter_mut().zip(groups) {
            *bits = probe.rough_test(simd, capsules) as u8;
        }
        for (group, &bits) in bits.iter().enumerate() {
            let mut bits = u32::from(bits) & within(&(0..self.eight.len()), group);
            while bits != 0 {
                found(group * WIDTH + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}

/// Scratch memory for the search of one thread.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Eights near a group of segments, and near an eight of it.
    for_group: Shortlist,
    for_eight: Shortlist,
    /// Results of tests.
    bits: Vec<u8>,
    /// Eights near a segment, with the near lanes of each as bits.
    near: Vec<(u32, u32)>,
    distances: Vec<[f32; WIDTH]>,
}

impl Default for Scratch {
    /// Reserves the largest size.
    fn default() -> Self {
        let shortlist = || Shortlist {
            eight: Vec::with_capacity(MAX_TESTED),
            capsules: Vec::with_capacity(MAX_TESTED / WIDTH),
        };
        Self {
            for_group: shortlist(),
            for_eight: shortlist(),
            bits: Vec::with_capacity(MAX_TESTED / WIDTH),
            near: Vec::with_capacity(MAX_TESTED),
            distances: Vec::with_capacity(MAX_TESTED),
        }
    }
}

impl Scratch {
    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.for_group.bytes() + self.for_eight.bytes();
        lists + self.bits.capacity() + 8 * self.near.capacity() + 32 * self.distances.capacity()
    }
}

/// Finds the pairs of each segment of `range`, in the order of the tree, with those before it. The
/// range starts at the border of a group.
#[inline(always)]
pub(super) fn collect_pairs<S: Simd>(
    simd: S,
    tree: &Nodes,
    segments: &Segments,
    reach: Reach,
    range: Range<usize>,
    scratch: &mut Scratch,
    to: &mut Found,
) {
    to.clear();
    let room_for_pairs = to.others.capacity();
    let reach = reach.total();
    let mut nearest = Nearest::new();
    let Found { counts, others, dropped } = to;
    let Scratch { for_group, for_eight, bits, near, distances } = scratch;
    for group in range.start / GROUP..range.end.div_ceil(GROUP) {
        let eights = group * WIDTH..((group + 1) * WIDTH).min(range.end.div_ceil(WIDTH));
        // Find the eights near the group.
        for_group.clear();
        let probe = Probe::new(simd, &tree.large_capsule(group), reach);
        tree.eights_near(simd, &probe, eights.end - 1, |eight| {
            for_group.push(eight as u32, &tree.capsule(eight));
            for_group.eight.len() < MAX_TESTED
        });
        if for_group.eight.len() >= MAX_TESTED {
            nearest.dropped += 1;
        }
        for eight in eights {
            // Keep those near an eight of the group.
            for_eight.clear();
            let probe = Probe::new(simd, &tree.capsule(eight), reach);
            for_group.near(simd, &probe, bits, |at| {
                let other = for_group.eight[at];
                if other as usize <= eight {
                    for_eight.push(other, &for_group.capsules[at / WIDTH].get(at % WIDTH));
                }
            });
            for index in eight * WIDTH..((eight + 1) * WIDTH).min(range.end) {
                // Test the lines of the eights near a segment.
                let line = tree.lines()[eight].get(index % WIDTH);
                let probe = Probe::new(simd, &line, reach);
                near.clear();
                for_eight.near(simd, &probe, bits, |at| near.push((for_eight.eight[at], 0)));
                distances.resize(near.len(), [0.0; WIDTH]);
                for ((other, bits), distance2) in near.iter_mut().zip(distances.iter_mut()) {
                    *bits = probe.test(simd, &tree.lines()[*other as usize], distance2);
                }
                // Keep those that may be in contact.
                nearest.clear();
                let own = tree.segment[index];
                for (&(other, bits), distance2) in near.iter().zip(distances.iter()) {
                    let mut bits = bits & within(&(0..index), other as usize);
                    while bits != 0 {
                        let lane = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        let sorted = other as usize * WIDTH + lane;
                        if segments.may_collide(own, tree.segment[sorted], APART) {
                            nearest.add(distance2[lane], sorted as u32);
                        }
                    }
                }
                let found = nearest.found();
                counts.push(found.len() as u8);
                others.extend(found.iter().map(|&(_, other)| tree.segment[other as usize]));
            }
        }
    }
    *dropped = nearest.dropped;
    make_room_after(others, room_for_pairs);
}
