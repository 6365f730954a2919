//! Fewer and wider strands where fibres are far finer than a pixel.
//!
//! Model: a fraction of the strands, chosen by their seeds, is drawn wider by the inverse of that fraction, so the
//! covered area stays the same on average; strands at the edge of the choice are narrower, so that none appears
//! abruptly.
//! Source: stochastic simplification (Cook, Halstead, Planck, Ryu 2007).
//! Deviations: one fraction for the whole frame. It depends on the camera, the number of strands and their width, not
//! on the position of hair: nothing changes while hair moves. Shadows are cast by all hair.

use crate::hash::hash;
use crate::{Camera, HairView, Settings};

/// Minimum number of strands drawn, if there are as many: with fewer, thinning is visible.
const MIN_STRANDS: f32 = 16384.0;
/// Minimum fraction of strands left out; if less would be, all are drawn.
const WORTHWHILE: f32 = 0.1;
/// Fraction of the strands drawn that is narrower than the rest.
const EDGE: f32 = 0.1;

/// The fraction of strands drawn, which determines their width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thinning {
    fraction: f32,
}

impl Thinning {
    /// For hair seen by a camera whose picture plane lies `focal` pixels from the eye.
    pub(crate) fn new(
        hair: &[HairView<'_>],
        camera: &Camera,
        focal: f32,
        settings: &Settings,
    ) -> Self {
        let strands: usize = hair.iter().map(|view| view.strands.strand_count()).sum();
        let min_fraction = MIN_STRANDS / strands.max(1) as f32;
        let distance = camera.position.distance(camera.target).max(camera.near);
        let width = 2.0 * mean_radius(hair) * focal / distance;
        let fraction = (width / settings.finest_width.max(1e-6)).max(min_fraction);
        Self { fraction: if fraction < 1.0 - WORTHWHILE { fraction } else { 1.0 } }
    }

    /// Factor of the width of the strand of this seed; 0 if it is left out. The mean is one.
    pub(crate) fn widening(&self, seed: u32) -> f32 {
        if self.fraction >= 1.0 {
            return 1.0;
        }
        let rank = hash(seed ^ 0x7419) as f32 / u32::MAX as f32;
        let edge = EDGE * self.fraction;
        ((self.fraction - rank) / edge + 0.5).clamp(0.0, 1.0) / self.fraction
    }
}

/// Mean radius of all points (m), independent of their order.
fn mean_radius(hair: &[HairView<'_>]) -> f32 {
    let (mut sum, mut count) = (0u64, 0usize);
    for view in hair {
        // Sum integers: nanometres, at most a millimetre.
        let nanometres = |r: &f32| u64::from((r * 1e9).clamp(0.0, 1e6) as u32);
        sum += view.radius.iter().map(nanometres).sum::<u64>();
        count += view.radius.len();
    }
    (sum as f64 / count.max(1) as f64 * 1e-9) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_width_is_kept() {
        for fraction in [0.1f32, 0.35, 0.6, 0.89, 1.0] {
            let thinning = Thinning { fraction };
            let widths: Vec<f32> = (0..100_000).map(|seed| thinning.widening(seed)).collect();
            let mean = widths.iter().sum::<f32>() / widths.len() as f32;
            assert!((mean - 1.0).abs() < 0.02, "{fraction}: {mean}");
            let drawn = widths.iter().filter(|w| **w > 0.0).count() as f32 / 1e5;
            assert!((drawn / fraction - 1.0).abs() < 0.07, "{fraction}: {drawn}");
        }
    }

    #[test]
    fn strands_appear_gradually() {
        for seed in 0..200 {
            let at = |k: i32| Thinning { fraction: 0.3 + 1e-4 * k as f32 }.widening(seed);
            let jump = (0..4000).map(|k| (at(k + 1) - at(k)).abs()).fold(0.0, f32::max);
            assert!(jump < 0.02, "{jump}");
        }
    }
}
