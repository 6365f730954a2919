//! `[[groom.pin]]`: points of strands that are pinned to bones of the body.

use std::ops::Range;

use coif::parameters;

use super::choices::PinTo;
use super::error::Problem;

parameters! {
    /// Points of strands that are pinned, one of each strand.
    pub struct PinSpec of "pin" {
        /// The strands, counted from 0: "all", one ("7"), or a range ("10-19").
        strands: String = "all".into();
        /// Place of the point from 0 at the root to 1 at the tip, by length: the nearest point that the scalp does not carry.
        point: f32 = 1.0, "", 0.0..=1.0;
        /// The bone that it is pinned to, at its place in the rest shape. A body from a file has the bones ground and head
        /// (the whole body); a sequence of meshes has the ground only.
        to: PinTo = PinTo::default();
    }
}

impl PinSpec {
    /// The strands of so many; `None` if they are not written as described.
    pub fn strands_of(&self, count: usize) -> Option<Range<usize>> {
        let text = self.strands.trim();
        if text == "all" {
            return Some(0..count);
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some(first as usize..last as usize + 1)
    }

    /// Checks the strands; returns the key to point at.
    pub(crate) fn check(&self) -> Result<(), (&'static str, Problem)> {
        if self.strands_of(0).is_some() {
            return Ok(());
        }
        let (key, table) = ("strands".into(), "in [[groom.pin]]".into());
        let value = format!("'{}'", super::error::quoted(&self.strands));
        let allowed = "'all', one strand such as '7', or a range such as '10-19'".into();
        Err(("strands", Problem::OutOfRange { key, table, value, allowed }))
    }
}
