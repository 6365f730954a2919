//! Times of the pieces of a motion, and their statistics: medians over a second of motion in steady state, and
//! minima beside them.

use super::Row;

/// Seconds of motion before anything counts: caches, sizes of grids, and hair that swings already.
pub(super) const WARM_UP: f64 = 0.25;
/// Seconds of motion that count.
pub(super) const MEASURED: f64 = 1.0;

/// Times of equal pieces of a motion (s), in its order.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    fast: Vec<f64>,
    /// Both versions, on the pieces that the reference was measured on.
    both: Vec<[f64; 2]>,
}

impl Pieces {
    /// Keeps what one piece took; the reference may leave pieces out.
    pub(super) fn add(&mut self, fast: f64, reference: Option<f64>) {
        self.fast.push(fast);
        self.both.extend(reference.map(|slow| [fast, slow]));
    }

    /// Seconds that a piece takes; NaN if there is none.
    pub(super) fn median(&self) -> f64 {
        median(self.fast.iter().copied())
    }

    /// Seconds that the fastest piece took.
    pub(super) fn min(&self) -> f64 {
        self.fast.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// A row on one thread: hair of so many strands and particles, whose frame is a piece of `steps` steps.
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

    /// How many times as fast as the reference: medians over the pieces that both were measured on.
    pub(super) fn ratio(&self) -> f64 {
        median(self.both.iter().map(|b| b[1])) / median(self.both.iter().map(|b| b[0]))
    }
}

/// The middle of some times, the mean of two if there is no middle one; NaN without any.
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
    fn medians_are_of_the_pieces_that_both_were_measured_on() {
        let mut pieces = Pieces::default();
        for (fast, slow) in [(3.0, Some(30.0)), (1.0, None), (2.0, Some(10.0)), (9.0, None)] {
            pieces.add(fast, slow);
        }
        assert_eq!((pieces.median(), pieces.min()), (2.5, 1.0));
        assert_eq!(pieces.ratio(), 20.0 / 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }
}
