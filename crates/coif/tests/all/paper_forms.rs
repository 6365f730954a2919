//! The forms of `muller2012` itself: the scale of eq. 9 per segment (figures 4 and 5).

use std::sync::Arc;

use coif::body::{Body, TriangleMesh};
use coif::groom::{Fibre, Groom, Strands};
use coif::model::ModelSettings;
use coif::model::follow_the_leader::{CorrectionForm, Settings};
use coif::simulation::{Simulation, World};
use glam::Vec3;

/// Points, length of a segment (m) and steps per second of the paper's rope (section 4).
const POINTS: usize = 30;
const SEGMENT: f32 = 0.02;
const STEPS: u32 = 100;

/// A chain that begins as a horizontal line, attached at its left end, and falls (figures 4 and 5).
fn rope(points: usize, settings: Settings) -> Simulation {
    let mut strands = Strands::new();
    let step = SEGMENT * (POINTS - 1) as f32 / (points - 1) as f32;
    let line: Vec<Vec3> = (0..points).map(|i| Vec3::X * (step * i as f32)).collect();
    strands.push(&line);
    let mut groom = Groom::new(strands, Fibre::default());
    let corners = [Vec3::new(-0.1, 0.0, -0.1), Vec3::Z * 0.1, Vec3::new(0.1, 0.0, -0.1)];
    let mesh = TriangleMesh { positions: corners.to_vec(), triangles: vec![[0, 1, 2]] };
    groom.bind(&mesh).expect("valid");
    let body = Body::still(mesh).expect("valid");
    let world = World { steps_per_second: STEPS, gravity: Vec3::NEG_Y * 10.0, ..World::default() };
    let model = ModelSettings::FollowTheLeader(settings);
    Simulation::new(Arc::new(groom), Arc::new(body), &model, world).expect("valid")
}

fn paper(correction: f32, correction_form: CorrectionForm) -> Settings {
    Settings { correction: correction.into(), correction_form, ..Settings::paper() }
}

/// Kinetic energy of each point by mass (m^2/s^2), at the end of every step of some seconds.
fn energies(points: usize, settings: Settings, seconds: f32) -> Vec<Vec<f32>> {
    let mut sim = rope(points, settings);
    let mut v = vec![Vec3::ZERO; points];
    (0..(seconds * STEPS as f32) as usize)
        .map(|_| {
            sim.step();
            sim.velocities(&mut v);
            v.iter().map(|v| 0.5 * v.length_squared()).collect()
        })
        .collect()
}

/// Largest kinetic energy of the falling rope, as if all points had equal masses, relative to the energy that it can lose
/// from the horizontal to hanging straight down.
fn peak(s: f32) -> f32 {
    let all = energies(POINTS, paper(s, CorrectionForm::Segment), 4.0);
    let most = all.iter().map(|e| e.iter().sum()).fold(0.0f32, f32::max);
    let available: f32 = (0..POINTS).map(|i| 10.0 * SEGMENT * i as f32).sum();
    most / available
}

/// Figure 4: without the correction (`s -> 0`) every particle has infinitely more mass than its successor, and throws it
/// around: particles of equal masses with these velocities would have many times the energy of the fall. With the full
/// correction they never have more than that.
#[test]
fn without_the_correction_tails_are_thrown_around() {
    let (none, half, full) = (peak(0.0), peak(0.5), peak(1.0));
    println!(
        "peak energy of that of the fall: {none} for s = 0, {half} for s = 0.5, {full} for s = 1"
    );
    assert!(none > half && half > 2.0 && full < 1.0, "{none} {half} {full}");
}

/// Figure 5: `s = 1` damps, and `s = 0.9` per segment damps less: the rope falls faster.
#[test]
fn a_scale_below_one_per_segment_damps_less() {
    let (full, less) = (peak(1.0), peak(0.9));
    println!("peak energy of that of the fall: {full} for s = 1, {less} for s = 0.9 per segment");
    assert!(less > 1.2 * full, "{less} {full}");
}

/// The two forms are the same scale, one the power of the other by the number of segments, with and without the pass from
/// tip to root; a scale of the strand means the same for any number of points, a scale per segment does not.
#[test]
fn the_two_forms_agree_for_one_number_of_points() {
    for backward in [false, true] {
        let tip = |points: usize, correction: f32, correction_form| {
            let settings = Settings { backward, ..paper(correction, correction_form) };
            let mut sim = rope(points, settings);
            sim.advance_to(0.4);
            sim.strands().strand(0)[points - 1]
        };
        let of_strand = 0.95f32.powi(POINTS as i32 - 1);
        let segment = tip(POINTS, 0.95, CorrectionForm::Segment);
        let off = segment.distance(tip(POINTS, of_strand, CorrectionForm::Strand));
        // Rounding of a power.
        println!("implicit {backward}: the forms differ by {off} m");
        assert!(off < 1e-4, "implicit {backward}: {off} m");
        let finer = tip(2 * POINTS - 1, 0.95, CorrectionForm::Segment).distance(segment);
        let strand = tip(2 * POINTS - 1, of_strand, CorrectionForm::Strand).distance(segment);
        println!("with twice the segments: {finer} m per segment, {strand} m per strand");
        assert!(finer > strand || !backward, "{finer} {strand}");
    }
}
