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
