//! Files that other programs made. Set `COIF_TEST_DATA` to the folder that holds them.

use std::path::PathBuf;

use coif_io::{ReadOptions, hair};

fn data(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("COIF_TEST_DATA").map(|folder| PathBuf::from(folder).join(name));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        println!("skipped: {name} is not there (is COIF_TEST_DATA set?)");
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
    assert_eq!(read.value.color.unwrap()[0].x, 0.5);
}

#[test]
fn the_ponytail_names_no_unit_and_says_so() {
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
