//! NumPy archives (`.npz`) with the motion of hair: `numpy.load` reads them, and any program that reads zip files.
//!
//! | array | type and shape | content |
//! |---|---|---|
//! | `positions` | f4 (frames, points, 3) | positions (m), y up |
//! | `velocities` | f4 (frames, points, 3) | velocities (m/s) |
//! | `velocity_source` | text | `model`, or `differences` of the positions of neighbouring frames |
//! | `frames`, `times` | i8, f8 (frames) | number and time (s) of each frame |
//! | `strand_offsets` | i8 (strands + 1) | first point of each strand, then the number of points |
//! | `radius` | f4 (points) | radius of the fibre (m) |
//! | `color` | f4 (points, 3) | linear RGB, only if the groom has colours |
//! | `fps` | f8 | frames per second |
//!
//! Entries are stored without compression, with 64-bit sizes. Frames are written as they come: velocities go to a
//! second temporary file, which is appended at the end, so that memory does not grow with the number of frames.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use coif::groom::Groom;
use glam::Vec3;

use crate::crc32::Crc32;
use crate::{AtomicFile, Error, Result};

/// Origin of the velocities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VelocitySource {
    /// The velocities of the model.
    Model,
    /// Differences of the positions of neighbouring frames.
    Differences,
}

impl VelocitySource {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Differences => "differences",
        }
    }
}

/// Bytes copied at once.
const BLOCK: usize = 256 * 1024;

/// A `.npz` file being written, frame by frame.
///
/// ```
/// # use coif::groom::{Fibre, Groom, Strands};
/// # use glam::Vec3;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run.npz");
/// # let mut strands = Strands::new();
/// # strands.push(&[Vec3::ZERO, Vec3::Y]);
/// # let groom = Groom::new(strands, Fibre::default());
/// use coif_io::npz::{VelocitySource, Writer};
///
/// let mut file = Writer::create(&path, &groom, 60.0, 2, VelocitySource::Model)?;
/// for frame in 0..2 {
///     file.push(frame, groom.strands.positions(), &[Vec3::ZERO, Vec3::X])?;
/// }
/// file.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    out: AtomicFile,
    /// Velocities, until they are appended.
    side: AtomicFile,
    positions: Entry,
    directory: Vec<Entry>,
    points: usize,
    frames: u64,
    fps: f64,
    numbers: Vec<u64>,
    block: Vec<u8>,
}

impl Writer {
    /// Starts a file with this number of frames.
    pub fn create(
        path: impl AsRef<Path>,
        groom: &Groom,
        fps: f64,
        frames: u64,
        source: VelocitySource,
    ) -> Result<Self> {
        let path = path.as_ref();
        let points = groom.strands.point_count();
        let too_large =
            || Error::refused(path, format!("{frames} frames of {points} points are too many"));
        // The sizes in the headers are of 64 bits.
        frames.checked_mul(points as u64).and_then(|n| n.checked_mul(12)).ok_or_else(too_large)?;
        let (out, side) = (AtomicFile::create(path)?, AtomicFile::create(path)?);
        let mut this = Self {
            out,
            side,
            positions: Entry::default(),
            directory: Vec::new(),
            points,
            frames,
            fps,
            numbers: Vec::new(),
            block: Vec::new(),
        };
        this.write_head(groom, source).map_err(|e| Error::io(path, "write", e))?;
        Ok(this)
    }

    /// Writes the arrays that do not depend on the frame, and starts that of the positions.
    fn write_head(&mut self, groom: &Groom, source: VelocitySource) -> io::Result<()> {
        let bytes_of = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let firsts = groom.strands.first_points();
        let offsets = firsts.iter().flat_map(|&first| i64::from(first).to_le_bytes()).collect();
        self.write_array("strand_offsets", "<i8", &[firsts.len() as u64], offsets)?;
        let radius: Vec<u8> = bytes_of(&groom.radius);
        self.write_array("radius", "<f4", &[groom.radius.len() as u64], radius)?;
        if let Some(color) = &groom.color {
            let bytes = color.iter().flat_map(|c| bytes_of_vec3(*c)).collect();
            self.write_array("color", "<f4", &[color.len() as u64, 3], bytes)?;
        }
        // NumPy stores text as characters of 32 bits.
        let text = source.name();
        let bytes = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        self.write_array("velocity_source", &format!("<U{}", text.chars().count()), &[], bytes)?;
        self.write_array("fps", "<f8", &[], self.fps.to_le_bytes().to_vec())?;
        let shape = [self.frames, self.points as u64, 3];
        self.positions = Entry::start(&mut self.out, "positions")?;
        self.positions.write(&mut self.out, &npy_header("<f4", &shape))
    }

    /// Adds a frame.
    pub fn push(&mut self, frame: u64, positions: &[Vec3], velocities: &[Vec3]) -> Result<()> {
        for (what, found) in [("positions", positions.len()), ("velocities", velocities.len())] {
            if found != self.points {
                let reason = format!("{found} {what} for {} points", self.points);
                return Err(Error::refused(self.out.destination(), reason));
            }
        }
        if self.numbers.len() as u64 == self.frames {
            let reason = format!("is complete: it was started for {} frames", self.frames);
            return Err(Error::refused(self.out.destination(), reason));
        }
        self.numbers.push(frame);
        let path = self.out.destination().to_path_buf();
        self.write_frame(positions, velocities).map_err(|e| Error::io(&path, "write", e))
    }

    fn write_frame(&mut self, positions: &[Vec3], velocities: &[Vec3]) -> io::Result<()> {
        for chunk in positions.chunks(BLOCK / 12) {
            fill(&mut self.block, chunk);
            self.positions.write(&mut self.out, &self.block)?;
        }
        for chunk in velocities.chunks(BLOCK / 12) {
            fill(&mut self.block, chunk);
            self.side.write_all(&self.block)?;
        }
        Ok(())
    }

    /// Completes the file and renames it to its path.
    pub fn finish(mut self) -> Result<()> {
        let path = self.out.destination().to_path_buf();
        if self.numbers.len() as u64 != self.frames {
            let reason = format!("has {} of {} frames", self.numbers.len(), self.frames);
            return Err(Error::refused(&path, reason));
        }
        self.write_tail().map_err(|e| Error::io(&path, "write", e))?;
        self.out.commit()
    }

    fn write_tail(&mut self) -> io::Result<()> {
        let positions = std::mem::take(&mut self.positions);
        self.directory.push(positions.end(&mut self.out)?);
        // Append the velocities.
        let mut entry = Entry::start(&mut self.out, "velocities")?;
        entry.write(&mut self.out, &npy_header("<f4", &[self.frames, self.points as u64, 3]))?;
        self.side.flush()?;
        let mut side = self.side.reopen().map_err(io::Error::other)?;
        self.block.resize(BLOCK, 0);
        loop {
            let read = side.read(&mut self.block)?;
            if read == 0 {
                break;
            }
            entry.write(&mut self.out, &self.block[..read])?;
        }
        self.directory.push(entry.end(&mut self.out)?);
        let numbers = std::mem::take(&mut self.numbers);
        let times = numbers.iter().flat_map(|&n| (n as f64 / self.fps).to_le_bytes()).collect();
        self.write_array("times", "<f8", &[self.frames], times)?;
        let frames = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.write_array("frames", "<i8", &[self.frames], frames)?;
        write_directory(&mut self.out, &self.directory)
    }

    /// Writes a whole array.
    fn write_array(
        &mut self,
        name: &str,
        kind: &str,
        shape: &[u64],
        bytes: Vec<u8>,
    ) -> io::Result<()> {
        let mut entry = Entry::start(&mut self.out, name)?;
        entry.write(&mut self.out, &npy_header(kind, shape))?;
        entry.write(&mut self.out, &bytes)?;
        self.directory.push(entry.end(&mut self.out)?);
        Ok(())
    }
}

/// Replaces the content of a block by vectors.
fn fill(block: &mut Vec<u8>, values: &[Vec3]) {
    block.clear();
    block.extend(values.iter().flat_map(|v| bytes_of_vec3(*v)));
}

fn bytes_of_vec3(v: Vec3) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (place, x) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(v.to_array()) {
        *place = x.to_le_bytes();
    }
    bytes
}

/// The header of an array, format version 1.0; the data that follow start at a multiple of 64 bytes.
fn npy_header(kind: &str, shape: &[u64]) -> Vec<u8> {
    const START: usize = 10;
    let sides: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", sides.trim_end());
    let length = (START + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', length - START - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// A file of the archive.
#[derive(Debug, Default)]
struct Entry {
    name: String,
    /// Offset of its local header.
    start: u64,
    size: u64,
    crc: Crc32,
}

/// Version of the zip format that has 64-bit sizes.
const ZIP64: u16 = 45;
/// Value of a 32-bit field whose 64-bit value is in the extra field.
const IN_EXTRA: u32 = u32::MAX;
/// 1980-01-01, the earliest date of the format: equal content gives equal bytes.
const DATE: u16 = 0x21;

impl Entry {
    /// Starts an entry; its size and checksum are written by [`Entry::end`].
    fn start(out: &mut AtomicFile, array: &str) -> io::Result<Self> {
        let name = format!("{array}.npy");
        let entry = Self { name, start: out.stream_position()?, ..Self::default() };
        out.write_all(&entry.local_header())?;
        Ok(entry)
    }

    fn write(&mut self, out: &mut AtomicFile, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        self.size += bytes.len() as u64;
        out.write_all(bytes)
    }

    fn end(self, out: &mut AtomicFile) -> io::Result<Self> {
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(self.start))?;
        out.write_all(&self.local_header())?;
        out.seek(SeekFrom::Start(end))?;
        Ok(self)
    }

    /// Version, flags, method, time, date, checksum and sizes, as both headers have them.
    fn common(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        [ZIP64, 0, 0, 0, DATE].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        [self.crc.finish(), IN_EXTRA, IN_EXTRA].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes
    }

    /// The extra field with 64-bit values.
    fn extra(values: &[u64]) -> Vec<u8> {
        let mut bytes = vec![1, 0];
        bytes.extend((8 * values.len() as u16).to_le_bytes());
        values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes
    }

    fn local_header(&self) -> Vec<u8> {
        let extra = Self::extra(&[self.size, self.size]);
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend(self.common());
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend((extra.len() as u16).to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(extra);
        bytes
    }

    fn central_header(&self) -> Vec<u8> {
        let extra = Self::extra(&[self.size, self.size, self.start]);
        let mut bytes = b"PK\x01\x02".to_vec();
        bytes.extend(ZIP64.to_le_bytes());
        bytes.extend(self.common());
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend((extra.len() as u16).to_le_bytes());
        // Comment, disk, attributes inside and outside.
        bytes.extend([0; 2 + 2 + 2 + 4]);
        bytes.extend(IN_EXTRA.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(extra);
        bytes
    }
}

/// Writes the central directory and its ends, of 64 and of 32 bits.
fn write_directory(out: &mut AtomicFile, entries: &[Entry]) -> io::Result<()> {
    let start = out.stream_position()?;
    for entry in entries {
        out.write_all(&entry.central_header())?;
    }
    let end = out.stream_position()?;
    let count = entries.len() as u64;
    let mut bytes = b"PK\x06\x06".to_vec();
    bytes.extend(44u64.to_le_bytes());
    [ZIP64, ZIP64].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes.extend([0; 8]);
    [count, count, end - start, start].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    // The locator of the end of 64 bits.
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(end.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    // The end of 32 bits refers to that of 64.
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([0xff; 2 + 2 + 4 + 4]);
    bytes.extend([0; 2]);
    out.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use coif::groom::{Fibre, Strands};

    use super::*;

    #[test]
    fn headers_are_aligned_and_read_like_python() {
        for (shape, expected) in [(&[][..], "()"), (&[7], "(7,)"), (&[2, 30, 3], "(2, 30, 3,)")] {
            let header = npy_header("<f4", shape);
            assert_eq!(header.len() % 64, 0);
            let text = String::from_utf8_lossy(&header[10..]).into_owned();
            assert!(text.contains(&format!("'shape': {expected}, }}")), "{text}");
            assert!(text.ends_with('\n'));
            assert_eq!(u16::from_le_bytes([header[8], header[9]]) as usize, text.len());
        }
    }

    #[test]
    fn incomplete_files_and_wrong_counts_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::Y]);
        let groom = Groom::new(strands, Fibre::default());
        let start = || Writer::create(&path, &groom, 60.0, 1, VelocitySource::Model).unwrap();
        assert!(start().finish().unwrap_err().to_string().contains("0 of 1 frames"));
        let mut file = start();
        assert!(file.push(0, &[Vec3::ZERO], &[Vec3::ZERO; 2]).is_err());
        file.push(0, &[Vec3::ZERO; 2], &[Vec3::ZERO; 2]).unwrap();
        assert!(file.push(1, &[Vec3::ZERO; 2], &[Vec3::ZERO; 2]).is_err());
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Writer::create(&path, &groom, 60.0, u64::MAX, VelocitySource::Model).is_err());
    }
}
