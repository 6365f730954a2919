//! The step in lanes: sixteen strips, anchor to tip, one joint of each at a time.
//!
//! Model: `jung2005` 4 moves each joint of a chain by offsets: one for the forces, one that bends it back, one that
//! keeps the length. As a differential equation, a joint at `P = G + e` deviates by `e` from its groomed position `G`
//! relative to the previous joint:
//!
//! ```text
//! de/dt = -e / tau - d (dG/dt - W)          d = D (l / L)^2
//! ```
//!
//! `tau` is the time constant of the return: the paper's bend factor is `exp(-dt / tau)`. The second term is the
//! drag of air: without the bend a joint stays in place, as the paper's joints do until they are pulled,
//! or moves with the terminal velocity `W` of wind and fall. Deviations rotate with the scalp. For a goal of constant
//! velocity and a steady wind the step is exact for any length; for a rotating scalp it is of second order: a change
//! during a step rotates by half of the step's rotation. `d` makes the shape independent of the number of joints: in the
//! limit the shape after a sudden displacement of the root satisfies `y'' = -(D / L^2) y`.
//! Symbols: l length of the segment (m), L length of the strip (m), D total compliance ([`super::Settings`]).

use std::ops::Range;

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::block::{Below, Block, Joints, Outcome, Ramps, Rows};
use super::over::{Ribbons, RowsBelow, Segment};
use crate::body::distance_field::MAX_SLOPE;
use crate::collide::response::friction_fraction_lanes;
use crate::collide::{Near, PosedShape, PosedShapes};
use crate::environment::FieldObstacle;
use crate::groom::strips::SMALLEST_TURN;
use crate::limits::MAX_WORLD_DISTANCE;
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x, Vec3x8, lane, set_lane};

/// Shortest vector (m) with a defined direction.
const NO_DIRECTION: f32 = 1e-9;

/// Squared sine of the angle between a segment and a normal below which the segment has no
/// direction along the surface.
pub(crate) const STRAIGHT: f32 = 1e-8;

/// Weight of the lean of the strip in the binormal: `T x T_avg` changes by at most 2, and the sum of a unit vector and
/// less than half of that never vanishes, so the strip never flips over.
pub(super) const FOLLOW: f32 = 0.45;

/// Largest number of iterations of lifting over the strip below, after the first. Few joints need more than one.
pub(super) const RISES: usize = 3;

/// Iterations of the projection out of a distance field: the second resolves collisions that the first causes.
const ROUNDS: usize = 2;

/// Constants of all strips in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    /// Length of this step (s), and of the previous one.
    pub(super) step: f32,
    pub(super) before: f32,
    pub(super) gravity: Vec3,
    /// Gravity that the groom is balanced against (m/s^2).
    pub(super) held_gravity: Vec3,
    /// Time constant (s) of the approach of falling hair to its terminal velocity.
    pub(super) fall_time: f32,
    /// Response time (s) to the acceleration of the root: `inertia` times the fall time.
    pub(super) swing_time: f32,
    pub(super) inertia: f32,
    /// Friction relative to that of the body.
    pub(super) friction: f32,
}

/// Surroundings of the anchors of a block.
pub(super) struct Surroundings {
    /// Pose of the scalp after the step: columns of the rotation, then the translation.
    pub(super) roots: [[f32; VECTOR]; 4],
    /// Velocity of the air (m/s).
    pub(super) wind: [f32; VECTOR],
}

/// Obstacles of strips.
pub(super) struct Obstacles<'a> {
    pub(super) shapes: &'a PosedShapes,
    pub(super) field: Option<&'a FieldObstacle<'a>>,
}

/// Advances a block by one step. `below` is the block that it lies on.
///
/// Model: the one of the module.
/// Source: `jung2005` 4.3, steps 2 to 4.
/// Symbols: A anchor, V virtual point, P joint, T, N, B tangent, normal, binormal, l length of a
/// segment, r radius of a virtual collision sphere.
/// Deviations: 4 (iii) before (ii), because bending back could lead into the body again; the joint is projected out of
/// the body on the sphere of its segment's length, so that (v) holds as well. (v) starts from the
/// corrected predecessor `P''(i-1)`. The goal of the bending is the groomed angle to the previous segment
/// instead of a straight line, so that the groom is an equilibrium. B rotates from the groomed binormal by the change of
/// `T x T_avg`, in proportion to the distance from the root: `T x T_avg` itself has no direction where hair hangs along T,
/// and would move the roots of the strands. After the body a joint is lifted above the
/// strip that it lies on (`over.rs`); the virtual spheres of 4.2 order layers only where they collide with the
/// body. Friction and, with `RAMPS`, parameters that depend on the place on the strip ([`Block::ramps`]) are not in the
/// paper.
#[inline(always)]
pub(super) fn step_block<S: Simd, const RAMPS: bool>(
    simd: S,
    block: &mut Block,
    rows: &mut Rows<'_>,
    below: Option<Below<'_>>,
    pass: &Pass,
    around: &Surroundings,
    obstacles: &Obstacles<'_>,
) -> Outcome {
    let now = rows.now;
    let Some((anchor, joints)) = rows.joints.split_first_mut() else { return Outcome::default() };
    // Gather the tips before the step.
    let mut tips = [0.0; VECTOR];
    for l in 0..LANES {
        let tip = &joints[block.last[l] as usize - 1].position[1 - now];
        set_lane(&mut tips, 0, l, lane(tip, 0, l));
    }
    let mut strips = Lanes::start(simd, block, around, anchor, now, &tips, pass);
    block.root.copy_from_slice(&around.roots[..3]);
    // Move anchors with the scalp (step 2).
    strips.parent.to_row(&mut anchor.position[now]);
    strips.binormal.to_row(&mut anchor.binormal);
    // Find the colliders near each head of the block.
    let mut near = Near::new(obstacles.shapes);
    let mut lanes = 0;
    for &end in &block.head_ends {
        let (middle, apart) = ball_around(&anchor.position[now], lanes..end);
        near.add(simd, middle, apart, block.reach(joints.len()));
        lanes = end;
    }
    // Advance joint by joint.
    let gaps = block.gap.as_chunks::<LANES>().0;
    let mut outcome = Outcome::default();
    for (i, row) in (1..).zip(joints.iter_mut()) {
        let below = below.as_ref().and_then(|below| RowsBelow::new(below, gaps, i));
        let ramps = if RAMPS { block.ramps.get(i) } else { None };
        let place = Place { i, now, reach: block.reach(i), below, ramps };
        outcome.unresolved += strips.advance(simd, row, &place, &near, obstacles.field);
    }
    // Test the tips: a value that is not finite or out of range propagates to the tip.
    let Some(last) = joints.last() else { return outcome };
    let tip = Vec3x::of_row(simd, &last.position[now]);
    let sane = tip.dot(tip).simd_lt(MAX_WORLD_DISTANCE * MAX_WORLD_DISTANCE);
    outcome.broken = !(sane.to_bitmask() as u32) & 0xffff;
    outcome
}

/// Bounding ball of some of sixteen points: its centre and radius.
fn ball_around(row: &[f32; VECTOR], lanes: Range<usize>) -> (Vec3, f32) {
    let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for l in lanes {
        let p = lane(row, 0, l);
        (lo, hi) = (lo.min(p), hi.max(p));
    }
    (0.5 * (lo + hi), 0.5 * (hi - lo).length())
}

/// The joint of a block that is being advanced.
struct Place<'a> {
    i: usize,
    /// Index of the positions that are written.
    now: usize,
    /// Largest distance from the anchors (m).
    reach: f32,
    below: Option<RowsBelow<'a>>,
    /// Constants by joint, in place of those of the strips.
    ramps: Option<&'a Ramps>,
}

/// A matrix of columns times a vector.
#[inline(always)]
fn turn<S: Simd>(m: &[Vec3x<S>; 3], v: Vec3x<S>) -> Vec3x<S> {
    m[0] * v.x + m[1] * v.y + m[2] * v.z
}

/// State of the pass along the strips.
struct Lanes<S: Simd> {
    /// The previous joint, and its frame.
    parent: Vec3x<S>,
    tangent: Vec3x<S>,
    binormal: Vec3x<S>,
    /// Rotation of the scalp in this step: columns.
    turned: [Vec3x<S>; 3],
    /// Displacement by air and gravity (m), and the weight of the displacement of the goal.
    carried: Vec3x<S>,
    goal_weight: f32x16<S>,
    keep: f32x16<S>,
    /// Terms of `carried`, for joints with their own fall time: velocity of the air (m/s), residual
    /// gravity (m/s^2), change of the root's velocity (m/s), and the fraction of the latter that acts.
    air: [Vec3x<S>; 3],
    inertia: f32,
    friction: f32,
    weight: f32x16<S>,
    /// Weight of the lean in the binormal at the tip, across and out.
    lean: [f32x16<S>; 2],
    /// Half of the widths of the strips (m), constants of those below, and their segment that
    /// starts beside the previous joint.
    half_width: f32x16<S>,
    ribbons: Ribbons<S>,
    below: Option<Segment<S>>,
    /// Lower bound of the parent's distance from the surface of a distance field (m).
    clear: f32x16<S>,
    /// Length of the step (s).
    dt: f32,
}

impl<S: Simd> Lanes<S> {
    /// The state at the anchors.
    #[inline(always)]
    fn start(
        simd: S,
        block: &mut Block,
        around: &Surroundings,
        anchor: &Joints,
        now: usize,
        tips: &[f32; VECTOR],
        pass: &Pass,
    ) -> Self {
        let splat = |v: f32| f32x16::splat(simd, v);
        let load = |row: &[f32; VECTOR]| Vec3x::of_row(simd, row);
        let roots = &around.roots;
        let root = [load(&roots[0]), load(&roots[1]), load(&roots[2])];
        let old = [load(&block.root[0]), load(&block.root[1]), load(&block.root[2])];
        // Compute anchor, direction of growth and binormal from the pose of the scalp (steps 2 and 3: T = A - V).
        let parent = turn(&root, load(&block.anchor)) + load(&roots[3]);
        let tangent = turn(&root, load(&block.root_tangent));
        let binormal = turn(&root, load(&block.root_binormal));
        // Compute the rotation of the scalp in this step.
        let turned = [
            turn(&root, Vec3x { x: old[0].x, y: old[1].x, z: old[2].x }),
            turn(&root, Vec3x { x: old[0].y, y: old[1].y, z: old[2].y }),
            turn(&root, Vec3x { x: old[0].z, y: old[1].z, z: old[2].z }),
        ];
        // Compute the terminal velocity of a joint in air, from wind, gravity and the root's acceleration. The
        // velocity of the root at the end of a step is extrapolated from those of this step and the previous one.
        let velocity = (parent - load(&anchor.position[1 - now])) * splat(1.0 / pass.step);
        let ahead = pass.step / (pass.step + pass.before);
        let end = velocity * splat(1.0 + ahead) - load(&block.velocity) * splat(ahead);
        let gain = end - load(&block.end_velocity);
        velocity.to_row(&mut block.velocity);
        end.to_row(&mut block.end_velocity);
        let fall =
            Vec3x::splat(simd, pass.gravity) - turn(&root, Vec3x::splat(simd, pass.held_gravity));
        let air = load(&around.wind) + fall * splat(pass.fall_time)
            - gain * splat(pass.swing_time / pass.step);
        let force_time = f32x16::from_slice(simd, &block.force_time);
        // Compute the change of T x T_avg from the groomed one, in the plane perpendicular to T.
        let normal = tangent.cross(binormal);
        let edge = load(tips) - parent;
        let size = edge.length().max(splat(NO_DIRECTION));
        let leans = tangent.cross(edge * (splat(1.0) / size));
        let last = f32x16::from_slice(simd, &block.last);
        let follow = splat(FOLLOW) / last;
        Self {
            parent,
            tangent,
            binormal,
            turned,
            carried: air * force_time,
            goal_weight: f32x16::from_slice(simd, &block.move_time) * (1.0 / pass.step),
            keep: f32x16::from_slice(simd, &block.keep),
            air: [load(&around.wind), fall, gain],
            inertia: pass.inertia,
            friction: pass.friction,
            weight: f32x16::from_slice(simd, &block.weight),
            lean: [
                (leans.dot(binormal) - f32x16::from_slice(simd, &block.lean[0])) * follow,
                (leans.dot(normal) - f32x16::from_slice(simd, &block.lean[1])) * follow,
            ],
            half_width: f32x16::from_slice(simd, &block.half_widths[0]),
            ribbons: Ribbons {
                half: f32x16::from_slice(simd, &block.half_widths[1]),
                on: f32x16::from_slice(simd, &block.beside),
                last,
            },
            below: None,
            clear: splat(0.0),
            dt: pass.step,
        }
    }

    /// Advances by one joint (step 4). Returns the number of lanes that stay inside the body.
    #[inline(always)]
    fn advance(
        &mut self,
        simd: S,
        row: &mut Joints,
        place: &Place<'_>,
        near: &Near<'_>,
        field: Option<&FieldObstacle<'_>>,
    ) -> u32 {
        let splat = |v: f32| f32x16::splat(simd, v);
        let length = f32x16::from_slice(simd, &row.length);
        let local = Vec3x::of_row(simd, &row.goal);
        let normal = self.tangent.cross(self.binormal);
        let wanted = self.tangent * local.x + normal * local.y + self.binormal * local.z;
        let goal = self.parent + wanted;
        // (i) Add the offsets of forces, (iii) bend back.
        let e = Vec3x::of_row(simd, &row.deviation);
        let x = Vec3x::of_row(simd, &row.position[1 - place.now]);
        let moved = goal - (x - e);
        let compliance = self.weight * (length * length);
        let (carried, goal_weight, keep) = match place.ramps {
            None => (self.carried, self.goal_weight, self.keep),
            Some(ramps) => self.by_place(simd, ramps),
        };
        let offset = (carried - moved * goal_weight) * (compliance * 0.5);
        let kept = e * keep + offset;
        let [c0, c1, c2] = self.turned;
        let e = c0 * kept.x + c1 * kept.y + c2 * kept.z + offset;
        // (v) Keep the length, from the corrected predecessor.
        let mut direction = wanted + e;
        let mut size2 = direction.dot(direction);
        let degenerate = size2.simd_lt(NO_DIRECTION * NO_DIRECTION);
        if degenerate.any_true() {
            direction = wanted.or(degenerate, direction);
            size2 = direction.dot(direction);
        }
        let mut along = direction * (splat(1.0) / size2.sqrt());
        // (ii) Project out of the body.
        let joint = Joint {
            i: place.i as f32,
            before: x,
            length,
            per_length: splat(1.0) / length,
            radius: f32x16::from_slice(simd, &row.radius),
            reach: place.reach,
            active: splat(place.i as f32).simd_le(self.ribbons.last),
            friction: place.ramps.map(|ramps| f32x16::from_slice(simd, &ramps.friction)),
        };
        self.clear -= length * MAX_SLOPE;
        let mut unresolved = self.leave_body(simd, &joint, &mut along, near, field);
        // Lift above the strip below, and project out of the body again. The following joints are translated
        // with it and not rotated: they continue in the frame from before the lift.
        let (mut across, b) = self.across(simd, along, joint.i);
        let carried = (along, b);
        if let Some(below) = &place.below {
            let beside = below.beside(simd, &self.ribbons, self.below);
            if self.rise(simd, &joint, &mut along, across, below, &beside) {
                unresolved = self.leave_body(simd, &joint, &mut along, near, field);
                across = self.across(simd, along, joint.i).0;
                // Repeat: in a valley of the strip below, a lift over one side can end below the other.
                for _ in 0..RISES {
                    if !self.rise(simd, &joint, &mut along, across, below, &beside) {
                        break;
                    }
                    across = self.across(simd, along, joint.i).0;
                }
            }
            self.below = Some(beside[1]);
        }
        let p = self.parent + along * length;
        // (iv) Store position and frame, with the lean of the strip in the binormal.
        across.to_row(&mut row.binormal);
        p.to_row(&mut row.position[place.now]);
        (p - goal).to_row(&mut row.deviation);
        self.parent = p;
        (self.tangent, self.binormal) = carried;
        unresolved
    }

    /// [`Self::carried`], [`Self::goal_weight`] and [`Self::keep`] of a joint with its own time constants.
    #[inline(always)]
    fn by_place(&self, simd: S, ramps: &Ramps) -> (Vec3x<S>, f32x16<S>, f32x16<S>) {
        let row = |row: &[f32; LANES]| f32x16::from_slice(simd, row);
        let fall_time = row(&ramps.fall_time);
        let swing_time = fall_time * self.inertia / f32x16::splat(simd, self.dt);
        let [wind, fall, gain] = self.air;
        let air = wind + fall * fall_time - gain * swing_time;
        (air * row(&ramps.force_time), row(&ramps.move_time) * (1.0 / self.dt), row(&ramps.keep))
    }

    /// The binormal of a joint at the end of a segment along `along`, with and without the lean of the strip.
    #[inline(always)]
    fn across(&self, simd: S, along: Vec3x<S>, i: f32) -> (Vec3x<S>, Vec3x<S>) {
        let one = f32x16::splat(simd, 1.0);
        let cosine = (self.tangent.dot(along) + one).max(one * SMALLEST_TURN);
        let b = self.binormal - (self.tangent + along) * (self.binormal.dot(along) / cosine);
        let n = along.cross(b);
        let (u, v) = (self.lean[0] * i + 1.0, self.lean[1] * i);
        let inverse = one / (u * u + v * v).sqrt();
        (b * (u * inverse) + n * (v * inverse), b)
    }

    /// Projects out of the colliders, and then of the body's distance field. Returns the number of lanes that stay inside.
    #[inline(always)]
    fn leave_body(
        &mut self,
        simd: S,
        joint: &Joint<S>,
        along: &mut Vec3x<S>,
        near: &Near<'_>,
        field: Option<&FieldObstacle<'_>>,
    ) -> u32 {
        let mut unresolved = 0;
        let mut last_hit = 0;
        for (k, shape) in near.iter(joint.reach) {
            if self.leave_shape(simd, joint, along, shape, &mut unresolved) {
                last_hit = k;
            }
        }
        // Test the colliders before the last hit again: the projection out of that may have caused a collision.
        for (_, shape) in near.iter(joint.reach).take_while(|(k, _)| *k < last_hit) {
            self.leave_shape(simd, joint, along, shape, &mut unresolved);
        }
        if let Some(field) = field {
            unresolved += self.leave_field(simd, joint, along, field);
        }
        unresolved
    }

    /// Projects out of one collider. Returns whether any joint was inside.
    #[inline(always)]
    fn leave_shape(
        &self,
        simd: S,
        joint: &Joint<S>,
        along: &mut Vec3x<S>,
        shape: &PosedShape,
        unresolved: &mut u32,
    ) -> bool {
        let p = self.parent + *along * joint.length;
        if !shape.may_overlap(simd, p, joint.radius).any_true() {
            return false;
        }
        let (out, distance) = shape.tangent_planes(simd, p);
        let hit = distance.simd_lt(joint.radius) & joint.active;
        if !hit.any_true() {
            return false;
        }
        let collision = JointCollision { hit, out, distance };
        let after_friction = if shape.friction > 0.0 {
            let moves = shape.velocities(simd, p);
            self.apply_friction(simd, joint, &collision, p, moves, shape.friction)
        } else {
            Vec3x::splat(simd, Vec3::ZERO)
        };
        *unresolved = self.turn_out(simd, joint, along, &collision, joint.radius, after_friction);
        true
    }

    /// Rotates segments, with constant binormals, until they end above the strip below, along
    /// its normal (`over.rs`). Returns whether any was below.
    #[inline(always)]
    fn rise(
        &self,
        simd: S,
        joint: &Joint<S>,
        along: &mut Vec3x<S>,
        across: Vec3x<S>,
        below: &RowsBelow<'_>,
        beside: &[Segment<S>; 2],
    ) -> bool {
        let middle = self.parent + *along * joint.length + across * self.half_width;
        let over = below.over(simd, middle, &self.ribbons, beside);
        let hit = over.height.simd_lt(over.min_height) & joint.active;
        if !hit.any_true() {
            return false;
        }
        let collision = JointCollision { hit, out: over.out, distance: over.height };
        let free = Vec3x::splat(simd, Vec3::ZERO);
        self.turn_out(simd, joint, along, &collision, over.min_height, free);
        true
    }

    /// The tangential displacement of a joint to `p` that friction removes, over the length of its
    /// segment. `moves` is the velocity of the surface (m/s).
    ///
    /// Model: Coulomb friction of hair without momentum. The normal displacement of a joint in a step
    /// is its depth without contact; friction removes the coefficient times that from its tangential displacement, at most
    /// all of it. Both are proportional to the length of the step.
    #[inline(always)]
    fn apply_friction(
        &self,
        simd: S,
        joint: &Joint<S>,
        collision: &JointCollision<S>,
        p: Vec3x<S>,
        moves: Vec3x<S>,
        friction: f32,
    ) -> Vec3x<S> {
        let slip = p - joint.before - moves * f32x16::splat(simd, self.dt);
        let slip = slip - collision.out * slip.dot(collision.out);
        let friction = match joint.friction {
            None => f32x16::splat(simd, self.friction * friction),
            Some(relative) => relative * friction,
        };
        let limit = (joint.radius - collision.distance) * friction;
        slip * (friction_fraction_lanes(simd, slip.length(), limit) * joint.per_length)
    }

    /// Rotates segments about their inner ends until their outer ends have the distance `radius` from a plane (m),
    /// by the shortest displacement, less friction ([`Self::apply_friction`]). Returns the number
    /// that cannot reach the plane even with radius zero.
    ///
    /// Model: the points at length l from the previous joint and at the wanted distance from the plane form
    /// a circle; the direction of the nearest of them is `n c + t sqrt(1 - c^2)`. Friction changes t only.
    /// Symbols: n normal of the plane, c sine of the angle to the plane, t unit direction along the plane.
    #[inline(always)]
    fn turn_out(
        &self,
        simd: S,
        joint: &Joint<S>,
        along: &mut Vec3x<S>,
        collision: &JointCollision<S>,
        radius: f32x16<S>,
        after_friction: Vec3x<S>,
    ) -> u32 {
        let one = f32x16::splat(simd, 1.0);
        let JointCollision { hit, out, distance } = *collision;
        let into = out.dot(*along);
        let wanted = into + (radius - distance) * joint.per_length;
        let c = wanted.min(one);
        let free = *along - out * into;
        let mut flat = free - after_friction;
        let mut size2 = flat.dot(flat);
        let degenerate = size2.simd_lt(STRAIGHT);
        if degenerate.any_true() {
            // Use the direction without friction where friction leaves none along the surface, and the binormal where
            // the segment is along the normal.
            flat = free.or(degenerate, flat);
            size2 = degenerate.select(free.dot(free), size2);
            let degenerate = size2.simd_lt(STRAIGHT);
            let side = self.binormal - out * out.dot(self.binormal);
            flat = side.or(degenerate, flat);
            size2 = degenerate.select(side.dot(side).max(one * STRAIGHT), size2);
        }
        let scale = ((one - c * c).max(one * 0.0) / size2).sqrt();
        *along = (out * c + flat * scale).or(hit, *along);
        // Normalise by one Newton iteration: rounding errors would accumulate along the strip.
        *along = *along * (along.dot(*along) * -0.5 + 1.5);
        let bare = wanted - radius.max(one * 0.0) * joint.per_length;
        (bare.simd_gt(one) & hit).to_bitmask().count_ones()
    }

    /// Projects out of a distance field, where the lower bound of the distance allows a collision.
    #[inline(always)]
    fn leave_field(
        &mut self,
        simd: S,
        joint: &Joint<S>,
        along: &mut Vec3x<S>,
        obstacle: &FieldObstacle<'_>,
    ) -> u32 {
        let radius = joint.radius;
        let mut unresolved = 0;
        for _ in 0..ROUNDS {
            let asked = self.clear.simd_lt(radius.max(f32x16::splat(simd, 0.0))) & joint.active;
            if !asked.any_true() {
                break;
            }
            let p = self.parent + *along * joint.length;
            let (distance, slope, number) = slopes(simd, obstacle, p, asked);
            let distance = distance - obstacle.skin;
            self.clear = asked.select(distance, self.clear);
            let size = slope.length();
            let hit = distance.simd_lt(radius) & asked & size.simd_gt(1e-3);
            if !hit.any_true() {
                break;
            }
            let out = slope * (f32x16::splat(simd, 1.0) / size.max(f32x16::splat(simd, 1e-3)));
            let collision = JointCollision { hit, out, distance };
            let mut after_friction = Vec3x::splat(simd, Vec3::ZERO);
            if obstacle.others.is_empty() {
                if obstacle.friction > 0.0 {
                    let moves = surface_motion(simd, obstacle, p, hit);
                    let friction = obstacle.friction;
                    after_friction =
                        self.apply_friction(simd, joint, &collision, p, moves, friction);
                }
            } else {
                // Each body has its own friction.
                for (k, one) in obstacle.all().enumerate().filter(|(_, one)| one.friction > 0.0) {
                    let of_body = hit & number.simd_eq(k as f32);
                    if of_body.any_true() {
                        let moves = surface_motion(simd, &one, p, of_body);
                        let slowed =
                            self.apply_friction(simd, joint, &collision, p, moves, one.friction);
                        after_friction = slowed.or(of_body, after_friction);
                    }
                }
            }
            unresolved = self.turn_out(simd, joint, along, &collision, radius, after_friction);
        }
        unresolved
    }
}

/// A joint that is projected out of the body.
struct Joint<S: Simd> {
    /// Its index on the strip.
    i: f32,
    /// Its position before the step (m).
    before: Vec3x<S>,
    /// Distance from the previous joint (m), and its inverse.
    length: f32x16<S>,
    per_length: f32x16<S>,
    /// Clearance from the body (m).
    radius: f32x16<S>,
    /// Largest distance from the anchors (m).
    reach: f32,
    /// Lanes whose strip has the joint.
    active: mask32x16<S>,
    /// Friction relative to that of the body, where joints differ in it.
    friction: Option<f32x16<S>>,
}

/// Joints that are too near to a plane: a mask, its normal, and their distance (m).
#[derive(Clone, Copy)]
struct JointCollision<S: Simd> {
    hit: mask32x16<S>,
    out: Vec3x<S>,
    distance: f32x16<S>,
}

/// Velocity (m/s) of the surface nearest to some of sixteen points.
#[inline(always)]
fn surface_motion<S: Simd>(
    simd: S,
    obstacle: &FieldObstacle<'_>,
    p: Vec3x<S>,
    asked: mask32x16<S>,
) -> Vec3x<S> {
    let mut out = Vec3x::splat(simd, Vec3::ZERO);
    let bits = asked.to_bitmask() as u32;
    for l in (0..LANES).filter(|l| bits & (1 << l) != 0) {
        out.set_lane(l, obstacle.field.velocity_at(p.lane(l)));
    }
    out
}

/// Distances of some of sixteen points from the nearest surface of a distance field (m), their gradient, and the number
/// of its body.
#[inline(always)]
fn slopes<S: Simd>(
    simd: S,
    obstacle: &FieldObstacle<'_>,
    p: Vec3x<S>,
    asked: mask32x16<S>,
) -> (f32x16<S>, Vec3x<S>, f32x16<S>) {
    let [(xa, xb), (ya, yb), (za, zb)] = [p.x, p.y, p.z].map(|v| simd.split_f32x16(v));
    let bits = asked.to_bitmask() as u32;
    let [pa, pb] = [Vec3x8 { x: xa, y: ya, z: za }, Vec3x8 { x: xb, y: yb, z: zb }];
    let (a, ga, na) = obstacle.numbered_slopes(simd, pa, bits & 0xff);
    let (b, gb, nb) = obstacle.numbered_slopes(simd, pb, bits >> HALF);
    let both = |a, b| simd.combine_f32x8(a, b);
    let gradient = Vec3x { x: both(ga.x, gb.x), y: both(ga.y, gb.y), z: both(ga.z, gb.z) };
    (both(a, b), gradient, both(na, nb))
}
