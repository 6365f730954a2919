//! `coif simulate` and `coif demo`, black box: outputs, JSON keys, same bits, resume.

use crate::program::{Folder, SMALL, names_in};
use serde_json::Value;

fn simulate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["simulate", "spin"], SMALL, more].concat()
}

fn hash(outcome: &Value) -> &str {
    outcome["state_hash"].as_str().expect("state_hash is a string")
}

#[test]
fn a_small_scene_gives_a_cache_a_film_and_the_documented_keys() {
    let folder = Folder::new();
    let size = ["--set", "render.width=64", "--set", "render.height=48"];
    let arguments = simulate(&["--frames", "4", "-o", "run", "--render", "film.gif"]);
    let outcome = folder.json(&[&arguments[..], &size].concat());
    assert_eq!(outcome["frames"], 4);
    assert_eq!(outcome["strands"], 120);
    assert_eq!(outcome["points"], 120 * 12);
    for key in ["ms_per_frame", "stretch_max", "penetration_max_m"] {
        assert!(outcome[key].is_number(), "{key}: {}", outcome[key]);
    }
    for key in ["quarantined", "unresolved", "non_finite", "threads"] {
        assert!(outcome[key].is_u64(), "{key}: {}", outcome[key]);
    }
    for stage in ["body", "roots", "model", "contact", "grow", "health"] {
        assert!(outcome["stages_ms"][stage].is_number(), "{stage}");
    }
    assert_eq!(outcome["stages_ms"]["contact"], 0.0, "there is no contact here");
    assert_eq!(outcome["quarantined"], 0);
    assert_eq!(outcome["non_finite"], 0);
    assert!(outcome["stretch_max"].as_f64().unwrap() < 1e-4);
    assert_eq!(hash(&outcome).len(), 16);
    assert!(u64::from_str_radix(hash(&outcome), 16).is_ok());
    assert!(outcome["warnings"].is_array());
    assert_eq!(outcome["outputs"], serde_json::json!(["run", "film.gif"]));
    assert_eq!(folder.names(), ["film.gif", "run"]);
    let film = std::fs::read(folder.path("film.gif")).unwrap();
    assert!(film.starts_with(b"GIF89a"));
    let frames = ["frame.00000.hair", "frame.00001.hair", "frame.00002.hair", "frame.00003.hair"];
    let expected = [&["checkpoint.bin"], &frames[..], &["health.csv", "scene.toml"]].concat();
    assert_eq!(names_in(&folder.path("run")), expected);
}

#[test]
fn any_number_of_threads_and_any_run_give_the_same_bits() {
    let folder = Folder::new();
    let run = |threads: &str| folder.json(&simulate(&["--frames", "8", "--threads", threads]));
    let (one, two, again) = (run("1"), run("2"), run("2"));
    assert_eq!(one["threads"], 1);
    assert_eq!(two["threads"], 2);
    assert_eq!(hash(&one), hash(&two));
    assert_eq!(hash(&two), hash(&again));
    let other = folder.json(&simulate(&["--frames", "9"]));
    assert_ne!(hash(&one), hash(&other), "the hash does not see the motion");
}

#[test]
fn a_resumed_run_ends_in_the_same_bits() {
    let folder = Folder::new();
    let whole = folder.json(&simulate(&["--frames", "9", "-o", "whole"]));
    folder.ok(&simulate(&["--frames", "4", "-o", "part"]));
    // The rest of a killed run: a frame after the checkpoint.
    let part = folder.path("part");
    std::fs::copy(part.join("frame.00003.hair"), part.join("frame.00004.hair")).unwrap();
    let resumed =
        folder.json(&simulate(&["--frames", "9", "-o", "part", "--resume", "--threads", "1"]));
    assert_eq!(resumed["frames"], 9);
    assert_eq!(resumed["frames_simulated"], 5);
    assert_eq!(hash(&resumed), hash(&whole));
    for key in ["stretch_max", "penetration_max_m", "quarantined", "unresolved"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    for frame in 0..9 {
        let bytes = |run: &str| {
            std::fs::read(folder.path(run).join(format!("frame.{frame:05}.hair"))).unwrap()
        };
        assert_eq!(bytes("whole"), bytes("part"), "frame {frame}");
    }
    // Resuming works with nothing left to do, and with a folder that does not exist yet.
    let again = folder.json(&simulate(&["--frames", "9", "-o", "part", "--resume"]));
    assert_eq!((again["frames_simulated"].as_u64(), hash(&again)), (Some(0), hash(&whole)));
    let fresh = folder.json(&simulate(&["--frames", "9", "-o", "fresh", "--resume"]));
    assert_eq!(hash(&fresh), hash(&whole));
}

/// Contact between single hairs is reported for every model that supports it, within a step or after it.
#[test]
fn contact_between_single_hairs_is_reported() {
    let folder = Folder::new();
    for model in ["follow-the-leader", "mass-spring"] {
        let name = format!("model.name={model}");
        let contact =
            ["--frames", "2", "--set", "contact.repulsion.thickness=0.001", "--set", &name];
        let outcome = folder.json(&simulate(&contact));
        for key in ["pairs", "springs", "crossings_left", "dropped_pairs"] {
            assert!(outcome["contact"][key].is_u64(), "{model}, {key}: {}", outcome["contact"]);
        }
        assert!(outcome["contact"]["pairs"].as_u64() > Some(0), "{model}: {}", outcome["contact"]);
        assert!(folder.ok(&simulate(&contact)).contains("contact: "), "{model}");
    }
    assert!(folder.json(&simulate(&["--frames", "2"])).get("contact").is_none());
}

/// The stage of contact is reported if there is contact; each warning is printed once.
#[test]
fn contact_has_its_stage_and_warnings_come_once() {
    let folder = Folder::new();
    let volume = ["--frames", "3", "--set", "contact.volume.friction=0.3"];
    let outcome = folder.json(&simulate(&volume));
    assert!(outcome["stages_ms"]["contact"].as_f64().unwrap() > 0.0, "{outcome}");
    assert_eq!(outcome["warnings"], serde_json::json!([]));
    assert!(folder.ok(&simulate(&volume)).contains(", contact "));
    // Contact on a grid is reported, contact of single hairs is not.
    let grid = &outcome["contact"]["volume"];
    assert!(grid["nodes"][0].as_u64() > Some(1) && grid["cell_m"].as_f64() > Some(0.0), "{grid}");
    assert_eq!(outcome["contact"]["pairs"], 0);
    let told = folder.ok(&simulate(&volume));
    assert!(told.contains("contact on a grid: ") && !told.contains("contact: "), "{told}");
    assert!(!folder.ok(&simulate(&["--frames", "3"])).contains("contact"));
    let other = folder.json(&simulate(&["--frames", "3"]));
    assert_ne!(hash(&outcome), hash(&other), "contact changes nothing");

    let fine = ["--frames", "3", "--set", "contact.volume.cell=1e-4"];
    let outcome = folder.json(&simulate(&fine));
    let warnings = outcome["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().contains("contact.volume.cell"), "{warnings:?}");
    let surface = ["--frames", "3", "--set", "body.collide=distance-field"];
    let fine = ["--set", "body.field_cell=0.001"];
    let outcome = folder.json(&simulate(&[&surface[..], &fine].concat()));
    let warnings = outcome["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|w| w.as_str().unwrap().contains("body.field_cell")),
        "{warnings:?}"
    );
}

/// A resumed run with contact between hairs ends in the same state.
#[test]
fn a_resumed_run_with_contact_ends_in_the_same_bits() {
    let folder = Folder::new();
    let contact = ["--set", "contact.volume.friction=0.3"];
    let run = |more: &[&str]| folder.json(&simulate(&[&contact[..], more].concat()));
    let whole = run(&["--frames", "9"]);
    run(&["--frames", "4", "-o", "part"]);
    let resumed = run(&["--frames", "9", "-o", "part", "--resume", "--threads", "1"]);
    assert_eq!(hash(&resumed), hash(&whole));
}

#[test]
fn a_killed_run_is_resumed_with_the_same_bits() {
    let folder = Folder::new();
    let arguments = simulate(&["--frames", "400", "-o", "run"]);
    let mut child = folder.command(&arguments).spawn().unwrap();
    // Wait for a few frames, then kill it.
    let tenth = folder.path("run").join("frame.00010.hair");
    while !tenth.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = folder.json(&simulate(&["--frames", "400", "-o", "run", "--resume"]));
    let whole = folder.json(&simulate(&["--frames", "400"]));
    assert_eq!(hash(&resumed), hash(&whole));
    assert_eq!(resumed["series"], whole["series"]);
    let names = names_in(&folder.path("run"));
    assert_eq!(names.len(), 403, "frames, scene, checkpoint and health: {names:?}");
}

#[test]
fn another_scene_is_not_resumed() {
    let folder = Folder::new();
    folder.ok(&simulate(&["--frames", "2", "-o", "run"]));
    let arguments = simulate(&["-o", "run", "--resume", "--set", "body.speed=2"]);
    assert!(folder.fails(&arguments).contains("another scene"));
    assert!(folder.fails(&simulate(&["--resume"])).contains("-o"));
}

#[test]
fn a_simulation_is_only_replaced_when_asked() {
    let folder = Folder::new();
    folder.ok(&simulate(&["--frames", "5", "-o", "run"]));
    let message = folder.fails(&simulate(&["--frames", "2", "-o", "run"]));
    assert!(message.contains("--overwrite"), "{message}");
    folder.ok(&simulate(&["--frames", "2", "-o", "run", "--overwrite"]));
    assert_eq!(folder.json(&["inspect", "run"])["frames"], 2);
}

#[test]
fn numbered_files_and_the_last_frame_agree_with_the_cache() {
    let folder = Folder::new();
    folder.ok(&simulate(&["--frames", "3", "-o", "run"]));
    folder.ok(&simulate(&["--frames", "3", "-o", "hair.##.hair"]));
    folder.ok(&simulate(&["--frames", "3", "-o", "last.hair"]));
    folder.ok(&simulate(&["--frames", "3", "-o", "last.obj"]));
    let names = folder.names();
    assert_eq!(
        names,
        ["hair.00.hair", "hair.01.hair", "hair.02.hair", "last.hair", "last.obj", "run"]
    );
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("hair.02.hair"), bytes("last.hair"));
    assert_eq!(bytes("last.hair"), bytes("run/frame.00002.hair"));
    assert_ne!(bytes("hair.00.hair"), bytes("hair.02.hair"));
}

#[test]
fn the_demo_makes_a_film_and_prints_its_path() {
    let folder = Folder::new();
    let quick = ["--frames", "2", "--strands", "50", "--size", "64x48"];
    let coarse = ["--set", "body.resolution=0.02"];
    let said = folder.ok(&[&["demo"], &quick[..], &coarse].concat());
    let film = if cfg!(feature = "mp4") { "coif-demo.mp4" } else { "coif-demo.gif" };
    assert_eq!(folder.names(), [film]);
    assert!(said.contains(film) && said.contains("coif scenes"), "{said}");
    let outcome =
        folder.json(&[&["demo", "-o", "d.apng", "--threads", "1"], &quick[..], &coarse].concat());
    assert_eq!(outcome["outputs"], serde_json::json!(["d.apng"]));
    assert_eq!(outcome["frames"], 2);
}

#[test]
fn a_scene_file_finds_its_files_from_its_own_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("scenes")).unwrap();
    folder.write("scenes/hair.hair", crate::program::two_strands());
    folder.write(
        "scenes/a.toml",
        "[groom]\nfile = \"hair.hair\"\n[body]\nresolution = 0.02\n[time]\nframes = 2\n",
    );
    let outcome = folder.json(&["simulate", "scenes/a.toml", "-o", "run"]);
    assert_eq!(outcome["strands"], 2);
    // The scene in the cache can be read from any folder.
    let again = folder.json(&["simulate", "run/scene.toml"]);
    assert_eq!(hash(&again), hash(&outcome));
}

/// Runs the program until a file exists, then sends Ctrl-C; returns stderr.
#[cfg(unix)]
fn interrupted(folder: &Folder, arguments: &[&str], file: &str) -> String {
    let stderr = std::process::Stdio::piped();
    let child = folder.command(arguments).stderr(stderr).spawn().expect("a program");
    while !folder.path(file).exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(kill.expect("a signal").success());
    let output = child.wait_with_output().expect("what it said");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    stderr
}

#[cfg(unix)]
#[test]
fn control_c_leaves_complete_frames_and_no_film() {
    let folder = Folder::new();
    let small = ["--set", "render.width=32", "--set", "render.height=32"];
    let arguments = simulate(&["--frames", "5000", "-o", "run", "--render", "film.gif"]);
    let arguments = [&arguments[..], &small].concat();
    let stderr = interrupted(&folder, &arguments, "run/frame.00003.hair");
    assert!(stderr.contains("--resume"), "{stderr}");
    assert_eq!(folder.names(), ["run"]);
    let frames = folder.json(&["inspect", "run"])["frames"].as_u64().unwrap();
    assert_eq!(names_in(&folder.path("run")).len() as u64, frames + 3, "only whole frames");
}

/// A run is not resumed if any byte of a frame has changed: the frame is named with the expected checksum, and nothing
/// is written. With the frame restored, or with --overwrite, the run continues.
#[test]
fn a_changed_frame_is_refused_by_name() {
    let folder = Folder::new();
    folder.ok(&simulate(&["--frames", "6", "-o", "run"]));
    let resume = simulate(&["--frames", "8", "-o", "run", "--resume"]);
    let change = |frame: usize, at: usize, change: &dyn Fn(&mut [u8])| {
        let path = folder.path("run").join(format!("frame.{frame:05}.hair"));
        let good = std::fs::read(&path).unwrap();
        let mut bad = good.clone();
        change(&mut bad[at..]);
        assert_ne!(bad, good);
        std::fs::write(&path, &bad).unwrap();
        let said = folder.fails(&resume);
        let name = format!("frame.{frame:05}.hair");
        for word in [&name[..], "expected", "checksum", "hint:", "--overwrite"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), bad, "a refusal writes nothing");
        assert_eq!(folder.json(&["inspect", "run"])["frames"], 6);
        std::fs::write(&path, &good).unwrap();
    };
    // The header comes first, then positions of 120 strands of 12 points.
    let position = 128 + 12 * 700;
    change(2, position, &|bytes| bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes()));
    change(0, position, &|bytes| bytes[0] ^= 1);
    change(5, position, &|bytes| bytes.swap(0, 4));
    change(3, 40, &|bytes| bytes[0] ^= 1);
    // A complete frame in the place of another.
    let frame = |n: usize| folder.path("run").join(format!("frame.{n:05}.hair"));
    let good = std::fs::read(frame(1)).unwrap();
    std::fs::copy(frame(4), frame(1)).unwrap();
    assert!(folder.fails(&resume).contains("frame.00001.hair"));
    std::fs::write(frame(1), &good).unwrap();
    // Restored, the run continues, also from frames that a resumed run has written.
    assert_eq!(folder.json(&resume)["frames_simulated"], 2);
    let more = simulate(&["--frames", "9", "-o", "run", "--resume"]);
    assert_eq!(folder.json(&more)["frames_simulated"], 1);
    std::fs::copy(frame(4), frame(7)).unwrap();
    assert!(folder.fails(&more).contains("frame.00007.hair"));
    folder.ok(&simulate(&["--frames", "9", "-o", "run", "--overwrite"]));
    assert_eq!(folder.json(&more)["frames_simulated"], 0);
}

#[cfg(unix)]
#[test]
fn control_c_names_the_pictures_that_remain() {
    let folder = Folder::new();
    folder.ok(&simulate(&["--frames", "2", "-o", "run"]));
    let turntable = ["--turntable", "5000", "--size", "64x64"];
    let arguments = [&["render", "run", "-o", "turn.####.png"][..], &turntable].concat();
    let stderr = interrupted(&folder, &arguments, "turn.0003.png");
    let pictures = folder.names().iter().filter(|n| n.ends_with(".png")).count();
    assert!(stderr.contains(&format!("{pictures} complete pictures")), "{pictures}: {stderr}");
    assert_eq!(folder.names().len(), pictures + 1, "nothing else is left: {:?}", folder.names());
}

/// Growing hair polls no flag: it ends with the program. The unfinished file of the film shows that it has begun.
#[cfg(unix)]
#[test]
fn control_c_stops_while_hair_grows() {
    let folder = Folder::new();
    let arguments = ["simulate", "full-head-100k", "--frames", "2", "--render", "film.gif"];
    let child = folder.command(&arguments).stderr(std::process::Stdio::piped()).spawn().unwrap();
    while folder.names().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(kill.expect("a signal").success());
    let output = child.wait_with_output().expect("what it said");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: while growing hair; nothing was written"), "{stderr}");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}
