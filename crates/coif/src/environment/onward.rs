//! Extrapolation of hair on a driven body from the last step to the drawn time, by less than one step.
//!
//! Steps have a fixed length and frames do not, so a frame usually ends between two steps, and the pose of the body at the
//! end of the next step is not known yet. Hair is extrapolated by its velocity; its state does not change.
//!
//! Model: a point keeps its velocity of the last substep in the frame of the scalp under the root, `y = P^-1 x`:
//! `y' = y + a (y - y0) / dt`. With `P0`, `P` and `P'` the pose of the scalp before that substep, after it and at the drawn
//! time, and `v = (x - P0 y0) / dt`, that is `x' = P' P^-1 z` with `z = x + a (x - P P0^-1 (x - v dt)) / dt`: first in the
//! frame of the current scalp, then rigidly with the scalp. Strips and hair meshes are extrapolated to `z`, strands are
//! placed along them at the current pose of the body, and then carried with the scalp. Strands that a model moves itself
//! are extrapolated in one evaluation, `x' = P' P^-1 x + a R' R0^-1 (v - (x - P0 P^-1 x) / dt)`, an affine map of x and a
//! linear one of v.
//! Symbols: x position (m), v velocity (m/s), a time from the last step to the drawn time (s), dt length of the substep
//! (s), R rotations of the poses P.

use fearless_simd::{Simd, SimdBase, f32x16};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};

use crate::math::lanes::Vec3x;
use crate::math::pose_lanes::{AffineLanes, PoseLanes};
use crate::math::{LANES, RigidTransform};

/// Poses and times of the extrapolation to the drawn time.
#[derive(Clone, Copy)]
pub(crate) struct Onward<'a> {
    /// Per primitive that the model moves: pose of the scalp under its root before the last substep, and now.
    pub(crate) before: &'a [RigidTransform],
    pub(crate) now: &'a [RigidTransform],
    /// Per strand: pose of the scalp under its root now, and at the drawn time.
    pub(crate) strands_now: &'a [RigidTransform],
    pub(crate) strands_drawn: &'a [RigidTransform],
    /// Length of the substep, and time from the last step to the drawn time (s).
    pub(crate) dt: f32,
    pub(crate) ahead: f32,
}

/// The rigid map between two poses: exactly the identity where they are equal.
fn map_between(from: &RigidTransform, to: &RigidTransform) -> Affine3A {
    if to == from {
        return Affine3A::IDENTITY;
    }
    let t = *to * from.inverse();
    Affine3A::from_rotation_translation(t.rotation, t.translation)
}

impl Onward<'_> {
    /// Extrapolation of a point of a primitive in the frame of the current scalp, from its position (m) and velocity
    /// (m/s): `z` above.
    pub(crate) fn beside_scalp(&self, primitive: usize) -> impl Fn(Vec3, Vec3) -> Vec3 + use<> {
        let to_now = map_between(&self.before[primitive], &self.now[primitive]);
        let (dt, steps) = (self.dt, self.ahead / self.dt);
        move |x, v| {
            let (x, v) = (Vec3A::from(x), Vec3A::from(v));
            (x + (x - to_now.transform_point3a(x - v * dt)) * steps).into()
        }
    }

    /// [`beside_scalp`](Self::beside_scalp) of sixteen primitives.
    #[inline(always)]
    pub(crate) fn beside_scalps<S: Simd>(
        &self,
        simd: S,
        primitives: &[u32; LANES],
    ) -> BesideScalps<S> {
        let before = PoseLanes::gather(self.before, primitives);
        let now = PoseLanes::gather(self.now, primitives);
        let to_now = before.to(simd, &before.maps(simd), &now, &now.maps(simd));
        let dt = f32x16::splat(simd, self.dt);
        BesideScalps { to_now, dt, steps: f32x16::splat(simd, self.ahead / self.dt) }
    }

    /// Extrapolation of a strand that the model moves itself.
    pub(crate) fn of_strand(&self, strand: usize) -> StrandMotion {
        let [before, now, drawn] =
            [self.before[strand], self.strands_now[strand], self.strands_drawn[strand]];
        let (carried, back) = (map_between(&now, &drawn), map_between(&now, &before));
        let turn = Mat3A::from_quat(drawn.rotation * before.rotation.conjugate());
        let turn = turn * (self.ahead / self.dt);
        let by_place = Affine3A {
            matrix3: carried.matrix3 - turn * (Mat3A::IDENTITY - back.matrix3),
            translation: carried.translation + turn * back.translation,
        };
        StrandMotion { carried, by_place, by_velocity: turn * self.dt }
    }

    /// Map of the scalp from now to the drawn time, for the strands in sixteen lanes.
    #[inline(always)]
    pub(crate) fn carried<S: Simd>(&self, simd: S, strands: &[u32; LANES]) -> AffineLanes<S> {
        let now = PoseLanes::gather(self.strands_now, strands);
        let drawn = PoseLanes::gather(self.strands_drawn, strands);
        now.to(simd, &now.maps(simd), &drawn, &drawn.maps(simd))
    }

    /// [`of_strand`](Self::of_strand) of sixteen strands.
    #[inline(always)]
    pub(crate) fn of_strands<S: Simd>(&self, simd: S, strands: &[u32; LANES]) -> StrandMotions<S> {
        let before = PoseLanes::gather(self.before, strands);
        let now = PoseLanes::gather(self.strands_now, strands);
        let drawn = PoseLanes::gather(self.strands_drawn, strands);
        let [p0, p, p1] = [before.maps(simd), now.maps(simd), drawn.maps(simd)];
        let (carried, back) = (now.to(simd, &p, &drawn, &p1), now.to(simd, &p, &before, &p0));
        let steps = f32x16::splat(simd, self.ahead / self.dt);
        let [x, y, z] = p1.rotation_from(&p0);
        let columns = [x * steps, y * steps, z * steps];
        let turn = AffineLanes { columns, added: carried.added };
        let mut by_place = AffineLanes { added: turn.point(back.added), ..carried };
        for (k, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            let stays = Vec3x::splat(simd, axis) - back.columns[k];
            by_place.columns[k] = carried.columns[k] - turn.direction(stays);
        }
        let dt = f32x16::splat(simd, self.dt);
        let still = Vec3x::splat(simd, Vec3::ZERO);
        let by_velocity =
            AffineLanes { columns: [x * steps * dt, y * steps * dt, z * steps * dt], added: still };
        StrandMotions { carried, by_place, by_velocity }
    }
}

/// Extrapolation of the points of sixteen primitives in the frames of the current scalp.
pub(crate) struct BesideScalps<S: Simd> {
    to_now: AffineLanes<S>,
    dt: f32x16<S>,
    steps: f32x16<S>,
}

impl<S: Simd> BesideScalps<S> {
    /// From positions (m) and velocities (m/s).
    #[inline(always)]
    pub(crate) fn point(&self, x: Vec3x<S>, v: Vec3x<S>) -> Vec3x<S> {
        x + (x - self.to_now.point(x - v * self.dt)) * self.steps
    }
}

/// Extrapolation of one strand.
pub(crate) struct StrandMotion {
    /// Map of embedded points.
    carried: Affine3A,
    /// Maps of the position and of the velocity of free points; their sum is the extrapolated position.
    by_place: Affine3A,
    by_velocity: Mat3A,
}

/// Extrapolation of sixteen strands.
pub(crate) struct StrandMotions<S: Simd> {
    pub(crate) carried: AffineLanes<S>,
    pub(crate) by_place: AffineLanes<S>,
    pub(crate) by_velocity: AffineLanes<S>,
}

impl StrandMotion {
    /// Extrapolates the points of a strand, then restores the segment lengths from root to tip.
    pub(crate) fn go_on(&self, embedded: usize, positions: &mut [Vec3], velocities: &[Vec3]) {
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

    fn motion(poses: [RigidTransform; 3], dt: f32, ahead: f32) -> StrandMotion {
        let [before, now, drawn] = poses.each_ref().map(std::slice::from_ref);
        let (strands_now, strands_drawn) = (now, drawn);
        Onward { before, now, strands_now, strands_drawn, dt, ahead }.of_strand(0)
    }

    /// Hair that moves rigidly with a uniformly rotating scalp is extrapolated rigidly; hair that swings relative to the
    /// scalp keeps its angular velocity, and no segment changes its length.
    #[test]
    fn hair_is_extrapolated_with_the_scalp_and_by_its_own_velocity() {
        let (dt, ahead, spin) = (1.0 / 240.0, 1.0 / 500.0, 8.0);
        let pivot = Vec3::new(0.3, 0.0, -0.2);
        let scalp = |t: f32| {
            let turn = RigidTransform::about(pivot, Quat::from_rotation_y(spin * t));
            RigidTransform::from_translation(Vec3::X * (3.0 * t)) * turn
        };
        let (before, now, drawn) = (scalp(-dt), scalp(0.0), scalp(ahead));
        let rest: Vec<Vec3> = (0..10).map(|i| Vec3::new(0.1, 0.02 * i as f32, 0.1)).collect();
        let motion = motion([before, now, drawn], dt, ahead);
        let at = |t: &RigidTransform| rest.iter().map(|p| t.point(*p)).collect::<Vec<_>>();
        let rigid: Vec<Vec3> =
            at(&now).iter().zip(at(&before)).map(|(a, b)| (*a - b) / dt).collect();
        let mut found = at(&now);
        motion.go_on(1, &mut found, &rigid);
        for (found, truth) in found.iter().zip(at(&drawn)) {
            // Rounding error of the velocity, times the extrapolated time.
            assert!(found.distance(truth) < 1e-6, "{found} {truth}");
        }
        // Rotate the hair about its root in the frame of the scalp.
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
    fn hair_at_rest_is_extrapolated_to_itself() {
        let pose = RigidTransform { rotation: Quat::from_rotation_x(0.7), translation: Vec3::ONE };
        let motion = motion([pose; 3], 0.004, 0.003);
        let line: Vec<Vec3> = (0..5).map(|i| Vec3::new(0.3, 0.1 * i as f32, 0.7)).collect();
        let mut found = line.clone();
        motion.go_on(2, &mut found, &[Vec3::ZERO; 5]);
        let off = found.iter().zip(&line).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // Segment lengths are restored from the root: an ulp each.
        assert!(off < 2e-7, "{off} m");
    }
}
