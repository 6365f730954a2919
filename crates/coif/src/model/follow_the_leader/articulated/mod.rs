//! The two passes of a strand that is pinned at its root (`muller2012` 3.4, made implicit): tip to root, which
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
//! projection (3.1) then removes the residual of the linear constraint. Joints that the limit cannot
//! hold are straightened (eq. 11), and collision acts in the projection, on the length sphere: both move a point and
//! all that hangs on it without adding velocity (collision changes that of the point only). Resting contact is part of the
//! first pass (`resting.rs`); after a new collision the step is solved again with that contact, and with the joints
//! that it has bent, until the push on the length sphere is small ([`MAX_LEFT`]).
//!
//! Stability: all terms are convex quadratics that are nowhere below the potentials they stand for (tensions below zero
//! count as zero), so on a head at rest a step adds no energy beyond the residual of the projection, for any step, any
//! segments, any masses and any curvature: the minimised sum at the new state is at most its value at `b = 0`
//! (`energy_tests.rs` measures it, contact included). The one-way pass has no such bound: its reaction (eq. 9) is one
//! step late, `d_i(t) = c - r d_i(t-1)` where hair bends by an angle `w`, with `r = m_i / m_(i-1) sin^2 w`, and its
//! tensions pull along directions of the last step, with `tension dt^2 / (m_i l_(i+1)) < 4` needed. Both fail where a
//! segment is much longer than the one before.
//!
//! Deviations: the paper moves points geometrically in its backward pass, and corrects velocities by eq. 9 for
//! the masses that a one-way projection hides. Here no mass is hidden: the reactions are in the matrices. The
//! scale `s` is the mass per length at the tip ([`Settings::correction`](super::Settings::correction)).

mod back_substitution;
mod candidate;
mod free_root;
mod root_to_tip;
mod tip_to_root;

use fearless_simd::{Simd, SimdBase, f32x16};

use self::root_to_tip::root_to_tip;
use self::tip_to_root::{From, tip_to_root};
use super::Pass;
use super::block::{Block, FIXED, Outcome, Rows, Upcoming};
use super::collider::Obstacles;
use super::frames::FRAME;
use super::joint::LaneLimit;
use super::resting::{self, TERMS};
use super::state::{STATE, State};
use crate::environment::FieldObstacle;
use crate::math::lanes::{VECTOR, Vec3x};
use crate::math::tangent::Columns;
use crate::math::{Bits, LANES};

/// Numbers that the first pass leaves a point for the second ([`BackSubstitution`]).
pub(super) const SCRATCH: usize = 20 * LANES;

/// Least squared length (m^2) of a vector with a defined direction.
const NO_DIRECTION2: f32 = 1e-24;

/// Maximum number of solves in a step with new collisions: each leaves a fifth of the contact force to the next
/// (`resting.rs`).
pub(super) const MAX_SOLVES: usize = 5;

/// Depth below the surface, by the length of a segment, that the push out of the body may remove without another solve:
/// a turn of one degree.
pub(super) const MAX_LEFT: f32 = 0.02;

/// Difference of cosines beyond the bending limit that exceeds rounding.
pub(super) const BENT: f32 = 1e-3;

/// Numbers per point of a block besides its state: results of the first pass, contacts, and the state at the
/// start of the step and after a first solve.
pub(super) const ROOM: usize = SCRATCH + TERMS + 2 * STATE;

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
    let (terms, room) = room.split_at_mut(points * TERMS);
    let (start, first) = room.split_at_mut(points * STATE);
    let scratch = scratch.as_chunks_mut::<SCRATCH>().0;
    let terms = terms.as_chunks_mut::<TERMS>().0;
    let frame = &mut rows.frame.as_chunks_mut::<FRAME>().0[..points];
    let mut start = State::in_room(start, points);
    let from = From::Start(&mut start);
    tip_to_root(simd, block, &mut state, frame, from, pass, obstacles, scratch, terms, next);
    let mut outcome = root_to_tip(simd, block, &mut state, pass, obstacles, scratch, terms, next);
    let next = Upcoming::default();
    // Solve the step again with the new contacts where there are any, so that the whole strand takes the impact.
    // The other lanes keep their results.
    let mut first = State::in_room(first, points);
    for round in 1..MAX_SOLVES {
        if outcome.impact == 0 {
            break;
        }
        first.copy(simd, &state);
        state.copy_motion(&start);
        if round == 1 {
            for (found, start) in state.contact.iter_mut().zip(&*start.contact) {
                if resting::any(simd, found) || resting::any(simd, start) {
                    resting::start_again(found, start, outcome.impact);
                }
            }
        }
        let from = From::Found(first.position);
        tip_to_root(simd, block, &mut state, frame, from, pass, obstacles, scratch, terms, next);
        let again = root_to_tip(simd, block, &mut state, pass, obstacles, scratch, terms, next);
        state.keep_first(simd, &first, outcome.impact);
        for lane in Bits(outcome.impact.into()) {
            outcome.moved[lane] = again.moved[lane];
        }
        outcome = Outcome {
            broken: outcome.broken | again.broken,
            impact: outcome.impact & again.impact,
            moved: outcome.moved,
            ..again
        };
    }
    let of_fields = obstacles.field.into_iter().flat_map(FieldObstacle::all);
    let of_field = of_fields.map(|field| field.restitution).fold(0.0, f32::max);
    if pass.restitution.max(of_field) > 0.0 {
        for i in usize::from(!pass.is_free())..points {
            if resting::any(simd, &state.contact[i]) {
                let row = f32x16::splat(simd, i as f32);
                let free = row.simd_gt(f32x16::from_slice(simd, &block.last_embedded))
                    & row.simd_le(f32x16::from_slice(simd, &block.last));
                let [x, before] =
                    [&start.position[i], &start.velocity[i]].map(|row| Vec3x::of_row(simd, row));
                let (memory, velocity) = (&state.contact[i], &mut state.velocity[i]);
                resting::rebound(simd, memory, x, before, velocity, free, pass, obstacles);
            }
        }
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

    /// Times the transpose, the inverse of a rotation.
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

/// A point before the step.
#[derive(Clone, Copy)]
struct Before<S: Simd> {
    /// Position (m).
    x: Vec3x<S>,
    /// Displacement by the scalp's motion (m).
    shift: Vec3x<S>,
    /// Displacement by its velocity (m).
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
    /// Change of its direction in the step by the velocities.
    pub(super) turns: Vec3x<S>,
    /// Shortening along it by that turn, to second order, by its length: the centripetal part of the constraint.
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
