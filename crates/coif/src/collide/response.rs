//! Response of a velocity of hair to a surface: Coulomb friction along it, restitution across it.
//!
//! Both are functions of numbers, so that every model applies them to its own kind of vector, and friction also to
//! displacements in a step: the limit is then that of a displacement.

use fearless_simd::{Simd, SimdBase, f32x16};

/// Smallest sliding (m/s or m) that is divided by.
const NO_SLIDING: f32 = 1e-12;

/// The fraction of a sliding velocity that friction takes.
///
/// Model: Coulomb: the tangential impulse is at most the coefficient times the normal impulse, and no more than stops
/// the hair relative to the surface.
/// Symbols: `sliding` tangential speed relative to the surface, `limit` coefficient times the change of normal
/// velocity; both m/s, or both m.
#[inline(always)]
pub(crate) fn friction_fraction(sliding: f32, limit: f32) -> f32 {
    (limit / sliding.max(NO_SLIDING)).min(1.0)
}

/// [`friction_fraction`] in lanes.
#[inline(always)]
pub(crate) fn friction_fraction_lanes<S: Simd>(
    simd: S,
    sliding: f32x16<S>,
    limit: f32x16<S>,
) -> f32x16<S> {
    (limit / sliding.max(f32x16::splat(simd, NO_SLIDING))).min(f32x16::splat(simd, 1.0))
}

/// [`friction_fraction`] for contact that lasts: regularised Coulomb friction (`cani2006` 5.2).
///
/// Model: the impulse is `limit * s / max(s, threshold)` for the speed s that is left: the full Coulomb impulse above
/// the threshold speed (m/s), viscous below it, taken implicitly.
#[inline(always)]
pub(crate) fn regularised_friction_fraction(sliding: f32, limit: f32, threshold: f32) -> f32 {
    if sliding - limit >= threshold { limit / sliding } else { limit / (threshold + limit) }
}

/// The normal speed (m/s) after an impact, out of the surface and relative to it.
///
/// Model: Newton's restitution: the fraction `restitution` of the approach speed. `speed_out` is the normal velocity of
/// the hair relative to the moving surface before the step's forces act: hair at rest on a surface has none, so that it
/// stays at rest for any restitution.
#[inline(always)]
pub(crate) fn rebound_speed(speed_out: f32, restitution: f32) -> f32 {
    restitution * (-speed_out).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friction_stops_what_is_slow_and_slows_what_is_fast() {
        assert_eq!(friction_fraction(0.5, 0.6), 1.0);
        assert_eq!(friction_fraction(0.0, 0.0), 0.0);
        assert!((friction_fraction(2.0, 0.6) - 0.3).abs() < 1e-6);
        // What is left of 2 m/s, above the threshold and at it.
        assert!((regularised_friction_fraction(2.0, 0.6, 0.1) - 0.3).abs() < 1e-6);
        let (threshold, limit) = (0.1f32, 0.6);
        let left = |s: f32| s * (1.0 - regularised_friction_fraction(s, limit, threshold));
        assert!((left(0.7 - 1e-6) - left(0.7 + 1e-6)).abs() < 1e-5);
        // Implicit: what is left is what was there less the impulse at the speed that is left.
        let s = 0.3;
        assert!((left(s) - (s - limit * left(s) / threshold)).abs() < 1e-6);
    }

    #[test]
    fn only_what_approaches_rebounds() {
        assert_eq!(rebound_speed(-2.0, 0.5), 1.0);
        assert_eq!(rebound_speed(2.0, 0.5), 0.0);
    }
}
