//! Strands whose tip follows the body as their root does (`ends = both`), in the two implicit passes: the tip is
//! [pinned](super::pins) to the place where the scalp under the root carries it, in the rest shape.
//!
//! Model: length and the body have priority over the place of the tip. A tip that the scalp carries into the body is held at the
//! surface; a tip that the strand does not reach is held as near as its length allows. Both are reported
//! ([`StepReport::ends`](crate::model::StepReport::ends)).
//! Source: `muller2012` figure 2 (d) and (e), of which the paper gives the averages of two passes only (`other_ends.rs`).
//! Deviations: one implicit solve with a constraint at each end takes the place of the average: lengths are exact, and style,
//! bending limit and friction act as with one end.

use glam::Vec3;

use super::Pass;
use super::block::Block;
use super::collider::Obstacles;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, lane};
use crate::model::{PinReport, PinTarget};

/// Distance (m) of a tip from its place that is reported: a tenth of a millimetre, more than the error of a pin in motion.
const OFF: f32 = 1e-4;

/// Relative tolerance of a strand's length: rounding of its points.
const ROUNDING: f32 = 2e-6;

impl Block {
    /// Position of a lane's tip in a step: where the scalp carries it, outside of the body and within the length of the strand.
    pub(super) fn tip_target(&self, l: usize, pass: &Pass, obstacles: &Obstacles<'_>) -> PinTarget {
        let tip = self.last[l] as usize;
        let rest = lane(&self.rest, tip, l);
        let (start, place) = (carry(&self.root_before, l, rest), carry(&self.root, l, rest));
        // Leave the body; hair that began inside gradually.
        let mut push = obstacles.push_out(place) - place;
        if self.began_inside {
            let allowed = self.depth[tip * LANES + l] * pass.still_inside;
            push = push.clamp_length_max((push.length() - allowed).max(0.0));
        }
        // Stay within reach of the last point that the scalp carries.
        let first = self.last_embedded[l] as usize;
        let root = carry(&self.root, l, lane(&self.rest, first, l));
        let reach: f32 = (first + 1..=tip).map(|i| self.length_of(i, l)).sum();
        let path = place + push - root;
        let distance = path.length();
        let within = if distance > reach * (1.0 + ROUNDING) { reach / distance } else { 1.0 };
        let correction = push + path * (within - 1.0);
        // Its velocity is that of the scalp, also where it is held elsewhere.
        let [start, end] = [start, place].map(|p| p + correction);
        PinTarget { strand: self.strands[l], point: tip as u32, start, end }
    }

    /// Report of the tips after a step.
    pub(super) fn report_tips(&self, position: &[f32]) -> PinReport {
        let mut report = PinReport::default();
        for l in 0..self.lanes {
            let tip = self.last[l] as usize;
            let place = carry(&self.root, l, lane(&self.rest, tip, l));
            report.add(self.strands[l], lane(position, tip, l).distance(place), OFF);
        }
        report
    }
}

/// A point of the rest shape, carried by the scalp.
fn carry(world_from_rest: &[[f32; VECTOR]; 4], l: usize, p: Vec3) -> Vec3 {
    let [x, y, z, translation] = [0, 1, 2, 3].map(|k| lane(&world_from_rest[k], 0, l));
    x * p.x + y * p.y + z * p.z + translation
}
