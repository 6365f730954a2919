//! Ends of strands other than the root, in the two implicit passes of Follow-The-Leader: lengths, the body, and rest.

use std::sync::Arc;

use coif::body::{Body, Collider, Motion, Shape};
use coif::groom::Groom;
use coif::math::RigidTransform;
use coif::model::ModelSettings;
use coif::model::follow_the_leader::{Ends, Settings};
use coif::simulation::{REST_SPEED, Simulation, World};
use glam::{Quat, Vec3};

use crate::scene::{RADIUS, Shake, ball, groom, simulation};

fn model(ends: Ends) -> ModelSettings {
    ModelSettings::FollowTheLeader(Settings { ends, ..Settings::default() })
}

fn fastest(sim: &Simulation) -> f32 {
    let mut v = vec![Vec3::ZERO; sim.groom().strands.point_count()];
    sim.velocities(&mut v);
    v.iter().map(|v| v.length()).fold(0.0, f32::max)
}

/// Shaken hair that is held at both ends keeps lengths, tips and the surface of the body; the groom is at rest.
#[test]
fn hair_held_at_both_ends_keeps_lengths_and_stays_out_of_the_body() {
    for ends in [Ends::Both, Ends::BothEvenly] {
        let shake = Shake { angle: 0.8, height: 0.05 };
        let mut sim = simulation(groom(333, |s| 5 + s % 30), shake, &model(ends));
        let (mut stretch, mut depth, mut off) = (0.0f32, 0.0f32, 0.0f32);
        for frame in 1..=120 {
            sim.advance_to(f64::from(frame) / 60.0);
            let health = sim.health();
            stretch = stretch.max(health.stretch_max);
            depth = depth.max(health.penetration_max);
            off = off.max(sim.report().ends.farthest);
        }
        let report = sim.report().ends;
        println!(
            "{ends:?}: stretch {stretch:.1e}, depth {depth:.1e} m, tips off {off:.1e} m, {report:?}"
        );
        assert_eq!(report.count, 333);
        assert!(stretch < 1e-5 && depth < 3e-4, "{ends:?}: {stretch} {depth}");
        // Tips of the groom are outside of the ball and within reach; what is left is the error of the report's tolerance.
        assert!(off < 1e-3, "{ends:?}: {off}");
        assert!(sim.report().quarantined.is_empty());
        let still = Shake { angle: 0.0, height: 0.0 };
        let mut sim = simulation(groom(64, |s| 5 + s % 30), still, &model(ends));
        sim.advance_to(3.0);
        let health = sim.health();
        println!("{ends:?} at rest: {:.1e} m/s, drift {:?}", fastest(&sim), health.drift);
        assert!(fastest(&sim) < REST_SPEED, "{}", fastest(&sim));
    }
}

/// A tip that the scalp carries into another part of the body stays at its surface, the length is kept, and the report says
/// how far the tip is from its place.
#[test]
fn a_tip_that_is_carried_into_the_body_stays_outside_and_is_reported() {
    // A ball that turns beside a wall which does not.
    struct Turn;
    impl Motion for Turn {
        fn bones(&self) -> usize {
            2
        }
        fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
            let angle = if bone == 0 { 0.6 * (time as f32).min(1.0) } else { 0.0 };
            RigidTransform { rotation: Quat::from_rotation_z(angle), ..RigidTransform::IDENTITY }
        }
    }
    let hair = Arc::new(groom(60, |_| 16));
    let right = hair.strands.positions().iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let colliders = vec![
        Collider::new(Shape::Sphere { radius: RADIUS }, Vec3::ZERO, Quat::IDENTITY, 0),
        Collider::new(Shape::Plane, Vec3::Y * (right - 0.002), Quat::IDENTITY, 1),
    ];
    let mesh = ball();
    let weights = vec![[(0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)]; mesh.positions.len()];
    let body = Body::skinned(mesh, weights, Arc::new(Turn)).expect("a body");
    let body = body.with_colliders(colliders).expect("colliders");
    let mut sim =
        Simulation::new(hair, Arc::new(body), &model(Ends::Both), World::default()).expect("valid");
    let (mut stretch, mut depth) = (0.0f32, 0.0f32);
    for frame in 1..=120 {
        sim.advance_to(f64::from(frame) / 60.0);
        let health = sim.health();
        stretch = stretch.max(health.stretch_max);
        depth = depth.max(health.penetration_max);
    }
    let report = sim.report().ends;
    println!("stretch {stretch:.1e}, depth {depth:.1e} m, {report:?}");
    assert!(report.out_of_reach > 0 && report.farthest > 0.005, "{report:?}");
    assert!(stretch < 1e-5 && depth < 3e-4, "{stretch} {depth}");
}

/// Free hair falls off the ball onto the ground, keeps its lengths, stays outside and comes to rest; the head under it moves
/// away without it.
#[test]
fn free_hair_falls_and_lies_on_the_ground() {
    let hair: Groom = groom(100, |s| 8 + s % 12);
    let colliders = vec![
        Collider::new(Shape::Sphere { radius: RADIUS }, Vec3::ZERO, Quat::IDENTITY, 0),
        Collider::new(Shape::Plane, Vec3::Y * -0.3, Quat::IDENTITY, 0),
    ];
    let still = Shake { angle: 0.0, height: 0.0 };
    let body = Body::rigid(ball(), Arc::new(still)).expect("a body");
    let body = body.with_colliders(colliders).expect("colliders");
    let settings = Settings { ends: Ends::Free, ..Settings::default() };
    let model = ModelSettings::FollowTheLeader(settings);
    let mut sim =
        Simulation::new(Arc::new(hair), Arc::new(body), &model, World::default()).expect("valid");
    let (mut stretch, mut depth) = (0.0f32, 0.0f32);
    for frame in 1..=360 {
        sim.advance_to(f64::from(frame) / 60.0);
        let health = sim.health();
        stretch = stretch.max(health.stretch_max);
        depth = depth.max(health.penetration_max);
    }
    let strands = sim.strands();
    let lowest = |s: usize| strands.strand(s).iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let on_ground = (0..strands.strand_count()).filter(|&s| lowest(s) < -0.295).count();
    let mut v = vec![Vec3::ZERO; sim.groom().strands.point_count()];
    sim.velocities(&mut v);
    let moving = v.iter().filter(|v| v.length() > 0.01).count();
    println!(
        "stretch {stretch:.1e}, depth {depth:.1e} m, {on_ground} of 100 on the ground, fastest {:.1e} m/s, {moving} points \
         above 1 cm/s",
        fastest(&sim)
    );
    assert!(stretch < 1e-5 && depth < 3e-4, "{stretch} {depth}");
    assert!(on_ground > 50, "{on_ground}");
    assert!(sim.report().quarantined.is_empty());
}
