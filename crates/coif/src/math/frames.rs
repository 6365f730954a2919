use glam::{DVec3, Quat, Vec3};

/// A rotation followed by a translation (m). Named `target_from_source` where it is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidTransform {
    /// Unit quaternion.
    pub rotation: Quat,
    /// In metres.
    pub translation: Vec3,
}

impl RigidTransform {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO };

    /// A pure translation (m).
    pub fn from_translation(translation: Vec3) -> Self {
        Self { rotation: Quat::IDENTITY, translation }
    }

    /// Whether it is finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }

    /// Rotates by `rotation` about the fixed point `pivot` (m).
    pub fn about(pivot: Vec3, rotation: Quat) -> Self {
        Self { rotation, translation: pivot - rotation * pivot }
    }

    /// Transforms a point.
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.translation
    }

    /// Transforms a direction, without the translation.
    pub fn direction(&self, d: Vec3) -> Vec3 {
        self.rotation * d
    }

    /// The inverse transform.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { rotation, translation: -(rotation * self.translation) }
    }
}

impl std::ops::Mul for RigidTransform {
    type Output = Self;

    /// `a * b` applies b first: `a_from_c = a_from_b * b_from_c`.
    fn mul(self, b: Self) -> Self {
        Self {
            rotation: (self.rotation * b.rotation).normalize(),
            translation: self.point(b.translation),
        }
    }
}

/// A rotation followed by a translation (m) in a world that is too large for single precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorldTransform {
    /// Unit quaternion.
    pub rotation: Quat,
    /// In metres.
    pub translation: DVec3,
}

impl WorldTransform {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, translation: DVec3::ZERO };

    /// A pure translation (m).
    pub fn from_translation(translation: DVec3) -> Self {
        Self { rotation: Quat::IDENTITY, translation }
    }

    /// Whether it is finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }

    /// Transforms a point.
    pub fn point(&self, p: Vec3) -> DVec3 {
        (self.rotation * p).as_dvec3() + self.translation
    }

    /// The same transform relative to `origin` (m).
    pub fn relative_to(&self, origin: DVec3) -> RigidTransform {
        let translation = (self.translation - origin).as_vec3();
        RigidTransform { rotation: self.rotation, translation }
    }
}

impl From<RigidTransform> for WorldTransform {
    fn from(t: RigidTransform) -> Self {
        Self { rotation: t.rotation, translation: t.translation.as_dvec3() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_and_product_agree_with_points() {
        let a = RigidTransform::about(Vec3::new(0.1, -0.4, 2.0), Quat::from_rotation_y(0.7));
        let b = RigidTransform {
            rotation: Quat::from_rotation_x(-1.1),
            translation: Vec3::new(3.0, 0.0, -1.0),
        };
        let p = Vec3::new(0.3, 0.2, -0.9);
        assert!((a.inverse().point(a.point(p)) - p).length() < 1e-6);
        assert!(((a * b).point(p) - a.point(b.point(p))).length() < 1e-6);
        let pivot = Vec3::new(0.1, -0.4, 2.0);
        assert!((a.point(pivot) - pivot).length() < 1e-6);
    }

    /// Relative to a nearby origin, a position 20 km away is as precise as one at the origin.
    #[test]
    fn a_far_position_is_precise_relative_to_a_nearby_origin() {
        let origin = DVec3::new(20_000.0, 0.0, -5_000.0);
        let far = WorldTransform {
            rotation: Quat::from_rotation_x(0.4),
            translation: origin + DVec3::new(0.123_456, 1.5, 0.0),
        };
        let p = Vec3::new(0.1, 0.2, 0.3);
        let near = far.relative_to(origin);
        assert!((near.translation - Vec3::new(0.123_456, 1.5, 0.0)).length() < 1e-7);
        assert!(((far.point(p) - origin).as_vec3() - near.point(p)).length() < 1e-6);
        assert_eq!(WorldTransform::from(near).relative_to(DVec3::ZERO), near);
    }
}
