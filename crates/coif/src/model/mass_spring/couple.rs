//! Velocity solves with springs between strands.
//!
//! The matrix is `A + C`: A has one banded matrix per strand, C one outer product per spring between
//! hairs. Conjugate gradient with A, factored, as preconditioner: only what the springs change is left
//! to iterate. All sums are taken in the order of blocks and springs, so that the bits do not depend on
//! the number of threads.

use fearless_simd::Level;
use glam::Vec3;

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
struct Link {
    places: [Place; 4],
    /// Weight times direction, without what a point may not do.
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
    links: Vec<Link>,
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
        Self {
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
    pub(super) fn find(&mut self, blocks: &[Block], h: f32) {
        for (i, p) in self.place.iter().enumerate() {
            let block = &blocks[p.block as usize];
            self.position[i] = block.world_position(p.row.into(), p.lane.into());
            self.velocity[i] = lane(&block.v, p.row.into(), p.lane.into());
        }
        self.contact.find(&self.position, &self.velocity, h);
    }

    /// Lets contact change velocities (steps 3 and 9).
    pub(super) fn repel(
        &mut self,
        blocks: &mut [Block],
        of: impl Fn(&mut Block) -> &mut Box<[f32]>,
        h: f32,
    ) {
        for (i, p) in self.place.iter().enumerate() {
            let block = &mut blocks[p.block as usize];
            self.position[i] = block.world_position(p.row.into(), p.lane.into());
            self.velocity[i] = lane(of(block), p.row.into(), p.lane.into());
        }
        self.handed.copy_from_slice(&self.velocity);
        self.contact.repel(&self.position, &mut self.velocity, h);
        for (i, p) in self.place.iter().enumerate() {
            let block = &mut blocks[p.block as usize];
            if self.velocity[i] != self.handed[i] && is_free(block, p) {
                set_lane(of(block), p.row.into(), p.lane.into(), self.velocity[i]);
            }
        }
    }

    /// Lets contact keep hairs from passing through each other (step 6).
    pub(super) fn collide(&mut self, blocks: &mut [Block], h: f32) {
        for (i, p) in self.place.iter().enumerate() {
            let (block, row, l) = (&blocks[p.block as usize], p.row.into(), usize::from(p.lane));
            self.position[i] = block.world_position(row, l);
            self.end[i] = lane(&block.next, row, l) + block.origin_next[l];
            self.velocity[i] = lane(&block.v, row, l);
        }
        self.handed.copy_from_slice(&self.velocity);
        self.handed_end.copy_from_slice(&self.end);
        self.contact.collide(&self.position, &mut self.end, &mut self.velocity, h);
        for (i, p) in self.place.iter().enumerate() {
            let block = &mut blocks[p.block as usize];
            let (row, l) = (p.row.into(), usize::from(p.lane));
            if !is_free(block, p) {
                continue;
            }
            if self.end[i] != self.handed_end[i] {
                set_lane(&mut block.next, row, l, self.end[i] - block.origin_next[l]);
            }
            if self.velocity[i] != self.handed[i] {
                set_lane(&mut block.v, row, l, self.velocity[i]);
            }
        }
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
        for i in 0..self.links.len() {
            let rate = self.links[i].rate(scratch, |s| &s.coupled.last[which]);
            self.links[i].add(scratch, |s| &mut s.right, -rate);
        }
        in_halves(blocks, scratch, 1, &|block, scratch| {
            solve_strands(level, block.rows, &scratch.band, &mut scratch.right);
            let Vectors { residual, last, .. } = &mut scratch.coupled;
            residual.fill(0.0);
            for (last, x) in last[which].iter_mut().zip(&scratch.right) {
                *last -= x;
            }
        });
        for i in 0..self.links.len() {
            let rate = self.links[i].rate(scratch, |s| &s.coupled.last[which]);
            self.links[i].add(scratch, |s| &mut s.coupled.residual, rate);
        }
        in_halves(blocks, scratch, 1, &|block, scratch| {
            let Scratch { band, coupled, .. } = scratch;
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
            in_halves(blocks, scratch, 1, &|_, scratch| {
                let Vectors { image, full_image, .. } = &mut scratch.coupled;
                full_image.copy_from_slice(image);
            });
            for i in 0..self.links.len() {
                let rate = self.links[i].rate(scratch, |s| &s.coupled.direction);
                self.links[i].add(scratch, |s| &mut s.coupled.full_image, rate);
            }
            let curvature =
                sum(blocks, scratch, |s| dot(&s.coupled.direction, &s.coupled.full_image));
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
            });
            let before = energy;
            energy = sum(blocks, scratch, |s| dot(&s.coupled.residual, &s.coupled.solved));
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
        self.links.clear();
        let place = &self.place;
        let times = [times.share * self.scale, look_ahead];
        let frozen = |spring| freeze(spring, place, blocks, scratch, times, which);
        self.links.extend(self.contact.springs().iter().filter_map(frozen));
        for link in &self.links {
            link.add(scratch, |s| &mut s.right, -link.pull);
        }
        mark_touches(blocks, scratch, false);
    }
}

/// A spring with its direction frozen; `None` if it has none.
fn freeze(
    spring: &ContactSpring,
    place: &[Place],
    blocks: &[Block],
    scratch: &[Scratch],
    [share, look_ahead]: [f32; 2],
    which: usize,
) -> Option<Link> {
    let places = spring.points.map(|p| place.get(p as usize).copied());
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
    all_finite.then_some(Link { places, g, coefficient: share * lag, pull })
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

impl Link {
    /// The coefficient times the rate for the vectors that `of` picks.
    fn rate(&self, scratch: &[Scratch], of: impl Fn(&Scratch) -> &Vec<f32>) -> f32 {
        let mut rate = 0.0;
        for (p, g) in self.places.iter().zip(&self.g) {
            rate += g.dot(lane(of(&scratch[p.block as usize]), p.row.into(), p.lane.into()));
        }
        self.coefficient * rate
    }

    /// Adds `g` times a number to the vectors that `of` picks.
    fn add(&self, scratch: &mut [Scratch], of: impl Fn(&mut Scratch) -> &mut Vec<f32>, by: f32) {
        for (p, g) in self.places.iter().zip(&self.g) {
            add_lane(of(&mut scratch[p.block as usize]), p, *g * by);
        }
    }
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
