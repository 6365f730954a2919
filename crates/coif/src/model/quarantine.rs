//! Quarantine: hair that is not finite, or out of range, is reset to its rest shape and reported.
//!
//! A model tests its hair at the end of a step, in its own layout: strands one by one ([`is_sane`]) or a bit per
//! lane. It resets broken strands while they are in the cache, on any number of threads, and reports afterwards in a
//! fixed order ([`StepReport::add`]), so that the report is the same for any number of threads.

use super::StepReport;
use crate::math::LANES;

/// Whether every point is within `reach` (m) of the root and has a finite velocity. `points` yields the squared distance
/// from the root (m^2), and whether the velocity is finite.
pub(super) fn is_sane(points: impl IntoIterator<Item = (f32, bool)>, reach: f32) -> bool {
    // A comparison with NaN fails.
    points.into_iter().all(|(square, is_finite)| square <= reach * reach && is_finite)
}

/// The lanes whose bits are set.
pub(super) fn lanes_of(bits: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |l| bits >> l & 1 == 1)
}

impl StepReport {
    /// Adds the outcome of a step for some strands: the number of particles inside the body, and a bit for each of
    /// `strands` that broke.
    pub(super) fn add(&mut self, unresolved: u32, broken: u32, strands: &[u32]) {
        self.unresolved += u64::from(unresolved);
        self.quarantined.extend(lanes_of(broken).filter_map(|l| strands.get(l)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_with_nan_or_beyond_reach_are_not_sane() {
        assert!(is_sane([(0.0, true), (4.0, true)], 2.0));
        assert!(!is_sane([(0.0, true), (4.1, true)], 2.0));
        assert!(!is_sane([(0.0, true), (1.0, false)], 2.0));
        assert!(!is_sane([(f32::NAN, true)], 2.0));
        assert!(!is_sane([(f32::INFINITY, true)], 2.0));
    }

    #[test]
    fn only_lanes_in_use_are_reported() {
        let mut report = StepReport::default();
        report.add(3, 0b1000_0000_0000_0110, &[7, 5, 9]);
        assert_eq!((report.unresolved, &report.quarantined[..]), (3, &[5, 9][..]));
    }
}
