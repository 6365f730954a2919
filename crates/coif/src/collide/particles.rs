//! Free particles against the body: those inside are projected to the closest point of the surface.

use glam::Vec3;

use super::response::{friction_fraction, rebound_speed};
use super::{PosedField, PosedShape, SKIN};

/// Rounds through the shapes near a particle: two that cross take two or three.
const ROUNDS: usize = 8;

/// Depth (m) up to which a particle that was projected on a surface counts as on it: other surfaces and rounding.
pub(super) const SETTLED: f32 = 0.5 * SKIN;

/// A collision of a particle with a surface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collision {
    /// Out of the surface; zero if there is none.
    pub(crate) normal: Vec3,
    /// Velocity of the surface (m/s).
    pub(crate) velocity: Vec3,
    /// Speed (m/s) at which the particle leaves the surface.
    pub(crate) bounce: f32,
    /// Coulomb friction, and the displacement (m) into the surface that friction is in proportion to.
    pub(crate) friction: f32,
    pub(crate) stopped: f32,
}

impl Collision {
    pub(crate) const NONE: Self =
        Self { normal: Vec3::ZERO, velocity: Vec3::ZERO, bounce: 0.0, friction: 0.0, stopped: 0.0 };

    pub(crate) fn is_none(&self) -> bool {
        self.normal == Vec3::ZERO
    }

    /// The velocity after the collision. The approach and the projection out of the surface do not count as motion: the normal
    /// velocity is that of the surface plus the rebound.
    pub(crate) fn rebound(&self, velocity: Vec3) -> Vec3 {
        let speed_out = (velocity - self.velocity).dot(self.normal);
        velocity - self.normal * (speed_out - self.bounce)
    }
}

/// Friction of particles relative to that of the surface: one number for all, or one for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrictionScale<'a> {
    pub(crate) all: f32,
    /// Per particle; empty where all have the same.
    pub(crate) each: &'a [f32],
}

impl FrictionScale<'_> {
    #[inline]
    pub(crate) fn at(&self, particle: usize) -> f32 {
        self.each.get(particle).copied().unwrap_or(self.all)
    }
}

/// Motion of a particle in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    /// Where it was (m).
    pub(super) before: Vec3,
    /// Its velocity before the step's forces acted (m/s).
    pub(super) arriving: Vec3,
    /// Length of the step (s).
    pub(super) dt: f32,
    /// Whether it has collided in this step already.
    pub(super) again: bool,
    /// Its friction relative to that of the surface.
    pub(super) friction: f32,
}

/// A surface that a particle is below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    pub(super) normal: Vec3,
    pub(super) velocity: Vec3,
    pub(super) friction: f32,
    pub(super) restitution: f32,
    /// Depth of the particle below it (m).
    pub(super) depth: f32,
}

impl Path {
    /// The first collision of a particle that has moved to `p`: the surface's response, and the place after friction,
    /// still below the surface.
    ///
    /// Model: Coulomb friction on displacements. The displacement along the surface, relative to it, shrinks by at most
    /// friction times the displacement along the normal that the projection removes and the rebound adds. Where a particle
    /// collided before in the same step, only the displacement since then counts.
    pub(super) fn collide(&self, p: Vec3, surface: &Surface) -> (Vec3, Collision) {
        let Surface { normal, velocity, restitution, depth, .. } = *surface;
        let friction = self.friction * surface.friction;
        let bounce = rebound_speed((self.arriving - velocity).dot(normal), restitution);
        let moved = p - self.before - velocity * self.dt;
        let out = moved.dot(normal);
        let sliding = moved - normal * out;
        let (stopped, given_back) =
            if self.again { ((-out).min(depth), 0.0) } else { (-out, bounce * self.dt) };
        let stopped = stopped.max(0.0);
        let limit = friction * (stopped + given_back);
        let slowed = sliding * friction_fraction(sliding.length(), limit);
        (p - slowed, Collision { normal, velocity, bounce, friction, stopped })
    }
}

/// The free particles of a strand that have moved in a step.
pub(crate) struct Particles<'a> {
    /// Where they are (m).
    pub(crate) position: &'a mut [Vec3],
    /// Where they were before they moved (m).
    pub(crate) before: &'a [Vec3],
    /// Their velocities before the step's forces acted (m/s).
    pub(crate) arriving: &'a [Vec3],
    /// Collisions since this was cleared.
    pub(crate) collision: &'a mut [Collision],
    pub(crate) friction: FrictionScale<'a>,
}

impl Particles<'_> {
    /// Puts every particle that is inside a shape or the body itself on its surface, with friction against its
    /// displacement in `dt` seconds. Returns how many are still inside.
    pub(crate) fn collide(
        &mut self,
        shapes: &[PosedShape],
        field: Option<&PosedField<'_>>,
        dt: f32,
    ) -> u32 {
        let Some(&first) = self.position.first() else { return 0 };
        let box_of = |(lo, hi): (Vec3, Vec3), p: &Vec3| (lo.min(*p), hi.max(*p));
        let (lo, hi) = self.position.iter().fold((first, first), box_of);
        let near = |i: &usize| shapes[*i].overlaps_box(lo, hi);
        // One bit for each of the first shapes that is near; the others are tested again.
        let mut mask = 0u64;
        for i in (0..shapes.len().min(64)).filter(near) {
            mask |= 1 << i;
        }
        if field.is_none() && mask == 0 && !(64..shapes.len()).any(|i| near(&i)) {
            return 0;
        }
        let picked = |i: usize| if i < 64 { mask >> i & 1 == 1 } else { near(&i) };
        let mut unresolved = 0;
        for (i, p) in self.position.iter_mut().enumerate() {
            let here = || shapes.iter().enumerate().filter(|(i, _)| picked(*i)).map(|(_, s)| s);
            let again = !self.collision[i].is_none();
            let (before, arriving) = (self.before[i], self.arriving[i]);
            let path = Path { before, arriving, dt, again, friction: self.friction.at(i) };
            let mut moved = push_out(here, &path, *p);
            // The body's own surface comes last: shapes only approximate it.
            let path = Path { again: again || moved.is_some(), ..path };
            let left = field.and_then(|field| field.push_out(&path, moved.map_or(*p, |(p, _)| p)));
            moved = left.or(moved);
            if let Some((position, collision)) = moved {
                (*p, self.collision[i]) = (position, collision);
                let inside = here().any(|s| depth(s, position) > SETTLED)
                    || field.is_some_and(|field| field.holds(position));
                unresolved += u32::from(inside);
            }
        }
        unresolved
    }
}

/// How deep a point is inside (m), 0 outside.
fn depth(shape: &PosedShape, p: Vec3) -> f32 {
    shape.probe(p.into(), 0.0).map_or(0.0, |(distance, _)| -distance)
}

/// Moves a particle at `p` out of all shapes; `None` if it is outside.
///
/// Model: project on the tangent plane of one shape after the other. Shapes are convex, so that a
/// point above both planes is outside of both: where the next plane would put it back below the
/// last, it is moved along the next plane to the intersection of both.
fn push_out<'a, S: Iterator<Item = &'a PosedShape>>(
    shapes: impl Fn() -> S,
    path: &Path,
    mut p: Vec3,
) -> Option<(Vec3, Collision)> {
    let mut first: Option<Collision> = None;
    // The last plane: its normal and a point on it.
    let mut last: Option<(Vec3, Vec3)> = None;
    for _ in 0..ROUNDS {
        let mut hit = false;
        for shape in shapes() {
            let settled = if last.is_some() { SETTLED } else { 0.0 };
            let Some((distance, normal)) = shape.probe(p.into(), 0.0) else { continue };
            if -distance <= settled {
                continue;
            }
            hit = true;
            let normal = Vec3::from(normal);
            let velocity = shape.velocity_at(p - normal * distance);
            if let (Some((other, on_other)), Some(collision)) = (last, &mut first) {
                (collision.normal, collision.velocity) = (normal, velocity);
                p -= normal * distance;
                // Go along this plane up to the last one, if it is above.
                let below = (on_other - p).dot(other);
                let along = other - normal * other.dot(normal);
                let slope = along.length_squared();
                if below > 0.0 && slope > 1e-6 {
                    p += along * (below / slope);
                }
            } else {
                let PosedShape { friction, restitution, .. } = *shape;
                let depth = -distance;
                let surface = Surface { normal, velocity, friction, restitution, depth };
                let (slowed, collision) = path.collide(p, &surface);
                p = slowed - normal * distance;
                first = Some(collision);
            }
            last = Some((normal, p));
        }
        if !hit {
            break;
        }
    }
    first.map(|collision| (p, collision))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{shapes, still};
    use super::*;
    use crate::body::Shape;
    use crate::math::testing::vec3;

    const DT: f32 = 0.01;

    fn path(before: Vec3) -> Path {
        Path { before, arriving: Vec3::ZERO, dt: DT, again: false, friction: 1.0 }
    }

    proptest! {
        /// Every shape alone: a particle inside is projected out, one outside stays in place.
        #[test]
        fn one_push_is_enough_for_one_shape(p in vec3(0.8), from in vec3(0.8)) {
            for shape in shapes() {
                let posed = still(shape, Vec3::new(0.05, 0.0, 0.02));
                match push_out(|| [&posed].into_iter(), &path(from), p) {
                    Some((out, collision)) => {
                        prop_assert!(depth(&posed, out) < 1e-5, "{shape:?} {out}");
                        prop_assert!((collision.normal.length() - 1.0).abs() < 1e-4);
                    }
                    None => prop_assert!(depth(&posed, p) == 0.0),
                }
            }
        }

        /// In the crease of two balls that cross, a particle leaves both.
        #[test]
        fn a_crease_is_left(p in vec3(0.3)) {
            let balls =
                [-0.08, 0.08].map(|x| still(Shape::Sphere { radius: 0.2 }, Vec3::X * x));
            if let Some((out, _)) = push_out(|| balls.iter(), &path(p), p) {
                prop_assert!(balls.iter().all(|b| depth(b, out) <= SETTLED), "{p} -> {out}");
            }
        }
    }

    /// Coulomb: a particle pushed into a plane by its displacement stays where the slope is below the
    /// friction, and slides by what is left where it is above.
    #[test]
    fn friction_stops_and_slows() {
        let plane = still(Shape::Plane, Vec3::NEG_Y * SKIN);
        // From the surface, a centimetre into the plane and some distance aside.
        let slid = |aside: f32, friction: f32| {
            let p = Vec3::new(aside, -0.01, 0.0);
            let path = Path { friction, ..path(Vec3::ZERO) };
            push_out(|| [&plane].into_iter(), &path, p).unwrap().0.x
        };
        assert!(slid(0.002, 1.0).abs() < 1e-6);
        assert!((slid(0.01, 1.0) - 0.007).abs() < 1e-6);
        // Friction of the particle counts as that of the surface does.
        assert!((slid(0.01, 2.0) - 0.004).abs() < 1e-6);
        assert_eq!(slid(0.01, 0.0), 0.01);
    }

    #[test]
    fn a_surface_takes_particles_along_but_does_not_throw_them() {
        let surface = Vec3::new(1.0, 2.0, 0.0);
        let collision = Collision { normal: Vec3::Y, velocity: surface, ..Collision::NONE };
        assert_eq!(collision.rebound(Vec3::new(0.5, 9.0, 0.0)), Vec3::new(0.5, 2.0, 0.0));
        assert_eq!(collision.rebound(Vec3::NEG_Y), Vec3::new(0.0, 2.0, 0.0));
        assert_eq!(Collision::NONE.rebound(Vec3::ONE), Vec3::ONE);
        let elastic = Collision { bounce: 3.0, ..collision };
        assert_eq!(elastic.rebound(Vec3::new(0.5, -1.0, 0.0)), Vec3::new(0.5, 5.0, 0.0));
    }
}
