//! Pinned points ([`Environment::pins`]) in the implicit step and on the length sphere.
//!
//! Model: with `g(a)` the vector from a point displaced by `a` to its pin, `f` the force of the pin in the last step and
//! `k` a stiffness ([`STIFFNESS`]), a step minimises in addition
//!
//! ```text
//! k/2 |g(a)|^2 + f . g(a)           then   f <- f + k g(a)
//! ```
//!
//! (augmented Lagrangian, as in `resting.rs`): the residual `f / k` of a constant force goes to zero, so a pin at
//! rest is exact. The gap that the linear step leaves, of second order in the turns of segments, is closed on the length
//! sphere by the smallest turns ([`close_chain`]). That moves points without adding velocity, like a push of the body;
//! but the velocity of the pin is known, and the strand takes it on.
//!
//! Units: masses by the mass of a mean segment, forces times `dt^2` (so metres), as in `articulated/`.

use fearless_simd::{Simd, SimdMask, mask32x8};
use glam::Vec3;

use super::block::{Block, Rows};
use super::close_outside::Outside;
use super::collider::Obstacles;
use super::resting::{self, MEMORY};
use super::{Environment, Pass};
use crate::math::LANES;
use crate::math::bytes::{Reader, put_floats, put_u32};
use crate::math::close_chain::Line;
use crate::math::lanes::{HALF, VECTOR, lane, set_lane};

/// Stiffness of a pin, by the inertia of its whole strand: a change of the force on the strand by its weight moves the pin
/// by `g dt^2 / 100`, 2 um at 240 steps a second. More loses digits of the inertia of what hangs on the pin.
const STIFFNESS: f32 = 100.0;

/// The gap (m) whose force is the largest that a pin accumulates, 590 times the weight of the strand at 240 steps a
/// second: the force of a pin that the body obstructs must not grow without bound.
const MAX_GAP: f32 = 1e-3;

/// The largest gap (m) that is closed on the length sphere in a step. A larger one is closed by forces.
const MAX_CLOSED: f32 = 2e-3;

/// The same for tips that the model holds, which begin in their places: more than a shaken head leaves of limp hair.
const MAX_CLOSED_TIP: f32 = 5e-2;

/// A pinned point of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    row: u16,
    lane: u16,
    /// Its position at the end of the step (m).
    target: Vec3,
    /// Its displacement in the step (m).
    moves: Vec3,
    force: Vec3,
    /// Whether it stays outside of the body, as tips do that the model holds: pins of the caller go into it.
    collides: bool,
}

impl Block {
    /// Reserves memory for a pin per strand, so that steps allocate none.
    pub(super) fn make_room_for_pins(&mut self) {
        self.pins.reserve(LANES);
        self.before_pin.reserve(self.points);
    }

    /// Loads the pins of a step.
    pub(super) fn load_pins(
        &mut self,
        env: &Environment<'_>,
        contact: &mut [f32],
        pass: &Pass,
        obstacles: &Obstacles<'_>,
    ) {
        if env.pins.is_empty() && self.pins.is_empty() && !pass.holds_tips {
            return;
        }
        let (strands, tips, dt) = (self.strands, self.last, pass.dt);
        self.pins.retain(|pin| {
            let lane = usize::from(pin.lane);
            let of_strand = env.pins.of(strands[lane] as usize);
            of_strand.iter().any(|now| now.point == u32::from(pin.row))
                || pass.holds_tips && f32::from(pin.row) == tips[lane]
        });
        for lane in 0..self.lanes {
            let mut speed = 0.0f32;
            let of_strand = env.pins.of(strands[lane] as usize);
            let tip = pass.holds_tips.then(|| self.tip_target(lane, pass, obstacles));
            // A pin of the caller replaces that of the tip.
            let tip = tip.filter(|tip| of_strand.last().is_none_or(|now| now.point != tip.point));
            let all = of_strand.iter().map(|now| (*now, false)).chain(tip.map(|tip| (tip, true)));
            for (now, collides) in all {
                let (target, moves) = (now.end, now.end - now.start);
                let (row, lane) = (now.point as u16, lane as u16);
                match self.pins.iter_mut().find(|pin| (pin.row, pin.lane) == (row, lane)) {
                    Some(pin) => {
                        (pin.target, pin.moves, pin.collides) = (target, moves, collides);
                    }
                    None => {
                        let force = Vec3::ZERO;
                        self.pins.push(Pin { row, lane, target, moves, force, collides });
                        let row = contact.as_chunks_mut::<MEMORY>().0.get_mut(usize::from(row));
                        row.into_iter().for_each(|row| resting::forget(row, lane.into()));
                    }
                }
                let moved = moves - self.carried_by(lane.into(), now.start);
                speed = speed.max(moved.length() / dt);
            }
            if speed > 0.0 {
                self.ages.renew(lane, speed * dt, speed);
            }
        }
        self.pins.sort_unstable_by_key(|pin| (pin.lane, pin.row));
    }

    /// Displacement of a point by the scalp's motion (m).
    fn carried_by(&self, l: usize, p: Vec3) -> Vec3 {
        let [x, y, z, added] = [0, 1, 2, 3].map(|k| lane(&self.motion[k], 0, l));
        x * p.x + y * p.y + z * p.z + added
    }

    /// Whether any point of a row is pinned.
    #[inline(always)]
    pub(super) fn is_any_pinned(&self, i: usize) -> bool {
        self.pins.iter().any(|pin| usize::from(pin.row) == i)
    }

    fn pins_of_row(&self, i: usize) -> impl Iterator<Item = &Pin> {
        self.pins.iter().filter(move |pin| usize::from(pin.row) == i)
    }

    /// Stiffness and force of the pins of a row, for points at `carried` without a displacement.
    #[cold]
    #[inline(never)]
    pub(super) fn pin_terms(
        &self,
        i: usize,
        carried: &[f32; VECTOR],
    ) -> ([f32; LANES], [f32; VECTOR]) {
        let (mut stiffness, mut pull) = ([0.0; LANES], [0.0; VECTOR]);
        for pin in self.pins_of_row(i) {
            let l = usize::from(pin.lane);
            stiffness[l] = self.pin_stiffness(l);
            let gap = pin.target - lane(carried, 0, l);
            set_lane(&mut pull, 0, l, gap * stiffness[l] + pin.force);
        }
        (stiffness, pull)
    }

    fn pin_stiffness(&self, l: usize) -> f32 {
        STIFFNESS * (self.last[l] + 1.0)
    }

    /// Lanes of half a row whose point is not pinned to a place that may be inside of the body.
    pub(super) fn not_pinned<S: Simd>(&self, simd: S, i: usize, half: usize) -> mask32x8<S> {
        let enters = self.pins_of_row(i).filter(|pin| !pin.collides);
        let pinned = enters.fold(0u64, |bits, pin| bits | 1 << pin.lane);
        mask32x8::from_bitmask(simd, !(pinned >> (half * HALF)) & 0xff)
    }

    /// Ends a step: updates the forces, and moves the points to their pins.
    pub(super) fn hold_pins(
        &mut self,
        rows: &mut Rows<'_>,
        pass: &Pass,
        obstacles: &Obstacles<'_>,
    ) {
        let mut pins = std::mem::take(&mut self.pins);
        let mut before = (u16::MAX, 0);
        for pin in &mut pins {
            let l = usize::from(pin.lane);
            let first =
                if before.0 == pin.lane { before.1 } else { self.last_embedded[l] as usize };
            let row = usize::from(pin.row);
            before = (pin.lane, row);
            let here = lane(rows.position, row, l);
            let gap = pin.target - here;
            if !gap.is_finite() {
                pin.force = Vec3::ZERO;
                continue;
            }
            let stiffness = self.pin_stiffness(l);
            pin.force = (pin.force + gap * stiffness).clamp_length_max(stiffness * MAX_GAP);
            let mut line = InLane { position: rows.position, lane: l };
            let max_closed = if pin.collides { MAX_CLOSED_TIP } else { MAX_CLOSED };
            let target = here + gap.clamp_length_max(max_closed);
            let last = self.last[l] as usize;
            let mut before = std::mem::take(&mut self.before_pin);
            let depth = &self.depth;
            let allowed = |i: usize| {
                if self.began_inside { depth[i * LANES + l] * pass.still_inside } else { 0.0 }
            };
            let outside = Outside { obstacles, allowed, collides: pin.collides };
            let length = |i: usize| self.length_of(i, l);
            outside.close(&mut line, [first, row, last], target, length, &mut before);
            self.before_pin = before;
            self.take_velocity(rows.velocity, [first, row], l, pin.moves * (1.0 / pass.dt));
        }
        self.pins = pins;
    }

    /// Sets the velocity of a pinned point to that of its pin, and distributes the difference along its strand: pushes of
    /// the body and turns of the closing chain add no velocity, and a taut strand that lies on the body moves by these
    /// alone.
    fn take_velocity(
        &self,
        velocity: &mut [f32],
        [first, row]: [usize; 2],
        l: usize,
        of_pin: Vec3,
    ) {
        let change = of_pin - lane(velocity, row, l);
        let total: f32 = (first + 1..=row).map(|i| self.length_of(i, l)).sum();
        let mut along = 0.0;
        for i in first + 1..=self.last[l] as usize {
            along = (along + self.length_of(i, l)).min(total);
            let v = lane(velocity, i, l) + change * (along / total);
            set_lane(velocity, i, l, v);
        }
    }

    /// Sets the forces of a lane's pins to zero.
    pub(super) fn forget_pins(&mut self, l: usize) {
        let of = |pin: &&mut Pin| usize::from(pin.lane) == l;
        self.pins.iter_mut().filter(of).for_each(|pin| pin.force = Vec3::ZERO);
    }

    /// Rotates the forces of a lane's pins with a teleport.
    pub(super) fn turn_pins(&mut self, l: usize, turn: impl Fn(Vec3) -> Vec3) {
        let of = |pin: &&mut Pin| usize::from(pin.lane) == l;
        self.pins.iter_mut().filter(of).for_each(|pin| pin.force = turn(pin.force));
    }
}

/// The points of a lane.
struct InLane<'a> {
    position: &'a mut [f32],
    lane: usize,
}

impl Line for InLane<'_> {
    fn at(&self, i: usize) -> Vec3 {
        lane(self.position, i, self.lane)
    }
    fn set(&mut self, i: usize, p: Vec3) {
        set_lane(self.position, i, self.lane, p);
    }
}

/// Appends the forces of all pins, for a checkpoint.
pub(super) fn save(blocks: &[Block], out: &mut Vec<u8>) {
    put_u32(out, blocks.iter().map(|block| block.pins.len() as u32).sum());
    for (b, block) in (0u32..).zip(blocks) {
        for Pin { row, lane, force, .. } in &block.pins {
            [b, u32::from(*row), u32::from(*lane)].iter().for_each(|n| put_u32(out, *n));
            put_floats(out, force.to_array());
        }
    }
}

/// Forces of pins from a checkpoint, with their blocks.
pub(super) type Saved = Vec<(usize, Pin)>;

/// Reads what [`save`] wrote; `None` if it is malformed.
pub(super) fn read(from: &mut Reader<'_>, blocks: &[Block]) -> Option<Saved> {
    let count = from.u32()?;
    let mut one = || {
        let block = from.u32()? as usize;
        let (row, lane) = (from.u32()?, from.u32()?);
        let force = Vec3::new(from.f32()?, from.f32()?, from.f32()?);
        let fits = blocks.get(block).is_some_and(|b| (row as usize) < b.points)
            && (lane as usize) < LANES
            && force.is_finite();
        let pin = Pin {
            row: row as u16,
            lane: lane as u16,
            target: Vec3::ZERO,
            moves: Vec3::ZERO,
            force,
            collides: false,
        };
        fits.then_some((block, pin))
    };
    (0..count).map(|_| one()).collect()
}

/// Applies what has been read: targets follow with the next step.
pub(super) fn restore(saved: Saved, blocks: &mut [Block]) {
    blocks.iter_mut().for_each(|block| block.pins.clear());
    for (block, pin) in saved {
        blocks[block].pins.push(pin);
    }
}
