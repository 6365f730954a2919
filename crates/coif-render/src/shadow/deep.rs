//! The deep shadow map: for each texel seen from the light, hair's optical depth over distance.
//!
//! **Model**: light falls off as `exp(-tau)`; `tau` is the area of fibre seen from the light per
//! area of texel, summed from the light to the point. **Source**: `selle2008` 6 (deep shadow
//! maps), `cani2006` 3 (light-oriented density volume). **Deviations**: all texels have the same, evenly
//! spaced depth nodes instead of compressed curves, and fibres are splatted with linear weights in
//! all three directions. Sums are integers, so neither the order of strands nor the number of
//! threads changes a bit.

use glam::Vec3;
use rayon::prelude::*;

use super::{LightAxes, step_up};
use crate::hair::StrandRef;
use crate::hash::hash;
use crate::{HairView, Settings};

/// Fixed-point units per unit of optical depth.
const UNITS: f32 = 1048576.0;
/// More points than this are thinned out (the rest weighs more): the map is far coarser than hair.
const POINTS_KEPT: usize = 1 << 19;
/// Longest step between samples along a fibre (texels).
const STEP: f32 = 2.2;
/// Strands handed to a worker at a time.
const BLOCK: usize = 256;

/// Side of a cell of the coarse map (texels).
const CELL: usize = 8;

/// Integer grids that workers add to; shared by all lights.
#[derive(Debug, Default)]
pub(crate) struct SplatMemory {
    grids: Vec<Vec<u32>>,
}

/// Optical depth on a grid of texels and depth nodes in light space.
#[derive(Debug)]
pub(crate) struct DeepMap {
    axes: LightAxes,
    /// Light-space position of the first node (m).
    origin: Vec3,
    /// Nodes per metre.
    per_metre: Vec3,
    nodes: [usize; 3],
    /// Optical depth from the light up to each node, in steps; depth runs fastest. Two bytes are
    /// fine enough, and lookups wait for memory.
    depth: Vec<u16>,
    /// Optical depth of one step.
    step: f32,
    /// Whether any hair lies in a cell of the coarse map or in those around it.
    near_hair: Vec<bool>,
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
            near_hair: Vec::new(),
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

        // Add up fibre area in as many integer grids as there are workers.
        let points: usize = hair.iter().map(|view| view.strands.point_count()).sum();
        let thinning = points.div_ceil(POINTS_KEPT).next_power_of_two();
        let size = self.nodes[0] * self.nodes[1] * self.nodes[2];
        let workers = rayon::current_num_threads().clamp(1, 4);
        memory.grids.resize_with(workers, Vec::new);
        memory.grids.par_iter_mut().enumerate().for_each(|(worker, grid)| {
            grid.clear();
            grid.resize(size, 0);
            for block in order.chunks(BLOCK).skip(worker).step_by(workers) {
                for at in block {
                    let view = &hair[at.view as usize];
                    self.splat_strand(view, at.strand as usize, thinning as u32, grid);
                }
            }
        });

        // Add them up. Saturated or not, the order of addition does not matter.
        let (sums, rest) = memory.grids.split_first_mut()?;
        for grid in rest {
            sums.par_chunks_mut(1 << 16).zip(grid.par_chunks(1 << 16)).for_each(|(sums, grid)| {
                sums.iter_mut().zip(grid).for_each(|(sum, &units)| *sum = sum.saturating_add(units))
            });
        }

        // Find the deepest column: it sets the unit of the stored values.
        let column = self.nodes[2];
        let row = self.nodes[0] * column;
        let in_column = |units: &[u32]| units.iter().map(|&u| u64::from(u)).sum::<u64>();
        let deepest = sums.par_chunks(column).with_min_len(1024).map(in_column).max();
        let units_per_step = deepest.unwrap_or(0).max(1) as f32 / f32::from(u16::MAX);
        let steps_per_unit = units_per_step.recip();
        self.step = units_per_step / UNITS;

        // Sum along depth: a node sees all nodes before it and half of itself.
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
        self.mark_cells();
        Some(self)
    }

    /// Fills the coarse map from the last node of each column.
    fn mark_cells(&mut self) {
        let [nx, ny, nz] = self.nodes;
        let (columns, rows) = (nx.div_ceil(CELL), ny.div_ceil(CELL));
        self.near_hair.clear();
        self.near_hair.resize(columns * rows, false);
        for (texel, column) in self.depth.chunks_exact(nz).enumerate() {
            if column[nz - 1] > 0 {
                let (x, y) = (texel % nx / CELL, texel / nx / CELL);
                for row in y.saturating_sub(1)..(y + 2).min(rows) {
                    let first = row * columns;
                    let around = first + x.saturating_sub(1)..first + (x + 2).min(columns);
                    self.near_hair[around].fill(true);
                }
            }
        }
    }

    /// Whether any hair may lie within a cell of the coarse map around a point, as the light sees
    /// it.
    pub(crate) fn is_near_hair(&self, p: Vec3) -> bool {
        let g = (self.axes.light_from_world(p) - self.origin) * self.per_metre;
        let cell = |g: f32| (g.max(0.0) / CELL as f32) as usize;
        let columns = self.nodes[0].div_ceil(CELL);
        let (x, y) = (cell(g.x).min(columns - 1), cell(g.y));
        let y = y.min(self.nodes[1].div_ceil(CELL) - 1);
        self.near_hair[y * columns + x]
    }

    /// Chooses a grid around all finite points, on a ladder of sizes and a fixed raster.
    fn fit(&mut self, hair: &[HairView<'_>], settings: &Settings) -> Option<()> {
        let bounds = hair
            .par_iter()
            .flat_map(|view| view.strands.positions().par_chunks(1 << 14))
            .filter_map(|chunk| self.axes.bounds(chunk.iter().copied()))
            .reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let (lo, hi) = bounds;
        let extent = hi - lo;
        let resolution = settings.shadow_resolution.clamp(16, 2048) as f32;
        let layers = settings.shadow_layers.clamp(8, 512) as f32;
        let texel = step_up(extent.x.max(extent.y).max(1e-4) / (resolution - 4.0));
        let layer = step_up(extent.z.max(1e-4) / (layers - 4.0));
        let cell = Vec3::new(texel, texel, layer);
        self.origin = ((lo / cell).floor() - Vec3::ONE) * cell;
        self.per_metre = cell.recip();
        let nodes = ((hi - self.origin) * self.per_metre).ceil() + Vec3::splat(2.0);
        self.nodes = [nodes.x as usize, nodes.y as usize, nodes.z as usize];
        self.origin.is_finite().then_some(())
    }

    fn splat_strand(&self, view: &HairView<'_>, strand: usize, thinning: u32, grid: &mut [u32]) {
        if thinning > 1 && hash(view.seed_id(strand) ^ 0x51ed) & (thinning - 1) != 0 {
            return;
        }
        let points = view.strands.strand(strand);
        let radius = &view.radius[view.strands.points_of(strand)];
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
            // Area of the fibre as the light sees it, in texels.
            let lateral = step.truncate().length();
            let width = (radius[i - 1] + radius[i]) * self.per_metre.x;
            let area = lateral * width * thinning as f32;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::order_strands;
    use coif::groom::Strands;

    /// Random fibres in a box of one metre by one by `thick`, all within planes across the light.
    fn slab(count: usize, thick: f32) -> Strands {
        let unit = |i: usize, k: u32| hash(i as u32 * 8 + k) as f32 / u32::MAX as f32;
        let mut strands = Strands::new();
        for i in 0..count {
            let centre = Vec3::new(unit(i, 0), thick * unit(i, 1), unit(i, 2));
            let angle = std::f32::consts::TAU * unit(i, 3);
            let half = Vec3::new(angle.cos(), 0.0, angle.sin()) * 0.02;
            strands.push(&[centre - half, centre + half]);
        }
        strands
    }

    fn build(view: HairView<'_>, toward: Vec3, settings: &Settings) -> DeepMap {
        let mut order = Vec::new();
        order_strands(&[view], &mut order);
        let memory = &mut SplatMemory::default();
        let axes = LightAxes::new(toward);
        DeepMap::default().rebuild(axes, &[view], &order, settings, memory).unwrap()
    }

    #[test]
    fn a_uniform_slab_obeys_beer_lambert() {
        let (count, thick, radius) = (200_000, 0.25, 4e-4f32);
        let strands = slab(count, thick);
        let widths = vec![radius; strands.point_count()];
        let view = HairView::new(&strands, &widths);
        let map = build(view, Vec3::Y, &Settings::default());
        // Extinction: area of fibre per volume.
        let sigma = count as f32 * 2.0 * radius * 0.04 / thick;
        for depth in [0.05f32, 0.1, 0.15, 0.2] {
            let (mut sum, mut places) = (0.0f64, 0.0);
            for i in 0..120 {
                for j in 0..120 {
                    let at = |k: usize| 0.2 + 0.6 * k as f32 / 119.0;
                    let p = Vec3::new(at(i), thick - depth, at(j));
                    sum += f64::from(map.optical_depth(p, 0.0));
                    places += 1.0;
                }
            }
            let (found, truth) = ((-sum / places).exp(), f64::from((-sigma * depth).exp()));
            println!("depth {depth}: transmittance {found:.4}, analytic {truth:.4}");
            assert!((found.ln() / truth.ln() - 1.0).abs() < 0.025, "{found} {truth}");
        }
    }

    #[test]
    fn nothing_shadows_before_the_hair_and_outside() {
        let strands = slab(20_000, 0.1);
        let widths = vec![1e-3; strands.point_count()];
        let view = HairView::new(&strands, &widths);
        let map = build(view, Vec3::Y, &Settings::default());
        assert_eq!(map.optical_depth(Vec3::new(0.5, 0.3, 0.5), 0.0), 0.0);
        assert_eq!(map.optical_depth(Vec3::new(5.0, -1.0, 0.5), 0.0), 0.0);
        assert_eq!(map.optical_depth(Vec3::NAN, 0.0), 0.0);
        assert!(map.optical_depth(Vec3::new(0.5, -3.0, 0.5), 0.0) > 0.01);
    }

    #[test]
    fn order_and_workers_do_not_change_a_bit() {
        let strands = slab(3000, 0.1);
        let ids: Vec<u32> = (0..3000).collect();
        let mut reversed = Strands::new();
        for s in (0..3000).rev() {
            reversed.push(strands.strand(s));
        }
        let back: Vec<u32> = (0..3000).rev().collect();
        let widths = vec![1e-3; strands.point_count()];
        let in_pool = |strands: &Strands, ids: &[u32], threads: usize| {
            let view = HairView { seed_ids: Some(ids), ..HairView::new(strands, &widths) };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| build(view, Vec3::new(0.6, 0.8, 0.0), &Settings::default()))
        };
        let one = in_pool(&strands, &ids, 1);
        assert!(one.depth.iter().any(|&d| d > 0));
        assert_eq!(one.depth, in_pool(&strands, &ids, 3).depth);
        assert_eq!(one.step, in_pool(&strands, &ids, 3).step);
        assert_eq!(one.depth, in_pool(&reversed, &back, 2).depth);
    }
}
