use glam::{Quat, Vec3};

use super::Groom;
use crate::math::{ClosestTriangle, TriangleMesh};
use crate::{Error, Result};

/// Where a strand grows: a place on a scalp triangle, and how the triangle lay in the rest shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootBinding {
    /// Index of the triangle in the body's mesh.
    pub triangle: u32,
    /// Weights of the triangle's three corners; they add up to 1.
    pub barycentric: [f32; 3],
    /// Rotation of the triangle's frame in the rest shape (world from triangle).
    pub rest_frame: Quat,
    /// From the place on the triangle to the root in the rest shape (m, world axes): zero for a
    /// root that lies on the surface.
    pub offset: Vec3,
}

impl RootBinding {
    /// The way out of the scalp in the rest shape: the triangle's unit normal.
    pub fn normal(&self) -> Vec3 {
        self.rest_frame * Vec3::Y
    }

    /// Binds places (m) to the closest triangles of a body's mesh in its rest shape, as strands, strips and columns of
    /// hair meshes grow there. All places are finite.
    pub fn nearest(mesh: &TriangleMesh, places: impl Iterator<Item = Vec3>) -> Result<Vec<Self>> {
        let search = ClosestTriangle::new(mesh).ok_or(Error::NoTriangles)?;
        let bind = |root: Vec3| {
            let hit = search.closest(root);
            Self {
                triangle: hit.triangle as u32,
                barycentric: hit.barycentric,
                rest_frame: mesh.triangle_frame(hit.triangle),
                offset: root - hit.point,
            }
        };
        Ok(places.map(bind).collect())
    }

    /// The largest distance (m) between a root and the surface.
    pub fn farthest(roots: &[Self]) -> f32 {
        roots.iter().map(|root| root.offset.length()).fold(0.0, f32::max)
    }
}

impl Groom {
    /// Binds every root to the closest triangle of the body in its rest shape.
    ///
    /// Returns the largest distance (m) between a root and the surface, so that the caller can
    /// tell a groom that belongs to another body or comes in another unit.
    pub fn bind(&mut self, mesh: &TriangleMesh) -> Result<f32> {
        for (s, strand) in self.strands.iter().enumerate() {
            let root = strand.first().ok_or(Error::ShortStrand { strand: s, points: 0 })?;
            if !root.is_finite() {
                return Err(Error::NotFinite { strand: s, point: 0, what: "position" });
            }
        }
        self.roots = RootBinding::nearest(mesh, self.strands.iter().map(|strand| strand[0]))?;
        Ok(RootBinding::farthest(&self.roots))
    }
}
