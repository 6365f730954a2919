//! The interface of the broad phase: which segments may be near each other. It is independent of the response.
//!
//! A broad phase writes a [`PairList`], which [`Pairs`](super::pairs::Pairs) keeps while hair moves little.
//! All find the same pairs, but for those that rounding decides, so that the choice is one of speed and memory.

use glam::Vec3;

use super::grid::Grid;
use super::segments::{Segments, usable};
use super::tree::Tree;
use crate::params::{choice, parameters};

/// Segments of one strand are in contact if they are at least this far apart along it: nearer ones are kept apart by
/// the stiffness of the strand.
pub const APART: u32 = 4;

/// The distance within which segments are pairs (m).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Segments as near as this are pairs.
    pub distance: f32,
    /// Added to the distance, so that the pairs stay good while hair moves by half of it.
    pub margin: f32,
}

impl Reach {
    /// Distance and margin (m).
    pub(super) fn total(&self) -> f32 {
        self.distance + self.margin
    }
}

/// How points move during the broad phase: straight.
#[derive(Debug, Clone, Copy)]
pub struct Motion<'a> {
    /// Where they are in the middle of it (m).
    pub middle: &'a [Vec3],
    /// Their displacement from start to end (m), less the mean displacement of all hair.
    pub displacement: &'a [Vec3],
}

impl Motion<'_> {
    /// Whether a segment starts at a point, at coordinates for which contact can be computed: NaN, and what is too far away
    /// for single precision, is left out.
    pub(super) fn has_segment(&self, segments: &Segments, point: usize) -> bool {
        let fine = |p: usize| usable(self.middle[p]) && usable(self.displacement[p]);
        segments.starts(point) && fine(point) && fine(point + 1)
    }
}

/// Pairs of segments in the order of their numbers.
#[derive(Debug, Default)]
pub struct PairList {
    /// Per point: where the pairs of its segment start in `other`, and at the end how many pairs there are.
    pub(super) first: Vec<u32>,
    /// The segments with the higher number of all pairs; of each segment in order.
    pub(super) other: Vec<u32>,
    /// Pairs left out where hair was too dense to keep all of them.
    pub(super) dropped: u64,
}

impl PairList {
    /// Takes pairs of segments of hair with so many points, in any order, each once.
    pub fn fill(&mut self, points: usize, pairs: &mut [(u32, u32)]) {
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (*a.min(b), *a.max(b)));
        pairs.sort_unstable();
        self.first.clear();
        self.first.resize(points + 1, 0);
        pairs.iter().for_each(|&(a, _)| self.first[a as usize + 1] += 1);
        for p in 1..self.first.len() {
            self.first[p] += self.first[p - 1];
        }
        self.other.clear();
        self.other.extend(pairs.iter().map(|&(_, b)| b));
        self.dropped = 0;
    }
}

/// A broad phase over the segments of all chains.
///
/// `search` depends on its arguments only, or also on the steps before (tracked pairs): then it
/// has state, which `reset` clears and a checkpoint keeps. For the same bits on any number of threads, results must not
/// depend on how work is distributed, and a step must not allocate once memory has grown.
pub trait BroadPhase: Send + Sync {
    /// Finds the pairs of segments that come as near as `reach` with its margin at any time of the motion, and no segments
    /// nearer along a strand than [`APART`]. More than that may be found, and of very many the nearest.
    fn search(
        &mut self,
        segments: &Segments,
        motion: &Motion<'_>,
        reach: Reach,
        pairs: &mut PairList,
    );

    /// Bytes of memory in use.
    fn bytes(&self) -> usize;

    /// Clears the state, after a jump of the hair.
    fn reset(&mut self) {}

    /// Appends the state, for a checkpoint.
    fn save(&self, _out: &mut Vec<u8>) {}

    /// Restores what [`BroadPhase::save`] wrote; returns the bytes that follow it, or `None`, and nothing has changed,
    /// if these are not its bytes.
    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        Some(bytes)
    }
}

/// The broad phases by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// A tree of capsules, eight to a node.
    #[default]
    Tree,
    /// A uniform grid with mailboxes.
    Grid,
}

impl Method {
    /// All choices by name.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("tree", Self::Tree), ("grid", Self::Grid)];

    /// Makes it.
    pub(super) fn build(self) -> Box<dyn BroadPhase> {
        match self {
            Self::Tree => Box::new(Tree::default()),
            Self::Grid => Box::new(Grid::default()),
        }
    }
}

choice!(Method, "detection");

parameters! {
    /// Parameters of detection.
    pub struct Settings of "contact" {
        /// How segments that are near each other are found: by a tree of capsules around them, or by a uniform grid, for
        /// segments of about the same length. Both find the same.
        method as "detection": Method = Method::Tree;
        /// How far hair may move relative to other hair, both together, until the broad phase runs again; at
        /// most a third of the contact distance is used.
        ///
        /// More means fewer searches and more pairs: memory grows with the square of all distances.
        margin: f32 = 0.2e-3, "m", 0.0..=1.0;
    }
}
