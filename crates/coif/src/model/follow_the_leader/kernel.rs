//! The pass in lanes: sixteen strands, root to tip, one particle of each at a time.
//!
//! Everything that is not position, velocity, tension or a constant of the groom stays in registers:
//! the pass reads and writes 28 bytes a particle.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::block::{Block, Outcome, Rows};
use super::collider::{Bounds, Near, Obstacles};
use super::contact::{Segment, collide};
use super::style::{SMALLEST_TURN, Stage};
use super::{BendLimit, Pass};
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

/// Farthest a particle may get from the origin (m) before it counts as broken.
pub(super) const FARTHEST: f32 = 1e5;

/// Points for which near colliders are looked up together.
const CHUNK: usize = 8;

/// How much farther than their velocity and their predecessors take them points may get in one step
/// (m), by gravity, style and contact.
const MARGIN: f32 = 0.015;

/// Shortest way from a predecessor (m) that still has a direction.
const NO_DIRECTION: f32 = 1e-9;

/// Advances a block by one step. `STYLE`: whether hair remembers its groom. `EVEN`: see
/// [`Block::even`].
///
/// Source: `muller2012` eq. 1 (predict), eq. 11 (bending limit), 3.1 (project and collide on the
/// length sphere), eq. 9 (corrected velocity).
/// Symbols: x position, v velocity, p new position, d correction of the length projection, s scale
/// of the velocity correction, dt step.
/// Deviations: v is the velocity with which a particle moves; what eq. 9 subtracts from it is kept
/// apart, as the tension of the next segment, and added when the next step predicts. The bending limit
/// turns a segment about its inner end rather than moving the outer one along the line to the one
/// before the inner one: so the angle holds after the projection too, also where a segment is folded
/// back (slip of the text: `phi_min = pi - 2 acos(s_b)`). d is the length
/// projection's part only, since only that one is a force between the two particles. The reaction
/// weighs the masses of the two particles, so that a tip counts half and segments may differ. Before
/// the projection the style pulls. Contact removes the velocity into the surface and slows the
/// sliding.
#[inline(always)]
pub(super) fn step_block<S: Simd, const STYLE: bool, const EVEN: bool>(
    simd: S,
    block: &Block,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
) -> Outcome {
    let points = block.points;
    // Rows as arrays, cut to one length each, so that the loop checks no bounds.
    let position = &mut rows.position.as_chunks_mut::<VECTOR>().0[..points];
    let velocity = &mut rows.velocity.as_chunks_mut::<VECTOR>().0[..points];
    let tension = &mut rows.tension.as_chunks_mut::<LANES>().0[..points];
    let rest = &block.rest.as_chunks::<VECTOR>().0[..points];
    let lengths = &block.length.as_chunks::<LANES>().0[..points];
    let reactions = block.reaction.as_chunks::<LANES>().0;
    let reactions = if EVEN { &reactions[..1] } else { &reactions[..points] };
    let goals = block.goal.as_chunks::<VECTOR>().0;
    let goals = if STYLE { &goals[..points] } else { goals };
    let splat = |v: f32| f32x16::splat(simd, v);
    let row = |from: &[f32; LANES]| f32x16::from_slice(simd, from);
    let dt = splat(pass.dt);
    let fall = Vec3x::splat(simd, pass.gravity * (pass.dt * pass.dt));
    let carried_on = splat(pass.carried_on / pass.dt);
    let blow = Vec3x::of_row(simd, &block.wind) * splat(1.0 - pass.carried_on);
    let last = row(&block.last);
    let last_embedded = row(&block.last_embedded);
    let root = Carrier::load(simd, &block.root);
    let root_before = Carrier::load(simd, &block.root_before);
    let mut outcome = Outcome::default();
    let mut near = Near::none(obstacles.colliders);

    // Start at the root, which the body carries.
    let mut x_before = Vec3x::of_row(simd, &position[0]);
    let mut parent = root.point(Vec3x::of_row(simd, &rest[0]));
    parent.to_row(&mut position[0]);
    let root_moves = (parent - x_before) * splat(1.0 / pass.dt);
    let felt = felt_at_root(simd, pass, root_moves, Vec3x::of_row(simd, &velocity[0]));
    root_moves.to_row(&mut velocity[0]);
    let mut x = Vec3x::of_row(simd, &position[1]);
    let mut grandparent = parent - (x - x_before);
    let mut style = Style::none(simd);
    let mut stages = block.stages.iter().peekable();
    let mut dragged = (parent - x_before).length();

    let mut clear = splat(0.0);
    let touching = !obstacles.colliders.is_empty();
    for i in 1..points {
        // Now and then, look which colliders the next few points could touch.
        if touching && (i - 1) % CHUNK == 0 {
            let end = (i + CHUNK).min(points);
            let far = dragged.reduce_max();
            near.pick(&reach(simd, &position[i..end], &velocity[i..end], pass.dt, far));
        }
        let length = row(&lengths[i]);
        let v = Vec3x::of_row(simd, &velocity[i]);
        let x_next = Vec3x::of_row(simd, &position[(i + 1).min(points - 1)]);

        // Predict (eq. 1), with the pull of the next segment as it was at the last step (eq. 9).
        let drift = v * dt;
        let mut y = x + drift + (x_next - x) * row(&tension[i]) + fall;
        if STYLE {
            // Begin the stages that begin at the predecessor.
            while let Some(stage) = stages.next_if(|s| s.first < i) {
                style.enter(simd, stage, [&root, &root_before], [parent, x_before], felt, pass.dt);
            }
            y += style.pull(Vec3x::of_row(simd, &goals[i]), x, drift);
        }
        // Project onto the length sphere (3.1), from the segment before if there is no direction.
        let mut way = y - parent;
        let mut distance2 = way.dot(way);
        let lost = distance2.simd_lt(NO_DIRECTION * NO_DIRECTION);
        if lost.any_true() {
            way = (parent - grandparent).or(lost, way);
            distance2 = way.dot(way);
        }
        let distance = distance2.sqrt();
        // Keep the angle with the segment before (eq. 11).
        if pass.bend.is_on() && i > 1 {
            way =
                unbend(simd, &pass.bend, parent - grandparent, row(&lengths[i - 1]), way, distance);
        }
        let mut p = parent + way * (length / distance);
        let mut pull = (distance - length) * row(&reactions[if EVEN { 0 } else { i }]);
        if EVEN && i + 1 == points {
            pull *= splat(0.5);
        }

        // Points that are embedded go where the body carries them.
        let mut free = None;
        if i < block.most_embedded {
            let mask = splat(i as f32).simd_gt(last_embedded);
            p = p.or(mask, root.point(Vec3x::of_row(simd, &rest[i])));
            free = Some(mask);
        }

        // Leave the body on the length sphere.
        let mut moved = (p - x) * carried_on + blow;
        if near.any() || obstacles.field.is_some() {
            let mut active = splat(i as f32).simd_le(last);
            if let Some(mask) = free {
                active &= mask;
            }
            let segment = Segment { parent, grandparent, length, clear };
            let contact = collide(simd, &near, obstacles, active, &segment, p, x, pass);
            clear = contact.clear;
            if contact.touched {
                p = contact.position;
                moved = (p - x) * carried_on + blow - contact.brake;
                outcome.unresolved += contact.unresolved;
            }
        }
        moved.to_row(&mut velocity[i]);
        p.to_row(&mut position[i]);
        pull.store_slice(&mut tension[i - 1]);

        if touching && i % CHUNK == 0 {
            dragged = (p - x).length();
        }
        (grandparent, parent) = (parent, p);
        (x_before, x) = (x, x_next);
    }

    // Each point hangs on the one before: a lane that left the world, or is not a number any more,
    // ends there.
    let sane = parent.dot(parent).simd_lt(FARTHEST * FARTHEST);
    outcome.broken = !(sane.to_bitmask() as u32) & 0xffff;
    outcome
}

/// Turns segments that bend too far against the ones before back to the limit, in the plane of the
/// two. `before` is the segment before and `length_before` its length; `way` and `distance` are the
/// direction that was wanted, and its size, which stays.
#[inline(always)]
pub(super) fn unbend<S: Simd>(
    simd: S,
    limit: &BendLimit,
    before: Vec3x<S>,
    length_before: f32x16<S>,
    way: Vec3x<S>,
    distance: f32x16<S>,
) -> Vec3x<S> {
    let along = before.dot(way);
    let bent = along.simd_lt(length_before * distance * limit.cos);
    if !bent.any_true() {
        return way;
    }
    let tiny = f32x16::splat(simd, NO_DIRECTION);
    let inverse = f32x16::splat(simd, 1.0) / length_before.max(tiny);
    let u = before * inverse;
    let tangent = way - u * (along * inverse);
    let size = tangent.length();
    // Straight back has no plane: take any.
    let side = Vec3x { x: u.y, y: u.z, z: u.x }.cross(u);
    let tangent = tangent.or(size.simd_gt(distance * 1e-4), side);
    let scale = distance * limit.sin / tangent.length().max(tiny);
    (u * (distance * limit.cos) + tangent * scale).or(bent, way)
}

/// A box around where points can get in one step: where they are, how far their velocity takes them,
/// and how far they are dragged along.
#[inline(always)]
fn reach<S: Simd>(
    simd: S,
    position: &[[f32; VECTOR]],
    velocity: &[[f32; VECTOR]],
    dt: f32,
    dragged: f32,
) -> Bounds {
    let mut lo = Vec3x::of_row(simd, &position[0]);
    let mut hi = lo;
    let mut speed2 = f32x16::splat(simd, 0.0);
    for (p, v) in position.iter().zip(velocity) {
        let (p, v) = (Vec3x::of_row(simd, p), Vec3x::of_row(simd, v));
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

/// What the roots feel of gravity (m/s^2): less what they accelerate.
#[inline(always)]
pub(super) fn felt_at_root<S: Simd>(
    simd: S,
    pass: &Pass,
    velocity: Vec3x<S>,
    before: Vec3x<S>,
) -> Vec3x<S> {
    Vec3x::splat(simd, pass.gravity) - (velocity - before) * f32x16::splat(simd, 1.0 / pass.dt)
}

/// The stage of the style that each lane is in, at the end and at the start of the step.
pub(super) struct Style<S: Simd> {
    origin: [Vec3x<S>; 2],
    frame: [Frame<S>; 2],
    /// Way in which the held weight moves a point in a step (m).
    hold: Vec3x<S>,
    pull: f32x16<S>,
    drag: f32x16<S>,
}

impl<S: Simd> Style<S> {
    #[inline(always)]
    pub(super) fn none(simd: S) -> Self {
        let zero = Vec3x::splat(simd, Vec3::ZERO);
        let frame = Frame { along: zero, normal: zero, binormal: zero };
        let none = f32x16::splat(simd, 0.0);
        Self { origin: [zero; 2], frame: [frame; 2], hold: zero, pull: none, drag: none }
    }

    /// Begins a stage at a point that is now and was before at `place`.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        simd: S,
        stage: &Stage,
        roots: [&Carrier<S>; 2],
        place: [Vec3x<S>; 2],
        felt: Vec3x<S>,
        dt: f32,
    ) {
        let here = f32x16::from_slice(simd, &stage.lanes).simd_gt(0.5);
        let scalp = f32x16::from_slice(simd, &stage.scalp).simd_gt(0.5);
        let along = Vec3x::load(simd, &stage.along, 0);
        let normal = Vec3x::load(simd, &stage.normal, 0);
        for k in 0..2 {
            // On from the scalp, or from the line between the ends of the stage before.
            let chord = place[k] - self.origin[k];
            let size = chord.length().max(f32x16::splat(simd, NO_DIRECTION));
            let turned = self.frame[k].transported(chord * (f32x16::splat(simd, 1.0) / size));
            let start = Frame::new(roots[k].direction(along), roots[k].direction(normal));
            self.frame[k] = start.or(scalp, turned).or(here, self.frame[k]);
            self.origin[k] = place[k].or(here, self.origin[k]);
        }
        // Hold the weight across; pull what hangs along with the root, never push.
        let hang = self.frame[0].point(Vec3x::load(simd, &stage.hang, 0));
        let carried = felt.dot(hang).max(f32x16::splat(simd, 0.0));
        let hold = self.frame[0].point(Vec3x::load(simd, &stage.hold, 0)) - hang * carried;
        self.hold = (hold * f32x16::splat(simd, dt * dt)).or(here, self.hold);
        self.pull = here.select(f32x16::from_slice(simd, &stage.pull), self.pull);
        self.drag = here.select(f32x16::from_slice(simd, &stage.drag), self.drag);
    }

    /// What the style adds to a predicted position: an implicit damped spring to the goal, and the
    /// weight that the groom holds. `drift` is the way that the velocity takes the point.
    #[inline(always)]
    pub(super) fn pull(&self, goal: Vec3x<S>, x: Vec3x<S>, drift: Vec3x<S>) -> Vec3x<S> {
        let target = self.origin[0] + self.frame[0].point(goal);
        let before = self.origin[1] + self.frame[1].point(goal);
        (target - x - drift) * self.pull + (target - before - drift) * self.drag + self.hold
    }
}

/// World from rest, sixteen times.
pub(super) struct Carrier<S: Simd> {
    columns: [Vec3x<S>; 3],
    translation: Vec3x<S>,
}

impl<S: Simd> Carrier<S> {
    #[inline(always)]
    pub(super) fn load(simd: S, from: &[[f32; VECTOR]; 4]) -> Self {
        Self {
            columns: [0, 1, 2].map(|i| Vec3x::load(simd, &from[i], 0)),
            translation: Vec3x::load(simd, &from[3], 0),
        }
    }

    #[inline(always)]
    pub(super) fn direction(&self, v: Vec3x<S>) -> Vec3x<S> {
        let [x, y, z] = self.columns;
        x * v.x + y * v.y + z * v.z
    }

    #[inline(always)]
    pub(super) fn point(&self, p: Vec3x<S>) -> Vec3x<S> {
        self.direction(p) + self.translation
    }
}

/// A direction and two unit vectors across it.
#[derive(Clone, Copy)]
struct Frame<S: Simd> {
    along: Vec3x<S>,
    normal: Vec3x<S>,
    binormal: Vec3x<S>,
}

impl<S: Simd> Frame<S> {
    #[inline(always)]
    fn new(along: Vec3x<S>, normal: Vec3x<S>) -> Self {
        Self { along, normal, binormal: along.cross(normal) }
    }

    /// From the frame's coordinates to the world's.
    #[inline(always)]
    fn point(&self, v: Vec3x<S>) -> Vec3x<S> {
        self.along * v.x + self.normal * v.y + self.binormal * v.z
    }

    /// Turned by the smallest rotation that takes its direction to `next`.
    #[inline(always)]
    fn transported(&self, next: Vec3x<S>) -> Self {
        let cosine = (self.along.dot(next) + 1.0).max(f32x16::splat(next.x.simd, SMALLEST_TURN));
        let normal = self.normal - (self.along + next) * (self.normal.dot(next) / cosine);
        Self::new(next, normal)
    }

    #[inline(always)]
    fn or(self, mask: mask32x16<S>, other: Self) -> Self {
        Self {
            along: self.along.or(mask, other.along),
            normal: self.normal.or(mask, other.normal),
            binormal: self.binormal.or(mask, other.binormal),
        }
    }
}
