//! Animated PNG: each picture is packed as a PNG of its own, and its data go into one file.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::image::Beside;
use crate::{Error, Image, Result};

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];

/// An animated PNG being written.
#[derive(Debug)]
pub(crate) struct Apng {
    path: PathBuf,
    beside: Beside,
    out: BufWriter<File>,
    delay: [u8; 4],
    /// Where the chunk with the number of frames starts (bytes).
    count_at: u64,
    frames: u32,
    sequence: u32,
    packed: Vec<u8>,
}

impl Apng {
    pub(crate) fn create(path: &Path, fps: f64) -> Result<Self> {
        let beside = Beside::create(path)?;
        let out = BufWriter::new(beside.file()?);
        // A frame lasts numerator / denominator seconds.
        let (numerator, denominator) = if (fps - fps.round()).abs() < 1e-6 {
            (1, fps.round() as u16)
        } else {
            ((1e4 / fps).round().clamp(1.0, 65535.0) as u16, 10_000)
        };
        let [a, b] = numerator.to_be_bytes();
        let [c, d] = denominator.to_be_bytes();
        Ok(Self {
            path: path.into(),
            beside,
            out,
            delay: [a, b, c, d],
            count_at: 0,
            frames: 0,
            sequence: 0,
            packed: Vec::new(),
        })
    }

    pub(crate) fn push(&mut self, image: &Image) -> Result<()> {
        self.packed.clear();
        image
            .encode_png(&mut self.packed)
            .map_err(|message| Error::Encode { path: self.path.clone(), message })?;
        let packed = std::mem::take(&mut self.packed);
        let written = self.write_frame(&packed, image.width as u32, image.height as u32);
        self.packed = packed;
        written.map_err(|e| self.beside.error(e))
    }

    fn write_frame(&mut self, packed: &[u8], width: u32, height: u32) -> std::io::Result<()> {
        if self.frames == 0 {
            self.write_head(packed)?;
        }
        let mut control = self.sequence.to_be_bytes().to_vec();
        self.sequence += 1;
        for value in [width, height, 0, 0] {
            control.extend(value.to_be_bytes());
        }
        control.extend(self.delay);
        control.extend([0, 0]);
        write_chunk(&mut self.out, b"fcTL", &[&control])?;
        for (kind, data) in chunks(packed).filter(|(kind, _)| *kind == b"IDAT") {
            if self.frames == 0 {
                write_chunk(&mut self.out, kind, &[data])?;
            } else {
                write_chunk(&mut self.out, b"fdAT", &[&self.sequence.to_be_bytes(), data])?;
                self.sequence += 1;
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Signature, what comes before the data of the first picture, and room for the frame count.
    fn write_head(&mut self, packed: &[u8]) -> std::io::Result<()> {
        self.out.write_all(&SIGNATURE)?;
        for (kind, data) in chunks(packed).take_while(|(kind, _)| *kind != b"IDAT") {
            write_chunk(&mut self.out, kind, &[data])?;
            if kind == b"IHDR" {
                self.count_at = self.out.stream_position()?;
                write_chunk(&mut self.out, b"acTL", &[&[0; 8]])?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        let completed = self.complete();
        completed.map_err(|e| self.beside.error(e))?;
        drop(self.out);
        self.beside.publish()
    }

    fn complete(&mut self) -> std::io::Result<()> {
        write_chunk(&mut self.out, b"IEND", &[])?;
        self.out.seek(SeekFrom::Start(self.count_at))?;
        // Zero plays means for ever.
        write_chunk(&mut self.out, b"acTL", &[&self.frames.to_be_bytes(), &[0; 4]])?;
        self.out.flush()
    }
}

/// The chunks of a PNG in memory: kind and data.
fn chunks(png: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = png.get(SIGNATURE.len()..).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        let (kind, data) = (after.get(..4)?, after.get(4..4 + length)?);
        rest = after.get(8 + length..).unwrap_or(&[]);
        Some((kind, data))
    })
}

fn write_chunk(out: &mut impl Write, kind: &[u8], parts: &[&[u8]]) -> std::io::Result<()> {
    let length: usize = parts.iter().map(|p| p.len()).sum();
    out.write_all(&(length as u32).to_be_bytes())?;
    out.write_all(kind)?;
    let mut crc = crc32(!0, kind);
    for part in parts {
        out.write_all(part)?;
        crc = crc32(crc, part);
    }
    out.write_all(&(!crc).to_be_bytes())
}

/// The checksum of PNG chunks, without the final inversion.
fn crc32(mut crc: u32, bytes: &[u8]) -> u32 {
    for &byte in bytes {
        crc = crc >> 8 ^ CRC_TABLE[((crc ^ u32::from(byte)) & 0xff) as usize];
    }
    crc
}

const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut value = i as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(!crc32(!0, b"123456789"), 0xcbf4_3926);
    }
}
