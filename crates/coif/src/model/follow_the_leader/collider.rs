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
    pub(super) shape_from_world: Mat3,
    pub(super) centre: Vec3,
    /// From the world to the unit ball: `to_ball * p - ball_centre`; for a ball without sweep.
    pub(super) to_ball: Mat3,
    pub(super) ball_centre: Vec3,
    pub(super) inverse_radii: Vec3,
    pub(super) half_height: f32,
    pub(super) plane: bool,
    pub(super) friction: f32,
    /// Velocity of the material at `p` is `spin * p + drift` (m/s).
    pub(super) spin: Mat3,
    pub(super) drift: Vec3,
    /// A box around it in the world (m).
    bounds: Bounds,
}

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
    /// Indices of the near ones, unless there are more of them than fit: then all count as near.
    picked: [u32; MOST_NEAR],
    count: usize,
}

/// Most colliders that are kept apart as near.
const MOST_NEAR: usize = 48;

impl<'a> Near<'a> {
    /// None are near yet.
    pub(super) fn none(all: &'a [StepCollider]) -> Self {
        Self { all, picked: [0; MOST_NEAR], count: 0 }
    }

    /// All count as near.
    pub(super) fn all(all: &'a [StepCollider]) -> Self {
        Self { all, picked: [0; MOST_NEAR], count: if all.is_empty() { 0 } else { usize::MAX } }
    }

    /// Keeps the colliders that meet a box.
    pub(super) fn pick(&mut self, bounds: &Bounds) {
        self.count = 0;
        for (i, collider) in self.all.iter().enumerate() {
            if collider.bounds.meet(bounds) {
                if self.count < MOST_NEAR {
                    self.picked[self.count] = i as u32;
                }
                self.count += 1;
            }
        }
    }

    /// Whether any is near.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.count > 0
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        if self.count > MOST_NEAR { self.all.len() } else { self.count }
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> &'a StepCollider {
        if self.count > MOST_NEAR { &self.all[i] } else { &self.all[self.picked[i] as usize] }
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
        let shape_from_world = world_from_shape.transpose();
        let to_ball = Mat3::from_diagonal(inverse_radii) * shape_from_world;
        Self {
            to_ball,
            ball_centre: to_ball * centre,
            bounds: Bounds { lo: centre - extent, hi: centre + extent },
            shape_from_world,
            centre,
            inverse_radii,
            half_height,
            plane,
            friction: collider.friction,
            spin: (Mat3::IDENTITY - Mat3::from_quat(back.rotation)) * (1.0 / dt),
            drift: -back.translation / dt,
        }
    }

    /// The tangent plane that a point inside is nearest to in the collider's own scale, and how far
    /// the point is from it (negative inside). `None` outside.
    pub(super) fn inside(&self, p: Vec3) -> Option<(Vec3, f32)> {
        let mut q = self.shape_from_world * (p - self.centre);
        let (normal, distance) = if self.plane {
            (Vec3::Y, q.y)
        } else {
            q.y -= q.y.clamp(-self.half_height, self.half_height);
            let s = q * self.inverse_radii;
            let level2 = s.dot(s);
            if level2 >= 1.0 {
                return None;
            }
            self.tangent(q, s, level2)
        };
        (distance < 0.0).then(|| (self.shape_from_world.transpose() * normal, distance))
    }

    /// Tangent plane at the surface point on the ray from the axis through `q`.
    fn tangent(&self, q: Vec3, s: Vec3, level2: f32) -> (Vec3, f32) {
        let level = level2.sqrt().max(1e-6);
        let gradient = s * self.inverse_radii;
        let size = gradient.length();
        let normal = if size > 1e-12 { gradient * (1.0 / size) } else { Vec3::X };
        (normal, (1.0 - 1.0 / level) * q.dot(normal))
    }

    /// A half-space free of the collider that is good around `p`, inside or outside.
    pub(super) fn half_space(&self, p: Vec3) -> HalfSpace {
        let world_from_shape = self.shape_from_world.transpose();
        let mut q = self.shape_from_world * (p - self.centre);
        let (normal, distance) = if self.plane {
            (Vec3::Y, q.y)
        } else {
            q.y -= q.y.clamp(-self.half_height, self.half_height);
            let s = q * self.inverse_radii;
            self.tangent(q, s, s.dot(s))
        };
        let normal = world_from_shape * normal;
        HalfSpace { normal, offset: normal.dot(p) - distance }
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
