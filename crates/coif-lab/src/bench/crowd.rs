//! `crowd`: a hundred characters of 500 strands of 16 points, with style and ten shapes each, at 60 steps and frames a
//! second. The reference drives the same characters one after the other.
//!
//! In `crowd-half-asleep` every other character is at rest, and sleeps.

use std::sync::Arc;

use coif::body::{Body, Collider, Pose, Shape};
use coif::math::WorldTransform;
use coif::model::ModelSettings;
use coif::simulation::{Crowd, Simulation, World};
use coif::with_threads;
use coif_scene::{Built, Scene, build, builtin};
use glam::{DVec3, Quat, Vec3};

use super::timing::{MEASURED, Pieces, WARM_UP};
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "crowd",
    about: "Characters stepped together: a hundred of 500 strands of 16 points, 60 steps a second",
    run,
};

const CHARACTERS: usize = 100;
const STRANDS: usize = 500;
const POINTS: usize = 16;
/// Colliders of each character.
const SHAPES: usize = 10;
/// Frames and steps a second.
const RATE: u32 = 60;
/// Memory that a step moves per particle (bytes), as in `ftl`: with one step per frame nothing is left in the cache.
const BYTES: f64 = 144.0;

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let sets = [format!("groom.strands={STRANDS}"), format!("groom.points={POINTS}")];
    let text = builtin::text("shake").unwrap_or_default();
    let built = build(&Scene::from_toml(text, "shake", &sets)?, std::path::Path::new("."))?;
    let count = if setting.quick { CHARACTERS / 10 } else { CHARACTERS };
    let mut rows = Vec::new();
    for (name, stand) in [("crowd", false), ("crowd-half-asleep", true)] {
        for threads in setting.thread_counts().into_iter().filter(|_| setting.wants(name)) {
            let row = with_threads(threads, || measure(&built, count, stand, threads))??;
            let limit = BYTES / bandwidth::measure(threads)? * 1e9;
            let name = if setting.quick { format!("{name}-quick") } else { name.into() };
            rows.push(Row { name, memory_limit_ns: Some(limit), ..row });
        }
    }
    Ok(rows)
}

/// Characters with ten colliders each: those of the built-in body, and small ones where it has fewer.
fn characters(built: &Built, count: usize) -> Result<Vec<Simulation>, Error> {
    let small = |i: usize| {
        let place = Vec3::new(0.3 + 0.05 * i as f32, -0.4, 0.0);
        Collider::new(Shape::Sphere { radius: 0.04 }, place, Quat::IDENTITY, 0)
    };
    let own = built.body.colliders().iter().map(|c| Collider { bone: 0, ..*c });
    let colliders = own.chain((0..SHAPES).map(small)).take(SHAPES).collect();
    let body = Body::still(built.body.rest().clone())?.with_colliders(colliders)?;
    let body = Arc::new(body);
    let world = World { steps_per_second: RATE, ..World::default() };
    let model = ModelSettings::default();
    let one = |_| Simulation::new(built.groom.clone(), body.clone(), &model, world.clone());
    Ok((0..count).map(one).collect::<coif::Result<_>>()?)
}

/// The pose of a character, with its own position and phase.
fn pose(character: usize, time: f64, stands: bool) -> WorldTransform {
    let phase = character as f64;
    let angle = if stands { 0.0 } else { 0.6 * (6.0 * time + phase).sin() };
    let walked = if stands { 0.0 } else { time };
    WorldTransform {
        rotation: Quat::from_rotation_y(angle as f32),
        translation: DVec3::new(phase % 10.0, 0.0, (phase / 10.0).floor() + walked),
    }
}

fn measure(built: &Built, count: usize, stand: bool, threads: usize) -> Result<Row, Error> {
    let mut crowd = Crowd::new(characters(built, count)?);
    let mut single = characters(built, count)?;
    let dt = 1.0 / f64::from(RATE);
    let frames = |seconds: f64| (seconds * f64::from(RATE)) as u32;
    // Characters that stand still have to fall asleep first.
    let warm_up = frames(if stand { 1.0 } else { WARM_UP });
    let mut pieces = Pieces::default();
    for frame in 0..warm_up + frames(MEASURED) {
        let time = f64::from(frame) * dt;
        let at = |c: usize| Pose::Rigid(pose(c, time, stand && c % 2 == 1));
        let poses: Vec<Pose<'_>> = (0..count).map(at).collect();
        let mut done = Ok(());
        let fast = seconds(|| done = crowd.drive(&poses, dt));
        done?;
        let mut done = Ok(());
        let slow = seconds(|| {
            let mut each = single.iter_mut().zip(&poses);
            done = each.try_for_each(|(character, pose)| character.drive(*pose, dt));
        });
        done?;
        if frame >= warm_up {
            pieces.add(fast, Some(slow));
        }
    }
    let particles = count * built.groom.strands.point_count();
    let hashes = crowd.characters().iter().map(Simulation::state_hash);
    Ok(Row {
        name: String::new(),
        strands: count * built.groom.strands.strand_count(),
        particles,
        threads,
        ns_per_particle_step: pieces.median() * 1e9 / particles as f64,
        ns_per_particle_step_min: pieces.min() * 1e9 / particles as f64,
        ms_per_frame: pieces.median() * 1e3,
        reference_ratio: pieces.ratio(),
        reference: "one after the other, none asleep",
        memory_limit_ns: None,
        state_hash: format!("{:016x}", hashes.fold(0, |all: u64, hash| all.rotate_left(1) ^ hash)),
        detail: None,
    })
}
