//! Hair meshes that are fitted to grooms: built-in styles, and files that other programs made if `COIF_TEST_DATA`
//! names the folder that holds them.

use std::path::Path;

use coif::body::{Collider, MovingCollider};
use coif::groom::Groom;
use coif::groom::hair_mesh::{FitReport, FitSettings, HairMesh};
use coif::math::RigidTransform;
use coif::model::hair_mesh::{MeshDynamics, MeshEnvironment, MeshMeasure, Settings};
use coif::simulation::{Wind, World};
use coif_scene::{Built, Scene, build, builtin};
use glam::{Quat, Vec3};

/// The built-in styles.
const STYLES: [&str; 6] = ["short", "bob", "long-straight", "long-wavy", "long-curly", "ponytail"];

/// Percentage of points outside; prints the figures of the fit.
fn outside(name: &str, mesh: &HairMesh, report: &FitReport) -> f64 {
    let percent = 100.0 * report.outside as f64 / report.points as f64;
    println!(
        "{name}: {} bundles, {} vertices, {percent:.1} % outside, mean {:.2} mm, farthest {:.0} mm, {} dropped",
        mesh.bundles.len(),
        mesh.vertex_count(),
        1e3 * report.mean,
        1e3 * report.farthest,
        report.dropped
    );
    percent
}

/// Depth of a point in the deepest collider at rest (m).
fn depth(colliders: &[Collider], p: Vec3) -> f32 {
    let still = |c: &Collider| MovingCollider {
        shape: c.shape,
        friction: c.friction,
        start: c.world_from_shape,
        end: c.world_from_shape,
    };
    colliders.iter().map(|c| still(c).depth_at(p)).fold(0.0, f32::max)
}

/// A built-in style and its colliders at rest.
fn styled(style: &str, strands: usize) -> (Built, Vec<Collider>) {
    let text = builtin::text("demo").expect("a built-in scene");
    let sets = [format!("groom.style={style}"), format!("groom.strands={strands}")];
    let scene = Scene::from_toml(text, "demo", &sets).expect("it parses");
    let built = build(&scene, Path::new(".")).expect("it builds");
    let colliders = built.body.colliders().to_vec();
    (built, colliders)
}

/// At most a twentieth of long hair is outside, and a tenth of short hair, which goes in different directions within a
/// cell; the mesh is valid, and outside of the body.
#[test]
fn fitted_meshes_hold_the_hair_of_built_in_styles() {
    for style in STYLES {
        let (built, colliders) = styled(style, 1500);
        let settings = FitSettings::default();
        let (mesh, report) =
            HairMesh::fit_on(&built.groom, &settings, built.body.rest(), &colliders).unwrap();
        mesh.validate().unwrap();
        let max_outside = if style == "short" { 10.0 } else { 5.0 };
        assert!(outside(style, &mesh, &report) < max_outside);
        assert!(report.mean < 0.5e-3, "{report:?}");
        let roots = mesh.columns.first_points();
        let free = |v: &usize| roots.binary_search(&(*v as u32)).is_err();
        let depths =
            (0..mesh.vertex_count()).filter(free).map(|v| depth(&colliders, mesh.positions()[v]));
        let deep = depths.filter(|&d| d > 1e-3).count();
        println!("{deep} vertices inside the body");
        assert!(deep * 100 < mesh.vertex_count(), "{deep}");
    }
}

/// Moves a mesh violently for two seconds, on a head that turns to and fro and stops suddenly, then leaves it at rest
/// for ten; one step per frame.
fn after_violence(name: &str, mesh: &HairMesh, colliders: &[Collider]) -> MeshMeasure {
    let gravity = World::default().gravity;
    let mut hair = MeshDynamics::new(mesh, &Settings::default(), gravity).expect("a valid mesh");
    let mut broken = vec![false; mesh.column_count()];
    let pose = |frame: i32| {
        let time = if frame <= 60 { frame as f32 / 30.0 } else { 0.0 };
        RigidTransform {
            rotation: Quat::from_rotation_y(0.8 * (20.0 * time).sin()),
            translation: Vec3::X * 0.05 * (13.0 * time).sin(),
        }
    };
    let mut worst = 0.0f32;
    for frame in 0..360 {
        let (start, end) = (pose(frame), pose(frame + 1));
        let moving = |c: &Collider| MovingCollider {
            shape: c.shape,
            friction: c.friction,
            start: start * c.world_from_shape,
            end: end * c.world_from_shape,
        };
        let colliders: Vec<MovingCollider> = colliders.iter().map(moving).collect();
        let env = MeshEnvironment {
            time: 0.0,
            dt: 1.0 / 30.0,
            gravity,
            wind: &Wind::default(),
            gusts: Default::default(),
            colliders: &colliders,
            field: None,
        };
        let report = hair.step(&env, &vec![end; mesh.column_count()], &mut broken);
        assert_eq!(report.broken, 0, "{name}, frame {frame}");
        if frame == 60 {
            worst = hair.measure().mean_distance;
        }
    }
    let after = hair.measure();
    println!("{name}: {:.1} mm off at first, then {after:?}", 1e3 * worst);
    assert!(worst > 0.05 * after.length, "{name} was not thrown about");
    after
}

/// A fitted mesh that was moved violently returns to its rest shape, with nothing inverted: slivers do not keep moving.
/// A ponytail on the back takes longer than ten seconds.
#[test]
fn fitted_meshes_come_to_rest_after_violence() {
    for style in STYLES {
        let (built, colliders) = styled(style, 800);
        let settings = FitSettings::default();
        let (mesh, _) =
            HairMesh::fit_on(&built.groom, &settings, built.body.rest(), &colliders).unwrap();
        let after = after_violence(style, &mesh, &colliders);
        assert_eq!(after.inverted, 0, "{style}: {after:?}");
        assert!(after.fastest < 0.2, "{style}: {after:?}");
        let max_outside = if style == "ponytail" { 0.02 } else { 0.01 };
        assert!(after.mean_distance < max_outside * after.length, "{style}: {after:?}");
        assert!(after.mean_volume_change < 0.01, "{style}: {after:?}");
    }
}

/// Real grooms: a fringe and a ponytail, whose roots are not an even sheet. They come to rest as well.
#[test]
fn fitted_meshes_hold_most_hair_of_real_grooms() {
    let Some(folder) = std::env::var_os("COIF_TEST_DATA") else {
        println!("skipped: COIF_TEST_DATA is not set");
        return;
    };
    // The ponytail has no unit. It is read larger than it is: docs/limits.md tells what is wrong at its natural size.
    for (name, scale_m) in
        [("derived/sintel.hair", None), ("derived/ponytail_tressfx.hair", Some(0.01))]
    {
        let path = Path::new(&folder).join(name);
        let options = coif_io::ReadOptions { scale_m, up: None };
        let Ok(loaded) = coif_io::read_groom(&path, &options) else {
            println!("skipped: no {name}");
            continue;
        };
        let groom: Groom = loaded.value;
        let (mesh, report) = HairMesh::fit(&groom, &FitSettings::default()).unwrap();
        mesh.validate().unwrap();
        assert!(outside(name, &mesh, &report) < 10.0);
        let after = after_violence(name, &mesh, &[]);
        assert_eq!(after.inverted, 0, "{name}: {after:?}");
        assert!(after.fastest < 0.2, "{name}: {after:?}");
        assert!(after.mean_distance < 0.01 * after.length, "{name}: {after:?}");
    }
}
