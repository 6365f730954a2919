//! Hair meshes with slivers, read from files: those that are accepted must be simulated, others must be refused with
//! the name of the place.

use coif::body::{MovingCollider, Shape};
use coif::groom::HairMesh;
use coif::grow::hair_mesh::{Binding, Growth, Styling, scatter};
use coif::math::RigidTransform;
use coif::model::hair_mesh::{MeshDynamics, MeshEnvironment, Settings};
use coif::simulation::Wind;
use coif_io::{ReadOptions, read_hair_mesh, write_hair_mesh};
use glam::{Quat, Vec3};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// One step per frame at 30 frames a second.
const DT: f32 = 1.0 / 30.0;

/// Height of a head above the origin (m), for realistic rounding of positions.
const HEIGHT: f32 = 1.6;

#[derive(Debug, Clone, Copy)]
enum Sliver {
    /// A layer as thin as this (m).
    Layer(f32),
    /// A row of bundles as narrow as this (m).
    Bundle(f32),
    /// Root polygons as small as this (m): all hair from one spot.
    Roots(f32),
}

/// Hanging hair of 30 cm with a sliver, of quads or with some triangles.
fn with_sliver(sliver: Sliver, triangles: bool) -> HairMesh {
    let mut mesh = HairMesh::block([4, 3], 8, Vec3::new(0.12, 0.3, 0.09), triangles);
    for c in 0..mesh.column_count() {
        let points = mesh.columns.points_of(c);
        let column = &mut mesh.columns.positions_mut()[points];
        for p in column.iter_mut() {
            *p = Quat::from_rotation_x(std::f32::consts::PI) * *p + Vec3::Y * HEIGHT;
        }
        match sliver {
            Sliver::Layer(thin) => column[5].y = column[4].y - thin,
            Sliver::Bundle(narrow) if c % 5 == 2 => {
                column.iter_mut().for_each(|p| p.x = -0.03 + narrow);
            }
            Sliver::Bundle(_) => {}
            Sliver::Roots(small) => {
                column[0].x *= small / 0.03;
                column[0].z *= small / 0.03;
            }
        }
    }
    mesh
}

/// Writes a mesh to a file and reads it back.
fn through_file(mesh: &HairMesh) -> Result<HairMesh, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = folder.path().join("sliver.obj");
    write_hair_mesh(&path, mesh).map_err(|e| e.to_string())?;
    let read = read_hair_mesh(&path, &ReadOptions::default()).map_err(|e| e.to_string())?;
    Ok(read.value)
}

/// A head that shakes at natural speed, then at ten times that, then rests.
fn pose(frame: usize) -> RigidTransform {
    let time = match frame {
        ..=30 => frame as f32 * DT,
        31..=90 => frame as f32 * DT * 10.0,
        _ => return RigidTransform::IDENTITY,
    };
    let swing = 1.0 - (time * 6.0).cos();
    let middle = RigidTransform::from_translation(Vec3::Y * HEIGHT);
    let turn = RigidTransform {
        rotation: Quat::from_rotation_y(0.4 * swing) * Quat::from_rotation_x(0.15 * swing),
        translation: Vec3::new(0.03 * swing, 0.0, 0.02 * swing),
    };
    middle * turn * middle.inverse()
}

#[test]
fn slivers_that_are_accepted_are_simulated_and_hair_grows_in_them() {
    let slivers = [
        (Sliver::Layer(1e-3), false),
        (Sliver::Layer(5.5e-5), false),
        (Sliver::Layer(5.5e-5), true),
        (Sliver::Bundle(1e-4), true),
        (Sliver::Bundle(1e-5), false),
        (Sliver::Roots(1e-4), false),
        (Sliver::Roots(1e-5), true),
    ];
    for (sliver, triangles) in slivers {
        let mesh = through_file(&with_sliver(sliver, triangles)).unwrap();
        let n = mesh.column_count();
        let roots = scatter(&mesh, 200, 1, |_| 1.0);
        let growth = Growth { points: 24, seed: 1, styling: Styling::default() };
        let strands = growth.grow(&mesh, &roots);
        assert_eq!(strands.strand_count(), 200, "{sliver:?}");
        let mut binding = Binding::new(&mesh, &strands).unwrap();
        let mut hair = MeshDynamics::new(&mesh, &Settings::default(), GRAVITY).unwrap();
        let (mut last, mut stretch, mut off) = (pose(0), [0.0f32; 2], 0.0f32);
        let mut points = vec![Vec3::ZERO; strands.point_count()];
        for frame in 1..=240 {
            let now = pose(frame);
            let place = RigidTransform::from_translation(Vec3::new(0.02, HEIGHT - 0.2, -0.1));
            let shape = Shape::Sphere { radius: 0.05 };
            let (start, end) = (last * place, now * place);
            let colliders = [MovingCollider { shape, friction: 0.3, start, end }];
            let (wind, gravity, field) = (Wind::default(), GRAVITY, None);
            let env = MeshEnvironment {
                time: 0.0,
                dt: DT,
                gravity,
                wind: &wind,
                gusts: Default::default(),
                colliders: &colliders,
                field,
            };
            let report = hair.step(&env, &vec![now; n], &mut vec![false; n]);
            assert_eq!(report.broken, 0, "{sliver:?}, frame {frame}");
            let violent = usize::from(frame > 30);
            stretch[violent] = stretch[violent].max(hair.measure().stretch);
            last = now;
            // Strands follow with their lengths.
            let vertices: Vec<Vec3> = hair.positions().iter().map(|p| (*p).into()).collect();
            let velocities: Vec<Vec3> = hair.velocities().iter().map(|p| (*p).into()).collect();
            binding.update(&vertices, &velocities);
            binding.positions(&mut points);
            assert!(points.iter().all(|p| p.is_finite()), "{sliver:?}, frame {frame}");
            for s in 0..strands.strand_count() {
                let (own, rest) = (&points[strands.points_of(s)], strands.strand(s));
                for (a, b) in own.windows(2).zip(rest.windows(2)) {
                    let length = b[0].distance(b[1]);
                    off = off.max((a[0].distance(a[1]) - length).abs());
                }
            }
        }
        let m = hair.measure();
        println!("{sliver:?}, triangles {triangles}: stretch {stretch:?}, strands {off} m, {m:?}");
        // A tenth is the model's limit before contact; in violent motion a collision may double an edge.
        assert!(stretch[0] < 0.11 && stretch[1] < 1.0);
        assert!(off < 1e-5);
        assert!(m.mean_distance < 0.01 * m.length && m.volume_change < 0.01 && m.inverted == 0);
    }
}

#[test]
fn smaller_slivers_are_refused_and_named() {
    let refused = |sliver, triangles| through_file(&with_sliver(sliver, triangles)).unwrap_err();
    let thin = refused(Sliver::Layer(2e-5), false);
    assert!(thin.contains("column 0, level 5") && thin.contains("expected 0.05 mm"), "{thin}");
    let narrow = refused(Sliver::Bundle(1e-5), true);
    assert!(narrow.contains("bundle 1, layer 0") && narrow.contains("corners"), "{narrow}");
    let none = refused(Sliver::Bundle(0.0), false);
    assert!(none.contains("bundle 1, layer 0"), "{none}");
}
