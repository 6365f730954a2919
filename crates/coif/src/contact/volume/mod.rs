//! Friction and repulsion on a grid of density and velocity (`muller2012` 3.6).
//!
//! Each particle scatters its mass and momentum to the eight nodes around it (`scatter.rs`); nodes
//! compute velocity and pressure from them (`field.rs`); each particle interpolates these, its velocity relaxes to that of
//! the surrounding hair, and it is accelerated out of hair that is denser than in the groom (`gather.rs`,
//! `rest.rs`). `plain.rs` is the same without lanes, for tests and benchmarks.
//!
//! Friction conserves the momentum of free hair up to rounding: gather and
//! scatter have the same weights, by mass. Repulsion is the gradient of a pressure, with the same acceleration for
//! all hair at a place: it conserves momentum between locks of equal density, not between a dense lock and a single
//! strand. Nodes are averages, so rotation within a cell is damped too. Neither depends on the step.

mod field;
mod gather;
mod grid;
pub mod plain;
mod rest;
mod row;
mod scatter;

use fearless_simd::{Level, dispatch};
use glam::Vec3;
use rayon::prelude::*;

use self::field::{Node, Pressure};
use self::gather::{Gather, Push};
use self::grid::Grid;
use self::rest::Rest;
use self::row::{Bounds, Source};
use self::scatter::{Scatter, Sum};
use super::list::{Contact, Report};
use super::{Samples, chains};
use crate::Result;
use crate::math::lanes::VECTOR;
use crate::params::parameters;

/// Name of this contact in scene files.
pub const NAME: &str = "volume";

/// Steps per second (1/s) to which the paper's per-step strengths refer.
const STEPS_PER_SECOND: f32 = 60.0;

/// Distance (m) over which a fall of the pressure from one to zero gives the full repulsion:
/// two cells of the default size. It makes the strength independent of the cell.
const PRESSURE_LENGTH: f32 = 0.02;

/// Rows per task: 1024 particles.
const CHUNK: usize = 64;

parameters! {
    /// Parameters of the contact.
    pub struct Settings of NAME {
        /// Fraction of its velocity relative to the surrounding hair that hair loses in 1/60 s.
        ///
        /// `muller2012` eq. 13.
        friction: f32 = 0.1, "", 0.0..=1.0;
        /// Displacement of compressed hair in 1/60 s.
        ///
        /// An acceleration of 3600 / s^2 times this, where the pressure falls from one to zero over two
        /// centimetres (`muller2012` eq. 14). Hair of twice the groomed density has a pressure of about a third.
        repulsion: f32 = 0.02, "m", 0.0..=1.0;
        /// Whether only hair that is denser than in the groom repels. If not, all hair is accelerated out of denser hair,
        /// with 3600 / s^2 times the repulsion (0.003 is about gravity): a groom gains volume.
        ///
        /// `muller2012` eq. 14, which has the normalised gradient of the density and no density at rest.
        rest_density: bool = true;
        /// Edge of a cell of the grid: hair nearer than this is in contact. Less than a few times the distance between
        /// strands leaves holes.
        cell: f32 = 0.01, "m", 1e-4..=10.0;
    }
}

impl Settings {
    /// The constants for a step of `dt` (s).
    fn push(&self, dt: f32, cell: f32) -> Push {
        let steps = STEPS_PER_SECOND * dt;
        let max_speed = self.repulsion * STEPS_PER_SECOND * steps;
        let slope = PRESSURE_LENGTH / (2.0 * cell);
        Push {
            friction: 1.0 - (1.0 - self.friction).powf(steps),
            repulsion: if self.rest_density { max_speed * slope } else { max_speed },
            normalises: !self.rest_density,
        }
    }
}

/// Report of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VolumeReport {
    /// Edge of a cell (m), larger than in the settings if the hair does not fit the largest grid.
    pub cell: f32,
    /// Nodes along x, y and z.
    pub nodes: [u32; 3],
    /// Whether the cell is larger than in the settings.
    pub coarsened: bool,
    /// Particles left out: not finite, without mass, or far away from all others.
    pub left_out: u64,
}

/// Friction and repulsion between all hair. Owns the memory of the grid, which grows to the largest grid so far.
pub struct Volume {
    settings: Settings,
    level: Level,
    grid: Grid,
    sums: Vec<Sum>,
    pressures: Vec<f32>,
    nodes: Vec<Node>,
    ranges: Vec<[f32; 2]>,
    counts: Vec<u32>,
    cuts: Vec<usize>,
    rest: Rest,
}

impl Volume {
    /// Checks the parameters.
    pub fn new(settings: &Settings) -> Result<Self> {
        settings.validate()?;
        Ok(Self {
            settings: settings.clone(),
            level: Level::new(),
            grid: Grid::EMPTY,
            sums: Vec::new(),
            pressures: Vec::new(),
            nodes: Vec::new(),
            ranges: Vec::new(),
            counts: Vec::new(),
            cuts: Vec::new(),
            rest: Rest::default(),
        })
    }

    /// Sets the shape without repulsion: the groom. Arrays as in
    /// [`Samples`]. Otherwise the first [`Volume::apply`] takes its input as that shape.
    pub fn rest(&mut self, position: &[f32], mass: &[f32], present: &[u16]) {
        let rows = chains::rows(position, mass, present);
        let mut rest = Rest::new(rows);
        let mut turned = vec![0.0; rows * VECTOR];
        for pose in rest::POSES {
            rest::turn(pose, self.settings.cell, position, &mut turned);
            // Pass positions as velocities, which do not affect the density.
            let source = Source { position: &turned, motion: &turned, mass, rest: &[], present };
            self.fill(rows, &source, 0.0);
            rest.keep_highest(&self.grid, &source, &self.sums);
        }
        let density = rest.density.clone();
        let source = Source { position, motion: position, mass, rest: &density, present };
        self.fill(rows, &source, 0.0);
        rest.raise_to_nodes(&self.grid, &source, &self.sums);
        rest.find_mean();
        self.rest = rest;
    }

    /// Adds friction and repulsion over a step of `dt` (s) to the particles' velocities.
    pub fn apply(&mut self, samples: &mut Samples<'_>, dt: f32) -> VolumeReport {
        let rows = samples.rows();
        if self.rest.rows() != rows {
            self.rest(&samples.position[..rows * VECTOR], samples.mass, samples.present);
        }
        // Take the rest densities out, so that the grid can be filled from them.
        let rest = std::mem::take(&mut self.rest);
        let source = Source {
            position: samples.position,
            motion: samples.motion,
            mass: samples.mass,
            rest: &rest.density,
            present: samples.present,
        };
        let true_velocity = samples.motion.is_empty();
        let motion = if true_velocity { &*samples.velocity } else { samples.motion };
        self.fill(rows, &Source { motion, ..source }, rest.mean);
        let mut report = self.report();
        if dt > 0.0 && dt.is_finite() {
            let push = self.settings.push(dt, self.grid.cell);
            let gather = self.gather(source, samples.free);
            let velocity = &mut samples.velocity[..rows * VECTOR];
            report.left_out = gather.run(self.level, &push, velocity);
        }
        self.rest = rest;
        report
    }

    /// Density of the hair (kg/m^3, or particles per m^3 if they have no mass) at a point in the last
    /// step.
    pub fn density_at(&self, p: Vec3) -> f32 {
        self.node_at(p)[0] / self.grid.volume()
    }

    /// Velocity of the hair (m/s) around a point in the last step; zero where there is none.
    pub fn velocity_at(&self, p: Vec3) -> Vec3 {
        let [_, x, y, z, ..] = self.node_at(p);
        Vec3::new(x, y, z)
    }

    fn node_at(&self, p: Vec3) -> [f32; 8] {
        let mut out = [0.0; 8];
        for (node, w) in self.grid.corners_of_point(p).into_iter().flatten() {
            out.iter_mut().zip(self.nodes[node].0).for_each(|(out, value)| *out += w * value);
        }
        out
    }

    /// Fits the grid to particles, and computes its fields.
    fn fill(&mut self, rows: usize, source: &Source<'_>, mean_rest: f32) {
        let (position, present) = (&source.position[..rows * VECTOR], &source.present[..rows]);
        // Find the bounds of the hair.
        self.ranges.resize(rows, [0.0; 2]);
        let level = self.level;
        let bounds = if rayon::current_num_threads() == 1 {
            dispatch!(level, simd => row::bounds(simd, position, present, &mut self.ranges))
        } else {
            self.ranges
                .par_chunks_mut(CHUNK)
                .zip(position.par_chunks(CHUNK * VECTOR))
                .zip(present.par_chunks(CHUNK))
                .map(|((ranges, position), present)| {
                    dispatch!(level, simd => row::bounds(simd, position, present, ranges))
                })
                .reduce(|| Bounds::NONE, Bounds::union)
        };
        self.grid = Grid::fit((bounds.lo, bounds.hi), self.settings.cell, position, present);

        // Grow the memory if needed.
        let nodes = self.grid.len();
        if self.sums.len() < nodes {
            self.sums.resize(nodes, Sum::default());
            self.pressures.resize(nodes, 0.0);
            self.nodes.resize(nodes, Node::default());
        }
        // Scatter mass and momentum, then compute the fields.
        let (grid, ranges) = (&self.grid, &self.ranges[..]);
        let scatter = Scatter { level, grid, source: *source, ranges };
        scatter.cut(rayon::current_num_threads(), &mut self.counts, &mut self.cuts);
        scatter.run(&self.cuts, &mut self.sums[..nodes]);
        let (sums, pressures) = (&self.sums[..nodes], &mut self.pressures[..nodes]);
        let pressure = Pressure::new(grid, mean_rest, self.settings.rest_density);
        field::fill(grid, &pressure, sums, pressures, &mut self.nodes[..nodes]);
    }

    fn gather<'a>(&'a self, source: Source<'a>, free: &'a [u16]) -> Gather<'a> {
        Gather { grid: &self.grid, nodes: &self.nodes, source, free }
    }

    fn report(&self) -> VolumeReport {
        VolumeReport {
            cell: self.grid.cell,
            nodes: self.grid.nodes.map(|n| n as u32),
            coarsened: self.grid.cell > self.settings.cell,
            left_out: 0,
        }
    }
}

impl Contact for Volume {
    /// Takes the current hair as the rest shape.
    fn reset(&mut self, hair: &Samples<'_>) {
        self.rest(hair.position, hair.mass, hair.present);
    }

    fn apply(&mut self, hair: &mut Samples<'_>, dt: f32, report: &mut Report) {
        report.volume = Some(Self::apply(self, hair, dt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Order;
    use crate::math::lanes;

    /// The best instruction set of the machine and the baseline of its architecture give the same bits.
    #[test]
    fn instruction_sets_agree_to_the_bit() {
        let rows = 200;
        let run = |level: Level| {
            let mut position = vec![0.0; rows * VECTOR];
            for i in 0..rows * lanes::LANES {
                let a = i as f32;
                let p = Vec3::new((0.37 * a).sin(), (0.73 * a).cos(), (1.31 * a).sin()) * 0.04;
                lanes::set_lane(&mut position, i / lanes::LANES, i % lanes::LANES, p);
            }
            let motion: Vec<f32> = position.iter().map(|x| (100.0 * x).cos()).collect();
            let mut velocity = vec![0.0; rows * VECTOR];
            let present: Vec<u16> = (0..rows).map(|row| [0xffff, 0xfff, 0][row % 3]).collect();
            let mut volume = Volume::new(&Settings::default()).expect("valid");
            volume.level = level;
            volume.rest(&position, &[], &present);
            position.iter_mut().for_each(|x| *x *= 0.7);
            let samples = &mut Samples {
                position: &position,
                motion: &motion,
                velocity: &mut velocity,
                mass: &[],
                present: &present,
                free: &present,
                order: Order::ByPoint,
            };
            volume.apply(samples, 1.0 / 60.0);
            velocity.iter().map(|v| v.to_bits()).collect::<Vec<u32>>()
        };
        let one = run(Level::new());
        assert!(one.iter().any(|&bits| bits != 0));
        assert!(one == run(Level::baseline()));
    }
}
