//! Distances and velocities beyond the band.
//!
//! Model: |grad d| = 1, with d known in the band. A plane of nodes is marched from the plane before
//! it, and so on through the grid, once in each of the six directions: rays of a distance are
//! straight, so each is followed by the direction that it mostly runs in. A plane depends on nothing
//! but the plane before, so its nodes are treated in lanes.
//!
//! Distances are signed: behind a node next to the band may be nodes on the other side of the
//! surface, and only with their sign is the distance linear there.
//!
//! Source: `muller2012` 3.7 (fast marching, velocities carried along).
//! Deviations: no queue, since six passes in lanes cost less than sorting. A ray may come in between
//! three of the nine neighbours in the plane before (straight behind, to one side, to the corner),
//! so diagonals are exact; the usual stencil has six neighbours in all. Velocities are averaged over
//! the same three with the weights that the ray gives them, which keeps them constant along the ray
//! where the plain average would smear them.

use std::ops::Range;

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8, mask32x8};
use glam::Vec4;

use super::grid::{Grid, Layout, WIDTH};

/// Distance of a node that no march has reached (cells), with the sign of its side: more than any
/// grid has, and its square still a number.
pub(super) const UNREACHED: f32 = 1e9;

/// Least that a distance has to shrink by (cells) to be worth another visit.
const WORTHWHILE: f32 = 1e-5;

/// Nodes on the other side of the surface count up to this distance (cells): these are in the band.
/// Of those beyond the distance may still be too large, which would look too small from here.
const OTHER_SIDE: f32 = 1.0;

/// Nodes within this distance (cells) can have neighbours on the other side.
const NEXT_TO_SURFACE: f32 = 0.9;

/// Keeps roots and quotients finite.
const TINY: f32 = 1e-6;

/// One of the six directions, as steps in memory.
#[derive(Debug, Clone, Copy)]
struct Direction {
    /// Distances: first node, to the next plane, to the next row within a plane. Nodes of a row are
    /// next to each other.
    first: usize,
    ahead: isize,
    across: usize,
    /// Velocities: first node, to the next plane, row, and node.
    velocity_first: usize,
    velocity_ahead: isize,
    velocity_across: isize,
    velocity_along: isize,
    /// Planes, rows, nodes.
    planes: usize,
    rows: usize,
    nodes: usize,
}

/// Marches along x, over distances in the order z, y, x; velocities are always in the order x, y, z.
/// Nodes farther than `reach` cells are left unreached.
#[inline(always)]
pub(super) fn march_x<S: Simd>(
    simd: S,
    grid: &Grid,
    reach: f32,
    distance_zyx: &mut [f32],
    velocity: &mut [Vec4],
) {
    let (a, b) = (grid.xyz, grid.zyx);
    for backwards in [false, true] {
        let last = if backwards { a.len[0] - 1 } else { 0 };
        let sign = if backwards { -1 } else { 1 };
        let direction = Direction {
            first: b.index(0, 0, last),
            ahead: sign * b.plane as isize,
            across: b.row,
            velocity_first: a.index(last, 0, 0),
            velocity_ahead: sign,
            velocity_across: a.row as isize,
            velocity_along: a.plane as isize,
            planes: a.len[0],
            rows: a.len[1],
            nodes: a.len[2],
        };
        march(simd, &direction, reach, distance_zyx, velocity);
    }
}

/// Marches along y and z, over distances in the order x, y, z. Nodes farther than `reach` cells are
/// left unreached.
#[inline(always)]
pub(super) fn march_yz<S: Simd>(
    simd: S,
    layout: &Layout,
    reach: f32,
    distance: &mut [f32],
    velocity: &mut [Vec4],
) {
    let [nodes, ny, nz] = layout.len;
    for (axis, backwards) in [(1, false), (1, true), (2, false), (2, true)] {
        let sign = if backwards { -1 } else { 1 };
        let (first, ahead, across, planes, rows) = if axis == 1 {
            let first = layout.index(0, if backwards { ny - 1 } else { 0 }, 0);
            (first, layout.row, layout.plane, ny, nz)
        } else {
            let first = layout.index(0, 0, if backwards { nz - 1 } else { 0 });
            (first, layout.plane, layout.row, nz, ny)
        };
        let direction = Direction {
            first,
            ahead: sign * ahead as isize,
            across,
            velocity_first: first,
            velocity_ahead: sign * ahead as isize,
            velocity_across: across as isize,
            velocity_along: 1,
            planes,
            rows,
            nodes,
        };
        march(simd, &direction, reach, distance, velocity);
    }
}

/// Marches all planes in one direction.
#[inline(always)]
fn march<S: Simd>(
    simd: S,
    direction: &Direction,
    reach: f32,
    distance: &mut [f32],
    velocity: &mut [Vec4],
) {
    let d = direction;
    // From the node straight behind to the one aside and to the corner, by the code of `Ray`.
    let (along, across) = (d.velocity_along, d.velocity_across);
    let aside = [-across, across, -across, across, -along, along, -along, along];
    let further = [-along, -along, along, along, -across, -across, across, across];
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
                let ray = Ray::find(simd, side, stencil);
                // Where the ray is shorter, take its length and the velocity that it carries.
                let shorter =
                    (ray.length + WORTHWHILE).simd_lt(current) & open & ray.length.simd_le(reach);
                let mut bits = shorter.to_bitmask();
                if bits == 0 {
                    continue;
                }
                shorter
                    .select(ray.length.copysign(side), side)
                    .store_slice(&mut distance[here + x..here + x + WIDTH]);
                let sides = [
                    ray.along_first.to_bitmask(),
                    ray.first_up.to_bitmask(),
                    ray.second_up.to_bitmask(),
                ];
                let (a, b) = (ray.aside, ray.further);
                while bits != 0 {
                    let lane = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if x + lane >= d.nodes {
                        break;
                    }
                    let code = (sides[0] >> lane & 1) << 2
                        | (sides[2] >> lane & 1) << 1
                        | (sides[1] >> lane & 1);
                    let (a, b) = (a[lane], b[lane]);
                    let to = (d.velocity_first as isize
                        + plane * d.velocity_ahead
                        + row as isize * across
                        + (x + lane) as isize * along) as usize;
                    let back = to.wrapping_add_signed(-d.velocity_ahead);
                    let side = back.wrapping_add_signed(aside[code as usize]);
                    let corner = side.wrapping_add_signed(further[code as usize]);
                    velocity[to] = velocity[back] * (1.0 - a)
                        + velocity[side] * (a - b)
                        + velocity[corner] * b;
                }
            }
        }
    }
}

/// The shortest way to eight nodes from the plane behind them.
struct Ray<S: Simd> {
    length: f32x8<S>,
    /// Where the ray leaves that plane: this far from the node straight behind towards the one
    /// aside (0 to 1), and from there this far towards the corner (0 to `aside`).
    aside: f32x8<S>,
    further: f32x8<S>,
    /// Whether the node aside is along the row, and on which sides it and the corner are.
    along_first: mask32x8<S>,
    first_up: mask32x8<S>,
    second_up: mask32x8<S>,
}

impl<S: Simd> Ray<S> {
    /// Model: between three nodes with distances d0 (straight behind), d1 (aside), d2 (corner) the
    /// distance is linear. A ray that leaves at (a, b) arrives with
    /// (1-a) d0 + (a-b) d1 + b d2 + sqrt(1 + a^2 + b^2). With g1 = d0 - d1, g2 = d1 - d2 the least is
    /// at a = g1 / sqrt(1 - g1^2 - g2^2), and for that a at b = g2 sqrt((1 + a^2) / (1 - g2^2)).
    /// Any (a, b) within bounds is a way to the node, so clamping never falls below the truth of the
    /// linear model.
    #[inline(always)]
    fn find(simd: S, side: f32x8<S>, stencil: [[f32x8<S>; 3]; 3]) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
        let tiny = f32x8::splat(simd, TINY);
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
        let (right_up, above_up) = (right.simd_lt(left), above.simd_lt(below));
        let (along, across) = (left.min(right), below.min(above));
        let along_first = along.simd_lt(across);
        let d1 = along.min(across);
        let first_up = (along_first & right_up) | (!along_first & above_up);
        // With the first step along the row the corners differ across it, and the other way round.
        let low = along_first.select(right_up.select(c01, c00), above_up.select(c10, c00));
        let high = along_first.select(right_up.select(c11, c10), above_up.select(c11, c01));
        let second_up = high.simd_lt(low);
        let d2 = low.min(high);
        let g1 = (d0 - d1).max(zero);
        let g2 = (d1 - d2).max(zero);
        let a = (g1 / (one - g1 * g1 - g2 * g2).max(tiny).sqrt()).min(one);
        let b = (g2 * ((one + a * a) / (one - g2 * g2).max(tiny)).sqrt()).min(a);
        let length = d0 * (one - a) + d1 * (a - b) + d2 * b + (one + a * a + b * b).sqrt();
        Self { length, aside: a, further: b, along_first, first_up, second_up }
    }
}

/// Copies from the order x, y, z to z, y, x.
pub(super) fn order_back<T: Copy, U>(grid: &Grid, xyz: &[T], zyx: &mut [U], each: impl Fn(T) -> U) {
    for_blocks(grid, |x, y, z, count| {
        for z in z {
            let (from, to) = (grid.xyz.index(x, y, z), grid.zyx.index(z, y, x));
            for i in 0..count {
                zyx[to + i * grid.zyx.plane] = each(xyz[from + i]);
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
