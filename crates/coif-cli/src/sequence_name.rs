//! Names with a place for the frame number: `hair.####.obj` or `hair.%04d.obj`.

use std::path::{Path, PathBuf};

/// A path with a place for a number in its file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SequenceName {
    before: String,
    width: usize,
    after: String,
}

impl SequenceName {
    /// `None` if the file name has no place for a number.
    pub(crate) fn parse(path: &Path) -> Option<Self> {
        let text = path.to_str()?;
        let name_at = text.len() - path.file_name()?.to_str()?.len();
        let name = &text[name_at..];
        let (at, length, width) = hashes(name).or_else(|| percent(name))?;
        Some(Self { before: text[..name_at + at].into(), width, after: name[at + length..].into() })
    }

    /// The file of a frame.
    pub(crate) fn frame(&self, number: u64) -> PathBuf {
        let Self { before, width, after } = self;
        PathBuf::from(format!("{before}{number:0width$}{after}"))
    }
}

/// Start, length and digits of the first run of `#`.
fn hashes(name: &str) -> Option<(usize, usize, usize)> {
    let at = name.find('#')?;
    let length = name[at..].bytes().take_while(|&b| b == b'#').count();
    Some((at, length, length.min(20)))
}

/// Start, length and digits of the first `%d` or `%04d`.
fn percent(name: &str) -> Option<(usize, usize, usize)> {
    name.match_indices('%').find_map(|(at, _)| {
        let digits = name[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let width = if digits == 0 { 0 } else { name[at + 1..at + 1 + digits].parse().ok()? };
        let is_place = name[at + 1 + digits..].starts_with('d') && width <= 20;
        is_place.then_some((at, digits + 2, width))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, number: u64) -> Option<String> {
        let sequence = SequenceName::parse(Path::new(name))?;
        Some(sequence.frame(number).display().to_string())
    }

    #[test]
    fn numbers_take_their_place() {
        assert_eq!(frame("a/hair.####.obj", 7).unwrap(), "a/hair.0007.obj");
        assert_eq!(frame("hair_#.hair", 123).unwrap(), "hair_123.hair");
        assert_eq!(frame("hair.%05d.hair", 3).unwrap(), "hair.00003.hair");
        assert_eq!(frame("hair%d.hair", 3).unwrap(), "hair3.hair");
        assert_eq!(frame("run#1/hair.obj", 3), None);
        assert_eq!(frame("100%.obj", 3), None);
        assert_eq!(frame("", 3), None);
    }
}
