//! From TOML text to a checked [`Scene`].

use coif::model::ModelSettings;

use super::choices::{BodyShape, CONTACTS, Motion, PLANNED_CONTACTS, STRANDS, Style};
use super::collider::ColliderDraft;
use super::error::{Problem, SceneError, quoted};
use super::keys::{ALTERNATIVES, COLLIDER, CONTACT_TABLES, PIN, RENAMED, SECTIONS};
use super::scene::{BodySource, GroomSource, Scene};
use super::schema::{Key, Needs, Section, unknown_choice};
use super::set;
use super::tree::{Entry, Node, Sources, Value};
use crate::suggestion;

impl Scene {
    /// Reads a scene file. `source_name` is its name in errors; `sets` are the `key.path=value` of the command line,
    /// applied in order. An empty text gives the defaults.
    pub fn from_toml(text: &str, source_name: &str, sets: &[String]) -> Result<Scene, SceneError> {
        let sources = Sources::new(source_name, text, sets);
        let mut root = sources.parse_file()?;
        let mut warnings = Vec::new();
        rename_keys(&mut root, &mut warnings);
        expand_contacts(&mut root);
        for source in 1..=sets.len() {
            set::apply(&sources, source, &mut root, &mut warnings)?;
            expand_contacts(&mut root);
        }
        check_names(&sources, &root, "")?;
        check_neighbours(&sources, &root)?;
        // Enable the contacts that have a table, even an empty one.
        let mut scene = Scene { warnings, ..Scene::default() };
        for contact in CONTACT_TABLES {
            if root.find(contact.path).is_some() {
                (contact.table.get_mut)(&mut scene);
            }
        }
        for section in SECTIONS.iter() {
            for key in section.keys {
                if let Some(entry) = root.find(&joined(section.path, key.name))
                    && key.needs.has_model(scene.model.name())
                {
                    key.read(&mut scene, entry, &place(section.path), &sources)?;
                }
            }
        }
        scene.body.colliders = read_list(&sources, &root, &COLLIDER, ColliderDraft::finish)?;
        scene.pins = read_list(&sources, &root, &PIN, |pin| pin.check().map(|()| pin.clone()))?;
        finish_body(&sources, &root, &mut scene)?;
        Ok(scene)
    }

    /// Whether every value is within its limits, for scenes that were not read from a file.
    pub fn validate(&self) -> Result<(), SceneError> {
        Self::from_toml(&self.to_toml(), "scene", &[]).map(|_| ())
    }
}

/// The current name of a key that was renamed in the last version, and the warning about it.
pub(crate) fn renamed(table: &str, key: &str) -> Option<(&'static str, String)> {
    let (.., new) = RENAMED.iter().find(|(place, old, _)| *place == table && *old == key)?;
    let warning = format!(
        "key '{}' is called '{new}' now; hint: write {} instead, the old name works in this version only",
        joined(table, key),
        joined(table, new)
    );
    Some((new, warning))
}

/// Renames keys that are written with the name of the last version.
fn rename_keys(root: &mut Node, warnings: &mut Vec<String>) {
    let Value::Table(tables) = &mut root.value else { return };
    for table in tables {
        let Value::Table(entries) = &mut table.node.value else { continue };
        for entry in entries {
            if let Some((new, warning)) = renamed(&table.key, &entry.key) {
                entry.key = new.into();
                warnings.push(warning);
            }
        }
    }
}

/// Table and key as one path.
pub(crate) fn joined(table: &str, key: &str) -> String {
    if table.is_empty() { key.into() } else { format!("{table}.{key}") }
}

/// The place of a table, for messages.
fn place(table: &str) -> String {
    match table {
        "" => "at the top level".into(),
        path if is_list(path) => format!("in [[{path}]]"),
        path => format!("in [{path}]"),
    }
}

/// Whether a table may occur more than once.
fn is_list(path: &str) -> bool {
    [COLLIDER.path, PIN.path].contains(&path)
}

/// The keys of a table, and the tables within it.
fn known_names(table: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut keys: Vec<&str> = Vec::new();
    if table == PIN.path {
        keys.extend(PIN.keys.iter().map(|k| k.name));
    }
    if table == COLLIDER.path {
        keys.extend(COLLIDER.keys.iter().map(|k| k.name));
    }
    for section in SECTIONS.iter().filter(|s| s.path == table) {
        keys.extend(section.keys.iter().map(|k| k.name));
    }
    let paths = SECTIONS.iter().map(|s| s.path).chain([COLLIDER.path, PIN.path, "contact"]);
    let tables = paths.filter_map(|path| {
        let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
        (parent == table && !name.is_empty()).then_some(name)
    });
    (keys, tables.collect())
}

/// Refuses the first unknown key, and values where tables belong.
fn check_names(sources: &Sources, node: &Node, table: &str) -> Result<(), SceneError> {
    let (keys, tables) = known_names(table);
    for entry in node.entries() {
        let path = joined(table, &entry.key);
        if path == "contact" {
            check_contact(sources, entry)?;
            check_names(sources, &entry.node, &path)?;
        } else if is_list(&path) {
            let Value::Array(items) = &entry.node.value else {
                return Err(wrong_container(sources, entry, table, &format!("[[{path}]] tables"))
                    .with_hint(format!("write [[{path}]] with two brackets on each side")));
            };
            for item in items {
                let Value::Table(_) = item.value else {
                    let item = Entry { node: item.clone(), ..entry.clone() };
                    return Err(wrong_container(sources, &item, table, "a table"));
                };
                check_names(sources, item, &path)?;
            }
        } else if tables.contains(&entry.key.as_str()) {
            if !matches!(entry.node.value, Value::Table(_)) {
                return Err(wrong_container(sources, entry, table, "a table"));
            }
            check_names(sources, &entry.node, &path)?;
        } else if !keys.contains(&entry.key.as_str()) {
            return Err(unknown_key(sources, entry, table, &keys, &tables));
        }
    }
    Ok(())
}

fn wrong_container(sources: &Sources, entry: &Entry, table: &str, expected: &str) -> SceneError {
    let problem = Problem::WrongType {
        key: entry.key.clone(),
        table: place(table),
        expected: expected.into(),
        found: entry.node.type_name().into(),
    };
    sources.error(entry.node.span, problem)
}

fn unknown_key(
    sources: &Sources,
    entry: &Entry,
    table: &str,
    keys: &[&'static str],
    tables: &[&'static str],
) -> SceneError {
    let problem = Problem::UnknownKey { key: quoted(&entry.key), table: place(table) };
    let names: Vec<&str> = keys.iter().chain(tables).copied().collect();
    let known = match (table, keys) {
        ("", _) => format!("known keys: {}; known tables: {}", keys.join(", "), tables.join(", ")),
        _ => format!("known keys: {}", names.join(", ")),
    };
    // Suggest the nearest name in this table, else the same name in other tables.
    let collider = COLLIDER.keys.iter().map(|k| (COLLIDER.path, k.name));
    let collider = collider.chain(PIN.keys.iter().map(|k| (PIN.path, k.name)));
    let everywhere = SECTIONS.iter().flat_map(|s| s.keys.iter().map(|k| (s.path, k.name)));
    let homes: Vec<String> = everywhere
        .chain(collider)
        .filter(|(_, name)| *name == entry.key)
        .map(|(path, name)| format!("{} ({})", place(path), joined(path, name)))
        .collect();
    let hint = match suggestion(&entry.key, &names) {
        near if near.is_empty() && !homes.is_empty() => {
            format!("'{}' belongs {}", entry.key, homes.join(" or "))
        }
        near => format!("{near}{known}"),
    };
    sources.error(entry.key_span, problem).with_hint(hint)
}

/// Expands `contact = ["volume"]` to an empty table for each name. Other lists are left as they are, to be refused
/// later.
fn expand_contacts(root: &mut Node) {
    let Value::Table(entries) = &mut root.value else { return };
    let Some(contact) = entries.iter_mut().find(|e| e.key == "contact") else { return };
    let Value::Array(items) = &contact.node.value else { return };
    let named = items.iter().map(|item| match &item.value {
        Value::String(word) => Some(Entry {
            key: word.clone(),
            key_span: item.span,
            node: Node { value: Value::Table(Vec::new()), span: item.span },
        }),
        _ => None,
    });
    if let Some(mut tables) = named.collect::<Option<Vec<_>>>() {
        tables.dedup_by(|a, b| a.key == b.key);
        contact.node.value = Value::Table(tables);
    }
}

/// Refuses unknown contacts, and values that are neither tables nor lists of names. The table of the settings that
/// contacts share is not a contact, and must not be empty.
fn check_contact(sources: &Sources, entry: &Entry) -> Result<(), SceneError> {
    let Value::Table(entries) = &entry.node.value else {
        let error = wrong_container(sources, entry, "", "a table or a list of names");
        return Err(error.with_hint("write [contact.volume], or contact = [\"volume\"]"));
    };
    let known = |e: &&Entry| {
        CONTACTS.contains(&e.key.as_str()) || e.key == STRANDS && !e.node.entries().is_empty()
    };
    match entries.iter().find(|e| !known(e)) {
        Some(Entry { key, key_span, node }) => {
            let node = Node { span: *key_span, ..node.clone() };
            Err(unknown_choice(sources, &node, "contact", key, CONTACTS, PLANNED_CONTACTS))
        }
        None => Ok(()),
    }
}

/// Refuses keys that exclude each other and keys that need another one.
fn check_neighbours(sources: &Sources, root: &Node) -> Result<(), SceneError> {
    for section in SECTIONS.iter() {
        for key in section.keys {
            let Some(entry) = root.find(&joined(section.path, key.name)) else { continue };
            let neighbour = |name| root.find(&joined(section.path, name));
            match key.needs {
                Needs::Without(name) => {
                    if let Some(other) = neighbour(name) {
                        return Err(conflict(sources, section.path, key, entry, other));
                    }
                }
                Needs::With(name) if neighbour(name).is_none() => {
                    let problem = Problem::Missing {
                        key: key.name.into(),
                        table: place(section.path),
                        other: format!("'{name}'"),
                    };
                    let hint =
                        format!("add '{name}' to [{}], or remove '{}'", section.path, key.name);
                    return Err(sources.error(entry.key_span, problem).with_hint(hint));
                }
                Needs::Model(_) => check_model(sources, root, entry)?,
                Needs::Word(name, word) => {
                    check_word(sources, section.path, entry, neighbour(name), (name, word))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Refuses a key that requires another value of its neighbour. A neighbour that is not a string is refused when it is
/// read.
fn check_word(
    sources: &Sources,
    table: &str,
    entry: &Entry,
    neighbour: Option<&Entry>,
    (name, word): (&str, &str),
) -> Result<(), SceneError> {
    if neighbour.is_some_and(|n| !matches!(&n.node.value, Value::String(found) if found != word)) {
        return Ok(());
    }
    let problem = Problem::Missing {
        key: entry.key.clone(),
        table: place(table),
        other: format!("{name} = \"{word}\""),
    };
    let hint = format!("set {}={word}, or remove '{}'", joined(table, name), entry.key);
    Err(sources.error(entry.key_span, problem).with_hint(hint))
}

/// The models that have a key of `[model]`.
pub(crate) fn models_with(key: &str) -> Vec<&'static str> {
    let keys = SECTIONS.iter().filter(|s| s.path == "model").flat_map(|s| s.keys);
    let has = |model: &&&str| keys.clone().any(|k| k.name == key && k.needs.has_model(model));
    ModelSettings::NAMES.iter().filter(has).copied().collect()
}

/// Refuses a key that the chosen model does not have.
fn check_model(sources: &Sources, root: &Node, entry: &Entry) -> Result<(), SceneError> {
    let default = Scene::default().model.name();
    let (chosen, choice) = match root.find("model.name").map(|e| &e.node.value) {
        Some(Value::String(word)) => (word.as_str(), format!("model '{}'", quoted(word))),
        // A name that is not a string is refused when it is read.
        Some(_) => return Ok(()),
        None => (default, format!("model '{default}', which is the default")),
    };
    let models = models_with(&entry.key);
    // An unknown name is refused when it is read.
    if models.contains(&chosen) || !ModelSettings::NAMES.contains(&chosen) {
        return Ok(());
    }
    let problem =
        Problem::Conflict { key: entry.key.clone(), table: place("model"), other: choice };
    let own = ModelSettings::by_name(chosen).unwrap_or_default().params().params();
    let hint = format!(
        "'{}' belongs to {}; {chosen} has {}",
        entry.key,
        models.join(", "),
        own.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
    );
    Err(sources.error(entry.key_span, problem).with_hint(hint))
}

fn conflict(
    sources: &Sources,
    table: &str,
    key: &Key<Scene>,
    entry: &Entry,
    other: &Entry,
) -> SceneError {
    let hint = match ALTERNATIVES.iter().find(|a| a.table == table && a.one == other.key) {
        Some(a) if a.other != key.name => {
            format!("'{}' belongs to '{}': remove it, or remove '{}'", key.name, a.other, a.one)
        }
        _ => format!("remove one of '{}' and '{}'", key.name, other.key),
    };
    // Point at the command line if only one of the two was written there.
    let (at, against) = if other.key_span.is_set() && !entry.key_span.is_set() {
        (other, entry)
    } else {
        (entry, other)
    };
    let problem = Problem::Conflict {
        key: at.key.clone(),
        table: place(table),
        other: format!("'{}'", against.key),
    };
    sources.error(at.key_span, problem).with_hint(hint)
}

/// Reads all tables of a list; `finish` checks one, and returns the key to point at if it is not valid.
fn read_list<T: Default, U>(
    sources: &Sources,
    root: &Node,
    section: &Section<T>,
    finish: impl Fn(&T) -> Result<U, (&'static str, Problem)>,
) -> Result<Vec<U>, SceneError> {
    let Some(Entry { node: Node { value: Value::Array(items), .. }, .. }) = root.find(section.path)
    else {
        return Ok(Vec::new());
    };
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let mut draft = T::default();
        for key in section.keys {
            if let Some(entry) = item.entry(key.name) {
                key.read(&mut draft, entry, &place(section.path), sources)?;
            }
        }
        let one = finish(&draft).map_err(|(key, problem)| {
            let span = item.entry(key).map_or(item.span, |e| e.node.span);
            sources.error(span, problem)
        })?;
        all.push(one);
    }
    Ok(all)
}

/// Fills the defaults that depend on style and body, and refuses bodies that do not fit the other keys.
fn finish_body(sources: &Sources, root: &Node, scene: &mut Scene) -> Result<(), SceneError> {
    let style = match &scene.groom {
        GroomSource::Style(groom) => Some(groom.style),
        GroomSource::File(_) => None,
    };
    let file = match &mut scene.body.source {
        BodySource::BuiltIn(body) => {
            if root.find("body.shape").is_none() {
                body.shape = match style {
                    Some(Style::Fur) => BodyShape::Creature,
                    Some(Style::Shaggy) => BodyShape::Monster,
                    Some(Style::Silky) => BodyShape::Hound,
                    _ => body.shape,
                };
            }
            if root.find("body.resolution").is_none() {
                body.resolution = body.shape.resolution();
            }
            return Ok(());
        }
        BodySource::File(file) => file,
    };
    let missing = |path: &str, key: &str, other: &str, hint: &str| {
        let problem =
            Problem::Missing { key: key.into(), table: "in [body]".into(), other: other.into() };
        let span = root.find(path).map_or(root.span, |e| e.key_span);
        Err(sources.error(span, problem).with_hint(hint))
    };
    if style.is_some() && file.scalp.is_none() {
        let hint = "a style needs a scalp to grow on: add scalp = \"NAME\", the OBJ group or \
                    material of the scalp, to [body], or give a groom file";
        return missing("body.file", "file", "'scalp' to grow a style on it", hint);
    }
    if file.fps.is_some() && !file.is_sequence() {
        let hint = "write the number of the sample as %04d or ####: file = \"head.%04d.obj\"";
        return missing("body.fps", "fps", "a sequence of files", hint);
    }
    let moves =
        [("motion", scene.body.motion != Motion::Still), ("stop", scene.body.stop.is_some())];
    if let Some((key, _)) = moves.iter().find(|(_, given)| *given && file.is_sequence()) {
        let problem = Problem::Conflict {
            key: (*key).into(),
            table: "in [body]".into(),
            other: "a sequence of files".into(),
        };
        let span = root.find(&format!("body.{key}")).map_or(root.span, |e| e.key_span);
        let hint = format!("the sequence defines the motion of the body: remove '{key}'");
        return Err(sources.error(span, problem).with_hint(hint));
    }
    Ok(())
}
