//! Errors of benchmarks and validations.

use thiserror::Error;

/// The reason why a benchmark or a check did not finish.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refuses a groom, a parameter or a number of threads.
    #[error(transparent)]
    Core(#[from] coif::Error),
    /// The text of a scene is invalid.
    #[error(transparent)]
    Scene(#[from] coif_scene::SceneError),
    /// A scene cannot be built.
    #[error(transparent)]
    Build(#[from] coif_scene::BuildError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    Render(#[from] coif_render::Error),
    /// A built-in scene has another model than the expected one.
    #[error("{scene} is not of model {model}")]
    WrongModel {
        /// The name of the scene.
        scene: &'static str,
        /// The expected model.
        model: &'static str,
    },
}
