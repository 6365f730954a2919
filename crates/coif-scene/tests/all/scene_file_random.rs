//! Scene files that nobody would write: nothing panics, and what is written is read back.

use coif::contact::{edge_collision, repulsion, stiction, strand_contact, volume};
use coif::groom::Fibre;
use coif::model::ModelSettings;
use coif::params::{self, Param, Parameters};
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

/// Any value of a parameter.
fn value(param: &'static Param) -> BoxedStrategy<params::Value> {
    let (min, max) = (param.min as f32, param.max as f32);
    match param.kind {
        params::Kind::Number => (min..=max).prop_map(params::Value::Number).boxed(),
        params::Kind::Count => {
            (param.min as u64..=param.max as u64).prop_map(params::Value::Count).boxed()
        }
        params::Kind::Ramp => {
            let constant = (min..=max).prop_map(params::Ramp::from);
            let points = vec((0.0..=1.0f32, min..=max).prop_map(|(s, v)| [s, v]), 1..6);
            let ramp = points.prop_filter_map("places that increase", |mut points| {
                points.sort_by(|a, b| a[0].total_cmp(&b[0]));
                params::Ramp::new(&points)
            });
            prop_oneof![constant, ramp].prop_map(params::Value::Ramp).boxed()
        }
        params::Kind::Vector => vec3(min, max).prop_map(params::Value::Vector).boxed(),
        params::Kind::Choice { names, .. } => select(names).prop_map(params::Value::Choice).boxed(),
        _ => any::<bool>().prop_map(params::Value::Switch).boxed(),
    }
}

/// Any settings of this kind: every parameter that they have.
fn settings<S: Clone + std::fmt::Debug>(
    mut default: S,
    params_mut: fn(&mut S) -> &mut dyn Parameters,
) -> impl Strategy<Value = S> {
    let params = params_mut(&mut default).params();
    let values: Vec<_> = params.iter().map(|param| value(param)).collect();
    values.prop_map(move |values| {
        let mut settings = default.clone();
        for (param, value) in params.iter().zip(values) {
            params_mut(&mut settings).set(param.name, value).expect("a value in range");
        }
        settings
    })
}

fn model() -> impl Strategy<Value = ModelSettings> {
    let default = |name| ModelSettings::by_name(name).expect("a model");
    select(ModelSettings::NAMES)
        .prop_flat_map(move |name| settings(default(name), ModelSettings::params_mut))
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

/// How single hairs touch. The mass is that of hair without water, or dripping.
fn strands() -> impl Strategy<Value = strand_contact::Settings> {
    let stiction = (option::of(settings(stiction::Settings::default(), |s| s)), any::<bool>());
    let repulsion = option::of(settings(repulsion::Settings::default(), |s| s));
    let collision = option::of(settings(edge_collision::Settings::default(), |s| s));
    (stiction, repulsion, collision).prop_map(|((stiction, wet), repulsion, collision)| {
        let mass_scale = if wet && stiction.is_some() { 2.0 } else { 1.0 };
        let none = strand_contact::Settings::NONE;
        strand_contact::Settings { stiction, repulsion, collision, mass_scale, ..none }
    })
}

fn scene() -> impl Strategy<Value = Scene> {
    let contact = (option::of(settings(volume::Settings::default(), |s| s)), strands());
    let fibre = settings(Fibre::default(), |s| s);
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
    (text(), groom(), fibre, moving, (model(), contact), around, time, render).prop_map(
        |(title, groom, fibre, moving, (model, contact), around, time, render)| {
            let mut s = Scene { title, groom, fibre, ..Scene::default() };
            let collide;
            (s.body.source, s.body.motion, s.body.speed, collide, s.body.colliders) = moving;
            (s.body.collide, s.body.field) = collide;
            (s.volume, s.strands) = contact;
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
