//! Hair and fur simulation.
//!
//! One [`groom::Groom`], one [`body::Body`], and a model chosen by name. Data flow of a step, from left to right; each
//! word is a module:
//!
//! ```text
//!  groom ──┐
//!          ├─► roots follow ─► model ◄─► contact ─► grow ─► health
//!  body ───┘    the body                            strands
//!    └──────► collide ─────────┘
//! ```
//!
//! A [`simulation::Simulation`] puts them together; `docs/api.md` of the repository shows the whole API in one
//! program: groom, body, parameters, contacts, steps, positions, checkpoint, and a custom model.
//!
//! Coordinates are right-handed, y up; units are metres, seconds, kilograms. The same input gives the same bits for any
//! number of threads.

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

/// Result of the fallible functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Runs the program of `docs/in-your-engine.md` as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/in-your-engine.md")]
struct EnginePage;

/// Runs the program of `docs/api.md` as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/api.md")]
struct ApiPage;
