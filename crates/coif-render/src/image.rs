//! A finished picture, and its PNG file.

use std::io::Write;
use std::path::Path;

use coif_io::AtomicFile;

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
    /// Writes a PNG under a temporary name and renames it, so that no half-written picture is visible.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        let written = self.encode_png(&mut file);
        written.map_err(|message| Error::Encode { path: path.into(), message })?;
        Ok(file.commit()?)
    }

    /// Writes a PNG to any sink; the error is the encoder's message.
    fn encode_png(&self, out: impl Write) -> Result<(), String> {
        let encoder = Self::png_encoder(out, self.width, self.height);
        let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
        writer.write_image_data(&self.rgb8).map_err(|e| e.to_string())?;
        writer.finish().map_err(|e| e.to_string())
    }

    /// A PNG encoder for pictures of this size, with the settings of all pictures.
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
