//! The two passes of a strand that is held at its root (`muller2012` 3.4, made implicit): tip to root, which
//! gathers what every point carries, then root to tip, in which every point follows its leader.
//!
//! Model: one step of backward Euler. With `a_i` the displacement of point i from where the scalp's rigid
//! motion takes it, `b_i = a_i - a_(i-1)` and `e_i` the direction of its segment, the step minimises
//!
//! ```text
//! sum of  m_i/2 |a_i - y_i|^2  +  k_i/2 |b_i - t_i|^2      where  e_i . b_i = 0  (inextensible)
//! ```
//!
//! `m_i` and `y_i` are inertia with gravity, dead load, the style's spring to the groomed place and its damper;
//! `k_i` and `t_i` the style's spring to the groomed direction and its damper, the joints that hold a segment to the
//! directions that its neighbours are about to take ([`BEND`]), and the geometric stiffness `tension / length` of the
//! last step. A chain couples neighbours only, so eliminating points from the tip leaves one 3x3 matrix a point, the
//! articulated inertia (Schur complement)
//!
//! ```text
//! N = m I + W + k I,  g = N^-1 e,    W' = k N^-1 M + (M g)(M g)^T / (e . g)    with  M = m I + W
//! ```
//!
//! and the pass from root to tip gives the conditional minimum of each point once its leader has been placed.
//! Follow-The-Leader's projection (3.1) then takes off what the linear constraint leaves of the length. The square of
//! the turn in a step, the centripetal part, is estimated before and put into the constraint, `e_i . b_i = c_i`.
//! Collision acts in the projection, on the length sphere. It moves a point and all that hangs on it; only the point
//! itself takes that on as velocity. Hair that lies on the body is held in the first pass (`resting.rs`).
//!
//! **Stability.** All terms are convex (tensions below zero count as zero), so a step never adds energy to a
//! chain on a head that stands still but by the projection's remainder, for any step, any segments, any
//! masses and any curvature: the minimised sum at the new state is at most its value at `b = 0`
//! (`energy_tests.rs` measures it, contact included). The one-way
//! pass has no such bound: its reaction (eq. 9) is one step late, `d_i(t) = c - r d_i(t-1)` where hair bends by
//! an angle `w`, with `r = m_i / m_(i-1) sin^2 w`, and its tensions pull along directions of the last step,
//! with `tension dt^2 / (m_i l_(i+1)) < 4` needed. Both fail where a segment is much longer than the one before.
//!
//! Deviations: the paper moves points geometrically in its backward pass, and corrects velocities by eq. 9 for
//! the masses that a one-way projection hides. Here no mass is hidden: the reactions are in the matrices. The
//! scale `s` is the mass per length at the tip ([`Settings::correction`](super::Settings::correction)).

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x8, f32x16};
use glam::Vec3;

use super::Pass;
use super::block::{Block, FIXED, Outcome, Rows, Upcoming};
use super::collider::Obstacles;
use super::contact::{NOTHING, SLOPE, Segment, leave_body};
use super::joint::Joint;
use super::near::{Bits, Near, near_box};
use super::one_way::{CHUNK, FARTHEST, bounds_of};
use super::resting::{self, HELD, MEMORY, Points};
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x, half_row};
use crate::math::symmetric::Symmetric;

/// Numbers that the first pass leaves a point for the second: inverse of N, right-hand side, link stiffness,
/// `1 / (e . g)` and the chord. The rest is cheaper to compute again than to fetch.
pub(super) const SCRATCH: usize = 12 * LANES;

/// Stiffness of the joints between neighbouring segments, by that of a segment's direction. With the default style it
/// is 9 N for hair of 1 kg/m: 30 cm of hair at three times gravity press that much, so that such a push does not fold
/// hair between two points. Less crumples; more is stiff where points are few.
///
/// A joint holds segment i to where its neighbours go by their velocities, and to where it goes by its own: with
/// `c` the cosine of the phase between neighbours this is implicit with the mass `m + 2 w (1 + c)`, so stable for any
/// weight `w` of the joint, and without damping; the added inertia goes with the square of the step.
pub const BEND: f32 = 4.0;

/// Least squared length (m^2) of a way that still has a direction.
const NO_DIRECTION2: f32 = 1e-24;

/// Advances a block by one step. `scratch` has room for [`SCRATCH`] numbers a point.
#[inline(always)]
pub(super) fn step_block<S: Simd>(
    simd: S,
    block: &Block,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [f32],
    next: Upcoming<'_>,
) -> Outcome {
    let points = block.points;
    let position = &mut rows.position.as_chunks_mut::<VECTOR>().0[..points];
    let velocity = &mut rows.velocity.as_chunks_mut::<VECTOR>().0[..points];
    let tension = &mut rows.tension.as_chunks_mut::<LANES>().0[..points];
    let contact = &mut rows.contact.as_chunks_mut::<MEMORY>().0[..points];
    let (scratch, held) = scratch.split_at_mut(points * SCRATCH);
    let scratch = &mut scratch.as_chunks_mut::<SCRATCH>().0[..points];
    let held = &mut held.as_chunks_mut::<HELD>().0[..points];
    tip_to_root(simd, block, position, velocity, tension, contact, pass, obstacles, scratch, held);
    root_to_tip(
        simd, block, position, velocity, tension, contact, pass, obstacles, scratch, held, next,
    )
}

/// An affine map per lane.
struct Affine<S: Simd> {
    columns: [Vec3x<S>; 3],
    added: Vec3x<S>,
}

impl<S: Simd> Affine<S> {
    #[inline(always)]
    fn load(simd: S, from: &[[f32; VECTOR]; 4]) -> Self {
        let [x, y, z, added] = [0, 1, 2, 3].map(|k| Vec3x::of_row(simd, &from[k]));
        Self { columns: [x, y, z], added }
    }

    #[inline(always)]
    fn direction(&self, v: Vec3x<S>) -> Vec3x<S> {
        let [x, y, z] = self.columns;
        x * v.x + y * v.y + z * v.z
    }

    #[inline(always)]
    fn point(&self, p: Vec3x<S>) -> Vec3x<S> {
        self.direction(p) + self.added
    }
}

/// One row of [`Block::fixed`].
struct Fixed<'a>(&'a [f32; FIXED]);

impl Fixed<'_> {
    #[inline(always)]
    fn number<S: Simd>(&self, simd: S, k: usize) -> f32x16<S> {
        f32x16::from_slice(simd, &self.0.as_chunks::<LANES>().0[k])
    }

    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, k: usize) -> Vec3x<S> {
        Vec3x { x: self.number(simd, k), y: self.number(simd, k + 1), z: self.number(simd, k + 2) }
    }

    #[inline(always)]
    fn goal<S: Simd>(&self, simd: S) -> Vec3x<S> {
        self.vector(simd, 0)
    }

    #[inline(always)]
    fn step<S: Simd>(&self, simd: S) -> Vec3x<S> {
        self.vector(simd, 3)
    }

    #[inline(always)]
    fn mass<S: Simd>(&self, simd: S) -> f32x16<S> {
        self.number(simd, 6)
    }

    #[inline(always)]
    fn length<S: Simd>(&self, simd: S) -> f32x16<S> {
        self.number(simd, 7)
    }

    #[inline(always)]
    fn inverse_length<S: Simd>(&self, simd: S) -> f32x16<S> {
        self.number(simd, 8)
    }

    /// Cosine of the largest turn.
    #[inline(always)]
    fn turn<S: Simd>(&self, simd: S) -> f32x16<S> {
        self.number(simd, 9)
    }
}

/// What the first pass leaves a point for the second.
struct Left<S: Simd> {
    inverse: Symmetric<S>,
    rhs: Vec3x<S>,
    stiffness: f32x16<S>,
    inverse_eg: f32x16<S>,
    chord: f32x16<S>,
}

impl<S: Simd> Left<S> {
    #[inline(always)]
    fn store(&self, row: &mut [f32; SCRATCH]) {
        let row = row.as_chunks_mut::<LANES>().0;
        // One by one: as a loop over an array the numbers would go through memory twice.
        self.inverse.xx.store_slice(&mut row[0]);
        self.inverse.yy.store_slice(&mut row[1]);
        self.inverse.zz.store_slice(&mut row[2]);
        self.inverse.xy.store_slice(&mut row[3]);
        self.inverse.xz.store_slice(&mut row[4]);
        self.inverse.yz.store_slice(&mut row[5]);
        self.rhs.x.store_slice(&mut row[6]);
        self.rhs.y.store_slice(&mut row[7]);
        self.rhs.z.store_slice(&mut row[8]);
        self.stiffness.store_slice(&mut row[9]);
        self.inverse_eg.store_slice(&mut row[10]);
        self.chord.store_slice(&mut row[11]);
    }

    #[inline(always)]
    fn load(simd: S, row: &[f32; SCRATCH]) -> Self {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        Self {
            inverse: Symmetric { xx: n(0), yy: n(1), zz: n(2), xy: n(3), xz: n(4), yz: n(5) },
            rhs: Vec3x { x: n(6), y: n(7), z: n(8) },
            stiffness: n(9),
            inverse_eg: n(10),
            chord: n(11),
        }
    }
}

/// A point before the step.
#[derive(Clone, Copy)]
struct Before<S: Simd> {
    /// Where it is (m).
    x: Vec3x<S>,
    /// How far the scalp's motion takes it (m).
    shift: Vec3x<S>,
    /// How far its velocity takes it (m).
    drift: Vec3x<S>,
}

impl<S: Simd> Before<S> {
    #[inline(always)]
    fn load(
        simd: S,
        motion: &Affine<S>,
        (position, velocity): (&[[f32; VECTOR]], &[[f32; VECTOR]]),
        i: usize,
        dt: f32,
    ) -> Self {
        let x = Vec3x::of_row(simd, &position[i]);
        let drift = Vec3x::of_row(simd, &velocity[i]) * f32x16::splat(simd, dt);
        Self { x, shift: motion.point(x), drift }
    }
}

/// A segment before the step, carried by the scalp's motion.
#[derive(Clone, Copy)]
pub(super) struct Carried<S: Simd> {
    /// From its inner end to its outer one (m).
    pub(super) vector: Vec3x<S>,
    /// How far its direction is from the groomed one.
    pub(super) off: Vec3x<S>,
    /// The same, by the velocities at the end of the step.
    pub(super) soon: Vec3x<S>,
    /// What its turn in the step takes off along it, to second order (m): the centripetal part of the constraint.
    pub(super) chord: f32x16<S>,
    /// Its groomed direction.
    pub(super) groomed: Vec3x<S>,
}

impl<S: Simd> Carried<S> {
    #[inline(always)]
    fn new(
        simd: S,
        root: &Affine<S>,
        fixed: &Fixed<'_>,
        inner: &Before<S>,
        outer: &Before<S>,
    ) -> Self {
        let inverse_length = fixed.inverse_length(simd);
        let carried = outer.shift - inner.shift;
        let vector = (outer.x - inner.x) + carried;
        let groomed = root.direction(fixed.step(simd)) * inverse_length;
        let off = groomed - vector * inverse_length;
        let turns = (outer.drift - inner.drift) - carried;
        let soon = off - turns * inverse_length;
        let chord = turns.dot(turns) * inverse_length * -0.5;
        let chord = chord.max(fixed.length(simd) * -0.5);
        Self { vector, off, soon, chord, groomed }
    }
}

/// Eliminates the points from the tip.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn tip_to_root<S: Simd>(
    simd: S,
    block: &Block,
    position: &[[f32; VECTOR]],
    velocity: &[[f32; VECTOR]],
    tension: &[[f32; LANES]],
    contact: &mut [[f32; MEMORY]],
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [[f32; SCRATCH]],
    held: &mut [[f32; HELD]],
) {
    let splat = |v: f32| f32x16::splat(simd, v);
    let points = position.len();
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
    let root = Affine::load(simd, &block.root);
    let motion = Affine::load(simd, &block.motion);
    let last = f32x16::from_slice(simd, &block.last);
    let link = f32x16::from_slice(simd, &block.link);
    let (spring, damper) = (pass.style.spring, pass.style.damper);
    let (link_spring, link_both) = (link * spring, link * (spring + damper));
    let fall = Vec3x::splat(simd, pass.gravity * (pass.dt * pass.dt));

    let joint = link * (spring * BEND);

    let none = Vec3x::splat(simd, Vec3::ZERO);
    let mut carried = Symmetric::zero(simd);
    let mut push = none;
    // No closures over vectors here: the compiler may leave them out of line, without vector instructions.
    let rows = (position, velocity);
    let mut outer = Before::load(simd, &motion, rows, points - 1, pass.dt);
    let mut inner = Before::load(simd, &motion, rows, points - 2, pass.dt);
    let mut segment = Carried::new(simd, &root, &Fixed(&fixed[points - 1]), &inner, &outer);
    // Beyond the tip nothing bends.
    let (mut soon_beyond, mut joint_beyond) = (none, Joint::none(simd));
    for i in (1..points).rev() {
        let row = Fixed(&fixed[i]);
        let (mass, inverse_length) = (row.mass(simd), row.inverse_length(simd));
        let e = segment.vector * inverse_length;
        // Look at the segment before. The scalp has no joint: its pull is the style's alone, for any number of points.
        let (mut ahead, mut second, mut joint_ahead) = (segment, inner, Joint::none(simd));
        if i > 1 {
            second = Before::load(simd, &motion, rows, i - 2, pass.dt);
            let row_before = Fixed(&fixed[i - 1]);
            ahead = Carried::new(simd, &root, &row_before, &second, &inner);
            let spring = row.length(simd).min(row_before.length(simd)) * joint;
            joint_ahead = Joint::new(simd, spring, &segment, &ahead);
        }
        // Gather inertia, gravity and the style's pull to the groomed place, and what the points beyond push.
        let Before { x, shift, drift } = outer;
        let mut rhs = (drift + fall - shift) * mass
            + root.direction(row.goal(simd))
            + (root.added - x - shift) * (mass * spring)
            + push;
        // Weigh the style's pull to the groomed direction, and to the directions of its neighbours.
        let pulled = f32x16::from_slice(simd, &tension[i]).max(splat(0.0));
        let (to_ahead, to_beyond) =
            (joint_ahead.scaled(inverse_length), joint_beyond.scaled(inverse_length));
        let added = to_ahead.inertia + to_beyond.inertia;
        let stiffness = (pulled + link_both + added) * inverse_length;
        let turn = segment.off * link_spring
            + (segment.off - segment.soon) * (to_ahead.kept + to_beyond.kept)
            + (segment.soon - ahead.soon) * to_ahead.spring
            + (segment.soon - soon_beyond) * to_beyond.spring
            - to_ahead.limit
            + to_beyond.limit;
        let across = turn - e * e.dot(turn);
        let mut inertia = carried.plus_diagonal(mass * (1.0 + spring + damper));
        // Hold what lies on the body.
        if resting::any(simd, &contact[i]) {
            let points = Points { x, shift, drift, mass, inertia: last + 1.0 };
            let (memory, held) = (&mut contact[i], &mut held[i]);
            let pressed = resting::press(simd, block, i, memory, held, &points, pass, obstacles);
            inertia = inertia.plus(&pressed.inertia);
            rhs += pressed.rhs;
        }
        // Eliminate the point.
        let inverse = inertia.plus_diagonal(stiffness).inverse();
        let g = inverse.mul(e);
        let inverse_eg = splat(1.0) / e.dot(g);
        let mg = inertia.mul(g);
        let sum = rhs + across;
        let chord = segment.chord;
        push = inverse.mul(sum) * stiffness - across + mg * ((g.dot(sum) - chord) * inverse_eg);
        carried = Symmetric::product(&inverse, &inertia, stiffness, mg, inverse_eg);
        (soon_beyond, joint_beyond) = (segment.soon, joint_ahead);
        if block.ragged {
            // Nothing hangs on a tip.
            let exists = splat(i as f32).simd_le(last);
            carried = carried.only(exists);
            push = push.or(exists, none);
            joint_beyond = joint_beyond.scaled(exists.select(splat(1.0), splat(0.0)));
        }
        Left { inverse, rhs: rhs + turn, stiffness, inverse_eg, chord }.store(&mut scratch[i]);
        (outer, inner, segment) = (inner, second, ahead);
    }
}

/// Follows the leader from the root.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn root_to_tip<S: Simd>(
    simd: S,
    block: &Block,
    position: &mut [[f32; VECTOR]],
    velocity: &mut [[f32; VECTOR]],
    tension: &mut [[f32; LANES]],
    contact: &mut [[f32; MEMORY]],
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &[[f32; SCRATCH]],
    held: &[[f32; HELD]],
    next: Upcoming<'_>,
) -> Outcome {
    let splat = |v: f32| f32x16::splat(simd, v);
    let points = position.len();
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
    let lengths = &block.length.as_chunks::<LANES>().0[..points];
    let rest = &block.rest.as_chunks::<VECTOR>().0[..points];
    let carried_on = splat(pass.carried_on / pass.dt);
    let blow = Vec3x::of_row(simd, &block.wind) * splat(1.0 - pass.carried_on);
    let root = Affine::load(simd, &block.root);
    let mut outcome = Outcome::default();

    // Start at the root, which the body carries.
    let x = Vec3x::of_row(simd, &position[0]);
    let mut leader = root.point(Vec3x::of_row(simd, &rest[0]));
    let moved = leader - x;
    let motion = Affine::load(simd, &block.motion);
    let (mut x_leader, mut shift_leader) = (x, motion.point(x));
    let mut displaced = moved - shift_leader;
    (moved * splat(1.0 / pass.dt)).to_row(&mut velocity[0]);
    leader.to_row(&mut position[0]);
    let mut ahead = (Vec3x::of_row(simd, &position[1]) - x) * Fixed(&fixed[1]).inverse_length(simd);
    let mut clear = splat(0.0);
    let none = Vec3x::splat(simd, Vec3::ZERO);
    let (mut pushed, mut pushed_before) = (none, false);
    let mut near = Near::none(obstacles.colliders);
    for i in 1..points {
        next.fetch(simd, i - 1);
        if i % CHUNK == 1 && !obstacles.colliders.is_empty() {
            // Look which colliders the next few points could touch.
            let rows = i - 1..points.min(i + CHUNK);
            let (x, v, l) =
                (&position[rows.clone()], &velocity[rows.clone()], &lengths[rows.clone()]);
            // The style takes points along with the scalp.
            let first = motion.point(Vec3x::of_row(simd, &position[i]));
            let last = motion.point(Vec3x::of_row(simd, &position[points.min(i + CHUNK) - 1]));
            let reach2 = first.dot(first).max(last.dot(last)).reduce_max();
            let bounds = bounds_of(simd, x, v, l, pass, 1.25 * reach2.sqrt());
            near = near_box(simd, obstacles.colliders, obstacles.groups, &bounds);
        }
        let length = Fixed(&fixed[i]).length(simd);
        let e_scale = Fixed(&fixed[i]).inverse_length(simd);
        let x = Vec3x::of_row(simd, &position[i]);
        let shift = motion.point(x);
        let segment = (x - x_leader) + (shift - shift_leader);
        let e = segment * e_scale;
        let left = Left::load(simd, &scratch[i]);
        // Find the best place behind the leader, at right angles to the segment.
        let free = left.inverse.mul(left.rhs + displaced * left.stiffness) - displaced;
        let pull = (free.dot(e) - left.chord) * left.inverse_eg;
        let g = left.inverse.mul(e);
        let turn = free - g * pull;
        let mut way = segment + turn;
        // Follow how far pushes of the body have taken the point: that is no velocity.
        if pushed_before {
            let dragged = left.inverse.mul(pushed * left.stiffness);
            pushed = dragged - g * ((dragged - pushed).dot(e) * left.inverse_eg);
        }
        if resting::any(simd, &contact[i]) {
            resting::update(simd, &mut contact[i], &held[i], displaced + turn, pass.dt);
        }
        pull.store_slice(&mut tension[i]);
        // Project onto the length sphere (3.1), on from the segment before if there is no direction.
        let distance2 = way.dot(way);
        let lost = distance2.simd_lt(NO_DIRECTION2);
        if lost.any_true() {
            way = ahead.or(lost, way);
        }
        let mut along = way * (splat(1.0) / way.length());
        // Keep the angle with the segment before (eq. 11).
        if pass.bend.is_on() && i > 1 {
            along = unbent(simd, ahead, along, Fixed(&fixed[i]).turn(simd));
        }
        let mut p = leader + along * length;
        let mut next_displaced = displaced + (along * length - segment);

        // Points that are embedded go where the body carries them.
        if i < block.most_embedded {
            let held = splat(i as f32).simd_le(f32x16::from_slice(simd, &block.last_embedded));
            let place = root.point(Vec3x::of_row(simd, &rest[i]));
            let here = x + shift;
            next_displaced = (place - here).or(held, next_displaced);
            along = ((place - leader) * e_scale).or(held, along);
            p = place.or(held, p);
            pushed = none.or(held, pushed);
        }
        let mut moves = (next_displaced - pushed + shift) * carried_on + blow;

        // Leave the body on the length sphere.
        if !near.is_empty() || obstacles.field.is_some() {
            let mut inside = near.hold(simd, p.halves());
            if let Some(field) = obstacles.field {
                clear -= length * SLOPE;
                let (lower, upper) = simd.split_f32x16(clear);
                inside[0] |= lower.simd_lt(field.skin);
                inside[1] |= upper.simd_lt(field.skin);
            }
            if (inside[0] | inside[1]).any_true() {
                let inside = inside.map(|half| half.any_true());
                let mut here = Candidate {
                    leader,
                    before: x + pushed,
                    contact: &mut contact[i],
                    ahead,
                    along,
                    p,
                    brake: none,
                    length,
                    clear,
                };
                if here.leave_body(simd, block, i, inside, &near, obstacles, pass, &mut outcome) {
                    let push = here.p - p;
                    next_displaced += push;
                    moves += push * carried_on - here.brake;
                    (along, p) = (here.along, here.p);
                    pushed += push;
                    pushed_before = true;
                }
                clear = here.clear;
            }
        }
        moves.to_row(&mut velocity[i]);
        p.to_row(&mut position[i]);
        (leader, displaced, ahead) = (p, next_displaced, along);
        (x_leader, shift_leader) = (x, shift);
    }

    // Each point hangs on the one before: a lane that left the world, or is not a number any more,
    // ends there.
    let sane = leader.dot(leader).simd_lt(FARTHEST * FARTHEST);
    outcome.broken = !(sane.to_bitmask() as u32) & 0xffff;
    outcome
}

/// Turns segments that bend too far back to the limit, in the plane of the two: unit vectors, and the cosine of the
/// largest turn.
#[inline(always)]
fn unbent<S: Simd>(simd: S, ahead: Vec3x<S>, along: Vec3x<S>, limit: f32x16<S>) -> Vec3x<S> {
    let cosine = ahead.dot(along);
    let bent = cosine.simd_lt(limit);
    if !bent.any_true() {
        return along;
    }
    let one = f32x16::splat(simd, 1.0);
    // Straight back has no plane: take any.
    let side = Vec3x { x: ahead.y, y: ahead.z, z: ahead.x }.cross(ahead);
    let tangent = along - ahead * cosine;
    let tangent = tangent.or(tangent.dot(tangent).simd_gt(1e-8), side);
    let sine = (one - limit * limit).max(f32x16::splat(simd, 0.0)).sqrt();
    let size = tangent.length().max(f32x16::splat(simd, 1e-9));
    (ahead * limit + tangent * (sine / size)).or(bent, along)
}

/// One point of sixteen strands, before it has been held against the body.
struct Candidate<'a, S: Simd> {
    leader: Vec3x<S>,
    /// Where the points were, moved along with what the body has pushed of their leaders (m).
    before: Vec3x<S>,
    contact: &'a mut [f32; MEMORY],
    ahead: Vec3x<S>,
    along: Vec3x<S>,
    p: Vec3x<S>,
    /// What contact takes off the velocities (m/s).
    brake: Vec3x<S>,
    length: f32x16<S>,
    /// Least distances from the surface of a distance field (m).
    clear: f32x16<S>,
}

impl<S: Simd> Candidate<'_, S> {
    /// Moves the halves that are inside out of the body: says whether any has touched it. Kept out of the pass, whose registers are
    /// scarce.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn leave_body(
        &mut self,
        simd: S,
        block: &Block,
        i: usize,
        inside: [bool; 2],
        near: &Near<'_>,
        obstacles: &Obstacles<'_>,
        pass: &Pass,
        outcome: &mut Outcome,
    ) -> bool {
        simd.vectorize(
            #[inline(always)]
            || self.leave_body_in_lanes(simd, block, i, inside, near, obstacles, pass, outcome),
        )
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn leave_body_in_lanes(
        &mut self,
        simd: S,
        block: &Block,
        i: usize,
        inside: [bool; 2],
        near: &Near<'_>,
        obstacles: &Obstacles<'_>,
        pass: &Pass,
        outcome: &mut Outcome,
    ) -> bool {
        let index = f32x8::splat(simd, i as f32);
        let (leader, ahead) = (self.leader.halves(), self.ahead.halves());
        let before = self.before.halves();
        let (mut along, mut p) = (self.along.halves(), self.p.halves());
        let mut brake = self.brake.halves();
        let length = <[_; 2]>::from(simd.split_f32x16(self.length));
        let mut clear = <[_; 2]>::from(simd.split_f32x16(self.clear));
        let mut allowed = [f32x8::splat(simd, 0.0); 2];
        if block.began_inside && pass.still_inside > 0.0 {
            let row = &block.depth.as_chunks::<LANES>().0[i];
            allowed = [0, 1].map(|half| half_row(simd, row, half) * pass.still_inside);
        }
        let mut touched = false;
        let masses = &block.fixed.as_chunks::<LANES>().0[i * (FIXED / LANES) + 6];
        for half in (0..2).filter(|&half| inside[half]) {
            let active = index.simd_le(half_row(simd, &block.last, half))
                & index.simd_gt(half_row(simd, &block.last_embedded, half));
            let before = before[half];
            let mut segment = Segment {
                parent: leader[half],
                ahead: ahead[half],
                along: along[half],
                length: length[half],
                clear: clear[half],
                allowed: allowed[half],
            };
            let contact = leave_body(simd, near, obstacles, active, &mut segment, before, pass);
            clear[half] = segment.clear;
            outcome.unresolved += contact.unresolved;
            if contact.touched {
                touched = true;
                // Hold the points from the next step on.
                for lane in Bits(contact.depth.simd_gt(0.0).to_bitmask() & active.to_bitmask()) {
                    for what in contact.touched_what.map(|what| what[lane]) {
                        if what != NOTHING {
                            let lane = half * HALF + lane;
                            let force = masses[lane] * contact.depth[lane % HALF];
                            resting::remember(self.contact, lane, what, force);
                        }
                    }
                }
                // Lanes that are pinned stay.
                p[half] = segment.end().or(active, p[half]);
                along[half] = segment.along.or(active, along[half]);
                brake[half] = contact.brake.or(active, brake[half]);
            }
        }
        self.clear = simd.combine_f32x8(clear[0], clear[1]);
        (self.along, self.p, self.brake) =
            (Vec3x::of_halves(along), Vec3x::of_halves(p), Vec3x::of_halves(brake));
        touched
    }
}
