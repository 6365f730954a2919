//! Contacts stored from step to step (`follow_the_leader/resting.rs`).

use glam::Vec3;

use super::{Contact, ContactTerms, Particle, Strand, Surroundings};
use crate::model::follow_the_leader::Pass;
use crate::model::follow_the_leader::resting::{
    CREEP, EXCESS, HOVER, KEPT, RISE, SLOW, SLOW_FRICTION, STATIC, STEADY, STIFFNESS, STILL,
};

/// Terms of a stored contact; `None`, and it is dropped, if the particle leaves it.
pub(super) fn contact_terms(
    contact: &mut Contact,
    particle: &Particle,
    shift: Vec3,
    [mass, whole, friction]: [f32; 3],
    found: Option<Vec3>,
    pass: &Pass,
    around: &Surroundings<'_>,
) -> Option<ContactTerms> {
    if contact.force <= 0.0 {
        return None;
    }
    let (normal, gap, moves, coefficient) = around.below(contact.what, particle.position, pass.dt);
    let coefficient = coefficient * friction;
    let drift = particle.velocity * pass.dt;
    let out = (drift - moves).dot(normal);
    if (gap + out - HOVER) * mass >= contact.force {
        *contact = Contact::default();
        return None;
    }
    let stiffness = whole * STIFFNESS;
    let displacement = found.map_or(drift, |found| found - particle.position);
    let slip = (displacement - moves).reject_from_normalized(normal).length().max(CREEP * pass.dt);
    let sticks = contact.friction != Vec3::ZERO;
    let more = 1.0 + SLOW_FRICTION / (1.0 + (slip / (SLOW * pass.dt)).powi(2));
    let slowed = (coefficient * more * contact.force / slip).min(stiffness);
    let along = if sticks { stiffness } else { slowed };
    let target = moves - shift;
    let height = (gap.max(0.0) + RISE * pass.dt).min(HOVER);
    let offset = normal.dot(target) - gap + height;
    Some(ContactTerms { normal, target, offset, stiffness, along, coefficient, slip })
}

/// Updates the force of a contact after a displacement; returns whether friction exceeded [`EXCESS`] times its limit.
pub(super) fn update(contact: &mut Contact, terms: &ContactTerms, a: Vec3, dt: f32) -> bool {
    if contact.force <= 0.0 {
        return false;
    }
    let n = terms.normal;
    let slip = (a - terms.target).reject_from_normalized(n);
    let slid = contact.friction == Vec3::ZERO;
    let friction = contact.friction.reject_from_normalized(n) - slip * terms.along;
    let force = (contact.force + terms.stiffness * (terms.offset - n.dot(a))).max(0.0);
    contact.force = force * KEPT;
    let stop = if slid { terms.stiffness / STIFFNESS } else { 0.0 };
    let slow = 1.0 + SLOW_FRICTION / (1.0 + (slip.length() / (SLOW * dt)).powi(2));
    let max_friction = terms.coefficient * force * if slid { slow } else { STATIC };
    let creeps = slip.length() < CREEP * dt || terms.along >= terms.stiffness;
    let steady = slip.length() <= terms.slip * STEADY;
    let sticks = (friction - slip * stop).length() <= max_friction
        || (creeps && steady && friction.length() <= max_friction)
        || (!slid && slip.length() < STILL * dt);
    contact.friction = if sticks { friction.clamp_length_max(max_friction) } else { Vec3::ZERO };
    friction.length() > max_friction * EXCESS + SLOW * dt
}

/// Stores a contact in place of the weaker of two; returns whether it is new.
pub(super) fn remember(contacts: &mut [Contact; 2], what: usize, force: f32) -> bool {
    if let Some(known) = contacts.iter_mut().find(|c| c.force > 0.0 && c.what == what) {
        known.force = known.force.max(force);
        return false;
    }
    let weaker = usize::from(contacts[1].force < contacts[0].force);
    contacts[weaker] = Contact { what, force, friction: Vec3::ZERO };
    true
}

/// Gives particles that have newly collided in the step a fraction of their approach speed outward (restitution).
pub(super) fn rebound(
    strand: &mut Strand,
    start: &[Particle],
    pass: &Pass,
    around: &Surroundings<'_>,
) {
    let embedded = strand.embedded;
    for (particle, start) in strand.particles.iter_mut().zip(start).skip(embedded) {
        for contact in particle.contacts.iter().filter(|contact| contact.force > 0.0) {
            let (normal, _, moves, _) = around.below(contact.what, start.position, pass.dt);
            let moves = moves / pass.dt;
            let number = contact.what.checked_sub(around.colliders.len());
            let of_field = number.and_then(|number| around.field?.get(number));
            let fraction = pass.restitution.max(of_field.map_or(0.0, |field| field.restitution));
            let approach = normal.dot(moves - start.velocity).max(0.0);
            if approach * fraction > 0.0 {
                let faster = approach * fraction - normal.dot(particle.velocity - moves);
                particle.velocity += normal * faster.max(0.0);
            }
        }
    }
}
