//! Frames, lanes, triangles, rigid fits, linear solvers, random numbers and space-filling order: independent of hair.

pub mod banded;
mod bits;
pub mod bytes;
pub(crate) mod cache;
pub(crate) mod close_chain;
mod closest_triangle;
mod conjugate_gradient;
pub mod dense;
mod fit;
mod frames;
pub(crate) mod group;
mod hash;
pub(crate) mod hermite;
pub(crate) mod lane_layout;
pub(crate) mod lanes;
pub(crate) mod lines;
mod morton;
pub(crate) mod on_sphere;
pub(crate) mod pose_lanes;
pub(crate) mod random;
pub(crate) mod sparse;
pub(crate) mod symmetric;
pub(crate) mod tangent;
mod triangle_mesh;
pub(crate) mod unit_ball;

pub(crate) use bits::Bits;
pub use closest_triangle::{ClosestTriangle, TriangleHit, closest_point_triangle};
pub use conjugate_gradient::SolveReport;
pub(crate) use conjugate_gradient::conjugate_gradient;
pub(crate) use fit::fit_rigid;
pub use frames::{RigidTransform, WorldTransform};
pub use hash::hash_positions;
pub use lanes::LANES;
pub use morton::morton_code;
pub use random::Random;
pub use triangle_mesh::TriangleMesh;
pub(crate) use triangle_mesh::{has_frame, triangle_frame};

#[cfg(test)]
pub(crate) mod testing {
    use glam::Vec3;
    use proptest::prelude::*;

    /// A vector in the cube from `-size` to `size`.
    pub(crate) fn vec3(size: f32) -> impl Strategy<Value = Vec3> {
        (-size..size, -size..size, -size..size).prop_map(Vec3::from)
    }
}
