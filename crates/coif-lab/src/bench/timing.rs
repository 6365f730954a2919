//! Times of the pieces of a motion, and their statistics: medians over a second of motion in steady state, with minima.

use super::Row;

/// Seconds of motion before measurement: it fills caches, fits grids and sets hair in motion.
pub(super) const WARM_UP: f64 = 0.25;
/// Seconds of motion that are measured.
pub(super) const MEASURED: f64 = 1.0;

/// Times of equal pieces of a motion (s), in its order.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    fast: Vec<f64>,
    /// Times of both versions, on the pieces on which the reference was measured.
    both: Vec<[f64; 2]>,
}

impl Pieces {
    /// Adds the time of one piece; the reference may leave pieces out.
    pub(super) fn add(&mut self, fast: f64, reference: Option<f64>) {
        self.fast.push(fast);
        self.both.extend(reference.map(|slow| [fast, slow]));
    }

    /// Median time of a piece (s); NaN without pieces.
    pub(super) fn median(&self) -> f64 {
        median(self.fast.iter().copied())
    }

    /// Time of the fastest piece (s).
    pub(super) fn min(&self) -> f64 {
        self.fast.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// A row on one thread, for these numbers of strands and particles, where a frame is a piece of `steps` steps.
    pub(super) fn row(
        &self,
        name: impl Into<String>,
        [strands, particles]: [usize; 2],
        steps: usize,
        reference: &'static str,
        hash: u64,
    ) -> Row {
        let per_particle = |piece: f64| piece * 1e9 / (particles * steps) as f64;
        Row {
            name: name.into(),
            strands,
            particles,
            threads: 1,
            ns_per_particle_step: per_particle(self.median()),
            ns_per_particle_step_min: per_particle(self.min()),
            ms_per_frame: self.median() * 1e3,
            reference_ratio: self.ratio(),
            reference,
            memory_limit_ns: None,
            state_hash: format!("{hash:016x}"),
            detail: None,
        }
    }

    /// Median time of the reference over that of the fast version, on the pieces on which both were measured.
    pub(super) fn ratio(&self) -> f64 {
        median(self.both.iter().map(|b| b[1])) / median(self.both.iter().map(|b| b[0]))
    }
}

/// The median of some times, the mean of the middle two of an even number; NaN of none.
fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = times.collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_use_the_pieces_on_which_both_were_measured() {
        let mut pieces = Pieces::default();
        for (fast, slow) in [(3.0, Some(30.0)), (1.0, None), (2.0, Some(10.0)), (9.0, None)] {
            pieces.add(fast, slow);
        }
        assert_eq!((pieces.median(), pieces.min()), (2.5, 1.0));
        assert_eq!(pieces.ratio(), 20.0 / 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }
}
