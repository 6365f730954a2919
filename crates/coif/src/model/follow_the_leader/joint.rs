//! The bending limit of joints between neighbouring segments (`muller2012` 3.5), for the pass from tip to root
//! (`articulated/`).

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x16};

use super::articulated::Carried;
use crate::limits::KINK_COSINE;
use crate::math::tangent::{Matrix2, Symmetric2, Vec2x};

/// Stiffness of the limit's scale, by that of the style's spring to the direction of the shorter segment. With the
/// default style it is 9 N for hair of 1 kg/m, which is the contact force of 30 cm of hair at three times gravity.
pub(super) const JOINT: f32 = 4.0;

/// Cosine of the turn at which the bending limit begins to act, 30 degrees, in hair whose groom turns by less.
const SOFT: f32 = 0.866;

/// Torque of the bending limit at [`KINK_COSINE`], by [`JOINT`]: a hundred times gravity on 30 cm of hair.
const LIMIT: f32 = 32.0;

/// Least difference of cosines between start and [`KINK_COSINE`], one degree, where the groom turns by 59 degrees or more.
const MIN_MARGIN: f32 = 0.015;

/// The bending limit of a joint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Cosine of the turn at which it begins.
    pub(super) start: f32,
    /// Stiffness against a smaller cosine, relative to the joint's.
    pub(super) stiffness: f32,
}

impl Limit {
    /// For a groom that turns by an angle with this cosine.
    pub(super) fn new(groomed: f32) -> Self {
        let start = groomed.min(SOFT);
        Self { start, stiffness: LIMIT / (start - KINK_COSINE).abs().max(MIN_MARGIN) }
    }
}

/// A joint whose limit acts, or will act by the velocities.
///
/// Model: with `e` the directions of the two segments as the scalp carries them and `C = e_i . e_(i-1)` the cosine of
/// the turn, the limit is the potential
///
/// ```text
/// U = L k max(0, s - C)^2 / 2
/// ```
///
/// with `k` of [`JOINT`], and `s` and `L` of [`Limit`]. It vanishes at the groom.
///
/// A step uses a quadratic model in the turns `t` of the two segments (at right angles to them) that is never
/// below `U`. Where the limit acts at the start of the step that is Gauss-Newton's, with the force's own geometric
/// stiffness bounded by an isotropic one. Where it acts only at the predicted end, the secant's stiffness up to there:
/// the model begins without force or energy, so that it only dissipates.
pub(super) struct Joint<S: Simd> {
    /// Stiffness against a turn of the outer segment, and of the inner one.
    pub(super) outer: Symmetric2<S>,
    pub(super) inner: Symmetric2<S>,
    /// Coupling of the two.
    pub(super) cross: Matrix2<S>,
    /// Torque on the outer segment, and on the inner one.
    pub(super) turn_outer: Vec2x<S>,
    pub(super) turn_inner: Vec2x<S>,
}

/// A bending limit per lane.
pub(super) struct LaneLimit<S: Simd> {
    pub(super) start: f32x16<S>,
    pub(super) stiffness: f32x16<S>,
}

impl<S: Simd> Joint<S> {
    /// Between a segment and the one ahead of it, with the stiffness `k`; `None` where no lane reaches the limit.
    #[inline(always)]
    pub(super) fn new(
        simd: S,
        k: f32x16<S>,
        limit: &LaneLimit<S>,
        segment: &Carried<S>,
        ahead: &Carried<S>,
        closes: f32x16<S>,
    ) -> Option<Self> {
        let zero = f32x16::splat(simd, 0.0);
        // Compute the excess over the limit now, and as the velocities predict.
        let beyond = limit.start - segment.along.dot(ahead.along);
        let (over, over_soon) = (beyond.max(zero), (beyond + closes).max(zero));
        if !over.max(over_soon).simd_gt(0.0).any_true() {
            return None;
        }
        let (p, p_ahead) = (&segment.tangents, &ahead.tangents);
        let stiffest = limit.stiffness * k;
        let secant = over_soon / closes.max(f32x16::splat(simd, MIN_CLOSING));
        let ramp = over.simd_gt(zero).select(f32x16::splat(simd, 1.0), secant);
        let stiff = stiffest * ramp.min(f32x16::splat(simd, 1.0));
        let force = stiffest * over;
        // Second-order change of the directions.
        let bent = (ahead.along * ahead.shrinks - segment.along * segment.shrinks) * force;
        let (v, v_ahead) = (p.dot(ahead.along), p_ahead.dot(segment.along));
        let w = v * stiff;
        let (x, y) = (p.dot(p_ahead.x) * force, p.dot(p_ahead.y) * force);
        Some(Self {
            outer: Symmetric2::new(force, stiff, v),
            inner: Symmetric2::new(force, stiff, v_ahead),
            cross: Matrix2 { x: x - w * v_ahead.x, y: y - w * v_ahead.y },
            turn_outer: p.dot(bent) + v * force,
            turn_inner: v_ahead * force - p_ahead.dot(bent),
        })
    }
}

/// Least change of a cosine in a step that exceeds rounding.
pub(super) const MIN_CLOSING: f32 = 1e-6;
