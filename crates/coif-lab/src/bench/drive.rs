//! `drive`: hair driven by a pose per frame, compared with a motion that is known in advance, in the same run. The
//! reference is `advance_to` to the same time through the same motion, with as many steps.
//!
//! Rows `-uneven` have random frame rates of 30 to 240 a second; rows `-read` are the time for reading all positions
//! after each of those frames. Their memory limit is that of the bytes to be read and written, and their reference
//! copies as many. Of models whose steps are slow only reading is measured, over a few short frames.

use std::sync::Arc;

use coif::body::{Body, Collider, Motion, Pose};
use coif::math::{RigidTransform, WorldTransform};
use coif::simulation::{Simulation, World};
use coif::with_threads;
use coif_scene::{Built, Scene, build, builtin};
use glam::{Quat, Vec3};

use super::timing::{MEASURED, Pieces, WARM_UP};
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "drive",
    about: "A pose per frame: strands, strips and a hair mesh, beside a motion known in advance",
    run,
};

/// A scene of 10,000 strands.
struct Case {
    name: &'static str,
    scene: &'static str,
    /// Its model, if not the scene's own; of such cases only reading is measured.
    model: Option<&'static str>,
    /// Bytes that reading a point between two steps reads and writes. Three numbers are written; position and velocity
    /// are read where the model moves strands. A point in a strip reads ten numbers (a fraction, two offsets, length,
    /// room), one in a hair mesh seven (a place, an offset, length); the data of their carriers are small.
    bytes: usize,
}

const CASES: [Case; 6] = [
    Case { name: "hair-10k", scene: "shake", model: None, bytes: 12 + 24 },
    Case { name: "strips", scene: "strips-long", model: None, bytes: 12 + 40 },
    Case { name: "hair-mesh", scene: "hair-mesh-shoulder", model: None, bytes: 12 + 28 },
    Case { name: "position-based", scene: "shake", model: Some("position-based"), bytes: 12 + 24 },
    Case {
        name: "explicit-spring",
        scene: "shake",
        model: Some("explicit-spring"),
        bytes: 12 + 24,
    },
    Case { name: "mass-spring", scene: "shake", model: Some("mass-spring"), bytes: 12 + 24 },
];

/// Strands of each scene.
const STRANDS: usize = 10_000;

/// Frames after which reading alone is measured, and how often in each of them.
const READ_FRAMES: u32 = 3;
const READS: usize = 12;
/// Length of those frames, in steps: all end between two steps.
const READ_STEPS: f64 = 1.25;

/// A head that shakes "no" twice a second, and moves back and forth.
struct Shake;

impl Shake {
    fn at(time: f64) -> WorldTransform {
        let angle = 0.6 * (time * 2.0 * std::f64::consts::TAU).sin();
        let place = Vec3::X * (0.3 * (3.0 * time).sin()) as f32;
        let about = RigidTransform::about(Vec3::ZERO, Quat::from_rotation_y(angle as f32));
        (RigidTransform::from_translation(place) * about).into()
    }
}

impl Motion for Shake {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        Self::at(time).relative_to(glam::DVec3::ZERO)
    }
}

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for Case { name, scene, model, bytes } in CASES {
        let asked = |kind: &&str| setting.wants(&format!("{name}{kind}"));
        let kinds = if model.is_some() { &["-read"][..] } else { &["", "-uneven", "-read"] };
        let kinds: Vec<&str> = kinds.iter().copied().filter(asked).collect();
        if kinds.is_empty() {
            continue;
        }
        let strands = if setting.quick { STRANDS / 10 } else { STRANDS };
        let mut sets = vec![format!("groom.strands={strands}")];
        sets.extend(model.map(|model| format!("model.name={model}")));
        let text = builtin::text(scene).unwrap_or_default();
        let built = build(&Scene::from_toml(text, scene, &sets)?, std::path::Path::new("."))?;
        for threads in setting.thread_counts() {
            let limit = bytes as f64 / bandwidth::measure(threads)? * 1e9;
            let mut add = |uneven: bool, of: &[&str]| -> Result<(), Error> {
                if !of.iter().any(|kind| kinds.contains(kind)) {
                    return Ok(());
                }
                let only_reading = model.is_some();
                let measured = with_threads(threads, || match only_reading {
                    true => measure_reading(&built, bytes),
                    false => measure(&built, uneven, bytes),
                })??;
                for (k, kind) in of.iter().enumerate().filter(|(_, kind)| kinds.contains(kind)) {
                    let quick = if setting.quick { "-quick" } else { "" };
                    let row = measured.row(k, format!("{name}{kind}{quick}"), &built, threads);
                    rows.push(Row { memory_limit_ns: (k == 1).then_some(limit), ..row });
                }
                Ok(())
            };
            add(false, &[""])?;
            add(true, &["-uneven", "-read"])?;
        }
    }
    Ok(rows)
}

/// Times of frames and of reading, and the hash of the result.
struct Measured {
    pieces: [Pieces; 2],
    /// Mean number of steps per frame.
    steps: f64,
    hash: u64,
}

impl Measured {
    fn row(&self, k: usize, name: String, built: &Built, threads: usize) -> Row {
        let particles = built.groom.strands.point_count();
        let per = particles as f64 * if k == 0 { self.steps } else { 1.0 };
        let pieces = &self.pieces[k];
        Row {
            name,
            strands: built.groom.strands.strand_count(),
            particles,
            threads,
            ns_per_particle_step: pieces.median() * 1e9 / per,
            ns_per_particle_step_min: pieces.min() * 1e9 / per,
            ms_per_frame: pieces.median() * 1e3,
            reference_ratio: pieces.ratio(),
            reference: ["advance_to, as many threads", "copying as many bytes"][k],
            memory_limit_ns: None,
            state_hash: format!("{:016x}", self.hash),
            detail: None,
        }
    }
}

/// A simulation of the hair on a head that shakes.
fn start(built: &Built) -> Result<Simulation, Error> {
    let colliders = built.body.colliders().iter().map(|c| Collider { bone: 0, ..*c }).collect();
    let body =
        Body::rigid(built.body.rest().clone(), Arc::new(Shake))?.with_colliders(colliders)?;
    let model = &built.scene.model;
    Ok(Simulation::new(built.groom.clone(), Arc::new(body), model, World::default())?)
}

/// Reading alone, of hair in its first steps.
fn measure_reading(built: &Built, bytes: usize) -> Result<Measured, Error> {
    let mut driven = start(built)?;
    driven.drive(Pose::Rigid(Shake::at(0.0)), 0.0)?;
    let mut reading = Reading::new(built, bytes);
    let dt = READ_STEPS / f64::from(World::default().steps_per_second);
    for frame in 1..=READ_FRAMES {
        driven.drive(Pose::Rigid(Shake::at(f64::from(frame) * dt)), dt)?;
        (0..READS).for_each(|_| reading.measure(&driven));
    }
    let pieces = [Pieces::default(), reading.pieces];
    Ok(Measured { pieces, steps: READ_STEPS, hash: driven.state_hash() })
}

/// Memory and times of reading all positions.
struct Reading {
    out: Vec<Vec3>,
    from: Vec<f32>,
    to: Vec<f32>,
    pieces: Pieces,
}

impl Reading {
    fn new(built: &Built, bytes: usize) -> Self {
        let points = built.groom.strands.point_count();
        // Copy half of the bytes, which reads them and writes as many.
        let half = points * bytes / 8;
        let out = vec![Vec3::ZERO; points];
        Self { out, from: vec![1.0; half], to: vec![0.0; half], pieces: Pieces::default() }
    }

    /// Reads, then copies as many bytes.
    fn measure(&mut self, driven: &Simulation) {
        let read = seconds(|| driven.positions(&mut self.out));
        let copied = seconds(|| bandwidth::copy(&self.from, &mut self.to));
        self.pieces.add(read, Some(copied));
    }
}

fn measure(built: &Built, uneven: bool, bytes: usize) -> Result<Measured, Error> {
    let (mut driven, mut known) = (start(built)?, start(built)?);
    driven.drive(Pose::Rigid(Shake::at(0.0)), 0.0)?;
    let mut reading = Reading::new(built, bytes);
    let mut pieces = Pieces::default();
    let (mut random, mut time, mut frames) = (7u64, 0.0, 0u32);
    while time < WARM_UP + MEASURED {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let rate =
            if uneven { 30.0 + 210.0 * (random >> 11) as f64 / (1u64 << 53) as f64 } else { 60.0 };
        let dt = 1.0 / rate;
        time += dt;
        frames += 1;
        // Alternate the order, so that neither always finds data of the other in the cache.
        let mut done = Ok(());
        let (mut fast, mut slow) = (0.0, 0.0);
        for turn in 0..2 {
            if (frames + turn) % 2 == 0 {
                fast = seconds(|| done = driven.drive(Pose::Rigid(Shake::at(time)), dt));
            } else {
                slow = seconds(|| known.advance_to(time));
            }
        }
        done?;
        if time >= WARM_UP {
            pieces.add(fast, Some(slow));
            reading.measure(&driven);
        }
    }
    let steps = time * f64::from(World::default().steps_per_second) / f64::from(frames);
    let pieces = [pieces, reading.pieces];
    Ok(Measured { pieces, steps, hash: driven.state_hash() })
}
