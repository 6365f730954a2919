//! Frames that rotate the groom with the strand, so that curls keep their shape under large rotations.
//!
//! Model: every segment has a frame, a rotation `R_i` (unit quaternion `q_i`) relative to the scalp's. With `e_i` the
//! direction of the segment and `g_i` that of the groom, both in the scalp's frame, the style's energy of directions is
//!
//! ```text
//! A_i (1 - e_i . R_i g_i)  +  4 C_i (1 - q_i . 1)  +  4 B_i (1 - q_i . q_(i-1))
//! ```
//!
//! (for small angles half of each stiffness times the squared angle): springs between segments and frames, frames and
//! scalp and to each other. Where hair bends together, the two springs in series are the style's `a^2 |x' - g'|^2` of
//! `style.rs`, whatever the strand does locally: `1/A + 1/C` is one over its stiffness.
//!
//! Directions alone, without frames, have no torque where hair points away from its groom, and neighbours in a curl are
//! pulled back to opposite sides: curls turn inside out, and stay there against the bending limit. Frames turn with the
//! curl instead. Quaternions cover rotations twice, so a strand that was wound round once is unwound by the reverse
//! rotation, and no state but the groom is a minimum.
//!
//! Stability: frames are state. A step of the strand keeps them fixed, so that its energy is a convex quadratic
//! (`articulated/`), and decreases. Before that a sweep from tip to root, in the order of the pass, sets each frame to
//! a state of lower energy: as a function of `q_i` that is `-q.K q - b.q` with `K` of eigenvalues 1 and -1, so that
//! `q <- (K q + q + b/2)` normalised never raises it (minorise and maximise). It is no follower force: no sequence of
//! the two updates gains energy. The sweep uses the directions that the velocities predict for the end of the step;
//! without that, frames lag by a step, which adds damping (40 % more at 240 steps a second).
//!
//! Source: not in `muller2012`. The energy is that of a Cosserat rod with penalised alignment, as in position and
//! orientation based rods; the sweep is block Gauss-Seidel.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, f32x16, mask32x16};

use super::block::FIXED;
use crate::math::LANES;
use crate::math::lanes::Vec3x;

/// Stiffness between a segment and its frame, relative to the style's. With more, frames follow the hair farther, and add
/// inertia.
pub(super) const FOLLOW: f32 = 3.0;

/// Stiffness between a frame and the scalp: with [`FOLLOW`] in series it is the style's own.
pub(super) const TO_SCALP: f32 = FOLLOW / (FOLLOW - 1.0);

/// Stiffness between neighbouring frames, for the shorter of their segments. More needs several sweeps to converge.
pub(super) const COUPLE: f32 = 1.0;

/// Numbers of a row: a quaternion, its scalar part first.
pub(super) const FRAME: usize = 4 * LANES;

/// Least length of a predicted direction (1 without a turn).
const NO_DIRECTION: f32 = 1e-3;

/// A quaternion per lane.
#[derive(Clone, Copy)]
struct Quatx<S: Simd> {
    w: f32x16<S>,
    v: Vec3x<S>,
}

impl<S: Simd> Quatx<S> {
    #[inline(always)]
    fn load(simd: S, row: &[f32; FRAME]) -> Self {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        Self { w: n(0), v: Vec3x { x: n(1), y: n(2), z: n(3) } }
    }

    /// `K q = -e q g`, for which `q . K q` is the cosine between `e` and the rotated `g`.
    #[inline(always)]
    fn aligned(&self, e: Vec3x<S>, g: Vec3x<S>) -> Self {
        let (w, v) = (e.dot(self.v), e * self.w + e.cross(self.v));
        Self { w: v.dot(g), v: g * w - v.cross(g) }
    }

    #[inline(always)]
    fn plus(&self, b: &Self, weight: f32x16<S>) -> Self {
        Self { w: self.w + b.w * weight, v: self.v + b.v * weight }
    }

    #[inline(always)]
    fn normalised(&self) -> Self {
        let one = f32x16::splat(self.w.simd, 1.0);
        let scale = one / (self.w * self.w + self.v.dot(self.v)).sqrt();
        Self { w: self.w * scale, v: self.v * scale }
    }

    #[inline(always)]
    fn turn(&self, g: Vec3x<S>) -> Vec3x<S> {
        let twice = self.v.cross(g) * f32x16::splat(self.w.simd, 2.0);
        g + twice * self.w + self.v.cross(twice)
    }

    #[inline(always)]
    fn store(&self, row: &mut [f32; FRAME]) {
        let row = row.as_chunks_mut::<LANES>().0;
        self.w.store_slice(&mut row[0]);
        self.v.x.store_slice(&mut row[1]);
        self.v.y.store_slice(&mut row[2]);
        self.v.z.store_slice(&mut row[3]);
    }
}

/// A sweep over the frames of a block, in the order of the pass from tip to root.
pub(super) struct Sweep<S: Simd> {
    /// Whether frames are updated; if not, they are only read.
    follows: bool,
    /// The frame of the segment beyond.
    outer: Quatx<S>,
    /// The frame of the next segment, before its update.
    here: Quatx<S>,
    length_outer: f32x16<S>,
    length: f32x16<S>,
}

impl<S: Simd> Sweep<S> {
    /// Starts at the tip.
    #[inline(always)]
    pub(super) fn new(
        simd: S,
        frame: &[[f32; FRAME]],
        fixed: &[[f32; FIXED]],
        follows: bool,
    ) -> Self {
        let none = f32x16::splat(simd, 0.0);
        let tip = frame.len() - 1;
        Self {
            follows,
            outer: Quatx { w: none, v: Vec3x { x: none, y: none, z: none } },
            here: Quatx::load(simd, &frame[tip]),
            length_outer: none,
            length: number(simd, &fixed[tip], 7),
        }
    }

    /// The groomed direction of segment `i`, rotated by its frame relative to the scalp, after the frame has been updated
    /// with the predicted direction `ahead` (in the scalp's frame). `beyond` is set where a segment
    /// follows. To be called for every segment from the tip to the root.
    #[inline(always)]
    pub(super) fn direction(
        &mut self,
        simd: S,
        frame: &mut [[f32; FRAME]],
        fixed: &[[f32; FIXED]],
        i: usize,
        ahead: Vec3x<S>,
        beyond: mask32x16<S>,
    ) -> Vec3x<S> {
        let splat = |v: f32| f32x16::splat(simd, v);
        let inverse = number(simd, &fixed[i], 8);
        let g = Vec3x {
            x: number(simd, &fixed[i], 3),
            y: number(simd, &fixed[i], 4),
            z: number(simd, &fixed[i], 5),
        } * inverse;
        let q = self.here;
        if !self.follows {
            if i > 1 {
                self.here = Quatx::load(simd, &frame[i - 1]);
            }
            return q.turn(g);
        }
        let e = ahead * (splat(1.0) / ahead.length().max(splat(NO_DIRECTION)));
        // Minimise the bound of the frame's energy.
        let couple = inverse * (2.0 * COUPLE / FOLLOW);
        let coupled = beyond.select(couple * self.length.min(self.length_outer), splat(0.0));
        let mut sum = q.plus(&q.aligned(e, g), splat(1.0)).plus(&self.outer, coupled);
        sum.w += splat(2.0 * TO_SCALP / FOLLOW);
        self.length_outer = self.length;
        // No joint between the scalp and the first frame: only the style acts there, for any number of points.
        if i > 1 {
            self.here = Quatx::load(simd, &frame[i - 1]);
            self.length = number(simd, &fixed[i - 1], 7);
            sum = sum.plus(&self.here, couple * self.length.min(self.length_outer));
        }
        self.outer = sum.normalised();
        self.outer.store(&mut frame[i]);
        self.outer.turn(g)
    }
}

/// Number `k` of a row of [`Block::fixed`].
#[inline(always)]
fn number<S: Simd>(simd: S, row: &[f32; FIXED], k: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k])
}

/// Sets the frames of a lane to the identity.
pub(super) fn reset_lane(frame: &mut [f32], l: usize) {
    for row in frame.as_chunks_mut::<FRAME>().0 {
        for (k, value) in [1.0, 0.0, 0.0, 0.0].into_iter().enumerate() {
            row[k * LANES + l] = value;
        }
    }
}
