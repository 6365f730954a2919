//! The model against a textbook implementation.

use glam::{Quat, Vec3};

use super::elements::Elements;
use super::plain::PlainMesh;
use super::{MeshDynamics, MeshEnvironment, Settings};
use crate::body::{MovingCollider, Shape};
use crate::environment::Wind;
use crate::groom::HairMesh;
use crate::groom::hair_mesh::Bundle;
use crate::math::RigidTransform;
use crate::params::Ramp;

/// Both solve the same equations: their positions agree while hair is shaken.
#[test]
fn the_model_moves_as_the_textbook_says() {
    let mut mesh = HairMesh::block([3, 2], 6, Vec3::new(0.12, 0.25, 0.1), true);
    for p in mesh.columns.positions_mut() {
        *p = Quat::from_rotation_x(2.6) * *p;
    }
    // The textbook implementation does not hold the groom against gravity.
    let even = Settings { tolerance: 1e-6, ..Settings::default() };
    let ramps = Settings { stiffness: ramp(3.0, 0.3), damping: ramp(1.0, 12.0), ..even.clone() };
    for settings in [even, ramps] {
        moves_as_the_textbook_says(&mesh, &settings);
    }
}

fn moves_as_the_textbook_says(mesh: &HairMesh, settings: &Settings) {
    let mut plain = PlainMesh::new(mesh, settings, Vec3::ZERO).unwrap();
    let mut model = MeshDynamics::new(mesh, settings, Vec3::ZERO).unwrap();
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
            gusts: Default::default(),
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

/// A lock that tapers, and is pinched to a third of a millimetre on one side of its first layer, is shaken: no
/// solve breaks down.
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
    let settings = Settings { tolerance: 1e-6, max_iterations: 200, ..Settings::default() };
    let gravity = Vec3::Y * -9.81;
    let mut model = MeshDynamics::new(&mesh, &settings, gravity).unwrap();
    let (h, wind) = (1.0 / 30.0, Wind::default());
    let mut left = 0.0f32;
    for step in 1..=300 {
        let time = f64::from(step) / 30.0;
        let env = MeshEnvironment {
            time,
            dt: h,
            gravity,
            wind: &wind,
            gusts: Default::default(),
            colliders: &[],
            field: None,
        };
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
            gusts: Default::default(),
            colliders: &[],
            field: None,
        };
        let rotation = Quat::from_rotation_y(angle(time));
        let root = RigidTransform { rotation, translation: Vec3::ZERO };
        model.step(&env, &vec![root; columns], &mut vec![false; columns]);
    }
}

/// A lock of a gram hangs beside one of a milligram, not connected to it: the light one moves as it does alone,
/// bit by bit. With one bound for the error of all hair it would not be solved.
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

fn ramp(root: f32, tip: f32) -> Ramp {
    Ramp::new(&[[0.0, root], [1.0, tip]]).unwrap()
}

/// Conditions have the stiffness of their place: those of a mesh with a ramp have the energy of those without,
/// times the value of the ramp at the mean place of their vertices. Edges along the hair are excluded.
#[test]
fn a_ramp_of_stiffness_scales_every_condition_by_its_place() {
    let mesh = HairMesh::block([2, 2], 8, Vec3::new(0.12, 0.3, 0.12), true);
    let topology = mesh.topology();
    let stiffness = ramp(3.0, 0.5);
    let of = |stiffness: Ramp| {
        Elements::new(&mesh, &topology, &Settings { stiffness, ..Settings::default() }).0
    };
    let (even, varying) = (of(1.0.into()), of(stiffness.clone()));
    let place = |v: u32| mesh.positions()[v as usize].y / 0.3;
    let at = |vertices: &[u32]| {
        let places = vertices.iter().map(|&v| place(v)).sum::<f32>();
        stiffness.at(places / vertices.len() as f32)
    };
    let mut checked = 0;
    let mut check = |vertices: &[u32], even: f32, varying: f32, expected: f32| {
        let ratio = varying / even / expected;
        assert!((ratio - 1.0).abs() < 1e-4, "{vertices:?}: {even} {varying} {expected}");
        checked += 1;
    };
    let mut along = topology.along.clone();
    along.sort_unstable();
    for (a, b) in even.edges.iter().zip(&varying.edges) {
        let is_along = along.binary_search(&a.vertices).is_ok();
        let expected = if is_along { 1.0 } else { at(&a.vertices) };
        check(&a.vertices, a.stiffness, b.stiffness, expected);
    }
    for (a, b) in even.quads.iter().zip(&varying.quads) {
        check(&a.corners, a.stiffness, b.stiffness, at(&a.corners));
    }
    for (a, b) in even.corners.iter().zip(&varying.corners) {
        check(&a.vertices, a.stiffness, b.stiffness, at(&a.vertices));
    }
    for hinge in &even.hinges {
        for wing in hinge.first as usize..(hinge.first + hinge.count) as usize {
            let (a, b) = (&even.wings[wing], &varying.wings[wing]);
            check(&[hinge.vertex], a.stiffness, b.stiffness, at(&[hinge.vertex]));
        }
    }
    assert!(checked > 500, "{checked}");
}

/// Vertices with negligible stiffness take on the wind W each with the damping c of its place: after n steps of
/// h seconds their velocity is `W (1 - (1 + h c)^-n)`, which is backward Euler. Tolerance: effect of the least stiffness allowed.
#[test]
fn a_ramp_of_damping_lets_wind_take_each_vertex_by_its_own() {
    let mesh = HairMesh::block([1, 1], 8, Vec3::new(0.1, 0.4, 0.1), false);
    let columns = mesh.column_count();
    let soft = Settings {
        damping: ramp(2.0, 20.0),
        bulk_density: 1e4,
        along_modulus: 1.0,
        across_modulus: 1e-3,
        shear_modulus: 1e-3,
        bulk_modulus: 0.0,
        bending: 0.0,
        friction_time: 0.0,
        hold_shape: false,
        tolerance: 1e-6,
        ..Settings::default()
    };
    let mut model = MeshDynamics::new(&mesh, &soft, Vec3::ZERO).unwrap();
    let wind = Wind { velocity: Vec3::X * 0.05, ..Wind::default() };
    let (h, steps) = (1.0 / 120.0, 12);
    for _ in 0..steps {
        let (gravity, colliders) = (Vec3::ZERO, &[][..]);
        let env = MeshEnvironment {
            time: 0.0,
            dt: h,
            gravity,
            wind: &wind,
            gusts: Default::default(),
            colliders,
            field: None,
        };
        model.step(&env, &vec![RigidTransform::IDENTITY; columns], &mut vec![false; columns]);
    }
    for (v, p) in mesh.positions().iter().enumerate().filter(|(_, p)| p.y > 0.0) {
        let damping = 2.0 + 18.0 * p.y / 0.4;
        let expected = 0.05 * (1.0 - (1.0 + h * damping).powi(-steps));
        let found = model.velocities()[v].x;
        assert!((found / expected - 1.0).abs() < 0.03, "vertex {v}: {found} {expected}");
    }
}

/// Hair lies across a plane that slides under it. Friction of hair and body multiply, and act
/// locally: at the tips it drags them farther than near the roots.
#[test]
fn a_ramp_of_friction_drags_where_it_is() {
    let mut mesh = HairMesh::block([2, 2], 8, Vec3::new(0.05, 0.25, 0.05), false);
    for p in mesh.columns.positions_mut() {
        *p = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2) * *p;
    }
    let columns = mesh.column_count();
    let run = |relative: Ramp, friction: f32| {
        let settings = Settings { friction: relative, hold_shape: false, ..Settings::default() };
        let gravity = Vec3::NEG_Y * 9.81;
        let mut model = MeshDynamics::new(&mesh, &settings, gravity).unwrap();
        let dt = 1.0 / 120.0;
        for i in 0..60 {
            let at = |i: usize| {
                RigidTransform::from_translation(Vec3::new(0.0, -0.03, 0.3 * dt * i as f32))
            };
            let plane =
                MovingCollider { shape: Shape::Plane, friction, start: at(i), end: at(i + 1) };
            let env = MeshEnvironment {
                time: 0.0,
                dt,
                gravity,
                wind: &Wind::default(),
                gusts: Default::default(),
                colliders: &[plane],
                field: None,
            };
            model.step(&env, &vec![RigidTransform::IDENTITY; columns], &mut vec![false; columns]);
        }
        model.positions().to_vec()
    };
    assert_eq!(run(2.0.into(), 0.3), run(1.0.into(), 0.6));
    assert_eq!(run(ramp(1.0, 1.0), 0.3), run(1.0.into(), 0.3));
    let aside = |relative: Ramp| {
        let x = run(relative, 0.3);
        let tips = (0..columns).map(|c| mesh.columns.points_of(c).end - 1);
        tips.map(|v| x[v].z - mesh.positions()[v].z).sum::<f32>() / columns as f32
    };
    let halves = |root: f32, tip: f32| Ramp::new(&[[0.4, root], [0.6, tip]]).unwrap();
    let [none, inner, outer, all] =
        [0.0.into(), halves(1.0, 0.0), halves(0.0, 1.0), 1.0.into()].map(aside);
    println!("tips go {none:.5}, {inner:.5}, {outer:.5}, {all:.5} m with the plane");
    assert!(none.abs() < 0.05 * all, "{none} {all}");
    assert!(none < inner && 1.2 * inner < outer && outer < all, "{inner} {outer} {all}");
}
