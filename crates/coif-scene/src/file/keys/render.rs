//! The keys of `[render]`.

use glam::Vec3;

use super::key;
use crate::file::choices::{BACKGROUNDS, HairPreset, HairShadows, Shading, View};
use crate::file::scene::{Background, Camera, HairColor, Scene};
use crate::file::schema::{Key, Kind, NameOrColorAccess};

pub(super) const RENDER: &[Key<Scene>] = &[
    key(
        "width",
        "pixels",
        "Width of a picture.",
        Kind::Integer {
            min: 16,
            max: 8192,
            get: |s| Some(s.render.width.into()),
            set: |s, v| s.render.width = v as u32,
        },
    ),
    key(
        "height",
        "pixels",
        "Height of a picture.",
        Kind::Integer {
            min: 16,
            max: 8192,
            get: |s| Some(s.render.height.into()),
            set: |s, v| s.render.height = v as u32,
        },
    ),
    key(
        "shading",
        "",
        "How light meets hair.",
        Kind::Choice {
            what: "shading",
            names: Shading::NAMES,
            planned: &["marschner"],
            get: |s| Some(s.render.shading.name()),
            set: |s, i| s.render.shading = Shading::ALL[i],
        },
    ),
    key(
        "shadows",
        "",
        "How hair casts shadows on hair and skin: deep shadow maps, or deep opacity maps, whose layers \
         follow the shape of the hair.",
        Kind::Choice {
            what: "shadows",
            names: HairShadows::NAMES,
            planned: &[],
            get: |s| Some(s.render.shadows.name()),
            set: |s, i| s.render.shadows = HairShadows::ALL[i],
        },
    ),
    key(
        "hair_color",
        "linear RGB",
        "Colour of hair that has no colour of its own.",
        Kind::Vector {
            min: 0.0,
            max: 1.0,
            get: |s| match s.render.hair {
                HairColor::Linear(color) => Some(color),
                HairColor::Preset(_) => None,
            },
            set: |s, v| s.render.hair = HairColor::Linear(v),
        },
    )
    .absent("as 'hair' says"),
    key(
        "hair",
        "",
        "A natural hair colour, for hair that has no colour of its own.",
        Kind::Choice {
            what: "hair colour",
            names: HairPreset::NAMES,
            planned: &[],
            get: |s| match s.render.hair {
                HairColor::Preset(preset) => Some(preset.name()),
                HairColor::Linear(_) => None,
            },
            set: |s, i| s.render.hair = HairColor::Preset(HairPreset::ALL[i]),
        },
    )
    .without("hair_color"),
    key(
        "camera_position",
        "m",
        "Where the camera stands.",
        Kind::Vector {
            min: -1000.0,
            max: 1000.0,
            get: |s| match s.render.camera {
                Camera::Position(position) => Some(position),
                Camera::View(_) => None,
            },
            set: |s, v| s.render.camera = Camera::Position(v),
        },
    )
    .absent("as 'view' says"),
    key(
        "view",
        "",
        "From which side the camera looks.",
        Kind::Choice {
            what: "view",
            names: View::NAMES,
            planned: &[],
            get: |s| match s.render.camera {
                Camera::View(view) => Some(view.name()),
                Camera::Position(_) => None,
            },
            set: |s, i| s.render.camera = Camera::View(View::ALL[i]),
        },
    )
    .without("camera_position"),
    key(
        "camera_target",
        "m",
        "The point in the middle of the picture.",
        Kind::Vector {
            min: -1000.0,
            max: 1000.0,
            get: |s| s.render.camera_target,
            set: |s, v| s.render.camera_target = Some(v),
        },
    )
    .absent("the middle of hair and head"),
    key(
        "fov",
        "degrees",
        "Vertical field of view.",
        Kind::Number {
            min: 1.0,
            max: 150.0,
            get: |s| Some(s.render.fov),
            set: |s, v| s.render.fov = v,
        },
    ),
    key(
        "background",
        "",
        "What is behind.",
        Kind::NameOrColor {
            what: "background",
            names: BACKGROUNDS,
            access: NameOrColorAccess { get: get_background, set: set_background },
        },
    ),
    key(
        "body",
        "",
        "Whether the body is in the picture.",
        Kind::Bool { get: |s| Some(s.render.body), set: |s, v| s.render.body = v },
    ),
    key(
        "film_fps",
        "1/s",
        "Frames per second of a film: other than those of the simulation for slow motion.",
        Kind::Number {
            min: 1.0,
            max: 1000.0,
            get: |s| s.render.film_fps,
            set: |s, v| s.render.film_fps = Some(v),
        },
    )
    .absent("time.fps"),
];

fn get_background(scene: &Scene) -> Result<&'static str, Vec3> {
    match scene.render.background {
        Background::Studio => Ok(BACKGROUNDS[0]),
        Background::Dark => Ok(BACKGROUNDS[1]),
        Background::Light => Ok(BACKGROUNDS[2]),
        Background::Color(color) => Err(color),
    }
}

fn set_background(scene: &mut Scene, value: Result<usize, Vec3>) {
    scene.render.background = match value {
        Ok(0) => Background::Studio,
        Ok(1) => Background::Dark,
        Ok(_) => Background::Light,
        Err(color) => Background::Color(color),
    };
}
