//! `coil`: a curl that hangs by its own weight, against the closed form of a helical spring.
//!
//! A close-coiled helix of wire of diameter d, with n turns of diameter D, is a spring of stiffness
//! `k = G d^4 / (8 D^3 n)`: its wire is twisted and hardly bent. Under its own weight W it gets longer by
//! `W / (2 k)`, half of the elongation by the same weight at its end. Human hair, coils of a centimetre; the
//! groom is the shape without weight (`hold_shape` is off).
//!
//! Tolerance: 5 %. Curls of 20 points per turn whose corners are kept free of extra particles by a smaller
//! `straight_below` are far off (66 %) and not among the rows: that key is for experiments.

use std::f64::consts::TAU;

use coif::groom::{Fibre, Strands};
use coif::model::{ModelSettings, mass_spring};
use coif::simulation::World;
use glam::Vec3;

use super::cantilever::on_a_wall;
use super::{Check, Findings, Plot, Row};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "coil",
    about: "a curl that hangs by its own weight gets as long as a helical spring does",
    run,
};

/// Numbers of points per turn, of which stiffness must be independent. With 24 the curl is so straight that it gets
/// extra particles.
const PER_TURN: [usize; 3] = [10, 14, 24];
/// Number of turns, their radius and their distance (m).
const TURNS: usize = 6;
const RADIUS: f64 = 0.005;
const PITCH: f64 = 0.002;
/// Time (s) after which nothing moves, and the damping rate of the air (1/s).
const REST_AFTER: f64 = 5.0;
const DAMPING: f32 = 15.0;
const TOLERANCE: f64 = 0.05;

fn run() -> Result<Findings, Error> {
    let (world, fibre) = (World { steps_per_second: 120, ..World::default() }, Fibre::default());
    let mut strands = Strands::new();
    for (s, &per_turn) in PER_TURN.iter().enumerate() {
        let aside = Vec3::new(0.02, 0.0, 0.05 * s as f32);
        let point = |i: usize| {
            let t = TAU * i as f64 / per_turn as f64;
            let around = Vec3::new((RADIUS * t.cos()) as f32, 0.0, (RADIUS * t.sin()) as f32);
            aside + around - Vec3::Y * (PITCH * t / TAU) as f32
        };
        strands.push(&(0..=per_turn * TURNS).map(point).collect::<Vec<_>>());
    }
    let before = strands.clone();
    let settings = mass_spring::Settings {
        hold_shape: false,
        damping: DAMPING.into(),
        ..mass_spring::Settings::default()
    };
    let gravity = f64::from(-world.gravity.y);
    let mut simulation = on_a_wall(strands, fibre, &ModelSettings::MassSpring(settings), world)?;
    let mut plot = Plot::new("A curl hangs by its own weight", "time (s)", "longer by (mm)");
    let mut lines = vec![Vec::new(); PER_TURN.len()];
    let longer = |now: &Strands, s: usize| {
        let height = |line: &[Vec3]| f64::from(line[0].y - line[line.len() - 1].y);
        height(now.strand(s)) - height(before.strand(s))
    };
    for frame in 1..=(REST_AFTER * 30.0) as u32 {
        let time = f64::from(frame) / 30.0;
        simulation.advance_to(time);
        let now = simulation.strands();
        for (s, line) in lines.iter_mut().enumerate() {
            line.push((time, 1e3 * longer(&now, s)));
        }
    }
    let wire = 2.0 * f64::from(fibre.radius);
    let stiffness = f64::from(fibre.shear_modulus) * wire.powi(4)
        / (8.0 * (2.0 * RADIUS).powi(3) * TURNS as f64);
    let mut rows = Vec::new();
    for (s, &per_turn) in PER_TURN.iter().enumerate() {
        let length = TURNS as f64 * (TAU * RADIUS).hypot(PITCH);
        let weight = f64::from(fibre.mass_per_length(fibre.radius)) * length * gravity;
        rows.push(Row::compare(
            format!("coil/{per_turn}-points-a-turn"),
            simulation.model_name(),
            "longer by its own weight (m)",
            [longer(&simulation.strands(), s), 0.5 * weight / stiffness],
            TOLERANCE,
        ));
        plot.line(&format!("{per_turn} points a turn"), std::mem::take(&mut lines[s]));
        if s + 1 == PER_TURN.len() {
            let reference = 500.0 * weight / stiffness;
            plot.line("helical spring", vec![(0.0, reference), (REST_AFTER, reference)]);
        }
    }
    Ok(Findings { rows, plots: vec![plot] })
}
