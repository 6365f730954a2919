//! Chains against the body: particles inside a collider go to its surface, and friction slows them.

use glam::{Mat3, Vec3};

use super::{Chain, Ground};
use crate::body::{MovingCollider, Shape};
use crate::math::RigidTransform;

/// How far outside of a collider a particle is put (m): ten micrometres, a quarter of a fibre's
/// radius. Nearer than half of it is inside, so that rounding does not put it back inside.
const SKIN: f32 = 1e-5;

/// Rounds through the colliders near a particle: two colliders that cross take two or three.
const ROUNDS: usize = 8;

/// The surface that a particle touched.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Touch {
    /// Out of the surface; zero if nothing was touched.
    pub(in crate::model) normal: Vec3,
    /// Velocity of the surface (m/s).
    pub(in crate::model) velocity: Vec3,
    /// Speed (m/s) at which the surface gives the particle back.
    pub(in crate::model) bounce: f32,
}

impl Touch {
    pub(in crate::model) const NONE: Self =
        Self { normal: Vec3::ZERO, velocity: Vec3::ZERO, bounce: 0.0 };

    pub(in crate::model) fn is_none(&self) -> bool {
        self.normal == Vec3::ZERO
    }

    /// The velocity after the touch. Being pushed out is no motion: nothing is thrown off, but for
    /// what the surface gives back.
    pub(in crate::model) fn rebound(&self, velocity: Vec3) -> Vec3 {
        let speed_out = (velocity - self.velocity).dot(self.normal);
        let kept = if self.bounce > 0.0 { self.bounce } else { speed_out.min(0.0) };
        velocity - self.normal * (speed_out - kept)
    }
}

/// A collider at one moment, laid out for many particles.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Solid {
    shape: Shape,
    world_from_shape: Mat3,
    centre: Vec3,
    friction: f32,
    /// Velocity of the material at `p` is `spin * p + drift` (m/s).
    spin: Mat3,
    drift: Vec3,
    /// A box around it in the world (m).
    lo: Vec3,
    hi: Vec3,
}

impl Solid {
    /// A collider at the end of its motion of `dt` seconds.
    pub(in crate::model) fn new(collider: &MovingCollider, dt: f32) -> Self {
        let world_from_shape = Mat3::from_quat(collider.end.rotation);
        let (radii, half_height) = match collider.shape {
            Shape::Sphere { radius } => (Vec3::splat(radius), 0.0),
            Shape::Ellipsoid { radii } => (radii, 0.0),
            Shape::Capsule { half_height, radius } => (Vec3::splat(radius), half_height),
            Shape::Plane => (Vec3::INFINITY, 0.0),
        };
        let mut centre = collider.end.translation;
        let extent = if collider.shape == Shape::Plane {
            centre += world_from_shape * Vec3::new(0.0, 0.5 * SKIN, 0.0);
            radii
        } else {
            Vec3::splat(radii.max_element() + SKIN) + world_from_shape.y_axis.abs() * half_height
        };
        // The material point at p came from `back(p)`: its velocity is the difference over dt.
        let back = collider.start * collider.end.inverse();
        Self {
            shape: collider.shape.grown(0.5 * SKIN),
            world_from_shape,
            centre,
            friction: collider.friction,
            spin: (Mat3::IDENTITY - Mat3::from_quat(back.rotation)) * (1.0 / dt),
            drift: -back.translation / dt,
            lo: centre - extent,
            hi: centre + extent,
        }
    }

    /// Where a point inside leaves the solid on the shortest way, and the normal there. `None`
    /// outside.
    fn surface(&self, p: Vec3) -> Option<(Vec3, Vec3)> {
        if !self.meets(p, p) {
            return None;
        }
        let local = self.world_from_shape.transpose() * (p - self.centre);
        if !self.shape.contains(local) {
            return None;
        }
        let nearest = self.shape.project_point(local);
        let outside = nearest.point + nearest.normal * (0.5 * SKIN);
        let normal = self.world_from_shape * nearest.normal;
        Some((self.world_from_shape * outside + self.centre, normal))
    }

    fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.spin * p + self.drift
    }

    fn meets(&self, lo: Vec3, hi: Vec3) -> bool {
        self.lo.cmple(hi).all() && self.hi.cmpge(lo).all()
    }
}

/// A collider during one part of its step: from the share `from` of the way to the share `to`.
pub(in crate::model) fn pose_between(
    collider: &MovingCollider,
    from: f32,
    to: f32,
) -> MovingCollider {
    let at = |share: f32| RigidTransform {
        rotation: collider.start.rotation.slerp(collider.end.rotation, share),
        translation: collider.start.translation.lerp(collider.end.translation, share),
    };
    MovingCollider { start: at(from), end: at(to), ..*collider }
}

impl Chain<'_> {
    /// Puts every free particle that is inside a solid or the body itself on its surface, with
    /// friction against the way it went since `before` in `dt` seconds. Returns how many are still
    /// inside.
    pub(in crate::model) fn collide(
        &mut self,
        solids: &[Solid],
        ground: Option<&Ground<'_>>,
        dt: f32,
    ) -> u32 {
        let free = &self.position[self.embedded..];
        let (lo, hi) = free.iter().fold((free[0], free[0]), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
        let near = |i: &usize| solids[*i].meets(lo, hi);
        // Remember which of the first colliders are near; ask again for those beyond.
        let mut mask = 0u64;
        for i in (0..solids.len().min(64)).filter(near) {
            mask |= 1 << i;
        }
        if ground.is_none() && mask == 0 && !(64..solids.len()).any(|i| near(&i)) {
            return 0;
        }
        let picked = |i: usize| if i < 64 { mask >> i & 1 == 1 } else { near(&i) };
        let mut unresolved = 0;
        for p in self.embedded..self.position.len() {
            let here = || solids.iter().enumerate().filter(|(i, _)| picked(*i)).map(|(_, s)| s);
            let before = self.before[p];
            let mut moved = push_out(here, before, self.position[p], dt);
            // The body's own surface has the last word: solids only stand in for it.
            let left = ground.and_then(|ground| {
                ground.push_out(before, moved.map_or(self.position[p], |(p, _)| p), dt)
            });
            moved = left.or(moved);
            if let Some((position, touch)) = moved {
                // Later rounds of a step find the particle slower than it came.
                let bounce = touch.bounce.max(self.touch[p].bounce);
                (self.position[p], self.touch[p]) = (position, Touch { bounce, ..touch });
                let inside = here().any(|s| s.surface(position).is_some())
                    || ground.is_some_and(|ground| ground.holds(position));
                unresolved += u32::from(inside);
            }
        }
        unresolved
    }
}

/// Moves a particle that went from `before` to `p` out of all solids; `None` if it is outside.
///
/// Model: project on the tangent plane of one solid after the other. Solids are convex, so that a
/// point above both planes is outside of both: where the next plane would put it back below the
/// last, it goes along the next plane to where both meet. The first push is braked by Coulomb
/// friction: the way along the surface, relative to the surface, shrinks by at most friction times
/// the way into it.
fn push_out<'a, S: Iterator<Item = &'a Solid>>(
    solids: impl Fn() -> S,
    before: Vec3,
    mut p: Vec3,
    dt: f32,
) -> Option<(Vec3, Touch)> {
    let mut touch = Touch::NONE;
    // The last plane: its normal and a point on it.
    let mut last: Option<(Vec3, Vec3)> = None;
    for _ in 0..ROUNDS {
        let mut hit = false;
        for solid in solids() {
            let Some((point, normal)) = solid.surface(p) else { continue };
            hit = true;
            touch = Touch { normal, velocity: solid.velocity_at(point), bounce: 0.0 };
            let way = p - before - touch.velocity * dt;
            let into = (-way.dot(normal)).clamp(0.0, point.distance(p));
            p = point;
            if let Some((other, on_other)) = last {
                // Go along this plane up to the last one, if it is above.
                let below = (on_other - p).dot(other);
                let along = other - normal * other.dot(normal);
                let slope = along.length_squared();
                if below > 0.0 && slope > 1e-6 {
                    p += along * (below / slope);
                }
            } else {
                let sliding = way - normal * way.dot(normal);
                let most = solid.friction * into;
                p -= sliding * (most / sliding.length().max(1e-12)).min(1.0);
            }
            last = Some((normal, point));
        }
        if !hit {
            break;
        }
    }
    last.map(|_| (p, touch))
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use proptest::prelude::*;

    use super::*;

    fn still(shape: Shape, centre: Vec3, turn: f32) -> MovingCollider {
        let rotation = Quat::from_rotation_z(turn) * Quat::from_rotation_x(0.7 * turn);
        let pose = RigidTransform { rotation, translation: centre };
        MovingCollider { shape, friction: 0.3, start: pose, end: pose }
    }

    fn vec3(size: f32) -> impl Strategy<Value = Vec3> {
        (-size..size, -size..size, -size..size).prop_map(Vec3::from)
    }

    proptest! {
        /// Every shape, turned and moved, alone: a particle inside ends on the surface, one outside
        /// stays where it is.
        #[test]
        fn one_push_is_enough_for_one_solid(p in vec3(0.4), from in vec3(0.4), turn in -3.0f32..3.0) {
            for shape in [
                Shape::Sphere { radius: 0.2 },
                Shape::Ellipsoid { radii: Vec3::new(0.1, 0.3, 0.15) },
                Shape::Capsule { half_height: 0.2, radius: 0.1 },
                Shape::Plane,
            ] {
                let collider = still(shape, Vec3::new(0.05, 0.0, 0.02), turn);
                let solid = Solid::new(&collider, 0.01);
                let deep = collider.depth_at(p);
                prop_assert!(deep == 0.0 || solid.meets(p, p));
                match push_out(|| [&solid].into_iter(), from, p, 0.01) {
                    Some((out, touch)) => {
                        prop_assert!(collider.depth_at(out) < 1e-5, "{shape:?} {out}");
                        prop_assert!((touch.normal.length() - 1.0).abs() < 1e-4);
                    }
                    None => prop_assert!(deep == 0.0),
                }
            }
        }

        /// In the crease of two balls that cross, a particle finds its way out of both.
        #[test]
        fn a_crease_is_left(p in vec3(0.3)) {
            let balls = [-0.08, 0.08].map(|x| {
                Solid::new(&still(Shape::Sphere { radius: 0.2 }, Vec3::X * x, 0.0), 0.01)
            });
            if let Some((out, _)) = push_out(|| balls.iter(), p, p, 0.01) {
                prop_assert!(balls.iter().all(|b| b.surface(out).is_none()), "{p} -> {out}");
            }
        }
    }

    /// Coulomb: a particle pressed on a plane by its way down stays where the slope is below the
    /// friction, and slides by what is left where it is above.
    #[test]
    fn friction_stops_and_slows() {
        let solid = Solid::new(&still(Shape::Plane, Vec3::NEG_Y * SKIN, 0.0), 0.01);
        // From the surface, a centimetre into the plane and some way aside.
        let way = |aside: f32| {
            let p = Vec3::new(aside, -0.01, 0.0);
            push_out(|| [&solid].into_iter(), Vec3::ZERO, p, 0.01).unwrap().0.x
        };
        assert!(way(0.002).abs() < 1e-6);
        assert!((way(0.01) - 0.007).abs() < 1e-6);
    }

    #[test]
    fn a_surface_takes_particles_along_but_does_not_throw_them() {
        let touch = Touch { normal: Vec3::Y, velocity: Vec3::new(1.0, 2.0, 0.0), bounce: 0.0 };
        assert_eq!(touch.rebound(Vec3::new(0.5, 9.0, 0.0)), Vec3::new(0.5, 2.0, 0.0));
        assert_eq!(touch.rebound(Vec3::NEG_Y), Vec3::NEG_Y);
        assert_eq!(Touch::NONE.rebound(Vec3::ONE), Vec3::ONE);
        let elastic = Touch { bounce: 3.0, ..touch };
        assert_eq!(elastic.rebound(Vec3::new(0.5, -1.0, 0.0)), Vec3::new(0.5, 5.0, 0.0));
    }
}
