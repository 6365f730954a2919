use std::cell::OnceCell;

use glam::{Quat, Vec3};

use super::Groom;
use crate::math::{ClosestTriangle, TriangleMesh, has_frame};
use crate::{Error, Result};

/// Binding of a strand's root: a point of a scalp triangle, and the triangle's frame in the rest shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootBinding {
    /// Index of the triangle in the body's mesh.
    pub triangle: u32,
    /// Barycentric coordinates: weights of the triangle's corners, with sum 1.
    pub barycentric: [f32; 3],
    /// Rotation of the triangle's frame in the rest shape (`world_from_triangle`).
    pub rest_frame: Quat,
    /// Offset of the root from the point of the triangle in the rest shape (m, world axes): zero for a
    /// root on the surface.
    pub offset: Vec3,
}

impl RootBinding {
    /// The direction out of the scalp in the rest shape: the triangle's unit normal.
    pub fn normal(&self) -> Vec3 {
        self.rest_frame * Vec3::Y
    }

    /// Binds root positions (m) of strands, strips or columns of hair meshes to the closest triangles of a body's mesh in
    /// its rest shape. A triangle without an area, at the pole of a ball for instance, has no frame; roots closest
    /// to one are bound to the closest triangle with an area, if there is any. All positions must be finite.
    pub fn nearest(mesh: &TriangleMesh, places: impl Iterator<Item = Vec3>) -> Result<Vec<Self>> {
        let search = ClosestTriangle::new(mesh).ok_or(Error::NoTriangles)?;
        let (proper, search_proper) = (OnceCell::new(), OnceCell::new());
        let bind = |root: Vec3| {
            let mut hit = search.closest(root);
            if !has_frame(mesh.corners(hit.triangle)) {
                let (names, proper) = proper.get_or_init(|| with_frames(mesh));
                if let Some(search) = search_proper.get_or_init(|| ClosestTriangle::new(proper)) {
                    hit = search.closest(root);
                    hit.triangle = names[hit.triangle];
                }
            }
            Self {
                triangle: hit.triangle as u32,
                barycentric: hit.barycentric,
                rest_frame: mesh.triangle_frame(hit.triangle),
                offset: root - hit.point,
            }
        };
        Ok(places.map(bind).collect())
    }

    /// As [`Self::nearest`], on some triangles of the mesh only; on all if `triangles` is absent.
    pub fn nearest_on(
        mesh: &TriangleMesh,
        triangles: Option<&[u32]>,
        places: impl Iterator<Item = Vec3>,
    ) -> Result<Vec<Self>> {
        let Some(triangles) = triangles else { return Self::nearest(mesh, places) };
        let part = mesh.part(triangles);
        let mut roots = Self::nearest(&part, places)?;
        roots.iter_mut().for_each(|root| root.triangle = triangles[root.triangle as usize]);
        Ok(roots)
    }

    /// The largest distance (m) between a root and the surface.
    pub fn farthest(roots: &[Self]) -> f32 {
        roots.iter().map(|root| root.offset.length()).fold(0.0, f32::max)
    }
}

/// The indices of the triangles of a mesh that have a frame, and a mesh of these triangles.
fn with_frames(mesh: &TriangleMesh) -> (Vec<usize>, TriangleMesh) {
    let all = 0..mesh.triangles.len();
    let names: Vec<usize> = all.filter(|&t| has_frame(mesh.corners(t))).collect();
    let triangles = names.iter().map(|&t| mesh.triangles[t]).collect();
    let positions = mesh.positions.clone();
    (names, TriangleMesh { positions, triangles })
}

impl Groom {
    /// Binds every root to the closest triangle of the body in its rest shape.
    ///
    /// Returns the largest distance (m) between a root and the surface: a large one indicates a groom for
    /// another body or in another unit.
    pub fn bind(&mut self, mesh: &TriangleMesh) -> Result<f32> {
        self.bind_on(mesh, None)
    }

    /// As [`Groom::bind`], to some triangles of the mesh only; to all if `triangles` is absent.
    pub fn bind_on(&mut self, mesh: &TriangleMesh, triangles: Option<&[u32]>) -> Result<f32> {
        for (s, strand) in self.strands.iter().enumerate() {
            let root = strand.first().ok_or(Error::ShortStrand { strand: s, points: 0 })?;
            if !root.is_finite() {
                return Err(Error::NotFinite { strand: s, point: 0, what: "position" });
            }
        }
        let places = self.strands.iter().map(|strand| strand[0]);
        self.roots = RootBinding::nearest_on(mesh, triangles, places)?;
        Ok(RootBinding::farthest(&self.roots))
    }
}
