//! Errors of a scene: problem, place and hint.

use std::fmt::Write as _;

use thiserror::Error;

use super::tree::{Sources, Span};

/// The error of a scene file or of a `--set`.
///
/// The message is one line; [`SceneError::report`] adds the place, the line and the hint.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}", .0.problem)]
pub struct SceneError(Box<Details>);

#[derive(Debug, Clone, PartialEq)]
struct Details {
    problem: Problem,
    place: Place,
    hint: Option<String>,
}

/// The kinds of errors. `table` is the place of the key, such as `in [body]`.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are the words of the messages above them.
pub enum Problem {
    /// The text is not TOML.
    #[error("this is not valid TOML: {message}")]
    Syntax { message: String },
    /// This key is unknown.
    #[error("unknown key '{key}' {table}")]
    UnknownKey { key: String, table: String },
    /// A value of the wrong type.
    #[error("'{key}' {table}: expected {expected}, found {found}")]
    WrongType { key: String, table: String, expected: String, found: String },
    /// A number outside of its range.
    #[error("'{key}' {table} is {value}: expected {allowed}")]
    OutOfRange { key: String, table: String, value: String, allowed: String },
    /// A word that is not one of the choices.
    #[error("unknown {what} '{value}'")]
    UnknownChoice { what: &'static str, value: String },
    /// A value that is planned, but not implemented.
    #[error("{what} '{name}' is not available yet")]
    NotAvailable { what: &'static str, name: String },
    /// Two keys that exclude each other.
    #[error("'{key}' {table} cannot be used together with {other}")]
    Conflict { key: String, table: String, other: String },
    /// A key that needs another key.
    #[error("'{key}' {table} needs {other}")]
    Missing { key: String, table: String, other: String },
    /// A `--set` that is not `key=value`.
    #[error("--set: {message}")]
    Set { message: String },
}

/// A place in the scene file or in a `--set`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the scene file, or `--set`.
    pub source: String,
    /// Whether it is a `--set` from the command line.
    pub is_set: bool,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// How many characters to underline.
    pub width: usize,
    /// The whole line.
    pub text: String,
}

/// Maximum number of characters of a line that a report shows.
const SHOWN: usize = 120;

impl SceneError {
    pub(crate) fn new(sources: &Sources, span: Span, problem: Problem) -> Self {
        Self(Box::new(Details { problem, place: sources.place(span), hint: None }))
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The place of the problem.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// A hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Line, from 1.
    pub fn line(&self) -> usize {
        self.0.place.line
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> usize {
        self.0.place.column
    }

    /// Message, place, the line with the error underlined, and the hint; no newline at the end.
    pub fn report(&self) -> String {
        let place = &self.0.place;
        let number = if place.is_set { String::new() } else { place.line.to_string() };
        let gutter = " ".repeat(number.len());
        let (text, marks) = underlined(place);
        let mut out = format!("error: {self}\n");
        // Writing to a string cannot fail.
        let _ = if place.is_set {
            writeln!(out, "{gutter} --> {}", place.source)
        } else {
            writeln!(out, "{gutter} --> {}:{}:{}", place.source, place.line, place.column)
        };
        let _ = writeln!(out, " {gutter} |\n {number} | {text}\n {gutter} | {marks}");
        if let Some(hint) = self.hint() {
            let _ = writeln!(out, "hint: {hint}");
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// The line, cut to a readable length around the error, and the marks below it.
fn underlined(place: &Place) -> (String, String) {
    let chars: Vec<char> = place.text.chars().collect();
    let spot = place.column - 1;
    let from = if chars.len() <= SHOWN { 0 } else { spot.saturating_sub(SHOWN / 2) };
    let to = chars.len().min(from + SHOWN);
    // Keep tabs, so that the marks are aligned; replace other control characters.
    let shown = chars[from.min(to)..to].iter();
    let text = shown.map(|&c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
    let before = chars.iter().take(spot).skip(from);
    let mut marks: String = before.map(|&c| if c == '\t' { '\t' } else { ' ' }).collect();
    let width = place.width.min((to + 1).saturating_sub(spot)).max(1);
    marks.extend(std::iter::repeat_n('^', width));
    (text, marks)
}

/// A text of the user for use in a message: escaped, on one line, at most 60 characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        out.push_str("...");
    }
    out
}
