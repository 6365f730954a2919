//! The access of contact to a model.

use super::{Chains, HairContact, Samples};
use crate::groom::Groom;

/// The access of contacts to the hair of a model, which a model declares before it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// Contact changes the velocities of its particles after each step ([`Lender::lend`]).
    pub after_step: bool,
    /// It solves for all strands together, contact included, within its step ([`Lender::couple`]).
    pub within_step: bool,
}

impl Access {
    /// Contacts have no access.
    pub const NONE: Self = Self { after_step: false, within_step: false };
    /// Contact acts after each step.
    pub const AFTER_STEP: Self = Self { after_step: true, within_step: false };
    /// Contact acts within a step or after it.
    pub const ANY: Self = Self { after_step: true, within_step: true };
}

/// When a contact acts on the hair of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// After each step, on the velocities.
    AfterStep,
    /// Within each step, as forces that the model solves for.
    WithinStep,
}

/// A model whose hair takes part in contact.
pub trait Lender {
    /// The chains that contact acts on: by default the strands of the groom that the model was built for, a particle per
    /// point.
    fn chains(&self, groom: &Groom) -> Chains {
        Chains::of_strands(groom)
    }

    /// The state of the chains.
    fn lend(&mut self) -> Samples<'_>;

    /// Writes back the changes of contact to [`Lender::lend`], where that is a copy.
    fn take_back(&mut self) {}

    /// Adds contact between single hairs to the model's own step. Called once, before the first step, and only of a model
    /// with [`Access::within_step`].
    fn couple(&mut self, _contact: Box<dyn HairContact>) {}
}
