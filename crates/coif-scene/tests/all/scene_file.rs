//! The scene file as a user meets it: what is read, what is refused and where, what is written.

use coif::model::ModelSettings;
use coif_scene::file::{
    Background, BodyShape, BodySource, Camera, Collide, ColliderShape, GroomSource, HairColor,
    KeyInfo, Motion, Problem, Scene, SceneError, Style, Values, View, builtin, keys, reference,
};
use glam::Vec3;

fn read(text: &str) -> Result<Scene, SceneError> {
    Scene::from_toml(text, "test.toml", &[])
}

fn read_with(text: &str, sets: &[&str]) -> Result<Scene, SceneError> {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    Scene::from_toml(text, "test.toml", &sets)
}

/// The error of a text that must be refused.
fn refused(text: &str) -> SceneError {
    match read(text) {
        Err(error) => error,
        Ok(_) => panic!("this was accepted:\n{text}"),
    }
}

fn refused_with(text: &str, sets: &[&str]) -> SceneError {
    match read_with(text, sets) {
        Err(error) => error,
        Ok(_) => panic!("this was accepted: {sets:?}\n{text}"),
    }
}

#[track_caller]
fn check(text: &str, line: usize, column: usize, message: &str, hint: &str) {
    let error = refused(text);
    assert_eq!(error.to_string(), message);
    assert_eq!((error.line(), error.column()), (line, column), "{}", error.report());
    let found = error.hint().unwrap_or_default();
    assert!(found.contains(hint) && (found.is_empty() == hint.is_empty()), "hint: {found}");
}

// ---- what is read ----

#[test]
fn an_empty_file_is_a_scene_of_defaults() {
    for text in ["", "\n\n", "# nothing\n", "\u{feff}", "[groom]\n[body]\n[contact]\n"] {
        assert_eq!(read(text).unwrap(), Scene::default(), "{text:?}");
    }
    let scene = Scene::default();
    let GroomSource::Style(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.style, groom.strands, groom.points), (Style::LongStraight, 10_000, 30));
    assert_eq!((scene.time.fps, scene.time.frames), (60, 120));
    assert_eq!(scene.fibre, coif::groom::Fibre::default());
}

#[test]
fn every_value_reaches_its_field() {
    let scene = read(
        r#"
        title = "T"
        [groom]
        file = "a.abc"
        points = 12
        scale = 0.01
        up = "z"
        fibre = { radius = 30e-6, friction = 0.5 }
        [body]
        file = "head.%04d.obj"
        fps = 24
        collide = "none"
        [[body.collider]]
        shape = "capsule"
        radius = 0.1
        half_height = 1
        axis = [1, 0, 0]
        center = [0, 1.5, 0]
        friction = 0
        [[body.collider]]
        shape = "plane"
        [model]
        name = "follow-the-leader"
        correction = 0.5
        hold_shape = false
        [wind]
        velocity = [1, 2.5, -3]
        [world]
        gravity = [0, 0, 0]
        [render]
        hair_color = [1, 0.5, 0]
        camera_position = [0, 0, 2]
        background = [0, 0, 1]
        film_fps = 24
        "#,
    )
    .unwrap();
    let GroomSource::File(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.path.as_str(), groom.points, groom.scale), ("a.abc", Some(12), Some(0.01)));
    assert_eq!((scene.fibre.radius, scene.fibre.friction), (30e-6, 0.5));
    let BodySource::File(body) = &scene.body.source else { panic!("{scene:?}") };
    assert_eq!(body.fps, Some(24.0));
    assert!(body.is_sequence());
    assert_eq!(scene.body.collide, Collide::None);
    let [capsule, plane] = scene.body.colliders.as_slice() else { panic!("{scene:?}") };
    assert_eq!((capsule.center, capsule.friction), (Vec3::new(0.0, 1.5, 0.0), 0.0));
    let expected = ColliderShape::Capsule { radius: 0.1, half_height: 1.0, axis: Vec3::X };
    assert_eq!(capsule.shape, expected);
    assert_eq!(plane.shape, ColliderShape::Plane { normal: Vec3::Y });
    let ModelSettings::FollowTheLeader(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!((model.correction, model.hold_shape), (0.5, false));
    assert_eq!(scene.wind.velocity, Vec3::new(1.0, 2.5, -3.0));
    assert_eq!(scene.gravity, Vec3::ZERO);
    assert_eq!(scene.render.hair, HairColor::Linear(Vec3::new(1.0, 0.5, 0.0)));
    assert_eq!(scene.render.camera, Camera::Position(Vec3::new(0.0, 0.0, 2.0)));
    assert_eq!(scene.render.background, Background::Color(Vec3::Z));
    assert_eq!(scene.render.film_fps, Some(24.0));
}

#[test]
fn fur_grows_on_a_creature_unless_said_otherwise() {
    let shape = |text| match read(text).unwrap().body.source {
        BodySource::BuiltIn(body) => body.shape,
        BodySource::File(_) => panic!("{text}"),
    };
    assert_eq!(shape("[groom]\nstyle = 'fur'"), BodyShape::Creature);
    assert_eq!(shape("[groom]\nstyle = 'fur'\n[body]\nshape = 'head'"), BodyShape::Head);
    assert_eq!(shape("[groom]\nstyle = 'shaggy'"), BodyShape::Monster);
    assert_eq!(shape("[groom]\nstyle = 'silky'"), BodyShape::Hound);
    assert_eq!(shape("[groom]\nstyle = 'bob'"), BodyShape::Head);
}

// ---- what is refused, and where ----

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
        "'style_time' in [model]: expected a number of seconds, found a string",
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
fn things_of_the_future_say_so() {
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
        "[groom]\nstrands = 5\nfile = 'a.abc'",
        2,
        1,
        "'strands' in [groom] cannot be used together with 'file'",
        "'strands' belongs to 'style'",
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

// ---- the command line ----

#[test]
fn set_changes_values_and_needs_no_quotes() {
    let scene = read_with(
        "[body]\nmotion = 'nod'\n",
        &["body.motion=spin", "groom.strands=1e3", "wind.velocity=[1,2,3]", "title = two words"],
    )
    .unwrap();
    assert_eq!(scene.body.motion, Motion::Spin);
    let GroomSource::Style(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!(groom.strands, 1000);
    assert_eq!(scene.wind.velocity, Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(scene.title, "two words");
    assert_eq!(read_with("", &["title=2024"]).unwrap().title, "2024");
    assert_eq!(read_with("", &["title='2024'"]).unwrap().title, "2024");
    // The last one wins; a table changes only its own keys; entries of lists have numbers.
    let text = "[wind]\ngusts = 0.5\n[[body.collider]]\nshape = 'sphere'\nradius = 1";
    let sets = ["time.fps=1", "time.fps=2", "wind={seed=7}", "body.collider.0.radius=0.25"];
    let scene = read_with(text, &sets).unwrap();
    assert_eq!((scene.time.fps, scene.wind.seed, scene.wind.gusts), (2, 7, 0.5));
    assert_eq!(scene.body.colliders[0].shape, ColliderShape::Sphere { radius: 0.25 });
}

#[test]
fn set_replaces_the_alternative_of_the_scene() {
    // A style replaces a file, with what belonged to the file.
    let file = "[groom]\nfile = 'a.abc'\nscale = 0.01\npoints = 99\n";
    let scene = read_with(file, &["groom.style=bob", "groom.strands=7"]).unwrap();
    let GroomSource::Style(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.style, groom.strands, groom.points), (Style::Bob, 7, 30));
    // A file replaces a style; it keeps its own points unless told otherwise.
    let style = "[groom]\nstyle = 'bob'\nstrands = 5\npoints = 99\nseed = 3\nlength = 0.2\n";
    let scene = read_with(style, &["groom.file=/a/b.abc"]).unwrap();
    let GroomSource::File(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.path.as_str(), groom.points), ("/a/b.abc", None));
    for sets in [["groom.points=8", "groom.file=b.abc"], ["groom.file=b.abc", "groom.points=8"]] {
        let scene = read_with(style, &sets).unwrap();
        let GroomSource::File(groom) = &scene.groom else { panic!("{scene:?}") };
        assert_eq!(groom.points, Some(8));
    }
    // The same alternative again keeps its details.
    let scene = read_with(style, &["groom.style=short"]).unwrap();
    let GroomSource::Style(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.style, groom.strands, groom.points), (Style::Short, 5, 99));
    let scene = read_with(file, &["groom.file=c.abc"]).unwrap();
    let GroomSource::File(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.scale, groom.points), (Some(0.01), Some(99)));
    // The same for the other pairs.
    let render = "[render]\nhair = 'red'\ncamera_position = [0, 0, 1]\n";
    let scene = read_with(render, &["render.hair_color=[0,0,1]", "render.view=back"]).unwrap();
    assert_eq!(scene.render.hair, HairColor::Linear(Vec3::Z));
    assert_eq!(scene.render.camera, Camera::View(View::Back));
    let body = "[body]\nfile = 'a.obj'\nscalp = 'scalp'\nmotion = 'nod'\n";
    let scene = read_with(body, &["body.shape=head"]).unwrap();
    assert!(matches!(scene.body.source, BodySource::BuiltIn(_)));
    assert_eq!(scene.body.motion, Motion::Nod);
}

#[test]
fn errors_of_set_point_at_its_text() {
    let error = refused_with("[body]\nspeed = 1\n", &["time.fps=30", "body.moton=spin"]);
    let report = error.report();
    let expected = "error: unknown key 'moton' in [body]\n --> --set\n  |\n  | body.moton=spin\n  |      \
                    ^^^^^\nhint: did you mean 'motion'?";
    assert!(report.starts_with(expected), "{report}");
    assert!(error.place().is_set);
    for (set, column, message) in [
        ("body.motion=spinn", 13, "unknown motion 'spinn'"),
        ("body.speed= 1000", 13, "'speed' in [body] is 1000: expected 0.01 to 100"),
        ("body.speed=fast", 12, "'speed' in [body]: expected a number, found a string"),
        ("body.speed", 1, "--set: expected key=value, found no '='"),
        ("body.speed=", 11, "--set: expected a value after '='"),
        ("=2", 1, "--set: expected a key before '='"),
        ("body..speed=2", 6, "--set: expected a key before '='"),
        ("title.x=2", 7, "--set: cannot set 'x': the scene has a string in its place"),
        ("title.x.y=2", 7, "--set: cannot set 'x': the scene has a string in its place"),
        ("body.collider.1.radius=2", 15, "--set: there is no entry '1' in a list of 1"),
        ("groom.scale=2", 7, "'scale' in [groom] needs 'file'"),
        ("speed=2", 1, "unknown key 'speed' at the top level"),
    ] {
        let text = "title = 'x'\n[[body.collider]]\nshape = 'sphere'\nradius = 1\n";
        let error = refused_with(text, &[set]);
        assert_eq!(error.to_string(), message);
        assert_eq!((error.line(), error.column()), (1, column), "{}", error.report());
        assert!(error.place().is_set);
    }
    let error = refused_with("", &["wind.velocity=[1, 2"]);
    assert!(matches!(error.problem(), Problem::Syntax { .. }), "{}", error.report());
    assert!(error.column() > 14, "{}", error.report());
    // A contradiction within the command line is not resolved.
    let error = refused_with("", &["groom.file=a.abc", "groom.style=bob"]);
    assert!(matches!(error.problem(), Problem::Conflict { .. }), "{}", error.report());
    let error = refused_with("[groom]\nfile = 'a.abc'", &["groom.strands=5"]);
    assert_eq!(error.to_string(), "'strands' in [groom] cannot be used together with 'file'");
    assert!(error.place().is_set);
}

// ---- every key of the schema ----

/// The line `name = value` in the table of the key, and what else must be there.
fn scene_with(key: &KeyInfo, name: &str, value: &str) -> String {
    let mut text = match key.table {
        "" => String::new(),
        "body.collider" => "[[body.collider]]\n".into(),
        table => format!("[{table}]\n"),
    };
    if let Some(other) = key.only_with {
        text += &format!("{other} = 'x.%04d.obj'\n");
    }
    if let Some((other, word)) = key.only_with_word {
        text += &format!("{other} = '{word}'\n");
    }
    if let Some(model) = key.only_models.first() {
        text += &format!("name = '{model}'\n");
    }
    text + &format!("{name} = {value}\n")
}

/// Ways to hit one wrong letter.
fn misspelt(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut all = Vec::new();
    for i in 0..letters.len() {
        let mut replaced = letters.clone();
        replaced[i] = 'q';
        all.push(replaced);
        let mut doubled = letters.clone();
        doubled.insert(i, letters[i]);
        all.push(doubled);
        if letters.len() > 2 {
            let mut dropped = letters.clone();
            dropped.remove(i);
            all.push(dropped);
        }
        if i > 0 {
            let mut swapped = letters.clone();
            swapped.swap(i - 1, i);
            all.push(swapped);
        }
    }
    let all = all.into_iter().map(String::from_iter);
    all.filter(|w: &String| w != name).collect()
}

#[test]
fn every_misspelt_key_suggests_itself() {
    let all = keys();
    assert!(all.len() > 50, "{}", all.len());
    for key in &all {
        for word in misspelt(key.name) {
            let error = refused(&scene_with(key, &word, "1"));
            assert!(matches!(error.problem(), Problem::UnknownKey { .. }), "{}", error.report());
            let question = error.hint().unwrap().split_once('?').unwrap().0;
            assert!(question.starts_with("did you mean '"), "{word}: {}", error.report());
            assert!(question.contains(&format!("'{}'", key.name)), "{word}: {}", error.report());
            assert_eq!(error.line(), scene_with(key, &word, "1").lines().count());
            assert_eq!((error.column(), error.place().width), (1, word.chars().count()));
        }
    }
}

#[test]
fn every_choice_suggests_its_nearest_word() {
    for key in keys() {
        let names = match key.values {
            Values::Choice { names, .. } | Values::NameOrColor { names } => names,
            _ => continue,
        };
        for name in names.iter().filter(|n| n.len() > 2) {
            let error = refused(&scene_with(&key, key.name, &format!("\"{name}e\"")));
            let expected = format!("did you mean '{name}'?");
            assert!(error.hint().unwrap().starts_with(&expected), "{}", error.report());
            assert_eq!(error.column(), key.name.len() + 4);
        }
    }
}

#[test]
fn every_number_has_limits_that_belong_to_it() {
    let mut checked = 0;
    for key in keys() {
        let (inside, outside) = match key.values {
            Values::Integer { min, max } => {
                let below = i128::from(min) - 1;
                let mut outside = vec![below.to_string(), "-9223372036854775808".into()];
                if max < i64::MAX as u64 {
                    outside.push((max + 1).to_string());
                }
                (vec![min.to_string(), max.to_string()], outside)
            }
            Values::Number { min, max } | Values::Ramp { min, max } => {
                let step = 1e-3 * (max - min);
                let outside = vec![min - step, max + step, f64::NAN, f64::INFINITY];
                let text = |v: f64| format!("{v:?}").to_lowercase();
                (vec![text(min), text(max)], outside.into_iter().map(text).collect())
            }
            Values::Vector { min, max } => {
                let text = |v: f64| format!("[{max:?}, {v:?}, {max:?}]").to_lowercase();
                (vec![text(min)], vec![text(min - 0.1), text(max + 0.1), text(f64::NAN)])
            }
            _ => continue,
        };
        for value in &outside {
            let text = scene_with(&key, key.name, value);
            let error = refused(&text);
            assert!(matches!(error.problem(), Problem::OutOfRange { .. }), "{}", error.report());
            assert!(error.to_string().contains(key.unit), "{error}");
            assert_eq!(error.line(), text.lines().count());
            checked += 1;
        }
        for value in &inside {
            // Within its limits, the value itself is no reason to refuse the scene.
            if let Err(error) = read(&scene_with(&key, key.name, value)) {
                assert!(matches!(error.problem(), Problem::Missing { .. }), "{}", error.report());
            }
        }
        let error = refused(&scene_with(&key, key.name, "true"));
        assert!(matches!(error.problem(), Problem::WrongType { .. }), "{}", error.report());
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn the_reference_has_every_key_with_its_default() {
    let text = reference();
    for key in keys() {
        let models = key.only_models.join(", ");
        let row = text.lines().find(|l| {
            l.starts_with(&format!("| `{}` |", key.name))
                && l.contains(key.meaning)
                && l.contains(&models)
        });
        let row = row.unwrap_or_else(|| panic!("no row for {}", key.path()));
        assert_eq!(row.matches('|').count(), 7, "{row}");
        assert!(row.contains(key.default.as_deref().unwrap_or(key.absent)), "{row}");
        assert!(key.default.is_some() || !key.absent.is_empty(), "{row}");
    }
}

// ---- built-in scenes ----

#[test]
fn built_in_scenes_are_read_and_written() {
    let mut titles = Vec::new();
    for name in builtin::names() {
        let text = builtin::text(name).unwrap();
        let scene = read(text).unwrap_or_else(|e| panic!("{name}: {}", e.report()));
        let run = format!("# Run it:  coif simulate scenes/{name}.toml --render {name}.mp4\n");
        assert!(text.starts_with(&run), "{name}");
        assert_eq!(builtin::one_line(name).unwrap(), scene.title);
        assert!(!scene.title.is_empty() && !titles.contains(&scene.title), "{name}");
        titles.push(scene.title.clone());
        let written = scene.to_toml();
        assert_eq!(read(&written).unwrap_or_else(|e| panic!("{}", e.report())), scene);
        assert_eq!(scene.validate(), Ok(()));
    }
    assert_eq!(builtin::text("nothing"), None);
    assert_eq!(builtin::one_line("nothing"), None);
}

#[test]
fn there_is_a_built_in_scene_for_every_style_and_motion() {
    // It has their name, or that of the character whose own they are.
    let scenes: Vec<Scene> =
        builtin::names().map(|name| read(builtin::text(name).unwrap()).unwrap()).collect();
    for style in Style::ALL {
        let has = |s: &Scene| matches!(&s.groom, GroomSource::Style(g) if g.style == *style);
        let named = builtin::text(style.name()).is_none_or(|text| has(&read(text).unwrap()));
        assert!(named && scenes.iter().any(has), "{style:?}");
    }
    for motion in Motion::ALL {
        let has = |s: &Scene| s.body.motion == *motion;
        let named = builtin::text(motion.name()).is_none_or(|text| has(&read(text).unwrap()));
        assert!(named && scenes.iter().any(has), "{motion:?}");
    }
}

#[test]
fn a_written_scene_explains_itself() {
    let text = Scene::default().to_toml();
    let always = |k: &&KeyInfo| {
        k.table != "body.collider" && k.only_with.is_none() && k.only_with_word.is_none()
    };
    let all = keys();
    for key in all.iter().filter(always) {
        let explained = text.lines().any(|l| {
            l.trim_start_matches("# ").starts_with(&format!("{} = ", key.name))
                && l.contains(key.meaning)
        });
        let replaced = key.default.is_none() && keys().iter().any(|k| k.not_with == Some(key.name));
        // Models may have keys of the same name that mean the same.
        let alike =
            |k: &KeyInfo| (k.table, k.name, k.meaning) == (key.table, key.name, key.meaning);
        let models: Vec<&str> =
            all.iter().filter(|k| alike(k)).flat_map(|k| k.only_models).copied().collect();
        let of_another = !models.is_empty() && !models.contains(&"follow-the-leader");
        assert!(explained != of_another || replaced, "{} is missing in\n{text}", key.path());
    }
}

#[test]
fn a_scene_beyond_its_limits_is_not_valid() {
    let mut scene = Scene::default();
    scene.body.speed = f32::NAN;
    let error = scene.validate().unwrap_err();
    assert!(matches!(error.problem(), Problem::OutOfRange { .. }), "{}", error.report());
}
