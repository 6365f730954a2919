//! The scene file as users see it: what is read, what is written, and the built-in scenes.

use coif::model::ModelSettings;
use coif_scene::file::{
    Background, BodyShape, BodySource, Camera, Collide, ColliderShape, GroomSource, HairColor,
    KeyInfo, Motion, Problem, Scene, Style, builtin, keys,
};
use glam::Vec3;

use crate::scene_text::read;

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
    assert_eq!((model.correction.constant(), model.hold_shape), (Some(0.5), false));
    assert_eq!(scene.wind.velocity, Vec3::new(1.0, 2.5, -3.0));
    assert_eq!(scene.gravity, Vec3::ZERO);
    assert_eq!(scene.render.hair, HairColor::Linear(Vec3::new(1.0, 0.5, 0.0)));
    assert_eq!(scene.render.camera, Camera::Position(Vec3::new(0.0, 0.0, 2.0)));
    assert_eq!(scene.render.background, Background::Color(Vec3::Z));
    assert_eq!(scene.render.film_fps, Some(24.0));
}

#[test]
fn fur_grows_on_a_creature_by_default() {
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
    // A scene with the name of a style or a motion uses it; others are used by the scene of a character.
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
        !["body.collider", "groom.pin"].contains(&k.table)
            && k.only_with.is_none()
            && k.only_with_word.is_none()
    };
    let all = keys();
    for key in all.iter().filter(always) {
        let explained = text.lines().any(|l| {
            l.trim_start_matches("# ").starts_with(&format!("{} = ", key.name))
                && l.contains(key.meaning)
        });
        let replaced = key.default.is_none() && keys().iter().any(|k| k.not_with == Some(key.name));
        // Models may have keys of the same name and the same meaning.
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
