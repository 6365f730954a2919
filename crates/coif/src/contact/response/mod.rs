//! Responses of hairs that are near each other: stiction springs (`stiction.rs`), repulsion with Coulomb friction
//! (`repulsion.rs`), impulses of continuous collision detection (`edge_collision.rs`). All use the pairs of
//! `detection`; `impulses.rs` applies their impulses to the points.

pub mod edge_collision;
mod impulses;
pub mod repulsion;
pub(super) mod spring;
pub mod stiction;
