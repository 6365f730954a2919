//! Checks against analytic results, published figures and conserved quantities.
//!
//! To add one: write a file with a `CHECK` and list it in [`ALL`]. A check returns rows and, where useful, plots.

mod cantilever;
mod chain;
mod coil;
mod ftl;
mod hair_mesh;
mod hold;
mod length;
mod level_set;
mod one_way_modes;
mod plot;
mod rope;
mod strips;
mod twist;

use coif::simulation::Simulation;
use serde::Serialize;

pub use self::plot::Plot;
use crate::Error;

/// All checks, in the order in which they run.
pub const ALL: &[Check] = &[
    hold::CHECK,
    length::CHECK,
    chain::CHECK,
    ftl::CHECK,
    rope::CHECK,
    cantilever::CHECK,
    coil::CHECK,
    twist::CHECK,
    hair_mesh::CHECK,
    level_set::CHECK,
    strips::CHECK,
];

/// A check that can be selected by name.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    run: fn() -> Result<Findings, Error>,
}

impl Check {
    /// Runs the check.
    pub fn run(&self) -> Result<Findings, Error> {
        (self.run)()
    }
}

/// Result of a check.
pub struct Findings {
    /// The comparisons.
    pub rows: Vec<Row>,
    /// The plots, each with its own file name.
    pub plots: Vec<Plot>,
}

/// One line of the result. Its keys are part of the interface of `coif validate --json`.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The check and its case, such as `length/spin`.
    pub name: String,
    /// The model under test.
    pub model: String,
    /// The measured value.
    pub value: f64,
    /// The reference value.
    pub reference: f64,
    /// Error: relative if the reference is not zero, else absolute.
    pub error: f64,
    /// The maximum error.
    pub tolerance: f64,
    /// Whether the error is not above the tolerance.
    pub pass: bool,
    /// Description of value and reference, with the unit.
    pub quantity: &'static str,
}

impl Row {
    /// Requires at least the reference; the error is the deficit, as a fraction of it.
    fn at_least(
        name: String,
        model: &str,
        quantity: &'static str,
        [value, reference]: [f64; 2],
    ) -> Self {
        // NaN never passes.
        let pass = value >= reference;
        let error = if pass { 0.0 } else { (reference - value) / reference.abs() };
        Self {
            error,
            tolerance: 0.0,
            pass,
            ..Self::compare(name, model, quantity, [value, reference], 0.0)
        }
    }

    /// Compares a value with its reference.
    fn compare(
        name: String,
        model: &str,
        quantity: &'static str,
        [value, reference]: [f64; 2],
        tolerance: f64,
    ) -> Self {
        let difference = (value - reference).abs();
        let error = if reference == 0.0 { difference } else { difference / reference.abs() };
        Self {
            name,
            model: model.into(),
            value,
            reference,
            error,
            tolerance,
            pass: error <= tolerance,
            quantity,
        }
    }
}

/// The simulation of a built-in scene with some changes.
fn simulation_of(name: &str, sets: &[String]) -> Result<Simulation, Error> {
    Ok(crate::built_in(name, sets)?.1.simulation()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_unless_the_reference_is_zero() {
        let row = |pair, tolerance| Row::compare("a".into(), "m", "x", pair, tolerance);
        assert!((row([1.1, 1.0], 0.2).error - 0.1).abs() < 1e-12);
        assert!(row([1.1, 1.0], 0.2).pass && !row([1.3, 1.0], 0.2).pass);
        assert_eq!(row([0.5, 0.0], 1.0).error, 0.5);
        assert!(!row([f64::NAN, 1.0], 1.0).pass, "NaN never passes");
        let enough = |value| Row::at_least("a".into(), "m", "x", [value, 2.0]);
        assert!(enough(2.5).pass && !enough(1.5).pass && !enough(f64::NAN).pass);
        assert_eq!((enough(2.5).error, enough(1.5).error), (0.0, 0.25));
    }
}
