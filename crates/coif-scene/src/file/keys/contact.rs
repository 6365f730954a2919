//! The keys of the tables under `[contact]`. A table switches its contact on, even an empty one.

use coif::contact::stiction::MAX_SPRINGS;
use coif::contact::{edge_collision, repulsion, stiction, strand_contact, volume};

use super::{ContactTable, key};
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

pub(super) const TABLES: &[ContactTable] = &[
    ContactTable {
        path: "contact.volume",
        is_on: |s| s.volume.is_some(),
        switch_on: |s| {
            volume_mut(s);
        },
    },
    ContactTable {
        path: "contact.stiction",
        is_on: |s| s.strands.stiction.is_some(),
        switch_on: |s| {
            stiction_mut(s);
        },
    },
    ContactTable {
        path: "contact.repulsion",
        is_on: |s| s.strands.repulsion.is_some(),
        switch_on: |s| {
            repulsion_mut(s);
        },
    },
    ContactTable {
        path: "contact.edge-collision",
        is_on: |s| s.strands.collision.is_some(),
        switch_on: |s| {
            collision_mut(s);
        },
    },
];

fn stiction_mut(scene: &mut Scene) -> &mut stiction::Settings {
    scene.strands.stiction.get_or_insert_default()
}

fn repulsion_mut(scene: &mut Scene) -> &mut repulsion::Settings {
    scene.strands.repulsion.get_or_insert_default()
}

fn collision_mut(scene: &mut Scene) -> &mut edge_collision::Settings {
    scene.strands.collision.get_or_insert_default()
}

/// A number of `[contact.stiction]`.
macro_rules! stiction {
    ($name:literal, $field:ident, $unit:literal, $range:expr, $meaning:literal) => {
        key(
            $name,
            $unit,
            $meaning,
            Kind::Number {
                min: *$range.start(),
                max: *$range.end(),
                get: |s| s.strands.stiction.as_ref().map(|c| c.$field),
                set: |s, v| stiction_mut(s).$field = v,
            },
        )
    };
}

pub(super) const STICTION: &[Key<Scene>] = &[
    key(
        "wetness",
        "",
        "From dry (0) to dripping (1): sets the other keys of this table, and the weight of the \
         water. Keys that are written too count more.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            // The mass tells how wet hair is.
            get: |s| s.strands.stiction.as_ref().map(|_| s.strands.mass_scale - 1.0),
            set: |s, v| {
                let wet = strand_contact::Settings::wet(v);
                (s.strands.stiction, s.strands.mass_scale) = (wet.stiction, wet.mass_scale);
            },
        },
    ),
    stiction!(
        "make",
        make,
        "m",
        1e-6..=0.1,
        "Nearer than this, two hairs stick; less than `break`."
    ),
    stiction!(
        "break",
        break_,
        "m",
        1e-6..=0.1,
        "Farther than this, they let go; more than `make`."
    ),
    stiction!(
        "rest",
        rest,
        "m",
        0.0..=0.1,
        "Distance at which hairs that stick neither pull nor push; at most `break`; less than `make` pulls \
         them together."
    ),
    key(
        "springs",
        "",
        "Most hairs that one segment sticks to.",
        Kind::Integer {
            min: 1,
            max: MAX_SPRINGS as u64,
            get: |s| s.strands.stiction.as_ref().map(|c| c.springs.into()),
            set: |s, v| stiction_mut(s).springs = v as u32,
        },
    ),
    stiction!(
        "stiffness",
        stiffness,
        "N/m",
        1e-9..=1000.0,
        "Force per length of the spring; leave the table out for none."
    ),
    stiction!("damping", damping, "N s/m", 0.0..=1.0, "Force per speed of the spring."),
];

/// A number of `[contact.repulsion]`.
macro_rules! repulsion {
    ($field:ident, $unit:literal, $range:expr, $meaning:literal) => {
        key(
            stringify!($field),
            $unit,
            $meaning,
            Kind::Number {
                min: *$range.start(),
                max: *$range.end(),
                get: |s| s.strands.repulsion.as_ref().map(|c| c.$field),
                set: |s, v| repulsion_mut(s).$field = v,
            },
        )
    };
}

pub(super) const REPULSION: &[Key<Scene>] = &[
    repulsion!(thickness, "m", 1e-6..=0.1, "Nearer than this, two hairs push."),
    repulsion!(stiffness, "N/m", 0.0..=1000.0, "Force per depth."),
    repulsion!(
        share,
        "",
        0.0..=1.0,
        "Most that a substep pushes apart, as a share of the depth: more makes hair bounce."
    ),
    repulsion!(friction, "", 0.0..=10.0, "Coulomb friction between hairs."),
    key(
        "firm",
        "",
        "Whether model mass-spring solves for hairs that press on each other, so that hair holds out \
         against hair that winds around it: for a few hairs.",
        Kind::Bool {
            get: |s| s.strands.repulsion.as_ref().map(|c| c.firm),
            set: |s, v| repulsion_mut(s).firm = v,
        },
    ),
];

pub(super) const EDGE_COLLISION: &[Key<Scene>] = &[key(
    "friction",
    "",
    "Coulomb friction between hairs.",
    Kind::Number {
        min: 0.0,
        max: 10.0,
        get: |s| s.strands.collision.as_ref().map(|c| c.friction),
        set: |s, v| collision_mut(s).friction = v,
    },
)];
