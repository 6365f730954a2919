//! Frames that carry the groom along with the strand, so that curls keep their shape wherever they are thrown.
//!
//! Model: every segment has a frame, a rotation `R_i` (unit quaternion `q_i`) beside the scalp's. With `e_i` the direction
//! of the segment and `g_i` that of the groom, both in the scalp's frame, the style's energy of directions is
//!
//! ```text
//! A_i (1 - e_i . R_i g_i)  +  4 C_i (1 - q_i . 1)  +  4 B_i (1 - q_i . q_(i-1))
//! ```
//!
//! (for small angles half of each stiffness times the squared angle): segments are held to their frames, frames to the
//! scalp and to each other. Where hair bends together, the two springs in series are the style's `a^2 |x' - g'|^2` of
//! `style.rs`, whatever the strand does locally: `1/A + 1/C` is one over its stiffness.
//!
//! Directions alone, without frames, have no torque where hair points away from its groom, and neighbours in a curl are
//! pulled back to opposite sides: curls turn inside out, and hang there against the bending limit. Frames turn with the
//! curl instead. Quaternions cover rotations twice, so a strand that was wound round once is unwound the way it came,
//! and no state but the groom is a minimum.
//!
//! **Stability.** Frames are state. A step of the strand sees them fixed, so that its energy is a convex quadratic
//! (`articulated.rs`), and goes down. A sweep from root to tip then puts each frame where its own energy is lowest: as a
//! function of `q_i` that is `-q.K q - b.q` with `K` of eigenvalues 1 and -1, so that
//! `q <- (K q + q + b/2)` normalised never raises it (minorise and maximise). It is no follower force: no sum of the two
//! moves gains anything.
//! The sweep looks at directions as the velocities will have turned them in the next step; without that, frames
//! lag by a step, which adds damping (four tenths more at 240 steps a second).
//!
//! Source: not in `muller2012`. The energy is that of a Cosserat rod with penalised alignment, as in position and
//! orientation based rods; the sweep is block Gauss-Seidel.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, f32x16};

use super::Pass;
use super::block::{Block, FIXED};
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

/// Stiffness between a segment and its frame, by that of the style. More turns frames farther with the hair, and adds
/// inertia.
pub(super) const FOLLOW: f32 = 3.0;

/// Stiffness between a frame and the scalp: with [`FOLLOW`] in series it is the style's own.
pub(super) const HOME: f32 = FOLLOW / (FOLLOW - 1.0);

/// Stiffness between neighbouring frames, for the shorter of their segments. More takes several sweeps to settle.
pub(super) const COUPLE: f32 = 1.0;

/// Numbers of a row: the quaternion (scalar part first), and the groomed direction that it turns.
pub(super) const FRAME: usize = 7 * LANES;

/// Least length of a predicted direction, which is one before it turns.
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

    /// `K q = -e q g`, for which `q . K q` is the cosine between `e` and the turned `g`.
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
    fn store(&self, turned: Vec3x<S>, row: &mut [f32; FRAME]) {
        let row = row.as_chunks_mut::<LANES>().0;
        self.w.store_slice(&mut row[0]);
        self.v.x.store_slice(&mut row[1]);
        self.v.y.store_slice(&mut row[2]);
        self.v.z.store_slice(&mut row[3]);
        turned.x.store_slice(&mut row[4]);
        turned.y.store_slice(&mut row[5]);
        turned.z.store_slice(&mut row[6]);
    }
}

/// The groomed direction as the frame of a row turns it, beside the scalp.
#[inline(always)]
pub(super) fn direction<S: Simd>(simd: S, row: &[f32; FRAME]) -> Vec3x<S> {
    let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
    Vec3x { x: n(4), y: n(5), z: n(6) }
}

/// Lets the frames follow the strands after a step.
#[inline(always)]
pub(super) fn follow<S: Simd>(
    simd: S,
    block: &Block,
    position: &[[f32; VECTOR]],
    velocity: &[[f32; VECTOR]],
    frame: &mut [[f32; FRAME]],
    pass: &Pass,
) {
    let splat = |v: f32| f32x16::splat(simd, v);
    let points = position.len();
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
    let home = splat(2.0 * HOME / FOLLOW);
    let couple = splat(2.0 * COUPLE / FOLLOW);
    let none = splat(0.0);
    let root = [0, 1, 2].map(|k| Vec3x::of_row(simd, &block.root[k]));
    let motion = [0, 1, 2].map(|k| Vec3x::of_row(simd, &block.motion[k]));
    let last = f32x16::from_slice(simd, &block.last);
    let (mut x, mut v) = (Vec3x::of_row(simd, &position[0]), Vec3x::of_row(simd, &velocity[0]));
    // The scalp has no joint with the first frame: its pull is the style's alone, for any number of points.
    let mut before = Quatx { w: none, v: Vec3x { x: none, y: none, z: none } };
    let mut length = none;
    let mut q = Quatx::load(simd, &frame[1]);
    for i in 1..points {
        let number = |k: usize| f32x16::from_slice(simd, &fixed[i].as_chunks::<LANES>().0[k]);
        let (length_before, inverse) = (length, number(8));
        length = number(7);
        // Predict the direction at the end of the next step, if the scalp moves on as it does.
        let (x_outer, v_outer) =
            (Vec3x::of_row(simd, &position[i]), Vec3x::of_row(simd, &velocity[i]));
        let along = (x_outer - x) * inverse;
        let carried = motion[0] * along.x + motion[1] * along.y + motion[2] * along.z;
        let ahead = along + (v_outer - v) * (inverse * pass.dt) - carried;
        let ahead = ahead * (splat(1.0) / ahead.length().max(splat(NO_DIRECTION)));
        (x, v) = (x_outer, v_outer);
        // Put the frame where its energy is lowest.
        let e = Vec3x { x: root[0].dot(ahead), y: root[1].dot(ahead), z: root[2].dot(ahead) };
        let g = Vec3x { x: number(3), y: number(4), z: number(5) } * inverse;
        let coupled = couple * length.min(length_before) * inverse;
        let mut sum = q.plus(&q.aligned(e, g), splat(1.0)).plus(&before, coupled);
        sum.w += home;
        let mut next = q;
        if i + 1 < points {
            next = Quatx::load(simd, &frame[i + 1]);
            let outer = f32x16::from_slice(simd, &fixed[i + 1].as_chunks::<LANES>().0[7]);
            let coupled = couple * length.min(outer) * inverse;
            sum = sum.plus(&next, splat(i as f32).simd_lt(last).select(coupled, none));
        }
        before = sum.normalised();
        before.store(before.turn(g), &mut frame[i]);
        q = next;
    }
}

/// Puts the frames of a lane at rest.
pub(super) fn reset_lane(frame: &mut [f32], block: &Block, l: usize) {
    let fixed = block.fixed.as_chunks::<FIXED>().0;
    for (row, fixed) in frame.as_chunks_mut::<FRAME>().0.iter_mut().zip(fixed) {
        let inverse = fixed[8 * LANES + l];
        let groomed = [3, 4, 5].map(|k| fixed[k * LANES + l] * inverse);
        for (k, value) in [1.0, 0.0, 0.0, 0.0].into_iter().chain(groomed).enumerate() {
            row[k * LANES + l] = value;
        }
    }
}
