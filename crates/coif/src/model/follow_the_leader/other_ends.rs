//! Chains that are pinned at both ends or at none (`muller2012` figure 2): the passes from the two ends are averaged.
//!
//! A free strand has exact lengths: after the average it is laid out again from its middle and moved back
//! to its centre of mass, so that its momentum is exact too. A strand between two ends can be shorter than
//! their distance: its ends are exact, its lengths as close as the iterations get.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x8};
use glam::Vec3;

use super::block::{Block, FIXED, Outcome, Rows};
use super::collider::Obstacles;
use super::one_way::Carrier;
use super::{Ends, Pass};
use crate::limits::MAX_WORLD_DISTANCE;
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x8, half_row, lane, set_lane};

/// Iterations of forward and backward passes between two pinned ends.
const ROUNDS: usize = 40;

/// Advances a block by one step. `scratch` has room for two vectors a point.
#[inline(always)]
pub(super) fn step_block<S: Simd>(
    simd: S,
    block: &Block,
    mut rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [f32],
) -> Outcome {
    let (wanted, other) = scratch[..2 * block.points * VECTOR].split_at_mut(block.points * VECTOR);
    let mut outcome = Outcome::default();
    for half in 0..2 {
        let rows = rows.reborrow();
        predict(simd, block, half, &rows, pass, wanted);
        average(simd, block, half, pass.ends, wanted, other);
        let of_half = finish(simd, block, half, rows, pass, obstacles, wanted);
        outcome.broken |= of_half.broken << (half * HALF);
        outcome.unresolved += of_half.unresolved;
    }
    outcome
}

/// Predicts every particle without the length constraint (eq. 1), with the spring to its groomed place carried by
/// the scalp.
#[inline(always)]
fn predict<S: Simd>(
    simd: S,
    block: &Block,
    half: usize,
    rows: &Rows<'_>,
    pass: &Pass,
    wanted: &mut [f32],
) {
    let splat = |v: f32| f32x8::splat(simd, v);
    let fall = Vec3x8::splat(simd, pass.gravity * (pass.dt * pass.dt));
    let root = Carrier::load(simd, &block.root, half);
    let motion = Carrier::load(simd, &block.motion, half);
    let last_embedded = half_row(simd, &block.last_embedded, half);
    let fixed = block.fixed.as_chunks::<FIXED>().0;
    let (spring, damper) = (pass.tie.spring, pass.tie.damper);
    for i in 0..block.points {
        let x = Vec3x8::load(simd, rows.position, i, half);
        let mut moves = Vec3x8::load(simd, rows.velocity, i, half) * splat(pass.dt) + fall;
        let mut y = x + moves;
        if pass.ends != Ends::Free {
            if let (Some(fixed), true) = (fixed.get(i), i > 0) {
                // An implicit damped spring, as in `articulated/`.
                let goal = Vec3x8::load(simd, fixed, 0, half);
                let mass = half_row(simd, &fixed.as_chunks::<LANES>().0[6], half);
                moves += root.direction(goal) * (splat(1.0) / mass)
                    + (root.translation - x) * splat(spring)
                    + motion.point(x) * splat(damper);
                y = x + moves * splat(1.0 / (1.0 + spring + damper));
            }
            let free = splat(i as f32).simd_gt(last_embedded);
            y = y.or(free, root.point(Vec3x8::load(simd, &block.rest, i, half)));
        }
        y.store(wanted, i, half);
    }
}

/// The pass from the tip: every point at its length from its outer neighbour.
#[inline(always)]
fn backward<S: Simd>(simd: S, block: &Block, half: usize, wanted: &mut [f32], tip: Vec3x8<S>) {
    let last = half_row(simd, &block.last, half);
    let mut outer = Vec3x8::splat(simd, Vec3::ZERO);
    for i in (0..block.points).rev() {
        let index = f32x8::splat(simd, i as f32);
        let y = Vec3x8::load(simd, wanted, i, half);
        let at_tip = index.simd_ge(last);
        let end = tip.or(index.simd_eq(last), y);
        let length = block.length_row(simd, (i + 1).min(block.points - 1), half);
        let edge = y - outer;
        let distance = edge.length().max(f32x8::splat(simd, 1e-9));
        let p = end.or(at_tip, outer + edge * (length / distance));
        p.store(wanted, i, half);
        outer = p;
    }
}

/// Averages the passes from the two ends (figure 2 c to e).
#[inline(always)]
fn average<S: Simd>(
    simd: S,
    block: &Block,
    half: usize,
    ends: Ends,
    wanted: &mut [f32],
    back: &mut [f32],
) {
    let splat = |v: f32| f32x8::splat(simd, v);
    let last = half_row(simd, &block.last, half);
    let root = Carrier::load(simd, &block.root, half);
    let pinned = ends != Ends::Free;
    // Place a pinned tip with the scalp too.
    let mut tip = Vec3x8::splat(simd, Vec3::ZERO);
    for i in 0..block.points {
        let here = splat(i as f32).simd_eq(last);
        tip = root.point(Vec3x8::load(simd, &block.rest, i, half)).or(here, tip);
    }
    let first = half * HALF;
    let centres: [Vec3; HALF] = std::array::from_fn(|l| centre_of(block, wanted, first + l));
    for _round in 0..if pinned { ROUNDS } else { 1 } {
        back.copy_from_slice(wanted);
        let end = if pinned { tip } else { row_at(simd, back, &block.last, half) };
        backward(simd, block, half, back, end);
        // Go forward, and average at each point.
        let mut leader = Vec3x8::load(simd, wanted, 0, half);
        let root_place = root.point(Vec3x8::load(simd, &block.rest, 0, half));
        if pinned {
            leader = root_place;
        }
        for i in 0..block.points {
            let index = splat(i as f32);
            let mut p = leader;
            if i > 0 {
                let edge = Vec3x8::load(simd, wanted, i, half) - leader;
                let distance = edge.length().max(splat(1e-9));
                p = leader + edge * (block.length_row(simd, i, half) / distance);
            }
            leader = p;
            let weight = if ends == Ends::Both { index / last } else { splat(0.5) };
            let b = Vec3x8::load(simd, back, i, half);
            let mut mean = p + (b - p) * weight.min(splat(1.0));
            if pinned {
                mean = tip.or(index.simd_eq(last), mean);
                if i == 0 {
                    mean = root_place;
                }
            }
            mean.store(wanted, i, half);
        }
    }
    if !pinned {
        for l in 0..HALF {
            lay_out_from_middle(block, wanted, first + l, centres[l]);
        }
    }
}

/// Centre of mass of a lane's strand, whose points stand for half of each segment beside them.
fn centre_of(block: &Block, from: &[f32], l: usize) -> Vec3 {
    let last = block.last[l] as usize;
    let mut sum = Vec3::ZERO;
    let mut mass = 0.0;
    for i in 1..=last {
        let length = block.length_of(i, l);
        sum += (lane(from, i - 1, l) + lane(from, i, l)) * (0.5 * length);
        mass += length;
    }
    sum / mass
}

/// Gives a free strand its exact lengths again, from its middle outward, and moves its centre of
/// mass back to the predicted one.
fn lay_out_from_middle(block: &Block, wanted: &mut [f32], l: usize, centre: Vec3) {
    let last = block.last[l] as usize;
    let middle = last / 2;
    for i in (middle + 1)..=last {
        let inner = lane(wanted, i - 1, l);
        let direction = (lane(wanted, i, l) - inner).normalize_or(Vec3::NEG_Y);
        set_lane(wanted, i, l, inner + direction * block.length_of(i, l));
    }
    for i in (0..middle).rev() {
        let inner = lane(wanted, i + 1, l);
        let direction = (lane(wanted, i, l) - inner).normalize_or(Vec3::Y);
        set_lane(wanted, i, l, inner + direction * block.length_of(i + 1, l));
    }
    let shift = centre - centre_of(block, wanted, l);
    for i in 0..=last {
        let p = lane(wanted, i, l);
        set_lane(wanted, i, l, p + shift);
    }
}

/// Applies the averaged positions: pushes them out of the body, and computes velocities from displacements.
#[inline(always)]
fn finish<S: Simd>(
    simd: S,
    block: &Block,
    half: usize,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    wanted: &[f32],
) -> Outcome {
    let splat = |v: f32| f32x8::splat(simd, v);
    let carried_on = splat(pass.tie.carried_on / pass.dt);
    let blow = Vec3x8::load(simd, &block.wind, 0, half) * splat(1.0 - pass.tie.carried_on);
    let mut sane = splat(0.0).simd_lt(1.0);
    for i in 0..block.points {
        let x = Vec3x8::load(simd, rows.position, i, half);
        let mut p = Vec3x8::load(simd, wanted, i, half);
        for l in 0..HALF {
            let pinned = match pass.ends {
                Ends::Free => false,
                _ => i == 0 || i as f32 == block.last[half * HALF + l],
            };
            if !pinned {
                let out = obstacles.push_out(p.lane(l));
                p.set_lane(l, out);
            }
        }
        ((p - x) * carried_on + blow).store(rows.velocity, i, half);
        p.store(rows.position, i, half);
        sane &= p.dot(p).simd_lt(MAX_WORLD_DISTANCE * MAX_WORLD_DISTANCE);
    }
    Outcome { broken: !(sane.to_bitmask() as u32) & 0xff, ..Outcome::default() }
}

/// Per lane, the vector of its own row.
#[inline(always)]
fn row_at<S: Simd>(simd: S, from: &[f32], index: &[f32; LANES], half: usize) -> Vec3x8<S> {
    let mut found = Vec3x8::splat(simd, Vec3::ZERO);
    for l in 0..HALF {
        let at = half * HALF + l;
        found.set_lane(l, lane(from, index[at] as usize, at));
    }
    found
}
