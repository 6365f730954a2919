//! Velocity solves with springs between strands.
//!
//! The matrix is `A + C`: A has one banded matrix per strand, C one outer product per spring between
//! hairs. The strands are solved directly, and the forces of the springs by conjugate gradients on the dual system
//! (`net.rs`).
//!
//! Contact and springs use the points of the hair in the order of the blocks, strand after strand, so that
//! neighbouring hairs are adjacent in memory.

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;

use super::assemble::Times;
use super::block::Block;
use super::double::Double;
use super::net::{Net, PointState};
use super::substep::{Scratch, in_halves};
use crate::contact::HairContact;
use crate::math::banded::{self, ROW};
use crate::math::lanes::{lane, set_lane};
use crate::math::{LANES, SolveReport};

/// Place of a point of the groom in the blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) block: u32,
    pub(super) row: u16,
    pub(super) lane: u8,
}

/// Blocks per task, which has one scratch vector.
const RUN: usize = 8;

/// The hairs in contact, and scratch memory to solve for them.
pub(super) struct Coupling {
    pub(super) contact: Box<dyn HairContact>,
    /// Scale of forces.
    scale: f32,
    tolerance: f32,
    max_iterations: u32,
    /// The points in the order of the blocks, strand after strand.
    place: Vec<Place>,
    net: Net,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    end: Vec<Vec3>,
    /// Velocities passed to the contact, to detect changes.
    handed: Vec<Vec3>,
    handed_end: Vec<Vec3>,
    /// Points that the strain limit has moved after collision.
    moved: Vec<bool>,
    /// Solutions of the last substep at the points, of the first and of the second solve: the initial guess of the next.
    last: [Vec<Vec3>; 2],
    /// A scratch vector per run of blocks.
    rooms: Vec<Vec<f32>>,
}

impl Coupling {
    /// Sets tolerance and largest number of iterations of the solver.
    pub(super) fn set_accuracy(&mut self, tolerance: f32, max_iterations: u32) {
        (self.tolerance, self.max_iterations) = (tolerance, max_iterations);
    }

    /// Couples strands by `contact`; `groom_place` are the places of the points in the groom's order.
    pub(super) fn new(
        mut contact: Box<dyn HairContact>,
        groom_place: &[Place],
        scratch: &mut [Scratch],
        scale: f32,
        tolerance: f32,
        max_iterations: u32,
    ) -> Self {
        let mut order: Vec<u32> = (0..groom_place.len() as u32).collect();
        order.sort_by_key(|&p| {
            let at = &groom_place[p as usize];
            (at.block, at.lane, at.row)
        });
        contact.arrange(&order);
        let place: Vec<Place> = order.iter().map(|&p| groom_place[p as usize]).collect();
        for (b, scratch) in scratch.iter_mut().enumerate() {
            let begin = |b: usize| place.partition_point(|p| (p.block as usize) < b);
            scratch.points = begin(b)..begin(b + 1);
        }
        let rooms = scratch.chunks(RUN).map(|run| {
            let longest = run.iter().map(|scratch| scratch.rhs.len()).max();
            vec![0.0; longest.unwrap_or(0)]
        });
        let rooms = rooms.collect();
        let points = || vec![Vec3::ZERO; place.len()];
        let (position, velocity, end) = (points(), points(), points());
        let (handed, handed_end) = (points(), points());
        let (net, last) = (Net::new(place.len()), [points(), points()]);
        Self {
            contact,
            scale,
            tolerance,
            max_iterations,
            place,
            net,
            position,
            velocity,
            end,
            handed,
            handed_end,
            moved: Vec::new(),
            last,
            rooms,
        }
    }

    /// The solutions of the last step.
    pub(super) fn memory(&self) -> impl Iterator<Item = &Vec3> {
        self.last.iter().flatten()
    }

    pub(super) fn memory_mut(&mut self) -> impl Iterator<Item = &mut Vec3> {
        self.last.iter_mut().flatten()
    }

    /// Drops all contacts.
    pub(super) fn reset(&mut self) {
        self.contact.reset();
        self.last.iter_mut().for_each(|v| v.fill(Vec3::ZERO));
    }

    /// Finds the pairs that are near each other.
    pub(super) fn find(&mut self, blocks: &[Block], h: f32) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(&b.v, row, l));
        self.contact.find(&self.position, &self.velocity, h);
        self.net.tie(self.contact.springs());
    }

    /// Applies repulsion to velocities (steps 3 and 9).
    pub(super) fn repel(
        &mut self,
        blocks: &mut [Block],
        scratch: &mut [Scratch],
        read: impl Fn(&Block) -> &[f32] + Sync,
        write: impl Fn(&mut Block) -> &mut [f32] + Sync,
        h: f32,
    ) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(read(b), row, l));
        self.handed.copy_from_slice(&self.velocity);
        self.contact.repel(&self.position, &mut self.velocity, h);
        let (velocity, handed) = (&self.velocity, &self.handed);
        self.give_back(blocks, scratch, |block, i, row, l| {
            if velocity[i] != handed[i] {
                set_lane(write(block), row, l, velocity[i]);
            }
        });
    }

    /// Applies collision of hair with hair (step 6).
    pub(super) fn collide(&mut self, blocks: &mut [Block], scratch: &mut [Scratch], h: f32) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(&b.v, row, l));
        gather(&mut self.end, &self.place, blocks, next_position);
        self.handed.copy_from_slice(&self.velocity);
        self.handed_end.copy_from_slice(&self.end);
        self.contact.collide(&self.position, &mut self.end, &mut self.velocity, h);
        let (velocity, handed) = (&self.velocity, &self.handed);
        let (end, handed_end) = (&self.end, &self.handed_end);
        self.give_back(blocks, scratch, |block, i, row, l| {
            if end[i] != handed_end[i] {
                let place = end[i] - block.origin_next[l];
                set_lane(&mut block.next, row, l, place);
            }
            if velocity[i] != handed[i] {
                set_lane(&mut block.v, row, l, velocity[i]);
            }
        });
    }

    /// Applies collision again for points that the strain limit has moved since: to positions only, like the limit.
    pub(super) fn collide_again(&mut self, blocks: &mut [Block], scratch: &mut [Scratch], h: f32) {
        // Find the points that have moved since the collision.
        std::mem::swap(&mut self.end, &mut self.handed_end);
        gather(&mut self.end, &self.place, blocks, next_position);
        let ends = self.end.iter().zip(&self.handed_end);
        self.moved.clear();
        self.moved.extend(ends.map(|(now, before)| now != before));
        if !self.moved.contains(&true) {
            return;
        }
        self.handed_end.copy_from_slice(&self.end);
        self.contact.collide_again(&self.position, &mut self.end, &self.moved, h);
        let (end, handed_end) = (&self.end, &self.handed_end);
        self.give_back(blocks, scratch, |block, i, row, l| {
            if end[i] != handed_end[i] {
                set_lane(&mut block.next, row, l, end[i] - block.origin_next[l]);
            }
        });
    }

    /// Calls `take` for every point that may move, with its block, number, row and lane.
    fn give_back(
        &self,
        blocks: &mut [Block],
        scratch: &mut [Scratch],
        take: impl Fn(&mut Block, usize, usize, usize) + Sync,
    ) {
        let place = &self.place;
        in_halves(blocks, scratch, 1, &|block, scratch| {
            for i in scratch.points.clone() {
                let p = &place[i];
                if is_free(block, p) {
                    take(block, i, p.row.into(), p.lane.into());
                }
            }
        });
    }

    /// Solves the systems whose factors and right-hand sides are in `scratch`, with the springs between
    /// hairs added; right-hand sides are replaced by solutions. `which` is 0 for the first solve of a substep, at the
    /// positions of its start, and 1 for the second, in its middle.
    ///
    /// Model: `x = A^-1 (b - G c^1/2 y)`. The initial forces of the springs are those of the last solution, and the
    /// iteration solves for their change.
    /// Symbols: see `net.rs`.
    pub(super) fn solve(
        &mut self,
        level: Level,
        blocks: &mut [Block],
        scratch: &mut [Scratch],
        times: &Times,
        look_ahead: f32,
        which: usize,
    ) -> SolveReport {
        let springs = self.contact.springs();
        if springs.is_empty() {
            self.net.clear();
        } else {
            // Linearise the springs, and add their forces to the right-hand sides.
            let (read, place) = (&*blocks, &self.place);
            self.net.set_state(|i| state_of(&read[place[i].block as usize], &place[i], which));
            self.net.freeze(springs, times.step * self.scale, look_ahead);
            self.each_run(blocks, scratch, |block, scratch, points, _| {
                points.add_pulls(block, which, -1.0, &mut scratch.rhs);
                scratch.size = dot(level, &scratch.rhs, &scratch.rhs);
            });
            self.net.start(&self.last[which]);
        }
        let tied = !self.net.is_empty();
        self.each_run(blocks, scratch, |block, scratch, points, _| {
            let Scratch { band, rhs, double, .. } = scratch;
            if tied {
                points.add_pulls(block, which, -1.0, rhs);
            }
            solve_strands(level, block, (band, double), rhs);
            points.take_values(block, rhs);
        });
        let mut report = SolveReport::default();
        if tied {
            let size = scratch.iter().map(|s| s.size).sum::<f64>().max(f64::MIN_POSITIVE);
            report = self.iterate(level, blocks, scratch, size, which);
        }
        self.last[which].copy_from_slice(self.net.values());
        report
    }

    /// Solves for the change of the springs' forces, and adds its effect to the solutions; `size` is the squared norm of
    /// the right-hand sides.
    fn iterate(
        &mut self,
        level: Level,
        blocks: &[Block],
        scratch: &mut [Scratch],
        size: f64,
        which: usize,
    ) -> SolveReport {
        let mut energy = self.net.begin();
        let residual = (self.net.left(0.0) / size).sqrt();
        let mut report = SolveReport { iterations: 0, residual };
        while report.iterations < self.max_iterations && report.residual > self.tolerance.into() {
            self.each_run(blocks, scratch, |block, scratch, points, vector| {
                let Scratch { band, double, .. } = scratch;
                points.solve_pulls(level, block, (band, double), which, vector);
                points.take_values(block, vector);
            });
            let Some((now, turn)) = self.net.advance(energy) else { break };
            energy = now;
            report.iterations += 1;
            report.residual = (self.net.left(turn) / size).sqrt();
        }
        self.net.finish();
        self.each_run(blocks, scratch, |block, scratch, points, vector| {
            let Scratch { band, rhs, double, .. } = scratch;
            points.solve_pulls(level, block, (band, double), which, vector);
            subtract(level, rhs, vector);
            points.take_values(block, rhs);
        });
        report
    }

    /// Calls `work` for every block, with the slices of its points.
    fn each_run(
        &mut self,
        blocks: &[Block],
        scratch: &mut [Scratch],
        work: impl Fn(&Block, &mut Scratch, &mut Points<'_>, &mut [f32]) + Sync,
    ) {
        let (sum, value) = self.net.sums_and_values();
        let points = Points { place: &self.place, sum, value };
        in_runs(blocks, scratch, &mut self.rooms, points, &work);
    }
}

/// Points of consecutive blocks: their places, the forces of springs on them, and their response.
struct Points<'a> {
    place: &'a [Place],
    sum: &'a [Vec3],
    value: &'a mut [Vec3],
}

impl Points<'_> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (place, other_place) = self.place.split_at(at);
        let (sum, other_sum) = self.sum.split_at(at);
        let (value, other_value) = self.value.split_at_mut(at);
        let rest = Points { place: other_place, sum: other_sum, value: other_value };
        (Points { place, sum, value }, rest)
    }

    /// Adds the springs' forces, times a factor, to a vector of the block; in the second solve without the
    /// constrained directions of points on the body.
    fn add_pulls(&self, block: &Block, which: usize, factor: f32, to: &mut [f32]) {
        for (p, sum) in self.place.iter().zip(self.sum) {
            if is_free(block, p) {
                let (row, l) = (p.row.into(), p.lane.into());
                set_lane(to, row, l, lane(to, row, l) + *sum * factor);
            }
        }
        if which == 1 {
            for collision in &block.collisions {
                let (row, l) = (collision.row.into(), collision.lane.into());
                let all = lane(to, row, l);
                let across = all - collision.normal * all.dot(collision.normal);
                set_lane(to, row, l, if collision.sticks { Vec3::ZERO } else { across });
            }
        }
    }

    /// Solves for the response of the strands to the springs' forces, in `vector`.
    fn solve_pulls(
        &self,
        level: Level,
        block: &Block,
        factors: (&[f32], &mut Double),
        which: usize,
        vector: &mut [f32],
    ) {
        vector.fill(0.0);
        self.add_pulls(block, which, 1.0, vector);
        solve_strands(level, block, factors, vector);
    }

    /// Copies the values of the points from a vector of the block.
    fn take_values(&mut self, block: &Block, from: &[f32]) {
        for (p, value) in self.place.iter().zip(&mut *self.value) {
            let free = is_free(block, p);
            *value = if free { lane(from, p.row.into(), p.lane.into()) } else { Vec3::ZERO };
        }
    }
}

/// Distributes runs of blocks over threads, each with its scratch vector.
fn in_runs(
    blocks: &[Block],
    scratch: &mut [Scratch],
    rooms: &mut [Vec<f32>],
    points: Points<'_>,
    work: &(impl Fn(&Block, &mut Scratch, &mut Points<'_>, &mut [f32]) + Sync),
) {
    if let [room] = rooms {
        let mut rest = points;
        for (block, scratch) in blocks.iter().zip(scratch) {
            let (mut points, later) = rest.split_at(scratch.points.len());
            let floats = scratch.rhs.len();
            work(block, scratch, &mut points, &mut room[..floats]);
            rest = later;
        }
        return;
    }
    if rooms.is_empty() {
        return;
    }
    let half = rooms.len() / 2;
    let (rooms_a, rooms_b) = rooms.split_at_mut(half);
    let (scratch_a, scratch_b) = scratch.split_at_mut(half * RUN);
    let (blocks_a, blocks_b) = blocks.split_at(half * RUN);
    let count = scratch_a.iter().map(|scratch| scratch.points.len()).sum();
    let (points_a, points_b) = points.split_at(count);
    rayon::join(
        || in_runs(blocks_a, scratch_a, rooms_a, points_a, work),
        || in_runs(blocks_b, scratch_b, rooms_b, points_b, work),
    );
}

/// State of a point at the start of a substep (`which` 0) or in its middle (1).
#[inline]
fn state_of(block: &Block, p: &Place, which: usize) -> PointState {
    let (row, l) = (usize::from(p.row), usize::from(p.lane));
    let start = block.world_position(row, l);
    if which == 0 {
        PointState { position: start, velocity: lane(&block.half, row, l) }
    } else {
        let end = lane(&block.next, row, l) + block.origin_next[l];
        PointState { position: start.midpoint(end), velocity: lane(&block.v, row, l) }
    }
}

/// Position of a particle at the end of the substep (m).
#[inline]
fn next_position(block: &Block, row: usize, l: usize) -> Vec3 {
    lane(&block.next, row, l) + block.origin_next[l]
}

/// Collects a value of every point.
fn gather(
    out: &mut [Vec3],
    place: &[Place],
    blocks: &[Block],
    of: impl Fn(&Block, usize, usize) -> Vec3 + Sync,
) {
    out.par_iter_mut().zip(place).with_min_len(MIN_TASK).for_each(|(to, p)| {
        *to = of(&blocks[p.block as usize], p.row.into(), p.lane.into());
    });
}

/// Minimum number of points per task.
const MIN_TASK: usize = 1024;

fn is_free(block: &Block, p: &Place) -> bool {
    block.free[usize::from(p.row)] >> p.lane & 1 == 1
}

fn solve_strands(
    level: Level,
    block: &Block,
    (band, double): (&[f32], &mut Double),
    vector: &mut [f32],
) {
    double.solve(block, vector, |vector| {
        banded::solve_lanes(level, &band[..block.rows * ROW], vector);
    });
}

/// The dot product of two vectors of a block, with one partial sum per lane.
fn dot(level: Level, a: &[f32], b: &[f32]) -> f64 {
    #[inline(always)]
    fn lanes<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> [f32; LANES] {
        let mut sum = f32x16::splat(simd, 0.0);
        for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
            sum += f32x16::from_slice(simd, a) * f32x16::from_slice(simd, b);
        }
        let mut sums = [0.0; LANES];
        sum.store_slice(&mut sums);
        sums
    }
    let sums = dispatch!(level, simd => lanes(simd, a, b));
    sums.into_iter().map(f64::from).sum()
}

/// `to -= from`
fn subtract(level: Level, to: &mut [f32], from: &[f32]) {
    #[inline(always)]
    fn lanes<S: Simd>(simd: S, to: &mut [f32], from: &[f32]) {
        for (to, from) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(from.as_chunks::<LANES>().0)
        {
            (f32x16::from_slice(simd, to) - f32x16::from_slice(simd, from)).store_slice(to);
        }
    }
    dispatch!(level, simd => lanes(simd, to, from));
}
