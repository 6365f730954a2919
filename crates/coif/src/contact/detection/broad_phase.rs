//! The interface of the broad phase, which finds segments that may be near each other. It is independent of the response.
//!
//! A broad phase writes a [`PairList`], which [`Pairs`](super::pairs::Pairs) keeps while hair moves little.
//! All find the same pairs, up to rounding, so that the choice affects only speed and memory.

use glam::Vec3;

use super::grid::Grid;
use super::segments::{Segments, usable};
use super::tree::Tree;
use crate::params::{choice, parameters};

/// Smallest difference of the indices of two segments of one strand that can be in contact: nearer ones are kept apart
/// by the stiffness of the strand.
pub const APART: u32 = 4;

/// The distance within which segments are pairs (m).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Contact distance: segments within it are pairs.
    pub distance: f32,
    /// Added to the distance, so that the pairs stay valid while hair moves by half of it.
    pub margin: f32,
}

impl Reach {
    /// Sum of distance and margin (m).
    pub(super) fn total(&self) -> f32 {
        self.distance + self.margin
    }
}

/// Linear motion of the points over the step.
#[derive(Debug, Clone, Copy)]
pub struct Motion<'a> {
    /// Positions in the middle of the motion (m).
    pub middle: &'a [Vec3],
    /// Displacements from start to end (m), less the mean displacement of all hair.
    pub displacement: &'a [Vec3],
}

impl Motion<'_> {
    /// Whether a segment starts at a point, with coordinates for which contact can be computed: not NaN, and not too far
    /// away for single precision.
    pub(super) fn has_segment(&self, segments: &Segments, point: usize) -> bool {
        let fine = |p: usize| usable(self.middle[p]) && usable(self.displacement[p]);
        segments.starts(point) && fine(point) && fine(point + 1)
    }
}

/// Pairs of segments in the order of their numbers.
#[derive(Debug, Default)]
pub struct PairList {
    /// Per point: index of the first pair of its segment in `other`; at the end, the number of pairs.
    pub(super) first: Vec<u32>,
    /// The segment with the higher number of each pair, in ascending order per first segment.
    pub(super) other: Vec<u32>,
    /// Pairs left out where hair is too dense to keep all of them.
    pub(super) dropped: u64,
}

impl PairList {
    /// Sets the list to pairs of segments, in any order, without duplicates. `points` is the number of points of the hair.
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
/// `search` depends either only on its arguments, or also on earlier steps (tracked pairs); then it
/// has state, which `reset` clears and a checkpoint saves. For the same bits on any number of threads, results must not
/// depend on the distribution of work, and a step must not allocate once memory has grown.
pub trait BroadPhase: Send + Sync {
    /// Finds all pairs of segments that come within `reach` with its margin at any time of the motion, except segments
    /// of one strand nearer than [`APART`]. False positives are allowed; of too many pairs, the nearest are kept.
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

    /// Builds the broad phase.
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
        /// Broad phase: a tree of capsules around segments, or a uniform grid, for segments of similar length. Both find
        /// the same pairs.
        method as "detection": Method = Method::Tree;
        /// Relative displacement of hairs after which the broad phase runs again; at most a third of the contact distance
        /// is used.
        ///
        /// More means fewer searches and more pairs: memory grows with the square of the search distance.
        margin: f32 = 0.2e-3, "m", 0.0..=1.0;
    }
}
