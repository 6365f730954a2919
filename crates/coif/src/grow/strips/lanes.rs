//! The quads of sixteen strips at a time, from the lanes of the model to the order of the mesh.
//!
//! The same as [`StripMesh::follow`], to the bit: that goes joint by joint, this is what an engine calls
//! every frame. Two joints of sixteen strips are computed at once, then each strip gets its own piece.

use fearless_simd::{Simd, SimdBase, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;

use super::StripMesh;
use crate::math::LANES;
use crate::math::lanes::Vec3x;
use crate::model::cantilever::{LaneBlock, StripLanes};

/// Vertices of one strip.
struct Quads<'a> {
    width: f32,
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
    tangents: &'a mut [Vec3],
    binormals: &'a mut [Vec3],
}

/// Blocks that one task treats: some thousand joints.
const BLOCKS: usize = 16;

impl StripMesh {
    /// Moves the mesh to where the strips of a model are.
    ///
    /// Source, deviations: see [`follow`](Self::follow).
    pub fn follow_lanes(&mut self, lanes: &StripLanes<'_>) {
        let strips = lanes.strips();
        // Cut the mesh into strips, and bring these in the order of the lanes.
        let mut rest = [
            &mut self.positions[..],
            &mut self.normals[..],
            &mut self.tangents[..],
            &mut self.binormals[..],
        ];
        let mut pieces: Vec<Option<Quads<'_>>> = Vec::with_capacity(strips.count());
        for s in 0..strips.count() {
            let vertices = 2 * strips.edges.points_of(s).len();
            let [positions, normals, tangents, binormals] = rest.each_mut().map(|all| {
                match std::mem::take(all).split_at_mut_checked(vertices) {
                    Some((mine, others)) => {
                        *all = others;
                        mine
                    }
                    None => &mut [],
                }
            });
            let width = strips.width[s];
            pieces.push(Some(Quads { width, positions, normals, tangents, binormals }));
        }
        let mut in_lanes: Vec<Quads<'_>> = Vec::with_capacity(strips.count());
        let blocks: Vec<LaneBlock<'_>> = lanes.blocks().collect();
        for block in &blocks {
            in_lanes.extend(block.strips().iter().filter_map(|&s| pieces[s as usize].take()));
        }
        // A task has some blocks and their strips.
        let mut tasks = Vec::with_capacity(blocks.len() / BLOCKS + 1);
        let mut rest = &mut in_lanes[..];
        for blocks in blocks.chunks(BLOCKS) {
            let count = blocks.iter().map(|block| block.strips().len()).sum();
            let (mine, others) = std::mem::take(&mut rest).split_at_mut(count);
            rest = others;
            tasks.push((blocks, mine));
        }
        let level = lanes.level();
        tasks.into_par_iter().for_each(|(blocks, mut quads)| {
            for block in blocks {
                let (mine, others) = std::mem::take(&mut quads).split_at_mut(block.strips().len());
                quads = others;
                dispatch!(level, simd => follow_block(simd, block, mine));
            }
        });
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

/// Sixteen times two edges at two joints, three coordinates each.
type Piece = [[[f32; 4]; LANES]; 3];

/// Pairs of joints that are computed before they are written: a strip's share of them is some whole lines of
/// memory.
const PAIRS: usize = 4;

#[inline(always)]
fn follow_block<S: Simd>(simd: S, block: &LaneBlock<'_>, quads: &mut [Quads<'_>]) {
    let mut widths = [0.0; LANES];
    for (to, quad) in widths.iter_mut().zip(quads.iter()) {
        *to = quad.width;
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
            // Beyond the last there is nothing: repeat it, and write less.
            let next = if i + 1 < joints { walk.joint(simd, block, i + 1) } else { here };
            let (a, b) = (&here.frames, &next.frames);
            lay_out(simd, [here.edges, next.edges], &mut pieces[0][k]);
            lay_out(simd, [[a.normal; 2], [b.normal; 2]], &mut pieces[1][k]);
            lay_out(simd, [[a.tangent; 2], [b.tangent; 2]], &mut pieces[2][k]);
            lay_out(simd, [[a.binormal; 2], [b.binormal; 2]], &mut pieces[3][k]);
        }
        for (l, quad) in quads.iter_mut().enumerate() {
            let Quads { positions, normals, tangents, binormals, .. } = quad;
            let all = [positions, normals, tangents, binormals];
            for (to, pieces) in all.into_iter().zip(&pieces) {
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
        // The anchor has the direction of growth only; its first segment says where it goes.
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

/// Two edges at two joints, lane by lane: twelve numbers in a row for each.
#[inline(always)]
fn lay_out<S: Simd>(simd: S, [[a, b], [c, d]]: [[Vec3x<S>; 2]; 2], to: &mut Piece) {
    let [first, second, third] = to;
    interleave(simd, [a.x, a.y, a.z, b.x], first);
    interleave(simd, [b.y, b.z, c.x, c.y], second);
    interleave(simd, [c.z, d.x, d.y, d.z], third);
}

/// Four rows of lanes as lanes of four.
#[inline(always)]
fn interleave<S: Simd>(simd: S, [a, b, c, d]: [f32x16<S>; 4], to: &mut [[f32; 4]; LANES]) {
    let (even, odd) = (simd.interleave_f32x16(a, c), simd.interleave_f32x16(b, d));
    let (p, q) = simd.interleave_f32x16(even.0, odd.0);
    let (r, s) = simd.interleave_f32x16(even.1, odd.1);
    let parts = to.as_flattened_mut().as_chunks_mut::<LANES>().0;
    for (part, row) in parts.iter_mut().zip([p, q, r, s]) {
        row.store_slice(part);
    }
}

/// Writes what one lane has of pairs of joints, as far as its strip goes.
#[inline(always)]
fn write(to: &mut [Vec3], first: usize, pieces: &[Piece], l: usize) {
    let (whole, half) = to.get_mut(first..).unwrap_or_default().as_chunks_mut::<4>();
    for (to, piece) in whole.iter_mut().zip(pieces) {
        *to = four(piece, l);
    }
    if let (Some(piece), [a, b, ..]) = (pieces.get(whole.len()), half) {
        [*a, *b, _, _] = four(piece, l);
    }
}

/// What one lane has of a pair of joints.
#[inline(always)]
fn four(piece: &Piece, l: usize) -> [Vec3; 4] {
    let [a, b, c] = [piece[0][l], piece[1][l], piece[2][l]];
    [
        Vec3::new(a[0], a[1], a[2]),
        Vec3::new(a[3], b[0], b[1]),
        Vec3::new(b[2], b[3], c[0]),
        Vec3::new(c[1], c[2], c[3]),
    ]
}
