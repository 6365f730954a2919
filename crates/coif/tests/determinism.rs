//! Same input, same bits: for any number of threads, twice in a row, and after a restart.

mod scene;

use coif::model::{ModelSettings, cantilever};
use scene::{Shake, groom, simulation};

/// The models that split their work in their own ways.
fn models() -> [ModelSettings; 2] {
    [ModelSettings::default(), ModelSettings::Cantilever(cantilever::Settings::default())]
}

fn run(model: &ModelSettings, threads: usize, seconds: f64) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let hair = groom(333, |s| 5 + s % 30);
        let mut sim = simulation(hair, Shake { angle: 0.8, height: 0.05 }, model);
        sim.advance_to(seconds);
        sim.state_hash()
    })
}

#[test]
fn same_bits_for_any_number_of_threads_and_twice_in_a_row() {
    for model in models() {
        let one = run(&model, 1, 0.5);
        for threads in [1, 2, 3] {
            assert_eq!(run(&model, threads, 0.5), one, "{}, {threads} threads", model.name());
        }
    }
}

#[test]
fn a_restored_checkpoint_goes_on_with_the_same_bits() {
    for model in models() {
        goes_on_with_the_same_bits(&model);
    }
}

fn goes_on_with_the_same_bits(model: &ModelSettings) {
    let start = || {
        let hair = groom(50, |_| 20);
        simulation(hair, Shake { angle: 0.8, height: 0.05 }, model)
    };
    let mut whole = start();
    whole.advance_to(0.25);
    let saved = whole.checkpoint();
    let hash_at_save = whole.state_hash();
    whole.advance_to(0.5);
    let mut resumed = start();
    resumed.restore(&saved).expect("its own checkpoint");
    assert_eq!(resumed.state_hash(), hash_at_save, "as it was");
    assert_eq!(resumed.time(), 0.25);
    resumed.advance_to(0.5);
    assert_eq!(resumed.state_hash(), whole.state_hash());

    // What is cut off or of another groom is refused.
    for cut in [0, 7, 20, saved.len() - 1] {
        assert!(start().restore(&saved[..cut]).is_err(), "cut at {cut}");
    }
    let mut other = simulation(groom(51, |_| 20), Shake { angle: 0.0, height: 0.0 }, model);
    assert!(other.restore(&saved).is_err());
}

#[test]
fn the_steps_do_not_depend_on_how_often_one_looks() {
    let start = || {
        let hair = groom(40, |_| 12);
        simulation(hair, Shake { angle: 0.8, height: 0.05 }, &ModelSettings::default())
    };
    let (mut often, mut rarely) = (start(), start());
    for frame in 1..=60 {
        often.advance_to(f64::from(frame) / 120.0);
    }
    for frame in 1..=12 {
        rarely.advance_to(f64::from(frame) / 24.0);
    }
    assert_eq!(often.state_hash(), rarely.state_hash());
}

/// A hair mesh, fitted to strands, is solved as a whole: still the same bits, and again after a restart
/// in the middle of contact.
#[test]
fn hair_meshes_have_the_same_bits_as_well() {
    let model = ModelSettings::by_name("hair-mesh").expect("a model");
    let start = || simulation(groom(120, |_| 12), Shake { angle: 0.8, height: 0.05 }, &model);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut sim = start();
            sim.advance_to(0.3);
            sim.state_hash()
        })
    };
    let one = run(1);
    assert_eq!([run(1), run(2), run(3)], [one; 3]);
    let mut whole = start();
    whole.advance_to(0.15);
    let (saved, hash_at_save) = (whole.checkpoint(), whole.state_hash());
    whole.advance_to(0.3);
    assert_eq!(whole.state_hash(), one);
    let mut resumed = start();
    resumed.restore(&saved).expect("a checkpoint");
    // Strands lie around the body as they did.
    assert_eq!(resumed.state_hash(), hash_at_save);
    resumed.advance_to(0.3);
    assert_eq!(resumed.state_hash(), one);
    assert!(start().restore(&saved[..saved.len() - 1]).is_err());
}
