//! `[model]`: how the hair moves. Keys that mean the same in every model come first; the others say
//! which models take them.

use coif::model::follow_the_leader::{self, Ends};
use coif::model::{ModelSettings, explicit_spring, position_based};

use super::key;
use crate::file::choices::PLANNED_MODELS;
use crate::file::scene::Scene;
use crate::file::schema::{Key, Kind};

fn set_model(scene: &mut Scene, index: usize) {
    scene.model = ModelSettings::by_name(ModelSettings::NAMES[index]).unwrap_or_default();
}

/// The longest style time (s); Follow-The-Leader has no style at all then.
const NO_STYLE: f32 = 1000.0;

/// The words of [`Ends::NAMES`].
const ENDS: &[&str] = &{
    let mut words = [""; Ends::NAMES.len()];
    let mut i = 0;
    while i < words.len() {
        words[i] = Ends::NAMES[i].0;
        i += 1;
    }
    words
};

fn ends_name(ends: Ends) -> Option<&'static str> {
    Ends::NAMES.iter().find(|(_, e)| *e == ends).map(|(name, _)| *name)
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
        "Time in which hair returns to its groom: more is softer, 1000 is limp.",
        Kind::Number {
            min: 1e-3,
            max: NO_STYLE as f64,
            get: |s| shared(s).map(|(m, _)| m.style_time.min(NO_STYLE)),
            set: |s, v| {
                let no_style = v >= NO_STYLE && leader(s).is_some();
                shared_mut(s, |m, _| *m.style_time = if no_style { f32::INFINITY } else { v });
            },
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
        "Mass per length that the motion shows at the tip, relative to the root: 1 is even, less \
         is livelier.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| leader(s).map(|m| m.correction),
            set: |s, v| leader_mut(s, |m| m.correction = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "bend_limit",
        "",
        "How far every second point stays apart, as a share of the straight distance: 0 bends \
         freely, 1 not at all.",
        Kind::Number {
            min: 0.0,
            max: 1.0,
            get: |s| leader(s).map(|m| m.bend_limit),
            set: |s, v| leader_mut(s, |m| m.bend_limit = v),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "ends",
        "",
        "Which ends of a strand follow the body; both-evenly weighs the two alike everywhere.",
        Kind::Choice {
            what: "choice of ends",
            names: ENDS,
            planned: &[],
            get: |s| leader(s).and_then(|m| ends_name(m.ends)),
            set: |s, i| leader_mut(s, |m| m.ends = Ends::NAMES[i].1),
        },
    )
    .of_models(&[follow_the_leader::NAME]),
    key(
        "backward",
        "",
        "Whether motion also runs from tip to root within a step.",
        Kind::Bool {
            get: |s| leader(s).map(|m| m.backward),
            set: |s, v| leader_mut(s, |m| m.backward = v),
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
