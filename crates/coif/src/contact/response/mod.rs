//! Responses of hairs that are near each other: stiction springs (`stiction.rs`), repulsion with Coulomb friction
//! (`repulsion.rs`), impulses of continuous collision detection (`edge_collision.rs`). All work over the pairs of
//! `detection`; `impulses.rs` distributes the changes of velocity over the points.

pub mod edge_collision;
mod impulses;
pub mod repulsion;
pub(super) mod spring;
pub mod stiction;
