//! `cantilever`: strips on shaken heads, one step a frame. The reference is the plain version of the same
//! step on one thread, stepped through the same motion.
//!
//! The rows `style-1` to `style-4` have the joints and anchors of the four hairstyles of `jung2005`
//! table 1: forces, bending, lengths, frames and collision with four ellipsoids. `crowd` is 100 heads of
//! 100 strips of 14 joints in one step, each with ellipsoids and a motion of its own. `layered` is as many
//! joints as `style-1`, in four layers that stay in order. `quads` is what
//! comes after a step where somebody looks: the joints of `style-3` brought in order, the second edge,
//! normals and tangents; its reference is the step itself.

use coif::body::{MovingCollider, Shape};
use coif::groom::strips::{StripPose, Strips, wisps};
use coif::groom::{Groom, Strands};
use coif::grow::strips::StripMesh;
use coif::math::RigidTransform;
use coif::model::cantilever::plain::PlainCantilever;
use coif::model::cantilever::{Cantilever, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::{Wind, World, hash_positions};
use coif_scene::{Scene, build, builtin};
use glam::{Quat, Vec3};

use super::ftl::ELLIPSOIDS;
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::failure::Failure;
use crate::threads::with_threads;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "cantilever",
    about: "strips: the four hairstyles of jung2005 on a shaken head, and a crowd of 100 heads",
    run,
};

/// Length of a step (s): one a frame.
const DT: f32 = 1.0 / 60.0;
/// Steps in one timed piece.
const STEPS: usize = 8;
/// Memory that a step moves per joint (bytes): position and deviation read and written (48), goal,
/// length and radius read (20), tangent and binormal written (24).
const BYTES: f64 = 92.0;

/// One row: name, joints and anchors in all, and on how many heads.
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
    Case { name: "style-1", joints: 5_096, anchors: 364, heads: 1, layers: 1 },
    Case { name: "style-2", joints: 18_690, anchors: 623, heads: 1, layers: 1 },
    Case { name: "style-3", joints: 37_498, anchors: 2_316, heads: 1, layers: 1 },
    Case { name: "style-4", joints: 52_192, anchors: 2_388, heads: 1, layers: 1 },
    Case { name: "layered", joints: 5_040, anchors: 360, heads: 1, layers: 4 },
    Case { name: "crowd", joints: 140_000, anchors: 10_000, heads: 100, layers: 1 },
];

fn run(setting: &Setting) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for case in &CASES {
        let also_quads = case.name == "style-3" && setting.wants("quads");
        if !(setting.wants(case.name) || also_quads) {
            continue;
        }
        let groom = hair(case)?;
        for threads in setting.thread_counts() {
            let measured = with_threads(threads, || measure(case, &groom, setting, threads))?;
            let limit = BYTES / bandwidth::measure(threads)? * 1e9;
            rows.extend(
                measured.into_iter().map(|row| Row { memory_limit_ns: Some(limit), ..row }),
            );
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
) -> Result<Vec<Row>, Failure> {
    let gravity = World::default().gravity;
    // Every strand is a strip.
    let wisps = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
    let settings = Settings { wisps, ..Settings::default() };
    let mut lanes = Cantilever::new(groom, &settings)?;
    let mut plain = PlainCantilever::new(groom, &settings)?;
    let mut mesh = StripMesh::new(lanes.strips());
    let mut pose = StripPose::default();
    let (mut best, mut best_quads) = ([f64::INFINITY; 2], f64::INFINITY);
    let repetitions = if setting.quick { 3 } else { 12 };
    // Piece by piece, so that both see the same motion and the same disturbances.
    for piece in 0..repetitions + 1 {
        let steps: Vec<Step> = (0..STEPS).map(|i| Step::new(case, piece * STEPS + i)).collect();
        let wind = Wind::default();
        let report = &mut StepReport::default();
        let fast = seconds(|| {
            steps.iter().for_each(|s| lanes.step(&s.environment(gravity, &wind), report));
        });
        let slow = seconds(|| {
            steps.iter().for_each(|s| plain.step(&s.environment(gravity, &wind)));
        });
        let quads = seconds(|| {
            lanes.pose(&mut pose);
            mesh.follow(lanes.strips(), &pose);
        });
        // The first piece warms up.
        if piece > 0 {
            best = [best[0].min(fast), best[1].min(slow)];
            best_quads = best_quads.min(quads);
        }
    }
    let state_hash = format!("{:016x}", hash_positions(&pose.position));
    let step = best[0] / STEPS as f64;
    let mut rows = vec![Row {
        name: case.name.into(),
        strands: case.anchors,
        particles: case.joints,
        threads,
        ns_per_particle_step: step * 1e9 / case.joints as f64,
        ms_per_frame: step * 1e3,
        reference_ratio: best[1] / best[0],
        reference: "plain version, one thread",
        memory_limit_ns: None,
        state_hash: state_hash.clone(),
    }];
    if case.name == "style-3" {
        rows.push(Row {
            name: "quads".into(),
            strands: case.anchors,
            particles: case.joints,
            threads,
            ns_per_particle_step: best_quads * 1e9 / case.joints as f64,
            ms_per_frame: best_quads * 1e3,
            reference_ratio: step / best_quads,
            reference: "a step of the same strips",
            memory_limit_ns: None,
            state_hash,
        });
    }
    Ok(rows)
}

/// Strands of long hair with as many points in all as the row has joints, on every head.
fn hair(case: &Case) -> Result<Groom, Failure> {
    let strands = case.anchors / case.heads;
    let joints = case.joints / case.heads;
    let sets = [format!("groom.strands={strands}"), "groom.points=30".into()];
    let text = builtin::text("shake").unwrap_or_default();
    let head = build(&Scene::from_toml(text, "shake", &sets)?, std::path::Path::new("."))?.groom;
    let mut all = Strands::with_capacity(case.anchors, case.joints);
    for k in 0..case.heads {
        for s in 0..strands {
            // As many points on every strand as fit, and one more on the first ones.
            let points = joints / strands + usize::from(s < joints % strands);
            let line = resampled(head.strands.strand(s), points);
            all.push(&line.iter().map(|&p| p + place(k)).collect::<Vec<_>>());
        }
    }
    let mut groom = Groom::new(all, head.fibre);
    if case.layers > 1 {
        lay_over(&mut groom, case.layers)?;
    }
    Ok(groom)
}

/// Makes strips of the strands, of which the first lie under as many others, layer over layer.
fn lay_over(groom: &mut Groom, layers: usize) -> Result<(), Failure> {
    let columns = groom.strands.strand_count() / layers;
    let single = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
    let lowest = wisps::through_strands(groom, &single)?;
    let mut frames = Vec::new();
    for s in columns..groom.strands.strand_count() {
        lowest.rest_frames(s % columns, &mut frames);
        let up = 0.0025 * (s / columns) as f32;
        let line: Vec<Vec3> = lowest.edges.strand(s % columns).to_vec();
        for ((to, p), frame) in groom.strands.strand_mut(s).iter_mut().zip(line).zip(&frames) {
            *to = p + frame.normal() * up;
        }
    }
    let mut strips = wisps::through_strands(groom, &single)?;
    let below = |s: usize| s.checked_sub(columns).map_or(Strips::NONE, |s| s as u32);
    strips.below = (0..strips.count()).map(below).collect();
    strips.layer = (0..strips.count()).map(|s| (s / columns) as u32).collect();
    groom.strips = Some(Box::new(strips));
    Ok(())
}

/// Points at equal shares of the points of a line.
fn resampled(line: &[Vec3], points: usize) -> Vec<Vec3> {
    let at = |i: usize| {
        let t = i as f32 * (line.len() - 1) as f32 / (points - 1) as f32;
        let k = (t as usize).min(line.len() - 2);
        line[k].lerp(line[k + 1], t - k as f32)
    };
    (0..points).map(at).collect()
}

/// Where a head of the crowd stands (m): ten to a row.
fn place(head: usize) -> Vec3 {
    Vec3::new((head % 10) as f32, 0.0, (head / 10) as f32)
}

/// What the models see of one step, prepared outside of the clock.
struct Step {
    time: f64,
    roots: Vec<RigidTransform>,
    colliders: Vec<MovingCollider>,
}

impl Step {
    fn new(case: &Case, index: usize) -> Self {
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
        Self { time: (index + 1) as f64 * f64::from(DT), roots, colliders }
    }

    fn environment<'a>(&'a self, gravity: Vec3, wind: &'a Wind) -> Environment<'a> {
        Environment {
            time: self.time,
            dt: DT,
            gravity,
            wind,
            world_from_rest: &self.roots,
            colliders: &self.colliders,
            field: None,
        }
    }
}

/// A body shakes "no", twice a second, each a little later than the one before.
fn pose(head: usize, time: f64) -> RigidTransform {
    let late = 0.37 * head as f64;
    let angle = 0.6 * ((time * 2.0 * std::f64::consts::TAU - late).sin() + late.sin());
    RigidTransform::about(place(head), Quat::from_rotation_y(angle as f32))
}
