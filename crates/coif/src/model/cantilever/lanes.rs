//! Where strips are, as the model holds them: sixteen at a time. What is drawn is made from this
//! (`grow::strips`) without putting the joints in order first.

use fearless_simd::{Level, Simd};
use glam::Vec3;

use super::Cantilever;
use super::block::{Block, Joints};
use crate::groom::strips::Strips;
use crate::math::LANES;
use crate::math::lanes::Vec3x;

/// Strips of a model at one moment.
pub struct StripLanes<'a> {
    model: &'a Cantilever,
}

/// Up to sixteen of them, one in each lane.
pub(crate) struct LaneBlock<'a> {
    block: &'a Block,
    rows: &'a [Joints],
    now: usize,
}

impl Cantilever {
    /// Where the strips are now.
    pub fn lanes(&self) -> StripLanes<'_> {
        StripLanes { model: self }
    }
}

impl<'a> StripLanes<'a> {
    /// The strips in their rest shape.
    pub fn strips(&self) -> &'a Strips {
        &self.model.strips
    }

    /// The instructions that the model uses.
    pub(crate) fn level(&self) -> Level {
        self.model.level
    }

    /// All strips; each is in one block.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = LaneBlock<'a>> {
        let model = self.model;
        let mut rest = &model.joints[..];
        model.blocks.iter().map(move |block| {
            let (rows, others) = rest.split_at(block.joints);
            rest = others;
            LaneBlock { block, rows, now: model.now }
        })
    }
}

impl<'a> LaneBlock<'a> {
    /// The strips in the lanes that are in use.
    pub(crate) fn strips(&self) -> &'a [u32] {
        &self.block.strips[..self.block.lanes]
    }

    /// Joints of the longest one.
    pub(crate) fn joints(&self) -> usize {
        self.rows.len()
    }

    /// Numbers of the last joints.
    pub(crate) fn last(&self) -> &'a [f32; LANES] {
        &self.block.last
    }

    /// Directions of growth at the anchors.
    pub(crate) fn growth(&self) -> [Vec3; LANES] {
        std::array::from_fn(|l| self.block.growth(l))
    }

    /// Where the joints of a number are (m).
    #[inline(always)]
    pub(crate) fn position<S: Simd>(&self, simd: S, joint: usize) -> Vec3x<S> {
        Vec3x::of_row(simd, &self.rows[joint].position[self.now])
    }

    /// Across the strips at the joints of a number.
    #[inline(always)]
    pub(crate) fn binormal<S: Simd>(&self, simd: S, joint: usize) -> Vec3x<S> {
        Vec3x::of_row(simd, &self.rows[joint].binormal)
    }
}
