//! From what was simulated to every rendered hair.
//!
//! A method knows how hairs lie in the rest shape of what carries them, strips or a hair mesh, and takes them along when
//! that moves. It does not move anything by itself, and it is not part of a step: it runs when hair is shown
//! or written.

mod body_shapes;
mod growth;
pub mod hair_mesh;
pub mod strips;

pub use self::body_shapes::BodyShapes;
pub(crate) use self::growth::Growth;
