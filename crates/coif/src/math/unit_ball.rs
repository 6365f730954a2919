//! Distances of points to colliders. Sphere, ellipsoid and capsule are one shape, a unit ball that is scaled along the
//! axes and swept along y; half-spaces are separate. Models store colliders in their own layouts.

use glam::{Mat3, Vec3};

/// Smallest squared gradient (1/m^2) with a defined direction.
pub(crate) const NO_GRADIENT: f32 = 1e-18;

/// The normal of the tangent plane at the surface point on the ray from the axis through `s`, and the signed distance of
/// the point from that plane (m), negative inside.
///
/// Model: in the frame of the unit ball the plane is `s . s' = |s|`; the gradient of the left side in world space is
/// `to_ball^T s`.
/// Symbols: s position of the point in the frame of the unit ball, relative to the nearest point of the swept centre.
pub(crate) fn tangent_plane(to_ball: &Mat3, s: Vec3) -> (Vec3, f32) {
    let level2 = s.dot(s);
    let gradient = to_ball.transpose() * s;
    let size2 = gradient.dot(gradient);
    if size2 < NO_GRADIENT {
        // At the centre any direction is valid.
        let gradient = to_ball.transpose() * Vec3::X;
        return (gradient.normalize_or(Vec3::X), -1.0 / gradient.length());
    }
    let inverse = 1.0 / size2.sqrt();
    (gradient * inverse, (level2 - level2.sqrt()) * inverse)
}

/// The normal of a half-space that is solid below y = 0 of its frame, and the signed distance of a point from it (m),
/// negative inside.
pub(crate) fn half_space(to_ball: &Mat3, s: Vec3) -> (Vec3, f32) {
    (to_ball.transpose() * Vec3::Y, s.y)
}
