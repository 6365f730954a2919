//! `--set key.path=value`: changes of a scene from the command line.
//!
//! A value is TOML; what is not TOML is a string, so that `--set body.motion=spin` needs no quotes that the shell would
//! remove. A key that excludes another one (`groom.style`, `groom.file`) replaces it: `--set groom.style=bob` gives a
//! bob, whatever the scene file has. Setting another model drops the keys of the scene file that only the previous
//! model has, and setting another word drops those that require the previous word.

use super::error::{Problem, SceneError, quoted};
use super::keys::{ALTERNATIVES, Alternative, SECTIONS};
use super::read::{joined, models_with, renamed};
use super::schema::{Kind, Needs};
use super::tree::{Entry, Node, Sources, Span, Value};

/// One key of a path and its place.
struct Step {
    name: String,
    span: Span,
}

/// Applies the `--set` with this number to the tree of the scene file.
pub(crate) fn apply(
    sources: &Sources,
    source: usize,
    root: &mut Node,
    warnings: &mut Vec<String>,
) -> Result<(), SceneError> {
    let (mut path, node) = parse(sources, source)?;
    if let [table, key] = &mut path[..]
        && let Some((new, warning)) = renamed(&table.name, &key.name)
    {
        key.name = new.into();
        warnings.push(warning);
    }
    insert(sources, root, &path, node)
}

fn parse(sources: &Sources, source: usize) -> Result<(Vec<Step>, Node), SceneError> {
    let text = sources.text(source);
    let refuse = |start: usize, end: usize, message: &str| {
        let problem = Problem::Set { message: message.into() };
        let error = sources.error(Span { source, start, end }, problem);
        Err(error.with_hint("write it like body.speed=2 or body.motion=spin"))
    };
    let Some(equals) = text.find('=') else {
        return refuse(0, text.len(), "expected key=value, found no '='");
    };
    // Cut the path at its dots.
    let mut path = Vec::new();
    let mut start = 0;
    for part in text[..equals].split('.') {
        let name = part.trim();
        if name.is_empty() {
            return refuse(start, start + part.len().max(1), "expected a key before '='");
        }
        let begin = start + (part.len() - part.trim_start().len());
        let span = Span { source, start: begin, end: begin + name.len() };
        path.push(Step { name: name.into(), span });
        start += part.len() + 1;
    }
    // Read the value as TOML, else as a string.
    let value = &text[equals + 1..];
    let trimmed = value.trim();
    if trimmed.is_empty() {
        return refuse(equals, equals + 1, "expected a value after '='");
    }
    let offset = equals as isize + 1 - KEY.len() as isize;
    let is_text = wants_text(text[..equals].trim());
    let node = match sources.parse(source, offset, &format!("{KEY}{value}")) {
        Ok(Node { value: Value::Table(entries), .. }) if entries.len() == 1 => {
            // Keep a number or a date as text where the key takes text: title=2024.
            let node = entries.into_iter().next().map(|e| e.node);
            node.filter(|n| !is_text || matches!(n.value, Value::String(_)))
        }
        Err(error) if trimmed.starts_with(['"', '\'', '[', '{']) => return Err(error),
        _ => None,
    };
    let node = node.unwrap_or_else(|| {
        let start = equals + 1 + (value.len() - value.trim_start().len());
        let span = Span { source, start, end: start + trimmed.len() };
        Node { value: Value::String(trimmed.into()), span }
    });
    Ok((path, node))
}

/// Whether the key at this path takes any string.
fn wants_text(path: &str) -> bool {
    SECTIONS.iter().flat_map(|s| s.keys.iter().map(move |k| (s.path, k))).any(|(table, key)| {
        matches!(key.kind, Kind::Text { .. }) && joined(table, key.name) == path
    })
}

/// Prefix that makes a value a TOML document.
const KEY: &str = "v=";

fn insert(sources: &Sources, root: &mut Node, path: &[Step], node: Node) -> Result<(), SceneError> {
    // Set the keys of a table one by one: the others stay.
    if let Value::Table(entries) = node.value {
        // Create an empty table: its presence is enough.
        if entries.is_empty() {
            path.iter().try_fold(root, |table, step| child(sources, table, step))?;
            return Ok(());
        }
        for entry in entries {
            let mut longer: Vec<Step> =
                path.iter().map(|s| Step { name: s.name.clone(), span: s.span }).collect();
            longer.push(Step { name: entry.key, span: entry.key_span });
            insert(sources, root, &longer, entry.node)?;
        }
        return Ok(());
    }
    let Some((last, parents)) = path.split_last() else { return Ok(()) };
    drop_alternatives(root, parents, last);
    drop_unneeded(root, parents, last, &node);
    // Descend to the table, and create missing ones.
    let mut table = root;
    for step in parents {
        table = child(sources, table, step)?;
    }
    let entry = Entry { key: last.name.clone(), key_span: last.span, node };
    let found = table.type_name();
    match &mut table.value {
        Value::Table(entries) => match entries.iter_mut().find(|e| e.key == last.name) {
            Some(existing) => *existing = entry,
            None => entries.push(entry),
        },
        _ => return Err(not_a_table(sources, found, last)),
    }
    Ok(())
}

fn child<'n>(
    sources: &Sources,
    node: &'n mut Node,
    step: &Step,
) -> Result<&'n mut Node, SceneError> {
    let found = node.type_name();
    match &mut node.value {
        Value::Array(items) => {
            let count = items.len();
            let item = step.name.parse::<usize>().ok().and_then(|i| items.get_mut(i));
            item.ok_or_else(|| {
                let name = quoted(&step.name);
                let message = format!("there is no entry '{name}' in a list of {count}");
                sources
                    .error(step.span, Problem::Set { message })
                    .with_hint("entries count from 0: body.collider.0.radius=0.1")
            })
        }
        Value::Table(entries) => {
            let index = entries.iter().position(|e| e.key == step.name).unwrap_or_else(|| {
                let node = Node { value: Value::Table(Vec::new()), span: step.span };
                entries.push(Entry { key: step.name.clone(), key_span: step.span, node });
                entries.len() - 1
            });
            Ok(&mut entries[index].node)
        }
        _ => Err(not_a_table(sources, found, step)),
    }
}

fn not_a_table(sources: &Sources, found: &str, step: &Step) -> SceneError {
    let message =
        format!("cannot set '{}': the scene has {found} in its place", quoted(&step.name));
    sources.error(step.span, Problem::Set { message })
}

/// Removes from the scene file the keys that the new key replaces. Those of another `--set` stay, so that a
/// contradiction on the command line is reported.
fn drop_alternatives(root: &mut Node, parents: &[Step], last: &Step) {
    let [table] = parents else { return };
    let Some(entries) = entries_of(root, &table.name) else { return };
    for Alternative { table, one, other, shared } in
        ALTERNATIVES.iter().filter(|a| a.table == table.name)
    {
        let (to_one, to_other) = (last.name == *one, last.name == *other);
        let had_one = entries.iter().any(|e| e.key == *one);
        // Setting the same alternative again changes nothing: its details stay.
        if !(to_one && !had_one || to_other && had_one) {
            continue;
        }
        let is_replaced = |key: &str| {
            let keys = SECTIONS.iter().filter(|s| s.path == *table).flat_map(|s| s.keys);
            let needs = keys.filter(|k| k.name == key).map(|k| k.needs).next();
            let belongs_to_one = key == *one || needs == Some(Needs::With(one));
            let belongs_to_other = needs == Some(Needs::Without(one));
            shared.contains(&key) || if to_one { belongs_to_other } else { belongs_to_one }
        };
        entries.retain(|e| e.key_span.is_set() || !is_replaced(&e.key));
    }
}

/// Removes from the scene file the keys that do not apply to the new word: those of another model, or of another
/// collision method.
fn drop_unneeded(root: &mut Node, parents: &[Step], last: &Step, node: &Node) {
    let ([table], Value::String(chosen)) = (parents, &node.value) else { return };
    let Some(entries) = entries_of(root, &table.name) else { return };
    let is_model = (table.name.as_str(), last.name.as_str()) == ("model", "name");
    let belongs_to_another = |key: &str| {
        let mut keys = SECTIONS.iter().filter(|s| s.path == table.name).flat_map(|s| s.keys);
        match keys.find(|k| k.name == key).map(|k| k.needs) {
            Some(Needs::Model(_)) => is_model && !models_with(key).contains(&chosen.as_str()),
            Some(Needs::Word(name, word)) => name == last.name && word != chosen,
            _ => false,
        }
    };
    entries.retain(|e| e.key_span.is_set() || !belongs_to_another(&e.key));
}

fn entries_of<'n>(root: &'n mut Node, table: &str) -> Option<&'n mut Vec<Entry>> {
    let Value::Table(entries) = &mut root.value else { return None };
    match &mut entries.iter_mut().find(|e| e.key == table)?.node.value {
        Value::Table(entries) => Some(entries),
        _ => None,
    }
}
