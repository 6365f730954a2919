//! Sphere, ellipsoid and capsule as one shape: a unit ball, scaled along the axes and swept along y; and a
//! half-space beside them. Models lay colliders out for their own passes; distances of points are here.

use glam::{Mat3, Vec3};

/// Smallest square of a gradient (1/m^2) with a defined direction.
pub(crate) const NO_GRADIENT: f32 = 1e-18;

/// The normal of the tangent plane at the surface point on the ray from the axis through `s`, and the signed distance of
/// the point from that plane (m), negative inside. `s` is the point in the scale of the ball, from the nearest
/// place of the swept centre.
///
/// Model: in the unit ball's scale the plane is `s . s' = |s|`; the world's gradient of the left side is
/// `to_ball^T s`.
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

/// The same of a half-space above y, whose scale is the world's.
pub(crate) fn half_space(to_ball: &Mat3, s: Vec3) -> (Vec3, f32) {
    (to_ball.transpose() * Vec3::Y, s.y)
}
