//! The tables under `[contact]`. A table enables its contact, even if it is empty. Its keys are the parameters of the
//! contact.

use coif::contact::{strand_contact, volume};
use coif::params::Parameters;

use super::{ContactTable, key, of_params};
use crate::file::scene::Scene;
use crate::file::schema::{Key, Kind, Table};

/// Accessors of optional settings: reading does not enable them, changing does.
macro_rules! contact {
    ($path:literal, $contact:expr, $($settings:ident).+) => {
        ContactTable {
            path: $path,
            contact: $contact,
            table: Table {
                get: |s| s.$($settings).+.as_ref().map(|c| c as &dyn Parameters),
                get_mut: |s| Some(s.$($settings).+.get_or_insert_default()),
            },
        }
    };
}

pub(super) const TABLES: &[ContactTable] = &[
    contact!("contact.volume", volume::NAME, volume),
    contact!("contact.stiction", strand_contact::NAME, strands.stiction),
    contact!("contact.repulsion", strand_contact::NAME, strands.repulsion),
    contact!("contact.edge-collision", strand_contact::NAME, strands.collision),
];

/// The keys of a table under `[contact]`.
pub(super) fn keys(path: &str) -> Vec<Key<Scene>> {
    let mut keys = Vec::new();
    if path == "contact.stiction" {
        keys.push(WETNESS);
    }
    for contact in TABLES.iter().filter(|c| c.path == path) {
        keys.extend(of_params(contact.table));
    }
    keys
}

const WETNESS: Key<Scene> = key(
    "wetness",
    "",
    "From dry (0) to dripping (1): sets the other keys of this table and the mass of the water. Keys that are \
     written explicitly take precedence.",
    Kind::Number {
        min: 0.0,
        max: 1.0,
        // The mass defines how wet hair is.
        get: |s| s.strands.stiction.as_ref().map(|_| s.strands.mass_scale - 1.0),
        set: |s, v| {
            let wet = strand_contact::Settings::wet(v);
            (s.strands.stiction, s.strands.mass_scale) = (wet.stiction, wet.mass_scale);
        },
    },
);
