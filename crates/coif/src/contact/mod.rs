//! Contact of hair on hair, independent of the model (`cani2006` 2.3).
//!
//! A scene has a list of contacts ([`ContactSettings`]). Their only input from the model is [`Chains`] and
//! the state in the model's layout ([`Samples`]). A model declares the access of contacts to its hair ([`Access`]). From
//! that and the contact it follows whether the contact acts on velocities after each step ([`Contact`]), within the step
//! as forces with their stiffness that the model solves for ([`HairContact`]), or is refused.
//!
//! `detection` finds the segments that are near each other (with a choice of [`broad_phase`]), `response` computes their
//! forces; `volume` does both on a grid.
//!
//! Samples have two velocities. `motion` is the displacement in the last step over its length; `velocity`
//! is the one that the next step starts with. They differ where `velocity` also contains the reaction
//! of a constraint (`muller2012` eq. 9), which is not zero for hair at rest. Contacts measure
//! `motion` and add to `velocity`, so there is no friction on hair at rest.

mod chains;
mod detection;
mod hair_contact;
mod lender;
mod list;
mod response;
mod settings;
pub mod strand_contact;
pub mod volume;

pub use chains::{Chains, Order, Place, Samples};
pub use detection::{broad_phase, crossing, pairs, segments};
pub use hair_contact::HairContact;
pub use lender::{Access, Acts, Lender};
pub(crate) use list::Contacts;
pub use list::{Contact, Report};
pub(crate) use response::spring::difference;
pub use response::spring::{ContactForce, ContactSpring};
pub use response::{edge_collision, repulsion, stiction};
pub use settings::ContactSettings;
pub use strand_contact::StrandContact;
