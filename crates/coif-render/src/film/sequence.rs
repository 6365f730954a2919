//! One PNG per frame, numbered.

use std::path::Path;

use coif_io::SequenceName;

use crate::{Image, Result};

/// Numbered pictures in a folder. Each is complete as soon as it has its name.
#[derive(Debug)]
pub(crate) struct Sequence {
    name: SequenceName,
    next: u64,
}

impl Sequence {
    /// `None` if the file name has no placeholder for a number.
    pub(crate) fn create(path: &Path) -> Option<Self> {
        Some(Self { name: SequenceName::parse(path)?, next: 0 })
    }

    pub(crate) fn push(&mut self, image: &Image) -> Result<()> {
        image.write_png(self.name.file(self.next))?;
        self.next += 1;
        Ok(())
    }
}
