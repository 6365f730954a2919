//! Copies of chains in rows of sixteen, for contacts. The velocities that they change are copied back.

use glam::Vec3;
use rayon::prelude::*;

use crate::contact::Samples;
use crate::groom::Groom;
use crate::math::LANES;
use crate::math::lanes::{self, VECTOR};
use crate::model::sample_rows::{ROWS_PER_TASK, SampleRows};

/// All particles in rows.
pub(super) struct Rows(SampleRows);

impl Rows {
    /// Rows for a groom whose points have these distances to their predecessors (m), 0 at roots.
    /// `pinned` are the points that the scalp carries.
    pub(super) fn new(groom: &Groom, length: &[f32], pinned: impl Iterator<Item = usize>) -> Self {
        let rows = length.len().div_ceil(LANES);
        let mut mass = vec![0.0; rows * LANES];
        let mut present = vec![0; rows];
        for (p, inner) in length.iter().enumerate() {
            // Assign half of each adjacent segment to a point.
            let outer = length.get(p + 1).unwrap_or(&0.0);
            mass[p] = 0.5 * (inner + outer) * groom.fibre.mass_per_length(groom.radius[p]);
            present[p / LANES] |= 1 << (p % LANES);
        }
        let mut free = present.clone();
        for p in pinned {
            free[p / LANES] &= !(1 << (p % LANES));
        }
        Self(SampleRows { mass, present, free, ..SampleRows::default() })
    }

    /// Copies positions (m) and velocities (m/s) in the groom's order.
    pub(super) fn fill(&mut self, position: &[Vec3], velocity: &[Vec3]) -> Samples<'_> {
        let rows = &mut self.0;
        let floats = rows.present.len() * VECTOR;
        for (to, from) in [(&mut rows.position, position), (&mut rows.velocity, velocity)] {
            to.resize(floats, 0.0);
            let tasks = to.par_chunks_mut(ROWS_PER_TASK * VECTOR);
            tasks.zip(from.par_chunks(ROWS_PER_TASK * LANES)).for_each(|(to, from)| {
                for (i, v) in from.iter().enumerate() {
                    lanes::set_lane(to, i / LANES, i % LANES, *v);
                }
            });
        }
        rows.lend()
    }

    /// Copies the velocities (m/s) back. Changes nothing without a previous [`Rows::fill`].
    pub(super) fn take_velocities(&self, velocity: &mut [Vec3]) {
        let tasks = velocity.par_chunks_mut(ROWS_PER_TASK * LANES);
        tasks.zip(self.0.velocity.par_chunks(ROWS_PER_TASK * VECTOR)).for_each(|(to, from)| {
            for (i, v) in to.iter_mut().enumerate() {
                *v = lanes::lane(from, i / LANES, i % LANES);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Lender;
    use crate::groom::{Fibre, Strands};
    use crate::model::chains::Chains;

    /// Two strands of 1 cm segments with 13 and 1200 points, so that the last row is not full and there is
    /// more than one task.
    fn groom() -> Groom {
        let mut strands = Strands::new();
        for points in [13, 1200] {
            let line: Vec<Vec3> = (0..points).map(|i| Vec3::X * (0.01 * i as f32)).collect();
            strands.push(&line);
        }
        let mut groom = Groom::new(strands, Fibre::default());
        groom.embedded[1] = 3;
        groom
    }

    #[test]
    fn total_mass_is_that_of_the_hair_and_roots_are_not_free() {
        let groom = groom();
        let mut chains = Chains::new(&groom, &1.0.into());
        let samples = chains.lend();
        let bits = |masks: &[u16]| masks.iter().map(|m| m.count_ones()).sum::<u32>();
        assert_eq!(samples.rows(), 76);
        assert_eq!((bits(samples.present), bits(samples.free)), (1213, 1213 - 1 - 3));
        assert_eq!((samples.free[0], samples.free[1]), (0x1ffe, 0xffff));
        let mass: f64 = samples.mass.iter().map(|m| f64::from(*m)).sum();
        let length = 0.01 * f64::from(12 + 1199);
        let truth = length * f64::from(groom.fibre.mass_per_length(groom.fibre.radius));
        assert!((mass / truth - 1.0).abs() < 1e-4, "{mass} {truth}");
        // Tips and roots have half the mass.
        assert!((samples.mass[12] / samples.mass[11] - 0.5).abs() < 1e-3);
        assert!((samples.mass[13] / samples.mass[14] - 0.5).abs() < 1e-3);
    }

    #[test]
    fn changed_velocities_are_copied_back_to_the_same_particles() {
        let mut chains = Chains::new(&groom(), &1.0.into());
        for (i, v) in chains.velocity.iter_mut().enumerate() {
            *v = Vec3::new(i as f32, -(i as f32), 0.5);
        }
        let (position, velocity) = (chains.position.clone(), chains.velocity.clone());
        let samples = chains.lend();
        for p in [0, 15, 16, 1023, 1024, 1212] {
            let at = |from: &[f32]| lanes::lane(from, p / LANES, p % LANES);
            assert_eq!(at(samples.position), position[p]);
            assert_eq!(at(samples.motion), velocity[p]);
            assert_eq!(at(samples.velocity), velocity[p]);
        }
        samples.velocity.iter_mut().for_each(|v| *v += 1.0);
        chains.take_back();
        for (after, before) in chains.velocity.iter().zip(&velocity) {
            assert_eq!(*after, *before + Vec3::ONE);
        }
        assert_eq!(chains.position, position);
    }
}
