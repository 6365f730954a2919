//! The model against the textbook's version of itself.

use glam::{Quat, Vec3};

use super::plain::PlainMesh;
use super::{MeshDynamics, MeshEnvironment, Settings};
use crate::environment::Wind;
use crate::groom::HairMesh;
use crate::groom::hair_mesh::Bundle;
use crate::math::RigidTransform;

/// Both solve the same equations: they stay together while hair is shaken.
#[test]
fn the_model_moves_as_the_textbook_says() {
    let mut mesh = HairMesh::block([3, 2], 6, Vec3::new(0.12, 0.25, 0.1), true);
    for p in mesh.columns.positions_mut() {
        *p = Quat::from_rotation_x(2.6) * *p;
    }
    // The textbook's does not hold the groom against gravity.
    let settings = Settings { tolerance: 1e-6, ..Settings::default() };
    let mut plain = PlainMesh::new(&mesh, &settings, Vec3::ZERO).unwrap();
    let mut model = MeshDynamics::new(&mesh, &settings, Vec3::ZERO).unwrap();
    let (h, wind) = (1.0 / 120.0, Wind::default());
    let (mut apart, mut farthest) = (0.0f32, 0.0f32);
    for step in 1..=120 {
        let swing = 0.03 * (1.0 - (step as f32 * h * 8.0).cos());
        let root = RigidTransform {
            rotation: Quat::from_rotation_y(4.0 * swing),
            translation: Vec3::new(swing, 0.0, 0.5 * swing),
        };
        let env = MeshEnvironment {
            time: 0.0,
            dt: h,
            gravity: Vec3::ZERO,
            wind: &wind,
            colliders: &[],
            field: None,
        };
        let columns = mesh.column_count();
        model.step(&env, &vec![root; columns], &mut vec![false; columns]);
        plain.step(h, Vec3::ZERO, root);
        for (a, b) in model.positions().iter().zip(plain.positions()) {
            apart = apart.max(a.distance(*b));
        }
        farthest = farthest.max(model.measure().farthest);
    }
    println!("apart {apart} m, where hair moved by {farthest} m");
    assert!(apart < 0.02 * farthest);
}

/// A lock that tapers, and is pinched to a third of a millimetre on one side of its first layer, is thrown about: no
/// solve breaks off.
#[test]
fn a_lock_with_a_pinch_is_solved_whatever_it_does() {
    let (length, layers) = (0.4, 11);
    let mut mesh = HairMesh::block([1, 1], layers, Vec3::new(0.03, length, 0.05), false);
    for (i, p) in mesh.columns.positions_mut().iter_mut().enumerate() {
        let along = p.y / length;
        let mut thin = Vec3::new(1.0 - 0.77 * along, 0.0, 1.0 - 0.87 * along);
        if i % (layers + 1) == 1 && p.z < 0.0 {
            thin.x = 0.01;
        }
        // A quarter of a circle.
        let (radius, angle) = (0.25, 1.6 * along);
        let middle = radius * Vec3::new(0.0, angle.sin(), 1.0 - angle.cos());
        *p = Quat::from_rotation_x(angle) * (*p * thin) + middle;
    }
    mesh.validate().unwrap();
    let settings = Settings { tolerance: 1e-6, most_iterations: 200, ..Settings::default() };
    let gravity = Vec3::Y * -9.81;
    let mut model = MeshDynamics::new(&mesh, &settings, gravity).unwrap();
    let (h, wind) = (1.0 / 30.0, Wind::default());
    let mut left = 0.0f32;
    for step in 1..=300 {
        let time = f64::from(step) / 30.0;
        let env =
            MeshEnvironment { time, dt: h, gravity, wind: &wind, colliders: &[], field: None };
        let turn = Quat::from_rotation_y((step as f32 * 0.4).sin() * 1.5);
        let root = RigidTransform { rotation: turn, translation: turn * Vec3::Z * 0.1 };
        let columns = mesh.column_count();
        let report = model.step(&env, &vec![root; columns], &mut vec![false; columns]);
        left = left.max(report.solve.residual as f32);
    }
    println!("a solve leaves {left} of the error at most");
    assert!(left < 0.004, "{left}");
}

/// A lock of hair, root upwards turned by `turn`, `width` wide.
fn lock(width: f32, turn: Quat, at: Vec3) -> HairMesh {
    let mut mesh = HairMesh::block([1, 1], 8, Vec3::new(width, 0.3, 0.7 * width), false);
    mesh.columns.positions_mut().iter_mut().for_each(|p| *p = turn * *p + at);
    mesh
}

/// Both meshes as one, the first one's columns first.
fn beside(mut one: HairMesh, other: &HairMesh) -> HairMesh {
    let first = one.column_count() as u32;
    other.columns.iter().for_each(|column| one.columns.push(column));
    for bundle in &other.bundles {
        let columns: Vec<u32> = bundle.columns().iter().map(|c| c + first).collect();
        one.bundles.extend(Bundle::over(&columns, bundle.layers));
    }
    one
}

/// Steps at 240 Hz under gravity while the roots turn about y by `angle` of the time.
fn run(model: &mut MeshDynamics, seconds: f32, angle: impl Fn(f32) -> f32) {
    let (h, wind) = (1.0 / 240.0, Wind::default());
    let columns = model.starts.len() - 1;
    for step in 1..=(seconds / h) as u32 {
        let gravity = Vec3::Y * -9.81;
        let time = step as f32 * h;
        let env = MeshEnvironment {
            time: time.into(),
            dt: h,
            gravity,
            wind: &wind,
            colliders: &[],
            field: None,
        };
        let rotation = Quat::from_rotation_y(angle(time));
        let root = RigidTransform { rotation, translation: Vec3::ZERO };
        model.step(&env, &vec![root; columns], &mut vec![false; columns]);
    }
}

/// A lock of a gram hangs beside one of a milligram, and shares nothing with it: the light one moves as it does alone,
/// bit by bit. With one bound for the error of all hair nobody would solve for it.
#[test]
fn a_light_lock_beside_a_heavy_one_moves_as_it_does_alone() {
    let turn = Quat::from_rotation_z(2.2);
    let light = lock(1e-3, turn, Vec3::new(0.0, 1.5, 0.0));
    let both = beside(light.clone(), &lock(0.04, turn, Vec3::new(0.2, 1.5, 0.0)));
    let new = |mesh: &HairMesh| {
        MeshDynamics::new(mesh, &Settings::default(), Vec3::Y * -9.81).expect("a valid mesh")
    };
    let (mut alone, mut both) = (new(&light), new(&both));
    let n = light.vertex_count();
    let mass = |m: &MeshDynamics, v: std::ops::Range<usize>| m.elements.mass[v].iter().sum::<f32>();
    let ratio = mass(&both, n..2 * n) / mass(&both, 0..n);
    assert!(ratio > 1e3, "{ratio}");
    let swing = |t: f32| 0.8 * (1.0 - (6.0 * t).cos());
    run(&mut alone, 1.0, swing);
    run(&mut both, 1.0, swing);
    let far = alone.measure().farthest;
    assert!(far > 0.03, "the lock has moved by {far} m");
    assert_eq!(alone.positions(), &both.positions()[..n]);
    assert_eq!(alone.velocities(), &both.velocities()[..n]);
}

/// A lock that is held up sideways comes back as one that hangs does: after a jerk, both are at rest within seconds.
#[test]
fn a_lock_that_is_held_up_returns_as_one_that_hangs() {
    for turn in [1.57f32, 3.1] {
        let mesh = lock(2e-3, Quat::from_rotation_z(turn), Vec3::Y * 1.5);
        let settings = Settings::default();
        let mut model = MeshDynamics::new(&mesh, &settings, Vec3::Y * -9.81).expect("a valid mesh");
        let starts: Vec<usize> = model.starts.iter().map(|&s| s as usize).collect();
        for (v, velocity) in model.velocities_mut().iter_mut().enumerate() {
            if !starts.contains(&v) {
                *velocity = glam::Vec3A::Z;
            }
        }
        run(&mut model, 0.2, |_| 0.0);
        let far = model.measure().farthest;
        assert!(far > 0.05, "the lock was thrown by {far} m");
        run(&mut model, 5.0, |_| 0.0);
        let after = model.measure();
        println!("turned by {turn}: thrown by {far}, left {} {}", after.farthest, after.fastest);
        assert!(after.fastest < 0.01 && after.farthest < 0.01 * 0.3, "{turn}: {after:?}");
    }
}
