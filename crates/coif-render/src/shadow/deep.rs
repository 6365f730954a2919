//! The deep shadow map: for each texel of the light's view, hair's optical depth over distance.
//!
//! Model: light falls off as `exp(-tau)`; `tau` is the area of fibre seen from the light per area of texel, summed from
//! the light to the point.
//! Source: `selle2008` 6 (deep shadow maps), `cani2006` 3 (light-oriented density volume).
//! Deviations: all texels have the same, evenly spaced depth nodes instead of compressed curves, and fibres are
//! splatted with linear weights in all three directions. Sums are integers, so neither the order of strands nor the
//! number of threads changes a bit.

use glam::Vec3;
use rayon::prelude::*;

use super::LightAxes;
use super::hair_grid::{NearHair, Sampled, UNITS, bounds, cell_size, workers};
use crate::hair::StrandRef;
use crate::{HairView, Settings};

/// Longest step between samples along a fibre (texels).
const STEP: f32 = 2.2;

/// Integer grids that workers add to; shared by all lights.
#[derive(Debug, Default)]
pub(crate) struct SplatMemory {
    grids: Vec<Vec<u32>>,
}

/// Optical depth on a grid of texels and depth nodes in light space.
#[derive(Debug, PartialEq)]
pub(crate) struct DeepMap {
    axes: LightAxes,
    /// Light-space position of the first node (m).
    origin: Vec3,
    /// Nodes per metre.
    per_metre: Vec3,
    nodes: [usize; 3],
    /// Optical depth from the light up to each node, in steps; depth runs fastest. 16 bits suffice, and lookups are
    /// bound by memory.
    depth: Vec<u16>,
    /// Optical depth of one step.
    step: f32,
    near_hair: NearHair,
}

impl Default for DeepMap {
    fn default() -> Self {
        Self {
            axes: LightAxes::new(Vec3::Y),
            origin: Vec3::ZERO,
            per_metre: Vec3::ONE,
            nodes: [0; 3],
            depth: Vec::new(),
            step: 0.0,
            near_hair: NearHair::default(),
        }
    }
}

impl DeepMap {
    /// Fits the map to the hair and fills it; `None` without hair.
    pub(crate) fn rebuild(
        mut self,
        axes: LightAxes,
        hair: &[HairView<'_>],
        order: &[StrandRef],
        settings: &Settings,
        memory: &mut SplatMemory,
    ) -> Option<Self> {
        self.axes = axes;
        self.fit(hair, settings)?;

        // Sum fibre area in as many integer grids as there are workers.
        let sampled = Sampled::new(hair, order);
        let size = self.nodes[0] * self.nodes[1] * self.nodes[2];
        let workers = workers();
        memory.grids.resize_with(workers, Vec::new);
        memory.grids.par_iter_mut().enumerate().for_each(|(worker, grid)| {
            grid.clear();
            grid.resize(size, 0);
            for (points, radius) in sampled.of_worker(worker, workers) {
                self.splat_strand(points, radius, sampled.weight(), grid);
            }
        });

        // Sum the grids. Saturated or not, the order of addition does not matter.
        let (sums, rest) = memory.grids.split_first_mut()?;
        for grid in rest {
            sums.par_chunks_mut(1 << 16).zip(grid.par_chunks(1 << 16)).for_each(|(sums, grid)| {
                sums.iter_mut().zip(grid).for_each(|(sum, &units)| *sum = sum.saturating_add(units))
            });
        }

        // Find the deepest column: it determines the unit of the stored values.
        let column = self.nodes[2];
        let row = self.nodes[0] * column;
        let in_column = |units: &[u32]| units.iter().map(|&u| u64::from(u)).sum::<u64>();
        let deepest = sums.par_chunks(column).with_min_len(1024).map(in_column).max();
        let units_per_step = deepest.unwrap_or(0).max(1) as f32 / f32::from(u16::MAX);
        let steps_per_unit = units_per_step.recip();
        self.step = units_per_step / UNITS;

        // Sum along depth: a node has the sum of all nodes before it and half of itself.
        self.depth.resize(size, 0);
        self.depth.par_chunks_mut(row).zip(sums.par_chunks(row)).for_each(|(out, sums)| {
            for (out, sums) in out.chunks_exact_mut(column).zip(sums.chunks_exact(column)) {
                let mut before = 0i64;
                for (out, &own) in out.iter_mut().zip(sums) {
                    let units = before as f32 + 0.5 * own as f32;
                    *out = (units * steps_per_unit + 0.5) as u16;
                    before += i64::from(own);
                }
            }
        });
        let [nx, ny, nz] = self.nodes;
        let columns = self.depth.chunks_exact(nz);
        self.near_hair.mark([nx, ny], columns.map(|column| column[nz - 1] > 0));
        Some(self)
    }

    /// Whether any hair may lie within a cell of the coarse map around a point, as seen from the light.
    pub(crate) fn is_near_hair(&self, p: Vec3) -> bool {
        let g = (self.axes.light_from_world(p) - self.origin) * self.per_metre;
        self.near_hair.is_near(g.truncate())
    }

    /// Chooses a grid around all finite points, with quantised cell sizes on a fixed raster.
    fn fit(&mut self, hair: &[HairView<'_>], settings: &Settings) -> Option<()> {
        let (lo, hi) = bounds(&self.axes, hair)?;
        let cell = cell_size(hi - lo, settings);
        self.origin = ((lo / cell).floor() - Vec3::ONE) * cell;
        self.per_metre = cell.recip();
        let nodes = ((hi - self.origin) * self.per_metre).ceil() + Vec3::splat(2.0);
        self.nodes = [nodes.x as usize, nodes.y as usize, nodes.z as usize];
        self.origin.is_finite().then_some(())
    }

    fn splat_strand(&self, points: &[Vec3], radius: &[f32], weight: f32, grid: &mut [u32]) {
        let to_grid = |p: Vec3| (self.axes.light_from_world(p) - self.origin) * self.per_metre;
        let Some(&first) = points.first() else { return };
        let mut a = to_grid(first);
        for i in 1..points.len() {
            let b = to_grid(points[i]);
            let step = b - a;
            if !step.is_finite() {
                a = b;
                continue;
            }
            // Area of the fibre as seen from the light, in texels.
            let lateral = step.truncate().length();
            let width = (radius[i - 1] + radius[i]) * self.per_metre.x;
            let area = lateral * width * weight;
            let samples = (step.abs().max_element() / STEP).ceil().clamp(1.0, 4096.0);
            if area > 0.0 && area.is_finite() {
                let units = (area / samples * UNITS).min(64.0 * UNITS);
                for k in 0..samples as u32 {
                    self.splat(a + step * ((k as f32 + 0.5) / samples), units, grid);
                }
            }
            a = b;
        }
    }

    fn splat(&self, g: Vec3, units: f32, grid: &mut [u32]) {
        let [nx, ny, nz] = self.nodes;
        let (x, y, z) = (g.x as usize, g.y as usize, g.z as usize);
        if x + 1 >= nx || y + 1 >= ny || z + 1 >= nz {
            return;
        }
        let (fx, fy, fz) = (g.x - x as f32, g.y - y as f32, g.z - z as f32);
        let first = (y * nx + x) * nz + z;
        let corners = [
            (first, (1.0 - fx) * (1.0 - fy)),
            (first + nz, fx * (1.0 - fy)),
            (first + nx * nz, (1.0 - fx) * fy),
            (first + nx * nz + nz, fx * fy),
        ];
        for (at, weight) in corners {
            let weighted = units * weight;
            let near = (weighted * (1.0 - fz) + 0.5) as u32;
            let far = (weighted * fz + 0.5) as u32;
            if let Some([a, b]) = grid.get_mut(at..at + 2) {
                *a = a.saturating_add(near);
                *b = b.saturating_add(far);
            }
        }
    }

    /// Optical depth between the light and a point, moved `lift` depth cells towards the light.
    pub(crate) fn optical_depth(&self, p: Vec3, lift: f32) -> f32 {
        let [nx, ny, nz] = self.nodes;
        let g = (self.axes.light_from_world(p) - self.origin) * self.per_metre;
        let last = (nz - 1) as f32;
        let z = (g.z - lift).min(last - 1e-3);
        let inside =
            g.x >= 0.0 && g.y >= 0.0 && z > 0.0 && g.x < (nx - 1) as f32 && g.y < (ny - 1) as f32;
        if !inside {
            return 0.0;
        }
        let (ix, iy, iz) = (g.x as usize, g.y as usize, z as usize);
        let (fx, fy, fz) = (g.x - ix as f32, g.y - iy as f32, z - iz as f32);
        let first = (iy * nx + ix) * nz + iz;
        let along = |at: usize| match self.depth.get(at..at + 2) {
            Some(&[a, b]) => f32::from(a) + (f32::from(b) - f32::from(a)) * fz,
            _ => 0.0,
        };
        let near = along(first) * (1.0 - fx) + along(first + nz) * fx;
        let far = along(first + nx * nz) * (1.0 - fx) + along(first + nx * nz + nz) * fx;
        (near * (1.0 - fy) + far * fy) * self.step
    }

    /// Side of a texel (m).
    pub(crate) fn texel(&self) -> f32 {
        self.per_metre.x.recip()
    }
}
