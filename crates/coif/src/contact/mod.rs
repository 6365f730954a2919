//! Contact of hair on hair, independent of the model (`cani2006` 2.3).
//!
//! A scene has a list of contacts ([`ContactSettings`]). Their only input from the model is [`Chains`] and
//! their state as it lies in memory ([`Samples`]). A model declares the access of contact to its hair ([`Access`]); from that
//! and the contact it follows whether the contact acts after each step ([`Contact`]), on velocities, or within it
//! ([`HairContact`]), as forces with their stiffness that the model solves for, or is refused.
//!
//! `detection` finds the segments that are near each other (with a choice of [`broad_phase`]), `response` their forces;
//! `volume` is both, on a grid.
//!
//! Samples have two velocities. `motion` is the displacement over the last step by its length; `velocity`
//! is what the next step starts from. They may differ, as where a velocity also carries the reaction
//! of a constraint (`muller2012` eq. 9) and is not zero for hair at rest. Contact measures with
//! `motion` and adds to `velocity`, so there is no friction on hair at rest.

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
