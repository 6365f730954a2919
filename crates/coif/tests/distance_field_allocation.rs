//! A rebuild allocates nothing if its grid is no larger than an earlier one. The counter of allocations is global to the
//! process, so this program has one test.

#[path = "all/shapes/mod.rs"]
mod shapes;

use std::alloc::System;

use coif::body::distance_field::{DistanceField, Settings};
use glam::Vec3;
use shapes::ball;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_rebuild_allocates_nothing_after_the_largest() {
    let whole = ball(48, 24, |p| p * 0.15);
    // A mesh with a hole and an overlapping second body, so that every repair runs.
    let mut torn = ball(48, 24, |p| p * 0.15).with(&ball(24, 12, |p| p * 0.1 + Vec3::X * 0.1));
    torn.triangles.drain(300..330);
    for mesh in [whole, torn] {
        let mut field =
            DistanceField::new(&mesh.triangles, &Settings::default()).expect("valid settings");
        let scaled =
            |scale: f32| -> Vec<Vec3> { mesh.positions.iter().map(|p| p * scale).collect() };
        let sizes = [1.0, 0.9, 0.7, 0.95].map(scaled);
        field.rebuild(&sizes[0], &sizes[0]);
        let region = Region::new(COUNTED);
        for positions in &sizes {
            field.rebuild(positions, positions);
        }
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{change:?}");
        // Check the counter itself.
        field.rebuild(&scaled(1.2), &[]);
        assert!(region.change().reallocations > 0);
    }
}
