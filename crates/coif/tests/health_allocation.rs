//! A look at the hair allocates nothing of its own once its memory has been made: nothing beyond what the
//! model allocates to hand out its positions.
//!
//! The counter is that of the whole process, so there is one test and nothing beside it.

#[path = "all/scene/mod.rs"]
mod scene;

use std::alloc::System;

use coif::model::ModelSettings;
use glam::Vec3;
use scene::{Shake, groom, simulation};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_look_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        for model in ModelSettings::NAMES {
            let settings = ModelSettings::by_name(model).expect("a model");
            let hair = groom(300, |s| 5 + s % 8);
            let mut positions = vec![Vec3::ZERO; hair.strands.point_count()];
            let mut sim = simulation(hair, Shake { angle: 0.8, height: 0.05 }, &settings);
            let (mut by_looks, mut by_positions) = (0, 0);
            for frame in 0..12 {
                sim.advance_to(f64::from(frame) / 60.0);
                let region = Region::new(GLOBAL);
                sim.positions(&mut positions);
                let unpacked = region.change();
                let region = Region::new(GLOBAL);
                sim.health();
                let looked = region.change();
                // Two looks make the memory for what is seen now and what was seen before.
                if frame >= 2 {
                    by_positions += unpacked.allocations + unpacked.reallocations;
                    by_looks += looked.allocations + looked.reallocations;
                }
            }
            println!("{model}: {by_looks} by looks, {by_positions} by positions alone");
            assert_eq!(by_looks, by_positions, "{model}");
        }
    });
}
