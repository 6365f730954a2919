//! The list of contacts of a scene, and their order of action on a model.

use super::{Access, Acts, Chains, ContactSettings, Lender, Samples, strand_contact, volume};
use crate::groom::Groom;
use crate::{Error, Result};

/// Report of the contacts of the last step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Friction and repulsion on a grid.
    pub volume: Option<volume::VolumeReport>,
    /// Contact between single hairs.
    pub strands: Option<strand_contact::Report>,
}

/// A method for contact of hair on hair after the step of a model.
pub trait Contact: Send {
    /// Clears the state. `hair` is in its rest shape.
    fn reset(&mut self, hair: &Samples<'_>);

    /// Changes the velocities over a step of `dt` (s).
    fn apply(&mut self, hair: &mut Samples<'_>, dt: f32, report: &mut Report);

    /// Appends the state that is needed to continue with the same bits.
    fn save(&self, _out: &mut Vec<u8>) {}

    /// Restores what [`Contact::save`] wrote; returns the bytes that follow it, or `None`, and nothing has changed,
    /// if these are not its bytes.
    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        Some(bytes)
    }
}

/// The contacts of a simulation that act after a step, in the order in which they act. Those that act within a step are
/// with the model.
#[derive(Default)]
pub(crate) struct Contacts {
    after: Vec<Box<dyn Contact>>,
}

impl Contacts {
    /// Builds the contacts for a model that was built for this groom, and passes those that act within a step to the model.
    pub(crate) fn new(
        settings: &[ContactSettings],
        groom: &Groom,
        model: &'static str,
        access: Access,
        lender: Option<&mut dyn Lender>,
    ) -> Result<Self> {
        let mut contacts = Self::default();
        let mut lender = lender;
        for (i, wanted) in settings.iter().enumerate() {
            let contact = wanted.name();
            if settings[..i].iter().any(|other| other.name() == contact) {
                return Err(Error::ContactTwice { contact });
            }
            let refused = || Error::NoContact { model, contact };
            let acts = wanted.acts(access).ok_or_else(refused)?;
            let lender = lender.as_deref_mut().ok_or_else(refused)?;
            let chains: Chains = lender.chains(groom);
            match acts {
                Acts::AfterStep => contacts.after.push(wanted.after_step(chains)?),
                Acts::WithinStep => {
                    lender.couple(wanted.within_step(&chains)?.ok_or_else(refused)?);
                }
            }
        }
        Ok(contacts)
    }

    /// Whether none acts after a step.
    pub(crate) fn is_empty(&self) -> bool {
        self.after.is_empty()
    }

    /// Applies each contact in order, after a step of `dt` (s) of the model.
    pub(crate) fn apply(&mut self, lender: &mut dyn Lender, dt: f32, report: &mut Report) {
        for contact in &mut self.after {
            contact.apply(&mut lender.lend(), dt, report);
            lender.take_back();
        }
    }

    /// Clears the state; the hair is in its rest shape.
    pub(crate) fn reset(&mut self, lender: &mut dyn Lender) {
        for contact in &mut self.after {
            contact.reset(&lender.lend());
        }
    }

    /// Appends the state that is needed to continue with the same bits.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        self.after.iter().for_each(|contact| contact.save(out));
    }

    /// Restores what [`Contacts::save`] wrote. False if these are not such bytes.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        let mut after = self.after.iter_mut();
        let left = after.try_fold(bytes, |bytes, contact| contact.restore(bytes));
        left.is_some_and(<[u8]>::is_empty)
    }
}
