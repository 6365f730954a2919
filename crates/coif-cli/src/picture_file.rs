//! Picture output: one PNG, or a film of any kind that `coif-render` writes.

use std::path::{Path, PathBuf};

use coif_io::SequenceName;
use coif_render::{Film, Image};

use crate::failure::Failure;
use crate::target::{ending, probe_file};

/// A picture or a film that appears under its name only when it is complete.
pub(crate) enum PictureFile {
    /// One picture: the last that is pushed.
    Still {
        /// Its path.
        path: PathBuf,
        /// The last picture so far.
        image: Option<Image>,
    },
    /// A sequence of pictures.
    Film {
        /// Its path.
        path: PathBuf,
        /// The film.
        film: Box<Film>,
    },
}

impl PictureFile {
    /// Checks that it can be written, and starts it. It is not visible until it is finished.
    pub(crate) fn create(path: &Path, fps: f64) -> Result<Self, Failure> {
        if Film::is_film(path) {
            if let Some(sequence) = SequenceName::parse(path) {
                probe_file(&sequence.file(0))?;
            } else {
                probe_file(path)?;
            }
            return Ok(Self::Film { path: path.into(), film: Box::new(Film::create(path, fps)?) });
        }
        if ending(path) != "png" {
            let kinds = Film::endings().iter().map(|e| format!(".{e}")).collect::<Vec<_>>();
            return Err(Failure::new(
                format!("{}: pictures cannot be written as this", path.display()),
                format!(
                    "use .png for a picture; {} or frame.####.png for a film",
                    kinds.join(", ")
                ),
            ));
        }
        probe_file(path)?;
        Ok(Self::Still { path: path.into(), image: None })
    }

    /// Whether it holds more than one picture.
    pub(crate) fn is_film(&self) -> bool {
        matches!(self, Self::Film { .. })
    }

    /// Adds the next picture.
    pub(crate) fn push(&mut self, next: Image) -> Result<(), Failure> {
        match self {
            Self::Still { image, .. } => *image = Some(next),
            Self::Film { film, .. } => film.push(&next)?,
        }
        Ok(())
    }

    /// A message about the complete pictures that remain if it is abandoned now.
    pub(crate) fn kept(&self) -> Option<String> {
        let Self::Film { path, film } = self else { return None };
        SequenceName::parse(path)?;
        let count = film.frame_count();
        let pictures = if count == 1 { "picture" } else { "pictures" };
        (count > 0).then(|| format!("{count} complete {pictures} of {} remain", path.display()))
    }

    /// Completes the file and renames it to its path.
    pub(crate) fn finish(self) -> Result<PathBuf, Failure> {
        match self {
            Self::Still { path, image } => {
                if let Some(image) = image {
                    image.write_png(&path)?;
                }
                Ok(path)
            }
            Self::Film { path, film } => {
                film.finish()?;
                Ok(path)
            }
        }
    }
}
