//! A scene as plain data. Units are SI, defaults are those of an empty file.

use coif::contact::{ContactSettings, strand_contact, volume};
use coif::groom::Fibre;
use coif::groom::strips::scalp;
use coif::grow::hair_mesh::Styling;
use coif::model::ModelSettings;
use coif::parameters;
use coif::params::{self, Field};
use coif::simulation::{Surface, Wind, World};
use coif_io::SequenceName;
use glam::Vec3;

use super::choices::{
    BodyShape, Collide, FitTo, HairPreset, HairShadows, Motion, Resolution, Shading, Style, UpAxis,
    View,
};
use super::collider::ColliderSpec;
use super::either::either;
use super::pin::PinSpec;

/// All settings of a simulation and its pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// One line for lists and progress bars. Default: empty.
    pub title: String,
    /// Where the hair comes from.
    pub groom: GroomSource,
    /// What the hair is made of. Default: human hair.
    pub fibre: Fibre,
    /// Points of strands that are pinned. Default: none.
    pub pins: Vec<PinSpec>,
    /// The volume that the hair grows in, for styles and models that have one.
    pub hair_mesh: HairMeshScene,
    /// What carries the hair and collides with it.
    pub body: BodyScene,
    /// The model and its parameters. Default: Follow-The-Leader with its own defaults.
    pub model: ModelSettings,
    /// Contact of hair as a volume. Default: none.
    pub volume: Option<volume::Settings>,
    /// Contact of single hairs: each of stiction, repulsion and collision may be absent. Default: none.
    pub strands: strand_contact::Settings,
    /// Moving air: velocity (m/s), each component -200 to 200, gusts 0 to 1. Default: none.
    pub wind: Wind,
    /// Acceleration of gravity (m/s^2), each component -1000 to 1000. Default: that of the earth.
    pub gravity: Vec3,
    /// Frames and steps.
    pub time: Time,
    /// Pictures and films.
    pub render: RenderSettings,
    /// Warnings of the reader: keys with old names.
    pub warnings: Vec<String>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            title: String::new(),
            groom: GroomSource::default(),
            fibre: Fibre::default(),
            pins: Vec::new(),
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
    /// Whether any contact between single hairs is enabled.
    pub fn has_strand_contact(&self) -> bool {
        let strand_contact::Settings { stiction, repulsion, collision, .. } = &self.strands;
        stiction.is_some() || repulsion.is_some() || collision.is_some()
    }

    /// Contact of hair on hair, in the order in which contacts act.
    pub fn contacts(&self) -> Vec<ContactSettings> {
        let volume = self.volume.clone().map(ContactSettings::from);
        let strands = self.has_strand_contact().then(|| self.strands.clone().into());
        volume.into_iter().chain(strands).collect()
    }

    /// The world of the simulation, with a whole number of steps per frame. The surface of the body, whose cell size
    /// depends on the body, is added by [`Built::world`](crate::Built::world).
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

parameters! {
    /// A built-in hairstyle, grown on the body.
    pub struct GroomStyle of "groom" {
        /// A built-in hairstyle.
        style: Style = Style::default();
        /// Number of strands; of a file, so many are chosen evenly, and pictures draw them wider.
        strands: u32 = 10_000, "", 1..=200_000, absent: "of a file: all";
        /// Points per strand; strands of a file are resampled.
        points: u32 = 30, "", 2..=200, absent: "of a file: its own";
        /// Points of all strands together, 2 to 200 on each; longer strands get more. Replaces 'points'.
        particles: Option<u32> = None, "", 2..=40_000_000, absent: "'points' on every strand";
        /// Seed of the random numbers of the style, and of the choice of strands.
        seed: u64 = 1, "", 0..=i64::MAX;
        /// Length of the longest strands; scales the style.
        length: Option<f32> = None, "m", 0.002..=3.0, absent: "the style's own";
        fields {
            /// Parameters of strips; used only with [`Style::Strips`].
            strips: StripScene = StripScene::default(),
        }
    }
}

parameters! {
    /// Strips in layers over the scalp.
    #[derive(Copy)]
    pub struct StripScene of "strips" {
        /// Strips per area in each layer.
        density as "strip_density": f32 = scalp::Settings::default().density, "1/m^2", 10.0..=100_000.0;
        /// Width of a strip.
        width as "strip_width": f32 = scalp::Settings::default().width, "m", 0.0005..=0.2;
        /// Segments of a strip; with fewer it is too stiff to lie around a head.
        segments as "strip_segments": u32 = scalp::Settings::default().segments as u32, "", 3..=200;
        /// Height below which strips are cut, in the body's rest shape; none gets shorter than 0.3 of its length.
        cut as "strip_cut": Option<f32> = scalp::Settings::default().cut, "m", -1000.0..=1000.0, absent: "not cut";
        /// Direction in which hair is combed; its component along the scalp is used. Where the scalp faces in that
        /// direction, hair falls.
        tangent as "strip_tangent": Vec3 = scalp::Settings::default().tangent, "", -1.0..=1.0;
        /// How far strips stand off at the root: 0 lies flat, 1 stands on end.
        lift as "strip_lift": f32 = scalp::Settings::default().lift, "", 0.0..=1.0;
        /// Bending of a strip by its weight as it grows.
        weight as "strip_weight": f32 = scalp::Settings::default().weight, "1/m", 0.0..=1000.0;
        /// Layers of strips, one over the other.
        layers as "strip_layers": u32 = scalp::Settings::default().layers, "", 1..=64;
        /// Distance from one layer to the next.
        layer_distance as "strip_layer_distance": f32 = scalp::Settings::default().layer_distance, "m", 0.0..=0.1;
    }
}

parameters! {
    /// A groom made elsewhere.
    pub struct GroomFile of "groom" {
        /// A groom file, relative to the folder of the scene file.
        path as "file": String = String::new(), absent: "a built-in style";
        /// Number of strands, chosen evenly over the scalp.
        strands: Option<u32> = None, "", 1..=200_000, absent: "all";
        /// Points per strand.
        points: Option<u32> = None, "", 2..=200, absent: "its own";
        /// Seed of the choice of strands.
        seed: u64 = 1, "", 0..=i64::MAX;
        /// Length of the file's unit: 0.01 for centimetres.
        scale: Option<f32> = None, "m", 1e-6..=1000.0, absent: "as the file says, else a guess";
        /// The axis of the file that points up.
        up: Option<UpAxis> = None, absent: "as the file says, else a guess";
        /// Rotation about the x, then the y, then the z axis through the middle of the roots, before 'fit'.
        rotate: Vec3 = Vec3::ZERO, "degrees", -360.0..=360.0;
        /// Whether the roots are put on the body by rotation, translation and scale: on body.scalp, or on its head.
        fit: FitTo = FitTo::default();
        /// Displacement, after 'scale', 'up', 'rotate' and 'fit'.
        translate: Vec3 = Vec3::ZERO, "m", -1000.0..=1000.0;
        /// Strands whose roots are within this distance of the body are moved onto it as a whole; 0 moves none.
        snap: f32 = 0.01, "m", 0.0..=1.0;
    }
}

parameters! {
    /// The hair mesh that hair grows in, and the styling of single hairs inside.
    #[derive(Copy)]
    pub struct HairMeshScene of "hair mesh" {
        /// Resolution of a built-in mesh, and of one fitted to a groom.
        resolution: Resolution = Resolution::default();
        /// Whether a built-in mesh can part into locks and close again.
        seams: bool = false;
        /// Number of strands in a mesh from a file; for a style, groom.strands.
        strands: u32 = 10_000, "", 1..=200_000;
        nested {
            /// Curl, frizz, clumps and uneven ends.
            styling: Styling,
        }
    }
}

parameters! {
    /// What carries the hair and collides with it.
    pub struct BodyScene of "body" {
        /// Motion of the whole body.
        motion: Motion = Motion::default();
        /// Speed of the motion, relative to its natural speed.
        speed: f32 = 1.0, "", 0.01..=100.0;
        /// Time at which the body stops in its current pose, so that hair comes to rest.
        stop: Option<f32> = None, "s", 0.0..=1e5, absent: "never";
        /// What hair collides with in addition to the listed shapes: the shapes of a built-in body, the surface of any
        /// body, or nothing.
        collide: Collide = Collide::default();
        fields {
            /// Where the mesh comes from.
            source: BodySource = BodySource::BuiltIn(BuiltInBody::default()),
            /// The surface of the body; used only with [`Collide::DistanceField`].
            field: FieldScene = FieldScene::default(),
            /// Shapes that hair collides with, besides the body itself.
            colliders: Vec<ColliderSpec> = Vec::new(),
        }
    }
}

parameters! {
    /// The surface of the body as a collider.
    #[derive(Copy)]
    pub struct FieldScene of "distance field" {
        /// Cell size of the distance field; smaller details of the body are lost.
        cell as "field_cell": Option<f32> = None, "m", 0.001..=1.0, absent: "1/60 of the body, 0.002 to 0.02";
        /// Friction of hair on the surface: 0 is slippery.
        friction as "field_friction": f32 = Surface::default().friction, "", 0.0..=10.0;
        /// Coefficient of restitution: fraction of the approach speed at which hair rebounds.
        restitution as "field_restitution": f32 = Surface::default().restitution, "", 0.0..=1.0;
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

parameters! {
    /// A built-in body.
    pub struct BuiltInBody of "body" {
        /// A built-in body. For style "fur" the default is "creature", for "shaggy" "monster", for "silky" "hound".
        shape: BodyShape = BodyShape::default();
        /// Edge length of the built-in body's mesh, smaller in faces. Larger bodies have larger defaults.
        resolution: f32 = BodyShape::default().resolution(), "m", 0.001..=0.05;
    }
}

parameters! {
    /// A mesh made elsewhere, or one mesh per frame.
    pub struct BodyFile of "body" {
        /// An OBJ mesh, relative to the folder of the scene file; with %04d or #### in its name, one per sample.
        ///
        /// The name of a sequence is a [`SequenceName`].
        path as "file": String = String::new(), absent: "a built-in body";
        /// Samples per second of a sequence of meshes.
        fps: Option<f32> = None, "1/s", 1.0..=1000.0, absent: "one sample per frame";
        /// OBJ groups, objects or materials that hair grows on; 'hair*' stands for all that begin with it, '!eyes' leaves
        /// one out.
        scalp: Option<Vec<String>> = None, absent: "what 'show' names; a style needs it";
        /// Groups, objects or materials that pictures show, such as '!helper*' for all but the helpers.
        show: Option<Vec<String>> = None, absent: "all";
        /// Groups, objects or materials that hair collides with when it collides with the surface of the body (collide).
        collide_with: Option<Vec<String>> = None, absent: "all";
        /// Where built-in motions turn the head: at the narrowest place between head and shoulders (auto), nowhere, so that
        /// everything turns (none), or at a group.
        neck: String = "auto".into();
        /// Height of the neck, in place of 'neck'.
        neck_height: Option<f32> = None, "m", -1000.0..=1000.0, absent: "as 'neck' says";
        /// Length of the file's unit: 0.01 for centimetres.
        scale: Option<f32> = None, "m", 1e-6..=1000.0, absent: "1";
        /// The axis of the file that points up.
        up: Option<UpAxis> = None, absent: "y";
    }
}

impl BodyFile {
    /// Whether the path is a pattern that names one file per sample.
    pub fn is_sequence(&self) -> bool {
        SequenceName::parse(&self.path).is_some()
    }
}

parameters! {
    /// Frames and steps.
    #[derive(Eq)]
    pub struct Time of "time" {
        /// Frames per second of simulated time.
        fps: u32 = 60, "1/s", 1..=1000;
        /// Number of frames.
        frames: u32 = 120, "", 1..=1_000_000;
        /// Steps per second of simulated time; rounded to a whole number of steps per frame.
        steps_per_second: u32 = World::default().steps_per_second, "1/s", 30..=10_000;
    }
}

parameters! {
    /// Pictures and films.
    pub struct RenderSettings of "render" {
        /// Width of a picture.
        width: u32 = 960, "pixels", 16..=8192;
        /// Height of a picture.
        height: u32 = 540, "pixels", 16..=8192;
        /// Shading model of hair.
        shading: Shading = Shading::default();
        /// Shadows of hair on hair and skin: deep shadow maps, or deep opacity maps, whose layers follow the shape of
        /// the hair.
        shadows: HairShadows = HairShadows::default();
        /// The point in the middle of the picture.
        camera_target: Option<Vec3> = None, "m", -1000.0..=1000.0, absent: "the middle of hair and head";
        /// Vertical field of view.
        fov: f32 = 30.0, "degrees", 1.0..=150.0;
        /// Factor of the width of strands in pictures: more than 1 covers the skin where a groom has fewer hairs than
        /// a head.
        hair_width: f32 = 1.0, "", 0.01..=100.0;
        /// Background of the picture.
        background: Background = Background::default();
        /// Whether the body is in the picture.
        body: bool = true;
        /// Frames per second of a film: other than those of the simulation for slow motion.
        film_fps: Option<f32> = None, "1/s", 1.0..=1000.0, absent: "time.fps";
        nested {
            /// Colour of hair.
            hair: HairColor,
            /// Where the camera stands.
            camera: Camera,
        }
    }
}

either! {
    /// Colour of hair. Any but [`HairPreset::Groom`] replaces the colours of the groom.
    pub enum HairColor of "render" {
        /// Colour of hair; replaces the colours of the groom.
        Linear as "hair_color": Vec3, "linear RGB", 0.0..=1.0, absent: "as 'hair' says";
        /// The colours of the groom, or a natural hair colour that replaces them.
        Preset as "hair": HairPreset;
    }
}

either! {
    /// Where the camera stands.
    pub enum Camera of "render" {
        /// Where the camera stands.
        Position as "camera_position": Vec3, "m", -1000.0..=1000.0, absent: "as 'view' says";
        /// Direction of view; everything is in the picture.
        View as "view": View;
    }
}

/// The background of a picture.
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

impl Background {
    /// The named backgrounds.
    const NAMED: [(&'static str, Self); 3] =
        [("studio", Self::Studio), ("dark", Self::Dark), ("light", Self::Light)];
}

impl Field for Background {
    const KIND: params::Kind = params::Kind::NameOrColor {
        what: "background",
        names: &[Self::NAMED[0].0, Self::NAMED[1].0, Self::NAMED[2].0],
    };

    fn value(&self) -> Option<params::Value> {
        Some(match self {
            Self::Color(color) => params::Value::Vector(*color),
            named => {
                let found = Self::NAMED.iter().find(|(_, one)| one == named);
                params::Value::Choice(found.map_or("", |(name, _)| name))
            }
        })
    }

    fn from_value(value: &params::Value) -> Option<Self> {
        match value {
            params::Value::Vector(color) => Some(Self::Color(*color)),
            params::Value::Choice(word) => {
                Self::NAMED.iter().find(|(name, _)| name == word).map(|(_, one)| *one)
            }
            _ => None,
        }
    }
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
