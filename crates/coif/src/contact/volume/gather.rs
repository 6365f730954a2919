//! Interpolation from nodes to particles: friction and repulsion.

use fearless_simd::{
    Level, Simd, SimdBase, SimdCombine, SimdInterleaved, SimdMask, SimdSplit, dispatch, f32x4,
    f32x8, f32x16,
};

use glam::Vec3;
use rayon::prelude::*;

use super::CHUNK;
use super::field::Node;
use super::grid::Grid;
use super::row::{Lattice, Row, Source, present};
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

/// The constants of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Push {
    /// Fraction of the velocity taken from the grid.
    pub(super) friction: f32,
    /// Velocity change where the pressure falls from one to zero over two cells (m/s).
    pub(super) repulsion: f32,
    /// Whether it is the velocity change everywhere, along the normalised gradient (eq. 14).
    pub(super) normalises: bool,
}

/// Least size of a gradient, relative to the mass of a node, that has a direction: more than rounding.
pub(super) const NO_GRADIENT: f32 = 1e-4;

/// Input of a gather.
#[derive(Clone, Copy)]
pub(super) struct Gather<'a> {
    pub(super) grid: &'a Grid,
    pub(super) nodes: &'a [Node],
    pub(super) source: Source<'a>,
    pub(super) free: &'a [u16],
}

impl Gather<'_> {
    /// Changes the velocities of all rows. Returns the number of present particles that were left out.
    pub(super) fn run(&self, level: Level, push: &Push, velocity: &mut [f32]) -> u64 {
        if rayon::current_num_threads() == 1 {
            return dispatch!(level, simd => push_rows(simd, self, push, 0, velocity));
        }
        let chunks = velocity.par_chunks_mut(CHUNK * VECTOR).enumerate();
        let left_out = chunks.map(|(i, velocity)| {
            dispatch!(level, simd => push_rows(simd, self, push, i * CHUNK, velocity))
        });
        left_out.sum()
    }
}

/// The fields at sixteen particles.
struct Sampled<S: Simd> {
    velocity: Vec3x<S>,
    mass: f32x16<S>,
    /// Change of the pressure over two cells.
    gradient: Vec3x<S>,
}

/// Changes the velocities of the rows from `first` on. Returns the number of present particles that were left out.
///
/// Model: `v += s (v_grid - motion)` and `v -= c grad p`, where p is the pressure of hair that is denser than in its
/// rest shape.
/// Source: `muller2012` eq. 13 and 14.
/// Symbols: s fraction of the velocity taken from the grid, c repulsion.
/// Deviations: in eq. 14 the velocity changes along the normalised gradient of the density
/// everywhere: with the sign as printed towards dense hair, and for hair at rest as well. Here it changes along minus the
/// gradient of the pressure, so that a groom at rest does not move; without a density at rest along minus the normalised
/// gradient of the density.
#[inline(always)]
fn push_rows<S: Simd>(
    simd: S,
    from: &Gather<'_>,
    push: &Push,
    first: usize,
    velocity: &mut [f32],
) -> u64 {
    let lattice = Lattice::new(simd, from.grid);
    let zero = Vec3x::splat(simd, Vec3::ZERO);
    let friction = f32x16::splat(simd, push.friction);
    let repulsion = f32x16::splat(simd, push.repulsion);
    let mut left_out = 0;
    for i in 0..velocity.len() / VECTOR {
        let row = first + i;
        if from.source.present[row] == 0 {
            continue;
        }
        let before = Vec3x::load(simd, velocity, i);
        let motion = if from.source.motion.is_empty() {
            before
        } else {
            Vec3x::load(simd, from.source.motion, row)
        };
        let particles = lattice.moving_row(simd, &from.source, row, motion);
        let used = particles.used.to_bitmask() as u32;
        left_out += u64::from((u32::from(from.source.present[row]) & !used).count_ones());
        let free = particles.used & present(simd, from.free[row]);
        let mut field = sample(simd, from.grid, from.nodes, &particles);
        if push.normalises {
            let size = field.gradient.length();
            let scale = f32x16::splat(simd, 1.0) / size.max(f32x16::splat(simd, f32::MIN_POSITIVE));
            let known = size.simd_gt(field.mass * NO_GRADIENT);
            field.gradient = (field.gradient * scale).or(known, zero);
        }

        // Blend in a fraction of the mean velocity (eq. 13), and accelerate against the pressure gradient (eq. 14).
        let change = (field.velocity - particles.motion) * friction - field.gradient * repulsion;
        (before + change.or(free, zero)).store(velocity, i);
    }
    left_out
}

/// Interpolates the fields.
#[inline(always)]
fn sample<S: Simd>(simd: S, grid: &Grid, nodes: &[Node], row: &Row<S>) -> Sampled<S> {
    let (width, layer) = (grid.nodes[0], grid.layer());
    let weights = row.weights();
    let (mut low, mut high) = ([0.0; 4 * LANES], [0.0; 4 * LANES]);
    // Check the bounds of the eight nodes once.
    let reach = layer + width + 2;
    assert!(2 <= reach && width + 2 <= reach && layer + 2 <= reach);
    for lane in 0..LANES {
        let nodes = &nodes[row.index[lane] as usize..][..reach];
        let near = pair(simd, nodes, 0, weights[0][lane], weights[1][lane])
            + pair(simd, nodes, width, weights[2][lane], weights[3][lane]);
        let far = pair(simd, nodes, layer, weights[4][lane], weights[5][lane])
            + pair(simd, nodes, layer + width, weights[6][lane], weights[7][lane]);
        let (a, b) = (near + far).split();
        a.store_slice(&mut low[lane * 4..lane * 4 + 4]);
        b.store_slice(&mut high[lane * 4..lane * 4 + 4]);
    }
    let [mass, x, y, z] = deinterleaved(simd, &low);
    let [gx, gy, gz, _] = deinterleaved(simd, &high);
    Sampled { velocity: Vec3x { x, y, z }, mass, gradient: Vec3x { x: gx, y: gy, z: gz } }
}

/// Weighted sum of a node and its neighbour along x.
#[inline(always)]
fn pair<S: Simd>(simd: S, nodes: &[Node], node: usize, w0: f32, w1: f32) -> f32x8<S> {
    let pair = &nodes[node..node + 2];
    f32x8::from_slice(simd, &pair[0].0) * f32x8::splat(simd, w0)
        + f32x8::from_slice(simd, &pair[1].0) * f32x8::splat(simd, w1)
}

/// Deinterleaves sixteen quadruples to four vectors.
#[inline(always)]
fn deinterleaved<S: Simd>(simd: S, from: &[f32; 4 * LANES]) -> [f32x16<S>; 4] {
    let a = f32x4::load_four_interleaved(simd, &from[..16]);
    let b = f32x4::load_four_interleaved(simd, &from[16..32]);
    let c = f32x4::load_four_interleaved(simd, &from[32..48]);
    let d = f32x4::load_four_interleaved(simd, &from[48..]);
    [
        a[0].combine(b[0]).combine(c[0].combine(d[0])),
        a[1].combine(b[1]).combine(c[1].combine(d[1])),
        a[2].combine(b[2]).combine(c[2].combine(d[2])),
        a[3].combine(b[3]).combine(c[3].combine(d[3])),
    ]
}
