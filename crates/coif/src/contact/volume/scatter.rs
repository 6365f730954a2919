//! Scatter of mass and momentum from particles to nodes (`muller2012` 3.6).
//!
//! Every node is summed in the order of the particles, for any number of threads: the grid is
//! divided into slabs of layers along y, one per task, and a task iterates over all rows
//! that overlap its slab, in order. With one thread there is one slab.

use fearless_simd::{
    Level, Simd, SimdBase, SimdCombine, SimdFrom, SimdInterleaved, SimdMask, SimdSplit, dispatch,
    f32x4, f32x8, f32x16,
};

use super::grid::Grid;
use super::row::{Lattice, Row, Source};
use crate::math::LANES;

/// Sums at a node: mass (kg), momentum (kg m/s), mass times rest density; and padding to
/// the size of one load.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub(super) struct Sum(pub(super) [f32; 8]);

/// Input of a scatter.
#[derive(Clone, Copy)]
pub(super) struct Scatter<'a> {
    pub(super) level: Level,
    pub(super) grid: &'a Grid,
    pub(super) source: Source<'a>,
    /// Per row, the range of its particles along y (m).
    pub(super) ranges: &'a [[f32; 2]],
}

impl Scatter<'_> {
    /// Sums the layers from `cuts[0]` to the last cut, one task between two cuts.
    pub(super) fn run(&self, cuts: &[usize], sums: &mut [Sum]) {
        match cuts {
            [] | [_] => {}
            &[from, to] => self.slab(from, to, sums),
            _ => {
                let middle = cuts.len() / 2;
                let (low, high) = sums.split_at_mut((cuts[middle] - cuts[0]) * self.grid.layer());
                rayon::join(|| self.run(&cuts[..=middle], low), || self.run(&cuts[middle..], high));
            }
        }
    }

    fn slab(&self, from: usize, to: usize, sums: &mut [Sum]) {
        sums.fill(Sum::default());
        dispatch!(self.level, simd => fill(simd, self, from, to, sums));
    }

    /// The layer below a height, computed with the same operations as for the particles.
    fn layer_below(&self, y: f32) -> usize {
        let last = self.grid.last_cell().y;
        ((y - self.grid.origin.y) * self.grid.inverse_cell).floor().min(last).max(1.0) as usize
    }

    /// Divides the layers into `slabs` slabs with about the same number of rows.
    pub(super) fn cut(&self, slabs: usize, counts: &mut Vec<u32>, cuts: &mut Vec<usize>) {
        let layers = self.grid.nodes[1];
        cuts.clear();
        cuts.push(0);
        if slabs > 1 {
            // Count rows by their lowest layer.
            counts.clear();
            counts.resize(layers, 0);
            for &[low, high] in self.ranges {
                if low <= high {
                    counts[self.layer_below(low)] += 1;
                }
            }
            let all: u32 = counts.iter().sum();
            // Cut where the running count passes the next quota.
            let mut counted = 0;
            for (layer, &count) in counts.iter().enumerate() {
                counted += count;
                let scaled = u64::from(counted) * slabs as u64;
                if scaled >= u64::from(all) * cuts.len() as u64 && cuts.len() < slabs {
                    cuts.push(layer + 1);
                }
            }
        }
        if cuts.last() != Some(&layers) {
            cuts.push(layers);
        }
    }
}

/// Adds all rows to the layers `from..to`.
///
/// Model: a particle spreads its mass m and its momentum m v over the eight nodes of its cell with
/// trilinear weights.
/// Source: `muller2012` 3.6.
#[inline(always)]
fn fill<S: Simd>(simd: S, job: &Scatter<'_>, from: usize, to: usize, sums: &mut [Sum]) {
    let grid = job.grid;
    let lattice = Lattice::new(simd, grid);
    let (width, layer) = (grid.nodes[0], grid.layer());
    // Check the bounds of the eight nodes once per particle.
    let reach = layer + width + 2;
    assert!(2 <= reach && width + 2 <= reach && layer + 2 <= reach);
    let whole = from == 0 && to == grid.nodes[1];
    for (row, &[low, high]) in job.ranges.iter().enumerate() {
        // Skip rows that do not overlap the slab.
        if high < low {
            continue;
        }
        let mut inside = whole;
        if !whole {
            let (first, last) = (job.layer_below(low), job.layer_below(high) + 1);
            if last < from || first >= to {
                continue;
            }
            inside = first >= from && last < to;
        }
        let particles = lattice.row(simd, &job.source, row);
        let used = particles.used.to_bitmask() as u32;
        let values = Values::new(&particles);
        let weights = particles.weights();
        if inside && used == 0xffff {
            // Add all lanes to all eight nodes.
            for lane in 0..LANES {
                let node = particles.index[lane] as usize - from * layer;
                let value = values.lane(simd, lane);
                let sums = &mut sums[node..][..reach];
                add(simd, sums, 0, value, weights[0][lane], weights[1][lane]);
                add(simd, sums, width, value, weights[2][lane], weights[3][lane]);
                add(simd, sums, layer, value, weights[4][lane], weights[5][lane]);
                add(simd, sums, layer + width, value, weights[6][lane], weights[7][lane]);
            }
        } else {
            // Add the lanes in use to the nodes in the slab.
            for lane in (0..LANES).filter(|l| used & (1 << l) != 0) {
                let cell = particles.layer[lane] as usize;
                let node = particles.index[lane] as usize;
                let value = values.lane(simd, lane);
                for (upper, corner) in [(0, 0), (1, 4)] {
                    if (from..to).contains(&(cell + upper)) {
                        let node = node + upper * layer - from * layer;
                        let w = &weights[corner..corner + 4];
                        add(simd, sums, node, value, w[0][lane], w[1][lane]);
                        add(simd, sums, node + width, value, w[2][lane], w[3][lane]);
                    }
                }
            }
        }
    }
}

/// Adds a value to a node and its neighbour along x.
#[inline(always)]
fn add<S: Simd>(simd: S, sums: &mut [Sum], node: usize, value: f32x8<S>, w0: f32, w1: f32) {
    let pair = &mut sums[node..node + 2];
    let a = f32x8::from_slice(simd, &pair[0].0) + value * f32x8::splat(simd, w0);
    let b = f32x8::from_slice(simd, &pair[1].0) + value * f32x8::splat(simd, w1);
    a.store_slice(&mut pair[0].0);
    b.store_slice(&mut pair[1].0);
}

/// The summands of each lane.
struct Values<S: Simd> {
    /// Mass and momentum, lane by lane.
    low: [f32; 4 * LANES],
    /// Mass times rest density.
    high: f32x16<S>,
}

impl<S: Simd> Values<S> {
    #[inline(always)]
    fn new(row: &Row<S>) -> Self {
        let momentum = row.motion * row.mass;
        let m = quarters(row.mass);
        let (x, y, z) = (quarters(momentum.x), quarters(momentum.y), quarters(momentum.z));
        let mut low = [0.0; 4 * LANES];
        for i in 0..4 {
            let to = &mut low[16 * i..16 * (i + 1)];
            f32x4::store_four_interleaved([m[i], x[i], y[i], z[i]], to);
        }
        Self { low, high: row.mass * row.rest }
    }

    #[inline(always)]
    fn lane(&self, simd: S, lane: usize) -> f32x8<S> {
        let low = f32x4::from_slice(simd, &self.low[lane * 4..lane * 4 + 4]);
        low.combine(f32x4::simd_from(simd, [self.high[lane], 0.0, 0.0, 0.0]))
    }
}

#[inline(always)]
fn quarters<S: Simd>(v: f32x16<S>) -> [f32x4<S>; 4] {
    let (low, high) = v.split();
    let ((a, b), (c, d)) = (low.split(), high.split());
    [a, b, c, d]
}
