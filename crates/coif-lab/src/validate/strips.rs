//! Strips that move as cantilever beams (`jung2005`): the same shape at any frame rate, and layers that stay in their
//! order. The four built-in hairstyles of strips on the head with its shoulders, whole scenes with fewer strands.
//!
//! Every joint of every strip is compared, at every thirtieth of a second for the frame rate and at every sixtieth for
//! the order.
//!
//! Order: strips lie on each other in columns, and a strip swaps with the one below where a joint of its middle line is
//! below that of the other. The height is measured along the normal of the lower strip, which is the scalp's,
//! transported along the strip: at the projection of the joint on the nearest segment of the lower middle line. All
//! joints are measured that at rest are above the lower strip by more than a few hairs ([`IN_ORDER`]), if the widths of
//! the two strips overlap at all; anchors do not move.
//!
//! Tolerance: that of the frame rate is a requirement. That of steps four times as short was set after the first run:
//! it measures the distance of single joints from the limit where hair folds up between head and back.

use coif::groom::strips::{JointFrame, StripPose, Strips};
use coif::simulation::Simulation;
use glam::Vec3;

use super::{Check, Findings, Plot, Row, simulation_of};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "strips",
    about: "strips have one shape at 30, 60 and 120 frames a second, and layers stay in order",
    run,
};

/// Maximum distance between joints at two frame rates, over the length of the strips.
const TOLERANCE: f64 = 0.02;
/// The same for steps four times as short.
const FINE_TOLERANCE: f64 = 0.07;
/// Samples per second, over two seconds, for the frame rate.
const SAMPLES: u32 = 30;
/// Frames per second, over two seconds, for the order.
const FRAMES: u32 = 60;
/// The scenes, and the motions for the frame rate.
const STYLES: [(&str, &str); 4] = [
    ("strips-bob", "shake"),
    ("strips-short", "nod"),
    ("strips-long", "spin"),
    ("strips-ponytail", "walk"),
];
/// The motions for the order.
const MOTIONS: [&str; 2] = ["shake", "spin"];
/// Height above the strip below (m) from which a joint counts as in order at rest: a few hairs.
const IN_ORDER: f32 = 2e-4;
/// The collision methods for the order.
const BODIES: [&str; 2] = ["primitives", "distance-field"];
/// Number of strands, for the frame rate and for the order.
const STRANDS: [u32; 2] = [2000, 6000];

fn run() -> Result<Findings, Error> {
    let mut rows = Vec::new();
    let title = "Strips at 120 against 480 steps/s";
    let mut plot = Plot::new(title, "time (s)", "distance / length");
    for (scene, motion) in STYLES {
        let (found, line) = frame_rates(scene, motion)?;
        for (rate, value) in [30, 60].into_iter().zip(found) {
            rows.push(Row::compare(
                format!("{scene}/{motion}-{rate}-fps"),
                "cantilever",
                "largest distance of a joint from that at 120 fps / length",
                [value, 0.0],
                TOLERANCE,
            ));
        }
        rows.push(Row::compare(
            format!("{scene}/{motion}-fine"),
            "cantilever",
            "largest distance of a joint at 120 from that at 480 steps/s / length",
            [found[2], 0.0],
            FINE_TOLERANCE,
        ));
        plot.line(scene, line);
        for motion in MOTIONS {
            for collide in BODIES {
                let sets = [
                    format!("body.collide={collide}"),
                    format!("body.motion={motion}"),
                    format!("groom.strands={}", STRANDS[1]),
                ];
                rows.push(Row::at_least(
                    format!("{scene}/{motion}-layers-{collide}"),
                    "cantilever",
                    "smallest height of a joint over the strip below, along its normal (mm); less than 0 is a swap",
                    [1e3 * min_height(simulation_of(scene, &sets)?), 0.0],
                ));
            }
        }
    }
    Ok(Findings { rows, plots: vec![plot] })
}

/// A line of a plot.
type Line = Vec<(f64, f64)>;

/// Distances of the shapes at 30 and at 60 frames a second from that at 120, and of that from the one at 480; the last
/// over time as well.
fn frame_rates(scene: &str, motion: &str) -> Result<([f64; 3], Line), Error> {
    let start = |rate: u32| {
        let sets = [
            format!("body.motion={motion}"),
            format!("time.steps_per_second={rate}"),
            format!("time.fps={rate}"),
            format!("groom.strands={}", STRANDS[0]),
        ];
        simulation_of(scene, &sets)
    };
    let mut runs = [start(30)?, start(60)?, start(480)?, start(120)?];
    let mut poses: [StripPose; 4] = Default::default();
    let longest = |s: &Strips| (0..s.count()).map(|i| s.edges.length(i)).fold(0.0, f32::max);
    let length = f64::from(runs[0].strips().map_or(f32::NAN, longest));
    let mut worst = [0.0f64; 3];
    let mut line = vec![(0.0, 0.0)];
    for sample in 1..=2 * SAMPLES {
        let time = f64::from(sample) / f64::from(SAMPLES);
        for (run, pose) in runs.iter_mut().zip(&mut poses) {
            run.advance_to(time);
            run.strip_pose(pose);
        }
        let [.., at_120] = &poses;
        for (k, pose) in poses[..3].iter().enumerate() {
            let pairs = pose.position.iter().zip(&at_120.position);
            let apart = pairs.map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max) / length;
            worst[k] = worst[k].max(apart);
            if k == 2 {
                line.push((time, apart));
            }
        }
    }
    Ok((worst, line))
}

/// The smallest height (m) of a joint over the strip that its own lies on, at any time.
fn min_height(mut run: Simulation) -> f64 {
    let Some(strips) = run.strips().cloned() else { return f64::NAN };
    // Select the joints that lie over the other strip at rest.
    let rest = strips.rest_pose();
    let mut pairs = Vec::new();
    for s in 0..strips.count() {
        let Some(below) = strips.lies_on(s) else { continue };
        let joints = strips.edges.points_of(s).skip(1);
        let ordered = joints.filter(|&j| over(&strips, &rest, [s, below], j).0 > IN_ORDER);
        pairs.extend(ordered.map(|j| ([s, below], j)));
    }
    let mut pose = StripPose::default();
    let mut min_height = f32::INFINITY;
    for frame in 0..=2 * FRAMES {
        run.advance_to(f64::from(frame) / f64::from(FRAMES));
        run.strip_pose(&mut pose);
        for &([s, below], j) in &pairs {
            let (height, aside) = over(&strips, &pose, [s, below], j);
            if aside < 0.5 * (strips.width[s] + strips.width[below]) {
                min_height = min_height.min(height);
            }
        }
    }
    // Without any pair nothing is proven.
    if min_height.is_finite() { min_height.into() } else { f64::NAN }
}

/// Height of the middle of joint `j` of a strip over the middle line of another, and its sideways distance (m).
fn over(strips: &Strips, pose: &StripPose, [upper, lower]: [usize; 2], j: usize) -> (f32, f32) {
    let middle = |s: usize, j: usize| pose.position[j] + pose.binormal[j] * (0.5 * strips.width[s]);
    let joints = strips.edges.points_of(lower);
    let line: Vec<Vec3> = joints.clone().map(|i| middle(lower, i)).collect();
    let p = middle(upper, j);
    let mut nearest = (f32::INFINITY, 0.0, 0.0);
    for (k, i) in joints.skip(1).enumerate() {
        // A joint has the frame of the segment that ends there.
        let frame = JointFrame { tangent: pose.tangent[i], binormal: pose.binormal[i] };
        let along = line[k + 1] - line[k];
        let fraction = ((p - line[k]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        let offset = p - (line[k] + along * fraction);
        if offset.length_squared() < nearest.0 {
            let height = offset.dot(frame.normal());
            let aside = (offset.length_squared() - height * height).max(0.0).sqrt();
            nearest = (offset.length_squared(), height, aside);
        }
    }
    (nearest.1, nearest.2)
}
