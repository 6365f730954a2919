//! `.npz` files: an independent reader finds the arrays, and so do the zip reader of Python and NumPy where they exist.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use coif::groom::{Fibre, Groom, Strands};
use coif_io::npz::{VelocitySource, Writer};
use glam::Vec3;

/// Strands of 2 and 3 points with colours.
fn groom() -> Groom {
    let mut strands = Strands::new();
    strands.push(&[Vec3::ZERO, Vec3::Y]);
    strands.push(&[Vec3::X, Vec3::ONE, Vec3::Z]);
    let mut groom = Groom::new(strands, Fibre { radius: 4e-5, ..Fibre::default() });
    groom.color = Some((0..5).map(|i| Vec3::new(i as f32, 0.5, 0.25)).collect());
    groom
}

fn position(frame: usize, point: usize) -> Vec3 {
    Vec3::new(frame as f32, point as f32 / 3.0, -1e-7)
}

fn velocity(frame: usize, point: usize) -> Vec3 {
    Vec3::new(-(frame as f32), 1e9, point as f32)
}

fn write(path: &Path, frames: usize) {
    let groom = groom();
    let source = VelocitySource::Differences;
    let mut file = Writer::create(path, &groom, 30.0, frames as u64, source).unwrap();
    for frame in 0..frames {
        let all = |of: fn(usize, usize) -> Vec3| (0..5).map(|p| of(frame, p)).collect::<Vec<_>>();
        file.push(10 + frame as u64, &all(position), &all(velocity)).unwrap();
        assert!(!path.exists(), "the file has its name only when it is complete");
    }
    file.finish().unwrap();
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// CRC-32 bit by bit.
fn crc(bytes: &[u8]) -> u64 {
    let mut sum = !0u32;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    u64::from(!sum)
}

/// An array: type, shape, bytes.
type Array = (String, Vec<u64>, Vec<u8>);

/// Reads an archive from its end, as the format prescribes.
fn read(bytes: &[u8]) -> BTreeMap<String, Array> {
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    let locator = end - 20;
    assert_eq!(&bytes[locator..locator + 4], b"PK\x06\x07");
    let end64 = number::<8>(bytes, locator + 8) as usize;
    assert_eq!(&bytes[end64..end64 + 4], b"PK\x06\x06");
    let count = number::<8>(bytes, end64 + 32);
    let mut at = number::<8>(bytes, end64 + 48) as usize;
    assert_eq!(at as u64 + number::<8>(bytes, end64 + 40), end64 as u64);
    let mut arrays = BTreeMap::new();
    for _ in 0..count {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        let (name_length, extra) =
            (number::<2>(bytes, at + 28) as usize, number::<2>(bytes, at + 30));
        let name = &bytes[at + 46..at + 46 + name_length];
        let more = at + 46 + name_length;
        assert_eq!((number::<2>(bytes, more), extra), (1, 28));
        let (size, start) = (number::<8>(bytes, more + 4), number::<8>(bytes, more + 20) as usize);
        let sum = number::<4>(bytes, at + 16);
        at = more + 28;
        // The local header says the same.
        assert_eq!(&bytes[start..start + 4], b"PK\x03\x04");
        assert_eq!(number::<4>(bytes, start + 14), sum);
        let local_name = start + 30;
        assert_eq!(&bytes[local_name..local_name + name_length], name);
        let local_extra = local_name + name_length;
        assert_eq!(number::<8>(bytes, local_extra + 4), size);
        assert_eq!(number::<8>(bytes, local_extra + 12), size);
        let data = local_extra + number::<2>(bytes, start + 28) as usize;
        let content = &bytes[data..data + size as usize];
        assert_eq!(crc(content), sum);
        // The array.
        assert_eq!(&content[..8], b"\x93NUMPY\x01\x00");
        let length = number::<2>(content, 8) as usize;
        let head = std::str::from_utf8(&content[10..10 + length]).unwrap();
        let between = |a: &str, b: &str| {
            head.split_once(a).and_then(|(_, rest)| Some(rest.split_once(b)?.0)).unwrap().to_owned()
        };
        let shape = between("'shape': (", ")");
        let shape = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        let array = (between("'descr': '", "'"), shape, content[10 + length..].to_vec());
        arrays.insert(String::from_utf8(name.to_vec()).unwrap(), array);
    }
    arrays
}

#[test]
fn an_independent_reader_finds_every_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.npz");
    write(&path, 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let arrays = read(&std::fs::read(&path).unwrap());
    let floats = |name: &str, shape: &[u64]| -> Vec<f32> {
        let (kind, found, bytes) = &arrays[name];
        assert_eq!((kind.as_str(), &found[..]), ("<f4", shape), "{name}");
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let frames = |of: fn(usize, usize) -> Vec3| -> Vec<f32> {
        (0..3).flat_map(|f| (0..5).flat_map(move |p| of(f, p).to_array())).collect()
    };
    assert_eq!(floats("positions.npy", &[3, 5, 3]), frames(position));
    assert_eq!(floats("velocities.npy", &[3, 5, 3]), frames(velocity));
    assert_eq!(floats("radius.npy", &[5]), [4e-5; 5]);
    assert_eq!(floats("color.npy", &[5, 3])[12..], [4.0, 0.5, 0.25]);
    let numbers = |name: &str, expected: &str| -> Vec<u64> {
        let (kind, _, bytes) = &arrays[name];
        assert_eq!(kind, expected, "{name}");
        bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect()
    };
    assert_eq!(numbers("strand_offsets.npy", "<i8"), [0, 2, 5]);
    assert_eq!(numbers("frames.npy", "<i8"), [10, 11, 12]);
    let times = [10.0 / 30.0, 11.0 / 30.0, 12.0 / 30.0].map(f64::to_bits);
    assert_eq!(numbers("times.npy", "<f8"), times);
    assert_eq!(numbers("fps.npy", "<f8"), [30f64.to_bits()]);
    let (kind, shape, text) = &arrays["velocity_source.npy"];
    assert_eq!((kind.as_str(), shape.len()), ("<U11", 0));
    let text: String = text.chunks_exact(4).map(|c| char::from(c[0])).collect();
    assert_eq!(text, "differences");
    assert_eq!(arrays.len(), 9);
}

/// Runs a Python program with a file as its argument; `None` if there is no Python, or no such module.
fn python(path: &Path, module: &str, program: &str) -> Option<String> {
    let has = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: there is no python3 with {module}");
        return None;
    }
    let output = Command::new("python3").args(["-c", program]).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn python_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.npz");
    write(&path, 2);
    let check = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n\
                 print(len(z.namelist()), z.getinfo('positions.npy').file_size)";
    if let Some(said) = python(&path, "zipfile", check) {
        assert_eq!(said.trim(), format!("9 {}", 128 + 2 * 5 * 12));
    }
    let load = "import sys, numpy\nf = numpy.load(sys.argv[1])\n\
                print(f['positions'].shape, f['positions'][1, 4, 1], f['velocities'][1, 4, 2], \
                f['strand_offsets'].tolist(), str(f['velocity_source']), float(f['fps']))";
    if let Some(said) = python(&path, "numpy", load) {
        assert_eq!(said.trim(), "(2, 5, 3) 1.3333334 4.0 [0, 2, 5] differences 30.0");
    }
}
