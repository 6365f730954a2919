//! `twist`: a hair that is pinned at both ends and twisted at one winds around itself, and does not pass through
//! itself.
//!
//! The linking number `Lk = Tw + Wr` of a hair whose ends are pinned is the number of turns that its end was given
//! (Calugareanu's theorem) for any motion; passing through itself changes it by two. At first all of it is
//! twist. Then the hair buckles into a loop, the loop winds up into a coil of two strands, and twist becomes writhe.
//! The scene is `hair-twist`, sampled ten times a second.
//!
//! Tolerance: a hundredth of a turn; a hair that slips is off by two turns. The writhe at the end must be at least
//! three turns: two strands wound around each other, and not a single loop, which has one.

use std::f64::consts::TAU;

use coif::contact::{Chains, StrandContact};
use coif::math::RigidTransform;
use coif::model::mass_spring::linking::writhe;
use coif::model::mass_spring::{self, MassSpring};
use coif::model::{Environment, Model, ModelSettings, StepReport};
use coif::simulation::Wind;
use glam::Vec3;

use super::{Check, Findings, Plot, Row};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "twist",
    about: "a twisted hair winds around itself without passing through itself",
    run,
};

/// Maximum error of the linking number (turns).
const TOLERANCE: f64 = 0.01;
/// Minimum writhe (turns) of a hair that is wound up.
const WOUND: f64 = 3.0;
/// Samples per second.
const SAMPLES_PER_SECOND: u32 = 10;

fn run() -> Result<Findings, Error> {
    let name = "hair-twist";
    let (scene, built) = crate::built_in(name, &[])?;
    let ModelSettings::MassSpring(settings) = &scene.model else {
        return Err(Error::WrongModel { scene: name, model: mass_spring::NAME });
    };
    let mut model = MassSpring::new(&built.groom, settings, scene.gravity)?;
    let chains = Chains::of_strands(&built.groom);
    model.set_contact(Some(Box::new(StrandContact::new(&chains, &scene.strands)?)));
    let (steps, fps) = (scene.time.steps_per_second, scene.time.fps);
    let seconds = scene.time.frames / fps;
    let poses = vec![RigidTransform::IDENTITY; built.groom.strands.strand_count()];
    let mut position = vec![Vec3::ZERO; built.groom.strands.point_count()];
    let (mut worst, mut end) = (0.0f64, 0.0);
    let mut lines: [Vec<(f64, f64)>; 3] = Default::default();
    for step in 1..=seconds * steps {
        let time = f64::from(step) / f64::from(steps);
        let env = Environment {
            time,
            dt: 1.0 / steps as f32,
            gravity: scene.gravity,
            wind: &Wind::default(),
            world_from_rest: &poses,
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        model.step(&env, &mut StepReport::default());
        if step % (steps / SAMPLES_PER_SECOND).max(1) != 0 {
            continue;
        }
        model.positions(&mut position);
        // Turns are counted about the direction from the end back to the root.
        let given =
            f64::from(settings.far_end.twist) * time.min(settings.far_end.until.into()) / TAU;
        let (twist, writhe) = (-model.twist_of(0) / TAU, -writhe(&position));
        worst = worst.max((twist + writhe - given).abs());
        end = writhe;
        for (line, value) in lines.iter_mut().zip([given, twist, writhe]) {
            line.push((time, value));
        }
    }
    let mut plot = Plot::new("A twisted hair winds around itself", "time (s)", "turns");
    for (line, name) in lines.into_iter().zip(["given", "twist", "writhe"]) {
        plot.line(name, line);
    }
    let rows = vec![
        Row::compare(
            "twist/linking-number".into(),
            model.name(),
            "largest error of twist plus writhe (turns)",
            [worst, 0.0],
            TOLERANCE,
        ),
        Row::at_least("twist/wound-up".into(), model.name(), "writhe (turns)", [end, WOUND]),
    ];
    Ok(Findings { rows, plots: vec![plot] })
}
