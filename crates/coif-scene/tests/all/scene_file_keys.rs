//! Every key of the schema: misspelt, out of its limits, in the reference.

use coif_scene::file::{KeyInfo, Problem, Values, keys, reference};

use crate::scene_text::{read, refused};

/// The line `name = value` in the table of the key, with the keys that it requires.
fn scene_with(key: &KeyInfo, name: &str, value: &str) -> String {
    let mut text = match key.table {
        "" => String::new(),
        table @ ("body.collider" | "groom.pin") => format!("[[{table}]]\n"),
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

/// Single typing errors: a letter replaced, doubled, dropped or swapped.
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
            // A value within its limits is not refused for itself; another key may be missing.
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
