//! Numbered files, figures per frame, arrays and sweeps, black box.

#![allow(clippy::unwrap_used)]

use crate::program::{Folder, SMALL, names_in, two_strands};

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

/// Motion that is visible from one frame to the next.
const FAST: &[&str] = &["--set", "body.speed=8"];

/// Three frames of a small simulation in the folder `run`.
fn small_run() -> Folder {
    let folder = Folder::new();
    folder.ok(&[&["simulate", "spin", "--frames", "3", "-o", "run"], FAST, SMALL].concat());
    folder
}

#[test]
fn numbered_files_are_input_with_either_placeholder() {
    let folder = small_run();
    folder.ok(&["convert", "run", "a.####.hair"]);
    let said = folder.ok(&["convert", "a.%04d.hair", "b.%03d.obj", "--frames", "1..2"]);
    assert!(said.contains("2 files"), "{said}");
    folder.ok(&["convert", "b.###.obj", "c.##.hair"]);
    folder.ok(&["convert", "a.####.hair", "one.hair", "--frame", "1"]);
    folder.ok(&["convert", "run", "cut.##.hair", "--frames", "1..2"]);
    let names: Vec<String> = folder.names().into_iter().filter(|n| !n.starts_with("a.")).collect();
    let expected = [
        "b.001.obj",
        "b.002.obj",
        "c.01.hair",
        "c.02.hair",
        "cut.01.hair",
        "cut.02.hair",
        "one.hair",
        "run",
    ];
    assert_eq!(names, expected);
    let strands = |name: &str| {
        coif_io::read_groom(folder.path(name), &Default::default()).unwrap().value.strands
    };
    assert_eq!(strands("c.01.hair"), strands("run/frame.00001.hair"));
    assert_eq!(strands("one.hair"), strands("run/frame.00001.hair"));
    assert_eq!(strands("cut.02.hair"), strands("run/frame.00002.hair"));
    // They are inspected and shown, too.
    let found = folder.json(&["inspect", "a.####.hair"]);
    assert_eq!((&found["frames"], &found["kind"]), (&3.into(), &"groom".into()));
    folder.ok(&["render", "a.%04d.hair", "-o", "film.##.png", "--size", "32x32"]);
    folder.ok(&["render", "a.####.hair", "-o", "last.png", "--size", "32x32"]);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("film.02.png"), bytes("last.png"));
    // Every picture shows its own file.
    for (number, x) in [(1, 0.0), (2, 0.05)] {
        folder.write(&format!("w.{number}.obj"), format!("v {x} 0.1 0\nv {x} 0.2 0\nl 1 2\n"));
    }
    let wide = ["--size", "32x32", "--set", "render.hair_width=50"];
    folder.ok(&[&["render", "w.#.obj", "-o", "w.%d.png"], &wide[..]].concat());
    assert_ne!(bytes("w.0.png"), bytes("w.1.png"));
    for name in ["w.1.obj", "w.2.obj", "w.0.png", "w.1.png"] {
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    // Errors name what is missing.
    std::fs::remove_file(folder.path("a.0001.hair")).unwrap();
    assert!(folder.fails(&["convert", "a.####.hair", "d.####.obj"]).contains("a.0001.hair"));
    assert!(folder.fails(&["convert", "no.####.hair", "d.####.obj"]).contains("no files"));
    let error = folder.fails(&["convert", "b.%03d.obj", "d.##.obj", "--frames", "0..2"]);
    assert!(error.contains("no frame 0") && error.contains("--frames 1..2"), "{error}");
    let error = folder.fails(&["convert", "run", "d.hair", "--frames", "0..2"]);
    assert!(error.contains("d.####.hair"), "{error}");
    assert!(!folder.names().iter().any(|name| name.starts_with('d')));
}

#[test]
fn numbered_meshes_are_converted() {
    let folder = Folder::new();
    for (number, x) in [(7, 10), (8, 20)] {
        folder.write(
            &format!("m.{number}.obj"),
            format!("v 0 0 0\nv {x} 0 0\nv 0 0 10\ng scalp\nf 1 2 3\n"),
        );
    }
    folder.ok(&["convert", "m.%d.obj", "n.####.obj", "--scale", "0.01", "--up", "z"]);
    assert_eq!(folder.names(), ["m.7.obj", "m.8.obj", "n.0007.obj", "n.0008.obj"]);
    let found = folder.json(&["inspect", "n.####.obj"]);
    assert_eq!((&found["kind"], &found["frames"]), (&"mesh".into(), &2.into()));
    let width = folder.json(&["inspect", "n.0008.obj"])["bounds_m"]["max"][0].as_f64().unwrap();
    assert!((width - 0.2).abs() < 1e-6, "{width}");
    assert!(folder.fails(&["convert", "m.%d.obj", "n.obj"]).contains("one per frame"));
}

#[test]
fn a_dot_in_the_name_of_a_folder_is_no_extension() {
    let folder = Folder::new();
    folder.ok(&[&["simulate", "spin", "--frames", "1", "-o", "sw_0.05"], SMALL].concat());
    assert!(names_in(&folder.path("sw_0.05")).contains(&"scene.toml".to_owned()));
}

/// Notes on what a format does not hold come once, and not for every numbered file.
#[test]
fn notes_on_a_format_come_once() {
    let folder = Folder::new();
    let fur = [
        "--set",
        "groom.style=shaggy",
        "--set",
        "groom.strands=40",
        "--set",
        "body.resolution=0.02",
    ];
    let command = [&["simulate", "spin", "--frames", "3", "-o", "a.##.obj"], &fur[..]].concat();
    let outcome = folder.json(&command);
    let notes = outcome["warnings"].as_array().unwrap();
    let of_file: Vec<&str> =
        notes.iter().filter_map(|w| w.as_str()).filter(|w| w.contains(".obj")).collect();
    assert!(!of_file.is_empty() && of_file.iter().all(|w| w.contains("a.00.obj")), "{notes:?}");
}

#[test]
fn the_health_of_every_frame_is_a_table() {
    let folder = small_run();
    folder.ok(&["convert", "run", "series.csv"]);
    assert_eq!(read(&folder, "series.csv"), read(&folder, "run/health.csv"));
    folder.ok(&["convert", "run", "part.csv", "--frames", "1..2"]);
    let part = read(&folder, "part.csv");
    let starts: Vec<&str> = part.lines().map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(starts, ["frame", "1", "2"]);
    folder.write("a.hair", two_strands());
    assert!(folder.fails(&["convert", "a.hair", "b.csv"]).contains("does not move"));
    std::fs::remove_file(folder.path("run/health.csv")).unwrap();
    assert!(folder.fails(&["convert", "run", "b.csv"]).contains("health.csv"));
}

/// The bytes of an array of 32-bit numbers in an archive without compression, found by its name.
fn floats(archive: &[u8], name: &str) -> Vec<f32> {
    let name = format!("{name}.npy");
    let local = archive
        .windows(4 + 26 + name.len())
        .position(|w| w.starts_with(b"PK\x03\x04") && w.ends_with(name.as_bytes()));
    let start = local.unwrap();
    let number = |at: usize, n: usize| {
        archive[at..at + n].iter().rev().fold(0usize, |sum, &b| sum << 8 | usize::from(b))
    };
    let extra = start + 30 + name.len();
    let (size, data) = (number(extra + 4, 8), extra + number(start + 28, 2));
    let header = 10 + number(data + 8, 2);
    let bytes = &archive[data + header..data + size];
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn positions_and_velocities_become_arrays() {
    let folder = small_run();
    folder.ok(&["convert", "run", "run.npz"]);
    folder.ok(&[&["simulate", "spin", "--frames", "3", "-o", "model.npz"], FAST, SMALL].concat());
    folder.ok(&["convert", "run", "a.##.hair"]);
    folder.ok(&["convert", "a.##.hair", "files.npz", "--fps", "60"]);
    folder.ok(&["convert", "run", "middle.npz", "--frame", "1"]);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("run.npz"), bytes("files.npz"));
    let frames: Vec<Vec<f32>> = (0..3)
        .map(|f| {
            let path = folder.path(&format!("run/frame.{f:05}.hair"));
            let groom = coif_io::read_groom(path, &Default::default()).unwrap().value;
            groom.strands.positions().iter().flat_map(|p| p.to_array()).collect()
        })
        .collect();
    let n = frames[0].len();
    for name in ["run.npz", "model.npz"] {
        assert_eq!(floats(&bytes(name), "positions"), frames.concat(), "{name}");
    }
    // Central differences, one-sided at both ends.
    let found = floats(&bytes("run.npz"), "velocities");
    for (frame, (a, b)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
        let rate = 60.0 / (b - a) as f32;
        for i in 0..n {
            let expected = (frames[b][i] - frames[a][i]) * rate;
            assert_eq!(found[frame * n + i], expected, "frame {frame}");
        }
    }
    assert_eq!(floats(&bytes("middle.npz"), "velocities"), found[n..2 * n]);
    // Those of the model agree once the motion is smooth: differences of frames h apart are off by (w h)^2 / 6 for
    // hair that swings at w; 5 Hz and 60 frames a second give 5 %, and the roots turn with the body.
    let long = [&["--frames", "31", "--set", "body.speed=2"], SMALL].concat();
    folder.ok(&[&["simulate", "spin", "-o", "long"], &long[..]].concat());
    folder.ok(&[&["simulate", "spin", "-o", "exact.npz"], &long[..]].concat());
    folder.ok(&["convert", "long", "differences.npz"]);
    let velocities = |name: &str| floats(&bytes(name), "velocities")[29 * n..30 * n].to_vec();
    let (exact, differences) = (velocities("exact.npz"), velocities("differences.npz"));
    let size = |v: &[f32]| v.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
    let off: Vec<f32> = exact.iter().zip(&differences).map(|(a, b)| a - b).collect();
    let (error, speed) = (size(&off), size(&exact));
    println!("differences are off by {:.3} of the speed", error / speed);
    assert!(speed > 0.0 && error < 0.05 * speed, "{error} {speed}");
    assert!(folder.fails(&["convert", "a.##.hair", "b.npz"]).contains("--fps"));
    assert!(folder.fails(&["convert", "run", "b.##.npz"]).contains("placeholder"));
}

/// Values and the named columns of each row.
fn table(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    read(folder, name).lines().map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_sweep_gives_a_row_per_combination() {
    let folder = Folder::new();
    let quick = ["--frames", "3", "--set", "body.resolution=0.02", "--set", "groom.strands=20"];
    let lists = ["--set", "groom.points=8,12", "--set", "model.name=follow-the-leader,mass-spring"];
    let sweep = [&["sweep", "spin"], &quick[..], &lists, &["-o", "t.csv"]].concat();
    let plot = [&sweep[..], &["--plot", "t.svg", "--figure", "speed_max_m_s"]].concat();
    let said = folder.ok(&plot);
    assert!(said.contains("4 rows") && said.contains("t.svg"), "{said}");
    let rows = table(&folder, "t.csv");
    let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    let cells = |name: &str| -> Vec<&str> {
        rows[1..].iter().map(|row| row[column(name)].as_str()).collect()
    };
    assert_eq!(cells("groom.points"), ["8", "8", "12", "12"]);
    assert_eq!(cells("model.name"), ["follow-the-leader", "mass-spring"].repeat(2));
    assert_eq!(cells("points"), ["160", "160", "240", "240"]);
    assert!(cells("error").iter().all(|e| e.is_empty()));
    let svg = read(&folder, "t.svg");
    assert_eq!(svg.matches("<circle").count(), 4);
    assert!(svg.contains(">mass-spring<") && svg.contains("groom.points"));
    // The figures are those of simulate.
    let one = ["simulate", "spin", "--set", "groom.points=12"];
    let outcome = folder.json(&[&one, &quick[..]].concat());
    assert_eq!(cells("state_hash")[2], outcome["state_hash"]);
    let stretch: f64 = cells("stretch_max")[2].parse().unwrap();
    assert_eq!(stretch as f32, outcome["stretch_max"].as_f64().unwrap() as f32);

    // Rows that exist are kept, with the time that was measured then; others are added in order.
    let before = read(&folder, "t.csv");
    folder.ok(&sweep);
    assert_eq!(read(&folder, "t.csv"), before);
    let lines: Vec<&str> = before.lines().collect();
    folder.write("t.csv", format!("{}\n{}\n{}\nhalf a r", lines[0], lines[4], lines[2]));
    folder.ok(&sweep);
    let again = read(&folder, "t.csv");
    let again: Vec<&str> = again.lines().collect();
    assert_eq!((again[2], again[4], again.len()), (lines[2], lines[4], 5));
    let hash = |line: &str| line.split(',').nth(column("state_hash")).unwrap().to_owned();
    assert_eq!(hash(again[1]), hash(lines[1]));
    // A table of other keys is not touched.
    let other = ["sweep", "spin", "--set", "groom.points=8", "-o", "t.csv"];
    let error = folder.fails(&other);
    assert!(error.contains("--overwrite"), "{error}");
}

#[test]
fn a_combination_that_fails_is_a_row() {
    let folder = Folder::new();
    let quick = ["--frames", "2", "--set", "body.resolution=0.02", "--set", "groom.strands=5"];
    let some = ["--set", "groom.points=10,100000", "--set", "wind.velocity=[1,0,0],[0,0,2]"];
    let said = folder.ok(&[&["sweep", "spin", "-o", "t.csv"], &quick[..], &some].concat());
    assert!(said.contains("4 rows, 2 of them with an error"), "{said}");
    let text = read(&folder, "t.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains("\"[1,0,0]\"") && lines[2].contains("\"[0,0,2]\""), "{text}");
    assert!(lines[3].contains("points") && lines[3].ends_with('"'), "{text}");
    // A mistake in all of them is one of the command.
    for wrong in ["groom.pints=1,2", "groom.points=", "groom.points"] {
        let error = folder.fails(&["sweep", "spin", "-o", "no.csv", "--set", wrong]);
        assert!(error.contains("hint:"), "{error}");
    }
    folder.fails(&["sweep", "spin", "-o", "no.txt", "--set", "groom.points=8"]);
    folder.fails(&["sweep", "spin", "-o", "no/t.csv", "--set", "groom.points=8"]);
    assert_eq!(folder.names(), ["t.csv"]);
}

/// Explicit springs that need hundreds of substeps are named once, with the keys to change.
#[test]
fn a_model_too_slow_for_the_scene_is_named() {
    let folder = Folder::new();
    let slow = [
        "model.name=explicit-spring",
        "groom.points=120",
        "groom.strands=300",
        "body.resolution=0.02",
    ];
    let sets: Vec<&str> = slow.iter().flat_map(|set| ["--set", set]).collect();
    let outcome =
        folder.json(&[&["simulate", "long-straight", "--frames", "3"], &sets[..]].concat());
    let warnings = outcome["warnings"].as_array().unwrap();
    let said: Vec<&str> = warnings.iter().filter_map(|w| w.as_str()).collect();
    let slow: Vec<&&str> = said.iter().filter(|w| w.contains("explicit-spring takes")).collect();
    assert_eq!(slow.len(), 1, "{said:?}");
    assert!(slow[0].contains("model.stretch_modulus"), "{said:?}");
    assert!(outcome["substeps"].as_u64().unwrap() > 100);
}
