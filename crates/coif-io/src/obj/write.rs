//! Writers of `.obj` files. Numbers have the shortest form that reads back with the same bits.

use std::io::{self, Write};
use std::path::Path;

use coif::groom::Groom;
use glam::Vec3;

use super::{GroupKind, ObjMesh};
use crate::unit::DECLARATION;
use crate::writable::check_writable;
use crate::{AtomicFile, Error, Result};

/// Writes hair as polylines, in metres, y up. Returns notes on what the format cannot store.
pub fn write_groom(path: impl AsRef<Path>, groom: &Groom) -> Result<Vec<String>> {
    let path = path.as_ref();
    check_writable(path, groom, groom.strands.positions())?;
    let mut out = AtomicFile::create(path)?;
    encode_groom(&mut out, groom).map_err(|e| Error::io(path, "write", e))?;
    out.commit()?;
    let mut dropped = Vec::new();
    let mut note = |is_dropped: bool, what: &str| {
        if is_dropped {
            dropped.push(format!("{}: an .obj file does not hold {what}", path.display()));
        }
    };
    note(groom.radius.iter().any(|&r| r != groom.fibre.radius), "a radius per point");
    note(groom.transparency.is_some(), "transparency");
    note(groom.embedded.iter().any(|&n| n > 1), "how many points are embedded in the skin");
    Ok(dropped)
}

fn encode_groom(out: &mut impl Write, groom: &Groom) -> io::Result<()> {
    writeln!(out, "# {DECLARATION} radius={:?}", groom.fibre.radius)?;
    for (i, p) in groom.strands.positions().iter().enumerate() {
        write!(out, "v {:?} {:?} {:?}", p.x, p.y, p.z)?;
        if let Some(color) = &groom.color {
            let c = color[i];
            write!(out, " {:?} {:?} {:?}", c.x, c.y, c.z)?;
        }
        out.write_all(b"\n")?;
    }
    for s in 0..groom.strands.strand_count() {
        out.write_all(b"l")?;
        for p in groom.strands.points_of(s) {
            write!(out, " {}", p + 1)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a body with its named parts, in metres, y up.
pub fn write_mesh(path: impl AsRef<Path>, body: &ObjMesh) -> Result<()> {
    let path = path.as_ref();
    if body.mesh.triangles.is_empty() {
        return Err(Error::refused(path, "the mesh has no triangles, there is nothing to write"));
    }
    body.mesh.validate().map_err(|e| Error::refused(path, e.to_string()))?;
    let mut out = AtomicFile::create(path)?;
    encode_mesh(&mut out, body).map_err(|e| Error::io(path, "write", e))?;
    out.commit()
}

fn encode_mesh(out: &mut impl Write, body: &ObjMesh) -> io::Result<()> {
    writeln!(out, "# {DECLARATION}")?;
    for &Vec3 { x, y, z } in &body.mesh.positions {
        writeln!(out, "v {x:?} {y:?} {z:?}")?;
    }
    // Find the triangles at which a part starts or ends; between them no name changes.
    let ranges = body.groups.iter().flat_map(|g| &g.triangles);
    let mut changes: Vec<u32> = ranges.flat_map(|r| [r.start, r.end]).collect();
    changes.sort_unstable();
    changes.dedup();
    let mut changes = changes.into_iter().peekable();
    let mut open: [Vec<String>; 3] = Default::default();
    for (t, triangle) in body.mesh.triangles.iter().enumerate() {
        if changes.next_if(|&change| change as usize == t).is_some() {
            for ((kind, word), open) in STATEMENTS.into_iter().zip(&mut open) {
                let names = names_at(body, kind, t as u32);
                if names != *open {
                    writeln!(out, "{word} {}", names.join(" "))?;
                    *open = names;
                }
            }
        }
        let [a, b, c] = triangle.map(|v| u64::from(v) + 1);
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}

const STATEMENTS: [(GroupKind, &str); 3] =
    [(GroupKind::Object, "o"), (GroupKind::Group, "g"), (GroupKind::Material, "usemtl")];

/// Names of the parts that a triangle belongs to, with characters that would end the statement replaced.
fn names_at(body: &ObjMesh, kind: GroupKind, triangle: u32) -> Vec<String> {
    let holds = |g: &&super::Group| {
        g.kind == kind && g.triangles.iter().any(|range| range.contains(&triangle))
    };
    let separates = |c: char| c.is_control() || (kind == GroupKind::Group && c.is_whitespace());
    body.groups.iter().filter(holds).map(|g| g.name.replace(separates, "_")).collect()
}
