//! Sixteen strands in memory.
//!
//! An array holds for each point all x, all y, all z of the sixteen lanes (`math::lanes`), so that
//! a pass from root to tip reads and writes memory in one direction. A block is as long as its
//! longest strand; shorter ones are continued straight beyond their tips by particles that nothing
//! sees (`last` says where a lane ends).

use glam::Vec3;

use super::{Pass, rest};
use crate::groom::Groom;
use crate::math::lanes::{VECTOR, lane, set_lane};
use crate::math::{LANES, RigidTransform};
use crate::model::Environment;

/// State and rest shape of up to sixteen strands.
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

    /// Positions (m), written by a step.
    pub(super) position: Box<[f32]>,
    /// Velocities (m/s), written by a step.
    pub(super) velocity: Box<[f32]>,

    /// Positions in the rest shape (m).
    pub(super) rest: Box<[f32]>,
    /// Velocities in the rest shape under gravity (m/s).
    pub(super) rest_velocity: Box<[f32]>,
    /// Where a point wants to be, from its predecessor, in the predecessor's transported frame (m).
    pub(super) goal: Box<[f32]>,
    /// Share of the way to the goal that one step goes (no unit).
    pub(super) pull: Box<[f32]>,
    /// Share of the predecessor's motion that one step takes over (no unit).
    pub(super) drag: Box<[f32]>,
    /// Distance to the predecessor (m).
    pub(super) length: Box<[f32]>,
    /// Direction and normal of the last embedded segment in the rest shape.
    pub(super) rest_frame: [[f32; VECTOR]; 2],

    /// World from rest at the end of the step: columns of the rotation, then the translation.
    pub(super) root: [[f32; VECTOR]; 4],
    /// World from rest at the start of the step.
    pub(super) root_before: [[f32; VECTOR]; 4],
    /// Velocity of the air at the root (m/s).
    pub(super) wind: [f32; VECTOR],
}

/// What a pass says of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// One bit per lane that is no longer finite.
    pub(super) broken: u32,
    /// Particles left inside the body.
    pub(super) unresolved: u32,
}

impl Block {
    pub(super) fn new(groom: &Groom, strands: &[usize], pass: &Pass, style_time: f32) -> Self {
        let in_lane = |lane: usize| strands[lane.min(strands.len() - 1)];
        let count = |s: usize| groom.strands.points_of(s).len();
        let points = strands.iter().map(|&s| count(s)).max().unwrap_or(0);
        let vectors = || vec![0.0; points * VECTOR].into_boxed_slice();
        let scalars = || vec![0.0; points * LANES].into_boxed_slice();
        let mut block = Self {
            strands: std::array::from_fn(|l| in_lane(l) as u32),
            lanes: strands.len(),
            points,
            last: std::array::from_fn(|l| (count(in_lane(l)) - 1) as f32),
            last_embedded: [0.0; LANES],
            most_embedded: 1,
            position: vectors(),
            velocity: vectors(),
            rest: vectors(),
            rest_velocity: vectors(),
            goal: vectors(),
            pull: scalars(),
            drag: scalars(),
            length: scalars(),
            rest_frame: [[0.0; VECTOR]; 2],
            root: [[0.0; VECTOR]; 4],
            root_before: [[0.0; VECTOR]; 4],
            wind: [0.0; VECTOR],
        };
        let mut line = Vec::with_capacity(points);
        for l in 0..LANES {
            let s = in_lane(l);
            line.clear();
            line.extend_from_slice(groom.strands.strand(s));
            let last = line.len() - 1;
            let embedded = (groom.embedded[s] as usize).clamp(1, last);
            block.last_embedded[l] = (embedded - 1) as f32;
            block.most_embedded = block.most_embedded.max(embedded);

            let shape = rest::RestShape::new(&line, embedded, pass, style_time);
            set_lane(&mut block.rest_frame[0], 0, l, shape.direction);
            set_lane(&mut block.rest_frame[1], 0, l, shape.normal);
            // Continue straight beyond the tip.
            let step = line[last] - line[last - 1];
            for i in 0..points {
                let p = if i <= last { line[i] } else { line[last] + step * (i - last) as f32 };
                set_lane(&mut block.rest, i, l, p);
                if i <= last {
                    set_lane(&mut block.rest_velocity, i, l, shape.velocity[i]);
                }
                if i > 0 {
                    let j = i.min(last);
                    block.length[i * LANES + l] = line[j].distance(line[j - 1]);
                    set_lane(&mut block.goal, i, l, shape.goal[j]);
                    block.pull[i * LANES + l] = shape.pull[j];
                    block.drag[i * LANES + l] = shape.drag[j];
                }
            }
        }
        block
    }

    /// Brings the root transforms and the wind of the lanes' strands together.
    pub(super) fn load_roots(&mut self, env: &Environment<'_>) {
        self.root_before = self.root;
        for l in 0..LANES {
            self.set_root(l, &env.world_from_rest[self.strands[l] as usize]);
            let at = lane(&self.position, 0, l);
            set_lane(&mut self.wind, 0, l, env.wind.velocity_at(at, env.time));
        }
    }

    /// Says where the scalp under a lane's strand is.
    pub(super) fn set_root(&mut self, l: usize, world_from_rest: &RigidTransform) {
        let columns = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| world_from_rest.direction(axis));
        let all = columns.into_iter().chain([world_from_rest.translation]);
        for (to, v) in self.root.iter_mut().zip(all) {
            set_lane(to, 0, l, v);
        }
    }

    /// Puts a lane at rest on its rest shape, carried by the body.
    pub(super) fn reset_lane(&mut self, l: usize, world_from_rest: &RigidTransform) {
        self.set_root(l, world_from_rest);
        for i in 0..self.points {
            set_lane(&mut self.position, i, l, world_from_rest.point(lane(&self.rest, i, l)));
            let v = world_from_rest.direction(lane(&self.rest_velocity, i, l));
            set_lane(&mut self.velocity, i, l, v);
        }
    }

    /// Moves a lane rigidly; velocities turn with it.
    pub(super) fn carry_lane(&mut self, l: usize, motion: &RigidTransform) {
        for i in 0..self.points {
            let (p, v) = (lane(&self.position, i, l), lane(&self.velocity, i, l));
            set_lane(&mut self.position, i, l, motion.point(p));
            set_lane(&mut self.velocity, i, l, motion.direction(v));
        }
    }
}
