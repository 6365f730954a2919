//! A collider posed for a step: its surface, and the velocity of its material.

use glam::{Mat3, Mat3A, Vec3, Vec3A};

use super::SKIN;
use crate::body::{MovingCollider, Shape, project_point_ellipsoid};
use crate::environment::FieldObstacle;
use crate::math::RigidTransform;
use crate::math::on_sphere::HalfSpace;
use crate::math::unit_ball::{half_space, tangent_plane};

/// Largest distance of a path from the middle of a shape, as a fraction of its size, at which it went through it rather than
/// grazed it.
const THROUGH: f32 = 0.8;

/// A collider at one moment, with its surface [`SKIN`] farther out.
///
/// Sphere, ellipsoid and capsule are one shape in lanes: a unit ball, scaled along the axes and swept along y. A distance
/// in the scale of the ball is that from the tangent plane at the surface point on the ray from the middle: never more
/// than the true one, and the same on the surface. [`PosedShape::probe`] gives the true one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PosedShape {
    shape: Shape,
    /// From the world to the unit ball: `to_ball * p - ball_centre`. For a plane, lengths stay.
    pub(crate) to_ball: Mat3,
    pub(crate) ball_centre: Vec3,
    /// How far the unit ball is swept along y, in both directions.
    pub(crate) sweep: f32,
    pub(crate) plane: bool,
    /// How fast the distance from the ball's middle, in its scale, grows at most (1/m).
    pub(crate) steepest: f32,
    /// Centre (m); for a plane any point of it.
    pub(crate) centre: Vec3,
    /// Radius of a ball around it (m).
    pub(super) reach: f32,
    /// Half of the size of a box around it in the world (m).
    pub(crate) extent: Vec3,
    /// The squared distance from the centre in the scale of the unit ball, as a quadratic form: xx, yy,
    /// zz, xy, xz, yz (1/m^2).
    pub(crate) form: [f32; 6],
    pub(crate) friction: f32,
    pub(crate) restitution: f32,
    /// Velocity of the material at `p` is `spin * p + drift` (m/s).
    pub(crate) spin: Mat3,
    pub(crate) drift: Vec3,
    world_from_shape: Mat3A,
    /// In its own frame, a point was at `shape_from_start * (p - start)` at the start of the step.
    shape_from_start: Mat3A,
    start: Vec3A,
}

impl PosedShape {
    /// A collider at the end of its motion of `dt` seconds. Nothing rebounds from it.
    pub(crate) fn new(collider: &MovingCollider, dt: f32) -> Self {
        Self::with_skin(collider, dt, SKIN)
    }

    /// The same, from which hair rebounds.
    pub(crate) fn bouncing(collider: &MovingCollider, dt: f32, restitution: f32) -> Self {
        Self { restitution, ..Self::new(collider, dt) }
    }

    /// The surface of the body itself, at the end of a step: what penetration is measured against.
    pub(crate) fn without_skin(collider: &MovingCollider) -> Self {
        Self::with_skin(collider, 1.0, 0.0)
    }

    fn with_skin(collider: &MovingCollider, dt: f32, skin: f32) -> Self {
        let shape = collider.shape.grown(skin);
        let plane = shape == Shape::Plane;
        let (radii, half_height) = match shape {
            Shape::Sphere { radius } => (Vec3::splat(radius), 0.0),
            Shape::Ellipsoid { radii } => (radii, 0.0),
            Shape::Capsule { half_height, radius } => (Vec3::splat(radius), half_height),
            Shape::Plane => (Vec3::ONE, 0.0),
        };
        let lift = |pose: &RigidTransform| {
            pose.translation + if plane { pose.rotation * (Vec3::Y * skin) } else { Vec3::ZERO }
        };
        let (centre, start) = (lift(&collider.end), lift(&collider.start));
        let world_from_shape = Mat3::from_quat(collider.end.rotation);
        let shape_from_world = world_from_shape.transpose();
        let to_ball = Mat3::from_diagonal(1.0 / radii) * shape_from_world;
        let [x, y, z] = [to_ball.x_axis, to_ball.y_axis, to_ball.z_axis];
        // Half extents of a turned ellipsoid, and of the piece of axis that it is swept along.
        let along = |axis: Vec3| (axis * radii).length() + axis.y.abs() * half_height;
        let m = &shape_from_world;
        let extent = Vec3::new(along(m.x_axis), along(m.y_axis), along(m.z_axis));
        // The material point at p came from `back(p)`: its velocity is the difference over dt.
        let back = collider.start * collider.end.inverse();
        Self {
            shape,
            to_ball,
            ball_centre: to_ball * centre,
            sweep: half_height / radii.y,
            plane,
            steepest: 1.0 / radii.min_element(),
            centre,
            reach: if plane { f32::INFINITY } else { radii.max_element() + half_height },
            extent: if plane { Vec3::INFINITY } else { extent },
            form: [x.dot(x), y.dot(y), z.dot(z), 2.0 * x.dot(y), 2.0 * x.dot(z), 2.0 * y.dot(z)],
            friction: collider.friction,
            restitution: 0.0,
            spin: (Mat3::IDENTITY - Mat3::from_quat(back.rotation)) * (1.0 / dt),
            drift: -back.translation / dt,
            world_from_shape: world_from_shape.into(),
            shape_from_start: Mat3A::from_quat(collider.start.rotation).transpose(),
            start: start.into(),
        }
    }

    /// Velocity (m/s) of the material at `p`.
    #[inline(always)]
    pub(crate) fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.spin * p + self.drift
    }

    /// Whether a box may overlap it.
    #[inline(always)]
    pub(crate) fn overlaps_box(&self, lo: Vec3, hi: Vec3) -> bool {
        (self.centre - self.extent).cmple(hi).all() && (self.centre + self.extent).cmpge(lo).all()
    }

    /// Whether it may reach into a ball (m).
    pub(crate) fn may_reach(&self, middle: Vec3, radius: f32) -> bool {
        if self.plane {
            return self.tangent_plane(middle).1 < radius;
        }
        let reach = self.reach + radius;
        self.centre.distance_squared(middle) < reach * reach
    }

    /// A point in the scale of the unit ball, from the nearest place of the swept centre.
    #[inline(always)]
    pub(crate) fn in_unit_ball(&self, p: Vec3) -> Vec3 {
        let mut s = self.to_ball * p - self.ball_centre;
        s.y -= s.y.clamp(-self.sweep, self.sweep);
        s
    }

    /// The normal of the tangent plane on the ray from the middle through `p`, and how far `p` is from it (m), negative
    /// inside.
    #[inline(always)]
    pub(crate) fn tangent_plane(&self, p: Vec3) -> (Vec3, f32) {
        self.tangent(self.in_unit_ball(p))
    }

    /// [`tangent_plane`](Self::tangent_plane) of a point inside; `None` outside.
    #[inline(always)]
    pub(crate) fn inside(&self, p: Vec3) -> Option<(Vec3, f32)> {
        let s = self.in_unit_ball(p);
        let outside = if self.plane { s.y >= 0.0 } else { s.dot(s) >= 1.0 };
        (!outside).then(|| self.tangent(s))
    }

    /// A half-space free of the shape, tangent near `p`, for points inside or outside.
    pub(crate) fn half_space(&self, p: Vec3) -> HalfSpace {
        let (normal, distance) = self.tangent_plane(p);
        HalfSpace { normal, offset: normal.dot(p) - distance }
    }

    fn tangent(&self, s: Vec3) -> (Vec3, f32) {
        if self.plane {
            return half_space(&self.to_ball, s);
        }
        tangent_plane(&self.to_ball, s)
    }

    /// True distance (m) and normal of the surface for a point nearer to it than `margin`, or inside.
    #[inline(always)]
    pub(crate) fn probe(&self, p: Vec3A, margin: f32) -> Option<(f32, Vec3A)> {
        let margin = margin.max(0.0);
        let from_centre = p - Vec3A::from(self.centre);
        let reach = self.reach + margin;
        if from_centre.length_squared() > reach * reach {
            return None;
        }
        let local = self.world_from_shape.transpose() * from_centre;
        let (distance, normal) = match self.shape {
            Shape::Sphere { radius } => {
                let length = local.length();
                let normal = if length > 0.0 { local / length } else { Vec3A::Y };
                (length - radius, normal)
            }
            Shape::Capsule { half_height, radius } => {
                let on_axis = Vec3A::new(0.0, local.y.clamp(-half_height, half_height), 0.0);
                let out = local - on_axis;
                let length = out.length();
                (length - radius, if length > 0.0 { out / length } else { Vec3A::X })
            }
            Shape::Plane => (local.y, Vec3A::Y),
            Shape::Ellipsoid { radii } => {
                let scaled = local / Vec3A::from(radii + Vec3::splat(margin));
                if scaled.length_squared() >= 1.0 {
                    return None;
                }
                nearest_on_ellipsoid(local, radii)
            }
        };
        (distance < margin).then(|| (distance, self.world_from_shape * normal))
    }

    /// Continuous collision detection: where a path from `before` to `p` in this step entered the shape to leave it elsewhere or
    /// to end deep in it. The nearest point to `p` on the tangent plane there, and its normal.
    #[inline(always)]
    pub(crate) fn entered(&self, before: Vec3A, p: Vec3A) -> Option<(Vec3A, Vec3A)> {
        // A path that stays far away cannot cross it.
        let from_centre = p - Vec3A::from(self.centre);
        let travelled = (before - self.start) - from_centre;
        let far = self.reach + travelled.length();
        if from_centre.length_squared() > far * far {
            return None;
        }
        let from = self.shape_from_start * (before - self.start);
        let to = self.world_from_shape.transpose() * from_centre;
        let radii = match self.shape {
            Shape::Sphere { radius } => Vec3A::splat(radius),
            Shape::Ellipsoid { radii } => radii.into(),
            Shape::Capsule { half_height, radius } => {
                // Test the infinite cylinder: hair winds around the axis, and does not go through along it.
                let y = 0.5 * (from.y + to.y);
                if y.abs() > half_height + radius {
                    return None;
                }
                Vec3A::new(radius, f32::INFINITY, radius)
            }
            // A half-space has no other side.
            Shape::Plane => return None,
        };
        // The shape as a unit ball.
        let (a, b) = (from / radii, to / radii);
        let d = b - a;
        let (aa, ad, dd) = (a.length_squared(), a.dot(d), d.length_squared());
        if aa <= 1.0 || ad >= 0.0 || dd <= 0.0 {
            return None;
        }
        let nearest = (-ad / dd).min(1.0);
        let closest = aa + nearest * (2.0 * ad + nearest * dd);
        if closest >= THROUGH * THROUGH {
            return None;
        }
        let discriminant = ad * ad - dd * (aa - 1.0);
        if discriminant <= 0.0 {
            return None;
        }
        let t = (-ad - discriminant.sqrt()) / dd;
        if !(0.0..=1.0).contains(&t) {
            return None;
        }
        let entry = a + d * t;
        let normal = (entry / radii).normalize_or(Vec3A::Y);
        let below = (entry * radii.min(Vec3A::splat(1e3)) - to).dot(normal);
        let normal = self.world_from_shape * normal;
        (below > 0.0).then(|| (p + normal * below, normal))
    }

    /// Its size, for tests in lanes.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn shape_from_world(&self) -> Mat3 {
        Mat3::from(self.world_from_shape).transpose()
    }
}

/// How deep a point is in the deepest shape or below the body's surface, skin included (m); 0 outside.
pub(crate) fn depth_inside(
    shapes: &[PosedShape],
    field: Option<&FieldObstacle<'_>>,
    p: Vec3A,
) -> f32 {
    let mut depth = 0.0f32;
    for shape in shapes {
        if let Some((distance, ..)) = shape.probe(p, 0.0) {
            depth = depth.max(-distance);
        }
    }
    if let Some(field) = field {
        depth = depth.max(field.skin - field.distance_at(p.into()));
    }
    depth
}

/// A collider during one substep: from the fraction `from` of its motion to the fraction `to`.
pub(crate) fn pose_between(collider: &MovingCollider, from: f32, to: f32) -> MovingCollider {
    let at = |fraction: f32| RigidTransform {
        rotation: collider.start.rotation.slerp(collider.end.rotation, fraction),
        translation: collider.start.translation.lerp(collider.end.translation, fraction),
    };
    MovingCollider { start: at(from), end: at(to), ..*collider }
}

/// Distance to an ellipsoid's surface and the normal there, for a point inside or near it.
///
/// Model: as [`project_point_ellipsoid`], with Newton's method: the function falls and is convex above
/// its pole, so that steps from below the root never pass it.
fn nearest_on_ellipsoid(p: Vec3A, radii: Vec3) -> (f32, Vec3A) {
    let r = Vec3A::from(radii);
    let r2 = r * r;
    let weighted = (r * p).abs();
    // Where the largest term alone is 1 the sum is at least that.
    let mut t = (weighted - r2).max_element();
    if t + r2.min_element() > 1e-3 * r2.min_element() {
        for _ in 0..NEWTON {
            let inverse = (r2 + t).recip();
            let q = weighted * inverse;
            let q2 = q * q;
            let value = q2.element_sum() - 1.0;
            let slope = -2.0 * (q2 * inverse).element_sum();
            if value <= 1e-6 {
                break;
            }
            t -= value / slope;
        }
        let on = r2 * p / (r2 + t);
        let normal = (on / r2).normalize_or(Vec3A::Y);
        return ((p - on).dot(normal), normal);
    }
    let s = project_point_ellipsoid(p.into(), radii);
    (s.distance, s.normal.into())
}

/// Steps of Newton's method: from below the root five are enough for single precision.
const NEWTON: usize = 12;

#[cfg(test)]
mod tests {
    use super::super::testing::{points, shapes};
    use super::*;
    use glam::Quat;

    fn turned(shape: Shape) -> MovingCollider {
        let pose = RigidTransform {
            rotation: Quat::from_euler(glam::EulerRot::YXZ, 0.4, -1.3, 2.0),
            translation: Vec3::new(0.1, 0.2, -0.3),
        };
        MovingCollider { shape, friction: 0.4, start: pose, end: pose }
    }

    /// Zero on the surface, of the right sign, and never more than the true distance; the skin is outside of the body.
    #[test]
    fn a_distance_is_a_lower_bound_and_right_on_the_surface() {
        for shape in shapes() {
            let collider = turned(shape);
            let [bare, posed] =
                [PosedShape::without_skin(&collider), PosedShape::new(&collider, 1.0)];
            for p in points() {
                let truth = collider.project_point(p);
                let (out, distance) = bare.tangent_plane(p);
                assert!(out.is_normalized());
                assert!(distance <= truth.distance.abs() + 1e-5, "{shape:?}: {distance} {truth:?}");
                assert!(truth.distance.abs() < 1e-4 || (distance < 0.0) == (truth.distance < 0.0));
                let (_, zero) = bare.tangent_plane(truth.point);
                assert!(zero.abs() < 1e-4, "{shape:?}: {zero}");
                let (_, skin) = posed.tangent_plane(truth.point);
                assert!((skin + SKIN).abs() < 0.2 * SKIN, "{shape:?}: {skin}");
            }
        }
    }

    #[test]
    fn a_probe_is_the_true_distance() {
        for shape in shapes() {
            let collider = turned(shape);
            let bare = PosedShape::without_skin(&collider);
            let posed = PosedShape::new(&collider, 1.0);
            for p in points() {
                let truth = collider.project_point(p);
                match bare.probe(p.into(), 0.01) {
                    Some((distance, normal)) => {
                        assert!((distance - truth.distance).abs() < 2e-6, "{shape:?} {p}");
                        assert!(Vec3::from(normal).distance(truth.normal) < 3e-3, "{shape:?} {p}");
                        assert!(bare.overlaps_box(p, p) || distance > 0.0);
                        // An ellipsoid's half axes grow, which is less than its surface does in between.
                        let (skin, _) = posed.probe(p.into(), 0.01).unwrap();
                        assert!(
                            (distance - skin - SKIN).abs() < 0.2 * SKIN,
                            "{shape:?} {p} {skin}"
                        );
                    }
                    None => assert!(truth.distance > 0.0099),
                }
            }
        }
    }

    #[test]
    fn the_surface_moves_with_the_collider() {
        let turn = |a: f32| RigidTransform::about(Vec3::Y * 0.3, Quat::from_rotation_z(a));
        let place = RigidTransform::from_translation(Vec3::X * 0.1);
        let (start, end) = (turn(0.2) * place, turn(0.4) * place);
        let collider = MovingCollider { shape: shapes()[1], friction: 0.4, start, end };
        let posed = PosedShape::new(&collider, 0.01);
        for p in points() {
            let carried = turn(0.4).point(turn(0.2).inverse().point(p));
            assert!((carried - posed.velocity_at(carried) * 0.01).distance(p) < 1e-5);
            assert!(posed.velocity_at(p).distance(collider.velocity_at(p, 0.01)) < 1e-3);
        }
        let half = pose_between(&collider, 0.0, 0.5);
        assert!(half.start == start && half.end.rotation.angle_between(turn(0.3).rotation) < 1e-3);
    }
}
