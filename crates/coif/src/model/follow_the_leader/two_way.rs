//! Passes in both directions (`muller2012` 3.3, 3.4): tip to root before root to tip, so that what
//! happens at the tip is felt at the root in the same step; and chains that are held at both ends or
//! at none, for which the passes from the two ends are averaged (figure 2).
//!
//! A strand that is held at its root has exact lengths after the last pass. So has one that flies:
//! after the average it is laid out again from its middle and put back to its centre of mass, so that
//! its momentum is exact too. A strand between two ends can be too short for them: its lengths come
//! out as near as the rounds bring them, and its ends are exact.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x8};
use glam::Vec3;

use super::block::{Block, Outcome, Rows};
use super::collider::Obstacles;
use super::contact::{Segment, leave_body};
use super::kernel::{Carrier, FARTHEST, Style, direction_of, felt_at_root, unbend};
use super::near::Near;
use super::{Ends, Pass};
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x8, half_row, lane, set_lane};

/// Rounds of forward and backward passes between two held ends.
const ROUNDS: usize = 40;

/// Advances a block by one step with passes in both directions. `scratch` has room for two vectors a
/// point.
#[inline(always)]
pub(super) fn step_block<S: Simd>(
    simd: S,
    block: &Block,
    mut rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [f32],
) -> Outcome {
    let (wanted, other) = scratch.split_at_mut(block.points * VECTOR);
    let mut outcome = Outcome::default();
    for half in 0..2 {
        let rows = rows.reborrow();
        predict(simd, block, half, &rows, pass, wanted);
        let said = match pass.ends {
            Ends::Root => {
                other.copy_from_slice(wanted);
                towards_tip(simd, block, half, wanted);
                forward(simd, block, half, rows, pass, obstacles, wanted, other)
            }
            ends => {
                average(simd, block, half, ends, wanted, other);
                finish(simd, block, half, rows, pass, obstacles, wanted)
            }
        };
        outcome.broken |= said.broken << (half * HALF);
        outcome.unresolved += said.unresolved;
    }
    outcome
}

/// Where every particle would go without its lengths (eq. 1), with the style as in the one-way pass.
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
    let root_before = Carrier::load(simd, &block.root_before, half);
    let dt = splat(pass.dt);
    let last_embedded = half_row(simd, &block.last_embedded, half);
    let mut style = Style::none(simd);
    let mut stages = block.stages.iter().peekable();
    let mut x = Vec3x8::load(simd, rows.position, 0, half);
    let (mut parent, mut x_before) = (x, x);
    let root_moves =
        (root.point(Vec3x8::load(simd, &block.rest, 0, half)) - x) * splat(1.0 / pass.dt);
    let felt = felt_at_root(simd, pass, root_moves, Vec3x8::load(simd, rows.velocity, 0, half));
    for i in 0..block.points {
        let v = Vec3x8::load(simd, rows.velocity, i, half);
        let x_next = Vec3x8::load(simd, rows.position, (i + 1).min(block.points - 1), half);
        let tension = half_row(simd, &rows.tension.as_chunks().0[i], half);
        let mut y = x + v * dt + (x_next - x) * tension + fall;
        let mut p = y;
        if pass.ends != Ends::Free {
            if pass.styled && i > 0 {
                while let Some(stage) = stages.next_if(|s| s.first < i) {
                    style.enter(
                        simd,
                        stage,
                        half,
                        [&root, &root_before],
                        [parent, x_before],
                        felt,
                        pass.dt,
                    );
                }
                y += style.pull(Vec3x8::load(simd, &block.goal, i, half), x, v * dt);
            }
            // Keep provisional lengths, on which the frames of the next stages stand.
            if i > 0 {
                let way = y - parent;
                let length = block.length_row(simd, i, half);
                p = parent + way * (length / way.length().max(splat(1e-9)));
            }
            let free = splat(i as f32).simd_gt(last_embedded);
            let carried = root.point(Vec3x8::load(simd, &block.rest, i, half));
            (y, p) = (y.or(free, carried), p.or(free, carried));
        }
        y.store(wanted, i, half);
        (parent, x_before, x) = (p, x, x_next);
    }
}

/// The pass from the tip of a strand that is held at its root: every point goes half of what its
/// outer segment is too long towards the outer neighbour, so that both ends of a segment share in it.
/// Deviations: the paper moves the inner point all of the way; that feeds energy into the strand
/// (five times what there is, in the check `chain`), half does not.
#[inline(always)]
fn towards_tip<S: Simd>(simd: S, block: &Block, half: usize, wanted: &mut [f32]) {
    let last = half_row(simd, &block.last, half);
    let last_embedded = half_row(simd, &block.last_embedded, half);
    let mut outer = Vec3x8::load(simd, wanted, block.points - 1, half);
    for i in (1..block.points - 1).rev() {
        let index = f32x8::splat(simd, i as f32);
        let y = Vec3x8::load(simd, wanted, i, half);
        let way = outer - y;
        let distance = way.length().max(f32x8::splat(simd, 1e-9));
        let share = (distance - block.length_row(simd, i + 1, half)) * 0.5 / distance;
        let moves = index.simd_lt(last) & index.simd_gt(last_embedded);
        let p = (y + way * share).or(moves, y);
        p.store(wanted, i, half);
        outer = p;
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
        let way = y - outer;
        let distance = way.length().max(f32x8::splat(simd, 1e-9));
        let p = end.or(at_tip, outer + way * (length / distance));
        p.store(wanted, i, half);
        outer = p;
    }
}

/// The pass from the root, with collision: as `kernel.rs`, from given predictions.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn forward<S: Simd>(
    simd: S,
    block: &Block,
    half: usize,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    wanted: &[f32],
    predicted: &[f32],
) -> Outcome {
    let splat = |v: f32| f32x8::splat(simd, v);
    let carried_on = splat(pass.carried_on / pass.dt);
    let blow = Vec3x8::load(simd, &block.wind, 0, half) * splat(1.0 - pass.carried_on);
    let last = half_row(simd, &block.last, half);
    let last_embedded = half_row(simd, &block.last_embedded, half);
    let near = Near::all(obstacles.colliders);
    let mut outcome = Outcome::default();
    let x_root = Vec3x8::load(simd, rows.position, 0, half);
    let mut parent =
        Carrier::load(simd, &block.root, half).point(Vec3x8::load(simd, &block.rest, 0, half));
    let mut ahead = direction_of(simd, Vec3x8::load(simd, rows.position, 1, half) - x_root);
    let mut sane = parent.dot(parent).simd_lt(FARTHEST * FARTHEST);
    ((parent - x_root) * splat(1.0 / pass.dt)).store(rows.velocity, 0, half);
    parent.store(rows.position, 0, half);
    for i in 1..block.points {
        let x = Vec3x8::load(simd, rows.position, i, half);
        let length = block.length_row(simd, i, half);
        let y = Vec3x8::load(simd, wanted, i, half);
        let mut way = y - parent;
        way = way.or(way.dot(way).simd_gt(1e-18), ahead);
        let distance = way.length();
        // Keep the angle with the segment before (eq. 11).
        if pass.bend.is_on() && i > 1 {
            way = unbend(simd, &pass.bend, ahead, way, distance);
        }
        let index = splat(i as f32);
        let free = index.simd_gt(last_embedded);
        let mut along = way * (splat(1.0) / distance);
        let mut p = (parent + along * length).or(free, y);
        along = along.or(free, direction_of(simd, p - parent));
        // All that the two passes did to the point along its segment acts back on the one before.
        let done = (Vec3x8::load(simd, predicted, i, half) - p).dot(p - parent) / length;
        let pull = done * block.reaction_row(simd, i, half);
        let mut moved = (p - x) * carried_on + blow;
        let active = free & index.simd_le(last) & sane;
        let mut segment = Segment { parent, ahead, along, length, clear: splat(0.0) };
        let contact = leave_body(simd, &near, obstacles, active, &mut segment, x, pass);
        if contact.touched {
            (p, along) = (segment.end().or(free, p), segment.along);
            moved = (p - x) * carried_on + blow - contact.brake;
            outcome.unresolved += contact.unresolved;
        }
        moved.store(rows.velocity, i, half);
        p.store(rows.position, i, half);
        pull.store_slice(&mut rows.tension.as_chunks_mut::<HALF>().0[2 * (i - 1) + half]);
        sane &= p.dot(p).simd_lt(FARTHEST * FARTHEST);
        (ahead, parent) = (along, p);
    }
    outcome.broken = !(sane.to_bitmask() as u32) & 0xff;
    outcome
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
    let held = ends != Ends::Free;
    // Where the tip is held: the scalp carries it too.
    let mut tip = Vec3x8::splat(simd, Vec3::ZERO);
    for i in 0..block.points {
        let here = splat(i as f32).simd_eq(last);
        tip = root.point(Vec3x8::load(simd, &block.rest, i, half)).or(here, tip);
    }
    let first = half * HALF;
    let centres: [Vec3; HALF] = std::array::from_fn(|l| centre_of(block, wanted, first + l));
    for _round in 0..if held { ROUNDS } else { 1 } {
        back.copy_from_slice(wanted);
        let end = if held { tip } else { row_at(simd, back, &block.last, half) };
        backward(simd, block, half, back, end);
        // Go forward, and average on the way.
        let mut leader = Vec3x8::load(simd, wanted, 0, half);
        let root_place = root.point(Vec3x8::load(simd, &block.rest, 0, half));
        if held {
            leader = root_place;
        }
        for i in 0..block.points {
            let index = splat(i as f32);
            let mut p = leader;
            if i > 0 {
                let way = Vec3x8::load(simd, wanted, i, half) - leader;
                let distance = way.length().max(splat(1e-9));
                p = leader + way * (block.length_row(simd, i, half) / distance);
            }
            leader = p;
            let share = if ends == Ends::Both { index / last } else { splat(0.5) };
            let b = Vec3x8::load(simd, back, i, half);
            let mut mean = p + (b - p) * share.min(splat(1.0));
            if held {
                mean = tip.or(index.simd_eq(last), mean);
                if i == 0 {
                    mean = root_place;
                }
            }
            mean.store(wanted, i, half);
        }
    }
    if !held {
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

/// Gives a flying strand its exact lengths again, from its middle outward, and puts its centre of
/// mass back to where it was predicted.
fn lay_out_from_middle(block: &Block, wanted: &mut [f32], l: usize, centre: Vec3) {
    let last = block.last[l] as usize;
    let middle = last / 2;
    for i in (middle + 1)..=last {
        let inner = lane(wanted, i - 1, l);
        let way = (lane(wanted, i, l) - inner).normalize_or(Vec3::NEG_Y);
        set_lane(wanted, i, l, inner + way * block.length_of(i, l));
    }
    for i in (0..middle).rev() {
        let inner = lane(wanted, i + 1, l);
        let way = (lane(wanted, i, l) - inner).normalize_or(Vec3::Y);
        set_lane(wanted, i, l, inner + way * block.length_of(i + 1, l));
    }
    let shift = centre - centre_of(block, wanted, l);
    for i in 0..=last {
        let p = lane(wanted, i, l);
        set_lane(wanted, i, l, p + shift);
    }
}

/// Takes the averaged places over: out of the body, and velocities from the way.
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
    let carried_on = splat(pass.carried_on / pass.dt);
    let blow = Vec3x8::load(simd, &block.wind, 0, half) * splat(1.0 - pass.carried_on);
    let mut sane = splat(0.0).simd_lt(1.0);
    for i in 0..block.points {
        let x = Vec3x8::load(simd, rows.position, i, half);
        let mut p = Vec3x8::load(simd, wanted, i, half);
        for l in 0..HALF {
            let held = match pass.ends {
                Ends::Free => false,
                _ => i == 0 || i as f32 == block.last[half * HALF + l],
            };
            if !held {
                let out = obstacles.push_out(p.lane(l));
                p.set_lane(l, out);
            }
        }
        ((p - x) * carried_on + blow).store(rows.velocity, i, half);
        p.store(rows.position, i, half);
        sane &= p.dot(p).simd_lt(FARTHEST * FARTHEST);
    }
    Outcome { broken: !(sane.to_bitmask() as u32) & 0xff, unresolved: 0 }
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
