//! Animated PNG. The header contains the number of frames, which is known only at the end; it is then overwritten by
//! one of the same length.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use coif_io::AtomicFile;

use crate::{Error, Image, Result};

/// Bytes of the chunk that ends a PNG: length, kind and checksum.
const END_CHUNK_BYTES: usize = 12;

/// An animated PNG being written.
pub(crate) struct Apng {
    path: PathBuf,
    /// The encoder; the first picture determines its size.
    writer: Option<png::Writer<BufWriter<File>>>,
    file: AtomicFile,
    /// Duration of a frame (s), as numerator and denominator.
    delay: (u16, u16),
    width: usize,
    height: usize,
    frames: u32,
}

impl std::fmt::Debug for Apng {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apng").field("path", &self.path).field("frames", &self.frames).finish()
    }
}

impl Apng {
    pub(crate) fn create(path: &Path, fps: f64) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let delay = if (fps - fps.round()).abs() < 1e-6 {
            (1, fps.round() as u16)
        } else {
            ((1e4 / fps).round().clamp(1.0, 65535.0) as u16, 10_000)
        };
        Ok(Self { path: path.into(), writer: None, file, delay, width: 0, height: 0, frames: 0 })
    }

    pub(crate) fn push(&mut self, image: &Image) -> Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                (self.width, self.height) = (image.width, image.height);
                let out = BufWriter::new(self.file.reopen()?);
                // More frames than any film has: the encoder counts down from it.
                self.write_head(out, u32::MAX).map_err(|e| self.error(e))?
            }
        };
        writer.write_image_data(&image.rgb8).map_err(|e| self.error(e))?;
        self.writer = Some(writer);
        self.frames += 1;
        Ok(())
    }

    fn write_head<W: Write>(
        &self,
        out: W,
        frames: u32,
    ) -> Result<png::Writer<W>, png::EncodingError> {
        let mut encoder = Image::png_encoder(out, self.width, self.height);
        // Zero plays means an endless loop.
        encoder.set_animated(frames, 0)?;
        encoder.set_frame_delay(self.delay.0, self.delay.1)?;
        encoder.write_header()
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish().map_err(|e| self.error(e))?;
        }
        // A writer that is dropped ends its PNG; only the data before that end is used.
        let mut head = Vec::new();
        drop(self.write_head(&mut head, self.frames).map_err(|e| self.error(e))?);
        head.truncate(head.len().saturating_sub(END_CHUNK_BYTES));
        self.file.reopen()?.write_all(&head).map_err(|e| self.file.error(e))?;
        Ok(self.file.commit()?)
    }

    fn error(&self, error: png::EncodingError) -> Error {
        match error {
            png::EncodingError::IoError(source) => self.file.error(source).into(),
            other => Error::Encode { path: self.path.clone(), message: other.to_string() },
        }
    }
}
