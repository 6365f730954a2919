//! The two passes of a strand that is held at its root (`muller2012` 3.4, made implicit): tip to root, which
//! gathers what every point carries, then root to tip, in which every point follows its leader.
//!
//! Model: one step of backward Euler. With `a_i` the displacement of point i from where the scalp's rigid
//! motion takes it, `b_i = a_i - a_(i-1)` and `e_i` the direction of its segment, the step minimises
//!
//! ```text
//! sum of  m_i/2 |a_i - y_i|^2  +  k_i/2 |b_i - t_i|^2  +  U(b_i, b_(i-1))      where  e_i . b_i = c_i
//! ```
//!
//! `m_i` and `y_i` are inertia with gravity, dead load, the style's spring to the groomed place and its damper;
//! `k_i` and `t_i` the style's spring to the groomed direction, as the segment's frame has it (`frames.rs`), and its
//! damper, and the geometric stiffness `tension / length` of the last step; `U` the bending limit between two segments
//! (`joint.rs`). The constraint keeps the length; `c_i` is its centripetal part, the square of the turn that the
//! velocities make in the step.
//!
//! So a segment has two unknowns, its turn `b_i = c_i e_i + l_i P_i t_i` in a basis `P_i` of the plane across it, and
//! all that hangs on point i is a quadratic in its displacement and the turn of its segment ([`Beyond`]).
//! Eliminating the turns from the tip (Schur complement of the block tridiagonal system) costs one 2x2 inverse a point:
//!
//! ```text
//! X = l M P + C,  H = l P^T (X + C) + D + l^2 k + U_ii,  J = -U_i(i-1)      M = W + m
//! W' = M - X H^-1 X^T,   C' = X H^-1 J,   D' = U_(i-1)(i-1) - J^T H^-1 J
//! ```
//!
//! and the pass from root to tip gives the turn of each segment once its leader has been placed. Follow-The-Leader's
//! projection (3.1) then takes off what the linear constraint leaves of the length. Joints that the limit cannot
//! hold are straightened (eq. 11), and collision acts in the projection, on the length sphere: both move a point and
//! all that hangs on it, but are no velocity (collision to the point itself). Hair that lies on the body is held in the first
//! pass (`resting.rs`); where hair has come upon the body, the step is solved again with that contact, until little is
//! left for the push on the length sphere.
//!
//! **Stability.** All terms are convex quadratics that are nowhere below the potentials they stand for (tensions below
//! zero count as zero), so a step never adds energy to a chain on a head that stands still but by the projection's
//! remainder, for any step, any segments, any masses and any curvature: the minimised sum at the new state is at most
//! its value at `b = 0` (`energy_tests.rs` measures it, contact included). The one-way
//! pass has no such bound: its reaction (eq. 9) is one step late, `d_i(t) = c - r d_i(t-1)` where hair bends by
//! an angle `w`, with `r = m_i / m_(i-1) sin^2 w`, and its tensions pull along directions of the last step,
//! with `tension dt^2 / (m_i l_(i+1)) < 4` needed. Both fail where a segment is much longer than the one before.
//!
//! Deviations: the paper moves points geometrically in its backward pass, and corrects velocities by eq. 9 for
//! the masses that a one-way projection hides. Here no mass is hidden: the reactions are in the matrices. The
//! scale `s` is the mass per length at the tip ([`Settings::correction`](super::Settings::correction)).

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8, f32x16, mask32x16};
use glam::Vec3;

use super::Pass;
use super::block::{Block, FIXED, Outcome, Rows, Upcoming};
use super::collider::Obstacles;
use super::contact::{NOTHING, SLOPE, Segment, leave_body};
use super::frames::{FOLLOW, FRAME, Sweep};
use super::joint::{JOINT, Joint, LaneLimit};
use super::near::{Bits, Near, near_box};
use super::one_way::{CHUNK, FARTHEST, bounds_of};
use super::resting::{self, HELD, MEMORY, Points};
use super::state::{STATE, State};
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x, half_row};
use crate::math::symmetric::Symmetric;
use crate::math::tangent::{Columns, Matrix2, Symmetric2, Vec2x};

/// Numbers that the first pass leaves a point for the second ([`Left`]).
pub(super) const SCRATCH: usize = 20 * LANES;

/// Least squared length (m^2) of a way that still has a direction.
const NO_DIRECTION2: f32 = 1e-24;

/// Most solves of a step in which hair comes upon the body: each leaves a fifth of what contact has to take
/// (`resting.rs`).
pub(super) const MAX_SOLVES: usize = 5;

/// Depth below the surface, by the length of a segment, that the push out of the body may take on its own: a turn of one
/// degree. Where more is left, the step is solved again.
pub(super) const MAX_LEFT: f32 = 0.02;

/// Difference of cosines beyond the bending limit that is more than rounding.
pub(super) const BENT: f32 = 1e-3;

/// Room for one row of a block besides its state: what the first pass leaves the second, contacts, and the state at the
/// start of the step and after a first solve.
pub(super) const ROOM: usize = SCRATCH + HELD + 2 * STATE;

/// Advances a block by one step. `room` has [`ROOM`] for every point.
#[inline(always)]
pub(super) fn step_block<S: Simd>(
    simd: S,
    block: &Block,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    room: &mut [f32],
    next: Upcoming<'_>,
) -> Outcome {
    let points = block.points;
    let mut state = State {
        position: &mut rows.position.as_chunks_mut().0[..points],
        velocity: &mut rows.velocity.as_chunks_mut().0[..points],
        tension: &mut rows.tension.as_chunks_mut().0[..points],
        contact: &mut rows.contact.as_chunks_mut().0[..points],
    };
    let (scratch, room) = room[..points * ROOM].split_at_mut(points * SCRATCH);
    let (held, room) = room.split_at_mut(points * HELD);
    let (start, first) = room.split_at_mut(points * STATE);
    let scratch = scratch.as_chunks_mut::<SCRATCH>().0;
    let held = held.as_chunks_mut::<HELD>().0;
    let frame = &mut rows.frame.as_chunks_mut::<FRAME>().0[..points];
    let mut start = State::in_room(start, points);
    start.copy_motion(&state);
    for (to, from) in start.contact.iter_mut().zip(&*state.contact) {
        resting::copy(simd, to, from);
    }
    tip_to_root(simd, block, &mut state, frame, None, pass, obstacles, scratch, held, next);
    let mut outcome = root_to_tip(simd, block, &mut state, pass, obstacles, scratch, held, next);
    let next = Upcoming::default();
    // Where hair has come upon the body, solve the step again, now that it is known where: the whole strand takes the
    // impact. The other lanes keep what they have.
    let mut first = State::in_room(first, points);
    for round in 1..MAX_SOLVES {
        if outcome.impact == 0 {
            break;
        }
        first.copy_motion(&state);
        first.contact.copy_from_slice(state.contact);
        state.copy_motion(&start);
        if round == 1 {
            for (found, start) in state.contact.iter_mut().zip(&*start.contact) {
                resting::start_again(found, start, outcome.impact);
            }
        }
        let found = Some(&*first.position);
        tip_to_root(simd, block, &mut state, frame, found, pass, obstacles, scratch, held, next);
        let again = root_to_tip(simd, block, &mut state, pass, obstacles, scratch, held, next);
        state.keep_first(&first, outcome.impact);
        outcome = Outcome {
            broken: outcome.broken | again.broken,
            impact: outcome.impact & again.impact,
            ..again
        };
    }
    outcome
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

    /// Times the transpose: back, if it is a rotation.
    #[inline(always)]
    fn direction_back(&self, v: Vec3x<S>) -> Vec3x<S> {
        let [x, y, z] = self.columns;
        Vec3x { x: x.dot(v), y: y.dot(v), z: z.dot(v) }
    }

    #[inline(always)]
    fn point(&self, p: Vec3x<S>) -> Vec3x<S> {
        self.direction(p) + self.added
    }
}

/// One row of [`Block::fixed`].
struct Fixed<'a>(&'a [f32; FIXED]);

impl<'a> Fixed<'a> {
    #[inline(always)]
    fn row(&self, k: usize) -> &'a [f32; LANES] {
        &self.0.as_chunks::<LANES>().0[k]
    }

    #[inline(always)]
    fn number<S: Simd>(&self, simd: S, k: usize) -> f32x16<S> {
        f32x16::from_slice(simd, self.row(k))
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

    /// The style's own bending limit.
    #[inline(always)]
    fn limit<S: Simd>(&self, simd: S) -> LaneLimit<S> {
        LaneLimit { start: self.number(simd, 10), stiffness: self.number(simd, 11) }
    }
}

/// What the first pass leaves a point for the second: its segment turns by `turn - by_leader^T a`, where its leader is
/// displaced by `a`, and by what a [joint](Joined) adds.
struct Left<S: Simd> {
    turn: Vec2x<S>,
    by_leader: Columns<S>,
    /// What the turn takes off along the segment, to second order (m).
    chord: f32x16<S>,
    /// The pull in the segment, if nothing moves; what a displacement of the point takes off.
    pull: f32x16<S>,
    by_place: Vec3x<S>,
}

impl<S: Simd> Left<S> {
    #[inline(always)]
    fn store(&self, row: &mut [f32; SCRATCH]) {
        let row = row.as_chunks_mut::<LANES>().0;
        // One by one: as a loop over an array the numbers would go through memory twice.
        self.turn.x.store_slice(&mut row[0]);
        self.turn.y.store_slice(&mut row[1]);
        self.by_leader.x.x.store_slice(&mut row[2]);
        self.by_leader.x.y.store_slice(&mut row[3]);
        self.by_leader.x.z.store_slice(&mut row[4]);
        self.by_leader.y.x.store_slice(&mut row[5]);
        self.by_leader.y.y.store_slice(&mut row[6]);
        self.by_leader.y.z.store_slice(&mut row[7]);
        self.chord.store_slice(&mut row[8]);
        self.pull.store_slice(&mut row[9]);
        self.by_place.x.store_slice(&mut row[10]);
        self.by_place.y.store_slice(&mut row[11]);
        self.by_place.z.store_slice(&mut row[12]);
    }

    #[inline(always)]
    fn load(simd: S, row: &[f32; SCRATCH]) -> Self {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        Self {
            turn: Vec2x { x: n(0), y: n(1) },
            by_leader: Columns {
                x: Vec3x { x: n(2), y: n(3), z: n(4) },
                y: Vec3x { x: n(5), y: n(6), z: n(7) },
            },
            chord: n(8),
            pull: n(9),
            by_place: Vec3x { x: n(10), y: n(11), z: n(12) },
        }
    }
}

/// What joints add to what the first pass leaves: in rows where the bending limit is far from all lanes, nothing.
struct Joined;

impl Joined {
    /// Whether the joint before the segment acts, and the one beyond it.
    #[inline(always)]
    fn store_flags(row: &mut [f32; SCRATCH], before: bool, beyond: bool) {
        row[19 * LANES] = f32::from(before);
        row[19 * LANES + 1] = f32::from(beyond);
    }

    /// By how much the segment turns with that of its leader.
    #[inline(always)]
    fn store_turn<S: Simd>(row: &mut [f32; SCRATCH], by_turn: &Matrix2<S>) {
        let row = row.as_chunks_mut::<LANES>().0;
        by_turn.x.x.store_slice(&mut row[13]);
        by_turn.x.y.store_slice(&mut row[14]);
        by_turn.y.x.store_slice(&mut row[15]);
        by_turn.y.y.store_slice(&mut row[16]);
    }

    /// What a turn of the segment takes off its pull.
    #[inline(always)]
    fn store_cross<S: Simd>(row: &mut [f32; SCRATCH], by_cross: Vec2x<S>) {
        let row = row.as_chunks_mut::<LANES>().0;
        by_cross.x.store_slice(&mut row[17]);
        by_cross.y.store_slice(&mut row[18]);
    }

    #[inline(always)]
    fn load_turn<S: Simd>(simd: S, row: &[f32; SCRATCH]) -> Option<Matrix2<S>> {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        (row[19 * LANES] > 0.0).then(
            #[inline(always)]
            || Matrix2 { x: Vec2x { x: n(13), y: n(14) }, y: Vec2x { x: n(15), y: n(16) } },
        )
    }

    #[inline(always)]
    fn load_cross<S: Simd>(simd: S, row: &[f32; SCRATCH]) -> Option<Vec2x<S>> {
        let n = |k: usize| f32x16::from_slice(simd, &row.as_chunks::<LANES>().0[k]);
        (row[19 * LANES + 1] > 0.0).then(
            #[inline(always)]
            || Vec2x { x: n(17), y: n(18) },
        )
    }
}

/// All that hangs on a point, once it has been eliminated: a quadratic in the displacement `a` of the point and the turn
/// `t` of its segment, `a.W a / 2 + a.C t + t.D t / 2 - w.a - d.t`.
struct Beyond<S: Simd> {
    inertia: Symmetric<S>,
    push: Vec3x<S>,
    /// Whether a joint acts on the segment; if not, the rest says nothing.
    joined: bool,
    cross: Columns<S>,
    stiffness: Symmetric2<S>,
    turn: Vec2x<S>,
}

impl<S: Simd> Beyond<S> {
    /// Nothing hangs on a tip.
    #[inline(always)]
    fn nothing(simd: S) -> Self {
        let none = Vec3x::splat(simd, Vec3::ZERO);
        Self {
            inertia: Symmetric::zero(simd),
            push: none,
            joined: false,
            cross: Columns { x: none, y: none },
            stiffness: Symmetric2::zero(simd),
            turn: Vec2x::zero(simd),
        }
    }

    /// Leaves nothing where the mask is not set.
    #[inline(always)]
    fn keep_only(&mut self, simd: S, mask: mask32x16<S>) {
        self.inertia = self.inertia.only(mask);
        self.push = self.push.or(mask, Vec3x::splat(simd, Vec3::ZERO));
        if self.joined {
            self.cross = self.cross.only(mask);
            self.stiffness = self.stiffness.only(mask);
            self.turn = self.turn.or(mask, Vec2x::zero(simd));
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
    /// Its direction, and two unit vectors at right angles to it.
    pub(super) along: Vec3x<S>,
    pub(super) tangents: Columns<S>,
    /// How far its direction will turn in the step by the velocities.
    pub(super) turns: Vec3x<S>,
    /// What that turn takes off along it, to second order, by its length: the centripetal part of the constraint.
    pub(super) shrinks: f32x16<S>,
}

impl<S: Simd> Carried<S> {
    #[inline(always)]
    fn new(simd: S, fixed: &Fixed<'_>, inner: &Before<S>, outer: &Before<S>) -> Self {
        let inverse_length = fixed.inverse_length(simd);
        let carried = outer.shift - inner.shift;
        let along = ((outer.x - inner.x) + carried) * inverse_length;
        let turns = ((outer.drift - inner.drift) - carried) * inverse_length;
        let shrinks = (turns.dot(turns) * -0.5).max(f32x16::splat(simd, -0.5));
        Self { along, tangents: Columns::tangents(along), turns, shrinks }
    }
}

/// Eliminates the points from the tip. `found` is where a first solve has brought them.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn tip_to_root<S: Simd>(
    simd: S,
    block: &Block,
    state: &mut State<'_>,
    frame: &mut [[f32; FRAME]],
    found: Option<&[[f32; VECTOR]]>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [[f32; SCRATCH]],
    held: &mut [[f32; HELD]],
    next: Upcoming<'_>,
) {
    let splat = |v: f32| f32x16::splat(simd, v);
    let State { position, velocity, tension, contact } = state;
    let (position, velocity) = (&**position, &**velocity);
    let points = position.len();
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
    let root = Affine::load(simd, &block.root);
    let motion = Affine::load(simd, &block.motion);
    let last = f32x16::from_slice(simd, &block.last);
    let link = f32x16::from_slice(simd, &block.link);
    let (spring, damper) = (pass.style.spring, pass.style.damper);
    let (link_spring, link_both) = (link * (spring * FOLLOW), link * (spring * FOLLOW + damper));
    let fall = Vec3x::splat(simd, pass.gravity * (pass.dt * pass.dt));

    let joint_scale = link * (spring * JOINT);

    let mut beyond = Beyond::nothing(simd);
    // No closures over vectors here: the compiler may leave them out of line, without vector instructions.
    let rows = (position, velocity);
    let mut outer = Before::load(simd, &motion, rows, points - 1, pass.dt);
    let mut inner = Before::load(simd, &motion, rows, points - 2, pass.dt);
    let mut segment = Carried::new(simd, &Fixed(&fixed[points - 1]), &inner, &outer);
    let mut sweep = Sweep::new(simd, frame, fixed, found.is_none() && spring > 0.0);
    for i in (1..points).rev() {
        next.fetch_state(simd, points - 1 - i);
        let row = Fixed(&fixed[i]);
        let (mass, length) = (row.mass(simd), row.length(simd));
        // Gather inertia, gravity and the style's pull to the groomed place, and what the points beyond push.
        let Before { x, shift, drift } = outer;
        let mut rhs = (drift + fall - shift) * mass
            + root.direction(row.goal(simd))
            + (root.added - x - shift) * (mass * spring)
            + beyond.push;
        let mut inertia = beyond.inertia.plus_diagonal(mass * (1.0 + spring + damper));
        // Hold what lies on the body.
        if resting::any(simd, &contact[i]) {
            let points = Points { x, shift, drift, mass, inertia: last + 1.0 };
            let (memory, held) = (&mut contact[i], &mut held[i]);
            let pressed = resting::press(simd, block, i, memory, held, &points, pass, obstacles);
            inertia = inertia.plus(&pressed.inertia);
            rhs += pressed.rhs;
        }
        // Put the turn of the segment in the place of its outer end, with the style's pull to the groomed direction.
        let e = segment.along;
        let lever = segment.tangents.scaled(length);
        let pulled = f32x16::from_slice(simd, &tension[i]).max(splat(0.0));
        let held_straight = (pulled + link_both) * length;
        let mut by_leader = Columns { x: inertia.mul(lever.x), y: inertia.mul(lever.y) };
        let mut stiffness = Symmetric2 {
            xx: lever.x.dot(by_leader.x) + held_straight,
            xy: lever.x.dot(by_leader.y),
            yy: lever.y.dot(by_leader.y) + held_straight,
        };
        let soon = root.direction_back(e + segment.turns);
        let further = splat(i as f32).simd_lt(last);
        let groomed = sweep.direction(simd, frame, fixed, i, soon, further);
        let off = root.direction(groomed) - e;
        let mut turn = lever.dot(rhs + off * link_spring);
        let (joined, cross) = (beyond.joined, beyond.cross);
        if joined {
            // A joint holds the segment beyond.
            let held = &beyond.stiffness;
            stiffness = Symmetric2 {
                xx: stiffness.xx + lever.x.dot(cross.x) * 2.0 + held.xx,
                xy: stiffness.xy + lever.x.dot(cross.y) + lever.y.dot(cross.x) + held.xy,
                yy: stiffness.yy + lever.y.dot(cross.y) * 2.0 + held.yy,
            };
            by_leader = Columns { x: by_leader.x + cross.x, y: by_leader.y + cross.y };
            turn += beyond.turn;
        }
        // Look at the segment before. The scalp has no joint: its pull is the style's alone, for any number of points.
        let (mut ahead, mut second, mut joint) = (segment, inner, None);
        if i > 1 {
            second = Before::load(simd, &motion, rows, i - 2, pass.dt);
            let row_before = Fixed(&fixed[i - 1]);
            ahead = Carried::new(simd, &row_before, &second, &inner);
            let k = length.min(row_before.length(simd)) * joint_scale;
            let mut closes = splat(0.0) - e.dot(ahead.turns) - ahead.along.dot(segment.turns);
            if let Some(found) = found {
                let [a, b, c] = [i, i - 1, i - 2].map(|i| Vec3x::of_row(simd, &found[i]));
                let scale = row.inverse_length(simd) * row_before.inverse_length(simd);
                closes = e.dot(ahead.along) - (a - b).dot(b - c) * scale;
            }
            joint = Joint::new(simd, k, &row.limit(simd), &segment, &ahead, closes);
        }
        if let Some(joint) = &joint {
            stiffness = stiffness.plus(&joint.outer);
            turn += joint.turn_outer;
        }
        // Eliminate the turn (Schur complement).
        let inverse = stiffness.inverse();
        let turned = inverse.mul(turn);
        let weighed = Columns {
            x: by_leader.x * inverse.xx + by_leader.y * inverse.xy,
            y: by_leader.x * inverse.xy + by_leader.y * inverse.yy,
        };
        let chord = segment.shrinks * length;
        let (pull, by_place) = (e.dot(rhs), inertia.mul(e));
        let left = &mut scratch[i];
        Left { turn: turned, by_leader: weighed, chord, pull, by_place }.store(left);
        let centripetal = e * chord;
        beyond.inertia = inertia.minus_product(&weighed, &by_leader);
        beyond.push = rhs - by_leader.mul(turned) - beyond.inertia.mul(centripetal);
        beyond.joined = joint.is_some();
        Joined::store_flags(left, joint.is_some(), joined);
        if joined {
            Joined::store_cross(left, cross.dot(e));
        }
        if let Some(Joint { cross: by_turn, inner, turn_inner, .. }) = joint {
            let coupled = Matrix2 { x: inverse.mul(by_turn.x), y: inverse.mul(by_turn.y) };
            Joined::store_turn(left, &coupled);
            beyond.cross = weighed.after(&by_turn);
            beyond.stiffness = inner.minus(&Symmetric2::product(&by_turn, &coupled));
            beyond.turn =
                turn_inner + by_turn.transposed_mul(turned) - beyond.cross.dot(centripetal);
        }
        if block.ragged {
            // Nothing hangs on a tip.
            beyond.keep_only(simd, splat(i as f32).simd_le(last));
        }
        (outer, inner, segment) = (inner, second, ahead);
    }
}

/// Follows the leader from the root.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn root_to_tip<S: Simd>(
    simd: S,
    block: &Block,
    state: &mut State<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &[[f32; SCRATCH]],
    held: &[[f32; HELD]],
    next: Upcoming<'_>,
) -> Outcome {
    let splat = |v: f32| f32x16::splat(simd, v);
    let State { position, velocity, tension, contact } = state;
    let points = position.len();
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
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
    let (mut turn_leader, mut turn_pushed_leader) = (Vec2x::zero(simd), Vec2x::zero(simd));
    let mut near = Near::none(obstacles.colliders);
    for i in 1..points {
        next.fetch_fixed(simd, i - 1);
        if i % CHUNK == 1 && !obstacles.colliders.is_empty() {
            // Look which colliders the next few points could touch.
            let rows = i - 1..points.min(i + CHUNK);
            let (x, v, l) = (&position[rows.clone()], &velocity[rows.clone()], &fixed[rows]);
            // The style takes points along with the scalp.
            let first = motion.point(Vec3x::of_row(simd, &position[i]));
            let last = motion.point(Vec3x::of_row(simd, &position[points.min(i + CHUNK) - 1]));
            let reach2 = first.dot(first).max(last.dot(last)).reduce_max();
            let bounds = bounds_of(simd, x, v, |i| Fixed(&l[i]).row(7), pass, 1.25 * reach2.sqrt());
            near = near_box(simd, obstacles.colliders, obstacles.groups, &bounds);
        }
        let length = Fixed(&fixed[i]).length(simd);
        let e_scale = Fixed(&fixed[i]).inverse_length(simd);
        let x = Vec3x::of_row(simd, &position[i]);
        let shift = motion.point(x);
        let segment = (x - x_leader) + (shift - shift_leader);
        let e = segment * e_scale;
        let left = Left::load(simd, &scratch[i]);
        let limit = if i > 1 { Fixed(&fixed[i]).turn(simd) } else { splat(-1.0) };
        let tangents = Columns::tangents(e);
        // Find the best turn behind the leader.
        let behind = displaced + e * left.chord;
        let mut turn = left.turn - left.by_leader.dot(behind);
        let by_turn = Joined::load_turn(simd, &scratch[i]);
        if let Some(by_turn) = &by_turn {
            turn += by_turn.mul(turn_leader);
        }
        let across = tangents.mul(turn) * length;
        let mut way = segment + e * left.chord + across;
        // Follow how far pushes of the body have taken the point: that is no velocity.
        let mut turn_pushed = Vec2x::zero(simd);
        if pushed_before {
            turn_pushed = turn_pushed - left.by_leader.dot(pushed);
            if let Some(by_turn) = &by_turn {
                turn_pushed += by_turn.mul(turn_pushed_leader);
            }
            pushed += tangents.mul(turn_pushed) * length;
        }
        let place = behind + across;
        if resting::any(simd, &contact[i]) {
            resting::update(simd, &mut contact[i], &held[i], place, pass.dt);
        }
        let mut slack = left.by_place.dot(place);
        if let Some(by_cross) = Joined::load_cross(simd, &scratch[i]) {
            slack += by_cross.x * turn.x + by_cross.y * turn.y;
        }
        (left.pull - slack).store_slice(&mut tension[i]);
        // Project onto the length sphere (3.1), on from the segment before if there is no direction.
        let distance2 = way.dot(way);
        let lost = distance2.simd_lt(NO_DIRECTION2);
        if lost.any_true() {
            way = ahead.or(lost, way);
        }
        let mut along = way * (splat(1.0) / way.length());
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

        // Points that are embedded go where the body carries them.
        if i < block.most_embedded {
            let held = splat(i as f32).simd_le(f32x16::from_slice(simd, &block.last_embedded));
            let place = root.point(Vec3x::of_row(simd, &rest[i]));
            let here = x + shift;
            next_displaced = (place - here).or(held, next_displaced);
            along = ((place - leader) * e_scale).or(held, along);
            p = place.or(held, p);
            pushed = none.or(held, pushed);
            turn_pushed = Vec2x::zero(simd).or(held, turn_pushed);
        }
        let mut moves = (next_displaced - pushed + shift) * carried_on + blow;

        // Leave the body on the length sphere.
        if !near.is_empty() || obstacles.field.is_some() {
            let mut inside = near.hold_row(simd, p);
            if let Some(field) = obstacles.field {
                clear -= length * SLOPE;
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
        moves.to_row(&mut velocity[i]);
        p.to_row(&mut position[i]);
        // What has come in between turns the segment, too.
        turn += tangents.dot(along - along_free);
        (turn_leader, turn_pushed_leader) = (turn, turn_pushed);
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
    /// Cosine of the largest turn against the segment before.
    limit: f32x16<S>,
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
        let limit = <[_; 2]>::from(simd.split_f32x16(self.limit));
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
                limit: limit[half],
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
                            let new = resting::remember(self.contact, lane, what, force);
                            let deep =
                                contact.depth[lane % HALF] > MAX_LEFT * length[half][lane % HALF];
                            outcome.impact |= u32::from(new || deep) << lane;
                        }
                    }
                }
                // What contact has bent beyond the limit has to give way as a whole, too.
                let bent = segment.along.dot(ahead[half]).simd_lt(limit[half] - BENT) & active;
                outcome.impact |= (bent.to_bitmask() as u32) << (half * HALF);
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
