//! What carries hair and what it collides with: an animated triangle mesh and the colliders that move with it.

mod animation;
mod collider;
pub mod distance_field;
mod ellipsoid;
mod hair_mesh;
pub mod level_set_time;
mod pose;

pub use crate::math::{ClosestTriangle, TriangleHit, TriangleMesh, closest_point_triangle};
pub(crate) use animation::BodyPose;
pub use animation::{Body, BoneWeights, Motion, Still};
pub use collider::{
    Collider, MovingCollider, Shape, SurfacePoint, project_point_capsule, project_point_plane,
    project_point_sphere,
};
pub use ellipsoid::project_point_ellipsoid;
pub(crate) use pose::PoseKeys;
pub use pose::{BonePose, Pose};
