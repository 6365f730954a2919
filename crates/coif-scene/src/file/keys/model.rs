//! `[model]`: how the hair moves. The keys are the parameters of the models, as declared there; a key that several
//! models declare identically is listed once.

use coif::model::ModelSettings;

use super::{key, of_param};
use crate::file::choices::PLANNED_MODELS;
use crate::file::scene::Scene;
use crate::file::schema::{Key, Kind, Needs, Table};

const TABLE: Table =
    Table { get: |s| Some(s.model.params()), get_mut: |s| Some(s.model.params_mut()) };

pub(super) fn keys() -> Vec<Key<Scene>> {
    let name = Kind::Choice {
        what: "model",
        names: ModelSettings::NAMES,
        planned: PLANNED_MODELS,
        get: |s: &Scene| Some(s.model.name()),
        set: |s, i| {
            s.model = ModelSettings::by_name(ModelSettings::NAMES[i]).unwrap_or_default();
        },
    };
    let mut params: Vec<(&coif::params::Param, Vec<&'static str>)> = Vec::new();
    for model in ModelSettings::NAMES {
        for param in ModelSettings::by_name(model).unwrap_or_default().params().params() {
            match params.iter_mut().find(|(other, _)| other.is_like(param)) {
                Some((_, models)) => models.push(model),
                None => params.push((param, vec![model])),
            }
        }
    }
    let keys = params.into_iter().map(|(param, models)| {
        let all = models.len() == ModelSettings::NAMES.len();
        let needs = if all { Needs::Nothing } else { Needs::Model(models.leak()) };
        Key { needs, ..of_param(param, TABLE) }
    });
    std::iter::once(key("name", "", "The published method.", name)).chain(keys).collect()
}
