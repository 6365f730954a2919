//! Warnings about the motion of the hair: which strands are affected, and which key to try.

use coif::model::{ModelSettings, cantilever, explicit_spring, follow_the_leader, hair_mesh};
use coif::model::{mass_spring, position_based};
use coif::params::Value;
use coif_scene::Scene;
use glam::Vec3;

use super::peaks::{Peaks, Strands};
use crate::units;

/// Time for which hair has to be calm at the end to have come to rest (s): hair that twitches does so at least once a
/// second.
const CALM_TIME: f64 = 1.0;

/// Maximum fraction of kinked strands: one of a thousand can fold over a shoulder.
const KINKED_FRACTION: f64 = 1e-3;

/// Maximum displacement of hair in the first frame beyond that of its roots and what the body causes (m): more is
/// visible as a jump, and happens to hair that is groomed into colliders.
const FIRST_FRAME_JUMP: f32 = 0.005;

/// Distance of a pinned point from its place (m): more is visible.
const UNREACHED: f32 = 1e-3;

/// Rate at which hair takes on the velocity of the wind (1/s), for the bound on its displacement in the first frame:
/// the largest default damping of the models.
const WIND_RATE: f32 = 10.0;

/// Maximum drift on a body that stood still all the time, as a fraction of a strand's length.
const DRIFT: f32 = coif::simulation::DRIFT_TOLERANCE;

/// Speed relative to the scalp (m/s) that no head gives to hair: the tips of a dancer's whipped hair reach 10.
const SPEED: f32 = 20.0;

/// Factor of the strain limit above which there is a warning: the limit is what every substep aims for, and health
/// measures lengths in single precision.
const STRAIN_MARGIN: f32 = 1.1;

/// Keys of a model that reduce a problem.
struct Hints {
    /// Hair comes to rest sooner.
    settle: &'static str,
    /// Hair folds less.
    unfold: &'static str,
    /// Hair follows fast motion.
    follow: &'static str,
    /// Hair keeps the groom.
    hold: &'static str,
}

fn hints(model: &str) -> Hints {
    let steps = "raise time.steps_per_second";
    let stiffer = "lower model.style_time";
    let damping = "raise model.damping";
    match model {
        follow_the_leader::NAME => {
            let unfold = "raise model.bend_limit";
            Hints { settle: damping, unfold, follow: steps, hold: stiffer }
        }
        position_based::NAME | cantilever::NAME => {
            Hints { settle: damping, unfold: stiffer, follow: steps, hold: stiffer }
        }
        explicit_spring::NAME => {
            let follow = "raise model.substeps";
            Hints { settle: damping, unfold: stiffer, follow, hold: stiffer }
        }
        mass_spring::NAME => Hints {
            settle: "raise model.damping or groom.fibre.damping",
            unfold: "raise groom.fibre.young_modulus",
            follow: "lower model.longest_substep",
            hold: "raise groom.fibre.young_modulus",
        },
        hair_mesh::NAME => Hints {
            settle: "raise model.friction_time or model.damping",
            unfold: "raise model.bending",
            follow: "raise model.substeps",
            hold: "raise model.shear_modulus or model.bending",
        },
        _ => Hints { settle: damping, unfold: steps, follow: steps, hold: steps },
    }
}

/// The warnings about a run of a scene with this many strands.
pub(super) fn of(scene: &Scene, strands: usize, peaks: &Peaks) -> Vec<String> {
    let hints = hints(scene.model.name());
    let is_pulled = is_pulled(&scene.model);
    let is_left_alone = !is_pulled && scene.wind.is_still();
    let mut trouble = Vec::new();

    // Report hair that does not come to rest.
    if let Some(restless) = &peaks.restless
        && is_left_alone
        && peaks.end_s - restless.time_s < CALM_TIME
    {
        let since = if peaks.body_moved_until.is_some() {
            "after the body stopped"
        } else {
            "after the start, on a body that stands still"
        };
        trouble.push(format!(
            "{} of {strands} strands still move at up to {} {:.1} s {since}: {}; hint: {}",
            restless.moving.count,
            units::speed(restless.speed_m_s),
            restless.rest_s,
            numbers(&restless.moving),
            hints.settle
        ));
    }
    // Report kinked strands.
    if peaks.kinked.count as f64 > KINKED_FRACTION * strands as f64 {
        trouble.push(format!(
            "{} of {strands} strands are kinked by more than {} degrees: {}; hint: {}",
            peaks.kinked.count,
            coif::simulation::KINK_ANGLE,
            numbers(&peaks.kinked),
            hints.unfold
        ));
    }
    // Report a jump from the groom to the first frame.
    let jump = &peaks.jump;
    if !is_pulled && jump.distance_m > FIRST_FRAME_JUMP + jump.body_m + first_frame_path(scene) {
        trouble.push(format!(
            "hair jumps by up to {} in the first frame, most of all strand {}; hint: it may be groomed \
             into the body or its colliders: check the groom with the body",
            units::metres(jump.distance_m),
            jump.strand
        ));
    }
    // Report pinned points and tips that are away from their places.
    let off = &peaks.unreached;
    if off.distance_m > UNREACHED {
        let (what, hint) = if off.tip {
            ("tips", "the body is in the way, or set model.ends = 'root'")
        } else {
            ("pinned points", "the strand is too short: choose another bone or point in groom.pin")
        };
        trouble.push(format!(
            "{} of {} {what} are up to {} from where they are held, at {:.2} s, most of all that of strand {}; hint: {hint}",
            off.count,
            off.of,
            units::metres(off.distance_m),
            off.time_s,
            off.strand
        ));
    }
    // Report drift from the groom on a body at rest.
    let stood_still = peaks.body_moved_until.is_none();
    if is_left_alone && stood_still && holds_shape(&scene.model) && peaks.drift > DRIFT {
        trouble.push(format!(
            "{} of {strands} strands leave their groom by up to {:.1} % of their length on a body that \
             stands still: {}; hint: check the groom with the body, or {}",
            peaks.drifted.count,
            peaks.drift * 100.0,
            numbers(&peaks.drifted),
            hints.hold
        ));
    }
    // Report segments beyond the strain limit of the model.
    if let ModelSettings::MassSpring(settings) = &scene.model
        && !is_pulled
        && peaks.stretch > settings.strain_limit * STRAIN_MARGIN
    {
        trouble.push(format!(
            "segments stretch by up to {:.1} % of their length, and model.strain_limit is {:.1} %; hint: lower \
             model.longest_substep, or raise time.steps_per_second",
            peaks.stretch * 100.0,
            settings.strain_limit * 100.0
        ));
    }
    // Report hair that is too fast relative to the scalp.
    let fastest = &peaks.fastest;
    if fastest.speed_m_s > SPEED {
        let hint = if fastest.body_speed_m_s > SPEED {
            format!(
                "the body itself moves at {}: look at its motion",
                units::speed(fastest.body_speed_m_s)
            )
        } else {
            hints.follow.into()
        };
        trouble.push(format!(
            "hair moves at up to {} relative to the scalp: strand {}, point {}, frame {}; hint: {hint}",
            units::speed(fastest.speed_m_s),
            fastest.strand,
            fastest.point,
            fastest.frame
        ));
    }
    trouble
}

/// The first few strand numbers, and ".." if there are more.
fn numbers(strands: &Strands) -> String {
    let mut text: Vec<String> = strands.first.iter().map(u32::to_string).collect();
    if strands.count > strands.first.len() {
        text.push("..".into());
    }
    text.join(", ")
}

/// Whether the scene moves the ends of the hair, or no root holds it.
fn is_pulled(model: &ModelSettings) -> bool {
    match model {
        ModelSettings::FollowTheLeader(settings) => settings.ends == follow_the_leader::Ends::Free,
        ModelSettings::MassSpring(settings) => {
            let end = &settings.far_end;
            end.slide != Vec3::ZERO || end.approach != 0.0 || end.twist != 0.0
        }
        _ => false,
    }
}

/// Whether the groom is the shape of the hair at rest.
fn holds_shape(model: &ModelSettings) -> bool {
    model.params().get("hold_shape") != Some(Value::Switch(false))
}

/// Displacement of hair by wind, and by gravity unless that is balanced, in the first frame (m).
fn first_frame_path(scene: &Scene) -> f32 {
    let frame = 1.0 / scene.time.fps as f32;
    let gravity = if holds_shape(&scene.model) { 0.0 } else { scene.gravity.length() };
    let gusts = 1.0 + scene.wind.gusts;
    0.5 * frame * frame * (gravity + WIND_RATE * gusts * scene.wind.velocity.length())
}

#[cfg(test)]
mod tests {
    use super::super::peaks::{Fastest, Jump, Restless};
    use super::*;

    fn scene(sets: &[&str]) -> Scene {
        let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
        Scene::from_toml("", "test", &sets).unwrap()
    }

    fn said(sets: &[&str], peaks: &Peaks) -> Vec<String> {
        of(&scene(sets), 300, peaks)
    }

    fn some(count: usize) -> Strands {
        Strands { count, first: (0..count as u32).take(3).collect() }
    }

    /// Hair of which 12 strands move at 0.3 m/s, 5 s after the body stopped.
    fn restless() -> Peaks {
        let restless = Restless { time_s: 6.0, rest_s: 5.0, moving: some(12), speed_m_s: 0.3 };
        let restless = Some(restless);
        Peaks { restless, end_s: 6.0, body_moved_until: Some(1.0), ..Peaks::default() }
    }

    #[test]
    fn healthy_hair_gives_no_warning() {
        let mut peaks = Peaks { body_moved_until: Some(1.0), stretch: 1.0, ..Peaks::default() };
        peaks.jump = Jump { distance_m: 0.0049, strand: 1, body_m: 0.0 };
        peaks.fastest.speed_m_s = 19.0;
        (peaks.drift, peaks.drifted) = (0.5, some(300));
        assert_eq!(said(&[], &peaks), [""; 0]);
        assert_eq!(said(&[], &Peaks::default()), [""; 0]);
    }

    #[test]
    fn restless_hair_is_named_unless_something_moves_it() {
        let text = "12 of 300 strands still move at up to 30.0 cm/s 5.0 s after the body stopped: \
                    0, 1, 2, ..; hint: raise model.damping";
        assert_eq!(said(&[], &restless()), [text]);
        assert_eq!(said(&["wind.velocity=[3, 0, 0]"], &restless()), [""; 0]);
        let pulled = ["model.name=mass-spring", "model.hold_tips=true", "model.tip_twist=1"];
        assert_eq!(said(&pulled, &restless()), [""; 0]);
        assert_eq!(said(&["model.ends=free"], &restless()), [""; 0]);
        let mut peaks = restless();
        peaks.body_moved_until = None;
        assert!(said(&[], &peaks)[0].contains("5.0 s after the start"));
        // A twitch counts for a second.
        peaks.end_s = 6.9;
        assert_eq!(said(&[], &peaks).len(), 1);
        peaks.end_s = 7.1;
        assert_eq!(said(&[], &peaks), [""; 0], "it has come to rest since");
    }

    #[test]
    fn kinks_beyond_one_in_a_thousand_are_named() {
        let mut peaks = Peaks { kinked: some(1), ..Peaks::default() };
        assert!(
            said(&[], &peaks)[0]
                .contains("1 of 300 strands are kinked by more than 60 degrees: 0;")
        );
        assert_eq!(of(&scene(&[]), 1000, &peaks), [""; 0]);
        peaks.kinked = some(4);
        assert!(said(&[], &peaks)[0].ends_with("0, 1, 2, ..; hint: raise model.bend_limit"));
        assert!(said(&["model.name=hair-mesh"], &peaks)[0].ends_with("raise model.bending"));
    }

    #[test]
    fn a_jump_at_the_start_is_named_unless_the_body_makes_it() {
        let jump = Jump { distance_m: 0.006, strand: 17, body_m: 0.0 };
        let mut peaks = Peaks { jump, ..Peaks::default() };
        let text = said(&[], &peaks);
        assert!(
            text[0].contains("up to 6.0 mm in the first frame, most of all strand 17"),
            "{text:?}"
        );
        peaks.jump.body_m = 0.002;
        assert_eq!(said(&[], &peaks), [""; 0]);
        // Hair that is free to sag falls by 8.5 mm in 1/24 s, and a breeze displaces it by 4 mm in 1/60 s.
        peaks.jump.body_m = 0.0;
        assert_eq!(said(&["model.hold_shape=false", "time.fps=24"], &peaks), [""; 0]);
        assert_eq!(said(&["wind.velocity=[3, 0, 0]"], &peaks), [""; 0]);
        let pulled = ["model.name=mass-spring", "model.hold_tips=true", "model.tip_approach=0.06"];
        assert_eq!(said(&pulled, &peaks), [""; 0]);
    }

    #[test]
    fn drift_is_named_unless_something_causes_it() {
        let mut peaks = Peaks { drift: 0.025, drifted: some(2), ..Peaks::default() };
        let text = said(&[], &peaks);
        assert!(text[0].contains("2 of 300 strands leave their groom by up to 2.5 %"), "{text:?}");
        assert!(text[0].contains(": 0, 1; hint: "), "{text:?}");
        assert_eq!(said(&["model.hold_shape=false"], &peaks), [""; 0]);
        assert_eq!(said(&["wind.velocity=[0, 0, 1]"], &peaks), [""; 0]);
        peaks.body_moved_until = Some(0.1);
        assert_eq!(said(&[], &peaks), [""; 0]);
    }

    #[test]
    fn stretch_beyond_the_limit_is_named() {
        let mut peaks = Peaks { stretch: 0.071, ..Peaks::default() };
        assert_eq!(said(&[], &peaks), [""; 0], "other models have no limit");
        let text = said(&["model.name=mass-spring"], &peaks);
        assert!(
            text[0].starts_with(
                "segments stretch by up to 7.1 % of their length, and model.strain_limit is 1.0 %"
            ),
            "{text:?}"
        );
        assert_eq!(said(&["model.name=mass-spring", "model.strain_limit=0.07"], &peaks), [""; 0]);
        peaks.stretch = 0.0101;
        assert_eq!(said(&["model.name=mass-spring"], &peaks), [""; 0]);
    }

    #[test]
    fn points_out_of_reach_are_named() {
        let mut report = coif::model::StepReport::default();
        report.ends.count = 300;
        let mut peaks = Peaks::default();
        peaks.add_pins(0.5, &report);
        assert_eq!(said(&[], &peaks), [""; 0]);
        (report.ends.out_of_reach, report.ends.farthest, report.ends.strand) = (12, 0.02, 7);
        peaks.add_pins(1.0, &report);
        let text = "12 of 300 tips are up to 2.0 cm from where they are held, at 1.00 s, most of all that of strand 7; \
                    hint: the body is in the way, or set model.ends = 'root'";
        assert_eq!(said(&[], &peaks), [text]);
        (report.pins.farthest, report.pins.count, report.pins.out_of_reach) = (0.03, 5, 1);
        peaks.add_pins(1.0, &report);
        assert!(said(&[], &peaks)[0].contains("1 of 5 pinned points"), "{:?}", said(&[], &peaks));
    }

    #[test]
    fn flying_hair_is_named() {
        let fastest =
            Fastest { speed_m_s: 33.0, strand: 5, point: 29, frame: 40, body_speed_m_s: 2.0 };
        let mut peaks = Peaks { fastest, ..Peaks::default() };
        let text = said(&[], &peaks);
        assert!(
            text[0].starts_with(
                "hair moves at up to 33.0 m/s relative to the scalp: strand 5, point 29"
            )
        );
        assert!(text[0].ends_with("raise time.steps_per_second"), "{text:?}");
        peaks.fastest.body_speed_m_s = 50.0;
        assert!(
            said(&[], &peaks)[0].ends_with("the body itself moves at 50.0 m/s: look at its motion")
        );
    }

    /// Every key that a hint names is in the reference of the scene file, for that model.
    #[test]
    fn hints_name_existing_keys() {
        let reference = include_str!("../../../../docs/scene-file.md");
        for model in ModelSettings::NAMES {
            let Hints { settle, unfold, follow, hold } = hints(model);
            let text = [settle, unfold, follow, hold].join(" ");
            for path in text.split(' ').filter(|word| word.contains('.')) {
                let (table, key) = path.rsplit_once('.').unwrap();
                let section = reference.split(&format!("## `[{table}]`\n")).nth(1).unwrap();
                let section = section.split("\n## ").next().unwrap();
                // Models may have keys of the same name, each with its row.
                let mut rows =
                    section.lines().filter(|line| line.starts_with(&format!("| `{key}` |")));
                let has = |row: &str| !row.contains("Only with model") || row.contains(model);
                assert!(rows.any(has), "{model} has no key {path}");
            }
        }
    }
}
