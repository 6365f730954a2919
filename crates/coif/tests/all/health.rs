//! Health of every model: finite, the same for any number of threads, and the same after a restart.

use crate::scene::{Shake, groom, simulation};
use coif::model::ModelSettings;
use coif::simulation::{Health, Simulation};

/// Measurements per second; divides the steps per second.
const FPS: f64 = 60.0;

const SHAKE: Shake = Shake { angle: 0.8, height: 0.05 };
const STILL: Shake = Shake { angle: 0.0, height: 0.0 };

/// Hair of a model on a ball.
fn start(model: &str, motion: Shake) -> Simulation {
    let settings = ModelSettings::by_name(model).expect("a model");
    simulation(groom(200, |s| 5 + s % 8), motion, &settings)
}

/// The health of frames from 0 on.
fn series(sim: &mut Simulation, frames: std::ops::Range<u32>) -> Vec<Health> {
    frames
        .map(|frame| {
            sim.advance_to(f64::from(frame) / FPS);
            sim.health()
        })
        .collect()
}

#[test]
fn health_of_every_model_is_finite_and_measures_motion() {
    for model in ModelSettings::NAMES {
        let all = series(&mut start(model, SHAKE), 0..20);
        assert_eq!(
            all[0].motion,
            Default::default(),
            "{model}: the first measurement has no motion"
        );
        for (frame, health) in all.iter().enumerate().skip(1) {
            let motion = &health.motion;
            let numbers = [
                motion.speed_max,
                motion.speed_mean(),
                motion.relative_speed_max,
                motion.kinetic_energy as f32,
                motion.body_speed_max,
                health.drift.max,
                health.drift.distance_max,
                health.stretch_max,
                health.penetration_max,
            ];
            assert!(numbers.iter().all(|x| x.is_finite()), "{model}, {frame}: {health:?}");
            assert_eq!(motion.seconds, 1.0 / FPS, "{model}, {frame}");
            assert!(motion.speed_mean() <= motion.speed_max, "{model}, {frame}: {motion:?}");
        }
        let last = &all[19].motion;
        // The ball turns and rises, and hair follows with a delay.
        assert!(last.body_speed_max > 0.3, "{model}: {last:?}");
        assert!(last.speed_max > 0.3 && last.kinetic_energy > 0.0, "{model}: {last:?}");
        assert!(last.relative_speed_max > 0.01 && last.moving_points > 0, "{model}: {last:?}");
        assert!(last.moving_strands.count > 0 && all[19].drift.max > 0.0, "{model}: {last:?}");
    }
}

#[test]
fn hair_on_a_still_body_is_calm() {
    for model in ModelSettings::NAMES {
        for health in series(&mut start(model, STILL), 0..20) {
            assert_eq!(health.motion.body_speed_max, 0.0, "{model}");
            assert_eq!(health.motion.moving_points, 0, "{model}: {:?}", health.motion);
            assert_eq!((health.kinked.count, health.drift.drifted.count), (0, 0), "{model}");
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads_and_after_a_restart() {
    for model in ["follow-the-leader", "hair-mesh"] {
        let run = |threads: usize| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| series(&mut start(model, SHAKE), 0..16))
        };
        let one = run(1);
        assert_eq!(run(2), one, "{model}");
        assert_eq!(run(3), one, "{model}");
        let mut part = start(model, SHAKE);
        series(&mut part, 0..8);
        let mut resumed = start(model, SHAKE);
        resumed.restore(&part.checkpoint()).expect("its own checkpoint");
        // Measure the last frame, as the reference of the next one.
        assert_eq!(resumed.health().motion, Default::default(), "{model}");
        assert_eq!(series(&mut resumed, 8..16), one[8..], "{model}");
    }
}

#[test]
fn a_repeated_measurement_is_equal_and_a_teleport_is_no_motion() {
    let mut sim = start("follow-the-leader", SHAKE);
    let last = series(&mut sim, 0..12)[11];
    assert!(last.motion.speed_max > 0.1);
    assert_eq!(sim.health(), last);
    sim.teleport(1.0);
    assert_eq!(sim.health().motion, Default::default());
    sim.step();
    assert!(sim.health().motion.speed_max > 0.0);
    sim.reset();
    assert_eq!(sim.health().motion, Default::default());
}
