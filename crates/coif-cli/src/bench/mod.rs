//! Benchmarks for users: each figure beside a plain reference and the limit of the memory, all
//! measured in the same run.
//!
//! To add one: write a file with a `BENCHMARK` and name it in [`ALL`].

mod bandwidth;
mod distance_field;
mod ftl;
mod pictures;
mod table;
mod volume;

use std::time::Instant;

use serde::Serialize;

pub(crate) use self::table::table;
use crate::failure::Failure;

/// All benchmarks, in the order in which they run.
pub(crate) const ALL: &[Benchmark] =
    &[ftl::BENCHMARK, volume::BENCHMARK, distance_field::BENCHMARK, pictures::BENCHMARK];

/// A benchmark that can be asked for by name.
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    /// One line.
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Setting) -> Result<Vec<Row>, Failure>,
}

/// One line of the result. The keys are relied on from outside: see the design.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) strands: usize,
    pub(crate) particles: usize,
    pub(crate) threads: usize,
    /// Time for one particle and one step; for pictures, for one segment of one picture.
    pub(crate) ns_per_particle_step: f64,
    pub(crate) ms_per_frame: f64,
    /// How many times as fast as the reference.
    pub(crate) reference_ratio: f64,
    /// What the reference is.
    pub(crate) reference: &'static str,
    /// What memory alone would allow: bytes moved per particle over the measured bandwidth (ns).
    pub(crate) memory_limit_ns: Option<f64>,
    pub(crate) state_hash: String,
}

/// How to measure.
pub(crate) struct Setting {
    /// A tenth of the hair and fewer repetitions.
    pub(crate) quick: bool,
    /// Rows are measured on one thread and on this many.
    pub(crate) threads: usize,
}

impl Setting {
    /// One thread, and all of them if that is more.
    fn thread_counts(&self) -> Vec<usize> {
        if self.threads > 1 { vec![1, self.threads] } else { vec![1] }
    }

    /// How often to repeat; the minimum counts.
    fn repetitions(&self) -> usize {
        if self.quick { 3 } else { 8 }
    }
}

/// Seconds that `work` takes.
fn seconds(work: impl FnOnce()) -> f64 {
    let clock = Instant::now();
    work();
    clock.elapsed().as_secs_f64()
}
