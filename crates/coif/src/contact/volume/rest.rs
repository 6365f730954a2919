//! The density of hair in the rest shape, at which there is no repulsion.
//!
//! Particles are discrete, so the density at one of them depends on the position of the hair relative to the grid. The rest
//! shape is measured in several poses, and the highest density is used, so that hair in rigid motion hardly ever
//! counts as compressed.

use glam::{Quat, Vec3};
use rayon::prelude::*;

use super::grid::Grid;
use super::row::Source;
use super::scatter::Sum;
use crate::math::{LANES, lanes};

/// Relative increase of the rest density, so that rounding does not count as compression.
pub(super) const ROUNDING: f32 = 1e-4;

/// Rotations of the rest shape (axis times angle, rad) and shifts in cells. The last pose is the identity, for hair that
/// does not move.
pub(super) const POSES: [([f32; 3], [f32; 3]); 9] = [
    ([0.4, 0.0, 0.0], [0.5, 0.25, 0.75]),
    ([0.0, 0.8, 0.0], [0.25, 0.75, 0.5]),
    ([0.0, 0.0, 1.2], [0.75, 0.5, 0.25]),
    ([0.6, 0.6, 0.0], [0.0, 0.5, 0.5]),
    ([0.0, 0.9, 0.5], [0.5, 0.0, 0.5]),
    ([1.1, 0.0, 0.3], [0.5, 0.5, 0.0]),
    ([0.3, 1.4, 0.7], [0.25, 0.0, 0.25]),
    ([0.0, 0.0, 0.0], [0.5, 0.5, 0.5]),
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
];

/// Densities of the rest shape.
#[derive(Default)]
pub(super) struct Rest {
    /// Per particle (kg/m^3), rows of 16.
    pub(super) density: Vec<f32>,
    /// Mean over all particles (kg/m^3).
    pub(super) mean: f32,
}

impl Rest {
    pub(super) fn new(rows: usize) -> Self {
        Self { density: vec![0.0; rows * LANES], mean: 0.0 }
    }

    pub(super) fn rows(&self) -> usize {
        self.density.len() / LANES
    }

    /// Raises the density of each particle to the one in this pose, if that is higher.
    pub(super) fn keep_highest(&mut self, grid: &Grid, from: &Source<'_>, sums: &[Sum]) {
        let volume = grid.volume();
        self.for_each(grid, from, |rest, corners| {
            let mass: f32 = corners.iter().map(|&(node, w)| w * sums[node].0[0]).sum();
            rest.max(mass / volume)
        });
    }

    /// Raises densities so that the density of no node exceeds the mean rest density of its particles. The grid has
    /// been filled with the current densities.
    pub(super) fn raise_to_nodes(&mut self, grid: &Grid, from: &Source<'_>, sums: &[Sum]) {
        let volume = grid.volume();
        self.for_each(grid, from, |rest, corners| {
            let lack = |&(node, w): &(usize, f32)| {
                let [mass, _, _, _, rest, ..] = sums[node].0;
                if w > 0.0 && rest > 0.0 { mass / volume / (rest / mass) } else { 1.0 }
            };
            rest * corners.iter().map(lack).fold(1.0, f32::max) * (1.0 + ROUNDING)
        });
    }

    /// Computes the mean of all densities.
    pub(super) fn find_mean(&mut self) {
        let (mut sum, mut count) = (0.0, 0u64);
        for &density in self.density.iter().filter(|&&density| density > 0.0) {
            sum += f64::from(density);
            count += 1;
        }
        self.mean = (sum / count.max(1) as f64) as f32;
    }

    /// Changes the density of each particle by its eight nodes and their weights.
    fn for_each(
        &mut self,
        grid: &Grid,
        from: &Source<'_>,
        change: impl Fn(f32, [(usize, f32); 8]) -> f32 + Sync,
    ) {
        self.density.par_chunks_mut(LANES).enumerate().for_each(|(row, densities)| {
            for (lane, density) in densities.iter_mut().enumerate() {
                let p = lanes::lane(from.position, row, lane);
                if from.present[row] & (1 << lane) != 0 && grid.holds(p) {
                    *density = change(*density, grid.corners_of_particle(p));
                }
            }
        });
    }
}

/// Transforms rows of positions to a pose.
pub(super) fn turn(pose: ([f32; 3], [f32; 3]), cell: f32, position: &[f32], out: &mut [f32]) {
    let (turn, shift) = (Quat::from_scaled_axis(Vec3::from(pose.0)), Vec3::from(pose.1) * cell);
    for row in 0..out.len() / lanes::VECTOR {
        for lane in 0..LANES {
            let p = lanes::lane(position, row, lane);
            lanes::set_lane(out, row, lane, turn * p + shift);
        }
    }
}
