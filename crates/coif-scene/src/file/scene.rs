//! A scene as plain data. Units are SI, defaults are those of an empty file.

use coif::contact::{ContactSettings, strand_contact, volume};
use coif::groom::Fibre;
use coif::groom::strips::scalp;
use coif::grow::hair_mesh::Styling;
use coif::model::ModelSettings;
use coif::simulation::{Surface, Wind, World};
use coif_io::SequenceName;
use glam::Vec3;

use super::choices::{
    BodyShape, Collide, HairPreset, HairShadows, Motion, Resolution, Shading, Style, UpAxis, View,
};
use super::collider::ColliderSpec;

/// Everything that a simulation and its pictures need to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// One line for lists and progress bars. Default: empty.
    pub title: String,
    /// Where the hair comes from.
    pub groom: GroomSource,
    /// What the hair is made of. Default: human hair.
    pub fibre: Fibre,
    /// The volume that the hair grows in, for styles and models that have one.
    pub hair_mesh: HairMeshScene,
    /// What carries and touches the hair.
    pub body: BodyScene,
    /// How the hair moves. Default: Follow-The-Leader with its own defaults.
    pub model: ModelSettings,
    /// Whether and how hair touches hair as a volume: friction 0 to 1, repulsion (m) 0 to 1, cell
    /// (m) 0.0001 to 10. Default: it does not.
    pub volume: Option<volume::Settings>,
    /// How single hairs touch: each of stiction, repulsion and collision may be absent. Default: they
    /// do not touch.
    pub strands: strand_contact::Settings,
    /// Moving air: velocity (m/s), each component -200 to 200, gusts 0 to 1. Default: none.
    pub wind: Wind,
    /// Acceleration of everything that falls (m/s^2), each component -1000 to 1000. Default: that
    /// of the earth.
    pub gravity: Vec3,
    /// Frames and steps.
    pub time: Time,
    /// Pictures and films.
    pub render: RenderSettings,
    /// What is to be known about how it was written: keys with old names.
    pub warnings: Vec<String>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            title: String::new(),
            groom: GroomSource::default(),
            fibre: Fibre::default(),
            hair_mesh: HairMeshScene::default(),
            body: BodyScene::default(),
            model: ModelSettings::default(),
            volume: None,
            strands: strand_contact::Settings::NONE,
            wind: Wind::default(),
            gravity: World::default().gravity,
            time: Time::default(),
            render: RenderSettings::default(),
            warnings: Vec::new(),
        }
    }
}

impl Scene {
    /// Whether single hairs touch each other in any way.
    pub fn touches_single_hairs(&self) -> bool {
        let strand_contact::Settings { stiction, repulsion, collision, .. } = &self.strands;
        stiction.is_some() || repulsion.is_some() || collision.is_some()
    }

    /// How hair touches hair, in the order in which contacts act.
    pub fn contacts(&self) -> Vec<ContactSettings> {
        let volume = self.volume.clone().map(ContactSettings::from);
        let strands = self.touches_single_hairs().then(|| self.strands.clone().into());
        volume.into_iter().chain(strands).collect()
    }

    /// The world of the simulation, with a whole number of steps in every frame. It does not have
    /// the body's surface, whose cell depends on the body: see [`Built::world`](crate::Built::world).
    pub fn world(&self) -> World {
        World {
            gravity: self.gravity,
            wind: self.wind.clone(),
            steps_per_second: World::steps_for_fps(self.time.steps_per_second, self.time.fps),
            contacts: self.contacts(),
            ..World::default()
        }
    }
}

/// Where the hair comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum GroomSource {
    /// A built-in hairstyle.
    Style(GroomStyle),
    /// A groom made elsewhere.
    File(GroomFile),
}

impl Default for GroomSource {
    fn default() -> Self {
        Self::Style(GroomStyle::default())
    }
}

/// A built-in hairstyle, grown on the body.
#[derive(Debug, Clone, PartialEq)]
pub struct GroomStyle {
    /// Which one. Default: long-straight.
    pub style: Style,
    /// How many strands, 1 to 200000. Default: 10000.
    pub strands: u32,
    /// Points per strand, 2 to 200. Default: 30.
    pub points: u32,
    /// Points of all strands together, longer strands get more; instead of `points`. Default: the
    /// same number on every strand.
    pub particles: Option<u32>,
    /// Seed of everything random about the style, up to 2^63 - 1. Default: 1.
    pub seed: u64,
    /// Length of the longest strands (m), 0.002 to 3. Default: the style's own.
    pub length: Option<f32>,
    /// How strips grow; counts only with [`Style::Strips`].
    pub strips: StripScene,
}

/// Strips in layers over the scalp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripScene {
    /// Strips per area in each layer (1/m^2), 10 to 100000. Default: 1500.
    pub density: f32,
    /// Width of a strip (m), 0.0005 to 0.2. Default: 0.022.
    pub width: f32,
    /// Segments of a strip, 1 to 200. Default: 13.
    pub segments: u32,
    /// Height (m) at which strips are cut, -1000 to 1000. Default: not cut.
    pub cut: Option<f32>,
    /// Where hair is combed to. Default: back and down.
    pub tangent: Vec3,
    /// How far strips stand off at the root, 0 to 1. Default: 0.15.
    pub lift: f32,
    /// How much weight bends a strip down as it grows (1/m), 0 to 1000. Default: 24.
    pub weight: f32,
    /// Layers, 1 to 64. Default: 4.
    pub layers: u32,
    /// From one layer to the next (m), 0 to 0.1. Default: 0.0025.
    pub layer_distance: f32,
}

impl Default for StripScene {
    fn default() -> Self {
        let scalp::Settings { density, width, tangent, lift, weight, layers, .. } =
            scalp::Settings::default();
        let scalp::Settings { segments, cut, layer_distance, .. } = scalp::Settings::default();
        let segments = segments as u32;
        Self { density, width, segments, cut, tangent, lift, weight, layers, layer_distance }
    }
}

impl Default for GroomStyle {
    fn default() -> Self {
        Self {
            style: Style::default(),
            strands: 10_000,
            points: 30,
            particles: None,
            seed: 1,
            length: None,
            strips: StripScene::default(),
        }
    }
}

/// A groom made elsewhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroomFile {
    /// Path, relative to the folder of the scene file.
    pub path: String,
    /// Points per strand, 2 to 200. Default: as in the file.
    pub points: Option<u32>,
    /// Length of the file's unit (m), 1e-6 to 1000. Default: as the file says, else 1.
    pub scale: Option<f32>,
    /// The axis that points up. Default: as the file says, else y.
    pub up: Option<UpAxis>,
}

/// The volume that hair grows in, and what single hairs do inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HairMeshScene {
    /// How fine a built-in or fitted mesh is. Default: low.
    pub resolution: Resolution,
    /// Whether a built-in mesh may part in locks. Default: false.
    pub seams: bool,
    /// How many strands grow in a mesh from a file, 1 to 200000. Default: 10000.
    pub strands: u32,
    /// Curl, frizz, clumps and uneven ends.
    pub styling: Styling,
}

impl Default for HairMeshScene {
    fn default() -> Self {
        Self {
            resolution: Resolution::default(),
            seams: false,
            strands: 10_000,
            styling: Styling::default(),
        }
    }
}

/// What carries and touches the hair.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyScene {
    /// Where the mesh comes from.
    pub source: BodySource,
    /// How the whole body moves. Default: still.
    pub motion: Motion,
    /// How many times as fast as the motion's own speed, 0.01 to 100. Default: 1.
    pub speed: f32,
    /// Time (s) from which on the body stands still as it is then, 0 to 100,000. Default: never.
    pub stop: Option<f32>,
    /// What hair touches. Default: primitives.
    pub collide: Collide,
    /// The body's surface; counts only with [`Collide::DistanceField`].
    pub field: FieldScene,
    /// Shapes that hair touches, besides the body itself.
    pub colliders: Vec<ColliderSpec>,
}

impl Default for BodyScene {
    fn default() -> Self {
        Self {
            source: BodySource::BuiltIn(BuiltInBody::default()),
            motion: Motion::default(),
            speed: 1.0,
            stop: None,
            collide: Collide::default(),
            field: FieldScene::default(),
            colliders: Vec::new(),
        }
    }
}

/// The body's surface as something that hair touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldScene {
    /// Edge of a cell (m), 0.001 to 1. Default: a sixtieth of the body, 2 mm to 2 cm.
    pub cell: Option<f32>,
    /// Coulomb friction, 0 to 10. Default: 0.3.
    pub friction: f32,
    /// Share of the speed into the surface that comes back, 0 to 1. Default: 0.
    pub restitution: f32,
}

impl Default for FieldScene {
    fn default() -> Self {
        let Surface { friction, restitution, .. } = Surface::default();
        Self { cell: None, friction, restitution }
    }
}

/// Where the body's mesh comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum BodySource {
    /// A built-in body.
    BuiltIn(BuiltInBody),
    /// A mesh made elsewhere.
    File(BodyFile),
}

/// A built-in body.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltInBody {
    /// Which one. Default: head; for styles of fur the animal that wears it.
    pub shape: BodyShape,
    /// Edge length of its mesh (m), 0.001 to 0.05, finer in faces. Default: 0.0025; more for
    /// larger bodies.
    pub resolution: f32,
}

impl Default for BuiltInBody {
    fn default() -> Self {
        let shape = BodyShape::default();
        Self { shape, resolution: shape.resolution() }
    }
}

/// A mesh made elsewhere, or one mesh per frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BodyFile {
    /// Path, relative to the folder of the scene file. With `%04d` or `####` in the
    /// file name: a sequence ([`SequenceName`]).
    pub path: String,
    /// Samples per second of a sequence (1/s), 1 to 1000. Default: one sample per frame.
    pub fps: Option<f32>,
    /// The OBJ group on which a style grows.
    pub scalp: Option<String>,
    /// Length of the file's unit (m), 1e-6 to 1000. Default: 1.
    pub scale: Option<f32>,
    /// The axis that points up. Default: y.
    pub up: Option<UpAxis>,
}

impl BodyFile {
    /// Whether the path is a pattern that names one file per sample.
    pub fn is_sequence(&self) -> bool {
        SequenceName::parse(&self.path).is_some()
    }
}

/// Frames and steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    /// Frames per second of simulated time (1/s), 1 to 1000. Default: 60.
    pub fps: u32,
    /// How many frames, 1 to 1000000. Default: 120.
    pub frames: u32,
    /// Wanted steps per second of simulated time (1/s), 30 to 10000. Default: 240.
    pub steps_per_second: u32,
}

impl Default for Time {
    fn default() -> Self {
        let steps_per_second = World::default().steps_per_second;
        Self { fps: 60, frames: 120, steps_per_second }
    }
}

/// Pictures and films.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderSettings {
    /// Width of a picture (pixels), 16 to 8192. Default: 960.
    pub width: u32,
    /// Height of a picture (pixels), 16 to 8192. Default: 540.
    pub height: u32,
    /// How light meets hair. Default: kajiya-kay.
    pub shading: Shading,
    /// How hair casts shadows. Default: deep-shadow.
    pub shadows: HairShadows,
    /// Colour of hair that has no colour of its own. Default: brown.
    pub hair: HairColor,
    /// Where the camera stands. Default: where it sees the body best.
    pub camera: Camera,
    /// The point in the middle of the picture (m). Default: the middle of hair and head.
    pub camera_target: Option<Vec3>,
    /// Vertical field of view (degrees), 1 to 150. Default: 30.
    pub fov: f32,
    /// What is behind. Default: studio.
    pub background: Background,
    /// Whether the body is in the picture.
    pub body: bool,
    /// Frames per second of a film (1/s), 1 to 1000. Default: those of the simulation.
    pub film_fps: Option<f32>,
}

impl Default for RenderSettings {
    fn default() -> Self {
        Self {
            width: 960,
            height: 540,
            shading: Shading::default(),
            shadows: HairShadows::default(),
            hair: HairColor::Preset(HairPreset::default()),
            camera: Camera::View(View::default()),
            camera_target: None,
            fov: 30.0,
            background: Background::default(),
            body: true,
            film_fps: None,
        }
    }
}

/// Colour of hair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HairColor {
    /// A natural colour.
    Preset(HairPreset),
    /// Linear RGB, 0 to 1.
    Linear(Vec3),
}

/// Where the camera stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Camera {
    /// At a distance from which everything is seen, on this side.
    View(View),
    /// At this point (m).
    Position(Vec3),
}

/// What is behind the body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Background {
    /// Grey, brighter in the middle.
    #[default]
    Studio,
    /// Nearly black.
    Dark,
    /// Nearly white.
    Light,
    /// Linear RGB, 0 to 1.
    Color(Vec3),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_a_whole_number_of_steps() {
        let time = Time { fps: 24, frames: 1, steps_per_second: 250 };
        let world = Scene { time, ..Scene::default() }.world();
        assert_eq!(world.steps_per_second, 240);
    }
}
