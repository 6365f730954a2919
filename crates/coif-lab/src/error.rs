use thiserror::Error;

/// Why a benchmark or a check did not finish.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The core refuses a groom, a parameter or a number of threads.
    #[error(transparent)]
    Core(#[from] coif::Error),
    /// The text of a scene is wrong.
    #[error(transparent)]
    Scene(#[from] coif_scene::SceneError),
    /// A scene cannot be built.
    #[error(transparent)]
    Build(#[from] coif_scene::BuildError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    Render(#[from] coif_render::Error),
    /// A built-in scene has another model than the one that is checked.
    #[error("{scene} is not of model {model}")]
    WrongModel {
        /// The scene's name.
        scene: &'static str,
        /// The model that it should have.
        model: &'static str,
    },
}
