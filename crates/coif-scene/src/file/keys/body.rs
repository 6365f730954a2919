//! The keys of `[body]`: where the mesh comes from, how it moves, and its surface. They are the parameters that
//! `scene.rs` declares.

use coif::params::Parameters;

use super::of_params;
use crate::file::choices::Collide;
use crate::file::scene::{BodyFile, BodySource, Scene};
use crate::file::schema::{Key, Table};

const BUILT_IN: Table = Table {
    get: |s| match &s.body.source {
        BodySource::BuiltIn(body) => Some(body),
        BodySource::File(_) => None,
    },
    get_mut: |s| match &mut s.body.source {
        BodySource::BuiltIn(body) => Some(body),
        BodySource::File(_) => None,
    },
};

/// Setting any of its keys makes the body one from a file.
const FILE: Table = Table {
    get: |s| match &s.body.source {
        BodySource::File(body) => Some(body),
        BodySource::BuiltIn(_) => None,
    },
    get_mut: |s| {
        if let BodySource::BuiltIn(_) = s.body.source {
            s.body.source = BodySource::File(BodyFile::default());
        }
        match &mut s.body.source {
            BodySource::File(body) => Some(body),
            BodySource::BuiltIn(_) => None,
        }
    },
};

const BODY: Table = Table { get: |s| Some(&s.body), get_mut: |s| Some(&mut s.body) };

const FIELD: Table = Table {
    get: |s| {
        let is_on = s.body.collide == Collide::DistanceField;
        is_on.then_some(&s.body.field as &dyn Parameters)
    },
    get_mut: |s| Some(&mut s.body.field),
};

pub(super) fn keys() -> Vec<Key<Scene>> {
    // The path decides between file and built-in body, so it is read first.
    let (path, of_file): (Vec<_>, Vec<_>) =
        of_params(FILE).into_iter().partition(|key| key.name == "file");
    let built_in = of_params(BUILT_IN).into_iter().map(|key| key.without("file"));
    let of_file = of_file.into_iter().map(|key| key.with("file"));
    let field = of_params(FIELD).into_iter();
    let field = field.map(|key| key.with_word("collide", Collide::DistanceField.name()));
    let keys = path.into_iter().chain(built_in).chain(of_file);
    keys.chain(of_params(BODY)).chain(field).collect()
}
