//! Levers: the contribution of a spring that spans a joint to the rotational stiffness of the joint.
//!
//! A small rotation `w` (rad) of all particles beyond the joint about it changes the length of the spring by `w . g`. A
//! spring of stiffness `k` (N/m) gives the joint the stiffness `k g g^T` (N m): `|g|` is its lever (m).

use glam::DVec3;

use super::altitude::min_altitude;

/// Squared levers of springs in straight hair with segments of length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeverSquared {
    /// Springs to the second next particle.
    pub bend: f64,
    /// Springs to the third next particle.
    pub torsion: f64,
    /// Altitude springs.
    pub altitude: f64,
}

impl LeverSquared {
    /// Squared levers about the second point `x1`, between the extra particles `p0` and `p1`.
    pub(super) fn of_even_hair([x0, p0, x1, p1]: [DVec3; 4]) -> Self {
        Self {
            bend: spring_lever_squared(p0, p1, x1),
            torsion: spring_lever_squared(x0, p1, x1),
            altitude: altitude_lever_squared([x0, p0, x1, p1], x1, 3),
        }
    }
}

/// The squared lever (m^2) about a joint of a spring between two particles.
pub(super) fn spring_lever_squared(a: DVec3, b: DVec3, joint: DVec3) -> f64 {
    (b - joint).cross((b - a).normalize_or_zero()).length_squared()
}

/// The squared lever (m^2) about a joint of the altitude spring of four particles, of which those from
/// `outer` on are beyond the joint.
pub(super) fn altitude_lever_squared(four: [DVec3; 4], joint: DVec3, outer: usize) -> f64 {
    let Some(altitude) = min_altitude(four) else { return 0.0 };
    let turned = |i: usize| altitude.weights[i] * (four[i] - joint).cross(altitude.direction);
    (outer..4).map(turned).sum::<DVec3>().length_squared()
}
