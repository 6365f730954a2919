//! How dense hair is in the rest shape: what it does not push against.
//!
//! Particles are discrete, so the density at one of them depends on how the hair lies on the grid. So the rest shape is
//! measured in several poses and the highest density counts: hair that is turned and carried about without being
//! deformed hardly ever seems compressed.

use glam::{Quat, Vec3};
use rayon::prelude::*;

use super::grid::Grid;
use super::row::Source;
use super::scatter::Sum;
use crate::math::{LANES, lanes};

/// What is added to the rest density (fraction), so that rounding does not count as compression.
pub(super) const ROUNDING: f32 = 1e-4;

/// Turns of the rest shape (axis times angle) and shifts in cells. The last one is none: hair that
/// does not move is measured as it lies.
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

    /// Takes the density around each particle where it is higher than what is there.
    pub(super) fn keep_highest(&mut self, grid: &Grid, from: &Source<'_>, sums: &[Sum]) {
        let volume = grid.volume();
        self.for_each(grid, from, |rest, corners| {
            let mass: f32 = corners.iter().map(|&(node, w)| w * sums[node].0[0]).sum();
            rest.max(mass / volume)
        });
    }

    /// Raises densities until no node has more mass than its particles had around them. The grid has
    /// been filled with the densities as they are.
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

    /// Finds the mean density, once all are known.
    pub(super) fn find_mean(&mut self) {
        let (mut sum, mut count) = (0.0, 0u64);
        for &density in self.density.iter().filter(|&&density| density > 0.0) {
            sum += f64::from(density);
            count += 1;
        }
        self.mean = (sum / count.max(1) as f64) as f32;
    }

    /// Changes the density of each particle by what its eight nodes say.
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

/// Moves rows of positions into a pose.
pub(super) fn turn(pose: ([f32; 3], [f32; 3]), cell: f32, position: &[f32], out: &mut [f32]) {
    let (turn, shift) = (Quat::from_scaled_axis(Vec3::from(pose.0)), Vec3::from(pose.1) * cell);
    for row in 0..out.len() / lanes::VECTOR {
        for lane in 0..LANES {
            let p = lanes::lane(position, row, lane);
            lanes::set_lane(out, row, lane, turn * p + shift);
        }
    }
}
