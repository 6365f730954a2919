//! The strands' points as the blocks take them.

use std::fmt;
use std::sync::Mutex;

use glam::Vec3;

/// A list of every lane's points. Its memory is used again and again.
#[derive(Default)]
pub(super) struct Lines {
    memory: Mutex<Vec<&'static mut [Vec3]>>,
}

impl Lines {
    pub(super) fn new(lanes: usize) -> Self {
        Self { memory: Mutex::new(Vec::with_capacity(lanes)) }
    }

    /// Cuts `out` into strands, which begin at `first`, puts each at its lane, and gives all lanes to `visit`.
    pub(super) fn with(
        &self,
        first: &[u32],
        lane_of: &[u32],
        out: &mut [Vec3],
        visit: impl FnOnce(&mut [&mut [Vec3]]),
    ) {
        // Whoever comes while another has the memory gets new.
        let memory = self.memory.try_lock().map(|mut m| std::mem::take(&mut *m));
        let mut lines = emptied(memory.unwrap_or_default());
        lines.resize_with(lane_of.len(), Default::default);
        let mut rest = out;
        for (pair, &lane) in first.windows(2).zip(lane_of) {
            let (own, others) = rest.split_at_mut((pair[1] - pair[0]) as usize);
            lines[lane as usize] = own;
            rest = others;
        }
        visit(&mut lines);
        if let Ok(mut memory) = self.memory.try_lock() {
            *memory = emptied(lines);
        }
    }
}

/// An empty list in the memory of another: collecting from a list keeps its memory.
fn emptied<'b>(mut lines: Vec<&mut [Vec3]>) -> Vec<&'b mut [Vec3]> {
    lines.clear();
    lines.into_iter().map(|_| -> &'b mut [Vec3] { &mut [] }).collect()
}

impl Clone for Lines {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}
