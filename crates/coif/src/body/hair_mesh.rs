//! Hair meshes that are fitted to hair on a body, outside of it.

use glam::Vec3;

use super::Collider;
use crate::groom::hair_mesh::{FitReport, FitSettings};
use crate::groom::{Groom, HairMesh};
use crate::math::{ClosestTriangle, TriangleMesh};
use crate::{Error, Result};

/// Distance of vertices from the body (m).
const CLEARANCE: f32 = 1e-3;

impl HairMesh {
    /// [`HairMesh::fit`] to hair on a body in its rest shape: vertices other than roots are outside of its surface
    /// and of its colliders.
    pub fn fit_on(
        groom: &Groom,
        settings: &FitSettings,
        body: &TriangleMesh,
        colliders: &[Collider],
    ) -> Result<(Self, FitReport)> {
        let search = ClosestTriangle::new(body).ok_or(Error::NoTriangles)?;
        let normals = body.vertex_normals();
        let out = |p: Vec3| {
            let near = search.closest(p);
            let away = p - near.point;
            // Over a sharp edge, as of an ear, one of its triangles may face away; the mean normal does not.
            let corners = body.triangles[near.triangle].iter().zip(near.barycentric);
            let mean: Vec3 = corners.map(|(&v, weight)| normals[v as usize] * weight).sum();
            let mut p = p;
            if away.dot(mean) <= 0.0 || away.length() < CLEARANCE {
                let [a, b, c] = body.corners(near.triangle);
                p = near.point + (b - a).cross(c - a).normalize_or_zero() * CLEARANCE;
            }
            for collider in colliders {
                let place = collider.world_from_shape;
                let local = place.inverse().point(p);
                if collider.shape.contains(local) {
                    let surface = collider.shape.project_point(local);
                    p = place.point(surface.point + surface.normal * CLEARANCE);
                }
            }
            p
        };
        // The projection out of one collider may lead into another.
        Self::fit_outside(groom, settings, |mut p| {
            for _ in 0..3 {
                let before = p;
                p = out(p);
                if p == before {
                    break;
                }
            }
            p
        })
    }
}
