//! What carries and touches hair: an animated triangle mesh and the colliders that move with it.

mod closest;
mod mesh;

pub use closest::{ClosestTriangle, TriangleHit, closest_point_triangle};
pub use mesh::TriangleMesh;
