use std::f32::consts::{PI, TAU};

use glam::{Mat3, Quat, Vec3};

use crate::{Error, Result};

/// Triangles over shared vertices, counter-clockwise seen from outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Vertex positions (m).
    pub positions: Vec<Vec3>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// An ellipsoid about the origin with the semi-axes `radii` (m): `rows` from the pole at +y to that at -y, `columns`
    /// around y.
    pub fn ellipsoid(radii: Vec3, rows: u32, columns: u32) -> Self {
        let mut mesh = Self::default();
        for (i, j) in (0..=rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let (a, b) = (PI * i as f32 / rows as f32, TAU * j as f32 / columns as f32);
            mesh.positions.push(Vec3::new(a.sin() * b.cos(), a.cos(), -a.sin() * b.sin()) * radii);
        }
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let (a, b) = (i * columns + j, i * columns + (j + 1) % columns);
            mesh.triangles.extend([[a, a + columns, b], [b, a + columns, b + columns]]);
        }
        mesh
    }

    /// Returns an error for the first vertex that is not finite, or the first triangle with a missing vertex.
    pub fn validate(&self) -> Result<()> {
        if let Some(vertex) = self.positions.iter().position(|p| !p.is_finite()) {
            return Err(Error::VertexNotFinite { vertex });
        }
        let vertices = self.positions.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&v) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(Error::BadTriangle { triangle, vertex: v as usize, vertices });
            }
        }
        Ok(())
    }

    /// The three corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize])
    }

    /// `world_from_triangle`: x along the first edge, y along the outward normal.
    pub fn triangle_frame(&self, triangle: usize) -> Quat {
        triangle_frame(self.corners(triangle))
    }

    /// Unit normal per vertex: the mean normal of its triangles, weighted by area.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        for t in 0..self.triangles.len() {
            let [a, b, c] = self.corners(t);
            let n = (b - a).cross(c - a);
            for v in self.triangles[t] {
                normals[v as usize] += n;
            }
        }
        for n in &mut normals {
            *n = n.normalize_or(Vec3::Y);
        }
        normals
    }

    /// Some triangles of the mesh, with all of its vertices.
    pub fn part(&self, triangles: &[u32]) -> Self {
        let triangles = triangles.iter().map(|&t| self.triangles[t as usize]).collect();
        Self { positions: self.positions.clone(), triangles }
    }

    /// Smallest and largest coordinates (m) of the corners of the triangles, or `None` without triangles.
    pub fn bounds_of_triangles(&self) -> Option<(Vec3, Vec3)> {
        let mut corners = self.triangles.iter().flatten().map(|&v| self.positions[v as usize]);
        let first = corners.next()?;
        Some(corners.fold((first, first), |(lo, hi), p| (lo.min(p), hi.max(p))))
    }

    /// Smallest and largest coordinates (m), or `None` without vertices.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }
}

/// Smallest height (m) over its longest edge of a triangle with a well-defined frame: a thousandth of a millimetre.
/// Positions a metre from the origin are rounded to a tenth of that, so the frame of a thinner triangle would be noise.
const MIN_HEIGHT: f32 = 1e-6;

/// Whether a triangle is large enough for a well-defined frame.
pub(crate) fn has_frame([a, b, c]: [Vec3; 3]) -> bool {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    (b - a).cross(c - a).length() > longest * MIN_HEIGHT
}

/// `world_from_triangle`: x along the first edge, y along the outward normal. For a triangle without an area, y is any
/// direction perpendicular to the first edge.
pub(crate) fn triangle_frame([a, b, c]: [Vec3; 3]) -> Quat {
    let x = (b - a).normalize_or(Vec3::X);
    let n = (b - a).cross(c - a);
    let y = n.try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_rotates_with_the_triangle() {
        let corners = [Vec3::ZERO, Vec3::new(0.0, 0.0, 2.0), Vec3::new(1.0, 0.0, 0.5)];
        let turn = Quat::from_euler(glam::EulerRot::YXZ, 0.4, -1.3, 2.0);
        let turned = triangle_frame(corners.map(|p| turn * p + Vec3::ONE));
        let expected = turn * triangle_frame(corners);
        assert!(turned.dot(expected).abs() > 1.0 - 1e-6);
        assert!((triangle_frame(corners) * Vec3::Y).distance(Vec3::Y) < 1e-6);
    }

    #[test]
    fn degenerate_triangles_have_a_finite_frame() {
        assert!(has_frame([Vec3::ZERO, Vec3::Y, Vec3::X]));
        assert!(!has_frame([Vec3::ZERO; 3]) && !has_frame([Vec3::ZERO, Vec3::Y, Vec3::Y * 2.0]));
        assert!(!has_frame([Vec3::ZERO, Vec3::Y * 1e-8, Vec3::X * 1e-8]));
        assert!(triangle_frame([Vec3::ZERO; 3]).is_finite());
        assert!(triangle_frame([Vec3::ZERO, Vec3::Y, Vec3::Y * 2.0]).is_finite());
    }

    #[test]
    fn bad_indices_are_named() {
        let mesh = TriangleMesh { positions: vec![Vec3::ZERO; 3], triangles: vec![[0, 1, 3]] };
        assert_eq!(
            mesh.validate(),
            Err(Error::BadTriangle { triangle: 0, vertex: 3, vertices: 3 })
        );
    }
}
