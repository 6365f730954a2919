//! `coif render`: pictures and films of existing hair.

use std::f32::consts::TAU;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use coif::body::Body;
use coif::groom::{Groom, Strands};
use coif::with_threads;
use coif_io::{Cache, FileKind, ReadOptions};
use coif_render::studio::{self, Studio};
use coif_scene::file::{Background, Camera, HairColor, HairPreset, RenderSettings, Scene, View};
use coif_scene::{Built, build};
use glam::Vec3;

use super::{point, range, size, threads};
use crate::failure::Failure;
use crate::frames::{Frames, NumberedFiles};
use crate::interrupt;
use crate::picture_file::PictureFile;
use crate::run::build_scene;
use crate::source::Source;
use crate::talk::{self, Talk};
use crate::units;

/// Pictures and films of a simulation, a groom or a scene
///
/// The folder of a simulation gives the film of its frames with the body of its scene, or the picture of one frame. A
/// groom file gives a picture of the groom, a scene one of its first frame. A film of something that does not move
/// turns around it.
#[derive(Args)]
#[command(after_help = "Examples:
  coif render run -o run.mp4                            the film of a simulation
  coif render run -o last.png --view back               its last frame, seen from behind
  coif render hair.hair -o hair.png --hair blond
  coif render 'hair.####.hair' -o hair.mp4 --body 'head.%04d.obj'    numbered files
  coif render hair.hair --body head.obj -o turn.gif --turntable 60 --size 480x480
  coif render long-curly -o curls.png --set groom.strands=50000")]
pub(crate) struct Render {
    /// The folder of a simulation, a .hair or .obj groom, numbered grooms (NAME.####.hair), a scene file or a
    /// built-in scene
    input: String,
    /// A picture (.png) or a film (.mp4, .gif, .apng, NAME.####.png or NAME.%04d.png)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Frame of a simulation or of numbered files [default: the last]
    #[arg(long, value_name = "N", help_heading = "Subject", conflicts_with = "frames")]
    frame: Option<u64>,
    /// Frames A to B of a simulation or of numbered files, both included [default: all]
    #[arg(long, value_name = "A..B", value_parser = range, help_heading = "Subject")]
    frames: Option<(u64, u64)>,
    /// Turn once around the subject in N pictures
    #[arg(long, value_name = "N", help_heading = "Subject", conflicts_with = "frames",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    turntable: Option<u32>,
    /// A mesh to show behind a groom file, or numbered meshes behind numbered grooms
    #[arg(long, value_name = "MESH", help_heading = "Subject")]
    body: Option<PathBuf>,
    /// Direction of view
    #[arg(long, value_name = "VIEW", help_heading = "Camera", conflicts_with = "camera",
          value_parser = clap::builder::PossibleValuesParser::new(View::NAMES))]
    view: Option<String>,
    /// Position of the camera (m)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, help_heading = "Camera",
          allow_hyphen_values = true)]
    camera: Option<Vec3>,
    /// The point in the middle of the picture (m)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, help_heading = "Camera",
          allow_hyphen_values = true)]
    target: Option<Vec3>,
    /// Vertical field of view (degrees)
    #[arg(long, value_name = "DEGREES", value_parser = fov, help_heading = "Camera")]
    fov: Option<f32>,
    /// Size in pixels
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Appearance")]
    size: Option<(u32, u32)>,
    /// Hair colour: groom (that of the file), black, dark-brown, brown, red, blond, grey, white, or linear r,g,b
    #[arg(long, value_name = "NAME", value_parser = hair, help_heading = "Appearance")]
    hair: Option<HairColor>,
    /// Background: studio, dark, light, or linear r,g,b
    #[arg(long, value_name = "NAME", value_parser = background, help_heading = "Appearance")]
    background: Option<Background>,
    /// Change a key of the scene, such as groom.strands=50000; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Subject")]
    sets: Vec<String>,
    /// Frames per second of a film
    #[arg(long, value_name = "N", help_heading = "Appearance")]
    fps: Option<f64>,
    /// Threads; 0 is one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = threads)]
    threads: usize,
}

/// Default number of pictures of a full turn: two seconds at sixty pictures a second.
const TURN: u32 = 120;

/// What is rendered.
enum Subject {
    /// A groom and, optionally, a mesh behind it.
    Groom(Groom, Option<Arc<Body>>),
    /// A scene and its hair at the start.
    Scene(Box<Built>, Strands),
    /// Numbered grooms, the last of them, and the body behind them with the number of its first frame.
    Files(Box<Frames>, Groom, Option<Arc<Body>>, u64),
    /// A simulation, with its body unless that could not be built.
    Cache(Cache, Option<Box<Built>>),
}

impl Render {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        with_threads(self.threads, || self.render(talk))?
    }

    fn render(&self, talk: &Talk) -> Result<(), Failure> {
        interrupt::listen();
        // Open the output before any slow work.
        let is_builtin = coif_scene::builtin::text(&self.input).is_some();
        let files = if is_builtin { None } else { NumberedFiles::find(Path::new(&self.input))? };
        let kind = match &files {
            _ if is_builtin => FileKind::Scene,
            Some(files) => self.kind_of_hair(files.kind)?,
            None => self.kind()?,
        };
        let scene = self.scene(kind)?;
        let fps = self.fps.or(scene.render.film_fps.map(f64::from));
        let mut file =
            PictureFile::create(&self.output, fps.unwrap_or_else(|| scene.time.fps.into()))?;
        let mut renderer = studio::renderer(&scene.render)?;
        renderer.stop_when(interrupt::flag());
        let mut subject = match files {
            Some(files) => self.numbered(files, &scene, talk)?,
            None => self.subject(kind, &scene, talk)?,
        };

        // Set up the camera, and render picture after picture.
        let shots = self.shots(&subject, file.is_film())?;
        let mut studio = match &subject {
            Subject::Scene(built, _) | Subject::Cache(_, Some(built)) => {
                Studio::of_scene(renderer, built)
            }
            Subject::Groom(groom, body) | Subject::Files(_, groom, body, _) => {
                Studio::of_groom(renderer, &scene.render, groom, body.clone())
            }
            Subject::Cache(cache, None) => {
                Studio::of_groom(renderer, &scene.render, &cache.read_frame(0)?, None)
            }
        };
        let mut progress = talk.progress("rendering", shots.len() as u64);
        let mut kept = None;
        let mut shown: Option<(u64, Groom)> = None;
        for (frame, turn) in &shots {
            let time = *frame as f64 / f64::from(scene.time.fps);
            let image = match &mut subject {
                Subject::Files(frames, groom, _, first) => {
                    if kept != Some(*frame) {
                        (*groom, kept) = (frames.read(*frame, talk)?, Some(*frame));
                    }
                    let time = frame.saturating_sub(*first) as f64 / f64::from(scene.time.fps);
                    studio.shoot(groom, &groom.strands, time, *turn)
                }
                Subject::Groom(groom, _) => studio.shoot(groom, &groom.strands, 0.0, *turn),
                Subject::Scene(built, strands) => studio.shoot(&built.groom, strands, 0.0, *turn),
                Subject::Cache(cache, _) => {
                    if shown.as_ref().is_none_or(|(number, _)| number != frame) {
                        shown = Some((*frame, cache.read_frame(*frame)?));
                    }
                    let Some((_, groom)) = &shown else { continue };
                    studio.shoot(groom, &groom.strands, time, *turn)
                }
            };
            if !interrupt::requested() {
                file.push(image?)?;
                progress.advance();
            }
            if interrupt::requested() {
                let message = file.kept().unwrap_or_else(|| "nothing was written".into());
                return Err(Failure::Interrupted { message });
            }
        }
        drop(progress);
        let path = file.finish()?;
        let bytes = std::fs::metadata(&path).map(|m| units::bytes(m.len())).unwrap_or_default();
        talk::print(&format!("{}  {} pictures  {bytes}\n", path.display(), shots.len()))
    }

    fn kind(&self) -> Result<FileKind, Failure> {
        let path = Path::new(&self.input);
        if !path.exists() {
            // Loading reports which scenes there are.
            Source::load(&self.input, &[])?;
        }
        let kind = self.kind_of_hair(FileKind::of(path)?)?;
        if kind != FileKind::Cache && (self.frame.is_some() || self.frames.is_some()) {
            return Err(Failure::new(
                format!("{}: has no frames to choose from", path.display()),
                "--frame and --frames are for the folder of a simulation",
            ));
        }
        Ok(kind)
    }

    /// Refuses meshes.
    fn kind_of_hair(&self, kind: FileKind) -> Result<FileKind, Failure> {
        if kind == FileKind::Mesh {
            return Err(Failure::new(
                format!("{}: is a mesh, expected hair", self.input),
                "show a mesh behind hair: coif render HAIR --body MESH -o picture.png",
            ));
        }
        Ok(kind)
    }

    /// Numbered grooms, and the meshes behind them.
    fn numbered(
        &self,
        files: NumberedFiles,
        scene: &Scene,
        talk: &Talk,
    ) -> Result<Subject, Failure> {
        let mut first = files.first;
        let mut frames = Frames::of_files(files, &ReadOptions::default());
        let (_, last) = frames.selected(self.frame, self.frames)?;
        let groom = frames.read(last, talk)?;
        let body = match &self.body {
            Some(path) if NumberedFiles::find(path)?.is_some() => {
                let meshes = coif_io::read_mesh_sequence(path, &ReadOptions::default())?;
                meshes.warnings.iter().for_each(|w| talk.warn(w));
                let meshes = meshes.value;
                first = meshes.first_frame;
                let fps = scene.time.fps.into();
                let body = Body::sampled(meshes.first.mesh.triangles, meshes.frames, fps);
                Some(Arc::new(body.map_err(|e| Failure::from(e).in_file(path))?))
            }
            Some(path) => Some(still_body(path, talk)?),
            None => None,
        };
        Ok(Subject::Files(Box::new(frames), groom, body, first))
    }

    /// The scene whose `[render]` is used, changed by the options.
    fn scene(&self, kind: FileKind) -> Result<Scene, Failure> {
        let mut scene = match kind {
            FileKind::Scene => Source::load(&self.input, &self.sets)?.scene,
            FileKind::Cache => {
                let name = format!("{}/scene.toml", self.input);
                Scene::from_toml(&Cache::open(&self.input)?.scene()?, &name, &self.sets)?
            }
            _ => Scene::from_toml("", &self.input, &self.sets)?,
        };
        self.change(&mut scene.render);
        Ok(scene)
    }

    fn change(&self, render: &mut RenderSettings) {
        if let Some((width, height)) = self.size {
            (render.width, render.height) = (width, height);
        }
        let view = self.view.as_deref();
        if let Some(&view) = View::ALL.iter().find(|v| Some(v.name()) == view) {
            render.camera = Camera::View(view);
            render.camera_target = None;
        }
        if let Some(position) = self.camera {
            render.camera = Camera::Position(position);
            render.camera_target = None;
        }
        render.camera_target = self.target.or(render.camera_target);
        render.fov = self.fov.unwrap_or(render.fov);
        render.hair = self.hair.unwrap_or(render.hair);
        render.background = self.background.unwrap_or(render.background);
    }

    fn subject(&self, kind: FileKind, scene: &Scene, talk: &Talk) -> Result<Subject, Failure> {
        if self.body.is_some() && kind != FileKind::Groom {
            return Err(Failure::new(
                format!("{}: has its own body", self.input),
                "--body is for groom files",
            ));
        }
        match kind {
            FileKind::Scene => {
                let source =
                    Source { scene: scene.clone(), ..Source::load(&self.input, &self.sets)? };
                let built = build_scene(&source, talk)?;
                let strands = built.simulation()?.strands();
                Ok(Subject::Scene(Box::new(built), strands))
            }
            FileKind::Cache => {
                let cache = Cache::open(&self.input)?;
                let working = talk.working("building the body");
                let built = build(scene, cache.folder());
                drop(working);
                let built = built
                    .inspect_err(|e| talk.warn(format_args!("the body is left out: {e}")))
                    .ok();
                Ok(Subject::Cache(cache, built.map(Box::new)))
            }
            _ => {
                let loaded = coif_io::read_groom(&self.input, &ReadOptions::default())?;
                loaded.warnings.iter().for_each(|w| talk.warn(w));
                let body = self.body.as_deref().map(|path| still_body(path, talk)).transpose()?;
                Ok(Subject::Groom(loaded.value, body))
            }
        }
    }

    /// The frame and the camera angle (rad) of each picture.
    fn shots(&self, subject: &Subject, is_film: bool) -> Result<Vec<(u64, f32)>, Failure> {
        let (first, last) = match subject {
            Subject::Cache(cache, _) => Frames::Cache(cache.clone()).range()?,
            Subject::Files(frames, ..) => frames.range()?,
            _ => (0, 0),
        };
        let shown = self.frame.unwrap_or(last);
        let moves = last > first && self.turntable.is_none() && self.frame.is_none();
        if !is_film {
            if self.turntable.is_some() || self.frames.is_some() {
                return Err(Failure::new(
                    format!("{}: is one picture", self.output.display()),
                    "use a film (.mp4, .gif, .apng) or numbered pictures (NAME.####.png)",
                ));
            }
            return Ok(vec![(shown, 0.0)]);
        }
        if moves || self.frames.is_some() {
            let (a, b) = self.frames.unwrap_or((first, last));
            if a < first || b > last {
                return Err(Failure::new(
                    format!("there is no frame {b}, {} holds {first} to {last}", self.input),
                    format!("choose some of them: --frames {first}..{last}"),
                ));
            }
            return Ok((a..=b).map(|f| (f, 0.0)).collect());
        }
        let pictures = self.turntable.unwrap_or(TURN);
        Ok((0..pictures).map(|i| (shown, TAU * i as f32 / pictures as f32)).collect())
    }
}

/// A body that does not move.
fn still_body(path: &Path, talk: &Talk) -> Result<Arc<Body>, Failure> {
    let mesh = coif_io::read_mesh(path, &ReadOptions::default())?;
    mesh.warnings.iter().for_each(|w| talk.warn(w));
    let body = Body::still(mesh.value.mesh);
    Ok(Arc::new(body.map_err(|e| Failure::from(e).in_file(path))?))
}

fn fov(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(degrees) if (1.0..=150.0).contains(&degrees) => Ok(degrees),
        _ => Err("expected 1 to 150 degrees".into()),
    }
}

fn hair(text: &str) -> Result<HairColor, String> {
    let preset = HairPreset::ALL.iter().find(|p| p.name() == text);
    match (preset, color(text)) {
        (Some(&preset), _) => Ok(HairColor::Preset(preset)),
        (None, Some(color)) => Ok(HairColor::Linear(color)),
        _ => Err(format!("expected r,g,b from 0 to 1, or one of {}", HairPreset::NAMES.join(", "))),
    }
}

fn background(text: &str) -> Result<Background, String> {
    match (text, color(text)) {
        ("studio", _) => Ok(Background::Studio),
        ("dark", _) => Ok(Background::Dark),
        ("light", _) => Ok(Background::Light),
        (_, Some(color)) => Ok(Background::Color(color)),
        _ => Err("expected studio, dark, light, or r,g,b from 0 to 1".into()),
    }
}

fn color(text: &str) -> Option<Vec3> {
    point(text).ok().filter(|c| c.min_element() >= 0.0 && c.max_element() <= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        assert_eq!(hair("blond"), Ok(HairColor::Preset(HairPreset::Blond)));
        assert_eq!(hair("0.1,0.2,0.3"), Ok(HairColor::Linear(Vec3::new(0.1, 0.2, 0.3))));
        assert!(hair("plaid").is_err() && hair("2,0,0").is_err());
        assert_eq!(background("dark"), Ok(Background::Dark));
        assert!(background("neon").is_err());
        assert!(fov("0").is_err() && fov("x").is_err() && fov("35").is_ok());
    }
}
