//! Files that other programs made. Set `COIF_TEST_DATA` to the folder that holds them.

use std::io::{self, Write};
use std::path::PathBuf;

use coif_io::{ReadOptions, hair, obj};

fn data(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("COIF_TEST_DATA").map(|folder| PathBuf::from(folder).join(name));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        // Write to stderr directly: the test harness captures `println!` of tests that pass.
        let line = format!("skipped: no {name} (is COIF_TEST_DATA set?)\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
    found
}

#[test]
fn sintel_is_in_metres() {
    let Some(path) = data("derived/sintel.hair") else { return };
    let read = hair::read(path, &ReadOptions::default()).unwrap();
    let strands = &read.value.strands;
    assert_eq!((strands.strand_count(), strands.point_count()), (11_400, 11_400 * 16));
    assert_eq!((read.scale_m, read.warnings), (1.0, Vec::new()));
    let (lo, hi) = strands.bounds().unwrap();
    assert!(lo.y > 1.3 && hi.y < 1.7, "a head at the height of a head: {lo} to {hi}");
    assert!((read.value.fibre.radius - 50e-6).abs() < 1e-9);
    // The file's colour is sRGB 0.5.
    assert!((read.value.color.unwrap()[0].x - 0.214_041_14).abs() < 1e-7);
}

#[test]
fn the_ponytail_has_no_unit_and_gets_a_warning() {
    let Some(path) = data("derived/ponytail_tressfx.hair") else { return };
    let read = hair::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(read.value.strands.strand_count(), 4_933);
    assert!(read.warnings.iter().any(|w| w.contains("no unit")), "{:?}", read.warnings);
    let options = ReadOptions { scale_m: Some(0.003), up: None };
    let (lo, hi) = hair::read(&path, &options).unwrap().value.strands.bounds().unwrap();
    assert!((0.3..0.5).contains(&(hi.y - lo.y)), "a ponytail is about 40 cm long: {lo} to {hi}");
}

#[test]
fn real_grooms_keep_every_bit_when_written_again() {
    for name in ["derived/sintel.hair", "derived/ponytail_tressfx.hair"] {
        let Some(path) = data(name) else { return };
        let groom = hair::read(path, &ReadOptions::default()).unwrap().value;
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.hair");
        hair::write(&copy, &groom).unwrap();
        let again = hair::read(&copy, &ReadOptions::default()).unwrap();
        assert_eq!(again.value, groom);
    }
}

#[test]
fn a_human_body_is_read_with_its_groups() {
    let Some(path) = data("meshes/makehuman/base.obj") else { return };
    // MakeHuman works in decimetres.
    let options = ReadOptions { scale_m: Some(0.1), up: None };
    let body = obj::read_mesh(&path, &options).unwrap().value;
    assert_eq!(body.mesh.positions.len(), 19_158);
    assert_eq!(body.mesh.validate(), Ok(()));
    let skin = body.select("body").unwrap();
    let heights = skin.iter().flat_map(|&t| body.mesh.corners(t as usize)).map(|p| p.y);
    let (lo, hi) = heights.fold((f32::MAX, f32::MIN), |(lo, hi), y| (lo.min(y), hi.max(y)));
    assert!((1.4..2.0).contains(&(hi - lo)), "a grown person is {} m tall", hi - lo);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.obj");
    obj::write_mesh(&copy, &body).unwrap();
    let again = obj::read_mesh(&copy, &ReadOptions::default()).unwrap();
    assert_eq!(again.value, body);
    assert_eq!(again.warnings, Vec::<String>::new());
}
