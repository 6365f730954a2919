//! `drive`: a pose per frame beside a motion that is known in advance, in the same run. The reference is `advance_to` to
//! the same time, through the same motion: as many steps.
//!
//! Rows `-uneven` have frames of 30 to 240 a second at random; `-read` is what reading all positions takes after each of
//! those, with the memory limit of writing them, and copying them as reference.

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

/// Name, scene, strands.
const CASES: [(&str, &str, usize); 3] = [
    ("hair-10k", "shake", 10_000),
    ("strips", "strips-long", 10_000),
    ("hair-mesh", "hair-mesh-shoulder", 10_000),
];

/// Bytes that reading a point writes: three numbers.
const BYTES: f64 = 12.0;

/// A head that shakes "no" twice a second, and goes to and fro.
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
    for (name, scene, strands) in CASES {
        let strands = if setting.quick { strands / 10 } else { strands };
        let sets = [format!("groom.strands={strands}")];
        let text = builtin::text(scene).unwrap_or_default();
        let built = build(&Scene::from_toml(text, scene, &sets)?, std::path::Path::new("."))?;
        for threads in setting.thread_counts() {
            let limit = BYTES / bandwidth::measure(threads)? * 1e9;
            for uneven in [false, true] {
                let measured = with_threads(threads, || measure(&built, uneven))??;
                let kinds: &[&str] = if uneven { &["-uneven", "-read"] } else { &[""] };
                for (k, kind) in kinds.iter().enumerate() {
                    let quick = if setting.quick { "-quick" } else { "" };
                    let row = measured.row(k, format!("{name}{kind}{quick}"), &built, threads);
                    rows.push(Row { memory_limit_ns: (k == 1).then_some(limit), ..row });
                }
            }
        }
    }
    rows.retain(|row| setting.wants(row.name.trim_end_matches("-quick")));
    Ok(rows)
}

/// Times of frames and of reading, and what came out.
struct Measured {
    pieces: [Pieces; 2],
    /// Steps of a frame, on average.
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
            reference: ["advance_to, as many threads", "copying positions"][k],
            memory_limit_ns: None,
            state_hash: format!("{:016x}", self.hash),
            detail: None,
        }
    }
}

/// The same hair twice: driven, and with the motion known.
fn start(built: &Built) -> Result<Simulation, Error> {
    let colliders = built.body.colliders().iter().map(|c| Collider { bone: 0, ..*c }).collect();
    let body =
        Body::rigid(built.body.rest().clone(), Arc::new(Shake))?.with_colliders(colliders)?;
    let model = &built.scene.model;
    Ok(Simulation::new(built.groom.clone(), Arc::new(body), model, World::default())?)
}

fn measure(built: &Built, uneven: bool) -> Result<Measured, Error> {
    let (mut driven, mut known) = (start(built)?, start(built)?);
    driven.drive(Pose::Rigid(Shake::at(0.0)), 0.0)?;
    let points = built.groom.strands.point_count();
    let (mut out, mut copy) = (vec![Vec3::ZERO; points], vec![Vec3::ZERO; points]);
    let mut pieces = [Pieces::default(), Pieces::default()];
    let (mut random, mut time, mut frames) = (7u64, 0.0, 0u32);
    while time < WARM_UP + MEASURED {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let rate =
            if uneven { 30.0 + 210.0 * (random >> 11) as f64 / (1u64 << 53) as f64 } else { 60.0 };
        let dt = 1.0 / rate;
        time += dt;
        frames += 1;
        // In turns, so that neither finds the other's hair in the cache.
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
        let read = seconds(|| driven.positions(&mut out));
        let copied = seconds(|| copy.copy_from_slice(&out));
        if time >= WARM_UP {
            pieces[0].add(fast, Some(slow));
            pieces[1].add(read, Some(copied));
        }
    }
    let steps = time * f64::from(World::default().steps_per_second) / f64::from(frames);
    Ok(Measured { pieces, steps, hash: driven.state_hash() })
}
