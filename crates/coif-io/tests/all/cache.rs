//! The cache: only complete frames count, foreign folders are not changed, damaged checkpoints are detected.

use std::fs;

use crate::grooms::{full_groom, plain_groom};
use coif_io::Cache;
use glam::Vec3;

const SCENE: &str = "[time]\nframes = 3\n";

#[test]
fn frames_read_back_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/er/out");
    let groom = full_groom(7);
    let cache = Cache::create(&out, SCENE, false).unwrap();
    assert_eq!(cache.frame_count().unwrap(), 0);
    for frame in 0..3 {
        let shift = Vec3::X * frame as f32 / 3.0;
        let moved: Vec<Vec3> = groom.strands.positions().iter().map(|&p| p + shift).collect();
        cache.write_frame(frame, &groom, &moved).unwrap();
        let read = Cache::open(&out).unwrap().read_frame(frame).unwrap();
        assert_eq!(read.strands.positions(), moved);
        assert_eq!((&read.radius, &read.color), (&groom.radius, &groom.color));
    }
    let cache = Cache::open(&out).unwrap();
    assert_eq!(cache.frame_count().unwrap(), 3);
    assert_eq!(cache.scene().unwrap(), SCENE);
    let missing = cache.read_frame(3).unwrap_err();
    assert!(missing.to_string().contains("holds 3"), "{missing}");
    assert!(cache.write_frame(3, &groom, &[Vec3::ZERO]).is_err());
    assert_eq!(cache.frame_count().unwrap(), 3);
}

#[test]
fn frames_after_a_gap_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let groom = plain_groom(2, 3);
    let cache = Cache::create(folder.path(), SCENE, false).unwrap();
    for frame in [0, 1, 3, 123_456] {
        cache.write_frame(frame, &groom, groom.strands.positions()).unwrap();
    }
    assert_eq!(cache.frame_count().unwrap(), 2);
    fs::remove_file(cache.frame_path(0)).unwrap();
    assert_eq!(cache.frame_count().unwrap(), 0);
}

#[test]
fn a_damaged_frame_ends_the_count() {
    let folder = tempfile::tempdir().unwrap();
    let groom = plain_groom(2, 3);
    let cache = Cache::create(folder.path(), SCENE, false).unwrap();
    for frame in 0..4 {
        cache.write_frame(frame, &groom, groom.strands.positions()).unwrap();
    }
    let whole = fs::read(cache.frame_path(2)).unwrap();
    for damaged in [&whole[..whole.len() - 1], &[]] {
        fs::write(cache.frame_path(2), damaged).unwrap();
        assert_eq!(cache.frame_count().unwrap(), 2);
    }
    fs::write(cache.frame_path(0), []).unwrap();
    assert_eq!(cache.frame_count().unwrap(), 0);
}

#[test]
fn foreign_folders_and_older_caches_are_safe() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("project");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("scene.toml"), SCENE).unwrap();
    let refused = Cache::create(&mine, "other", true).unwrap_err();
    assert!(refused.to_string().contains("not empty") && refused.hint().is_some(), "{refused}");
    assert_eq!(fs::read_to_string(mine.join("scene.toml")).unwrap(), SCENE);
    assert!(Cache::open(&mine).is_err());
    assert!(Cache::create(mine.join("scene.toml"), SCENE, true).is_err());
    assert!(Cache::open(folder.path().join("nowhere")).is_err());

    let out = folder.path().join("out");
    let groom = plain_groom(2, 3);
    let cache = Cache::create(&out, SCENE, false).unwrap();
    cache.write_frame(0, &groom, groom.strands.positions()).unwrap();
    cache.write_checkpoint(0, b"state").unwrap();
    fs::write(out.join("preview.mp4"), b"film").unwrap();
    fs::write(cache.health_path(), b"frame\n0\n").unwrap();
    let refused = Cache::create(&out, "other", false).unwrap_err();
    assert!(refused.hint().unwrap().contains("resume"));
    assert_eq!(cache.frame_count().unwrap(), 1);

    let cache = Cache::create(&out, "other", true).unwrap();
    assert_eq!((cache.frame_count().unwrap(), cache.scene().unwrap()), (0, "other".into()));
    assert_eq!(cache.read_checkpoint().unwrap(), None);
    assert!(out.join("preview.mp4").exists());
    assert!(!cache.health_path().exists());
}

#[test]
fn checkpoints_read_back_or_are_reported_as_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::create(folder.path(), SCENE, false).unwrap();
    assert_eq!(cache.read_checkpoint().unwrap(), None);
    for length in [0, 1, 7, 8, 9, 100] {
        let payload: Vec<u8> = (0..length).map(|i| i as u8).collect();
        cache.write_checkpoint(41, &payload).unwrap();
        assert_eq!(cache.read_checkpoint().unwrap(), Some((41, payload)));
    }
    let path = folder.path().join("checkpoint.bin");
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(cache.read_checkpoint().is_err(), "cut at {length}");
    }
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        let error = cache.read_checkpoint().unwrap_err();
        assert!(error.hint().is_some(), "byte {at}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn leftovers_of_a_killed_run_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let leftover = folder.path().join(".coif-4294967295-1f-0.tmp");
    fs::write(&leftover, b"half a frame").unwrap();
    Cache::create(folder.path(), SCENE, false).unwrap();
    assert!(!leftover.exists());
    fs::write(&leftover, b"half a frame").unwrap();
    Cache::open(folder.path()).unwrap();
    assert!(!leftover.exists());
}
