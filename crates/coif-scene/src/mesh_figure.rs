//! A mesh from a file as a figure, so that built-in styles grow on it too.
//!
//! Styles are written for the built-in bust: its size, its origin between the ears, its face along
//! +z. The mesh is scaled and moved so that its scalp lies where the bust's scalp is, the style
//! grows there, and the strands are carried back.

use std::sync::Arc;

use coif::body::{ClosestTriangle, Collider, TriangleMesh};
use coif::groom::Groom;
use coif::limits::MAX_GROOM_COORDINATE;
use glam::Vec3;

use crate::figure::Figure;
use crate::implicit::Implicit;
use crate::motion::Pivots;

/// Bounds of the bust's scalp (m).
const BUST_SCALP: (Vec3, Vec3) =
    (Vec3::new(-0.0756, -0.064, -0.1095), Vec3::new(0.0756, 0.1225, 0.09));

/// A mesh transformed to the bust's space.
pub(crate) struct FittedMesh {
    mesh: TriangleMesh,
    normals: Vec<Vec3>,
    scalp: Vec<bool>,
    /// Bust space = scale * mesh space + offset.
    scale: f32,
    offset: Vec3,
}

impl FittedMesh {
    /// `None` if the scalp has no extent.
    pub(crate) fn new(mesh: &TriangleMesh, scalp: &[u32]) -> Option<Self> {
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut is_scalp = vec![false; mesh.triangles.len()];
        for &t in scalp {
            *is_scalp.get_mut(t as usize)? = true;
            for p in mesh.corners(t as usize) {
                (lo, hi) = (lo.min(p), hi.max(p));
            }
        }
        let size = hi - lo;
        let wanted = BUST_SCALP.1 - BUST_SCALP.0;
        if !(size.is_finite() && size.x > 0.0) {
            return None;
        }
        // Match the width, and the top of the head.
        let scale = wanted.x / size.x;
        let middle = (lo + hi) * 0.5 * scale;
        let bust_middle = (BUST_SCALP.0 + BUST_SCALP.1) * 0.5;
        let offset = Vec3::new(
            bust_middle.x - middle.x,
            BUST_SCALP.1.y - hi.y * scale,
            bust_middle.z - middle.z,
        );
        let positions = mesh.positions.iter().map(|&p| p * scale + offset).collect();
        // Collapse parts too far away to be distinguished from hair in single precision: a sliver of a thousand
        // kilometres would make points coincide.
        let is_far = |v: u32| mesh.positions[v as usize].abs().max_element() > MAX_GROOM_COORDINATE;
        let near = mesh.triangles[*scalp.first()? as usize][0];
        let triangles = mesh.triangles.iter();
        let triangles =
            triangles.map(|t| if t.iter().any(|&v| is_far(v)) { [near; 3] } else { *t }).collect();
        let mesh = TriangleMesh { positions, triangles };
        let normals = mesh.vertex_normals();
        Some(Self { mesh, normals, scalp: is_scalp, scale, offset })
    }

    /// The mesh in the bust's space.
    pub(crate) fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Transforms a groom from the bust's space to that of the original mesh.
    pub(crate) fn carry_back(&self, groom: &mut Groom, mesh: &TriangleMesh) {
        for p in groom.strands.positions_mut() {
            *p = (*p - self.offset) / self.scale;
        }
        if let Some(strips) = groom.strips.as_deref_mut() {
            let edges = strips.edges.positions_mut().iter_mut();
            edges
                .chain(&mut strips.virtual_point)
                .for_each(|p| *p = (*p - self.offset) / self.scale);
            strips.width.iter_mut().for_each(|w| *w /= self.scale);
        }
        if let Some(mut hair_mesh) = groom.hair_mesh.take() {
            let volume = Arc::make_mut(&mut hair_mesh);
            for p in volume.columns.positions_mut() {
                *p = (*p - self.offset) / self.scale;
            }
            for root in &mut volume.roots {
                root.rest_frame = mesh.triangle_frame(root.triangle as usize);
                root.offset /= self.scale;
            }
            groom.hair_mesh = Some(hair_mesh);
        }
        for root in &mut groom.roots {
            root.rest_frame = mesh.triangle_frame(root.triangle as usize);
        }
    }

    /// The mesh as a figure; `None` if it has no triangles.
    pub(crate) fn figure(&self) -> Option<MeshFigure<'_>> {
        Some(MeshFigure { fitted: self, search: ClosestTriangle::new(&self.mesh)? })
    }
}

/// The fitted mesh as an implicit solid, evaluated at the closest triangle.
pub(crate) struct MeshFigure<'a> {
    fitted: &'a FittedMesh,
    search: ClosestTriangle<'a>,
}

impl MeshFigure<'_> {
    /// Distance with the sign given by the interpolated normal, and the direction outwards.
    fn signed(&self, p: Vec3) -> (f32, Vec3) {
        let hit = self.search.closest(p);
        let corners = self.fitted.mesh.triangles[hit.triangle];
        let normal = corners
            .iter()
            .zip(hit.barycentric)
            .map(|(&v, w)| self.fitted.normals[v as usize] * w)
            .sum::<Vec3>()
            .normalize_or(Vec3::Y);
        let from_surface = p - hit.point;
        let side = if from_surface.dot(normal) < 0.0 { -1.0 } else { 1.0 };
        (side * from_surface.length(), (from_surface * side).normalize_or(normal))
    }
}

impl Implicit for MeshFigure<'_> {
    fn value(&self, p: Vec3) -> f32 {
        self.signed(p).0
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        self.fitted.mesh.bounds().unwrap_or_default()
    }

    fn normal(&self, p: Vec3) -> Vec3 {
        self.signed(p).1
    }
}

impl Figure for MeshFigure<'_> {
    fn colliders(&self) -> Vec<Collider> {
        Vec::new()
    }

    fn pivots(&self) -> Pivots {
        Pivots { neck: Vec3::ZERO, head: Vec3::ZERO }
    }

    fn hair_density(&self, p: Vec3) -> f32 {
        f32::from(self.fitted.scalp[self.search.closest(p).triangle])
    }

    /// The file's value for the triangle: a search by position cannot distinguish triangles that share a corner.
    fn hair_density_on(&self, triangle: usize, _p: Vec3) -> f32 {
        f32::from(self.fitted.scalp[triangle])
    }

    fn color(&self, _p: Vec3, _hair: Vec3) -> Vec3 {
        Vec3::splat(0.5)
    }
}
