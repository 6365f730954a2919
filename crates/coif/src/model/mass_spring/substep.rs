//! One substep: the nine stages of `selle2008` section 4, on one block or on all of them.

use std::ops::Range;

use fearless_simd::{Level, Select, Simd, SimdBase, dispatch, f32x16};
use glam::Vec3;

use super::VelocityUpdate;
use super::assemble::{System, Times, assemble_lanes, constrain};
use super::block::{Block, FarEndPose};
use super::collide::collide_with_body;
use super::couple::Coupling;
use super::double::Double;
use super::limit::{
    limit_after_contact, limit_between_ends, limit_between_ends_after_contact, limit_strain,
};
use crate::collide::PosedShape;
use crate::math::banded::{self, ROW};
use crate::math::lanes::{VECTOR, Vec3x, lane, set_lane};
use crate::math::{LANES, SolveReport};
use crate::model::Environment;

/// Speed (m/s) below which velocities are flushed to zero, because subnormal numbers slow the arithmetic: far below any
/// visible motion.
const TINY: f32 = 1e-18;

/// The constants of one substep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Substep {
    /// Length (s).
    pub(super) h: f32,
    /// Fraction of the step at its end.
    pub(super) fraction: f32,
    /// Internal friction of the fibre as a time (s).
    pub(super) fibre_damping: f32,
    /// Drag (1/s), for blocks without drag per particle.
    pub(super) drag: f32,
    /// Friction relative to that of the body, for blocks without friction per particle.
    pub(super) friction: f32,
    pub(super) strain_limit: f32,
    /// Fraction of the approach speed at which hair rebounds from the body.
    pub(super) restitution: f32,
    pub(super) velocity_update: VelocityUpdate,
    /// Pose of pinned tips at its end.
    pub(super) far_end: Option<FarEndPose>,
    /// Whether pinned tips have been released.
    pub(super) released: bool,
}

/// Memory for the system of a block.
pub(super) struct Scratch {
    pub(super) band: Vec<f32>,
    pub(super) rhs: Vec<f32>,
    /// The systems of strands that are too stiff for single precision.
    pub(super) double: Double,
    /// Positions in the middle of a substep.
    middle: Vec<f32>,
    /// The points of the block among all, and the squared norm of its right-hand side, if blocks are
    /// coupled.
    pub(super) points: Range<usize>,
    pub(super) size: f64,
}

impl Scratch {
    /// Memory for any of these blocks.
    pub(super) fn new(blocks: &[Block]) -> Self {
        let rows = blocks.iter().map(|b| b.rows).max().unwrap_or(0);
        Self {
            double: Double::new(blocks),
            band: vec![0.0; rows * ROW],
            rhs: vec![0.0; rows * VECTOR],
            middle: vec![0.0; rows * VECTOR],
            points: 0..0,
            size: 0.0,
        }
    }
}

/// The blocks that are advanced together, with one scratch memory for each `per` of them.
pub(super) struct Work<'a> {
    pub(super) level: Level,
    pub(super) blocks: &'a mut [Block],
    pub(super) scratch: &'a mut [Scratch],
    pub(super) per: usize,
    pub(super) coupling: Option<&'a mut Coupling>,
}

impl Work<'_> {
    /// One substep, as in the box of `selle2008` section 4.
    pub(super) fn run(
        &mut self,
        env: &Environment<'_>,
        shapes: &[PosedShape],
        substep: &Substep,
    ) -> SolveReport {
        self.find_contacts(substep);
        let first = self.solve_half_velocity(substep); // 1
        self.limit_strain(substep); // 2
        if self.repel_half_velocity(substep) {
            self.limit_strain(substep); // 2 again, after 3
        }
        self.each(|level, block, _| {
            dispatch!(level, simd => advance_positions(simd, block, substep)); // 4
            collide_with_body(block, env, shapes, substep); // 5
        });
        self.collide_with_hair(substep); // 6
        if self.coupling.is_some() {
            self.each(|level, block, _| {
                dispatch!(level, simd => limit_after_contact(simd, block, substep.strain_limit));
                limit_between_ends_after_contact(block, substep.strain_limit);
            });
            self.collide_with_hair_again(substep); // 6 again, after the limit
        }
        let second = self.solve_velocity(substep); // 7, 8
        self.each(|_, block, _| {
            block.x.copy_from_slice(&block.next);
            block.origin = block.origin_next;
        });
        self.repel_velocity(substep); // 9
        SolveReport {
            iterations: first.iterations.max(second.iterations),
            residual: first.residual.max(second.residual),
        }
    }

    /// Step 1: `v(n+1/2) = v(n) + dt/2 a(x(n), v(n+1/2))`.
    fn solve_half_velocity(&mut self, substep: &Substep) -> SolveReport {
        let times = Times {
            step: 0.5 * substep.h,
            lag: substep.h + substep.fibre_damping,
            drag: substep.drag,
        };
        self.solve(
            times,
            substep.h,
            0,
            |level, block, scratch| {
                follow_body(block, substep);
                block.half.copy_from_slice(&block.v);
                let Scratch { band, rhs, double, .. } = scratch;
                let mut system = System { band, rhs };
                assemble_lanes(level, block, &block.x, &block.half, &times, &mut system);
                double.assemble(block, &block.x, &block.half, &times, &[], rhs);
            },
            |level, block, rhs| add_lanes(level, &mut block.half, rhs, 1.0),
        )
    }

    /// Steps 7 and 8: `v(n+1/2) = v(n) + dt/2 a(x(n+1/2), v(n+1/2))`, `v(n+1) = 2 v(n+1/2) - v(n)`; or
    /// backward Euler, `v(n+1) = v(n) + dt a(x(n+1/2), v(n+1))`.
    fn solve_velocity(&mut self, substep: &Substep) -> SolveReport {
        let (step, factor) = match substep.velocity_update {
            VelocityUpdate::Trapezoidal => (0.5 * substep.h, 2.0),
            VelocityUpdate::BackwardEuler => (substep.h, 1.0),
        };
        let times = Times { step, lag: substep.h + substep.fibre_damping, drag: substep.drag };
        self.solve(
            times,
            substep.h,
            1,
            |level, block, scratch| {
                let Scratch { band, rhs, middle, double, .. } = scratch;
                let floats = block.rows * VECTOR;
                dispatch!(level, simd => mean(simd, &block.x, &block.next, &mut middle[..floats]));
                let mut system = System { band, rhs };
                assemble_lanes(level, block, middle, &block.v, &times, &mut system);
                let rows = block.rows;
                let mut system = System { band: &mut band[..rows * ROW], rhs: &mut rhs[..floats] };
                constrain(&block.collisions, &mut system);
                double.assemble(block, middle, &block.v, &times, &block.collisions, rhs);
            },
            |level, block, rhs| add_lanes(level, &mut block.v, rhs, factor),
        )
    }

    /// Assembles, factors and solves a system, and passes the solution to `take`.
    fn solve(
        &mut self,
        times: Times,
        look_ahead: f32,
        which: usize,
        assemble: impl Fn(Level, &mut Block, &mut Scratch) + Sync,
        take: impl Fn(Level, &mut Block, &[f32]) + Sync,
    ) -> SolveReport {
        let coupled = self.coupling.is_some();
        self.each(|level, block, scratch| {
            assemble(level, block, scratch);
            let rows = block.rows;
            let band = &mut scratch.band[..rows * ROW];
            banded::factor_lanes(level, band);
            scratch.double.factor(block);
            if !coupled {
                let rhs = &mut scratch.rhs[..rows * VECTOR];
                scratch.double.solve(block, rhs, |rhs| {
                    banded::solve_lanes(level, band, rhs);
                });
                take(level, block, rhs);
            }
        });
        let Some(coupling) = self.coupling.as_deref_mut() else {
            return SolveReport::default();
        };
        let report =
            coupling.solve(self.level, self.blocks, self.scratch, &times, look_ahead, which);
        self.each(|level, block, scratch| {
            let floats = block.rows * VECTOR;
            take(level, block, &scratch.rhs[..floats]);
        });
        report
    }

    /// Finds pairs of hairs that are near each other.
    fn find_contacts(&mut self, substep: &Substep) {
        if let Some(coupling) = self.coupling.as_deref_mut() {
            coupling.find(self.blocks, substep.h);
        }
    }

    /// Step 2.
    fn limit_strain(&mut self, substep: &Substep) {
        self.each(|level, block, _| {
            dispatch!(level, simd => limit_strain(simd, block, substep.h, substep.strain_limit));
            limit_between_ends(block, substep.h, substep.strain_limit);
        });
    }

    /// Step 3; returns whether there is contact.
    fn repel_half_velocity(&mut self, substep: &Substep) -> bool {
        let Some(coupling) = self.coupling.as_deref_mut() else { return false };
        coupling.repel(self.blocks, self.scratch, |b| &b.half, |b| &mut b.half, substep.h);
        true
    }

    /// Step 9.
    fn repel_velocity(&mut self, substep: &Substep) {
        if let Some(coupling) = self.coupling.as_deref_mut() {
            coupling.repel(self.blocks, self.scratch, |b| &b.v, |b| &mut b.v, substep.h);
        }
    }

    /// Step 6.
    fn collide_with_hair(&mut self, substep: &Substep) {
        if let Some(coupling) = self.coupling.as_deref_mut() {
            coupling.collide(self.blocks, self.scratch, substep.h);
        }
    }

    /// Step 6 for the points that the strain limit has moved since.
    fn collide_with_hair_again(&mut self, substep: &Substep) {
        if let Some(coupling) = self.coupling.as_deref_mut() {
            coupling.collide_again(self.blocks, self.scratch, substep.h);
        }
    }

    /// Calls `work` for every block.
    fn each(&mut self, work: impl Fn(Level, &mut Block, &mut Scratch) + Sync) {
        let level = self.level;
        in_halves(self.blocks, self.scratch, self.per, &|block, scratch| {
            work(level, block, scratch);
        });
    }
}

/// Distributes blocks over threads in runs of `per`, each with one scratch memory.
pub(super) fn in_halves(
    blocks: &mut [Block],
    scratch: &mut [Scratch],
    per: usize,
    work: &(impl Fn(&mut Block, &mut Scratch) + Sync),
) {
    if scratch.len() <= 1 || rayon::current_num_threads() == 1 {
        for (blocks, scratch) in blocks.chunks_mut(per).zip(scratch) {
            for block in blocks {
                work(block, scratch);
            }
        }
        return;
    }
    let half = scratch.len() / 2;
    let (scratch_a, scratch_b) = scratch.split_at_mut(half);
    let (a, b) = blocks.split_at_mut(half * per);
    rayon::join(|| in_halves(a, scratch_a, per, work), || in_halves(b, scratch_b, per, work));
}

/// Gives pinned particles the velocity to their prescribed positions at the end of the substep.
fn follow_body(block: &mut Block, substep: &Substep) {
    let per_h = 1.0 / substep.h;
    let far_end = substep.far_end.as_ref().filter(|_| !substep.released);
    let mut v = std::mem::take(&mut block.v);
    for l in 0..LANES {
        let origin = block.origin[l];
        let x = &block.x;
        // Compute the position of the root before those of the particles, which are relative to it.
        let root_next = block.pinned_targets(l, substep.fraction, None, |_, _| {});
        block.pinned_targets(l, substep.fraction, far_end, |row, target| {
            let displacement = (target - lane(x, row, l)) + (root_next - origin);
            set_lane(&mut v, row, l, displacement * per_h);
        });
        block.origin_next[l] = root_next;
    }
    block.v = v;
}

/// Step 4: `x(n+1) = x(n) + dt v(n+1/2)`, relative to the new positions of the roots.
#[inline(always)]
fn advance_positions<S: Simd>(simd: S, block: &mut Block, substep: &Substep) {
    let mut shift = [0.0; VECTOR];
    for l in 0..LANES {
        set_lane(&mut shift, 0, l, block.origin_next[l] - block.origin[l]);
    }
    let shift = Vec3x::of_row(simd, &shift);
    let h = f32x16::splat(simd, substep.h);
    let rows = block.rows;
    let x = &block.x.as_chunks::<VECTOR>().0[..rows];
    let half = &block.half.as_chunks::<VECTOR>().0[..rows];
    let next = &mut block.next.as_chunks_mut::<VECTOR>().0[..rows];
    for j in 0..rows {
        let moved = Vec3x::of_row(simd, &half[j]) * h - shift;
        (Vec3x::of_row(simd, &x[j]) + moved).to_row(&mut next[j]);
    }
    // Set pinned particles to exactly their prescribed positions, and padding to zero.
    let far_end = substep.far_end.as_ref().filter(|_| !substep.released);
    let mut next = std::mem::take(&mut block.next);
    for l in 0..LANES {
        block.pinned_targets(l, substep.fraction, far_end, |row, target| {
            set_lane(&mut next, row, l, target)
        });
        for row in block.count[l] as usize..rows {
            set_lane(&mut next, row, l, Vec3::ZERO);
        }
    }
    block.next = next;
}

fn add_lanes(level: Level, to: &mut [f32], from: &[f32], factor: f32) {
    dispatch!(level, simd => add(simd, to, from, factor));
}

/// `to += from * factor`, flushed to zero where the sum is below [`TINY`].
#[inline(always)]
fn add<S: Simd>(simd: S, to: &mut [f32], from: &[f32], factor: f32) {
    let (factor, zero) = (f32x16::splat(simd, factor), f32x16::splat(simd, 0.0));
    let (to, from) = (to.as_chunks_mut::<LANES>().0, from.as_chunks::<LANES>().0);
    for (to, from) in to.iter_mut().zip(from) {
        let sum = f32x16::from_slice(simd, to) + f32x16::from_slice(simd, from) * factor;
        sum.abs().simd_lt(TINY).select(zero, sum).store_slice(to);
    }
}

/// `to = (a + b) / 2`.
#[inline(always)]
fn mean<S: Simd>(simd: S, a: &[f32], b: &[f32], to: &mut [f32]) {
    let half = f32x16::splat(simd, 0.5);
    let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    for ((a, b), to) in a.iter().zip(b).zip(to.as_chunks_mut::<LANES>().0) {
        let sum = (f32x16::from_slice(simd, a) + f32x16::from_slice(simd, b)) * half;
        sum.store_slice(to);
    }
}
