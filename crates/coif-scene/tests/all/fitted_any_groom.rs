//! Any valid groom gets a valid hair mesh that contains most of it: every style with one strand, with some and with a
//! thousand, grooms that are flat, in loops or of identical strands, and a file if `COIF_TEST_DATA` names the folder.

use std::path::Path;

use coif::body::ClosestTriangle;
use coif::groom::hair_mesh::{FitSettings, HairMesh};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::Random;
use coif_scene::{Built, Scene, build, builtin};
use glam::Vec3;

/// Styles that grow as strands.
const STYLES: [&str; 11] = [
    "single",
    "tuft",
    "long-straight",
    "long-curly",
    "short",
    "bob",
    "ponytail",
    "coil",
    "silky",
    "shaggy",
    "fur",
];

/// Bundles and layers of the scene file's low, medium and high resolution.
const RESOLUTIONS: [FitSettings; 3] = [
    FitSettings { bundles: 40, layers: 8 },
    FitSettings { bundles: 90, layers: 11 },
    FitSettings { bundles: 180, layers: 15 },
];

/// A style on the bust, with a coarse mesh to save time.
fn styled(style: &str, strands: usize, sets: &[&str]) -> Built {
    let mut all = vec![
        format!("groom.style={style}"),
        format!("groom.strands={strands}"),
        "body.shape=head".to_owned(),
        "body.resolution=0.01".to_owned(),
    ];
    all.extend(sets.iter().map(|&s| s.to_owned()));
    let text = builtin::text("demo").expect("a built-in scene");
    let scene = Scene::from_toml(text, "demo", &all).unwrap_or_else(|e| panic!("{}", e.report()));
    build(&scene, Path::new(".")).unwrap_or_else(|e| panic!("{style}, {strands}: {e}"))
}

/// Fits in all resolutions: each mesh is valid, and at most `max_percent` of the points are outside.
fn assert_fits(name: &str, groom: &Groom, built: &Built, max_percent: f64) {
    for settings in RESOLUTIONS {
        let fitted = HairMesh::fit_on(groom, &settings, built.body.rest(), built.body.colliders());
        let (mesh, report) = fitted.unwrap_or_else(|e| panic!("{name}, {settings:?}: {e}"));
        mesh.validate().unwrap_or_else(|e| panic!("{name}, {settings:?}: {e}"));
        let percent = 100.0 * report.outside as f64 / report.points as f64;
        println!(
            "{name}, {} asked: {} bundles, {} vertices, {percent:.1} % outside ({max_percent} %), mean {:.2} mm",
            settings.bundles,
            mesh.bundles.len(),
            mesh.vertex_count(),
            1e3 * report.mean
        );
        assert!(percent <= max_percent, "{name}, {settings:?}: {report:?}");
        assert!(report.mean < 1e-3, "{name}, {settings:?}: {report:?}");
    }
}

/// With no more strands than bundles every strand has a tube of its own, so almost nothing is outside except where hair
/// lies on the skin; with a few more, strands that share a tube go in different directions.
#[test]
fn few_strands_of_any_style_have_a_mesh_around_them() {
    for style in STYLES {
        for strands in [1, 2, 10, 60] {
            let built = styled(style, strands, &[]);
            assert_fits(&format!("{style} of {strands}"), &built.groom, &built, 10.0);
        }
    }
}

/// Fits a thousand strands of some styles.
fn assert_thousands_fit(styles: &[&str]) {
    for style in styles {
        let built = styled(style, 1000, &[]);
        assert_fits(&format!("{style} of 1000"), &built.groom, &built, 8.0);
    }
}

#[test]
fn a_thousand_strands_have_a_mesh_around_them() {
    assert_thousands_fit(&STYLES[..5]);
}

#[test]
fn a_thousand_strands_of_other_styles_have_a_mesh_around_them() {
    assert_thousands_fit(&STYLES[5..]);
}

/// Points on a curve above a root, for fractions of its length from 0 to 1.
fn line(root: Vec3, points: usize, curve: impl Fn(f32) -> Vec3) -> Vec<Vec3> {
    (0..points).map(|k| root + curve(k as f32 / (points - 1) as f32)).collect()
}

/// Unusual grooms: a name, and lines on top of a head.
fn odd_grooms(built: &Built) -> Vec<(&'static str, Vec<Vec<Vec3>>)> {
    let body = built.body.rest();
    let search = ClosestTriangle::new(body).expect("triangles");
    let (lo, hi) = body.bounds().expect("vertices");
    let above = Vec3::new(0.5 * (lo.x + hi.x), hi.y + 0.02, 0.5 * (lo.z + hi.z));
    let root = |x: f32, z: f32| search.closest(above + Vec3::new(x, 0.0, z)).point;
    let top = root(0.0, 0.0);
    let in_row = |i: i32| root(0.0, 0.003 * i as f32 - 0.045);
    let in_square = |i: i32, side: i32, step: f32| {
        let place = |k: i32| step * (k as f32 - 0.5 * side as f32);
        root(place(i % side), place(i / side))
    };
    let ring = |radius: f32| {
        move |t: f32| {
            let (sin, cos) = (std::f32::consts::TAU * t).sin_cos();
            radius * Vec3::new(sin, 1.0 - cos, 0.0)
        }
    };
    let zigzag = |t: f32| Vec3::new(0.02 * ((20.0 * t).round() % 2.0), 0.05 * t, 0.0);
    let mixed = |i: i32| 0.01 + 0.49 * ((37 * i) % 100) as f32 / 99.0;
    let around = |i: i32| Vec3::new((0.15 * i as f32).cos(), 0.6, (0.15 * i as f32).sin());
    // A random walk.
    let mut random = Random::new(1, 0);
    let mut walk = |mut p: Vec3| -> Vec<Vec3> {
        let mut line = vec![p];
        for _ in 0..19 {
            p += 0.01 * (random.vector() + 0.6 * Vec3::Y);
            line.push(p);
        }
        line
    };
    vec![
        ("two points", vec![line(top, 2, |t| 0.1 * t * Vec3::Y)]),
        ("half a millimetre", vec![line(top, 2, |t| 0.5e-3 * t * Vec3::Y)]),
        (
            "in a plane",
            (0..30)
                .map(|i| line(in_row(i), 12, |t| Vec3::new(0.0, 0.15 * t, 0.03 * t * t)))
                .collect(),
        ),
        (
            "in a sheet",
            (0..30)
                .map(|i| line(in_row(i), 12, |t| Vec3::new(0.04 * t * t, 0.15 * t, 0.0)))
                .collect(),
        ),
        (
            "all the same",
            (0..20).map(|_| line(top, 12, |t| Vec3::new(0.02 * t * t, 0.15 * t, 0.0))).collect(),
        ),
        ("from one root", (0..40).map(|i| line(top, 10, |t| 0.1 * t * around(i))).collect()),
        ("a loop", vec![line(top, 32, ring(0.03))]),
        ("loops", (0..20).map(|i| line(in_square(i, 5, 0.004), 32, ring(0.02))).collect()),
        (
            "1 to 50 cm",
            (0..100)
                .map(|i| line(in_square(i, 10, 0.006), 10, |t| mixed(i) * t * Vec3::Y))
                .collect(),
        ),
        ("to and fro", (0..5).map(|i| line(in_square(i, 5, 0.003), 21, zigzag)).collect()),
        ("a tangle", (0..50).map(|i| walk(in_square(i, 7, 0.01))).collect()),
        (
            "far apart",
            vec![
                line(top, 5, |t| 0.1 * t * Vec3::Y),
                line(top + 3.0 * Vec3::X, 5, |t| 0.1 * t * Vec3::Y),
            ],
        ),
    ]
}

/// Closed loops and random walks are the worst case; still nine of ten points are inside.
#[test]
fn odd_grooms_have_a_mesh_around_them() {
    let built = styled("single", 1, &[]);
    for (name, lines) in odd_grooms(&built) {
        let mut strands = Strands::new();
        lines.iter().for_each(|line| strands.push(line));
        assert_fits(name, &Groom::new(strands, Fibre::default()), &built, 10.0);
    }
}

/// A real ponytail in the resolutions of the scene file, bound to a head that is not its own.
#[test]
fn a_ponytail_from_a_file_has_a_mesh_around_it() {
    let Some(folder) = std::env::var_os("COIF_TEST_DATA") else {
        println!("skipped: COIF_TEST_DATA is not set");
        return;
    };
    let path = Path::new(&folder).join("derived/ponytail_tressfx.hair");
    let options = coif_io::ReadOptions { scale_m: Some(0.003), up: None };
    let Ok(loaded) = coif_io::read_groom(&path, &options) else {
        println!("skipped: no {}", path.display());
        return;
    };
    assert_fits("ponytail", &loaded.value, &styled("single", 1, &[]), 12.0);
}

/// A mesh of few thin tubes is as robust as one of many: nothing is quarantined, stretched or pushed into the head.
#[test]
fn few_strands_in_fitted_meshes_survive_shaking() {
    let cases = [
        ("single", 1),
        ("long-straight", 1),
        ("coil", 10),
        ("bob", 10),
        ("short", 60),
        ("long-curly", 60),
        ("bob", 1000),
    ];
    for (style, strands) in cases {
        let sets =
            ["model.name=hair-mesh", "body.motion=shake", "groom.hair_mesh.resolution=medium"];
        let built = styled(style, strands, &sets);
        let mut simulation = built.simulation().unwrap_or_else(|e| panic!("{style}: {e}"));
        let (mut stretch, mut depth) = (0.0f32, 0.0f32);
        for frame in 1..=60 {
            simulation.advance_to(f64::from(frame) / f64::from(built.scene.time.fps));
            let health = simulation.health();
            assert_eq!(health.non_finite, 0, "{style} of {strands}, frame {frame}");
            stretch = stretch.max(health.stretch_max);
            depth = depth.max(health.penetration_max);
        }
        println!(
            "{style} of {strands}: stretch {stretch:.1e} (1e-3), penetration {depth:.1e} m (2e-3)"
        );
        assert!(simulation.report().quarantined.is_empty(), "{style} of {strands} is quarantined");
        assert!(stretch < 1e-3, "{style} of {strands} stretches by {stretch}");
        assert!(depth < 2e-3, "{style} of {strands} goes {depth} m into the head");
    }
}
