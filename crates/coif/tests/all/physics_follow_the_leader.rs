//! Follow-The-Leader: lengths, rest under gravity, agreement with the plain version, ramps, friction on a slope.

use std::sync::Arc;

use crate::scene::{RADIUS, Shake, ball, groom, simulation};
use coif::body::{Body, Collider, Motion, MovingCollider, Shape, Still};
use coif::collide::SKIN;
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::follow_the_leader::{FollowTheLeader, Settings, plain::PlainFollowTheLeader};
use coif::model::{Environment, Model, ModelSettings, StepReport};
use coif::params::Ramp;
use coif::simulation::{Simulation, Wind, World};
use glam::{Quat, Vec3};

#[test]
fn length_and_surface_are_kept_while_the_ball_shakes() {
    for (angle, height) in [(0.8, 0.05), (2.5, 0.3), (0.0, 1.0)] {
        let hair = groom(500, |s| 3 + s % 40);
        let mut sim = simulation(hair, Shake { angle, height }, &ModelSettings::default());
        let mut worst = (0.0f32, 0.0f32);
        for frame in 1..=60 {
            sim.advance_to(f64::from(frame) / 60.0);
            let health = sim.health();
            assert_eq!(health.non_finite, 0);
            worst.0 = worst.0.max(health.stretch_max);
            worst.1 = worst.1.max(health.penetration_max);
        }
        println!(
            "angle {angle} height {height}: stretch {} (1e-4), depth {} m (1e-4)",
            worst.0, worst.1
        );
        assert!(worst.0 < 1e-4, "stretch {}", worst.0);
        assert!(worst.1 < 1e-4, "penetration {} m", worst.1);
        assert!(sim.report().quarantined.is_empty());
    }
}

#[test]
fn a_groom_keeps_its_shape_under_gravity() {
    let hair = groom(300, |s| 10 + s % 30);
    let rest = hair.strands.clone();
    let mut sim = simulation(hair, Shake { angle: 0.0, height: 0.0 }, &ModelSettings::default());
    sim.advance_to(2.0);
    let now = sim.strands();
    let mut worst = 0.0f32;
    for s in 0..rest.strand_count() {
        let drift = now.strand(s).last().unwrap().distance(*rest.strand(s).last().unwrap());
        worst = worst.max(drift / rest.length(s));
    }
    println!("largest tip drift after 2 s: {} of the length (0.01)", worst);
    assert!(worst < 0.01, "{worst}");
}

#[test]
fn without_held_shape_hair_falls() {
    let hair = groom(50, |_| 20);
    let settings = Settings { hold_shape: false, style_time: 10.0.into(), ..Settings::default() };
    let rest = hair.strands.clone();
    let model = ModelSettings::FollowTheLeader(settings);
    let mut sim = simulation(hair, Shake { angle: 0.0, height: 0.0 }, &model);
    sim.advance_to(2.0);
    let height =
        |s: &Strands| s.positions().iter().map(|p| p.y).sum::<f32>() / s.point_count() as f32;
    assert!(height(&sim.strands()) < height(&rest) - 0.005);
}

/// The lanes and the plain version are the same method: after twenty steps of violent motion with collision they agree to
/// hundredths of a millimetre. (Later rounding grows: the last bit decides to which side of a ball a strand slides.)
#[test]
fn lanes_agree_with_the_plain_version() {
    let ramp = |root: f32, tip: f32| Ramp::new(&[[0.0, root], [1.0, tip]]).expect("two places");
    let ramps = Settings {
        style_time: ramp(0.05, 0.8),
        damping: ramp(8.0, 1.0),
        friction: ramp(0.0, 3.0),
        ..Settings::default()
    };
    for settings in [Settings::default(), ramps] {
        compare_with_plain(settings);
    }
}

fn compare_with_plain(settings: Settings) {
    let hair = groom(40, |s| 4 + s % 13);
    let (dt, gravity) = (1.0 / 240.0, Vec3::NEG_Y * 9.81);
    let mut lanes = FollowTheLeader::new(&hair, &settings, dt, gravity).expect("a valid groom");
    let mut plain = PlainFollowTheLeader::new(&hair, &settings, dt, gravity);
    let wind = Wind { velocity: Vec3::X * 2.0, gusts: 0.5, seed: 3 };
    let mut a = vec![Vec3::ZERO; hair.strands.point_count()];
    let mut b = a.clone();
    let mut before = RigidTransform::IDENTITY;
    for step in 1..=20 {
        let time = f64::from(step) * f64::from(dt);
        let pose = RigidTransform {
            rotation: Quat::from_rotation_y((time * 9.0).sin() as f32 * 0.7),
            translation: Vec3::X * 0.1 * (time * 14.0).sin() as f32,
        };
        let collider = MovingCollider {
            shape: Shape::Ellipsoid { radii: Vec3::new(RADIUS, RADIUS * 0.99, RADIUS) },
            friction: 0.3,
            start: before,
            end: pose,
        };
        before = pose;
        let roots = vec![pose; hair.strands.strand_count()];
        let env = Environment {
            time,
            dt,
            gravity,
            wind: &wind,
            world_from_rest: &roots,
            colliders: &[collider],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        lanes.step(&env, &mut StepReport::default());
        plain.step(&env);
    }
    lanes.positions(&mut a);
    plain.positions(&mut b);
    let worst = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    println!("largest difference between lanes and plain: {worst} m (2e-5)");
    assert!(worst < 2e-5, "{worst}");
}

/// A ramp with the same value at every point but the root, which is pinned, gives the same bits as that value.
#[test]
fn a_constant_ramp_gives_the_bits_of_the_number() {
    let table = |value: f32| Ramp::new(&[[0.0, 7.0], [1e-3, value]]).expect("two places");
    let ramps = Settings {
        style_time: table(0.2),
        damping: table(4.0),
        friction: table(1.0),
        ..Settings::default()
    };
    let hash = |settings: Settings| {
        let model = ModelSettings::FollowTheLeader(settings);
        let hair = groom(100, |s| 5 + s % 12);
        let mut sim = simulation(hair, Shake { angle: 0.8, height: 0.05 }, &model);
        sim.advance_to(0.3);
        sim.state_hash()
    };
    assert_eq!(hash(ramps), hash(Settings::default()));
}

/// Hair with a stiff lower half and a soft upper half deflects less in its middle than soft hair and more at its tip than
/// stiff hair; its groom is at rest.
#[test]
fn a_ramp_of_the_style_time_acts_at_its_places() {
    let ramp = Ramp::new(&[[0.45, 0.03], [0.55, 0.5]]).expect("two places");
    let swing = |style_time: Ramp, angle: f32| {
        let settings = Settings { style_time, ..Settings::default() };
        let hair = groom(40, |_| 21);
        let rest = hair.strands.clone();
        let shake = || Shake { angle, height: 0.0 };
        let mut sim = simulation(hair, shake(), &ModelSettings::FollowTheLeader(settings));
        // Mean distance of points in the middle and of tips from their groom, over all strands and frames.
        let mut off = [0.0f32; 2];
        for frame in 1..=60 {
            let time = f64::from(frame) / 60.0;
            sim.advance_to(time);
            let (now, turn) = (sim.strands(), shake().world_from_rest(0, time));
            for s in 0..rest.strand_count() {
                for (off, i) in off.iter_mut().zip([8, 20]) {
                    let groomed = turn.point(rest.strand(s)[i]);
                    *off += now.strand(s)[i].distance(groomed) / (60 * rest.strand_count()) as f32;
                }
            }
        }
        off
    };
    let [stiff, mixed, soft] = [0.03.into(), ramp.clone(), 0.5.into()].map(|r| swing(r, 0.8));
    println!("middle and tip, stiff {stiff:?}, stiff then soft {mixed:?}, soft {soft:?}");
    assert!(mixed[0] < 0.5 * soft[0] && mixed[1] > 2.0 * stiff[1]);
    let [middle, tip] = swing(ramp, 0.0);
    assert!(middle.max(tip) < 1e-4, "{middle} {tip}");
}

/// A strand perpendicular to the floor has no tangential direction: one must be chosen.
#[test]
fn a_strand_pointing_straight_into_a_plane_slides_away() {
    let mut strands = Strands::new();
    let line: Vec<Vec3> = (0..20).map(|i| Vec3::NEG_Y * 0.01 * i as f32).collect();
    strands.push(&line);
    let mut hair = Groom::new(strands, Fibre::default());
    hair.bind(&ball()).unwrap();
    let floor = Collider::new(Shape::Plane, Vec3::NEG_Y * 0.095, Quat::IDENTITY, 0);
    let body = Body::rigid(ball(), Arc::new(Still)).unwrap().with_colliders(vec![floor]).unwrap();
    let mut sim = Simulation::new(
        Arc::new(hair),
        Arc::new(body),
        &ModelSettings::default(),
        World::default(),
    )
    .unwrap();
    sim.advance_to(1.0);
    let health = sim.health();
    assert!(health.penetration_max < 1e-4 && health.stretch_max < 1e-4, "{health:?}");
}

/// Hair that lies across a slope sticks up to the angle of kinetic friction, without creep, and slides beyond that of
/// static friction, which is 1.5 times as large.
#[test]
fn hair_on_a_slope_sticks_up_to_the_angle_of_friction() {
    let (dt, gravity, friction) = (1.0 / 240.0, Vec3::NEG_Y * 9.81, 0.3);
    let slid = |points: usize, slope: f32| {
        // Along z, on a plane that falls towards x.
        let place = |i: usize| Vec3::Z * (0.1 * i as f32 / (points - 1) as f32);
        let line: Vec<Vec3> = (0..points).map(place).collect();
        let mut strands = Strands::new();
        strands.push(&line);
        let groom = Groom::new(strands, Fibre::default());
        let mut model = FollowTheLeader::new(&groom, &Settings::limp(), dt, gravity).unwrap();
        let pose =
            RigidTransform { rotation: Quat::from_rotation_z(-slope), translation: Vec3::ZERO };
        let plane = MovingCollider { shape: Shape::Plane, friction, start: pose, end: pose };
        let (mut now, mut halfway) = (vec![Vec3::ZERO; points], Vec3::ZERO);
        for step in 1..=5 * 240 {
            if step == 600 {
                model.positions(&mut now);
                halfway = now[points - 1];
            }
            let env = Environment {
                time: f64::from(step) * f64::from(dt),
                dt,
                gravity,
                wind: &Wind::default(),
                world_from_rest: &[RigidTransform::IDENTITY],
                colliders: &[plane],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            model.step(&env, &mut StepReport::default());
        }
        model.positions(&mut now);
        // The strand is in contact with the plane, at the distance of the skin.
        let above = now[1..].iter().map(|&p| (pose.rotation.inverse() * p).y - SKIN);
        let in_contact = above.clone().all(|y| (-1e-5..4e-5).contains(&y));
        assert!(in_contact, "{:?}", above.collect::<Vec<_>>());
        // Displacement in all, and in the second half.
        [line[points - 1], halfway].map(|before| now[points - 1].distance(before))
    };
    let [motion, rest] = [friction, 1.5 * friction].map(f32::atan);
    for points in [2, 5, 30] {
        let ([_, below], [beyond, _]) = (slid(points, 0.95 * motion), slid(points, 1.1 * rest));
        println!("{points} points: {below} m below the angle of friction, {beyond} m beyond it");
        assert!(below < 1e-5, "{points} points: creeps by {below} m");
        assert!(beyond > 0.02, "{points} points: slides by {beyond} m only");
    }
}
