//! Errors of files: place, what was expected, what was found, and a hint.
//!
//! `Display` gives one line, `file:line:column: message` for text and `file: byte N: message` for
//! binary files. [`Error::hint`] gives a hint where there is one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error.
    #[error("{}: cannot {action}: {}", file.display(), Plain(source))]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// The attempted operation: read, write, create, ...
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The content violates the format.
    #[error("{}{place}: expected {expected}, found {found}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The place in it.
        place: Place,
        /// What the format requires at this place.
        expected: String,
        /// What was found.
        found: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Coif refuses the operation because it would lose or break something.
    #[error("{}: {reason}", file.display())]
    Refused {
        /// The file or folder.
        file: PathBuf,
        /// The reason.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// No reader or writer for this extension.
    #[error("{}: {what} files with the extension '{extension}' are not supported; known: {known}", file.display())]
    UnknownExtension {
        /// The file.
        file: PathBuf,
        /// The kind of content: groom, mesh.
        what: &'static str,
        /// Its extension, with the dot; empty if it has none.
        extension: String,
        /// The supported extensions.
        known: &'static str,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A distance from the start of a binary file.
    Byte(u64),
    /// A place in a text file, both counted from 1, columns in bytes.
    Text {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Byte(offset) => write!(f, ": byte {offset}"),
            Place::Text { line, column } => write!(f, ":{line}:{column}"),
        }
    }
}

/// A hint for an error of the operating system, if there is one.
pub fn hint_for_io(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::NotFound => {
            Some("check the spelling; a relative path starts at the current folder")
        }
        io::ErrorKind::PermissionDenied => {
            Some("check who owns the file and its folder, and their permissions")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("make room on the disk, or write to another one")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("nothing can be written to this disk: write to another one")
        }
        _ => None,
    }
}

impl Error {
    /// The file or folder of the error.
    pub fn file(&self) -> &Path {
        match self {
            Error::Io { file, .. }
            | Error::Malformed { file, .. }
            | Error::Refused { file, .. }
            | Error::UnknownExtension { file, .. } => file,
        }
    }

    /// Place of the error in the file.
    pub fn place(&self) -> Place {
        match self {
            Error::Malformed { place, .. } => *place,
            _ => Place::Whole,
        }
    }

    /// A hint for the user.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Malformed { hint, .. }
            | Error::Refused { hint, .. }
            | Error::UnknownExtension { hint, .. } => hint.as_deref(),
            Error::Io { source, .. } => hint_for_io(source.kind()),
        }
    }

    pub(crate) fn io(file: &Path, action: &'static str, source: io::Error) -> Self {
        Error::Io { file: file.into(), action, source }
    }

    pub(crate) fn malformed(
        file: &Path,
        place: Place,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (expected, found) = (expected.into(), found.into());
        Error::Malformed { file: file.into(), place, expected, found, hint: None }
    }

    pub(crate) fn refused(file: &Path, reason: impl Into<String>) -> Self {
        Error::Refused { file: file.into(), reason: reason.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, text: impl Into<String>) -> Self {
        match &mut self {
            Error::Malformed { hint, .. }
            | Error::Refused { hint, .. }
            | Error::UnknownExtension { hint, .. } => *hint = Some(text.into()),
            Error::Io { .. } => {}
        }
        self
    }
}

/// The message of the system without the error number.
struct Plain<'a>(&'a io::Error);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            io::ErrorKind::NotFound => f.write_str("no such file or folder"),
            io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
            _ => {
                let text = self.0.to_string();
                f.write_str(text.split(" (os error").next().unwrap_or(&text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_like_a_compiler_message() {
        let file = Path::new("head.obj");
        let text = Error::malformed(file, Place::Text { line: 3, column: 7 }, "a number", "'x'");
        assert_eq!(text.to_string(), "head.obj:3:7: expected a number, found 'x'");
        let binary = Error::malformed(file, Place::Byte(12), "1", "2").with_hint("try 1");
        assert_eq!(binary.to_string(), "head.obj: byte 12: expected 1, found 2");
        assert_eq!(binary.hint(), Some("try 1"));
        let missing = Error::io(file, "read", io::Error::from_raw_os_error(2));
        assert_eq!(missing.to_string(), "head.obj: cannot read: no such file or folder");
        assert!(missing.hint().is_some());
    }
}
