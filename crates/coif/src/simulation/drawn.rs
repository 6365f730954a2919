//! From the last step on to the time that is drawn, of a body that is driven: less than one step.
//!
//! Steps have a fixed length and frames do not, so a frame mostly ends between two steps, and where the body goes after
//! it is not known yet. Hair goes on by its velocity there; its state does not change.

use std::ops::Range;
use std::sync::Mutex;

use glam::{Affine3A, Mat3A, Vec3, Vec3A};

use crate::groom::Groom;
use crate::math::RigidTransform;

/// Strands that one task takes on.
const STRANDS: usize = 64;

/// Hair at the drawn time.
#[derive(Default)]
pub(super) struct Drawn {
    /// Where the roots of strands are at the drawn time, and where they were at the start of the last substep.
    pub(super) world_from_rest: Vec<RigidTransform>,
    pub(super) before: Vec<RigidTransform>,
    /// Length of that substep (s).
    pub(super) dt: f32,
    /// Where all points are at the drawn time, once somebody has looked.
    pub(super) positions: Vec<Vec3>,
    pub(super) is_placed: bool,
    /// Velocities of all points: scratch.
    velocities: Mutex<Vec<Vec3>>,
}

impl Drawn {
    /// Notes where roots are at the start of a substep of `dt` (s).
    pub(super) fn begin_step(&mut self, world_from_rest: &[RigidTransform], dt: f32) {
        self.before.clear();
        self.before.extend_from_slice(world_from_rest);
        self.dt = dt;
    }

    /// Moves everything by `by` (m): the origin has moved the other way.
    pub(super) fn shift(&mut self, by: Vec3) {
        self.before.iter_mut().for_each(|pose| pose.translation += by);
    }

    /// Takes the points of all strands from the end of the last step, where their roots are at `now`, on by `ahead` (s).
    pub(super) fn go_on(
        &self,
        groom: &Groom,
        now: &[RigidTransform],
        ahead: f32,
        velocities: impl FnOnce(&mut [Vec3]),
        positions: &mut [Vec3],
    ) {
        let mut scratch = self.velocities.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        scratch.resize(positions.len(), Vec3::ZERO);
        velocities(&mut scratch);
        let drawn = &self.world_from_rest;
        let work = |s: usize, positions: &mut [Vec3], velocities: &[Vec3]| {
            let motion = Motion::new([&self.before[s], &now[s], &drawn[s]], self.dt, ahead);
            let embedded = (groom.embedded[s] as usize).clamp(1, positions.len());
            motion.go_on(embedded, positions, velocities);
        };
        let strands = 0..groom.strands.strand_count();
        in_halves(strands, groom.strands.first_points(), positions, &scratch, &work);
    }
}

/// Splits the strands until a task has few enough.
fn in_halves(
    strands: Range<usize>,
    first: &[u32],
    positions: &mut [Vec3],
    velocities: &[Vec3],
    work: &(impl Fn(usize, &mut [Vec3], &[Vec3]) + Sync),
) {
    let at = |s: usize| (first[s] - first[strands.start]) as usize;
    if strands.len() <= STRANDS {
        for s in strands.clone() {
            work(s, &mut positions[at(s)..at(s + 1)], &velocities[at(s)..at(s + 1)]);
        }
        return;
    }
    let middle = strands.start + strands.len() / 2;
    let (x0, x1) = positions.split_at_mut(at(middle));
    let (v0, v1) = velocities.split_at(at(middle));
    rayon::join(
        || in_halves(strands.start..middle, first, x0, v0, work),
        || in_halves(middle..strands.end, first, x1, v1, work),
    );
}

/// How one strand goes on.
struct Motion {
    /// Where the scalp takes points that it carries.
    carried: Affine3A,
    /// Where free points go by their place, and by their velocity.
    by_place: Affine3A,
    by_velocity: Mat3A,
}

impl Motion {
    /// Model: in the frame of the scalp under the root, `y = P^-1 x`, a point goes on as in the last substep:
    /// `y' = y + a (y - y0) / dt`. With `P0`, `P` and `P'` the scalp before that substep, after it and at the drawn time, and
    /// `v = (x - P0 y0) / dt`, that is `x' = P' P^-1 x + a R' R0^-1 (v - (x - P0 P^-1 x) / dt)`, a map of x and one of v.
    /// Symbols: x position (m), v velocity (m/s), a time to the drawn one (s), dt length of the substep (s), R rotations.
    fn new([before, now, drawn]: [&RigidTransform; 3], dt: f32, ahead: f32) -> Self {
        let map =
            |t: RigidTransform| Affine3A::from_rotation_translation(t.rotation, t.translation);
        let from_now = now.inverse();
        // What has not moved stays to the bit.
        let moved = |to: &RigidTransform| {
            if to == now { Affine3A::IDENTITY } else { map(*to * from_now) }
        };
        let (carried, back) = (moved(drawn), moved(before));
        let turn = Mat3A::from_quat(drawn.rotation * before.rotation.conjugate()) * (ahead / dt);
        let by_place = Affine3A {
            matrix3: carried.matrix3 - turn * (Mat3A::IDENTITY - back.matrix3),
            translation: carried.translation + turn * back.translation,
        };
        Self { carried, by_place, by_velocity: turn * dt }
    }

    /// Takes the points of a strand on. Segments get back their lengths, root to tip.
    fn go_on(&self, embedded: usize, positions: &mut [Vec3], velocities: &[Vec3]) {
        let mut inner = [Vec3A::from(positions[0]); 2];
        for (i, (point, v)) in positions.iter_mut().zip(velocities).enumerate() {
            let x = Vec3A::from(*point);
            let there = if i < embedded {
                self.carried.transform_point3a(x)
            } else {
                let free = self.by_place.transform_point3a(x) + self.by_velocity * Vec3A::from(*v);
                let [inner, drawn_inner] = inner;
                let (edge, segment) = (free - drawn_inner, x - inner);
                let scale = segment.length_squared() / edge.length_squared().max(f32::MIN_POSITIVE);
                drawn_inner + edge * scale.sqrt()
            };
            inner = [x, there];
            *point = there.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    /// Hair that moves rigidly with a scalp that turns evenly goes on with it; hair that swings beside goes on turning,
    /// and no segment changes its length.
    #[test]
    fn hair_goes_on_with_the_scalp_and_by_its_own_velocity() {
        let (dt, ahead, spin) = (1.0 / 240.0, 1.0 / 500.0, 8.0);
        let pivot = Vec3::new(0.3, 0.0, -0.2);
        let scalp = |t: f32| {
            let turn = RigidTransform::about(pivot, Quat::from_rotation_y(spin * t));
            RigidTransform::from_translation(Vec3::X * (3.0 * t)) * turn
        };
        let (before, now, drawn) = (scalp(-dt), scalp(0.0), scalp(ahead));
        let rest: Vec<Vec3> = (0..10).map(|i| Vec3::new(0.1, 0.02 * i as f32, 0.1)).collect();
        let motion = Motion::new([&before, &now, &drawn], dt, ahead);
        let at = |t: &RigidTransform| rest.iter().map(|p| t.point(*p)).collect::<Vec<_>>();
        let rigid: Vec<Vec3> =
            at(&now).iter().zip(at(&before)).map(|(a, b)| (*a - b) / dt).collect();
        let mut found = at(&now);
        motion.go_on(1, &mut found, &rigid);
        for (found, truth) in found.iter().zip(at(&drawn)) {
            // Rounding of a velocity, times the time.
            assert!(found.distance(truth) < 1e-6, "{found} {truth}");
        }
        // Swings about its root in the frame of the scalp.
        let swing = |t: f32| RigidTransform::about(rest[0], Quat::from_rotation_z(5.0 * t));
        let path = |scalp: &RigidTransform, t: f32| at(&(*scalp * swing(t)));
        let (start, mut found) = (path(&now, 0.0), path(&now, 0.0));
        let pairs = start.iter().zip(path(&before, -dt));
        let v: Vec<Vec3> = pairs.map(|(a, b)| (*a - b) / dt).collect();
        motion.go_on(1, &mut found, &v);
        for (i, truth) in path(&drawn, ahead).iter().enumerate() {
            // Second order in time: half of w^2 r (dt + a) a, with w = 5 rad/s and r = 0.18 m.
            let bound = 0.5 * 25.0 * 0.18 * (dt + ahead) * ahead + 1e-6;
            assert!(found[i].distance(*truth) < bound, "point {i}: {}", found[i].distance(*truth));
        }
        for (now, drawn) in start.windows(2).zip(found.windows(2)) {
            assert!((now[0].distance(now[1]) - drawn[0].distance(drawn[1])).abs() < 1e-7);
        }
    }

    #[test]
    fn what_does_not_move_stays() {
        let pose = RigidTransform { rotation: Quat::from_rotation_x(0.7), translation: Vec3::ONE };
        let motion = Motion::new([&pose; 3], 0.004, 0.003);
        let line: Vec<Vec3> = (0..5).map(|i| Vec3::new(0.3, 0.1 * i as f32, 0.7)).collect();
        let mut found = line.clone();
        motion.go_on(2, &mut found, &[Vec3::ZERO; 5]);
        let off = found.iter().zip(&line).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // The lengths of segments are taken up again from their root: an ulp each.
        assert!(off < 2e-7, "{off} m");
    }
}
