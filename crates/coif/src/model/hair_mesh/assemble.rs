//! Forces and the matrix of an implicit step, condition by condition.
//!
//! Model: implicit Euler, `(M + h D + h^2 K) dv = h (f - h K v)`, with `f` the forces at the start of the
//! step, damping included, and per condition `K = k g g^T`, `D = t k g g^T` for its gradient g, its stiffness k and
//! the time t of internal friction (`baraff1998` eq. 6 and 4.5). Vertices that the body carries have their
//! new velocity already, so that they contribute only to the right-hand side.

use glam::{Mat3A, Vec3A};

use super::condition::{bend_condition, shear_condition, stretch_condition, volume_condition};
use super::elements::{Corner, Edge, Elements, Hinge, Quad};
use crate::math::sparse::{BlockMatrix, outer};

/// The numbers of one step that all conditions share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Implicit {
    /// Length of the step (s).
    pub(crate) h: f32,
    /// Internal friction (s).
    pub(crate) friction_time: f32,
}

/// Positions and velocities of vertices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State<'a> {
    /// m.
    pub(crate) x: &'a [Vec3A],
    /// m/s.
    pub(crate) v: &'a [Vec3A],
    /// Per column: position (m) and velocity (m/s) of the continuation of the hair below its root.
    pub(crate) below: &'a [[Vec3A; 2]],
    /// Per stitch: whether it is open.
    pub(crate) open: &'a [bool],
    /// Per vertex: for how long it has been stuck (s).
    pub(crate) stuck: &'a [f32],
}

/// Fraction of its volume at which a corner that was inverted is released again: a half. Less, and a corner
/// that oscillates about flatness would gain and lose its restoring spring in turns.
const REGAINED_VOLUME: f32 = 0.5;

/// Corners of prisms in a piece of the head: about a thousand vertices, whose part of the matrix is half a
/// megabyte. With a mesh of 50,000 vertices in one piece forces take half as long again.
const PIECE: usize = 8000;

/// Adds all conditions to the matrix's diagonal and lower half and to the right-hand side (kg m/s), and marks the
/// vertices of corners that are flat or inverted, or have been so and have not yet regained half of their volume.
pub(crate) fn assemble(
    elements: &Elements,
    implicit: Implicit,
    state: State<'_>,
    matrix: &mut BlockMatrix,
    rhs: &mut [Vec3A],
    stuck: &mut [bool],
) {
    let Implicit { h, friction_time } = implicit;
    // Factors of a condition's rate, and of its stiffness.
    let ahead = h + friction_time;
    let scale = h * ahead;
    // Assemble all kinds of conditions region by region, so that the blocks they add to are in the cache.
    let pieces = elements.corners.len().div_ceil(PIECE).max(1);
    for piece in 0..pieces {
        let implicit = [h, ahead];
        add_edges(piece_of(&elements.edges, piece, pieces), implicit, state, matrix, rhs);
        add_quads(piece_of(&elements.quads, piece, pieces), implicit, state, matrix, rhs);
        add_corners(
            piece_of(&elements.corners, piece, pieces),
            implicit,
            state,
            matrix,
            rhs,
            stuck,
        );
        for hinge in piece_of(&elements.hinges, piece, pieces) {
            add_hinge(elements, hinge, implicit, state, matrix, rhs);
        }
    }
    for (stitch, open) in elements.stitches.iter().zip(state.open) {
        let [a, b] = stitch.vertices.map(|v| v as usize);
        let Some(stiffness) = stitch.holds(*open, state.x[a].distance(state.x[b])) else {
            continue;
        };
        let gap = state.x[b] - state.x[a] + (state.v[b] - state.v[a]) * ahead;
        let push = gap * (h * stiffness);
        rhs[a] += push;
        rhs[b] -= push;
        let k = Mat3A::from_diagonal(glam::Vec3::splat(stiffness * scale));
        matrix.diagonal[a] += k;
        matrix.diagonal[b] += k;
        matrix.blocks_mut()[stitch.block as usize] -= k;
    }
}

/// The part of a list that belongs to one of `pieces` pieces of the head: all lists go along the columns.
fn piece_of<T>(all: &[T], piece: usize, pieces: usize) -> &[T] {
    &all[all.len() * piece / pieces..all.len() * (piece + 1) / pieces]
}

/// Shear in the middle of quads.
fn add_quads(
    quads: &[Quad],
    [h, ahead]: [f32; 2],
    state: State<'_>,
    matrix: &mut BlockMatrix,
    rhs: &mut [Vec3A],
) {
    let scale = h * ahead;
    for quad in quads {
        let i = quad.corners.map(|v| v as usize);
        let c = shear_condition(i.map(|v| state.x[v]), quad.inverse_lengths, quad.rest);
        let (p, q) = (c.third, c.second);
        let rate = p.dot(state.v[i[2]] - state.v[i[0]]) + q.dot(state.v[i[1]] - state.v[i[3]]);
        let push = h * quad.stiffness * (c.value + ahead * rate);
        rhs[i[0]] += p * push;
        rhs[i[1]] -= q * push;
        rhs[i[2]] -= p * push;
        rhs[i[3]] += q * push;
        let k = quad.stiffness * scale;
        let (pp, qq, pq) = (outer(p * k, p), outer(q * k, q), outer(p * k, q));
        let qp = pq.transpose();
        matrix.diagonal[i[0]] += pp;
        matrix.diagonal[i[1]] += qq;
        matrix.diagonal[i[2]] += pp;
        matrix.diagonal[i[3]] += qq;
        // Gradients are -p, q, p, -q; a block is the later corner's times the earlier's.
        let turn = |bit: u8, one: Mat3A, other: Mat3A| {
            if quad.turned >> bit & 1 == 1 { other } else { one }
        };
        let blocks = matrix.blocks_mut();
        blocks[quad.blocks[0] as usize] -= turn(0, qp, pq);
        blocks[quad.blocks[1] as usize] -= pp;
        blocks[quad.blocks[2] as usize] += turn(2, qp, pq);
        blocks[quad.blocks[3] as usize] += turn(3, pq, qp);
        blocks[quad.blocks[4] as usize] -= qq;
        blocks[quad.blocks[5] as usize] -= turn(5, qp, pq);
    }
}

/// Volume in the corners of prisms.
fn add_corners(
    corners: &[Corner],
    [h, ahead]: [f32; 2],
    state: State<'_>,
    matrix: &mut BlockMatrix,
    rhs: &mut [Vec3A],
    stuck: &mut [bool],
) {
    let scale = h * ahead;
    for corner in corners {
        let i = corner.vertices.map(|v| v as usize);
        let c = volume_condition(i.map(|v| state.x[v]), corner.inverse_reference, corner.rest);
        let g = c.gradients;
        // V / V0 is the value over the rest value, plus 1.
        let fraction = c.value / (corner.rest * corner.inverse_reference) + 1.0;
        // An inverted corner is stuck until it has regained half of its volume.
        if fraction < REGAINED_VOLUME && corner.stiffness > 0.0 {
            for v in i {
                stuck[v] |= fraction <= 0.0 || state.stuck[v] > 0.0;
            }
        }
        let v = i.map(|v| state.v[v]);
        let rate = g[1].dot(v[1] - v[0]) + g[2].dot(v[2] - v[0]) + g[3].dot(v[3] - v[0]);
        let push = h * corner.stiffness * (c.value + ahead * rate);
        let k = corner.stiffness * scale;
        let scaled = g.map(|g| g * k);
        for a in 0..4 {
            rhs[i[a]] -= g[a] * push;
            matrix.diagonal[i[a]] += outer(scaled[a], g[a]);
        }
        let blocks = matrix.blocks_mut();
        blocks[corner.blocks[0] as usize] += outer(scaled[1], g[0]);
        blocks[corner.blocks[1] as usize] += outer(scaled[2], g[0]);
        blocks[corner.blocks[2] as usize] += outer(scaled[3], g[0]);
        blocks[corner.blocks[3] as usize] += outer(scaled[2], g[1]);
        blocks[corner.blocks[4] as usize] += outer(scaled[3], g[1]);
        blocks[corner.blocks[5] as usize] += outer(scaled[3], g[2]);
    }
}

/// Stretch along edges.
fn add_edges(
    edges: &[Edge],
    [h, ahead]: [f32; 2],
    state: State<'_>,
    matrix: &mut BlockMatrix,
    rhs: &mut [Vec3A],
) {
    let scale = h * ahead;
    for edge in edges {
        let [a, b] = edge.vertices.map(|v| v as usize);
        let c = stretch_condition(state.x[a], state.x[b], edge.inverse_rest);
        let value = c.value + edge.offset;
        let moving = state.v[b] - state.v[a];
        let g = c.gradient;
        // A stretched edge resists transverse motion; the negative term of a compressed one is dropped.
        let taut = edge.stiffness * value.max(0.0) * c.across;
        let across = moving - c.direction * c.direction.dot(moving);
        let push = g * (edge.stiffness * (value + ahead * g.dot(moving))) + across * (taut * h);
        rhs[a] += push * h;
        rhs[b] -= push * h;
        let taut = taut * h * h;
        let u = c.direction;
        let along = edge.stiffness * scale * edge.inverse_rest * edge.inverse_rest - taut;
        let block = outer(u * along, u) + Mat3A::from_diagonal(glam::Vec3::splat(taut));
        matrix.diagonal[a] += block;
        matrix.diagonal[b] += block;
        matrix.blocks_mut()[edge.block as usize] -= block;
    }
}

/// Bending about one vertex, with all of its axes at once.
fn add_hinge(
    elements: &Elements,
    hinge: &Hinge,
    [h, ahead]: [f32; 2],
    state: State<'_>,
    matrix: &mut BlockMatrix,
    rhs: &mut [Vec3A],
) {
    let here = hinge.vertex as usize;
    let after = here + 1;
    let (before, [x_before, v_before]) = match hinge.root {
        Some(column) => (here, state.below[column as usize]),
        None => (here - 1, [state.x[here - 1], state.v[here - 1]]),
    };
    // Sums over axes: before-before, here-before, here-here, after-before, after-here, after-after.
    let mut sum = [Mat3A::ZERO; 6];
    let mut force = [Vec3A::ZERO; 3];
    let wings = &elements.wings[hinge.first as usize..][..hinge.count as usize];
    for wing in wings {
        let b = wing.neighbour as usize;
        let x = [state.x[here], state.x[b], x_before, state.x[after]];
        let c = bend_condition(x, wing.rest, wing.min_length);
        let [g_a, g_b, g_before, g_after] = c.gradients;
        let rate = g_a.dot(state.v[here])
            + g_b.dot(state.v[b])
            + g_before.dot(v_before)
            + g_after.dot(state.v[after]);
        let push = h * wing.stiffness * (c.force + ahead * c.slope * rate);
        force[0] -= g_before * push;
        force[1] -= g_a * push;
        force[2] -= g_after * push;
        rhs[b] -= g_b * push;
        let k = wing.stiffness * c.slope * h * ahead;
        let (k_before, k_a, k_after) = (g_before * k, g_a * k, g_after * k);
        sum[0] += outer(k_before, g_before);
        sum[1] += outer(k_a, g_before);
        sum[2] += outer(k_a, g_a);
        sum[3] += outer(k_after, g_before);
        sum[4] += outer(k_after, g_a);
        sum[5] += outer(k_after, g_after);
        matrix.diagonal[b] += outer(g_b * k, g_b);
        // A block is the later vertex's gradient times the earlier's.
        let blocks = matrix.blocks_mut();
        for (place, other) in wing.blocks.iter().zip([k_before, k_a, k_after]) {
            let block = if wing.is_later { outer(g_b, other) } else { outer(other, g_b) };
            blocks[*place as usize] += block;
        }
    }
    rhs[before] += force[0];
    rhs[here] += force[1];
    rhs[after] += force[2];
    matrix.diagonal[before] += sum[0];
    matrix.diagonal[here] += sum[2];
    matrix.diagonal[after] += sum[5];
    let blocks = matrix.blocks_mut();
    blocks[hinge.blocks[0] as usize] += sum[1];
    blocks[hinge.blocks[1] as usize] += sum[4];
    blocks[hinge.blocks[2] as usize] += sum[3];
}
