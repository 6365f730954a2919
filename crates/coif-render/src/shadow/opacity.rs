//! The deep opacity map: layers of hair that follow its shape as the light sees it.
//!
//! **Model**: light falls off as `exp(-tau)`, with `tau` as in the deep shadow map. Every texel knows
//! where its hair begins, and a few layers lie at the same distances behind that; `tau` up to the end of
//! each layer is exact, between them it is linear. Because layers begin where the hair does, a dozen of
//! them do without bands. **Source**: `yuksel2008`, as `wu2016` 4 renders.
//! **Deviations**: layers grow with the square of their number, and fibres are distributed over texels with linear
//! weights. Sums are integers and beginnings are minima, so no order of strands or threads changes a bit.

use glam::{Vec2, Vec3};
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
const STEP: f32 = 1.1;
/// Strands handed to a worker at a time.
const BLOCK: usize = 256;
/// Side of a cell of the coarse map (texels).
const CELL: usize = 8;

/// Optical depth in layers behind the first hair of each texel.
#[derive(Debug, Default)]
pub(crate) struct OpacityMap {
    axes: LightAxes,
    /// Light-space position of the first texel (m).
    origin: Vec2,
    /// Texels per metre.
    per_metre: f32,
    nodes: [usize; 2],
    layers: usize,
    /// What a point is lifted by (m).
    cell: f32,
    /// Depth of all layers together (m).
    reach: f32,
    /// Depth of the first hair in each texel (m); infinite without hair.
    start: Vec<f32>,
    /// Optical depth up to the end of each layer; layers run fastest.
    depth: Vec<f32>,
    /// Whether any hair lies in a cell of the coarse map or in those around it.
    near_hair: Vec<bool>,
}

/// A piece of fibre as the light sees it.
struct Piece {
    at: Vec2,
    depth: f32,
    /// Area of fibre per area of texel.
    area: f32,
}

impl OpacityMap {
    /// Fits the map to the hair and fills it; `None` without hair.
    pub(crate) fn rebuild(
        mut self,
        axes: LightAxes,
        hair: &[HairView<'_>],
        order: &[StrandRef],
        settings: &Settings,
    ) -> Option<Self> {
        self.axes = axes;
        self.fit(hair, settings)?;
        let points: usize = hair.iter().map(|view| view.strands.point_count()).sum();
        let thinning = points.div_ceil(POINTS_KEPT).next_power_of_two() as u32;
        let texels = self.nodes[0] * self.nodes[1];
        let workers = rayon::current_num_threads().clamp(1, 4);
        let mut start = std::mem::take(&mut self.start);
        start.clear();
        let walk = |worker: usize, visit: &mut dyn FnMut(&Piece)| {
            for block in order.chunks(BLOCK).skip(worker).step_by(workers) {
                for at in block {
                    self.pieces(&hair[at.view as usize], at.strand as usize, thinning, visit);
                }
            }
        };
        // Find where the hair of each texel begins and ends.
        let ranges: Vec<Vec<[f32; 2]>> = (0..workers)
            .into_par_iter()
            .map(|worker| {
                let mut range = vec![[f32::INFINITY, f32::NEG_INFINITY]; texels];
                walk(worker, &mut |piece| {
                    for (texel, weight) in self.around(piece.at) {
                        if weight > 0.0 {
                            let [near, far] = &mut range[texel];
                            (*near, *far) = (near.min(piece.depth), far.max(piece.depth));
                        }
                    }
                });
                range
            })
            .collect();

        start.resize(texels, f32::INFINITY);
        let mut reach = 0.0f32;
        for texel in 0..texels {
            let near = ranges.iter().map(|r| r[texel][0]).fold(f32::INFINITY, f32::min);
            let far = ranges.iter().map(|r| r[texel][1]).fold(f32::NEG_INFINITY, f32::max);
            start[texel] = near;
            reach = reach.max(far - near);
        }
        let reach = step_up(reach.max(1e-4) * 1.001);
        // Add up fibre area layer by layer.
        let layers = self.layers;
        let sums: Vec<Vec<u32>> = (0..workers)
            .into_par_iter()
            .map(|worker| {
                let mut sums = vec![0u32; texels * layers];
                walk(worker, &mut |piece| {
                    for (texel, weight) in self.around(piece.at) {
                        if weight > 0.0 {
                            let behind = (piece.depth - start[texel]).max(0.0) / reach;
                            let layer = ((behind.sqrt() * layers as f32) as usize).min(layers - 1);
                            let units = (piece.area * weight * UNITS).min(64.0 * UNITS) + 0.5;
                            let sum = &mut sums[texel * layers + layer];
                            *sum = sum.saturating_add(units as u32);
                        }
                    }
                });
                sums
            })
            .collect();
        (self.start, self.reach) = (start, reach);
        self.depth.clear();
        self.depth.resize(texels * layers, 0.0);
        self.depth.par_chunks_mut(layers).enumerate().for_each(|(texel, column)| {
            let mut before = 0u64;
            for (layer, out) in column.iter_mut().enumerate() {
                let own = sums.iter().map(|s| u64::from(s[texel * layers + layer])).sum::<u64>();
                before += own;
                *out = before as f32 / UNITS;
            }
        });
        self.mark_cells();
        Some(self)
    }

    /// Chooses texels around all finite points, on a ladder of sizes and a fixed raster.
    fn fit(&mut self, hair: &[HairView<'_>], settings: &Settings) -> Option<()> {
        let (lo, hi) = hair
            .par_iter()
            .flat_map(|view| view.strands.positions().par_chunks(1 << 14))
            .filter_map(|chunk| self.axes.bounds(chunk.iter().copied()))
            .reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let extent = hi - lo;
        let resolution = settings.shadow_resolution.clamp(16, 2048) as f32;
        let texel = step_up(extent.x.max(extent.y).max(1e-4) / (resolution - 4.0));
        self.origin = ((lo.truncate() / texel).floor() - Vec2::ONE) * texel;
        self.per_metre = texel.recip();
        let nodes = ((hi.truncate() - self.origin) * self.per_metre).ceil() + Vec2::splat(2.0);
        self.nodes = [nodes.x as usize, nodes.y as usize];
        self.layers = settings.opacity_layers.clamp(1, 256);
        let layers = settings.shadow_layers.clamp(8, 512) as f32;
        self.cell = step_up(extent.z.max(1e-4) / (layers - 4.0));
        self.origin.is_finite().then_some(())
    }

    /// Cuts a strand into pieces of about a texel.
    fn pieces(
        &self,
        view: &HairView<'_>,
        strand: usize,
        thinning: u32,
        visit: &mut dyn FnMut(&Piece),
    ) {
        if thinning > 1 && hash(view.seed_id(strand) ^ 0x51ed) & (thinning - 1) != 0 {
            return;
        }
        let points = view.strands.strand(strand);
        let radius = &view.radius[view.strands.points_of(strand)];
        for i in 1..points.len() {
            let (a, b) =
                (self.axes.light_from_world(points[i - 1]), self.axes.light_from_world(points[i]));
            let step = b - a;
            if !(a.is_finite() && step.is_finite()) {
                continue;
            }
            let lateral = step.truncate().length() * self.per_metre;
            let width = (radius[i - 1] + radius[i]) * self.per_metre;
            let samples = (lateral.max(step.z.abs() * self.per_metre) / STEP).ceil();
            let samples = samples.clamp(1.0, 4096.0);
            let area = lateral * width * thinning as f32 / samples;
            if !(area > 0.0 && area.is_finite()) {
                continue;
            }
            for k in 0..samples as u32 {
                let p = a + step * ((k as f32 + 0.5) / samples);
                let at = (p.truncate() - self.origin) * self.per_metre;
                visit(&Piece { at, depth: p.z, area });
            }
        }
    }

    /// The four texels around a place, and their weights; nothing outside of the map.
    fn around(&self, at: Vec2) -> [(usize, f32); 4] {
        let [nx, ny] = self.nodes;
        if !(at.x >= 0.0 && at.y >= 0.0 && at.x < (nx - 1) as f32 && at.y < (ny - 1) as f32) {
            return [(0, 0.0); 4];
        }
        let (x, y) = (at.x as usize, at.y as usize);
        let (fx, fy) = (at.x - x as f32, at.y - y as f32);
        let first = y * nx + x;
        [
            (first, (1.0 - fx) * (1.0 - fy)),
            (first + 1, fx * (1.0 - fy)),
            (first + nx, (1.0 - fx) * fy),
            (first + nx + 1, fx * fy),
        ]
    }

    /// Optical depth between the light and a point, moved `lift` depth cells of a deep shadow map towards
    /// the light.
    pub(crate) fn optical_depth(&self, p: Vec3, lift: f32) -> f32 {
        let q = self.axes.light_from_world(p);
        let depth = q.z - lift * self.cell;
        let at = (q.truncate() - self.origin) * self.per_metre;
        self.around(at).iter().map(|&(texel, w)| w * self.in_texel(texel, depth)).sum()
    }

    fn in_texel(&self, texel: usize, depth: f32) -> f32 {
        let (Some(&start), Some(column)) =
            (self.start.get(texel), self.depth.get(texel * self.layers..(texel + 1) * self.layers))
        else {
            return 0.0;
        };
        let behind = (depth - start) / self.reach;
        if behind.is_nan() || behind <= 0.0 {
            return 0.0;
        }
        // Layers end at the squares of k / layers; optical depth is linear in between.
        let layers = self.layers as f32;
        let layer = (behind.sqrt() * layers) as usize;
        let Some(&end) = column.get(layer) else {
            return column.last().copied().unwrap_or(0.0);
        };
        let before = if layer == 0 { 0.0 } else { column[layer - 1] };
        let edge = |k: usize| (k as f32 / layers) * (k as f32 / layers);
        let (near, far) = (edge(layer), edge(layer + 1));
        before + (end - before) * ((behind - near) / (far - near)).clamp(0.0, 1.0)
    }

    fn mark_cells(&mut self) {
        let [nx, ny] = self.nodes;
        let (columns, rows) = (nx.div_ceil(CELL), ny.div_ceil(CELL));
        self.near_hair.clear();
        self.near_hair.resize(columns * rows, false);
        for (texel, start) in self.start.iter().enumerate() {
            if start.is_finite() {
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
        let at = (self.axes.light_from_world(p).truncate() - self.origin) * self.per_metre;
        let cell = |g: f32| (g.max(0.0) / CELL as f32) as usize;
        let columns = self.nodes[0].div_ceil(CELL);
        let (x, y) = (cell(at.x).min(columns - 1), cell(at.y));
        let y = y.min(self.nodes[1].div_ceil(CELL) - 1);
        self.near_hair[y * columns + x]
    }

    /// Side of a texel (m).
    pub(crate) fn texel(&self) -> f32 {
        self.per_metre.recip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::order_strands;
    use coif::groom::Strands;

    /// Random fibres across the light in a slab whose upper side is at the height that `top` gives.
    fn slab(count: usize, thick: f32, top: impl Fn(f32) -> f32) -> Strands {
        let unit = |i: usize, k: u32| hash(i as u32 * 8 + k) as f32 / u32::MAX as f32;
        let mut strands = Strands::new();
        for i in 0..count {
            let (x, z) = (unit(i, 0), unit(i, 2));
            let centre = Vec3::new(x, top(x) - thick * unit(i, 1), z);
            let angle = std::f32::consts::TAU * unit(i, 3);
            let half = Vec3::new(angle.cos(), 0.0, angle.sin()) * 0.004;
            strands.push(&[centre - half, centre + half]);
        }
        strands
    }

    fn build(view: HairView<'_>, toward: Vec3, settings: &Settings) -> OpacityMap {
        let mut order = Vec::new();
        order_strands(&[view], &mut order);
        OpacityMap::default().rebuild(LightAxes::new(toward), &[view], &order, settings).unwrap()
    }

    /// Flat or slanted: the layers follow the surface, so the fall-off is that of the slab.
    #[test]
    fn a_slab_of_any_shape_obeys_beer_lambert() {
        let (count, thick, radius) = (400_000, 0.25, 1e-3f32);
        let slanted = |x: f32| 0.8 * x;
        for (name, top) in [("flat", (|_| 0.0) as fn(f32) -> f32), ("slanted", slanted)] {
            let strands = slab(count, thick, top);
            let widths = vec![radius; strands.point_count()];
            let settings = Settings { shadow_resolution: 96, ..Settings::default() };
            let map = build(HairView::new(&strands, &widths), Vec3::Y, &settings);
            let sigma = count as f32 * 2.0 * radius * 0.008 / thick;
            for depth in [0.05f32, 0.1, 0.15, 0.2] {
                let (mut sum, mut places) = (0.0f64, 0.0);
                for i in 0..120 {
                    for j in 0..120 {
                        let at = |k: usize| 0.2 + 0.6 * k as f32 / 119.0;
                        let p = Vec3::new(at(i), top(at(i)) - depth, at(j));
                        sum += f64::from(map.optical_depth(p, 0.0));
                        places += 1.0;
                    }
                }
                let (found, truth) = ((-sum / places).exp(), f64::from((-sigma * depth).exp()));
                println!("{name}, depth {depth}: transmittance {found:.4}, analytic {truth:.4}");
                assert!((found.ln() / truth.ln() - 1.0).abs() < 0.04, "{found} {truth}");
            }
        }
    }

    #[test]
    fn nothing_shadows_before_the_hair_and_outside() {
        let strands = slab(20_000, 0.1, |_| 0.1);
        let widths = vec![1e-3; strands.point_count()];
        let map = build(HairView::new(&strands, &widths), Vec3::Y, &Settings::default());
        assert_eq!(map.optical_depth(Vec3::new(0.5, 0.3, 0.5), 0.0), 0.0);
        assert_eq!(map.optical_depth(Vec3::new(5.0, -1.0, 0.5), 0.0), 0.0);
        assert_eq!(map.optical_depth(Vec3::NAN, 0.0), 0.0);
        assert!(map.optical_depth(Vec3::new(0.5, -3.0, 0.5), 0.0) > 0.01);
    }

    #[test]
    fn order_and_workers_do_not_change_a_bit() {
        let strands = slab(3000, 0.1, |x| x);
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
        assert!(one.depth.iter().any(|&d| d > 0.0));
        assert_eq!(one.depth, in_pool(&strands, &ids, 3).depth);
        assert_eq!(one.depth, in_pool(&reversed, &back, 2).depth);
    }
}
