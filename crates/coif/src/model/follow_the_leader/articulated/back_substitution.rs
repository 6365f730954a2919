//! Coefficients of the back substitution: results of the pass from tip to root for the pass from root to tip.

use fearless_simd::{Simd, SimdBase, f32x16};

use super::SCRATCH;
use crate::math::LANES;
use crate::math::lanes::Vec3x;
use crate::math::tangent::{Columns, Matrix2, Vec2x};

/// Result of the first pass for a point: its segment turns by `turn - by_leader^T a`, where its leader is
/// displaced by `a`, and by what a [joint](Joined) adds.
pub(super) struct BackSubstitution<S: Simd> {
    pub(super) turn: Vec2x<S>,
    pub(super) by_leader: Columns<S>,
    /// Shortening along the segment by the turn, to second order (m).
    pub(super) chord: f32x16<S>,
    /// Tension of the segment without displacement, and its decrease by a displacement of the point.
    pub(super) pull: f32x16<S>,
    pub(super) by_place: Vec3x<S>,
}

impl<S: Simd> BackSubstitution<S> {
    #[inline(always)]
    pub(super) fn store(&self, row: &mut [f32; SCRATCH]) {
        let row = row.as_chunks_mut::<LANES>().0;
        // Separate stores: a loop over an array would write the numbers to memory twice.
        self.turn.x.store_slice(&mut row[0]);
        self.turn.y.store_slice(&mut row[1]);
        self.by_leader.x.x.store_slice(&mut row[2]);
        self.by_leader.x.y.store_slice(&mut row[3]);
        self.by_leader.x.z.store_slice(&mut row[4]);
        self.by_leader.y.x.store_slice(&mut row[5]);
        self.by_leader.y.y.store_slice(&mut row[6]);
        self.by_leader.y.z.store_slice(&mut row[7]);
        self.chord.store_slice(&mut row[8]);
        self.pull.store_slice(&mut row[9]);
        self.by_place.x.store_slice(&mut row[10]);
        self.by_place.y.store_slice(&mut row[11]);
        self.by_place.z.store_slice(&mut row[12]);
    }

    #[inline(always)]
    pub(super) fn load(simd: S, row: &[f32; SCRATCH]) -> Self {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        Self {
            turn: Vec2x { x: n(0), y: n(1) },
            by_leader: Columns {
                x: Vec3x { x: n(2), y: n(3), z: n(4) },
                y: Vec3x { x: n(5), y: n(6), z: n(7) },
            },
            chord: n(8),
            pull: n(9),
            by_place: Vec3x { x: n(10), y: n(11), z: n(12) },
        }
    }
}

/// Additional results for joints; not stored in rows where the bending limit is far from all lanes.
pub(super) struct Joined;

impl Joined {
    /// Stores whether the joint before the segment acts, and the one beyond it.
    #[inline(always)]
    pub(super) fn store_flags(row: &mut [f32; SCRATCH], before: bool, beyond: bool) {
        row[19 * LANES] = f32::from(before);
        row[19 * LANES + 1] = f32::from(beyond);
    }

    /// Stores the derivative of the segment's turn with respect to its leader's.
    #[inline(always)]
    pub(super) fn store_turn<S: Simd>(row: &mut [f32; SCRATCH], by_turn: &Matrix2<S>) {
        let row = row.as_chunks_mut::<LANES>().0;
        by_turn.x.x.store_slice(&mut row[13]);
        by_turn.x.y.store_slice(&mut row[14]);
        by_turn.y.x.store_slice(&mut row[15]);
        by_turn.y.y.store_slice(&mut row[16]);
    }

    /// Stores the decrease of the segment's tension by its turn.
    #[inline(always)]
    pub(super) fn store_cross<S: Simd>(row: &mut [f32; SCRATCH], by_cross: Vec2x<S>) {
        let row = row.as_chunks_mut::<LANES>().0;
        by_cross.x.store_slice(&mut row[17]);
        by_cross.y.store_slice(&mut row[18]);
    }

    #[inline(always)]
    pub(super) fn load_turn<S: Simd>(simd: S, row: &[f32; SCRATCH]) -> Option<Matrix2<S>> {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        (row[19 * LANES] > 0.0).then(
            #[inline(always)]
            || Matrix2 { x: Vec2x { x: n(13), y: n(14) }, y: Vec2x { x: n(15), y: n(16) } },
        )
    }

    #[inline(always)]
    pub(super) fn load_cross<S: Simd>(simd: S, row: &[f32; SCRATCH]) -> Option<Vec2x<S>> {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        (row[19 * LANES + 1] > 0.0).then(
            #[inline(always)]
            || Vec2x { x: n(17), y: n(18) },
        )
    }
}
