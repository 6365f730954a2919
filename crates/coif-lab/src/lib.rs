//! Benchmarks and validations of Coif; applications do not need them.
//!
//! [`mod@bench`] measures speed, each figure with a reference. [`validate`] compares physics with analytic results,
//! published figures and conserved quantities. Both are lists of named entries that return rows; the program prints
//! them: `coif bench`, `coif validate`.
//!
//! ```
//! let check = coif_lab::validate::ALL.iter().find(|check| check.name == "length");
//! let findings = check.expect("a check of that name").run()?;
//! assert!(findings.rows.iter().all(|row| row.pass));
//! # Ok::<(), coif_lab::Error>(())
//! ```

pub mod bench;
pub mod validate;

mod error;
mod shaken_mesh;

use std::path::Path;

use coif_scene::{Built, Scene, builtin};

pub use error::Error;

/// Parses a built-in scene with some changes, and builds it.
fn built_in(name: &str, sets: &[String]) -> Result<(Scene, Built), Error> {
    let scene = Scene::from_toml(builtin::text(name).unwrap_or_default(), name, sets)?;
    let built = coif_scene::build(&scene, Path::new("."))?;
    Ok((scene, built))
}
