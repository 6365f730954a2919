//! Contact between single hairs allocates nothing after its first call, unless hair gets much denser.
//!
//! Lists of pairs have a capacity of twice their length when they last grew. Denser hair makes them grow again by the
//! same factor; a density that has occurred before allocates nothing.
//!
//! The counter of allocations is global to the process, so this program has one test.

#[path = "all/tangle/mod.rs"]
mod tangle;

use std::alloc::System;

use coif::contact::broad_phase::{self, Method};
use coif::contact::strand_contact::Settings;
use coif::contact::{Chains, StrandContact};
use glam::Vec3;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tangle::{Tangle, tangle};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Applies contact to hair with these positions and velocities; returns the number of allocations.
fn allocations(contact: &mut StrandContact, position: &[Vec3], velocity: &mut [Vec3]) -> usize {
    let region = Region::new(GLOBAL);
    contact.apply(position, velocity, 2e-4);
    let change = region.change();
    change.allocations + change.reallocations
}

/// Number of allocations while hair moves away for half of the steps, and back for the other half.
fn back_and_forth(contact: &mut StrandContact, hair: &Tangle, steps: usize) -> usize {
    let mut position = hair.groom.strands.positions().to_vec();
    let mut now = hair.velocity.clone();
    let mut made = 0;
    for step in 0..steps {
        let back = if step < steps / 2 { 1.0 } else { -1.0 };
        now.iter_mut().zip(&hair.velocity).for_each(|(now, v)| *now = *v * back);
        position.iter_mut().zip(&now).for_each(|(x, v)| *x += *v * 2e-4);
        made += allocations(contact, &position, &mut now);
    }
    made
}

/// Number of allocations, and largest number of pairs, while hair is compressed to a third of its size and expands.
fn compressed(contact: &mut StrandContact, hair: &Tangle) -> (usize, u64) {
    let mut position = hair.groom.strands.positions().to_vec();
    let mut still = vec![Vec3::ZERO; position.len()];
    let (mut made, mut pairs) = (0, 0);
    for step in 0..40 {
        let size = 1.0 - 2.0 / 3.0 * (step as f32 / 20.0 * std::f32::consts::FRAC_PI_2).sin();
        let at = hair.groom.strands.positions();
        position.iter_mut().zip(at).for_each(|(x, at)| *x = *at * size);
        still.fill(Vec3::ZERO);
        made += allocations(contact, &position, &mut still);
        pairs = pairs.max(contact.report().pairs);
    }
    (made, pairs)
}

#[test]
fn a_step_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        for &(name, method) in Method::NAMES {
            let hair = tangle(600, 8, 0.02);
            let detection = broad_phase::Settings { method, ..Default::default() };
            let settings = Settings { detection, ..Settings::default() };
            let chains = Chains::of_strands(&hair.groom);
            let mut contact = StrandContact::new(&chains, &settings).expect("valid settings");
            let first = back_and_forth(&mut contact, &hair, 1);
            let at_first = contact.report();
            let then = back_and_forth(&mut contact, &hair, 40);
            let report = contact.report();
            println!("{name}: {first}, then {then} allocations in 40 steps; {report:?}");
            assert!(report.springs > 100 && report.dropped_pairs == 0, "{report:?}");
            assert!(first > 0);
            assert_eq!(then, 0, "{name}: {at_first:?}, then {report:?}");

            let (grown, pairs) = compressed(&mut contact, &hair);
            let (again, _) = compressed(&mut contact, &hair);
            let denser = pairs as f64 / at_first.pairs as f64;
            println!("{name}: {grown} allocations while {denser:.1} times as dense, then {again}");
            assert!(denser > 4.0 && contact.report().dropped_pairs == 0, "{denser}");
            // About twenty lists double their capacity: twice for four times the pairs.
            assert!(grown as f64 <= 25.0 * denser.log2().ceil(), "{grown}");
            assert_eq!(again, 0, "{name}");
        }
    });
}
