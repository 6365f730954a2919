//! The health of a simulation, black box: `series` of the JSON, `health.csv`, resume, and every warning.

use crate::program::{Folder, SMALL, hair_bytes};
use coif::model::ModelSettings;
use serde_json::Value;

/// Keys that other programs rely on.
const KEYS: [&str; 11] = [
    "frame",
    "time_s",
    "speed_max_m_s",
    "speed_mean_m_s",
    "relative_speed_max_m_s",
    "moving_points",
    "kinetic_energy_j",
    "kinked_strands",
    "drift_max",
    "stretch_max",
    "penetration_max_m",
];

fn simulate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["simulate", "spin"], SMALL, more].concat()
}

fn series(outcome: &Value) -> &Vec<Value> {
    outcome["series"].as_array().expect("series is an array")
}

/// The warnings, which must be on stderr as well.
fn warnings(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let output = folder.run(&[arguments, &["--json"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let outcome: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let warnings = outcome["warnings"].as_array().expect("warnings is an array");
    let text = |w: &Value| w.as_str().expect("text").to_owned();
    let warnings: Vec<String> = warnings.iter().map(text).collect();
    for warning in &warnings {
        assert!(stderr.contains(warning), "'{warning}' is not in {stderr}");
    }
    warnings
}

/// Asserts that there is a warning with all of these words.
fn assert_warns(warnings: &[String], words: &[&str]) {
    let found = warnings.iter().any(|warning| words.iter().all(|word| warning.contains(word)));
    assert!(found, "no {words:?} in {warnings:#?}");
}

#[test]
fn every_model_has_a_series_and_a_table() {
    let folder = Folder::new();
    for model in ModelSettings::NAMES {
        let name = format!("model.name={model}");
        let few = ["--set", "groom.strands=40", "--set", &name, "--frames", "4", "-o", model];
        let outcome = folder.json(&simulate(&few));
        let rows = series(&outcome);
        assert_eq!(rows.len(), 4, "{model}");
        for (frame, row) in rows.iter().enumerate() {
            assert_eq!(row["frame"], frame, "{model}");
            for key in KEYS {
                // JSON has no infinity and no NaN: they would be null.
                assert!(row[key].is_number(), "{model}: {key} of {row}");
            }
        }
        for key in ["first_frame_jump_m", "kinked_strands_max"] {
            assert!(outcome[key].is_number(), "{model}: {key}");
        }
        // The table has the same numbers.
        let table = std::fs::read_to_string(folder.path(model).join("health.csv")).unwrap();
        let mut lines = table.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!(header[..KEYS.len()], KEYS, "{model}");
        assert_eq!(lines.clone().count(), 4, "{model}");
        for (line, row) in lines.zip(rows) {
            for (name, cell) in header.iter().zip(line.split(',')) {
                let (cell, json) = (cell.parse::<f64>().unwrap(), row[name].as_f64().unwrap());
                // Readers of JSON may differ in the last bit.
                assert!(
                    (cell - json).abs() <= 1e-14 * json.abs(),
                    "{model}: {name}: {cell}, {json}"
                );
            }
        }
    }
}

#[test]
fn the_table_is_the_same_after_a_resume_and_for_any_number_of_threads() {
    let folder = Folder::new();
    let whole = folder.json(&simulate(&["--frames", "9", "-o", "whole", "--threads", "2"]));
    folder.ok(&simulate(&["--frames", "4", "-o", "part"]));
    let table = |run: &str| std::fs::read_to_string(folder.path(run).join("health.csv")).unwrap();
    // The rest of a run that was killed after a row and before its checkpoint.
    let longer = table("part") + "4,0.1,9.9,9.9,9.9,1,1.0,1,0.1,0.1,0.1,0.1,0,0\n5,0.2,9.";
    folder.write("part/health.csv", longer);
    let arguments = ["--frames", "9", "-o", "part", "--resume", "--threads", "1"];
    let resumed = folder.json(&simulate(&arguments));
    assert_eq!(table("part"), table("whole"));
    for key in ["series", "first_frame_jump_m", "kinked_strands_max", "warnings"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    // With nothing left to do, the series is still that of the whole run.
    let again = folder.json(&simulate(&arguments));
    assert_eq!(again["frames_simulated"], 0);
    assert_eq!(again["series"], whole["series"]);
    // A missing table does not prevent a run.
    std::fs::remove_file(folder.path("part").join("health.csv")).unwrap();
    let more = ["--frames", "11", "-o", "part", "--resume"];
    let rest = folder.json(&simulate(&more));
    assert_eq!(series(&rest).len(), 2);
    assert_eq!(series(&rest)[0]["frame"], 9);
    // An overwritten table keeps no old rows.
    folder.ok(&simulate(&["--frames", "2", "-o", "part", "--overwrite"]));
    assert_eq!(table("part").lines().count(), 3);
}

#[test]
fn hair_that_moves_with_a_still_head_is_calm() {
    let folder = Folder::new();
    let still = ["simulate", "still", "--frames", "70"];
    let outcome = folder.json(&[&still, SMALL].concat());
    assert_eq!(outcome["warnings"], serde_json::json!([]));
    let last = series(&outcome).last().unwrap();
    assert_eq!((&last["moving_points"], &last["kinked_strands"]), (&0.into(), &0.into()));
    let said = folder.ok(&[&still, SMALL].concat());
    assert!(said.contains("calm: largest speed at the end 0.0 cm/s"), "{said}");
    let said = folder.ok(&simulate(&["--frames", "60"]));
    assert!(said.contains("moving: largest speed at the end"), "{said}");
}

/// Limp hair without damping on a head that stops while it shakes.
#[test]
fn hair_that_does_not_come_to_rest_is_named() {
    let folder = Folder::new();
    let limp = ["--set", "model.damping=0", "--set", "model.style_time=1000"];
    let stop = ["--set", "body.stop=0.5", "--frames", "121"];
    let run = [&["simulate", "shake"], SMALL, &limp, &stop].concat();
    let said = warnings(&folder, &run);
    assert_warns(&said, &[" of 120 strands still move at up to", "1.5 s after the body stopped: "]);
    assert_warns(&said, &["still move", "hint: raise model.damping"]);
    // In the wind there is no warning.
    let said = warnings(&folder, &[&run[..], &["--set", "wind.velocity=[1, 0, 0]"]].concat());
    assert!(!said.iter().any(|w| w.contains("still move")), "{said:?}");
}

#[test]
fn kinks_and_fast_hair_are_named() {
    let folder = Folder::new();
    // Limp hair on a head that falls and stops within a few milliseconds.
    let wild = ["--set", "body.speed=12", "--set", "model.style_time=1000", "--frames", "20"];
    let said = warnings(&folder, &[&["simulate", "fall-and-stop"], SMALL, &wild].concat());
    assert_warns(&said, &["of 120 strands are kinked", "hint: raise model.bend_limit"]);
    assert_warns(&said, &["m/s relative to the scalp: strand ", "hint: the body itself moves at"]);
}

/// A strand that is groomed through the head is pushed out at once, and stays away from its groom.
#[test]
fn a_jump_at_the_start_and_drift_are_named() {
    let folder = Folder::new();
    let fine: &[[f32; 3]] = &[[0.0, 0.12, 0.0], [0.0, 0.16, 0.0], [0.0, 0.20, 0.0]];
    let inside: &[[f32; 3]] = &[[0.0, 0.1, 0.0], [0.0, 0.06, 0.0], [0.0, 0.02, 0.0]];
    folder.write("hair.hair", hair_bytes(&[fine, inside]));
    let scene = "[groom]\nfile = \"hair.hair\"\n[body]\nresolution = 0.02\n[time]\nframes = 10\n";
    folder.write("a.toml", scene);
    let said = warnings(&folder, &["simulate", "a.toml"]);
    assert_warns(&said, &["in the first frame, most of all strand 1", "check the groom"]);
    assert_warns(
        &said,
        &["strands leave their groom by up to", "stands still: ", "model.style_time"],
    );
    let outcome = folder.json(&["simulate", "a.toml"]);
    assert!(outcome["first_frame_jump_m"].as_f64().unwrap() > 0.005);
}
