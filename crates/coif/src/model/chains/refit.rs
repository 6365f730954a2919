//! Quantities that are computed strand by strand when a model is built, and updated in the same memory when a parameter
//! changes.

use std::ops::Range;
use std::sync::Mutex;

use super::Chains;

/// Scratch memory of tasks, one per thread.
pub(in crate::model) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    pub(in crate::model) fn new() -> Self {
        let mut scratch = Vec::new();
        scratch.resize_with(rayon::current_num_threads(), T::default);
        Self(Mutex::new(scratch))
    }

    fn lend<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut scratch = lock().pop().unwrap_or_default();
        let done = work(&mut scratch);
        lock().push(scratch);
        done
    }
}

/// Strands per task.
const STRANDS: usize = 32;

impl Chains {
    /// Calls `work` for every strand with its points, the number of embedded ones, and its slices of two lists with an
    /// element per point.
    pub(in crate::model) fn refit<T: Default + Send, A: Send, B: Send>(
        &self,
        pool: &Pool<T>,
        lists: (&mut [A], &mut [B]),
        work: &(impl Fn(&mut T, Range<usize>, usize, &mut [A], &mut [B]) + Sync),
    ) {
        self.refit_some(0..self.strands.len(), pool, lists, work);
    }

    fn refit_some<T: Default + Send, A: Send, B: Send>(
        &self,
        strands: Range<usize>,
        pool: &Pool<T>,
        (a, b): (&mut [A], &mut [B]),
        work: &(impl Fn(&mut T, Range<usize>, usize, &mut [A], &mut [B]) + Sync),
    ) {
        let at = |s: usize| self.strands[s].first - self.strands[strands.start].first;
        if strands.len() > STRANDS {
            let middle = strands.start + strands.len() / 2;
            let (a, more_a) = a.split_at_mut(at(middle));
            let (b, more_b) = b.split_at_mut(at(middle));
            rayon::join(
                || self.refit_some(strands.start..middle, pool, (a, b), work),
                || self.refit_some(middle..strands.end, pool, (more_a, more_b), work),
            );
            return;
        }
        pool.lend(|scratch| {
            for s in strands.clone() {
                let strand = &self.strands[s];
                let points = strand.first..strand.first + strand.count;
                let here = at(s)..at(s) + strand.count;
                let (a, b) = (&mut a[here.clone()], &mut b[here]);
                work(scratch, points, strand.embedded, a, b);
            }
        });
    }
}
