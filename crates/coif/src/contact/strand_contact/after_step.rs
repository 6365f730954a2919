//! Contact between single hairs after the step of a model that does not solve for it.

use glam::Vec3;

use super::{Settings, StrandContact};
use crate::Result;
use crate::contact::list::{Contact, Report};
use crate::contact::{Chains, HairContact, Samples};

/// Contact on points in the order of the chains; adds the change to their velocities.
pub(in crate::contact) struct AfterStep {
    contact: StrandContact,
    chains: Chains,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    before: Vec<Vec3>,
}

impl AfterStep {
    pub(in crate::contact) fn new(chains: Chains, settings: &Settings) -> Result<Self> {
        let contact = StrandContact::new(&chains, settings)?;
        let none = vec![Vec3::ZERO; chains.points()];
        let (position, velocity) = (none.clone(), none.clone());
        Ok(Self { contact, chains, position, velocity, before: none })
    }
}

impl Contact for AfterStep {
    fn reset(&mut self, _hair: &Samples<'_>) {
        self.contact.reset();
    }

    fn apply(&mut self, hair: &mut Samples<'_>, dt: f32, report: &mut Report) {
        let Self { contact, chains, position, velocity, before } = self;
        hair.gather(chains, position, before);
        velocity.copy_from_slice(before);
        contact.apply(position, velocity, dt);
        for (v, before) in velocity.iter_mut().zip(before) {
            // Do not add NaN: the quarantine of the model treats hair that is not finite.
            let change = *v - *before;
            *v = if change.is_finite() { change } else { Vec3::ZERO };
        }
        hair.add_velocities(chains, velocity);
        report.strands = Some(contact.report());
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.contact.save(out);
    }

    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.contact.restore(bytes)
    }
}
