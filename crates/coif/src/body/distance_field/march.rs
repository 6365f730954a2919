//! Distances beyond the band.
//!
//! Model: |grad d| = 1, with d known in the band. A plane of nodes is marched from the plane before
//! it, and so on through the grid, once in each of the six directions: rays of a distance are
//! straight, so each is traced by the march along its largest component. A plane depends on nothing
//! but the plane before, so its nodes are treated in lanes.
//!
//! Distances are signed: behind a node next to the band may be nodes on the other side of the
//! surface, and only with their sign is the distance linear there.
//!
//! Source: `muller2012` 3.7 (fast marching).
//! Deviations: no queue, since six passes in lanes cost less than sorting. A ray may arrive between
//! three of the nine neighbours in the plane before (straight behind, to one side, to the corner),
//! so diagonals are exact; the usual stencil has six neighbours in all.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdInterleaved, SimdMask, f32x4, f32x8};

use super::grid::{Layout, WIDTH};

/// Distance of a node that no march has reached (cells), with the sign of its side: more than any grid has, and its
/// square is finite.
pub(super) const UNREACHED: f32 = 1e9;

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

/// Bounds distances from above, along y and z only: nodes that are this close need not be updated by rays
/// from elsewhere.
#[inline(always)]
pub(super) fn march_roughly<S: Simd>(simd: S, layout: &Layout, distance: &mut [f32]) {
    let [nx, ny, nz] = layout.len;
    let mut step = |from: usize, to: usize| {
        for block in 0..nx.div_ceil(WIDTH) {
            let x = block * WIDTH;
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
    for plane in 1..d.planes as isize {
        for row in 0..d.rows {
            let here = (d.first + row * d.across).wrapping_add_signed(plane * d.ahead);
            let behind = here.wrapping_add_signed(-d.ahead);
            for block in 0..d.nodes.div_ceil(WIDTH) {
                let x = block * WIDTH;
                let signed = Stencil::load(simd, distance, behind + x, d.across);
                let to = &mut distance[here + x..here + x + WIDTH];
                let side = f32x8::from_slice(simd, to);
                let current = side.abs();
                // Skip nodes that are final already.
                let unsigned = signed.unsigned();
                let least = unsigned.least();
                let next_to_surface = least.simd_lt(NEXT_TO_SURFACE);
                // Within one cell signs would change the bound, but nodes there are final already.
                let near = (least + 0.5).max(f32x8::splat(simd, 1.0));
                let bound = next_to_surface.select(near, unsigned.min_ray(least));
                let open = current.simd_gt(bound) & bound.simd_le(reach);
                if !open.any_true() {
                    continue;
                }
                // Test signs only where there can be two.
                let view = if next_to_surface.any_true() {
                    signed.seen_from(simd, side)
                } else {
                    unsigned
                };
                let length = view.shortest_ray(simd);
                let shorter = length.simd_lt(current) & open & length.simd_le(reach);
                shorter.select(length.copysign(side), side).store_slice(to);
            }
        }
    }
}

/// Eight nodes from `i` on, and their neighbours before and after.
#[inline(always)]
fn three<S: Simd>(simd: S, distance: &[f32], i: usize) -> [f32x8<S>; 3] {
    let ten = &distance[i - 1..][..WIDTH + 2];
    [
        f32x8::from_slice(simd, &ten[..WIDTH]),
        f32x8::from_slice(simd, &ten[1..WIDTH + 1]),
        f32x8::from_slice(simd, &ten[2..]),
    ]
}

/// Distances of the nine nodes behind each of eight nodes: rows across, nodes along.
struct Stencil<S: Simd> {
    rows: [[f32x8<S>; 3]; 3],
}

impl<S: Simd> Stencil<S> {
    #[inline(always)]
    fn load(simd: S, distance: &[f32], behind: usize, across: usize) -> Self {
        let rows = [
            three(simd, distance, behind - across),
            three(simd, distance, behind),
            three(simd, distance, behind + across),
        ];
        Self { rows }
    }

    #[inline(always)]
    fn unsigned(&self) -> Self {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.rows;
        let rows =
            [[a.abs(), b.abs(), c.abs()], [d.abs(), e.abs(), f.abs()], [g.abs(), h.abs(), i.abs()]];
        Self { rows }
    }

    /// Distances with the sign of the side of the nodes. Within one cell beyond the surface they continue below zero;
    /// those farther beyond may not be final yet, and too large there is too small here, so that they are left out.
    #[inline(always)]
    fn seen_from(&self, simd: S, side: f32x8<S>) -> Self {
        let sign = f32x8::splat(simd, 1.0).copysign(side);
        let far = f32x8::splat(simd, UNREACHED);
        let mut rows = self.rows;
        for row in 0..3 {
            for node in 0..3 {
                let signed = rows[row][node] * sign;
                rows[row][node] = signed.simd_gt(-1.0).select(signed, far);
            }
        }
        Self { rows }
    }

    #[inline(always)]
    fn least(&self) -> f32x8<S> {
        let [[c00, below, c01], [left, d0, right], [c10, above, c11]] = self.rows;
        let d1 = left.min(right).min(below.min(above));
        d0.min(d1).min(c00.min(c01).min(c10.min(c11)))
    }

    /// A lower bound of the shortest ray. Nodes that are not above it are final, as most are.
    ///
    /// Model: for any unit vector (m0, m1, m2), sqrt(1 + a^2 + b^2) >= m0 + a m1 + b m2; so a ray is
    /// no shorter than the least of d0 + m0, d1 + m0 + m1, d2 + m0 + m1 + m2. Three are tried.
    #[inline(always)]
    fn min_ray(&self, least: f32x8<S>) -> f32x8<S> {
        let [[c00, below, c01], [left, d0, right], [c10, above, c11]] = self.rows;
        let d1 = left.min(right).min(below.min(above));
        let d2 = c00.min(c01).min(c10.min(c11));
        let (m3, m2) = (0.57735, std::f32::consts::FRAC_1_SQRT_2);
        let diagonal = (d0 + m2).min(d1.min(d2) + 2.0 * m2);
        let corner = (d0 + m3).min(d1 + 2.0 * m3).min(d2 + 3.0 * m3);
        (least + 1.0).max(diagonal).max(corner)
    }

    /// The shortest path to the nodes.
    ///
    /// Model: between three nodes with distances d0 (straight behind), d1 (aside), d2 (corner) the
    /// distance is linear. A ray that leaves at (a, b), 0 <= b <= a <= 1, arrives with
    /// (1-a) d0 + (a-b) d1 + b d2 + sqrt(1 + a^2 + b^2). With g1 = d0 - d1 and g2 = d1 - d2 the least
    /// is d0 + sqrt(1 - g1^2 - g2^2), at a = g1 / sqrt(..), b = g2 / sqrt(..), unless that is out of
    /// bounds. Then it is between d1 and d2 (a = 1), between d0 and d2 (a = b), or at d2.
    #[inline(always)]
    fn shortest_ray(&self, simd: S) -> f32x8<S> {
        let [[c00, below, c01], [left, d0, right], [c10, above, c11]] = self.rows;
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
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
        let inner = from_aside.select(2.0 - (g22 + g22), one - g11 - g22);
        let radicand = from_behind.select(one - both2 * 0.5, inner);
        let base = (from_aside & !from_behind).select(d1, d0);
        let at_corner = at_corner.simd_gt(one);
        at_corner.select(d2, base) + at_corner.select(f32x8::splat(simd, 3.0), radicand).sqrt()
    }
}

/// Copies from the order x, y, z to z, y, x, or back: from rows along the fast axis of `from` to rows
/// along its slow axis.
#[inline(always)]
pub(super) fn swap_order<S: Simd>(
    simd: S,
    from: &Layout,
    source: &[f32],
    to: &Layout,
    out: &mut [f32],
) {
    let [fast, mid, slow] = from.len;
    // Four by four, through registers.
    let mut square = [0.0; 16];
    for m in 0..mid {
        for s in (0..slow - slow % 4).step_by(4) {
            for f in (0..fast - fast % 4).step_by(4) {
                let row =
                    |i: usize| f32x4::from_slice(simd, &source[from.index(f, m, s + i)..][..4]);
                let rows = [row(0), row(1), row(2), row(3)];
                f32x4::store_four_interleaved(rows, &mut square);
                for i in 0..4 {
                    out[to.index(s, m, f + i)..][..4].copy_from_slice(&square[4 * i..4 * i + 4]);
                }
            }
        }
        // The rest one by one.
        for s in 0..slow {
            let first = if s < slow - slow % 4 { fast - fast % 4 } else { 0 };
            for f in first..fast {
                out[to.index(s, m, f)] = source[from.index(f, m, s)];
            }
        }
    }
}
