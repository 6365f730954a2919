//! A step allocates nothing if its grid is no larger than an earlier one. The counter of allocations is global to the
//! process, so this program has one test.

#[path = "all/rows/mod.rs"]
mod rows;

use std::alloc::System;

use coif::contact::volume::{Settings, Volume};
use rows::{Rows, cloud};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_step_allocates_nothing_after_the_first() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        let mut rows = Rows::new(&cloud(5000, 0.05, 1));
        let mut volume = Volume::new(&Settings::default()).expect("valid settings");
        volume.apply(&mut rows.samples(), 1.0 / 60.0);
        let region = Region::new(COUNTED);
        for _ in 0..5 {
            rows.position.iter_mut().for_each(|x| *x *= 0.97);
            volume.apply(&mut rows.samples(), 1.0 / 60.0);
        }
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{change:?}");
        // Check the counter itself.
        rows.position.reserve_exact(1_000_000);
        assert!(region.change().reallocations > 0);
    });
}
