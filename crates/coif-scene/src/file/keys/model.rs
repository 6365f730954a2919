//! `[model]`: how the hair moves. Keys that mean the same in every model come first; the others say
//! which models take them.

use coif::model::{ModelSettings, explicit_spring, follow_the_leader, position_based};

use super::key;
use crate::file::choices::PLANNED_MODELS;
use crate::file::scene::Scene;
use crate::file::schema::{Key, Kind};

fn set_model(scene: &mut Scene, index: usize) {
    scene.model = ModelSettings::by_name(ModelSettings::NAMES[index]).unwrap_or_default();
}

/// What every model has, by its own default.
struct Shared<T> {
    style_time: T,
    damping: T,
}

fn shared(scene: &Scene) -> Option<(Shared<f32>, bool)> {
    let (style_time, damping, hold_shape) = match &scene.model {
        ModelSettings::FollowTheLeader(m) => (m.style_time, m.damping, m.hold_shape),
        ModelSettings::PositionBased(m) => (m.style_time, m.damping, m.hold_shape),
        ModelSettings::ExplicitSpring(m) => (m.style_time, m.damping, m.hold_shape),
        _ => return None,
    };
    Some((Shared { style_time, damping }, hold_shape))
}

fn shared_mut(scene: &mut Scene, change: impl FnOnce(Shared<&mut f32>, &mut bool)) {
    let (style_time, damping, hold_shape) = match &mut scene.model {
        ModelSettings::FollowTheLeader(m) => (&mut m.style_time, &mut m.damping, &mut m.hold_shape),
        ModelSettings::PositionBased(m) => (&mut m.style_time, &mut m.damping, &mut m.hold_shape),
        ModelSettings::ExplicitSpring(m) => (&mut m.style_time, &mut m.damping, &mut m.hold_shape),
        _ => return,
    };
    change(Shared { style_time, damping }, hold_shape);
}

fn leader(scene: &Scene) -> Option<&follow_the_leader::Settings> {
    match &scene.model {
        ModelSettings::FollowTheLeader(settings) => Some(settings),
        _ => None,
    }
}

fn leader_mut(scene: &mut Scene, change: impl FnOnce(&mut follow_the_leader::Settings)) {
    if let ModelSettings::FollowTheLeader(settings) = &mut scene.model {
        change(settings);
    }
}

fn spring(scene: &Scene) -> Option<&explicit_spring::Settings> {
    match &scene.model {
        ModelSettings::ExplicitSpring(settings) => Some(settings),
        _ => None,
    }
}

fn spring_mut(scene: &mut Scene, change: impl FnOnce(&mut explicit_spring::Settings)) {
    if let ModelSettings::ExplicitSpring(settings) = &mut scene.model {
        change(settings);
    }
}

pub(super) const MODEL: &[Key<Scene>] = &[
    key(
        "name",
        "",
        "The published method.",
        Kind::Choice {
            what: "model",
            names: ModelSettings::NAMES,
            planned: PLANNED_MODELS,
            get: |s| Some(s.model.name()),
            set: set_model,
        },
    ),
    key(
        "style_time",
        "s",
        "Time in which hair returns to its groom: more is softer.",
        Kind::Number {
            min: 1e-3,
            max: 1000.0,
            get: |s| shared(s).map(|(m, _)| m.style_time),
            set: |s, v| shared_mut(s, |m, _| *m.style_time = v),
        },
    ),
    key(
        "damping",
        "1/s",
        "Damping by still air.",
        Kind::Number {
            min: 0.0,
            max: 1000.0,
            get: |s| shared(s).map(|(m, _)| m.damping),
            set: |s, v| shared_mut(s, |m, _| *m.damping = v),
        },
    ),
    key(
        "hold_shape",
        "",
        "Whether the groom is the shape at rest under gravity; if not, it sags.",
        Kind::Bool {
            get: |s| shared(s).map(|(_, hold_shape)| hold_shape),
            set: |s, v| shared_mut(s, |_, hold_shape| *hold_shape = v),
        },
    ),
    key(
        "correction",
        "",
        "Scale of the velocity correction: 1 is stable, less is livelier.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| leader(s).map(|m| m.correction),
            set: |s, v| leader_mut(s, |m| m.correction = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "iterations",
        "",
        "Sweeps over the lengths of all segments in each step; less is stretchier.",
        Kind::Integer {
            min: 1,
            max: 1000,
            get: |s| match &s.model {
                ModelSettings::PositionBased(m) => Some(m.iterations.into()),
                _ => None,
            },
            set: |s, v| {
                if let ModelSettings::PositionBased(m) = &mut s.model {
                    m.iterations = v as u32;
                }
            },
        },
    )
    .of_models(&[position_based::NAME]),
    key(
        "stretch_modulus",
        "Pa",
        "Stress per stretch. Real hair has 4e9, which takes hundreds of substeps.",
        Kind::Number {
            min: 1.0,
            max: 1e12,
            get: |s| spring(s).map(|m| m.stretch_modulus),
            set: |s, v| spring_mut(s, |m| m.stretch_modulus = v),
        },
    )
    .of_models(&[explicit_spring::NAME]),
    key(
        "stretch_damping",
        "s",
        "Internal friction along the hair as a time.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| spring(s).map(|m| m.stretch_damping),
            set: |s, v| spring_mut(s, |m| m.stretch_damping = v),
        },
    )
    .of_models(&[explicit_spring::NAME]),
    key(
        "substeps",
        "",
        "Parts of a step; 0 takes as many as the springs need, too few are refused.",
        Kind::Integer {
            min: 0,
            max: 10_000,
            get: |s| spring(s).map(|m| m.substeps.unwrap_or(0).into()),
            set: |s, v| spring_mut(s, |m| m.substeps = (v > 0).then_some(v as u32)),
        },
    )
    .of_models(&[explicit_spring::NAME]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::schema::Needs;

    /// A key has a value exactly in the models that it says it belongs to.
    #[test]
    fn every_model_has_the_keys_that_name_it() {
        for name in ModelSettings::NAMES {
            let model = ModelSettings::by_name(name).unwrap();
            let scene = Scene { model, ..Scene::default() };
            for key in MODEL {
                let named = match key.needs {
                    Needs::Model(models) => models.contains(name),
                    _ => true,
                };
                assert_eq!(key.value_text(&scene).is_some(), named, "{} in {name}", key.name);
            }
        }
    }
}
