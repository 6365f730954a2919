//! The deep opacity map: layers of hair that follow its shape as seen from the light.
//!
//! Model: light falls off as `exp(-tau)`, with `tau` as in the deep shadow map. Every texel has the depth at which its
//! hair begins, and a few layers at the same distances behind that; `tau` up to the end of each layer is exact, between
//! them it is linear. Because layers begin at the first hair, a dozen are enough to avoid visible bands.
//! Source: `yuksel2008`, as in the renderings of `wu2016` 4.
//! Deviations: layers grow with the square of their number, and fibres are distributed over texels with linear weights.
//! Sums are integers and beginnings are minima, so neither the order of strands nor the number of threads changes a
//! bit.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::hair_grid::{NearHair, Sampled, UNITS, bounds, cell_size, workers};
use super::{LightAxes, step_up};
use crate::hair::StrandRef;
use crate::{HairView, Settings};

/// Longest step between samples along a fibre (texels).
const STEP: f32 = 1.1;

/// Optical depth in layers behind the first hair of each texel.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct OpacityMap {
    axes: LightAxes,
    /// Light-space position of the first texel (m).
    origin: Vec2,
    /// Texels per metre.
    per_metre: f32,
    nodes: [usize; 2],
    layers: usize,
    /// Offset of a point towards the light (m).
    cell: f32,
    /// Depth of all layers together (m).
    reach: f32,
    /// Depth of the first hair in each texel (m); infinite without hair.
    start: Vec<f32>,
    /// Optical depth up to the end of each layer; layers run fastest.
    depth: Vec<f32>,
    near_hair: NearHair,
}

/// A piece of fibre as seen from the light.
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
        let sampled = Sampled::new(hair, order);
        let texels = self.nodes[0] * self.nodes[1];
        let workers = workers();
        let mut start = std::mem::take(&mut self.start);
        start.clear();
        let walk = |worker: usize, visit: &mut dyn FnMut(&Piece)| {
            for (points, radius) in sampled.of_worker(worker, workers) {
                self.pieces(points, radius, sampled.weight(), visit);
            }
        };
        // Find the depths at which the hair of each texel begins and ends.
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

        // Merge the ranges of all workers.
        start.resize(texels, f32::INFINITY);
        let mut reach = 0.0f32;
        for texel in 0..texels {
            let near = ranges.iter().map(|r| r[texel][0]).fold(f32::INFINITY, f32::min);
            let far = ranges.iter().map(|r| r[texel][1]).fold(f32::NEG_INFINITY, f32::max);
            start[texel] = near;
            reach = reach.max(far - near);
        }
        let reach = step_up(reach.max(1e-4) * 1.001);
        // Sum fibre area layer by layer.
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
        // Accumulate the layers of each texel from the light on.
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
        self.near_hair.mark(self.nodes, self.start.iter().map(|start| start.is_finite()));
        Some(self)
    }

    /// Chooses texels around all finite points, with quantised sizes on a fixed raster.
    fn fit(&mut self, hair: &[HairView<'_>], settings: &Settings) -> Option<()> {
        let (lo, hi) = bounds(&self.axes, hair)?;
        let cell = cell_size(hi - lo, settings);
        let texel = cell.x;
        self.origin = ((lo.truncate() / texel).floor() - Vec2::ONE) * texel;
        self.per_metre = texel.recip();
        let nodes = ((hi.truncate() - self.origin) * self.per_metre).ceil() + Vec2::splat(2.0);
        self.nodes = [nodes.x as usize, nodes.y as usize];
        self.layers = settings.opacity_layers.clamp(1, 256);
        self.cell = cell.z;
        self.origin.is_finite().then_some(())
    }

    /// Cuts a strand into pieces of about a texel.
    fn pieces(&self, points: &[Vec3], radius: &[f32], weight: f32, visit: &mut dyn FnMut(&Piece)) {
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
            let area = lateral * width * weight / samples;
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

    /// The four texels around a position, and their weights; no weights outside of the map.
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

    /// Whether any hair may lie within a cell of the coarse map around a point, as seen from the light.
    pub(crate) fn is_near_hair(&self, p: Vec3) -> bool {
        let at = (self.axes.light_from_world(p).truncate() - self.origin) * self.per_metre;
        self.near_hair.is_near(at)
    }

    /// Side of a texel (m).
    pub(crate) fn texel(&self) -> f32 {
        self.per_metre.recip()
    }
}
