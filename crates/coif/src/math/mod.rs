//! Frames, lanes, rigid fits and space-filling order: knows nothing about hair.

mod fit;
mod frames;
pub(crate) mod lanes;
mod morton;

pub use fit::fit_rigid;
pub use frames::RigidTransform;
pub use lanes::LANES;
pub(crate) use morton::morton_code;
