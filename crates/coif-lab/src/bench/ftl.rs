//! `ftl`: Follow-The-Leader in lanes on a shaken head. The reference is the plain version of the same pass on one
//! thread, stepped through the same motion.
//!
//! The rows `hair-10k` and `hair-100k` are the method alone: predict, bend, project, collide with four ellipsoids,
//! correct the velocity. `hair-10k-style` has the features of a scene: style, and all shapes of the built-in body;
//! `hair-10k-ramps` has style, damping and friction that vary from root to tip. `monster`, `afghan` and `girl` are
//! whole steps of these scenes: body, distance field, roots, model and contact, at one step per frame as in the paper
//! (185, 59 and 87 ms on one core of 2012, without pictures). Their reference is the plain version of all these parts.
//!
//! Times are medians over the frames of a second of motion, after a warm-up of a quarter of a second. The slow
//! reference goes through the same motion but stops before the end; it is compared with the same frames.

use std::sync::Arc;

use coif::body::{MovingCollider, Shape};
use coif::groom::{Groom, Strands};
use coif::math::RigidTransform;
use coif::model::follow_the_leader::plain::PlainFollowTheLeader;
use coif::model::follow_the_leader::{FollowTheLeader, Settings};
use coif::model::{Model, StepReport};
use coif::params::Ramp;
use coif::simulation::{Wind, World, hash_positions};
use coif::with_threads;
use coif_scene::Built;
use glam::{Quat, Vec3};

use super::plain_step::PlainScene;
use super::step::Step;
use super::timing::{MEASURED, Pieces, WARM_UP};
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "ftl",
    about: "Follow-The-Leader: 10,000 and 100,000 strands of 30 points on a shaken head",
    run,
};

/// Steps in one timed piece: one frame.
const STEPS: usize = 4;
/// Frames per second.
const FPS: f64 = 60.0;
/// Frames of warm-up, and measured frames.
const FRAMES: [usize; 2] = [(WARM_UP * FPS) as usize, (MEASURED * FPS) as usize];
/// Frames on which the reference is measured: half of them, in which the head moves back and forth once.
const REFERENCE_FRAMES: usize = 30;
/// Memory that a frame moves per particle (bytes): position, velocity and tension read and written (56), length read
/// (4). All steps of a frame but the first find their block in the cache.
const BYTES: f64 = 60.0;
/// The same with two passes: the constants of a point (48) instead of the length, the forces of its two contacts (8),
/// and the frame of its segment, read and written (32).
const BYTES_WITH_STYLE: f64 = 144.0;

/// One row: name, number of strands, whether it has style and all shapes, and whether it has ramps.
struct Case {
    name: &'static str,
    strands: usize,
    style: bool,
    ramps: bool,
}

const CASES: [Case; 4] = [
    Case { name: "hair-10k", strands: 10_000, style: false, ramps: false },
    Case { name: "hair-100k", strands: 100_000, style: false, ramps: false },
    Case { name: "hair-10k-style", strands: 10_000, style: true, ramps: false },
    Case { name: "hair-10k-ramps", strands: 10_000, style: true, ramps: true },
];

/// Stiffer and more slippery at the root, softer and rougher at the tip.
fn ramps() -> Settings {
    let ramp = |root: f32, tip: f32| Ramp::new(&[[0.0, root], [1.0, tip]]).unwrap_or(root.into());
    Settings {
        style_time: ramp(0.1, 0.3),
        damping: ramp(5.0, 3.0),
        friction: ramp(0.5, 1.5),
        ..Settings::default()
    }
}

/// Points per strand.
const POINTS: usize = 30;

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| setting.wants(case.name)) {
        let strands = if setting.quick { case.strands / 10 } else { case.strands };
        let mut built = head(strands)?;
        if !case.style {
            Arc::make_mut(&mut built.groom).strands = evened(&built.groom.strands);
        }
        for threads in setting.thread_counts() {
            let row = with_threads(threads, || measure(case, &built, setting, threads))??;
            let bytes = if case.style { BYTES_WITH_STYLE } else { BYTES };
            let limit = bytes / STEPS as f64 / bandwidth::measure(threads)? * 1e9;
            rows.push(Row { memory_limit_ns: Some(limit), ..row });
        }
    }
    // Skip whole scenes in quick mode.
    let scenes = if setting.quick { &[] } else { &SCENES[..] };
    for name in scenes.iter().filter(|name| setting.wants(name)) {
        for threads in setting.thread_counts() {
            rows.push(with_threads(threads, || whole_steps(name, threads))??);
        }
    }
    Ok(rows)
}

/// The strands with nearly equal segments, as the one-way pass requires: strands whose segments differ by more than
/// half are replaced by straight lines that hang down.
fn evened(strands: &Strands) -> Strands {
    let mut evened = strands.clone();
    for s in 0..strands.strand_count() {
        let lengths = strands.strand(s).windows(2).map(|w| w[0].distance(w[1]));
        let (lo, hi) = lengths.fold((f32::INFINITY, 0.0f32), |(lo, hi), l| (lo.min(l), hi.max(l)));
        if hi > 1.5 * lo {
            let root = strands.strand(s)[0];
            let step = strands.length(s) / (POINTS - 1) as f32;
            for (i, p) in evened.strand_mut(s).iter_mut().enumerate() {
                *p = root - Vec3::Y * (step * i as f32);
            }
        }
    }
    evened
}

/// Scenes of the paper (`muller2012` table 1).
const SCENES: [&str; 3] = ["monster", "afghan", "girl"];

/// Whole steps of a built-in scene, one per frame.
fn whole_steps(name: &str, threads: usize) -> Result<Row, Error> {
    let sets = ["time.fps=60".to_owned(), "time.steps_per_second=60".to_owned()];
    let (_, built) = crate::built_in(name, &sets)?;
    let mut simulation = built.simulation()?;
    let particles = built.groom.strands.point_count();
    let mut plain = PlainScene::new(&built)?;
    let mut pieces = Pieces::default();
    for frame in 0..FRAMES[0] + FRAMES[1] {
        let fast = seconds(|| simulation.step());
        let slow = match &mut plain {
            Some(plain) if frame < FRAMES[0] + REFERENCE_FRAMES => Some(plain.step()?),
            _ => None,
        };
        if frame >= FRAMES[0] {
            pieces.add(fast, slow);
        }
    }
    let hair = [built.groom.strands.strand_count(), particles];
    let reference = "plain version of all parts, one thread";
    Ok(Row { threads, ..pieces.row(name, hair, 1, reference, simulation.state_hash()) })
}

fn measure(case: &Case, built: &Built, setting: &Setting, threads: usize) -> Result<Row, Error> {
    let groom = &built.groom;
    let particles = groom.strands.point_count();
    let world = World::default();
    let (dt, gravity) = (world.dt(), world.gravity);
    let settings = if case.ramps {
        ramps()
    } else if case.style {
        Settings::default()
    } else {
        Settings { bend_limit: 0.5, damping: 4.0.into(), ..Settings::paper() }
    };
    let mut lanes = FollowTheLeader::new(groom, &settings, dt, gravity)?;
    let mut plain = PlainFollowTheLeader::new(groom, &settings, dt, gravity);
    let mut pieces = Pieces::default();
    // Alternate frame by frame, so that both see the same motion and the same disturbances.
    for frame in 0..FRAMES[0] + FRAMES[1] {
        let steps: Vec<Step> =
            (0..STEPS).map(|i| step(case, built, groom, frame * STEPS + i, dt)).collect();
        let wind = Wind::default();
        let report = &mut StepReport::default();
        // Take the steps of a frame at once, as a simulation does if nothing happens between them.
        let environments: Vec<_> = steps.iter().map(|s| s.environment(gravity, &wind)).collect();
        let fast = seconds(|| lanes.steps(&environments, report));
        let slow = (frame < FRAMES[0] + REFERENCE_FRAMES).then(|| {
            seconds(|| steps.iter().for_each(|s| plain.step(&s.environment(gravity, &wind))))
        });
        if frame >= FRAMES[0] {
            pieces.add(fast, slow);
        }
    }
    let mut positions = vec![Vec3::ZERO; particles];
    lanes.positions(&mut positions);
    let name = if setting.quick { format!("{}-quick", case.name) } else { case.name.into() };
    let hair = [groom.strands.strand_count(), particles];
    let hash = hash_positions(&positions);
    Ok(Row { threads, ..pieces.row(name, hair, STEPS, "plain version, one thread", hash) })
}

/// The built-in head that shakes "no", with this many strands.
pub(super) fn head(strands: usize) -> Result<Built, Error> {
    let sets = [format!("groom.strands={strands}"), format!("groom.points={POINTS}")];
    Ok(crate::built_in("shake", &sets)?.1)
}

/// Four ellipsoids in place of the built-in head, neck and shoulders: centre and radii (m).
pub(super) const ELLIPSOIDS: [(Vec3, Vec3); 4] = [
    (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.075, 0.105, 0.092)),
    (Vec3::new(0.0, -0.13, -0.02), Vec3::new(0.055, 0.09, 0.058)),
    (Vec3::new(0.09, -0.25, -0.03), Vec3::new(0.12, 0.06, 0.075)),
    (Vec3::new(-0.09, -0.25, -0.03), Vec3::new(0.12, 0.06, 0.075)),
];

/// A step of the whole body.
fn step(case: &Case, built: &Built, groom: &Groom, index: usize, dt: f32) -> Step {
    let at = |index: usize| pose(index as f64 * f64::from(dt));
    let (start, end) = (at(index), at(index + 1));
    let moving = |shape, friction, place: RigidTransform| MovingCollider {
        shape,
        friction,
        start: start * place,
        end: end * place,
    };
    let colliders = if case.style {
        let shapes = built.body.colliders().iter();
        shapes.map(|c| moving(c.shape, c.friction, c.world_from_shape)).collect()
    } else {
        let place = RigidTransform::from_translation;
        let shapes = ELLIPSOIDS.iter();
        shapes.map(|&(c, radii)| moving(Shape::Ellipsoid { radii }, 0.3, place(c))).collect()
    };
    Step { index, dt, roots: vec![end; groom.strands.strand_count()], colliders }
}

/// The motion of the whole body: it shakes "no" twice a second.
fn pose(time: f64) -> RigidTransform {
    let angle = 0.6 * (time * 2.0 * std::f64::consts::TAU).sin();
    RigidTransform::about(Vec3::ZERO, Quat::from_rotation_y(angle as f32))
}
