//! What a scene file refuses, the place of the error, and the suggestion.

use coif_scene::file::Problem;

use crate::scene_text::{check, read, refused};

#[test]
fn the_report_shows_the_line_like_a_compiler() {
    let error = refused("title = \"x\"\n\n[body]\nspeed = 2\n\n# comment\nmoton = \"shake\"\n");
    let report = error.report();
    let (start, hint) = report.split_once("hint: ").unwrap();
    assert_eq!(
        start,
        "error: unknown key 'moton' in [body]\n  --> test.toml:7:1\n   |\n 7 | moton = \"shake\"\n   \
         | ^^^^^\n"
    );
    assert!(hint.starts_with("did you mean 'motion'? known keys: file, shape,"), "{hint}");
    assert!(!report.ends_with('\n'));
    assert!(matches!(error.problem(), Problem::UnknownKey { .. }));
}

#[test]
fn unknown_keys_are_named() {
    check("[bdy]\n", 1, 2, "unknown key 'bdy' at the top level", "did you mean 'body'?");
    check("[groom.fiber]\n", 1, 8, "unknown key 'fiber' in [groom]", "did you mean 'fibre'?");
    check("speed = 2\n", 1, 1, "unknown key 'speed' at the top level", "in [body] (body.speed)");
    check(
        "[wind]\n gravity = [0, 0, 0]",
        2,
        2,
        "unknown key 'gravity' in [wind]",
        "'gravity' belongs in [world] (world.gravity)",
    );
    check("[time]\nbanana = 1", 2, 1, "unknown key 'banana' in [time]", "known keys: fps, frames");
    assert!(!refused("[time]\nbanana = 1").hint().unwrap().contains("did you mean"));
    check(
        "[[body.collider]]\nshape = 'sphere'\nradus = 1",
        3,
        1,
        "unknown key 'radus' in [[body.collider]]",
        "did you mean 'radius'?",
    );
    check("body = { moton = 'nod' }", 1, 10, "unknown key 'moton' in [body]", "'motion'");
}

#[test]
fn unknown_words_are_named() {
    let hint = "did you mean 'shake'? available: still, shake, nod, turn, spin, walk, jump, fall";
    check("[body]\nmotion = \"shak\"", 2, 10, "unknown motion 'shak'", hint);
    check("[render]\nhair='blonde'", 2, 6, "unknown hair colour 'blonde'", "'blond'");
    check("[render]\nbackground='drak'", 2, 12, "unknown background 'drak'", "'dark'");
    let error = refused("[groom]\nstyle = 'xxxxxx'");
    assert!(!error.hint().unwrap().contains("did you mean"), "{}", error.report());
}

#[test]
fn wrong_types_say_what_was_expected() {
    check(
        "[model]\nstyle_time = \"slow\"",
        2,
        14,
        "'style_time' in [model]: expected a number of seconds, or a ramp of places from 0 to 1 and numbers, such as [[0, 1], [1, 2]], found a string",
        "",
    );
    check(
        "[groom]\nstrands = 10.5",
        2,
        11,
        "'strands' in [groom]: expected a whole number, found a number",
        "",
    );
    check(
        "title = 5",
        1,
        9,
        "'title' at the top level: expected a string, found an integer",
        "put",
    );
    check(
        "[model]\nhold_shape = 1",
        2,
        14,
        "'hold_shape' in [model]: expected true or false, found an integer",
        "",
    );
    check(
        "[wind]\nvelocity = [1, 2]",
        2,
        12,
        "'velocity' in [wind]: expected three numbers [x, y, z], found 2 of them",
        "",
    );
    check(
        "[wind]\nvelocity = [1, 'a', 2]",
        2,
        16,
        "'velocity' in [wind]: expected a number (m/s), found a string",
        "",
    );
    check("body = 3", 1, 8, "'body' at the top level: expected a table, found an integer", "");
    check("[[body]]", 1, 1, "'body' at the top level: expected a table, found an array", "");
    check(
        "[body.collider]\nshape = 'sphere'",
        1,
        1,
        "'collider' in [body]: expected [[body.collider]] tables, found a table",
        "two brackets",
    );
    check(
        "title = 1979-05-27",
        1,
        9,
        "'title' at the top level: expected a string, found a date",
        "put",
    );
}

#[test]
fn numbers_beyond_their_limits_show_the_limits_and_the_unit() {
    check("[groom]\nlength = 5", 2, 10, "'length' in [groom] is 5 m: expected 0.002 to 3 m", "");
    check("[groom]\nstrands = 0", 2, 11, "'strands' in [groom] is 0: expected 1 to 200000", "");
    check("[groom]\nstrands = -1", 2, 11, "'strands' in [groom] is -1: expected 1 to 200000", "");
    check("[body]\nspeed = nan", 2, 9, "'speed' in [body] is nan: expected 0.01 to 100", "");
    check("[time]\nfps = 1e9", 2, 7, "'fps' in [time] is 1e9 1/s: expected 1 to 1000 1/s", "");
    check(
        "[render]\nhair_color = [0, 1, 1.5]",
        2,
        21,
        "'hair_color' in [render] is 1.5 linear RGB: expected 0 to 1 linear RGB",
        "",
    );
}

#[test]
fn planned_values_are_reported_as_not_available() {
    check(
        "[model]\nname = \"super-helix\"",
        2,
        8,
        "model 'super-helix' is not available yet",
        "available: follow-the-leader",
    );
    check(
        "[render]\nshading = 'marschner'",
        2,
        11,
        "shading 'marschner' is not available yet",
        "available: kajiya-kay",
    );
}

#[test]
fn contradictions_are_refused() {
    check(
        "[groom]\nfile = 'a.abc'\nstyle = 'bob'",
        3,
        1,
        "'style' in [groom] cannot be used together with 'file'",
        "remove one of 'style' and 'file'",
    );
    check(
        "[groom]\nlength = 0.5\nfile = 'a.abc'",
        2,
        1,
        "'length' in [groom] cannot be used together with 'file'",
        "'length' belongs to 'style'",
    );
    check(
        "[groom]\nscale = 0.01",
        2,
        1,
        "'scale' in [groom] needs 'file'",
        "add 'file' to [groom]",
    );
    check(
        "[body]\nfile = 'a.obj'",
        2,
        1,
        "'file' in [body] needs 'scalp' to grow a style on it",
        "add scalp = \"NAME\"",
    );
    check(
        "[groom]\nfile='a.abc'\n[body]\nfile = 'a.obj'\nfps = 24",
        5,
        1,
        "'fps' in [body] needs a sequence of files",
        "%04d",
    );
    check(
        "[groom]\nfile='a.abc'\n[body]\nfile = 'a%d.obj'\nmotion = 'nod'",
        5,
        1,
        "'motion' in [body] cannot be used together with a sequence of files",
        "remove 'motion'",
    );
    assert!(read("[body]\nfile = 'a.obj'\nscalp = 'scalp'\nmotion = 'nod'").is_ok());
    assert!(read("[groom]\nfile='a.abc'\n[body]\nfile = 'a.obj'").is_ok());
}

#[test]
fn colliders_have_the_keys_of_their_shape() {
    let table = "in [[body.collider]]";
    check(
        "[[body.collider]]\nradius = 1",
        1,
        1,
        &format!("'collider' {table} needs a 'shape': one of sphere, ellipsoid, capsule, plane"),
        "",
    );
    check(
        "[[body.collider]]\nshape = 'sphere'\nradii = [1, 1, 1]",
        2,
        9,
        &format!("'sphere' {table} needs a 'radius'"),
        "",
    );
    check(
        "[[body.collider]]\nshape = 'sphere'\nradius = 1\nnormal = [1, 1, 1]",
        4,
        10,
        &format!("'normal' {table} cannot be used together with shape = \"sphere\""),
        "",
    );
    check(
        "[[body.collider]]\nshape = 'plane'\nnormal = [0, 0, 0]",
        3,
        10,
        &format!("'normal' {table} is too short: expected a direction"),
        "",
    );
}

#[test]
fn syntax_errors_have_a_line_and_a_column() {
    for (text, line, column) in [
        ("[body]\nspeed = = 2\n", 2, 9),
        ("[body\nspeed = 2\n", 1, 6),
        ("[body]\nspeed = 1\nspeed = 2\n", 3, 1),
    ] {
        let error = refused(text);
        assert!(matches!(error.problem(), Problem::Syntax { .. }), "{}", error.report());
        assert_eq!((error.line(), error.column()), (line, column), "{}", error.report());
    }
}

#[test]
fn columns_count_characters_and_marks_stand_below_tabs() {
    let error = refused("title = 'é'\r\nbody = {\tmotion = 'ü', moton = 1 }\r\n");
    assert_eq!((error.line(), error.column()), (2, 24));
    assert!(
        error.report().contains("\n   |         \t              ^^^^^\n"),
        "{}",
        error.report()
    );
    assert!(!error.report().contains('\r'));
    // A byte-order mark is not a column.
    assert_eq!(refused("\u{feff}moton = 1").column(), 1);
}

#[test]
fn a_very_long_line_is_cut_in_the_report() {
    let error = refused(&format!("title = '{}' # {}\n[x]", "a".repeat(9), "b".repeat(9)));
    assert_eq!(error.line(), 2);
    let error = refused(&format!("body = {{ {}moton = 1 }}", " ".repeat(100_000)));
    assert!(error.report().len() < 1000);
    assert!(error.report().contains("moton"));
    assert_eq!(error.column(), 100_010);
}
