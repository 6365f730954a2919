//! Scene files, and built-in heads, hairstyles and motions for Coif.
//!
//! Everything built in is made by code from fixed seeds: [`bust`] and [`creature`] are implicit
//! solids, meshed by [`surface_nets`].

pub mod bust;
pub mod creature;
pub mod figure;
pub mod file;
pub mod implicit;
pub mod motion;
pub mod surface_nets;

mod random;
mod roots;

pub use file::{Scene, SceneError, builtin};
