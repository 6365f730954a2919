//! `mass-spring`: the hair of `selle2008`, every single hair with twist and contact.
//!
//! `factor-solve` is one velocity solve, `free-hair` a substep of hair without collision or contact, `assembly` the
//! rest of `free-hair` per solve. `long-straight-1k`, `-5k` and `-10k` are whole frames of 1/60 s of the scene after
//! the paper's table 2, with stiction, repulsion and collision between hairs and with the body; so is `full-head-100k`,
//! which takes minutes and is measured only if selected by name. Their reference is the paper's own time per particle.

mod frames;
mod solver;
mod watch;

use super::{Benchmark, Row, Setting};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "mass-spring",
    about: "every single hair with twist and contact: velocity solves, and whole frames of a head",
    run,
};

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let mut rows = solver::run(setting)?;
    rows.extend(frames::run(setting)?);
    Ok(rows)
}
