//! Contact between single hairs in a simulation, for every model that supports it: it acts, gives the same bits for any
//! number of threads, and continues from a checkpoint.

use std::sync::Arc;

use crate::scene::{Shake, ball, groom};
use coif::body::Body;
use coif::contact::strand_contact::Settings;
use coif::contact::{ContactSettings, broad_phase, repulsion, stiction};
use coif::model::ModelSettings;
use coif::simulation::{Simulation, World};

/// Large contact distances, because few hairs represent many.
fn contact_settings() -> Settings {
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
        detection: broad_phase::Settings { margin: 2e-3, ..Default::default() },
        ..Settings::default()
    }
}

fn shaken(model: &ModelSettings, hair: Option<Settings>) -> Simulation {
    let motion = Shake { angle: 0.8, height: 0.05 };
    let body = Body::rigid(ball(), Arc::new(motion)).expect("a valid body");
    let contacts = hair.map(Into::into).into_iter().collect();
    let world = World { contacts, ..World::default() };
    let groom = groom(150, |s| 5 + s % 8);
    Simulation::new(Arc::new(groom), Arc::new(body), model, world).expect("a valid simulation")
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[test]
fn contact_acts_on_every_model_with_the_same_bits() {
    // Strands in a hair mesh or a strip have no degrees of freedom of their own: contact has no access to them.
    for (name, _) in ModelSettings::taking(&contact_settings().into()) {
        let model = ModelSettings::by_name(name).expect("a model");
        let run = |threads, hair: Option<Settings>| {
            with_threads(threads, || {
                let mut sim = shaken(&model, hair);
                (0..40).for_each(|_| sim.step());
                assert!(sim.report().quarantined.is_empty(), "{name}");
                (sim.state_hash(), sim.report().contact.strands)
            })
        };
        let one = run(1, Some(contact_settings()));
        let (hash, none) = run(1, None);
        println!("{name}: {:?}", one.1);
        assert!(none.is_none());
        assert_ne!(one.0, hash, "{name}");
        if let Some(report) = one.1 {
            // One in ten strands at least; hair that keeps its shape has fewer contacts.
            assert!(report.springs > 15, "{name}: {report:?}");
        }
        assert_eq!(one, run(2, Some(contact_settings())), "{name}");
        assert_eq!(one, run(3, Some(contact_settings())), "{name}");
    }
}

/// The choice of the broad phase does not change the result, for contact within a step and after it.
#[test]
fn every_broad_phase_gives_the_same_bits() {
    for name in ["mass-spring", "position-based"] {
        let model = ModelSettings::by_name(name).expect("a model");
        let run = |method: broad_phase::Method| {
            let detection = broad_phase::Settings { method, ..contact_settings().detection };
            let mut sim = shaken(&model, Some(Settings { detection, ..contact_settings() }));
            (0..40).for_each(|_| sim.step());
            let report = sim.report().contact.strands.expect("a report");
            assert!(report.springs > 15 && report.dropped_pairs == 0, "{name}: {report:?}");
            sim.state_hash()
        };
        let tree = run(broad_phase::Method::Tree);
        for &(detection, method) in broad_phase::Method::NAMES {
            assert_eq!(run(method), tree, "{name} with {detection}");
        }
    }
}

#[test]
fn a_checkpoint_holds_the_springs() {
    let model = ModelSettings::default();
    let mut sim = shaken(&model, Some(contact_settings()));
    (0..20).for_each(|_| sim.step());
    let bytes = sim.checkpoint();
    (0..20).for_each(|_| sim.step());
    let mut other = shaken(&model, Some(contact_settings()));
    other.restore(&bytes).expect("a checkpoint");
    (0..20).for_each(|_| other.step());
    assert_eq!(sim.state_hash(), other.state_hash());
    assert_eq!(sim.report().contact.strands, other.report().contact.strands);
    // A checkpoint without contact, or a truncated one, is refused.
    assert!(shaken(&model, None).restore(&bytes).is_err());
    let before = other.checkpoint();
    assert!(other.restore(&bytes[..bytes.len() - 1]).is_err());
    assert!(before == other.checkpoint());
}

#[test]
fn invalid_settings_are_refused() {
    let hair = Some(Settings {
        detection: broad_phase::Settings { margin: -1.0, ..Default::default() },
        ..Settings::default()
    });
    let motion = Shake { angle: 0.0, height: 0.0 };
    let body = Arc::new(Body::rigid(ball(), Arc::new(motion)).expect("a valid body"));
    let contacts = hair.map(Into::into).into_iter().collect();
    let world = World { contacts, ..World::default() };
    let groom = Arc::new(groom(3, |_| 4));
    let error = Simulation::new(groom, body, &ModelSettings::default(), world).err();
    assert!(error.expect("an error").to_string().contains("margin"));
}

/// A simulation accepts the declared pairs of model and contact and reports their contact; others are refused by name.
#[test]
fn a_simulation_accepts_the_declared_pairs_of_model_and_contact() {
    let body = Body::rigid(ball(), Arc::new(Shake { angle: 0.0, height: 0.0 }));
    let body = Arc::new(body.expect("a valid body"));
    let groom = Arc::new(groom(20, |_| 6));
    for contact in ContactSettings::NAMES {
        let contact = ContactSettings::by_name(contact).expect("a contact");
        let taking = ModelSettings::taking(&contact);
        for name in ModelSettings::NAMES {
            let model = ModelSettings::by_name(name).expect("a model");
            let built = model.build(&groom, 1.0 / 240.0, World::default().gravity);
            assert_eq!(built.expect("a model").capabilities(), model.capabilities(), "{name}");
            let world = World { contacts: vec![contact.clone()], ..World::default() };
            let sim = Simulation::new(groom.clone(), body.clone(), &model, world);
            if !taking.iter().any(|(taker, _)| taker == name) {
                let error = sim.err().expect("a refusal").to_string();
                assert!(error.contains(name) && error.contains(contact.name()), "{error}");
                continue;
            }
            let mut sim = sim.expect("a simulation");
            sim.step();
            let report = sim.report().contact;
            let is_volume = matches!(contact, ContactSettings::Volume(_));
            let reported = (report.volume.is_some(), report.strands.is_some());
            assert_eq!(reported, (is_volume, !is_volume), "{name}");
        }
        let twice = World { contacts: vec![contact.clone(), contact], ..World::default() };
        let model = ModelSettings::by_name("mass-spring").expect("a model");
        let error = Simulation::new(groom.clone(), body.clone(), &model, twice).err();
        assert!(error.expect("a refusal").to_string().contains("twice"));
    }
}
