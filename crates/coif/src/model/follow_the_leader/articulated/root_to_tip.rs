//! The pass from root to tip: every point follows its leader, and is pushed out of the body on the length sphere.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16};
use glam::Vec3;

use super::back_substitution::{BackSubstitution, Joined};
use super::candidate::Candidate;
use super::free_root::PlacedRoot;
use super::{Affine, Fixed, NO_DIRECTION2, SCRATCH};
use crate::body::distance_field::MAX_SLOPE;
use crate::limits::MAX_WORLD_DISTANCE;
use crate::math::lanes::{HALF, VECTOR, Vec3x};
use crate::math::tangent::{Columns, Vec2x};
use crate::model::follow_the_leader::Pass;
use crate::model::follow_the_leader::block::{Block, FIXED, Outcome, Upcoming};
use crate::model::follow_the_leader::collider::Obstacles;
use crate::model::follow_the_leader::near::{Near, near_path};
use crate::model::follow_the_leader::resting::{self, TERMS};
use crate::model::follow_the_leader::state::State;

/// Rows for which the broad phase looks for colliders at once. More rows find more colliders; no result depends on it.
const CHUNK: usize = 2;

/// Places the points from the root on.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn root_to_tip<S: Simd>(
    simd: S,
    block: &Block,
    state: &mut State<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &[[f32; SCRATCH]],
    terms: &[[f32; TERMS]],
    next: Upcoming<'_>,
) -> Outcome {
    let splat = |v: f32| f32x16::splat(simd, v);
    let State { position, velocity, tension, contact } = state;
    let points = position.len();
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
    let rest = &block.rest.as_chunks::<VECTOR>().0[..points];
    let wind = Vec3x::of_row(simd, &block.wind);
    let mut carried_on = splat(pass.tie.carried_on / pass.dt);
    let mut blow = wind * splat(1.0 - pass.tie.carried_on);
    let root = Affine::load(simd, &block.root);
    let mut outcome = Outcome::default();

    // Start at the root, which follows the body.
    let x = Vec3x::of_row(simd, &position[0]);
    let mut leader = root.point(Vec3x::of_row(simd, &rest[0]));
    let mut moved = leader - x;
    let motion = Affine::load(simd, &block.motion);
    let (mut x_leader, mut shift_leader) = (x, motion.point(x));
    let mut displaced = moved - shift_leader;
    let none = Vec3x::splat(simd, Vec3::ZERO);
    let (mut pushed, mut pushed_before) = (none, false);
    if pass.is_free() {
        // Displace a free root by the solution of the first pass.
        let mut root = PlacedRoot::new(simd, x, shift_leader, &scratch[0]);
        root.collide(simd, block, &mut contact[0], &terms[0], pass, obstacles, &mut outcome);
        (leader, moved, displaced) = (root.place, root.place - x, root.displaced);
        (pushed, pushed_before) = (root.pushed, true);
        let ties = block.ties(0).map(|ties| ties.carried_on(simd));
        let kept = ties.unwrap_or(splat(pass.tie.carried_on));
        let v = (moved - pushed) * (kept * (1.0 / pass.dt)) + wind * (splat(1.0) - kept);
        (v - root.brake).to_row(&mut velocity[0]);
    } else {
        (moved * splat(1.0 / pass.dt)).to_row(&mut velocity[0]);
    }
    leader.to_row(&mut position[0]);
    let mut ahead = (Vec3x::of_row(simd, &position[1]) - x) * Fixed(&fixed[1]).inverse_length(simd);
    let mut clear = splat(0.0);
    let (mut turn_leader, mut turn_pushed_leader) = (Vec2x::zero(simd), Vec2x::zero(simd));
    let mut near = Near::none(obstacles.colliders);
    let (mut farthest2, last) = (splat(0.0), f32x16::from_slice(simd, &block.last));
    let driven = moved.length() + wind.length() * pass.dt;
    let mut driven2 = splat(0.0);
    for i in 1..points {
        next.fetch_fixed(simd, i - 1);
        if i % CHUNK == 1 && !obstacles.colliders.is_empty() {
            // Broad phase for the next points: they lie on length spheres, one after the other.
            let path = block.path[points.min(i + CHUNK) - 1] - block.path[i - 1];
            near = near_path(simd, obstacles.colliders, obstacles.groups, leader, path);
        }
        if let Some(ties) = block.ties(i) {
            let of_row = ties.carried_on(simd);
            (carried_on, blow) = (of_row / splat(pass.dt), wind * (splat(1.0) - of_row));
        }
        let length = Fixed(&fixed[i]).length(simd);
        let e_scale = Fixed(&fixed[i]).inverse_length(simd);
        let x = Vec3x::of_row(simd, &position[i]);
        let shift = motion.point(x);
        let segment = (x - x_leader) + (shift - shift_leader);
        let e = segment * e_scale;
        let back = BackSubstitution::load(simd, &scratch[i]);
        let limit = if i > 1 { Fixed(&fixed[i]).turn(simd) } else { splat(-1.0) };
        let tangents = Columns::tangents(e);
        // Compute the minimising turn, given the leader.
        let behind = displaced + e * back.chord;
        let mut turn = back.turn - back.by_leader.dot(behind);
        let by_turn = Joined::load_turn(simd, &scratch[i]);
        if let Some(by_turn) = &by_turn {
            turn += by_turn.mul(turn_leader);
        }
        let across = tangents.mul(turn) * length;
        let mut direction = segment + e * back.chord + across;
        // Propagate the displacement by pushes of contact, which adds no velocity.
        let mut turn_pushed = Vec2x::zero(simd);
        if pushed_before {
            turn_pushed = turn_pushed - back.by_leader.dot(pushed);
            if let Some(by_turn) = &by_turn {
                turn_pushed += by_turn.mul(turn_pushed_leader);
            }
            pushed += tangents.mul(turn_pushed) * length;
        }
        let place = behind + across;
        if resting::any(simd, &contact[i]) {
            driven2 = driven2.max(resting::surface_motion2(simd, &contact[i], &terms[i]));
            outcome.impact |= resting::update(simd, &mut contact[i], &terms[i], place, pass.dt);
        }
        let mut slack = back.by_place.dot(place);
        if let Some(by_cross) = Joined::load_cross(simd, &scratch[i]) {
            slack += by_cross.x * turn.x + by_cross.y * turn.y;
        }
        (back.pull - slack).store_slice(&mut tension[i]);
        // Project onto the length sphere (3.1), in the direction of the segment before if there is none.
        let distance2 = direction.dot(direction);
        let degenerate = distance2.simd_lt(NO_DIRECTION2);
        if degenerate.any_true() {
            direction = ahead.or(degenerate, direction);
        }
        let mut along = direction * (splat(1.0) / direction.length());
        let along_free = along;
        // Keep the angle with the segment before (eq. 11).
        if pass.bend.is_on() && i > 1 && ahead.dot(along).simd_lt(limit).any_true() {
            let straighter = unbent(simd, ahead, along, limit) - along;
            along += straighter;
            pushed += straighter * length;
            turn_pushed += tangents.dot(straighter);
            pushed_before = true;
        }
        let mut p = leader + along * length;
        let mut next_displaced = displaced + (along * length - segment);

        // Place embedded points rigidly with the body.
        if i < block.max_embedded {
            let pinned = splat(i as f32).simd_le(f32x16::from_slice(simd, &block.last_embedded));
            let place = root.point(Vec3x::of_row(simd, &rest[i]));
            let here = x + shift;
            next_displaced = (place - here).or(pinned, next_displaced);
            along = ((place - leader) * e_scale).or(pinned, along);
            p = place.or(pinned, p);
            pushed = none.or(pinned, pushed);
            turn_pushed = Vec2x::zero(simd).or(pinned, turn_pushed);
        }
        let mut moves = (next_displaced - pushed + shift) * carried_on + blow;

        // Push out of the body on the length sphere.
        if !near.is_empty() || obstacles.field.is_some() {
            let mut inside = near.hold_row(simd, p);
            if let Some(field) = obstacles.field {
                clear -= length * MAX_SLOPE;
                inside |= clear.simd_lt(field.skin);
            }
            if inside.any_true() {
                let inside = inside.to_bitmask();
                let inside = [inside & 0xff != 0, inside >> HALF != 0];
                let mut here = Candidate {
                    leader,
                    before: x + pushed,
                    contact: &mut contact[i],
                    ahead,
                    along,
                    p,
                    brake: none,
                    length,
                    limit,
                    clear,
                };
                if here.leave_body(simd, block, i, inside, &near, obstacles, pass, &mut outcome) {
                    let push = here.p - p;
                    turn_pushed += tangents.dot(here.along - along);
                    next_displaced += push;
                    moves += push * carried_on - here.brake;
                    (along, p) = (here.along, here.p);
                    pushed += push;
                    pushed_before = true;
                }
                clear = here.clear;
            }
        }
        let exists = splat(i as f32).simd_le(last);
        farthest2 = farthest2.max(exists.select(next_displaced.dot(next_displaced), splat(0.0)));
        moves.to_row(&mut velocity[i]);
        p.to_row(&mut position[i]);
        // Add the turn by bending limit and contact.
        turn += tangents.dot(along - along_free);
        (turn_leader, turn_pushed_leader) = (turn, turn_pushed);
        (leader, displaced, ahead) = (p, next_displaced, along);
        (x_leader, shift_leader) = (x, shift);
    }

    // A value that is not finite or out of range propagates to the tip: testing the tip is enough.
    let sane = leader.dot(leader).simd_lt(MAX_WORLD_DISTANCE * MAX_WORLD_DISTANCE);
    farthest2.sqrt().store_slice(&mut outcome.moved);
    // Add the scalp's rotation, by its displacement at the tip.
    (driven + shift_leader.length() + driven2.sqrt()).store_slice(&mut outcome.driven);
    outcome.broken = !(sane.to_bitmask() as u32) & 0xffff;
    outcome
}

/// Turns segments that are bent beyond the limit back to it, in the plane of the two: unit vectors, and the cosine of
/// the largest turn.
#[inline(always)]
fn unbent<S: Simd>(simd: S, ahead: Vec3x<S>, along: Vec3x<S>, limit: f32x16<S>) -> Vec3x<S> {
    let cosine = ahead.dot(along);
    let bent = cosine.simd_lt(limit);
    let one = f32x16::splat(simd, 1.0);
    // Antiparallel segments have no common plane: take any.
    let side = Vec3x { x: ahead.y, y: ahead.z, z: ahead.x }.cross(ahead);
    let tangent = along - ahead * cosine;
    let tangent = tangent.or(tangent.dot(tangent).simd_gt(1e-8), side);
    let sine = (one - limit * limit).max(f32x16::splat(simd, 0.0)).sqrt();
    let size = tangent.length().max(f32x16::splat(simd, 1e-9));
    (ahead * limit + tangent * (sine / size)).or(bent, along)
}
