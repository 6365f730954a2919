//! Hair meshes that are fitted to grooms: built-in styles, and files that other programs made if `COIF_TEST_DATA`
//! names the folder that holds them.

use std::path::Path;

use coif::body::{Collider, MovingCollider};
use coif::groom::Groom;
use coif::groom::hair_mesh::{FitReport, FitSettings, HairMesh};
use coif_scene::{Scene, build, builtin};
use glam::Vec3;

/// Share of points outside, in percent, and the line that says it.
fn outside(name: &str, mesh: &HairMesh, report: &FitReport) -> f64 {
    let share = 100.0 * report.outside as f64 / report.points as f64;
    println!(
        "{name}: {} bundles, {} vertices, {share:.1} % outside, mean {:.2} mm, farthest {:.0} mm, {} dropped",
        mesh.bundles.len(),
        mesh.vertex_count(),
        1e3 * report.mean,
        1e3 * report.farthest,
        report.dropped
    );
    share
}

/// How deep a point is in the deepest collider at rest (m).
fn depth(colliders: &[Collider], p: Vec3) -> f32 {
    let still = |c: &Collider| MovingCollider {
        shape: c.shape,
        friction: c.friction,
        start: c.world_from_shape,
        end: c.world_from_shape,
    };
    colliders.iter().map(|c| still(c).depth_at(p)).fold(0.0, f32::max)
}

/// At most a twentieth of long hair is outside, and a tenth of short hair, which goes its own way within a
/// cell; the mesh is valid, and it is outside of the body.
#[test]
fn fitted_meshes_hold_the_hair_of_built_in_styles() {
    for style in ["short", "long-wavy", "long-curly", "ponytail"] {
        let text = builtin::text("demo").unwrap();
        let sets = [format!("groom.style={style}"), "groom.strands=1500".into()];
        let built = build(&Scene::from_toml(text, "demo", &sets).unwrap(), Path::new(".")).unwrap();
        let colliders = built.body.colliders();
        let settings = FitSettings::default();
        let (mesh, report) =
            HairMesh::fit_on(&built.groom, &settings, built.body.rest(), colliders).unwrap();
        mesh.validate().unwrap();
        let most = if style == "short" { 10.0 } else { 5.0 };
        assert!(outside(style, &mesh, &report) < most);
        assert!(report.mean < 0.5e-3, "{report:?}");
        let roots = mesh.columns.first_points();
        let free = |v: &usize| roots.binary_search(&(*v as u32)).is_err();
        let depths =
            (0..mesh.vertex_count()).filter(free).map(|v| depth(colliders, mesh.positions()[v]));
        let deep = depths.filter(|&d| d > 1e-3).count();
        println!("{deep} vertices inside the body");
        assert!(deep * 100 < mesh.vertex_count(), "{deep}");
    }
}

/// Real grooms: a fringe and a ponytail, whose roots are no even sheet.
#[test]
fn fitted_meshes_hold_most_hair_of_real_grooms() {
    let Some(folder) = std::env::var_os("COIF_TEST_DATA") else {
        println!("skipped: COIF_TEST_DATA is not set");
        return;
    };
    for name in ["derived/sintel.hair", "derived/ponytail_tressfx.hair"] {
        let path = Path::new(&folder).join(name);
        let Ok(loaded) = coif_io::read_groom(&path, &Default::default()) else {
            println!("skipped: no {name}");
            continue;
        };
        let groom: Groom = loaded.value;
        let (mesh, report) = HairMesh::fit(&groom, &FitSettings::default()).unwrap();
        mesh.validate().unwrap();
        assert!(outside(name, &mesh, &report) < 10.0);
    }
}
