//! One row of points against the body.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x8, f32x16};

use super::{BENT, MAX_LEFT};
use crate::math::lanes::{HALF, Vec3x, half_row};
use crate::math::{Bits, LANES};
use crate::model::follow_the_leader::Pass;
use crate::model::follow_the_leader::block::{Block, FIXED, Outcome};
use crate::model::follow_the_leader::collider::Obstacles;
use crate::model::follow_the_leader::contact::{NOTHING, Segment, leave_body};
use crate::model::follow_the_leader::near::Near;
use crate::model::follow_the_leader::resting::{self, MEMORY};

/// One point of sixteen strands, before the collision test.
pub(super) struct Candidate<'a, S: Simd> {
    pub(super) leader: Vec3x<S>,
    /// Positions at the start of the step, shifted by the pushes of contact on their leaders (m).
    pub(super) before: Vec3x<S>,
    pub(super) contact: &'a mut [f32; MEMORY],
    pub(super) ahead: Vec3x<S>,
    pub(super) along: Vec3x<S>,
    pub(super) p: Vec3x<S>,
    /// Velocity that contact removes (m/s).
    pub(super) brake: Vec3x<S>,
    pub(super) length: f32x16<S>,
    /// Cosine of the largest turn against the segment before.
    pub(super) limit: f32x16<S>,
    /// Least distances from the surface of a distance field (m).
    pub(super) clear: f32x16<S>,
}

impl<S: Simd> Candidate<'_, S> {
    /// Pushes the halves that are inside out of the body; returns whether any has collided. Not inlined: the pass has no
    /// registers to spare.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn leave_body(
        &mut self,
        simd: S,
        block: &Block,
        i: usize,
        inside: [bool; 2],
        near: &Near<'_>,
        obstacles: &Obstacles<'_>,
        pass: &Pass,
        outcome: &mut Outcome,
    ) -> bool {
        simd.vectorize(
            #[inline(always)]
            || self.leave_body_in_lanes(simd, block, i, inside, near, obstacles, pass, outcome),
        )
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn leave_body_in_lanes(
        &mut self,
        simd: S,
        block: &Block,
        i: usize,
        inside: [bool; 2],
        near: &Near<'_>,
        obstacles: &Obstacles<'_>,
        pass: &Pass,
        outcome: &mut Outcome,
    ) -> bool {
        let index = f32x8::splat(simd, i as f32);
        let (leader, ahead) = (self.leader.halves(), self.ahead.halves());
        let before = self.before.halves();
        let (mut along, mut p) = (self.along.halves(), self.p.halves());
        let mut brake = self.brake.halves();
        let length = <[_; 2]>::from(simd.split_f32x16(self.length));
        let limit = <[_; 2]>::from(simd.split_f32x16(self.limit));
        let mut clear = <[_; 2]>::from(simd.split_f32x16(self.clear));
        let mut allowed = [f32x8::splat(simd, 0.0); 2];
        if block.began_inside && pass.still_inside > 0.0 {
            let row = &block.depth.as_chunks::<LANES>().0[i];
            allowed = [
                half_row(simd, row, 0) * pass.still_inside,
                half_row(simd, row, 1) * pass.still_inside,
            ];
        }
        let mut collided = false;
        let masses = &block.fixed.as_chunks::<LANES>().0[i * (FIXED / LANES) + 6];
        for half in (0..2).filter(|&half| inside[half]) {
            let active = index.simd_le(half_row(simd, &block.last, half))
                & index.simd_gt(half_row(simd, &block.last_embedded, half));
            let active = if block.is_any_pinned(i) {
                active & block.not_pinned(simd, i, half)
            } else {
                active
            };
            let before = before[half];
            let mut segment = Segment {
                parent: leader[half],
                ahead: ahead[half],
                along: along[half],
                length: length[half],
                clear: clear[half],
                allowed: allowed[half],
                limit: limit[half],
                friction: block.friction(simd, i, half, pass.tie.friction),
            };
            let contact = leave_body(simd, near, obstacles, active, &mut segment, before, pass);
            clear[half] = segment.clear;
            outcome.unresolved += contact.unresolved;
            if contact.collided {
                collided = true;
                // Remember the contacts: from the next solve on they are part of the implicit step.
                for lane in Bits(contact.depth.simd_gt(0.0).to_bitmask() & active.to_bitmask()) {
                    for what in contact.collided_with.map(|what| what[lane]) {
                        if what != NOTHING {
                            let lane = half * HALF + lane;
                            let force = masses[lane] * contact.depth[lane % HALF];
                            let new = resting::remember(self.contact, lane, what, force);
                            let deep =
                                contact.depth[lane % HALF] > MAX_LEFT * length[half][lane % HALF];
                            outcome.impact |= u32::from(new || deep) << lane;
                        }
                    }
                }
                // Solve again also where contact has bent a joint beyond its limit.
                let bent = segment.along.dot(ahead[half]).simd_lt(limit[half] - BENT) & active;
                outcome.impact |= (bent.to_bitmask() as u32) << (half * HALF);
                // Leave inactive lanes as they are.
                p[half] = segment.end().or(active, p[half]);
                along[half] = segment.along.or(active, along[half]);
                brake[half] = contact.brake.or(active, brake[half]);
            }
        }
        self.clear = simd.combine_f32x8(clear[0], clear[1]);
        (self.along, self.p, self.brake) =
            (Vec3x::of_halves(along), Vec3x::of_halves(p), Vec3x::of_halves(brake));
        collided
    }
}
