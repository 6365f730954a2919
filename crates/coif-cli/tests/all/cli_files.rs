//! `coif inspect`, `convert`, `render` and `scenes`, black box.

use crate::program::{Folder, SMALL, two_strands};

#[test]
fn inspect_shows_the_content_of_a_groom() {
    let folder = Folder::new();
    folder.write("a.hair", two_strands());
    let found = folder.json(&["inspect", "a.hair"]);
    assert_eq!(found["kind"], "groom");
    assert_eq!(found["strands"], 2);
    assert_eq!(found["points"], 5);
    assert_eq!(found["frames"], 1);
    let near = |value: &serde_json::Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-6, "{value} {expected}");
    };
    let second = 0.1f64.hypot(0.05);
    near(&found["length_m"]["min"], second);
    near(&found["length_m"]["median"], 0.1 + second);
    near(&found["length_m"]["max"], 0.1 + second);
    near(&found["bounds_m"]["min"][1], 0.1);
    near(&found["bounds_m"]["max"][0], 0.1);
    assert!(found["warnings"].is_array());
    assert!(folder.ok(&["inspect", "a.hair"]).contains("strands    2"));
}

#[test]
fn inspect_knows_every_kind() {
    let folder = Folder::new();
    folder.write("hair.obj", "v 0 0.1 0\nv 0 0.2 0\nl 1 2\n");
    folder.write("body.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\ng scalp\nf 1 2 3\n");
    folder.write("scene.toml", "[groom]\nstrands = 7\n[body]\nresolution = 0.02\n");
    folder.ok(&[&["simulate", "spin", "--frames", "2", "-o", "run"], SMALL].concat());
    let kind = |name: &str| folder.json(&["inspect", name]);
    assert_eq!(kind("hair.obj")["kind"], "groom");
    assert_eq!(kind("body.obj")["kind"], "mesh");
    assert_eq!(kind("body.obj")["groups"][0], "scalp");
    assert_eq!(kind("scene.toml")["kind"], "scene");
    assert_eq!(kind("scene.toml")["strands"], 7);
    assert_eq!(kind("run")["kind"], "cache");
    assert_eq!(kind("run")["frames"], 2);
}

/// A bundle over a triangle with two layers, 10 by 10 by 20 (units).
const HAIR_MESH: &str = "\
v 0 0 0\nv 0 0 10\nv 10 0 0\nv 0 10 0\nv 0 10 10\nv 10 10 0\nv 0 20 0\nv 0 20 10\nv 10 20 0
g roots\nf 1 2 3
g sides\nf 1 2 5 4\nf 2 3 6 5\nf 3 1 4 6\nf 4 5 8 7\nf 5 6 9 8\nf 6 4 7 9
g tips\nf 7 8 9\n";

#[test]
fn hair_meshes_are_inspected_and_converted() {
    let folder = Folder::new();
    folder.write("mesh.obj", HAIR_MESH);
    folder.ok(&["convert", "mesh.obj", "metres.obj", "--scale", "0.01"]);
    // Centimetres are recognised by the size, or given.
    for name in ["mesh.obj", "metres.obj"] {
        let found = folder.json(&["inspect", name]);
        assert_eq!(found["kind"], "hair-mesh");
        assert_eq!(found["points"], 9);
        let counts = &found["hair_mesh"];
        assert_eq!((&counts["columns"], &counts["bundles"]), (&3.into(), &1.into()));
        assert_eq!((&counts["prisms"], &counts["layers_max"]), (&2.into(), &2.into()));
        assert_eq!((&counts["external_vertices"], &counts["seams"]), (&9.into(), &0.into()));
        let height = found["bounds_m"]["max"][1].as_f64().expect("a number");
        assert!((height - 0.2).abs() < 1e-6, "{name}: {height}");
    }
    assert!(folder.ok(&["inspect", "metres.obj"]).contains("bundles"));
    // A hair mesh cannot be written as strands, and a folded one is refused by name.
    let error = folder.fails(&["convert", "mesh.obj", "out.hair"]);
    assert!(error.contains("not made of strands") && error.contains("hint:"), "{error}");
    assert!(!folder.path("out.hair").exists());
    folder.write("folded.obj", HAIR_MESH.replace("v 0 20 0", "v 40 5 40"));
    let error = folder.fails(&["inspect", "folded.obj"]);
    assert!(error.contains("folded.obj") && error.contains("layer 2 of the bundle"), "{error}");
}

#[test]
fn hair_to_obj_and_back_keeps_the_points() {
    let folder = Folder::new();
    folder.ok(&[&["simulate", "spin", "--frames", "2", "-o", "a.hair"], SMALL].concat());
    folder.ok(&["convert", "a.hair", "b.obj"]);
    folder.ok(&["convert", "b.obj", "c.hair"]);
    let read = |name: &str| {
        coif_io::read_groom(folder.path(name), &Default::default()).unwrap().value.strands
    };
    assert_eq!(read("a.hair"), read("b.obj"));
    assert_eq!(read("a.hair"), read("c.hair"));
}

#[test]
fn convert_changes_unit_axis_and_points() {
    let folder = Folder::new();
    folder.write("a.obj", "v 1 2 10\nv 1 2 30\nl 1 2\n");
    folder.ok(&["convert", "a.obj", "b.hair", "--scale", "0.01", "--up", "z", "--points", "3"]);
    let groom = coif_io::read_groom(folder.path("b.hair"), &Default::default()).unwrap().value;
    let expected = [[0.01, 0.1, -0.02], [0.01, 0.2, -0.02], [0.01, 0.3, -0.02]];
    assert_eq!(groom.strands.point_count(), 3);
    for (p, e) in groom.strands.positions().iter().zip(expected) {
        assert!(p.distance(glam::Vec3::from(e)) < 1e-6, "{p} {e:?}");
    }
    folder.write("body.obj", "v 0 0 0\nv 10 0 0\nv 0 0 10\nf 1 2 3\n");
    folder.ok(&["convert", "body.obj", "metres.obj", "--scale", "0.01", "--up", "z"]);
    let found = folder.json(&["inspect", "metres.obj"]);
    assert_eq!(found["kind"], "mesh");
    assert!((found["bounds_m"]["max"][1].as_f64().unwrap() - 0.1).abs() < 1e-6, "{found}");
}

#[test]
fn convert_takes_a_frame_out_of_a_simulation() {
    let folder = Folder::new();
    folder.ok(&[&["simulate", "spin", "--frames", "3", "-o", "run"], SMALL].concat());
    folder.ok(&["convert", "run", "last.hair"]);
    folder.ok(&["convert", "run", "first.hair", "--frame", "0"]);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("last.hair"), bytes("run/frame.00002.hair"));
    assert_eq!(bytes("first.hair"), bytes("run/frame.00000.hair"));
    assert!(folder.fails(&["convert", "run", "x.hair", "--frame", "3"]).contains("frame 3"));
}

#[test]
fn convert_writes_the_frames_of_a_simulation_into_numbered_files() {
    let folder = Folder::new();
    folder.ok(&[&["simulate", "spin", "--frames", "3", "-o", "run"], SMALL].concat());
    let said = folder.ok(&["convert", "run", "all.####.obj"]);
    assert!(said.contains("3 files"), "{said}");
    folder.ok(&["convert", "run", "b.%02d.hair"]);
    folder.ok(&["convert", "run", "one.##.hair", "--frame", "1"]);
    let names = folder.names();
    assert_eq!(
        names,
        [
            "all.0000.obj",
            "all.0001.obj",
            "all.0002.obj",
            "b.00.hair",
            "b.01.hair",
            "b.02.hair",
            "one.01.hair",
            "run"
        ]
    );
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    for (name, frame) in [("b.00.hair", 0), ("b.02.hair", 2), ("one.01.hair", 1)] {
        assert_eq!(bytes(name), bytes(&format!("run/frame.{frame:05}.hair")), "{name}");
    }
    folder.ok(&["convert", "run", "last.obj"]);
    assert_eq!(bytes("all.0002.obj"), bytes("last.obj"));
    // One file cannot be written as numbered files.
    let error = folder.fails(&["convert", "b.00.hair", "c.####.obj"]);
    assert!(error.contains("leave out the placeholder for the frame number"), "{error}");
    assert!(folder.fails(&["convert", "run", "x.#.hair", "--frame", "3"]).contains("frame 3"));
    assert!(!folder.names().iter().any(|name| name.starts_with(['c', 'x'])));
}

/// Width and height of a PNG.
fn png_size(bytes: &[u8]) -> (u32, u32) {
    let side = |at: usize| u32::from_be_bytes(std::array::from_fn(|i| bytes[at + i]));
    assert!(bytes.starts_with(b"\x89PNG"));
    (side(16), side(20))
}

#[test]
fn render_shows_grooms_scenes_and_simulations() {
    let folder = Folder::new();
    let small = ["--size", "64x48"];
    folder.write("a.hair", two_strands());
    folder.write("body.obj", "v -0.1 0.1 0\nv 0.1 0.1 0\nv 0 0.1 0.2\nf 1 3 2\n");
    folder.write("scene.toml", "[groom]\nstrands = 200\n[body]\nresolution = 0.02\n");
    folder.ok(&[&["simulate", "scene.toml", "--frames", "3", "-o", "run"][..]].concat());
    let picture = |arguments: &[&str]| {
        folder.ok(&[&["render"], arguments, &["-o", "p.png"], &small].concat());
        let bytes = std::fs::read(folder.path("p.png")).unwrap();
        assert_eq!(png_size(&bytes), (64, 48), "{arguments:?}");
        bytes
    };
    let scene = picture(&["scene.toml"]);
    assert_ne!(scene, picture(&["scene.toml", "--view", "back"]));
    assert_ne!(scene, picture(&["scene.toml", "--hair", "blond"]));
    assert_ne!(scene, picture(&["scene.toml", "--background", "light"]));
    assert_ne!(scene, picture(&["scene.toml", "--camera", "-1,0.2,1", "--target", "0,0,0"]));
    assert_eq!(scene, picture(&["run", "--frame", "0"]), "frame 0 is the scene's start");
    let groom = picture(&["a.hair"]);
    assert_ne!(groom, picture(&["a.hair", "--body", "body.obj"]));
    // Films: of frames, and around.
    folder.ok(&[&["render", "run", "-o", "f.gif", "--frames", "1..2"][..], &small].concat());
    assert!(std::fs::read(folder.path("f.gif")).unwrap().starts_with(b"GIF89a"));
    folder.ok(&[&["render", "a.hair", "-o", "t.##.png", "--turntable", "3"], &small[..]].concat());
    let frame = |n: u32| std::fs::read(folder.path(&format!("t.{n:02}.png"))).unwrap();
    assert_ne!(frame(0), frame(1));
    assert!(!folder.path("t.03.png").exists());
    let beyond = ["render", "run", "-o", "x.gif", "--frames", "1..3"];
    assert!(folder.fails(&beyond).contains("frame 3"));
}

#[test]
fn scenes_lists_prints_and_explains() {
    let folder = Folder::new();
    let list = folder.ok(&["scenes"]);
    assert!(list.lines().count() >= 17 && list.contains("long-curly"), "{list}");
    assert!(list.lines().all(|line| line.split_whitespace().count() > 2), "{list}");
    let demo = folder.ok(&["scenes", "demo"]);
    folder.write("mine.toml", demo.as_bytes());
    let few = ["--frames", "1", "--set", "groom.strands=20", "--set", "body.resolution=0.02"];
    folder.ok(&[&["simulate", "mine.toml"], &few[..]].concat());
    assert!(folder.ok(&["scenes", "--reference"]).contains("steps_per_second"));
}

#[test]
fn help_has_examples_and_no_arguments_give_an_overview() {
    let folder = Folder::new();
    assert!(folder.ok(&[]).contains("coif demo"));
    for command in
        ["demo", "simulate", "render", "inspect", "convert", "scenes", "bench", "validate"]
    {
        let help = folder.ok(&[command, "--help"]);
        assert!(help.contains("Examples:"), "{command}");
    }
    assert_eq!(folder.run(&["simulat"]).status.code(), Some(2));
}

#[test]
fn validate_gives_the_documented_rows_and_a_plot() {
    let folder = Folder::new();
    let rows = folder.json(&["validate", "chain", "--plot", "plots"]);
    let rows = rows.as_array().expect("a list");
    assert!(rows.len() >= 3);
    for row in rows {
        for key in ["value", "reference", "error", "tolerance"] {
            assert!(row[key].is_number(), "{row}");
        }
        assert!(row["name"].is_string() && row["model"].is_string());
        assert_eq!(row["pass"], true, "{row}");
    }
    // Rows of one model only.
    let rows = folder.json(&["validate", "cantilever", "--model", "mass-spring"]);
    let rows = rows.as_array().expect("a list");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["model"] == "mass-spring"), "{rows:?}");
    assert!(folder.fails(&["validate", "--model", "mass-sprung"]).contains("mass-spring"));
    let svg = std::fs::read_to_string(folder.path("plots/chain.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("<path"));
}

#[test]
fn bench_gives_the_documented_rows() {
    let folder = Folder::new();
    let rows = folder.json(&["bench", "ftl", "--quick", "--threads", "2"]);
    let rows = rows.as_array().expect("a list");
    // The method alone with few strands and many, with style, with ramps.
    let cases = [1000, 10_000, 1000, 1000].into_iter().flat_map(|n| [(1, n), (2, n)]);
    assert_eq!(rows.len(), cases.clone().count());
    for (row, (threads, strands)) in rows.iter().zip(cases) {
        assert_eq!(row["threads"], threads);
        assert_eq!(row["strands"], strands);
        assert_eq!(row["particles"], strands * 30);
        for key in ["ns_per_particle_step", "ms_per_frame", "reference_ratio"] {
            assert!(row[key].as_f64().is_some_and(|v| v > 0.0), "{row}");
        }
        let [median, min] =
            ["ns_per_particle_step", "ns_per_particle_step_min"].map(|k| row[k].as_f64());
        assert!(min > Some(0.0) && min <= median, "{row}");
    }
    for pair in rows.chunks(2) {
        assert_eq!(pair[0]["state_hash"], pair[1]["state_hash"], "same bits on 1 and 2 threads");
    }
}

#[test]
fn bench_measures_one_row_and_the_fractions_of_its_time() {
    let folder = Folder::new();
    let bench = ["bench", "mass-spring", "--quick", "--threads", "2", "--row"];
    let rows = folder.json(&[&bench[..], &["long-straight-1k"]].concat());
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["state_hash"], rows[1]["state_hash"], "same bits on 1 and 2 threads");
    for row in rows {
        assert_eq!(row["strands"], 100);
        assert!(row["particles"].as_u64().is_some_and(|n| n > 10_000), "extra ones count: {row}");
        let fractions = row["shares"].as_object().expect("shares of the time");
        let sum: f64 = fractions.values().filter_map(serde_json::Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{row}");
    }
    assert!(folder.fails(&[&bench[..], &["long-curly"]].concat()).contains("long-curly"));
}

#[test]
fn cantilever_and_level_set_validations_pass() {
    let folder = Folder::new();
    for (check, min_rows) in [("cantilever", 45), ("level-set", 10)] {
        let rows = folder.json(&["validate", check]);
        let rows = rows.as_array().expect("a list");
        assert!(rows.len() >= min_rows, "{check}");
        assert!(rows.iter().all(|row| row["pass"] == true), "{rows:?}");
    }
}

/// Strips are written as one mesh that moves, with a target for every frame after the first that is not on the straight
/// path between two others.
#[test]
fn strips_are_written_as_a_mesh_that_moves() {
    let folder = Folder::new();
    let sets = ["--set", "body.resolution=0.02", "--set", "groom.strands=60", "--frames", "5"];
    let bob = [&["simulate", "strips-bob", "-o", "bob.glb"][..], &sets].concat();
    let outcome = folder.json(&bob);
    assert_eq!(outcome["model"], "cantilever");
    assert_eq!(outcome["outputs"][0], "bob.glb");
    let bytes = std::fs::read(folder.path("bob.glb")).expect("the file");
    assert!(bytes.starts_with(b"glTF"));
    let length = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let document: serde_json::Value =
        serde_json::from_slice(&bytes[20..20 + length]).expect("JSON");
    let primitive = &document["meshes"][0]["primitives"][0];
    let targets = primitive["targets"].as_array().map_or(0, Vec::len);
    assert!((1..=4).contains(&targets), "{targets}");
    let times = document["animations"][0]["samplers"][0]["input"].as_u64().expect("a number");
    assert_eq!(document["accessors"][times as usize]["count"], targets + 1);
    let position = primitive["attributes"]["POSITION"].as_u64().expect("a number") as usize;
    // All strips are there, of 14 joints with two vertices each, however few strands lie in them.
    let vertices = document["accessors"][position]["count"].as_u64().expect("a number");
    assert!(vertices.is_multiple_of(28) && vertices / 28 > 300, "{vertices}");
    assert_eq!(document["animations"].as_array().map(Vec::len), Some(1));

    // The error for a model without strips names the model that has them.
    let still = [&["simulate", "still", "-o", "still.glb"][..], &sets].concat();
    let message = folder.fails(&still);
    assert!(message.contains("model.name=cantilever"), "{message}");
    folder.write("a.hair", two_strands());
    assert!(folder.fails(&["convert", "a.hair", "a.glb"]).contains("coif simulate"));
}
