//! Random scene files: nothing panics, and what is written is read back.

use coif::model::ModelSettings;
use coif::params::{self, Ramp, f32_text, string_text};
use coif_scene::file::{ColliderShape, ColliderSpec, KeyInfo, Scene, Values, keys};
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

/// Any value of a key, as TOML, in the form in which a scene file is written.
fn value(values: Values) -> BoxedStrategy<String> {
    let number = |min: f64, max: f64| min as f32..=max as f32;
    match values {
        Values::Integer { min, max } => (min..=max).prop_map(|v| v.to_string()).boxed(),
        Values::Number { min, max } => number(min, max).prop_map(f32_text).boxed(),
        Values::Ramp { min, max } => {
            let points = vec((0.0..=1.0f32, number(min, max)).prop_map(|(s, v)| [s, v]), 1..6);
            let ramp = points.prop_filter_map("places that increase", |mut points| {
                points.sort_by(|a, b| a[0].total_cmp(&b[0]));
                Ramp::new(&points).map(|ramp| ramp.to_string())
            });
            prop_oneof![number(min, max).prop_map(f32_text), ramp].boxed()
        }
        Values::Vector { min, max } => {
            vec3(min as f32, max as f32).prop_map(|v| params::Value::Vector(v).to_string()).boxed()
        }
        Values::Bool => any::<bool>().prop_map(|v| v.to_string()).boxed(),
        Values::Text => text().prop_map(|v| string_text(&v)).boxed(),
        Values::Names => {
            vec(text(), 1..4).prop_map(|v| params::Value::Names(v).to_string()).boxed()
        }
        Values::Choice { names, .. } => select(names).prop_map(string_text).boxed(),
        Values::NameOrColor { names } => prop_oneof![
            select(names).prop_map(string_text),
            value(Values::Vector { min: 0.0, max: 1.0 }),
        ]
        .boxed(),
        _ => unreachable!("values of a new kind need a strategy"),
    }
}

/// Keys and their values.
type Written = Vec<(KeyInfo, String)>;

/// Random values for random keys of the schema except those of colliders; keys that exclude or need others occur only
/// in valid combinations.
fn written() -> impl Strategy<Value = Written> {
    let keys: Vec<KeyInfo> =
        keys().into_iter().filter(|k| !["body.collider", "groom.pin"].contains(&k.table)).collect();
    let values: Vec<_> = keys.iter().map(|k| option::weighted(0.7, value(k.values))).collect();
    let model = select(ModelSettings::NAMES);
    // Half of the scenes have a groom from a file, half a body from a file, which is a sequence if it has a rate.
    let sources = (any::<bool>(), any::<bool>());
    (values, model, sources).prop_map(move |(values, model, (groom_file, body_file))| {
        let mut all: Vec<(KeyInfo, Option<String>)> = keys.iter().cloned().zip(values).collect();
        for (key, value) in &mut all {
            match key.path().as_str() {
                "model.name" => *value = Some(string_text(model)),
                "groom.file" if !groom_file => *value = None,
                "body.file" if !body_file => *value = None,
                // A style on a body from a file needs a scalp.
                "body.scalp" => *value = value.take().or(Some("\"scalp\"".into())),
                // Wetness is stored as a mass, which rounds other values.
                "contact.stiction.wetness" => *value = value.take().map(|_| "1".into()),
                _ => {}
            }
        }
        let given = |path: &str, all: &[(KeyInfo, Option<String>)]| {
            all.iter().find(|(key, _)| key.path() == path).and_then(|(_, value)| value.clone())
        };
        let is_sequence = given("body.fps", &all).is_some();
        for (key, value) in &mut all {
            if key.path() == "body.file" {
                let plain = value.take().map(|v| v.replace(['%', '#'], ""));
                *value = plain.map(|v| match v.strip_suffix('"') {
                    Some(path) if is_sequence => format!("{path}%04d\""),
                    _ => v,
                });
            }
        }
        let whole = all.clone();
        let neighbour = |key: &KeyInfo, name: &str| {
            let path =
                if key.table.is_empty() { name.into() } else { format!("{}.{name}", key.table) };
            given(&path, &whole)
        };
        all.retain(|(key, _)| {
            let with = key.only_with.is_none_or(|name| neighbour(key, name).is_some());
            let without = key.not_with.is_none_or(|name| neighbour(key, name).is_none());
            let word = key
                .only_with_word
                .is_none_or(|(name, word)| neighbour(key, name) == Some(string_text(word)));
            let of_model = key.only_models.is_empty() || key.only_models.contains(&model);
            // A sequence of meshes has its own motion.
            let moves = ["body.motion", "body.stop"].contains(&key.path().as_str());
            let still = body_file && is_sequence && moves && given("body.file", &whole).is_some();
            with && without && word && of_model && !still
        });
        // Remove keys that require a word whose key was removed.
        let paths: Vec<String> =
            all.iter().filter(|(_, v)| v.is_some()).map(|(k, _)| k.path()).collect();
        all.retain(|(key, _)| {
            key.only_with_word
                .is_none_or(|(name, _)| paths.contains(&format!("{}.{name}", key.table)))
        });
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    })
}

/// A scene file with these keys.
fn file(written: &Written) -> String {
    let mut text = String::new();
    let mut table = "";
    for (key, value) in written {
        if key.table != table {
            table = key.table;
            text += &format!("[{table}]\n");
        }
        text += &format!("{} = {value}\n", key.name);
    }
    text
}

/// Whether a written scene file has a key with a value, in the table of the key.
fn has(text: &str, key: &KeyInfo, value: &str) -> bool {
    let line = format!("{} = {value} ", key.name);
    let mut table = "";
    text.lines().any(|l| {
        if let Some(header) = l.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            table = header;
        }
        table == key.table && l.starts_with(&line)
    })
}

/// A value of any type, often one that the key accepts.
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

/// A known key and a random value for it.
fn any_setting() -> impl Strategy<Value = (String, String)> {
    select(keys()).prop_flat_map(|key| {
        let path = key.path().replace("collider", "collider.0");
        any_value(&key).prop_map(move |value| (path.clone(), value))
    })
}

/// Asserts that the place of an error lies within its source, and that the report can be written.
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

    /// Every value that is read is in the written scene, which reads back as the same scene.
    #[test]
    fn a_written_scene_is_read_back_exactly(keys in written(), colliders in vec(collider(), 0..4)) {
        let scene = Scene::from_toml(&file(&keys), "random.toml", &[]);
        let mut scene = scene.map_err(|e| TestCaseError::fail(e.report()))?;
        scene.body.colliders = colliders;
        let written = scene.to_toml();
        for (key, value) in &keys {
            prop_assert!(has(&written, key, value), "{} = {value} is not in\n{written}", key.path());
        }
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
