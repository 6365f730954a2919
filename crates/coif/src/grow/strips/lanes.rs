//! The quads of sixteen strips at a time, from the lanes of the model to the order of the mesh.
//!
//! The same as [`StripMesh::follow`], to the bit: that goes joint by joint, this is what an engine calls
//! every frame. Two joints of sixteen strips are computed at once, then each strip gets its own piece.

use fearless_simd::{Simd, SimdBase, dispatch, f32x16};
use glam::Vec3;

use super::StripMesh;
use crate::math::LANES;
use crate::math::lanes::Vec3x;
use crate::math::lines::{Four, Line, Lines, four, lay_out};
use crate::model::cantilever::{LaneBlock, StripLanes};

/// What one strip has of a mesh: positions, normals, tangents and binormals of its vertices.
type Quads<'a> = Line<'a, 4>;

/// Blocks that one task treats: some thousand joints.
const BLOCKS: usize = 16;

/// Memory for following lanes. It is not part of the mesh's value.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// Which lane, counted through all blocks, each strip is in.
    lane_of: Vec<u32>,
    lines: Lines<4>,
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl StripMesh {
    /// Moves the mesh to the current strips of a model. Allocates only the first time.
    ///
    /// Source, deviations: see [`follow`](Self::follow).
    pub fn follow_lanes(&mut self, lanes: &StripLanes<'_>) {
        let strips = lanes.strips();
        let Scratch { lane_of, lines } = &mut self.scratch;
        lane_of.resize(strips.count(), 0);
        let in_lanes = lanes.blocks().flat_map(|block| block.strips());
        in_lanes.zip(0..).for_each(|(&strip, lane)| lane_of[strip as usize] = lane);
        let vertices = (0..strips.count()).map(|s| 2 * strips.edges.points_of(s).len());
        let lists = [
            &mut self.positions[..],
            &mut self.normals[..],
            &mut self.tangents[..],
            &mut self.binormals[..],
        ];
        lines.with(vertices, lane_of, lists, |quads| follow_blocks(lanes, quads));
    }
}

/// Halves the blocks until a task has few enough of them.
fn follow_blocks(lanes: &StripLanes<'_>, mut quads: &mut [Quads<'_>]) {
    if lanes.block_count() > BLOCKS {
        let [a, b] = lanes.halves();
        let (quads_a, quads_b) = quads.split_at_mut(a.blocks().map(|k| k.strips().len()).sum());
        rayon::join(|| follow_blocks(&a, quads_a), || follow_blocks(&b, quads_b));
        return;
    }
    let widths = &lanes.strips().width;
    for block in lanes.blocks() {
        let (mine, others) = std::mem::take(&mut quads).split_at_mut(block.strips().len());
        quads = others;
        dispatch!(lanes.level(), simd => follow_block(simd, &block, widths, mine));
    }
}

/// The frames at the joints of a number: along, out and across.
#[derive(Clone, Copy)]
struct Frames<S: Simd> {
    tangent: Vec3x<S>,
    normal: Vec3x<S>,
    binormal: Vec3x<S>,
}

/// What is drawn of the joints of a number: both edges (m), and the frames there.
#[derive(Clone, Copy)]
struct Vertices<S: Simd> {
    edges: [Vec3x<S>; 2],
    frames: Frames<S>,
}

/// Pairs of joints that are computed before they are written: those of a strip are some whole lines of
/// memory.
const PAIRS: usize = 4;

#[inline(always)]
fn follow_block<S: Simd>(
    simd: S,
    block: &LaneBlock<'_>,
    all_widths: &[f32],
    quads: &mut [Quads<'_>],
) {
    let mut widths = [0.0; LANES];
    for (to, &strip) in widths.iter_mut().zip(block.strips()) {
        *to = all_widths[strip as usize];
    }
    let mut growth = Vec3x::splat(simd, Vec3::ZERO);
    for (l, v) in block.growth().into_iter().enumerate() {
        growth.set_lane(l, v);
    }
    let mut walk = Walk {
        width: f32x16::from_slice(simd, &widths),
        last: f32x16::from_slice(simd, block.last()),
        position: block.position(simd, 0),
        here: Frames::new(growth, block.binormal(simd, 0)),
    };
    let joints = block.joints();
    let mut pieces = [[[[[0.0; 4]; LANES]; 3]; PAIRS]; 4];
    for first in (0..joints).step_by(2 * PAIRS) {
        let pairs = (joints - first).div_ceil(2).min(PAIRS);
        for k in 0..pairs {
            let i = first + 2 * k;
            let here = walk.joint(simd, block, i);
            // Repeat the last joint as padding, which is not written.
            let next = if i + 1 < joints { walk.joint(simd, block, i + 1) } else { here };
            let (a, b) = (&here.frames, &next.frames);
            let [p, q] = [here.edges, next.edges];
            lay_out(simd, [p[0], p[1], q[0], q[1]], &mut pieces[0][k]);
            lay_out(simd, [a.normal, a.normal, b.normal, b.normal], &mut pieces[1][k]);
            lay_out(simd, [a.tangent, a.tangent, b.tangent, b.tangent], &mut pieces[2][k]);
            lay_out(simd, [a.binormal, a.binormal, b.binormal, b.binormal], &mut pieces[3][k]);
        }
        for (l, quad) in quads.iter_mut().enumerate() {
            for (to, pieces) in quad.iter_mut().zip(&pieces) {
                write(to, 2 * first, &pieces[..pairs], l);
            }
        }
    }
}

/// Goes along the strips of a block.
struct Walk<S: Simd> {
    width: f32x16<S>,
    last: f32x16<S>,
    /// The joint at hand (m), and the frame of the segment that ends there.
    position: Vec3x<S>,
    here: Frames<S>,
}

impl<S: Simd> Walk<S> {
    /// The vertices of joint `i`; goes on to the next one.
    #[inline(always)]
    fn joint(&mut self, simd: S, block: &LaneBlock<'_>, i: usize) -> Vertices<S> {
        let (position, here) = (self.position, self.here);
        let ends = self.last.simd_le(i as f32);
        let mut next = here;
        if i + 1 < block.joints() {
            self.position = block.position(simd, i + 1);
            let along = normalized(simd, self.position - position, here.tangent);
            self.here = Frames::new(along, block.binormal(simd, i + 1));
            next = Frames {
                tangent: here.tangent.or(ends, self.here.tangent),
                normal: here.normal.or(ends, self.here.normal),
                binormal: here.binormal,
            };
        }
        // The anchor's own frame is the direction of growth: use that of its first segment.
        let before = if i == 0 { next } else { here };
        Vertices {
            edges: [position, position + here.binormal * self.width],
            frames: Frames {
                tangent: normalized(simd, before.tangent + next.tangent, here.tangent),
                normal: normalized(simd, before.normal + next.normal, here.normal),
                binormal: here.binormal,
            },
        }
    }
}

impl<S: Simd> Frames<S> {
    #[inline(always)]
    fn new(tangent: Vec3x<S>, binormal: Vec3x<S>) -> Self {
        Self { tangent, normal: tangent.cross(binormal), binormal }
    }
}

/// Unit vectors, or others where there is no direction.
#[inline(always)]
fn normalized<S: Simd>(simd: S, v: Vec3x<S>, other: Vec3x<S>) -> Vec3x<S> {
    let inverse = f32x16::splat(simd, 1.0) / v.length();
    let fine = inverse.simd_gt(0.0) & inverse.simd_lt(f32::INFINITY);
    (v * inverse).or(fine, other)
}

/// Writes what one lane has of pairs of joints, as far as its strip goes.
#[inline(always)]
fn write(to: &mut [Vec3], first: usize, pieces: &[Four], l: usize) {
    let (whole, half) = to.get_mut(first..).unwrap_or_default().as_chunks_mut::<4>();
    for (to, piece) in whole.iter_mut().zip(pieces) {
        *to = four(piece, l);
    }
    if let (Some(piece), [a, b, ..]) = (pieces.get(whole.len()), half) {
        [*a, *b, _, _] = four(piece, l);
    }
}
