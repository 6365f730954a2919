//! Writes texts from the list of keys: a complete scene file, and the reference.

use std::fmt::Write as _;

use coif::contact::{Acts, ContactSettings};
use coif::model::{ModelSettings, Primitive};
use coif::params::{f64_text, string_text};

use super::choices::{Collide, Style};
use super::collider::ColliderDraft;
use super::keys::{COLLIDER, CONTACT_TABLES, ContactTable, PIN, SECTIONS};
use super::pin::PinSpec;
use super::read::joined;
use super::scene::{BodyFile, BodySource, GroomFile, GroomSource, GroomStyle, Scene};
use super::schema::{Key, KeyInfo, Needs, Section, Values};

/// Column at which comments start in a written scene file (characters).
const COMMENT_COLUMN: usize = 34;

impl Scene {
    /// A complete scene file with a comment at every key. Reading it gives the same scene.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        for section in SECTIONS.iter() {
            if !section.path.is_empty() {
                // The header alone would enable a contact.
                let is_off = CONTACT_TABLES
                    .iter()
                    .any(|c| c.path == section.path && (c.table.get)(self).is_none());
                let mark = if is_off { "# " } else { "" };
                // Writing to a string cannot fail.
                let _ = writeln!(out, "\n# {}\n{mark}[{}]", section.meaning, section.path);
            }
            write_keys(&mut out, section, self);
            if section.path == "groom" {
                for pin in &self.pins {
                    let _ = writeln!(out, "\n[[{}]]", PIN.path);
                    write_keys(&mut out, &PIN, pin);
                }
            }
            if section.path == "body" {
                for collider in &self.body.colliders {
                    let _ = writeln!(out, "\n[[{}]]", COLLIDER.path);
                    write_keys(&mut out, &COLLIDER, &ColliderDraft::from(collider));
                }
            }
        }
        out
    }
}

fn write_keys<T>(out: &mut String, section: &Section<T>, from: &T) {
    let has = |name| section.keys.iter().any(|k| k.name == name && k.value_text(from).is_some());
    for key in section.keys {
        // Leave out what does not apply to this scene.
        let applies = match key.needs {
            Needs::Nothing => true,
            Needs::With(name) => has(name),
            Needs::Without(name) => !has(name),
            // Keys that apply to this scene's model have a value.
            Needs::Model(_) => false,
            Needs::Word(name, word) => {
                let other = section.keys.iter().find(|k| k.name == name);
                other.and_then(|k| k.value_text(from)) == Some(string_text(word))
            }
        };
        let excluded = section.keys.iter().any(|other| {
            other.needs == Needs::Without(key.name) && other.value_text(from).is_some()
        });
        let line = match key.value_text(from) {
            Some(value) => format!("{} = {value}", key.name),
            None if applies && !excluded && section.path != COLLIDER.path => {
                format!("# {} = ...", key.name)
            }
            None => continue,
        };
        let _ = writeln!(out, "{line:COMMENT_COLUMN$} # {}", comment(key));
    }
}

/// Unit, limits and meaning in one line.
fn comment<T>(key: &Key<T>) -> String {
    let limits = match key.values() {
        Values::Text | Values::Names => String::new(),
        values => range_text(values),
    };
    let facts: Vec<&str> =
        [key.unit, limits.as_str()].into_iter().filter(|f| !f.is_empty()).collect();
    let mut text = key.meaning.to_string();
    if !facts.is_empty() {
        let _ = write!(text, " ({})", facts.join(", "));
    }
    text
}

/// The allowed values in words.
fn range_text(values: Values) -> String {
    match values {
        Values::Integer { min: 0, max } if max == i64::MAX as u64 => "0 or more".into(),
        Values::Integer { min, max } => format!("{min} to {max}"),
        Values::Number { min, max } | Values::Ramp { min, max } => {
            format!("{} to {}", f64_text(min), f64_text(max))
        }
        Values::Vector { min, max } => format!("each {} to {}", f64_text(min), f64_text(max)),
        Values::Bool => "true or false".into(),
        Values::Text | Values::Names => String::new(),
        Values::Choice { names, .. } => names.join(", "),
        Values::NameOrColor { names } => format!("{} or [r, g, b]", names.join(", ")),
    }
}

fn type_text(values: Values) -> &'static str {
    match values {
        Values::Integer { .. } => "integer",
        Values::Number { .. } => "number",
        Values::Ramp { .. } => "number or ramp",
        Values::Vector { .. } => "3 numbers",
        Values::Bool => "boolean",
        Values::Text => "string",
        Values::Names => "string or list",
        Values::Choice { .. } => "name",
        Values::NameOrColor { .. } => "name or 3 numbers",
    }
}

/// Every key of a scene file, in the order of the reference.
pub fn keys() -> Vec<KeyInfo> {
    let mut all = Vec::new();
    for section in SECTIONS.iter() {
        if section.path == "model" {
            all.extend(section.keys.iter().map(model_info));
            continue;
        }
        // The defaults of keys of a disabled feature are those that it has when enabled.
        let defaults = Scene::default();
        let mut all_on = Scene::default();
        for contact in CONTACT_TABLES {
            (contact.table.get_mut)(&mut all_on);
        }
        all_on.body.collide = Collide::DistanceField;
        all_on.groom =
            GroomSource::Style(GroomStyle { style: Style::Strips, ..GroomStyle::default() });
        let mut of_files =
            Scene { groom: GroomSource::File(GroomFile::default()), ..Scene::default() };
        of_files.body.source = BodySource::File(BodyFile::default());
        all.extend(section.keys.iter().map(|key| {
            // A file has no default name.
            let of_file = || key.value_text(&of_files).filter(|_| key.name != "file");
            let default = key.value_text(&defaults).or_else(|| key.value_text(&all_on));
            let default = default.or_else(of_file);
            info(section.path, key, default)
        }));
        if section.path == "groom" {
            let pin = PinSpec::default();
            all.extend(PIN.keys.iter().map(|k| info(PIN.path, k, k.value_text(&pin))));
        }
        if section.path == "body" {
            let draft = ColliderDraft::default();
            all.extend(COLLIDER.keys.iter().map(|k| info(COLLIDER.path, k, k.value_text(&draft))));
        }
    }
    all
}

fn info<T>(table: &'static str, key: &Key<T>, default: Option<String>) -> KeyInfo {
    KeyInfo {
        table,
        name: key.name,
        values: key.values(),
        unit: key.unit,
        default,
        absent: key.absent,
        only_with: if let Needs::With(name) = key.needs { Some(name) } else { None },
        only_with_word: if let Needs::Word(name, word) = key.needs {
            Some((name, word))
        } else {
            None
        },
        not_with: if let Needs::Without(name) = key.needs { Some(name) } else { None },
        only_models: if let Needs::Model(names) = key.needs { names } else { &[] },
        other_defaults: Vec::new(),
        meaning: key.meaning,
    }
}

/// A key of `[model]`: its default is that of the first model that has the key.
fn model_info(key: &Key<Scene>) -> KeyInfo {
    let scenes = ModelSettings::NAMES.iter().map(|name| {
        let model = ModelSettings::by_name(name).unwrap_or_default();
        (*name, Scene { model, ..Scene::default() })
    });
    let mut defaults = scenes
        .filter_map(|(name, scene)| Some((name, key.value_text(&scene)?)))
        .collect::<Vec<_>>();
    let first = defaults.first().map(|(_, text)| text.clone());
    // The name of a model is no default of its own.
    defaults.retain(|(_, text)| key.name != "name" && Some(text) != first.as_ref());
    KeyInfo { other_defaults: defaults, ..info("model", key, first) }
}

/// The reference of the scene file as Markdown: every key with its values, default and meaning.
pub fn reference() -> String {
    let mut out = String::from(
        "# The scene file\n\n\
         TOML. Every key has a default: an empty file is a scene. `--set key.path=value` changes \
         any key from the command line. Lengths in metres, times in seconds; y points up. A ramp goes from \
         root to tip: `[[0, 0.05], [1, 0.4]]` is 0.05 at the root (0) and 0.4 at the tip (1), linear in between.\n",
    );
    let all = keys();
    let sections = SECTIONS.iter().map(|s| (s.path, s.meaning));
    let mut tables: Vec<(&str, &str)> = sections.collect();
    for (path, list) in
        [("groom", (PIN.path, PIN.meaning)), ("body", (COLLIDER.path, COLLIDER.meaning))]
    {
        let after = tables.iter().position(|t| t.0 == path).map_or(tables.len(), |i| i + 1);
        tables.insert(after, list);
    }
    for (table, meaning) in tables {
        let title = match table {
            "" => "Top level".to_string(),
            path if [COLLIDER.path, PIN.path].contains(&path) => format!("`[[{path}]]`"),
            path => format!("`[{path}]`"),
        };
        let _ = write!(
            out,
            "\n## {title}\n\n{meaning}\n\n\
             | key | type | values | unit | default | meaning |\n|---|---|---|---|---|---|\n"
        );
        for key in all.iter().filter(|k| k.table == table) {
            let _ = writeln!(out, "{}", row(key));
        }
    }
    out.push_str(&contact_table());
    out
}

/// Which contact works with which model, and which model takes pins, from the capabilities of the models.
fn contact_table() -> String {
    let contacts: Vec<ContactSettings> =
        ContactSettings::NAMES.iter().filter_map(|n| ContactSettings::by_name(n).ok()).collect();
    let mut out = String::from(
        "\n## Models and contact\n\nWhen contact between hairs acts on what a model moves: after each step, on velocities, \
         or within it, as forces that the model solves for. A combination without an entry is refused. Pins tie points of \
         strands to a bone, or to a pose set by a program.\n\n| model | moves |",
    );
    for contact in &contacts {
        let of = |table: &&ContactTable| table.contact == contact.name();
        let tables = CONTACT_TABLES.iter().filter(of);
        let paths: Vec<String> = tables.map(|table| format!("`[{}]`", table.path)).collect();
        let _ = write!(out, " {} |", paths.join(", "));
    }
    let _ = write!(out, " pins |\n|---|---|{}\n", "---|".repeat(contacts.len() + 1));
    for model in ModelSettings::NAMES.iter().filter_map(|n| ModelSettings::by_name(n).ok()) {
        let can = model.capabilities();
        let moves = match can.moves {
            Primitive::Strand => "strands",
            Primitive::Strip => "strips",
            Primitive::HairMesh => "a hair mesh",
        };
        let _ = write!(out, "| `{}` | {moves} |", model.name());
        for contact in &contacts {
            let acts = match contact.acts(can.contact) {
                Some(Acts::AfterStep) => "after each step",
                Some(Acts::WithinStep) => "within each step",
                None => "",
            };
            let _ = write!(out, " {acts} |");
        }
        out.push_str(if can.pins.is_some() { " points of strands |\n" } else { "  |\n" });
    }
    out
}

fn row(key: &KeyInfo) -> String {
    let mut default = match &key.default {
        Some(value) if key.absent.is_empty() => format!("`{value}`"),
        Some(value) => format!("`{value}`; {}", key.absent),
        None => key.absent.to_string(),
    };
    for (model, value) in &key.other_defaults {
        let _ = write!(default, "; `{value}` with {model}");
    }
    let mut meaning = key.meaning.to_string();
    if let Values::Choice { planned, .. } = key.values
        && !planned.is_empty()
    {
        let _ = write!(meaning, " Not available yet: {}.", planned.join(", "));
    }
    if !key.only_models.is_empty() {
        let _ = write!(meaning, " Only with model {}.", key.only_models.join(", "));
    }
    if let Some((other, word)) = key.only_with_word {
        let _ = write!(meaning, " Only with `{} = \"{word}\"`.", joined(key.table, other));
    }
    match (key.only_with, key.not_with) {
        (Some(other), _) => {
            let _ = write!(meaning, " Only with `{}`.", joined(key.table, other));
        }
        (_, Some(other)) => {
            let _ = write!(meaning, " Not with `{}`.", joined(key.table, other));
        }
        _ => {}
    }
    let (name, kind, values) = (key.name, type_text(key.values), range_text(key.values));
    format!("| `{name}` | {kind} | {values} | {} | {default} | {meaning} |", key.unit)
}
