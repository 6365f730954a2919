//! One PNG per frame, numbered.

use std::path::{Path, PathBuf};

use crate::{Image, Result};

/// Numbered pictures in a folder. Each is complete as soon as it has its name.
#[derive(Debug)]
pub(crate) struct Sequence {
    folder: PathBuf,
    before: String,
    digits: usize,
    after: String,
    next: usize,
}

impl Sequence {
    /// `None` if the file name has no place for a number.
    pub(crate) fn create(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (start, end, digits) = number_place(name)?;
        Some(Self {
            folder: path.parent().unwrap_or(Path::new("")).into(),
            before: name[..start].into(),
            digits,
            after: name[end..].into(),
            next: 0,
        })
    }

    pub(crate) fn push(&mut self, image: &Image) -> Result<()> {
        let (number, digits) = (self.next, self.digits);
        let name = format!("{}{number:0digits$}{}", self.before, self.after);
        image.write_png(self.folder.join(name))?;
        self.next += 1;
        Ok(())
    }
}

/// Where the number stands in a name, and how many digits it has: `%04d`, `%d` or `####`.
fn number_place(name: &str) -> Option<(usize, usize, usize)> {
    if let Some(start) = name.find('%') {
        let inside = &name[start + 1..];
        let length = inside.find('d')?;
        let digits = match &inside[..length] {
            "" => 1,
            text if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok()?,
            _ => return None,
        };
        return (digits <= 20).then_some((start, start + length + 2, digits));
    }
    let start = name.find('#')?;
    let digits = name[start..].bytes().take_while(|&b| b == b'#').count();
    Some((start, start + digits, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_number_is_found() {
        assert_eq!(number_place("a_%04d.png"), Some((2, 6, 4)));
        assert_eq!(number_place("a_%d.png"), Some((2, 4, 1)));
        assert_eq!(number_place("a.###.png"), Some((2, 5, 3)));
        assert_eq!(number_place("a.png"), None);
        assert_eq!(number_place("50%.png"), None);
        assert_eq!(number_place("%99999d.png"), None);
    }
}
