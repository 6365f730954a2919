//! Scene files that nobody would write: nothing panics, and what is written is read back.

use coif::contact::volume;
use coif::model::follow_the_leader::{self, Ends};
use coif::model::{ModelSettings, cantilever, explicit_spring, position_based};
use coif_scene::file::{
    Background, BodyFile, BodyShape, BodySource, BuiltInBody, Camera, Collide, ColliderShape,
    ColliderSpec, FieldScene, GroomFile, GroomSource, GroomStyle, HairColor, HairPreset, KeyInfo,
    Motion, Scene, StripScene, Style, UpAxis, Values, View, keys,
};
use glam::Vec3;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn vec3(min: f32, max: f32) -> impl Strategy<Value = Vec3> {
    [min..=max, min..=max, min..=max].prop_map(Vec3::from_array)
}

/// Any text, with the characters that TOML must escape.
fn text() -> impl Strategy<Value = String> {
    let odd = select(vec!['"', '\\', '\n', '\r', '\t', '\0', '\u{7f}', '\u{85}', '#', 'é', '%']);
    vec(prop_oneof![odd, any::<char>()], 0..12).prop_map(String::from_iter)
}

/// Strips have their own values only where they grow.
fn strips() -> impl Strategy<Value = StripScene> {
    let sizes = (10.0..=1e5f32, 0.0005..=0.2f32, 3..=200u32, vec3(-1.0, 1.0));
    let lie = (0.0..=1.0f32, 0.0..=1000.0f32, 1..=64u32, 0.0..=0.1f32);
    let cut = option::of(-1000.0..=1000.0f32);
    (sizes, lie, cut).prop_map(|((density, width, segments, tangent), lie, cut)| {
        let (lift, weight, layers, layer_distance) = lie;
        StripScene { density, width, segments, cut, tangent, lift, weight, layers, layer_distance }
    })
}

fn groom() -> impl Strategy<Value = GroomSource> {
    let style = (
        select(Style::ALL),
        1..=200_000u32,
        2..=200u32,
        option::of(2..=40_000_000u32),
        0..=i64::MAX as u64,
        option::of(0.002..=3.0f32),
        strips(),
    )
        .prop_map(|(style, strands, points, particles, seed, length, strips)| {
            let strips = if style == Style::Strips { strips } else { StripScene::default() };
            let source = GroomStyle { style, strands, points, particles, seed, length, strips };
            GroomSource::Style(source)
        });
    let file = (
        text(),
        option::of(2..=200u32),
        option::of(1e-6..=1000.0f32),
        option::of(select(UpAxis::ALL)),
    )
        .prop_map(|(path, points, scale, up)| {
            GroomSource::File(GroomFile { path, points, scale, up })
        });
    prop_oneof![style, file]
}

fn body() -> impl Strategy<Value = BodySource> {
    let built_in = (select(BodyShape::ALL), 0.001..=0.05f32)
        .prop_map(|(shape, resolution)| BodySource::BuiltIn(BuiltInBody { shape, resolution }));
    let file = (
        text(),
        option::of(1.0..=1000.0f32),
        text(),
        option::of(1e-6..=1000.0f32),
        option::of(select(UpAxis::ALL)),
    )
        .prop_map(|(mut path, fps, scalp, scale, up)| {
            path = path.replace(['%', '#'], "");
            if fps.is_some() {
                path.push_str("%04d");
            }
            BodySource::File(BodyFile { path, fps, scalp: Some(scalp), scale, up })
        });
    prop_oneof![built_in, file]
}

fn collider() -> impl Strategy<Value = ColliderSpec> {
    let direction = || vec3(-1000.0, 1000.0).prop_filter("a direction", |v| v.length() > 1e-3);
    let shape = prop_oneof![
        (1e-4..=100.0f32).prop_map(|radius| ColliderShape::Sphere { radius }),
        (vec3(1e-4, 100.0), vec3(-360.0, 360.0))
            .prop_map(|(radii, rotation)| ColliderShape::Ellipsoid { radii, rotation }),
        (1e-4..=100.0f32, 0.0..=100.0f32, direction()).prop_map(|(radius, half_height, axis)| {
            ColliderShape::Capsule { radius, half_height, axis }
        }),
        direction().prop_map(|normal| ColliderShape::Plane { normal }),
    ];
    (shape, vec3(-1000.0, 1000.0), 0.0..=10.0f32)
        .prop_map(|(shape, center, friction)| ColliderSpec { shape, center, friction })
}

fn background() -> impl Strategy<Value = Background> {
    prop_oneof![
        select(vec![Background::Studio, Background::Dark, Background::Light]),
        vec3(0.0, 1.0).prop_map(Background::Color),
    ]
}

fn model() -> impl Strategy<Value = ModelSettings> {
    let shared = || (1e-3..=1000.0f32, 0.0..=1000.0f32, any::<bool>());
    let style = (0.0..=10.0f32, 0.0..=10.0f32);
    let own = (0.0..=1.0f32, 0.0..=1.0f32, select(Ends::NAMES), any::<bool>(), style);
    let leader = (shared(), own).prop_map(|(shared, own)| {
        let (correction, bend_limit, ends, backward, (style_length, damping_ratio)) = own;
        let (style_time, damping, hold_shape) = shared;
        // 1000 s is written for no style at all; take all above 900 for it.
        let style_time = if style_time > 900.0 { f32::INFINITY } else { style_time };
        let ends = ends.1;
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            correction,
            bend_limit,
            style_time,
            style_length,
            damping_ratio,
            damping,
            hold_shape,
            ends,
            backward,
        })
    });
    let position_based = (shared(), 1..=1000u32).prop_map(|(shared, iterations)| {
        let (style_time, damping, hold_shape) = shared;
        let m = position_based::Settings { iterations, style_time, damping, hold_shape };
        ModelSettings::PositionBased(m)
    });
    let own = (1.0..=1e12f32, 0.0..=1.0f32, option::of(1..=10_000u32));
    let spring = (shared(), own).prop_map(|(shared, own)| {
        let mut m = explicit_spring::Settings::default();
        (m.style_time, m.damping, m.hold_shape) = shared;
        (m.stretch_modulus, m.stretch_damping, m.substeps) = own;
        ModelSettings::ExplicitSpring(m)
    });
    let own = (0.0..=1.0f32, 0.0..=1.0f32, 0.0..=0.1f32, 0.0..=1.0f32, 3..=200usize, 1..=64u32);
    let beams = (shared(), own).prop_map(|(shared, own)| {
        let mut m = cantilever::Settings::default();
        (m.style_time, m.damping, m.hold_shape) = shared;
        (m.trail, m.inertia, m.layer_distance, ..) = own;
        (.., m.wisps.radius, m.wisps.segments, m.wisps.layers) = own;
        m.bend_variation = m.trail;
        ModelSettings::Cantilever(m)
    });
    prop_oneof![leader, position_based, spring, beams]
}

/// What hair touches; the surface has its own values only where hair touches it.
fn collide() -> impl Strategy<Value = (Collide, FieldScene)> {
    let field = (option::of(0.001..=1.0f32), 0.0..=10.0f32, 0.0..=1.0f32)
        .prop_map(|(cell, friction, restitution)| FieldScene { cell, friction, restitution });
    (select(Collide::ALL), field).prop_map(|(collide, field)| match collide {
        Collide::DistanceField => (collide, field),
        _ => (collide, FieldScene::default()),
    })
}

fn contact() -> impl Strategy<Value = Option<volume::Settings>> {
    let volume = (0.0..=1.0f32, 0.0..=1.0f32, 1e-4..=10.0f32)
        .prop_map(|(friction, repulsion, cell)| volume::Settings { friction, repulsion, cell });
    option::of(volume)
}

fn scene() -> impl Strategy<Value = Scene> {
    let fibre = (1e-6..=1e-3f32, 1.0..=20_000.0f32, 1e3..=1e12f32, 0.0..=1.0f32, 0.0..=10.0f32);
    let moving = (body(), select(Motion::ALL), 0.01..=100.0f32, collide(), vec(collider(), 0..4));
    let around = (vec3(-200.0, 200.0), 0.0..=1.0f32, 0..=i64::MAX as u64, vec3(-1000.0, 1000.0));
    let time = (1..=1000u32, 1..=1_000_000u32, 30..=10_000u32);
    let hair = prop_oneof![
        select(HairPreset::ALL).prop_map(HairColor::Preset),
        vec3(0.0, 1.0).prop_map(HairColor::Linear),
    ];
    let camera = prop_oneof![
        select(View::ALL).prop_map(Camera::View),
        vec3(-1000.0, 1000.0).prop_map(Camera::Position),
    ];
    let render = (
        16..=8192u32,
        hair,
        camera,
        option::of(vec3(-1000.0, 1000.0)),
        1.0..=150.0f32,
        background(),
        option::of(1.0..=1000.0f32),
    );
    (text(), groom(), fibre, moving, (model(), contact()), around, time, render).prop_map(
        |(title, groom, fibre, moving, (model, volume), around, time, render)| {
            let mut s = Scene { title, groom, ..Scene::default() };
            (s.fibre.radius, s.fibre.density, s.fibre.young_modulus, ..) = fibre;
            (_, _, s.fibre.shear_modulus, s.fibre.damping, s.fibre.friction) = fibre;
            let collide;
            (s.body.source, s.body.motion, s.body.speed, collide, s.body.colliders) = moving;
            (s.body.collide, s.body.field) = collide;
            s.volume = volume;
            // A sequence of meshes has its own motion.
            if matches!(&s.body.source, BodySource::File(file) if file.is_sequence()) {
                s.body.motion = Motion::Still;
            }
            s.model = model;
            (s.wind.velocity, s.wind.gusts, s.wind.seed, s.gravity) = around;
            (s.time.fps, s.time.frames, s.time.steps_per_second) = time;
            (s.render.width, s.render.hair, s.render.camera, ..) = render;
            (s.render.height, .., s.render.camera_target, s.render.fov, _, _) = render;
            (.., s.render.background, s.render.film_fps) = render;
            s
        },
    )
}

/// A value of any type, often one that the key takes.
fn any_value(key: &KeyInfo) -> BoxedStrategy<String> {
    let words = match key.values {
        Values::Choice { names, planned } => [names, planned].concat(),
        Values::NameOrColor { names } => names.to_vec(),
        _ => vec!["x.%04d.obj", "x"],
    };
    prop_oneof![
        4 => select(words).prop_map(|w| format!("\"{w}\"")),
        2 => any::<i64>().prop_map(|v| v.to_string()),
        2 => (0..100i64).prop_map(|v| v.to_string()),
        2 => any::<f64>().prop_map(|v| format!("{v:?}").to_lowercase()),
        2 => vec(-2.0..2.0f64, 0..5).prop_map(|v| format!("{v:?}")),
        1 => Just("{ x = { y = [{ z = 1 }] } }".to_string()),
        1 => Just("[[1, 2], 'x', true]".to_string()),
        1 => Just("1979-05-27T07:32:00Z".to_string()),
        1 => any::<bool>().prop_map(|v| v.to_string()),
    ]
    .boxed()
}

/// A known key and any value for it.
fn any_setting() -> impl Strategy<Value = (String, String)> {
    select(keys()).prop_flat_map(|key| {
        let path = key.path().replace("collider", "collider.0");
        any_value(&key).prop_map(move |value| (path.clone(), value))
    })
}

/// Whether the place of an error lies within its source, and its report can be made.
fn check_places(text: &str, sets: &[String]) {
    match Scene::from_toml(text, "random.toml", sets) {
        Ok(scene) => {
            let again = Scene::from_toml(&scene.to_toml(), "again.toml", &[]);
            assert_eq!(again.map_err(|e| e.report()), Ok(scene));
        }
        Err(error) => {
            assert!(error.report().starts_with("error: "));
            assert!(error.line() >= 1 && error.column() >= 1);
            assert!(error.column() <= error.place().text.chars().count() + 2, "{error:?}");
            assert!(!error.to_string().contains('\n'));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_written_scene_is_read_back_exactly(scene in scene()) {
        let written = scene.to_toml();
        let again = Scene::from_toml(&written, "written.toml", &[]);
        prop_assert_eq!(again.map_err(|e| e.report()), Ok(scene));
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..200), set in vec(any::<u8>(), 0..40)) {
        let text = String::from_utf8_lossy(&bytes);
        check_places(&text, &[String::from_utf8_lossy(&set).into_owned()]);
    }

    #[test]
    fn random_toml_letters_never_panic(text in "[\\[\\]a-c.=\"'{}#,0-9\\-\r\n é]{0,60}") {
        check_places(&text, &[]);
        check_places("[body]\nspeed = 1", &[text]);
    }

    #[test]
    fn random_values_of_known_keys_never_panic(
        settings in vec(any_setting(), 0..6),
        sets in vec(any_setting(), 0..4),
    ) {
        let mut text = String::new();
        for (path, value) in &settings {
            if !path.contains(".0.") {
                text += &format!("{path} = {value}\n");
            }
        }
        let sets: Vec<String> = sets.iter().map(|(path, value)| format!("{path}={value}")).collect();
        check_places(&text, &sets);
        check_places("[[body.collider]]\nshape = 'plane'\n", &sets);
        check_places("contact = ['volume']\nbody.collide = 'distance-field'\n", &sets);
    }
}
