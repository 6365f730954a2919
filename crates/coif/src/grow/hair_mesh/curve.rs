//! The curves of the points of a block in the deformed mesh, row by row in lanes: the formulas of `place.rs` for
//! sixteen points at a time, operation by operation the same.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};
use glam::{Vec3, Vec3A};

use super::blocks::{Block, Blocks, Piece, Row};
use super::lay::Moving;
use super::place::NOTHING;
use crate::groom::hair_mesh::Frame;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x, lane, set_lane};

/// Rows of a curve that are kept at a time: the lanes of a block are seldom this far apart.
const KEPT: usize = 64;

/// Prefetch distance, in rows.
const FETCHED: usize = 12;

/// Rows that are computed together.
const AHEAD: usize = 6;

/// The frames of the mesh, and how fast they change.
#[derive(Clone, Copy)]
pub(super) struct MeshFrames<'a> {
    pub(super) now: &'a [Frame],
    pub(super) rates: &'a [Frame],
}

/// Points in lanes, with velocities if they are needed, else with nothing.
#[derive(Clone, Copy)]
pub(super) struct MovingLanes<S: Simd> {
    pub(super) at: Vec3x<S>,
    pub(super) velocity: Vec3x<S>,
}

/// A row of points: positions (m), and velocities (m/s) if they are needed.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct PointRow {
    pub(super) at: [f32; VECTOR],
    pub(super) velocity: [f32; VECTOR],
}

impl PointRow {
    pub(super) const NONE: Self = Self { at: [0.0; VECTOR], velocity: [0.0; VECTOR] };

    #[inline(always)]
    pub(super) fn load<S: Simd, const RATES: bool>(&self, simd: S) -> MovingLanes<S> {
        let at = Vec3x::of_row(simd, &self.at);
        let still = Vec3x::splat(simd, Vec3::ZERO);
        let velocity = if RATES { Vec3x::of_row(simd, &self.velocity) } else { still };
        MovingLanes { at, velocity }
    }

    #[inline(always)]
    pub(super) fn store<S: Simd, const RATES: bool>(&mut self, points: &MovingLanes<S>) {
        points.at.to_row(&mut self.at);
        if RATES {
            points.velocity.to_row(&mut self.velocity);
        }
    }

    /// One lane.
    pub(super) fn lane(&self, k: usize) -> Moving {
        Moving { at: lane(&self.at, 0, k).into(), velocity: lane(&self.velocity, 0, k).into() }
    }

    /// Replaces one lane.
    pub(super) fn set_lane(&mut self, k: usize, to: Moving) {
        set_lane(&mut self.at, 0, k, to.at.into());
        set_lane(&mut self.velocity, 0, k, to.velocity.into());
    }
}

/// Memory for the rows of a curve.
pub(super) struct CurveRows {
    points: [PointRow; KEPT],
    blended: [[BlendRow; 2]; AHEAD],
}

impl CurveRows {
    pub(super) const EMPTY: Self =
        Self { points: [PointRow::NONE; KEPT], blended: [[BlendRow::NONE; 2]; AHEAD] };
}

/// The curves of a block's strands.
pub(super) struct Curve<'a> {
    blocks: &'a Blocks,
    block: &'a Block,
    mesh_frames: MeshFrames<'a>,
    rows: &'a mut CurveRows,
    /// The first row that has not been computed.
    next: usize,
}

impl<'a> Curve<'a> {
    /// The row of roots does not belong to a curve.
    #[inline(always)]
    pub(super) fn new(
        blocks: &'a Blocks,
        block: &'a Block,
        mesh_frames: MeshFrames<'a>,
        rows: &'a mut CurveRows,
    ) -> Self {
        Self { blocks, block, mesh_frames, rows, next: 1 }
    }

    /// Computes rows from `first` on, as many as can be kept.
    #[inline(always)]
    pub(super) fn prepare<S: Simd, const RATES: bool>(&mut self, simd: S, first: usize) {
        let end = (first + KEPT).min(self.block.rows);
        while self.next < end {
            // First all frames, then all points: the latency of one row's square roots and quotients overlaps with
            // those of the next.
            let count = AHEAD.min(end - self.next);
            let from = self.block.first_row + self.next;
            for (k, to) in self.rows.blended.iter_mut().take(count).enumerate() {
                self.blocks.prefetch(simd, from + k + FETCHED);
                let (row, pieces) = self.blocks.row(from + k);
                blend_row::<S, RATES>(simd, row, pieces, self.mesh_frames, to);
            }
            for (k, frames) in self.rows.blended.iter().take(count).enumerate() {
                let to = &mut self.rows.points[(self.next + k) % KEPT];
                points_row::<S, RATES>(simd, self.blocks.row(from + k).0, frames, to);
            }
            self.next += count;
        }
    }

    /// A row of the block, for all lanes.
    #[inline(always)]
    pub(super) fn row<S: Simd, const RATES: bool>(&self, simd: S, i: usize) -> MovingLanes<S> {
        if i < self.next && i + KEPT >= self.next {
            self.rows.points[i % KEPT].load::<S, RATES>(simd)
        } else {
            self.lone_row::<RATES>(i).load::<S, RATES>(simd)
        }
    }

    /// A row that is no longer kept: lanes that are far apart on their curves.
    #[cold]
    #[inline(never)]
    fn lone_row<const RATES: bool>(&self, i: usize) -> PointRow {
        let mut row = PointRow::NONE;
        for lane in 0..LANES {
            if let Some(place) = self.blocks.place(self.block.first_row + i, lane) {
                let MeshFrames { now, rates } = self.mesh_frames;
                let still = || Moving { at: place.position(now), velocity: Vec3A::ZERO };
                row.set_lane(lane, if RATES { place.moving(now, rates) } else { still() });
            }
        }
        row
    }
}

/// A blend of frames in lanes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct BlendRow {
    position: [f32; VECTOR],
    along: [f32; VECTOR],
    across: [f32; VECTOR],
}

impl BlendRow {
    const NONE: Self =
        Self { position: [0.0; VECTOR], along: [0.0; VECTOR], across: [0.0; VECTOR] };
}

/// The frames at the places of a row; see [`super::place::Place`].
#[inline(always)]
fn blend_row<S: Simd, const RATES: bool>(
    simd: S,
    row: &Row,
    pieces: &[Piece],
    mesh_frames: MeshFrames<'_>,
    to: &mut [BlendRow; 2],
) {
    let one = f32x16::splat(simd, 1.0);
    let u = f32x16::from_slice(simd, &row.at[0]);
    let v = f32x16::from_slice(simd, &row.at[1]);
    let along = f32x16::from_slice(simd, &row.along);
    for (k, piece) in pieces.iter().enumerate() {
        let weights = if piece.corners == 3 {
            [one - u - v, u, v, f32x16::splat(simd, 0.0)]
        } else {
            [(one - u) * (one - v), u * (one - v), u * v, (one - u) * v]
        };
        // Lanes in other bundles keep theirs.
        let lanes = mask32x16::from_bitmask(simd, u64::from(piece.lanes));
        let lanes = (k > 0).then_some(lanes);
        blend(simd, mesh_frames.now, piece, &weights, along).store(simd, &mut to[0], lanes);
        if RATES {
            blend(simd, mesh_frames.rates, piece, &weights, along).store(simd, &mut to[1], lanes);
        }
    }
}

/// The points of a row beside these frames; see [`super::place::Place::moving`].
#[inline(always)]
fn points_row<S: Simd, const RATES: bool>(
    simd: S,
    row: &Row,
    [now, rates]: &[BlendRow; 2],
    to: &mut PointRow,
) {
    let position = Vec3x::of_row(simd, &now.position);
    let (along, across) = (Vec3x::of_row(simd, &now.along), Vec3x::of_row(simd, &now.across));
    let x = f32x16::from_slice(simd, &row.offset[0]);
    let y = f32x16::from_slice(simd, &row.offset[1]);
    let z = f32x16::from_slice(simd, &row.offset[2]);
    let aa = along.dot(along);
    let ac = across.dot(along);
    let n = across * aa - along * ac;
    let (size, width) = (aa.sqrt(), n.length());
    let r = f32x16::splat(simd, 1.0) / (size * width).max(f32x16::splat(simd, NOTHING));
    let (shrink, narrow) = (width * r, size * r);
    let at = position + along * (shrink * x) + n * (narrow * y) + along.cross(n) * (r * z);
    at.to_row(&mut to.at);
    if !RATES {
        return;
    }
    let (d_along, d_across) =
        (Vec3x::of_row(simd, &rates.along), Vec3x::of_row(simd, &rates.across));
    let (t, n) = (along * shrink, n * narrow);
    let dt = (d_along - t * t.dot(d_along)) * shrink;
    let dn = d_across - dt * (ac * shrink) - t * (d_across.dot(t) + across.dot(dt));
    let dn = (dn - n * n.dot(dn)) * (aa * narrow);
    let db = dt.cross(n) + t.cross(dn);
    let velocity = Vec3x::of_row(simd, &rates.position) + dt * x + dn * y + db * z;
    velocity.to_row(&mut to.velocity);
}

/// A blend of frames.
struct Blend<S: Simd> {
    position: Vec3x<S>,
    along: Vec3x<S>,
    across: Vec3x<S>,
}

impl<S: Simd> Blend<S> {
    /// Writes all lanes, or some.
    #[inline(always)]
    fn store(&self, simd: S, to: &mut BlendRow, lanes: Option<mask32x16<S>>) {
        store_some(simd, self.position, &mut to.position, lanes);
        store_some(simd, self.along, &mut to.along, lanes);
        store_some(simd, self.across, &mut to.across, lanes);
    }
}

#[inline(always)]
fn store_some<S: Simd>(
    simd: S,
    value: Vec3x<S>,
    to: &mut [f32; VECTOR],
    lanes: Option<mask32x16<S>>,
) {
    match lanes {
        None => value.to_row(to),
        Some(lanes) => value.or(lanes, Vec3x::of_row(simd, to)).to_row(to),
    }
}

/// The blend of a bundle's frames with weights per lane, so many layers from the root.
#[inline(always)]
fn blend<S: Simd>(
    simd: S,
    frames: &[Frame],
    piece: &Piece,
    weights: &[f32x16<S>; 4],
    along: f32x16<S>,
) -> Blend<S> {
    let mut lower = level(simd, frames, piece, weights, 0);
    let mut upper = level(simd, frames, piece, weights, 1);
    let mut below = f32x16::splat(simd, piece.level);
    // Lanes in higher layers take the levels around those.
    let mut last = upper;
    for k in 1..piece.layers {
        let next = level(simd, frames, piece, weights, k as usize + 1);
        let floor = f32x16::splat(simd, piece.level + k as f32);
        let higher = along.simd_ge(floor);
        below = higher.select(floor, below);
        for i in 0..3 {
            lower[i] = last[i].or(higher, lower[i]);
            upper[i] = next[i].or(higher, upper[i]);
        }
        last = next;
    }
    let one = f32x16::splat(simd, 1.0);
    let s = along - below;
    let r = one - s;
    let h00 = (s * 2.0 + 1.0) * r * r;
    let h10 = s * r * r;
    let h01 = s * s * (f32x16::splat(simd, 3.0) - s * 2.0);
    let h11 = -(s * s * r);
    Blend {
        position: lower[0] * h00 + lower[1] * h10 + upper[0] * h01 + upper[1] * h11,
        along: lower[1] * h00 + upper[1] * h01,
        across: lower[2] * h00 + upper[2] * h01,
    }
}

/// Position, direction along and direction across of one of a bundle's levels, from a piece's lowest on.
#[inline(always)]
fn level<S: Simd>(
    simd: S,
    frames: &[Frame],
    piece: &Piece,
    weights: &[f32x16<S>; 4],
    up: usize,
) -> [Vec3x<S>; 3] {
    let mut sum = corner(simd, &frames[piece.lower[0] as usize + up], weights[0]);
    for i in 1..4 {
        let part = corner(simd, &frames[piece.lower[i] as usize + up], weights[i]);
        sum[0] += part[0];
        sum[1] += part[1];
        sum[2] += part[2];
    }
    sum
}

/// The contribution of one vertex.
#[inline(always)]
fn corner<S: Simd>(simd: S, frame: &Frame, weight: f32x16<S>) -> [Vec3x<S>; 3] {
    [
        spread(simd, &frame.position) * weight,
        spread(simd, &frame.along) * weight,
        spread(simd, &frame.across) * weight,
    ]
}

/// One vector in all lanes.
#[inline(always)]
fn spread<S: Simd>(simd: S, v: &Vec3A) -> Vec3x<S> {
    Vec3x { x: f32x16::splat(simd, v.x), y: f32x16::splat(simd, v.y), z: f32x16::splat(simd, v.z) }
}

/// Where the strands of a block begin.
///
/// Model: as [`super::place::Root`].
#[inline(always)]
pub(super) fn roots<S: Simd, const RATES: bool>(
    simd: S,
    block: &Block,
    mesh_frames: MeshFrames<'_>,
) -> MovingLanes<S> {
    let mut at = [[0.0; LANES]; 3];
    for (k, root) in block.roots.iter().enumerate() {
        (0..3).for_each(|i| at[i][k] = root.at[i]);
    }
    let a = f32x16::from_slice(simd, &at[0]);
    let b = f32x16::from_slice(simd, &at[1]);
    let h = f32x16::from_slice(simd, &at[2]);
    let [o, u, v] = corner_sides(simd, block, mesh_frames.now);
    let m = u.cross(v);
    let shrink = f32x16::splat(simd, 1.0) / m.length().max(f32x16::splat(simd, NOTHING));
    let normal = m * shrink;
    let place = o + u * a + v * b + normal * h;
    if !RATES {
        return MovingLanes { at: place, velocity: Vec3x::splat(simd, Vec3::ZERO) };
    }
    let [first, du, dv] = corner_sides(simd, block, mesh_frames.rates);
    let dm = du.cross(v) + u.cross(dv);
    let turn = (dm - normal * normal.dot(dm)) * shrink;
    MovingLanes { at: place, velocity: first + du * a + dv * b + turn * h }
}

/// The first corner of the roots' triangles, and the edges from it to the others.
#[inline(always)]
fn corner_sides<S: Simd>(simd: S, block: &Block, frames: &[Frame]) -> [Vec3x<S>; 3] {
    let mut rows = [[0.0; VECTOR]; 3];
    for (k, root) in block.roots.iter().enumerate() {
        for (row, &c) in rows.iter_mut().zip(&root.corners) {
            set_lane(row, 0, k, frames[c as usize].position.into());
        }
    }
    let o = Vec3x::of_row(simd, &rows[0]);
    [o, Vec3x::of_row(simd, &rows[1]) - o, Vec3x::of_row(simd, &rows[2]) - o]
}
