//! Sixteen strands in memory.
//!
//! The state of all strands lies in three arrays that a step streams through once: positions and
//! velocities in rows of sixteen particles (`math::lanes`), tensions in rows of sixteen numbers. A
//! block is a run of rows, one per point, root to tip; it is as long as its longest strand, and
//! shorter ones are continued straight beyond their tips by particles that nothing sees (`last` says
//! where a lane ends). What does not change lies in the block.

use fearless_simd::{Simd, SimdBase, f32x8, f32x16};
use glam::{Mat3, Vec3};

use super::Settings;
use super::style::{self, Stage};
use crate::groom::Groom;
use crate::math::cache::{LineAligned, prefetch};
use crate::math::lanes::{VECTOR, Vec3x, half_row, lane, set_lane};
use crate::math::{LANES, RigidTransform};
use crate::model::Environment;

/// The state of all strands, or of the strands of some blocks.
pub(super) struct Rows<'a> {
    /// Positions (m).
    pub(super) position: &'a mut [f32],
    /// Velocities (m/s).
    pub(super) velocity: &'a mut [f32],
    /// Pull of the next segment on a point: how far it moves it in a step, as a share of the
    /// segment's vector.
    pub(super) tension: &'a mut [f32],
}

impl<'a> Rows<'a> {
    /// The first `rows` rows, and the others.
    pub(super) fn split(self, rows: usize) -> (Self, Self) {
        let (p0, p1) = self.position.split_at_mut(rows * VECTOR);
        let (v0, v1) = self.velocity.split_at_mut(rows * VECTOR);
        let (t0, t1) = self.tension.split_at_mut(rows * LANES);
        (
            Self { position: p0, velocity: v0, tension: t0 },
            Self { position: p1, velocity: v1, tension: t1 },
        )
    }

    pub(super) fn reborrow(&mut self) -> Rows<'_> {
        Rows { position: self.position, velocity: self.velocity, tension: self.tension }
    }

    /// Puts a lane at rest on its rest shape, carried by the body.
    pub(super) fn reset_lane(&mut self, block: &Block, l: usize, world_from_rest: &RigidTransform) {
        for i in 0..block.points {
            let p = world_from_rest.point(lane(&block.rest, i, l));
            set_lane(self.position, i, l, p);
            set_lane(self.velocity, i, l, Vec3::ZERO);
            self.tension[i * LANES + l] = 0.0;
        }
    }

    /// Moves a lane rigidly; velocities turn with it.
    pub(super) fn carry_lane(&mut self, block: &Block, l: usize, motion: &RigidTransform) {
        for i in 0..block.points {
            let (p, v) = (lane(self.position, i, l), lane(self.velocity, i, l));
            set_lane(self.position, i, l, motion.point(p));
            set_lane(self.velocity, i, l, motion.direction(v));
        }
    }
}

/// The rows of the block that comes next, to be fetched while this one is advanced.
#[derive(Clone, Copy, Default)]
pub(super) struct Upcoming<'a> {
    position: &'a [[f32; VECTOR]],
    velocity: &'a [[f32; VECTOR]],
    tension: &'a [[f32; LANES]],
    length: &'a [[f32; LANES]],
    goal: &'a [[f32; VECTOR]],
}

impl<'a> Upcoming<'a> {
    /// The first rows of `rows`, which begin with those of `block`.
    pub(super) fn new(block: &'a Block, rows: &'a Rows<'_>) -> Self {
        Self {
            position: rows.position.as_chunks().0,
            velocity: rows.velocity.as_chunks().0,
            tension: rows.tension.as_chunks().0,
            length: block.length.as_chunks().0,
            goal: block.goal.as_chunks().0,
        }
    }

    /// Asks for row `i`.
    #[inline(always)]
    pub(super) fn fetch<S: Simd>(&self, simd: S, i: usize) {
        #[inline(always)]
        fn row<S: Simd, const N: usize>(simd: S, rows: &[[f32; N]], i: usize) {
            if let Some(row) = rows.get(i) {
                prefetch(simd, row);
            }
        }
        row(simd, self.position, i);
        row(simd, self.velocity, i);
        row(simd, self.tension, i);
        row(simd, self.length, i);
        row(simd, self.goal, i);
    }
}

/// What does not change of up to sixteen strands, and where their roots are.
pub(super) struct Block {
    /// Which strand each lane holds; lanes that are not in use repeat the last one.
    pub(super) strands: [u32; LANES],
    /// How many lanes are in use.
    pub(super) lanes: usize,
    /// Points of the longest strand.
    pub(super) points: usize,
    /// Index of the last point of each lane's strand.
    pub(super) last: [f32; LANES],
    /// Index of the last embedded point of each lane's strand.
    pub(super) last_embedded: [f32; LANES],
    /// Largest number of embedded points in a lane.
    pub(super) most_embedded: usize,

    /// Whether the strands have equally many points and each has segments of one length, nearly.
    pub(super) even: bool,
    /// Distance to the predecessor (m).
    pub(super) length: LineAligned,
    /// Share of a length correction that acts on the predecessor, by length (1/m):
    /// per point, or one row if even, with half of it at the tip.
    pub(super) reaction: LineAligned,
    /// Positions in the rest shape (m).
    pub(super) rest: LineAligned,
    /// Where a point wants to be, from the start of its stage, in the stage's frame (m).
    pub(super) goal: LineAligned,
    /// The stages of the style, in the order of the points at which they begin.
    pub(super) stages: Vec<Stage>,

    /// World from rest at the end of the step: columns of the rotation, then the translation.
    pub(super) root: [[f32; VECTOR]; 4],
    /// World from rest at the start of the step.
    pub(super) root_before: [[f32; VECTOR]; 4],
    /// Velocity of the air at the root (m/s).
    pub(super) wind: [f32; VECTOR],
    /// Room for passes in both directions.
    pub(super) scratch: LineAligned,
    /// What the last step said.
    pub(super) outcome: Outcome,
}

/// What a pass says of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// One bit per lane that is no longer finite.
    pub(super) broken: u32,
    /// Particles left inside the body.
    pub(super) unresolved: u32,
}

/// Segments whose lengths differ by less than this share count as equal for the masses beside them.
const EQUAL: f32 = 1e-3;

/// Straightness above which a line counts as straight for the reactions.
const STRAIGHT: f32 = 0.98;

impl Block {
    pub(super) fn new(
        groom: &Groom,
        strands: &[usize],
        settings: &Settings,
        dt: f32,
        gravity: Vec3,
    ) -> Self {
        let in_lane = |lane: usize| strands[lane.min(strands.len() - 1)];
        let count = |s: usize| groom.strands.points_of(s).len();
        let points = strands.iter().map(|&s| count(s)).max().unwrap_or(0);
        let (styled, two_way) = (settings.style_time.is_finite(), settings.is_two_way());
        let even = strands.iter().all(|&s| {
            let line = groom.strands.strand(s);
            count(s) == points && has_equal_segments(line) && !(styled && is_curly(line))
        });
        let mut block = Self {
            strands: std::array::from_fn(|l| in_lane(l) as u32),
            lanes: strands.len(),
            points,
            last: std::array::from_fn(|l| (count(in_lane(l)) - 1) as f32),
            last_embedded: [0.0; LANES],
            most_embedded: 1,
            even,
            length: LineAligned::zeros(points * LANES),
            reaction: LineAligned::zeros(if even { LANES } else { points * LANES }),
            rest: LineAligned::zeros(points * VECTOR),
            goal: LineAligned::zeros(if styled { points * VECTOR } else { 0 }),
            stages: Vec::new(),
            root: [[0.0; VECTOR]; 4],
            root_before: [[0.0; VECTOR]; 4],
            wind: [0.0; VECTOR],
            scratch: LineAligned::zeros(if two_way { 2 * points * VECTOR } else { 0 }),
            outcome: Outcome::default(),
        };
        for l in 0..LANES {
            let s = in_lane(l);
            let line = groom.strands.strand(s);
            let last = line.len() - 1;
            let embedded = (groom.embedded[s] as usize).clamp(1, last);
            block.last_embedded[l] = (embedded - 1) as f32;
            block.most_embedded = block.most_embedded.max(embedded);
            // Continue straight beyond the tip.
            let step = line[last] - line[last - 1];
            for i in 0..points {
                let p = if i <= last { line[i] } else { line[last] + step * (i - last) as f32 };
                set_lane(&mut block.rest, i, l, p);
            }
            block.set_lengths(l, line, settings.correction, styled);
            if styled {
                let shape = style::RestShape::new(line, embedded, settings, dt, gravity);
                style::lay_out(&mut block, l, &shape);
            }
        }
        block
    }

    /// Lengths, and what a correction of the length does to the predecessor.
    ///
    /// Model: the reaction of a segment on its inner end is `m_i / m_(i-1)` of what it does to its
    /// outer end; a point has half the mass of each segment beside it. The scale `s` of eq. 9 is
    /// spread over the strand, `s^(1/segments)` each, so that it means the same for any number of
    /// points. Where the groom bends, a style holds the hair, and only the part of the pull along the
    /// segment before is felt there ([`straightness`]).
    fn set_lengths(&mut self, l: usize, line: &[Vec3], correction: f32, styled: bool) {
        let last = line.len() - 1;
        let length = |i: usize| line[i].distance(line[i - 1]);
        let scale = correction.powf(1.0 / last as f32);
        let mean = (1..=last).map(length).sum::<f32>() / last as f32;
        let mass = |i: usize| 0.5 * (length(i) + if i < last { length(i + 1) } else { 0.0 });
        for i in 1..self.points {
            let j = i.min(last);
            self.length[i * LANES + l] = length(j);
            if !self.even {
                let mut ratio = if i > last || i == 1 { 0.0 } else { mass(i) / mass(i - 1) };
                if styled && (2..=last).contains(&i) {
                    ratio *= straightness(line, i);
                }
                self.reaction[i * LANES + l] = scale * ratio / length(j);
            }
        }
        if self.even {
            self.reaction[l] = scale / mean;
        }
    }

    /// Lengths of the segments of half the lanes that end at a point (m).
    #[inline(always)]
    pub(super) fn length_row<S: Simd>(&self, simd: S, i: usize, half: usize) -> f32x8<S> {
        half_row(simd, &self.length.as_chunks().0[i], half)
    }

    /// What a correction of a length does to the predecessor of a point.
    #[inline(always)]
    pub(super) fn reaction_row<S: Simd>(&self, simd: S, i: usize, half: usize) -> f32x8<S> {
        let at = if self.even { 0 } else { i };
        let row = half_row(simd, &self.reaction.as_chunks().0[at], half);
        if self.even && i + 1 == self.points { row * 0.5 } else { row }
    }

    /// Length of the segment of a lane that ends at a point (m).
    pub(super) fn length_of(&self, i: usize, l: usize) -> f32 {
        self.length[i * LANES + l]
    }

    /// Brings the root transforms and the wind of the lanes' strands together.
    #[inline(always)]
    pub(super) fn load_roots<S: Simd>(&mut self, simd: S, env: &Environment<'_>, position: &[f32]) {
        // Only the style asks where the roots were.
        if !self.stages.is_empty() {
            self.root_before = self.root;
        }
        let mut turn = [[0.0; LANES]; 4];
        for (l, &strand) in self.strands.iter().enumerate() {
            let RigidTransform { rotation: q, translation } = env.world_from_rest[strand as usize];
            (turn[0][l], turn[1][l], turn[2][l], turn[3][l]) = (q.x, q.y, q.z, q.w);
            set_lane(&mut self.root[3], 0, l, translation);
        }
        // Columns of the rotations.
        let row = |from: &[f32; LANES]| f32x16::from_slice(simd, from);
        let (x, y, z, w) = (row(&turn[0]), row(&turn[1]), row(&turn[2]), row(&turn[3]));
        let one = f32x16::splat(simd, 1.0);
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Vec3x { x: one - (yy + zz), y: xy + wz, z: xz - wy }.store(&mut self.root[0], 0);
        Vec3x { x: xy - wz, y: one - (xx + zz), z: yz + wx }.store(&mut self.root[1], 0);
        Vec3x { x: xz + wy, y: yz - wx, z: one - (xx + yy) }.store(&mut self.root[2], 0);
        if env.wind.is_still() {
            self.wind = [0.0; VECTOR];
            return;
        }
        for l in 0..LANES {
            let at = lane(position, 0, l);
            set_lane(&mut self.wind, 0, l, env.wind.velocity_at(at, env.time));
        }
    }

    /// Says where the scalp under a lane's strand is.
    pub(super) fn set_root(&mut self, l: usize, world_from_rest: &RigidTransform) {
        let m = Mat3::from_quat(world_from_rest.rotation);
        let columns = [m.x_axis, m.y_axis, m.z_axis];
        let all = columns.into_iter().chain([world_from_rest.translation]);
        for (to, v) in self.root.iter_mut().zip(all) {
            set_lane(to, 0, l, v);
        }
    }
}

/// How straight the groom goes on at the predecessor of a point: the cosine of the bend there, 0 to 1.
///
/// Model: the reaction of a segment pulls its inner end sideways as well where the hair bends. With a
/// style that is a follower force that nothing answers: tight curls flutter, from rounding errors to
/// centimetres within seconds.
pub(super) fn straightness(line: &[Vec3], i: usize) -> f32 {
    let direction = |i: usize| (line[i] - line[i - 1]).normalize_or_zero();
    direction(i).dot(direction(i - 1)).clamp(0.0, 1.0)
}

/// Whether a line bends so much that it matters for the reactions.
fn is_curly(line: &[Vec3]) -> bool {
    (2..line.len()).any(|i| straightness(line, i) < STRAIGHT)
}

fn has_equal_segments(line: &[Vec3]) -> bool {
    let lengths = line.windows(2).map(|w| w[0].distance(w[1]));
    let (lo, hi) = lengths.fold((f32::INFINITY, 0.0f32), |(lo, hi), l| (lo.min(l), hi.max(l)));
    hi - lo <= EQUAL * hi
}
