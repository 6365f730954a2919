//! Joints between neighbouring segments, for the pass from tip to root (`articulated.rs`).

use fearless_simd::{Select, Simd, SimdBase, f32x16, mask32x16};

use super::articulated::Carried;
use crate::math::tangent::{Matrix2, Symmetric2, Vec2x};

/// Stiffness of a joint, by that of the style's spring to the direction of its shorter segment. With the default style
/// it is 9 N for hair of 1 kg/m: 30 cm of hair at three times gravity press that much, so that such a push does not
/// fold hair between two points. Less crumples; more is stiff where points are few.
pub const BEND: f32 = 4.0;

/// Cosine of the largest turn between two segments, 60 degrees, beyond which hair looks kinked.
const KINK: f32 = 0.5;

/// Cosine of the turn at which the bending limit begins to act, 30 degrees, in hair whose groom turns by less.
const SOFT: f32 = 0.866;

/// Torque of the bending limit at [`KINK`], by the stiffness of the joint: a hundred times gravity on 30 cm of hair.
const LIMIT: f32 = 32.0;

/// Least difference of cosines over which the limit sets in, one degree, where the groom turns by 59 degrees or more.
const MIN_MARGIN: f32 = 0.015;

/// The bending limit of a joint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Cosine of the turn at which it begins.
    pub(super) start: f32,
    /// Stiffness against a smaller cosine, by that of the joint.
    pub(super) stiffness: f32,
}

impl Limit {
    /// For a groom that turns by an angle with this cosine.
    pub(super) fn new(groomed: f32) -> Self {
        let start = groomed.min(SOFT);
        Self { start, stiffness: LIMIT / (start - KINK).abs().max(MIN_MARGIN) }
    }

    /// Least cosine of a joint that the limit holds: one degree beyond [`KINK`], or beyond the groom.
    pub(super) fn least(&self) -> f32 {
        self.start.min(KINK) - MIN_MARGIN
    }
}

/// The joint between two segments: a spring, and the bending limit of the style (3.5).
///
/// Model: with `e` the directions of the two segments as the scalp carries them, `g` those of the groom,
/// `x = (g_i - g_(i-1)) - (e_i - e_(i-1))` how far the joint is bent away from the groom and `C = e_i . e_(i-1)` the
/// cosine of its turn, a joint is the potential
///
/// ```text
/// U = k |x|^2 / 2  +  L k max(0, s - C)^2 / 2
/// ```
///
/// with `k` of [`BEND`], and `s` and `L` of [`Limit`]. All of it is nothing at the groom.
///
/// A step takes it by a quadratic model in the turns `t` of the two segments (at right angles to them) that is never
/// below `U`. Where the limit acts at the start of the step that is Gauss-Newton's, with the force's own geometric
/// stiffness bounded by an isotropic one. Where it only will, by the velocities, the secant's stiffness up to there:
/// the model begins without force or energy, so that it can only brake.
///
/// **What the limit lets through.** Curls that were thrown inside out have a turn too many or too few. With every joint
/// against its limit such a turn does not open, it slides along the strand for half a minute. So the limit lets go of
/// joints whose segments point away from the groom (by more than 90 degrees) while hair is slow
/// ([`Stiffness::calm`](super::style::Stiffness::calm)), and does not take hold again of a joint that is bent beyond it
/// until that has come back, or hair is [fast](super::style::Stiffness::fast).
pub(super) struct Joint<S: Simd> {
    /// Stiffness against a turn of the outer segment, and of the inner one.
    pub(super) outer: Symmetric2<S>,
    pub(super) inner: Symmetric2<S>,
    /// What couples the two.
    pub(super) cross: Matrix2<S>,
    /// Torque on the outer segment, and on the inner one.
    pub(super) turn_outer: Vec2x<S>,
    pub(super) turn_inner: Vec2x<S>,
    /// Where the limit holds the joint.
    pub(super) limited: mask32x16<S>,
}

/// A bending limit per lane.
pub(super) struct LaneLimit<S: Simd> {
    pub(super) start: f32x16<S>,
    pub(super) stiffness: f32x16<S>,
    pub(super) least: f32x16<S>,
}

impl<S: Simd> Joint<S> {
    /// Between a segment and the one ahead of it, with the stiffness `k`; which lanes are slow, and which fast.
    #[inline(always)]
    pub(super) fn new(
        simd: S,
        k: f32x16<S>,
        limit: &LaneLimit<S>,
        [calm, fast]: [mask32x16<S>; 2],
        segment: &Carried<S>,
        ahead: &Carried<S>,
    ) -> Self {
        let zero = f32x16::splat(simd, 0.0);
        let (p, p_ahead) = (&segment.tangents, &ahead.tangents);
        // Look which joints the limit holds.
        let cosine = segment.along.dot(ahead.along);
        let away = segment.along.dot(segment.off).min(ahead.along.dot(ahead.off)).simd_lt(-1.0);
        let limited = fast | (cosine.simd_gt(limit.least) & !(away & calm));
        // Look how far it is exceeded, and will be by the velocities.
        let closes = zero - segment.along.dot(ahead.turns) - ahead.along.dot(segment.turns);
        let over = (limit.start - cosine).max(zero);
        let over_soon = (limit.start - cosine + closes).max(zero);
        let stiffest = limited.select(limit.stiffness * k, zero);
        let secant = over_soon / closes.max(f32x16::splat(simd, MIN_CLOSING));
        let part = over.simd_gt(zero).select(f32x16::splat(simd, 1.0), secant);
        let stiff = stiffest * part.min(f32x16::splat(simd, 1.0));
        let force = stiffest * over;
        // Bend towards the groom; the square of the turns takes the directions along.
        let h = k + force;
        let bent = (segment.off - ahead.off) * k
            - (segment.along * segment.shrinks - ahead.along * ahead.shrinks) * h;
        let (v, v_ahead) = (p.dot(ahead.along), p_ahead.dot(segment.along));
        let w = v * stiff;
        let (x, y) = (p.dot(p_ahead.x) * h, p.dot(p_ahead.y) * h);
        Self {
            outer: Symmetric2::new(h, stiff, v),
            inner: Symmetric2::new(h, stiff, v_ahead),
            cross: Matrix2 { x: x - w * v_ahead.x, y: y - w * v_ahead.y },
            turn_outer: p.dot(bent) + v * force,
            turn_inner: v_ahead * force - p_ahead.dot(bent),
            limited,
        }
    }
}

/// Least change of a cosine in a step that is a change.
pub(super) const MIN_CLOSING: f32 = 1e-6;
