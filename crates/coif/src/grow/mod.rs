//! From simulated primitives to every rendered strand.
//!
//! A method binds strands to their carrier, strips or a hair mesh, in the rest shape, and places them where the carrier
//! has moved. It has no dynamics: it runs when a frame is shown or written.

mod body_shapes;
mod growth;
pub mod hair_mesh;
pub mod strips;

pub use self::body_shapes::BodyShapes;
pub(crate) use self::growth::Growth;
