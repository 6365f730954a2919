//! The state of a block during a step, which may be solved twice (`articulated/`).

use super::resting::MEMORY;
use crate::math::LANES;
use crate::math::lanes::VECTOR;

/// Numbers of the state of a row.
pub(super) const STATE: usize = 2 * VECTOR + LANES + MEMORY;

/// The state of all rows of a block.
pub(super) struct State<'a> {
    pub(super) position: &'a mut [[f32; VECTOR]],
    pub(super) velocity: &'a mut [[f32; VECTOR]],
    pub(super) tension: &'a mut [[f32; LANES]],
    pub(super) contact: &'a mut [[f32; MEMORY]],
}

impl<'a> State<'a> {
    pub(super) fn in_room(room: &'a mut [f32], points: usize) -> Self {
        let (position, room) = room.split_at_mut(points * VECTOR);
        let (velocity, room) = room.split_at_mut(points * VECTOR);
        let (tension, contact) = room.split_at_mut(points * LANES);
        Self {
            position: position.as_chunks_mut().0,
            velocity: velocity.as_chunks_mut().0,
            tension: tension.as_chunks_mut().0,
            contact: contact.as_chunks_mut().0,
        }
    }

    /// Copies all but contacts.
    #[inline(always)]
    pub(super) fn copy_motion(&mut self, from: &Self) {
        self.position.copy_from_slice(from.position);
        self.velocity.copy_from_slice(from.velocity);
        self.tension.copy_from_slice(from.tension);
    }

    /// Puts back what a first solve has found in lanes without the bit.
    pub(super) fn keep_first(&mut self, first: &Self, solved_again: u32) {
        fn keep(to: &mut [f32], from: &[f32], solved_again: u32) {
            for (to, from) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(from.as_chunks().0) {
                let from: &[f32; LANES] = from;
                for lane in 0..LANES {
                    if solved_again & 1 << lane == 0 {
                        to[lane] = from[lane];
                    }
                }
            }
        }
        keep(self.position.as_flattened_mut(), first.position.as_flattened(), solved_again);
        keep(self.velocity.as_flattened_mut(), first.velocity.as_flattened(), solved_again);
        keep(self.tension.as_flattened_mut(), first.tension.as_flattened(), solved_again);
        keep(self.contact.as_flattened_mut(), first.contact.as_flattened(), solved_again);
    }
}
