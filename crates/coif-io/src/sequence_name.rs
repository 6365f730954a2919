//! Names of numbered files: `hair.####.obj` or `hair.%04d.obj`, for reading and writing.
//!
//! The placeholder is in the file name, never in a folder: `%d` or `%04d` (at least four digits, padded with zeros), or
//! a run of `#`, one per digit. If both are present, `%04d` is the placeholder, because `#` is an ordinary character of
//! names; of several of a kind, the first. Numbers with more digits than reserved are written in full.

use std::io;
use std::path::{Path, PathBuf};

/// Number of digits of the largest 64-bit number: wider placeholders are not recognised.
const MAX_WIDTH: usize = 20;

/// A path with a placeholder for a number in its file name.
///
/// ```
/// use std::path::Path;
/// use coif_io::SequenceName;
///
/// let frames = SequenceName::parse("run/hair.####.obj").unwrap();
/// assert_eq!(frames.file(7), Path::new("run/hair.0007.obj"));
/// assert_eq!(frames.number("hair.0012.obj"), Some(12));
/// assert!(SequenceName::parse("run/hair.obj").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceName {
    folder: PathBuf,
    before: String,
    width: usize,
    after: String,
}

impl SequenceName {
    /// `None` if the file name has no placeholder.
    pub fn parse(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let name = path.file_name()?.to_str()?;
        let (start, end, width) = percent(name).or_else(|| hashes(name))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Some(Self::new(folder, &name[..start], width, &name[end..]))
    }

    /// Files in a folder with `width` digits or more between `before` and `after`.
    pub(crate) fn new(folder: &Path, before: &str, width: usize, after: &str) -> Self {
        Self { folder: folder.into(), before: before.into(), width, after: after.into() }
    }

    /// The file with this number.
    pub fn file(&self, number: u64) -> PathBuf {
        self.folder.join(self.name(number))
    }

    /// The number of a file of this sequence, given its name without the folder; `None` for any other file.
    pub fn number(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&self.before)?.strip_suffix(&self.after)?;
        let number = digits.parse().ok()?;
        (self.name(number) == name).then_some(number)
    }

    /// The folder of all files.
    pub fn folder(&self) -> &Path {
        if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder }
    }

    /// The numbers of the files that exist, in order.
    pub fn existing(&self) -> io::Result<Vec<u64>> {
        let entries = std::fs::read_dir(self.folder())?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut numbers: Vec<u64> = names.filter_map(|name| self.number(name.to_str()?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn name(&self, number: u64) -> String {
        let Self { before, width, after, .. } = self;
        format!("{before}{number:0width$}{after}")
    }
}

/// Start, end and digits of the first `%d` or `%04d`.
fn percent(name: &str) -> Option<(usize, usize, usize)> {
    name.match_indices('%').find_map(|(start, _)| {
        let inside = &name[start + 1..];
        let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
        let width = if digits == 0 { 1 } else { inside[..digits].parse().ok()? };
        let is_place = inside[digits..].starts_with('d') && width <= MAX_WIDTH;
        is_place.then_some((start, start + digits + 2, width))
    })
}

/// Start, end and digits of the first run of `#`.
fn hashes(name: &str) -> Option<(usize, usize, usize)> {
    let start = name.find('#')?;
    let width = name[start..].bytes().take_while(|&b| b == b'#').count();
    (width <= MAX_WIDTH).then_some((start, start + width, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, number: u64) -> Option<String> {
        Some(SequenceName::parse(name)?.file(number).display().to_string())
    }

    #[test]
    fn numbers_take_their_place() {
        for (name, number, expected) in [
            ("a/hair.####.obj", 7, "a/hair.0007.obj"),
            ("hair_#.hair", 123, "hair_123.hair"),
            ("hair.%05d.hair", 3, "hair.00003.hair"),
            ("hair%d.hair", 3, "hair3.hair"),
            ("/x/####", 1, "/x/0001"),
            // Percent signs and hashes that are ordinary characters.
            ("100%/head%02d.obj", 3, "100%/head03.obj"),
            ("100%.###.png", 3, "100%.003.png"),
            ("shot#2.%03d.png", 3, "shot#2.003.png"),
            ("run#1/hair.##.obj", 3, "run#1/hair.03.obj"),
            ("####.##.obj", 3, "0003.##.obj"),
            ("größe.%02d.obj", 3, "größe.03.obj"),
        ] {
            assert_eq!(file(name, number).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_are_no_sequences() {
        let wide = "#".repeat(21);
        for name in [
            "",
            "/",
            "..",
            "hair.obj",
            "run#1/hair.obj",
            "take%02d/hair.obj",
            "50%.obj",
            "%",
            "%xd",
            "%-4d",
            "%99d",
            "%99999999999999999999d",
            &wide,
        ] {
            assert_eq!(file(name, 3), None, "{name}");
        }
    }

    #[test]
    fn files_give_their_numbers_back() {
        for pattern in ["walk.%03d.obj", "walk.###.obj"] {
            let frames = SequenceName::parse(pattern).unwrap();
            for number in [0, 7, 999, 1000, u64::MAX] {
                let name = frames.file(number).display().to_string();
                assert_eq!(frames.number(&name), Some(number), "{name}");
            }
            for other in [
                "walk.07.obj",
                "walk.0007.obj",
                "walk.+07.obj",
                "walk..obj",
                "walk.007",
                "walk.obj",
            ] {
                assert_eq!(frames.number(other), None, "{other}");
            }
        }
    }

    #[test]
    fn existing_files_are_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["f.0010.obj", "f.0002.obj", "f.0003.obj", "f.3.obj", "g.0001.obj"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let frames = SequenceName::parse(folder.path().join("f.####.obj")).unwrap();
        assert_eq!(frames.existing().unwrap(), [2, 3, 10]);
        assert!(SequenceName::parse(folder.path().join("no/f.#.obj")).unwrap().existing().is_err());
    }
}
