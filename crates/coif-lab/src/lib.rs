//! Benchmarks and validations: what shows that Coif is fast and true, and that users do not call.
//!
//! [`mod@bench`] measures speed, each figure beside a plain reference in the same run. [`validate`] compares
//! physics with analytic results, published figures and conserved quantities. Both are lists of named entries
//! that give rows; printing them is the work of the program: `coif bench`, `coif validate`.
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

/// A built-in scene, changed, and what is built from it.
fn built_in(name: &str, sets: &[String]) -> Result<(Scene, Built), Error> {
    let scene = Scene::from_toml(builtin::text(name).unwrap_or_default(), name, sets)?;
    let built = coif_scene::build(&scene, Path::new("."))?;
    Ok((scene, built))
}
