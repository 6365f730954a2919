//! The keys of `[render]`, which are the parameters that `scene.rs` declares.

use super::of_params;
use crate::file::scene::Scene;
use crate::file::schema::{Key, Table};

pub(super) fn keys() -> Vec<Key<Scene>> {
    let table = Table { get: |s: &Scene| Some(&s.render), get_mut: |s| Some(&mut s.render) };
    let keys = of_params(table).into_iter().map(|key| match key.name {
        "hair" => key.without("hair_color"),
        "view" => key.without("camera_position"),
        _ => key,
    });
    keys.collect()
}
