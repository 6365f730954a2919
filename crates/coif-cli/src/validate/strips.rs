//! Strips that move as cantilever beams (`jung2005`): the same shape at any frame rate, on the built-in
//! head.
//!
//! Frame rates are compared without a body: where hair slides over a face or an ear, single joints part by
//! up to 4 % of the length at 30 frames a second. `tests/physics_cantilever.rs` compares them on a ball, and
//! looks at the order of layers there.

use coif::groom::strips::StripPose;
use coif::simulation::Simulation;

use super::{Check, Findings, Plot, Row, built_in};
use crate::failure::Failure;

pub(super) const CHECK: Check =
    Check { name: "strips", about: "strips have one shape at 30, 60 and 120 frames a second", run };

/// Largest distance between joints at two frame rates, over the length of the strips, that issue and
/// eye allow.
const TOLERANCE: f64 = 0.02;
/// Length of the strips (m).
const LENGTH: f64 = 0.26;
/// Samples per second, of two seconds.
const SAMPLES: u32 = 30;
/// What the head does.
const MOTIONS: [&str; 2] = ["shake", "spin"];

fn run() -> Result<Findings, Failure> {
    let mut rows = Vec::new();
    let mut plot = Plot::new("Strips at 30 against 120 frames/s", "time (s)", "distance / length");
    for motion in MOTIONS {
        let (found, line) = frame_rates(motion)?;
        for (rate, value) in [30, 60].into_iter().zip(found) {
            rows.push(Row::compare(
                format!("strips/{motion}-{rate}-fps"),
                "cantilever",
                "largest distance of a joint from that at 120 fps / length",
                [value, 0.0],
                TOLERANCE,
            ));
        }
        plot.line(motion, line);
    }
    Ok(Findings { rows, plots: vec![plot] })
}

fn start(motion: &str, rate: u32) -> Result<Simulation, Failure> {
    let sets = [
        "body.collide=none".into(),
        format!("body.motion={motion}"),
        format!("time.steps_per_second={rate}"),
        format!("time.fps={rate}"),
        "groom.strands=800".into(),
        "groom.points=4".into(),
        "body.resolution=0.006".into(),
    ];
    built_in("strips-bob", &sets)
}

/// A line of a plot.
type Line = Vec<(f64, f64)>;

/// How far the shapes at 30 and at 60 frames a second are from that at 120, and the first over time.
fn frame_rates(motion: &str) -> Result<([f64; 2], Line), Failure> {
    let [a, b, c] = [30, 60, 120].map(|rate| start(motion, rate));
    let mut runs = [a?, b?, c?];
    let mut poses = [StripPose::default(), StripPose::default(), StripPose::default()];
    let mut worst = [0.0f64; 2];
    let mut line = vec![(0.0, 0.0)];
    for sample in 1..=2 * SAMPLES {
        let time = f64::from(sample) / f64::from(SAMPLES);
        for (run, pose) in runs.iter_mut().zip(&mut poses) {
            run.advance_to(time);
            run.strip_pose(pose);
        }
        for k in 0..2 {
            let pairs = poses[k].position.iter().zip(&poses[2].position);
            let apart = pairs.map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max) / LENGTH;
            worst[k] = worst[k].max(apart);
            if k == 0 {
                line.push((time, apart));
            }
        }
    }
    Ok((worst, line))
}
