//! Velocity and pressure gradient at the nodes, from the sums of mass and momentum.

use rayon::prelude::*;

use super::grid::Grid;
use super::scatter::Sum;

/// Fraction of the mean density at rest that is added to the density at rest in the pressure, so
/// that a few particles in almost empty space do not count as compressed hair.
const SPARSE_FRACTION: f32 = 0.5;

/// Values of a node: mass (kg), velocity (m/s), difference of the pressure between the two
/// neighbours along x, y and z, padding.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub(super) struct Node(pub(super) [f32; 8]);

/// Pressure of hair that is compressed, 0..1.
///
/// Model: `p = e^2 / (1 + e^2)` with the excess `e = max(0, d - r) / (r + s)`.
/// Symbols: d density (kg/m^3), r density around the same hair in its rest shape, s [`SPARSE_FRACTION`] of
/// the mean of r.
/// Deviations: without a density at rest the "pressure" is the mass d times the volume of a cell, for the normalised
/// gradient of eq. 14.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pressure {
    volume: f32,
    sparse: f32,
    from_rest: bool,
}

impl Pressure {
    pub(super) fn new(grid: &Grid, mean_rest: f32, from_rest: bool) -> Self {
        let volume = grid.volume();
        Self { volume, sparse: SPARSE_FRACTION * mean_rest * volume, from_rest }
    }

    /// The pressure at a node with mass `mass` (kg), for a density at rest of `rest` (kg/m^3).
    #[inline(always)]
    pub(super) fn at(&self, mass: f32, rest: f32) -> f32 {
        if !self.from_rest {
            return mass;
        }
        let rest = rest * self.volume;
        let more = (mass - rest).max(0.0);
        let base = rest + self.sparse;
        more * more / (more * more + base * base).max(f32::MIN_POSITIVE)
    }
}

/// Divides momenta by masses, computes pressures, and takes their central differences.
pub(super) fn fill(
    grid: &Grid,
    pressure: &Pressure,
    sums: &[Sum],
    pressures: &mut [f32],
    nodes: &mut [Node],
) {
    let layer = grid.layer();
    if rayon::current_num_threads() == 1 {
        find_pressures(pressure, sums, pressures);
        fill_from(0, grid, sums, pressures, nodes);
        return;
    }
    let layers = pressures.par_chunks_mut(layer.max(1)).zip(sums.par_chunks(layer.max(1)));
    layers.for_each(|(pressures, sums)| find_pressures(pressure, sums, pressures));
    let layers = nodes.par_chunks_mut(layer.max(1)).enumerate();
    layers.for_each(|(y, nodes)| fill_from(y * layer, grid, sums, pressures, nodes));
}

fn find_pressures(pressure: &Pressure, sums: &[Sum], pressures: &mut [f32]) {
    for (to, sum) in pressures.iter_mut().zip(sums) {
        let [mass, _, _, _, rest, ..] = sum.0;
        *to = if mass == 0.0 { 0.0 } else { pressure.at(mass, rest / mass) };
    }
}

fn fill_from(first: usize, grid: &Grid, sums: &[Sum], pressures: &[f32], nodes: &mut [Node]) {
    let (width, layer) = (grid.nodes[0], grid.layer());
    for (i, node) in (first..).zip(nodes) {
        let [mass, px, py, pz, ..] = sums[i].0;
        // Set nodes without hair to zero; the border is among them.
        if mass == 0.0 {
            *node = Node::default();
            continue;
        }
        let [x, y, z] = [px / mass, py / mass, pz / mass];
        let gx = pressures[i + 1] - pressures[i - 1];
        let gy = pressures[i + layer] - pressures[i - layer];
        let gz = pressures[i + width] - pressures[i - width];
        *node = Node([mass, x, y, z, gx, gy, gz, 0.0]);
    }
}
