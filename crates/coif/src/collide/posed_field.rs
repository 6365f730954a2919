//! The surfaces of bodies, given as distance fields, posed for a substep.
//!
//! A substep that ends before the step does needs the surface at that time: between the
//! fields at the start and the end of the step (`selle2008` 5.1), so that a body that moves does not
//! arrive in its first substep. Where only the field at the end is known, it is sampled where the material at
//! the particle will be at the end of the step.

use glam::Vec3;

use super::particles::{Collision, Path, SETTLED, Surface};
use crate::body::distance_field::FieldSample;
use crate::body::level_set_time::LevelSetInTime;
use crate::environment::{FieldMotion, FieldObstacle};

/// Steps along the gradient, at most: the surface is curved, and its distance is interpolated.
const ROUNDS: usize = 8;

/// Speed (m/s) of the fastest surface that collides before the last substep, where its motion is not known:
/// faster than any head or tail.
const MAX_SURFACE_SPEED: f32 = 20.0;

/// The surfaces of all bodies at one moment of a step.
#[derive(Clone, Copy)]
pub(crate) struct PosedField<'a> {
    obstacle: FieldObstacle<'a>,
    /// Between start and end of the step, before the end and where the motion is known.
    between: Option<LevelSetInTime<'a>>,
    /// Restitution of the hair, and length of the step (s).
    of_hair: f32,
    dt: f32,
    /// Fraction of the step that has passed.
    fraction: f32,
    /// From now until the end of the step (s).
    ahead: f32,
    /// How far the surface can be from where it is at the end of the step, and at its start (m).
    reach: [f32; 2],
}

impl<'a> PosedField<'a> {
    /// The surface after a fraction of a step of length `dt` (s). Of the hair's restitution and that of the
    /// surface, the larger one counts.
    pub(crate) fn at(
        obstacle: FieldObstacle<'a>,
        restitution: f32,
        dt: f32,
        fraction: f32,
    ) -> Self {
        let obstacle =
            FieldObstacle { restitution: obstacle.restitution.max(restitution), ..obstacle };
        let ahead = dt * (1.0 - fraction);
        let between = obstacle.in_time(dt).filter(|_| fraction < 1.0);
        let reach = match obstacle.motion.filter(|_| fraction < 1.0) {
            // Beyond its band a field is accurate to a fraction of a cell.
            Some(FieldMotion { start, fastest }) => {
                [fastest * ahead + obstacle.field.cell(), fastest * (dt - ahead) + start.cell()]
            }
            None => [MAX_SURFACE_SPEED * ahead, 0.0],
        };
        Self { obstacle, between, of_hair: restitution, dt, fraction, ahead, reach }
    }

    /// Distance, normal and velocity of the nearest surface at a point that may collide with it, friction and
    /// restitution.
    #[inline]
    fn near(&self, p: Vec3) -> Option<(FieldSample, f32, f32)> {
        let FieldObstacle { friction, restitution, others, .. } = self.obstacle;
        let first = self.near_first(p).map(|sample| (sample, friction, restitution));
        if others.is_empty() { first } else { self.nearer(p, first) }
    }

    /// The nearest of the first surface and all others, where the result of the first is known.
    #[cold]
    #[inline(never)]
    fn nearer(
        &self,
        p: Vec3,
        mut nearest: Option<(FieldSample, f32, f32)>,
    ) -> Option<(FieldSample, f32, f32)> {
        for other in self.obstacle.others {
            let other = Self::at(other.obstacle(), self.of_hair, self.dt, self.fraction);
            let found = other.near(p);
            let distance = |near: &Option<(FieldSample, f32, f32)>| {
                near.as_ref().map_or(f32::INFINITY, |(sample, ..)| sample.distance)
            };
            if distance(&found) < distance(&nearest) {
                nearest = found;
            }
        }
        nearest
    }

    /// Distance, normal and velocity of the first surface at a point that may collide with it.
    #[inline]
    fn near_first(&self, p: Vec3) -> Option<FieldSample> {
        let FieldObstacle { field, motion, skin, .. } = self.obstacle;
        // Most points are far away, so that the distance alone decides.
        let [to_end, to_start] = self.reach;
        if field.distance_at(p) > skin + to_end {
            return None;
        }
        if let (Some(between), Some(FieldMotion { start, .. })) = (&self.between, motion) {
            let far = start.distance_at(p) > skin + to_start;
            return (!far).then(|| between.sample(p, self.fraction));
        }
        let sample = field.sample(p);
        let carried = p + sample.velocity * self.ahead;
        Some(if carried == p { sample } else { field.sample(carried) })
    }

    /// Whether a point is below the surface of the body.
    pub(super) fn holds(&self, p: Vec3) -> bool {
        self.near(p).is_some_and(|(s, ..)| s.distance < 0.0)
    }

    /// Moves a particle at `p` out of the body; `None` if it is outside.
    ///
    /// Model: go along the gradient by the missing distance, a few times.
    pub(super) fn push_out(&self, path: &Path, mut p: Vec3) -> Option<(Vec3, Collision)> {
        let skin = self.obstacle.skin;
        let mut found: Option<Collision> = None;
        for _ in 0..ROUNDS {
            // Between two fields distances are less exact: what is on the surface there would be pushed again and again.
            let settled = if found.is_some() || self.between.is_some() { SETTLED } else { 0.0 };
            let Some((sample, friction, restitution)) =
                self.near(p).filter(|(s, ..)| s.distance < skin - settled)
            else {
                break;
            };
            let FieldSample { distance, gradient: normal, velocity } = sample;
            let depth = skin - distance;
            if let Some(collision) = &mut found {
                (collision.normal, collision.velocity) = (normal, velocity);
            } else {
                let surface = Surface { normal, velocity, friction, restitution, depth };
                let (slowed, collision) = path.collide(p, &surface);
                p = slowed;
                found = Some(collision);
            }
            p += normal * depth;
        }
        found.map(|collision| (p, collision))
    }
}

#[cfg(test)]
mod tests {
    use super::super::SKIN;
    use super::*;
    use crate::body::distance_field::{DistanceField, Settings};

    /// A box of half a metre around the origin that moves, with its top at y = 0.1 m.
    fn slab(velocity: Vec3) -> DistanceField {
        slab_at(0.0, velocity)
    }

    /// The same with its top `up` metres higher.
    fn slab_at(up: f32, velocity: Vec3) -> DistanceField {
        let half = Vec3::new(0.25, 0.1, 0.25);
        let corner = |i: u32| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { 1.0 } else { -1.0 });
        let place = |i: u32| Vec3::from(corner(i)) * half + Vec3::Y * up;
        let positions: Vec<Vec3> = (0..8).map(place).collect();
        let quads: [[u32; 4]; 6] =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles: Vec<_> =
            quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let mut field = DistanceField::new(&triangles, &Settings::default()).unwrap();
        field.rebuild(&positions, &[velocity; 8]);
        field
    }

    fn ground(field: &DistanceField, restitution: f32, fraction: f32) -> PosedField<'_> {
        let obstacle = FieldObstacle { friction: 0.3, ..FieldObstacle::new(field, SKIN) };
        PosedField::at(obstacle, restitution, DT, fraction)
    }

    /// From a place to another with an even velocity.
    fn path(before: Vec3, p: Vec3, dt: f32) -> Path {
        Path { before, arriving: (p - before) / dt, dt, again: false, friction: 1.0 }
    }

    const DT: f32 = 0.01;
    const TOP: Vec3 = Vec3::new(0.02, 0.1001, 0.03);

    #[test]
    fn a_particle_leaves_along_the_gradient_and_one_outside_stays() {
        let field = slab(Vec3::ZERO);
        let ground = ground(&field, 0.0, 1.0);
        for (p, out) in [
            (Vec3::new(0.02, 0.06, 0.03), Vec3::new(0.02, 0.1001, 0.03)),
            (Vec3::new(-0.22, 0.01, 0.0), Vec3::new(-0.2501, 0.01, 0.0)),
        ] {
            let (found, collision) = ground.push_out(&path(p, p, DT), p).unwrap();
            assert!(found.distance(out) < 1e-4, "{p} -> {found}");
            assert!(!ground.holds(found) && collision.bounce == 0.0);
        }
        assert!(ground.push_out(&path(TOP, TOP, DT), TOP).is_none());
        assert!(ground.push_out(&path(TOP, TOP, DT), Vec3::NAN).is_none());
    }

    /// Coulomb: what slides less than friction times the displacement into the surface stops; what slides more goes on
    /// by the rest.
    #[test]
    fn friction_stops_and_slows() {
        let field = slab(Vec3::ZERO);
        let slid = |aside: f32| {
            let p = TOP + Vec3::new(aside, -0.01, 0.0);
            ground(&field, 0.0, 1.0).push_out(&path(TOP, p, DT), p).unwrap().0.x - TOP.x
        };
        assert!(slid(0.002).abs() < 1e-5, "{}", slid(0.002));
        assert!((slid(0.01) - 0.007).abs() < 1e-5, "{}", slid(0.01));
    }

    /// A particle that arrives with 1 m/s leaves with that fraction of it, relative to the surface.
    #[test]
    fn a_fraction_of_the_approach_speed_remains() {
        for velocity in [Vec3::ZERO, Vec3::Y * 0.5] {
            let field = slab(velocity);
            let p = TOP - Vec3::Y * 0.01;
            for restitution in [0.0, 0.4] {
                let ground = ground(&field, restitution, 1.0);
                let (out, collision) = ground.push_out(&path(TOP, p, DT), p).unwrap();
                let into = 1.0 + velocity.y;
                let expected = velocity.y + restitution * into;
                let after = collision.rebound((out - p) / 0.01).y;
                assert!((after - expected).abs() < 0.01, "{velocity} {restitution}: {after}");
            }
        }
    }

    /// Where a body rises, it has not yet risen in the substeps before the last.
    #[test]
    fn a_body_that_moves_arrives_in_time() {
        let field = slab(Vec3::Y * 2.0);
        for fraction in [1.0, 0.75, 0.25] {
            let p = Vec3::new(0.0, 0.07, 0.0);
            let (out, _) =
                ground(&field, 0.0, fraction).push_out(&path(p, p, 0.25 * DT), p).unwrap();
            let truth = 0.1001 - 2.0 * (1.0 - fraction) * DT;
            assert!((out.y - truth).abs() < 1e-4, "{fraction}: {} {truth}", out.y);
        }
        // Sinking, it moves in every substep as well.
        let (field, was) = (slab(Vec3::NEG_Y * 2.0), Vec3::new(0.0, 0.105, 0.0));
        assert!(ground(&field, 0.0, 1.0).push_out(&path(was, was, DT), was).is_none());
        assert!(ground(&field, 0.0, 0.25).push_out(&path(was, was, DT), was).is_some());
    }

    /// Between two fields six cells apart a particle collides in the very substep in which the surface
    /// gets to it, and not before.
    #[test]
    fn contact_begins_in_the_substep_in_which_the_surface_arrives() {
        const SUBSTEPS: u32 = 12;
        let displacement = Vec3::Y * 0.06;
        let (start, field) = (slab_at(-0.06, displacement / DT), slab_at(0.0, displacement / DT));
        let motion = Some(FieldMotion { start: &start, fastest: displacement.length() / DT });
        let obstacle = FieldObstacle { motion, ..FieldObstacle::new(&field, SKIN) };
        for high in [0.042, 0.053, 0.066, 0.0715, 0.089, 0.0985] {
            let p = Vec3::new(0.03, high, -0.02);
            let top = |k: u32| 0.04 + 0.06 * k as f32 / SUBSTEPS as f32;
            let collides = |k: &u32| {
                let ground = PosedField::at(obstacle, 0.0, DT, *k as f32 / SUBSTEPS as f32);
                ground.push_out(&path(p, p, DT / SUBSTEPS as f32), p).is_some()
            };
            let first = (1..=SUBSTEPS).find(collides);
            let truth = (1..=SUBSTEPS).find(|k| top(*k) > p.y);
            assert_eq!(first, truth, "{high}");
            // With the field at the end of the step alone it would collide in the first substep.
            let at_end = PosedField::at(FieldObstacle { motion: None, ..obstacle }, 0.0, DT, 1.0);
            assert!(at_end.push_out(&path(p, p, DT), p).is_some());
        }
    }
}
