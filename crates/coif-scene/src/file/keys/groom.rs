//! The keys of `[groom]`: a style or a file. They are the parameters that `scene.rs` declares.

use coif::params::Parameters;

use super::of_params;
use crate::file::choices::Style;
use crate::file::scene::{GroomFile, GroomSource, Scene};
use crate::file::schema::{Key, Kind, Table};

const STYLE: Table = Table {
    get: |s| match &s.groom {
        GroomSource::Style(groom) => Some(groom),
        GroomSource::File(_) => None,
    },
    get_mut: |s| match &mut s.groom {
        GroomSource::Style(groom) => Some(groom),
        GroomSource::File(_) => None,
    },
};

const STRIPS: Table = Table {
    get: |s| match &s.groom {
        GroomSource::Style(groom) if groom.style == Style::Strips => Some(&groom.strips),
        _ => None,
    },
    get_mut: |s| match &mut s.groom {
        GroomSource::Style(groom) => Some(&mut groom.strips),
        GroomSource::File(_) => None,
    },
};

/// Setting any of its keys makes the groom one from a file.
const FILE: Table = Table {
    get: |s| match &s.groom {
        GroomSource::File(groom) => Some(groom),
        GroomSource::Style(_) => None,
    },
    get_mut: |s| {
        if let GroomSource::Style(_) = s.groom {
            s.groom = GroomSource::File(GroomFile::default());
        }
        match &mut s.groom {
            GroomSource::File(groom) => Some(groom),
            GroomSource::Style(_) => None,
        }
    },
};

/// The style or the file, for the keys that both have.
const EITHER: Table = Table {
    get: |s| match &s.groom {
        GroomSource::Style(groom) => Some(groom as &dyn Parameters),
        GroomSource::File(groom) => Some(groom),
    },
    get_mut: |s| match &mut s.groom {
        GroomSource::Style(groom) => Some(groom as &mut dyn Parameters),
        GroomSource::File(groom) => Some(groom),
    },
};

/// The keys that a style and a file have.
pub(super) const SHARED: &[&str] = &["strands", "points", "seed"];

pub(super) fn keys() -> Vec<Key<Scene>> {
    // The path decides between file and style, so it is read first.
    let (path, of_file): (Vec<_>, Vec<_>) =
        of_params(FILE).into_iter().partition(|key| key.name == "file");
    let styles = of_params(STYLE).into_iter().map(|key| match key.kind {
        Kind::Param(param, _) if SHARED.contains(&param.name) => {
            Key { kind: Kind::Param(param, EITHER), ..key }
        }
        _ => key.without("file"),
    });
    let strips = of_params(STRIPS).into_iter();
    let strips = strips.map(|key| key.with_word("style", Style::Strips.name()));
    let of_file = of_file.into_iter().filter(|key| !SHARED.contains(&key.name));
    let of_file = of_file.map(|key| key.with("file"));
    path.into_iter().chain(styles).chain(strips).chain(of_file).collect()
}
