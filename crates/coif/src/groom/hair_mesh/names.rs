//! Names of the elements of a hair mesh in error messages: numbers, or places in a file.

use super::HairMesh;

/// Names of the source vertices and polygons of a hair mesh.
pub trait Names {
    /// A vertex, for instance `vertex 5 (line 7)`.
    fn vertex(&self, vertex: u32) -> String;
    /// A polygon, for instance `the polygon in line 30`.
    fn polygon(&self, polygon: usize) -> String;
}

/// Names that are numbers, counted from 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountedFromZero;

impl Names for CountedFromZero {
    fn vertex(&self, vertex: u32) -> String {
        format!("vertex {vertex}")
    }

    fn polygon(&self, polygon: usize) -> String {
        format!("polygon {polygon}")
    }
}

/// Names of the elements of a hair mesh itself.
pub(super) trait ElementNames {
    fn column(&self, column: u32) -> String;
    fn level(&self, column: u32, level: u32) -> String;
    fn bundle(&self, bundle: usize) -> String;
    fn layer(&self, bundle: usize, layer: u32) -> String;
    fn root_edge(&self, columns: [u32; 2]) -> String;
}

impl ElementNames for CountedFromZero {
    fn column(&self, column: u32) -> String {
        format!("column {column}")
    }

    fn level(&self, column: u32, level: u32) -> String {
        format!("column {column}, level {level}")
    }

    fn bundle(&self, bundle: usize) -> String {
        format!("bundle {bundle}")
    }

    fn layer(&self, bundle: usize, layer: u32) -> String {
        format!("bundle {bundle}, layer {layer}")
    }

    fn root_edge(&self, [a, b]: [u32; 2]) -> String {
        format!("root edge between columns {a} and {b}")
    }
}

/// Names of the elements of a mesh by their source vertices and polygons.
pub(super) struct Traced<'a> {
    pub(super) names: &'a dyn Names,
    pub(super) mesh: &'a HairMesh,
    /// Per vertex of the mesh: its source.
    pub(super) vertices: &'a [u32],
    /// Per bundle: its root polygon.
    pub(super) roots: &'a [usize],
}

impl ElementNames for Traced<'_> {
    fn column(&self, column: u32) -> String {
        format!("the column over {}", self.level(column, 0))
    }

    fn level(&self, column: u32, level: u32) -> String {
        self.names.vertex(self.vertices[self.mesh.vertex(column, level) as usize])
    }

    fn bundle(&self, bundle: usize) -> String {
        format!("the bundle over {}", self.names.polygon(self.roots[bundle]))
    }

    fn layer(&self, bundle: usize, layer: u32) -> String {
        format!("layer {} of {}", layer + 1, self.bundle(bundle))
    }

    fn root_edge(&self, columns: [u32; 2]) -> String {
        let [a, b] = columns.map(|c| self.level(c, 0));
        format!("the root edge between {a} and {b}")
    }
}
