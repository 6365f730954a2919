//! Sixteen strips in memory.
//!
//! All joint data that a step reads and writes is in one array of rows, one row per joint, that it streams
//! through once (`math::lanes`). A block is a range of rows, anchor to tip; it is as long as its longest
//! strip, and shorter ones are extended straight beyond their tips by padding joints. Constants of strips
//! are in the block.

use glam::Vec3;

use super::clearance::GRAZE;
use super::over::{Lower, over};
use super::{Settings, stack};
use crate::groom::Fibre;
use crate::groom::strips::{JointFrame, Strips};
use crate::math::lane_layout::in_lane;
use crate::math::lanes::{VECTOR, lane, set_lane};
use crate::math::{LANES, RigidTransform};
use crate::model::Environment;

/// One joint of sixteen strips: its data in one piece of memory.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Joints {
    /// Groomed position of the joint, relative to the previous one, in the frame of that one (m).
    pub(super) goal: [f32; VECTOR],
    /// Distance to the previous joint (m).
    pub(super) length: [f32; LANES],
    /// Clearance from the body (m): radius of its virtual collision sphere.
    pub(super) radius: [f32; LANES],
    /// Deviation from its groomed position (m).
    pub(super) deviation: [f32; VECTOR],
    /// Unit vector across the strip. The tangent is the direction from the previous joint.
    pub(super) binormal: [f32; VECTOR],
    /// Positions after and before the step (m), alternating.
    pub(super) position: [[f32; VECTOR]; 2],
}

impl Joints {
    /// Not initialised.
    pub(super) const NONE: Self = Self {
        goal: [0.0; VECTOR],
        length: [0.0; LANES],
        radius: [0.0; LANES],
        deviation: [0.0; VECTOR],
        binormal: [0.0; VECTOR],
        position: [[0.0; VECTOR]; 2],
    };
}

/// Parameters of a joint by its place on the strip: see [`Settings`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ByPlace {
    /// Time constant (s) of the return to the groom.
    pub(super) style_time: f32,
    /// Time constant (s) of the approach to its terminal velocity.
    pub(super) fall_time: f32,
    /// Friction relative to that of the body.
    pub(super) friction: f32,
}

/// [`ByPlace`] of one joint of sixteen strips, and the derived constants of a step.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Ramps {
    pub(super) style_time: [f32; LANES],
    pub(super) fall_time: [f32; LANES],
    pub(super) friction: [f32; LANES],
    /// See [`Block::keep`], [`Block::force_time`], [`Block::move_time`].
    pub(super) keep: [f32; LANES],
    pub(super) force_time: [f32; LANES],
    pub(super) move_time: [f32; LANES],
}

impl Ramps {
    const NONE: Self = Self {
        style_time: [0.0; LANES],
        fall_time: [0.0; LANES],
        friction: [0.0; LANES],
        keep: [0.0; LANES],
        force_time: [0.0; LANES],
        move_time: [0.0; LANES],
    };
}

/// The joints of all strips, or of those of some blocks, anchor to tip, block by block.
pub(super) struct Rows<'a> {
    pub(super) joints: &'a mut [Joints],
    /// Index of the positions after the step.
    pub(super) now: usize,
}

/// Current positions of the strips that a block lies on: rows of the previous block.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    pub(super) joints: &'a [Joints],
    pub(super) now: usize,
}

impl<'a> Rows<'a> {
    /// The rows for the block that lies on this one.
    pub(super) fn below(&self) -> Below<'_> {
        Below { joints: self.joints, now: self.now }
    }

    /// The first `rows` rows, and the others.
    pub(super) fn split(self, rows: usize) -> (Self, Self) {
        let (a, b) = self.joints.split_at_mut(rows);
        (Self { joints: a, now: self.now }, Self { joints: b, now: self.now })
    }

    /// Resets a lane to its rest shape at a pose of the scalp.
    pub(super) fn reset_lane(&mut self, block: &Block, l: usize, world_from_rest: &RigidTransform) {
        let root = JointFrame {
            tangent: lane(&block.root_tangent, 0, l),
            binormal: lane(&block.root_binormal, 0, l),
        };
        let mut frame = root;
        for (i, joint) in self.joints.iter_mut().enumerate() {
            let here = lane(&block.rest, i, l);
            if i > 0 {
                let segment = here - lane(&block.rest, i - 1, l);
                frame = frame.transported(segment.normalize_or(frame.tangent));
            }
            let p = world_from_rest.point(here);
            joint.position.iter_mut().for_each(|x| set_lane(x, 0, l, p));
            set_lane(&mut joint.deviation, 0, l, Vec3::ZERO);
            set_lane(&mut joint.binormal, 0, l, world_from_rest.direction(frame.binormal));
        }
    }

    /// Moves a lane rigidly.
    pub(super) fn carry_lane(&mut self, l: usize, motion: &RigidTransform) {
        for joint in self.joints.iter_mut() {
            for x in &mut joint.position {
                let p = motion.point(lane(x, 0, l));
                set_lane(x, 0, l, p);
            }
            for v in [&mut joint.deviation, &mut joint.binormal] {
                let d = motion.direction(lane(v, 0, l));
                set_lane(v, 0, l, d);
            }
        }
    }
}

/// Constants of up to sixteen strips, and the motion of their roots.
pub(super) struct Block {
    /// The strip of each lane; unused lanes repeat the last one.
    pub(super) strips: [u32; LANES],
    /// Number of lanes in use.
    pub(super) lanes: usize,
    /// Ends of ranges of lanes whose anchors are near each other: more than one in a crowd.
    pub(super) head_ends: Box<[usize]>,
    /// Whether its strips lie on those of the previous block, lane by lane.
    pub(super) over: bool,
    /// Joints of the longest strip, its anchor included.
    pub(super) joints: usize,
    /// Index of the last joint of each lane's strip.
    pub(super) last: [f32; LANES],
    /// Longest segment and widest virtual collision sphere (m): bounds the reach of a joint.
    pub(super) longest: f32,
    pub(super) widest: f32,

    /// Minimum height of a joint over that of the strip below (m), along the normal there. Empty if the
    /// block lies on no other.
    pub(super) gap: Box<[f32]>,
    /// Lateral distance (m) beyond which a joint no longer lies on the strip below.
    pub(super) beside: [f32; LANES],
    /// Half of the widths of the strips and of those below (m).
    pub(super) half_widths: [[f32; LANES]; 2],
    /// Positions in the rest shape (m).
    pub(super) rest: Box<[f32]>,
    /// Anchor (m), direction of growth and binormal there, in the rest shape.
    pub(super) anchor: [f32; VECTOR],
    pub(super) root_tangent: [f32; VECTOR],
    pub(super) root_binormal: [f32; VECTOR],
    /// `T x T_avg` of the rest shape, along the binormal and the normal at the anchor.
    pub(super) lean: [[f32; LANES]; 2],
    /// Compliance over the squared length (1/m^2).
    pub(super) weight: [f32; LANES],
    /// Time constant of the return to the groom (s).
    pub(super) style_time: [f32; LANES],
    /// The bend factor of a step: fraction of a deviation that remains.
    pub(super) keep: [f32; LANES],
    /// Effective duration (s) of the forces of a step, from the averaged length of steps, and of its motion, from the
    /// length of the step.
    pub(super) force_time: [f32; LANES],
    pub(super) move_time: [f32; LANES],
    /// Per joint: style time, the three values above, fall time and friction, if one of the settings is a ramp; else empty.
    pub(super) ramps: Box<[Ramps]>,

    /// Rotation of `world_from_rest` at the end of the last step, by columns.
    pub(super) root: [[f32; VECTOR]; 3],
    /// Mean velocity of the anchors in the last step, and their velocity at its end (m/s).
    pub(super) velocity: [f32; VECTOR],
    pub(super) end_velocity: [f32; VECTOR],
    /// Outcome of the last step.
    pub(super) outcome: Outcome,
}

/// Outcome of a step for a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// One bit per lane that is no longer finite.
    pub(super) broken: u32,
    /// Joints left inside the body.
    pub(super) unresolved: u32,
}

/// Inputs of the construction of blocks.
pub(super) struct Common<'a> {
    pub(super) strips: &'a Strips,
    pub(super) fibre: &'a Fibre,
    pub(super) settings: &'a Settings,
    /// Per strip: distance of its strands from its plane (m).
    pub(super) thickness: &'a [f32],
    /// Heights of the lowest and the highest anchor (m).
    pub(super) heights: [f32; 2],
}

/// Fraction of the height of a strip over the one below that is always kept: with less, layers close up where
/// they swing; with more, they stiffen each other.
const STAYS_OVER: f32 = 0.25;

/// Height over the strip below (m) that is always kept: a few hairs.
const HAIRS: f32 = 3e-4;

/// Constants of one strip, for a lane of a block or for the reference implementation.
pub(super) struct Made {
    pub(super) rest: Vec<Vec3>,
    pub(super) goal: Vec<Vec3>,
    pub(super) radius: Vec<f32>,
    /// Minimum heights of joints over those of the strip below (m), if there is one.
    pub(super) gap: Vec<f32>,
    /// Lateral distance (m) up to which they lie on it.
    pub(super) beside: f32,
    /// Half of its width and of that of the strip below (m).
    pub(super) half_widths: [f32; 2],
    pub(super) root: JointFrame,
    pub(super) lean: [f32; 2],
    pub(super) weight: f32,
    pub(super) style_time: f32,
    /// Per joint.
    pub(super) by_place: Vec<ByPlace>,
}

impl Made {
    /// Source: `jung2005` 4.2: collision spheres are larger in upper layers and towards the tip; the
    /// bend factor of a chain depends on the height of its anchor, and lower hair bends less.
    pub(super) fn new(common: &Common<'_>, strip: usize) -> Self {
        let Common { strips, settings, thickness, .. } = common;
        let rest = strips.edges.strand(strip).to_vec();
        let last = rest.len() - 1;
        let mut frames = Vec::new();
        strips.rest_frames(strip, &mut frames);
        let goal = (0..=last).map(|i| match i {
            0 => Vec3::ZERO,
            _ => frames[i - 1].local(rest[i] - rest[i - 1]),
        });
        let layer = strips.layer[strip] as f32;
        let radius = (0..=last).map(|i| {
            let above = layer + i as f32 / last as f32;
            thickness[strip] + settings.layer_distance * above
        });
        let Softness { slower, weight, style_time } = common.softness(strip, strips.layers());
        let root = frames[0];
        let (gap, beside, half_widths) = match strips.lies_on(strip) {
            Some(below) => gaps(common, &frames, strip, below),
            None => (Vec::new(), 0.0, [0.0; 2]),
        };
        let average = (rest[last] - rest[0]).normalize_or(root.tangent);
        let lean = root.tangent.cross(average);
        let by_place = settings.style_time.along(&rest).into_iter();
        let by_place =
            by_place.zip(settings.damping.along(&rest)).zip(settings.friction.along(&rest));
        let by_place = by_place.map(|((style_time, damping), friction)| ByPlace {
            style_time: style_time * slower,
            fall_time: 1.0 / damping,
            friction,
        });
        Self {
            goal: goal.collect(),
            radius: radius.collect(),
            gap,
            beside,
            half_widths,
            lean: [lean.dot(root.binormal), lean.dot(root.normal())],
            weight,
            style_time,
            by_place: by_place.collect(),
            root,
            rest,
        }
    }
}

/// Compliance of a strip.
pub(super) struct Softness {
    /// Its style time relative to the mean.
    slower: f32,
    /// See [`Block::weight`], [`Block::style_time`].
    weight: f32,
    style_time: f32,
}

impl Common<'_> {
    /// Compliance of a strip. `layers` is the number of layers of all strips.
    fn softness(&self, strip: usize, layers: u32) -> Softness {
        let Common { strips, fibre, settings, heights, .. } = self;
        let line = strips.edges.strand(strip);
        let length = strips.edges.length(strip);
        let height = (line[0].y - heights[0]) / (heights[1] - heights[0]).max(1e-6);
        let above = (strips.layer[strip] as f32 + height) / layers.max(1) as f32;
        let slower = 1.0 + settings.bend_variation * (2.0 * above - 1.0);
        Softness {
            slower,
            weight: settings.compliance(fibre, length) / (length * length),
            style_time: settings.style_time.at(0.0) * slower,
        }
    }
}

/// Minimum heights of the joints of a strip over another (m), lateral distance up to which they lie on it (m), and half
/// of the widths of both (m).
///
/// Model: a fraction of their height at rest, at most of the distance of layers, and no less than a few hairs. Where the
/// groom has a joint below the other strip, the minimum is its height at rest. At a lateral distance of more than the mean
/// width the limit decreases, see `over.rs`.
fn gaps(
    common: &Common<'_>,
    upper: &[JointFrame],
    strip: usize,
    below: usize,
) -> (Vec<f32>, f32, [f32; 2]) {
    let mut frames = Vec::new();
    common.strips.rest_frames(below, &mut frames);
    let (rest, line) = (common.strips.edges.strand(strip), common.strips.edges.strand(below));
    let max_height = common.settings.layer_distance;
    let half = [strip, below].map(|s| 0.5 * common.strips.width[s]);
    let lower = |i: usize| {
        let j = i.min(line.len() - 1);
        let length = if j > 0 { line[j].distance(line[j - 1]) } else { 0.0 };
        Lower { position: line[j], frame: frames[j], length }
    };
    let gap = |i: usize| {
        // Anchors follow the scalp.
        if i == 0 {
            return 0.0;
        }
        let middle = rest[i] + upper[i].binormal * half[0];
        let height = over(lower, [i, line.len() - 1], middle, half[1]).height;
        if height > 0.0 {
            (STAYS_OVER * height.min(max_height)).max(height.min(HAIRS))
        } else {
            height - GRAZE
        }
    };
    let gaps = (0..rest.len()).map(gap).collect();
    (gaps, half[0] + half[1], half)
}

impl Block {
    /// A block of strips, and the rows of their joints; with `over`, each strip lies on the one in the same lane of the
    /// previous block.
    pub(super) fn new(common: &Common<'_>, strips: &[usize], over: bool) -> (Self, Vec<Joints>) {
        let in_lane = |lane: usize| *in_lane(strips, lane);
        let edges = &common.strips.edges;
        let joints = strips.iter().map(|&s| edges.points_of(s).len()).max().unwrap_or(0);
        let row = |width: usize| vec![0.0; joints * width].into_boxed_slice();
        let anchors: Vec<Vec3> = strips.iter().map(|&s| edges.strand(s)[0]).collect();
        let mut block = Self {
            strips: std::array::from_fn(|l| in_lane(l) as u32),
            lanes: strips.len(),
            head_ends: stack::head_ends(&anchors).into(),
            over,
            joints,
            last: std::array::from_fn(|l| (edges.points_of(in_lane(l)).len() - 1) as f32),
            longest: 0.0,
            widest: 0.0,
            gap: row(if over { LANES } else { 0 }),
            beside: [0.0; LANES],
            half_widths: [[0.0; LANES]; 2],
            rest: row(VECTOR),
            anchor: [0.0; VECTOR],
            root_tangent: [0.0; VECTOR],
            root_binormal: [0.0; VECTOR],
            lean: [[0.0; LANES]; 2],
            weight: [0.0; LANES],
            style_time: [0.0; LANES],
            keep: [0.0; LANES],
            force_time: [0.0; LANES],
            move_time: [0.0; LANES],
            ramps: vec![Ramps::NONE; if common.settings.varies() { joints } else { 0 }].into(),
            root: [[0.0; VECTOR]; 3],
            velocity: [0.0; VECTOR],
            end_velocity: [0.0; VECTOR],
            outcome: Outcome::default(),
        };
        let mut rows = vec![Joints::NONE; joints];
        for l in 0..LANES {
            let made = Made::new(common, in_lane(l));
            let last = made.rest.len() - 1;
            // Fill the lane, extended straight beyond the tip.
            let step = made.rest[last] - made.rest[last - 1];
            for (i, row) in rows.iter_mut().enumerate() {
                let j = i.min(last);
                let p = made.rest[j] + step * (i - j) as f32;
                set_lane(&mut block.rest, i, l, p);
                let goal = if i > last { Vec3::X * step.length() } else { made.goal[i] };
                set_lane(&mut row.goal, 0, l, goal);
                row.radius[l] = made.radius[j];
                if let (Some(to), Some(gap)) = (block.gap.get_mut(i * LANES + l), made.gap.get(j)) {
                    *to = *gap;
                }
                if i > 0 {
                    let length = made.rest[j].distance(made.rest[j - 1]);
                    row.length[l] = length;
                    block.longest = block.longest.max(length);
                }
                block.widest = block.widest.max(made.radius[j]);
            }
            set_lane(&mut block.anchor, 0, l, made.rest[0]);
            set_lane(&mut block.root_tangent, 0, l, made.root.tangent);
            set_lane(&mut block.root_binormal, 0, l, made.root.binormal);
            (block.lean[0][l], block.lean[1][l]) = (made.lean[0], made.lean[1]);
            block.weight[l] = made.weight;
            block.beside[l] = made.beside;
            (block.half_widths[0][l], block.half_widths[1][l]) =
                (made.half_widths[0], made.half_widths[1]);
            block.style_time[l] = made.style_time;
            for (i, ramps) in block.ramps.iter_mut().enumerate() {
                let ByPlace { style_time, fall_time, friction } = made.by_place[i.min(last)];
                ramps.style_time[l] = style_time;
                ramps.fall_time[l] = fall_time;
                ramps.friction[l] = friction;
            }
        }
        (block, rows)
    }

    /// Updates the compliance for other settings that are constant from root to tip.
    pub(super) fn soften(&mut self, common: &Common<'_>, layers: u32) {
        for l in 0..LANES {
            let softness = common.softness(self.strips[l] as usize, layers);
            (self.weight[l], self.style_time[l]) = (softness.weight, softness.style_time);
        }
    }

    /// Upper bound of the distance from the anchors of the collision spheres up to a joint (m).
    #[inline(always)]
    pub(super) fn reach(&self, joint: usize) -> f32 {
        self.longest * joint as f32 + self.widest
    }

    /// Sets the bend factor for a step, and the durations of forces and motion. `averaged` is the averaged length of steps
    /// (s), `step` the length of the step (s).
    ///
    /// Model: `E = exp(-dt / style_time)`, so that two half steps are equal to a whole one.
    /// Source: `jung2005` 4.1: the angle to the groomed direction is scaled by a factor below 1;
    /// 4.3 step 1: forces are scaled with the averaged time step.
    pub(super) fn set_step(&mut self, averaged: f32, step: f32) {
        let times = |time: f32| {
            let keep = (-step / time).exp();
            (keep, time * (1.0 - keep), time * (1.0 - (-averaged / time).exp()))
        };
        for l in 0..LANES {
            (self.keep[l], self.move_time[l], self.force_time[l]) = times(self.style_time[l]);
        }
        for r in &mut self.ramps {
            for l in 0..LANES {
                (r.keep[l], r.move_time[l], r.force_time[l]) = times(r.style_time[l]);
            }
        }
    }

    /// Poses of the scalp under the lanes' strips: columns of the rotation, then the translation.
    #[inline(always)]
    pub(super) fn roots(&self, world_from_rest: &[RigidTransform]) -> [[f32; VECTOR]; 4] {
        let (mut turn, mut shift) = ([[0.0; LANES]; 4], [0.0; VECTOR]);
        for (l, &strip) in self.strips.iter().enumerate() {
            let root = &world_from_rest[strip as usize];
            for (to, v) in turn.iter_mut().zip(root.rotation.to_array()) {
                to[l] = v;
            }
            set_lane(&mut shift, 0, l, root.translation);
        }
        // Convert the quaternions to matrices.
        let [mut a, mut b, mut c] = [[0.0; VECTOR]; 3];
        for l in 0..LANES {
            let [x, y, z, w] = turn.map(|row| row[l]);
            let (xx, yy, zz) = (2.0 * x * x, 2.0 * y * y, 2.0 * z * z);
            let (xy, xz, yz) = (2.0 * x * y, 2.0 * x * z, 2.0 * y * z);
            let (wx, wy, wz) = (2.0 * w * x, 2.0 * w * y, 2.0 * w * z);
            (a[l], a[l + LANES], a[l + 2 * LANES]) = (1.0 - (yy + zz), xy + wz, xz - wy);
            (b[l], b[l + LANES], b[l + 2 * LANES]) = (xy - wz, 1.0 - (xx + zz), yz + wx);
            (c[l], c[l + LANES], c[l + 2 * LANES]) = (xz + wy, yz - wx, 1.0 - (xx + yy));
        }
        [a, b, c, shift]
    }

    /// The current direction of growth at the anchor of a lane.
    pub(super) fn growth(&self, l: usize) -> Vec3 {
        let [x, y, z] = [0, 1, 2].map(|k| lane(&self.root[k], 0, l));
        let rest = lane(&self.root_tangent, 0, l);
        x * rest.x + y * rest.y + z * rest.z
    }

    /// Sets the rotation of the scalp at the end of a step.
    pub(super) fn set_roots(&mut self, world_from_rest: &[RigidTransform]) {
        let [a, b, c, _] = self.roots(world_from_rest);
        self.root = [a, b, c];
    }

    /// Velocity of the air at the anchors (m/s), at their positions before the step.
    pub(super) fn wind(&self, env: &Environment<'_>, before: &[f32; VECTOR]) -> [f32; VECTOR] {
        let mut wind = [0.0; VECTOR];
        if !env.wind.is_still() {
            for l in 0..LANES {
                set_lane(&mut wind, 0, l, env.air_at(lane(before, 0, l)));
            }
        }
        wind
    }

    /// Resets the velocity of the root of a lane.
    pub(super) fn stop_root(&mut self, l: usize) {
        set_lane(&mut self.velocity, 0, l, Vec3::ZERO);
        set_lane(&mut self.end_velocity, 0, l, Vec3::ZERO);
    }
}
