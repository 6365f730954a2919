//! Which segments are near each other: the broad phase is a tree of capsules over all segments (`pairs`), the narrow
//! phase the closest points of two segments (`segments.rs`) and the time of impact of two moving ones (`crossing.rs`).
//! `culling.rs` leaves out most pairs, sixteen at a time, before the exact computations. Knows no response.

pub mod crossing;
pub(super) mod culling;
pub mod pairs;
pub mod segments;
