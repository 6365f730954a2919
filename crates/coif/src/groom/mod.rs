//! Hair in its rest shape: strands, roots on the scalp, fibre material, strips, hair meshes.
//!
//! A groom never changes while it is simulated; a model copies what it needs into its own layout.

mod fibre;
pub mod hair_mesh;
mod pick;
mod resample;
mod roots;
mod strands;
pub mod strips;
pub(crate) mod validate;

pub use fibre::Fibre;
pub use hair_mesh::HairMesh;
pub use roots::RootBinding;
pub use strands::Strands;

use std::sync::Arc;

use glam::Vec3;

/// A head of hair or a coat of fur, in its rest shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Groom {
    /// Centre lines, root to tip.
    pub strands: Strands,
    /// Radius of the fibre at each point (m).
    pub radius: Vec<f32>,
    /// Colour at each point, linear RGB in 0..1, if the groom has one.
    pub color: Option<Vec<Vec3>>,
    /// Transparency at each point, 0 opaque to 1 invisible, if the groom has one.
    pub transparency: Option<Vec<f32>>,
    /// Number of points at the root end of each strand that move rigidly with the scalp (at least 1, the root).
    pub embedded: Vec<u32>,
    /// Root binding of each strand to the body; empty until [`Groom::bind`].
    pub roots: Vec<RootBinding>,
    /// Material of the hair.
    pub fibre: Fibre,
    /// The strips that the strands lie in, if the groom was made from strips.
    pub strips: Option<Box<strips::Strips>>,
    /// The volume that the strands grow in, if the groom was made from one.
    pub hair_mesh: Option<Arc<HairMesh>>,
}

impl Groom {
    /// A groom of these strands, with the fibre's radius everywhere and only the root embedded.
    pub fn new(strands: Strands, fibre: Fibre) -> Self {
        let (points, count) = (strands.point_count(), strands.strand_count());
        Self {
            strands,
            radius: vec![fibre.radius; points],
            color: None,
            transparency: None,
            embedded: vec![1; count],
            roots: Vec::new(),
            fibre,
            strips: None,
            hair_mesh: None,
        }
    }
}
