//! Analytic colliders: convex shapes that move rigidly, and the closest point on each.

use glam::{Quat, Vec3};

use super::project_point_ellipsoid;
use crate::math::RigidTransform;
use crate::{Error, Result};

/// A convex solid about its own origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A ball.
    Sphere {
        /// In metres.
        radius: f32,
    },
    /// A ball stretched along the axes.
    Ellipsoid {
        /// Half axes (m).
        radii: Vec3,
    },
    /// All points within `radius` of a piece of the y axis.
    Capsule {
        /// Half the length of the piece, without the round ends (m).
        half_height: f32,
        /// In metres.
        radius: f32,
    },
    /// Everything below y = 0.
    Plane,
}

/// The closest point of a surface to a query point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// On the surface (m).
    pub point: Vec3,
    /// Out of the solid, unit length.
    pub normal: Vec3,
    /// Signed distance from the surface to the query point (m): positive outside, negative inside.
    pub distance: f32,
}

/// Closest point of a sphere about the origin; for the centre, the topmost point.
pub fn project_point_sphere(p: Vec3, radius: f32) -> SurfacePoint {
    let normal = p.normalize_or(Vec3::Y);
    SurfacePoint { point: normal * radius, normal, distance: p.length() - radius }
}

/// Closest point of a capsule along the y axis.
pub fn project_point_capsule(p: Vec3, half_height: f32, radius: f32) -> SurfacePoint {
    let on_axis = Vec3::new(0.0, p.y.clamp(-half_height, half_height), 0.0);
    let normal = (p - on_axis).normalize_or(Vec3::X);
    SurfacePoint {
        point: on_axis + normal * radius,
        normal,
        distance: (p - on_axis).length() - radius,
    }
}

/// Closest point of the plane y = 0, solid below.
pub fn project_point_plane(p: Vec3) -> SurfacePoint {
    SurfacePoint { point: Vec3::new(p.x, 0.0, p.z), normal: Vec3::Y, distance: p.y }
}

impl Shape {
    /// Closest point of the surface, in the shape's own frame.
    pub fn project_point(&self, p: Vec3) -> SurfacePoint {
        match *self {
            Shape::Sphere { radius } => project_point_sphere(p, radius),
            Shape::Ellipsoid { radii } => project_point_ellipsoid(p, radii),
            Shape::Capsule { half_height, radius } => project_point_capsule(p, half_height, radius),
            Shape::Plane => project_point_plane(p),
        }
    }

    /// Whether a point is inside, in the shape's own frame. Much cheaper than
    /// [`Shape::project_point`].
    #[inline]
    pub fn contains(&self, p: Vec3) -> bool {
        match *self {
            Shape::Sphere { radius } => p.length_squared() < radius * radius,
            Shape::Ellipsoid { radii } => (p / radii).length_squared() < 1.0,
            Shape::Capsule { half_height, radius } => {
                let y = p.y - p.y.clamp(-half_height, half_height);
                Vec3::new(p.x, y, p.z).length_squared() < radius * radius
            }
            Shape::Plane => p.y < 0.0,
        }
    }

    /// The shape with its surface moved outwards by about `by` metres (exactly, but for an
    /// ellipsoid, whose half axes grow).
    pub fn grown(&self, by: f32) -> Shape {
        match *self {
            Shape::Sphere { radius } => Shape::Sphere { radius: radius + by },
            Shape::Ellipsoid { radii } => Shape::Ellipsoid { radii: radii + by },
            Shape::Capsule { half_height, radius } => {
                Shape::Capsule { half_height, radius: radius + by }
            }
            Shape::Plane => Shape::Plane,
        }
    }

    /// Returns an error for the first size that is not finite or not positive.
    pub fn validate(&self) -> Result<()> {
        let sizes: &[(&str, f32)] = match self {
            Shape::Sphere { radius } => &[("sphere radius (m)", *radius)],
            Shape::Ellipsoid { radii } => &[
                ("ellipsoid radius x (m)", radii.x),
                ("ellipsoid radius y (m)", radii.y),
                ("ellipsoid radius z (m)", radii.z),
            ],
            Shape::Capsule { half_height, radius } => {
                if !(half_height.is_finite() && *half_height >= 0.0) {
                    return Err(Error::OutOfRange {
                        name: "capsule half_height (m)".into(),
                        value: (*half_height).into(),
                        expected: "zero or more",
                    });
                }
                &[("capsule radius (m)", *radius)]
            }
            Shape::Plane => &[],
        };
        for &(name, value) in sizes {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::OutOfRange {
                    name: name.into(),
                    value: value.into(),
                    expected: "a positive number",
                });
            }
        }
        Ok(())
    }
}

/// A shape fixed to one bone of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collider {
    /// What it is.
    pub shape: Shape,
    /// Where it is in the body's rest shape.
    pub world_from_shape: RigidTransform,
    /// The bone that it is fixed to.
    pub bone: usize,
    /// Coulomb friction against hair; used as it is: 0 is frictionless.
    pub friction: f32,
}

impl Collider {
    /// A shape at `centre` (m), turned by `rotation`, on bone `bone`.
    pub fn new(shape: Shape, centre: Vec3, rotation: Quat, bone: usize) -> Self {
        let world_from_shape = RigidTransform { rotation, translation: centre };
        Self { shape, world_from_shape, bone, friction: 0.3 }
    }
}

/// A collider during one step: where it is at the start and at the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovingCollider {
    /// What it is.
    pub shape: Shape,
    /// Coulomb friction against hair.
    pub friction: f32,
    /// World from shape at the start of the step.
    pub start: RigidTransform,
    /// World from shape at the end of the step.
    pub end: RigidTransform,
}

impl MovingCollider {
    /// Closest point of the surface at the end of the step, in the world.
    pub fn project_point(&self, p: Vec3) -> SurfacePoint {
        let local = self.shape.project_point(self.end.inverse().point(p));
        SurfacePoint {
            point: self.end.point(local.point),
            normal: self.end.direction(local.normal),
            distance: local.distance,
        }
    }

    /// Depth of a point inside at the end of the step (m); 0 outside.
    pub fn depth_at(&self, p: Vec3) -> f32 {
        let local = self.end.inverse().point(p);
        if self.shape.contains(local) {
            (-self.shape.project_point(local).distance).max(0.0)
        } else {
            0.0
        }
    }

    /// Mean velocity (m/s) over a step of `dt` seconds of the material point that ends at `p`.
    pub fn velocity_at(&self, p: Vec3, dt: f32) -> Vec3 {
        (p - self.start.point(self.end.inverse().point(p))) / dt
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shapes() -> [Shape; 5] {
        [
            Shape::Sphere { radius: 0.4 },
            Shape::Ellipsoid { radii: Vec3::new(0.3, 0.8, 0.5) },
            Shape::Ellipsoid { radii: Vec3::new(0.9, 0.05, 0.5) },
            Shape::Capsule { half_height: 0.5, radius: 0.2 },
            Shape::Plane,
        ]
    }

    proptest! {
        /// The result of a projection lies on the surface, the offset to it is along the normal, and the distance has
        /// the size and the sign of that offset.
        #[test]
        fn projections_are_on_the_surface_and_along_the_normal(
            p in (-1.5f32..1.5, -1.5f32..1.5, -1.5f32..1.5).prop_map(Vec3::from)
        ) {
            for shape in shapes() {
                let s = shape.project_point(p);
                prop_assert!((s.normal.length() - 1.0).abs() < 1e-4);
                prop_assert!((s.point + s.normal * s.distance).distance(p) < 2e-4, "{shape:?} {s:?}");
                if s.distance.abs() > 1e-4 {
                    prop_assert_eq!(shape.contains(p), s.distance < 0.0);
                }
                let again = shape.project_point(s.point);
                prop_assert!(again.distance.abs() < 1e-4, "{shape:?} {again:?}");
            }
        }
    }

    #[test]
    fn degenerate_points_have_an_answer() {
        for shape in shapes() {
            let s = shape.project_point(Vec3::ZERO);
            assert!(s.point.is_finite() && s.normal.is_normalized(), "{shape:?} {s:?}");
        }
    }

    #[test]
    fn surface_velocity_is_that_of_the_material_point() {
        let turn = RigidTransform::about(Vec3::ZERO, Quat::from_rotation_z(0.01));
        let collider = MovingCollider {
            shape: Shape::Sphere { radius: 1.0 },
            friction: 0.0,
            start: RigidTransform::IDENTITY,
            end: turn,
        };
        let v = collider.velocity_at(Vec3::X, 0.01);
        assert!(v.distance(Vec3::Y) < 0.01, "{v}");
    }

    #[test]
    fn impossible_sizes_are_named() {
        assert!(Shape::Sphere { radius: -1.0 }.validate().is_err());
        assert!(Shape::Ellipsoid { radii: Vec3::new(1.0, f32::NAN, 1.0) }.validate().is_err());
        assert!(Shape::Capsule { half_height: -0.1, radius: 1.0 }.validate().is_err());
        assert!(shapes().iter().all(|s| s.validate().is_ok()));
    }
}
