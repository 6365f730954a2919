//! The one-way pass in lanes (`muller2012` 3.2, 3.3): sixteen strands, root to tip, one particle of each at a time.
//!
//! The two halves of the lanes alternate at every particle. They are independent, so that one computes
//! during the latency of the other's square roots and quotients.
//!
//! Everything that is not position, velocity, tension or a constant of the groom stays in registers:
//! the pass reads 32 bytes a particle and writes 28.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8};
use glam::Vec3;

use super::block::{Block, Outcome, Rows, Upcoming};
use super::collider::Obstacles;
use super::contact::{Segment, leave_body};
use super::near::{Bounds, Near, near_box};
use super::{BendLimit, Pass};
use crate::body::distance_field::MAX_SLOPE;
use crate::limits::MAX_WORLD_DISTANCE;
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x8, half_row};

/// Points for which near colliders are found together.
pub(super) const CHUNK: usize = 8;

/// Bound of the displacement of points in one step beyond their velocity and their predecessors' displacements
/// (m), by gravity, style and contact.
const MARGIN: f32 = 0.015;

/// Shortest vector from a predecessor (m) with a defined direction.
const NO_DIRECTION: f32 = 1e-9;

/// Advances a block by one step of the one-way pass. `EVEN`: see [`Block::even`].
///
/// Source: `muller2012` eq. 1 (predict), eq. 11 (bending limit), 3.1 (project and collide on the
/// length sphere), eq. 9 (corrected velocity).
/// Symbols: x position, v velocity, p new position, d correction of the length projection, s scale
/// of the velocity correction, dt step.
/// Deviations: v is the velocity with which a particle moves; what eq. 9 subtracts from it is kept
/// apart, as the tension of the next segment, and added when the next step predicts. The bending limit
/// turns a segment about its inner end rather than moving the outer one along the line to the one
/// before the inner one: so the limit holds after the projection too, also where a segment is folded
/// back (slip of the text in eq. 12: `phi_min = pi - 2 acos(s_b)`). d is the length
/// projection's part only, since only that one is a force between the two particles. The reaction
/// weighs the masses of the two particles, so that a tip counts half and segments may differ a little.
/// Contact removes the velocity into the surface and slows the sliding.
#[inline(always)]
pub(super) fn step_block<S: Simd, const EVEN: bool>(
    simd: S,
    block: &Block,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    next: Upcoming<'_>,
) -> Outcome {
    let points = block.points;
    // Rows as arrays, cut to one length each: removes bounds checks from the loop.
    let position = &mut rows.position.as_chunks_mut::<VECTOR>().0[..points];
    let velocity = &mut rows.velocity.as_chunks_mut::<VECTOR>().0[..points];
    let tension = &mut rows.tension.as_chunks_mut::<LANES>().0[..points];
    let lengths = &block.length.as_chunks::<LANES>().0[..points];
    let reactions = block.reaction.as_chunks::<LANES>().0;
    let reactions = if EVEN { &reactions[..1] } else { &reactions[..points] };
    let constants = Constants::new(simd, pass);
    let mut outcome = Outcome::default();

    // Start at the root, which follows the body.
    let mut lower = Half::start::<0>(simd, block, position, velocity, pass);
    let mut upper = Half::start::<1>(simd, block, position, velocity, pass);
    let mut near = Near::none(obstacles.colliders);
    for i in 1..points {
        next.fetch(simd, i - 1);
        if i % CHUNK == 1 && !obstacles.colliders.is_empty() {
            // Broad phase for the next few points.
            let rows = i - 1..points.min(i + CHUNK);
            let (x, v, l) = (&position[rows.clone()], &velocity[rows.clone()], &lengths[rows]);
            let bounds = bounds_of(simd, x, v, |i| &l[i], pass, 0.0);
            near = near_box(simd, obstacles.colliders, obstacles.groups, &bounds);
        }
        let (inner, outer) = position.split_at_mut(i);
        let (here, outer) = outer.split_at_mut(1);
        let (pulls, pull) = tension.split_at_mut(i);
        let mut row = Row {
            i,
            parent: &inner[i - 1],
            position: &mut here[0],
            // Beyond the tip there is no tension: any position will do.
            next: outer.first().unwrap_or(&inner[i - 1]),
            velocity: &mut velocity[i],
            tension: &pull[0],
            tension_before: &mut pulls[i - 1],
            length: &lengths[i],
            reaction: &reactions[if EVEN { 0 } else { i }],
        };
        let world = World { block, obstacles, pass, constants: &constants };
        let mut p = [
            lower.advance::<0>(simd, &world, &mut row),
            upper.advance::<1>(simd, &world, &mut row),
        ];
        // Push out of the body on the length sphere.
        if !near.is_empty() || obstacles.field.is_some() {
            let mut inside = near.hold(simd, p);
            if let Some(field) = obstacles.field {
                inside[0] |= lower.clear.simd_lt(field.skin);
                inside[1] |= upper.clear.simd_lt(field.skin);
            }
            if (inside[0] | inside[1]).any_true() {
                if inside[0].any_true() {
                    p[0] = lower.collide(simd, &world, &mut row, 0, &near, &mut outcome);
                }
                if inside[1].any_true() {
                    p[1] = upper.collide(simd, &world, &mut row, 1, &near, &mut outcome);
                }
            }
        }
        p[0].to_row(row.position, 0);
        p[1].to_row(row.position, 1);
    }
    if EVEN && points > 1 {
        // A tip has half the mass of other points.
        for t in &mut tension[points - 2] {
            *t *= 0.5;
        }
    }

    // A value that is not finite or out of range propagates to the tip: testing the tip is enough.
    for half in 0..2 {
        let tip = Vec3x8::of_row(simd, &position[points - 1], half);
        let sane = tip.dot(tip).simd_lt(MAX_WORLD_DISTANCE * MAX_WORLD_DISTANCE);
        outcome.broken |= (!(sane.to_bitmask() as u32) & 0xff) << (half * HALF);
    }
    outcome
}

/// Constants of a pass.
struct Constants<S: Simd> {
    dt: f32x8<S>,
    /// Displacement by gravity in a step (m).
    fall: Vec3x8<S>,
    /// Velocity in air by displacement in a step (1/s).
    carried_on: f32x8<S>,
}

impl<S: Simd> Constants<S> {
    #[inline(always)]
    fn new(simd: S, pass: &Pass) -> Self {
        Self {
            dt: f32x8::splat(simd, pass.dt),
            fall: Vec3x8::splat(simd, pass.gravity * (pass.dt * pass.dt)),
            carried_on: f32x8::splat(simd, pass.tie.carried_on / pass.dt),
        }
    }
}

/// Colliders and constants of the pass.
struct World<'a, S: Simd> {
    block: &'a Block,
    obstacles: &'a Obstacles<'a>,
    pass: &'a Pass,
    constants: &'a Constants<S>,
}

/// One point of sixteen strands in memory.
struct Row<'a> {
    i: usize,
    /// Position of the predecessor at the end of the step.
    parent: &'a [f32; VECTOR],
    /// Position of the point, replaced by the new one.
    position: &'a mut [f32; VECTOR],
    /// Position of the next point at the start of the step.
    next: &'a [f32; VECTOR],
    velocity: &'a mut [f32; VECTOR],
    tension: &'a [f32; LANES],
    tension_before: &'a mut [f32; LANES],
    length: &'a [f32; LANES],
    reaction: &'a [f32; LANES],
}

/// State of the pass in half of the lanes; the rest lies in the rows.
struct Half<S: Simd> {
    /// Direction of the segment that ends at the predecessor.
    ahead: Vec3x8<S>,
    /// Direction of the segment that ends at the point.
    along: Vec3x8<S>,
    /// Velocity added by the wind (m/s).
    blow: Vec3x8<S>,
    /// Least distance of the predecessor from the surface of a distance field (m).
    clear: f32x8<S>,
}

impl<S: Simd> Half<S> {
    /// At the root.
    #[inline(always)]
    fn start<const H: usize>(
        simd: S,
        block: &Block,
        position: &mut [[f32; VECTOR]],
        velocity: &mut [[f32; VECTOR]],
        pass: &Pass,
    ) -> Self {
        let splat = |v: f32| f32x8::splat(simd, v);
        let rest = Vec3x8::load(simd, &block.rest, 0, H);
        let x_before = Vec3x8::of_row(simd, &position[0], H);
        let root = Carrier::load(simd, &block.root, H).point(rest);
        root.to_row(&mut position[0], H);
        let moves = (root - x_before) * splat(1.0 / pass.dt);
        moves.to_row(&mut velocity[0], H);
        let x = Vec3x8::of_row(simd, &position[1], H);
        Self {
            ahead: Vec3x8::splat(simd, Vec3::ZERO),
            along: direction_of(simd, x - x_before),
            blow: Vec3x8::of_row(simd, &block.wind, H) * splat(1.0 - pass.tie.carried_on),
            clear: splat(0.0),
        }
    }

    /// Places the next point in half `H` of the lanes, without contact; returns its position.
    #[inline(always)]
    fn advance<const H: usize>(
        &mut self,
        simd: S,
        world: &World<'_, S>,
        row: &mut Row<'_>,
    ) -> Vec3x8<S> {
        let World { block, obstacles, pass, constants } = world;
        self.ahead = self.along;
        let parent = Vec3x8::of_row(simd, row.parent, H);
        let x = Vec3x8::of_row(simd, row.position, H);
        let length = half_row(simd, row.length, H);

        // Predict (eq. 1), with the pull of the next segment as it was at the last step (eq. 9).
        let drift = Vec3x8::of_row(simd, row.velocity, H) * constants.dt;
        let pulled = (Vec3x8::of_row(simd, row.next, H) - x) * half_row(simd, row.tension, H);
        let y = x + drift + pulled + constants.fall;
        // Project onto the length sphere (3.1), in the direction of the segment before if there is none.
        let mut direction = y - parent;
        let mut distance2 = direction.dot(direction);
        let degenerate = distance2.simd_lt(NO_DIRECTION * NO_DIRECTION);
        if degenerate.any_true() {
            direction = self.ahead.or(degenerate, direction);
            distance2 = direction.dot(direction);
        }
        let distance = distance2.sqrt();
        // Keep the angle with the segment before (eq. 11).
        if pass.bend.is_on() && row.i > 1 {
            direction = unbend(simd, &pass.bend, self.ahead, direction, distance);
        }
        let mut along = direction * (f32x8::splat(simd, 1.0) / distance);
        let mut p = parent + along * length;
        let pull = (distance - length) * half_row(simd, row.reaction, H);
        pull.store_slice(&mut row.tension_before.as_chunks_mut::<HALF>().0[H]);

        // Place embedded points rigidly with the body.
        if row.i < block.max_embedded {
            (p, along) = embedded(simd, block, row.i, H, p, along, parent);
        }
        ((p - x) * constants.carried_on + self.blow).to_row(row.velocity, H);

        if obstacles.field.is_some() {
            self.clear -= length * MAX_SLOPE;
        }
        self.along = along;
        p
    }

    /// Pushes points out of the body, corrects their velocities and returns their positions. Not inlined: the
    /// pass has no registers to spare, so all but the direction is loaded again.
    #[cold]
    #[inline(never)]
    fn collide(
        &mut self,
        simd: S,
        world: &World<'_, S>,
        row: &mut Row<'_>,
        half: usize,
        near: &Near<'_>,
        outcome: &mut Outcome,
    ) -> Vec3x8<S> {
        simd.vectorize(
            #[inline(always)]
            || self.collide_in_lanes(simd, world, row, half, near, outcome),
        )
    }

    #[inline(always)]
    fn collide_in_lanes(
        &mut self,
        simd: S,
        world: &World<'_, S>,
        row: &mut Row<'_>,
        half: usize,
        near: &Near<'_>,
        outcome: &mut Outcome,
    ) -> Vec3x8<S> {
        let World { block, obstacles, pass, constants } = world;
        let index = splat_index(simd, row.i);
        let active = index.simd_le(half_row(simd, &block.last, half))
            & index.simd_gt(half_row(simd, &block.last_embedded, half));
        let x = Vec3x8::of_row(simd, row.position, half);
        let mut segment = Segment {
            parent: Vec3x8::of_row(simd, row.parent, half),
            ahead: self.ahead,
            along: self.along,
            length: half_row(simd, row.length, half),
            clear: self.clear,
            allowed: f32x8::splat(simd, 0.0),
            limit: f32x8::splat(simd, -1.0),
            friction: f32x8::splat(simd, pass.tie.friction),
        };
        let contact = leave_body(simd, near, obstacles, active, &mut segment, x, pass);
        (self.along, self.clear) = (segment.along, segment.clear);
        outcome.unresolved += contact.unresolved;
        let mut position = segment.end();
        if row.i < block.max_embedded {
            (position, _) =
                embedded(simd, block, row.i, half, position, segment.along, segment.parent);
        }
        if contact.collided {
            let moved = (position - x) * constants.carried_on + self.blow - contact.brake;
            moved.to_row(row.velocity, half);
        }
        position
    }
}

/// A box that contains the points of some rows during this step; the first row is their predecessor,
/// which has moved already.
///
/// Model: the strand between two rows lies in an ellipsoid that has the two points as foci and its
/// length there as the long axis. So a box around the first, the middle and the last row, widened
/// by the short axis, contains all; further widened by the largest displacement among them, as a point drags those that
/// follow it, and by that of the scalp (`reach`).
#[inline(always)]
pub(super) fn bounds_of<'a, S: Simd>(
    simd: S,
    position: &[[f32; VECTOR]],
    velocity: &[[f32; VECTOR]],
    length: impl Fn(usize) -> &'a [f32; LANES],
    pass: &Pass,
    reach: f32,
) -> Bounds {
    let count = position.len().min(velocity.len());
    let zero = f32x8::splat(simd, 0.0);
    let mut a = [0, 1].map(|half| Vec3x8::of_row(simd, &position[0], half));
    let (mut lo, mut hi) = (a[0], a[0]);
    let mut arc_length = [zero; 2];
    let (mut short2, mut speed2) = (zero, zero);
    for i in 0..count {
        let known = i == 0 || i == count / 2 || i + 1 == count;
        for half in 0..2 {
            if i > 0 {
                arc_length[half] += half_row(simd, length(i), half);
            }
            if known {
                let v = Vec3x8::of_row(simd, &velocity[i], half);
                speed2 = speed2.max(v.dot(v));
                let b = Vec3x8::of_row(simd, &position[i], half);
                lo = Vec3x8 { x: lo.x.min(b.x), y: lo.y.min(b.y), z: lo.z.min(b.z) };
                hi = Vec3x8 { x: hi.x.max(b.x), y: hi.y.max(b.y), z: hi.z.max(b.z) };
                short2 = short2
                    .max(arc_length[half] * arc_length[half] - (b - a[half]).dot(b - a[half]));
                (a[half], arc_length[half]) = (b, zero);
            }
        }
    }
    let fastest = speed2.reduce_max().sqrt() / pass.min_carried_on;
    let aside = 0.5 * short2.reduce_max().sqrt();
    let margin = Vec3::splat(MARGIN + aside + 2.0 * fastest * pass.dt + reach);
    Bounds {
        lo: Vec3::new(lo.x.reduce_min(), lo.y.reduce_min(), lo.z.reduce_min()) - margin,
        hi: Vec3::new(hi.x.reduce_max(), hi.y.reduce_max(), hi.z.reduce_max()) + margin,
    }
}

/// Replaces positions and directions of embedded points by those of the body.
#[inline(always)]
fn embedded<S: Simd>(
    simd: S,
    block: &Block,
    i: usize,
    half: usize,
    p: Vec3x8<S>,
    along: Vec3x8<S>,
    parent: Vec3x8<S>,
) -> (Vec3x8<S>, Vec3x8<S>) {
    let free = splat_index(simd, i).simd_gt(half_row(simd, &block.last_embedded, half));
    let rest = Vec3x8::load(simd, &block.rest, i, half);
    let p = p.or(free, Carrier::load(simd, &block.root, half).point(rest));
    (p, along.or(free, direction_of(simd, p - parent)))
}

#[inline(always)]
fn splat_index<S: Simd>(simd: S, i: usize) -> f32x8<S> {
    f32x8::splat(simd, i as f32)
}

/// Unit vectors along edges; any where an edge has no length.
#[inline(always)]
pub(super) fn direction_of<S: Simd>(simd: S, edge: Vec3x8<S>) -> Vec3x8<S> {
    let size2 = edge.dot(edge);
    let along = edge * (f32x8::splat(simd, 1.0) / size2.sqrt());
    along.or(size2.simd_gt(NO_DIRECTION * NO_DIRECTION), Vec3x8::splat(simd, Vec3::NEG_Y))
}

/// Turns segments that bend beyond the limit against the ones before back to it, in the plane of the
/// two. `ahead` is the direction of the segment before; `direction` and `distance` are the predicted
/// direction and its length, which is kept.
#[inline(always)]
pub(super) fn unbend<S: Simd>(
    simd: S,
    limit: &BendLimit,
    ahead: Vec3x8<S>,
    direction: Vec3x8<S>,
    distance: f32x8<S>,
) -> Vec3x8<S> {
    let along = ahead.dot(direction);
    let bent = along.simd_lt(distance * limit.cos);
    if !bent.any_true() {
        return direction;
    }
    let tangent = direction - ahead * along;
    let size = tangent.length();
    // Antiparallel segments have no common plane: take any.
    let side = Vec3x8 { x: ahead.y, y: ahead.z, z: ahead.x }.cross(ahead);
    let tangent = tangent.or(size.simd_gt(distance * 1e-4), side);
    let scale = distance * limit.sin / tangent.length().max(f32x8::splat(simd, NO_DIRECTION));
    (ahead * (distance * limit.cos) + tangent * scale).or(bent, direction)
}

/// World from rest, in half of the lanes.
pub(super) struct Carrier<S: Simd> {
    columns: [Vec3x8<S>; 3],
    pub(super) translation: Vec3x8<S>,
}

impl<S: Simd> Carrier<S> {
    #[inline(always)]
    pub(super) fn load(simd: S, from: &[[f32; VECTOR]; 4], half: usize) -> Self {
        Self {
            columns: [0, 1, 2].map(|i| Vec3x8::of_row(simd, &from[i], half)),
            translation: Vec3x8::of_row(simd, &from[3], half),
        }
    }

    #[inline(always)]
    pub(super) fn direction(&self, v: Vec3x8<S>) -> Vec3x8<S> {
        let [x, y, z] = self.columns;
        x * v.x + y * v.y + z * v.z
    }

    #[inline(always)]
    pub(super) fn point(&self, p: Vec3x8<S>) -> Vec3x8<S> {
        self.direction(p) + self.translation
    }
}
