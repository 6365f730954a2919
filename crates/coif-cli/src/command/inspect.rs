//! `coif inspect`: shows the content of a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use coif::groom::hair_mesh::Exposure;
use coif::groom::{Groom, Strands};
use coif_io::{Cache, FileKind, ReadOptions};
use glam::Vec3;
use serde::Serialize;

use crate::failure::Failure;
use crate::frames::NumberedFiles;
use crate::run::build_scene;
use crate::source::Source;
use crate::talk::{self, Talk};
use crate::units;

/// Show what is in a groom, a mesh, a hair mesh, a simulation or a scene
#[derive(Args)]
#[command(after_help = "Examples:
  coif inspect hair.hair
  coif inspect run --json | jq .length_m.median
  coif inspect 'hair.####.hair'                    numbered files: the first of them, and how many there are
  coif inspect spin                                a built-in scene")]
pub(crate) struct Inspect {
    /// A .hair or .obj file, numbered files (NAME.####.hair), the folder of a simulation, a scene file or a built-in scene
    file: String,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
}

/// The content of a file. The keys are part of the interface of `--json`.
#[derive(Debug, Serialize)]
struct Found {
    file: String,
    kind: String,
    strands: usize,
    points: usize,
    frames: u64,
    length_m: Option<Lengths>,
    bounds_m: Option<Bounds>,
    triangles: Option<usize>,
    groups: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hair_mesh: Option<HairMeshCounts>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct HairMeshCounts {
    columns: usize,
    bundles: usize,
    prisms: usize,
    layers_max: u32,
    external_vertices: usize,
    seams: usize,
}

#[derive(Debug, Serialize)]
struct Lengths {
    min: f32,
    median: f32,
    max: f32,
}

#[derive(Debug, Serialize)]
struct Bounds {
    min: [f32; 3],
    max: [f32; 3],
}

impl Inspect {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        let found = self.inspect(talk)?;
        if self.json { talk::print_json(&found) } else { talk::print(&found.text()) }
    }

    fn inspect(&self, talk: &Talk) -> Result<Found, Failure> {
        let path = PathBuf::from(&self.file);
        // Of numbered files the first is shown, and their number.
        if coif_scene::builtin::text(&self.file).is_none()
            && let Some(files) = NumberedFiles::find(&path)?
        {
            let first = files.file(files.first);
            let mut found = Self { file: first.display().to_string(), ..*self }.inspect(talk)?;
            (found.file, found.frames) = (self.file.clone(), files.last - files.first + 1);
            return Ok(found);
        }
        let kind = match coif_scene::builtin::text(&self.file) {
            Some(_) => FileKind::Scene,
            None => FileKind::of(&path)?,
        };
        match kind {
            FileKind::Groom => {
                let loaded = coif_io::read_groom(&path, &ReadOptions::default())?;
                let mut found = Found::of_groom(&self.file, kind, &loaded.value, loaded.warnings);
                found.add_validation_warning(&loaded.value);
                Ok(found)
            }
            FileKind::Mesh => self.inspect_mesh(&path),
            FileKind::HairMesh => self.inspect_hair_mesh(&path),
            FileKind::Cache => {
                let cache = Cache::open(&path)?;
                let frames = cache.frame_count()?;
                let groom = cache.read_frame(0)?;
                let mut found = Found::of_groom(&self.file, kind, &groom, Vec::new());
                found.frames = frames;
                Ok(found)
            }
            _ => {
                let source = Source::load(&self.file, &[])?;
                let built = build_scene(&source, talk)?;
                let warnings = built.warnings.clone();
                let mut found = Found::of_groom(&self.file, kind, &built.groom, warnings);
                found.frames = source.scene.time.frames.into();
                found.triangles = Some(built.body.rest().triangles.len());
                Ok(found)
            }
        }
    }

    fn inspect_mesh(&self, path: &Path) -> Result<Found, Failure> {
        let loaded = coif_io::read_mesh(path, &ReadOptions::default())?;
        let mesh = &loaded.value.mesh;
        Ok(Found {
            file: self.file.clone(),
            kind: FileKind::Mesh.to_string(),
            strands: 0,
            points: mesh.positions.len(),
            frames: 1,
            length_m: None,
            bounds_m: mesh.bounds().map(Bounds::from),
            triangles: Some(mesh.triangles.len()),
            groups: Some(loaded.value.groups.iter().map(|g| g.name.clone()).collect()),
            hair_mesh: None,
            warnings: loaded.warnings,
        })
    }

    fn inspect_hair_mesh(&self, path: &Path) -> Result<Found, Failure> {
        let loaded = coif_io::read_hair_mesh(path, &ReadOptions::default())?;
        let mesh = &loaded.value;
        let exposure = mesh.topology().exposure;
        Ok(Found {
            file: self.file.clone(),
            kind: FileKind::HairMesh.to_string(),
            strands: 0,
            points: mesh.vertex_count(),
            frames: 1,
            length_m: Lengths::of(&mesh.columns),
            bounds_m: mesh.columns.bounds().map(Bounds::from),
            triangles: None,
            groups: None,
            hair_mesh: Some(HairMeshCounts {
                columns: mesh.column_count(),
                bundles: mesh.bundles.len(),
                prisms: mesh.prism_count(),
                layers_max: mesh.bundles.iter().map(|b| b.layers).max().unwrap_or(0),
                external_vertices: exposure.iter().filter(|&&e| e == Exposure::External).count(),
                seams: mesh.seams.len(),
            }),
            warnings: loaded.warnings,
        })
    }
}

impl Found {
    fn of_groom(file: &str, kind: FileKind, groom: &Groom, warnings: Vec<String>) -> Self {
        Self {
            file: file.into(),
            kind: kind.to_string(),
            strands: groom.strands.strand_count(),
            points: groom.strands.point_count(),
            frames: 1,
            length_m: Lengths::of(&groom.strands),
            bounds_m: groom.strands.bounds().map(Bounds::from),
            triangles: None,
            groups: None,
            hair_mesh: None,
            warnings,
        }
    }

    /// Adds a warning if no simulation can start from the groom.
    fn add_validation_warning(&mut self, groom: &Groom) {
        if let Err(error) = groom.validate() {
            self.warnings.push(error.to_string());
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "{name:10} {value}");
        };
        line("file", self.file.clone());
        line("kind", self.kind.clone());
        if self.strands > 0 {
            line("strands", units::count(self.strands as u64));
        }
        line("points", units::count(self.points as u64));
        if let Some(triangles) = self.triangles {
            line("triangles", units::count(triangles as u64));
        }
        if let Some(mesh) = &self.hair_mesh {
            line("columns", units::count(mesh.columns as u64));
            line("bundles", units::count(mesh.bundles as u64));
            line("prisms", units::count(mesh.prisms as u64));
            line("layers", format!("up to {}", mesh.layers_max));
            line("external", units::count(mesh.external_vertices as u64));
            line("seams", units::count(mesh.seams as u64));
        }
        if self.frames != 1 {
            line("frames", units::count(self.frames));
        }
        if let Some(Lengths { min, median, max }) = self.length_m {
            let [min, median, max] = [min, median, max].map(units::metres);
            line("length", format!("{min} to {max}, median {median}"));
        }
        if let Some(Bounds { min, max }) = self.bounds_m {
            let side = |i: usize| units::metres(max[i] - min[i]);
            line("size", format!("{} x {} x {}", side(0), side(1), side(2)));
            line("bounds", format!("{min:.3?} to {max:.3?} m"));
        }
        if let Some(groups) = &self.groups
            && !groups.is_empty()
        {
            line("groups", groups.join(", "));
        }
        for warning in &self.warnings {
            line("warning", warning.clone());
        }
        out
    }
}

impl Lengths {
    fn of(strands: &Strands) -> Option<Self> {
        let mut lengths: Vec<f32> =
            (0..strands.strand_count()).map(|s| strands.length(s)).collect();
        lengths.sort_by(f32::total_cmp);
        let (min, max) = (*lengths.first()?, *lengths.last()?);
        Some(Self { min, median: lengths[lengths.len() / 2], max })
    }
}

impl From<(Vec3, Vec3)> for Bounds {
    fn from((min, max): (Vec3, Vec3)) -> Self {
        Self { min: min.into(), max: max.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_strands() {
        let mut strands = Strands::new();
        for length in [3.0, 1.0, 2.0] {
            strands.push(&[Vec3::ZERO, Vec3::X * length]);
        }
        let found = Lengths::of(&strands).unwrap();
        assert_eq!((found.min, found.median, found.max), (1.0, 2.0, 3.0));
        assert!(Lengths::of(&Strands::new()).is_none());
    }
}
