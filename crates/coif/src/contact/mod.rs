//! How hair touches hair: independent of how it moves (`cani2006` 2.3).
//!
//! A contact method sees [`Samples`], the particles of any model as they lie in memory, and adds to
//! their velocities; it knows nothing of strands, constraints or the body. It runs once per step,
//! after the model has moved the hair. Contact between single hairs ([`StrandContact`]) sees all points
//! in the groom's order instead, within the step of a model that couples strands ([`HairContact`]) or
//! after that of any other.
//!
//! Two velocities meet here. `motion` is how particles really moved over the last step; `velocity`
//! is what the next step starts from. They may differ, as where a velocity also carries the reaction
//! of a constraint (`muller2012` eq. 9) and is not zero for hair at rest. Contact measures with
//! `motion` and adds to `velocity`, so hair that does not move feels no friction.

mod detection;
mod hair_contact;
mod response;
pub mod strand_contact;
pub mod volume;

pub use detection::{crossing, pairs, segments};
pub use hair_contact::HairContact;
pub use response::spring::ContactSpring;
pub(crate) use response::spring::difference;
pub use response::{edge_collision, repulsion, stiction};
pub use strand_contact::StrandContact;

use crate::math::LANES;
use crate::math::lanes::VECTOR;

/// The particles of a model as they lie in memory: rows of sixteen, one strand per lane.
///
/// A row of vectors is 48 floats: sixteen x, sixteen y, sixteen z. Consecutive rows are consecutive
/// points of the same sixteen strands, and these grow next to each other.
#[derive(Debug)]
pub struct Samples<'a> {
    /// Where the particles are (m); rows of 48.
    pub position: &'a [f32],
    /// True velocities over the last step (m/s); rows of 48. Empty: `velocity` is true.
    pub motion: &'a [f32],
    /// What the next step starts from (m/s); rows of 48. Contact adds to it.
    pub velocity: &'a mut [f32],
    /// How much hair a particle stands for: its mass (kg), or the length of its share of the strand;
    /// rows of 16. Empty: all the same. With it, density does not depend on the number of points.
    pub mass: &'a [f32],
    /// Per row, a bit per lane that holds a particle.
    pub present: &'a [u16],
    /// Per row, a bit per lane whose particle may be moved. Roots are present, but not free.
    pub free: &'a [u16],
}

impl Samples<'_> {
    /// How many rows all arrays have.
    pub fn rows(&self) -> usize {
        let mut vectors = self.velocity.len() / VECTOR;
        if !self.motion.is_empty() {
            vectors = vectors.min(self.motion.len() / VECTOR);
        }
        rows(self.position, self.mass, self.present).min(vectors).min(self.free.len())
    }
}

/// How many rows these arrays have in common.
fn rows(position: &[f32], mass: &[f32], present: &[u16]) -> usize {
    let rows = (position.len() / VECTOR).min(present.len());
    if mass.is_empty() { rows } else { rows.min(mass.len() / LANES) }
}
