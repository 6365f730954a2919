//! `.hair`: what is written reads back with the same bits; broken files are named, never a panic.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use crate::grooms::{full_groom, plain_groom};
use coif::groom::{Fibre, Groom, Strands};
use coif_io::{Error, Loaded, Place, ReadOptions, Up, hair};
use glam::Vec3;
use proptest::prelude::*;

fn bytes_of(groom: &Groom) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hair");
    hair::write(&path, groom).unwrap();
    std::fs::read(&path).unwrap()
}

fn parse(bytes: &[u8]) -> Result<Loaded<Groom>, Error> {
    hair::parse(Path::new("a.hair"), bytes, &ReadOptions::default())
}

fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put_f32(bytes: &mut [u8], at: usize, value: f32) {
    put_u32(bytes, at, value.to_bits());
}

/// A file as another program writes it: no free text.
fn foreign(groom: &Groom) -> Vec<u8> {
    let mut bytes = bytes_of(groom);
    bytes[40..128].fill(0);
    bytes
}

#[test]
fn written_grooms_read_back_with_the_same_bits() {
    let huge = {
        let mut groom = full_groom(4);
        groom.strands.positions_mut().iter_mut().for_each(|p| *p *= 1e7);
        groom
    };
    for groom in [full_groom(1), full_groom(23), plain_groom(7, 5), huge] {
        let read = parse(&bytes_of(&groom)).unwrap();
        assert_eq!(read.value, groom);
        assert_eq!(read.warnings, Vec::<String>::new());
        assert_eq!((read.scale_m, read.up), (1.0, Up::Y));
    }
}

#[test]
fn every_combination_of_arrays_has_its_length_and_reads_back() {
    for bits in 0..16u32 {
        let mut groom = if bits & 1 == 0 { plain_groom(3, 4) } else { full_groom(6) };
        let full = groom.clone();
        groom = Groom::new(groom.strands, groom.fibre);
        let points = groom.strands.point_count();
        if bits & 2 != 0 {
            groom.radius = (1..=points).map(|i| i as f32 * 1e-6).collect();
        }
        if bits & 4 != 0 {
            groom.transparency = full.transparency.or(Some(vec![0.25; points]));
        }
        if bits & 8 != 0 {
            groom.color = full.color.or(Some(vec![Vec3::X; points]));
        }
        let bytes = bytes_of(&groom);
        let header = hair::Header::parse(Path::new("a.hair"), &bytes).unwrap();
        let flags = 2 | (bits & 1) | ((bits & 14) << 1);
        assert_eq!(header.flags, flags);
        assert_eq!(header.file_len(), bytes.len() as u64);
        assert_eq!(parse(&bytes).unwrap().value, groom, "flags {flags}");
    }
}

#[test]
fn the_layout_is_the_published_one() {
    let mut strands = Strands::new();
    strands.push(&[Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)]);
    let bytes = bytes_of(&Groom::new(strands, Fibre { radius: 0.25, ..Fibre::default() }));
    let int = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
    let float = |i: usize| f32::from_bits(int(i));
    assert_eq!(bytes.len(), 128 + 24);
    assert_eq!(&bytes[..4], b"HAIR");
    assert_eq!((int(4), int(8), int(12), int(16)), (1, 2, 2, 1));
    assert_eq!(float(20), 0.5, "thickness is a diameter");
    assert_eq!((float(128), float(148)), (1.0, 6.0));
    assert!(bytes[40..].starts_with(b"coif unit=m up=y\0"));
}

#[test]
fn the_unit_is_guessed_with_a_warning_and_can_be_overridden() {
    let mut in_cm = full_groom(9);
    in_cm.strands.positions_mut().iter_mut().for_each(|p| *p *= 100.0);
    let bytes = foreign(&in_cm);
    let read = parse(&bytes).unwrap();
    assert_eq!(read.scale_m, 0.01);
    assert!(read.warnings.iter().any(|w| w.contains("centimetres") && w.contains("scale")));
    assert_eq!(read.value.radius[0], in_cm.radius[0] * 0.01);

    let options = ReadOptions { scale_m: Some(0.0254), up: Some(Up::Z) };
    let read = hair::parse(Path::new("a.hair"), &bytes, &options).unwrap();
    assert!(!read.warnings.iter().any(|w| w.contains("read as")), "{:?}", read.warnings);
    let p = in_cm.strands.positions()[5];
    assert_eq!(read.value.strands.positions()[5], Vec3::new(p.x, p.z, -p.y) * 0.0254);
}

#[test]
fn hair_that_hangs_along_z_is_warned_about() {
    let mut groom = full_groom(9);
    groom.strands.positions_mut().iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, p.y));
    let read = parse(&foreign(&groom)).unwrap();
    assert!(read.warnings.iter().any(|w| w.contains("z-up")), "{:?}", read.warnings);
    let read = parse(&foreign(&full_groom(9))).unwrap();
    assert!(!read.warnings.iter().any(|w| w.contains("z-up")), "{:?}", read.warnings);
}

#[test]
fn defaults_of_the_header_replace_absent_arrays() {
    let mut bytes = foreign(&plain_groom(2, 3));
    put_f32(&mut bytes, 24, 0.5);
    put_f32(&mut bytes, 28, 0.75);
    let groom = parse(&bytes).unwrap().value;
    assert_eq!(groom.transparency, Some(vec![0.5; 6]));
    // Colours of other programs are sRGB.
    assert!((groom.color.unwrap()[5].x - 0.522_521_55).abs() < 1e-7);
    let linear = b"color=linear";
    bytes[40..40 + linear.len()].copy_from_slice(linear);
    assert_eq!(parse(&bytes).unwrap().value.color.unwrap()[5].x, 0.75);
    put_f32(&mut bytes, 20, 0.0);
    let read = parse(&bytes).unwrap();
    assert_eq!(read.value.radius, vec![Fibre::default().radius; 6]);
    assert!(read.warnings.iter().any(|w| w.contains("thickness")), "{:?}", read.warnings);
}

#[test]
fn every_prefix_is_an_error() {
    let bytes = bytes_of(&full_groom(4));
    for length in 0..bytes.len() {
        let error = parse(&bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{length}: {error}");
    }
    assert!(parse(&bytes).is_ok());
}

#[test]
fn trailing_bytes_are_a_warning() {
    let mut bytes = bytes_of(&full_groom(4));
    bytes.extend([7; 5]);
    let read = parse(&bytes).unwrap();
    assert_eq!(read.value, full_groom(4));
    assert!(read.warnings[0].contains("5 bytes"), "{:?}", read.warnings);
}

#[test]
fn contradictory_headers_are_refused_before_memory_is_allocated() {
    for (at, value) in [(4, u32::MAX), (8, u32::MAX), (12, 0), (4, 0), (8, 0), (16, 0), (12, 1)] {
        for groom in [full_groom(4), plain_groom(3, 4)] {
            let mut bytes = bytes_of(&groom);
            let unused = at == 16 && bytes[12] & 1 == 1;
            put_u32(&mut bytes, at, value);
            assert_eq!(parse(&bytes).is_err(), !unused, "byte {at} = {value}");
        }
    }
    let mut all = bytes_of(&plain_groom(3, 4));
    put_u32(&mut all, 4, u32::MAX);
    put_u32(&mut all, 16, u32::MAX);
    assert!(parse(&all).is_err());
}

#[test]
fn segments_must_add_up_and_every_strand_needs_one() {
    let bytes = bytes_of(&full_groom(4));
    let mut more = bytes.clone();
    more[128] += 1;
    assert!(parse(&more).unwrap_err().to_string().contains("sum"));
    let mut none = bytes;
    (none[128], none[130]) = (0, none[130] + none[128]);
    let error = parse(&none).unwrap_err();
    assert_eq!(error.place(), Place::Byte(128));
    assert!(error.to_string().contains("0 in strand 0"), "{error}");
}

#[test]
fn values_that_are_not_finite_are_named() {
    let groom = full_groom(4);
    let bytes = bytes_of(&groom);
    let (strand, points) = (groom.strands.points_of(2), groom.strands.point_count());
    let start = 128 + 2 * 4;
    let places = [
        (start + 12 * (strand.start + 1) + 4, f32::NAN, "position"),
        (start + 12 * (strand.start + 1), f32::NEG_INFINITY, "position"),
        (start + 12 * points + 4 * (strand.start + 1), -1.0, "thickness"),
        (start + 16 * points + 4 * (strand.start + 1), f32::NAN, "transparency"),
        (start + 20 * points + 12 * (strand.start + 1), f32::INFINITY, "colour"),
    ];
    for (at, value, what) in places {
        let mut broken = bytes.clone();
        put_f32(&mut broken, at, value);
        let message = parse(&broken).unwrap_err().to_string();
        assert!(message.contains("strand 2, point 1") && message.contains(what), "{message}");
    }
}

#[test]
fn writers_refuse_what_no_reader_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hair");
    let refused = |groom: &Groom, word: &str| {
        let message = hair::write(&path, groom).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
    };
    refused(&Groom::default(), "empty");
    refused(&plain_groom(1, 65_537), "65535");
    let mut nan = full_groom(4);
    nan.strands.strand_mut(3)[1].y = f32::NAN;
    refused(&nan, "strand 3, point 1: position");
    let mut short = full_groom(4);
    short.radius.pop();
    refused(&short, "radii");
    let mut stub = Strands::new();
    stub.push(&[Vec3::ZERO]);
    refused(&Groom::new(stub, Fibre::default()), "fewer than 2 points");
    let longest = plain_groom(1, 65_536);
    hair::write(&path, &longest).unwrap();
    assert_eq!(hair::read(&path, &ReadOptions::default()).unwrap().value, longest);
}

#[test]
fn missing_files_and_folders_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let missing = hair::read(folder.path().join("no.hair"), &options).unwrap_err();
    assert!(missing.to_string().contains("no such file") && missing.hint().is_some());
    let is_folder = hair::read(folder.path(), &options).unwrap_err();
    assert!(is_folder.to_string().contains("folder") && is_folder.hint().is_some());
    let wrong = parse(b"v 1 2 3\n").unwrap_err();
    assert!(wrong.to_string().contains("'HAIR'") && wrong.hint().is_some());
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn random_bytes_behind_a_header_never_panic(
        strands in 0u32..6, points in 0u32..20, flags in 0u32..64, segments in 0u32..8,
        rest in prop::collection::vec(any::<u8>(), 112..700),
    ) {
        let mut bytes = b"HAIR".to_vec();
        for word in [strands, points, flags, segments] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(rest);
        let _ = parse(&bytes);
    }

    #[test]
    fn a_flipped_byte_never_panics_and_never_gives_bad_values(at in 0usize..400, value: u8) {
        let mut bytes = bytes_of(&full_groom(4));
        let at = at % bytes.len();
        bytes[at] = value;
        if let Ok(read) = parse(&bytes) {
            prop_assert!(read.value.strands.positions().iter().all(|p| p.is_finite()));
            prop_assert!(read.value.radius.iter().all(|&r| r.is_finite() && r >= 0.0));
        }
    }
}
