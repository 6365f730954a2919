//! A driven body, for every model: hair follows the path of a fixed rate, roots are on the
//! drawn scalp, jumps add no velocity, large coordinates do not add noise, and the same poses give the same bits.

use std::sync::Arc;

use coif::body::{Body, BonePose, Collider, Motion, Pose, Shape, distance_field};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::{RigidTransform, WorldTransform};
use coif::model::{ModelSettings, hair_mesh};
use coif::simulation::{Crowd, Simulation, Surface, World};
use glam::{DVec3, Mat3, Quat, Vec3};

use crate::scene::{RADIUS, ball, groom};

/// Length of all strands (m).
const LENGTH: f32 = 0.2;

/// A head that runs at 3 m/s on a circle of 3 m, after it has come up to that speed in one and a half seconds.
struct Run;

impl Run {
    fn at(time: f64) -> WorldTransform {
        let (speed, up, radius) = (3.0, 1.5, 3.0);
        let u = time / up;
        let path = if u < 1.0 { up * (u.powi(3) - 0.5 * u.powi(4)) } else { time - 0.5 * up };
        let angle = speed * path / radius;
        WorldTransform {
            rotation: Quat::from_rotation_y(angle as f32),
            translation: DVec3::new(1.0 - angle.cos(), 0.0, angle.sin()) * radius,
        }
    }
}

impl Motion for Run {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        Self::at(time).relative_to(DVec3::ZERO)
    }
}

fn body() -> Body {
    let sphere = Shape::Sphere { radius: RADIUS };
    let body = Body::rigid(ball(), Arc::new(Run)).expect("a valid body");
    let skull = Collider::new(sphere, Vec3::ZERO, Quat::IDENTITY, 0);
    body.with_colliders(vec![skull]).expect("a valid collider")
}

fn models() -> impl Iterator<Item = ModelSettings> {
    ModelSettings::NAMES.iter().map(|name| ModelSettings::by_name(name).expect("a model"))
}

/// Hair on the back of the head, which the air takes back as the head runs. Hair on its front would be blown over to one
/// side or the other, depending on rounding.
fn behind() -> Groom {
    let all = groom(200, |_| 12);
    let mut strands = Strands::new();
    let behind = (0..200).map(|s| all.strands.strand(s)).filter(|line| line[0].z < -0.03);
    behind.take(60).for_each(|line| strands.push(line));
    let mut groom = Groom::new(strands, Fibre::default());
    groom.bind(&ball()).expect("a ball to grow on");
    groom
}

fn simulation(groom: Groom, model: &ModelSettings) -> Simulation {
    let body = Arc::new(body());
    Simulation::new(Arc::new(groom), body, model, World::default()).expect("a valid simulation")
}

/// Pseudo-random numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Length of a frame (s) at 30 to 240 a second.
    fn frame(&mut self) -> f64 {
        1.0 / (30.0 + 210.0 * self.next())
    }
}

/// Farthest root from its place on the scalp in a pose (m).
fn root_lag(sim: &Simulation, pose: &WorldTransform) -> f32 {
    let (now, rest) = (sim.strands(), &sim.groom().strands);
    let off = |s: usize| {
        let place = pose.point(rest.strand(s)[0]) - sim.origin();
        now.strand(s)[0].as_dvec3().distance(place) as f32
    };
    (0..rest.strand_count()).map(off).fold(0.0, f32::max)
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// How hair in frames at random times differs from that at a fixed rate.
struct Deviation {
    /// Farthest root from the drawn scalp (m).
    root_lag: f32,
    /// Of every point in every frame, as a fraction of the length of its strand, in rising order.
    points: Vec<f32>,
}

impl Deviation {
    fn max(&self) -> f32 {
        self.at(1.0)
    }

    /// What a fraction of all points and frames does not exceed.
    fn at(&self, fraction: f32) -> f32 {
        self.points[((self.points.len() - 1) as f32 * fraction) as usize]
    }
}

/// Goes through frames at random times, with a motion that is known in advance.
fn deviation(model: &ModelSettings, seed: u64) -> Deviation {
    let (mut sim, mut fixed) = (simulation(behind(), model), simulation(behind(), model));
    sim.drive(Pose::Rigid(Run::at(0.0)), 0.0).expect("a valid pose");
    let (mut random, mut time) = (Random(seed), 0.0);
    let (mut points, mut root_lag_max) = (Vec::new(), 0.0f32);
    let (mut before, mut at) = (fixed.strands(), 0.0);
    while time < 2.0 {
        let dt = random.frame();
        time += dt;
        sim.drive(Pose::Rigid(Run::at(time)), dt).expect("a valid pose");
        assert!((sim.time() - time).abs() < 1e-9, "{} {time}", sim.time());
        root_lag_max = root_lag_max.max(root_lag(&sim, &Run::at(time)));
        // The fixed rate's hair at the drawn time: between the steps around it.
        while fixed.time() < time - 1e-9 {
            (before, at) = (fixed.strands(), fixed.time());
            fixed.step();
        }
        let t = ((time - at) / (fixed.time() - at)) as f32;
        let after = fixed.strands();
        let pairs = before.positions().iter().zip(after.positions());
        let truth = pairs.map(|(a, b)| a.lerp(*b, t));
        let now = sim.strands();
        points.extend(now.positions().iter().zip(truth).map(|(a, b)| a.distance(b) / LENGTH));
    }
    points.sort_unstable_by(f32::total_cmp);
    Deviation { root_lag: root_lag_max, points }
}

/// At frames of 30 to 240 a second at random, roots are on the drawn scalp, and hair is no farther from where it is at a
/// fixed rate than a fiftieth of its length.
///
/// Of a hair mesh all points are only with a smaller residual of its solver than by default (99 in 100 by default): the error
/// of the solve depends on rounding, and thin bundles amplify it.
#[test]
fn hair_at_uneven_frames_is_where_it_is_at_a_fixed_rate() {
    let exact = hair_mesh::Settings { relative_tolerance: 3e-4, ..Default::default() };
    let models = models().chain([ModelSettings::HairMesh(exact.clone())]);
    let mut found = Vec::new();
    for model in models {
        let name = model.name();
        let is_rough = matches!(&model, ModelSettings::HairMesh(settings) if *settings != exact);
        for seed in if is_rough { &[7][..] } else { &[7, 3] } {
            let of = deviation(&model, *seed);
            let (most, all, lag) = (of.at(0.99), of.max(), of.root_lag);
            println!(
                "{name}: root lag {lag:.1e} m, 99 in 100 {:.2} %, all {:.2} % of the length",
                100.0 * most,
                100.0 * all
            );
            // Asked for is 0.01 mm. Rounding six metres from the origin is 0.5 micrometres in each of a few operations.
            assert!(lag < 5e-6, "{name}: {lag} m");
            found.push((name, if is_rough { most } else { all }));
        }
    }
    assert!(found.iter().all(|(_, off)| *off <= 0.02), "{found:?}");
}

/// The same motion as rigid transform, bones and skinned vertices moves hair and colliders in the same way.
#[test]
fn poses_of_every_kind_move_hair_alike() {
    let start = || simulation(groom(60, |_| 12), &ModelSettings::default());
    let mut sims = [start(), start(), start()];
    let (mut random, mut time) = (Random(3), 0.0);
    let rest = ball();
    let mut dt = 0.0;
    while time < 0.6 {
        let pose = Run::at(time);
        let bones = [BonePose::from(pose)];
        // Vertices about a place close by, as an engine has them.
        let origin = pose.translation.floor();
        let place = |p: &Vec3| (pose.point(*p) - origin).as_vec3();
        let positions: Vec<Vec3> = rest.positions.iter().map(place).collect();
        let world_from_mesh = WorldTransform::from_translation(origin);
        let poses = [
            Pose::Rigid(pose),
            Pose::Bones(&bones),
            Pose::Vertices { positions: &positions, world_from_mesh },
        ];
        for (sim, pose) in sims.iter_mut().zip(poses) {
            sim.drive(pose, dt).expect("a valid pose");
        }
        for sim in &sims {
            assert!(root_lag(sim, &pose) < 5e-6);
        }
        dt = random.frame();
        time += dt;
    }
    let hair = sims.each_ref().map(|sim| sim.strands());
    for other in &hair[1..] {
        let off = farthest(hair[0].positions(), other.positions());
        // Vertices that are blended with weights on a parabola leave the arc of a turn: by w^2 r dt^2 / 8 with 1 rad/s, the
        // ball's radius and a 30th of a second, 1.4e-5 m.
        assert!(off < 2e-4, "{off} m");
    }
}

/// A bone that grows takes roots along with the scalp, and hair stays out of the collider that grows with it.
#[test]
fn a_bone_with_scale_takes_roots_and_colliders_along() {
    let mut sim = simulation(groom(60, |_| 12), &ModelSettings::default());
    let mut scale = 1.0f32;
    for frame in 0..90 {
        scale = 1.0 + 0.3 * (frame as f32 / 60.0).min(1.0);
        let linear = Mat3::from_diagonal(Vec3::splat(scale));
        let bone = BonePose { linear, translation: DVec3::ZERO };
        sim.drive(Pose::Bones(&[bone]), 1.0 / 60.0).expect("a valid pose");
    }
    let (now, rest, mesh) = (sim.strands(), sim.groom().strands.clone(), ball());
    for s in 0..60 {
        // The place under a root is transformed by the bone; the length of the hair does not change.
        let root = &sim.groom().roots[s];
        let corners = mesh.corners(root.triangle as usize);
        let place = (0..3).map(|i| corners[i] * root.barycentric[i]).sum::<Vec3>();
        let expected = place * scale + rest.strand(s)[0] - place;
        assert!(now.strand(s)[0].distance(expected) < 1e-6, "strand {s}");
        // Roots are on the flat triangles of the ball, a little inside of the sphere.
        for p in &now.strand(s)[2..] {
            assert!(p.length() > RADIUS * scale - 1e-4, "strand {s}: {} m inside", p.length());
        }
    }
    assert!(sim.health().stretch_max < 0.01);
}

/// A respawn: hair moves rigidly with a jump of 20 m and half a turn, and keeps its shape and relative velocity.
#[test]
fn a_jump_to_a_pose_carries_hair_along_without_a_kick() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(60, |_| 12), &model);
        let mut time = 0.0;
        while time < 0.5 {
            sim.drive(Pose::Rigid(Run::at(time)), 0.01).expect("a valid pose");
            time += 0.01;
        }
        let here = Run::at(time - 0.01);
        let there = WorldTransform {
            rotation: Quat::from_rotation_y(3.0),
            translation: DVec3::new(12.0, -2.0, 16.0),
        };
        let in_head = |sim: &Simulation, pose: &WorldTransform| {
            let head = pose.relative_to(DVec3::ZERO).inverse();
            sim.strands().positions().iter().map(|p| head.point(*p)).collect::<Vec<_>>()
        };
        let speed = |sim: &Simulation| {
            let mut v = vec![Vec3::ZERO; 60 * 12];
            sim.velocities(&mut v);
            v.iter().map(|v| v.length()).fold(0.0, f32::max)
        };
        // A twin whose head stops without a jump.
        let mut twin = simulation(groom(60, |_| 12), &model);
        twin.restore(&sim.checkpoint()).expect("a checkpoint of the same hair");
        let before = in_head(&sim, &here);
        sim.teleport_to(Pose::Rigid(there)).expect("a valid pose");
        let off = farthest(&before, &in_head(&sim, &there));
        // Rounding 20 m from the origin is 2e-6 m, in each of some products.
        assert!(off < 1e-4, "{name}: {off} m beside its place");
        let (mut moved, mut fast) = ([0.0f32; 2], [0.0f32; 2]);
        for _ in 0..6 {
            for (k, (sim, pose)) in [(&mut sim, &there), (&mut twin, &here)].into_iter().enumerate()
            {
                sim.drive(Pose::Rigid(*pose), 1.0 / 60.0).expect("a valid pose");
                moved[k] = moved[k].max(farthest(&before, &in_head(sim, pose)));
                fast[k] = fast[k].max(speed(sim));
            }
        }
        println!("{name}: {fast:.2?} m/s after a jump of 20 m and without it, {moved:.3?} m");
        // The head has stopped in both: the difference to the twin without the jump is its effect.
        assert!(fast[0] < 1.1 * fast[1] + 0.1, "{name}: {fast:?} m/s");
        assert!(moved[0] < 1.1 * moved[1] + 2e-3, "{name}: {moved:?} m");
    }
}

/// Still hair 20 km away moves by less than 0.01 mm a frame relative to an origin that is close to it.
#[test]
fn still_hair_far_from_the_origin_of_the_world_is_still() {
    let far = DVec3::new(14_000.3, 120.7, -14_000.9);
    let pose = WorldTransform { rotation: Quat::from_rotation_y(0.8), translation: far };
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(40, |_| 10), &model);
        sim.set_origin(far.round()).expect("a finite origin");
        let (mut moved, mut random) = (0.0f32, Random(11));
        let mut before = Vec::new();
        for frame in 0..240 {
            let dt = if frame < 120 { 1.0 / 60.0 } else { random.frame() };
            sim.drive(Pose::Rigid(pose), dt).expect("a valid pose");
            let now = sim.grow().to_vec();
            // Two seconds to come to rest.
            if frame > 120 {
                moved = moved.max(farthest(&before, &now));
            }
            before = now;
        }
        println!("{name}: {:.1e} mm a frame", 1e3 * moved);
        assert!(moved < 1e-5, "{name}: {moved} m a frame");
        assert!(root_lag(&sim, &pose) < 1e-6, "{name}");
        // Relative to an origin that is far away, roots are rounded to single precision: the moved origin is what helps.
        sim.set_origin(DVec3::ZERO).expect("a finite origin");
        assert!(root_lag(&sim, &pose) > 1e-5, "{name}");
    }
}

/// A jump to a place far away, with another origin, does not round the shape of the hair on its path.
#[test]
fn a_jump_with_another_origin_keeps_the_shape() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(40, |_| 10), &model);
        sim.drive(Pose::Rigid(Run::at(0.0)), 0.1).expect("a valid pose");
        let before = sim.strands();
        let far = DVec3::new(20_000.0, 0.0, 0.0);
        let pose = Pose::Rigid(WorldTransform::from_translation(far));
        sim.teleport_with_origin(pose, far).expect("a valid pose");
        let off = farthest(before.positions(), sim.strands().positions());
        assert!(off < 1e-6, "{name}: {off} m");
    }
}

/// An origin that follows a walker changes positions by its displacement only.
#[test]
fn hair_does_not_feel_a_change_of_the_origin() {
    for model in models() {
        let name = model.name();
        let run = |moves: bool| {
            let mut sim = simulation(behind(), &model);
            for frame in 0..=30 {
                let pose = Run::at(f64::from(frame) / 60.0);
                sim.drive(Pose::Rigid(pose), 1.0 / 60.0).expect("a valid pose");
                if moves && frame == 20 {
                    sim.set_origin(DVec3::new(0.25, -0.5, 1.5)).expect("a finite origin");
                }
            }
            let origin = sim.origin().as_vec3();
            sim.strands().positions().iter().map(|p| *p + origin).collect::<Vec<_>>()
        };
        let off = farthest(&run(false), &run(true));
        println!("{name}: {off:.1e} m");
        // As far as uneven frames may take it: other roundings are another path for a model that iterates.
        assert!(off < 0.02 * LENGTH, "{name}: {off} m");
    }
}

/// Three seconds in one frame cost a quarter of a second of steps; the report says what was skipped, and hair is on the
/// head all the same.
#[test]
fn a_long_frame_is_not_made_up_for() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(behind(), &model);
        sim.drive(Pose::Rigid(Run::at(0.0)), 0.0).expect("a valid pose");
        sim.drive(Pose::Rigid(Run::at(3.0)), 3.0).expect("a valid pose");
        assert!((sim.report().skipped - 2.75).abs() < 0.01, "{name}: {}", sim.report().skipped);
        assert!((sim.time() - 3.0).abs() < 1e-9, "{name}");
        assert!(root_lag(&sim, &Run::at(3.0)) < 5e-6, "{name}");
        assert!(sim.report().quarantined.is_empty(), "{name}");
        sim.set_max_catch_up(f64::INFINITY).expect("a positive number");
        sim.drive(Pose::Rigid(Run::at(3.5)), 0.5).expect("a valid pose");
        assert!((sim.report().skipped - 2.75).abs() < 0.01, "{name}");
        // The same for a motion that is known in advance, if it is switched on.
        let mut known = simulation(behind(), &model);
        known.set_max_catch_up(0.1).expect("a positive number");
        known.advance_to(1.0);
        assert!((known.report().skipped - 0.9).abs() < 0.01, "{name}");
        assert!((known.time() - 1.0).abs() < 1e-9, "{name}");
    }
    let mut sim = simulation(groom(5, |_| 5), &ModelSettings::default());
    assert!(sim.set_max_catch_up(0.0).is_err() && sim.set_max_catch_up(f64::NAN).is_err());
}

/// A recording of poses and frame times, played again, gives the same bits: with any number of threads, and from a
/// checkpoint in the middle of it.
#[test]
fn a_recording_of_poses_gives_the_same_bits_again() {
    let mut random = Random(5);
    let frames: Vec<(f64, WorldTransform)> = (0..30)
        .scan(0.0, |time, _| {
            let dt = random.frame();
            *time += dt;
            Some((dt, Run::at(*time)))
        })
        .collect();
    for model in models() {
        let name = model.name();
        let play = |sim: &mut Simulation, frames: &[(f64, WorldTransform)]| {
            for (dt, pose) in frames {
                sim.drive(Pose::Rigid(*pose), *dt).expect("a valid pose");
            }
        };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let mut sim = simulation(groom(60, |s| 6 + s % 8), &model);
                play(&mut sim, &frames);
                sim.state_hash()
            })
        };
        let one = run(1);
        assert!(run(2) == one && run(3) == one, "{name}");
        let mut first = simulation(groom(60, |s| 6 + s % 8), &model);
        play(&mut first, &frames[..17]);
        let (saved, hash) = (first.checkpoint(), first.state_hash());
        let mut resumed = simulation(groom(60, |s| 6 + s % 8), &model);
        resumed.restore(&saved).expect("its own checkpoint");
        assert_eq!((resumed.state_hash(), resumed.time()), (hash, first.time()), "{name}");
        play(&mut resumed, &frames[17..]);
        assert_eq!(resumed.state_hash(), one, "{name}: from a checkpoint");
        for cut in [saved.len() / 3, saved.len() / 2, saved.len() - 1] {
            assert!(resumed.restore(&saved[..cut]).is_err(), "{name}");
        }
    }
}

/// The same where hair collides with the body's own surface, driven by vertices; hair stays out of it. For a model that
/// takes a step at once, and for one with substeps, which samples the surface in between.
#[test]
fn a_driven_surface_keeps_hair_out_and_goes_on_from_a_checkpoint() {
    let rest = ball();
    for name in ["follow-the-leader", "mass-spring"] {
        let model = ModelSettings::by_name(name).expect("a model");
        let start = || {
            let field = distance_field::Settings { cell: 0.01, reach: 0.06, ..Default::default() };
            let surface = Some(Surface { field, ..Surface::default() });
            let body = Arc::new(Body::still(rest.clone()).expect("a valid body"));
            let world = World { surface, ..World::default() };
            Simulation::new(Arc::new(groom(40, |_| 10)), body, &model, world)
                .expect("a valid simulation")
        };
        let play = |sim: &mut Simulation, frames: std::ops::Range<u32>| {
            for frame in frames {
                let dt = if frame % 3 == 0 { 1.0 / 37.0 } else { 1.0 / 90.0 };
                // A head that is pressed together as it runs.
                let squeeze = Vec3::new(1.0 - 0.002 * frame as f32, 1.0, 1.0);
                let positions: Vec<Vec3> = rest.positions.iter().map(|p| *p * squeeze).collect();
                let world_from_mesh = Run::at(f64::from(frame) / 60.0);
                let pose = Pose::Vertices { positions: &positions, world_from_mesh };
                sim.drive(pose, dt).expect("a valid pose");
            }
        };
        let (mut whole, mut first, mut resumed) = (start(), start(), start());
        play(&mut whole, 0..40);
        play(&mut first, 0..23);
        resumed.restore(&first.checkpoint()).expect("its own checkpoint");
        play(&mut resumed, 23..40);
        assert_eq!(resumed.state_hash(), whole.state_hash(), "{name}");
        // A tenth of a cell, as everywhere with this field; the groom begins with roots on the surface.
        let depth = whole.health().penetration_max;
        println!("{name}: {depth:.1e} m inside of the surface");
        assert!(depth < 1e-3, "{name}: {depth} m");
        assert!(whole.report().quarantined.is_empty(), "{name}");
    }
}

/// An invalid pose or time is refused, and nothing has changed.
#[test]
fn bad_poses_and_times_are_refused() {
    let mut sim = simulation(groom(20, |_| 8), &ModelSettings::default());
    sim.drive(Pose::Rigid(Run::at(0.1)), 0.1).expect("a valid pose");
    let hash = (sim.state_hash(), sim.time());
    let good = Pose::Rigid(WorldTransform::IDENTITY);
    for dt in [f64::NAN, -0.1, f64::INFINITY, 1e300] {
        assert!(sim.drive(good, dt).is_err());
    }
    let nowhere = WorldTransform::from_translation(DVec3::NAN);
    assert!(sim.drive(Pose::Rigid(nowhere), 0.01).is_err());
    assert!(sim.drive(Pose::Bones(&[]), 0.01).is_err());
    assert!(sim.teleport_to(Pose::Rigid(nowhere)).is_err());
    assert!(sim.set_origin(DVec3::INFINITY).is_err());
    assert_eq!((sim.state_hash(), sim.time()), hash);
    // Frames of any length are accepted: of a nanosecond, of an hour.
    for dt in [1e-9, 3600.0, 1e-300, 0.01] {
        sim.drive(good, dt).expect("a valid pose");
        assert!(sim.grow().iter().all(|p| p.is_finite()), "{dt}");
    }
}

/// Hair that has fallen asleep in frames that all ended with a step is where it was in the first that does not.
#[test]
fn hair_that_sleeps_is_read_between_two_steps() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(20, |_| 8), &model);
        sim.set_sleep(true);
        let pose = Pose::Rigid(Run::at(0.5));
        for _ in 0..240 {
            sim.drive(pose, 1.0 / 60.0).expect("a valid pose");
        }
        assert!(sim.is_asleep(), "{name}");
        let before = sim.grow().to_vec();
        sim.drive(pose, 0.011).expect("a valid pose");
        assert!(sim.is_asleep(), "{name}");
        // It rests: in less than a step it goes on by less than that.
        let off = farthest(&before, sim.grow());
        assert!(off < 1e-5, "{name}: {off} m");
        sim.set_gravity(Vec3::ZERO).expect("finite");
        assert!(farthest(&before, sim.grow()) < 1e-5, "{name}");
    }
}

/// A crowd has the bits of its characters alone; those that rest sleep, and wake when they are moved.
#[test]
fn a_crowd_is_its_characters_and_sleeps_at_rest() {
    for model in models() {
        let name = model.name();
        let start = || simulation(groom(30, |_| 8), &model);
        let mut crowd = Crowd::new((0..3).map(|_| start()).collect());
        let mut alone: Vec<Simulation> = (0..3).map(|_| start()).collect();
        alone.iter_mut().for_each(|sim| sim.set_sleep(true));
        let pose = |character: usize, frame: usize| {
            // One runs, one stands, one stands and is moved late.
            let time = match character {
                0 => frame as f64 / 60.0,
                1 => 0.0,
                _ => frame.saturating_sub(230) as f64 / 60.0,
            };
            Run::at(time)
        };
        let mut asleep = [0; 3];
        for frame in 0..240 {
            let poses = [0, 1, 2].map(|c| Pose::Rigid(pose(c, frame)));
            crowd.drive(&poses, 1.0 / 60.0).expect("valid poses");
            for (sim, pose) in alone.iter_mut().zip(poses) {
                sim.drive(pose, 1.0 / 60.0).expect("a valid pose");
            }
            let sleeps = crowd.characters().iter().map(|c| c.is_asleep());
            asleep.iter_mut().zip(sleeps).for_each(|(count, sleeps)| *count += usize::from(sleeps));
        }
        for (one, other) in crowd.characters().iter().zip(&alone) {
            assert_eq!(one.state_hash(), other.state_hash(), "{name}");
        }
        println!("{name}: asleep for {asleep:?} of 240 frames");
        assert_eq!(asleep[0], 0, "{name}: the one that runs is awake");
        assert!(asleep[1] > 60 && asleep[2] > 60, "{name}: {asleep:?}");
        assert!(crowd.characters()[1].is_asleep() && !crowd.characters()[2].is_asleep(), "{name}");
        assert!(root_lag(&crowd.characters()[2], &pose(2, 239)) < 5e-6, "{name}");
    }
    let mut crowd = Crowd::default();
    let pose = Pose::Rigid(WorldTransform::IDENTITY);
    assert!(crowd.drive(&[pose], 0.01).is_err());
    assert!(crowd.drive(&[], 0.01).is_ok());
}
