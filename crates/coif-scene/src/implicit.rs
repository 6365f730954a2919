//! Implicit solids: distance-like functions that are negative inside, joined smoothly.
//!
//! Not exact distances everywhere (ellipsoids and smooth joints are close to it), but of slope near
//! one, so that hair can be kept at a distance from them while it grows.

use glam::{Quat, Vec3};

/// A solid given by a function of slope near one (m).
pub trait Implicit: Sync {
    /// Negative inside, positive outside, about the distance to the surface (m).
    fn value(&self, p: Vec3) -> f32;

    /// A box that contains the solid (m).
    fn bounds(&self) -> (Vec3, Vec3);

    /// Unit normal, pointing out of the solid.
    fn normal(&self, p: Vec3) -> Vec3 {
        // Four samples at the corners of a small tetrahedron.
        const H: f32 = 5e-4;
        let corners = [(1.0, -1.0, -1.0), (-1.0, -1.0, 1.0), (-1.0, 1.0, -1.0), (1.0, 1.0, 1.0)];
        corners
            .map(Vec3::from)
            .into_iter()
            .map(|c| c * self.value(p + c * H))
            .sum::<Vec3>()
            .normalize_or(Vec3::Y)
    }
}

/// Approximate distance to an ellipsoid.
pub(crate) fn ellipsoid(p: Vec3, centre: Vec3, radii: Vec3) -> f32 {
    let q = (p - centre) / radii;
    let k0 = q.length();
    let k1 = (q / radii).length();
    if k1 > 1e-9 { k0 * (k0 - 1.0) / k1 } else { -radii.min_element() }
}

/// Approximate distance to an ellipsoid rotated by `rotation`.
pub(crate) fn turned_ellipsoid(p: Vec3, centre: Vec3, rotation: Quat, radii: Vec3) -> f32 {
    ellipsoid(rotation.conjugate() * (p - centre), Vec3::ZERO, radii)
}

/// Distance to a ball.
pub(crate) fn sphere(p: Vec3, centre: Vec3, radius: f32) -> f32 {
    p.distance(centre) - radius
}

/// Approximate distance to a limb, a cone with round ends, from `a` to `b` whose radius goes from `ra` to `rb`.
pub(crate) fn limb(p: Vec3, a: Vec3, b: Vec3, ra: f32, rb: f32) -> f32 {
    let (pa, ba) = (p - a, b - a);
    let t = (pa.dot(ba) / ba.length_squared()).clamp(0.0, 1.0);
    (pa - ba * t).length() - (ra + (rb - ra) * t)
}

/// Union with a fillet of about `k` metres.
pub(crate) fn join(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * k * 0.25
}

/// Difference of `a` and `b`, with a rounded edge of about `k` metres.
pub(crate) fn carve(a: f32, b: f32, k: f32) -> f32 {
    -join(-a, b, k)
}

/// 0 below `lo`, 1 above `hi`, smooth between.
pub(crate) fn smoothstep(lo: f32, hi: f32, x: f32) -> f32 {
    let t = ((x - lo) / (hi - lo)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_a_union_away_from_the_seam_and_fuller_at_it() {
        assert_eq!(join(0.3, -0.1, 0.02), -0.1);
        assert!(join(0.0, 0.0, 0.02) < 0.0);
        assert_eq!(carve(-0.2, 0.3, 0.01), -0.2);
        assert!(carve(-0.2, -0.1, 0.01) >= 0.1);
    }

    #[test]
    fn distances_are_right_on_axes() {
        let r = Vec3::new(0.1, 0.2, 0.3);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let surface = axis * r;
            assert!(ellipsoid(surface, Vec3::ZERO, r).abs() < 1e-6);
            assert!(
                (ellipsoid(surface * 1.1, Vec3::ZERO, r) - 0.1 * surface.length()).abs() < 0.01
            );
        }
        let d = limb(Vec3::new(0.5, 1.0, 0.0), Vec3::ZERO, Vec3::Y * 2.0, 0.1, 0.3);
        assert!((d - 0.3).abs() < 1e-6);
    }
}
