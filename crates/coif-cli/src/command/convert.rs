//! `coif convert`: converts between formats.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use coif::groom::Groom;
use coif_io::{Cache, FileKind, ReadOptions, SequenceName, Up};
use coif_scene::Scene;

use super::range;
use crate::failure::Failure;
use crate::frames::{Frames, NumberedFiles};
use crate::interrupt;
use crate::motion;
use crate::talk::{self, Talk};
use crate::target::{ending, probe_file};
use crate::units;

/// Convert grooms and meshes between formats, or take frames and figures out of a simulation
///
/// Grooms: .hair and .obj (polylines). Meshes and hair meshes: .obj. Everything is written in metres, y up.
/// An existing file OUT is replaced when the new one is complete.
///
/// Numbered files: #### or %04d stands for the number of the frame, in IN and in OUT alike. Every frame is written,
/// or those of --frames.
///
/// Numbers: .csv has one row per frame with the health of the hair (speeds, kinks, drift, stretch, penetration). .npz
/// has arrays for numpy.load: positions (frames, points, 3) in m, velocities in m/s, times, strand_offsets, radius, fps
/// and more. These velocities are central differences of the frames; 'coif simulate SCENE -o run.npz' writes those of
/// the model.
#[derive(Args)]
#[command(after_help = "Examples:
  coif convert wWavy.hair wavy.obj
  coif convert scan.obj scan.hair --scale 0.01 --up z      centimetres, z up
  coif convert dense.hair light.hair --points 16           16 points on every strand
  coif convert run frame30.hair --frame 30                 a frame of a simulation
  coif convert run 'all.####.obj'                          all of them, numbered
  coif convert 'all.####.obj' 'part.%03d.hair' --frames 10..19
  coif convert run series.csv                              one row of figures per frame
  coif convert run run.npz                                 positions and velocities for NumPy")]
pub(crate) struct Convert {
    /// A groom or mesh file, numbered files (NAME.####.hair), or the folder of a simulation
    input: PathBuf,
    /// The file to write; its extension chooses the format. NAME.####.hair or NAME.%04d.obj: one per frame. .csv:
    /// figures of every frame. .npz: the motion
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
    /// Frame of a simulation or of numbered files [default: the last, or all of them]
    #[arg(long, value_name = "N", conflicts_with = "frames")]
    frame: Option<u64>,
    /// Frames A to B, both included [default: all]
    #[arg(long, value_name = "A..B", value_parser = range)]
    frames: Option<(u64, u64)>,
    /// Frames per second of numbered files, for .npz [of a simulation: its own]
    #[arg(long, value_name = "N", value_parser = frame_rate)]
    fps: Option<f64>,
}

/// Accepted metres per unit: from atoms to planets. Beyond, single precision loses thickness or length.
const SCALES: std::ops::RangeInclusive<f32> = 1e-10..=1e7;

/// Maximum number of bytes of a table of health: 10,000 bytes per frame of the longest simulation.
const MAX_TABLE_BYTES: u64 = 10_000_000_000;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum UpAxis {
    Y,
    Z,
}

/// The kind of output.
#[derive(Debug, PartialEq, Eq)]
enum Output {
    /// A groom or a mesh.
    One,
    /// One file per frame.
    Numbered(SequenceName),
    /// A table with a row per frame.
    Series,
    /// Arrays with positions and velocities.
    Motion,
}

impl Output {
    /// The kind of output of this name.
    fn of(path: &Path) -> Result<Self, Failure> {
        let ending = ending(path);
        let shown = path.display();
        match (ending.as_str(), SequenceName::parse(path)) {
            ("hair" | "obj", Some(sequence)) => Ok(Self::Numbered(sequence)),
            ("hair" | "obj", None) => Ok(Self::One),
            ("csv" | "npz", Some(_)) => Err(Failure::new(
                format!("{shown}: a .{ending} file holds all frames"),
                "leave out the placeholder for the frame number",
            )),
            ("csv", None) => Ok(Self::Series),
            ("npz", None) => Ok(Self::Motion),
            ("glb", _) => Err(Failure::new(
                format!("{shown}: strips are written by the simulation that moves them"),
                "simulate them: coif simulate SCENE --set model.name=cantilever -o OUT.glb",
            )),
            _ => Err(Failure::new(
                format!("{shown}: no format with this extension"),
                "use .hair or .obj for grooms, .obj for meshes, .npz for motion, .csv for figures per frame",
            )),
        }
    }
}

/// A number of frames per second.
fn frame_rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fps) if (0.001..=10_000.0).contains(&fps) => Ok(fps),
        _ => Err("expected 0.001 to 10000 frames per second".into()),
    }
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
        let output = Output::of(&self.output)?;
        if self.frames.is_some() && output == Output::One {
            return Err(Failure::new(
                format!("{}: is one file, and holds one frame", self.output.display()),
                format!(
                    "choose it with --frame, or write numbered files: {}",
                    self.output.with_extension(format!("####.{}", ending(&self.output))).display()
                ),
            ));
        }
        // Numbered files and simulations have frames.
        let mut frames = match NumberedFiles::find(&self.input)? {
            Some(files) if files.kind == FileKind::Mesh => {
                return self.convert_meshes(&files, &options, &output, talk);
            }
            Some(files) if files.kind == FileKind::Groom => Frames::of_files(files, &options),
            Some(files) => {
                return Err(Failure::new(
                    format!("{}: is a {}, and has no frames", self.input.display(), files.kind),
                    "numbered files are grooms or meshes; give the name of one file",
                ));
            }
            None => match FileKind::of(&self.input)? {
                FileKind::Cache => Frames::Cache(Cache::open(&self.input)?),
                kind => return self.convert_file(kind, &options, &output, talk),
            },
        };
        match output {
            Output::Series => self.convert_series(&frames),
            Output::Motion => self.convert_motion(&mut frames, talk),
            Output::Numbered(sequence) => self.convert_frames(&mut frames, &sequence, talk),
            Output::One => {
                let (_, last) = frames.selected(self.frame, None)?;
                probe_file(&self.output)?;
                self.convert_groom(frames.read(last, talk)?, talk)
            }
        }
    }

    /// Converts one file.
    fn convert_file(
        &self,
        kind: FileKind,
        options: &ReadOptions,
        output: &Output,
        talk: &Talk,
    ) -> Result<(), Failure> {
        let input = self.input.display();
        if kind == FileKind::Scene {
            return Err(Failure::new(
                format!("{input}: a scene cannot be converted"),
                "simulate it: coif simulate SCENE -o OUT.hair",
            ));
        }
        if self.frame.is_some() || self.frames.is_some() {
            return Err(Failure::new(
                format!("{input}: is one file, and has no frames to choose from"),
                "--frame and --frames are for numbered files and the folder of a simulation",
            ));
        }
        match output {
            Output::One => {}
            Output::Numbered(_) => {
                return Err(Failure::new(
                    format!(
                        "{input}: is one file, and cannot be written as the numbered files {}",
                        self.output.display()
                    ),
                    "leave out the placeholder for the frame number, or give numbered files or the folder \
                     of a simulation",
                ));
            }
            Output::Series | Output::Motion => {
                return Err(Failure::new(
                    format!("{input}: does not move, expected the folder of a simulation"),
                    "make one: coif simulate SCENE -o run",
                ));
            }
        }
        probe_file(&self.output)?;
        if kind == FileKind::HairMesh {
            return self.convert_hair_mesh(options, talk);
        }
        if kind == FileKind::Mesh {
            return self.convert_mesh(options, talk);
        }
        let loaded = coif_io::read_groom(&self.input, options)?;
        loaded.warnings.iter().for_each(|w| talk.warn(w));
        self.convert_groom(loaded.value, talk)
    }

    /// Writes one groom.
    fn convert_groom(&self, groom: Groom, talk: &Talk) -> Result<(), Failure> {
        let (groom, dropped) = self.write_groom(groom, &self.output)?;
        dropped.iter().for_each(|l| talk.warn(l));
        talk::print(&format!(
            "{}: {} strands, {} points\n",
            self.output.display(),
            units::count(groom.strands.strand_count() as u64),
            units::count(groom.strands.point_count() as u64)
        ))
    }

    /// Resamples a groom, if that was requested.
    fn resampled(&self, groom: Groom) -> Result<Groom, Failure> {
        match self.points {
            None => Ok(groom),
            Some(points) => {
                groom.resampled(points.into()).map_err(|e| Failure::from(e).in_file(&self.input))
            }
        }
    }

    /// Resamples a groom and writes it; returns what was written, and what the format cannot store.
    fn write_groom(&self, groom: Groom, to: &Path) -> Result<(Groom, Vec<String>), Failure> {
        let groom = self.resampled(groom)?;
        let dropped = coif_io::write_groom(to, &groom)?;
        Ok((groom, dropped))
    }

    /// Writes one file per frame, with the number of the frame.
    fn convert_frames(
        &self,
        frames: &mut Frames,
        sequence: &SequenceName,
        talk: &Talk,
    ) -> Result<(), Failure> {
        let range = frames.selected(self.frame, self.frames)?;
        let mut is_first = true;
        self.write_numbered(range, sequence, talk, |number, file| {
            let groom = frames.read(number, talk)?;
            let (_, dropped) = self.write_groom(groom, file)?;
            // A format stores the same of every frame.
            if std::mem::take(&mut is_first) {
                dropped.iter().for_each(|l| talk.warn(l));
            }
            Ok(())
        })
    }

    /// Writes numbered files with the meshes of others.
    fn convert_meshes(
        &self,
        files: &NumberedFiles,
        options: &ReadOptions,
        output: &Output,
        talk: &Talk,
    ) -> Result<(), Failure> {
        let Output::Numbered(sequence) = output else {
            return Err(Failure::new(
                format!("{}: are meshes, one per frame", self.input.display()),
                "write numbered files, such as OUT.####.obj, or give the name of one file",
            ));
        };
        if ending(&self.output) != "obj" {
            return Err(Failure::new(
                format!("{}: meshes are not written as hair", self.output.display()),
                "use .obj",
            ));
        }
        let (first, last) = (files.first, files.last);
        let (a, b) = self.frames.or(self.frame.map(|n| (n, n))).unwrap_or((first, last));
        if a < first || b > last {
            return Err(Failure::new(
                format!("{} holds frames {first} to {last}", self.input.display()),
                format!("choose some of them: --frames {first}..{last}"),
            ));
        }
        // Unit and axes are those of the first mesh.
        let mut options = *options;
        self.write_numbered((a, b), sequence, talk, |number, file| {
            let loaded = coif_io::read_mesh(files.file(number), &options)?;
            if number == a {
                loaded.warnings.iter().for_each(|w| talk.warn(w));
                options = ReadOptions { scale_m: Some(loaded.scale_m), up: Some(loaded.up) };
            }
            Ok(coif_io::write_mesh(file, &loaded.value)?)
        })
    }

    /// Writes numbered files with `write`; whatever stops it, the files that exist are complete.
    fn write_numbered(
        &self,
        (first, last): (u64, u64),
        sequence: &SequenceName,
        talk: &Talk,
        mut write: impl FnMut(u64, &Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        probe_file(&sequence.file(first))?;
        let mut written = 0;
        let mut progress = talk.progress("converting", (last - first).saturating_add(1));
        for number in first..=last {
            if interrupt::requested() {
                let message =
                    format!("{written} complete files of {} remain", self.output.display());
                return Err(Failure::Interrupted { message });
            }
            write(number, &sequence.file(number))?;
            written += 1;
            progress.advance();
        }
        drop(progress);
        let count = units::count(written);
        let files = if written == 1 { "file" } else { "files" };
        talk::print(&format!("{}: {count} {files}\n", self.output.display()))
    }

    /// Writes the rows of the health table.
    fn convert_series(&self, frames: &Frames) -> Result<(), Failure> {
        let Frames::Cache(cache) = frames else {
            return Err(Failure::new(
                format!("{}: numbered files have no figures", self.input.display()),
                "give the folder of a simulation: coif simulate SCENE -o run",
            ));
        };
        if self.points.is_some() {
            return Err(Failure::new(
                "--points: the figures are those of the simulation, with its own points",
                "leave it out, or set groom.points and simulate again",
            ));
        }
        let (first, last) = frames.selected(self.frame, self.frames)?;
        let table = cache.health_path();
        let text = coif_io::read_bounded(&table, MAX_TABLE_BYTES)?;
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let is_selected = |row: &&str| {
            let number = row.split(',').next().and_then(|n| n.parse().ok());
            number.is_some_and(|n: u64| (first..=last).contains(&n))
        };
        let rows: Vec<&str> = lines.filter(is_selected).collect();
        if rows.is_empty() {
            return Err(Failure::new(
                format!("{}: has no rows for frames {first} to {last}", table.display()),
                "simulate again to measure them",
            ));
        }
        let mut out = format!("{header}\n");
        for row in &rows {
            out.push_str(row);
            out.push('\n');
        }
        coif_io::atomic::write_whole(&self.output, out.as_bytes())?;
        let count = units::count(rows.len() as u64);
        talk::print(&format!("{}: {count} rows\n", self.output.display()))
    }

    /// Writes positions and velocities of all frames as arrays.
    fn convert_motion(&self, frames: &mut Frames, talk: &Talk) -> Result<(), Failure> {
        let range = frames.selected(self.frame, self.frames)?;
        let fps = match (&*frames, self.fps) {
            (_, Some(fps)) => fps,
            (Frames::Cache(cache), None) => {
                let name = format!("{}/scene.toml", self.input.display());
                Scene::from_toml(&cache.scene()?, &name, &[])?.time.fps.into()
            }
            (Frames::Files { .. }, None) => {
                return Err(Failure::new(
                    format!("{}: the files do not have a frame rate", self.input.display()),
                    "add for instance --fps 30, so that velocities are in m/s",
                ));
            }
        };
        let points = motion::write(&self.output, frames, range, fps, talk, |g| self.resampled(g))?;
        let count = units::count(range.1 - range.0 + 1);
        let points = units::count(points as u64);
        talk::print(&format!("{}: {count} frames of {points} points\n", self.output.display()))
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
