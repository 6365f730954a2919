//! Strands in strips, sixteen at a time: what `binding.rs` does point by point, operation by operation the same.
//!
//! Strands are put together by strip and number of points: then the points of a row hang on the same joint, or on few,
//! and their frames are read once for all of them.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8, f32x16, mask32x16};
use glam::Vec3;

use super::binding::HungPoint;
use super::turn_out::Turning;
use crate::collide::{Near, PosedShape, PosedShapes};
use crate::environment::{FieldObstacle, GrowEnvironment, Onward};
use crate::groom::strips::StripPose;
use crate::math::LANES;
use crate::math::lane_layout::{LanePlaces, PlacedBlock, WriteBlock};
use crate::math::lanes::{HALF, VECTOR, Vec3x, lane, set_lane};
use crate::math::lines::{Line, WRITTEN, write_rows};
use crate::model::cantilever::STRAIGHT;

/// The same point of sixteen strands, counted from the root: see [`HungPoint`].
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Row {
    fraction: [f32; LANES],
    offset: [[f32; VECTOR]; 2],
    length: [f32; LANES],
    /// Clearance of each point from the body (m).
    room: [f32; LANES],
    /// Which lanes hold a point, and which of those are embedded.
    present: u16,
    embedded: u16,
    /// Where the joints that they hang on begin; where those of the row before do, if they are the same.
    first_piece: u32,
}

impl Row {
    const NONE: Self = Self {
        fraction: [0.0; LANES],
        offset: [[0.0; VECTOR]; 2],
        length: [0.0; LANES],
        room: [0.0; LANES],
        present: 0,
        embedded: 0,
        first_piece: 0,
    };
}

/// The joint that the points of some lanes of a row hang on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    joint: u32,
    lanes: u16,
}

/// All strands.
pub(super) struct HungLanes {
    rows: Vec<Row>,
    pieces: Vec<Piece>,
    places: LanePlaces,
}

/// Surroundings of the strands.
pub(super) struct Around<'a> {
    pub(super) pose: &'a StripPose,
    pub(super) shapes: &'a PosedShapes,
    pub(super) env: &'a GrowEnvironment<'a>,
    pub(super) onward: Option<&'a Onward<'a>>,
    /// First joint of every strip, and the total; and which strip each strand is in.
    pub(super) first_joint: &'a [u32],
    pub(super) strip_of_strand: &'a [u32],
    /// Largest distance of a strand from the joints of its strip (m).
    pub(super) reach: f32,
}

impl HungLanes {
    /// Lays out strands whose points hang on joints. `first` is the first point of every strand, and the total.
    pub(super) fn new(
        first: &[u32],
        embedded: &[u32],
        strip_of_strand: &[u32],
        hung: &[HungPoint],
    ) -> Self {
        let count = |s: u32| (first[s as usize + 1] - first[s as usize]) as usize;
        let mut order: Vec<u32> = (0..embedded.len() as u32).collect();
        order.sort_by_key(|&s| (strip_of_strand[s as usize], count(s), s));
        let (mut rows, mut pieces) = (Vec::new(), Vec::<Piece>::new());
        let mut blocks: Vec<(&[u32], usize)> = Vec::new();
        for strands in order.chunks(LANES) {
            let points = strands.iter().map(|&s| count(s)).max().unwrap_or(0);
            // Where the pieces of the row before begin.
            let mut before = pieces.len();
            for i in 0..points {
                let mut row = Row { first_piece: pieces.len() as u32, ..Row::NONE };
                for (l, &s) in strands.iter().enumerate().filter(|(_, s)| i < count(**s)) {
                    let point = &hung[first[s as usize] as usize + i];
                    row.present |= 1 << l;
                    row.fraction[l] = point.fraction;
                    row.length[l] = point.length;
                    for (to, offset) in row.offset.iter_mut().zip(point.offset) {
                        set_lane(to, 0, l, offset);
                    }
                    if i < embedded[s as usize] as usize {
                        row.embedded |= 1 << l;
                        continue;
                    }
                    let known = &mut pieces[row.first_piece as usize..];
                    match known.iter_mut().find(|piece: &&mut Piece| piece.joint == point.joint) {
                        Some(piece) => piece.lanes |= 1 << l,
                        None => pieces.push(Piece { joint: point.joint, lanes: 1 << l }),
                    }
                }
                let here = row.first_piece as usize;
                if pieces[before..here] == pieces[here..] {
                    pieces.truncate(here);
                    row.first_piece = before as u32;
                }
                before = row.first_piece as usize;
                rows.push(row);
            }
            blocks.push((strands, points));
        }
        Self { rows, pieces, places: LanePlaces::new(first, blocks) }
    }

    /// Sets the clearance of each point from the body (m), in the groom's order.
    pub(super) fn set_room(&mut self, room: &[f32]) {
        for (strand, &(row, lane)) in self.places.of_lines().iter().enumerate() {
            for (i, room) in room[self.places.points_of(strand)].iter().enumerate() {
                self.rows[row as usize + i].room[lane as usize] = *room;
            }
        }
    }

    /// Uses another instruction set.
    #[cfg(test)]
    pub(super) fn set_level(&mut self, level: fearless_simd::Level) {
        self.places.set_level(level);
    }

    /// Writes the positions of the strands (m), in the groom's order.
    pub(super) fn positions(&self, around: &Around<'_>, out: &mut [Vec3]) {
        self.places.write_blocks(out, &Placing { hung: self, around });
    }
}

struct Placing<'a> {
    hung: &'a HungLanes,
    around: &'a Around<'a>,
}

impl WriteBlock for Placing<'_> {
    #[inline(always)]
    fn write<S: Simd>(&self, simd: S, block: &PlacedBlock, lines: &mut [Line<'_, 1>]) {
        let Around { pose, env, onward, .. } = self.around;
        let near = self.near(simd, block);
        // No closures around operations in lanes: they are compiled without the instruction set.
        let mut carried = None;
        if let Some(onward) = onward {
            carried = Some(onward.carried(simd, &block.lines));
        }
        let rows = &self.hung.rows[block.rows.clone()];
        let mut laid = [[0.0; VECTOR]; WRITTEN];
        // The point before, and the segment to it.
        let mut parent = Vec3x::splat(simd, Vec3::ZERO);
        let mut last = parent;
        let mut first = 0;
        // Frames of joints, and where the pieces begin that they are for.
        let mut joints = [[parent; 4]; 2];
        let mut joints_of = u32::MAX;
        for (i, row) in rows.iter().enumerate() {
            let mut here = parent;
            for l in Bits(row.embedded) {
                let root = &env.world_from_rest[block.lines[l] as usize];
                here.set_lane(l, root.point(lane(&row.offset[0], 0, l)));
            }
            let free = row.present & !row.embedded;
            if free != 0 {
                let pieces = &self.hung.pieces[row.first_piece as usize..];
                if joints_of != row.first_piece {
                    joints = self.joints(simd, pieces, free);
                    joints_of = row.first_piece;
                }
                let target = target(simd, row, &joints);
                let mut along = normalized(simd, target - parent, free, |l| {
                    let (joint, _) = joint_of(pieces, l);
                    let ahead = if i > 1 { last.lane(l) } else { pose.tangent[joint] };
                    ahead.normalize_or(Vec3::NEG_Y)
                });
                let segment = Segments {
                    parent,
                    length: f32x16::from_slice(simd, &row.length),
                    room: f32x16::from_slice(simd, &row.room),
                    free,
                };
                along = segment.leave(simd, along, &near, env.field.as_ref());
                let to = parent + along * segment.length;
                here = to.or(mask32x16::from_bitmask(simd, free.into()), here);
            }
            (last, parent) = (here - parent, here);
            let drawn = if let Some(carried) = &carried { carried.point(here) } else { here };
            drawn.to_row(&mut laid[i - first]);
            if i + 1 - first == WRITTEN || i + 1 == rows.len() {
                let row = |k: usize| Vec3x::of_row(simd, &laid[k]);
                write_rows(simd, row, i + 1 - first, first, lines);
                first = i + 1;
            }
        }
    }
}

/// The joint of a lane, and its piece.
fn joint_of(pieces: &[Piece], l: usize) -> (usize, usize) {
    let k = pieces.iter().position(|piece| piece.lanes >> l & 1 == 1).unwrap_or(0);
    (pieces[k].joint as usize, k)
}

impl Placing<'_> {
    /// The shapes that strands may collide with: those near their strips.
    #[inline(always)]
    fn near<S: Simd>(&self, simd: S, block: &PlacedBlock) -> Near<'_> {
        let Around { pose, shapes, first_joint, strip_of_strand, reach, .. } = self.around;
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut done = u32::MAX;
        for &strand in &block.lines {
            let strip = strip_of_strand[strand as usize];
            if strip == done {
                continue;
            }
            done = strip;
            let [from, to] = [0, 1].map(|k| first_joint[strip as usize + k] as usize);
            let line = &pose.position[from..to];
            (lo, hi) = line.iter().fold((lo, hi), |(lo, hi), &p| (lo.min(p), hi.max(p)));
        }
        Near::pick(simd, shapes, 0.5 * (lo + hi), 0.5 * (hi - lo).length() + reach)
    }

    /// Position, tangent, normal and binormal of the joint before and the joint behind the points of a row.
    #[inline(always)]
    fn joints<S: Simd>(&self, simd: S, pieces: &[Piece], free: u16) -> [[Vec3x<S>; 4]; 2] {
        let pose = self.around.pose;
        let mut joints = [[Vec3x::splat(simd, Vec3::ZERO); 3]; 2];
        let mut left = free;
        for (n, piece) in pieces.iter().enumerate() {
            let lanes = mask32x16::from_bitmask(simd, piece.lanes.into());
            for (k, joint) in joints.iter_mut().enumerate() {
                let j = piece.joint as usize + k;
                let of = [pose.position[j], pose.tangent[j], pose.binormal[j]];
                for (to, v) in joint.iter_mut().zip(of) {
                    let v = Vec3x::splat(simd, v);
                    *to = if n == 0 { v } else { v.or(lanes, *to) };
                }
            }
            left &= !piece.lanes;
            if left == 0 {
                break;
            }
        }
        let [[a, along_a, across_a], [b, along_b, across_b]] = joints;
        [
            [a, along_a, along_a.cross(across_a), across_a],
            [b, along_b, along_b.cross(across_b), across_b],
        ]
    }
}

/// The positions of the points of a row by the joints beside them.
#[inline(always)]
fn target<S: Simd>(simd: S, row: &Row, joints: &[[Vec3x<S>; 4]; 2]) -> Vec3x<S> {
    let a = beside_joint(simd, &joints[0], &row.offset[0]);
    let b = beside_joint(simd, &joints[1], &row.offset[1]);
    let fraction = f32x16::from_slice(simd, &row.fraction);
    a * (f32x16::splat(simd, 1.0) - fraction) + b * fraction
}

/// Points with these offsets (m) in the frames of joints.
#[inline(always)]
fn beside_joint<S: Simd>(
    simd: S,
    &[position, tangent, normal, binormal]: &[Vec3x<S>; 4],
    offset: &[f32; VECTOR],
) -> Vec3x<S> {
    let offset = Vec3x::of_row(simd, offset);
    position + (tangent * offset.x + normal * offset.y + binormal * offset.z)
}

/// Unit vectors, or others in those of some lanes where there is no direction.
#[inline(always)]
fn normalized<S: Simd>(
    simd: S,
    v: Vec3x<S>,
    lanes: u16,
    other: impl Fn(usize) -> Vec3,
) -> Vec3x<S> {
    let inverse = f32x16::splat(simd, 1.0) / v.length();
    let fine = inverse.simd_gt(0.0) & inverse.simd_lt(f32::INFINITY);
    let mut unit = v * inverse;
    for l in Bits(lanes & !(fine.to_bitmask() as u16)) {
        unit.set_lane(l, other(l));
    }
    unit
}

/// The numbers of the bits that are set.
struct Bits(u16);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let place = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (place < LANES).then_some(place)
    }
}

/// Segments of sixteen strands that can turn about their inner ends: see [`Turning`].
struct Segments<S: Simd> {
    /// Inner ends (m).
    parent: Vec3x<S>,
    length: f32x16<S>,
    room: f32x16<S>,
    /// One bit per lane that has one.
    free: u16,
}

impl<S: Simd> Segments<S> {
    /// The directions nearest to `along` in which segments end outside of all that is near: see [`Turning::leave`].
    #[inline(always)]
    fn leave(
        &self,
        simd: S,
        along: Vec3x<S>,
        near: &Near<'_>,
        field: Option<&FieldObstacle<'_>>,
    ) -> Vec3x<S> {
        let once = self.leave_all(simd, along, near, field);
        let same = once.x.simd_eq(along.x) & once.y.simd_eq(along.y) & once.z.simd_eq(along.z);
        if self.free & !(same.to_bitmask() as u16) == 0 {
            return once;
        }
        let twice = self.leave_all(simd, once, near, field);
        once.or(same, twice)
    }

    #[inline(always)]
    fn leave_all(
        &self,
        simd: S,
        mut along: Vec3x<S>,
        near: &Near<'_>,
        field: Option<&FieldObstacle<'_>>,
    ) -> Vec3x<S> {
        let mut p = self.parent + along * self.length;
        for shape in near.all() {
            // Most shapes are out of reach.
            let reached = shape.may_reach_lanes(simd, p, self.room).to_bitmask() as u16;
            if reached & self.free != 0 {
                along = self.leave_shape(simd, shape, along, p, reached & self.free);
                p = self.parent + along * self.length;
            }
        }
        if let Some(field) = field {
            for l in Bits(self.free & self.below(simd, field, p)) {
                let segment = Turning {
                    parent: self.parent.lane(l),
                    length: self.length[l],
                    room: self.room[l],
                };
                along.set_lane(l, segment.leave_field(field, along.lane(l)));
            }
        }
        along
    }

    /// Turns the segments of some lanes out of a shape.
    #[inline(always)]
    fn leave_shape(
        &self,
        simd: S,
        shape: &PosedShape,
        along: Vec3x<S>,
        p: Vec3x<S>,
        lanes: u16,
    ) -> Vec3x<S> {
        let (out, distance) = shape.tangent_planes(simd, p);
        let hit = mask32x16::from_bitmask(simd, lanes.into()) & distance.simd_lt(self.room);
        if !hit.any_true() {
            return along;
        }
        let one = f32x16::splat(simd, 1.0);
        let into = out.dot(along);
        let c = (into + (self.room - distance) / self.length).min(one);
        let flat = along - out * into;
        let straight = flat.dot(flat).simd_lt(STRAIGHT);
        let mut unit = flat * (one / flat.length());
        if (straight & hit).any_true() {
            for l in Bits((straight & hit).to_bitmask() as u16) {
                unit.set_lane(l, out.lane(l).any_orthonormal_vector());
            }
        }
        let turned = out * c + unit * (one - c * c).max(one * 0.0).sqrt();
        let turned = normalized(simd, turned, hit.to_bitmask() as u16, |l| out.lane(l));
        turned.or(hit, along)
    }

    /// Which of sixteen points may be below their clearance from the body's own surface, or inside.
    #[inline(always)]
    fn below(&self, simd: S, field: &FieldObstacle<'_>, p: Vec3x<S>) -> u16 {
        let (points, room) = (p.halves(), simd.split_f32x16(self.room));
        let mut bits = 0;
        for (half, (p, room)) in points.into_iter().zip([room.0, room.1]).enumerate() {
            let asked = u32::from(self.free) >> (half * HALF) & ((1 << HALF) - 1);
            let (distance, _) = field.slopes(simd, p, asked);
            let limit: f32x8<S> = room + field.skin;
            bits |= (distance.simd_lt(limit).to_bitmask() as u16) << (half * HALF);
        }
        bits
    }
}
