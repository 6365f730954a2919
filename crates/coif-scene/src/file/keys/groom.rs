//! The keys of `[groom]` and `[groom.hair_mesh]`.

use super::{MAX_SEED, key};
use crate::file::choices::{Resolution, Style, UpAxis};
use crate::file::scene::{GroomFile, GroomSource, GroomStyle, Scene, StripScene};
use crate::file::schema::{Key, Kind};

fn styled(scene: &Scene) -> Option<&GroomStyle> {
    match &scene.groom {
        GroomSource::Style(groom) => Some(groom),
        GroomSource::File(_) => None,
    }
}

fn styled_mut(scene: &mut Scene, change: impl FnOnce(&mut GroomStyle)) {
    if let GroomSource::Style(groom) = &mut scene.groom {
        change(groom);
    }
}

fn strips(scene: &Scene) -> Option<&StripScene> {
    styled(scene).filter(|g| g.style == Style::Strips).map(|g| &g.strips)
}

fn groom_file(scene: &Scene) -> Option<&GroomFile> {
    match &scene.groom {
        GroomSource::File(groom) => Some(groom),
        GroomSource::Style(_) => None,
    }
}

fn groom_file_mut(scene: &mut Scene, change: impl FnOnce(&mut GroomFile)) {
    if let GroomSource::File(groom) = &mut scene.groom {
        change(groom);
    }
}

pub(super) const GROOM: &[Key<Scene>] = &[
    key(
        "file",
        "",
        "A groom file, relative to the folder of the scene file.",
        Kind::Text {
            get: |s| groom_file(s).map(|g| g.path.as_str()),
            set: |s, v| s.groom = GroomSource::File(GroomFile { path: v, ..Default::default() }),
        },
    )
    .absent("a built-in style"),
    key(
        "style",
        "",
        "A built-in hairstyle.",
        Kind::Choice {
            what: "style",
            names: Style::NAMES,
            planned: &[],
            get: |s| styled(s).map(|g| g.style.name()),
            set: |s, i| styled_mut(s, |g| g.style = Style::ALL[i]),
        },
    )
    .without("file"),
    key(
        "strands",
        "",
        "How many strands grow.",
        Kind::Integer {
            min: 1,
            max: 200_000,
            get: |s| styled(s).map(|g| g.strands.into()),
            set: |s, v| styled_mut(s, |g| g.strands = v as u32),
        },
    )
    .without("file"),
    key(
        "points",
        "",
        "Points per strand; strands of a file are resampled.",
        Kind::Integer {
            min: 2,
            max: 200,
            get: |s| match &s.groom {
                GroomSource::Style(groom) => Some(groom.points.into()),
                GroomSource::File(groom) => groom.points.map(u64::from),
            },
            set: |s, v| match &mut s.groom {
                GroomSource::Style(groom) => groom.points = v as u32,
                GroomSource::File(groom) => groom.points = Some(v as u32),
            },
        },
    )
    .absent("of a file: its own"),
    key(
        "particles",
        "",
        "Points of all strands together, 2 to 200 on each: longer strands get more. Takes the place \
         of 'points'.",
        Kind::Integer {
            min: 2,
            max: 40_000_000,
            get: |s| styled(s).and_then(|g| g.particles.map(u64::from)),
            set: |s, v| styled_mut(s, |g| g.particles = Some(v as u32)),
        },
    )
    .without("file")
    .absent("'points' on every strand"),
    key(
        "seed",
        "",
        "Seed of everything random about the style.",
        Kind::Integer {
            min: 0,
            max: MAX_SEED,
            get: |s| styled(s).map(|g| g.seed),
            set: |s, v| styled_mut(s, |g| g.seed = v),
        },
    )
    .without("file"),
    key(
        "length",
        "m",
        "Length of the longest strands; scales the style.",
        Kind::Number {
            min: 0.002,
            max: 3.0,
            get: |s| styled(s).and_then(|g| g.length),
            set: |s, v| styled_mut(s, |g| g.length = Some(v)),
        },
    )
    .without("file")
    .absent("the style's own"),
    key(
        "strip_density",
        "1/m^2",
        "Strips per area in each layer.",
        Kind::Number {
            min: 10.0,
            max: 100_000.0,
            get: |s| strips(s).map(|g| g.density),
            set: |s, v| styled_mut(s, |g| g.strips.density = v),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_width",
        "m",
        "Width of a strip.",
        Kind::Number {
            min: 0.0005,
            max: 0.2,
            get: |s| strips(s).map(|g| g.width),
            set: |s, v| styled_mut(s, |g| g.strips.width = v),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_segments",
        "",
        "Segments of a strip: fewer are too stiff to lie around a head.",
        Kind::Integer {
            min: 3,
            max: 200,
            get: |s| strips(s).map(|g| g.segments.into()),
            set: |s, v| styled_mut(s, |g| g.strips.segments = v as u32),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_cut",
        "m",
        "Height at which strips are cut that would hang lower, in the body's rest shape; none gets \
         shorter than 0.3 of its length.",
        Kind::Number {
            min: -1000.0,
            max: 1000.0,
            get: |s| strips(s).and_then(|g| g.cut),
            set: |s, v| styled_mut(s, |g| g.strips.cut = Some(v)),
        },
    )
    .with_word("style", Style::Strips.name())
    .absent("not cut"),
    key(
        "strip_tangent",
        "",
        "Where hair is combed to; the part along the scalp counts. Where the scalp faces that way, hair falls.",
        Kind::Vector {
            min: -1.0,
            max: 1.0,
            get: |s| strips(s).map(|g| g.tangent),
            set: |s, v| styled_mut(s, |g| g.strips.tangent = v),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_lift",
        "",
        "How far strips stand off at the root: 0 lies flat, 1 stands on end.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| strips(s).map(|g| g.lift),
            set: |s, v| styled_mut(s, |g| g.strips.lift = v),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_weight",
        "1/m",
        "How much weight bends a strip down as it grows.",
        Kind::Number {
            min: 0.0,
            max: 1000.0,
            get: |s| strips(s).map(|g| g.weight),
            set: |s, v| styled_mut(s, |g| g.strips.weight = v),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_layers",
        "",
        "Layers of strips, one over the other.",
        Kind::Integer {
            min: 1,
            max: 64,
            get: |s| strips(s).map(|g| g.layers.into()),
            set: |s, v| styled_mut(s, |g| g.strips.layers = v as u32),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "strip_layer_distance",
        "m",
        "From one layer to the next.",
        Kind::Number {
            min: 0.0,
            max: 0.1,
            get: |s| strips(s).map(|g| g.layer_distance),
            set: |s, v| styled_mut(s, |g| g.strips.layer_distance = v),
        },
    )
    .with_word("style", Style::Strips.name()),
    key(
        "scale",
        "m",
        "Length of the file's unit: 0.01 for centimetres.",
        Kind::Number {
            min: 1e-6,
            max: 1000.0,
            get: |s| groom_file(s).and_then(|g| g.scale),
            set: |s, v| groom_file_mut(s, |g| g.scale = Some(v)),
        },
    )
    .with("file")
    .absent("as the file says, else 1"),
    key(
        "up",
        "",
        "The axis of the file that points up.",
        Kind::Choice {
            what: "up axis",
            names: UpAxis::NAMES,
            planned: &[],
            get: |s| groom_file(s).and_then(|g| g.up).map(UpAxis::name),
            set: |s, i| groom_file_mut(s, |g| g.up = Some(UpAxis::ALL[i])),
        },
    )
    .with("file")
    .absent("as the file says, else y"),
];

/// A key of `[groom.hair_mesh]` that says what single hairs do.
macro_rules! styling {
    ($field:ident, $unit:literal, $min:literal..=$max:literal, $meaning:literal) => {
        key(
            stringify!($field),
            $unit,
            $meaning,
            Kind::Number {
                min: $min,
                max: $max,
                get: |s| Some(s.hair_mesh.styling.$field),
                set: |s, v| s.hair_mesh.styling.$field = v,
            },
        )
    };
}

pub(super) const HAIR_MESH: &[Key<Scene>] = &[
    key(
        "resolution",
        "",
        "How fine the mesh is that is built in, or fitted to a groom.",
        Kind::Choice {
            what: "resolution",
            names: Resolution::NAMES,
            planned: &[],
            get: |s| Some(s.hair_mesh.resolution.name()),
            set: |s, i| s.hair_mesh.resolution = Resolution::ALL[i],
        },
    ),
    key(
        "seams",
        "",
        "Whether a built-in mesh may part in locks and close again.",
        Kind::Bool { get: |s| Some(s.hair_mesh.seams), set: |s, v| s.hair_mesh.seams = v },
    ),
    key(
        "strands",
        "",
        "How many strands grow in a mesh from a file; for a style it is groom.strands.",
        Kind::Integer {
            min: 1,
            max: 200_000,
            get: |s| Some(s.hair_mesh.strands.into()),
            set: |s, v| s.hair_mesh.strands = v as u32,
        },
    ),
    styling!(curl, "m", 0.0..=0.1, "Radius of curls; 0 leaves hair straight."),
    styling!(curl_length, "m", 0.001..=1.0, "Length of hair in one turn of a curl."),
    styling!(frizz, "m", 0.0..=0.1, "How far single hairs wander at the tip."),
    styling!(
        clump,
        "",
        0.0..=1.0,
        "How far hairs close in on the middle of their clump at the tip."
    ),
    styling!(clump_size, "m", 0.001..=1.0, "Distance between neighbouring clumps at the scalp."),
    styling!(
        length_variation,
        "",
        0.0..=0.95,
        "How much shorter than its bundle the shortest hair is, as a share."
    ),
];
