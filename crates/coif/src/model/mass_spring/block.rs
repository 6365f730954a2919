//! Sixteen strands in memory: constants and state.
//!
//! A row holds one particle of each strand (`math::lanes`), root to tip; strands of a block may have
//! different numbers of particles, and extra particles at different places. Positions are relative to
//! the root, so that single precision suffices; velocities are in world space. Masses and forces are
//! scaled so that the mean mass is about 1, to avoid slow subnormal numbers.

use glam::Vec3;

use super::ends::FarEnd;
use super::pins::Pin;
use super::strand::Strand;
use crate::limits::MAX_STRAND_LENGTHS;
use crate::math::lane_layout::in_lane;
use crate::math::lanes::{VECTOR, lane, set_lane};
use crate::math::{LANES, RigidTransform};
use crate::model::chains::Pose;

/// Numbers per row for springs: stiffness and rest length of three, stiffness and seven rest
/// lengths of the altitude spring.
pub(super) const SPRINGS: usize = 6 + 8;

/// Mass of padding particles (scaled).
const NO_MASS: f32 = 1.0;

/// Speed of a particle (m/s) beyond which the strand counts as broken.
const FASTEST: f32 = 1e5;

/// A particle that collides with the body during a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParticleCollision {
    pub(super) row: u16,
    pub(super) lane: u8,
    /// Whether it sticks: then its velocity is that of the surface.
    pub(super) sticks: bool,
    pub(super) normal: Vec3,
}

/// Up to sixteen strands.
pub(super) struct Block {
    /// The strand of each lane; unused lanes repeat the last one.
    pub(super) strands: [u32; LANES],
    /// Number of lanes in use.
    pub(super) lanes: usize,
    /// Particles of the longest strand.
    pub(super) rows: usize,
    /// Particles of each lane's strand.
    pub(super) count: [u16; LANES],
    /// Particles of each lane's strand that the body carries at the root.
    pub(super) pinned_at_root: [u16; LANES],
    /// First particle of each lane's strand that is pinned at the tip, or its count.
    pub(super) pinned_tip: [u16; LANES],
    /// Lanes whose strand is currently pinned at its tip, or at any other point besides the root.
    pub(super) pinned_at_both: u16,
    /// Points that are pinned in this step.
    pub(super) pins: Vec<Pin>,
    /// Lanes whose strand is too stiff for single precision.
    pub(super) double: u16,
    /// Per row: lanes whose particle may move.
    pub(super) free: Box<[u16]>,
    /// Per row: lanes whose particle is a point of the hair.
    pub(super) is_point: Box<[u16]>,
    /// Per row: lanes whose particle has the second particle before it as parent instead of the one before it.
    pub(super) two_back: Box<[u16]>,
    /// Inertia (scaled).
    pub(super) mass: Box<[f32]>,
    /// Mass that gravity acts on (scaled).
    pub(super) weight: Box<[f32]>,
    /// Drag (1/s) per particle; empty if it is constant.
    pub(super) drag: Box<[f32]>,
    /// Friction of particles relative to that of the body; empty if it is constant.
    pub(super) friction: Box<[f32]>,
    /// Stiffness (scaled) and rest lengths (m) of all springs that start at a row.
    pub(super) springs: Box<[f32]>,
    /// Distance from the parent particle in the groom (m).
    pub(super) length: Box<[f32]>,
    /// Force that holds the groom, in the rest frame (scaled).
    pub(super) hold: Box<[f32]>,
    /// Rest positions relative to the root (m).
    pub(super) rest: Box<[f32]>,
    /// The root in the rest shape (m).
    pub(super) root_rest: [Vec3; LANES],
    /// Length of each lane's strand (m).
    pub(super) reach: [f32; LANES],
    /// Shortest segment of each lane's strand (m).
    pub(super) shortest: [f32; LANES],

    /// Displacements of pinned ends at the start and at the end of the step, in the rest shape (m).
    pub(super) slid: [[Vec3; LANES]; 2],

    /// Positions relative to `origin` (m).
    pub(super) x: Box<[f32]>,
    /// Velocities (m/s).
    pub(super) v: Box<[f32]>,
    /// Positions of the roots (m).
    pub(super) origin: [Vec3; LANES],
    /// Positions of the roots at the end of the current substep (m).
    pub(super) origin_next: [Vec3; LANES],
    /// `world_from_rest` at the start and at the end of the step.
    pub(super) root: [[RigidTransform; LANES]; 2],

    /// Velocities in the middle of a substep (m/s).
    pub(super) half: Box<[f32]>,
    /// Positions at the end of a substep (m).
    pub(super) next: Box<[f32]>,
    /// Forces that do not depend on the solution (scaled).
    pub(super) load: Box<[f32]>,
    /// Velocity of the air at the root (m/s).
    pub(super) wind: [f32; VECTOR],
    /// Collisions with the body, at most one per point.
    pub(super) collisions: Vec<ParticleCollision>,
    /// Old and new positions of hair points, their velocities and collisions: memory for one strand.
    pub(super) room: super::collide::Room,
    /// Particles left inside the body.
    pub(super) unresolved: u32,
    /// Substeps per second that the fastest particle of each strand needs.
    pub(super) wanted_rate: [f32; LANES],
    /// Lanes whose root had no finite pose in the last step, and those that were broken at its end.
    pub(super) without_pose: u16,
    pub(super) broken: u16,
}

impl Block {
    /// A block of strands; masses and forces are in units of `1 / scale` (kg, N).
    pub(super) fn new(strands: &[(u32, Strand, Vec3)], scale: f64) -> Self {
        let rows = strands.iter().map(|s| s.1.position.len()).max().unwrap_or(0);
        let floats = |per_row: usize| vec![0.0; rows * per_row].into_boxed_slice();
        let mut block = Self {
            strands: [0; LANES],
            lanes: strands.len(),
            rows,
            count: [0; LANES],
            pinned_at_root: [0; LANES],
            pinned_tip: [0; LANES],
            pinned_at_both: 0,
            pins: Vec::new(),
            double: 0,
            free: vec![0; rows].into_boxed_slice(),
            is_point: vec![0; rows].into_boxed_slice(),
            two_back: vec![0; rows].into_boxed_slice(),
            mass: vec![NO_MASS; rows * LANES].into_boxed_slice(),
            weight: floats(LANES),
            drag: floats(if strands.iter().any(|s| !s.1.drag.is_empty()) { LANES } else { 0 }),
            friction: floats(if strands.iter().any(|s| !s.1.friction.is_empty()) {
                LANES
            } else {
                0
            }),
            springs: floats(SPRINGS * LANES),
            length: floats(LANES),
            hold: floats(VECTOR),
            rest: floats(VECTOR),
            root_rest: [Vec3::ZERO; LANES],
            reach: [0.0; LANES],
            shortest: [f32::INFINITY; LANES],
            slid: [[Vec3::ZERO; LANES]; 2],
            x: floats(VECTOR),
            v: floats(VECTOR),
            origin: [Vec3::ZERO; LANES],
            origin_next: [Vec3::ZERO; LANES],
            root: [[RigidTransform::IDENTITY; LANES]; 2],
            half: floats(VECTOR),
            next: floats(VECTOR),
            load: floats(VECTOR),
            wind: [0.0; VECTOR],
            collisions: Vec::with_capacity(rows * LANES),
            room: super::collide::Room::new(rows),
            unresolved: 0,
            wanted_rate: [0.0; LANES],
            without_pose: 0,
            broken: 0,
        };
        for l in 0..LANES {
            let (index, strand, root) = in_lane(strands, l);
            block.strands[l] = *index;
            block.root_rest[l] = *root;
            block.set_strand(l, strand, scale);
        }
        block
    }

    fn set_strand(&mut self, l: usize, strand: &Strand, scale: f64) {
        let count = strand.position.len();
        self.count[l] = count as u16;
        self.pinned_at_root[l] = strand.pinned_at_root as u16;
        let free_end = (strand.pinned_at_root..count).find(|&r| strand.pinned[r]).unwrap_or(count);
        self.pinned_tip[l] = free_end as u16;
        self.pinned_at_both |= u16::from(free_end < count) << l;
        for row in 0..count {
            let at = row * LANES + l;
            self.free[row] |= u16::from(!strand.pinned[row]) << l;
            self.is_point[row] |= u16::from(strand.point[row].is_some()) << l;
            self.mass[at] = (strand.mass[row] * scale) as f32;
            self.weight[at] = (strand.weight[row] * scale) as f32;
            if let (Some(to), Some(drag)) = (self.drag.get_mut(at), strand.drag.get(row)) {
                *to = *drag;
            }
            let friction = (self.friction.get_mut(at), strand.friction.get(row));
            if let (Some(to), Some(friction)) = friction {
                *to = *friction;
            }
            set_lane(&mut self.hold, row, l, (strand.hold[row] * scale).as_vec3());
            set_lane(&mut self.rest, row, l, strand.position[row].as_vec3());
            let springs = strand.springs[row].iter().flat_map(|s| [s.stiffness * scale, s.rest]);
            let (stiffness, rests) = strand.altitude[row];
            let numbers = springs.chain([stiffness * scale]).chain(rests);
            for (i, value) in numbers.enumerate() {
                self.springs[(row * SPRINGS + i) * LANES + l] = value as f32;
            }
            // Find the parent: the previous point, for points and for extra particles.
            if row > 0 {
                let is_segment = strand.point[row].is_some() && strand.point[row - 1].is_none();
                let parent = if is_segment { row - 2 } else { row - 1 };
                self.two_back[row] |= u16::from(is_segment) << l;
                let length = strand.position[row].distance(strand.position[parent]) as f32;
                self.length[at] = length;
                if strand.point[row].is_some() {
                    self.reach[l] += length;
                    self.shortest[l] = self.shortest[l].min(length);
                }
            }
        }
        // Place padding particles on the last particle.
        for row in count..self.rows {
            set_lane(&mut self.rest, row, l, strand.position[count - 1].as_vec3());
        }
    }

    /// Lanes in use, as bits.
    pub(super) fn in_use(&self) -> u16 {
        ((1u32 << self.lanes) - 1) as u16
    }

    /// Resets a lane to its rest shape at a pose of the scalp.
    pub(super) fn reset_lane(&mut self, l: usize, world_from_rest: &RigidTransform) {
        self.root[0][l] = *world_from_rest;
        self.root[1][l] = *world_from_rest;
        self.origin[l] = self.root_end(l);
        for row in 0..self.rows {
            let p = world_from_rest.direction(lane(&self.rest, row, l));
            set_lane(&mut self.x, row, l, p);
            set_lane(&mut self.v, row, l, Vec3::ZERO);
        }
    }

    /// Moves a lane rigidly, with its velocities.
    pub(super) fn carry_lane(&mut self, l: usize, from: &RigidTransform, to: &RigidTransform) {
        let motion = *to * from.inverse();
        self.root[1][l] = *to;
        self.origin[l] = motion.point(self.origin[l]);
        for row in 0..self.rows {
            let (p, v) = (lane(&self.x, row, l), lane(&self.v, row, l));
            set_lane(&mut self.x, row, l, motion.direction(p));
            set_lane(&mut self.v, row, l, motion.direction(v));
        }
    }

    /// Sums the forces on a lane that are constant in a step: weight, and those that hold the groom.
    pub(super) fn load_lane(&mut self, l: usize, gravity: Vec3) {
        let turn = glam::Mat3::from_quat(self.root[1][l].rotation);
        for row in 0..self.count[l] as usize {
            let hold = turn * lane(&self.hold, row, l);
            let weight = gravity * self.weight[row * LANES + l];
            set_lane(&mut self.load, row, l, hold + weight);
        }
    }

    /// Releases the tip of a lane, or pins it.
    pub(super) fn free_tip(&mut self, l: usize, free: bool) {
        let pinned = !free && self.pinned_tip[l] < self.count[l];
        self.pinned_at_both = self.pinned_at_both & !(1 << l) | u16::from(pinned) << l;
        for row in self.pinned_tip[l] as usize..self.count[l] as usize {
            self.free[row] = self.free[row] & !(1 << l) | u16::from(free) << l;
        }
    }

    /// Lanes with a value that is not finite, too far from the root, or too fast.
    pub(super) fn find_broken(&self) -> u16 {
        let mut sane = [true; LANES];
        for (x, v) in self.x.as_chunks::<VECTOR>().0.iter().zip(self.v.as_chunks::<VECTOR>().0) {
            for l in 0..LANES {
                let square = |a: &[f32; VECTOR]| {
                    a[l] * a[l] + a[l + LANES] * a[l + LANES] + a[l + 2 * LANES] * a[l + 2 * LANES]
                };
                let reach = MAX_STRAND_LENGTHS * self.reach[l];
                // A comparison with NaN fails.
                sane[l] &= (square(x) <= reach * reach) & (square(v) <= FASTEST * FASTEST);
            }
        }
        (0..LANES).fold(0, |bits, l| bits | u16::from(!sane[l]) << l)
    }

    /// Position of a particle in the world (m).
    #[inline]
    pub(super) fn world_position(&self, row: usize, l: usize) -> Vec3 {
        lane(&self.x, row, l) + self.origin[l]
    }

    /// Targets of the pinned particles of a lane at the fraction `fraction` of the step: calls `put` with the row
    /// and the position relative to the root. Returns the position of the root.
    pub(super) fn pinned_targets(
        &self,
        l: usize,
        fraction: f32,
        far_end: Option<&FarEndPose>,
        mut put: impl FnMut(usize, Vec3),
    ) -> Vec3 {
        let pose = self.pose(l, fraction);
        for row in 0..self.pinned_at_root[l] as usize {
            put(row, pose.direction(lane(&self.rest, row, l)));
        }
        let (first, count) = (self.pinned_tip[l] as usize, self.count[l] as usize);
        if let Some(far_end) = far_end.filter(|_| first < count) {
            let at = |row: usize| lane(&self.rest, row, l);
            for row in first..count {
                let strand = self.strands[l];
                put(row, pose.direction(far_end.place(strand, at(row), at(count - 1), at(0))));
            }
        }
        let root = pose.point(self.root_rest[l] + self.slid[0][l].lerp(self.slid[1][l], fraction));
        for pin in self.pins.iter().filter(|pin| pin.lane == l) {
            put(pin.row, pin.target.at(fraction) - root);
        }
        root
    }

    /// Position of the root of a lane at the end of the step.
    pub(super) fn root_end(&self, l: usize) -> Vec3 {
        self.root[1][l].point(self.root_rest[l] + self.slid[1][l])
    }

    /// Moves pinned ends to their displacement at `time` (s).
    pub(super) fn slide(&mut self, far_end: &FarEnd, time: f64) {
        self.slid[0] = self.slid[1];
        let displacement = far_end.slide * time.clamp(0.0, far_end.until.into()) as f32;
        for l in 0..LANES {
            self.slid[1][l] =
                if self.strands[l] >= far_end.first { displacement } else { Vec3::ZERO };
        }
    }

    fn pose(&self, l: usize, fraction: f32) -> Pose {
        Pose::new(&self.root[0][l]).between(&Pose::new(&self.root[1][l]), fraction)
    }
}

/// Displacement of the far end at some time.
#[derive(Debug, Clone, Copy)]
pub(super) struct FarEndPose {
    first: u32,
    displacement: f32,
    turn: f32,
}

impl FarEndPose {
    pub(super) fn at(far_end: &FarEnd, time: f64) -> Self {
        let time = time.clamp(0.0, far_end.until.into()) as f32;
        Self {
            first: far_end.first,
            displacement: far_end.approach * time,
            turn: far_end.twist * time,
        }
    }

    /// Position of a particle pinned at the tip: rotated about the line to the root, and translated along it.
    fn place(&self, strand: u32, p: Vec3, tip: Vec3, root: Vec3) -> Vec3 {
        if strand < self.first {
            return p;
        }
        let axis = (root - tip).normalize_or(Vec3::Y);
        let turned = glam::Quat::from_axis_angle(axis, self.turn) * (p - tip);
        tip + turned + axis * self.displacement
    }
}
