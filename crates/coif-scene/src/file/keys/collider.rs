//! The keys of `[[body.collider]]`.

use crate::file::collider::{ColliderDraft, SHAPES};
use crate::file::schema::{Key, Kind, Needs};

const fn key(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    kind: Kind<ColliderDraft>,
) -> Key<ColliderDraft> {
    Key { name, unit, needs: Needs::Nothing, absent: "", meaning, kind }
}

/// A key of `[[body.collider]]` that is one number.
macro_rules! collider_number {
    ($field:ident, $unit:literal, $min:literal..=$max:literal, $meaning:literal) => {
        key(
            stringify!($field),
            $unit,
            $meaning,
            Kind::Number {
                min: $min,
                max: $max,
                get: |c| c.$field,
                set: |c, v| c.$field = Some(v),
            },
        )
    };
}

/// A key of `[[body.collider]]` that is three numbers.
macro_rules! collider_vector {
    ($field:ident, $unit:literal, $min:literal..=$max:literal, $meaning:literal) => {
        key(
            stringify!($field),
            $unit,
            $meaning,
            Kind::Vector {
                min: $min,
                max: $max,
                get: |c| c.$field,
                set: |c, v| c.$field = Some(v),
            },
        )
    };
}

pub(super) const COLLIDER_KEYS: &[Key<ColliderDraft>] = &[
    key(
        "shape",
        "",
        "What it is.",
        Kind::Choice {
            what: "collider shape",
            names: SHAPES,
            planned: &[],
            get: |c| c.shape.map(|i| SHAPES[i]),
            set: |c, i| c.shape = Some(i),
        },
    )
    .absent("required"),
    collider_vector!(center, "m", -1000.0..=1000.0, "Its middle, or a point of a plane.")
        .absent("[0, 0, 0]"),
    collider_number!(radius, "m", 1e-4..=100.0, "Of a sphere or a capsule.")
        .absent("required there"),
    collider_vector!(radii, "m", 1e-4..=100.0, "Half axes of an ellipsoid.")
        .absent("required there"),
    collider_number!(half_height, "m", 0.0..=100.0, "Half a capsule, without its round ends.")
        .absent("required there"),
    collider_vector!(
        rotation,
        "degrees",
        -360.0..=360.0,
        "An ellipsoid is turned about its x, then y, then z axis."
    )
    .absent("[0, 0, 0]"),
    collider_vector!(axis, "direction", -1000.0..=1000.0, "Along a capsule.").absent("[0, 1, 0]"),
    collider_vector!(normal, "direction", -1000.0..=1000.0, "Out of a plane's solid side.")
        .absent("[0, 1, 0]"),
    collider_number!(friction, "", 0.0..=10.0, "Coulomb friction against hair.").absent("0.3"),
];
