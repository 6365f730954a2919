//! `hanging-chain`: the slowest swing of a strand without stiffness.
//!
//! Model: a chain of length `L` hung at one end swings in the shape `J0(2 w sqrt(s / g))`, `s` the
//! distance from the free end; the first zero `j = 2.4048` of `J0` at the root gives the frequency
//! `f = j / (4 pi) sqrt(g / L)` (D. Bernoulli, 1732).
//! Deviations: Follow-The-Leader moves each particle as if nothing hung below it and corrects the
//! velocity for that (`muller2012` eq. 9). With the whole correction and short steps it swings as it
//! should; what the default scale leaves out adds up along the strand, so that the swing is too
//! fast, by a tenth at 30 points and a quarter at 60.

use std::f64::consts::PI;
use std::sync::Arc;

use coif::body::{Body, TriangleMesh};
use coif::groom::{Fibre, Groom, Strands};
use coif::model::ModelSettings;
use coif::model::follow_the_leader::Settings;
use coif::simulation::{Simulation, World};
use glam::Vec3;

use super::{Check, Findings, Plot, Row};
use crate::failure::Failure;

pub(super) const CHECK: Check = Check {
    name: "hanging-chain",
    about: "first swing of a limp strand against Bernoulli's hanging chain",
    run,
};

/// First zero of the Bessel function J0.
const J0_ZERO: f64 = 2.404_825_557_695_773;
/// Points, steps per second, scale of the correction, and the tolerance that the method keeps.
const CASES: [(usize, u32, f32, f64); 4] =
    [(10, 960, 1.0, 0.04), (30, 960, 1.0, 0.02), (60, 960, 1.0, 0.02), (30, 240, 0.9, 0.15)];
/// Length of the strand (m).
const LENGTH: f64 = 0.3;
/// Largest way of the tip from the middle (m): small against the length.
const SWING: f64 = 0.006;

fn run() -> Result<Findings, Failure> {
    let mut rows = Vec::new();
    let mut plot = Plot::new("Swing of a limp strand", "time (s)", "tip (mm)");
    let g = f64::from(-World::default().gravity.y);
    let truth = J0_ZERO / (4.0 * PI) * (g / LENGTH).sqrt();
    for (points, steps_per_second, correction, tolerance) in CASES {
        let world = World { steps_per_second, ..World::default() };
        let mut simulation = chain(points, correction, world)?;
        let mut line = Vec::new();
        // Three periods: enough to measure, and before the method's own damping hides the swing.
        while simulation.time() < 3.0 / truth {
            let tip = simulation.strands().strand(0).last().map_or(0.0, |p| f64::from(p.x));
            line.push((simulation.time(), tip * 1e3));
            simulation.step();
        }
        let frequency = frequency(&line);
        rows.push(Row::compare(
            format!("hanging-chain/{points}-points-{steps_per_second}-hz-correction-{correction}"),
            simulation.model_name(),
            "frequency of the first mode (Hz)",
            [frequency, truth],
            tolerance,
        ));
        plot.line(&format!("{points} pts, {correction}"), line);
    }
    let cosine = (0..=300).map(|i| {
        let time = f64::from(i) * 0.01 / truth;
        (time, SWING * 1e3 * (2.0 * PI * truth * time).cos())
    });
    plot.line("hanging chain", cosine.collect());
    Ok(Findings { rows, plots: vec![plot] })
}

/// A limp strand in the shape of its first mode, let go at time 0.
fn chain(points: usize, correction: f32, world: World) -> Result<Simulation, Failure> {
    let g = f64::from(-world.gravity.y);
    let omega = J0_ZERO / 2.0 * (g / LENGTH).sqrt();
    let line: Vec<Vec3> = (0..points)
        .map(|i| {
            let from_root = LENGTH * i as f64 / (points - 1) as f64;
            let from_tip = (LENGTH - from_root).max(0.0);
            let aside = SWING * bessel_j0(2.0 * omega * (from_tip / g).sqrt());
            Vec3::new(aside as f32, -from_root as f32, 0.0)
        })
        .collect();
    let mut strands = Strands::new();
    strands.push(&line);
    let mut groom = Groom::new(strands, Fibre::default());
    let scalp = TriangleMesh {
        positions: vec![
            Vec3::new(-0.1, 0.0, -0.1),
            Vec3::new(0.0, 0.0, 0.1),
            Vec3::new(0.1, 0.0, -0.1),
        ],
        triangles: vec![[0, 1, 2]],
    };
    groom.bind(&scalp)?;
    // Neither style nor air: a chain.
    let limp = Settings { correction, ..Settings::limp() };
    let model = ModelSettings::FollowTheLeader(limp);
    Ok(Simulation::new(Arc::new(groom), Arc::new(Body::still(scalp)?), &model, world)?)
}

/// Half the rate at which a line crosses zero; NaN if it does not cross it twice.
fn frequency(line: &[(f64, f64)]) -> f64 {
    let crossings: Vec<f64> = line
        .windows(2)
        .filter(|w| (w[0].1 > 0.0) != (w[1].1 > 0.0))
        .map(|w| w[0].0 + (w[1].0 - w[0].0) * w[0].1 / (w[0].1 - w[1].1))
        .collect();
    match crossings[..] {
        [first, .., last] => 0.5 * (crossings.len() - 1) as f64 / (last - first),
        _ => f64::NAN,
    }
}

/// The Bessel function of order 0 for small arguments: its series.
fn bessel_j0(x: f64) -> f64 {
    let quarter = -0.25 * x * x;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..30 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_has_its_zero_and_known_values() {
        assert!(bessel_j0(J0_ZERO).abs() < 1e-12);
        assert!((bessel_j0(1.0) - 0.765_197_686_557_966_6).abs() < 1e-14);
    }

    #[test]
    fn the_frequency_of_a_cosine_is_found() {
        let line: Vec<(f64, f64)> = (0..400)
            .map(|i| f64::from(i) * 0.01)
            .map(|t| (t, (2.0 * PI * 1.3 * t).cos()))
            .collect();
        assert!((frequency(&line) - 1.3).abs() < 1e-3, "{}", frequency(&line));
        assert!(frequency(&[(0.0, 1.0), (1.0, 2.0)]).is_nan());
    }
}
