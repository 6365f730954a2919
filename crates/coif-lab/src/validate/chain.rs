//! `chain`: a strand without stiffness, against the mechanics of a chain.
//!
//! Swinging: a chain of length `L` hung at one end swings in the shapes `J0(2 w sqrt(s / g))`, `s`
//! the distance from the free end; the zeros `j = 2.405, 5.520, 8.654` of `J0` at the root give the
//! frequencies `f = j / (4 pi) sqrt(g / L)` (D. Bernoulli, 1732). Each mode is started in its own
//! shape, and its amplitude in the motion is measured.
//! Resting: a chain that is pinned at both ends hangs in a catenary.
//! Falling: the sum of kinetic and potential energy never grows (one-way).
//!
//! Rows `two-pass` are the default method, rows `one-way` the paper's (`backward = false`).
//!
//! The default method is backward Euler, which takes a swing of angular frequency `w` with steps `dt` for one of
//! `atan(w dt) / dt` that decays at the rate `ln(1 + w^2 dt^2) / (2 dt)`: these are its references.
//!
//! The one-way pass propagates the tension of a segment by one point per step, which damps. `one_way_modes.rs` derives
//! how much: to leading order, a mode of a chain of n segments has the damping ratio `dt (n g / L + w^2) / (4 w)`, and
//! its frequency falls by the fraction `dt^2 n^2 (g / L) (1 - 2 / j^2) / 24` and by half the square of the damping
//! ratio. The references here are the modes of the pass itself, without that approximation, for any step, points and
//! scale of the correction; that they are a chain's with short steps and many points is a test there. All modes here
//! swing, and in more than fifteen steps: the one that is damped most (60 points, 60 steps a second, first mode) has a
//! damping ratio of 0.69, where the leading order would have it creep (1.2).

use std::f64::consts::PI;
use std::sync::Arc;

use coif::body::{Body, TriangleMesh};
use coif::groom::{Fibre, Groom, Strands};
use coif::model::ModelSettings;
use coif::model::follow_the_leader::{Ends, Settings};
use coif::simulation::{Simulation, World};
use glam::Vec3;

use super::one_way_modes::{Complex, OneWayChain};
use super::{Check, Findings, Plot, Row};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "chain",
    about: "a limp strand: swing (zeros of J0), rest between two ends (catenary), energy",
    run,
};

/// The first zeros of the Bessel function J0.
const J0_ZEROS: [f64; 3] = [2.404_825_557_695_773, 5.520_078_110_286_311, 8.653_727_912_911_013];
/// Points, steps per second and scale of the correction.
const CASES: [(usize, u32, f32); 14] = [
    (40, 60, 0.9),
    (40, 240, 0.9),
    (40, 480, 0.9),
    (40, 960, 0.9),
    (40, 240, 0.5),
    (15, 60, 1.0),
    (15, 240, 1.0),
    (15, 960, 1.0),
    (30, 60, 1.0),
    (30, 240, 1.0),
    (30, 960, 1.0),
    (60, 60, 1.0),
    (60, 240, 1.0),
    (60, 960, 1.0),
];
/// The same for the default method.
const TWO_PASS_CASES: [(usize, u32, f32); 5] =
    [(30, 60, 1.0), (30, 240, 1.0), (15, 960, 1.0), (30, 960, 1.0), (60, 960, 1.0)];
/// Length of the strand (m).
pub(super) const LENGTH: f64 = 0.3;
/// Largest displacement of the tip from the middle (m): small against the length.
const SWING: f64 = 0.004;
/// Largest slope of a swing of the one-way pass, at the tip: terms of its square are not in the reference.
const SLOPE: f64 = 0.02;
/// From one number in single precision to the next, at the tip of the strand (m).
const ULP: f64 = 1.0 / (1u32 << 25) as f64;

fn run() -> Result<Findings, Error> {
    let mut rows = Vec::new();
    let mut swings = Plot::new("Swing of a limp strand, first mode", "time (s)", "amplitude (mm)");
    for case in CASES {
        for mode in 0..J0_ZEROS.len() {
            one_way_swing(case, mode, &mut rows, &mut swings)?;
        }
    }
    for case in TWO_PASS_CASES {
        for mode in 0..J0_ZEROS.len() {
            swing(case, mode, &mut rows, &mut swings)?;
        }
    }
    let mut catenaries = Plot::new("A strand pinned at both ends", "x (m)", "y (m)")
        .named("catenary")
        .drawn_to_scale();
    // The even average comes to rest 1.3 % off, with any step: the ends are reset after it.
    rows.push(catenary("even-average", Ends::BothEvenly, 0.02, &mut catenaries)?);
    // The weighted average keeps its ends fixed, but its corrections of two neighbours differ.
    rows.push(catenary("weighted-average", Ends::Both, 0.04, &mut catenaries)?);
    let mut energies =
        Plot::new("Energy of a falling strand", "time (s)", "energy (mJ)").named("energy");
    for (name, settings) in [
        ("correction-0.9", Settings::paper()),
        ("correction-1", Settings { correction: 1.0.into(), ..Settings::paper() }),
    ] {
        rows.push(energy(name, &settings, &mut energies)?);
    }
    Ok(Findings { rows, plots: vec![swings, catenaries, energies] })
}

/// Frequency and damping of one mode, by the default method.
fn swing(
    (points, steps_per_second, correction): (usize, u32, f32),
    mode: usize,
    rows: &mut Vec<Row>,
    plot: &mut Plot,
) -> Result<(), Error> {
    let world = World { steps_per_second, ..World::default() };
    let g = f64::from(-world.gravity.y);
    let omega = angular_frequency(mode, g);
    let truth = omega / (2.0 * PI);
    let shape = mode_shape(points, omega, g);
    let line = hanging(&shape, points);
    let settings = Settings { correction: correction.into(), ..Settings::limp() };
    let mut simulation = chain(&line, settings, world)?;
    // Three periods: enough to measure, and before the damping hides the swing.
    let mut amplitudes = Vec::new();
    while simulation.time() < 3.0 / truth {
        let strands = simulation.strands();
        amplitudes.push((simulation.time(), amplitude_of(&shape, strands.strand(0)) * 1e3));
        simulation.step();
    }
    let name = |what: &str| {
        let hz = steps_per_second;
        let mode = mode + 1;
        format!("chain/two-pass-{what}-{mode}-{points}-points-{hz}-hz-correction-{correction}")
    };
    let model = simulation.model_name();
    let turn = omega / f64::from(steps_per_second);
    let (slower, decay) = (turn.atan() / turn, 0.5 * (turn * turn).ln_1p() / turn);
    rows.push(Row::compare(
        name("mode"),
        model,
        "frequency (Hz)",
        [frequency(&amplitudes), truth * slower],
        // A chain of n segments swings as one of links: its modes are off by (mode / n)^2, about.
        0.02 + (2.0 * (mode + 1) as f64 / points as f64).powi(2),
    ));
    rows.push(Row::compare(
        name("damping"),
        model,
        "damping ratio",
        [damping(&amplitudes), decay / slower.hypot(decay)],
        DAMPING_TOLERANCE,
    ));
    if mode == 0 {
        plot.line(&format!("{points} pts, {steps_per_second} Hz"), amplitudes);
    }
    Ok(())
}

/// How far the damping of the default method may be from the formula: the peaks of a swing are found between few
/// steps, and the square of the turn in a step is not in it.
const DAMPING_TOLERANCE: f64 = 0.2;

/// Frequency and damping of one mode of the one-way pass, against that mode of its linear map.
///
/// The pass starts without tension, which is there after one step per point. From then on, the mode's amplitude is read
/// from all points by the weights to which all other modes are orthogonal.
fn one_way_swing(
    (points, steps_per_second, correction): (usize, u32, f32),
    mode: usize,
    rows: &mut Vec<Row>,
    plot: &mut Plot,
) -> Result<(), Error> {
    let world = World { steps_per_second, ..World::default() };
    let (g, dt) = (f64::from(-world.gravity.y), f64::from(world.dt()));
    let reference = OneWayChain::new(points, [LENGTH, g, dt], f64::from(correction)).mode(mode);
    let omega = angular_frequency(mode, g);
    let shape = mode_shape(points, omega, g);
    let small = SLOPE * g / (omega * omega * SWING);
    let line = hanging(&shape.iter().map(|x| small * x).collect::<Vec<_>>(), points);
    let settings = Settings { correction: correction.into(), backward: false, ..Settings::limp() };
    let mut simulation = chain(&line, settings, world)?;
    let (mut aside, mut amplitudes) = (Vec::new(), Vec::new());
    let period = 2.0 * PI / reference.rate.1;
    let steps = points + (3.0 * period / dt).ceil() as usize;
    for step in 0..=steps {
        let strands = simulation.strands();
        let line = strands.strand(0);
        if step >= points {
            aside.push(line.iter().map(|p| f64::from(p.x)).collect::<Vec<_>>());
        }
        amplitudes.push((simulation.time(), amplitude_of(&shape, line) * 1e3));
        simulation.step();
    }
    let found = reference.measure(&aside, dt);
    let name = |what: &str| {
        let hz = steps_per_second;
        let mode = mode + 1;
        format!("chain/one-way-{what}-{mode}-{points}-points-{hz}-hz-correction-{correction}")
    };
    let model = simulation.model_name();
    let ratio = |rate: Complex| -rate.0 / rate.norm();
    let tolerance = one_way_tolerance(g * dt * dt);
    let size = reference.rate.norm();
    rows.push(Row::compare(
        name("mode"),
        model,
        "frequency (Hz)",
        [found.1 / (2.0 * PI), reference.rate.1 / (2.0 * PI)],
        tolerance * size / reference.rate.1,
    ));
    rows.push(Row::compare(
        name("damping"),
        model,
        "damping ratio",
        [ratio(found), ratio(reference.rate)],
        tolerance,
    ));
    if mode == 0 {
        plot.line(&format!("one-way, {points} pts, {steps_per_second} Hz"), amplitudes);
    }
    Ok(())
}

/// Largest relative error of a mode against the linear map. `fall` is the distance that gravity moves a point
/// in a step (m).
///
/// Lengths and tensions differ by the square of the slope. In single precision, pull and fall are added to a position
/// that is known to one [`ULP`]: each of the two sums is off by half of it, always in the same direction where the
/// strand hangs still, which is as if gravity were off by `ULP / fall` at most. A frequency goes with its root; the
/// decay rate goes with gravity, so that the damping ratio, one over the other, goes with its root too.
fn one_way_tolerance(fall: f64) -> f64 {
    SLOPE * SLOPE + 0.5 * ULP / fall
}

/// Angular frequency of a hanging chain's mode (1/s).
fn angular_frequency(mode: usize, g: f64) -> f64 {
    J0_ZEROS[mode] / 2.0 * (g / LENGTH).sqrt()
}

/// Lateral displacement of each point of a mode, 1 at the tip.
fn mode_shape(points: usize, omega: f64, g: f64) -> Vec<f64> {
    let at = |i: usize| {
        let from_tip = LENGTH * (1.0 - i as f64 / (points - 1) as f64);
        bessel_j0(2.0 * omega * (from_tip.max(0.0) / g).sqrt())
    };
    (0..points).map(at).collect()
}

/// A strand that hangs from the origin, moved aside by `SWING` times a shape.
pub(super) fn hanging(shape: &[f64], points: usize) -> Vec<Vec3> {
    let along = |i: usize| LENGTH * i as f64 / (points - 1) as f64;
    (0..points).map(|i| Vec3::new((SWING * shape[i]) as f32, -along(i) as f32, 0.0)).collect()
}

/// Amplitude of a shape in a strand's displacement across the vertical (m); tips count half.
pub(super) fn amplitude_of(shape: &[f64], line: &[Vec3]) -> f64 {
    let weight = |i: usize| if i + 1 == shape.len() { 0.5 } else { 1.0 };
    let product: f64 = (0..shape.len()).map(|i| weight(i) * shape[i] * f64::from(line[i].x)).sum();
    let square: f64 = (0..shape.len()).map(|i| weight(i) * shape[i] * shape[i]).sum();
    product / square
}

/// Equilibrium of a chain between two ends.
fn catenary(name: &str, ends: Ends, tolerance: f64, plot: &mut Plot) -> Result<Row, Error> {
    let points = 41;
    let span = 0.18;
    // Start from a triangle of the right length.
    let depth = ((LENGTH * 0.5).powi(2) - (span * 0.5_f64).powi(2)).sqrt();
    let line: Vec<Vec3> = (0..points)
        .map(|i| {
            let t = i as f64 / (points - 1) as f64;
            let down = depth * (1.0 - (2.0 * t - 1.0).abs());
            Vec3::new((span * t) as f32, -down as f32, 0.0)
        })
        .collect();
    let settings = Settings { ends, damping: 3.0.into(), ..Settings::paper() };
    // Short steps: the displacement by gravity in one step remains as stretch.
    let world = World { steps_per_second: 960, ..World::default() };
    let mut simulation = chain(&line, settings, world)?;
    simulation.advance_to(6.0);
    // `2 a sinh(span / (2 a)) = L` gives the parameter of the catenary.
    let (mut lo, mut hi) = (1e-3, 10.0);
    for _ in 0..80 {
        let a = 0.5 * (lo + hi);
        if 2.0 * a * (span / (2.0 * a)).sinh() > LENGTH { lo = a } else { hi = a }
    }
    let a: f64 = 0.5 * (lo + hi);
    let height = |x: f64| a * (((x - 0.5 * span) / a).cosh() - (0.5 * span / a).cosh());
    let strands = simulation.strands();
    let now: Vec<(f64, f64)> =
        strands.strand(0).iter().map(|p| (f64::from(p.x), f64::from(p.y))).collect();
    let truth: Vec<(f64, f64)> =
        (0..=200).map(|i| span * f64::from(i) / 200.0).map(|x| (x, height(x))).collect();
    let away = |p: &(f64, f64)| {
        truth.iter().map(|t| (t.0 - p.0).hypot(t.1 - p.1)).fold(f64::INFINITY, f64::min)
    };
    let worst = now.iter().map(away).fold(0.0, f64::max) / LENGTH;
    plot.line(name, now);
    if ends == Ends::BothEvenly {
        plot.line("catenary", truth);
    }
    Ok(Row::compare(
        format!("chain/catenary-{name}"),
        simulation.model_name(),
        "largest distance from the catenary (of the length)",
        [worst, 0.0],
        tolerance,
    ))
}

/// Largest growth of the energy of a strand that falls from the horizontal, as a fraction of the energy that it can
/// lose.
fn energy(name: &str, settings: &Settings, plot: &mut Plot) -> Result<Row, Error> {
    let points = 30;
    let line: Vec<Vec3> = (0..points)
        .map(|i| Vec3::X * (LENGTH * f64::from(i) / f64::from(points - 1)) as f32)
        .collect();
    let world = World::default();
    let g = f64::from(-world.gravity.y);
    let mut simulation = chain(&line, settings.clone(), world)?;
    let mass_per_length = f64::from(Fibre::default().mass_per_length(Fibre::default().radius));
    let mass = mass_per_length * LENGTH / f64::from(points - 1);
    let reference = mass_per_length * LENGTH * g * LENGTH;
    let (mut min, mut growth, mut curve) = (f64::INFINITY, 0.0f64, Vec::new());
    let mut velocities = vec![Vec3::ZERO; points as usize];
    while simulation.time() < 4.0 {
        simulation.velocities(&mut velocities);
        let strands = simulation.strands();
        let sum: f64 = strands
            .strand(0)
            .iter()
            .zip(&velocities)
            .enumerate()
            .map(|(i, (p, v))| {
                let weight = if i == 0 || i + 1 == points as usize { 0.5 } else { 1.0 };
                let motion = 0.5 * f64::from(v.length_squared());
                weight * mass * (motion + g * f64::from(p.y))
            })
            .sum();
        min = min.min(sum);
        growth = growth.max((sum - min) / reference);
        curve.push((simulation.time(), sum * 1e3));
        simulation.step();
    }
    plot.line(name, curve);
    Ok(Row::compare(
        format!("chain/energy-{name}"),
        simulation.model_name(),
        "largest growth of energy (of all there is to lose)",
        [growth, 0.0],
        0.01,
    ))
}

/// A limp strand on a scalp at rest.
fn chain(line: &[Vec3], settings: Settings, world: World) -> Result<Simulation, Error> {
    let mut strands = Strands::new();
    strands.push(line);
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
    let model = ModelSettings::FollowTheLeader(settings);
    Ok(Simulation::new(Arc::new(groom), Arc::new(Body::still(scalp)?), &model, world)?)
}

/// Half the rate at which a line crosses zero; NaN if it does not cross it twice.
pub(super) fn frequency(line: &[(f64, f64)]) -> f64 {
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

/// Damping ratio from the largest values between zero crossings; NaN if there are not two.
pub(super) fn damping(line: &[(f64, f64)]) -> f64 {
    let mut peaks = vec![0.0f64];
    for pair in line.windows(2) {
        if (pair[0].1 > 0.0) != (pair[1].1 > 0.0) {
            peaks.push(0.0);
        }
        if let Some(peak) = peaks.last_mut() {
            *peak = peak.max(pair[1].1.abs());
        }
    }
    // The first begins in the middle of a swing, the last may not have reached its maximum.
    match &peaks[..peaks.len() - 1] {
        [_, first, .., last] => {
            let count = (peaks.len() - 3) as f64;
            let decay = (first / last).ln() / count;
            decay / (PI * PI + decay * decay).sqrt()
        }
        _ => f64::NAN,
    }
}

/// The Bessel function of order 0 for small arguments: its series.
fn bessel_j0(x: f64) -> f64 {
    let quarter = -0.25 * x * x;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..40 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_has_its_zeros_and_known_values() {
        for zero in J0_ZEROS {
            assert!(bessel_j0(zero).abs() < 1e-11, "{zero}");
        }
        assert!((bessel_j0(1.0) - 0.765_197_686_557_966_6).abs() < 1e-14);
    }

    #[test]
    fn frequency_and_damping_of_a_swing_are_measured_correctly() {
        let zeta = 0.03;
        let line: Vec<(f64, f64)> = (0..4000)
            .map(|i| f64::from(i) * 0.001)
            .map(|t| (t, (-zeta * 2.0 * PI * 1.3 * t).exp() * (2.0 * PI * 1.3 * t).cos()))
            .collect();
        assert!((frequency(&line) - 1.3).abs() < 2e-3, "{}", frequency(&line));
        assert!((damping(&line) - zeta).abs() < 2e-3, "{}", damping(&line));
        assert!(frequency(&[(0.0, 1.0), (1.0, 2.0)]).is_nan());
    }
}
