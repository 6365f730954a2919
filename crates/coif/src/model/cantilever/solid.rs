//! What strips stay out of: colliders laid out for a step, one point or sixteen at a time.
//!
//! Sphere, ellipsoid and capsule are one shape: a unit ball, scaled along the axes and swept along y. A
//! distance is that from the tangent plane at the surface point on the ray from the middle: never more
//! than the true one, and the same on the surface.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8, f32x16, mask32x16};
use glam::{Mat3, Vec3};

use crate::body::{MovingCollider, Shape};
use crate::math::RigidTransform;
use crate::math::lanes::{HALF, Vec3x};
use crate::math::unit_ball::{NO_GRADIENT, half_space, tangent_plane};
use crate::model::FieldObstacle;

/// A collider at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Solid {
    /// From the world to the unit ball: `to_ball * p - centre`. For a plane, lengths stay.
    to_ball: Mat3,
    centre: Vec3,
    /// How far the ball is swept along y, both ways.
    sweep: f32,
    plane: bool,
    /// How fast the level grows at most (1/m).
    steepest: f32,
    /// A ball around it in the world (m).
    middle: Vec3,
    reach: f32,
    /// Coulomb friction, and how its surface has moved since the start of the step: turned about the
    /// origin, then shifted (m).
    pub(super) friction: f32,
    turned: Mat3,
    shifted: Vec3,
}

/// Square of the sine of the angle between a segment and a normal below which the segment has no
/// direction along the surface.
pub(super) const STRAIGHT: f32 = 1e-8;

/// Numbers of a solid that are left after a step: friction and motion are those of the next.
pub(super) const FLOATS: usize = 19;

impl Solid {
    pub(super) fn new(shape: &Shape, world_from_shape: &RigidTransform) -> Self {
        let (radii, half_height, plane) = match *shape {
            Shape::Sphere { radius } => (Vec3::splat(radius), 0.0, false),
            Shape::Ellipsoid { radii } => (radii, 0.0, false),
            Shape::Capsule { half_height, radius } => (Vec3::splat(radius), half_height, false),
            Shape::Plane => (Vec3::ONE, 0.0, true),
        };
        let turn = Mat3::from_quat(world_from_shape.rotation).transpose();
        let to_ball = Mat3::from_diagonal(1.0 / radii) * turn;
        Self {
            to_ball,
            centre: to_ball * world_from_shape.translation,
            sweep: half_height / radii.y,
            plane,
            steepest: 1.0 / radii.min_element(),
            middle: world_from_shape.translation,
            reach: if plane { f32::INFINITY } else { radii.max_element() + half_height },
            friction: 0.0,
            turned: Mat3::IDENTITY,
            shifted: Vec3::ZERO,
        }
    }

    /// A collider at the end of a step.
    pub(super) fn after_step(collider: &MovingCollider) -> Self {
        let motion = collider.end * collider.start.inverse();
        Self {
            friction: collider.friction,
            turned: Mat3::from_quat(motion.rotation),
            shifted: motion.translation,
            ..Self::new(&collider.shape, &collider.end)
        }
    }

    /// Where a point goes that sticks to the surface.
    pub(super) fn carried(&self, p: Vec3) -> Vec3 {
        self.turned * p + self.shifted
    }

    /// The same for sixteen points.
    #[inline(always)]
    pub(super) fn carried_lanes<S: Simd>(&self, simd: S, p: Vec3x<S>) -> Vec3x<S> {
        let m = &self.turned;
        let column = |v: Vec3| Vec3x::splat(simd, v);
        column(m.x_axis) * p.x
            + column(m.y_axis) * p.y
            + column(m.z_axis) * p.z
            + column(self.shifted)
    }

    /// Whether it may reach into a ball (m).
    pub(super) fn may_reach(&self, middle: Vec3, radius: f32) -> bool {
        if self.plane {
            return self.distance(middle).1 < radius;
        }
        let reach = self.reach + radius;
        self.middle.distance_squared(middle) < reach * reach
    }

    /// The way out at a point, and how far it is from the plane across that (m), negative inside.
    pub(super) fn distance(&self, p: Vec3) -> (Vec3, f32) {
        let mut s = self.to_ball * p - self.centre;
        if self.plane {
            return half_space(&self.to_ball, s);
        }
        s.y -= s.y.clamp(-self.sweep, self.sweep);
        tangent_plane(&self.to_ball, s)
    }

    /// The direction nearest to `along` in which a segment from `parent` ends at least `room` (m) outside,
    /// as far as its length allows: see `turn_out` in the kernel.
    pub(super) fn turn_out(&self, parent: Vec3, along: Vec3, length: f32, room: f32) -> Vec3 {
        let p = parent + along * length;
        // Most are far away.
        let reach = self.reach + room;
        if self.middle.distance_squared(p) >= reach * reach {
            return along;
        }
        let (out, distance) = self.distance(p);
        if distance >= room { along } else { turn(along, out, (room - distance) / length) }
    }

    /// Its numbers, for a checkpoint.
    pub(super) fn to_floats(self) -> [f32; FLOATS] {
        let mut out = [0.0; FLOATS];
        out[..9].copy_from_slice(&self.to_ball.to_cols_array());
        out[9..12].copy_from_slice(&self.centre.to_array());
        out[12..15].copy_from_slice(&self.middle.to_array());
        out[15..].copy_from_slice(&[self.sweep, self.steepest, self.reach, f32::from(self.plane)]);
        out
    }

    /// What [`Self::to_floats`] gave.
    pub(super) fn from_floats(from: &[f32; FLOATS]) -> Self {
        Self {
            to_ball: Mat3::from_cols_slice(&from[..9]),
            centre: Vec3::from_slice(&from[9..]),
            middle: Vec3::from_slice(&from[12..]),
            sweep: from[15],
            steepest: from[16],
            reach: from[17],
            plane: from[18] > 0.5,
            friction: 0.0,
            turned: Mat3::IDENTITY,
            shifted: Vec3::ZERO,
        }
    }

    /// Points of the unit ball, or of the half space.
    #[inline(always)]
    fn in_ball<S: Simd>(&self, simd: S, p: Vec3x<S>) -> Vec3x<S> {
        let m = &self.to_ball;
        let row = |x: f32, y: f32, z: f32, c: f32| p.x * x + p.y * y + p.z * z - c;
        let mut y = row(m.x_axis.y, m.y_axis.y, m.z_axis.y, self.centre.y);
        if self.sweep > 0.0 {
            let sweep = f32x16::splat(simd, self.sweep);
            y -= y.max(sweep * -1.0).min(sweep);
        }
        Vec3x {
            x: row(m.x_axis.x, m.y_axis.x, m.z_axis.x, self.centre.x),
            y,
            z: row(m.x_axis.z, m.y_axis.z, m.z_axis.z, self.centre.z),
        }
    }

    /// Which of sixteen points may be nearer than a radius (m): all that are, and some others.
    #[inline(always)]
    pub(super) fn may_touch<S: Simd>(
        &self,
        simd: S,
        p: Vec3x<S>,
        radius: f32x16<S>,
    ) -> mask32x16<S> {
        let s = self.in_ball(simd, p);
        if self.plane {
            return s.y.simd_lt(radius);
        }
        let limit = radius.max(f32x16::splat(simd, 0.0)) * self.steepest + 1.0;
        s.dot(s).simd_lt(limit * limit)
    }

    /// [`distance`](Self::distance) of sixteen points.
    #[inline(always)]
    pub(super) fn distances<S: Simd>(&self, simd: S, p: Vec3x<S>) -> (Vec3x<S>, f32x16<S>) {
        let m = &self.to_ball;
        let splat = |v: f32| f32x16::splat(simd, v);
        let s = self.in_ball(simd, p);
        if self.plane {
            return (Vec3x::splat(simd, m.transpose() * Vec3::Y), s.y);
        }
        let level2 = s.dot(s);
        let gradient = Vec3x {
            x: s.x * m.x_axis.x + s.y * m.x_axis.y + s.z * m.x_axis.z,
            y: s.x * m.y_axis.x + s.y * m.y_axis.y + s.z * m.y_axis.z,
            z: s.x * m.z_axis.x + s.y * m.z_axis.y + s.z * m.z_axis.z,
        };
        let size2 = gradient.dot(gradient);
        let inverse = splat(1.0) / size2.max(splat(NO_GRADIENT)).sqrt();
        let mut distance = (level2 - level2.sqrt()) * inverse;
        let mut out = gradient * inverse;
        let lost = size2.simd_lt(NO_GRADIENT);
        if lost.any_true() {
            let (way, depth) = self.distance(self.middle);
            out = Vec3x::splat(simd, way).or(lost, out);
            distance = fearless_simd::Select::select(lost, splat(depth), distance);
        }
        (out, distance)
    }
}

/// The same for a body's own surface, at the end of the step.
pub(super) fn leave_field(
    obstacle: &FieldObstacle<'_>,
    parent: Vec3,
    along: Vec3,
    length: f32,
    room: f32,
) -> Vec3 {
    let p = parent + along * length;
    let distance = obstacle.field.distance_at(p) - obstacle.skin;
    if distance >= room {
        return along;
    }
    let out = obstacle.field.sample(p).gradient.normalize_or_zero();
    if out == Vec3::ZERO { along } else { turn(along, out, (room - distance) / length) }
}

/// Turns a unit vector until it has `more` along `out` than it had, or as much as it can have.
fn turn(along: Vec3, out: Vec3, more: f32) -> Vec3 {
    let into = out.dot(along);
    let c = (into + more).min(1.0);
    let flat = along - out * into;
    let straight = flat.length_squared() < STRAIGHT;
    let flat = if straight { out.any_orthonormal_vector() } else { flat.normalize() };
    (out * c + flat * (1.0 - c * c).max(0.0).sqrt()).normalize_or(out)
}

/// All colliders at one moment, the balls around them in lanes, eight at a time, and a ball around each
/// eight, in lanes again: those of one character follow each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Solids {
    pub(super) all: Vec<Solid>,
    balls: Vec<Balls>,
    groups: Vec<Balls>,
}

/// Eight balls: x, y, z, radius (m).
type Balls = [[f32; HALF]; 4];

/// Beyond the last ball there is nothing within reach.
const NOTHING: Balls = [[f32::INFINITY; HALF], [0.0; HALF], [0.0; HALF], [0.0; HALF]];

impl Solids {
    /// Takes on other colliders, in the same memory.
    pub(super) fn refill(&mut self, solids: impl Iterator<Item = Solid>) {
        self.all.clear();
        self.all.extend(solids);
        self.balls.clear();
        self.groups.clear();
        for (k, eight) in self.all.chunks(HALF).enumerate() {
            let mut balls = NOTHING;
            let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for (l, solid) in eight.iter().enumerate() {
                set_ball(&mut balls, l, solid.middle, solid.reach);
                (lo, hi) = (lo.min(solid.middle), hi.max(solid.middle));
            }
            self.balls.push(balls);
            if k % HALF == 0 {
                self.groups.push(NOTHING);
            }
            let middle = 0.5 * (lo + hi);
            let far = |s: &Solid| s.middle.distance(middle) + s.reach;
            if let Some(group) = self.groups.last_mut() {
                set_ball(group, k % HALF, middle, eight.iter().map(far).fold(0.0, f32::max));
            }
        }
    }
}

fn set_ball(balls: &mut Balls, l: usize, middle: Vec3, reach: f32) {
    for (to, v) in balls.iter_mut().zip([middle.x, middle.y, middle.z, reach]) {
        to[l] = v;
    }
}

/// One bit for each of eight balls that a ball touches.
#[inline(always)]
fn touching<S: Simd>(simd: S, [x, y, z, size]: &Balls, middle: Vec3, radius: f32) -> u32 {
    let row = |row: &[f32; HALF]| f32x8::from_slice(simd, row);
    let (x, y, z) = (row(x) - middle.x, row(y) - middle.y, row(z) - middle.z);
    let size = row(size) + radius;
    (x * x + y * y + z * z).simd_lt(size * size).to_bitmask() as u32
}

/// The places of the bits that are set.
#[inline(always)]
fn set_bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        place
    })
}

/// The solids near some strips.
pub(super) struct Near<'a> {
    solids: &'a Solids,
    picked: [u32; MOST],
    /// How far from the anchors they begin (m).
    begins: [f32; MOST],
    /// More than fit means all.
    count: usize,
}

/// Most solids that are kept apart as near.
const MOST: usize = 48;

impl<'a> Near<'a> {
    /// None of some solids.
    #[inline(always)]
    pub(super) fn new(solids: &'a Solids) -> Self {
        Self { solids, picked: [0; MOST], begins: [0.0; MOST], count: 0 }
    }

    /// Those of some solids that may come within `reach` (m) of a point.
    #[inline(always)]
    pub(super) fn pick<S: Simd>(simd: S, solids: &'a Solids, point: Vec3, reach: f32) -> Self {
        let mut near = Self::new(solids);
        near.add(simd, point, 0.0, reach);
        near
    }

    /// Adds those that may come within `reach` (m) of a ball around some anchors.
    #[inline(always)]
    pub(super) fn add<S: Simd>(&mut self, simd: S, middle: Vec3, radius: f32, reach: f32) {
        let farthest = radius + reach;
        for (g, group) in self.solids.groups.iter().enumerate() {
            for k in set_bits(touching(simd, group, middle, farthest)).map(|k| g * HALF + k) {
                for l in set_bits(touching(simd, &self.solids.balls[k], middle, farthest)) {
                    self.take(k * HALF + l, middle, radius, reach);
                }
            }
        }
    }

    /// Puts one on the list, or notes that it begins earlier.
    #[inline(always)]
    fn take(&mut self, i: usize, middle: Vec3, radius: f32, reach: f32) {
        let solid = &self.solids.all[i];
        // The ball around a plane is everything.
        if solid.plane && !solid.may_reach(middle, radius + reach) {
            return;
        }
        let begins = solid.middle.distance(middle) - solid.reach - radius;
        let known = &self.picked[..self.count.min(MOST)];
        if let Some(k) = known.iter().position(|&picked| picked == i as u32) {
            self.begins[k] = self.begins[k].min(begins);
            return;
        }
        if let Some(picked) = self.picked.get_mut(self.count) {
            *picked = i as u32;
            self.begins[self.count] = begins;
        }
        self.count += 1;
    }

    /// Each of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Solid> {
        self.iter(f32::INFINITY).map(|(_, solid)| solid)
    }

    /// Each of them that begins within a distance from the anchors (m), and its place on the list.
    #[inline(always)]
    pub(super) fn iter(&self, within: f32) -> impl Iterator<Item = (usize, &'a Solid)> {
        let all = self.count > MOST;
        let count = if all { self.solids.all.len() } else { self.count };
        let solids = self.solids;
        (0..count)
            .filter(move |&i| all || self.begins[i] <= within)
            .map(move |i| (i, &solids.all[if all { i } else { self.picked[i] as usize }]))
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use glam::Quat;

    use super::*;

    fn shapes() -> [Shape; 4] {
        [
            Shape::Sphere { radius: 0.4 },
            Shape::Ellipsoid { radii: Vec3::new(0.3, 0.8, 0.5) },
            Shape::Capsule { half_height: 0.5, radius: 0.2 },
            Shape::Plane,
        ]
    }

    fn points() -> impl Iterator<Item = Vec3> {
        (0..400).map(|i| {
            let t = i as f32;
            Vec3::new((t * 0.7).sin(), (t * 0.31).cos(), (t * 0.13).sin()) * (0.1 + 0.004 * t)
        })
    }

    /// Zero on the surface, of the right sign, and never more than the true distance.
    #[test]
    fn a_distance_is_a_lower_bound_and_right_on_the_surface() {
        for shape in shapes() {
            let pose = RigidTransform {
                rotation: Quat::from_euler(glam::EulerRot::YXZ, 0.4, -1.3, 2.0),
                translation: Vec3::new(0.1, 0.2, -0.3),
            };
            let solid = Solid::new(&shape, &pose);
            for p in points() {
                let truth = shape.project_point(pose.inverse().point(p));
                let (out, distance) = solid.distance(p);
                assert!(out.is_normalized());
                assert!(distance <= truth.distance.abs() + 1e-5, "{shape:?}: {distance} {truth:?}");
                assert!(truth.distance.abs() < 1e-4 || (distance < 0.0) == (truth.distance < 0.0));
                let (_, zero) = solid.distance(pose.point(truth.point));
                assert!(zero.abs() < 1e-4, "{shape:?}: {zero}");
            }
        }
    }

    #[test]
    fn a_solid_survives_a_checkpoint_and_turns_segments_out() {
        for shape in shapes() {
            let solid = Solid::new(&shape, &RigidTransform::from_translation(Vec3::Y * 0.1));
            let again = Solid::from_floats(&solid.to_floats());
            for p in points() {
                assert_eq!(solid.distance(p), again.distance(p));
                let (out, distance) = solid.distance(p);
                // From the surface, straight in or along: the end is outside, at the same length.
                let parent = p - out * distance;
                for along in [-out, out.any_orthonormal_vector()] {
                    let way = solid.turn_out(parent, along, 0.05, 1e-3);
                    assert!(way.is_normalized());
                    let end = solid.distance(parent + way * 0.05).1;
                    assert!(end > 1e-3 - 1e-5 || distance < -0.05, "{shape:?} {p}: {end}");
                }
            }
        }
    }

    #[test]
    fn what_is_near_is_found_in_lanes() {
        let all: Vec<Solid> = points()
            .enumerate()
            .map(|(i, p)| Solid::new(&shapes()[i % 4], &RigidTransform::from_translation(p * 4.0)))
            .take(45)
            .collect();
        let mut solids = Solids::default();
        solids.refill(all.iter().copied());
        for (k, p) in points().enumerate() {
            let radius = 0.02 * k as f32;
            let expected = all.iter().filter(|s| s.may_reach(p, radius)).map(|s| s.middle);
            let found: Vec<Vec3> = dispatch!(Level::new(), simd => {
                Near::pick(simd, &solids, p, radius).all().map(|s| s.middle).collect()
            });
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_sticks_to_a_collider_goes_with_it() {
        let turn = |a: f32| RigidTransform::about(Vec3::Y * 0.3, Quat::from_rotation_z(a));
        let place = RigidTransform::from_translation(Vec3::X * 0.1);
        let (start, end) = (turn(0.2) * place, turn(0.4) * place);
        let collider = MovingCollider { shape: shapes()[1], friction: 0.4, start, end };
        let solid = Solid::after_step(&collider);
        for p in points() {
            assert_eq!(solid.distance(p), Solid::new(&collider.shape, &end).distance(p));
            let carried = turn(0.4).point(turn(0.2).inverse().point(p));
            assert!(solid.carried(p).distance(carried) < 1e-5);
            dispatch!(Level::new(), simd => {
                let lanes = solid.carried_lanes(simd, Vec3x::splat(simd, p));
                assert!(lanes.lane(3).distance(carried) < 1e-5);
            });
        }
    }

    #[test]
    fn lanes_say_what_one_point_says() {
        let all: Vec<Vec3> = points().collect();
        for shape in shapes() {
            let solid = Solid::new(&shape, &RigidTransform::from_translation(Vec3::Y * 0.1));
            for sixteen in all.chunks_exact(16) {
                dispatch!(Level::new(), simd => {
                    let mut p = Vec3x::splat(simd, Vec3::ZERO);
                    sixteen.iter().enumerate().for_each(|(l, &q)| p.set_lane(l, q));
                    let radius = f32x16::splat(simd, 0.1);
                    let (outs, distances) = solid.distances(simd, p);
                    let touches = solid.may_touch(simd, p, radius).to_bitmask();
                    for (l, &q) in sixteen.iter().enumerate() {
                        let (out, distance) = solid.distance(q);
                        assert!((distances[l] - distance).abs() < 1e-5);
                        assert!(outs.lane(l).distance(out) < 1e-4);
                        assert!(distance >= 0.1 || touches & (1 << l) != 0, "{shape:?} {q}");
                    }
                });
            }
        }
    }
}
