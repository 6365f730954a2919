//! Tokens of an `.obj` file with their line and column.
//!
//! A statement ends with its line unless the line ends with a backslash. Works on bytes, because
//! names and comments come in any encoding.

use std::path::Path;

use crate::{Error, Place, Result};

/// A word and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a [u8],
    pub(super) place: Place,
}

impl Token<'_> {
    /// The word in quotes, cut if it is long.
    pub(super) fn quoted(&self) -> String {
        quoted(self.text)
    }
}

fn quoted(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let shown = &text[..text.len().min(LONGEST)];
    format!("'{}'{}", String::from_utf8_lossy(shown), if shown == text { "" } else { "..." })
}

/// Iterates over a file, statement by statement.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { file, bytes, at, line: 1, line_start: at }
    }

    /// The name of the file.
    pub(super) fn file(&self) -> &'a Path {
        self.file
    }

    /// The place at which the next word would start.
    pub(super) fn place(&self) -> Place {
        let column = u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX);
        Place::Text { line: self.line, column }
    }

    /// An error at a place of this file.
    pub(super) fn error(&self, place: Place, expected: &str, found: impl Into<String>) -> Error {
        Error::malformed(self.file, place, expected, found)
    }

    /// The length of a line end at `at`, or 0.
    fn line_end(&self, at: usize) -> usize {
        match &self.bytes[at.min(self.bytes.len())..] {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => 0,
        }
    }

    fn pass_line_end(&mut self, length: usize) {
        self.at += length;
        self.line = self.line.saturating_add(1);
        self.line_start = self.at;
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | 0x0b | 0x0c) => self.at += 1,
                Some(b'\\') if self.line_end(self.at + 1) > 0 => {
                    let length = self.line_end(self.at + 1);
                    self.pass_line_end(1 + length);
                }
                _ => return,
            }
        }
    }

    /// The next word of this statement, or `None` at its end or at a comment.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let (start, place) = (self.at, self.place());
        if self.bytes.get(start) == Some(&b'#') {
            return None;
        }
        while let Some(&b) = self.bytes.get(self.at) {
            let ends = matches!(b, b' ' | b'\t' | 0x0b | 0x0c | b'\n' | b'\r');
            if ends || (b == b'\\' && self.line_end(self.at + 1) > 0) {
                break;
            }
            self.at += 1;
        }
        let text = &self.bytes[start..self.at];
        (!text.is_empty()).then_some(Token { text, place })
    }

    /// The rest of the line, without surrounding blanks.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.at < self.bytes.len() && self.line_end(self.at) == 0 {
            self.at += 1;
        }
        self.bytes[start..self.at].trim_ascii()
    }

    /// Advances to the next statement; `false` at the end of the file.
    pub(super) fn next_statement(&mut self) -> bool {
        while self.next().is_some() {}
        self.rest_of_line();
        let length = self.line_end(self.at);
        if length > 0 {
            self.pass_line_end(length);
        }
        self.at < self.bytes.len()
    }

    /// Whether a comment starts here.
    pub(super) fn at_comment(&mut self) -> bool {
        self.skip_blanks();
        self.bytes.get(self.at) == Some(&b'#')
    }

    /// A word that is a finite number.
    pub(super) fn number(&self, token: Token<'_>) -> Result<f32> {
        let parsed = std::str::from_utf8(token.text).ok().and_then(|t| t.parse::<f32>().ok());
        match parsed {
            Some(value) if value.is_finite() => Ok(value),
            Some(_) => Err(self.error(token.place, "a finite number", token.quoted())),
            None => Err(self.error(token.place, "a number", token.quoted())),
        }
    }

    /// The vertex index of a word such as `3`, `-1`, `3/1/2` or `3//2`, before it is resolved.
    pub(super) fn index(&self, token: Token<'_>) -> Result<i64> {
        let first = token.text.split(|&b| b == b'/').next().unwrap_or_default();
        let parsed = std::str::from_utf8(first).ok().and_then(|t| t.parse::<i64>().ok());
        match parsed {
            Some(0) => Err(self.error(token.place, "a vertex number other than 0", "'0'")),
            Some(index) => Ok(index),
            None => Err(self.error(token.place, "a vertex number", token.quoted())),
        }
    }
}
