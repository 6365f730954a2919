//! Output of points of lines (strands, strips) from lanes to line order: sixteen lines at a time, in
//! pieces of whole cache lines.

use std::fmt;
use std::sync::Mutex;

use fearless_simd::{Simd, SimdBase, f32x16};
use glam::Vec3;

use super::LANES;
use super::lanes::Vec3x;

/// The slices of one line in `N` lists.
pub(crate) type Line<'a, const N: usize> = [&'a mut [Vec3]; N];

/// Memory for a list of the slices of every lane, kept between calls.
pub(crate) struct Lines<const N: usize> {
    memory: Mutex<Vec<Line<'static, N>>>,
}

impl<const N: usize> Lines<N> {
    pub(crate) fn new(lanes: usize) -> Self {
        Self { memory: Mutex::new(Vec::with_capacity(lanes)) }
    }

    /// Splits lists into lines of `counts` points, orders them by lane, and passes all to `visit`.
    pub(crate) fn with(
        &self,
        counts: impl Iterator<Item = usize>,
        lane_of: &[u32],
        mut lists: Line<'_, N>,
        visit: impl FnOnce(&mut [Line<'_, N>]),
    ) {
        // Use the kept memory, or new memory if a concurrent caller has it.
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

/// An empty list with the memory of another: collecting a mapped list in place keeps its allocation.
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

/// Four vectors of each of sixteen lanes: three groups of four numbers per lane.
pub(crate) type Four = [[[f32; 4]; LANES]; 3];

/// Transposes four rows to four vectors per lane.
#[inline(always)]
pub(crate) fn lay_out<S: Simd>(simd: S, [a, b, c, d]: [Vec3x<S>; 4], to: &mut Four) {
    let [first, second, third] = to;
    interleave(simd, [a.x, a.y, a.z, b.x], first);
    interleave(simd, [b.y, b.z, c.x, c.y], second);
    interleave(simd, [c.z, d.x, d.y, d.z], third);
}

/// Transposes four rows of lanes to lanes of four numbers.
#[inline(always)]
fn interleave<S: Simd>(simd: S, [a, b, c, d]: [f32x16<S>; 4], to: &mut [[f32; 4]; LANES]) {
    let (even, odd) = (simd.interleave_f32x16(a, c), simd.interleave_f32x16(b, d));
    let (p, q) = simd.interleave_f32x16(even.0, odd.0);
    let (r, s) = simd.interleave_f32x16(even.1, odd.1);
    let parts = to.as_flattened_mut().as_chunks_mut::<LANES>().0;
    for (part, row) in parts.iter_mut().zip([p, q, r, s]) {
        row.store_slice(part);
    }
}

/// The four vectors of a lane.
#[inline(always)]
pub(crate) fn four(piece: &Four, l: usize) -> [Vec3; 4] {
    let [a, b, c] = [piece[0][l], piece[1][l], piece[2][l]];
    [
        Vec3::new(a[0], a[1], a[2]),
        Vec3::new(a[3], b[0], b[1]),
        Vec3::new(b[2], b[3], c[0]),
        Vec3::new(c[1], c[2], c[3]),
    ]
}

/// Rows that are written at a time: 192 bytes of each line, three whole cache lines.
pub(crate) const WRITTEN: usize = 16;

/// Writes `count` rows to the lines in their lanes, from the point `first` on, up to the end of each line.
#[inline(always)]
pub(crate) fn write_rows<S: Simd>(
    simd: S,
    row: impl Fn(usize) -> Vec3x<S>,
    count: usize,
    first: usize,
    lines: &mut [Line<'_, 1>],
) {
    let mut pieces: [Four; WRITTEN / 4] = [[[[0.0; 4]; LANES]; 3]; WRITTEN / 4];
    for begin in (0..count).step_by(WRITTEN) {
        let rows = (count - begin).min(WRITTEN);
        for (k, to) in pieces.iter_mut().enumerate().take(rows.div_ceil(4)) {
            // Pad with the last row; padding is not written to the lines.
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| (begin + 4 * k + i).min(count - 1));
            lay_out(simd, [row(a), row(b), row(c), row(d)], to);
        }
        for (l, [line]) in lines.iter_mut().take(LANES).enumerate() {
            let end = line.len().min(first + begin + rows);
            let Some(to) = line.get_mut(first + begin..end) else { continue };
            let (whole, rest) = to.as_chunks_mut::<4>();
            for (to, piece) in whole.iter_mut().zip(&pieces) {
                *to = four(piece, l);
            }
            if let Some(piece) = pieces.get(whole.len()) {
                rest.copy_from_slice(&four(piece, l)[..rest.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::super::lanes::{VECTOR, lane, set_lane};
    use super::*;

    /// Every line gets exactly its own points, for all lengths.
    #[test]
    fn rows_are_written_to_their_lines() {
        let counts: Vec<usize> = (0..LANES).map(|l| 1 + (l * 7) % 40).collect();
        let mut rows = vec![[0.0; VECTOR]; 40];
        for (i, row) in rows.iter_mut().enumerate() {
            (0..LANES).for_each(|l| set_lane(row, 0, l, Vec3::new(i as f32, l as f32, 0.5)));
        }
        for level in [Level::new(), Level::baseline()] {
            for cut in [0, 3, 16, 21] {
                let mut out = vec![Vec3::NAN; counts.iter().sum()];
                let lane_of: Vec<u32> = (0..LANES as u32).rev().collect();
                let lines = Lines::<1>::default();
                let count = |l: usize| counts[LANES - 1 - l];
                lines.with((0..LANES).map(count), &lane_of, [&mut out], |lines| {
                    dispatch!(level, simd => {
                        let row = |i: usize| Vec3x::of_row(simd, &rows[i]);
                        write_rows(simd, row, cut, 0, lines);
                        write_rows(simd, |i| row(cut + i), rows.len() - cut, cut, lines);
                    });
                });
                let mut from = out.iter();
                for l in (0..LANES).rev() {
                    for (i, row) in rows.iter().enumerate().take(counts[l]) {
                        assert_eq!(from.next(), Some(&lane(row, 0, l)), "lane {l}, point {i}");
                    }
                }
            }
        }
    }
}
