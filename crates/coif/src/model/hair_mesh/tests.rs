//! The model against the textbook's version of itself.

use glam::{Quat, Vec3};

use super::plain::PlainMesh;
use super::{MeshDynamics, MeshEnvironment, Settings};
use crate::groom::HairMesh;
use crate::math::RigidTransform;
use crate::simulation::Wind;

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
