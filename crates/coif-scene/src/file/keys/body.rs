//! The keys of `[body]`.

use super::key;
use crate::file::choices::{BodyShape, Collide, Motion, UpAxis};
use crate::file::scene::{BodyFile, BodySource, BuiltInBody, FieldScene, Scene};
use crate::file::schema::{Key, Kind};

fn built_in(scene: &Scene) -> Option<&BuiltInBody> {
    match &scene.body.source {
        BodySource::BuiltIn(body) => Some(body),
        BodySource::File(_) => None,
    }
}

fn built_in_mut(scene: &mut Scene, change: impl FnOnce(&mut BuiltInBody)) {
    if let BodySource::BuiltIn(body) = &mut scene.body.source {
        change(body);
    }
}

fn body_file(scene: &Scene) -> Option<&BodyFile> {
    match &scene.body.source {
        BodySource::File(body) => Some(body),
        BodySource::BuiltIn(_) => None,
    }
}

fn body_file_mut(scene: &mut Scene, change: impl FnOnce(&mut BodyFile)) {
    if let BodySource::File(body) = &mut scene.body.source {
        change(body);
    }
}

fn field(scene: &Scene) -> Option<&FieldScene> {
    (scene.body.collide == Collide::DistanceField).then_some(&scene.body.field)
}

pub(super) const BODY: &[Key<Scene>] = &[
    key(
        "file",
        "",
        "An OBJ mesh, relative to the folder of the scene file; with %04d or #### in its \
         name, one per sample.",
        Kind::Text {
            get: |s| body_file(s).map(|b| b.path.as_str()),
            set: |s, v| {
                s.body.source = BodySource::File(BodyFile { path: v, ..BodyFile::default() });
            },
        },
    )
    .absent("a built-in body"),
    key(
        "shape",
        "",
        "A built-in body. For style \"fur\" the default is \"creature\", for \"shaggy\" \"monster\", \
         for \"silky\" \"hound\".",
        Kind::Choice {
            what: "body shape",
            names: BodyShape::NAMES,
            planned: &[],
            get: |s| built_in(s).map(|b| b.shape.name()),
            set: |s, i| built_in_mut(s, |b| b.shape = BodyShape::ALL[i]),
        },
    )
    .without("file"),
    key(
        "resolution",
        "m",
        "Edge length of the built-in body's mesh. Larger bodies have larger defaults.",
        Kind::Number {
            min: 0.001,
            max: 0.05,
            get: |s| built_in(s).map(|b| b.resolution),
            set: |s, v| built_in_mut(s, |b| b.resolution = v),
        },
    )
    .without("file"),
    key(
        "fps",
        "1/s",
        "Samples per second of a sequence of meshes.",
        Kind::Number {
            min: 1.0,
            max: 1000.0,
            get: |s| body_file(s).and_then(|b| b.fps),
            set: |s, v| body_file_mut(s, |b| b.fps = Some(v)),
        },
    )
    .with("file")
    .absent("one sample per frame"),
    key(
        "scalp",
        "",
        "The OBJ group on which a style grows.",
        Kind::Text {
            get: |s| body_file(s).and_then(|b| b.scalp.as_deref()),
            set: |s, v| body_file_mut(s, |b| b.scalp = Some(v)),
        },
    )
    .with("file")
    .absent("hair comes from a file"),
    key(
        "scale",
        "m",
        "Length of the file's unit: 0.01 for centimetres.",
        Kind::Number {
            min: 1e-6,
            max: 1000.0,
            get: |s| body_file(s).and_then(|b| b.scale),
            set: |s, v| body_file_mut(s, |b| b.scale = Some(v)),
        },
    )
    .with("file")
    .absent("1"),
    key(
        "up",
        "",
        "The axis of the file that points up.",
        Kind::Choice {
            what: "up axis",
            names: UpAxis::NAMES,
            planned: &[],
            get: |s| body_file(s).and_then(|b| b.up).map(UpAxis::name),
            set: |s, i| body_file_mut(s, |b| b.up = Some(UpAxis::ALL[i])),
        },
    )
    .with("file")
    .absent("y"),
    key(
        "motion",
        "",
        "How the whole body moves.",
        Kind::Choice {
            what: "motion",
            names: Motion::NAMES,
            planned: &[],
            get: |s| Some(s.body.motion.name()),
            set: |s, i| s.body.motion = Motion::ALL[i],
        },
    ),
    key(
        "speed",
        "",
        "How many times as fast as the motion's own speed.",
        Kind::Number {
            min: 0.01,
            max: 100.0,
            get: |s| Some(s.body.speed),
            set: |s, v| s.body.speed = v,
        },
    ),
    key(
        "stop",
        "s",
        "Time from which on the body stands still, as it is then: hair comes to rest.",
        Kind::Number {
            min: 0.0,
            max: 1e5,
            get: |s| s.body.stop,
            set: |s, v| s.body.stop = Some(v),
        },
    )
    .absent("never"),
    key(
        "collide",
        "",
        "What hair touches besides the listed shapes: the built-in body's own shapes, the surface \
         of any body, or nothing.",
        Kind::Choice {
            what: "way to collide",
            names: Collide::NAMES,
            planned: &[],
            get: |s| Some(s.body.collide.name()),
            set: |s, i| s.body.collide = Collide::ALL[i],
        },
    ),
    key(
        "field_cell",
        "m",
        "Edge of a cell of the distance field: smaller details of the body are lost.",
        Kind::Number {
            min: 0.001,
            max: 1.0,
            get: |s| field(s).and_then(|f| f.cell),
            set: |s, v| s.body.field.cell = Some(v),
        },
    )
    .with_word("collide", Collide::DistanceField.name())
    .absent("1/60 of the body, 0.002 to 0.02"),
    key(
        "field_friction",
        "",
        "Friction of hair on the surface: 0 is slippery.",
        Kind::Number {
            min: 0.0,
            max: 10.0,
            get: |s| field(s).map(|f| f.friction),
            set: |s, v| s.body.field.friction = v,
        },
    )
    .with_word("collide", Collide::DistanceField.name()),
    key(
        "field_restitution",
        "",
        "Share of the speed into the surface that hair bounces back with.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| field(s).map(|f| f.restitution),
            set: |s, v| s.body.field.restitution = v,
        },
    )
    .with_word("collide", Collide::DistanceField.name()),
];
