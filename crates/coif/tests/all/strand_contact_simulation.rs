//! Contact between single hairs after the step of any model: it acts, gives the same bits for any number
//! of threads, and goes on from a checkpoint.

use std::sync::Arc;

use crate::scene::{Shake, ball, groom};
use coif::body::Body;
use coif::contact::strand_contact::Settings;
use coif::contact::{repulsion, stiction};
use coif::model::ModelSettings;
use coif::simulation::{Simulation, World};

/// Few hairs stand for many: they touch from afar.
fn touch() -> Settings {
    let stiction = stiction::Settings {
        make: 15e-3,
        break_: 25e-3,
        rest: 12e-3,
        ..stiction::Settings::default()
    };
    let repulsion = repulsion::Settings { thickness: 2e-3, ..repulsion::Settings::default() };
    Settings {
        stiction: Some(stiction),
        repulsion: Some(repulsion),
        margin: 2e-3,
        ..Settings::default()
    }
}

fn shaken(model: &ModelSettings, hair: Option<Settings>) -> Simulation {
    let motion = Shake { angle: 0.8, height: 0.05 };
    let body = Body::rigid(ball(), Arc::new(motion)).expect("a valid body");
    let world = World { hair, ..World::default() };
    let groom = groom(150, |s| 5 + s % 8);
    Simulation::new(Arc::new(groom), Arc::new(body), model, world).expect("a valid simulation")
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[test]
fn every_model_feels_it_and_gives_the_same_bits() {
    // Strands in a hair mesh or a strip are carried along: there is nothing to feel it.
    let feels = |name: &&&str| !["hair-mesh", "cantilever"].contains(*name);
    for name in ModelSettings::NAMES.iter().filter(feels) {
        let model = ModelSettings::by_name(name).expect("a model");
        let run = |threads, hair: Option<Settings>| {
            with_threads(threads, || {
                let mut sim = shaken(&model, hair);
                (0..40).for_each(|_| sim.step());
                assert!(sim.report().quarantined.is_empty(), "{name}");
                (sim.state_hash(), sim.hair_report())
            })
        };
        let one = run(1, Some(touch()));
        let (hash, none) = run(1, None);
        println!("{name}: {:?}", one.1);
        assert!(none.is_none());
        assert_ne!(one.0, hash, "{name}");
        if let Some(report) = one.1 {
            // One in ten strands at least; hair that keeps its shape meets others less often.
            assert!(report.springs > 15, "{name}: {report:?}");
        }
        assert_eq!(one, run(2, Some(touch())), "{name}");
        assert_eq!(one, run(3, Some(touch())), "{name}");
    }
}

#[test]
fn a_checkpoint_holds_the_springs() {
    let model = ModelSettings::default();
    let mut sim = shaken(&model, Some(touch()));
    (0..20).for_each(|_| sim.step());
    let bytes = sim.checkpoint();
    (0..20).for_each(|_| sim.step());
    let mut other = shaken(&model, Some(touch()));
    other.restore(&bytes).expect("a checkpoint");
    (0..20).for_each(|_| other.step());
    assert_eq!(sim.state_hash(), other.state_hash());
    assert_eq!(sim.hair_report(), other.hair_report());
    // Without contact it is another simulation; cut off it is nothing.
    assert!(shaken(&model, None).restore(&bytes).is_err());
    let before = other.checkpoint();
    assert!(other.restore(&bytes[..bytes.len() - 1]).is_err());
    assert!(before == other.checkpoint());
}

#[test]
fn impossible_settings_are_refused() {
    let hair = Some(Settings { margin: -1.0, ..Settings::default() });
    let motion = Shake { angle: 0.0, height: 0.0 };
    let body = Arc::new(Body::rigid(ball(), Arc::new(motion)).expect("a valid body"));
    let world = World { hair, ..World::default() };
    let groom = Arc::new(groom(3, |_| 4));
    let error = Simulation::new(groom, body, &ModelSettings::default(), world).err();
    assert!(error.expect("an error").to_string().contains("margin"));
}
