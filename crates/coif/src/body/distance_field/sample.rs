//! Distance, gradient and velocity anywhere.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8, i32x8};
use glam::Vec3;

use super::DistanceField;
use crate::math::lanes::{HALF, Vec3x8};

/// The field at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldSample {
    /// To the surface (m), negative inside.
    pub distance: f32,
    /// Unit vector away from the surface outside, towards it inside.
    pub gradient: Vec3,
    /// Of the surface (m/s).
    pub velocity: Vec3,
}

/// Gradients shorter than this have no direction: the point is equally far from one part of the surface
/// and from another. Elsewhere the length is about 1.
const NO_DIRECTION: f32 = 1e-3;

/// Bound of the slope of a distance that is interpolated between nodes: one along each axis, so the root of three. The
/// end of a segment is nearer to the surface than its start by at most this many lengths; where that leaves it outside,
/// the field need not be sampled. Less misses penetrations.
pub(crate) const MAX_SLOPE: f32 = 1.75;

/// Least sum of the trilinear weights of those nodes around a point that have a velocity. On
/// the surface the nearest node does, and has at least an eighth.
const ENOUGH: f32 = 0.05;

/// Number of steps along the gradient to the surface. One is enough except where the gradient
/// changes on the way.
const STEPS: usize = 4;

/// The cell around a point.
struct Place {
    /// Its node with the least coordinates.
    node: usize,
    /// Where in the cell, 0 to 1.
    at: Vec3,
}

impl DistanceField {
    /// Signed distance to the surface (m), trilinear between nodes. Outside of the grid it is the
    /// distance to the mesh's box, a lower bound; without a mesh, or for a point that is not a
    /// number, it is infinite.
    #[inline]
    pub fn distance_at(&self, p: Vec3) -> f32 {
        match self.place(p) {
            Some(place) => {
                let [near, far] = self.faces(place.node, &self.distance);
                let near = mix2(near, place.at.x, place.at.y);
                let far = mix2(far, place.at.x, place.at.y);
                near + (far - near) * place.at.z
            }
            None => self.beyond(p).distance,
        }
    }

    /// Distance, its normalised gradient, and the velocity of the closest point of the surface.
    /// Beyond the grid the distance is that of [`distance_at`](Self::distance_at), the gradient
    /// points away from the mesh's box, and the velocity is the mean of the surface's.
    #[inline]
    pub fn sample(&self, p: Vec3) -> FieldSample {
        let Some(place) = self.place(p) else { return self.beyond(p) };
        let (distance, gradient) = self.slope(p, &place);
        let velocity = self.velocity_at(p - gradient * distance);
        FieldSample { distance, gradient, velocity }
    }

    /// [`distance_at`](Self::distance_at) for the lanes whose bits are set in `asked`, and the gradient
    /// of the interpolant, which is about a unit vector. Other lanes are undefined.
    #[inline(always)]
    pub(crate) fn slopes<S: Simd>(
        &self,
        simd: S,
        p: Vec3x8<S>,
        asked: u32,
    ) -> (f32x8<S>, Vec3x8<S>) {
        let layout = &self.grid.xyz;
        let inverse_cell = f32x8::splat(simd, self.grid.inverse_cell);
        // Find the cells.
        let g = (p - Vec3x8::splat(simd, self.grid.origin)) * inverse_cell;
        let last = |n: usize| n as f32 - 1.0;
        let [x_len, y_len, z_len] = layout.len;
        let within = g.x.simd_ge(0.0)
            & g.x.simd_lt(last(x_len))
            & g.y.simd_ge(0.0)
            & g.y.simd_lt(last(y_len))
            & g.z.simd_ge(0.0)
            & g.z.simd_lt(last(z_len));
        let cell = Vec3x8 { x: g.x.floor(), y: g.y.floor(), z: g.z.floor() };
        let at = g - cell;
        let (row, plane) = (layout.row, layout.plane);
        let first = layout.index(0, 0, 0) as i32;
        let nodes = cell.x.to_int::<i32x8<S>>()
            + first
            + cell.y.to_int::<i32x8<S>>() * row as i32
            + cell.z.to_int::<i32x8<S>>() * plane as i32;
        let inside = within.to_bitmask() as u32 & asked;
        // Gather the corners, lane by lane.
        let mut corners = [[0.0; HALF]; 8];
        for lane in 0..HALF {
            if inside & (1 << lane) != 0 {
                let node = nodes[lane] as usize;
                let mut pair = |k: usize, from: usize| {
                    if let Some(&[a, b]) = self.distance.get(from..from + 2) {
                        corners[k][lane] = a;
                        corners[k + 1][lane] = b;
                    }
                };
                pair(0, node);
                pair(2, node + row);
                pair(4, node + plane);
                pair(6, node + plane + row);
            }
        }
        // Interpolate: x, then y, then z.
        let (low, x0, y0) = in_face(simd, &corners, 0, at);
        let (high, x1, y1) = in_face(simd, &corners, 4, at);
        let mut distance = mix(low, high, at.z);
        let slope = Vec3x8 { x: mix(x0, x1, at.z), y: mix(y0, y1, at.z), z: high - low };
        let mut gradient = slope * inverse_cell;
        // Beyond the grid there is only the mesh's box.
        let beyond = asked & !inside;
        if beyond != 0 {
            for lane in 0..HALF {
                if beyond & (1 << lane) != 0 {
                    let sample = self.beyond(p.lane(lane));
                    distance[lane] = sample.distance;
                    gradient.set_lane(lane, sample.gradient);
                }
            }
        }
        (distance, gradient)
    }

    /// Distance and unit gradient of the trilinear interpolant.
    #[inline]
    fn slope(&self, p: Vec3, place: &Place) -> (f32, Vec3) {
        let at = place.at;
        let [near, far] = self.faces(place.node, &self.distance);
        let (low, high) = (mix2(near, at.x, at.y), mix2(far, at.x, at.y));
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let face = |[a, b, c, d]: [f32; 4]| [mix(b - a, d - c, at.y), mix(c - a, d - b, at.x)];
        let ([x0, y0], [x1, y1]) = (face(near), face(far));
        let slope = Vec3::new(mix(x0, x1, at.z), mix(y0, y1, at.z), high - low);
        let length = slope.length();
        let gradient = if length > NO_DIRECTION * self.grid.cell {
            slope / length
        } else {
            self.wide_gradient(p)
        };
        (mix(low, high, at.z), gradient)
    }

    /// Velocity at a point of the surface: the average of the nodes around it that are in the band.
    /// A point that is not on the surface is projected onto it first.
    #[inline]
    pub(crate) fn velocity_at(&self, mut p: Vec3) -> Vec3 {
        for _step in 0..STEPS {
            let Some(place) = self.place(p) else { break };
            let [near, far] = self.faces(place.node, &self.velocity);
            let low = mix2(near, place.at.x, place.at.y);
            let v = low + (mix2(far, place.at.x, place.at.y) - low) * place.at.z;
            if v.w > ENOUGH {
                return v.truncate() / v.w;
            }
            let (distance, gradient) = self.slope(p, &place);
            p -= gradient * distance;
        }
        self.mean_velocity
    }

    /// The cell around a point; `None` beyond the grid and for NaN.
    #[inline]
    fn place(&self, p: Vec3) -> Option<Place> {
        let layout = &self.grid.xyz;
        let [x_len, y_len, z_len] = layout.len;
        let g = self.grid.in_cells(p);
        let within = |g: f32, len: usize| g >= 0.0 && g < len as f32 - 1.0;
        if !(within(g.x, x_len) && within(g.y, y_len) && within(g.z, z_len)) {
            return None;
        }
        let (x, y, z) = (g.x as usize, g.y as usize, g.z as usize);
        let at = g - Vec3::new(x as f32, y as f32, z as f32);
        Some(Place { node: layout.index(x, y, z), at })
    }

    /// The values at the corners of a cell: near and far face, each x first.
    #[inline]
    fn faces<T: Copy>(&self, node: usize, values: &[T]) -> [[T; 4]; 2] {
        let (row, plane) = (self.grid.xyz.row, self.grid.xyz.plane);
        let face = |i: usize| [values[i], values[i + 1], values[i + row], values[i + row + 1]];
        [face(node), face(node + plane)]
    }

    /// The gradient over two cells, where that of the cell vanishes; up if that does too.
    #[cold]
    fn wide_gradient(&self, p: Vec3) -> Vec3 {
        let slope = Vec3::AXES.map(|axis| {
            let step = axis * self.grid.cell;
            self.distance_at(p + step) - self.distance_at(p - step)
        });
        let slope = Vec3::from(slope);
        if slope.is_finite() && slope.length() > NO_DIRECTION * self.grid.cell {
            slope.normalize_or(Vec3::Y)
        } else {
            Vec3::Y
        }
    }

    /// The field at a point beyond the grid.
    #[cold]
    fn beyond(&self, p: Vec3) -> FieldSample {
        let (lo, hi) = self.bounds;
        let nothing =
            FieldSample { distance: f32::INFINITY, gradient: Vec3::Y, velocity: Vec3::ZERO };
        if !lo.cmple(hi).all() {
            return nothing;
        }
        let offset = p - p.max(lo).min(hi);
        let distance = offset.length();
        if distance.is_nan() || p.is_nan() {
            return nothing;
        }
        let gradient = offset.normalize_or(Vec3::Y);
        FieldSample { distance, gradient, velocity: self.mean_velocity }
    }
}

/// Between the four corners of a face, from the corner number `k` on: the value and its slopes along x
/// and y.
#[inline(always)]
fn in_face<S: Simd>(
    simd: S,
    corners: &[[f32; HALF]; 8],
    k: usize,
    at: Vec3x8<S>,
) -> (f32x8<S>, f32x8<S>, f32x8<S>) {
    let (a, b) = (f32x8::from_slice(simd, &corners[k]), f32x8::from_slice(simd, &corners[k + 1]));
    let (c, d) =
        (f32x8::from_slice(simd, &corners[k + 2]), f32x8::from_slice(simd, &corners[k + 3]));
    let value = mix(mix(a, b, at.x), mix(c, d, at.x), at.y);
    (value, mix(b - a, d - c, at.y), mix(c - a, d - b, at.x))
}

#[inline(always)]
fn mix<S: Simd>(a: f32x8<S>, b: f32x8<S>, t: f32x8<S>) -> f32x8<S> {
    a + (b - a) * t
}

/// Values between the four corners of a face, x first.
#[inline]
fn mix2<T>([a, b, c, d]: [T; 4], x: f32, y: f32) -> T
where
    T: Copy
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<f32, Output = T>,
{
    let low = a + (b - a) * x;
    let high = c + (d - c) * x;
    low + (high - low) * y
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::super::Settings;
    use super::*;

    #[inline(always)]
    fn ask<S: Simd>(simd: S, field: &DistanceField, points: &[Vec3]) -> Vec<(f32, Vec3)> {
        let mut p = Vec3x8::splat(simd, Vec3::ZERO);
        for (lane, &point) in points.iter().enumerate() {
            p.set_lane(lane, point);
        }
        let (distance, gradient) = field.slopes(simd, p, 0xff);
        (0..HALF).map(|lane| (distance[lane], gradient.lane(lane))).collect()
    }

    proptest! {
        /// Sixteen lanes give the results of single points, inside, outside and beyond the grid.
        #[test]
        fn lanes_agree_with_single_points(
            points in prop::collection::vec((-0.4f32..0.4, -0.4f32..0.4, -0.4f32..0.4), HALF)
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            let corners = [Vec3::ZERO, Vec3::X * 0.2, Vec3::Y * 0.25, Vec3::Z * 0.15];
            let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
            let settings = Settings { cell: 0.02, ..Settings::default() };
            let mut field = DistanceField::new(&triangles, &settings).expect("settings are fine");
            field.rebuild(&corners, &[Vec3::ZERO; 4]);
            let found = dispatch!(Level::new(), simd => ask(simd, &field, &points));
            for (&p, (distance, gradient)) in points.iter().zip(found) {
                prop_assert_eq!(distance, field.distance_at(p));
                let expected = field.sample(p).gradient;
                prop_assert!(gradient.normalize_or(expected).dot(expected) > 0.999, "{p}");
            }
        }
    }
}
