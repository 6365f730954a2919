//! Requirements on every model, one test each over the list of models: same bits for any number of threads and
//! after a restart, quarantine of strands that are not finite, and jumps of the body without an effect on velocities.

use std::ops::Range;
use std::sync::Arc;

use coif::body::{Body, Collider, Motion, Shape};
use coif::math::RigidTransform;
use coif::model::{
    Carrier, Environment, ModelSettings, StepReport, cantilever, explicit_spring,
    follow_the_leader, hair_mesh, mass_spring, position_based,
};
use coif::params::Ramp;
use coif::simulation::{Simulation, Wind, World};
use glam::{Quat, Vec3};

use crate::scene::{RADIUS, Shake, ball, groom, simulation};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

const SHAKE: Shake = Shake { angle: 0.8, height: 0.05 };

/// Every model with default settings, and once more with parameters that vary from root to tip.
fn models() -> Vec<ModelSettings> {
    let shipped = ModelSettings::NAMES.iter().map(|n| ModelSettings::by_name(n).expect("a model"));
    let ramp = |root: f32, tip: f32| Ramp::new(&[[0.0, root], [1.0, tip]]).expect("two places");
    let ramps = [
        ModelSettings::PositionBased(position_based::Settings {
            style_time: ramp(0.1, 0.5),
            damping: ramp(8.0, 2.0),
            friction: ramp(2.0, 0.5),
            ..Default::default()
        }),
        ModelSettings::ExplicitSpring(explicit_spring::Settings {
            style_time: ramp(0.1, 0.5),
            damping: ramp(8.0, 2.0),
            stretch_modulus: ramp(5e5, 3e5),
            friction: ramp(2.0, 0.5),
            ..Default::default()
        }),
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            correction: ramp(1.0, 0.5),
            style_time: ramp(0.1, 0.5),
            damping: ramp(8.0, 2.0),
            friction: ramp(2.0, 0.5),
            ..Default::default()
        }),
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            ends: follow_the_leader::Ends::Both,
            style_time: ramp(0.1, 0.5),
            ..Default::default()
        }),
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            ends: follow_the_leader::Ends::Free,
            ..Default::default()
        }),
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            ends: follow_the_leader::Ends::Both,
            ..follow_the_leader::Settings::paper()
        }),
        ModelSettings::MassSpring(mass_spring::Settings {
            stiffness: ramp(2.0, 0.5),
            damping: ramp(8.0, 2.0),
            friction: ramp(2.0, 0.5),
            ..Default::default()
        }),
        ModelSettings::Cantilever(cantilever::Settings {
            style_time: ramp(0.1, 0.5),
            damping: ramp(20.0, 5.0),
            friction: ramp(2.0, 0.5),
            ..Default::default()
        }),
        ModelSettings::HairMesh(hair_mesh::Settings {
            stiffness: ramp(2.0, 0.5),
            damping: ramp(8.0, 2.0),
            friction: ramp(2.0, 0.5),
            ..Default::default()
        }),
    ];
    shipped.chain(ramps).collect()
}

/// Whether the degrees of freedom of a model belong to strands, and not to strips or a hair mesh.
fn moves_strands(model: &ModelSettings) -> bool {
    ![cantilever::NAME, hair_mesh::NAME].contains(&model.name())
}

/// Hair that fills more than one block of lanes of each kernel, with strands of different point counts; less of it for
/// models with a global solve or double precision.
fn shaken(model: &ModelSettings) -> Simulation {
    let is_costly = [mass_spring::NAME, hair_mesh::NAME].contains(&model.name());
    let hair = if is_costly { groom(120, |s| 5 + s % 12) } else { groom(333, |s| 5 + s % 30) };
    simulation(hair, SHAKE, model)
}

#[test]
fn same_bits_for_any_number_of_threads_and_twice_in_a_row() {
    for model in models() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let mut sim = shaken(&model);
                sim.advance_to(0.2);
                sim.state_hash()
            })
        };
        let one = run(1);
        for threads in [1, 2, 3] {
            assert_eq!(run(threads), one, "{}, {threads} threads", model.name());
        }
    }
}

#[test]
fn a_restored_checkpoint_goes_on_with_the_same_bits() {
    for model in models() {
        let name = model.name();
        let start = || simulation(groom(50, |s| 12 + s % 5), SHAKE, &model);
        let mut whole = start();
        whole.advance_to(0.15);
        let (saved, hash_at_save) = (whole.checkpoint(), whole.state_hash());
        whole.advance_to(0.3);
        let mut resumed = start();
        resumed.restore(&saved).expect("its own checkpoint");
        assert_eq!(resumed.state_hash(), hash_at_save, "{name}: after restoring");
        assert_eq!(resumed.time(), 0.15);
        resumed.advance_to(0.3);
        assert_eq!(resumed.state_hash(), whole.state_hash(), "{name}");
        // A checkpoint that is truncated, of another groom or of another model is refused.
        for cut in [0, 7, 20, saved.len() - 1] {
            assert!(start().restore(&saved[..cut]).is_err(), "{name}: cut at {cut}");
        }
        let mut other = simulation(groom(51, |s| 12 + s % 5), SHAKE, &model);
        assert!(other.restore(&saved).is_err(), "{name}: another groom");
        for another in ModelSettings::NAMES.iter().filter(|n| **n != name) {
            let another = ModelSettings::by_name(another).expect("a model");
            let mut other = simulation(groom(50, |s| 12 + s % 5), SHAKE, &another);
            assert!(other.restore(&saved).is_err(), "{name} for {}", another.name());
        }
    }
}

#[test]
fn steps_do_not_depend_on_how_often_the_state_is_read() {
    for model in models() {
        let start = || simulation(groom(40, |_| 12), SHAKE, &model);
        let (mut often, mut rarely) = (start(), start());
        for frame in 1..=24 {
            often.advance_to(f64::from(frame) / 120.0);
            often.health();
        }
        for frame in 1..=5 {
            rarely.advance_to(f64::from(frame) / 25.0);
        }
        assert_eq!(often.state_hash(), rarely.state_hash(), "{}", model.name());
    }
}

/// A strand that goes non-finite, by its root or by its contact, is put back and reported, and no NaN is left, for every
/// model whose primitives are strands.
#[test]
fn a_broken_strand_is_quarantined_alone_and_no_nan_is_left() {
    for settings in models().into_iter().filter(moves_strands) {
        let name = settings.name();
        let hair = groom(40, |_| 10);
        let dt = 1.0 / 240.0;
        let mut model = settings.build(&hair, dt, GRAVITY).expect("a valid groom");
        let healthy = vec![RigidTransform::IDENTITY; 40];
        let mut broken = healthy.clone();
        broken[7].translation.x = f32::NAN;
        let mut positions = vec![Vec3::ZERO; hair.strands.point_count()];
        let mut step = |roots: &[RigidTransform], poison: bool| {
            if poison && let Some(lender) = model.lender() {
                // The first free particle: rows of sixteen lanes, three axes each.
                let samples = lender.lend();
                let row = samples.free.iter().position(|lanes| *lanes != 0).expect("free hair");
                let lane = samples.free[row].trailing_zeros() as usize;
                samples.velocity[48 * row + lane] = f32::NAN;
                lender.take_back();
            }
            let env = Environment {
                time: 0.0,
                dt,
                gravity: GRAVITY,
                wind: &Wind::default(),
                world_from_rest: roots,
                colliders: &[],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            let mut report = StepReport::default();
            model.step(&env, &mut report);
            model.positions(&mut positions);
            assert!(positions.iter().all(|p| p.is_finite()), "{name}");
            report.quarantined.to_vec()
        };
        let named = step(&broken, false);
        assert_eq!(named, [7], "{name}");
        // The displacement back to the rest shape adds no velocity.
        let again = step(&healthy, false);
        assert!(again.iter().all(|s| named.contains(s)), "{name}: {again:?}");
        assert!(step(&healthy, false).is_empty(), "{name}");
        let named = step(&healthy, true);
        assert!(named.len() == 1, "{name}: {named:?}");
        assert!(step(&healthy, false).is_empty(), "{name}");
    }
}

/// A strip or a column of a hair mesh whose root has a non-finite pose stays finite and reports its strands; every strand
/// is reported by exactly one. If no root has a finite pose all strands are reported.
#[test]
fn strips_and_columns_with_non_finite_roots_report_their_strands() {
    for settings in models().into_iter().filter(|m| !moves_strands(m)) {
        let name = settings.name();
        let hair = groom(40, |_| 10);
        let dt = 1.0 / 240.0;
        let mut model = settings.build(&hair, dt, GRAVITY).expect("a valid groom");
        let primitives = model.carrier().expect("a carrier").root_places();
        let points = match model.carrier() {
            Some(Carrier::Strips(model)) => model.strips().edges.point_count(),
            Some(Carrier::HairMesh(mesh)) => mesh.vertex_count(),
            None => 0,
        };
        let mut positions = vec![Vec3::ZERO; points];
        let mut step = |roots: &[RigidTransform]| {
            let env = Environment {
                time: 0.0,
                dt,
                gravity: GRAVITY,
                wind: &Wind::default(),
                world_from_rest: roots,
                colliders: &[],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            let mut report = StepReport::default();
            model.step(&env, &mut report);
            model.positions(&mut positions);
            assert!(positions.iter().all(|p| p.is_finite()), "{name}");
            model.velocities(&mut positions);
            assert!(positions.iter().all(|v| v.is_finite()), "{name}");
            report.quarantined.sort_unstable();
            report.quarantined
        };
        let healthy = vec![RigidTransform::IDENTITY; primitives.len()];
        let nowhere = RigidTransform::from_translation(Vec3::X * f32::NAN);
        let mut named_once = vec![0; 40];
        for broken in 0..primitives.len() {
            let mut roots = healthy.clone();
            roots[broken] = nowhere;
            step(&roots).iter().for_each(|&s| named_once[s as usize] += 1);
            assert!(step(&healthy).is_empty(), "{name}");
        }
        assert_eq!(named_once, [1; 40], "{name}: one root reports each strand");
        assert_eq!(step(&vec![nowhere; primitives.len()]), Vec::from_iter(0..40), "{name}");
        assert!(step(&healthy).is_empty(), "{name}");
    }
}

/// Rises at 0.2 m/s, with a non-finite pose during [`GONE`].
struct Gone;

/// Time (s) without a finite pose.
const GONE: Range<f64> = 0.1..0.12;

impl Motion for Gone {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        let height = if GONE.contains(&time) { f32::NAN } else { 0.2 * time as f32 };
        RigidTransform::from_translation(Vec3::Y * height)
    }
}

/// While the body has a non-finite pose every strand is reported in every step, and at no other time. All hair is finite at
/// any time, after a teleport to a time without a pose too. A checkpoint of such a time continues with the same bits.
#[test]
fn hair_stays_finite_while_the_body_has_no_finite_pose() {
    for model in models() {
        let name = model.name();
        let sphere = Shape::Sphere { radius: RADIUS };
        let body = Body::rigid(ball(), Arc::new(Gone)).expect("a valid body");
        let body = body.with_colliders(vec![Collider::new(sphere, Vec3::ZERO, Quat::IDENTITY, 0)]);
        let body = body.expect("a valid body");
        let (hair, body) = (Arc::new(groom(40, |_| 9)), Arc::new(body));
        let start = || {
            Simulation::new(hair.clone(), body.clone(), &model, World::default())
                .expect("a valid simulation")
        };
        let mut sim = start();
        let mut named = 0;
        let mut resumed: Option<Simulation> = None;
        while sim.time() < 0.5 {
            sim.step();
            if let Some(resumed) = &mut resumed {
                resumed.step();
            } else if sim.time() > GONE.start + 0.01 {
                let mut other = start();
                other.restore(&sim.checkpoint()).expect("its own checkpoint");
                resumed = Some(other);
            }
            let now = &sim.report().quarantined[named..];
            if GONE.contains(&sim.time()) {
                assert!(now.iter().copied().eq(0..40), "{name} at {} s: {now:?}", sim.time());
            } else {
                assert!(now.is_empty(), "{name} at {} s: {now:?}", sim.time());
            }
            named += now.len();
            let mut velocities = vec![Vec3::ZERO; 360];
            sim.velocities(&mut velocities);
            assert!(velocities.iter().all(|v| v.is_finite()), "{name} at {} s", sim.time());
            let health = sim.health();
            assert_eq!(health.non_finite, 0, "{name} at {} s", sim.time());
            assert!(health.drift.max.is_finite() && health.motion.speed_max.is_finite(), "{name}");
        }
        assert!(named >= 4 * 40, "{name}: {named}");
        assert_eq!(resumed.map(|resumed| resumed.state_hash()), Some(sim.state_hash()), "{name}");
        let stretch = sim.health().stretch_max;
        let limit = if moves_strands(&model) { 0.01 } else { 1e-3 };
        assert!(stretch < limit, "{name}: {stretch}");
        for jump in [Simulation::reset as fn(&mut Simulation), |sim| sim.teleport(0.11)] {
            sim.teleport(0.11);
            jump(&mut sim);
            assert_eq!(sim.health().non_finite, 0, "{name}");
        }
    }
}

/// At rest, and four metres higher from one second on.
struct Moved;

impl Motion for Moved {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        RigidTransform::from_translation(Vec3::Y * if time < 1.0 { 0.0 } else { 4.0 })
    }
}

/// A teleport moves hair rigidly, and adds no velocity in the next step.
#[test]
fn a_teleport_moves_hair_rigidly_and_adds_no_velocity() {
    for model in models() {
        let name = model.name();
        let farthest = |a: &[Vec3], b: &[Vec3], by: Vec3| {
            a.iter().zip(b).map(|(a, b)| (*b - *a - by).length()).fold(0.0, f32::max)
        };
        let body = Body::rigid(ball(), Arc::new(Moved)).expect("a valid body");
        let hair = Arc::new(groom(30, |_| 15));
        let mut sim = Simulation::new(hair, Arc::new(body), &model, World::default())
            .expect("a valid simulation");
        let rest = sim.strands();
        sim.teleport(1.5);
        let carried = sim.strands();
        let off = farthest(rest.positions(), carried.positions(), Vec3::Y * 4.0);
        assert!(off < 1e-3, "{name}: {off} m beside its place");
        sim.step();
        let moved = farthest(carried.positions(), sim.strands().positions(), Vec3::ZERO);
        // A step of 1/240 s of free fall is 0.2 mm.
        assert!(moved < 1e-3, "{name}: {moved} m in one step after a jump of 4 m");
    }
}

/// A teleport with a rotation keeps the current shape of the hair; a reset returns to the groom in the pose of the body.
#[test]
fn a_teleport_keeps_the_shape_and_a_reset_returns_to_the_groom() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(60, |_| 12), SHAKE, &model);
        sim.advance_to(0.4);
        let spread = |sim: &Simulation| {
            let strands = sim.strands();
            let ends = |s: usize| strands.strand(s)[11].distance(strands.strand(s)[0]);
            (0..60).map(ends).collect::<Vec<_>>()
        };
        let before = spread(&sim);
        sim.teleport(3.0);
        let after = spread(&sim);
        let changed = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(changed < 1e-4, "{name}: {changed} m");
        sim.reset();
        let (rest, now) = (sim.groom().strands.clone(), sim.strands());
        let root = SHAKE.world_from_rest(0, 3.0);
        let mut off = 0.0f32;
        for s in 0..60 {
            let pairs = now.strand(s).iter().zip(rest.strand(s));
            off = pairs.map(|(now, rest)| now.distance(root.point(*rest))).fold(off, f32::max);
        }
        assert!(off < 1e-5, "{name}: {off} m beside the groom");
    }
}
