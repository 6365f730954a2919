//! Benchmarks: each figure with a reference, in most cases a plain version measured in the same run, and with the limit
//! of the memory bandwidth.
//!
//! To add one: write a file with a `BENCHMARK` and list it in [`ALL`].

mod bandwidth;
mod cantilever;
mod crowd;
mod distance_field;
mod drive;
mod ftl;
mod hair_mesh;
mod mass_spring;
mod pictures;
mod plain_step;
mod step;
mod timing;
mod volume;

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::Error;

/// All benchmarks, in the order in which they run.
pub const ALL: &[Benchmark] = &[
    ftl::BENCHMARK,
    mass_spring::BENCHMARK,
    cantilever::BENCHMARK,
    hair_mesh::BENCHMARK,
    volume::BENCHMARK,
    distance_field::BENCHMARK,
    drive::BENCHMARK,
    crowd::BENCHMARK,
    pictures::BENCHMARK,
];

/// A benchmark that can be selected by name.
pub struct Benchmark {
    /// Its name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    run: fn(&Setting) -> Result<Vec<Row>, Error>,
}

impl Benchmark {
    /// Measures the selected rows; none if it has no row of that name.
    pub fn run(&self, setting: &Setting) -> Result<Vec<Row>, Error> {
        let mut rows = (self.run)(setting)?;
        if let Some(asked) = setting.row.as_deref() {
            rows.retain(|row| row.name == asked || row.name.strip_suffix("-quick") == Some(asked));
        }
        Ok(rows)
    }
}

/// One line of the result. Its keys are part of the interface of `coif bench --json`.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Name; together with the number of threads it identifies a row of a benchmark.
    pub name: String,
    /// Number of strands; 0 if there are none.
    pub strands: usize,
    /// Number of particles, or another divisor of the time.
    pub particles: usize,
    /// Number of threads.
    pub threads: usize,
    /// Time for one particle and one step; for pictures, for one segment of one picture.
    pub ns_per_particle_step: f64,
    /// The same for the fastest piece; all other times are medians.
    pub ns_per_particle_step_min: f64,
    /// Time for a frame of motion or for a picture.
    pub ms_per_frame: f64,
    /// Time of the reference over this time.
    pub reference_ratio: f64,
    /// Description of the reference.
    pub reference: &'static str,
    /// Limit by memory bandwidth: bytes moved per particle over the measured bandwidth (ns).
    pub memory_limit_ns: Option<f64>,
    /// Hash of the result.
    pub state_hash: String,
    /// Additional results; their keys are beside those of the row.
    #[serde(flatten)]
    pub detail: Option<Detail>,
}

/// Additional results of a row: times of the pieces of a frame.
#[derive(Debug, Clone, Serialize)]
pub struct Detail {
    /// Time for a frame (s).
    pub seconds_per_frame: f64,
    /// Fractions of the time by piece.
    #[serde(rename = "shares")]
    pub fractions: BTreeMap<&'static str, f64>,
    /// Substeps of a frame.
    #[serde(rename = "parts_per_frame")]
    pub substeps_per_frame: u32,
    /// Maximum number of iterations of a solve.
    pub max_iterations: u32,
    /// Peak memory of the program so far (bytes).
    pub peak_memory_bytes: Option<u64>,
    /// Pairs of near segments per particle, which the time of contact is proportional to.
    pub pairs_per_particle: Option<f64>,
    /// Time per particle over that of the first row with as many threads: 1 if time is proportional to size.
    pub growth: Option<f64>,
}

/// Options of a measurement.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// A tenth of the hair, and fewer repetitions of static measurements.
    pub quick: bool,
    /// Rows are measured on one thread and on this many.
    pub threads: usize,
    /// The only selected row.
    pub row: Option<String>,
}

impl Setting {
    /// One thread, and the requested number if that is more.
    fn thread_counts(&self) -> Vec<usize> {
        if self.threads > 1 { vec![1, self.threads] } else { vec![1] }
    }

    /// Whether a row is selected.
    fn wants(&self, name: &str) -> bool {
        self.row.as_deref().is_none_or(|row| row == name)
    }

    /// Number of repetitions of static measurements, of which the median is reported.
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
