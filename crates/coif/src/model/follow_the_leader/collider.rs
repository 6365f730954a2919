//! Colliders laid out for a pass, and which of them are near.

use glam::{Mat3, Vec3};

use crate::body::{MovingCollider, Shape};
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
    /// Centre (m) and squared radius (m^2) of a ball around it.
    pub(super) centre: Vec3,
    pub(super) reach2: f32,
    pub(super) friction: f32,
    /// Velocity of the material at `p` is `spin * p + drift` (m/s).
    pub(super) spin: Mat3,
    pub(super) drift: Vec3,
    /// A box around it in the world (m).
    bounds: Bounds,
}

/// Smallest square of a gradient (1/m^2) that still has a direction.
pub(super) const NO_GRADIENT: f32 = 1e-18;

/// An axis-aligned box in the world (m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) lo: Vec3,
    pub(super) hi: Vec3,
}

impl Bounds {
    fn meet(&self, other: &Bounds) -> bool {
        self.lo.cmple(other.hi).all() && self.hi.cmpge(other.lo).all()
    }
}

/// What hair must stay out of in a pass.
pub(super) struct Obstacles<'a> {
    pub(super) colliders: &'a [StepCollider],
    pub(super) field: Option<&'a FieldObstacle<'a>>,
}

impl Obstacles<'_> {
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

/// The colliders that could touch some particles.
pub(super) struct Near<'a> {
    pub(super) all: &'a [StepCollider],
    /// The near ones, unless there are more of them than fit: then all count as near.
    picked: [Option<&'a StepCollider>; MOST_NEAR],
    count: usize,
}

/// Most colliders that are kept apart as near.
const MOST_NEAR: usize = 32;

impl<'a> Near<'a> {
    /// None are near yet.
    #[inline(always)]
    pub(super) fn none(all: &'a [StepCollider]) -> Self {
        Self { all, picked: [None; MOST_NEAR], count: 0 }
    }

    /// All count as near.
    pub(super) fn all(all: &'a [StepCollider]) -> Self {
        let mut near = Self::none(all);
        all.iter().for_each(|collider| near.add(collider));
        near
    }

    #[inline(always)]
    fn add(&mut self, collider: &'a StepCollider) {
        if let Some(free) = self.picked.get_mut(self.count) {
            *free = Some(collider);
        }
        self.count += 1;
    }

    /// Keeps the colliders that reach into a box.
    pub(super) fn pick(&mut self, bounds: &Bounds) {
        self.count = 0;
        let (centre, extent) = ((bounds.lo + bounds.hi) * 0.5, (bounds.hi - bounds.lo) * 0.5);
        for collider in self.all {
            if collider.bounds.meet(bounds) && collider.may_reach(centre, extent) {
                self.add(collider);
            }
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        if self.count > MOST_NEAR { self.all.len() } else { self.count }
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> &'a StepCollider {
        let picked = if self.count > MOST_NEAR { None } else { self.picked[i] };
        picked.unwrap_or_else(|| &self.all[i])
    }

    /// The near ones.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a StepCollider> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The near ones in an array of their own, if they fit.
    #[inline(always)]
    pub(super) fn picked(&self) -> Option<&[Option<&'a StepCollider>]> {
        self.picked.get(..self.count)
    }
}

/// A half-space that holds no part of a collider: `normal . x >= offset`.
#[derive(Debug, Clone, Copy)]
pub(super) struct HalfSpace {
    pub(super) normal: Vec3,
    pub(super) offset: f32,
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
        // Half extents of a turned ellipsoid, plus those of the piece of axis it is swept along.
        let extent = if plane {
            Vec3::INFINITY
        } else {
            let m = world_from_shape;
            let radii = 1.0 / inverse_radii;
            let scaled = [m.x_axis * radii.x, m.y_axis * radii.y, m.z_axis * radii.z];
            let round = scaled.iter().map(|c| *c * *c).sum::<Vec3>();
            Vec3::new(round.x.sqrt(), round.y.sqrt(), round.z.sqrt()) + m.y_axis.abs() * half_height
        };
        let widest = (1.0 / inverse_radii).max_element();
        let shape_from_world = world_from_shape.transpose();
        let to_ball = Mat3::from_diagonal(inverse_radii) * shape_from_world;
        Self {
            to_ball,
            ball_centre: to_ball * centre,
            bounds: Bounds { lo: centre - extent, hi: centre + extent },
            sweep: half_height * inverse_radii.y,
            plane,
            centre,
            reach2: if plane { f32::INFINITY } else { (widest + half_height).powi(2) },
            friction: collider.friction,
            spin: (Mat3::IDENTITY - Mat3::from_quat(back.rotation)) * (1.0 / dt),
            drift: -back.translation / dt,
        }
    }

    /// Whether it may reach into a box around `centre`, as far as a ball around the box tells in the
    /// scale of the unit ball.
    fn may_reach(&self, centre: Vec3, extent: Vec3) -> bool {
        let s = self.in_unit_ball(centre);
        let m = &self.to_ball;
        let size =
            m.x_axis.abs() * extent.x + m.y_axis.abs() * extent.y + m.z_axis.abs() * extent.z;
        if self.plane {
            return s.y < size.y;
        }
        let reach = 1.0 + size.length();
        s.dot(s) < reach * reach
    }

    /// The tangent plane that a point inside is nearest to in the collider's own scale, and how far
    /// the point is from it (negative inside). `None` outside.
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
    fn in_unit_ball(&self, p: Vec3) -> Vec3 {
        let mut s = self.to_ball * p - self.ball_centre;
        s.y -= s.y.clamp(-self.sweep, self.sweep);
        s
    }

    /// Tangent plane at the surface point on the ray from the axis through `s`: its normal, and how
    /// far the point is from it (m).
    ///
    /// Model: in the unit ball's scale the plane is `s . s' = |s|`; the world's gradient of the left
    /// side is `to_ball^T s`.
    fn tangent(&self, s: Vec3) -> (Vec3, f32) {
        if self.plane {
            return (self.to_ball.transpose() * Vec3::Y, s.y);
        }
        let level2 = s.dot(s);
        let gradient = self.to_ball.transpose() * s;
        let size2 = gradient.dot(gradient);
        if size2 < NO_GRADIENT {
            // In the very middle any way out is right.
            let gradient = self.to_ball.transpose() * Vec3::X;
            return (gradient.normalize_or(Vec3::X), -1.0 / gradient.length());
        }
        let inverse = 1.0 / size2.sqrt();
        (gradient * inverse, (level2 - level2.sqrt()) * inverse)
    }

    /// Velocity (m/s) of the material at `p`.
    pub(super) fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.spin * p + self.drift
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use proptest::prelude::*;

    use super::*;
    use crate::math::RigidTransform;

    fn fixed(shape: Shape, centre: Vec3, rotation: Quat) -> StepCollider {
        let pose = RigidTransform { rotation, translation: centre };
        StepCollider::new(&MovingCollider { shape, friction: 0.3, start: pose, end: pose }, 0.01)
    }

    fn vec3(size: f32) -> impl Strategy<Value = Vec3> {
        (-size..size, -size..size, -size..size).prop_map(Vec3::from)
    }

    proptest! {
        /// No point inside a collider is outside of its box.
        #[test]
        fn boxes_hold_their_colliders(p in vec3(0.4), turn in -3.0f32..3.0) {
            let turn = Quat::from_rotation_z(turn) * Quat::from_rotation_x(turn * 0.7);
            for shape in [
                Shape::Ellipsoid { radii: Vec3::new(0.1, 0.3, 0.05) },
                Shape::Capsule { half_height: 0.2, radius: 0.06 },
                Shape::Plane,
            ] {
                let collider = fixed(shape, Vec3::new(0.05, 0.0, 0.0), turn);
                let here = Bounds { lo: p, hi: p };
                prop_assert!(collider.inside(p).is_none() || collider.bounds.meet(&here));
            }
        }
    }
}
