//! The pass from tip to root, one strand after the other.

use glam::{Mat2, Mat3, Vec2, Vec3};

use super::resting::contact_terms;
use super::{ContactTerms, Strand, Surroundings};
use crate::math::RigidTransform;
use crate::model::follow_the_leader::Pass;
use crate::model::follow_the_leader::frames::FOLLOW;
use crate::model::follow_the_leader::joint::{JOINT, Limit, MIN_CLOSING};
use crate::model::follow_the_leader::style::Tie;

/// Terms of a particle and its segment, computed in the pass from tip to root for the pass from root to tip
/// (`articulated/`).
#[derive(Clone, Copy, Default)]
pub(super) struct BackSubstitution {
    pub(super) shift: Vec3,
    pub(super) along: Vec3,
    pub(super) tangents: Columns,
    pub(super) off: Vec3,
    pub(super) turns: Vec3,
    pub(super) shrinks: f32,
    pub(super) turn: Vec2,
    pub(super) by_leader: Columns,
    pub(super) by_turn: Mat2,
    pub(super) pull: f32,
    pub(super) by_place: Vec3,
    pub(super) by_cross: Vec2,
    pub(super) terms: [ContactTerms; 2],
}

/// A basis of a plane, or a linear map from the plane to space.
#[derive(Clone, Copy, Default)]
pub(super) struct Columns([Vec3; 2]);

impl Columns {
    pub(super) fn tangents(e: Vec3) -> Self {
        let (x, y) = e.any_orthonormal_pair();
        Self([x, y])
    }

    pub(super) fn map(self, f: impl Fn(Vec3) -> Vec3) -> Self {
        Self(self.0.map(f))
    }

    pub(super) fn mul(&self, v: Vec2) -> Vec3 {
        self.0[0] * v.x + self.0[1] * v.y
    }

    pub(super) fn dot(&self, v: Vec3) -> Vec2 {
        Vec2::new(self.0[0].dot(v), self.0[1].dot(v))
    }

    /// `A^T B`.
    pub(super) fn transposed_mul(&self, b: &Self) -> Mat2 {
        Mat2::from_cols(self.dot(b.0[0]), self.dot(b.0[1]))
    }

    pub(super) fn after(&self, m: Mat2) -> Self {
        Self([self.mul(m.x_axis), self.mul(m.y_axis)])
    }

    pub(super) fn plus(&self, b: &Self) -> Self {
        Self([self.0[0] + b.0[0], self.0[1] + b.0[1]])
    }
}

/// Computes the segments at the start of the step: deviation of their directions from the groomed ones, and turns by
/// their velocities.
fn segments_at_start(
    strand: &Strand,
    root: &RigidTransform,
    pass: &Pass,
    back: &mut Vec<BackSubstitution>,
) {
    let motion = *root * strand.root.inverse();
    back.clear();
    for (i, outer) in strand.particles.iter().enumerate() {
        let shift = motion.point(outer.position) - outer.position;
        let mut state = BackSubstitution { shift, ..BackSubstitution::default() };
        if let (Some(before), Some(inner)) = (back.last(), strand.particles[..i].last()) {
            let carried = shift - before.shift;
            state.along = ((outer.position - inner.position) + carried) / outer.length;
            state.tangents = Columns::tangents(state.along);
            state.off = root.direction(outer.groomed) - state.along;
            let drift = (outer.velocity - inner.velocity) * pass.dt;
            state.turns = (drift - carried) / outer.length;
            state.shrinks = (-0.5 * state.turns.length_squared()).max(-0.5);
        }
        back.push(state);
    }
}

/// A quadratic in the displacement of a particle and the turn of its segment (`articulated/`).
pub(super) struct Beyond {
    pub(super) inertia: Mat3,
    pub(super) cross: Columns,
    pub(super) stiffness: Mat2,
    pub(super) push: Vec3,
    pub(super) turn: Vec2,
}

impl Beyond {
    const NOTHING: Self = Self {
        inertia: Mat3::ZERO,
        cross: Columns([Vec3::ZERO; 2]),
        stiffness: Mat2::ZERO,
        push: Vec3::ZERO,
        turn: Vec2::ZERO,
    };
}

/// The joint between two segments (`joint.rs`): stiffness against turns of the outer and the inner one, what couples
/// them, and torques.
pub(super) struct Joint {
    pub(super) outer: Mat2,
    pub(super) inner: Mat2,
    pub(super) cross: Mat2,
    pub(super) turn_outer: Vec2,
    pub(super) turn_inner: Vec2,
}

impl Joint {
    /// Between a segment and the one ahead of it.
    pub(super) fn new(
        k: f32,
        limit: &Limit,
        [segment, ahead]: [&BackSubstitution; 2],
        closes: f32,
    ) -> Self {
        let product = |a: Vec2, b: Vec2| Mat2::from_cols(a * b.x, a * b.y);
        let diagonal = |d: f32| Mat2::from_diagonal(Vec2::splat(d));
        let beyond = limit.start - segment.along.dot(ahead.along);
        let over = beyond.max(0.0);
        let ramp =
            if over > 0.0 { 1.0 } else { (beyond + closes).max(0.0) / closes.max(MIN_CLOSING) };
        let stiffest = limit.stiffness * k;
        let (stiff, force) = (stiffest * ramp.min(1.0), stiffest * over);
        let bent = (ahead.along * ahead.shrinks - segment.along * segment.shrinks) * force;
        let v = segment.tangents.dot(ahead.along);
        let v_ahead = ahead.tangents.dot(segment.along);
        Self {
            outer: diagonal(force) + product(v, v) * stiff,
            inner: diagonal(force) + product(v_ahead, v_ahead) * stiff,
            cross: segment.tangents.transposed_mul(&ahead.tangents) * force
                - product(v, v_ahead) * stiff,
            turn_outer: segment.tangents.dot(bent) + v * force,
            turn_inner: v_ahead * force - ahead.tangents.dot(bent),
        }
    }
}

/// Eliminates the particles from the tip.
pub(super) fn tip_to_root(
    strand: &mut Strand,
    root: &RigidTransform,
    pass: &Pass,
    around: &Surroundings<'_>,
    back: &mut Vec<BackSubstitution>,
    found: &[Vec3],
) {
    let product = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
    let diagonal = |d: f32| Mat3::from_diagonal(Vec3::splat(d));
    segments_at_start(strand, root, pass, back);
    let mut beyond = Beyond::NOTHING;
    let whole = back.len() as f32;
    let (drag, settled) = (strand.age.drag * pass.dt, strand.age.settled(pass.settling_time));
    for i in (1..back.len()).rev() {
        let (before, state) = (back[i - 1], back[i]);
        let length_before = strand.particles[i - 1].length;
        let (particle, mass) = (&mut strand.particles[i], strand.shape.mass[i]);
        let Tie { spring, damper, friction, .. } = strand.shape.tie[i];
        let BackSubstitution { shift, along: e, .. } = state;
        let length = particle.length;
        let mut rhs = (particle.velocity * pass.dt + pass.gravity * (pass.dt * pass.dt) - shift)
            * mass
            + root.direction(strand.shape.goal[i])
            + (root.translation - particle.position - shift) * (mass * spring)
            + beyond.push;
        let mut inertia = beyond.inertia + diagonal(mass * (1.0 + spring + damper + drag));
        let mut terms = [ContactTerms::default(); 2];
        let mut contacts = particle.contacts;
        for (contact, terms) in contacts.iter_mut().zip(&mut terms) {
            let of_point = [mass, whole, friction * (1.0 + settled)];
            let place = found.get(i).copied();
            let added = contact_terms(contact, particle, shift, of_point, place, pass, around);
            if let Some(added) = added {
                let ContactTerms { normal: n, target, offset, stiffness, along, .. } = added;
                inertia += diagonal(along) + product(n, n) * (stiffness - along);
                let grip = target * along + contact.friction;
                rhs += grip + n * (stiffness * offset + contact.force - n.dot(grip));
                *terms = added;
            }
        }
        particle.contacts = contacts;
        // Substitute the turn of the segment for the displacement of its outer end.
        let link = strand.shape.link;
        let straight = (particle.tension.max(0.0) + link * (spring * FOLLOW + damper)) * length;
        let lever = state.tangents.map(|t| t * length);
        let by_leader = lever.map(|t| inertia * t).plus(&beyond.cross);
        let mut stiffness = lever.transposed_mul(&by_leader)
            + beyond.cross.transposed_mul(&lever)
            + beyond.stiffness
            + Mat2::from_diagonal(Vec2::splat(straight));
        let mut turn = lever.dot(rhs + state.off * (link * spring * FOLLOW)) + beyond.turn;
        let mut ahead = Beyond::NOTHING;
        let mut by_turn = Mat2::ZERO;
        if i > 1 {
            let k = length.min(length_before) * link * spring * JOINT;
            let mut closes = -e.dot(before.turns) - before.along.dot(state.turns);
            if let Some([a, b, c]) = found.get(i - 2..=i) {
                let turned = (*c - *b).dot(*b - *a) / (length * length_before);
                closes = e.dot(before.along) - turned;
            }
            let joint = Joint::new(k, &strand.shape.limit[i], [&state, &before], closes);
            stiffness += joint.outer;
            turn += joint.turn_outer;
            by_turn = joint.cross;
            (ahead.stiffness, ahead.turn) = (joint.inner, joint.turn_inner);
        }
        // Eliminate the turn.
        let inverse = stiffness.inverse();
        let (turned, coupled) = (inverse * turn, inverse * by_turn);
        let weighed = by_leader.after(inverse);
        back[i] = BackSubstitution {
            turn: turned,
            by_leader: weighed,
            by_turn: coupled,
            pull: e.dot(rhs),
            by_place: inertia * e,
            by_cross: beyond.cross.dot(e),
            terms,
            ..state
        };
        let centripetal = e * (state.shrinks * length);
        let cross = weighed.after(by_turn);
        let [u, v] = weighed.0;
        let [p, q] = by_leader.0;
        let inertia = inertia - product(u, p) - product(v, q);
        beyond = Beyond {
            inertia,
            cross,
            stiffness: ahead.stiffness - by_turn.transpose() * coupled,
            push: rhs - by_leader.mul(turned) - inertia * centripetal,
            turn: ahead.turn + by_turn.transpose() * turned - cross.dot(centripetal),
        };
    }
}
