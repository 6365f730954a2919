//! The depth map of the body as seen from the light, with filtered lookup.

use glam::{Vec2, Vec3};

use super::{LightAxes, step_up};
use crate::{Settings, SurfaceView};

/// Depth of hair below the surface beyond which the body shadows it (m): roots start there.
const HAIR_BIAS: f32 = 2.5e-3;

/// Texels in a row of the soft filter.
const TAPS: usize = 6;

/// Distance to the first surface on a raster perpendicular to the light.
#[derive(Debug)]
pub(crate) struct DepthMap {
    axes: LightAxes,
    origin: Vec3,
    texel: f32,
    per_metre: f32,
    width: usize,
    height: usize,
    depth: Vec<f32>,
    /// Vertices of a surface in coordinates of the map.
    mapped: Vec<Vec3>,
}

impl Default for DepthMap {
    fn default() -> Self {
        Self {
            axes: LightAxes::new(Vec3::Y),
            origin: Vec3::ZERO,
            texel: 1.0,
            per_metre: 1.0,
            width: 0,
            height: 0,
            depth: Vec::new(),
            mapped: Vec::new(),
        }
    }
}

impl DepthMap {
    /// Fits the map to the surfaces and draws them; `None` without a surface.
    pub(crate) fn rebuild(
        mut self,
        axes: LightAxes,
        surfaces: &[SurfaceView<'_>],
        settings: &Settings,
    ) -> Option<Self> {
        self.axes = axes;
        let points = surfaces.iter().flat_map(|s| s.positions.iter().copied());
        let (lo, hi) = axes.bounds(points)?;
        let extent = (hi - lo).max(Vec3::splat(1e-4));
        let resolution = settings.body_shadow_resolution.clamp(16, 8192) as f32;
        self.texel = step_up(extent.x.max(extent.y) / (resolution - 4.0));
        self.per_metre = self.texel.recip();
        self.origin = ((lo / self.texel).floor() - Vec3::ONE) * self.texel;
        self.width = ((hi.x - self.origin.x) / self.texel).ceil() as usize + 2;
        self.height = ((hi.y - self.origin.y) / self.texel).ceil() as usize + 2;
        self.depth.clear();
        self.depth.resize(self.width * self.height, f32::INFINITY);
        for surface in surfaces {
            let mut mapped = std::mem::take(&mut self.mapped);
            mapped.clear();
            mapped.extend(surface.positions.iter().map(|&p| self.to_map(p)));
            for triangle in surface.triangles {
                self.draw(triangle.map(|vertex| mapped[vertex as usize]));
            }
            self.mapped = mapped;
        }
        Some(self)
    }

    /// Coordinates of the map: texels across (centres at whole numbers), metres of depth.
    fn to_map(&self, p: Vec3) -> Vec3 {
        let q = self.axes.light_from_world(p) - self.origin;
        Vec3::new(q.x * self.per_metre, q.y * self.per_metre, q.z)
    }

    fn draw(&mut self, [a, b, c]: [Vec3; 3]) {
        let (ab, ac) = ((b - a).truncate(), (c - a).truncate());
        let area = ab.perp_dot(ac);
        let drawable = area.abs() > 1e-12;
        if !drawable {
            return;
        }
        let (lo, hi) = (a.min(b).min(c).max(Vec3::ZERO), a.max(b).max(c));
        let last_x = (hi.x.floor() as usize).min(self.width - 1);
        let last_y = (hi.y.floor() as usize).min(self.height - 1);
        let (first_x, first_y) = (lo.x.ceil() as usize, lo.y.ceil() as usize);
        if first_x > last_x {
            return;
        }
        let (ab, ac) = (ab / area, ac / area);
        for y in first_y..=last_y {
            let row = &mut self.depth[y * self.width..][first_x..=last_x];
            for (x, texel) in row.iter_mut().enumerate() {
                let p = Vec2::new((first_x + x) as f32, y as f32) - a.truncate();
                let (v, w) = (p.perp_dot(ac), ab.perp_dot(p));
                if v >= 0.0 && w >= 0.0 && v + w <= 1.0 {
                    *texel = texel.min(a.z + (b.z - a.z) * v + (c.z - a.z) * w);
                }
            }
        }
    }

    /// Visibility with bilinear weights of four texels.
    pub(crate) fn visibility_quick(&self, p: Vec3) -> f32 {
        let q = self.to_map(p) - Vec3::Z * HAIR_BIAS;
        let inside = q.x >= 0.0
            && q.y >= 0.0
            && q.x < (self.width - 1) as f32
            && q.y < (self.height - 1) as f32;
        if !inside {
            return 1.0;
        }
        let (x, y) = (q.x as usize, q.y as usize);
        let (fx, fy) = (q.x - x as f32, q.y - y as f32);
        let lit = |at: usize| (1.0 - (q.z - self.depth[at]) * (0.5 / HAIR_BIAS)).clamp(0.0, 1.0);
        let first = y * self.width + x;
        let near = lit(first) * (1.0 - fx) + lit(first + 1) * fx;
        let far = lit(first + self.width) * (1.0 - fx) + lit(first + self.width + 1) * fx;
        near * (1.0 - fy) + far * fy
    }

    /// Visibility with a tent filter over several texels around a point lifted off the surface, with a short ramp
    /// between lit and shadowed.
    pub(crate) fn visibility_soft(&self, p: Vec3, normal: Vec3) -> f32 {
        let lifted = p + normal * (3.5 * self.texel);
        let q = self.to_map(lifted) - Vec3::Z * self.texel;
        let (before, after) = (TAPS as f32 / 2.0 - 1.0, TAPS as f32 / 2.0);
        let inside = q.x >= before
            && q.y >= before
            && q.x < self.width as f32 - after
            && q.y < self.height as f32 - after;
        if !inside {
            return 1.0;
        }
        let (x, y) = (q.x as usize, q.y as usize);
        // Weights decrease linearly to both sides; those of a row add up to the square of half the number of taps.
        let weights = |f: f32| -> [f32; TAPS] {
            std::array::from_fn(|k| after - (k as f32 - before - f).abs())
        };
        let (across, along) = (weights(q.x - x as f32), weights(q.y - y as f32));
        let per_ramp = 1.0 / (3.0 * self.texel);
        let first = (y + 1 - TAPS / 2) * self.width + x + 1 - TAPS / 2;
        let mut sum = 0.0;
        for (weight, row) in along.iter().zip(self.depth[first..].chunks(self.width)) {
            let lit = |depth: f32| (1.0 - (q.z - depth) * per_ramp).clamp(0.0, 1.0);
            let in_row: f32 = across.iter().zip(row).map(|(w, &depth)| w * lit(depth)).sum();
            sum += weight * in_row;
        }
        sum / (after * after * after * after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plate_shadows_what_lies_behind_it() {
        let positions = [
            Vec3::new(-1.0, 0.0, -1.0),
            Vec3::new(1.0, 0.0, -1.0),
            Vec3::new(1.0, 0.0, 1.0),
            Vec3::new(-1.0, 0.0, 1.0),
        ];
        let normals = [Vec3::Y; 4];
        let triangles = [[0, 1, 2], [0, 2, 3]];
        let plate = SurfaceView {
            positions: &positions,
            normals: &normals,
            triangles: &triangles,
            color: None,
        };
        let axes = LightAxes::new(Vec3::Y);
        let map = DepthMap::default().rebuild(axes, &[plate], &Settings::default()).unwrap();
        assert_eq!(map.visibility_quick(Vec3::new(0.2, -0.5, 0.3)), 0.0);
        assert_eq!(map.visibility_quick(Vec3::new(0.2, 0.5, 0.3)), 1.0);
        assert_eq!(map.visibility_quick(Vec3::new(3.0, -0.5, 0.3)), 1.0);
        assert_eq!(map.visibility_soft(Vec3::new(0.2, 0.0, 0.3), Vec3::Y), 1.0);
        assert_eq!(map.visibility_quick(Vec3::NAN), 1.0);
    }
}
