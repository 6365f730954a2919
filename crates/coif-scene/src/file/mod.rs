//! The scene file: TOML in, plain data out, errors that point at the line.
//!
//! One list of keys (`keys`), most of which are parameters of settings, is the only definition of what a scene file may
//! contain. The reader, the suggestions for misspelt keys, [`Scene::to_toml`] and [`reference()`] all go through
//! it, so they cannot disagree.
//!
//! ```
//! use coif_scene::file::{Motion, Scene};
//!
//! let sets = ["body.motion=spin".to_string()];
//! let scene = Scene::from_toml("[groom]\nstyle = 'bob'\n", "bob.toml", &sets).unwrap();
//! assert_eq!(scene.body.motion, Motion::Spin);
//! ```

pub mod builtin;

mod choices;
mod collider;
mod either;
mod error;
mod keys;
mod pin;
mod read;
mod scene;
mod schema;
mod set;
mod tree;
mod write;

pub use choices::{
    BodyShape, Collide, ColliderKind, FitTo, HairPreset, HairShadows, Motion, PLANNED_CONTACTS,
    PinTo, Resolution, Shading, Style, UpAxis, View,
};
pub use collider::{ColliderShape, ColliderSpec};
pub use error::{Place, Problem, SceneError};
pub use pin::PinSpec;
pub use scene::{
    Background, BodyFile, BodyScene, BodySource, BuiltInBody, Camera, FieldScene, GroomFile,
    GroomSource, GroomStyle, HairColor, HairMeshScene, RenderSettings, Scene, StripScene, Time,
};
pub use schema::{KeyInfo, Values};
pub use write::{keys, reference};
