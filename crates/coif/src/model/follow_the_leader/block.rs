//! Sixteen strands in memory.
//!
//! The state of all strands lies in three arrays that a step streams through once: positions and
//! velocities in rows of sixteen particles (`math::lanes`), tensions in rows of sixteen numbers. A
//! block is a run of rows, one per point, root to tip; it is as long as its longest strand, and
//! shorter ones are continued straight beyond their tips by padding particles (`last` is the index of the
//! tip in each lane). Constants lie in the block.

use fearless_simd::{Simd, SimdBase, f32x8, f32x16};
use glam::{Mat3, Quat, Vec3};

use super::ageing::Ages;
use super::collider::Obstacles;
use super::frames::{self, FRAME};
use super::free;
use super::pins::Pin;
use super::resting::{self, MEMORY};
use super::style::{RestShape, Tie};
use super::{Ends, MAX_STEPS, Pass, Settings};
use crate::groom::Groom;
use crate::math::cache::{LineAligned, prefetch};
use crate::math::lane_layout::in_lane;
use crate::math::lanes::{VECTOR, Vec3x, half_row, lane, set_lane};
use crate::math::{LANES, RigidTransform};
use crate::model::{Environment, PinReport};

/// The state of all strands, or of the strands of some blocks.
pub(super) struct Rows<'a> {
    /// Positions (m).
    pub(super) position: &'a mut [f32],
    /// Velocities (m/s).
    pub(super) velocity: &'a mut [f32],
    /// Tension of the next segment: displacement of a point by it in a step, as a fraction of the
    /// segment's vector.
    pub(super) tension: &'a mut [f32],
    /// Contacts of the points with the body (`resting.rs`); empty without a pass from tip to root.
    pub(super) contact: &'a mut [f32],
    /// Frames of the segments (`frames.rs`); empty without a pass from tip to root.
    pub(super) frame: &'a mut [f32],
}

impl<'a> Rows<'a> {
    /// The first `rows` rows, and the others.
    pub(super) fn split(self, rows: usize) -> (Self, Self) {
        let (p0, p1) = self.position.split_at_mut(rows * VECTOR);
        let (v0, v1) = self.velocity.split_at_mut(rows * VECTOR);
        let (t0, t1) = self.tension.split_at_mut(rows * LANES);
        let contacts = self.contact.len().min(rows * MEMORY);
        let (c0, c1) = self.contact.split_at_mut(contacts);
        let framed = self.frame.len().min(rows * FRAME);
        let (f0, f1) = self.frame.split_at_mut(framed);
        (
            Self { position: p0, velocity: v0, tension: t0, contact: c0, frame: f0 },
            Self { position: p1, velocity: v1, tension: t1, contact: c1, frame: f1 },
        )
    }

    pub(super) fn reborrow(&mut self) -> Rows<'_> {
        Rows {
            position: self.position,
            velocity: self.velocity,
            tension: self.tension,
            contact: self.contact,
            frame: self.frame,
        }
    }

    /// Puts a lane at rest on its rest shape, carried by the body.
    pub(super) fn reset_lane(&mut self, block: &Block, l: usize, world_from_rest: &RigidTransform) {
        for i in 0..block.points {
            let p = world_from_rest.point(lane(&block.rest, i, l));
            set_lane(self.position, i, l, p);
            set_lane(self.velocity, i, l, Vec3::ZERO);
            self.tension[i * LANES + l] = 0.0;
            if let Some(row) = self.contact.as_chunks_mut::<MEMORY>().0.get_mut(i) {
                resting::forget(row, l);
            }
        }
        frames::reset_lane(self.frame, l);
        if block.is_free && !self.frame.is_empty() {
            free::set_rotation(self.frame, l, world_from_rest.rotation);
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

/// The rows of the next block, to be prefetched while this one is advanced.
#[derive(Clone, Copy, Default)]
pub(super) struct Upcoming<'a> {
    position: &'a [[f32; VECTOR]],
    velocity: &'a [[f32; VECTOR]],
    tension: &'a [[f32; LANES]],
    length: &'a [[f32; LANES]],
    fixed: &'a [[f32; FIXED]],
    contact: &'a [[f32; MEMORY]],
    frame: &'a [[f32; FRAME]],
}

impl<'a> Upcoming<'a> {
    /// The first rows of `rows`, which begin with those of `block`.
    pub(super) fn new(block: &'a Block, rows: &'a Rows<'_>) -> Self {
        Self {
            position: rows.position.as_chunks().0,
            velocity: rows.velocity.as_chunks().0,
            tension: rows.tension.as_chunks().0,
            length: block.length.as_chunks().0,
            fixed: block.fixed.as_chunks().0,
            contact: rows.contact.as_chunks().0,
            frame: rows.frame.as_chunks().0,
        }
    }

    /// Prefetches row `i`, for the one-way pass.
    #[inline(always)]
    pub(super) fn fetch<S: Simd>(&self, simd: S, i: usize) {
        fetch_row(simd, self.position, i);
        fetch_row(simd, self.velocity, i);
        fetch_row(simd, self.tension, i);
        fetch_row(simd, self.length, i);
    }

    /// Prefetches the state of row `i`, for the two passes.
    #[inline(always)]
    pub(super) fn fetch_state<S: Simd>(&self, simd: S, i: usize) {
        fetch_row(simd, self.position, i);
        fetch_row(simd, self.velocity, i);
        fetch_row(simd, self.tension, i);
        fetch_row(simd, self.frame, i);
        if let Some(row) = self.contact.get(i) {
            for forces in resting::forces(row) {
                prefetch(simd, forces);
            }
        }
    }

    /// Prefetches the constants of row `i`, for the two passes.
    #[inline(always)]
    pub(super) fn fetch_fixed<S: Simd>(&self, simd: S, i: usize) {
        fetch_row(simd, self.fixed, i);
    }
}

#[inline(always)]
fn fetch_row<S: Simd, const N: usize>(simd: S, rows: &[[f32; N]], i: usize) {
    if let Some(row) = rows.get(i) {
        prefetch(simd, row);
    }
}

/// Spring, air and friction of a row of points ([`Tie`]), in lanes.
#[derive(Clone, Copy)]
pub(super) struct Ties<'a>(&'a [[f32; LANES]]);

impl Ties<'_> {
    #[inline(always)]
    pub(super) fn spring<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::from_slice(simd, &self.0[0])
    }

    #[inline(always)]
    pub(super) fn damper<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::from_slice(simd, &self.0[1])
    }

    /// Fraction of their velocity that points keep in the air.
    #[inline(always)]
    pub(super) fn carried_on<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::from_slice(simd, &self.0[2])
    }
}

/// Constants of up to sixteen strands, and the poses of their roots.
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
    pub(super) max_embedded: usize,
    /// Whether the two implicit passes move it as free strands (`free.rs`).
    pub(super) is_free: bool,

    /// Whether the strands have equally many points and each has segments of nearly equal length.
    pub(super) even: bool,
    /// Distance to the predecessor (m).
    pub(super) length: LineAligned,
    /// Fraction of a length correction that acts on the predecessor, by length (1/m):
    /// per point, or one row if even, with half of it at the tip.
    pub(super) reaction: LineAligned,
    /// Positions in the rest shape (m).
    pub(super) rest: LineAligned,
    /// Constants of each point for the pass from tip to root, in rows of [`FIXED`] numbers: goal, step and mass
    /// ([`RestShape`]), length and inverse length of its segment, the cosine of the largest turn against the
    /// segment before, and the style's bending limit ([`RestShape::limit`]).
    pub(super) fixed: LineAligned,
    /// Sum of the longest segments of all rows up to each (m): no strand is longer between two rows.
    pub(super) path: Vec<f32>,
    /// See [`RestShape::link`].
    pub(super) link: [f32; LANES],
    /// Spring, air and friction of each point, in rows of [`TIE`] numbers ([`RestShape::tie`]); empty where they are
    /// constant from root to tip.
    ties: LineAligned,
    /// Whether some lanes have fewer points than others.
    pub(super) ragged: bool,

    /// Depth of each point inside of the body at the start (m).
    pub(super) depth: LineAligned,
    /// Whether any is positive.
    pub(super) began_inside: bool,

    /// World from rest at the end of the step: columns of the rotation, then the translation.
    pub(super) root: [[f32; VECTOR]; 4],
    /// World from rest at the start of the step.
    pub(super) root_before: [[f32; VECTOR]; 4],
    /// Displacement by the scalp's rigid motion in this step: columns of a matrix, then the constant term.
    pub(super) motion: [[f32; VECTOR]; 4],
    /// Velocity of the air at the root (m/s).
    pub(super) wind: [f32; VECTOR],
    /// One bit per lane whose root has no finite pose.
    pub(super) without_pose: u32,
    /// Ages of the strands' contacts.
    pub(super) ages: Ages,
    /// Points that are pinned, by lane and then by row.
    pub(super) pins: Vec<Pin>,
    /// Points of a strand before it is moved to its pin.
    pub(super) before_pin: Vec<Vec3>,
    /// Tips that are held, in the last step.
    pub(super) tips: PinReport,
    /// Outcomes of the last steps.
    pub(super) outcome: [Outcome; MAX_STEPS],
}

/// Outcome of a pass for a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// One bit per lane that is no longer finite.
    pub(super) broken: u32,
    /// Particles left inside the body.
    pub(super) unresolved: u32,
    /// One bit per lane with a new collision.
    pub(super) impact: u32,
    /// Largest displacement of a point of each lane relative to the scalp (m), and of what drives it: root, air, and the
    /// surfaces that it lies on relative to the scalp.
    pub(super) moved: [f32; LANES],
    pub(super) driven: [f32; LANES],
}

/// Numbers in a row of [`Block::ties`]: spring, damper, fraction of the velocity that the air leaves, friction.
const TIE: usize = 4 * LANES;

/// Numbers in a row of [`Block::fixed`].
pub(super) const FIXED: usize = 12 * LANES;

/// Largest relative difference between lengths of segments that count as equal for the masses beside them.
const EQUAL: f32 = 1e-3;

impl Block {
    pub(super) fn new(
        groom: &Groom,
        strands: &[usize],
        settings: &Settings,
        dt: f32,
        gravity: Vec3,
    ) -> Self {
        let in_lane = |lane: usize| *in_lane(strands, lane);
        let count = |s: usize| groom.strands.points_of(s).len();
        let points = strands.iter().map(|&s| count(s)).max().unwrap_or(0);
        let even = settings.correction.constant().is_some()
            && strands
                .iter()
                .all(|&s| count(s) == points && has_equal_segments(groom.strands.strand(s)));
        let mut block = Self {
            strands: std::array::from_fn(|l| in_lane(l) as u32),
            lanes: strands.len(),
            points,
            last: std::array::from_fn(|l| (count(in_lane(l)) - 1) as f32),
            last_embedded: [0.0; LANES],
            max_embedded: 0,
            is_free: settings.is_free(),
            even,
            length: LineAligned::zeros(points * LANES),
            reaction: LineAligned::zeros(if even { LANES } else { points * LANES }),
            rest: LineAligned::zeros(points * VECTOR),
            fixed: LineAligned::zeros(if settings.backward { points * FIXED } else { 0 }),
            path: Vec::new(),
            link: [0.0; LANES],
            ties: LineAligned::zeros(if settings.is_tied_evenly() { 0 } else { points * TIE }),
            ragged: strands.iter().any(|&s| count(s) != points),
            depth: LineAligned::zeros(if settings.backward { points * LANES } else { 0 }),
            began_inside: false,
            root: [[0.0; VECTOR]; 4],
            root_before: [[0.0; VECTOR]; 4],
            motion: [[0.0; VECTOR]; 4],
            wind: [0.0; VECTOR],
            without_pose: 0,
            ages: Ages::default(),
            pins: Vec::with_capacity(if settings.holds_tips() { LANES } else { 0 }),
            before_pin: Vec::with_capacity(if settings.holds_tips() { points } else { 0 }),
            tips: PinReport::default(),
            outcome: [Outcome::default(); MAX_STEPS],
        };
        for l in 0..LANES {
            let s = in_lane(l);
            let line = groom.strands.strand(s);
            let last = line.len() - 1;
            let embedded = (groom.embedded[s] as usize).clamp(1, last);
            // The scalp carries no point of a free strand.
            let embedded = if settings.ends == Ends::Free { 0 } else { embedded };
            block.last_embedded[l] = embedded as f32 - 1.0;
            block.max_embedded = block.max_embedded.max(embedded);
            // Continue straight beyond the tip.
            let step = line[last] - line[last - 1];
            for i in 0..points {
                let p = if i <= last { line[i] } else { line[last] + step * (i - last) as f32 };
                set_lane(&mut block.rest, i, l, p);
            }
            block.set_lengths(l, line, settings);
            let shape = RestShape::new(line, settings, dt, gravity);
            block.set_ties(l, &shape);
            if settings.backward {
                block.set_shape(l, &shape);
            }
        }
        let longest = block
            .length
            .as_chunks::<LANES>()
            .0
            .iter()
            .map(|row| row.iter().copied().fold(0.0, f32::max));
        block.path = longest
            .scan(0.0, |path, length| {
                *path += length;
                Some(*path)
            })
            .collect();
        block
    }

    /// Lengths, and the reaction of a length correction on the predecessor in the one-way pass.
    ///
    /// Model: the reaction of a segment on its inner end is `m_i / m_(i-1)` times that on its
    /// outer end; a point has half the mass of each segment beside it. The scale `s` of eq. 9 is
    /// distributed over the strand, `s^(1/segments)` each, so that it means the same for any number of
    /// points, or that of each segment (`CorrectionForm`); a ramp uses its local value.
    fn set_lengths(&mut self, l: usize, line: &[Vec3], settings: &Settings) {
        let last = line.len() - 1;
        let length = |i: usize| line[i].distance(line[i - 1]);
        let along = settings.correction.along(line);
        let power = settings.correction_form.of_strand(last) / last as f32;
        let scale = |i: usize| along[i].powf(power);
        let mean = (1..=last).map(length).sum::<f32>() / last as f32;
        let mass = |i: usize| 0.5 * (length(i) + if i < last { length(i + 1) } else { 0.0 });
        for i in 1..self.points {
            let j = i.min(last);
            self.length[i * LANES + l] = length(j);
            if !self.even {
                let ratio = if i > last || i == 1 { 0.0 } else { mass(i) / mass(i - 1) };
                self.reaction[i * LANES + l] = scale(j) * ratio / length(j);
            }
        }
        if self.even {
            self.reaction[l] = scale(0) / mean;
        }
    }

    /// Measures the depth of the rest shape, moved with the scalp, inside of the body; returns the number of points
    /// inside and the largest depth (m).
    pub(super) fn measure_depth(
        &mut self,
        world_from_rest: &[RigidTransform],
        obstacles: &Obstacles<'_>,
    ) -> (u64, f32) {
        let (mut count, mut deepest) = (0, 0.0f32);
        self.depth.fill(0.0);
        for l in 0..self.lanes {
            let root = &world_from_rest[self.strands[l] as usize];
            for i in (self.last_embedded[l] + 1.0) as usize..=self.last[l] as usize {
                let depth = obstacles.depth_at(root.point(lane(&self.rest, i, l)));
                self.depth[i * LANES + l] = depth;
                count += u64::from(depth > 0.0);
                deepest = deepest.max(depth);
            }
        }
        self.began_inside = count > 0;
        (count, deepest)
    }

    /// Stores a strand's rest shape in a lane; padding repeats the last point.
    fn set_shape(&mut self, l: usize, shape: &RestShape) {
        let last = shape.mass.len() - 1;
        self.link[l] = shape.link;
        for (i, row) in self.fixed.as_chunks_mut::<FIXED>().0.iter_mut().enumerate() {
            let length = self.length[i * LANES + l];
            let i = i.min(last);
            set_lane(row, 0, l, shape.goal[i]);
            set_lane(row, 1, l, shape.step[i]);
            let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
            let limit = &shape.limit[i];
            let limit = [shape.turn[i], limit.start, limit.stiffness];
            let numbers = [shape.mass[i], length, inverse].into_iter().chain(limit);
            for (k, value) in numbers.enumerate() {
                row[2 * VECTOR + k * LANES + l] = value;
            }
        }
    }

    /// Applies another style: its spring has changed by `by`, and its length squared is `length2` (m^2).
    pub(super) fn restyle(&mut self, by: f32, length2: f32) {
        let rest = self.rest.as_chunks::<VECTOR>().0;
        for (i, row) in self.fixed.as_chunks_mut::<FIXED>().0.iter_mut().enumerate() {
            for l in 0..LANES {
                // Padding repeats the last point.
                let point = lane(&rest[i.min(self.last[l] as usize)], 0, l);
                let mass = row[2 * VECTOR + l];
                let goal = lane(row, 0, l) + point * (mass * by);
                set_lane(row, 0, l, goal);
            }
        }
        for l in 0..LANES {
            let last = self.last[l] as usize;
            let total: f32 = (1..=last).map(|i| self.length[i * LANES + l]).sum();
            self.link[l] = length2 / (total / last as f32);
        }
    }

    /// Stores spring, air and friction of a strand's points in a lane.
    fn set_ties(&mut self, l: usize, shape: &RestShape) {
        let last = shape.tie.len() - 1;
        for (i, row) in self.ties.as_chunks_mut::<TIE>().0.iter_mut().enumerate() {
            let Tie { spring, damper, carried_on, friction } = shape.tie[i.min(last)];
            for (k, value) in [spring, damper, carried_on, friction].into_iter().enumerate() {
                row[k * LANES + l] = value;
            }
        }
    }

    /// Spring, air and friction of a row of points, where they change from root to tip.
    #[inline(always)]
    pub(super) fn ties(&self, i: usize) -> Option<Ties<'_>> {
        self.ties.as_chunks::<TIE>().0.get(i).map(|row| Ties(row.as_chunks().0))
    }

    /// Spring of the style at a point of a lane: `even` where it is constant.
    pub(super) fn spring_of(&self, i: usize, l: usize, even: f32) -> f32 {
        self.ties(i).map_or(even, |ties| ties.0[0][l])
    }

    /// Friction on the body of half a row of points, relative to the body's: `even` where it is constant.
    #[inline(always)]
    pub(super) fn friction<S: Simd>(&self, simd: S, i: usize, half: usize, even: f32) -> f32x8<S> {
        self.ties(i).map_or(f32x8::splat(simd, even), |ties| half_row(simd, &ties.0[3], half))
    }

    /// Lengths of the segments of half the lanes that end at a point (m).
    #[inline(always)]
    pub(super) fn length_row<S: Simd>(&self, simd: S, i: usize, half: usize) -> f32x8<S> {
        half_row(simd, &self.length.as_chunks().0[i], half)
    }

    /// Length of the segment of a lane that ends at a point (m).
    pub(super) fn length_of(&self, i: usize, l: usize) -> f32 {
        self.length[i * LANES + l]
    }

    /// Loads the root transforms and the wind at the lanes' strands.
    #[inline(always)]
    pub(super) fn load_roots<S: Simd>(&mut self, simd: S, env: &Environment<'_>, position: &[f32]) {
        self.root_before = self.root;
        let mut turn = [[0.0; LANES]; 4];
        self.without_pose = 0;
        for (l, &strand) in self.strands.iter().enumerate() {
            let mut pose = env.world_from_rest[strand as usize];
            if !pose.is_finite() {
                // A root without a finite pose keeps its last one.
                self.without_pose |= 1 << l;
                pose = self.root_of(l);
            }
            let RigidTransform { rotation: q, translation } = pose;
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
        self.set_motion(simd);
        if env.wind.is_still() {
            self.wind = [0.0; VECTOR];
            return;
        }
        for l in 0..LANES {
            let at = lane(position, 0, l);
            set_lane(&mut self.wind, 0, l, env.air_at(at));
        }
    }

    /// The scalp's rigid motion in this step: with `R`, `t` now and `R0`, `t0` before it takes a point `x` by
    /// `(R - R0) R0^T (x - t0) + t - t0`, which is exactly zero without motion.
    #[inline(always)]
    fn set_motion<S: Simd>(&mut self, simd: S) {
        let row = Vec3x::of_row;
        let ([a, b, c, t], [a0, b0, c0, t0]) = (&self.root, &self.root_before);
        let (a0, b0, c0, t0) = (row(simd, a0), row(simd, b0), row(simd, c0), row(simd, t0));
        let (a, b, c) = (row(simd, a) - a0, row(simd, b) - b0, row(simd, c) - c0);
        // Column k of (R - R0) R0^T: the changed columns, weighted by row k of R0.
        let x = a * a0.x + b * b0.x + c * c0.x;
        let y = a * a0.y + b * b0.y + c * c0.y;
        let z = a * a0.z + b * b0.z + c * c0.z;
        let added = row(simd, t) - t0 - (x * t0.x + y * t0.y + z * t0.z);
        for (to, v) in self.motion.iter_mut().zip([x, y, z, added]) {
            v.to_row(to);
        }
    }

    /// Updates the ages of the strands' contacts after a step.
    pub(super) fn age_contacts(&mut self, outcome: &Outcome, pass: &Pass) {
        for l in 0..LANES {
            let mut age = self.ages.of[l];
            age.grow(outcome.moved[l], outcome.driven[l], pass);
            self.ages.set(l, age, pass.settling_time);
        }
    }

    /// Pose of the scalp under a lane's strand.
    pub(super) fn root_of(&self, l: usize) -> RigidTransform {
        let [x, y, z, translation] = [0, 1, 2, 3].map(|k| lane(&self.root[k], 0, l));
        RigidTransform { rotation: Quat::from_mat3(&Mat3::from_cols(x, y, z)), translation }
    }

    /// Sets the pose of the scalp under a lane's strand.
    pub(super) fn set_root(&mut self, l: usize, world_from_rest: &RigidTransform) {
        let m = Mat3::from_quat(world_from_rest.rotation);
        let columns = [m.x_axis, m.y_axis, m.z_axis];
        let all = columns.into_iter().chain([world_from_rest.translation]);
        for (to, v) in self.root.iter_mut().zip(all) {
            set_lane(to, 0, l, v);
        }
    }
}

fn has_equal_segments(line: &[Vec3]) -> bool {
    let lengths = line.windows(2).map(|w| w[0].distance(w[1]));
    let (lo, hi) = lengths.fold((f32::INFINITY, 0.0f32), |(lo, hi), l| (lo.min(l), hi.max(l)));
    hi - lo <= EQUAL * hi
}
