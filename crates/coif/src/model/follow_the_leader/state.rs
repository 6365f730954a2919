//! The state of a block during a step, which may be solved twice (`articulated/`).

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x16, mask32x16};

use super::resting::{self, MEMORY};
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

    /// Copies positions, velocities and tensions.
    #[inline(always)]
    pub(super) fn copy_motion(&mut self, from: &Self) {
        self.position.copy_from_slice(from.position);
        self.velocity.copy_from_slice(from.velocity);
        self.tension.copy_from_slice(from.tension);
    }

    /// Copies the contacts, too.
    #[inline(always)]
    pub(super) fn copy<S: Simd>(&mut self, simd: S, from: &Self) {
        self.copy_motion(from);
        for (to, from) in self.contact.iter_mut().zip(&*from.contact) {
            resting::copy(simd, to, from, resting::any(simd, from));
        }
    }

    /// Restores the results of a first solve in lanes without the bit.
    #[inline(always)]
    pub(super) fn keep_first<S: Simd>(&mut self, simd: S, first: &Self, solved_again: u32) {
        let again = mask32x16::from_bitmask(simd, solved_again.into());
        keep(simd, self.position.as_flattened_mut(), first.position.as_flattened(), again);
        keep(simd, self.velocity.as_flattened_mut(), first.velocity.as_flattened(), again);
        keep(simd, self.tension.as_flattened_mut(), first.tension.as_flattened(), again);
        for (to, from) in self.contact.iter_mut().zip(&*first.contact) {
            if resting::any(simd, to) || resting::any(simd, from) {
                keep(simd, to, from, again);
            }
        }
    }
}

/// Copies the lanes that are not in the mask.
#[inline(always)]
fn keep<S: Simd>(simd: S, to: &mut [f32], from: &[f32], again: mask32x16<S>) {
    for (to, from) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(from.as_chunks::<LANES>().0) {
        let [new, old] = [&*to, from].map(|row| f32x16::from_slice(simd, row));
        again.select(new, old).store_slice(to);
    }
}
