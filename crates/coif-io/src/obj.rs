//! Wavefront `.obj`: polylines as hair, polygons as a body.
//!
//! An `l` element is a strand, root to tip in file order; an `f` element is a polygon of the body.
//! A file may hold both: [`read_groom`] takes the lines and [`read_mesh`] the faces. Normals,
//! texture coordinates and the content of materials are skipped, names of objects, groups and materials are kept. The comment
//! `# coif unit=m up=y` declares what the format has no statement for; see [`ReadOptions`] for files
//! without it.

mod hair_mesh;
mod parse;
mod select;
mod sequence;
mod tokens;
mod triangulate;
mod write;

pub use hair_mesh::{ROOTS, parse_hair_mesh, read_hair_mesh, write_hair_mesh};
pub use sequence::{MeshSequence, read_mesh_sequence};
pub use write::{write_groom, write_mesh};

use std::ops::Range;
use std::path::Path;

use coif::body::TriangleMesh;
use coif::groom::{Fibre, Groom, Strands};
use glam::Vec3;

use crate::unit::{Conversion, SCALE_HINT};
use crate::{Error, FileKind, Loaded, Place, ReadOptions, Result};
use parse::Parsed;

/// A body and the named parts of its file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObjMesh {
    /// The triangles; polygons with more corners are triangulated.
    pub mesh: TriangleMesh,
    /// Named parts, in the order in which the file names them.
    pub groups: Vec<Group>,
}

/// A named part of a mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The statement that names it.
    pub kind: GroupKind,
    /// Its name.
    pub name: String,
    /// The triangles of it, ascending.
    pub triangles: Vec<Range<u32>>,
}

/// The statement of the file that names a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupKind {
    /// `o`
    Object,
    /// `g`
    Group,
    /// `usemtl`
    Material,
}

impl ObjMesh {
    /// The triangles of all parts with this name, ascending, for instance those of the scalp.
    /// `None` if nothing has that name.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("head.obj");
    /// # std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\ng scalp\nf 3 2 1\n")?;
    /// let head = coif_io::read_mesh(&path, &Default::default())?.value;
    /// let scalp = head.select("scalp").ok_or("no group 'scalp'")?;
    /// assert_eq!(scalp, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select(&self, name: &str) -> Option<Vec<u32>> {
        let mut named = self.groups.iter().filter(|g| g.name == name).peekable();
        named.peek()?;
        let mut triangles: Vec<u32> = named.flat_map(|g| g.triangles.clone()).flatten().collect();
        triangles.sort_unstable();
        triangles.dedup();
        Some(triangles)
    }
}

impl From<TriangleMesh> for ObjMesh {
    fn from(mesh: TriangleMesh) -> Self {
        Self { mesh, groups: Vec::new() }
    }
}

/// Reads the polylines of an `.obj` file as hair.
pub fn read_groom(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<Groom>> {
    let path = path.as_ref();
    parse_groom(path, &crate::load(path)?, options)
}

/// Reads the polygons of an `.obj` file as a body.
pub fn read_mesh(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<ObjMesh>> {
    let path = path.as_ref();
    parse_mesh(path, &crate::load(path)?, options)
}

/// Reads hair from the bytes of an `.obj` file; `file` is its name in messages.
pub fn parse_groom(file: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Loaded<Groom>> {
    let mut parsed = Parsed::new(file, bytes)?;
    if parsed.line_ends.is_empty() {
        let faces = parsed.face_ends.len();
        let found = if faces > 0 { format!("{faces} faces") } else { "none".into() };
        return Err(Error::malformed(file, Place::Whole, "polylines ('l' statements)", found)
            .with_hint(if faces > 0 {
                "this is a mesh: use it as a body, and export the hair as curves or polylines"
            } else {
                "export the hair as curves or polylines, not as points or particles"
            }));
    }
    if u32::try_from(parsed.lines.len()).is_err() {
        let expected = format!("at most {} points", u32::MAX);
        let found = parsed.lines.len().to_string();
        return Err(Error::malformed(file, Place::Whole, expected, found));
    }
    let mut warnings = std::mem::take(&mut parsed.warnings);
    let per_point = |values: &[Vec3]| parsed.lines.iter().map(|&v| values[v as usize]).collect();
    let positions: Vec<Vec3> = per_point(&parsed.positions);
    let ends = parsed.line_ends.iter().copied();
    let counts = ends.scan(0, |last, end| Some(end - std::mem::replace(last, end)));
    let mut strands = Strands::from_counts(counts, positions).ok_or_else(|| {
        Error::malformed(file, Place::Whole, "strands that use every point", "other counts")
    })?;
    let conversion =
        Conversion::decide_for_hair(file, options, &parsed.declared, &strands, &mut warnings)?;
    convert(file, &conversion, strands.positions_mut())?;
    let mut fibre = Fibre::default();
    if let Some(radius) = parsed.declared.radius_m {
        fibre.radius = radius;
    }
    let mut groom = Groom::new(strands, fibre);
    if parsed.colors.len() == parsed.positions.len() {
        groom.color = Some(per_point(&parsed.colors));
    }
    Ok(Loaded { value: groom, warnings, scale_m: conversion.scale_m, up: conversion.up })
}

/// Reads a body from the bytes of an `.obj` file; `file` is its name in messages.
pub fn parse_mesh(file: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Loaded<ObjMesh>> {
    let parsed = Parsed::new(file, bytes)?;
    mesh_of(file, parsed, options)
}

fn mesh_of(file: &Path, mut parsed: Parsed, options: &ReadOptions) -> Result<Loaded<ObjMesh>> {
    if parsed.face_ends.is_empty() {
        let lines = parsed.line_ends.len();
        let found = if lines > 0 { format!("{lines} polylines") } else { "none".into() };
        return Err(Error::malformed(file, Place::Whole, "polygons ('f' statements)", found)
            .with_hint(if lines > 0 {
                "this is hair: use it as a groom, and give a mesh as the body"
            } else {
                "export the body as a polygon mesh"
            }));
    }
    let mut warnings = std::mem::take(&mut parsed.warnings);
    parsed.drop_vertices_of_lines();
    let mut positions = std::mem::take(&mut parsed.positions);
    let conversion =
        Conversion::decide(file, options, &parsed.declared, &positions, &mut warnings)?;
    convert(file, &conversion, &mut positions)?;
    let (triangles, groups) = triangulate::triangulate(file, &parsed, &positions, &mut warnings)?;
    let value = ObjMesh { mesh: TriangleMesh { positions, triangles }, groups };
    Ok(Loaded { value, warnings, scale_m: conversion.scale_m, up: conversion.up })
}

/// Whether an `.obj` file is a hair mesh, a body or hair; one with a body and hair counts as a body.
pub(crate) fn kind(path: &Path) -> Result<FileKind> {
    let parsed = Parsed::new(path, &crate::load(path)?)?;
    if hair_mesh::is_hair_mesh(&parsed) {
        return Ok(FileKind::HairMesh);
    }
    if !parsed.face_ends.is_empty() {
        return Ok(FileKind::Mesh);
    }
    if !parsed.line_ends.is_empty() {
        return Ok(FileKind::Groom);
    }
    let expected = "polylines ('l') or polygons ('f')";
    Err(Error::malformed(path, Place::Whole, expected, "neither"))
}

fn convert(file: &Path, conversion: &Conversion, positions: &mut [Vec3]) -> Result<()> {
    conversion.apply(positions);
    if positions.iter().all(|p| p.is_finite()) {
        return Ok(());
    }
    let scale = conversion.scale_m;
    Err(Error::refused(file, format!("the coordinates are too large for a scale of {scale}"))
        .with_hint(SCALE_HINT))
}
