//! Hair meshes in `.obj` files: groups give the kinds of the polygons.
//!
//! `g roots` holds the root polygons, counter-clockwise seen from outside the scalp; the layers are found among all
//! other polygons by topology. Coif writes these as `g sides`, `g seams` (sides along which bundles may part) and `g
//! tips`. A file from another program needs only the group of the roots.
use std::io::{self, Write};
use std::path::Path;

use coif::groom::HairMesh;
use coif::groom::hair_mesh::{Names, Polygons, Side, SideKind, Walked};
use glam::Vec3;

use super::convert;
use super::parse::Parsed;
use super::tokens::Tokens;
use crate::unit::{Conversion, DECLARATION};
use crate::{AtomicFile, Error, Loaded, Place, ReadOptions, Result};

/// The group of the root polygons.
pub const ROOTS: &str = "roots";

/// The group of the sides along which bundles may part.
const SEAMS: &str = "seams";

/// Whether a file has a group of root polygons.
pub(super) fn is_hair_mesh(parsed: &Parsed) -> bool {
    parsed.groups.iter().any(|g| is_named(&g.name, ROOTS))
}

/// Whether a name contains a word; modelling programs add prefixes and numbers: `hair_roots`, `roots.001`.
fn is_named(name: &str, word: &str) -> bool {
    name.to_lowercase().split(|c: char| !c.is_alphabetic()).any(|part| part == word)
}

/// Reads a hair mesh; its layers are found by topology.
pub fn read_hair_mesh(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<HairMesh>> {
    let path = path.as_ref();
    parse_hair_mesh(path, &crate::load(path)?, options)
}

/// Reads a hair mesh from the bytes of an `.obj` file; `file` is its name in messages.
pub fn parse_hair_mesh(
    file: &Path,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Loaded<HairMesh>> {
    let mut parsed = Parsed::new(file, bytes)?;
    if !is_hair_mesh(&parsed) {
        let names: Vec<&str> = parsed.groups.iter().map(|g| g.name.as_str()).collect();
        let found = if names.is_empty() { "no group".into() } else { names.join(", ") };
        let expected = format!("root polygons in a group '{ROOTS}'");
        return Err(Error::malformed(file, Place::Whole, expected, found).with_hint(
            "put the polygons on the scalp into a group: 'g roots' before their 'f' lines",
        ));
    }
    let mut warnings = std::mem::take(&mut parsed.warnings);
    let mut positions = std::mem::take(&mut parsed.positions);
    // Keep the numbers of vertices, but let only those of polygons decide the unit.
    let on_polygons: Vec<Vec3> = parsed.corners.iter().map(|&v| positions[v as usize]).collect();
    let conversion =
        Conversion::decide(file, options, &parsed.declared, &on_polygons, &mut warnings)?;
    convert(file, &conversion, &mut positions)?;
    let in_group = |word: &str| {
        let mut inside = vec![false; parsed.face_ends.len()];
        for group in parsed.groups.iter().filter(|g| is_named(&g.name, word)) {
            for faces in &group.faces {
                inside[faces.clone()].fill(true);
            }
        }
        inside
    };
    let (is_root, may_open) = (in_group(ROOTS), in_group(SEAMS));
    let polygons = Polygons {
        positions: &positions,
        corners: &parsed.corners,
        ends: &parsed.face_ends,
        is_root: &is_root,
        may_open: &may_open,
    };
    let names = InFile { file, bytes };
    let walked = HairMesh::from_polygons(&polygons, &names).map_err(|e| refused(file, &e))?;
    warn_of_gaps(file, &walked, &names, &mut warnings);
    let value = walked.mesh;
    Ok(Loaded { value, warnings, scale_m: conversion.scale_m, up: conversion.up })
}

fn refused(file: &Path, error: &coif::Error) -> Error {
    let hint = match error {
        coif::Error::RootWithoutLayer { .. } => {
            "every bundle needs a quad on each of its sides in every layer, also the inner faces between \
             bundles: the outer surface alone is not enough"
        }
        _ => "vertices are counted from 1 as in 'f' lines, layers from 1 at the root",
    };
    Error::refused(file, format!("no hair mesh: {error}")).with_hint(hint)
}

/// Warns about unused polygons, and about bundles that end where a face seems to be missing.
fn warn_of_gaps(file: &Path, walked: &Walked, names: &InFile<'_>, warnings: &mut Vec<String>) {
    let file = file.display();
    let count = |n: usize, one: &str, many: &str| {
        if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
    };
    if let Some(&first) = walked.loose.first() {
        let polygons = count(walked.loose.len(), "polygon belongs", "polygons belong");
        let ignored = if walked.loose.len() == 1 { "was ignored" } else { "were ignored" };
        let first = names.polygon(first);
        warnings.push(format!("{file}: {polygons} to no bundle and {ignored}, first {first}"));
    }
    if let Some(&first) = walked.open.first() {
        let bundles = count(walked.open.len(), "bundle ends", "bundles end");
        let first = names.polygon(first);
        warnings.push(format!(
            "{file}: {bundles} without a tip polygon, first the one over {first}; hint: is a face missing \
             there?"
        ));
    }
}

/// Names of vertices and polygons in messages: numbered as in the file, with their lines. Found in the text when
/// needed, so that nothing is stored for valid files.
struct InFile<'a> {
    file: &'a Path,
    bytes: &'a [u8],
}

impl InFile<'_> {
    /// The line of a statement that begins with one of these words, counted from 0.
    fn line(&self, words: &[&[u8]], mut number: usize) -> Option<u32> {
        let mut tokens = Tokens::new(self.file, self.bytes);
        loop {
            if !tokens.at_comment()
                && let Some(word) = tokens.next()
                && words.contains(&word.text)
            {
                if number == 0 {
                    return match word.place {
                        Place::Text { line, .. } => Some(line),
                        _ => None,
                    };
                }
                number -= 1;
            }
            if !tokens.next_statement() {
                return None;
            }
        }
    }
}

impl Names for InFile<'_> {
    fn vertex(&self, vertex: u32) -> String {
        let line = self.line(&[b"v"], vertex as usize).unwrap_or(0);
        format!("vertex {} (line {line})", u64::from(vertex) + 1)
    }

    fn polygon(&self, polygon: usize) -> String {
        let line = self.line(&[b"f", b"fo"], polygon).unwrap_or(0);
        format!("the polygon in line {line}")
    }
}

/// Writes a hair mesh with its groups, in metres, y up.
pub fn write_hair_mesh(path: impl AsRef<Path>, mesh: &HairMesh) -> Result<()> {
    let path = path.as_ref();
    mesh.validate().map_err(|e| Error::refused(path, e.to_string()))?;
    let mut out = AtomicFile::create(path)?;
    encode(&mut out, mesh).map_err(|e| Error::io(path, "write", e))?;
    out.commit()
}

fn face(out: &mut impl Write, vertices: &[u32]) -> io::Result<()> {
    out.write_all(b"f")?;
    for v in vertices {
        write!(out, " {}", u64::from(*v) + 1)?;
    }
    out.write_all(b"\n")
}

fn encode(out: &mut impl Write, mesh: &HairMesh) -> io::Result<()> {
    writeln!(out, "# {DECLARATION}")?;
    for p in mesh.positions() {
        writeln!(out, "v {:?} {:?} {:?}", p.x, p.y, p.z)?;
    }
    writeln!(out, "g {ROOTS}")?;
    for bundle in &mesh.bundles {
        let roots: Vec<u32> = bundle.columns().iter().map(|&c| mesh.vertex(c, 0)).collect();
        face(out, &roots)?;
    }
    let topology = mesh.topology();
    // A side is part of a seam if one of its columns may part on its upper level.
    let mut opens = vec![u32::MAX; mesh.column_count()];
    for seam in &mesh.seams {
        for c in seam.columns {
            opens[c as usize] = opens[c as usize].min(seam.first_level);
        }
    }
    let (seams, sides): (Vec<&Side>, Vec<&Side>) = topology.sides.iter().partition(|side| {
        let opening = side.columns.map(|c| opens[c as usize]).into_iter().min().unwrap_or(u32::MAX);
        matches!(side.kind, SideKind::Seam { .. }) && side.layer + 1 >= opening
    });
    for (name, faces) in [("sides", sides), (SEAMS, seams)] {
        if !faces.is_empty() {
            writeln!(out, "g {name}")?;
            for side in faces {
                face(out, &side.vertices)?;
            }
        }
    }
    writeln!(out, "g tips")?;
    for cap in &topology.caps {
        face(out, &cap.vertices[..usize::from(cap.corners)])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(mesh: &HairMesh) -> HairMesh {
        let mut bytes = Vec::new();
        encode(&mut bytes, mesh).unwrap();
        parse_hair_mesh(Path::new("mesh.obj"), &bytes, &ReadOptions::default()).unwrap().value
    }

    #[test]
    fn a_hair_mesh_comes_back_as_it_was() {
        let block = HairMesh::block([3, 2], 4, Vec3::new(0.1, 0.3, 0.1), true);
        assert_eq!(there_and_back(&block), block);
        let mut uneven = HairMesh::block([3, 3], 4, Vec3::new(0.1, 0.3, 0.1), false);
        uneven.bundles[4].layers = 2;
        assert_eq!(there_and_back(&uneven), uneven);
        let whole = HairMesh::block([2, 2], 3, Vec3::new(0.1, 0.3, 0.1), false);
        for first_level in [1, 2] {
            let cut = whole.cut(&[[1, 4], [4, 7]], first_level);
            assert_eq!(there_and_back(&cut), cut);
        }
    }

    #[test]
    fn a_body_is_not_a_hair_mesh_and_a_broken_one_is_named() {
        let body = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        let read = |bytes: &[u8]| {
            parse_hair_mesh(Path::new("a.obj"), bytes, &ReadOptions::default()).unwrap_err()
        };
        assert!(read(body).to_string().contains("group 'roots'"));
        let bare = b"v 0 0 0\nv 1 0 0\nv 0 1 0\ng roots\nf 1 2 3\n";
        assert!(read(bare).to_string().contains("the polygon in line 5"), "{}", read(bare));
    }
}
