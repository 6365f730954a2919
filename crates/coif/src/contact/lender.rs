//! What contact asks of a model.

use super::{Chains, HairContact, Samples};
use crate::groom::Groom;

/// How contact reaches the hair of a model: what the model declares before anything is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// It lends its particles after each step ([`Lender::lend`]): contact changes their velocities.
    pub after_step: bool,
    /// It solves for all strands together and takes contact into its own step ([`Lender::couple`]).
    pub within_step: bool,
}

impl Access {
    /// Contact does not reach its hair.
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

    /// Takes back what contact changed in [`Lender::lend`], where that was a copy.
    fn take_back(&mut self) {}

    /// Takes contact between single hairs into its own step. Called once, before the first step, and only of a model
    /// with [`Access::within_step`].
    fn couple(&mut self, _contact: Box<dyn HairContact>) {}
}
