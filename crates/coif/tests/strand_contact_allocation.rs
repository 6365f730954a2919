//! Contact between single hairs allocates nothing once its memory has grown.
//!
//! The counter is that of the whole process, so there is one test and nothing beside it.

#[path = "all/tangle/mod.rs"]
mod tangle;

use std::alloc::System;

use coif::contact::strand_contact::Settings;
use coif::contact::{Chains, StrandContact};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tangle::{Tangle, tangle};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_step_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        let Tangle { groom, velocity } = tangle(600, 8, 0.02);
        let mut contact = StrandContact::new(&Chains::of_strands(&groom), &Settings::default())
            .expect("valid settings");
        // Hair goes to and fro on the same way, so that every state has been there before.
        let run = |contact: &mut StrandContact| {
            let mut made = 0;
            let mut position = groom.strands.positions().to_vec();
            let mut now = velocity.clone();
            for step in 0..40 {
                now.copy_from_slice(&velocity);
                let back = if step < 20 { 1.0 } else { -1.0 };
                now.iter_mut().for_each(|v| *v *= back);
                position.iter_mut().zip(&now).for_each(|(x, v)| *x += *v * 2e-4);
                let region = Region::new(GLOBAL);
                contact.apply(&position, &mut now, 2e-4);
                let change = region.change();
                made += change.allocations + change.reallocations;
            }
            made
        };
        let (first, second) = (run(&mut contact), run(&mut contact));
        let third = run(&mut contact);
        let report = contact.report();
        println!("{first}, {second}, then {third} allocations in 40 steps; {report:?}");
        assert!(report.springs > 100 && report.dropped_pairs == 0, "{report:?}");
        assert!(first > 0);
        assert_eq!(third, 0);
    });
}
