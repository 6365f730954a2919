//! `cantilever`: strips on shaken heads. The reference is the plain version of the same step on one thread, stepped
//! through the same motion.
//!
//! The rows `style-1` to `style-4` have the joints and anchors of the four hairstyles of `jung2005` table 1, in four
//! layers as the built-in strips: forces, bending, lengths, frames, collision with four ellipsoids, and the order of
//! layers. `crowd` is 100 heads of 100 strips of 14 joints in one step, each with its own ellipsoids and motion.
//! `loose` is `style-1` in one layer, where no strip lies on another. `quads` is the geometry for drawing after a step:
//! the second edge, normals, tangents and binormals of `style-3` in the order of its mesh; its reference goes joint by
//! joint.

use coif::body::{MovingCollider, Shape};
use coif::groom::strips::{StripPose, Strips, wisps};
use coif::groom::{Groom, Strands};
use coif::grow::strips::StripMesh;
use coif::math::RigidTransform;
use coif::model::cantilever::plain::PlainCantilever;
use coif::model::cantilever::{Cantilever, Settings};
use coif::model::{Model, StepReport};
use coif::simulation::{Wind, World, hash_positions};
use coif::with_threads;
use glam::{Quat, Vec3};

use super::ftl::{ELLIPSOIDS, head};
use super::step::Step;
use super::timing::{MEASURED, Pieces, WARM_UP};
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "cantilever",
    about: "strips: the four hairstyles of jung2005 on a shaken head, and a crowd of 100 heads",
    run,
};

/// Length of a step (s): the longest that a simulation takes.
const DT: f32 = 1.0 / 120.0;
/// Steps of a frame, at 60 frames a second.
const STEPS_PER_FRAME: f64 = 2.0;
/// Steps in one timed piece. An untimed step precedes it, so that the cache contents left by the other version affect
/// neither.
const STEPS: usize = 8;
/// Memory that a step moves per joint (bytes): position and deviation read and written (48), goal,
/// length, radius and gap read (24), binormal written (12).
const BYTES: f64 = 84.0;
/// Memory that quads move per joint (bytes): position and binormal read (24), four vectors at each of two
/// vertices written (96).
const QUAD_BYTES: f64 = 120.0;

/// One row: name, total joints and anchors, number of heads.
struct Case {
    name: &'static str,
    joints: usize,
    anchors: usize,
    heads: usize,
    /// Layers that lie on each other.
    layers: usize,
}

/// Table 1 of the paper, and the crowd.
const CASES: [Case; 6] = [
    Case { name: "style-1", joints: 5_096, anchors: 364, heads: 1, layers: 4 },
    Case { name: "style-2", joints: 18_690, anchors: 623, heads: 1, layers: 4 },
    Case { name: "style-3", joints: 37_498, anchors: 2_316, heads: 1, layers: 4 },
    Case { name: "style-4", joints: 52_192, anchors: 2_388, heads: 1, layers: 4 },
    Case { name: "loose", joints: 5_096, anchors: 364, heads: 1, layers: 1 },
    Case { name: "crowd", joints: 140_000, anchors: 10_000, heads: 100, layers: 4 },
];

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for case in &CASES {
        let also_quads = case.name == "style-3" && setting.wants("quads");
        if !(setting.wants(case.name) || also_quads) {
            continue;
        }
        let groom = hair(case)?;
        for threads in setting.thread_counts() {
            let measured = with_threads(threads, || measure(case, &groom, setting, threads))??;
            let bandwidth = bandwidth::measure(threads)?;
            rows.extend(measured.into_iter().map(|row| {
                let bytes = if row.name == "quads" { QUAD_BYTES } else { BYTES };
                Row { memory_limit_ns: Some(bytes / bandwidth * 1e9), ..row }
            }));
        }
    }
    rows.retain(|row| setting.wants(&row.name));
    Ok(rows)
}

fn measure(
    case: &Case,
    groom: &Groom,
    setting: &Setting,
    threads: usize,
) -> Result<Vec<Row>, Error> {
    let gravity = World::default().gravity;
    // Every strand is a strip.
    let wisps = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
    let settings = Settings { wisps, ..Settings::default() };
    let mut lanes = Cantilever::new(groom, &settings)?;
    let mut plain = PlainCantilever::new(groom, &settings)?;
    let mut mesh = StripMesh::new(lanes.strips());
    let mut pose = StripPose::default();
    let (mut step_times, mut quad_times) = (Pieces::default(), Pieces::default());
    // A piece is this long with the step before it (s).
    let piece_time = (STEPS + 1) as f64 * f64::from(DT);
    let warm_up = (WARM_UP / piece_time).ceil() as usize;
    let measured = if setting.quick { 3 } else { (MEASURED / piece_time).ceil() as usize };
    // Alternate piece by piece, so that both see the same motion and the same disturbances.
    for piece in 0..warm_up + measured {
        let from = piece * (STEPS + 1);
        let first = step(case, from);
        let steps: Vec<Step> = (1..=STEPS).map(|i| step(case, from + i)).collect();
        let wind = Wind::default();
        let report = &mut StepReport::default();
        lanes.step(&first.environment(gravity, &wind), report);
        let fast = seconds(|| {
            steps.iter().for_each(|s| lanes.step(&s.environment(gravity, &wind), report));
        });
        let quads = seconds(|| mesh.follow_lanes(&lanes.lanes()));
        plain.step(&first.environment(gravity, &wind));
        let slow = seconds(|| {
            steps.iter().for_each(|s| plain.step(&s.environment(gravity, &wind)));
        });
        let slow_quads = seconds(|| {
            lanes.pose(&mut pose);
            mesh.follow(lanes.strips(), &pose);
        });
        if piece >= warm_up {
            step_times.add(fast, Some(slow));
            quad_times.add(quads, Some(slow_quads));
        }
    }
    let hash = hash_positions(&pose.position);
    let hair = [case.anchors, case.joints];
    let row = step_times.row(case.name, hair, STEPS, "plain version, one thread", hash);
    let ms_per_frame = STEPS_PER_FRAME / STEPS as f64 * row.ms_per_frame;
    let mut rows = vec![Row { threads, ms_per_frame, ..row }];
    if case.name == "style-3" {
        rows.push(Row { threads, ..quad_times.row("quads", hair, 1, "joint by joint", hash) });
    }
    Ok(rows)
}

/// Strands of long hair on every head with as many points as the row has joints: column by column, the strips of a
/// column one over the other.
fn hair(case: &Case) -> Result<Groom, Error> {
    let strands = case.anchors / case.heads;
    let joints = case.joints / case.heads;
    let head = head(strands)?.groom;
    let mut all = Strands::with_capacity(case.anchors, case.joints);
    for k in 0..case.heads {
        for s in 0..strands {
            // As many points on every strand as fit, and one more on the first ones.
            let points = joints / strands + usize::from(s < joints % strands);
            let line = resampled(head.strands.strand(s - s % case.layers), points);
            all.push(&line.iter().map(|&p| p + place(k)).collect::<Vec<_>>());
        }
    }
    let mut groom = Groom::new(all, head.fibre);
    lay_over(&mut groom, strands, case.layers)?;
    Ok(groom)
}

/// Distance of one layer from the next (m), as in the built-in strips.
const LAYER_DISTANCE: f32 = 0.0025;

/// Makes a strip of every strand and lifts those of each column over each other. A head has `strands`.
fn lay_over(groom: &mut Groom, strands: usize, layers: usize) -> Result<(), Error> {
    let single = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
    let flat = wisps::through_strands(groom, &single)?;
    let layer = |s: usize| s % strands % layers;
    let mut frames = Vec::new();
    for s in 0..flat.count() {
        flat.rest_frames(s, &mut frames);
        let up = LAYER_DISTANCE * layer(s) as f32;
        for (p, frame) in groom.strands.strand_mut(s).iter_mut().zip(&frames) {
            *p += frame.normal() * up;
        }
    }
    let mut strips = wisps::through_strands(groom, &single)?;
    let below = |s: usize| if layer(s) > 0 { s as u32 - 1 } else { Strips::NONE };
    strips.below = (0..strips.count()).map(below).collect();
    strips.layer = (0..strips.count()).map(|s| layer(s) as u32).collect();
    groom.strips = Some(Box::new(strips));
    Ok(())
}

/// Points at equal fractions of the points of a line.
fn resampled(line: &[Vec3], points: usize) -> Vec<Vec3> {
    let at = |i: usize| {
        let t = i as f32 * (line.len() - 1) as f32 / (points - 1) as f32;
        let k = (t as usize).min(line.len() - 2);
        line[k].lerp(line[k + 1], t - k as f32)
    };
    (0..points).map(at).collect()
}

/// Position of a head of the crowd (m): ten to a row.
fn place(head: usize) -> Vec3 {
    Vec3::new((head % 10) as f32, 0.0, (head / 10) as f32)
}

/// A step of all heads.
fn step(case: &Case, index: usize) -> Step {
    let mut roots = Vec::with_capacity(case.anchors);
    let mut colliders = Vec::with_capacity(4 * case.heads);
    for head in 0..case.heads {
        let at = |index: usize| pose(head, index as f64 * f64::from(DT));
        let (start, end) = (at(index), at(index + 1));
        roots.resize(roots.len() + case.anchors / case.heads, end);
        colliders.extend(ELLIPSOIDS.iter().map(|&(centre, radii)| {
            let place = RigidTransform::from_translation(centre + place(head));
            let shape = Shape::Ellipsoid { radii };
            MovingCollider { shape, friction: 0.3, start: start * place, end: end * place }
        }));
    }
    Step { index, dt: DT, roots, colliders }
}

/// The motion of a head: it shakes "no" twice a second, with a phase of its own.
fn pose(head: usize, time: f64) -> RigidTransform {
    let late = 0.37 * head as f64;
    let angle = 0.6 * ((time * 2.0 * std::f64::consts::TAU - late).sin() + late.sin());
    RigidTransform::about(place(head), Quat::from_rotation_y(angle as f32))
}
