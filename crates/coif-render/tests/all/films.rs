//! Films of each kind read back with the same number of frames and the same size.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use coif_render::{Error, Film, Image};

/// A soft gradient that moves.
fn picture(frame: usize, width: usize, height: usize) -> Image {
    let mut rgb8 = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            rgb8.extend([(x * 2 + frame * 8) as u8, (y * 2) as u8, (x + y) as u8]);
        }
    }
    Image { width, height, rgb8 }
}

fn write(path: &Path, frames: usize, width: usize, height: usize) {
    let mut film = Film::create(path, 30.0).unwrap();
    for frame in 0..frames {
        film.push(&picture(frame, width, height)).unwrap();
    }
    assert_eq!(film.frame_count(), frames);
    assert!(!path.exists(), "a film has no name before it is finished");
    film.finish().unwrap();
}

fn files_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn gif_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gif");
    write(&path, 5, 61, 40);
    let mut decoder =
        gif::DecodeOptions::new().read_info(BufReader::new(File::open(&path).unwrap())).unwrap();
    assert_eq!((decoder.width(), decoder.height()), (61, 40));
    let mut delays = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!(delays, [3, 4, 3, 3, 4]);
    assert_eq!(files_in(folder.path()), 1);
}

#[test]
fn apng_round_trip_is_lossless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.apng");
    write(&path, 4, 61, 40);
    let decoder = png::Decoder::new(BufReader::new(File::open(&path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 4);
    for frame in 0..4 {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, picture(frame, 61, 40).rgb8, "frame {frame}");
        let control = reader.info().frame_control().unwrap();
        assert_eq!((control.delay_num, control.delay_den), (1, 30));
    }
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    assert!(reader.next_frame(&mut pixels).is_err(), "no frame follows the last");
    reader.finish().unwrap();
    assert_eq!(files_in(folder.path()), 1);
}

#[test]
fn a_sequence_is_numbered() {
    let folder = tempfile::tempdir().unwrap();
    let mut film = Film::create(folder.path().join("f_###.png"), 24.0).unwrap();
    for frame in 0..3 {
        film.push(&picture(frame, 20, 10)).unwrap();
    }
    film.finish().unwrap();
    assert!(folder.path().join("f_002.png").is_file());
    assert_eq!(files_in(folder.path()), 3);
}

#[test]
fn a_dropped_film_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for &ending in Film::endings() {
        let mut film = Film::create(folder.path().join(format!("a.{ending}")), 30.0).unwrap();
        film.push(&picture(0, 32, 32)).unwrap();
        drop(film);
        assert_eq!(files_in(folder.path()), 0, "{ending}");
    }
}

#[test]
fn an_existing_film_survives_until_the_new_one_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gif");
    std::fs::write(&path, b"old").unwrap();
    let mut film = Film::create(&path, 30.0).unwrap();
    film.push(&picture(0, 32, 32)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    film.finish().unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(b"GIF89a"));
}

#[test]
fn misuse_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(matches!(Film::create(at("a.avi"), 30.0), Err(Error::FilmKind { .. })));
    assert!(matches!(Film::create(at("a.png"), 30.0), Err(Error::FilmKind { .. })));
    assert!(matches!(Film::create(at("a.gif"), 0.0), Err(Error::FrameRate { .. })));
    assert!(matches!(Film::create(at("a.gif"), f64::NAN), Err(Error::FrameRate { .. })));
    assert!(matches!(Film::create(at("no/such/a.gif"), 30.0), Err(Error::File(_))));
    let mut film = Film::create(at("a.gif"), 30.0).unwrap();
    film.push(&picture(0, 32, 32)).unwrap();
    assert!(matches!(film.push(&picture(0, 32, 30)), Err(Error::FrameSize { .. })));
    assert!(matches!(
        Film::create(at("b.gif"), 30.0).unwrap().finish(),
        Err(Error::EmptyFilm { .. })
    ));
    assert!(Film::is_film("x/f_%04d.png") && !Film::is_film("x/f.png") && Film::is_film("a.MP4"));
}

#[test]
#[cfg(not(feature = "mp4"))]
fn mp4_without_an_encoder_names_the_alternatives() {
    let error = Film::create("a.mp4", 30.0).unwrap_err().to_string();
    assert!(error.contains(".gif") && error.contains(".apng"), "{error}");
}

/// Content of the first box found along a path of kinds.
#[cfg(feature = "mp4")]
fn find<'a>(mut data: &'a [u8], kinds: &[&[u8; 4]]) -> &'a [u8] {
    for kind in kinds {
        loop {
            let mut size = u32::from_be_bytes(data[..4].try_into().unwrap()) as usize;
            let mut head = 8;
            if size == 1 {
                size = u64::from_be_bytes(data[8..16].try_into().unwrap()) as usize;
                head = 16;
            }
            if &data[4..8] == *kind {
                data = &data[head..size];
                break;
            }
            data = &data[size..];
        }
    }
    data
}

#[test]
#[cfg(feature = "mp4")]
fn mp4_decodes_to_the_same_pictures() {
    use openh264::decoder::Decoder;
    use openh264::formats::YUVSource;

    let folder = tempfile::tempdir().unwrap();
    for (width, height) in [(64, 48), (61, 41), (5, 3)] {
        let path = folder.path().join("a.mp4");
        let _ = std::fs::remove_file(&path);
        let frames = 12;
        write(&path, frames, width, height);
        let file = std::fs::read(&path).unwrap();

        // The index is in front of the pictures.
        let place = |kind: &[u8; 4]| file.windows(4).position(|w| w == kind).unwrap();
        assert!(place(b"moov") < place(b"mdat"));
        let table = find(&file, &[b"moov", b"trak", b"mdia", b"minf", b"stbl"]);
        let number = |data: &[u8], at: usize| {
            u32::from_be_bytes(data[at..at + 4].try_into().unwrap()) as usize
        };
        let sizes = find(table, &[b"stsz"]);
        assert_eq!(number(sizes, 8), frames);
        let chunk = find(table, &[b"co64"]);
        let mut at = u64::from_be_bytes(chunk[8..16].try_into().unwrap()) as usize;
        assert_eq!(at, place(b"mdat") + 12, "pictures start right after the head of their box");

        // Feed parameter sets and pictures to a decoder.
        let avc1 = &find(table, &[b"stsd"])[8..];
        let configuration = find(&avc1[8 + 78..], &[b"avcC"]);
        let mut decoder = Decoder::new().unwrap();
        let sps = u16::from_be_bytes([configuration[6], configuration[7]]) as usize;
        let pps_at = 8 + sps + 3;
        let mut stream = vec![0, 0, 0, 1];
        stream.extend(&configuration[8..8 + sps]);
        stream.extend([0, 0, 0, 1]);
        let pps = u16::from_be_bytes([configuration[pps_at - 2], configuration[pps_at - 1]]);
        stream.extend(&configuration[pps_at..pps_at + pps as usize]);
        let mut decoded = 0;
        let mut check = |found: Option<openh264::decoder::DecodedYUV<'_>>| {
            let Some(found) = found else { return };
            let even = |n: usize| n.next_multiple_of(2).max(16);
            assert_eq!(found.dimensions(), (even(width), even(height)));
            let (x, y) = (width / 2, height / 2);
            let original = picture(decoded, width, height);
            let p = &original.rgb8[(y * width + x) * 3..][..3];
            let luma = 16.0
                + (0.2126 * f32::from(p[0]) + 0.7152 * f32::from(p[1]) + 0.0722 * f32::from(p[2]))
                    * (219.0 / 255.0);
            let close = (f32::from(found.y()[y * found.strides().0 + x]) - luma).abs();
            assert!(close < 14.0, "frame {decoded}: off by {close}");
            decoded += 1;
        };
        for i in 0..frames {
            let end = at + number(sizes, 12 + 4 * i);
            while at < end {
                let length = number(&file, at);
                stream.extend([0, 0, 0, 1]);
                stream.extend(&file[at + 4..at + 4 + length]);
                at += 4 + length;
            }
            check(decoder.decode(&stream).unwrap());
            stream.clear();
        }
        for found in decoder.flush_remaining().unwrap() {
            check(Some(found));
        }
        assert_eq!(decoded, frames);
        assert_eq!(at, file.len(), "nothing follows the last picture");
    }
}
