//! The number of threads. Results have the same bits for any number.

use crate::{Error, Result};

/// Runs `work` on this many threads; 0 means one per core.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Error::Threads { threads, reason: e.to_string() })?;
    Ok(pool.install(work))
}
