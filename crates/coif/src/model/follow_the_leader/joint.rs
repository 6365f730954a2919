//! Joints between neighbouring segments, for the pass from tip to root (`articulated.rs`).

use fearless_simd::{Simd, SimdBase, f32x16};
use glam::Vec3;

use super::articulated::Carried;
use crate::math::lanes::Vec3x;

/// How much stiffer the spring of a joint is where it is bent away from the groom by one radian: `1 + 32` times, so that
/// it takes a hundred times gravity to fold 30 cm of hair by that much. Small bends are as soft as [`BEND`](super::articulated::BEND) says.
pub(super) const STIFFENING: f32 = 32.0;

/// Force that the bending limit sets against a turn of 60 degrees, by the stiffness of a joint ([`Joint`]): that of the
/// spring at one radian.
pub(super) const LIMIT: f32 = 32.0;

/// Least way from the groom to the bending limit, as the difference of two directions: three degrees from turns of
/// 57 degrees or more. With less a joint is so stiff that its added inertia outweighs the strand, and hair creeps.
pub(super) const MIN_MARGIN: f32 = 0.05;

/// Least difference of two directions that has a direction itself.
pub(super) const MIN_TURN: f32 = 1e-3;

/// Largest squared difference of two unit vectors, which rounding may exceed.
pub(super) const MAX_BENT2: f32 = 4.0;

/// The joint between two segments: a spring that stiffens, and the bending limit of the style (3.5).
///
/// Model: with `e` the directions of the two segments as the scalp carries them, `g` those of the groom,
/// `x = (g_i - g_(i-1)) - (e_i - e_(i-1))` how far the joint is bent away from the groom, `u` the direction of
/// `g_i - g_(i-1)`, in which the groom turns, and `m = 1 - |g_i - g_(i-1)|` how much farther it may turn to 60 degrees
/// (where the difference of two directions is 1), a joint is the potential
///
/// ```text
/// U = k |x|^2 / 2 + c k |x|^4 / 4 + L k m w^3 / 3     with  w = max(0, -u . x) / m
/// ```
///
/// with `k` of [`BEND`](super::articulated::BEND), `c` of [`STIFFENING`] and `L` of [`LIMIT`]. All of it is nothing at the groom and convex in the
/// displacements: curls that were thrown about find back. (A limit by the angle itself has fewer kinks still, but is
/// not convex: curls that were turned inside out creep back for half a minute.)
///
/// Springs between neighbours are outside of the chain's 3x3 blocks. They act as predicted by the velocities, and
/// each segment has their added inertia, as much as they are stiff in the worst of all waves. So they are backward
/// Euler with a larger mass, stable for any stiffness (see [`BEND`](super::articulated::BEND)). Inertia that comes and goes with the bend could
/// pump: light hair gains speed, heavy hair presses with it. So what it grows by in a step comes without velocity
/// (`kept` is the part that had it before).
#[derive(Clone, Copy)]
pub(super) struct Joint<S: Simd> {
    pub(super) spring: f32x16<S>,
    pub(super) limit: Vec3x<S>,
    pub(super) inertia: f32x16<S>,
    pub(super) kept: f32x16<S>,
}

impl<S: Simd> Joint<S> {
    /// No joint.
    #[inline(always)]
    pub(super) fn none(simd: S) -> Self {
        let none = f32x16::splat(simd, 0.0);
        Self { spring: none, limit: Vec3x::splat(simd, Vec3::ZERO), inertia: none, kept: none }
    }

    /// Between a segment and the one ahead of it.
    #[inline(always)]
    pub(super) fn new(
        simd: S,
        spring: f32x16<S>,
        segment: &Carried<S>,
        ahead: &Carried<S>,
    ) -> Self {
        let zero = f32x16::splat(simd, 0.0);
        let one = f32x16::splat(simd, 1.0);
        let g = segment.groomed - ahead.groomed;
        let size = g.length();
        let u = g * (one / size.max(f32x16::splat(simd, MIN_TURN)));
        let inverse_margin = one / (one - size).max(f32x16::splat(simd, MIN_MARGIN));
        let soon = segment.soon - ahead.soon;
        let now = segment.off - ahead.off;
        let over = (zero - soon.dot(u) * inverse_margin).max(zero);
        let over_before = (zero - now.dot(u) * inverse_margin).max(zero).min(over);
        let limit = spring * LIMIT;
        let most = f32x16::splat(simd, MAX_BENT2);
        let bent = soon.dot(soon).min(most) * STIFFENING;
        let bent_before = (now.dot(now) * STIFFENING).min(bent);
        let slope = limit * inverse_margin * 2.0;
        Self {
            spring: spring * (bent + 1.0),
            limit: u * (limit * over * over),
            inertia: (slope * over + spring * (bent * 3.0 + 1.0)) * 2.0,
            kept: (slope * over_before + spring * (bent_before * 3.0 + 1.0)) * 2.0,
        }
    }

    #[inline(always)]
    pub(super) fn scaled(self, by: f32x16<S>) -> Self {
        Self {
            spring: self.spring * by,
            limit: self.limit * by,
            inertia: self.inertia * by,
            kept: self.kept * by,
        }
    }
}
