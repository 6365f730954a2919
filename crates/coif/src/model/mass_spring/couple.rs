//! Velocity solves with springs between strands.
//!
//! The matrix is `A + C`: A has one banded matrix per strand, C one outer product per spring between
//! hairs. Conjugate gradient with A, factored, as preconditioner: only what the springs change is left
//! to iterate. All sums are taken in the order of blocks and springs, so that the bits do not depend on
//! the number of threads.
//!
//! Contact, and the springs, see the points of the hair in the order of the blocks, strand after strand:
//! hairs that grow beside each other are beside each other in memory. Values are brought together from
//! the blocks, multiplied with all springs (`net.rs`), and summed up per point.

use std::ops::Range;

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;

use super::assemble::Times;
use super::block::Block;
use super::net::{Freedom, Net, PointState};
use super::part::{Scratch, in_halves};
use crate::contact::HairContact;
use crate::math::banded::{self, ROW};
use crate::math::lanes::{VECTOR, lane, set_lane};
use crate::math::{LANES, SolveReport};

/// Where a point of the groom is among the blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) block: u32,
    pub(super) row: u16,
    pub(super) lane: u8,
}

/// The vectors of the iteration for one block.
#[derive(Default)]
pub(super) struct Vectors {
    /// What is left of the right-hand side.
    residual: Vec<f32>,
    /// The same, solved with A.
    solved: Vec<f32>,
    /// Direction of the search, and A times it.
    direction: Vec<f32>,
    image: Vec<f32>,
    /// `(A + C)` times the direction.
    full_image: Vec<f32>,
    /// Solutions of the last step, of the first solve and of the second.
    last: [Vec<f32>; 2],
    /// Per particle and lane: one more than the index in the block's list of touches, or 0.
    touch: Vec<u16>,
    /// Parts of two sums that this block has.
    sums: [f64; 2],
    /// The points of this block.
    points: Range<usize>,
}

impl Vectors {
    pub(super) fn new(rows: usize) -> Self {
        let vector = || vec![0.0; rows * VECTOR];
        Self {
            residual: vector(),
            solved: vector(),
            direction: vector(),
            image: vector(),
            full_image: vector(),
            last: [vector(), vector()],
            touch: vec![0; rows * LANES],
            sums: [0.0; 2],
            points: 0..0,
        }
    }

    /// Forgets the solutions of the last step.
    pub(super) fn reset(&mut self) {
        self.last.iter_mut().for_each(|v| v.fill(0.0));
    }

    /// The solutions of the last step: where the next solve starts from.
    pub(super) fn memory(&self) -> impl Iterator<Item = &f32> {
        self.last.iter().flatten()
    }

    pub(super) fn memory_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.last.iter_mut().flatten()
    }
}

/// The hairs that touch, and room to solve for them.
pub(super) struct Coupling {
    pub(super) contact: Box<dyn HairContact>,
    /// What forces are multiplied with.
    scale: f32,
    tolerance: f32,
    most_iterations: u32,
    /// The points in the order of the blocks, strand after strand.
    place: Vec<Place>,
    net: Net,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    end: Vec<Vec3>,
    /// What was handed to contact, to see what it changed.
    handed: Vec<Vec3>,
    handed_end: Vec<Vec3>,
}

impl Coupling {
    /// Lets `contact` work on points whose places, in the groom's order, are `groom_place`.
    pub(super) fn new(
        mut contact: Box<dyn HairContact>,
        groom_place: &[Place],
        scratch: &mut [Scratch],
        scale: f32,
        tolerance: f32,
        most_iterations: u32,
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
            scratch.coupled.points = begin(b)..begin(b + 1);
        }
        let points = || vec![Vec3::ZERO; place.len()];
        let (position, velocity, end) = (points(), points(), points());
        let (handed, handed_end) = (points(), points());
        let net = Net::new(place.len());
        Self {
            contact,
            scale,
            tolerance,
            most_iterations,
            place,
            net,
            position,
            velocity,
            end,
            handed,
            handed_end,
        }
    }

    /// Lets contact find the pairs that are near each other.
    pub(super) fn find(&mut self, blocks: &[Block], h: f32) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(&b.v, row, l));
        self.contact.find(&self.position, &self.velocity, h);
        self.net.tie(self.contact.springs());
    }

    /// Lets contact change velocities (steps 3 and 9).
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

    /// Lets contact keep hairs from passing through each other (step 6).
    pub(super) fn collide(&mut self, blocks: &mut [Block], scratch: &mut [Scratch], h: f32) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(&b.v, row, l));
        gather(&mut self.end, &self.place, blocks, |b, row, l| {
            lane(&b.next, row, l) + b.origin_next[l]
        });
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

    /// Calls `take` for every point that may move, with its block, number, row and lane.
    fn give_back(
        &self,
        blocks: &mut [Block],
        scratch: &mut [Scratch],
        take: impl Fn(&mut Block, usize, usize, usize) + Sync,
    ) {
        let place = &self.place;
        in_halves(blocks, scratch, 1, &|block, scratch| {
            for i in scratch.coupled.points.clone() {
                let p = &place[i];
                if is_free(block, p) {
                    take(block, i, p.row.into(), p.lane.into());
                }
            }
        });
    }

    /// Solves the systems whose factors and right-hand sides are in `scratch`, with the springs between
    /// hairs added; right-hand sides become solutions. `which`: 0 for the first solve of a part, at the
    /// positions of its start, 1 for the second, in its middle.
    ///
    /// Model: start from `A^-1 (b - C x_last)`; then `A p` follows the recurrence of p itself, because
    /// the preconditioner is A, and A need not be kept.
    pub(super) fn solve(
        &mut self,
        level: Level,
        blocks: &mut [Block],
        scratch: &mut [Scratch],
        times: &Times,
        look_ahead: f32,
        which: usize,
    ) -> SolveReport {
        self.link(blocks, scratch, times, look_ahead, which);
        if self.net.is_empty() {
            in_halves(blocks, scratch, 1, &|block, scratch| {
                solve_strands(level, block.rows, &scratch.band, &mut scratch.right);
                scratch.coupled.last[which].copy_from_slice(&scratch.right);
            });
            return SolveReport::default();
        }
        // Begin with the springs as the last solution stretched them.
        self.multiply(scratch, |s| &s.coupled.last[which]);
        let (net, place) = (&self.net, &self.place[..]);
        in_halves(blocks, scratch, 1, &|block, scratch| {
            let Scratch { band, right, coupled, .. } = scratch;
            coupled.sums[0] = dot(level, right, right);
            add_sums(net, place, &coupled.points, -1.0, right);
            solve_strands(level, block.rows, band, right);
            add_scaled(level, &mut coupled.last[which], right, -1.0);
        });
        let size = add_up(scratch, 0).max(f64::MIN_POSITIVE);
        self.multiply(scratch, |s| &s.coupled.last[which]);
        let (net, place) = (&self.net, &self.place[..]);
        in_halves(blocks, scratch, 1, &|block, scratch| {
            let Scratch { band, coupled, .. } = scratch;
            coupled.residual.fill(0.0);
            add_sums(net, place, &coupled.points, 1.0, &mut coupled.residual);
            coupled.solved.copy_from_slice(&coupled.residual);
            solve_strands(level, block.rows, band, &mut coupled.solved);
            coupled.direction.copy_from_slice(&coupled.solved);
            coupled.image.copy_from_slice(&coupled.residual);
            coupled.sums = coupled.products(level);
        });
        let mut energy = add_up(scratch, 0);
        let residual = (add_up(scratch, 1) / size).sqrt();
        let mut report = SolveReport { iterations: 0, residual };
        while report.iterations < self.most_iterations && report.residual > self.tolerance.into() {
            self.multiply(scratch, |s| &s.coupled.direction);
            let (net, place) = (&self.net, &self.place[..]);
            in_halves(blocks, scratch, 1, &|_, scratch| {
                let Vectors { direction, image, full_image, points, sums, .. } =
                    &mut scratch.coupled;
                full_image.copy_from_slice(image);
                add_sums(net, place, points, 1.0, full_image);
                sums[0] = dot(level, direction, full_image);
            });
            let curvature = add_up(scratch, 0);
            if !(curvature > 0.0 && energy.is_finite()) {
                break;
            }
            let step = (energy / curvature) as f32;
            in_halves(blocks, scratch, 1, &|block, scratch| {
                let Scratch { band, right, coupled, .. } = scratch;
                add_scaled(level, right, &coupled.direction, step);
                add_scaled(level, &mut coupled.residual, &coupled.full_image, -step);
                coupled.solved.copy_from_slice(&coupled.residual);
                solve_strands(level, block.rows, band, &mut coupled.solved);
                coupled.sums = coupled.products(level);
            });
            let before = energy;
            energy = add_up(scratch, 0);
            report.iterations += 1;
            report.residual = (add_up(scratch, 1) / size).sqrt();
            let turn = (energy / before) as f32;
            in_halves(blocks, scratch, 1, &|_, scratch| {
                let Vectors { residual, solved, direction, image, .. } = &mut scratch.coupled;
                scale_and_add(level, direction, turn, solved);
                scale_and_add(level, image, turn, residual);
            });
        }
        in_halves(blocks, scratch, 1, &|_, scratch| {
            scratch.coupled.last[which].copy_from_slice(&scratch.right);
        });
        report
    }

    /// Freezes the directions of the springs and adds their forces to the right-hand sides.
    fn link(
        &mut self,
        blocks: &mut [Block],
        scratch: &mut [Scratch],
        times: &Times,
        look_ahead: f32,
        which: usize,
    ) {
        let springs = self.contact.springs();
        if springs.is_empty() {
            self.net.clear();
            return;
        }
        in_halves(blocks, scratch, 1, &|block, scratch| {
            mark_touches(block, scratch, which == 1);
        });
        let (read, touches) = (&*blocks, &*scratch);
        self.net.see(|i| {
            let p = &self.place[i];
            let touch = &touches[p.block as usize].coupled.touch;
            state_of(&read[p.block as usize], p, touch, which)
        });
        self.net.freeze(springs, times.share * self.scale, look_ahead);
        self.net.pull();
        let (net, place) = (&self.net, &self.place[..]);
        in_halves(blocks, scratch, 1, &|block, scratch| {
            add_sums(net, place, &scratch.coupled.points, -1.0, &mut scratch.right);
            mark_touches(block, scratch, false);
        });
    }

    /// Multiplies the vectors that `of` picks with all springs.
    fn multiply(&mut self, scratch: &[Scratch], of: impl Fn(&Scratch) -> &Vec<f32> + Sync) {
        let place = &self.place;
        self.net.multiply(|i| {
            let p = &place[i];
            lane(of(&scratch[p.block as usize]), p.row.into(), p.lane.into())
        });
    }
}

impl Vectors {
    /// What is left times the same solved, and what is left squared.
    fn products(&self, level: Level) -> [f64; 2] {
        let residual = &self.residual;
        [dot(level, residual, &self.solved), dot(level, residual, residual)]
    }
}

/// Where a point is and what it may do, at the start of a part of a step (`which` 0) or in its middle.
#[inline]
fn state_of(block: &Block, p: &Place, touch: &[u16], which: usize) -> PointState {
    let (row, l) = (usize::from(p.row), usize::from(p.lane));
    let start = block.world_position(row, l);
    let (position, velocity) = if which == 0 {
        (start, lane(&block.half, row, l))
    } else {
        let end = lane(&block.next, row, l) + block.origin_next[l];
        (start.midpoint(end), lane(&block.v, row, l))
    };
    let freedom = match touch[row * LANES + l] {
        _ if !is_free(block, p) => Freedom::Held,
        0 => Freedom::Free,
        touch => {
            let touched = &block.touched[usize::from(touch) - 1];
            if touched.sticks { Freedom::Held } else { Freedom::Across(touched.normal) }
        }
    };
    PointState { position, velocity, freedom }
}

/// Writes down which particles touch the body, or wipes it out again.
fn mark_touches(block: &Block, scratch: &mut Scratch, on: bool) {
    for (i, touch) in block.touched.iter().enumerate() {
        let at = usize::from(touch.row) * LANES + usize::from(touch.lane);
        scratch.coupled.touch[at] = if on { i as u16 + 1 } else { 0 };
    }
}

/// Adds the springs' sums of some points, times a factor, to their block's vector.
fn add_sums(net: &Net, place: &[Place], points: &Range<usize>, factor: f32, to: &mut [f32]) {
    for (p, sum) in place[points.clone()].iter().zip(&net.sums()[points.clone()]) {
        let (row, l) = (p.row.into(), p.lane.into());
        set_lane(to, row, l, lane(to, row, l) + *sum * factor);
    }
}

/// Brings a value of every point together.
fn gather(
    out: &mut [Vec3],
    place: &[Place],
    blocks: &[Block],
    of: impl Fn(&Block, usize, usize) -> Vec3 + Sync,
) {
    out.par_iter_mut().zip(place).with_min_len(LEAST).for_each(|(to, p)| {
        *to = of(&blocks[p.block as usize], p.row.into(), p.lane.into());
    });
}

/// Points that one task takes at least.
const LEAST: usize = 1024;

fn is_free(block: &Block, p: &Place) -> bool {
    block.free[usize::from(p.row)] >> p.lane & 1 == 1
}

fn solve_strands(level: Level, rows: usize, band: &[f32], vector: &mut [f32]) {
    banded::solve_lanes(level, &band[..rows * ROW], vector);
}

/// Adds up one of the sums of all blocks, in their order.
fn add_up(scratch: &[Scratch], which: usize) -> f64 {
    scratch.iter().map(|s| s.coupled.sums[which]).sum()
}

/// The product of two vectors of a block, in sixteen sums that are added up last.
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

/// `to += factor * from`
fn add_scaled(level: Level, to: &mut [f32], from: &[f32], factor: f32) {
    dispatch!(level, simd => combine(simd, to, 1.0, from, factor));
}

/// `to = factor * to + from`
fn scale_and_add(level: Level, to: &mut [f32], factor: f32, from: &[f32]) {
    dispatch!(level, simd => combine(simd, to, factor, from, 1.0));
}

/// `to = own * to + factor * from`
#[inline(always)]
fn combine<S: Simd>(simd: S, to: &mut [f32], own: f32, from: &[f32], factor: f32) {
    let (own, factor) = (f32x16::splat(simd, own), f32x16::splat(simd, factor));
    let (to, from) = (to.as_chunks_mut::<LANES>().0, from.as_chunks::<LANES>().0);
    for (to, from) in to.iter_mut().zip(from) {
        let sum = own * f32x16::from_slice(simd, to) + factor * f32x16::from_slice(simd, from);
        sum.store_slice(to);
    }
}
