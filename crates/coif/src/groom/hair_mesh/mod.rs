//! A volume of hair as layers of polygons over the scalp: columns of vertices, and bundles between them.
//!
//! A column is a chain of vertices over one root vertex. A bundle is the volume over one root polygon:
//! a stack of prisms between three or four columns. Adjacent bundles share columns; where they may
//! separate they have columns of their own that coincide at rest, which is a seam. A model moves the vertices;
//! [`crate::grow`] places strands inside.
//! Source: `wu2016` section 3; the structure is that of `yuksel2009`.

mod block;
mod bundle;
mod cut;
mod fit;
mod frames;
mod from_polygons;
mod locate;
mod names;
pub(crate) mod polygon;
mod search;
mod topology;
mod tubes;
mod untangle;
mod validate;

pub use bundle::{Bundle, Prism, tetrahedron_volume};
pub use fit::{FitReport, FitSettings};
pub use frames::{Frame, Frames};
pub use from_polygons::{Polygons, Walked};
pub use names::{CountedFromZero, Names};
pub(crate) use search::{Found, Search};
pub use topology::{Cap, Exposure, Side, SideKind, Topology};

use glam::Vec3;

use super::{RootBinding, Strands};
use crate::math::TriangleMesh;
use crate::{Error, Result};

/// Hair as a volume, in its rest shape.
///
/// Vertex `k` of a column is on level `k`; level 0 is on the scalp. Layer `k` of a bundle lies between
/// the levels `k` and `k + 1`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HairMesh {
    /// The columns: chains of vertices, root to tip (m). A column is as long as its longest bundle.
    pub columns: Strands,
    /// The bundles, one per root polygon.
    pub bundles: Vec<Bundle>,
    /// The seams along which bundles may separate.
    pub seams: Vec<Seam>,
    /// Root binding of each column to the body; empty until [`HairMesh::bind`].
    pub roots: Vec<RootBinding>,
}

/// Two columns that coincide at rest and may separate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seam {
    /// The two columns.
    pub columns: [u32; 2],
    /// The first level on which they may separate; on the levels below they stay together. At least 1, because
    /// roots are fixed to the scalp.
    pub first_level: u32,
}

impl HairMesh {
    /// Number of vertices of all columns.
    pub fn vertex_count(&self) -> usize {
        self.columns.point_count()
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.strand_count()
    }

    /// Number of prisms of all bundles.
    pub fn prism_count(&self) -> usize {
        self.bundles.iter().map(|b| b.layers as usize).sum()
    }

    /// Rest positions of all vertices, column after column (m).
    pub fn positions(&self) -> &[Vec3] {
        self.columns.positions()
    }

    /// Index of the vertex of a column on a level.
    pub fn vertex(&self, column: u32, level: u32) -> u32 {
        self.columns.first_points()[column as usize] + level
    }

    /// Column and level of a vertex.
    pub fn locate(&self, vertex: usize) -> (usize, usize) {
        self.columns.locate(vertex)
    }

    /// The prism of a bundle in a layer.
    pub fn prism(&self, bundle: usize, layer: u32) -> Prism {
        let b = &self.bundles[bundle];
        let level = |k| {
            let mut vertices = [0; 4];
            for (v, &c) in vertices.iter_mut().zip(b.columns()) {
                *v = self.vertex(c, k);
            }
            vertices
        };
        Prism::new(b.corners(), level(layer), level(layer + 1))
    }

    /// All prisms, bundle after bundle, root to tip.
    pub fn prisms(&self) -> impl Iterator<Item = Prism> + '_ {
        self.bundles
            .iter()
            .enumerate()
            .flat_map(move |(b, bundle)| (0..bundle.layers).map(move |k| self.prism(b, k)))
    }

    /// The root polygons as triangles over the columns' roots (vertex `c` is the root of column `c`), and
    /// the bundle of each. A quad is split into two.
    pub(crate) fn root_triangles(&self) -> (TriangleMesh, Vec<u32>) {
        let positions = self.columns.iter().map(|c| c.first().copied().unwrap_or_default());
        let mut mesh = TriangleMesh { positions: positions.collect(), triangles: Vec::new() };
        let mut bundle_of = Vec::new();
        for (b, bundle) in self.bundles.iter().enumerate() {
            let c = bundle.columns();
            for i in 2..c.len() {
                mesh.triangles.push([c[0], c[i - 1], c[i]]);
                bundle_of.push(b as u32);
            }
        }
        (mesh, bundle_of)
    }

    /// Binds the root of every column to the closest triangle of the body in its rest shape, as
    /// [`super::Groom::bind`] does for strands. Returns the largest distance (m) between a root and the
    /// surface.
    pub fn bind(&mut self, mesh: &TriangleMesh) -> Result<f32> {
        for (c, column) in self.columns.iter().enumerate() {
            let root = column.first().ok_or_else(|| wrong(format!("column {c}"), "is empty"))?;
            if !root.is_finite() {
                return Err(wrong(format!("column {c}, level 0"), "is not finite"));
            }
        }
        self.roots = RootBinding::nearest(mesh, self.columns.iter().map(|column| column[0]))?;
        Ok(RootBinding::farthest(&self.roots))
    }
}

/// The error for an element of a hair mesh.
fn wrong(element: String, problem: impl Into<String>) -> Error {
    Error::HairMesh { element, problem: problem.into() }
}
