//! Velocity solves with springs between strands.
//!
//! The matrix is `A + C`: A has one banded matrix per strand, C one outer product per spring between
//! hairs. Conjugate gradient with A, factored, as preconditioner: only what the springs change is left
//! to iterate. All sums are taken in the order of blocks and springs, so that the bits do not depend on
//! the number of threads.
//!
//! Springs see the hair through a list of the points that have any: their values are brought together
//! from the blocks, multiplied with all springs, and summed up per point, each of which threads share
//! without sharing a result.

use std::ops::Range;

use fearless_simd::Level;
use glam::Vec3;
use rayon::prelude::*;

use super::assemble::Times;
use super::block::Block;
use super::part::{Scratch, in_halves};
use crate::contact::{ContactSpring, HairContact};
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
    /// Part of a sum that this block has.
    sum: f64,
    /// The points of this block among those with springs.
    slots: Range<usize>,
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
            sum: 0.0,
            slots: 0..0,
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

/// A spring between hairs with its direction frozen: its rate is `sum g_i . v_i`.
#[derive(Clone, Copy, Default)]
struct Link {
    /// Where its points are among those with springs.
    slots: [u32; 4],
    /// Weight times direction, without what a point may not do; nothing if it has no direction.
    g: [Vec3; 4],
    /// What it adds to the matrix per `g g^T`.
    coefficient: f32,
    /// Impulse (N s) with which it pulls.
    pull: f32,
}

/// The hairs that touch, and room to solve for them.
pub(super) struct Coupling {
    pub(super) contact: Box<dyn HairContact>,
    /// What forces are multiplied with.
    scale: f32,
    tolerance: f32,
    most_iterations: u32,
    place: Vec<Place>,
    /// All points in the order of the blocks, and where each block's begin.
    order: Vec<u32>,
    first_of_block: Vec<u32>,
    links: Vec<Link>,
    net: Net,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    end: Vec<Vec3>,
    /// What was handed to contact, to see what it changed.
    handed: Vec<Vec3>,
    handed_end: Vec<Vec3>,
}

impl Coupling {
    pub(super) fn new(
        contact: Box<dyn HairContact>,
        place: Vec<Place>,
        scale: f32,
        tolerance: f32,
        most: u32,
    ) -> Self {
        let points = || vec![Vec3::ZERO; place.len()];
        let (position, velocity, end) = (points(), points(), points());
        let (handed, handed_end) = (points(), points());
        let (links, most_iterations) = (Vec::new(), most);
        let mut order: Vec<u32> = (0..place.len() as u32).collect();
        order.sort_by_key(|&p| {
            let at = &place[p as usize];
            (at.block, at.row, at.lane)
        });
        let blocks = place.iter().map(|p| p.block + 1).max().unwrap_or(0);
        let begin = |b: u32| order.partition_point(|&p| place[p as usize].block < b) as u32;
        let first_of_block = (0..=blocks).map(begin).collect();
        Self {
            order,
            first_of_block,
            net: Net::default(),
            contact,
            scale,
            tolerance,
            most_iterations,
            place,
            links,
            position,
            velocity,
            end,
            handed,
            handed_end,
        }
    }

    /// Lets contact find the pairs that are near each other.
    pub(super) fn find(&mut self, blocks: &[Block], scratch: &mut [Scratch], h: f32) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(&b.v, row, l));
        self.contact.find(&self.position, &self.velocity, h);
        self.net.tie(self.contact.springs(), &self.order, &self.place);
        for (b, scratch) in scratch.iter_mut().enumerate() {
            let begin = |b: usize| self.net.place.partition_point(|p| (p.block as usize) < b);
            scratch.coupled.slots = begin(b)..begin(b + 1);
        }
    }

    /// Lets contact change velocities (steps 3 and 9).
    pub(super) fn repel(
        &mut self,
        blocks: &mut [Block],
        read: impl Fn(&Block) -> &[f32] + Sync,
        write: impl Fn(&mut Block) -> &mut [f32] + Sync,
        h: f32,
    ) {
        gather(&mut self.position, &self.place, blocks, Block::world_position);
        gather(&mut self.velocity, &self.place, blocks, |b, row, l| lane(read(b), row, l));
        self.handed.copy_from_slice(&self.velocity);
        self.contact.repel(&self.position, &mut self.velocity, h);
        let (velocity, handed) = (&self.velocity, &self.handed);
        self.give_back(blocks, |block, i, row, l| {
            if velocity[i] != handed[i] {
                set_lane(write(block), row, l, velocity[i]);
            }
        });
    }

    /// Lets contact keep hairs from passing through each other (step 6).
    pub(super) fn collide(&mut self, blocks: &mut [Block], h: f32) {
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
        self.give_back(blocks, |block, i, row, l| {
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
        take: impl Fn(&mut Block, usize, usize, usize) + Sync,
    ) {
        let (order, place) = (&self.order, &self.place);
        blocks.par_iter_mut().zip(self.first_of_block.par_windows(2)).for_each(|(block, ends)| {
            for &i in &order[ends[0] as usize..ends[1] as usize] {
                let p = &place[i as usize];
                if is_free(block, p) {
                    take(block, i as usize, p.row.into(), p.lane.into());
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
        // Begin with the springs as the last solution stretched them.
        let right = sum(blocks, scratch, |s| dot(&s.right, &s.right));
        if self.links.is_empty() {
            in_halves(blocks, scratch, 1, &|block, scratch| {
                solve_strands(level, block.rows, &scratch.band, &mut scratch.right);
                scratch.coupled.last[which].copy_from_slice(&scratch.right);
            });
            return SolveReport::default();
        }
        self.net.multiply(&self.links, scratch, |s| &s.coupled.last[which]);
        let net = &self.net;
        in_halves(blocks, scratch, 1, &|block, scratch| {
            net.add(&scratch.coupled.slots, -1.0, &mut scratch.right);
            solve_strands(level, block.rows, &scratch.band, &mut scratch.right);
            let Vectors { residual, last, .. } = &mut scratch.coupled;
            residual.fill(0.0);
            for (last, x) in last[which].iter_mut().zip(&scratch.right) {
                *last -= x;
            }
        });
        self.net.multiply(&self.links, scratch, |s| &s.coupled.last[which]);
        let net = &self.net;
        in_halves(blocks, scratch, 1, &|block, scratch| {
            let Scratch { band, coupled, .. } = scratch;
            net.add(&coupled.slots, 1.0, &mut coupled.residual);
            coupled.solved.copy_from_slice(&coupled.residual);
            solve_strands(level, block.rows, band, &mut coupled.solved);
            coupled.direction.copy_from_slice(&coupled.solved);
            coupled.image.copy_from_slice(&coupled.residual);
        });
        let mut energy = sum(blocks, scratch, |s| dot(&s.coupled.residual, &s.coupled.solved));
        let mut report = SolveReport::default();
        let size = right.max(f64::MIN_POSITIVE);
        let left = |blocks: &mut [Block], scratch: &mut [Scratch]| {
            (sum(blocks, scratch, |s| dot(&s.coupled.residual, &s.coupled.residual)) / size).sqrt()
        };
        report.residual = left(blocks, scratch);
        while report.iterations < self.most_iterations && report.residual > self.tolerance.into() {
            self.net.multiply(&self.links, scratch, |s| &s.coupled.direction);
            let net = &self.net;
            in_halves(blocks, scratch, 1, &|_, scratch| {
                let Vectors { direction, image, full_image, slots, sum, .. } = &mut scratch.coupled;
                full_image.copy_from_slice(image);
                net.add(slots, 1.0, full_image);
                *sum = dot(direction, full_image);
            });
            let curvature = scratch.iter().map(|s| s.coupled.sum).sum::<f64>();
            if !(curvature > 0.0 && energy.is_finite()) {
                break;
            }
            let step = (energy / curvature) as f32;
            in_halves(blocks, scratch, 1, &|block, scratch| {
                let Scratch { band, right, coupled, .. } = scratch;
                for i in 0..right.len() {
                    right[i] += step * coupled.direction[i];
                    coupled.residual[i] -= step * coupled.full_image[i];
                }
                coupled.solved.copy_from_slice(&coupled.residual);
                solve_strands(level, block.rows, band, &mut coupled.solved);
                coupled.sum = dot(&coupled.residual, &coupled.solved);
            });
            let before = energy;
            energy = scratch.iter().map(|s| s.coupled.sum).sum();
            let turn = (energy / before) as f32;
            in_halves(blocks, scratch, 1, &|_, scratch| {
                let Vectors { residual, solved, direction, image, .. } = &mut scratch.coupled;
                for i in 0..direction.len() {
                    direction[i] = solved[i] + turn * direction[i];
                    image[i] = residual[i] + turn * image[i];
                }
            });
            report.iterations += 1;
            report.residual = left(blocks, scratch);
        }
        in_halves(blocks, scratch, 1, &|_, scratch| {
            scratch.coupled.last[which].copy_from_slice(&scratch.right);
        });
        report
    }

    /// Freezes the directions of the springs and adds their forces to the right-hand sides.
    fn link(
        &mut self,
        blocks: &[Block],
        scratch: &mut [Scratch],
        times: &Times,
        look_ahead: f32,
        which: usize,
    ) {
        let constrained = which == 1;
        mark_touches(blocks, scratch, constrained);
        let springs = self.contact.springs();
        self.links.resize(springs.len(), Link::default());
        let times = [times.share * self.scale, look_ahead];
        let (net, read) = (&self.net, &*scratch);
        self.links.par_iter_mut().zip(springs).zip(&net.ties).for_each(
            |((link, spring), slots)| {
                *link = freeze(spring, *slots, &net.place, blocks, read, times, which)
                    .unwrap_or_default();
            },
        );
        self.net.pull(&self.links);
        for scratch in scratch.iter_mut() {
            self.net.add(&scratch.coupled.slots, -1.0, &mut scratch.right);
        }
        mark_touches(blocks, scratch, false);
    }
}

/// A spring with its direction frozen; `None` if it has none.
fn freeze(
    spring: &ContactSpring,
    slots: [u32; 4],
    place: &[Place],
    blocks: &[Block],
    scratch: &[Scratch],
    [share, look_ahead]: [f32; 2],
    which: usize,
) -> Option<Link> {
    let places = slots.map(|slot| place.get(slot as usize).copied());
    let [Some(a), Some(b), Some(c), Some(d)] = places else { return None };
    let places = [a, b, c, d];
    let state = |p: &Place| {
        let (block, row, l) = (&blocks[p.block as usize], p.row.into(), usize::from(p.lane));
        let start = block.world_position(row, l);
        if which == 0 {
            (start, lane(&block.half, row, l))
        } else {
            let end = lane(&block.next, row, l) + block.origin_next[l];
            (start.midpoint(end), lane(&block.v, row, l))
        }
    };
    let (mut way, mut velocity) = (Vec3::ZERO, Vec3::ZERO);
    for i in 0..4 {
        let (x, v) = state(&places[i]);
        way += x * spring.weights[i];
        velocity += v * spring.weights[i];
    }
    let length = way.length();
    let direction = way.try_normalize()?;
    let rate = velocity.dot(direction);
    let lag = look_ahead * spring.stiffness + spring.damping;
    let pull = share * (spring.stiffness * (length - spring.rest) + lag * rate);
    let g = std::array::from_fn(|i| {
        let (p, g) = (&places[i], direction * spring.weights[i]);
        let block = &blocks[p.block as usize];
        let at = usize::from(p.row) * LANES + usize::from(p.lane);
        match scratch[p.block as usize].coupled.touch[at] {
            _ if !is_free(block, p) => Vec3::ZERO,
            0 => g,
            touch => {
                let touched = &block.touched[touch as usize - 1];
                if touched.sticks { Vec3::ZERO } else { g - touched.normal * g.dot(touched.normal) }
            }
        }
    });
    let all_finite = pull.is_finite() && direction.is_finite();
    all_finite.then_some(Link { slots, g, coefficient: share * lag, pull })
}

/// Writes down which particles touch the body, or wipes it out again.
fn mark_touches(blocks: &[Block], scratch: &mut [Scratch], on: bool) {
    for (block, scratch) in blocks.iter().zip(scratch) {
        for (i, touch) in block.touched.iter().enumerate() {
            let at = usize::from(touch.row) * LANES + usize::from(touch.lane);
            scratch.coupled.touch[at] = if on { i as u16 + 1 } else { 0 };
        }
    }
}

/// Points or springs that one task takes at least.
const LEAST: usize = 1024;

/// Number of a point that has no springs.
const NONE: u32 = u32::MAX;

/// The points that have springs, and how springs tie them.
#[derive(Default)]
struct Net {
    /// The points in the order of the blocks.
    place: Vec<Place>,
    /// Per spring: its points in `place`.
    ties: Vec<[u32; 4]>,
    /// Per point: where its ends of springs begin; then the ends, each four times the spring's number
    /// plus which of its points it is.
    first: Vec<u32>,
    ends: Vec<u32>,
    /// Per point of the groom: its number in `place`.
    slot: Vec<u32>,
    value: Vec<Vec3>,
    rate: Vec<f32>,
    sum: Vec<Vec3>,
}

impl Net {
    /// Takes over which points the springs tie.
    fn tie(&mut self, springs: &[ContactSpring], order: &[u32], place: &[Place]) {
        // Mark the points that have any, and number them in the order of the blocks.
        self.slot.clear();
        self.slot.resize(place.len(), NONE);
        for point in springs.iter().flat_map(|s| s.points) {
            if let Some(slot) = self.slot.get_mut(point as usize) {
                *slot = 0;
            }
        }
        self.place.clear();
        for &point in order {
            let slot = &mut self.slot[point as usize];
            if *slot != NONE {
                *slot = self.place.len() as u32;
                self.place.push(place[point as usize]);
            }
        }
        let (slot, ties) = (&self.slot, &mut self.ties);
        ties.clear();
        // A spring between points that are not there is tied to nothing.
        let tie = |p: u32| slot.get(p as usize).copied().filter(|slot| *slot != NONE);
        ties.extend(springs.iter().map(|s| match s.points.map(tie) {
            [Some(a), Some(b), Some(c), Some(d)] => [a, b, c, d],
            _ => [NONE; 4],
        }));
        // List the ends of springs at every point, in the order of the springs.
        self.first.clear();
        self.first.resize(self.place.len() + 1, 0);
        let there = |tie: &&[u32; 4]| tie[0] != NONE;
        for slot in self.ties.iter().filter(there).flatten() {
            self.first[*slot as usize + 1] += 1;
        }
        for i in 1..self.first.len() {
            self.first[i] += self.first[i - 1];
        }
        self.ends.clear();
        self.ends.resize(4 * self.ties.len(), 0);
        for (i, slot) in self.ties.iter().flatten().enumerate() {
            if *slot != NONE {
                let at = &mut self.first[*slot as usize];
                self.ends[*at as usize] = i as u32;
                *at += 1;
            }
        }
        // Filling has moved every start to the next one's.
        for i in (1..self.first.len()).rev() {
            self.first[i] = self.first[i - 1];
        }
        if let Some(first) = self.first.first_mut() {
            *first = 0;
        }
        self.value.resize(self.place.len(), Vec3::ZERO);
        self.sum.resize(self.place.len(), Vec3::ZERO);
        self.rate.resize(self.ties.len(), 0.0);
    }

    /// Multiplies the vectors that `of` picks with all springs; the sums are the product.
    fn multiply(
        &mut self,
        links: &[Link],
        scratch: &[Scratch],
        of: impl Fn(&Scratch) -> &Vec<f32> + Sync,
    ) {
        self.value.par_iter_mut().zip(&self.place).with_min_len(LEAST).for_each(|(value, p)| {
            *value = lane(of(&scratch[p.block as usize]), p.row.into(), p.lane.into());
        });
        let value = &self.value;
        self.rate.par_iter_mut().zip(links).with_min_len(LEAST).for_each(|(rate, link)| {
            *rate = 0.0;
            if link.coefficient != 0.0 {
                let part = |i: usize| link.g[i].dot(value[link.slots[i] as usize]);
                *rate = link.coefficient * (part(0) + part(1) + part(2) + part(3));
            }
        });
        self.sum_up(links);
    }

    /// The sums are what the springs pull.
    fn pull(&mut self, links: &[Link]) {
        self.rate
            .par_iter_mut()
            .zip(links)
            .with_min_len(LEAST)
            .for_each(|(rate, link)| *rate = link.pull);
        self.sum_up(links);
    }

    /// Adds up what the springs at every point give.
    fn sum_up(&mut self, links: &[Link]) {
        let (ends, rate) = (&self.ends, &self.rate);
        self.sum.par_iter_mut().zip(self.first.par_windows(2)).with_min_len(LEAST).for_each(
            |(sum, range)| {
                *sum = Vec3::ZERO;
                for &end in &ends[range[0] as usize..range[1] as usize] {
                    let (spring, which) = (end as usize / 4, end as usize % 4);
                    *sum += links[spring].g[which] * rate[spring];
                }
            },
        );
    }

    /// Adds the sums of some points, times a factor, to their block's vector.
    fn add(&self, slots: &Range<usize>, factor: f32, to: &mut [f32]) {
        for (p, sum) in self.place[slots.clone()].iter().zip(&self.sum[slots.clone()]) {
            add_lane(to, p, *sum * factor);
        }
    }
}

/// Brings a value of every point together in the groom's order.
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

fn add_lane(to: &mut [f32], p: &Place, v: Vec3) {
    let old = lane(to, p.row.into(), p.lane.into());
    set_lane(to, p.row.into(), p.lane.into(), old + v);
}

fn is_free(block: &Block, p: &Place) -> bool {
    block.free[usize::from(p.row)] >> p.lane & 1 == 1
}

fn solve_strands(level: Level, rows: usize, band: &[f32], vector: &mut [f32]) {
    banded::solve_lanes(level, &band[..rows * ROW], vector);
}

/// Adds up what every block gives, in the order of the blocks.
fn sum(blocks: &mut [Block], scratch: &mut [Scratch], of: impl Fn(&Scratch) -> f64 + Sync) -> f64 {
    in_halves(blocks, scratch, 1, &|_, scratch| scratch.coupled.sum = of(scratch));
    scratch.iter().map(|s| s.coupled.sum).sum()
}

/// The product of two vectors, in sixteen sums that are added up last.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0f64; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            sums[l] += f64::from(a[l]) * f64::from(b[l]);
        }
    }
    sums.iter().sum()
}
