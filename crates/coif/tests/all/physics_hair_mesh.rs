//! Hair meshes: rest, recovery, collision, seams, self-collision, resolution.

use std::sync::Arc;

use coif::body::{Body, MovingCollider, Shape};
use coif::groom::hair_mesh::{Bundle, HairMesh, Seam};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::ModelSettings;
use coif::model::hair_mesh::{MeshDynamics, MeshEnvironment, MeshReport, Settings};
use coif::simulation::{Simulation, Wind, World};
use glam::{Quat, Vec3, Vec3A};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
/// One step per frame at 30 frames a second.
const DT: f32 = 1.0 / 30.0;

/// A box of hair that hangs down from the plane y = 0.
fn hanging(cells: [usize; 2], layers: usize, size: Vec3, triangles: bool) -> HairMesh {
    turned(
        HairMesh::block(cells, layers, size, triangles),
        Quat::from_rotation_x(std::f32::consts::PI),
    )
}

fn turned(mut mesh: HairMesh, turn: Quat) -> HairMesh {
    for p in mesh.columns.positions_mut() {
        *p = turn * *p;
    }
    mesh.validate().expect("a valid mesh");
    mesh
}

fn dynamics(mesh: &HairMesh, settings: &Settings) -> MeshDynamics {
    MeshDynamics::new(mesh, settings, GRAVITY).expect("a valid mesh")
}

fn still(shape: Shape, at: Vec3) -> MovingCollider {
    let pose = RigidTransform::from_translation(at);
    MovingCollider { shape, friction: 0.3, start: pose, end: pose }
}

/// Steps with all roots at `pose`.
fn step(
    mesh: &mut MeshDynamics,
    columns: usize,
    pose: RigidTransform,
    dt: f32,
    wind: Vec3,
    colliders: &[MovingCollider],
) -> MeshReport {
    let wind = Wind { velocity: wind, ..Wind::default() };
    let env = MeshEnvironment {
        time: 0.0,
        dt,
        gravity: GRAVITY,
        wind: &wind,
        gusts: Default::default(),
        colliders,
        field: None,
    };
    mesh.step(&env, &vec![pose; columns], &mut vec![false; columns])
}

/// The groom is the equilibrium for any direction of growth, with steps of a thirtieth of a second.
#[test]
fn a_groom_stays_where_it_is_under_gravity() {
    let block = HairMesh::block([3, 2], 6, Vec3::new(0.1, 0.3, 0.08), true);
    for turn in [Quat::IDENTITY, Quat::from_rotation_z(1.2), Quat::from_rotation_x(2.5)] {
        let mesh = turned(block.clone(), turn);
        let mut hair = dynamics(&mesh, &Settings::default());
        for _ in 0..120 {
            step(&mut hair, mesh.column_count(), RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]);
        }
        let m = hair.measure();
        assert!(m.farthest < 1e-3 * m.length, "{m:?}");
    }
}

/// Without `hold_shape` hair that sticks out sags.
#[test]
fn hair_sags_where_the_shape_is_not_held() {
    let mesh = turned(
        HairMesh::block([2, 2], 6, Vec3::new(0.05, 0.3, 0.05), false),
        Quat::from_rotation_z(1.5),
    );
    let mut hair = dynamics(&mesh, &Settings { hold_shape: false, ..Settings::default() });
    for _ in 0..120 {
        step(&mut hair, mesh.column_count(), RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]);
    }
    assert!(hair.measure().farthest > 0.1, "{:?}", hair.measure());
}

/// Pose of a shaking head at `speed` times its natural speed.
fn violent(frame: usize, speed: f32) -> RigidTransform {
    let swing = 0.8 * (1.0 - (frame as f32 * DT * speed * 6.0).cos());
    RigidTransform {
        rotation: Quat::from_rotation_z(0.5 * swing) * Quat::from_rotation_y(swing),
        translation: Vec3::new(0.05, 0.05, 0.0) * swing,
    }
}

#[test]
fn hair_recovers_from_motion_at_ten_times_natural_speed() {
    for triangles in [false, true] {
        let mesh = hanging([5, 4], 11, Vec3::new(0.25, 0.4, 0.2), triangles);
        let mut hair = dynamics(&mesh, &Settings::default());
        let n = mesh.column_count();
        for frame in 1..=60 {
            let report = step(&mut hair, n, violent(frame, 10.0), DT, Vec3::ZERO, &[]);
            assert_eq!(report.broken, 0);
        }
        for _ in 0..90 {
            step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]);
        }
        let m = hair.measure();
        println!("{m:?}");
        assert!(m.mean_distance < 0.01 * m.length && m.volume_change < 0.01 && m.inverted == 0);
    }
}

/// A head with an ear, behind which hair can get snagged.
fn head_with_ear() -> [(Shape, Vec3); 2] {
    [
        (Shape::Ellipsoid { radii: Vec3::new(0.09, 0.12, 0.1) }, Vec3::new(0.0, -0.13, 0.0)),
        (Shape::Ellipsoid { radii: Vec3::new(0.012, 0.035, 0.022) }, Vec3::new(0.095, -0.12, 0.0)),
    ]
}

/// For several threshold speeds of friction and several speeds of the motion, hair stays within 2 mm of the outside of the
/// body and returns to its groom.
#[test]
fn hair_stays_out_of_the_body_and_slips_off_an_ear() {
    // A layer of hair beside the head, from its crown to below the chin.
    let mut mesh = hanging([5, 2], 9, Vec3::new(0.2, 0.34, 0.03), true);
    for p in mesh.columns.positions_mut() {
        *p = Vec3::new(0.128 - p.z, p.y, p.x);
    }
    mesh.validate().expect("a valid mesh");
    let n = mesh.column_count();
    for creep_speed in [0.02, 0.1, 0.5] {
        for turns in [1.0, 1.3, 0.8] {
            let mut hair = dynamics(&mesh, &Settings { creep_speed, ..Settings::default() });
            let (mut last, mut deepest) = (RigidTransform::IDENTITY, 0.0f32);
            for frame in 1..=210 {
                let now = match frame {
                    ..=60 => violent(frame, 10.0 * turns),
                    _ => RigidTransform::IDENTITY,
                };
                let colliders = head_with_ear().map(|(shape, at)| {
                    let place = RigidTransform::from_translation(at);
                    MovingCollider { shape, friction: 0.3, start: last * place, end: now * place }
                });
                let report = step(&mut hair, n, now, DT, Vec3::ZERO, &colliders);
                assert_eq!(report.broken, 0);
                for p in hair.positions() {
                    for c in &colliders {
                        deepest = deepest.max(c.depth_at((*p).into()));
                    }
                }
                last = now;
            }
            let m = hair.measure();
            println!("creep {creep_speed} m/s, {turns} turns: {deepest} m deep, {m:?}");
            assert!(deepest < 2e-3);
            assert!(m.mean_distance < 0.01 * m.length && m.volume_change < 0.01 && m.inverted == 0);
        }
    }
}

/// Hair that a steady load holds on the body is not snagged: it stays in its loaded equilibrium.
#[test]
fn hair_under_load_gets_no_restoring_spring() {
    let mesh = hanging([3, 2], 8, Vec3::new(0.1, 0.3, 0.04), false);
    let n = mesh.column_count();
    let wall = MovingCollider {
        shape: Shape::Plane,
        friction: 0.3,
        start: RigidTransform {
            rotation: Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2),
            translation: Vec3::new(-0.12, 0.0, 0.0),
        },
        end: RigidTransform {
            rotation: Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2),
            translation: Vec3::new(-0.12, 0.0, 0.0),
        },
    };
    let mut hair = dynamics(&mesh, &Settings::default());
    let mut distance = [0.0f32; 2];
    for frame in 0..300 {
        step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::new(-12.0, 0.0, 0.0), &[wall]);
        if frame >= 90 {
            distance = [distance[0].max(hair.measure().farthest), hair.measure().farthest];
        }
    }
    println!("{distance:?} m from rest");
    assert!(distance[1] > 0.02 && distance[1] > 0.9 * distance[0]);
}

/// `wu2016` figure 8: recovery from a state with all vertices on their roots.
#[test]
fn hair_recovers_from_collapse_onto_its_roots() {
    for (turn, bulk_modulus) in [(0.0, 600.0), (1.2, 600.0), (0.0, 0.0)] {
        let block = HairMesh::block([5, 4], 11, Vec3::new(0.25, 0.3, 0.2), true);
        let mesh = turned(block, Quat::from_rotation_z(turn));
        let mut hair = dynamics(&mesh, &Settings { bulk_modulus, ..Settings::default() });
        hair.collapse();
        for _ in 0..90 {
            step(&mut hair, mesh.column_count(), RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]);
        }
        let m = hair.measure();
        println!("turned {turn}, bulk modulus {bulk_modulus}: {m:?}");
        if bulk_modulus > 0.0 {
            assert!(m.mean_distance < 0.01 * m.length && m.volume_change < 0.01 && m.inverted == 0);
        }
    }
}

/// Stiffness is a property of the hair: motion converges for meshes of higher resolution, and for shorter steps.
#[test]
fn motion_does_not_depend_on_resolution_or_step() {
    let size = Vec3::new(0.12, 0.3, 0.12);
    let tip = |cells: usize, layers: usize, per_second: usize| {
        let mesh = hanging([cells, cells], layers, size, false);
        let mut hair = dynamics(&mesh, &Settings::default());
        let dt = 1.0 / per_second as f32;
        let mut path = Vec::new();
        for k in 1..=per_second {
            let time = k as f32 * dt;
            let swing = Vec3::X * (0.05 * (1.0 - (time * 6.0).cos()));
            let pose = RigidTransform::from_translation(swing);
            step(&mut hair, mesh.column_count(), pose, dt, Vec3::ZERO, &[]);
            if k % (per_second / 30) == 0 {
                let corner = mesh.vertex(0, layers as u32) as usize;
                path.push(hair.positions()[corner]);
            }
        }
        path
    };
    let apart = |a: &[Vec3A], b: &[Vec3A]| {
        a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) / size.y
    };
    let coarse = tip(2, 6, 120);
    let (fine, finer) = (tip(4, 12, 120), tip(6, 18, 120));
    let (slow, fast) = (tip(4, 12, 60), tip(4, 12, 240));
    let resolution = [apart(&coarse, &finer), apart(&fine, &finer)];
    let steps = [apart(&slow, &fast), apart(&fine, &fast)];
    println!("resolution {resolution:?}, steps {steps:?}");
    assert!(resolution[0] < 0.05 && resolution[1] < 0.02);
    // Implicit Euler is of first order: half the step, half the error.
    assert!(steps[0] < 0.08 && steps[1] < 0.5 * steps[0]);
}

/// Number of vertices inside of any collider.
fn inside(hair: &MeshDynamics, colliders: &[MovingCollider]) -> usize {
    let deep = |p: &&Vec3A| colliders.iter().any(|c| c.depth_at(Vec3::from(**p)) > 1e-4);
    hair.positions().iter().filter(deep).count()
}

/// A collider moves deep into hair. Minimisation alone leaves inner vertices inside, as the paper says; repeated
/// minimisation does not.
#[test]
fn inner_vertices_come_out_of_the_body_as_well() {
    let mesh = hanging([6, 6], 9, Vec3::new(0.18, 0.3, 0.18), false);
    let n = mesh.column_count();
    let shapes = [
        Shape::Sphere { radius: 0.06 },
        Shape::Ellipsoid { radii: Vec3::new(0.05, 0.08, 0.06) },
        Shape::Capsule { half_height: 0.05, radius: 0.05 },
        // Thin enough to pass between the outer vertices.
        Shape::Sphere { radius: 0.025 },
        Shape::Capsule { half_height: 0.04, radius: 0.02 },
    ];
    let mut left_by_the_paper = 0;
    for shape in shapes {
        let run = |clear_inside: bool, minimise: bool| {
            let settings = Settings { clear_inside, minimise, ..Settings::default() };
            let mut hair = dynamics(&mesh, &settings);
            let mut worst = 0;
            let at = |k: i32| Vec3::new(0.22 - 0.05 * k.min(4) as f32, -0.17, 0.01);
            for k in 0..10 {
                let start = RigidTransform::from_translation(at(k));
                let end = RigidTransform::from_translation(at(k + 1));
                let colliders = [MovingCollider { shape, friction: 0.3, start, end }];
                step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &colliders);
                worst = worst.max(inside(&hair, &colliders));
            }
            worst
        };
        let (paper, without, repeated) = (run(false, true), run(false, false), run(true, true));
        println!(
            "{shape:?}: inside {without} without, {paper} with, {repeated} with repeated minimisation"
        );
        assert_eq!(repeated, 0);
        left_by_the_paper += paper;
    }
    assert!(left_by_the_paper >= 10, "the colliders hardly overlap hair: {left_by_the_paper}");
}

/// Outer vertices stay out of every shape while hair swings against them.
#[test]
fn hair_swings_against_shapes_and_stays_out() {
    let mesh = hanging([4, 3], 10, Vec3::new(0.12, 0.3, 0.1), true);
    let n = mesh.column_count();
    let colliders = [
        still(Shape::Ellipsoid { radii: Vec3::new(0.05, 0.12, 0.15) }, Vec3::new(0.14, -0.2, 0.0)),
        still(Shape::Plane, Vec3::new(0.0, -0.32, 0.0)),
    ];
    let mut hair = dynamics(&mesh, &Settings::default());
    for frame in 0..150 {
        let swing = 0.08 * (frame as f32 * DT * 5.0).sin();
        let pose = RigidTransform::from_translation(Vec3::X * swing);
        step(&mut hair, n, pose, DT, Vec3::ZERO, &colliders);
        assert_eq!(inside(&hair, &colliders), 0, "frame {frame}");
    }
    for _ in 0..120 {
        step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &colliders);
    }
    let m = hair.measure();
    println!("{m:?}");
    assert!(m.mean_distance < 0.02 * m.length && m.inverted == 0);
}

/// Two bundles side by side with a seam: a light load keeps it closed, a strong one opens it, and without load it closes
/// again.
#[test]
fn seams_hold_open_and_close_again() {
    let whole = HairMesh::parted_block(8, Vec3::new(0.08, 0.3, 0.04));
    let mesh = turned(whole, Quat::from_rotation_x(std::f32::consts::PI));
    let n = mesh.column_count();
    let mut hair = dynamics(&mesh, &Settings::default());
    let right = mesh.bundles[1].columns().to_vec();
    // Pulls the sides apart with this acceleration (m/s^2).
    let pull = |hair: &mut MeshDynamics, strength: f32| {
        for c in 0..n {
            let signed = if right.contains(&(c as u32)) { strength } else { -strength };
            for v in mesh.columns.points_of(c).skip(1) {
                let toward = if mesh.bundles[0].columns()[0] == 0 { signed } else { -signed };
                hair.velocities_mut()[v].x += toward * DT;
            }
        }
        step(hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]).open
    };
    let sign = {
        // Away from each other at rest.
        let mean = |b: usize| -> f32 {
            let columns = mesh.bundles[b].columns();
            columns.iter().map(|&c| mesh.columns.strand(c as usize)[0].x).sum()
        };
        if mean(1) > mean(0) { 1.0 } else { -1.0 }
    };
    let light = (0..60).map(|_| pull(&mut hair, sign * 2.0)).max().unwrap_or(0);
    assert_eq!(light, 0, "a light pull opens the seam");
    // Hysteresis: a load between the two opens no stitch, but keeps open ones open.
    let medium = (0..60).map(|_| pull(&mut hair, sign * 4.0)).max().unwrap_or(0);
    assert_eq!(medium, 0, "a medium pull opens the seam");
    let strong = (0..60).map(|_| pull(&mut hair, sign * 60.0)).max().unwrap_or(0);
    println!("{strong} stitches open under load");
    assert!(strong > 8);
    let kept = (0..90).map(|_| pull(&mut hair, sign * 4.0)).last().unwrap_or(0);
    println!("{kept} stitches are kept open by a load that opens none");
    assert!(kept > 0);
    let mut left = 0;
    for _ in 0..300 {
        left = step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]).open;
    }
    let m = hair.measure();
    println!("{left} open in the end, {m:?}");
    assert_eq!(left, 0);
    assert!(m.mean_distance < 0.01 * m.length);
}

/// Two adjacent boxes of hair without common columns.
fn two_boxes() -> HairMesh {
    let one = hanging([2, 2], 8, Vec3::new(0.06, 0.3, 0.06), false);
    let mut columns = Strands::new();
    let mut bundles = Vec::new();
    for (k, side) in [-0.045f32, 0.045].into_iter().enumerate() {
        for column in one.columns.iter() {
            columns.push(
                &column
                    .iter()
                    .map(|p| *p + Vec3::new(side, 0.1 * side, 0.2 * side))
                    .collect::<Vec<_>>(),
            );
        }
        let shift = (k * one.column_count()) as u32;
        for bundle in &one.bundles {
            let own: Vec<u32> = bundle.columns().iter().map(|c| c + shift).collect();
            bundles.extend(Bundle::over(&own, bundle.layers));
        }
    }
    HairMesh { columns, bundles, seams: Vec::<Seam>::new(), roots: Vec::new() }
}

/// Bundles that are accelerated towards each other overlap much less with self-collision than without.
#[test]
fn bundles_without_common_columns_collide() {
    let mesh = two_boxes();
    let n = mesh.column_count();
    let run = |self_collision: bool| {
        let mut hair = dynamics(&mesh, &Settings { self_collision, ..Settings::default() });
        let mut overlap = 0.0f32;
        for frame in 0..60 {
            for c in 0..n {
                let toward = if c < n / 2 { 6.0 } else { -6.0 };
                for v in mesh.columns.points_of(c).skip(1) {
                    hair.velocities_mut()[v].x += toward * DT;
                }
            }
            let report = step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]);
            assert_eq!(report.broken, 0, "{frame}");
            // Overlap of the boxes at the level of the tips.
            let tips = |range: std::ops::Range<usize>| {
                range.map(|c| hair.positions()[mesh.columns.points_of(c).end - 1].x)
            };
            let left = tips(0..n / 2).fold(f32::MIN, f32::max);
            let right = tips(n / 2..n).fold(f32::MAX, f32::min);
            overlap = overlap.max(left - right);
        }
        overlap
    };
    let (with, without) = (run(true), run(false));
    println!("overlap {with} m with self-collision, {without} m without");
    assert!(without > 0.02, "the boxes hardly overlap without self-collision: {without} m");
    assert!(with < 0.4 * without);
}

/// Columns that are NaN are put back on the rest shape and reported.
#[test]
fn broken_columns_are_reset() {
    let mesh = hanging([2, 2], 5, Vec3::new(0.1, 0.2, 0.1), false);
    let n = mesh.column_count();
    let mut hair = dynamics(&mesh, &Settings::default());
    hair.velocities_mut()[9].x = f32::NAN;
    let wind = Wind::default();
    let env = MeshEnvironment {
        time: 0.0,
        dt: DT,
        gravity: GRAVITY,
        wind: &wind,
        gusts: Default::default(),
        colliders: &[],
        field: None,
    };
    let mut broken = vec![false; n];
    let report = hair.step(&env, &vec![RigidTransform::IDENTITY; n], &mut broken);
    assert!(report.broken > 0 && broken.iter().any(|b| *b));
    assert!(hair.positions().iter().all(|p| p.is_finite()));
    assert!(hair.velocities().iter().all(|v| v.is_finite()));
    let report = step(&mut hair, n, RigidTransform::IDENTITY, DT, Vec3::ZERO, &[]);
    assert_eq!(report.broken, 0);
    assert!(hair.measure().farthest < 1e-3);
}

/// A deforming scalp, 24 cm wide, with a travelling wave.
fn soft_scalp() -> Body {
    let n = 12u32;
    let at = |i: u32| i as f32 / n as f32 - 0.5;
    let grid: Vec<Vec3> = (0..=n)
        .flat_map(|z| (0..=n).map(move |x| Vec3::new(0.24 * at(x), 0.0, 0.24 * at(z))))
        .collect();
    let mut triangles = Vec::new();
    for (z, x) in (0..n).flat_map(|z| (0..n).map(move |x| (z, x))) {
        let a = z * (n + 1) + x;
        triangles.push([a, a + n + 1, a + 1]);
        triangles.push([a + 1, a + n + 1, a + n + 2]);
    }
    let wave = |frame: u32| {
        let (phase, rise) = (0.5 * frame as f32, (frame as f32 / 10.0).min(1.0));
        let lift = move |p: Vec3| Vec3::Y * 0.012 * rise * (40.0 * p.x + 25.0 * p.z + phase).sin();
        grid.iter().map(|&p| p + lift(p)).collect::<Vec<_>>()
    };
    let mut frames: Vec<Vec<Vec3>> = (0..40).map(wave).collect();
    frames[0].clone_from(&grid);
    Body::sampled(triangles, frames, 60.0).expect("a valid body")
}

/// Columns are bound to the scalp directly, so the mesh does not depend on the number of strands: strands that two grooms
/// have in common have the same positions to the bit.
#[test]
fn the_mesh_does_not_depend_on_the_number_of_strands() {
    let body = Arc::new(soft_scalp());
    let mesh = HairMesh::block([4, 3], 5, Vec3::new(0.16, 0.15, 0.12), true);
    let shown = |count: usize| {
        let mut strands = Strands::new();
        for s in 0..count {
            let turn = 2.399_963 * s as f32;
            let out = Vec3::new(turn.cos(), 0.0, turn.sin()) * (0.002 + 0.0008 * s as f32);
            strands.push(&(0..12).map(|i| out + Vec3::Y * (0.012 * i as f32)).collect::<Vec<_>>());
        }
        let mut groom = Groom::new(strands, Fibre::default());
        groom.hair_mesh = Some(Arc::new(mesh.clone()));
        groom.bind(body.rest()).expect("a body with triangles");
        let model = ModelSettings::HairMesh(Settings::default());
        let mut sim =
            Simulation::new(Arc::new(groom), body.clone(), &model, World::default()).unwrap();
        sim.advance_to(0.5);
        assert!(sim.report().quarantined.is_empty());
        sim.strands()
    };
    let (few, many) = (shown(4), shown(60));
    let rest = |p: &Vec3, i: usize| p.distance(Vec3::new(p.x, 0.012 * i as f32, p.z));
    let moved = few.strand(0).iter().enumerate().map(|(i, p)| rest(p, i)).fold(0.0, f32::max);
    assert!(moved > 2e-3, "the skin moves the hair: {moved}");
    for s in 0..few.strand_count() {
        assert_eq!(few.strand(s), many.strand(s), "strand {s}");
    }
}
