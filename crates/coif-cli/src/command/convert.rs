//! `coif convert`: converts between formats.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use coif::groom::Groom;
use coif_io::{Cache, FileKind, ReadOptions, SequenceName, Up};

use crate::failure::Failure;
use crate::interrupt;
use crate::talk::{self, Talk};
use crate::target::{ending, probe_file};
use crate::units;

/// Convert grooms and meshes between formats, or take frames out of a simulation
///
/// Grooms: .hair and .obj (polylines). Meshes and hair meshes: .obj. Everything is written in metres, y up.
/// An existing file OUT is replaced when the new one is complete.
#[derive(Args)]
#[command(after_help = "Examples:
  coif convert wWavy.hair wavy.obj
  coif convert scan.obj scan.hair --scale 0.01 --up z      centimetres, z up
  coif convert dense.hair light.hair --points 16           16 points on every strand
  coif convert run frame30.hair --frame 30                 a frame of a simulation
  coif convert run 'all.####.obj'                          all of them, numbered")]
pub(crate) struct Convert {
    /// A groom or mesh file, or the folder of a simulation
    input: PathBuf,
    /// The file to write; its extension chooses the format. NAME.####.hair or NAME.####.obj: one per frame of a
    /// simulation
    output: PathBuf,
    /// Metres per unit of IN, such as 0.01 for centimetres [default: what IN says, or a guess]
    #[arg(long, value_name = "METRES")]
    scale: Option<f32>,
    /// The axis of IN that points up [default: what IN says, or y]
    #[arg(long, value_name = "AXIS")]
    up: Option<UpAxis>,
    /// Resample every strand to this many points at equal distances
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=1000))]
    points: Option<u16>,
    /// Frame of a simulation, from 0 [default: the last, or all into numbered files]
    #[arg(long, value_name = "N")]
    frame: Option<u64>,
}

/// Accepted metres per unit: from atoms to planets. Beyond, single precision loses thickness or length.
const SCALES: std::ops::RangeInclusive<f32> = 1e-10..=1e7;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum UpAxis {
    Y,
    Z,
}

impl Convert {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        // Complete the current file on Ctrl-C rather than leave half of it.
        interrupt::listen();
        let options = ReadOptions {
            scale_m: self.scale,
            up: self.up.map(|up| match up {
                UpAxis::Y => Up::Y,
                UpAxis::Z => Up::Z,
            }),
        };
        if let Some(scale) = self.scale
            && !SCALES.contains(&scale)
        {
            let hint = "use 0.01 for centimetres, 0.001 for millimetres";
            let message = format!(
                "--scale {scale:?}: expected {:?} to {:?} metres",
                SCALES.start(),
                SCALES.end()
            );
            return Err(Failure::new(message, hint));
        }
        let kind = FileKind::of(&self.input)?;
        if kind == FileKind::Scene {
            return Err(Failure::new(
                format!("{}: a scene cannot be converted", self.input.display()),
                "simulate it: coif simulate SCENE -o OUT.hair",
            ));
        }
        if ending(&self.output) == "glb" {
            return Err(Failure::new(
                format!(
                    "{}: strips are written by the simulation that moves them",
                    self.output.display()
                ),
                "simulate them: coif simulate SCENE --set model.name=cantilever -o OUT.glb",
            ));
        }
        if !["hair", "obj"].contains(&ending(&self.output).as_str()) {
            return Err(Failure::new(
                format!("{}: no format with this extension", self.output.display()),
                "use .hair or .obj for grooms, .obj for meshes",
            ));
        }
        if let Some(sequence) = SequenceName::parse(&self.output) {
            return self.convert_frames(kind, &sequence, talk);
        }
        probe_file(&self.output)?;
        if kind == FileKind::HairMesh {
            return self.convert_hair_mesh(&options, talk);
        }
        if kind == FileKind::Mesh {
            return self.convert_mesh(&options, talk);
        }
        // Read the hair, resample it, write it.
        let groom = if kind == FileKind::Cache {
            let cache = Cache::open(&self.input)?;
            let last = cache.frame_count()?.saturating_sub(1);
            cache.read_frame(self.frame.unwrap_or(last))?
        } else {
            let loaded = coif_io::read_groom(&self.input, &options)?;
            loaded.warnings.iter().for_each(|w| talk.warn(w));
            loaded.value
        };
        let (groom, dropped) = self.write_groom(groom, &self.output)?;
        dropped.iter().for_each(|l| talk.warn(l));
        talk::print(&format!(
            "{}: {} strands, {} points\n",
            self.output.display(),
            units::count(groom.strands.strand_count() as u64),
            units::count(groom.strands.point_count() as u64)
        ))
    }

    /// Resamples a groom and writes it; returns what was written, and what the format cannot store.
    fn write_groom(&self, mut groom: Groom, to: &Path) -> Result<(Groom, Vec<String>), Failure> {
        if let Some(points) = self.points {
            groom = groom
                .resampled(points.into())
                .map_err(|e| Failure::from(e).in_file(&self.input))?;
        }
        let dropped = coif_io::write_groom(to, &groom)?;
        Ok((groom, dropped))
    }

    /// Writes one file per frame of a simulation, with the number of the frame.
    fn convert_frames(
        &self,
        kind: FileKind,
        sequence: &SequenceName,
        talk: &Talk,
    ) -> Result<(), Failure> {
        if kind != FileKind::Cache {
            return Err(Failure::new(
                format!(
                    "{}: is one file, and cannot be written as the numbered files {}",
                    self.input.display(),
                    self.output.display()
                ),
                "leave out the placeholder for the frame number, or give the folder of a simulation",
            ));
        }
        let cache = Cache::open(&self.input)?;
        let frames = match self.frame {
            Some(frame) => frame..frame.saturating_add(1),
            None => 0..cache.frame_count()?,
        };
        if frames.is_empty() {
            // Reading reports what is missing.
            cache.read_frame(0)?;
        }
        probe_file(&sequence.file(frames.start))?;
        let mut written = 0;
        for frame in frames {
            if interrupt::requested() {
                let message =
                    format!("{written} complete files of {} remain", self.output.display());
                return Err(Failure::Interrupted { message });
            }
            let (_, dropped) = self.write_groom(cache.read_frame(frame)?, &sequence.file(frame))?;
            // A format stores the same of every frame.
            if written == 0 {
                dropped.iter().for_each(|l| talk.warn(l));
            }
            written += 1;
        }
        let count = units::count(written);
        let files = if written == 1 { "file" } else { "files" };
        talk::print(&format!("{}: {count} {files}\n", self.output.display()))
    }

    fn convert_hair_mesh(&self, options: &ReadOptions, talk: &Talk) -> Result<(), Failure> {
        if ending(&self.output) != "obj" {
            return Err(Failure::new(
                format!("{}: a hair mesh is not made of strands", self.output.display()),
                "use .obj, or grow hair in it: [groom] file = \"IN.obj\" in a scene",
            ));
        }
        let loaded = coif_io::read_hair_mesh(&self.input, options)?;
        loaded.warnings.iter().for_each(|w| talk.warn(w));
        coif_io::write_hair_mesh(&self.output, &loaded.value)?;
        talk::print(&format!(
            "{}: {} vertices, {} bundles\n",
            self.output.display(),
            units::count(loaded.value.vertex_count() as u64),
            units::count(loaded.value.bundles.len() as u64)
        ))
    }

    fn convert_mesh(&self, options: &ReadOptions, talk: &Talk) -> Result<(), Failure> {
        let loaded = coif_io::read_mesh(&self.input, options)?;
        loaded.warnings.iter().for_each(|w| talk.warn(w));
        coif_io::write_mesh(&self.output, &loaded.value)?;
        talk::print(&format!(
            "{}: {} vertices, {} triangles\n",
            self.output.display(),
            units::count(loaded.value.mesh.positions.len() as u64),
            units::count(loaded.value.mesh.triangles.len() as u64)
        ))
    }
}
