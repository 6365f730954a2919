//! Positions of strips in the layout of the model, sixteen at a time: `grow::strips` makes meshes from them without
//! reordering the joints first.

use fearless_simd::{Level, Simd};
use glam::Vec3;

use super::Cantilever;
use super::block::{Block, Joints};
use crate::groom::strips::Strips;
use crate::math::LANES;
use crate::math::lanes::Vec3x;

/// Strips of a model at one time: all, or those of some blocks.
#[derive(Clone, Copy)]
pub struct StripLanes<'a> {
    strips: &'a Strips,
    level: Level,
    blocks: &'a [Block],
    rows: &'a [Joints],
    now: usize,
}

/// Up to sixteen of them, one in each lane.
pub(crate) struct LaneBlock<'a> {
    block: &'a Block,
    rows: &'a [Joints],
    now: usize,
}

impl Cantilever {
    /// The current positions of the strips.
    pub fn lanes(&self) -> StripLanes<'_> {
        StripLanes {
            strips: &self.strips,
            level: self.level,
            blocks: &self.blocks,
            rows: &self.joints,
            now: self.now,
        }
    }
}

impl<'a> StripLanes<'a> {
    /// All strips of the model in their rest shape.
    pub fn strips(&self) -> &'a Strips {
        self.strips
    }

    /// The instruction set that the model uses.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Number of blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The blocks; each strip is in one.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = LaneBlock<'a>> {
        let (mut rest, now) = (self.rows, self.now);
        self.blocks.iter().map(move |block| {
            let (rows, others) = rest.split_at(block.joints);
            rest = others;
            LaneBlock { block, rows, now }
        })
    }

    /// Two halves of the blocks.
    pub(crate) fn halves(&self) -> [Self; 2] {
        let (a, b) = self.blocks.split_at(self.blocks.len() / 2);
        let (rows_a, rows_b) = self.rows.split_at(a.iter().map(|block| block.joints).sum());
        [Self { blocks: a, rows: rows_a, ..*self }, Self { blocks: b, rows: rows_b, ..*self }]
    }
}

impl<'a> LaneBlock<'a> {
    /// The strips in the lanes that are in use.
    pub(crate) fn strips(&self) -> &'a [u32] {
        &self.block.strips[..self.block.lanes]
    }

    /// Number of joints of the longest strip.
    pub(crate) fn joints(&self) -> usize {
        self.rows.len()
    }

    /// Indices of the last joints.
    pub(crate) fn last(&self) -> &'a [f32; LANES] {
        &self.block.last
    }

    /// Directions of growth at the anchors.
    pub(crate) fn growth(&self) -> [Vec3; LANES] {
        std::array::from_fn(|l| self.block.growth(l))
    }

    /// Positions of the joints of an index (m).
    #[inline(always)]
    pub(crate) fn position<S: Simd>(&self, simd: S, joint: usize) -> Vec3x<S> {
        Vec3x::of_row(simd, &self.rows[joint].position[self.now])
    }

    /// Binormals of the joints of an index.
    #[inline(always)]
    pub(crate) fn binormal<S: Simd>(&self, simd: S, joint: usize) -> Vec3x<S> {
        Vec3x::of_row(simd, &self.rows[joint].binormal)
    }
}
