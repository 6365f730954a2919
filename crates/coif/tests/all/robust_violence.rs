//! Robustness against violent motion and extreme worlds: hair stays finite, keeps its lengths, and nothing panics.

use std::sync::Arc;

use crate::scene::{RADIUS, Shake, ball, groom, simulation};
use coif::body::{Body, Collider, Motion, Shape};
use coif::math::{Random, RigidTransform};
use coif::model::ModelSettings;
use coif::model::follow_the_leader::Settings;
use coif::simulation::{Simulation, Wind, World};
use glam::{Quat, Vec3};

/// A random pose in every step, within half a metre and half a turn.
struct Earthquake;
impl Motion for Earthquake {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        let n = (time * 240.0).round() as u64;
        let mut random = Random::new(n, 0);
        let [x, y] = [3.0 * random.signed(), 3.0 * random.signed()];
        RigidTransform {
            rotation: Quat::from_rotation_x(x) * Quat::from_rotation_y(y),
            translation: 0.5 * random.vector(),
        }
    }
}

fn assert_healthy(sim: &mut Simulation, what: &str) {
    let health = sim.health();
    assert_eq!(health.non_finite, 0, "{what}");
    assert!(health.stretch_max < 1e-3, "{what}: stretch {}", health.stretch_max);
}

#[test]
fn random_poses_in_every_step_keep_hair_intact() {
    let sphere = Collider::new(Shape::Sphere { radius: RADIUS }, Vec3::ZERO, Quat::IDENTITY, 0);
    let body = Body::rigid(ball(), Arc::new(Earthquake))
        .expect("a valid body")
        .with_colliders(vec![sphere])
        .expect("valid colliders");
    let hair = groom(200, |s| 2 + s % 25);
    let model = ModelSettings::default();
    let mut sim = Simulation::new(Arc::new(hair), Arc::new(body), &model, World::default())
        .expect("a valid simulation");
    for frame in 1..=60 {
        sim.advance_to(f64::from(frame) / 60.0);
        assert_healthy(&mut sim, "earthquake");
        assert!(sim.health().penetration_max < 1e-3);
    }
    assert!(sim.report().quarantined.is_empty());
}

#[test]
fn extreme_parameters_stay_finite() {
    let extremes = [
        Settings { style_time: 1e-3.into(), ..Settings::default() },
        Settings { correction: 1.0.into(), ..Settings::limp() },
        Settings { damping: 1e3.into(), ..Settings::default() },
        Settings { correction: 0.0.into(), ..Settings::default() },
    ];
    for settings in extremes {
        let model = ModelSettings::FollowTheLeader(settings.clone());
        let hair = groom(60, |s| 3 + s % 20);
        let mut sim = simulation(hair, Shake { angle: 2.0, height: 0.5 }, &model);
        sim.advance_to(1.0);
        assert_healthy(&mut sim, &format!("{settings:?}"));
    }
}

#[test]
fn extreme_gravity_and_wind_stay_finite() {
    for (gravity, wind) in [
        (Vec3::NEG_Y * 1e4, Vec3::ZERO),
        (Vec3::Y * 300.0, Vec3::X * 200.0),
        (Vec3::ZERO, Vec3::new(-50.0, 80.0, 1e3)),
    ] {
        let hair = groom(60, |s| 3 + s % 20);
        let body = Body::still(ball()).expect("a valid body");
        let world = World {
            gravity,
            wind: Wind { velocity: wind, gusts: 1.0, seed: 1 },
            ..World::default()
        };
        let model = ModelSettings::default();
        let mut sim = Simulation::new(Arc::new(hair), Arc::new(body), &model, world)
            .expect("a valid simulation");
        sim.advance_to(0.5);
        assert_healthy(&mut sim, &format!("gravity {gravity}, wind {wind}"));
    }
}

#[test]
fn invalid_settings_are_refused_by_name() {
    let refused = |settings: Settings| {
        let model = ModelSettings::FollowTheLeader(settings);
        let world = World::default();
        let body = Arc::new(Body::still(ball()).expect("a valid body"));
        Simulation::new(Arc::new(groom(3, |_| 4)), body, &model, world).err().map(|e| e.to_string())
    };
    for (settings, name) in [
        (Settings { correction: 1.5.into(), ..Settings::default() }, "correction"),
        (Settings { style_time: 0.0.into(), ..Settings::default() }, "style_time"),
        (Settings { damping: f32::NAN.into(), ..Settings::default() }, "damping"),
    ] {
        let message = refused(settings).expect("it must be refused");
        assert!(message.contains(name), "{message}");
    }
}
