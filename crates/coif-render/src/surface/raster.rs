//! Rasterises triangles into a tile: four samples per pixel on a rotated grid, then shading once per pixel, or once per
//! sample where a pixel contains more than one sheet of surface.
//!
//! A triangle with a corner closer than the near plane is left out.

use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;

use super::shade::{SkinPoint, SkinShader};
use crate::SurfaceView;
use crate::camera::View;
use crate::tiles::{BodyBuffer, TILE, TileGrid};

/// Samples of a pixel, from its upper left corner.
const SAMPLES: [Vec2; 4] = [
    Vec2::new(0.375, 0.125),
    Vec2::new(0.875, 0.375),
    Vec2::new(0.125, 0.625),
    Vec2::new(0.625, 0.875),
];
const NONE: u32 = u32::MAX;
/// Colour of surfaces without colours: a warm light grey.
const PLAIN: Vec3 = Vec3::new(0.46, 0.40, 0.36);

/// A triangle on the screen.
#[derive(Debug, Clone, Copy)]
struct ScreenTriangle {
    corners: [Vec3; 3],
    surface: u32,
    triangle: u32,
}

/// Scratch memory of one worker.
#[derive(Debug, Clone)]
struct SampleBuffer {
    depth: Vec<f32>,
    triangle: Vec<u32>,
}

impl Default for SampleBuffer {
    fn default() -> Self {
        let count = TILE * TILE * SAMPLES.len();
        Self { depth: vec![f32::INFINITY; count], triangle: vec![NONE; count] }
    }
}

/// Draws the body of a frame. Keeps its memory from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct SurfacePass {
    screen: Vec<Vec3>,
    triangles: Vec<ScreenTriangle>,
    first_of_tile: Vec<u32>,
    of_tile: Vec<u32>,
}

impl SurfacePass {
    pub(crate) fn draw(
        &mut self,
        surfaces: &[SurfaceView<'_>],
        view: &View,
        grid: TileGrid,
        shader: &SkinShader<'_>,
        stopped: impl Fn() -> bool + Sync,
        body: &mut BodyBuffer,
    ) {
        self.project(surfaces, view);
        body.clear(grid, !self.triangles.is_empty());
        if !body.present {
            return;
        }
        self.list_by_tile(grid);
        let tiles = body
            .light
            .par_chunks_mut(BodyBuffer::PIXELS)
            .zip(body.depth.par_chunks_mut(BodyBuffer::PIXELS))
            .zip(body.behind.par_chunks_mut(BodyBuffer::TILE_BLOCKS))
            .enumerate();
        tiles.for_each_init(SampleBuffer::default, |samples, (tile, ((light, depth), behind))| {
            let list = self.first_of_tile[tile] as usize..self.first_of_tile[tile + 1] as usize;
            if !list.is_empty() && !stopped() {
                self.draw_tile(&self.of_tile[list], grid.origin(tile), samples);
                self.resolve(samples, surfaces, grid.origin(tile), shader, light, depth);
                BodyBuffer::measure_blocks(light, depth, behind);
            }
        });
    }

    fn project(&mut self, surfaces: &[SurfaceView<'_>], view: &View) {
        self.triangles.clear();
        for (surface, s) in surfaces.iter().enumerate() {
            self.screen.clear();
            self.screen.extend(s.positions.iter().map(|&p| view.project(p)));
            for (triangle, t) in s.triangles.iter().enumerate() {
                let corners = t.map(|v| self.screen[v as usize]);
                let visible = corners.iter().all(|c| c.is_finite() && c.z >= view.near);
                let lo = corners[0].min(corners[1]).min(corners[2]);
                let hi = corners[0].max(corners[1]).max(corners[2]);
                let inside = hi.x > 0.0
                    && hi.y > 0.0
                    && lo.x < view.width as f32
                    && lo.y < view.height as f32;
                if visible && inside {
                    let (surface, triangle) = (surface as u32, triangle as u32);
                    self.triangles.push(ScreenTriangle { corners, surface, triangle });
                }
            }
        }
    }

    fn list_by_tile(&mut self, grid: TileGrid) {
        self.first_of_tile.clear();
        self.first_of_tile.resize(grid.count() + 1, 0);
        for triangle in &self.triangles {
            for_each_tile(triangle, grid, |tile| self.first_of_tile[tile + 1] += 1);
        }
        for tile in 0..grid.count() {
            self.first_of_tile[tile + 1] += self.first_of_tile[tile];
        }
        let mut next = self.first_of_tile.clone();
        self.of_tile.clear();
        self.of_tile.resize(self.first_of_tile[grid.count()] as usize, 0);
        for (index, triangle) in self.triangles.iter().enumerate() {
            for_each_tile(triangle, grid, |tile| {
                self.of_tile[next[tile] as usize] = index as u32;
                next[tile] += 1;
            });
        }
    }

    fn draw_tile(&self, list: &[u32], origin: Vec2, samples: &mut SampleBuffer) {
        samples.depth.fill(f32::INFINITY);
        samples.triangle.fill(NONE);
        for &index in list {
            let [a, b, c] = self.triangles[index as usize].corners;
            let (pa, pb, pc) =
                (a.truncate() - origin, b.truncate() - origin, c.truncate() - origin);
            let area = (pb - pa).perp_dot(pc - pa);
            let drawable = area.abs() > 1e-9;
            if !drawable {
                continue;
            }
            let lo = pa.min(pb).min(pc).floor().max(Vec2::ZERO);
            let hi = pa.max(pb).max(pc).ceil().min(Vec2::splat(TILE as f32));
            let (ab, ac) = ((pb - pa) / area, (pc - pa) / area);
            let inverse = [a.z.recip(), b.z.recip(), c.z.recip()];
            for y in lo.y as usize..hi.y.max(0.0) as usize {
                for x in lo.x as usize..hi.x.max(0.0) as usize {
                    let corner = Vec2::new(x as f32, y as f32) - pa;
                    for (k, offset) in SAMPLES.iter().enumerate() {
                        let p = corner + *offset;
                        let (v, w) = (p.perp_dot(ac), ab.perp_dot(p));
                        let u = 1.0 - v - w;
                        if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                            let depth = 1.0 / (u * inverse[0] + v * inverse[1] + w * inverse[2]);
                            let at = (y * TILE + x) * SAMPLES.len() + k;
                            if depth < samples.depth[at] {
                                samples.depth[at] = depth;
                                samples.triangle[at] = index;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Light of each pixel from its samples.
    fn resolve(
        &self,
        samples: &SampleBuffer,
        surfaces: &[SurfaceView<'_>],
        origin: Vec2,
        shader: &SkinShader<'_>,
        light: &mut [Vec4],
        depth: &mut [f32],
    ) {
        let per_sample = 1.0 / SAMPLES.len() as f32;
        for at in 0..TILE * TILE {
            let first = at * SAMPLES.len();
            let corner = origin + Vec2::new((at % TILE) as f32, (at / TILE) as f32);
            // Shade a pixel within one triangle once, at its centre.
            if let &[a, b, c, d] = &samples.triangle[first..first + SAMPLES.len()]
                && a == b
                && a == c
                && a == d
            {
                if a != NONE {
                    let middle = self.skin_point(a, corner + Vec2::splat(0.5), surfaces);
                    let lit = shader.shade(&middle);
                    let lit = if lit.is_finite() { lit.max(Vec3::ZERO) } else { Vec3::ZERO };
                    light[at] = lit.extend(1.0);
                    let depths = &samples.depth[first..first + SAMPLES.len()];
                    depth[at] = depths.iter().sum::<f32>() * per_sample;
                }
                continue;
            }
            // Shade a pixel of several triangles once if they are one sheet, else per sample.
            let mut points = [None; SAMPLES.len()];
            for (k, offset) in SAMPLES.iter().enumerate() {
                let triangle = samples.triangle[first + k];
                if triangle != NONE {
                    points[k] = Some(self.skin_point(triangle, corner + *offset, surfaces));
                }
            }
            let count = points.iter().flatten().count() as f32;
            if count == 0.0 {
                continue;
            }
            let covered =
                || samples.depth[first..first + SAMPLES.len()].iter().filter(|d| d.is_finite());
            depth[at] = covered().sum::<f32>() / count;
            let (lo, hi) =
                covered().fold((f32::INFINITY, 0.0f32), |(l, h), &d| (l.min(d), h.max(d)));
            let mean = points.iter().flatten().copied().reduce(|a, b| a + b);
            let one_sheet = hi - lo < 0.01 * lo;
            let sum = match mean {
                Some(mean) if one_sheet => shader.shade(&(mean * count.recip())) * count,
                _ => points.iter().flatten().map(|p| shader.shade(p)).sum(),
            };
            let sum = if sum.is_finite() { sum.max(Vec3::ZERO) } else { Vec3::ZERO };
            light[at] = (sum * per_sample).extend(count * per_sample);
        }
    }

    /// Position, normal and colour of the surface at a screen position.
    fn skin_point(&self, index: u32, p: Vec2, surfaces: &[SurfaceView<'_>]) -> SkinPoint {
        let triangle = &self.triangles[index as usize];
        let [a, b, c] = triangle.corners;
        let (pa, pb, pc) = (a.truncate(), b.truncate(), c.truncate());
        let area = (pb - pa).perp_dot(pc - pa);
        let v = (p - pa).perp_dot(pc - pa) / area;
        let w = (pb - pa).perp_dot(p - pa) / area;
        // Perspective-correct weights.
        let weights = Vec3::new((1.0 - v - w) / a.z, v / b.z, w / c.z);
        let weights = weights / weights.element_sum();
        let surface = &surfaces[triangle.surface as usize];
        let corners = surface.triangles[triangle.triangle as usize].map(|v| v as usize);
        let mix = |values: &[Vec3]| {
            values[corners[0]] * weights.x
                + values[corners[1]] * weights.y
                + values[corners[2]] * weights.z
        };
        SkinPoint {
            position: mix(surface.positions),
            normal: mix(surface.normals),
            color: surface.color.map_or(PLAIN, mix),
        }
    }
}

fn for_each_tile(triangle: &ScreenTriangle, grid: TileGrid, mut visit: impl FnMut(usize)) {
    let [a, b, c] = triangle.corners;
    let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
    let tile = TILE as f32;
    let span = |lo: f32, hi: f32, count: usize| {
        (lo / tile).max(0.0) as usize..((hi / tile).max(0.0) as usize + 1).min(count)
    };
    for row in span(lo.y, hi.y, grid.rows) {
        for column in span(lo.x, hi.x, grid.columns) {
            visit(row * grid.columns + column);
        }
    }
}
