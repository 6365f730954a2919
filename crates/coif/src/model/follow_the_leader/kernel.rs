//! The pass, sixteen strands at a time.
//!
//! One walk from root to tip reads x(i), v(i) and writes x(i), v(i-1): a particle's velocity needs
//! the correction of its successor, so it is finished one point late, from registers.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::Pass;
use super::block::{Block, Outcome};
use super::collider::{Bounds, Near, StepCollider};
use super::contact::collide;
use super::rest::SMALLEST_TURN;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

/// Farthest a particle may get from the origin (m) before it counts as broken.
const FARTHEST: f32 = 1e5;

/// Points for which near colliders are looked up together.
const CHUNK: usize = 8;

/// How much farther than their velocity and their predecessors take them points may get in one step
/// (m), by gravity, style and contact.
const MARGIN: f32 = 0.015;

/// Advances a block by one step.
///
/// Source: `muller2012` eq. 1 (predict), 3.1 (project and collide on the length sphere), eq. 9
/// (corrected velocity).
/// Symbols: x position, v velocity, p new position, d correction of the length projection, s scale
/// of the velocity correction, dt step.
/// Deviations: before the projection a particle is pulled towards its groomed direction, carried by
/// its predecessor's frame; d is the length projection's part only, since only that one is a force
/// between the two particles; contact removes the velocity into the surface and slows the sliding.
#[inline(always)]
pub(super) fn step_block<S: Simd>(
    simd: S,
    block: &mut Block,
    pass: &Pass,
    colliders: &[StepCollider],
) -> Outcome {
    let inverse_dt = 1.0 / pass.dt;
    let carried_on = 1.0 / (1.0 + pass.damping * pass.dt);
    let fall = Vec3x::splat(simd, pass.gravity * pass.dt);
    let blow = Vec3x::load(simd, &block.wind, 0) * f32x16::splat(simd, pass.damping * pass.dt);
    let push = fall + blow;
    let last = f32x16::from_slice(simd, &block.last);
    let last_embedded = f32x16::from_slice(simd, &block.last_embedded);
    let root = Carrier::load(simd, &block.root);
    let root_before = Carrier::load(simd, &block.root_before);
    let dt = f32x16::splat(simd, pass.dt);
    let zero = Vec3x::splat(simd, Vec3::ZERO);

    // Start at the root, which the body carries, with the frame of the last embedded segment.
    let mut x_before = Vec3x::load(simd, &block.position, 0);
    let mut parent = root.point(Vec3x::load(simd, &block.rest, 0));
    let rest_frame = Frame {
        along: Vec3x::load(simd, &block.rest_frame[0], 0),
        normal: Vec3x::load(simd, &block.rest_frame[1], 0),
    };
    let mut frame = root.frame(rest_frame);
    let mut frame_before = root_before.frame(rest_frame);
    let mut brake = zero;
    let mut sane = parent.dot(parent).simd_lt(FARTHEST * FARTHEST);
    parent.store(&mut block.position, 0);

    let mut outcome = Outcome::default();
    let mut near = Near::none(colliders);
    for i in 1..block.points {
        // Now and then, look which colliders the next few points could touch.
        if (i - 1) % CHUNK == 0 && !colliders.is_empty() {
            let dragged = (parent - x_before).length().reduce_max();
            near.pick(&reach(simd, block, i, pass.dt, dragged));
        }
        let x = Vec3x::load(simd, &block.position, i);
        let v = Vec3x::load(simd, &block.velocity, i);
        let length = f32x16::from_slice(simd, &block.length[i * LANES..(i + 1) * LANES]);
        let pull = f32x16::from_slice(simd, &block.pull[i * LANES..(i + 1) * LANES]);
        let drag = f32x16::from_slice(simd, &block.drag[i * LANES..(i + 1) * LANES]);

        // Predict (eq. 1).
        let predicted = x + (v + push) * f32x16::splat(simd, carried_on) * dt;
        // Pull towards the groomed direction in the predecessor's frame, and along with its motion.
        let goal = Vec3x::load(simd, &block.goal, i);
        let target = parent + frame.point(goal);
        let target_before = x_before + frame_before.point(goal);
        let along_with = x + (target - target_before);
        let styled = predicted + (target - predicted) * pull + (along_with - predicted) * drag;
        // Project onto the length sphere (3.1), from the frame's direction if there is none.
        let way = styled - parent;
        let distance = way.length();
        let direction = (way
            * (f32x16::splat(simd, 1.0) / distance.max(f32x16::splat(simd, 1e-12))))
        .or(distance.simd_gt(1e-9), frame.along);
        let mut p = parent + direction * length;
        let mut d = p - styled;

        // Points that are embedded go where the body carries them.
        let index = f32x16::splat(simd, i as f32);
        let free = index.simd_gt(last_embedded);
        let mut active = free & index.simd_le(last);
        if i < block.most_embedded {
            let carried = root.point(Vec3x::load(simd, &block.rest, i));
            p = p.or(free, carried);
        }
        d = d.or(active, zero);

        // Leave the body on the length sphere.
        active &= sane;
        let contact = collide(simd, &near, active, parent, length, frame.along, p, x, inverse_dt);
        p = contact.position;
        outcome.unresolved += contact.unresolved;

        // Finish the predecessor's velocity (eq. 9).
        let corrected = (parent - x_before - d * f32x16::splat(simd, pass.correction))
            * f32x16::splat(simd, inverse_dt)
            - brake;
        corrected.store(&mut block.velocity, i - 1);
        p.store(&mut block.position, i);

        // Carry the frames along without twist; embedded segments keep the frame they were given.
        let inverse_length = f32x16::splat(simd, 1.0) / length;
        frame = frame.transported((p - parent) * inverse_length).or(free, frame);
        frame_before =
            frame_before.transported((x - x_before) * inverse_length).or(free, frame_before);
        sane &= p.dot(p).simd_lt(FARTHEST * FARTHEST);
        x_before = x;
        parent = p;
        brake = contact.brake;
    }
    let corrected = (parent - x_before) * f32x16::splat(simd, inverse_dt) - brake;
    corrected.store(&mut block.velocity, block.points - 1);

    // A lane that left the world, or is not a number any more, has failed a comparison.
    outcome.broken = !(sane.to_bitmask() as u32) & 0xffff;
    outcome
}

/// A box around where the points from `first` on can get in one step: where they are, how far their
/// velocity takes them, and how far they are dragged along.
#[inline(always)]
fn reach<S: Simd>(simd: S, block: &Block, first: usize, dt: f32, dragged: f32) -> Bounds {
    let mut lo = Vec3x::load(simd, &block.position, first);
    let mut hi = lo;
    let mut speed2 = f32x16::splat(simd, 0.0);
    for i in first..(first + CHUNK).min(block.points) {
        let p = Vec3x::load(simd, &block.position, i);
        let v = Vec3x::load(simd, &block.velocity, i);
        lo = Vec3x { x: lo.x.min(p.x), y: lo.y.min(p.y), z: lo.z.min(p.z) };
        hi = Vec3x { x: hi.x.max(p.x), y: hi.y.max(p.y), z: hi.z.max(p.z) };
        speed2 = speed2.max(v.dot(v));
    }
    let margin = Vec3::splat(MARGIN + dragged + speed2.reduce_max().sqrt() * dt);
    Bounds {
        lo: Vec3::new(lo.x.reduce_min(), lo.y.reduce_min(), lo.z.reduce_min()) - margin,
        hi: Vec3::new(hi.x.reduce_max(), hi.y.reduce_max(), hi.z.reduce_max()) + margin,
    }
}

/// World from rest, sixteen times.
struct Carrier<S: Simd> {
    columns: [Vec3x<S>; 3],
    translation: Vec3x<S>,
}

impl<S: Simd> Carrier<S> {
    #[inline(always)]
    fn load(simd: S, from: &[[f32; VECTOR]; 4]) -> Self {
        Self {
            columns: [0, 1, 2].map(|i| Vec3x::load(simd, &from[i], 0)),
            translation: Vec3x::load(simd, &from[3], 0),
        }
    }

    #[inline(always)]
    fn direction(&self, v: Vec3x<S>) -> Vec3x<S> {
        let [x, y, z] = self.columns;
        x * v.x + y * v.y + z * v.z
    }

    #[inline(always)]
    fn point(&self, p: Vec3x<S>) -> Vec3x<S> {
        self.direction(p) + self.translation
    }

    #[inline(always)]
    fn frame(&self, rest: Frame<S>) -> Frame<S> {
        Frame { along: self.direction(rest.along), normal: self.direction(rest.normal) }
    }
}

/// A segment's direction and a unit vector across it.
#[derive(Clone, Copy)]
struct Frame<S: Simd> {
    along: Vec3x<S>,
    normal: Vec3x<S>,
}

impl<S: Simd> Frame<S> {
    /// From the frame's coordinates to the world's.
    #[inline(always)]
    fn point(&self, v: Vec3x<S>) -> Vec3x<S> {
        self.along * v.x + self.normal * v.y + self.along.cross(self.normal) * v.z
    }

    /// Turned by the smallest rotation that takes its direction to `next`.
    #[inline(always)]
    fn transported(&self, next: Vec3x<S>) -> Self {
        let cosine = (self.along.dot(next) + 1.0).max(f32x16::splat(next.x.simd, SMALLEST_TURN));
        let normal = self.normal - (self.along + next) * (self.normal.dot(next) / cosine);
        Self { along: next, normal }
    }

    #[inline(always)]
    fn or(self, mask: mask32x16<S>, other: Self) -> Self {
        Self { along: self.along.or(mask, other.along), normal: self.normal.or(mask, other.normal) }
    }
}
