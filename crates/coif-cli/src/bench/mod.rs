//! Benchmarks for users: each figure beside a plain reference and the limit of the memory, all
//! measured in the same run.
//!
//! To add one: write a file with a `BENCHMARK` and name it in [`ALL`].

mod bandwidth;
mod cantilever;
mod distance_field;
mod ftl;
mod hair_mesh;
mod mass_spring;
mod pictures;
mod plain_step;
mod table;
mod timing;
mod volume;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

pub(crate) use self::table::table;
use crate::failure::Failure;
use crate::units;

/// All benchmarks, in the order in which they run.
pub(crate) const ALL: &[Benchmark] = &[
    ftl::BENCHMARK,
    mass_spring::BENCHMARK,
    cantilever::BENCHMARK,
    hair_mesh::BENCHMARK,
    volume::BENCHMARK,
    distance_field::BENCHMARK,
    pictures::BENCHMARK,
];

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
    /// The same in the fastest piece; all other times are medians.
    pub(crate) ns_per_particle_step_min: f64,
    pub(crate) ms_per_frame: f64,
    /// How many times as fast as the reference.
    pub(crate) reference_ratio: f64,
    /// What the reference is.
    pub(crate) reference: &'static str,
    /// What memory alone would allow: bytes moved per particle over the measured bandwidth (ns).
    pub(crate) memory_limit_ns: Option<f64>,
    pub(crate) state_hash: String,
}

/// What is known of a row besides: where the time of whole frames goes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Detail {
    /// The row that it belongs to, with its threads.
    #[serde(skip)]
    pub(crate) row: String,
    #[serde(skip)]
    pub(crate) threads: usize,
    pub(crate) seconds_per_frame: f64,
    /// Shares of the time, by piece.
    pub(crate) shares: BTreeMap<&'static str, f64>,
    /// Parts that a frame was cut into.
    pub(crate) parts_per_frame: u32,
    /// Iterations of the worst solve.
    pub(crate) most_iterations: u32,
    /// Largest memory of the program up to then.
    pub(crate) peak_memory_bytes: Option<u64>,
    /// Pairs of segments that were near each other, per particle: what contact takes grows with them.
    pub(crate) pairs_per_particle: Option<f64>,
    /// Time per particle over that of the first row with as many threads: 1 if it grows evenly.
    pub(crate) growth: Option<f64>,
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = units::seconds(self.seconds_per_frame);
        write!(f, "{}, threads {}: {frame} a frame", self.row, self.threads)?;
        let mut shares: Vec<_> = self.shares.iter().collect();
        shares.sort_by(|a, b| b.1.total_cmp(a.1));
        for (name, share) in shares {
            write!(f, ", {name} {:.0} %", share * 100.0)?;
        }
        let (parts, iterations) = (self.parts_per_frame, self.most_iterations);
        write!(f, "; {parts} parts, at most {iterations} iterations")?;
        if let Some(bytes) = self.peak_memory_bytes {
            write!(f, "; {:.2} GB", bytes as f64 * 1e-9)?;
        }
        if let Some(pairs) = self.pairs_per_particle {
            write!(f, "; {pairs:.2} pairs a particle")?;
        }
        if let Some(growth) = self.growth {
            write!(f, "; {growth:.2} times the smallest head's time per particle")?;
        }
        Ok(())
    }
}

/// How to measure.
#[derive(Default)]
pub(crate) struct Setting {
    /// A tenth of the hair, and fewer repetitions of what does not move.
    pub(crate) quick: bool,
    /// Rows are measured on one thread and on this many.
    pub(crate) threads: usize,
    /// The only row that is asked for.
    pub(crate) row: Option<String>,
    /// What was found besides rows.
    pub(crate) details: Mutex<Vec<Detail>>,
}

impl Setting {
    /// One thread, and all of them if that is more.
    fn thread_counts(&self) -> Vec<usize> {
        if self.threads > 1 { vec![1, self.threads] } else { vec![1] }
    }

    /// Whether a row is asked for.
    fn wants(&self, name: &str) -> bool {
        self.row.as_deref().is_none_or(|row| row == name)
    }

    /// Keeps what is known of a row besides.
    fn add_detail(&self, detail: Detail) {
        self.details.lock().unwrap_or_else(PoisonError::into_inner).push(detail);
    }

    /// How often to repeat what does not move; the median counts.
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
