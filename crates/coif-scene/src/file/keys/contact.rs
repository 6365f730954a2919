//! The keys of `[contact.volume]`. Any of them switches the contact on.

use coif::contact::volume;

use super::key;
use crate::file::scene::Scene;
use crate::file::schema::{Key, Kind};

fn volume_mut(scene: &mut Scene) -> &mut volume::Settings {
    scene.volume.get_or_insert_default()
}

pub(super) const VOLUME: &[Key<Scene>] = &[
    key(
        "friction",
        "",
        "Share of its velocity relative to the hair around that hair loses in 1/60 s.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| s.volume.as_ref().map(|v| v.friction),
            set: |s, v| volume_mut(s).friction = v,
        },
    ),
    key(
        "repulsion",
        "m",
        "How far hair that is pressed together is thrown apart in 1/60 s.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| s.volume.as_ref().map(|v| v.repulsion),
            set: |s, v| volume_mut(s).repulsion = v,
        },
    ),
    key(
        "cell",
        "m",
        "Edge of a cell of the grid: hair nearer than this touches. Less than a few times the \
         distance between strands leaves holes.",
        Kind::Number {
            min: 1e-4,
            max: 10.0,
            get: |s| s.volume.as_ref().map(|v| v.cell),
            set: |s, v| volume_mut(s).cell = v,
        },
    ),
];
