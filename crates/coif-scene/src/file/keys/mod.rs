//! Every key of a scene file: the one list used by the reader, the writer, the suggestions and the reference.
//!
//! Nearly all keys are parameters that settings declare (`coif::params`): those of models, contacts and the fibre in
//! `coif`, those of groom, body, time and pictures in `scene.rs`. To add a key, add a parameter. This file defines
//! where the settings of each table are, and which keys exclude or need each other. Within a table, the key that
//! chooses a variant (`file`, `name`) comes before the keys of that variant, because fields are filled in this order.

mod body;
mod contact;
mod groom;
mod model;
mod render;

use std::sync::LazyLock;

use coif::params::Param;

use super::collider::ColliderDraft;
use super::pin::PinSpec;
use super::scene::Scene;
use super::schema::{Key, Kind, Needs, SceneSection, Section, Table};

/// A table that enables a contact.
pub(crate) struct ContactTable {
    /// The name of the contact.
    pub(crate) contact: &'static str,
    pub(crate) path: &'static str,
    pub(crate) table: Table,
}

/// The tables that enable contacts.
pub(crate) const CONTACT_TABLES: &[ContactTable] = contact::TABLES;

/// The tables of a scene file in the order of the reference.
pub(crate) static SECTIONS: LazyLock<Vec<SceneSection>> = LazyLock::new(|| {
    vec![
        Section { path: "", meaning: "At the top, before any table.", keys: TOP },
        Section {
            path: "groom",
            meaning: "Where the hair comes from: a built-in style, or a file.",
            keys: groom::keys().leak(),
        },
        Section {
            path: "groom.fibre",
            meaning: "The material of one fibre; the defaults are human hair.",
            keys: of_params(Table {
                get: |s: &Scene| Some(&s.fibre),
                get_mut: |s| Some(&mut s.fibre),
            })
            .leak(),
        },
        Section {
            path: "groom.hair_mesh",
            meaning: "A volume that hair grows in: for the styles hair-mesh-*, for a groom file that is a \
                  hair mesh (OBJ), and for the model hair-mesh, which fits one to any other groom.",
            keys: of_params(Table {
                get: |s: &Scene| Some(&s.hair_mesh),
                get_mut: |s| Some(&mut s.hair_mesh),
            })
            .leak(),
        },
        Section {
            path: "body",
            meaning: "What carries the hair and collides with it: a built-in body, or a mesh from a file.",
            keys: body::keys().leak(),
        },
        Section { path: "model", meaning: "How the hair moves.", keys: model::keys().leak() },
        Section {
            path: "contact.volume",
            meaning: "Contact of hair on hair, as friction and repulsion on a grid. The table enables it, even if it is \
                  empty, and so does `contact = [\"volume\"]` at the top; `contact = []` disables it.",
            keys: contact::keys("contact.volume").leak(),
        },
        Section {
            path: "contact.stiction",
            meaning: "Single hairs that come near each other stick together, held by springs, until they are pulled apart. \
                  For models that move strands.",
            keys: contact::keys("contact.stiction").leak(),
        },
        Section {
            path: "contact.repulsion",
            meaning: "Single hairs that come near each other repel each other softly, with friction.",
            keys: contact::keys("contact.repulsion").leak(),
        },
        Section {
            path: "contact.edge-collision",
            meaning: "Stops single hairs that would pass through each other; crossings that remain after a substep are counted.",
            keys: contact::keys("contact.edge-collision").leak(),
        },
        Section {
            path: "contact.strands",
            meaning: "How pairs of near segments of hair are found, for stiction, repulsion and edge-collision. \
                  The table alone enables none of them.",
            keys: of_params(Table {
                get: |s: &Scene| Some(&s.strands.detection),
                get_mut: |s| Some(&mut s.strands.detection),
            })
            .leak(),
        },
        Section {
            path: "wind",
            meaning: "Moving air.",
            keys: of_params(Table {
                get: |s: &Scene| Some(&s.wind),
                get_mut: |s| Some(&mut s.wind),
            })
            .leak(),
        },
        Section { path: "world", meaning: "The surroundings.", keys: WORLD },
        Section {
            path: "time",
            meaning: "Frames and steps.",
            keys: of_params(Table {
                get: |s: &Scene| Some(&s.time),
                get_mut: |s| Some(&mut s.time),
            })
            .leak(),
        },
        Section { path: "render", meaning: "Pictures and films.", keys: render::keys().leak() },
    ]
});

/// The table that may occur more than once.
pub(crate) static COLLIDER: LazyLock<Section<ColliderDraft>> = LazyLock::new(|| Section {
    path: "body.collider",
    meaning: "Shapes that hair collides with besides the body itself, one `[[body.collider]]` \
              each, placed in the body's rest shape; they move with the body.",
    keys: of_params(Table { get: |c: &ColliderDraft| Some(c), get_mut: |c| Some(c) }).leak(),
});

/// The table of pinned points, which may occur more than once too.
pub(crate) static PIN: LazyLock<Section<PinSpec>> = LazyLock::new(|| Section {
    path: "groom.pin",
    meaning: "Points of strands that are pinned to a bone of the body, one `[[groom.pin]]` for each group of strands. \
              For models that take pins (see the table below).",
    keys: of_params(Table { get: |p: &PinSpec| Some(p), get_mut: |p| Some(p) }).leak(),
});

/// Two keys that replace each other. A `--set` of either drops the other, and the keys that apply only to it, from
/// the scene file.
pub(crate) struct Alternative {
    pub(crate) table: &'static str,
    pub(crate) one: &'static str,
    pub(crate) other: &'static str,
    /// Keys that both alternatives have; their value is dropped together with the alternative it was written for.
    pub(crate) shared: &'static [&'static str],
}

/// Keys that had another name in the last version: table, old name, new name. The next version drops the old names.
pub(crate) const RENAMED: &[(&str, &str, &str)] = &[
    ("model", "longest_part", "longest_substep"),
    ("model", "shortest_part", "shortest_substep"),
    ("model", "parts", "substeps"),
    ("model", "most_iterations", "max_iterations"),
];

/// All pairs of keys that replace each other.
pub(crate) const ALTERNATIVES: &[Alternative] = &[
    Alternative { table: "groom", one: "file", other: "style", shared: groom::SHARED },
    Alternative { table: "groom", one: "particles", other: "points", shared: &[] },
    Alternative { table: "body", one: "file", other: "shape", shared: &[] },
    Alternative { table: "render", one: "hair_color", other: "hair", shared: &[] },
    Alternative { table: "render", one: "camera_position", other: "view", shared: &[] },
];

/// A key of the scene that needs no other key.
const fn key(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    kind: Kind<Scene>,
) -> Key<Scene> {
    Key { name, unit, needs: Needs::Nothing, absent: "", meaning, kind }
}

/// Makes the key of a parameter.
fn of_param<T>(param: &'static Param, table: Table<T>) -> Key<T> {
    Key {
        name: param.name,
        unit: param.unit,
        needs: Needs::Nothing,
        absent: param.absent,
        meaning: param.meaning().leak(),
        kind: Kind::Param(param, table),
    }
}

/// Makes the keys of all parameters of settings.
fn of_params<T: Default>(table: Table<T>) -> Vec<Key<T>> {
    let params = (table.get_mut)(&mut T::default()).map(|settings| settings.params());
    params.into_iter().flatten().map(|param| of_param(param, table)).collect()
}

impl<T> Key<T> {
    fn with(mut self, other: &'static str) -> Self {
        self.needs = Needs::With(other);
        self
    }

    fn without(mut self, other: &'static str) -> Self {
        self.needs = Needs::Without(other);
        self
    }

    fn with_word(mut self, other: &'static str, word: &'static str) -> Self {
        self.needs = Needs::Word(other, word);
        self
    }
}

const TOP: &[Key<Scene>] = &[key(
    "title",
    "",
    "One line for lists and progress bars.",
    Kind::Text { get: |s| Some(&s.title), set: |s, v| s.title = v },
)];

const WORLD: &[Key<Scene>] = &[key(
    "gravity",
    "m/s^2",
    "Acceleration of gravity.",
    Kind::Vector { min: -1000.0, max: 1000.0, get: |s| Some(s.gravity), set: |s, v| s.gravity = v },
)];
