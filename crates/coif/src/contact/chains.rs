//! The input of contact: chains of points, and their state.
//!
//! [`Chains`] is constant: the points of each chain, their masses, and the radii of the segments between them.
//! [`Samples`] is the state, in the model's memory layout. Contacts have no other access to a model.

use glam::Vec3;

use crate::groom::Groom;
use crate::math::LANES;
use crate::math::lanes::{self, VECTOR};

/// Chains of points that contacts act on, stored one after the other, each from root to tip.
#[derive(Debug, Clone, Default)]
pub struct Chains {
    /// First point of each chain, and the number of points at the end.
    first_point: Vec<u32>,
    /// Per point: its mass (kg).
    mass: Vec<f32>,
    /// Per point: whether it moves with the body, so that impulses do not act on it.
    pinned: Vec<bool>,
    /// Per point: distance from the root along the chain at rest (m).
    arc_length: Vec<f32>,
    /// Per point: radius (m) of the segment that starts there; 0 at tips.
    radius: Vec<f32>,
}

/// A place on a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Which chain.
    pub chain: u32,
    /// Distance from its root along the chain at rest (m).
    pub arc_length: f32,
}

impl Chains {
    /// The strands of a valid groom as chains, for a model that has a particle per point. A point has half the mass
    /// of each adjacent segment.
    pub fn of_strands(groom: &Groom) -> Self {
        let strands = &groom.strands;
        let mut chains = Self { first_point: strands.first_points().to_vec(), ..Self::default() };
        for (s, line) in strands.iter().enumerate() {
            let first = strands.points_of(s).start;
            let radius = |i: usize| 0.5 * (groom.radius[first + i] + groom.radius[first + i + 1]);
            let half = |i: usize| -> f32 {
                0.5 * line[i].distance(line[i + 1]) * groom.fibre.mass_per_length(radius(i))
            };
            let mut arc_length = 0.0;
            for i in 0..line.len() {
                let is_tip = i + 1 == line.len();
                let before = if i > 0 { half(i - 1) } else { 0.0 };
                let after = if is_tip { 0.0 } else { half(i) };
                arc_length += if i > 0 { line[i - 1].distance(line[i]) } else { 0.0 };
                chains.mass.push(before + after);
                chains.pinned.push(i < groom.embedded[s].max(1) as usize);
                chains.arc_length.push(arc_length);
                chains.radius.push(if is_tip { 0.0 } else { radius(i) });
            }
        }
        chains
    }

    /// Number of chains.
    pub fn count(&self) -> usize {
        self.first_point.len().saturating_sub(1)
    }

    /// Number of points of all chains.
    pub fn points(&self) -> usize {
        self.mass.len()
    }

    /// The points of a chain.
    pub fn points_of(&self, chain: usize) -> std::ops::Range<usize> {
        self.first_point[chain] as usize..self.first_point[chain + 1] as usize
    }

    /// Mass of each point (kg).
    pub fn mass(&self) -> &[f32] {
        &self.mass
    }

    /// Which points move with the body, so that impulses do not act on them.
    pub fn pinned(&self) -> &[bool] {
        &self.pinned
    }

    /// Distance of each point from its root along the chain at rest (m).
    pub fn arc_length(&self) -> &[f32] {
        &self.arc_length
    }

    /// Radius (m) of the segment that starts at each point; 0 at tips.
    pub fn radius(&self) -> &[f32] {
        &self.radius
    }
}

/// The particles of a model in its memory layout: rows of sixteen lanes.
///
/// A row of vectors is 48 floats: sixteen x, sixteen y, sixteen z. Neighbours in memory are near each other: either a
/// lane holds one strand and consecutive rows its consecutive points, or a row holds sixteen consecutive points.
#[derive(Debug)]
pub struct Samples<'a> {
    /// Positions of the particles (m); rows of 48.
    pub position: &'a [f32],
    /// Displacements in the last step over its length (m/s); rows of 48. Empty if they are equal to `velocity`.
    pub motion: &'a [f32],
    /// The velocities that the next step starts with (m/s); rows of 48. Contacts add to them.
    pub velocity: &'a mut [f32],
    /// Weight of a particle: its mass (kg), or the length of strand that it stands for;
    /// rows of 16. Empty if all are equal. With weights, density does not depend on the number of points.
    pub mass: &'a [f32],
    /// Per row, a bit per lane that holds a particle.
    pub present: &'a [u16],
    /// Per row, a bit per lane whose particle may be moved. Roots are present, but not free.
    pub free: &'a [u16],
    /// Places of the points of the chains.
    pub order: Order<'a>,
}

/// Places of the points of [`Chains`] in rows of lanes.
#[derive(Debug, Clone, Copy)]
pub enum Order<'a> {
    /// Sixteen consecutive points per row.
    ByPoint,
    /// A chain in each lane: its first row and its lane, per chain.
    ByLane(&'a [(u32, u8)]),
}

impl Order<'_> {
    /// Calls `visit` for each point of the chains with its row and lane.
    fn each(self, chains: &Chains, mut visit: impl FnMut(usize, usize, usize)) {
        match self {
            Self::ByPoint => {
                (0..chains.points()).for_each(|point| visit(point, point / LANES, point % LANES));
            }
            Self::ByLane(place) => {
                for (chain, &(row, lane)) in place.iter().enumerate().take(chains.count()) {
                    for (i, point) in chains.points_of(chain).enumerate() {
                        visit(point, row as usize + i, lane.into());
                    }
                }
            }
        }
    }
}

impl Samples<'_> {
    /// Number of rows that all arrays have.
    pub fn rows(&self) -> usize {
        let mut vectors = self.velocity.len() / VECTOR;
        if !self.motion.is_empty() {
            vectors = vectors.min(self.motion.len() / VECTOR);
        }
        rows(self.position, self.mass, self.present).min(vectors).min(self.free.len())
    }

    /// Copies the state of all points of the chains, in their order: positions (m) and velocities (m/s).
    pub fn gather(&self, chains: &Chains, position: &mut [Vec3], velocity: &mut [Vec3]) {
        self.order.each(chains, |point, row, lane| {
            position[point] = lanes::lane(self.position, row, lane);
            velocity[point] = lanes::lane(self.velocity, row, lane);
        });
    }

    /// Adds to the velocities of all points of the chains (m/s), in their order.
    pub fn add_velocities(&mut self, chains: &Chains, change: &[Vec3]) {
        let velocity = &mut *self.velocity;
        self.order.each(chains, |point, row, lane| {
            let v = lanes::lane(velocity, row, lane);
            lanes::set_lane(velocity, row, lane, v + change[point]);
        });
    }
}

/// Number of rows that all of these arrays have.
pub(super) fn rows(position: &[f32], mass: &[f32], present: &[u16]) -> usize {
    let rows = (position.len() / VECTOR).min(present.len());
    if mass.is_empty() { rows } else { rows.min(mass.len() / LANES) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::{Fibre, Strands};

    fn groom() -> Groom {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::X * 0.01, Vec3::X * 0.03, Vec3::X * 0.04]);
        strands.push(&[Vec3::Y, Vec3::Y * 1.02]);
        let mut groom = Groom::new(strands, Fibre::default());
        groom.embedded[0] = 2;
        groom.radius[2] *= 0.5;
        groom
    }

    #[test]
    fn strands_are_chains_with_mass_arc_length_and_radius() {
        let groom = groom();
        let chains = Chains::of_strands(&groom);
        assert_eq!((chains.count(), chains.points(), chains.points_of(1)), (2, 6, 4..6));
        assert_eq!(chains.pinned(), [true, true, false, false, true, false]);
        let (r, near) = (groom.fibre.radius, |a: f32, b: f32| (a - b).abs() < 1e-6 * b.max(1e-3));
        for (found, truth) in chains.radius().iter().zip([1.0, 0.75, 0.75, 0.0, 1.0, 0.0]) {
            assert!(near(*found, truth * r), "{found} {truth}");
        }
        for (found, truth) in chains.arc_length().iter().zip([0.0, 0.01, 0.03, 0.04, 0.0, 0.02]) {
            assert!(near(*found, truth), "{found} {truth}");
        }
        // The total mass of the points is that of the segments.
        let weight = |r: f32, length: f32| groom.fibre.mass_per_length(r) * length;
        let truth = weight(r, 0.01) + weight(0.75 * r, 0.03) + weight(r, 0.02);
        assert!((chains.mass().iter().sum::<f32>() / truth - 1.0).abs() < 1e-5);
    }

    /// Both orders of rows read and write the same points.
    #[test]
    fn points_are_read_and_written_in_the_order_of_the_chains() {
        let chains = Chains::of_strands(&groom());
        // Two chains in lanes 3 and 7, the second from row 2.
        let place = [(0, 3), (2, 7)];
        for order in [Order::ByPoint, Order::ByLane(&place)] {
            let rows = 4;
            let mut position = vec![0.0; rows * VECTOR];
            let mut velocity = vec![0.0; rows * VECTOR];
            order.each(&chains, |point, row, lane| {
                lanes::set_lane(&mut position, row, lane, Vec3::splat(point as f32));
                lanes::set_lane(&mut velocity, row, lane, Vec3::splat(-(point as f32)));
            });
            let mut samples = Samples {
                position: &position,
                motion: &[],
                velocity: &mut velocity,
                mass: &[],
                present: &[],
                free: &[],
                order,
            };
            let change: Vec<Vec3> = (0..6).map(|p| Vec3::X * p as f32).collect();
            samples.add_velocities(&chains, &change);
            let (mut x, mut v) = ([Vec3::ZERO; 6], [Vec3::ZERO; 6]);
            samples.gather(&chains, &mut x, &mut v);
            for point in 0..6 {
                let p = point as f32;
                assert_eq!((x[point], v[point]), (Vec3::splat(p), Vec3::new(0.0, -p, -p)));
            }
        }
    }
}
