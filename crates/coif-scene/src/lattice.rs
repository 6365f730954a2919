//! The size of a dense lattice of cubes: bounded by a memory budget, not by a bounding box.

use glam::{IVec3, Vec3};

/// Maximum number of cubes of a lattice: 16 MB of indices. A scalp with a root every half millimetre needs fewer. A
/// lattice that needs more gets larger cubes, which costs time where points are dense, but changes no result.
pub(crate) const MAX_CUBES: usize = 1 << 22;

/// Minimum factor by which a cube grows until the lattice fits.
const COARSER: f64 = 1.01;

/// Edge (m) and number of cubes along each axis of a lattice over a box of this extent (m): as fine as
/// `wanted`, or the finest that keeps within `max_cubes`.
pub(crate) fn fit(extent: Vec3, wanted: f32, max_cubes: usize) -> (f32, IVec3) {
    let extent = extent.as_dvec3().to_array().map(|e| if e.is_finite() { e.max(0.0) } else { 0.0 });
    let longest = extent.iter().fold(0.0f64, |a, &b| a.max(b));
    // Limit the number of cubes along a single axis as well.
    let mut cell =
        f64::from(wanted).max(longest / max_cubes as f64).max(f64::from(f32::MIN_POSITIVE));
    loop {
        let size = extent.map(|e| (e / cell).ceil() + 1.0);
        let ratio = size.iter().product::<f64>() / max_cubes as f64;
        if ratio <= 1.0 {
            return (cell as f32, IVec3::from(size.map(|n| n as i32)));
        }
        cell *= ratio.cbrt().max(COARSER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_holds_for_any_box() {
        let axes = [0.0, 1e-30, 1e-3, 0.2, 1e6, 3e38, f32::INFINITY, f32::NAN];
        for x in axes {
            for y in axes {
                for z in axes {
                    for wanted in [1e-30, 0.005, 1e9] {
                        let (cell, size) = fit(Vec3::new(x, y, z), wanted, MAX_CUBES);
                        let cubes: i64 = size.to_array().map(i64::from).iter().product();
                        assert!((1..=MAX_CUBES as i64).contains(&cubes), "{cubes}");
                        assert!(cell >= wanted && cell > 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn a_head_keeps_the_cell_that_was_asked_for() {
        assert_eq!(fit(Vec3::splat(0.3), 0.0075, MAX_CUBES).0, 0.0075);
    }
}
