//! Animated GIF: 256 colours chosen for each picture.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use coif_io::AtomicFile;
use gif::{Encoder, Frame, Repeat};

use crate::{Error, Image, Result};

/// Thoroughness of the colour search: 1 best to 30 fastest.
const SPEED: i32 = 10;

/// A GIF being written.
pub(crate) struct Gif {
    path: PathBuf,
    file: AtomicFile,
    encoder: Option<Encoder<BufWriter<File>>>,
    fps: f64,
    frames: u64,
}

impl std::fmt::Debug for Gif {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gif").field("path", &self.path).field("frames", &self.frames).finish()
    }
}

impl Gif {
    pub(crate) fn create(path: &Path, fps: f64) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        Ok(Self { path: path.into(), file, encoder: None, fps, frames: 0 })
    }

    pub(crate) fn push(&mut self, image: &Image) -> Result<()> {
        let limit = usize::from(u16::MAX);
        let (width, height) = (image.width, image.height);
        let (Ok(w), Ok(h)) = (u16::try_from(width), u16::try_from(height)) else {
            return Err(Error::FilmSize { path: self.path.clone(), width, height, limit });
        };
        let failed = |e: gif::EncodingError| Error::Encode {
            path: self.path.clone(),
            message: e.to_string(),
        };
        if self.encoder.is_none() {
            let out = BufWriter::new(self.file.reopen()?);
            let mut encoder = Encoder::new(out, w, h, &[]).map_err(failed)?;
            encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
            self.encoder = Some(encoder);
        }
        let mut frame = Frame::from_rgb_speed(w, h, &image.rgb8, SPEED);
        // Delays are whole hundredths of a second: let the rounding even out over the film.
        let until = |frame: u64| (frame as f64 * 100.0 / self.fps).round() as u64;
        let delay = until(self.frames + 1) - until(self.frames);
        frame.delay = delay.clamp(1, u64::from(u16::MAX)) as u16;
        if let Some(encoder) = &mut self.encoder {
            encoder.write_frame(&frame).map_err(failed)?;
        }
        self.frames += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { path, file, encoder, .. } = self;
        if let Some(encoder) = encoder {
            let failed = |e: gif::EncodingError| Error::Encode { path, message: e.to_string() };
            let out = encoder.into_inner().map_err(failed)?;
            out.into_inner().map_err(|e| file.error(e.into_error()))?;
        }
        Ok(file.commit()?)
    }
}
