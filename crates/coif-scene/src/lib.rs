//! Scene files, and built-in heads, hairstyles and motions for Coif.
//!
//! Everything built in is made by code from fixed seeds: [`bust`], [`girl`], [`creature`],
//! [`monster`] and [`hound`] are implicit solids, meshed by [`surface_nets`].

mod body_file;
mod build;
pub mod bust;
pub mod creature;
pub mod figure;
pub mod file;
pub mod girl;
pub mod hair_mesh;
pub mod hound;
pub mod implicit;
pub mod lens;
pub mod monster;
pub mod motion;
mod pins;
pub mod surface_nets;

mod lattice;
mod mesh_figure;
mod neck;
mod parts;
mod placing;
mod random;
mod roots;
mod skeleton;
pub mod style;
mod suggestion;

pub use build::{BuildError, Built, build};
pub use file::{Scene, SceneError, builtin};
pub use placing::{Fit, Placement, Similarity, Snapped};
pub use suggestion::suggestion;
