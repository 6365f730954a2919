//! The common part of both kinds of hair maps: the size of their cells, the strands that they sample, and a coarse map
//! of where hair is.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::{LightAxes, step_up};
use crate::hair::StrandRef;
use crate::hash::hash;
use crate::{HairView, Settings};

/// Fixed-point units per unit of optical depth.
pub(super) const UNITS: f32 = 1048576.0;
/// Maximum number of sampled points; beyond it strands are subsampled with a larger weight, since the map is far
/// coarser.
const MAX_POINTS: usize = 1 << 19;
/// Strands handed to a worker at a time.
const BLOCK: usize = 256;
/// Side of a cell of the coarse map (texels).
const CELL: usize = 8;

/// Bounds of all finite points of hair in light space (m); `None` without any.
pub(super) fn bounds(axes: &LightAxes, hair: &[HairView<'_>]) -> Option<(Vec3, Vec3)> {
    hair.par_iter()
        .flat_map(|view| view.strands.positions().par_chunks(1 << 14))
        .filter_map(|chunk| axes.bounds(chunk.iter().copied()))
        .reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Sides of a texel and depth of a layer (m) for hair of this extent, as quantised sizes.
pub(super) fn cell_size(extent: Vec3, settings: &Settings) -> Vec3 {
    let resolution = settings.shadow_resolution.clamp(16, 2048) as f32;
    let layers = settings.shadow_layers.clamp(8, 512) as f32;
    let texel = step_up(extent.x.max(extent.y).max(1e-4) / (resolution - 4.0));
    Vec3::new(texel, texel, step_up(extent.z.max(1e-4) / (layers - 4.0)))
}

/// The number of tasks that sample strands.
pub(super) fn workers() -> usize {
    rayon::current_num_threads().clamp(1, 4)
}

/// The strands that cast the shadow: one in `every`, chosen by their seeds.
pub(super) struct Sampled<'a> {
    hair: &'a [HairView<'a>],
    order: &'a [StrandRef],
    every: u32,
}

impl<'a> Sampled<'a> {
    pub(super) fn new(hair: &'a [HairView<'a>], order: &'a [StrandRef]) -> Self {
        let points: usize = hair.iter().map(|view| view.strands.point_count()).sum();
        let every = points.div_ceil(MAX_POINTS).next_power_of_two() as u32;
        Self { hair, order, every }
    }

    /// Number of strands that each sampled one represents.
    pub(super) fn weight(&self) -> f32 {
        self.every as f32
    }

    /// Points and radii of the strands that one of the workers samples.
    pub(super) fn of_worker(
        &self,
        worker: usize,
        workers: usize,
    ) -> impl Iterator<Item = (&'a [Vec3], &'a [f32])> {
        let Self { hair, every, .. } = *self;
        let strands = self.order.chunks(BLOCK).skip(worker).step_by(workers).flatten();
        let views = strands.map(move |at| (&hair[at.view as usize], at.strand as usize));
        views
            .filter(move |(view, s)| {
                every == 1 || hash(view.seed_id(*s) ^ 0x51ed) & (every - 1) == 0
            })
            .map(|(view, s)| (view.strands.strand(s), &view.radius[view.strands.points_of(s)]))
    }
}

/// A coarse map of the texels: whether any hair lies in a cell or in its neighbours.
#[derive(Debug, Default, PartialEq)]
pub(super) struct NearHair {
    columns: usize,
    rows: usize,
    cells: Vec<bool>,
}

impl NearHair {
    /// Marks the cells, given which of `nodes` texels have hair, row by row.
    pub(super) fn mark(&mut self, nodes: [usize; 2], has_hair: impl Iterator<Item = bool>) {
        let [columns, rows] = nodes.map(|count| count.div_ceil(CELL));
        (self.columns, self.rows) = (columns, rows);
        self.cells.clear();
        self.cells.resize(columns * rows, false);
        for (texel, _) in has_hair.enumerate().filter(|(_, has_hair)| *has_hair) {
            let (x, y) = (texel % nodes[0] / CELL, texel / nodes[0] / CELL);
            for row in y.saturating_sub(1)..(y + 2).min(rows) {
                let first = row * columns;
                let around = first + x.saturating_sub(1)..first + (x + 2).min(columns);
                self.cells[around].fill(true);
            }
        }
    }

    /// Whether any hair may lie within a cell around a position in the map (texels).
    pub(super) fn is_near(&self, at: Vec2) -> bool {
        let cell = |g: f32, count: usize| ((g.max(0.0) / CELL as f32) as usize).min(count - 1);
        self.cells[cell(at.y, self.rows) * self.columns + cell(at.x, self.columns)]
    }
}
