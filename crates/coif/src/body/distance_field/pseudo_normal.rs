//! The side of the surface on which a point is, from the nearest triangle alone.
//!
//! Model: the sign of (p - q) . n, with q the closest point and n the normal of the face, the sum of
//! both faces' unit normals on an edge, and the sum weighted by the faces' angles at a vertex. It is
//! exact for closed meshes without self-intersection (Baerentzen and Aanaes 2005).

use glam::Vec3;

use crate::body::closest_point_triangle;

/// Which triangles are around a vertex.
#[derive(Debug, Default)]
pub(super) struct Rings {
    /// Vertex and triangle, sorted.
    pairs: Vec<(u32, u32)>,
}

impl Rings {
    pub(super) fn new(triangles: &[[u32; 3]]) -> Self {
        let corners = triangles.iter().enumerate();
        let pairs = corners.flat_map(|(t, corners)| corners.map(|v| (v, t as u32)));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self { pairs }
    }

    fn around(&self, vertex: u32) -> impl Iterator<Item = u32> {
        let first = self.pairs.partition_point(|&(v, _)| v < vertex);
        self.pairs[first..].iter().take_while(move |&&(v, _)| v == vertex).map(|&(_, t)| t)
    }
}

/// A mesh in cells, with its rings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface<'a> {
    pub(super) triangles: &'a [[u32; 3]],
    pub(super) vertices: &'a [[f32; 4]],
    pub(super) rings: &'a Rings,
}

impl Surface<'_> {
    pub(super) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|v| self.vertex(v))
    }

    fn vertex(&self, v: u32) -> Vec3 {
        self.vertices.get(v as usize).map_or(Vec3::NAN, |p| Vec3::new(p[0], p[1], p[2]))
    }

    /// Whether `p` is on the front of its nearest triangle.
    pub(super) fn in_front(&self, p: Vec3, triangle: u32) -> bool {
        let (q, weights) = closest_point(p, self.corners(triangle));
        let corners = self.triangles[triangle as usize];
        let on = |i: usize| weights[i] != 0.0;
        let normal = match (on(0), on(1), on(2)) {
            (true, true, true) => self.normal(triangle),
            (true, false, false) => self.vertex_normal(corners[0]),
            (false, true, false) => self.vertex_normal(corners[1]),
            (false, false, true) => self.vertex_normal(corners[2]),
            (a, b, _) => {
                let from = if a { corners[0] } else { corners[1] };
                let to = if a && b { corners[1] } else { corners[2] };
                self.edge_normal(from, to)
            }
        };
        (p - q).dot(normal) >= 0.0
    }

    /// Unit normal of a triangle, zero if it has none.
    fn normal(&self, triangle: u32) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a).normalize_or_zero()
    }

    fn edge_normal(&self, from: u32, to: u32) -> Vec3 {
        let both = self.rings.around(from).filter(|&t| self.triangles[t as usize].contains(&to));
        both.map(|t| self.normal(t)).sum()
    }

    fn vertex_normal(&self, vertex: u32) -> Vec3 {
        let weighted = |t: u32| {
            let corners = self.triangles[t as usize];
            let at = corners.iter().position(|&v| v == vertex).unwrap_or(0);
            let [here, next, last] = [0, 1, 2].map(|i| self.vertex(corners[(at + i) % 3]));
            let (a, b) = ((next - here).normalize_or_zero(), (last - here).normalize_or_zero());
            self.normal(t) * a.dot(b).clamp(-1.0, 1.0).acos()
        };
        self.rings.around(vertex).map(weighted).sum()
    }
}

/// The point of a triangle that is closest to `p` with its weights, also if the triangle has no
/// area: then the closest of its edges'.
pub(super) fn closest_point(p: Vec3, corners: [Vec3; 3]) -> (Vec3, [f32; 3]) {
    let (q, weights) = closest_point_triangle(p, corners);
    if q.is_finite() && weights.iter().all(|w| (0.0..=1.0).contains(w)) {
        return (q, weights);
    }
    let mut best = (corners[0], [1.0, 0.0, 0.0]);
    for i in 0..3 {
        let (a, b) = (corners[i], corners[(i + 1) % 3]);
        let along = (p - a).dot(b - a) / (b - a).length_squared().max(f32::MIN_POSITIVE);
        let along = along.clamp(0.0, 1.0);
        let q = a + (b - a) * along;
        if q.distance_squared(p) < best.0.distance_squared(p) {
            let mut weights = [0.0; 3];
            (weights[i], weights[(i + 1) % 3]) = (1.0 - along, along);
            best = (q, weights);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn triangles_without_area_have_a_closest_point() {
        let p = Vec3::new(0.5, 1.0, 0.0);
        for corners in [
            [Vec3::ZERO; 3],
            [Vec3::ZERO, Vec3::ZERO, Vec3::X],
            [Vec3::ZERO, Vec3::X, Vec3::X],
            [Vec3::ZERO, Vec3::X, Vec3::ZERO],
            [Vec3::ZERO, Vec3::X, Vec3::X * 0.2],
        ] {
            let (q, weights) = closest_point(p, corners);
            let expected =
                if corners[1] == corners[2] && corners[1] == corners[0] { p.length() } else { 1.0 };
            assert!((q.distance(p) - expected).abs() < 1e-6, "{corners:?}: {q}");
            let back: Vec3 = corners.iter().zip(weights).map(|(&c, w)| c * w).sum();
            assert!(back.distance(q) < 1e-6);
        }
    }

    proptest! {
        /// A spike that is much sharper than it is wide: the sign is right at every point around it.
        #[test]
        fn a_sharp_spike_has_an_inside(
            x in -1.0f32..1.0, y in -0.5f32..1.5, z in -1.0f32..1.0, height in 0.3f32..20.0
        ) {
            let vertices = [
                [1.0, 0.0, 0.0, 0.0], [-0.5, 0.0, 0.8, 0.0], [-0.5, 0.0, -0.8, 0.0],
                [0.9, height, 0.3, 0.0],
            ];
            let triangles = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
            let rings = Rings::new(&triangles);
            let surface = Surface { triangles: &triangles, vertices: &vertices, rings: &rings };
            let p = Vec3::new(x, y, z);
            let nearest = (0..4u32).min_by(|&a, &b| {
                let d = |t: u32| closest_point(p, surface.corners(t)).0.distance_squared(p);
                d(a).total_cmp(&d(b))
            }).unwrap();
            let plane = |t: u32| {
                let [a, b, c] = surface.corners(t);
                (p - a).dot((b - a).cross(c - a).normalize())
            };
            let depth = (0..4).map(plane).fold(f32::NEG_INFINITY, f32::max);
            prop_assume!(depth.abs() > 1e-4);
            prop_assert_eq!(surface.in_front(p, nearest), depth > 0.0);
        }
    }
}
