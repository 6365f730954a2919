//! Scene files and built-in heads, hairstyles and motions for Coif.

pub mod file;

pub use file::{Scene, SceneError, builtin};
