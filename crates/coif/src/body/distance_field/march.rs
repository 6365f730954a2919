//! Distances beyond the band.
//!
//! Model: |grad d| = 1, with d known in the band. A plane of nodes is marched from the plane before
//! it, and so on through the grid, once in each of the six directions: rays of a distance are
//! straight, so each is followed by the direction that it mostly runs in. A plane depends on nothing
//! but the plane before, so its nodes are treated in lanes.
//!
//! Distances are signed: behind a node next to the band may be nodes on the other side of the
//! surface, and only with their sign is the distance linear there.
//!
//! Source: `muller2012` 3.7 (fast marching).
//! Deviations: no queue, since six passes in lanes cost less than sorting. A ray may come in between
//! three of the nine neighbours in the plane before (straight behind, to one side, to the corner),
//! so diagonals are exact; the usual stencil has six neighbours in all.

use std::ops::Range;

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8};

use super::grid::{Grid, Layout, WIDTH};

/// Distance of a node that no march has reached (cells), with the sign of its side: more than any
/// grid has, and its square still a number.
pub(super) const UNREACHED: f32 = 1e9;

/// Nodes on the other side of the surface count up to this distance (cells): these are in the band.
/// Of those beyond the distance may still be too large, which would look too small from here.
const OTHER_SIDE: f32 = 1.0;

/// Nodes within this distance (cells) can have neighbours on the other side.
const NEXT_TO_SURFACE: f32 = 0.9;

/// One of the six directions, as steps in memory. Nodes of a row are next to each other.
#[derive(Debug, Clone, Copy)]
struct Direction {
    /// The first node of the first plane.
    first: usize,
    /// To the next plane.
    ahead: isize,
    /// To the next row within a plane.
    across: usize,
    planes: usize,
    rows: usize,
    nodes: usize,
}

/// Marches along the slow axis, and along the mid axis before if `both`. Nodes farther than `reach`
/// cells are left unreached.
#[inline(always)]
pub(super) fn march<S: Simd>(
    simd: S,
    layout: &Layout,
    both: bool,
    reach: f32,
    distance: &mut [f32],
) {
    let [nodes, mid, slow] = layout.len;
    for (along_slow, backwards) in [(false, false), (false, true), (true, false), (true, true)] {
        if !along_slow && !both {
            continue;
        }
        let (steps, ahead, across, rows) = if along_slow {
            (slow, layout.plane, layout.row, mid)
        } else {
            (mid, layout.row, layout.plane, slow)
        };
        let start = layout.index(0, 0, 0);
        let (first, ahead) = if backwards {
            (start + (steps - 1) * ahead, -(ahead as isize))
        } else {
            (start, ahead as isize)
        };
        let direction = Direction { first, ahead, across, planes: steps, rows, nodes };
        march_planes(simd, &direction, reach, distance);
    }
}

/// Bounds distances from above, along y and z only: nodes that are this close need no visit by rays
/// from elsewhere.
#[inline(always)]
pub(super) fn march_roughly<S: Simd>(simd: S, layout: &Layout, distance: &mut [f32]) {
    let [nx, ny, nz] = layout.len;
    let mut step = |from: usize, to: usize| {
        for x in (0..nx).step_by(WIDTH) {
            let before = f32x8::from_slice(simd, &distance[from + x..from + x + WIDTH]);
            let at = &mut distance[to + x..to + x + WIDTH];
            let current = f32x8::from_slice(simd, at);
            (before.abs() + 1.0).min(current.abs()).copysign(current).store_slice(at);
        }
    };
    for z in 0..nz {
        (1..ny).for_each(|y| step(layout.index(0, y - 1, z), layout.index(0, y, z)));
        (1..ny).rev().for_each(|y| step(layout.index(0, y, z), layout.index(0, y - 1, z)));
    }
    let rows = || (0..ny).map(|y| layout.index(0, y, 0));
    for z in 1..nz {
        rows().for_each(|row| step(row + (z - 1) * layout.plane, row + z * layout.plane));
    }
    for z in (1..nz).rev() {
        rows().for_each(|row| step(row + z * layout.plane, row + (z - 1) * layout.plane));
    }
}

/// Marches all planes in one direction.
#[inline(always)]
fn march_planes<S: Simd>(simd: S, d: &Direction, reach: f32, distance: &mut [f32]) {
    let (half, one) = (f32x8::splat(simd, 0.5), f32x8::splat(simd, 1.0));
    for plane in 1..d.planes as isize {
        for row in 0..d.rows {
            let here = (d.first + row * d.across).wrapping_add_signed(plane * d.ahead);
            let behind = here.wrapping_add_signed(-d.ahead);
            for x in (0..d.nodes).step_by(WIDTH) {
                let at = |i: usize| f32x8::from_slice(simd, &distance[i..i + WIDTH]);
                let i = behind + x;
                let stencil = [
                    [at(i - d.across - 1), at(i - d.across), at(i - d.across + 1)],
                    [at(i - 1), at(i), at(i + 1)],
                    [at(i + d.across - 1), at(i + d.across), at(i + d.across + 1)],
                ];
                // Skip nodes that nothing behind can bring closer.
                let side = at(here + x);
                let current = side.abs();
                let mut least = current;
                for three in &stencil {
                    for v in three {
                        least = least.min(v.abs());
                    }
                }
                let step = least.simd_lt(NEXT_TO_SURFACE).select(half, one);
                let open = current.simd_gt(least + step) & (least + half).simd_le(reach);
                if !open.any_true() {
                    continue;
                }
                let length = shortest_ray(simd, side, stencil);
                let shorter = length.simd_lt(current) & open & length.simd_le(reach);
                shorter
                    .select(length.copysign(side), side)
                    .store_slice(&mut distance[here + x..here + x + WIDTH]);
            }
        }
    }
}

/// The shortest way to eight nodes from the plane behind them.
///
/// Model: between three nodes with distances d0 (straight behind), d1 (aside), d2 (corner) the
/// distance is linear. A ray that leaves at (a, b), 0 <= b <= a <= 1, arrives with
/// (1-a) d0 + (a-b) d1 + b d2 + sqrt(1 + a^2 + b^2). With g1 = d0 - d1 and g2 = d1 - d2 the least is
/// d0 + sqrt(1 - g1^2 - g2^2), at a = g1 / sqrt(..), b = g2 / sqrt(..), unless that is out of bounds.
/// Then it is between d1 and d2 (a = 1), between d0 and d2 (a = b), or at d2.
#[inline(always)]
fn shortest_ray<S: Simd>(simd: S, side: f32x8<S>, stencil: [[f32x8<S>; 3]; 3]) -> f32x8<S> {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    // See all distances from the side of the nodes.
    let sign = one.copysign(side);
    let far = f32x8::splat(simd, UNREACHED);
    let seen = |d: f32x8<S>| {
        let d = d * sign;
        d.simd_gt(-OTHER_SIDE).select(d, far)
    };
    let [[c00, below, c01], [left, d0, right], [c10, above, c11]] = stencil;
    let (c00, c01, c10, c11) = (seen(c00), seen(c01), seen(c10), seen(c11));
    let (left, right, below, above) = (seen(left), seen(right), seen(below), seen(above));
    let d0 = seen(d0);
    // Pick the nearest neighbour aside, and the nearer of the two corners next to it.
    let to_right = right.simd_lt(left).select(c01.min(c11), c00.min(c10));
    let to_above = above.simd_lt(below).select(c10.min(c11), c00.min(c01));
    let (along, across) = (left.min(right), below.min(above));
    let d1 = along.min(across);
    let d2 = along.simd_lt(across).select(to_right, to_above);
    // Choose the case, and evaluate its formula.
    let (g1, g2) = ((d0 - d1).max(zero), (d1 - d2).max(zero));
    let (g11, g22, both) = (g1 * g1, g2 * g2, g1 + g2);
    let both2 = both * both;
    let from_behind = g1.simd_lt(g2);
    let from_aside = (g11 + g11 + g22).simd_gt(one);
    let at_corner = from_behind.select(both2 * 0.75, from_aside.select(g22 * 3.0, zero));
    let radicand = from_behind
        .select(one - both2 * 0.5, from_aside.select(2.0 - (g22 + g22), one - g11 - g22));
    let base = (from_aside & !from_behind).select(d1, d0);
    let at_corner = at_corner.simd_gt(one);
    at_corner.select(d2, base) + at_corner.select(f32x8::splat(simd, 3.0), radicand).sqrt()
}

/// Copies from the order x, y, z to z, y, x.
pub(super) fn order_back(grid: &Grid, xyz: &[f32], zyx: &mut [f32]) {
    for_blocks(grid, |x, y, z, count| {
        for z in z {
            let (from, to) = (grid.xyz.index(x, y, z), grid.zyx.index(z, y, x));
            for i in 0..count {
                zyx[to + i * grid.zyx.plane] = xyz[from + i];
            }
        }
    });
}

/// Copies from the order z, y, x to x, y, z.
pub(super) fn order_forth(grid: &Grid, zyx: &[f32], xyz: &mut [f32]) {
    for_blocks(grid, |x, y, z, count| {
        for z in z {
            let (from, to) = (grid.zyx.index(z, y, x), grid.xyz.index(x, y, z));
            for i in 0..count {
                xyz[to + i] = zyx[from + i * grid.zyx.plane];
            }
        }
    });
}

/// Visits the nodes in blocks whose lines stay in the cache in either order: first x, y, all z, and
/// how many along x.
#[inline(always)]
fn for_blocks(grid: &Grid, mut visit: impl FnMut(usize, usize, Range<usize>, usize)) {
    let [nx, ny, nz] = grid.xyz.len;
    for y in 0..ny {
        for z in (0..nz).step_by(WIDTH) {
            for x in (0..nx).step_by(WIDTH) {
                visit(x, y, z..(z + WIDTH).min(nz), WIDTH.min(nx - x));
            }
        }
    }
}
