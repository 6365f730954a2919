//! How many threads a command uses. Results have the same bits for any number.

use crate::failure::Failure;

/// Runs `work` on this many threads; 0 means one per core.
pub(crate) fn with_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        Failure::new(format!("cannot start {threads} threads: {e}"), "ask for fewer with --threads")
    })?;
    pool.install(work)
}
