//! Strips that move as cantilever beams (`jung2005`): the same shape at any frame rate, and layers that
//! stay in their order. On the built-in head, whole scenes.
//!
//! Frame rates are compared without a body: where hair slides over a face or an ear, single joints part by
//! up to 4 % of the length at 30 frames a second. `tests/physics_cantilever.rs` compares them on a ball.

use coif::groom::strips::{JointFrame, StripPose};
use coif::simulation::Simulation;

use super::{Check, Findings, Plot, Row, built_in};
use crate::failure::Failure;

pub(super) const CHECK: Check = Check {
    name: "strips",
    about: "strips have one shape at 30, 60 and 120 frames a second, and layers stay in order",
    run,
};

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
        let least = layers(motion)?;
        rows.push(Row::at_least(
            format!("strips/{motion}-layers"),
            "cantilever",
            "least height of a joint over the one below, along the normal (mm); 0 is a swap",
            [least * 1e3, 0.0],
        ));
    }
    Ok(Findings { rows, plots: vec![plot] })
}

fn start(motion: &str, rate: u32, collide: &str) -> Result<Simulation, Failure> {
    let sets = [
        format!("body.collide={collide}"),
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
    let [a, b, c] = [30, 60, 120].map(|rate| start(motion, rate, "none"));
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

/// The least height (m) of a strip over the one of the layer below, at any joint and time: wherever the
/// groom has them one over the other, and while they are still beside each other.
fn layers(motion: &str) -> Result<f64, Failure> {
    let mut run = start(motion, 120, "primitives")?;
    let Some(strips) = run.strips().cloned() else { return Ok(f64::NAN) };
    let columns = strips.count() / strips.layers().max(1) as usize;
    let mut pose = StripPose::default();
    let mut least = f64::INFINITY;
    let mut ordered = vec![false; strips.edges.point_count()];
    for sample in 0..=2 * SAMPLES {
        run.advance_to(f64::from(sample) / f64::from(SAMPLES));
        run.strip_pose(&mut pose);
        for s in 0..strips.count() - columns {
            let (low, high) = (strips.edges.points_of(s), strips.edges.points_of(s + columns));
            for (i, j) in low.zip(high) {
                let frame = JointFrame { tangent: pose.tangent[i], binormal: pose.binormal[i] };
                let way = frame.local(pose.position[j] - pose.position[i]);
                if sample == 0 {
                    ordered[i] = way.y > 0.0;
                }
                let beside = way.z.abs() < 0.5 * strips.width[s] && way.x.abs() < strips.width[s];
                if ordered[i] && beside {
                    least = least.min(f64::from(way.y));
                }
            }
        }
    }
    Ok(least)
}
