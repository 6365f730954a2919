//! The view of the rows that contact of hair on hair reads and writes.

use glam::Vec3;

use super::FollowTheLeader;
use crate::contact::{Lender, Order, Samples};
use crate::math::lanes;

impl Lender for FollowTheLeader {
    fn lend(&mut self) -> Samples<'_> {
        Samples {
            position: &self.position,
            motion: &[],
            velocity: &mut self.velocity,
            mass: &self.mass,
            present: &self.present,
            free: &self.free,
            order: Order::ByLane(self.places.of_lines()),
        }
    }
}

impl FollowTheLeader {
    /// Adds to the particles' velocities (m/s), in the groom's order.
    pub fn add_velocities(&mut self, change: &[Vec3]) {
        for (s, &(row, lane)) in self.places.of_lines().iter().enumerate() {
            for (i, change) in change[self.places.points_of(s)].iter().enumerate() {
                let (row, lane) = (row as usize + i, lane.into());
                let v = lanes::lane(&self.velocity, row, lane);
                lanes::set_lane(&mut self.velocity, row, lane, v + *change);
            }
        }
    }
}
