//! `ftl`: Follow-The-Leader in lanes on the shaken built-in head, with all its colliders. The
//! reference is the plain version of the same pass on one thread, stepped through the same motion.

use coif::body::MovingCollider;
use coif::groom::Groom;
use coif::math::RigidTransform;
use coif::model::follow_the_leader::plain::PlainFollowTheLeader;
use coif::model::follow_the_leader::{FollowTheLeader, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::{Wind, World, hash_positions};
use coif_scene::{Built, Scene, build, builtin};
use glam::{Quat, Vec3};

use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::failure::Failure;
use crate::threads::with_threads;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "ftl",
    about: "Follow-The-Leader: 10,000 strands of 30 points on a shaken head",
    run,
};

/// Steps in one timed piece: one frame at 60 a second.
const STEPS: usize = 4;
/// Memory that a step moves per particle (bytes): position and velocity read and written (48),
/// goal (12), pull, drag and length (12) read.
const BYTES_PER_PARTICLE: f64 = 72.0;

fn run(setting: &Setting) -> Result<Vec<Row>, Failure> {
    let (strands, name) = if setting.quick { (1000, "hair-1k") } else { (10_000, "hair-10k") };
    let built = head(strands)?;
    let groom = &built.groom;
    let world = World::default();
    let settings = Settings::default();
    let particles = groom.strands.point_count();
    let mut rows = Vec::new();
    for threads in setting.thread_counts() {
        let row = with_threads(threads, || {
            let (dt, gravity) = (world.dt(), world.gravity);
            let mut lanes = FollowTheLeader::new(groom, &settings, dt, gravity)?;
            let mut plain = PlainFollowTheLeader::new(groom, &settings, dt, gravity);
            let mut best = [f64::INFINITY; 2];
            // Piece by piece, so that both see the same motion and the same disturbances.
            for piece in 0..setting.repetitions() + 1 {
                let steps: Vec<Step> =
                    (0..STEPS).map(|i| Step::new(&built, groom, piece * STEPS + i, dt)).collect();
                let wind = Wind::default();
                let report = &mut StepReport::default();
                let fast = seconds(|| {
                    steps
                        .iter()
                        .for_each(|s| lanes.step(&s.environment(dt, gravity, &wind), report));
                });
                let slow = seconds(|| {
                    steps.iter().for_each(|s| plain.step(&s.environment(dt, gravity, &wind)));
                });
                // The first piece warms up.
                if piece > 0 {
                    best = [best[0].min(fast), best[1].min(slow)];
                }
            }
            let mut positions = vec![Vec3::ZERO; particles];
            lanes.positions(&mut positions);
            Ok(Row {
                name: name.into(),
                strands,
                particles,
                threads,
                ns_per_particle_step: best[0] * 1e9 / (particles * STEPS) as f64,
                ms_per_frame: best[0] * 1e3,
                reference_ratio: best[1] / best[0],
                reference: "plain version, one thread",
                memory_limit_ns: None,
                state_hash: format!("{:016x}", hash_positions(&positions)),
            })
        })?;
        let limit = BYTES_PER_PARTICLE / bandwidth::measure(threads)? * 1e9;
        rows.push(Row { memory_limit_ns: Some(limit), ..row });
    }
    Ok(rows)
}

fn head(strands: usize) -> Result<Built, Failure> {
    let sets = [format!("groom.strands={strands}"), "groom.points=30".into()];
    let text = builtin::text("shake").unwrap_or_default();
    Ok(build(&Scene::from_toml(text, "shake", &sets)?, std::path::Path::new("."))?)
}

/// What the models see of one step, prepared outside of the clock.
struct Step {
    time: f64,
    roots: Vec<RigidTransform>,
    colliders: Vec<MovingCollider>,
}

impl Step {
    fn new(built: &Built, groom: &Groom, index: usize, dt: f32) -> Self {
        let at = |index: usize| pose(index as f64 * f64::from(dt));
        let (start, end) = (at(index), at(index + 1));
        let colliders = built.body.colliders().iter().map(|c| MovingCollider {
            shape: c.shape,
            friction: c.friction,
            start: start * c.world_from_shape,
            end: end * c.world_from_shape,
        });
        Self {
            time: (index + 1) as f64 * f64::from(dt),
            roots: vec![end; groom.strands.strand_count()],
            colliders: colliders.collect(),
        }
    }

    fn environment<'a>(&'a self, dt: f32, gravity: Vec3, wind: &'a Wind) -> Environment<'a> {
        Environment {
            time: self.time,
            dt,
            gravity,
            wind,
            world_from_rest: &self.roots,
            colliders: &self.colliders,
        }
    }
}

/// The whole body shakes "no", twice a second.
fn pose(time: f64) -> RigidTransform {
    let angle = 0.6 * (time * 2.0 * std::f64::consts::TAU).sin();
    RigidTransform::about(Vec3::ZERO, Quat::from_rotation_y(angle as f32))
}
