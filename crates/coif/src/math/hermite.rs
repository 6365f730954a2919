//! Cubic Hermite interpolation.

/// The cubic Hermite polynomials: value and slope at 0, value and slope at 1.
#[inline]
pub(crate) fn hermite(s: f32) -> [f32; 4] {
    let r = 1.0 - s;
    [(1.0 + 2.0 * s) * r * r, s * r * r, s * s * (3.0 - 2.0 * s), -(s * s * r)]
}

/// Derivatives of [`hermite`].
#[inline]
pub(crate) fn hermite_rates(s: f32) -> [f32; 4] {
    let r = 1.0 - s;
    [-6.0 * s * r, r * (1.0 - 3.0 * s), 6.0 * s * r, s * (3.0 * s - 2.0)]
}
