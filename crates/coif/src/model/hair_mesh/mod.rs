//! Hair meshes.

mod assemble;
mod collide;
pub mod condition;
mod dynamics;
mod elements;
pub mod matrix;
pub mod precondition;
mod measure;
mod minimise;
mod obstacles;
mod seams;
mod self_contact;
mod settings;
pub mod solve;
#[cfg(test)]
mod trial;

pub use dynamics::{MeshDynamics, MeshEnvironment, MeshReport, MeshTimes};
pub use measure::MeshMeasure;
pub use settings::Settings;

/// The word that chooses this model.
pub const NAME: &str = "hair-mesh";
