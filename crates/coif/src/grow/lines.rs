//! What is written point by point, as lanes take it: every strand's own piece of some lists, whatever the
//! order of the lanes.

use std::fmt;
use std::sync::Mutex;

use glam::Vec3;

/// One strand's pieces of `N` lists.
pub(super) type Line<'a, const N: usize> = [&'a mut [Vec3]; N];

/// A list of every lane's pieces. Its memory is used again and again.
pub(super) struct Lines<const N: usize> {
    memory: Mutex<Vec<Line<'static, N>>>,
}

impl<const N: usize> Lines<N> {
    pub(super) fn new(lanes: usize) -> Self {
        Self { memory: Mutex::new(Vec::with_capacity(lanes)) }
    }

    /// Cuts lists into strands of so many points each, puts each at its lane, and gives all lanes to `visit`.
    pub(super) fn with(
        &self,
        counts: impl Iterator<Item = usize>,
        lane_of: &[u32],
        mut lists: Line<'_, N>,
        visit: impl FnOnce(&mut [Line<'_, N>]),
    ) {
        // Whoever comes while another has the memory gets new.
        let memory = self.memory.try_lock().map(|mut m| std::mem::take(&mut *m));
        let mut lines = emptied(memory.unwrap_or_default());
        lines.resize_with(lane_of.len(), nothing);
        for (count, &lane) in counts.zip(lane_of) {
            lines[lane as usize] = lists.each_mut().map(|rest| {
                let (own, others) = std::mem::take(rest).split_at_mut(count);
                *rest = others;
                own
            });
        }
        visit(&mut lines);
        if let Ok(mut memory) = self.memory.try_lock() {
            *memory = emptied(lines);
        }
    }
}

fn nothing<'b, const N: usize>() -> Line<'b, N> {
    std::array::from_fn(|_| Default::default())
}

/// An empty list in the memory of another: collecting from a list keeps its memory.
fn emptied<'b, const N: usize>(mut lines: Vec<Line<'_, N>>) -> Vec<Line<'b, N>> {
    lines.clear();
    lines.into_iter().map(|_| nothing()).collect()
}

impl<const N: usize> Default for Lines<N> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<const N: usize> Clone for Lines<N> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<const N: usize> fmt::Debug for Lines<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}
