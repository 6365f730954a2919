//! Cem Yuksel's `.hair` format, read and write.
//!
//! A header of 128 bytes, then up to five arrays, little endian: segments per strand (u16), points
//! (3 x f32), thickness (f32), transparency (f32) and colour (3 x f32) per point. Arrays that are
//! absent are replaced by one default value in the header. Thickness is a diameter.
//! The format has no field for unit and axes: see [`ReadOptions`] for what is assumed. Coif writes `unit=m up=y` into
//! the 88 bytes of free text, and uses that when reading. Colours are sRGB, as other programs show them without a
//! conversion; those of files by Coif, and of files with `color=linear` in the free text, are linear.

use std::io::{self, Write};
use std::path::Path;

use coif::groom::{Fibre, Groom, Strands};
use glam::Vec3;

use crate::color::linear_from_srgb;
use crate::unit::{Conversion, DECLARATION, Declared, SCALE_HINT};
use crate::writable::check_writable;
use crate::{AtomicFile, Error, Loaded, Place, ReadOptions, Result};

const HEADER: usize = 128;
const INFO: usize = 88;
const MAGIC: &[u8; 4] = b"HAIR";

const SEGMENTS: u32 = 1;
const POINTS: u32 = 2;
const THICKNESS: u32 = 4;
const TRANSPARENCY: u32 = 8;
const COLOR: u32 = 16;

/// Default colour for other programs when a groom has none: brown.
const BROWN: Vec3 = Vec3::new(0.22, 0.12, 0.06);

/// Radii (m) outside of this range get a warning: from a very fine wool fibre to a thick quill.
const PLAUSIBLE_RADIUS_M: std::ops::RangeInclusive<f32> = 2e-6..=500e-6;

/// The header of a `.hair` file, its first 128 bytes, with values as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Number of strands.
    pub strands: u32,
    /// Number of points of all strands together.
    pub points: u32,
    /// The arrays that follow: 1 segments, 2 points, 4 thickness, 8 transparency, 16 colour.
    pub flags: u32,
    /// Segments of every strand, if there is no array of them.
    pub default_segments: u32,
    /// Diameter of every point in the file's unit, if there is no array.
    pub default_thickness: f32,
    /// Transparency of every point, if there is no array.
    pub default_transparency: f32,
    /// Colour of every point, if there is no array.
    pub default_color: Vec3,
    /// Free text.
    pub info: String,
}

impl Header {
    /// Reads the header from the start of a file.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::malformed(file, Place::Whole, "a .hair file", "an empty file"));
        }
        let magic = &bytes[..bytes.len().min(4)];
        if magic != &MAGIC[..magic.len()] {
            let found = format!("'{}'", magic.escape_ascii());
            return Err(Error::malformed(file, Place::Byte(0), "the letters 'HAIR'", found)
                .with_hint("this is not a .hair file, although its name says so"));
        }
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return Err(truncated(file, HEADER as u64, bytes.len()));
        };
        let word = |i: usize| [header[i], header[i + 1], header[i + 2], header[i + 3]];
        let (int, float) =
            (|i| u32::from_le_bytes(word(i)), |i: usize| f32::from_le_bytes(word(i)));
        let info = &header[HEADER - INFO..];
        let info = &info[..info.iter().position(|&b| b == 0).unwrap_or(INFO)];
        Ok(Self {
            strands: int(4),
            points: int(8),
            flags: int(12),
            default_segments: int(16),
            default_thickness: float(20),
            default_transparency: float(24),
            default_color: Vec3::new(float(28), float(32), float(36)),
            info: String::from_utf8_lossy(info).trim().into(),
        })
    }

    /// Length of the whole file (bytes). Cannot overflow: at most 32 bytes per point and 2 per strand.
    pub fn file_len(&self) -> u64 {
        let bytes_per_point: u64 = [(POINTS, 12), (THICKNESS, 4), (TRANSPARENCY, 4), (COLOR, 12)]
            .iter()
            .filter(|(flag, _)| self.has(*flag))
            .map(|(_, bytes)| bytes)
            .sum();
        let segments = if self.has(SEGMENTS) { 2 * u64::from(self.strands) } else { 0 };
        HEADER as u64 + segments + u64::from(self.points) * bytes_per_point
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(MAGIC);
        let ints = [self.strands, self.points, self.flags, self.default_segments];
        let floats = [self.default_thickness, self.default_transparency]
            .into_iter()
            .chain(self.default_color.to_array());
        let words = ints.into_iter().chain(floats.map(f32::to_bits));
        for (place, word) in bytes[4..].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let text = self.info.as_bytes();
        let length = text.len().min(INFO - 1);
        bytes[HEADER - INFO..][..length].copy_from_slice(&text[..length]);
        bytes
    }
}

/// Reads a `.hair` file.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<Groom>> {
    let path = path.as_ref();
    parse(path, &crate::load(path)?, options)
}

/// Reads the bytes of a `.hair` file; `file` is its name in messages.
pub fn parse(file: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Loaded<Groom>> {
    let mut warnings = Vec::new();
    let header = Header::parse(file, bytes)?;
    check_header(file, &header, bytes.len(), &mut warnings)?;

    // Cut the file into its arrays; the length was checked, so every cut is inside.
    let (strand_count, points) = (header.strands as usize, header.points as usize);
    let mut offset = HEADER;
    let mut cut = |flag: u32, length: usize| {
        let start = offset;
        if header.has(flag) {
            offset += length;
        }
        (start, &bytes[start..offset])
    };
    let segments = cut(SEGMENTS, 2 * strand_count);
    let positions = cut(POINTS, 12 * points);
    let thickness = cut(THICKNESS, 4 * points);
    let transparency = cut(TRANSPARENCY, 4 * points);
    let color = cut(COLOR, 12 * points);

    let counts = point_counts(file, &header, segments)?;
    let mut strands = Strands::from_counts(counts, vec3s(positions.1)).ok_or_else(|| {
        Error::malformed(file, Place::Whole, "strands that use every point", "other counts")
    })?;
    // Refuse values that are not finite.
    let finite = |values: &[Vec3], (start, _): (usize, &[u8]), what: &str| match values
        .iter()
        .position(|v| !v.is_finite())
    {
        Some(p) => Err(bad_value(file, &strands, p, start + 12 * p, what, values[p])),
        None => Ok(()),
    };
    finite(strands.positions(), positions, "position")?;
    let color_array = header.has(COLOR).then(|| vec3s(color.1));
    if let Some(color_array) = &color_array {
        finite(color_array, color, "colour")?;
    }
    let check = |values: &[f32], start: usize, what: &str, valid: fn(f32) -> bool| match values
        .iter()
        .position(|&v| !valid(v))
    {
        Some(p) => Err(bad_value(file, &strands, p, start + 4 * p, what, values[p])),
        None => Ok(()),
    };
    let thickness_array = header.has(THICKNESS).then(|| f32s(thickness.1));
    if let Some(array) = &thickness_array {
        check(array, thickness.0, "thickness of zero or more", |t| t.is_finite() && t >= 0.0)?;
    }
    let transparency_array = header.has(TRANSPARENCY).then(|| f32s(transparency.1));
    if let Some(array) = &transparency_array {
        check(array, transparency.0, "transparency", f32::is_finite)?;
    }

    // Convert to metres, y up.
    let declared = Declared::parse(&header.info);
    let conversion =
        Conversion::decide_for_hair(file, options, &declared, &strands, &mut warnings)?;
    conversion.apply(strands.positions_mut());
    if let Some(p) = strands.positions().iter().position(|p| !p.is_finite()) {
        let (strand, point) = strands.locate(p);
        let reason = format!(
            "strand {strand}, point {point} is too large for a scale of {}",
            conversion.scale_m
        );
        return Err(Error::refused(file, reason));
    }

    // Take radius, transparency and colour from the arrays, or from the defaults of the header.
    let radius = radii(file, &header, thickness_array, conversion.scale_m, &mut warnings);
    let mut groom = Groom::new(strands, Fibre { radius: radius.0, ..Fibre::default() });
    if let Some(radii) = radius.1 {
        groom.radius = radii;
    }
    // The file stores the thickness, twice the radius.
    if groom.radius.iter().any(|r| !(2.0 * r).is_finite()) {
        let scale = conversion.scale_m;
        let reason = format!("the thickness is too large for a scale of {scale}");
        return Err(Error::refused(file, reason).with_hint(SCALE_HINT));
    }
    groom.transparency = transparency_array.or_else(|| {
        let default = header.default_transparency;
        (default.is_finite() && default > 0.0).then(|| vec![default; points])
    });
    groom.color = color_array.or_else(|| {
        let default = header.default_color;
        let is_set = default.is_finite() && default != Vec3::ZERO && default != Vec3::ONE;
        (is_set && !declared.by_coif).then(|| vec![default; points])
    });
    if !declared.linear_color.unwrap_or(declared.by_coif) {
        groom.color.iter_mut().flatten().for_each(|c| *c = linear_from_srgb(*c));
    }
    if groom.color.iter().flatten().any(|c| c.max_element() > 1.0) {
        warnings.push(format!(
            "{}: some colours are larger than 1; they were kept as they are",
            file.display()
        ));
    }
    Ok(Loaded { value: groom, warnings, scale_m: conversion.scale_m, up: conversion.up })
}

/// Refuses a header that contradicts the file before memory is allocated for it.
fn check_header(
    file: &Path,
    header: &Header,
    found_len: usize,
    warnings: &mut Vec<String>,
) -> Result<()> {
    if !header.has(POINTS) {
        let found = format!("flags {:#x}", header.flags);
        return Err(Error::malformed(file, Place::Byte(12), "an array of points (flag 2)", found));
    }
    if header.strands == 0 {
        return Err(Error::malformed(file, Place::Byte(4), "at least one strand", "0 strands"));
    }
    let expected_len = header.file_len();
    if (found_len as u64) < expected_len {
        let Header { strands, points, .. } = header;
        return Err(truncated(file, expected_len, found_len).with_hint(format!(
            "the header announces {strands} strands and {points} points; the file was cut off or the header is wrong"
        )));
    }
    if found_len as u64 > expected_len {
        warnings.push(format!(
            "{}: {} bytes after the end of the hair were ignored",
            file.display(),
            found_len as u64 - expected_len
        ));
    }
    let unknown = header.flags & !(SEGMENTS | POINTS | THICKNESS | TRANSPARENCY | COLOR);
    if unknown != 0 {
        warnings.push(format!("{}: unknown flags {unknown:#x} were ignored", file.display()));
    }
    Ok(())
}

/// Points per strand; their sum must be the number of points in the header.
fn point_counts(
    file: &Path,
    header: &Header,
    (start, segments): (usize, &[u8]),
) -> Result<Vec<usize>> {
    let no_segment = |place, strand| {
        Error::malformed(file, place, "at least 1 segment", format!("0 in strand {strand}"))
    };
    let points = u64::from(header.points);
    if !header.has(SEGMENTS) {
        if header.default_segments == 0 {
            return Err(no_segment(Place::Byte(16), 0));
        }
        let sum = u64::from(header.strands) * (u64::from(header.default_segments) + 1);
        if sum != points {
            let expected = format!(
                "{sum} points for {} strands of {} segments",
                header.strands, header.default_segments
            );
            return Err(Error::malformed(file, Place::Byte(8), expected, points.to_string()));
        }
        return Ok(vec![header.default_segments as usize + 1; header.strands as usize]);
    }
    let counts: Vec<usize> = segments
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&pair| usize::from(u16::from_le_bytes(pair)) + 1)
        .collect();
    if let Some(strand) = counts.iter().position(|&count| count < 2) {
        return Err(no_segment(Place::Byte((start + 2 * strand) as u64), strand));
    }
    let sum: u64 = counts.iter().map(|&count| count as u64).sum();
    if sum != points {
        let expected = format!("{sum} points, the sum over all strands of segments + 1");
        return Err(Error::malformed(file, Place::Byte(8), expected, points.to_string()));
    }
    Ok(counts)
}

/// Radius of the fibre (m), and the radius at each point if the file has an array.
fn radii(
    file: &Path,
    header: &Header,
    thickness: Option<Vec<f32>>,
    scale_m: f32,
    warnings: &mut Vec<String>,
) -> (f32, Option<Vec<f32>>) {
    let of_thickness = |t: f32| t / 2.0 * scale_m;
    let is_positive = |r: f32| r.is_finite() && r > 0.0;
    let array = thickness.map(|mut values| {
        values.iter_mut().for_each(|t| *t = of_thickness(*t));
        values
    });
    let mean = array.as_ref().map(|values| {
        (values.iter().map(|&r| f64::from(r)).sum::<f64>() / values.len() as f64) as f32
    });
    let default = Some(of_thickness(header.default_thickness));
    let Some(fibre) = default.filter(|&r| is_positive(r)).or(mean.filter(|&r| is_positive(r)))
    else {
        let human = Fibre::default().radius;
        warnings.push(format!(
            "{}: the file has no thickness; human hair of radius {human} m was assumed",
            file.display()
        ));
        return (human, array);
    };
    let typical = mean.unwrap_or(fibre);
    if !PLAUSIBLE_RADIUS_M.contains(&typical) {
        warnings.push(format!(
            "{}: the hairs are {:.4} mm thick, human hair is about 0.08 mm; weight and stiffness follow from it. Set the fibre's radius, or check the unit",
            file.display(),
            typical * 2e3
        ));
    }
    (fibre, array)
}

fn truncated(file: &Path, expected: u64, found: usize) -> Error {
    let expected = format!("{expected} bytes");
    Error::malformed(file, Place::Byte(found as u64), expected, format!("the end after {found}"))
}

fn bad_value(
    file: &Path,
    strands: &Strands,
    point: usize,
    offset: usize,
    what: &str,
    found: impl std::fmt::Display,
) -> Error {
    let (strand, point) = strands.locate(point);
    let expected = format!("a finite {what} of strand {strand}, point {point}");
    Error::malformed(file, Place::Byte(offset as u64), expected, found.to_string())
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

fn vec3s(bytes: &[u8]) -> Vec<Vec3> {
    let float = |b: &[u8; 12], i: usize| f32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
    let points = bytes.as_chunks::<12>().0;
    points.iter().map(|b| Vec3::new(float(b, 0), float(b, 4), float(b, 8))).collect()
}

/// Writes a `.hair` file in metres, y up. Returns notes on what the format cannot store.
pub fn write(path: impl AsRef<Path>, groom: &Groom) -> Result<Vec<String>> {
    let path = path.as_ref();
    write_posed(path, groom, groom.strands.positions())?;
    let mut dropped = Vec::new();
    if groom.embedded.iter().any(|&count| count > 1) {
        dropped.push(format!(
            "{}: a .hair file does not hold how many points of a strand are embedded in the skin",
            path.display()
        ));
    }
    Ok(dropped)
}

/// Writes a groom with its points at other positions, for instance those of a simulation.
pub fn write_posed(path: impl AsRef<Path>, groom: &Groom, positions: &[Vec3]) -> Result<()> {
    let path = path.as_ref();
    check_posed(path, groom, positions)?;
    let mut out = AtomicFile::create(path)?;
    encode(&mut out, groom, positions).map_err(|e| Error::io(path, "write", e))?;
    out.commit()
}

/// Refuses hair that the format cannot store.
pub(crate) fn check_posed(path: &Path, groom: &Groom, positions: &[Vec3]) -> Result<()> {
    check_writable(path, groom, positions)?;
    check_segments(path, groom)
}

fn check_segments(path: &Path, groom: &Groom) -> Result<()> {
    let limit = usize::from(u16::MAX);
    match groom.strands.iter().position(|s| s.len() - 1 > limit) {
        Some(strand) => Err(Error::refused(
            path,
            format!(
                "strand {strand} has {} segments, a .hair file holds at most {limit} per strand",
                groom.strands.strand(strand).len() - 1
            ),
        )
        .with_hint("resample the groom to fewer points, or write .obj")),
        None => Ok(()),
    }
}

/// Writes the bytes of a file.
pub(crate) fn encode(out: &mut impl Write, groom: &Groom, positions: &[Vec3]) -> io::Result<()> {
    let firsts = groom.strands.first_points();
    let segments = |pair: &[u32]| pair[1] - pair[0] - 1;
    let default_segments = segments(&firsts[..2]);
    let mut flags = POINTS;
    if firsts.windows(2).any(|pair| segments(pair) != default_segments) {
        flags |= SEGMENTS;
    }
    if groom.radius.iter().any(|&r| r != groom.fibre.radius) {
        flags |= THICKNESS;
    }
    if groom.transparency.is_some() {
        flags |= TRANSPARENCY;
    }
    if groom.color.is_some() {
        flags |= COLOR;
    }
    let header = Header {
        strands: groom.strands.strand_count() as u32,
        points: positions.len() as u32,
        flags,
        default_segments,
        default_thickness: groom.fibre.radius * 2.0,
        default_transparency: 0.0,
        default_color: BROWN,
        info: DECLARATION.into(),
    };
    out.write_all(&header.to_bytes())?;
    if header.has(SEGMENTS) {
        put(out, firsts.windows(2), |pair| (segments(pair) as u16).to_le_bytes())?;
    }
    put_vec3s(out, positions)?;
    if header.has(THICKNESS) {
        put(out, &groom.radius, |r| (r * 2.0).to_le_bytes())?;
    }
    if let Some(transparency) = &groom.transparency {
        put(out, transparency, |t| t.to_le_bytes())?;
    }
    if let Some(color) = &groom.color {
        put_vec3s(out, color)?;
    }
    Ok(())
}

fn put_vec3s(out: &mut impl Write, values: &[Vec3]) -> io::Result<()> {
    put(out, values, |v| {
        let mut bytes = [0; 12];
        for (place, x) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(v.to_array()) {
            *place = x.to_le_bytes();
        }
        bytes
    })
}

/// Writes values as bytes, in blocks.
fn put<T, const N: usize>(
    out: &mut impl Write,
    values: impl IntoIterator<Item = T>,
    bytes_of: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    const BLOCK: usize = 4096;
    let mut block = [[0u8; N]; BLOCK];
    let mut values = values.into_iter();
    loop {
        let mut filled = 0;
        for (place, value) in block.iter_mut().zip(values.by_ref().take(BLOCK)) {
            *place = bytes_of(value);
            filled += 1;
        }
        if filled == 0 {
            return Ok(());
        }
        out.write_all(block[..filled].as_flattened())?;
    }
}
