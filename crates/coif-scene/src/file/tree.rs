//! TOML text as a small tree with the position of each key and value.

use std::ops::Range;

use toml_edit::{Document, Item, Table, TableLike};

use super::error::{Place, Problem, SceneError};

/// A range of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// 0 is the scene file, `n` the `n`-th `--set`.
    pub(crate) source: usize,
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Span {
    fn new(source: usize, offset: isize, range: Option<Range<usize>>) -> Self {
        let range = range.unwrap_or_default();
        let shift = |place: usize| place.saturating_add_signed(offset);
        Self { source, start: shift(range.start), end: shift(range.end) }
    }

    /// Whether it is on the command line.
    pub(crate) fn is_set(self) -> bool {
        self.source > 0
    }
}

/// The texts that a scene is made of: the scene file and every `--set`.
pub(crate) struct Sources {
    name: String,
    texts: Vec<String>,
}

impl Sources {
    pub(crate) fn new(name: &str, text: &str, sets: &[String]) -> Self {
        // Remove a byte-order mark, which would shift the first column.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let texts = std::iter::once(text.to_string()).chain(sets.iter().cloned()).collect();
        Self { name: name.into(), texts }
    }

    pub(crate) fn text(&self, source: usize) -> &str {
        self.texts.get(source).map_or("", String::as_str)
    }

    /// Line and column of a span, for messages.
    pub(crate) fn place(&self, span: Span) -> Place {
        let text = self.text(span.source);
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line_end = line_start + line.len();
        Place {
            source: if span.is_set() { "--set".into() } else { self.name.clone() },
            is_set: span.is_set(),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            width: text[start..end.min(line_end).max(start)].chars().count().max(1),
            text: line.into(),
        }
    }

    pub(crate) fn error(&self, span: Span, problem: Problem) -> SceneError {
        SceneError::new(self, span, problem)
    }

    /// The tree of the scene file.
    pub(crate) fn parse_file(&self) -> Result<Node, SceneError> {
        self.parse(0, 0, self.text(0))
    }

    /// The tree of `text`, whose first byte is byte `offset` of the source.
    pub(crate) fn parse(
        &self,
        source: usize,
        offset: isize,
        text: &str,
    ) -> Result<Node, SceneError> {
        let at = At { source, offset };
        match Document::parse(text) {
            Ok(document) => Ok(at.table(document.as_table())),
            Err(e) => {
                let message = e.message().lines().collect::<Vec<_>>().join(", ");
                Err(self.error(at.span(e.span()), Problem::Syntax { message }))
            }
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// The values of TOML.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Table(Vec<Entry>),
    Array(Vec<Node>),
    Integer(i64),
    Float(f64),
    String(String),
    Bool(bool),
    Datetime,
}

/// A key of a table, its place, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) node: Node,
}

impl Node {
    /// The name of its type, with an article.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.value {
            Value::Table(_) => "a table",
            Value::Array(_) => "an array",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Bool(_) => "true or false",
            Value::Datetime => "a date",
        }
    }

    /// The entries of a table; empty for other values.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The entry with this key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|e| e.key == key)
    }

    /// The entry at a path of keys, such as `groom.fibre.radius`.
    pub(crate) fn find(&self, path: &str) -> Option<&Entry> {
        let (parents, key) = path.rsplit_once('.').unwrap_or(("", path));
        let mut node = self;
        for parent in parents.split('.').filter(|p| !p.is_empty()) {
            node = &node.entry(parent)?.node;
        }
        node.entry(key)
    }
}

/// Source and offset of the text that is being converted.
#[derive(Clone, Copy)]
struct At {
    source: usize,
    offset: isize,
}

impl At {
    fn span(self, range: Option<Range<usize>>) -> Span {
        Span::new(self.source, self.offset, range)
    }

    fn table(self, table: &Table) -> Node {
        Node { value: Value::Table(self.entries(table)), span: self.span(table.span()) }
    }

    fn entries(self, table: &dyn TableLike) -> Vec<Entry> {
        table
            .iter()
            .map(|(key, item)| {
                let key_span = self.span(table.key(key).and_then(toml_edit::Key::span));
                let mut node = self.item(item);
                // Point at the key of a table that has no header of its own.
                if node.span.start == node.span.end {
                    node.span = key_span;
                }
                Entry { key: key.into(), key_span, node }
            })
            .collect()
    }

    fn item(self, item: &Item) -> Node {
        match item {
            Item::None => Node { value: Value::Table(Vec::new()), span: self.span(None) },
            Item::Value(value) => self.value(value),
            Item::Table(table) => self.table(table),
            Item::ArrayOfTables(tables) => Node {
                value: Value::Array(tables.iter().map(|t| self.table(t)).collect()),
                span: self.span(tables.span()),
            },
        }
    }

    fn value(self, value: &toml_edit::Value) -> Node {
        let converted = match value {
            toml_edit::Value::String(v) => Value::String(v.value().clone()),
            toml_edit::Value::Integer(v) => Value::Integer(*v.value()),
            toml_edit::Value::Float(v) => Value::Float(*v.value()),
            toml_edit::Value::Boolean(v) => Value::Bool(*v.value()),
            toml_edit::Value::Datetime(_) => Value::Datetime,
            toml_edit::Value::Array(v) => Value::Array(v.iter().map(|n| self.value(n)).collect()),
            toml_edit::Value::InlineTable(v) => Value::Table(self.entries(v)),
        };
        Node { value: converted, span: self.span(value.span()) }
    }
}
