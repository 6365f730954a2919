//! Hair inside a hair mesh: every hair keeps its place in its bundle, whatever the mesh does.
//!
//! A place is a bundle, a point of its polygon (a weight per column) and a parameter along its layers.
//! Columns are smooth curves through their vertices, so a line of places is smooth along the length and
//! borders on its neighbours across the faces of bundles. What a hair has beside its place (curl, frizz, all
//! that a groom does inside) is an offset in a frame that turns with the mesh. A mesh stretches, hair does
//! not: segments keep their length (`lay.rs`).
//!
//! Strands are carried sixteen at a time: `blocks.rs` has their places in lanes, `curve.rs` finds where the
//! mesh would have them, `lay_lanes.rs` lays them there, out of the body as `around.rs` knows it. [`plain`] does the
//! same point by point.
//!
//! [`scatter`] and [`Growth`] make hair in the rest shape; [`Binding`] carries any hair along. The
//! vertices come from a model.

mod around;
mod binding;
mod blocks;
mod curve;
mod inside;
mod lay;
mod lay_lanes;
mod place;
pub mod plain;
mod scatter;
mod style;

pub(crate) use around::BodyAround;
pub use binding::Binding;
pub(crate) use binding::MeshState;
pub use scatter::{RootPlace, scatter};
pub use style::{Growth, Styling};

#[cfg(test)]
mod tests;
