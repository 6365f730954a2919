//! Contact between single hairs after the step of a model that does not solve for it.

use glam::Vec3;

use crate::contact::strand_contact::Settings;
use crate::contact::{HairContact, StrandContact};
use crate::groom::Groom;
use crate::model::Model;
use crate::{Error, Result};

/// Who asks the contact.
pub(super) enum HairTouch {
    /// The model, within its step.
    Coupled,
    /// The simulation, after the step.
    After(Box<After>),
}

/// Contact, and the points in the groom's order.
pub(super) struct After {
    pub(super) contact: StrandContact,
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    before: Vec<Vec3>,
}

impl HairTouch {
    /// Gives contact to the model, or keeps it. The groom is valid.
    pub(super) fn new(groom: &Groom, settings: &Settings, model: &mut dyn Model) -> Result<Self> {
        let contact = StrandContact::new(groom, settings)?;
        if model.couple(Box::new(contact)).is_none() {
            return Ok(Self::Coupled);
        }
        let points = groom.strands.point_count();
        let none = vec![Vec3::ZERO; points];
        if !model.add_velocities(&none) {
            let contact = crate::contact::strand_contact::NAME;
            return Err(Error::NoContact { model: model.name(), contact });
        }
        let (position, velocity) = (none.clone(), none.clone());
        let contact = StrandContact::new(groom, settings)?;
        Ok(Self::After(Box::new(After { contact, position, velocity, before: none })))
    }

    /// Changes the velocities of hair that has been moved.
    pub(super) fn apply(&mut self, model: &mut dyn Model, dt: f32) {
        let Self::After(after) = self else { return };
        let After { contact, position, velocity, before } = &mut **after;
        model.positions(position);
        model.velocities(before);
        velocity.copy_from_slice(before);
        contact.apply(position, velocity, dt);
        for (v, before) in velocity.iter_mut().zip(before) {
            // What is not a number is the model's to put right.
            let change = *v - *before;
            *v = if change.is_finite() { change } else { Vec3::ZERO };
        }
        model.add_velocities(velocity);
    }

    /// The contact, if the simulation holds it.
    pub(super) fn contact(&self) -> Option<&StrandContact> {
        match self {
            Self::Coupled => None,
            Self::After(after) => Some(&after.contact),
        }
    }

    /// Forgets all springs.
    pub(super) fn reset(&mut self) {
        if let Self::After(after) = self {
            after.contact.reset();
        }
    }

    /// Appends the springs.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        if let Self::After(after) = self {
            after.contact.save(out);
        }
    }

    /// Takes the springs back. False, and nothing has changed, if these are not such bytes.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> bool {
        match self {
            Self::Coupled => bytes.is_empty(),
            Self::After(after) => after.contact.restore(bytes).is_some_and(<[u8]>::is_empty),
        }
    }
}
