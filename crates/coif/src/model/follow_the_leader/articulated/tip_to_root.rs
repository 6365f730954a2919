//! The pass from tip to root: eliminates the turns of the segments, one after the other (Schur complement).

use fearless_simd::{Simd, SimdBase, f32x16, mask32x16};
use glam::Vec3;

use super::back_substitution::{BackSubstitution, Joined};
use super::free_root::FreeRoot;
use super::{Affine, Before, Carried, Fixed, SCRATCH};
use crate::math::lanes::{VECTOR, Vec3x};
use crate::math::symmetric::Symmetric;
use crate::math::tangent::{Columns, Matrix2, Symmetric2, Vec2x};
use crate::model::follow_the_leader::Pass;
use crate::model::follow_the_leader::block::{Block, FIXED, Upcoming};
use crate::model::follow_the_leader::collider::Obstacles;
use crate::model::follow_the_leader::frames::{FOLLOW, FRAME, Sweep};
use crate::model::follow_the_leader::joint::{JOINT, Joint};
use crate::model::follow_the_leader::resting::{self, Points, TERMS};
use crate::model::follow_the_leader::state::State;

/// All that hangs on a point, with its turns eliminated: a quadratic in the displacement `a` of the point and the turn
/// `t` of its segment, `a.W a / 2 + a.C t + t.D t / 2 - w.a - d.t`.
struct Beyond<S: Simd> {
    inertia: Symmetric<S>,
    push: Vec3x<S>,
    /// Whether a joint acts on the segment; if not, the fields below are unused.
    joined: bool,
    cross: Columns<S>,
    stiffness: Symmetric2<S>,
    turn: Vec2x<S>,
}

impl<S: Simd> Beyond<S> {
    /// For a tip.
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

    /// Sets it to zero where the mask is not set.
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

/// The style's stiffnesses for a row of points.
struct Style<S: Simd> {
    /// To the groomed place, by mass.
    spring: f32x16<S>,
    /// By mass: inertia, spring, damper and the drag of settled hair.
    own: f32x16<S>,
    /// To the groomed direction: of the spring, and with the damper.
    direction_spring: f32x16<S>,
    direction_both: f32x16<S>,
    /// Of the joint before the segment, by the length of the shorter one.
    joint: f32x16<S>,
}

impl<S: Simd> Style<S> {
    /// `link` is that of [`RestShape`](crate::model::follow_the_leader::style::RestShape), `drag` that of settled hair.
    #[inline(always)]
    fn new(spring: f32x16<S>, damper: f32x16<S>, link: f32x16<S>, drag: f32x16<S>) -> Self {
        Self {
            spring,
            own: spring + 1.0 + damper + drag,
            direction_spring: link * (spring * FOLLOW),
            direction_both: link * (spring * FOLLOW + damper),
            joint: link * (spring * JOINT),
        }
    }
}

/// Initial state of a solve.
pub(super) enum From<'a, 'b> {
    /// The state at the start of the step; a copy is stored here for further solves.
    Start(&'a mut State<'b>),
    /// Positions after the solve before.
    Found(&'a [[f32; VECTOR]]),
}

/// Eliminates the points from the tip.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn tip_to_root<S: Simd>(
    simd: S,
    block: &Block,
    state: &mut State<'_>,
    frame: &mut [[f32; FRAME]],
    from: From<'_, '_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [[f32; SCRATCH]],
    contact_terms: &mut [[f32; TERMS]],
    next: Upcoming<'_>,
) {
    let splat = |v: f32| f32x16::splat(simd, v);
    let State { position, velocity, tension, contact } = state;
    let (position, velocity) = (&**position, &**velocity);
    let points = position.len();
    let (mut start, found) = match from {
        From::Start(start) => (Some(start), None),
        From::Found(found) => (None, Some(found)),
    };
    let fixed = &block.fixed.as_chunks::<FIXED>().0[..points];
    let root = Affine::load(simd, &block.root);
    let motion = Affine::load(simd, &block.motion);
    let last = f32x16::from_slice(simd, &block.last);
    let link = f32x16::from_slice(simd, &block.link);
    let tie = &pass.tie;
    let drag = f32x16::from_slice(simd, &block.ages.drag) * pass.dt;
    let mut style = Style::new(splat(tie.spring), splat(tie.damper), link, drag);
    let fall = Vec3x::splat(simd, pass.gravity * (pass.dt * pass.dt));

    let mut beyond = Beyond::nothing(simd);
    // No closures over vectors here: if they are not inlined, they are compiled without vector instructions.
    let rows = (position, velocity);
    let mut outer = Before::load(simd, &motion, rows, points - 1, pass.dt);
    let mut inner = Before::load(simd, &motion, rows, points - 2, pass.dt);
    let mut segment = Carried::new(simd, &Fixed(&fixed[points - 1]), &inner, &outer);
    let mut sweep = Sweep::new(simd, frame, fixed, found.is_none() && pass.is_styled);
    for i in (1..points).rev() {
        next.fetch_state(simd, points - 1 - i);
        if let Some(ties) = block.ties(i) {
            style = Style::new(ties.spring(simd), ties.damper(simd), link, drag);
        }
        let row = Fixed(&fixed[i]);
        let (mass, length) = (row.mass(simd), row.length(simd));
        // Gather inertia, gravity, the style's spring to the groomed place, and the force of the points beyond.
        let Before { x, shift, drift } = outer;
        let mut rhs = (drift + fall - shift) * mass
            + root.direction(row.goal(simd))
            + (root.added - x - shift) * (mass * style.spring)
            + beyond.push;
        let mut inertia = beyond.inertia.plus_diagonal(mass * style.own);
        let tension = &tension[i];
        let any_contact = resting::any(simd, &contact[i]);
        if let Some(start) = &mut start {
            start.position[i] = position[i];
            start.velocity[i] = velocity[i];
            start.tension[i] = *tension;
            resting::copy(simd, &mut start.contact[i], &contact[i], any_contact);
        }
        // Add resting contacts.
        if any_contact {
            let displacement = found.map_or(drift, |found| Vec3x::of_row(simd, &found[i]) - x);
            let points = Points { x, shift, drift, displacement, mass, inertia: last + 1.0 };
            let (memory, terms) = (&mut contact[i], &mut contact_terms[i]);
            let from_contacts =
                resting::add_contact_terms(simd, block, i, memory, terms, &points, pass, obstacles);
            inertia = inertia.plus(&from_contacts.inertia);
            rhs += from_contacts.rhs;
        }
        // Add pins.
        if block.is_any_pinned(i) {
            let mut carried = [0.0; VECTOR];
            (x + shift).to_row(&mut carried);
            let (stiffness, pull) = block.pin_terms(i, &carried);
            inertia = inertia.plus_diagonal(f32x16::from_slice(simd, &stiffness));
            rhs += Vec3x::of_row(simd, &pull);
        }
        // Substitute the turn of the segment for the displacement of its outer end, and add the style's spring to the
        // groomed direction.
        let e = segment.along;
        let lever = segment.tangents.scaled(length);
        let pulled = f32x16::from_slice(simd, tension).max(splat(0.0));
        let isotropic = (pulled + style.direction_both) * length;
        let mut by_leader = Columns { x: inertia.mul(lever.x), y: inertia.mul(lever.y) };
        let mut stiffness = Symmetric2 {
            xx: lever.x.dot(by_leader.x) + isotropic,
            xy: lever.x.dot(by_leader.y),
            yy: lever.y.dot(by_leader.y) + isotropic,
        };
        let soon = root.direction_back(e + segment.turns);
        let further = splat(i as f32).simd_lt(last);
        let groomed = sweep.direction(simd, frame, fixed, i, soon, further);
        let off = root.direction(groomed) - e;
        let mut turn = lever.dot(rhs + off * style.direction_spring);
        let (joined, cross) = (beyond.joined, beyond.cross);
        if joined {
            // Add the joint with the segment beyond.
            let joint = &beyond.stiffness;
            stiffness = Symmetric2 {
                xx: stiffness.xx + lever.x.dot(cross.x) * 2.0 + joint.xx,
                xy: stiffness.xy + lever.x.dot(cross.y) + lever.y.dot(cross.x) + joint.xy,
                yy: stiffness.yy + lever.y.dot(cross.y) * 2.0 + joint.yy,
            };
            by_leader = Columns { x: by_leader.x + cross.x, y: by_leader.y + cross.y };
            turn += beyond.turn;
        }
        // Load the segment before. No joint at the scalp: only the style acts there, for any number of points.
        let (mut ahead, mut second, mut joint) = (segment, inner, None);
        if i > 1 {
            second = Before::load(simd, &motion, rows, i - 2, pass.dt);
            let row_before = Fixed(&fixed[i - 1]);
            ahead = Carried::new(simd, &row_before, &second, &inner);
            let k = length.min(row_before.length(simd)) * style.joint;
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
        let back = &mut scratch[i];
        BackSubstitution { turn: turned, by_leader: weighed, chord, pull, by_place }.store(back);
        let centripetal = e * chord;
        beyond.inertia = inertia.minus_product(&weighed, &by_leader);
        beyond.push = rhs - by_leader.mul(turned) - beyond.inertia.mul(centripetal);
        beyond.joined = joint.is_some();
        Joined::store_flags(back, joint.is_some(), joined);
        if joined {
            Joined::store_cross(back, cross.dot(e));
        }
        if let Some(Joint { cross: by_turn, inner, turn_inner, .. }) = joint {
            let coupled = Matrix2 { x: inverse.mul(by_turn.x), y: inverse.mul(by_turn.y) };
            Joined::store_turn(back, &coupled);
            beyond.cross = weighed.after(&by_turn);
            beyond.stiffness = inner.minus(&Symmetric2::product(&by_turn, &coupled));
            beyond.turn =
                turn_inner + by_turn.transposed_mul(turned) - beyond.cross.dot(centripetal);
        }
        if block.ragged {
            // Clear lanes beyond their tips.
            beyond.keep_only(simd, splat(i as f32).simd_le(last));
        }
        (outer, inner, segment) = (inner, second, ahead);
    }
    if pass.is_free() {
        let hangs = FreeRoot { before: outer, inertia: beyond.inertia, push: beyond.push };
        let (memory, terms) = (&mut contact[0], &mut contact_terms[0]);
        if let Some(start) = &mut start {
            start.contact[0] = *memory;
        }
        let a = hangs.displacement(simd, block, found, memory, terms, pass, obstacles);
        FreeRoot::store(a, &mut scratch[0]);
    }
    if let Some(start) = start {
        start.position[0] = position[0];
        start.velocity[0] = velocity[0];
        start.tension[0] = tension[0];
        if !pass.is_free() {
            start.contact[0] = contact[0];
        }
    }
}
