//! An animated body as one `.obj` file per frame.

use std::path::{Path, PathBuf};

use coif::body::TriangleMesh;
use glam::Vec3;
use rayon::prelude::*;

use super::parse::Parsed;
use super::{ObjMesh, convert, mesh_of};
use crate::unit::Conversion;
use crate::{Error, Loaded, Place, ReadOptions, Result, SequenceName};

/// A body whose vertices move and whose triangles are constant.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshSequence {
    /// The first frame, with the triangles and names of all.
    pub first: ObjMesh,
    /// The number in the file name of the first frame.
    pub first_frame: u64,
    /// Vertex positions (m), one list per frame, the first one included.
    pub frames: Vec<Vec<Vec3>>,
}

impl MeshSequence {
    /// The body at a frame, counted from 0; the last one after the end.
    pub fn mesh(&self, frame: usize) -> TriangleMesh {
        let positions = self.frames.get(frame).or(self.frames.last()).cloned();
        TriangleMesh {
            positions: positions.unwrap_or_default(),
            triangles: self.first.mesh.triangles.clone(),
        }
    }
}

/// Reads all frames of a pattern such as `walk.%04d.obj` or `walk.####.obj`.
///
/// Starts with the lowest number that exists and continues without a gap. Unit and axes are those of the first frame.
/// Every frame needs the polygons of the first one.
pub fn read_mesh_sequence(
    pattern: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<Loaded<MeshSequence>> {
    let pattern = pattern.as_ref();
    let (first_frame, files) = find_frames(pattern)?;
    let parse = |file: &PathBuf| Parsed::new(file, &crate::load(file)?);

    // Read the first frame: it determines the triangulation and the unit.
    let mut start = parse(&files[0])?;
    start.drop_vertices_of_lines();
    let (corners, face_ends) = (start.corners.clone(), start.face_ends.clone());
    let Loaded { value: first, warnings, scale_m, up } = mesh_of(&files[0], start, options)?;
    let conversion = Conversion { scale_m, up };

    // Read the others in parallel, and name the first that differs.
    let others: Vec<Result<Vec<Vec3>>> = files[1..]
        .par_iter()
        .map(|file| {
            let mut parsed = parse(file)?;
            parsed.drop_vertices_of_lines();
            let counts = [
                ("vertices", first.mesh.positions.len(), parsed.positions.len()),
                ("polygons", face_ends.len(), parsed.face_ends.len()),
            ];
            for (what, expected, found) in counts {
                if found != expected {
                    let expected = format!("{expected} {what}");
                    return Err(differs(file, &files[0], expected, format!("{found}")));
                }
            }
            let same = |i: usize| {
                let start = if i == 0 { 0 } else { face_ends[i - 1] };
                parsed.face_ends[i] == face_ends[i]
                    && parsed.corners[start..face_ends[i]] == corners[start..face_ends[i]]
            };
            if let Some(polygon) = (0..face_ends.len()).find(|&i| !same(i)) {
                let expected = format!("the corners of polygon {}", polygon + 1);
                return Err(differs(file, &files[0], expected, "others"));
            }
            convert(file, &conversion, &mut parsed.positions)?;
            Ok(parsed.positions)
        })
        .collect();
    let mut frames = vec![first.mesh.positions.clone()];
    for frame in others {
        frames.push(frame?);
    }
    let value = MeshSequence { first, first_frame, frames };
    Ok(Loaded { value, warnings, scale_m, up })
}

fn differs(file: &Path, first: &Path, expected: String, found: impl Into<String>) -> Error {
    let name = first.file_name().unwrap_or(first.as_os_str()).to_string_lossy();
    Error::malformed(file, Place::Whole, format!("{expected} as in {name}"), found)
        .with_hint("all frames need the same topology; export them from one mesh without modifiers that change it")
}

/// The number of the first frame, and the files of all frames.
fn find_frames(pattern: &Path) -> Result<(u64, Vec<PathBuf>)> {
    const HINT: &str = "write %04d or #### where the frame number stands, as in walk.%04d.obj";
    let Some(sequence) = SequenceName::parse(pattern) else {
        let reason = "is not a pattern for a sequence of files";
        return Err(Error::refused(pattern, reason).with_hint(HINT));
    };
    let numbers = sequence.existing().map_err(|e| Error::io(sequence.folder(), "read", e))?;
    let Some(&first) = numbers.first() else {
        return Err(Error::refused(pattern, "no file fits this pattern").with_hint(HINT));
    };
    if let Some(gap) = numbers.windows(2).find(|pair| pair[1] != pair[0] + 1) {
        let reason = format!("frame {} is missing between others", gap[0] + 1);
        return Err(Error::refused(&sequence.file(gap[0] + 1), reason)
            .with_hint("export the missing frames, or move the later ones away"));
    }
    Ok((first, numbers.into_iter().map(|number| sequence.file(number)).collect()))
}
