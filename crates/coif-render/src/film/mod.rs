//! Films: a sequence of pictures in one file, or in numbered files.
//!
//! A film is written under a temporary name and renamed when finished. A film that is dropped before leaves no file,
//! except that a picture sequence keeps the pictures that are complete.

mod apng;
mod gif;
#[cfg(feature = "mp4")]
mod mp4;
#[cfg(feature = "mp4")]
mod mp4_boxes;
mod sequence;

use std::path::{Path, PathBuf};

use crate::{Error, Image, Result};

/// File extensions of single-file films that this build can write.
const ENDINGS: &[&str] =
    if cfg!(feature = "mp4") { &["mp4", "gif", "apng"] } else { &["gif", "apng"] };

/// A film being written.
#[derive(Debug)]
pub struct Film {
    path: PathBuf,
    fps: f64,
    size: Option<(usize, usize)>,
    frames: usize,
    writer: Writer,
}

#[derive(Debug)]
enum Writer {
    #[cfg(feature = "mp4")]
    Mp4(Box<mp4::Mp4>),
    Gif(gif::Gif),
    Apng(apng::Apng),
    Sequence(sequence::Sequence),
}

impl Film {
    /// Starts a film; the extension of the path decides its kind.
    ///
    /// `.mp4` (H.264; feature `mp4`), `.gif`, `.apng`, or a sequence of pictures such as
    /// `frame_%04d.png` or `frame_####.png`, numbered from 0.
    pub fn create(path: impl AsRef<Path>, fps: f64) -> Result<Self> {
        let path = path.as_ref();
        if !(fps > 0.0 && fps <= 1000.0) {
            return Err(Error::FrameRate { fps });
        }
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        let writer = match ending.as_str() {
            #[cfg(feature = "mp4")]
            "mp4" => Writer::Mp4(Box::new(mp4::Mp4::create(path, fps)?)),
            #[cfg(not(feature = "mp4"))]
            "mp4" => return Err(Error::NoMp4 { path: path.into() }),
            "gif" => Writer::Gif(gif::Gif::create(path, fps)?),
            "apng" => Writer::Apng(apng::Apng::create(path, fps)?),
            "png" => match sequence::Sequence::create(path) {
                Some(sequence) => Writer::Sequence(sequence),
                None => return Err(Error::FilmKind { path: path.into() }),
            },
            _ => return Err(Error::FilmKind { path: path.into() }),
        };
        Ok(Self { path: path.into(), fps, size: None, frames: 0, writer })
    }

    /// Whether a path names a film rather than a single picture.
    pub fn is_film(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "png" => sequence::Sequence::create(path).is_some(),
            // Also true without an encoder: the error of `create` then has a hint.
            "mp4" => true,
            other => ENDINGS.contains(&other),
        }
    }

    /// File extensions of single-file films that this build can write, without the dot.
    pub fn endings() -> &'static [&'static str] {
        ENDINGS
    }

    /// Appends a picture. All pictures of a film have the same size.
    pub fn push(&mut self, image: &Image) -> Result<()> {
        let found = (image.width, image.height);
        let size = *self.size.get_or_insert(found);
        if size != found || image.rgb8.len() != found.0 * found.1 * 3 || found.0 * found.1 == 0 {
            return Err(Error::FrameSize {
                path: self.path.clone(),
                frame: self.frames,
                found_width: found.0,
                found_height: found.1,
                width: size.0,
                height: size.1,
            });
        }
        match &mut self.writer {
            #[cfg(feature = "mp4")]
            Writer::Mp4(mp4) => mp4.push(image)?,
            Writer::Gif(gif) => gif.push(image)?,
            Writer::Apng(apng) => apng.push(image)?,
            Writer::Sequence(sequence) => sequence.push(image)?,
        }
        self.frames += 1;
        Ok(())
    }

    /// Number of pictures appended so far.
    pub fn frame_count(&self) -> usize {
        self.frames
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Completes the file and renames it to its path.
    pub fn finish(self) -> Result<()> {
        if self.frames == 0 {
            return Err(Error::EmptyFilm { path: self.path });
        }
        match self.writer {
            #[cfg(feature = "mp4")]
            Writer::Mp4(mp4) => mp4.finish(),
            Writer::Gif(gif) => gif.finish(),
            Writer::Apng(apng) => apng.finish(),
            Writer::Sequence(_) => Ok(()),
        }
    }
}
