//! Memory bandwidth: a plain copy of arrays larger than any cache.

use coif::with_threads;
use rayon::prelude::*;

use super::seconds;
use crate::Error;

/// Size of each array (f32): far larger than any cache.
const LENGTH: usize = 1 << 24;
/// Elements per task (f32): enough to make the overhead of threads negligible.
const PIECE: usize = 1 << 18;

/// Copies an array on all threads.
pub(super) fn copy(from: &[f32], to: &mut [f32]) {
    let pieces = to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
}

/// Bytes per second that a copy reads and writes on this many threads; the best of four.
pub(super) fn measure(threads: usize) -> Result<f64, Error> {
    let speed = with_threads(threads, || {
        let from = vec![1.0f32; LENGTH];
        let mut to = vec![0.0f32; LENGTH];
        let copy = |to: &mut [f32]| copy(&from, to);
        // The first pass also maps the pages.
        copy(&mut to);
        let best = (0..4).map(|_| seconds(|| copy(&mut to))).fold(f64::INFINITY, f64::min);
        std::hint::black_box(&to);
        (LENGTH * 8) as f64 / best
    })?;
    Ok(speed)
}
