//! Changes of a scene from the command line.

use coif_scene::file::{
    BodySource, Camera, ColliderShape, GroomSource, HairColor, Motion, Problem, Style, View,
};
use glam::Vec3;

use crate::scene_text::{read_with, refused_with};

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
    // The last one wins; a table changes only its own keys; entries of lists are numbered.
    let text = "[wind]\ngusts = 0.5\n[[body.collider]]\nshape = 'sphere'\nradius = 1";
    let sets = ["time.fps=1", "time.fps=2", "wind={seed=7}", "body.collider.0.radius=0.25"];
    let scene = read_with(text, &sets).unwrap();
    assert_eq!((scene.time.fps, scene.wind.seed, scene.wind.gusts), (2, 7, 0.5));
    assert_eq!(scene.body.colliders[0].shape, ColliderShape::Sphere { radius: 0.25 });
}

#[test]
fn set_replaces_the_alternative_of_the_scene() {
    // A style replaces a file and the keys that belong to the file.
    let file = "[groom]\nfile = 'a.abc'\nscale = 0.01\npoints = 99\n";
    let scene = read_with(file, &["groom.style=bob", "groom.strands=7"]).unwrap();
    let GroomSource::Style(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.style, groom.strands, groom.points), (Style::Bob, 7, 30));
    // A file replaces a style; it keeps its own points unless they are set.
    let style = "[groom]\nstyle = 'bob'\nstrands = 5\npoints = 99\nseed = 3\nlength = 0.2\n";
    let scene = read_with(style, &["groom.file=/a/b.abc"]).unwrap();
    let GroomSource::File(groom) = &scene.groom else { panic!("{scene:?}") };
    assert_eq!((groom.path.as_str(), groom.points), ("/a/b.abc", None));
    assert_eq!((groom.strands, groom.seed), (None, 1), "those of the style are dropped with it");
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
    let error = refused_with("[groom]\nfile = 'a.abc'", &["groom.length=0.5"]);
    assert_eq!(error.to_string(), "'length' in [groom] cannot be used together with 'file'");
    assert!(error.place().is_set);
}
