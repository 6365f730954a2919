//! Colliders laid out for a pass.

use glam::{Mat3, Vec3};

use super::near::{Bounds, Group};
use crate::body::{MovingCollider, Shape};
use crate::math::on_sphere::HalfSpace;
use crate::math::unit_ball::{half_space, tangent_plane};
use crate::model::FieldObstacle;

/// How far outside of a collider a particle is put (m): ten micrometres, a quarter of a fibre's
/// radius, so that rounding does not put it back inside.
const SKIN: f32 = 1e-5;

/// A collider laid out for a pass. Sphere, ellipsoid and capsule are one shape here: a unit ball
/// scaled along the axes and swept along y.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepCollider {
    /// From the world to the unit ball: `to_ball * p - ball_centre`. For a plane, lengths stay.
    pub(super) to_ball: Mat3,
    pub(super) ball_centre: Vec3,
    /// How far the unit ball is swept along y, both ways.
    pub(super) sweep: f32,
    pub(super) plane: bool,
    /// Centre (m); for a plane any point of it.
    pub(super) centre: Vec3,
    /// The squared distance from the centre in the scale of the unit ball, as a quadratic form: xx, yy,
    /// zz, xy, xz, yz (1/m^2).
    pub(super) form: [f32; 6],
    pub(super) friction: f32,
    /// Velocity of the material at `p` is `spin * p + drift` (m/s).
    pub(super) spin: Mat3,
    pub(super) drift: Vec3,
    /// One over the radii (1/m).
    inverse_radii: Vec3,
}

/// What hair must stay out of in a pass.
pub(super) struct Obstacles<'a> {
    pub(super) colliders: &'a [StepCollider],
    /// The same in lanes.
    pub(super) groups: &'a [Group],
    pub(super) field: Option<&'a FieldObstacle<'a>>,
}

impl Obstacles<'_> {
    /// How deep a point is inside (m), 0 outside.
    pub(super) fn depth_at(&self, p: Vec3) -> f32 {
        let shapes = self.colliders.iter().filter_map(|c| c.inside(p)).map(|(_, d)| -d);
        let field = self.field.map_or(0.0, |f| f.skin - f.field.distance_at(p));
        shapes.fold(field.max(0.0), f32::max)
    }

    /// The nearest place outside, without regard to lengths.
    pub(super) fn push_out(&self, mut p: Vec3) -> Vec3 {
        for collider in self.colliders {
            if let Some((normal, distance)) = collider.inside(p) {
                p -= normal * distance;
            }
        }
        if let Some(obstacle) = self.field {
            let sample = obstacle.field.sample(p);
            if sample.distance < obstacle.skin {
                p += sample.gradient * (obstacle.skin - sample.distance);
            }
        }
        p
    }
}

impl StepCollider {
    pub(super) fn new(collider: &MovingCollider, dt: f32) -> Self {
        let (inverse_radii, half_height, plane) = match collider.shape {
            Shape::Sphere { radius } => (Vec3::splat(1.0 / (radius + SKIN)), 0.0, false),
            Shape::Ellipsoid { radii } => (1.0 / (radii + SKIN), 0.0, false),
            Shape::Capsule { half_height, radius } => {
                (Vec3::splat(1.0 / (radius + SKIN)), half_height, false)
            }
            Shape::Plane => (Vec3::ONE, 0.0, true),
        };
        let world_from_shape = Mat3::from_quat(collider.end.rotation);
        let centre = collider.end.translation
            + if plane { world_from_shape * Vec3::new(0.0, SKIN, 0.0) } else { Vec3::ZERO };
        // The material point at p came from `back(p)`: its velocity is the difference over dt.
        let back = collider.start * collider.end.inverse();
        let shape_from_world = world_from_shape.transpose();
        let to_ball = Mat3::from_diagonal(inverse_radii) * shape_from_world;
        let [x, y, z] = [to_ball.x_axis, to_ball.y_axis, to_ball.z_axis];
        Self {
            to_ball,
            ball_centre: to_ball * centre,
            sweep: half_height * inverse_radii.y,
            plane,
            centre,
            inverse_radii,
            form: [x.dot(x), y.dot(y), z.dot(z), 2.0 * x.dot(y), 2.0 * x.dot(z), 2.0 * y.dot(z)],
            friction: collider.friction,
            spin: (Mat3::IDENTITY - Mat3::from_quat(back.rotation)) * (1.0 / dt),
            drift: -back.translation / dt,
        }
    }

    /// A box around it in the world.
    pub(super) fn bounds(&self) -> Bounds {
        if self.plane {
            return Bounds { lo: Vec3::NEG_INFINITY, hi: Vec3::INFINITY };
        }
        // Half extents of a turned ellipsoid, plus those of the piece of axis it is swept along.
        let radii2 = 1.0 / (self.inverse_radii * self.inverse_radii);
        let shape_from_world = Mat3::from_diagonal(1.0 / self.inverse_radii) * self.to_ball;
        let half_height = self.sweep / self.inverse_radii.y;
        let reach = |axis: Vec3| (axis * axis).dot(radii2).sqrt() + axis.y.abs() * half_height;
        let m = shape_from_world;
        let extent = Vec3::new(reach(m.x_axis), reach(m.y_axis), reach(m.z_axis));
        Bounds { lo: self.centre - extent, hi: self.centre + extent }
    }

    /// The tangent plane that a point inside is nearest to in the collider's own scale, and how far
    /// the point is from it (negative inside). `None` outside.
    #[inline(always)]
    pub(super) fn inside(&self, p: Vec3) -> Option<(Vec3, f32)> {
        let s = self.in_unit_ball(p);
        let outside = if self.plane { s.y >= 0.0 } else { s.dot(s) >= 1.0 };
        (!outside).then(|| self.tangent(s))
    }

    /// A half-space free of the collider that is good around `p`, inside or outside.
    pub(super) fn half_space(&self, p: Vec3) -> HalfSpace {
        let (normal, distance) = self.tangent(self.in_unit_ball(p));
        HalfSpace { normal, offset: normal.dot(p) - distance }
    }

    /// A point in the scale of the unit ball, from the nearest place of the swept centre.
    #[inline(always)]
    pub(super) fn in_unit_ball(&self, p: Vec3) -> Vec3 {
        let mut s = self.to_ball * p - self.ball_centre;
        s.y -= s.y.clamp(-self.sweep, self.sweep);
        s
    }

    /// Tangent plane at the surface point on the ray from the axis through `s`: its normal, and how
    /// far the point is from it (m).
    fn tangent(&self, s: Vec3) -> (Vec3, f32) {
        if self.plane {
            return half_space(&self.to_ball, s);
        }
        tangent_plane(&self.to_ball, s)
    }

    /// Velocity (m/s) of the material at `p`.
    pub(super) fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.spin * p + self.drift
    }
}

#[cfg(test)]
pub(super) mod tests {
    use glam::Quat;

    use super::*;
    use crate::math::RigidTransform;

    /// A collider that stands still.
    pub(crate) fn fixed(shape: Shape, centre: Vec3, rotation: Quat) -> StepCollider {
        let pose = RigidTransform { rotation, translation: centre };
        StepCollider::new(&MovingCollider { shape, friction: 0.3, start: pose, end: pose }, 0.01)
    }
}
