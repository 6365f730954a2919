//! Detection of segments that are near each other, independent of the response.
//!
//! The broad phase is a choice ([`broad_phase`]): a tree of capsules over all segments (`tree`), or a uniform grid with
//! mailboxes (`grid`). `pairs` keeps its result while hair moves little, and is the input of the responses. The narrow
//! phase is the closest points of two segments (`segments`) and the time of impact of two moving ones (`crossing`);
//! `culling` leaves out most pairs, sixteen at a time, before these exact computations.

pub mod broad_phase;
pub mod crossing;
pub(super) mod culling;
mod found;
mod grid;
mod lines;
pub mod pairs;
pub mod segments;
mod tree;
