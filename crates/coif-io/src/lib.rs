//! File formats of Coif, one file per format.
//!
//! Everything that is read becomes metres, y up; everything that is written is written beside and
//! then renamed, so that no half-written file is ever seen.

pub mod atomic;
pub mod hair;

mod error;
mod unit;
mod writable;

pub use atomic::AtomicFile;
pub use error::{Error, Place};
pub use unit::{ReadOptions, Up};

use std::fs;
use std::path::Path;

/// What every fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something read from a file, and what the user should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// What was assumed or ignored, in words.
    pub warnings: Vec<String>,
    /// Metres per unit of the file, as used.
    pub scale_m: f32,
    /// Which axis of the file points up, as used.
    pub up: Up,
}

/// Reads a regular file into memory; its length bounds what a lying header can ask for.
fn load(path: &Path) -> Result<Vec<u8>> {
    let found = fs::metadata(path).map_err(|e| Error::io(path, "read", e))?;
    if found.is_dir() {
        return Err(Error::refused(path, "is a folder, expected a file")
            .with_hint("give the name of a file inside it"));
    }
    if !found.is_file() {
        return Err(Error::refused(path, "is not a regular file"));
    }
    fs::read(path).map_err(|e| Error::io(path, "read", e))
}
