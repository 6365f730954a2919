//! Hair and fur simulation.
//!
//! One [`groom::Groom`], one [`body::Body`], and a model chosen by name. Data goes through the
//! folders once per step, left to right:
//!
//! ```text
//!  groom ──┐
//!          ├─► roots follow ─► model ◄─► contact ─► grow ─► health
//!  body ───┘    the body       moves     acts       strands
//!    └──────► collide ─────────┘
//! ```
//!
//! A [`simulation::Simulation`] puts them together; `docs/api.md` of the repository shows all of it in one
//! program: groom, body, parameters, contacts, steps, positions, checkpoint, and a model of your own.
//!
//! Right-handed, y up, metres, seconds, kilograms. Same input, same bits, for any number of
//! threads.

pub mod body;
pub mod collide;
pub mod contact;
pub mod environment;
pub mod groom;
pub mod grow;
pub mod limits;
pub mod math;
pub mod model;
pub mod params;
pub mod simulation;

mod error;
mod threads;
pub use error::Error;
pub use glam;
pub use threads::with_threads;

/// What every fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The program of the page for engines is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/in-your-engine.md")]
struct EnginePage;

/// The program of the page is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/api.md")]
struct ApiPage;
