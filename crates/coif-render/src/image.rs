//! A finished picture, and how it is written to a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A picture: sRGB, 8 bits, rows from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green, blue of each pixel.
    pub rgb8: Vec<u8>,
}

impl Image {
    /// Writes a PNG: first beside the path, then renamed, so that no half picture is ever seen.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let beside = Beside::create(path)?;
        let out = BufWriter::new(beside.file()?);
        self.encode_png(out).map_err(|message| Error::Encode { path: path.into(), message })?;
        beside.publish()
    }

    /// Writes a PNG to any sink; the error is the encoder's message.
    fn encode_png(&self, out: impl Write) -> Result<(), String> {
        let encoder = Self::png_encoder(out, self.width, self.height);
        let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
        writer.write_image_data(&self.rgb8).map_err(|e| e.to_string())?;
        writer.finish().map_err(|e| e.to_string())
    }

    /// An encoder of PNG for pictures of this size, with the settings that all of ours share.
    pub(crate) fn png_encoder<W: Write>(
        out: W,
        width: usize,
        height: usize,
    ) -> png::Encoder<'static, W> {
        let mut encoder = png::Encoder::new(out, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Fast);
        encoder
    }
}

/// A file under construction beside its final place; removed when dropped unpublished.
#[derive(Debug)]
pub(crate) struct Beside {
    target: PathBuf,
    part: PathBuf,
    published: bool,
}

impl Beside {
    pub(crate) fn create(target: &Path) -> Result<Self> {
        Self::create_as(target, "part")
    }

    /// Like [`Beside::create`] with another ending, for films that need two files.
    pub(crate) fn create_as(target: &Path, ending: &str) -> Result<Self> {
        let name = target.file_name().ok_or_else(|| Error::Io {
            path: target.into(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a file name"),
        })?;
        let mut part = std::ffi::OsString::from(".");
        part.push(name);
        part.push(format!(".{}.{ending}", std::process::id()));
        let beside =
            Self { target: target.into(), part: target.with_file_name(part), published: false };
        File::create(&beside.part).map_err(|source| beside.error(source))?;
        Ok(beside)
    }

    /// The file, open for reading and writing from its start.
    pub(crate) fn file(&self) -> Result<File> {
        File::options().read(true).write(true).open(&self.part).map_err(|e| self.error(e))
    }

    /// Where the file is while it grows.
    #[cfg(feature = "mp4")]
    pub(crate) fn part(&self) -> &Path {
        &self.part
    }

    /// Gives the file its final name.
    pub(crate) fn publish(mut self) -> Result<()> {
        std::fs::rename(&self.part, &self.target).map_err(|e| self.error(e))?;
        self.published = true;
        Ok(())
    }

    pub(crate) fn error(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.target.clone(), source }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.published {
            // Nothing is left to tell the caller here; a part file that stays is named as such.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
