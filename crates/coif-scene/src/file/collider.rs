//! `[[body.collider]]`: colliders listed in the scene file.
//!
//! A draft holds the keys as they are in the file; a spec is a valid collider made from a draft.

use coif::body::{Collider, Shape};
use coif::parameters;
use glam::{EulerRot, Quat, Vec3};

use super::choices::ColliderKind;
use super::error::Problem;

/// A shape that hair collides with. It moves with the body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColliderSpec {
    /// The shape.
    pub shape: ColliderShape,
    /// Its centre, or a point on the plane (m), each component -1000 to 1000. Default: 0.
    pub center: Vec3,
    /// Coulomb friction against hair (no unit), 0 to 10. Default: 0.3.
    pub friction: f32,
}

/// A shape and its orientation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ColliderShape {
    /// A ball.
    Sphere {
        /// 0.0001 to 100 m.
        radius: f32,
    },
    /// A ball stretched along three axes.
    Ellipsoid {
        /// Half axes (m), each 0.0001 to 100.
        radii: Vec3,
        /// Rotation about its own x, then y, then z axis (degrees), each -360 to 360. Default: 0.
        rotation: Vec3,
    },
    /// A rod with round ends.
    Capsule {
        /// 0.0001 to 100 m.
        radius: f32,
        /// Half its length without the round ends (m), 0 to 100.
        half_height: f32,
        /// Direction of the rod, of any length but 0. Default: y.
        axis: Vec3,
    },
    /// A half-space.
    Plane {
        /// Direction away from the solid side, of any length but 0. Default: y.
        normal: Vec3,
    },
}

impl ColliderSpec {
    /// Default of [`Self::friction`].
    pub const FRICTION: f32 = 0.3;

    /// The collider in the body's rest shape, on bone `bone`.
    pub fn build(&self, bone: usize) -> Collider {
        let (shape, rotation) = match self.shape {
            ColliderShape::Sphere { radius } => (Shape::Sphere { radius }, Quat::IDENTITY),
            ColliderShape::Ellipsoid { radii, rotation: r } => {
                let [x, y, z] = r.to_array().map(f32::to_radians);
                (Shape::Ellipsoid { radii }, Quat::from_euler(EulerRot::XYZ, x, y, z))
            }
            ColliderShape::Capsule { radius, half_height, axis } => {
                (Shape::Capsule { half_height, radius }, rotation_to(axis))
            }
            ColliderShape::Plane { normal } => (Shape::Plane, rotation_to(normal)),
        };
        Collider { friction: self.friction, ..Collider::new(shape, self.center, rotation, bone) }
    }
}

/// The shortest rotation that takes the y axis to `direction`.
fn rotation_to(direction: Vec3) -> Quat {
    Quat::from_rotation_arc(Vec3::Y, direction.normalize_or(Vec3::Y))
}

parameters! {
    /// The keys of a collider as written; absent keys are `None`.
    #[derive(Copy)]
    pub struct ColliderDraft of "collider" {
        /// The kind of shape.
        shape: Option<ColliderKind> = None, absent: "required";
        /// Its centre, or a point on a plane.
        center: Option<Vec3> = None, "m", -1000.0..=1000.0, absent: "[0, 0, 0]";
        /// Radius of a sphere or a capsule.
        radius: Option<f32> = None, "m", 1e-4..=100.0, absent: "required for that shape";
        /// Half axes of an ellipsoid.
        radii: Option<Vec3> = None, "m", 1e-4..=100.0, absent: "required for that shape";
        /// Half the length of a capsule, without its round ends.
        half_height: Option<f32> = None, "m", 0.0..=100.0, absent: "required for that shape";
        /// Rotation of an ellipsoid about its x, then y, then z axis.
        rotation: Option<Vec3> = None, "degrees", -360.0..=360.0, absent: "[0, 0, 0]";
        /// Direction of a capsule.
        axis: Option<Vec3> = None, "direction", -1000.0..=1000.0, absent: "[0, 1, 0]";
        /// Direction away from the solid side of a plane.
        normal: Option<Vec3> = None, "direction", -1000.0..=1000.0, absent: "[0, 1, 0]";
        /// Coulomb friction against hair.
        friction: Option<f32> = None, "", 0.0..=10.0, absent: "0.3";
    }
}

/// The keys that a shape requires, in the order of [`ColliderKind::ALL`].
const REQUIRED: [&[&str]; 4] = [&["radius"], &["radii"], &["radius", "half_height"], &[]];
/// The keys that a shape accepts in addition to those of every shape.
const OPTIONAL: [&[&str]; 4] = [&[], &["rotation"], &["axis"], &["normal"]];

impl ColliderDraft {
    fn given(&self) -> [(&'static str, bool); 6] {
        [
            ("radius", self.radius.is_some()),
            ("radii", self.radii.is_some()),
            ("half_height", self.half_height.is_some()),
            ("rotation", self.rotation.is_some()),
            ("axis", self.axis.is_some()),
            ("normal", self.normal.is_some()),
        ]
    }

    /// Makes the collider, or returns the missing or superfluous key and the key to point at.
    pub(crate) fn finish(&self) -> Result<ColliderSpec, (&'static str, Problem)> {
        let table = || "in [[body.collider]]".to_string();
        let Some(shape) = self.shape else {
            let other = format!("a 'shape': one of {}", ColliderKind::NAMES.join(", "));
            return Err(("", Problem::Missing { key: "collider".into(), table: table(), other }));
        };
        let (required, optional) = (REQUIRED[shape as usize], OPTIONAL[shape as usize]);
        for (key, given) in self.given() {
            if given && !required.contains(&key) && !optional.contains(&key) {
                let other = format!("shape = \"{}\"", shape.name());
                return Err((key, Problem::Conflict { key: key.into(), table: table(), other }));
            }
            if !given && required.contains(&key) {
                let (key, other) = (shape.name().into(), format!("a '{key}'"));
                return Err(("shape", Problem::Missing { key, table: table(), other }));
            }
        }
        for (key, direction) in [("axis", self.axis), ("normal", self.normal)] {
            if direction.is_some_and(|d| d.try_normalize().is_none()) {
                let (value, allowed) = ("too short".into(), "a direction".into());
                let key_text = key.into();
                return Err((
                    key,
                    Problem::OutOfRange { key: key_text, table: table(), value, allowed },
                ));
            }
        }
        let radius = self.radius.unwrap_or_default();
        let shape = match shape {
            ColliderKind::Sphere => ColliderShape::Sphere { radius },
            ColliderKind::Ellipsoid => ColliderShape::Ellipsoid {
                radii: self.radii.unwrap_or_default(),
                rotation: self.rotation.unwrap_or_default(),
            },
            ColliderKind::Capsule => ColliderShape::Capsule {
                radius,
                half_height: self.half_height.unwrap_or_default(),
                axis: self.axis.unwrap_or(Vec3::Y),
            },
            ColliderKind::Plane => ColliderShape::Plane { normal: self.normal.unwrap_or(Vec3::Y) },
        };
        Ok(ColliderSpec {
            shape,
            center: self.center.unwrap_or_default(),
            friction: self.friction.unwrap_or(ColliderSpec::FRICTION),
        })
    }
}

impl From<&ColliderSpec> for ColliderDraft {
    fn from(spec: &ColliderSpec) -> Self {
        let (center, friction) = (Some(spec.center), Some(spec.friction));
        let draft = Self { center, friction, ..Self::default() };
        match spec.shape {
            ColliderShape::Sphere { radius } => {
                Self { shape: Some(ColliderKind::Sphere), radius: Some(radius), ..draft }
            }
            ColliderShape::Ellipsoid { radii, rotation } => Self {
                shape: Some(ColliderKind::Ellipsoid),
                radii: Some(radii),
                rotation: Some(rotation),
                ..draft
            },
            ColliderShape::Capsule { radius, half_height, axis } => Self {
                shape: Some(ColliderKind::Capsule),
                radius: Some(radius),
                half_height: Some(half_height),
                axis: Some(axis),
                ..draft
            },
            ColliderShape::Plane { normal } => {
                Self { shape: Some(ColliderKind::Plane), normal: Some(normal), ..draft }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction_of_y(shape: ColliderShape) -> Vec3 {
        let spec = ColliderSpec { shape, center: Vec3::X, friction: 0.1 };
        spec.build(0).world_from_shape.rotation * Vec3::Y
    }

    #[test]
    fn directions_and_rotations_turn_the_shape() {
        let plane = ColliderShape::Plane { normal: Vec3::new(0.0, 0.0, -2.0) };
        assert!(direction_of_y(plane).distance(-Vec3::Z) < 1e-6);
        let rotation = Vec3::new(90.0, 0.0, 0.0);
        let ellipsoid = ColliderShape::Ellipsoid { radii: Vec3::ONE, rotation };
        assert!(direction_of_y(ellipsoid).distance(Vec3::Z) < 1e-6);
    }
}
