//! What carries and touches hair: an animated triangle mesh and the colliders that move with it.

mod animation;
mod closest;
mod collider;
pub mod distance_field;
mod ellipsoid;
pub mod level_set_time;
mod mesh;

pub use animation::{Body, BoneWeights, Motion, Still};
pub use closest::{ClosestTriangle, TriangleHit, closest_point_triangle};
pub use collider::{
    Collider, MovingCollider, Shape, SurfacePoint, project_point_capsule, project_point_plane,
    project_point_sphere,
};
pub use ellipsoid::project_point_ellipsoid;
pub use mesh::TriangleMesh;
pub(crate) use mesh::triangle_frame;
