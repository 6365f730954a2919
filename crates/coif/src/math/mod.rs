//! Frames and lanes: knows nothing about hair.

mod frames;
pub use frames::RigidTransform;
