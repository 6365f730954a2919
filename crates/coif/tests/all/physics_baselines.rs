//! The baseline models `position-based` and `explicit-spring` against analytic results: the period of a pendulum, angular
//! momentum, static stretch, rest under gravity, collision with the body, and contact between hairs.

use crate::scene::{RADIUS, Shake, ball, directions, groom, simulation};
use coif::body::{Body, Collider, Motion, Shape};
use coif::contact::volume;
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::{
    Environment, Model, ModelSettings, StepReport, explicit_spring, follow_the_leader,
    position_based,
};
use coif::params::Ramp;
use coif::simulation::{Simulation, Surface, Wind, World};
use glam::{Quat, Vec3};
use std::sync::Arc;

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Without style and drag.
fn limp_position_based(iterations: u32) -> ModelSettings {
    ModelSettings::PositionBased(position_based::Settings {
        iterations,
        style_time: f32::INFINITY.into(),
        damping: 0.0.into(),
        friction: 1.0.into(),
        hold_shape: false,
        restitution: 0.0,
    })
}

/// Without style and drag.
fn limp_springs(stretch_modulus: f32, stretch_damping: f32) -> ModelSettings {
    ModelSettings::ExplicitSpring(explicit_spring::Settings {
        stretch_modulus: stretch_modulus.into(),
        stretch_damping,
        substeps: 0,
        style_time: f32::INFINITY.into(),
        damping: 0.0.into(),
        friction: 1.0.into(),
        hold_shape: false,
        restitution: 0.0,
    })
}

/// Linear from root to tip.
fn ramp(root: f32, tip: f32) -> Ramp {
    Ramp::new(&[[0.0, root], [1.0, tip]]).expect("two places")
}

/// Both models with default settings, and with parameters that vary from root to tip.
fn defaults() -> [ModelSettings; 4] {
    let (style_time, damping) = (ramp(0.1, 0.5), ramp(8.0, 2.0));
    let ramps = (style_time.clone(), damping.clone());
    [
        ModelSettings::PositionBased(Default::default()),
        ModelSettings::ExplicitSpring(Default::default()),
        ModelSettings::PositionBased(position_based::Settings {
            style_time,
            damping,
            ..Default::default()
        }),
        ModelSettings::ExplicitSpring(explicit_spring::Settings {
            style_time: ramps.0,
            damping: ramps.1,
            stretch_modulus: ramp(5e5, 3e5),
            ..Default::default()
        }),
    ]
}

/// One strand without a body, root at the origin, in still air.
struct Bench {
    model: Box<dyn Model>,
    dt: f32,
    points: usize,
}

impl Bench {
    fn new(line: &[Vec3], settings: &ModelSettings, dt: f32) -> Self {
        let mut strands = Strands::new();
        strands.push(line);
        let groom = Groom::new(strands, Fibre::default());
        let model = settings.build(&groom, dt, GRAVITY).expect("a valid strand");
        Self { model, dt, points: line.len() }
    }

    fn step(&mut self, gravity: Vec3) {
        let env = Environment {
            time: 0.0,
            dt: self.dt,
            gravity,
            wind: &Wind::default(),
            world_from_rest: &[RigidTransform::IDENTITY],
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        let mut report = StepReport::default();
        self.model.step(&env, &mut report);
        assert!(report.quarantined.is_empty());
    }

    fn state(&self) -> (Vec<Vec3>, Vec<Vec3>) {
        let (mut x, mut v) = (vec![Vec3::ZERO; self.points], vec![Vec3::ZERO; self.points]);
        self.model.positions(&mut x);
        self.model.velocities(&mut v);
        (x, v)
    }
}

fn straight(points: usize, length: f32, direction: Vec3) -> Vec<Vec3> {
    (0..points).map(|i| direction * (length * i as f32 / (points - 1) as f32)).collect()
}

/// Time (s) between the first and the third zero crossing of linearly interpolated samples.
fn period(samples: &[(f64, f64)]) -> f64 {
    let crossings: Vec<f64> = samples
        .windows(2)
        .filter(|w| (w[0].1 > 0.0) != (w[1].1 > 0.0))
        .map(|w| w[0].0 + (w[1].0 - w[0].0) * w[0].1 / (w[0].1 - w[1].1))
        .collect();
    crossings[2] - crossings[0]
}

/// A single segment is a mathematical pendulum: `T = 2 pi sqrt(l / g)`, and the error falls with the
/// step.
#[test]
fn a_pendulum_swings_with_its_period() {
    let (length, aside) = (0.2f32, 0.1f32);
    // Large swings take longer: the first terms of the series in the amplitude.
    let a2 = f64::from(aside * aside);
    let truth = std::f64::consts::TAU * f64::from(length / 9.81).sqrt() * (1.0 + a2 / 16.0);
    for model in [limp_position_based(4), limp_springs(5e7, 0.0)] {
        let error = |steps_per_second: f32| {
            let line = straight(2, length, Vec3::new(aside.sin(), -aside.cos(), 0.0));
            let mut bench = Bench::new(&line, &model, 1.0 / steps_per_second);
            let mut samples = Vec::new();
            for i in 1..(1.5 * steps_per_second) as usize {
                bench.step(GRAVITY);
                samples.push((i as f64 / f64::from(steps_per_second), bench.state().0[1].x.into()));
            }
            (period(&samples) / truth - 1.0).abs()
        };
        let (coarse, fine) = (error(60.0), error(960.0));
        println!("{}: period off by {coarse:.1e} at 60 Hz, {fine:.1e} at 960 Hz", model.name());
        assert!(coarse < 0.02, "{coarse}");
        assert!(fine < 1e-3 && fine < coarse, "{fine}");
    }
}

/// Without gravity the only external force acts at the root and has no lever arm: angular momentum about the root is
/// conserved.
#[test]
fn angular_momentum_about_the_root_is_conserved() {
    for model in [limp_position_based(40), limp_springs(5e6, 0.0)] {
        let drift = |steps_per_second: f32| {
            let line = straight(12, 0.2, Vec3::new(0.6, -0.8, 0.0));
            let mut bench = Bench::new(&line, &model, 1.0 / steps_per_second);
            // All particles have the same mass, except for the tip of a spring chain, which has half.
            let tip = if model.name() == explicit_spring::NAME { 0.5 } else { 1.0 };
            let momentum = |bench: &Bench| {
                let (x, v) = bench.state();
                let weight = |i: usize| if i == 11 { tip } else { 1.0 };
                (1..12).map(|i| x[i].cross(v[i]) * weight(i)).sum::<Vec3>()
            };
            // Let it fall for a while, then switch gravity off.
            for _ in 0..(0.15 * steps_per_second) as usize {
                bench.step(GRAVITY);
            }
            let before = momentum(&bench);
            for _ in 0..(0.5 * steps_per_second) as usize {
                bench.step(Vec3::ZERO);
            }
            (momentum(&bench) - before).length() / before.length()
        };
        let (coarse, fine) = (drift(240.0), drift(3840.0));
        println!("{}: drift {coarse:.1e} at 240 Hz, {fine:.1e} at 3840 Hz", model.name());
        assert!(fine < 0.03, "{fine}");
        assert!(fine < 0.5 * coarse || coarse < 1e-3, "{coarse} {fine}");
    }
}

/// A hanging strand of length L and modulus E is longer by `density g L^2 / (2 E)`, for any number of points.
#[test]
fn a_hanging_spring_chain_has_the_analytic_stretch() {
    let (length, modulus) = (0.3f32, 2e5f32);
    let truth = 1320.0 * 9.81 * length / (2.0 * modulus);
    for points in [5, 20, 60] {
        let line = straight(points, length, Vec3::NEG_Y);
        let mut bench = Bench::new(&line, &limp_springs(modulus, 2e-3), 1.0 / 240.0);
        for _ in 0..480 {
            bench.step(GRAVITY);
        }
        let (x, _) = bench.state();
        let stretch = -x[points - 1].y / length - 1.0;
        println!("{points} points: stretch {stretch:.5}, truth {truth:.5}");
        assert!((stretch / truth - 1.0).abs() < 0.01, "{points} points: {stretch} {truth}");
    }
}

/// The stretch of a hanging strand decreases with the number of iterations.
#[test]
fn more_iterations_leave_less_stretch() {
    let mut last = f32::INFINITY;
    for iterations in [1, 4, 16, 64, 256] {
        let line = straight(30, 0.3, Vec3::NEG_Y);
        let mut bench = Bench::new(&line, &limp_position_based(iterations), 1.0 / 240.0);
        // Damped by its own projections, the strand comes to rest.
        for _ in 0..960 {
            bench.step(GRAVITY);
        }
        let (x, _) = bench.state();
        let stretch = (-x[29].y / 0.3 - 1.0).abs();
        println!("{iterations} iterations: stretch {stretch:.2e}");
        assert!(stretch < 0.6 * last, "{iterations}: {stretch} {last}");
        last = stretch;
    }
    assert!(last < 1e-3, "{last}");
}

/// With springs of negligible stiffness each particle sags by `g T^2` and falls at `g / damping`, with the style time T and
/// the damping at its place.
#[test]
fn ramps_reach_every_particle_by_its_place() {
    let line = straight(11, 0.2, Vec3::X);
    let loose = |style_time: Ramp, damping: Ramp| {
        ModelSettings::ExplicitSpring(explicit_spring::Settings {
            stretch_modulus: 1.0.into(),
            stretch_damping: 0.0,
            style_time,
            damping,
            hold_shape: false,
            ..Default::default()
        })
    };
    let after = |model: ModelSettings, time: f32| {
        let mut bench = Bench::new(&line, &model, 1.0 / 960.0);
        (0..(time * 960.0) as u32).for_each(|_| bench.step(GRAVITY));
        bench.state()
    };
    // The effect of the springs: E / (density l^2) is 2 / s^2, 2 % of the softest style and, after 0.3 s, 3 % of g.
    let tolerance = 0.04;
    let (x, _) = after(loose(ramp(0.05, 0.1), 5.0.into()), 2.0);
    let (_, v) = after(loose(f32::INFINITY.into(), ramp(40.0, 20.0)), 0.3);
    for i in 1..11 {
        let place = i as f32 / 10.0;
        let sag = 9.81 * (0.05 + 0.05 * place).powi(2);
        let error = (line[i].y - x[i].y) / sag - 1.0;
        assert!(error.abs() < tolerance, "point {i} sags by {} of {sag} m", line[i].y - x[i].y);
        let speed = 9.81 / (40.0 - 20.0 * place);
        let error = -v[i].y / speed - 1.0;
        assert!(error.abs() < tolerance, "point {i} falls at {} of {speed} m/s", -v[i].y);
    }
}

#[test]
fn a_groom_keeps_its_shape_under_gravity() {
    for model in defaults() {
        let hair = groom(80, |s| 10 + s % 30);
        let rest = hair.strands.clone();
        let mut sim = simulation(hair, Shake { angle: 0.0, height: 0.0 }, &model);
        sim.advance_to(2.0);
        let now = sim.strands();
        let drift = |s: usize| {
            let (a, b) = (rest.strand(s), now.strand(s));
            a[a.len() - 1].distance(b[b.len() - 1]) / rest.length(s)
        };
        let worst = (0..rest.strand_count()).map(drift).fold(0.0, f32::max);
        println!("{}: largest tip drift after 2 s {worst} of the length", model.name());
        assert!(worst < 0.01, "{}: {worst}", model.name());
    }
}

#[test]
fn hair_stays_out_of_a_ball_that_shakes() {
    for model in defaults() {
        let hair = groom(100, |s| 3 + s % 30);
        let mut sim = simulation(hair, Shake { angle: 0.8, height: 0.05 }, &model);
        let mut worst = (0.0f32, 0.0f32);
        for frame in 1..=60 {
            sim.advance_to(f64::from(frame) / 60.0);
            let health = sim.health();
            assert_eq!(health.non_finite, 0);
            worst = (worst.0.max(health.stretch_max), worst.1.max(health.penetration_max));
        }
        println!("{}: stretch {}, depth {} m", model.name(), worst.0, worst.1);
        assert!(worst.1 < 1e-5, "{}: {} m inside", model.name(), worst.1);
        assert!(sim.report().quarantined.is_empty() && sim.report().unresolved == 0);
    }
}

/// Hair that falls on a collider stays outside of it, for every shape.
#[test]
fn hair_falls_on_every_shape_and_stays_outside() {
    let shapes = [
        Shape::Sphere { radius: 0.04 },
        Shape::Ellipsoid { radii: Vec3::new(0.03, 0.05, 0.06) },
        Shape::Capsule { half_height: 0.05, radius: 0.03 },
        Shape::Plane,
    ];
    for model in [limp_position_based(12), limp_springs(5e5, 2e-4)] {
        for shape in shapes {
            let at = Vec3::new(0.12, -0.1, 0.0);
            let turned = Quat::from_rotation_x(if shape == Shape::Plane { 0.2 } else { 1.2 });
            let collider = Collider::new(shape, at, turned, 0);
            let body = Body::rigid(ball(), Arc::new(Shake { angle: 0.3, height: 0.02 }))
                .unwrap()
                .with_colliders(vec![collider])
                .unwrap();
            let mut hair = groom(40, |_| 16);
            hair.bind(&ball()).unwrap();
            let world = World::default();
            let mut sim = Simulation::new(Arc::new(hair), Arc::new(body), &model, world).unwrap();
            for frame in 1..=40 {
                sim.advance_to(f64::from(frame) / 60.0);
                let health = sim.health();
                assert!(health.penetration_max < 1e-5, "{} {shape:?}: {health:?}", model.name());
            }
        }
    }
}

/// Limp hair that stands on a moving ball falls on its mesh and stays outside; without the mesh it
/// falls through.
#[test]
fn hair_falls_on_a_distance_field_and_stays_outside() {
    // The one-way pass of the paper: with two passes the tip of a chain without style can get so fast that it crosses the
    // mesh in one step.
    let limp = ModelSettings::FollowTheLeader(follow_the_leader::Settings::paper());
    for model in [limp, limp_position_based(12), limp_springs(5e5, 2e-4)] {
        // Smallest distance to the centre, and largest depth in the mesh (m).
        let fall = |surface: Option<Surface>| {
            let mut strands = Strands::new();
            for n in directions(40) {
                let line = straight(14, 0.15, n).into_iter().map(|p| p + n * (1.002 * RADIUS));
                strands.push(&line.collect::<Vec<_>>());
            }
            let mut hair = Groom::new(strands, Fibre::default());
            hair.bind(&ball()).unwrap();
            let motion = || Shake { angle: 0.5, height: 0.02 };
            let body = Body::rigid(ball(), Arc::new(motion())).unwrap();
            let world = World { surface, ..World::default() };
            let mut sim = Simulation::new(Arc::new(hair), Arc::new(body), &model, world).unwrap();
            let (mut nearest, mut deepest) = (f32::INFINITY, 0.0f32);
            for frame in 1..=60 {
                sim.advance_to(f64::from(frame) / 60.0);
                let rest_from_world = motion().world_from_rest(0, sim.time()).inverse();
                for p in sim.strands().positions() {
                    nearest = nearest.min(rest_from_world.point(*p).length());
                }
                deepest = deepest.max(sim.health().penetration_max);
            }
            assert!(sim.report().quarantined.is_empty(), "{}", model.name());
            (nearest, deepest)
        };
        let (through, _) = fall(None);
        let (nearest, deepest) = fall(Some(Surface::default()));
        println!("{}: {nearest} m from the centre, {deepest} m deep", model.name());
        assert!(through < 0.8 * RADIUS, "{}: {through}", model.name());
        // Between its edges the mesh is up to 1.4 % inside of the ball.
        assert!(nearest > 0.98 * RADIUS, "{}: {nearest}", model.name());
        assert!(deepest < 1e-4, "{}: {deepest}", model.name());
    }
}

/// Hair on a ball that shakes, with or without contact between hair.
fn shaken(model: &ModelSettings, threads: usize, volume: Option<volume::Settings>) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let collider =
            Collider::new(Shape::Sphere { radius: RADIUS }, Vec3::ZERO, Quat::IDENTITY, 0);
        let body = Body::rigid(ball(), Arc::new(Shake { angle: 0.8, height: 0.05 }))
            .expect("a valid body")
            .with_colliders(vec![collider])
            .expect("valid colliders");
        let contacts = volume.map(Into::into).into_iter().collect();
        let world = World { contacts, ..World::default() };
        let hair = groom(150, |s| 5 + s % 20);
        let mut sim = Simulation::new(Arc::new(hair), Arc::new(body), model, world)
            .expect("a valid simulation");
        sim.advance_to(0.15);
        assert!(sim.report().quarantined.is_empty(), "{}", model.name());
        assert_eq!(sim.health().non_finite, 0);
        if let Some(report) = sim.report().contact.volume {
            assert!(report.nodes.iter().all(|n| *n > 10) && report.left_out == 0, "{report:?}");
        }
        sim.state_hash()
    })
}

#[test]
fn hair_contact_has_the_same_bits_for_any_number_of_threads() {
    for model in defaults() {
        let with_contact = shaken(&model, 1, Some(volume::Settings::default()));
        assert_ne!(with_contact, shaken(&model, 1, None), "{}", model.name());
        for threads in [2, 3] {
            let again = shaken(&model, threads, Some(volume::Settings::default()));
            assert_eq!(again, with_contact, "{} on {threads} threads", model.name());
        }
    }
}

/// Friction dissipates the energy of relative motion, and the model takes the changed velocities over.
#[test]
fn friction_between_hairs_dissipates_relative_motion() {
    let points = 200 * 12;
    for settings in defaults() {
        let mut model = settings.build(&groom(200, |_| 12), 1.0 / 240.0, GRAVITY).unwrap();
        let friction =
            volume::Settings { friction: 0.9, repulsion: 0.0, cell: 0.03, ..Default::default() };
        let mut contact = volume::Volume::new(&friction).unwrap();
        // Adjacent strands move in opposite directions.
        let lender = model.lender().unwrap();
        let mut samples = lender.lend();
        for p in 0..points {
            let aside = if p / 12 % 2 == 0 { 1.0 } else { -1.0 };
            samples.velocity[p / 16 * 48 + p % 16] = aside;
        }
        let started = samples.velocity.to_vec();
        samples.motion = &started;
        contact.apply(&mut samples, 1.0 / 240.0);
        lender.take_back();
        let mut velocities = vec![Vec3::ZERO; points];
        model.velocities(&mut velocities);
        let energy: f32 = velocities.iter().map(|v| v.length_squared()).sum();
        println!("{}: {} of the energy is left", settings.name(), energy / points as f32);
        assert!(energy < 0.8 * points as f32 && energy > 0.01 * points as f32);
        // Roots move with the scalp.
        assert!(velocities.iter().step_by(12).all(|v| v.x.abs() == 1.0));
    }
}

/// Steps longer than the stability limit of the springs diverge: every strand is quarantined and reported.
#[test]
fn a_step_longer_than_the_model_was_built_for_is_quarantined() {
    let hair = groom(5, |_| 20);
    let settings = limp_springs(5e5, 0.0);
    let mut model = settings.build(&hair, 1.0 / 240.0, GRAVITY).unwrap();
    let mut report = StepReport::default();
    for _ in 0..60 {
        let env = Environment {
            time: 0.0,
            dt: 1.0 / 60.0,
            gravity: GRAVITY,
            wind: &Wind::default(),
            world_from_rest: &[RigidTransform::IDENTITY; 5],
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        model.step(&env, &mut report);
    }
    let mut positions = vec![Vec3::ZERO; hair.strands.point_count()];
    model.positions(&mut positions);
    assert!(positions.iter().all(|p| p.is_finite()));
    for strand in 0..5 {
        assert!(report.quarantined.contains(&strand), "{:?}", report.quarantined);
    }
}

/// Violent motion in strong wind: hair stays finite and outside of the body.
#[test]
fn violent_motion_stays_finite_and_outside() {
    for model in defaults().into_iter().chain([limp_position_based(1), limp_springs(5e5, 0.0)]) {
        let hair = groom(40, |s| 2 + s % 20);
        let sphere = Shape::Sphere { radius: crate::scene::RADIUS };
        let collider = Collider::new(sphere, Vec3::ZERO, Quat::IDENTITY, 0);
        let body = Body::rigid(ball(), Arc::new(Shake { angle: 5.0, height: 1.0 }))
            .unwrap()
            .with_colliders(vec![collider])
            .unwrap();
        let wind = Wind { velocity: Vec3::new(80.0, 20.0, -50.0), gusts: 1.0, seed: 1 };
        let world = World { gravity: Vec3::Y * 300.0, wind, ..World::default() };
        let mut sim = Simulation::new(Arc::new(hair), Arc::new(body), &model, world).unwrap();
        for frame in 1..=30 {
            sim.advance_to(f64::from(frame) / 60.0);
            let health = sim.health();
            assert_eq!(health.non_finite, 0, "{}", model.name());
            assert!(health.penetration_max < 1e-4, "{}: {health:?}", model.name());
        }
    }
}

#[test]
fn invalid_settings_are_refused_by_name() {
    let (position_based, springs) =
        (position_based::Settings::default(), explicit_spring::Settings::default());
    let hair = groom(3, |_| 4);
    for (model, name) in [
        (
            ModelSettings::PositionBased(position_based::Settings {
                iterations: 0,
                ..position_based
            }),
            "iterations",
        ),
        (
            ModelSettings::ExplicitSpring(explicit_spring::Settings {
                stretch_modulus: (-1.0).into(),
                ..springs.clone()
            }),
            "stretch_modulus",
        ),
        (
            ModelSettings::ExplicitSpring(explicit_spring::Settings {
                substeps: 10_001,
                ..springs.clone()
            }),
            "substeps",
        ),
        (
            ModelSettings::ExplicitSpring(explicit_spring::Settings {
                style_time: f32::NAN.into(),
                ..springs
            }),
            "style_time",
        ),
    ] {
        let message = model.build(&hair, 0.01, GRAVITY).err().map(|e| e.to_string());
        assert!(message.as_ref().is_some_and(|m| m.contains(name)), "{name}: {message:?}");
    }
}

/// Lines of different shapes whose longest segment is `ratio` times the shortest.
fn uneven(points: usize, ratio: f32, shape: usize) -> Vec<Vec3> {
    let n = points - 1;
    let weight = |i: usize| match shape % 3 {
        0 => i as f32 / (n - 1) as f32,
        1 => 1.0 - i as f32 / (n - 1) as f32,
        _ => (i * 7919 % n) as f32 / (n - 1) as f32,
    };
    let lengths: Vec<f32> = (0..n).map(|i| ratio.powf(weight(i))).collect();
    let total: f32 = lengths.iter().sum();
    let mut along = 0.0;
    let mut line = vec![Vec3::ZERO];
    for length in lengths {
        along += 0.3 * length / total;
        line.push(Vec3::new(along, 0.6 * along - 3.0 * along * along, 0.2 * along));
    }
    line
}

/// Model `position-based` keeps hair with uneven segments at rest, under up to 100 times gravity and at the height of a
/// head. Tolerances, which are invisible: 1 % of the length, 1 cm/s.
#[test]
fn uneven_grooms_stay_at_rest_under_any_gravity() {
    let head = Vec3::new(0.1, 1.7, -0.2);
    for (points, ratio, rate, weight) in [
        (16, 1.0, 960.0, 1.0),
        (60, 20.0, 960.0, 1.0),
        (16, 500.0, 960.0, 1.0),
        (16, 1.0, 60.0, 1.0),
        (16, 20.0, 60.0, 1.0),
        (16, 500.0, 60.0, 1.0),
        (60, 100.0, 240.0, 1.0),
        (200, 1.0, 240.0, 100.0),
        (200, 20.0, 240.0, 100.0),
    ] {
        for shape in 0..3 {
            let line: Vec<Vec3> = uneven(points, ratio, shape).iter().map(|p| *p + head).collect();
            let mut strands = Strands::new();
            strands.push(&line);
            let groom = Groom::new(strands, Fibre::default());
            let settings = ModelSettings::PositionBased(Default::default());
            let (dt, gravity) = (1.0 / rate, GRAVITY * weight);
            let model = settings.build(&groom, dt, gravity).expect("a valid strand");
            let mut bench = Bench { model, dt, points };
            (0..(5.0 * rate) as usize).for_each(|_| bench.step(gravity));
            let (x, v) = bench.state();
            let length: f32 = line.windows(2).map(|w| w[0].distance(w[1])).sum();
            let drift = x[points - 1].distance(line[points - 1]) / length;
            let fastest = v.iter().map(|v| v.length()).fold(0.0, f32::max);
            println!("{points} points, ratio {ratio}, {rate}/s, {weight} g: {drift} {fastest} m/s");
            assert!(drift < 0.01 && fastest < 0.01, "{points} {ratio} {weight}: {drift} {fastest}");
        }
    }
}

#[test]
fn very_uneven_grooms_are_refused_by_name() {
    let mut strands = Strands::new();
    strands.push(&straight(5, 0.2, Vec3::X));
    strands.push(&uneven(16, 5000.0, 1));
    let groom = Groom::new(strands, Fibre::default());
    for settings in defaults() {
        let refused = settings.build(&groom, 1.0 / 240.0, GRAVITY).err().expect("too uneven");
        let text = refused.to_string();
        for word in ["strand 1", "1000 times", settings.name()] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
