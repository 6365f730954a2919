//! Bad input: a message with file and place, a hint, exit code 2, no panic, no files left behind.

use crate::program::{Folder, hair_bytes, two_strands};

/// Runs every command that reads a groom on a file with this content; returns the messages.
fn refuse_groom(name: &str, bytes: &[u8]) -> Vec<String> {
    let folder = Folder::new();
    folder.write(name, bytes);
    folder.write("scene.toml", format!("[groom]\nfile = \"{name}\"\n[body]\nresolution = 0.02\n"));
    [
        &["inspect", name][..],
        &["inspect", name, "--json"],
        &["convert", name, "out.obj"],
        &["render", name, "-o", "out.png"],
        &["simulate", "scene.toml", "-o", "run", "--render", "film.gif"],
    ]
    .map(|arguments| folder.fails(arguments))
    .into()
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    for arguments in [
        &["inspect", "nothing.hair"][..],
        &["convert", "nothing.hair", "out.obj"],
        &["render", "nothing.hair", "-o", "out.png"],
        &["simulate", "nothing.toml", "-o", "run"],
    ] {
        assert!(folder.fails(arguments).contains("nothing."), "{arguments:?}");
    }
    folder.write("scene.toml", "[groom]\nfile = \"gone.hair\"\n[body]\nresolution = 0.02\n");
    assert!(folder.fails(&["simulate", "scene.toml", "-o", "run"]).contains("gone.hair"));
    folder.write("scene.toml", "[body]\nfile = \"gone.obj\"\nscalp = \"scalp\"\n");
    assert!(folder.fails(&["simulate", "scene.toml", "-o", "run"]).contains("gone.obj"));
}

#[test]
fn truncated_and_contradictory_files_are_refused_with_the_place() {
    let good = two_strands();
    for message in refuse_groom("cut.hair", &good[..good.len() - 7]) {
        assert!(message.contains("cut.hair") && message.contains("expected"), "{message}");
    }
    refuse_groom("short.hair", &good[..40]);
    refuse_groom("empty.hair", &[]);
    let mut lying = good.clone();
    lying[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    for message in refuse_groom("lying.hair", &lying) {
        assert!(message.contains("byte "), "{message}");
    }
    refuse_groom(
        "other.hair",
        b"PNG and so on, but long enough to have a header".repeat(9).as_slice(),
    );
    for message in refuse_groom("bad.obj", b"v 0 0 0\nv 0 1 zero\nl 1 2\n") {
        assert!(message.contains("bad.obj:2:7"), "{message}");
    }
}

#[test]
fn nan_and_emptiness_are_named() {
    let nan = hair_bytes(&[&[[0.0, 0.1, 0.0], [0.0, 0.2, f32::NAN], [0.0, 0.3, 0.0]]]);
    for message in refuse_groom("nan.hair", &nan) {
        assert!(message.contains("nan.hair"), "{message}");
    }
    for message in refuse_groom("none.hair", &hair_bytes(&[])) {
        assert!(message.contains("none.hair"), "{message}");
    }
    refuse_groom("none.obj", b"# nothing\n");
}

#[test]
fn a_wrong_key_is_shown_at_its_line_with_a_suggestion() {
    let folder = Folder::new();
    folder.write("scene.toml", "[groom]\nstrands = 100\n[body]\nmoton = \"spin\"\n");
    for arguments in [
        &["simulate", "scene.toml", "-o", "run"][..],
        &["render", "scene.toml", "-o", "a.png"],
        &["inspect", "scene.toml"],
    ] {
        let message = folder.fails(arguments);
        assert!(message.contains("scene.toml:4:1"), "{message}");
        assert!(message.contains("did you mean 'motion'"), "{message}");
    }
    let message = folder.fails(&["simulate", "spin", "--set", "body.spede=2"]);
    assert!(message.contains("speed"), "{message}");
    folder.fails(&["simulate", "spin", "--set", "groom.strands=0"]);
    folder.fails(&["simulate", "spin", "--frames", "0"]);
    folder.write("broken.toml", "[groom\n");
    assert!(folder.fails(&["simulate", "broken.toml"]).contains("broken.toml:1"));
    folder.write("binary.toml", [0xff, 0xfe, 0x00]);
    assert!(folder.fails(&["simulate", "binary.toml"]).contains("binary.toml"));
}

#[test]
fn a_misspelt_scene_gets_a_suggestion_and_the_list() {
    let folder = Folder::new();
    for arguments in
        [&["simulate", "spni"][..], &["scenes", "spni"], &["render", "spni", "-o", "a.png"]]
    {
        let message = folder.fails(arguments);
        assert!(message.contains("'spin'") && message.contains("fall-and-stop"), "{message}");
    }
    assert!(folder.fails(&["bench", "flt"]).contains("'ftl'"));
    assert!(folder.fails(&["validate", "hodl"]).contains("'hold'"));
}

#[test]
fn a_body_without_a_scalp_is_refused() {
    let folder = Folder::new();
    folder.write("body.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\ng face\nf 1 2 3\n");
    folder.write("scene.toml", "[body]\nfile = \"body.obj\"\nscalp = \"scalp\"\n");
    let message = folder.fails(&["simulate", "scene.toml", "-o", "run"]);
    assert!(message.contains("scalp") && message.contains("face"), "{message}");
    folder.write("scene.toml", "[body]\nfile = \"body.obj\"\n");
    assert!(folder.fails(&["simulate", "scene.toml", "-o", "run"]).contains("scalp"));
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let folder = Folder::new();
    folder.write("a.hair", two_strands());
    folder.write("file", "not a folder");
    std::fs::create_dir(folder.path("full")).unwrap();
    folder.write("full/precious.txt", "keep me");
    // So many frames that the test would not end if the work came first.
    let long = ["simulate", "spin", "--frames", "1000000"];
    for output in [
        &["-o", "no/such/folder/a.hair"][..],
        &["-o", "file/run"],
        &["-o", "full"],
        &["-o", "run.abc"],
        &["-o", "run.mp4"],
        &["--render", "no/such/folder/a.gif"],
        &["--render", "a.hair"],
        &["--render", "film.avi"],
        &["--render", "film"],
        &["--render", "full"],
        &["-o", "run", "--render", "film.mov"],
    ] {
        folder.fails(&[&long[..], output].concat());
    }
    assert_eq!(crate::program::names_in(&folder.path("full")), ["precious.txt"]);
    for arguments in [
        &["convert", "a.hair", "a.abc"][..],
        &["convert", "a.hair", "a"],
        &["convert", "a.hair", "no/such/folder/a.obj"],
        &["convert", "a.hair", "a.obj", "--scale", "0"],
        &["render", "a.hair", "-o", "a.jpg"],
        &["render", "a.hair", "-o", "no/such/folder/a.png"],
        &["render", "a.hair", "-o", "a.png", "--frame", "3"],
        &["render", "a.hair", "-o", "a.png", "--turntable", "3"],
        &["validate", "length", "--plot", "file"],
    ] {
        folder.fails(arguments);
    }
}

#[test]
fn wrong_kinds_of_input_are_explained() {
    let folder = Folder::new();
    folder.write("a.hair", two_strands());
    folder.write("body.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n");
    folder.write("scene.toml", "");
    std::fs::create_dir(folder.path("empty")).unwrap();
    assert!(folder.fails(&["simulate", "a.hair"]).contains("groom"));
    assert!(folder.fails(&["render", "body.obj", "-o", "a.png"]).contains("--body"));
    assert!(folder.fails(&["convert", "scene.toml", "a.hair"]).contains("simulate"));
    folder.fails(&["inspect", "empty"]);
    folder.fails(&["simulate", "empty"]);
    folder.fails(&["convert", "body.obj", "body.hair"]);
}

#[test]
fn a_closed_pipe_is_not_a_panic() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["scenes", "--reference"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Maximum memory (kB of address space) that the program may allocate for a bad file.
#[cfg(target_os = "linux")]
const MAX_MEMORY_KB: &str = "4000000";

/// Runs the program with limited memory; returns exit code and stderr.
#[cfg(target_os = "linux")]
fn run_with_little_memory(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let program = folder.command(arguments);
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -v {MAX_MEMORY_KB}; exec \"$0\" \"$@\"")])
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(folder.path("."))
        .output()
        .expect("a shell");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A vertex a thousand kilometres away once caused a lattice of 142 GB, and endless scattering of roots. Grids keep
/// within their budget, and hair grows where it can.
#[cfg(target_os = "linux")]
#[test]
fn one_far_vertex_costs_no_memory() {
    let folder = Folder::new();
    let vertices = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 -1e6\n";
    let near = format!("{vertices}g cap\nf 1 3 2\ng rest\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    let all = format!("{vertices}g cap\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    for (body, everywhere) in [(near, false), (all, true)] {
        folder.write("body.obj", body);
        for style in ["short", "ponytail", "strips"] {
            let scene = format!(
                "[body]\nfile = \"body.obj\"\nscalp = \"cap\"\ncollide = \"distance-field\"\n\
                 [groom]\nstyle = \"{style}\"\nstrands = 60\n[time]\nframes = 2\n"
            );
            folder.write("scene.toml", scene);
            let (code, said) = run_with_little_memory(&folder, &["simulate", "scene.toml"]);
            assert_eq!(code, Some(0), "{style}: {said}");
            let warned =
                |words: &str| said.lines().any(|l| l.contains("body.obj: ") && l.contains(words));
            assert!(
                warned("cells, so theirs are larger; hint: remove vertices"),
                "{style}: {said}"
            );
            // The field of the whole body has a budget of its own, with a warning.
            assert!(warned("within 262144 cells, so they are larger, "), "{style}: {said}");
            assert_eq!(warned("3 of the scalp's 4 triangles"), everywhere, "{style}: {said}");
        }
    }
}

/// On a scalp that is too long, but not too far away for hair, strips grow, but fewer.
#[cfg(target_os = "linux")]
#[test]
fn a_scalp_for_a_million_strips_gets_as_many_as_it_has_strands() {
    let folder = Folder::new();
    let faces = "g cap\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    folder.write("body.obj", format!("v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 -2000\n{faces}"));
    let scene = "[body]\nfile = \"body.obj\"\nscalp = \"cap\"\n[time]\nframes = 2\n\
                 [groom]\nstyle = \"strips\"\nstrands = 60\n";
    folder.write("scene.toml", scene);
    let (code, said) = run_with_little_memory(&folder, &["simulate", "scene.toml"]);
    assert_eq!(code, Some(0), "{said}");
    let warned =
        said.contains("expected 200000 or fewer, so 60 grow; hint: lower groom.strip_density");
    assert!(warned && said.contains("body.obj: the scalp has room for"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_scene_is_refused() {
    let folder = Folder::new();
    for command in ["simulate", "inspect"] {
        let (code, said) = run_with_little_memory(&folder, &[command, "/dev/zero"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("/dev/zero") && said.contains("hint: "), "{said}");
    }
    let file = std::fs::File::create(folder.path("long.toml")).unwrap();
    file.set_len(20 << 20).unwrap();
    let said = folder.fails(&["simulate", "long.toml"]);
    assert!(said.contains("long.toml") && said.contains("expected 16777216"), "{said}");
}

#[test]
fn impossible_arguments_and_outputs_have_a_hint() {
    let folder = Folder::new();
    folder.write("a.hair", two_strands());
    for arguments in [
        &["simulate"][..],
        &["simulat"],
        &["simulate", "still", "--frobnicate"],
        &["convert", "a.hair", "b.hair", "--points", "1"],
        &["convert", "a.hair", "b.hair", "--scale", "1e38"],
        &["convert", "a.hair", "b.hair", "--scale", "0"],
        &["convert", "a.hair", "b.obj", "--scale", "inf"],
    ] {
        folder.fails(arguments);
    }
    // No file can be created there; the message must not name the file 'probe' that was tried.
    let said = folder.fails(&["simulate", "still", "-o", "/proc/self/run"]);
    assert!(said.contains("/proc/self") && !said.contains("probe"), "{said}");
}
