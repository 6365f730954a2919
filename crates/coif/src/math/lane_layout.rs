//! Lines of points (strands, strips) in lanes: a block has sixteen lines, one per lane, and a row per point, root to tip
//! ([`lanes`](super::lanes)). Here: the assignment of lines to blocks, and their unpacking in line order.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};
use glam::Vec3;

use super::LANES;
use super::lines::{Line, Lines};
use super::morton::morton_code;

/// Lines per task.
const LINES_PER_TASK: usize = 512;

/// The order in which lines are put into blocks: by `likeness`, then along a Morton curve of their
/// roots through the box `lo..hi`, so that the lines of a block collide with the same obstacles.
pub(crate) fn order_for_lanes<K: Ord>(
    count: usize,
    likeness: impl Fn(usize) -> K,
    root: impl Fn(usize) -> Vec3,
    (lo, hi): (Vec3, Vec3),
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_cached_key(|&line| (likeness(line), morton_code(root(line), lo, hi), line));
    order
}

/// The entry of a lane of a block; unused lanes repeat the last entry.
pub(crate) fn in_lane<T>(block: &[T], lane: usize) -> &T {
    &block[lane.min(block.len() - 1)]
}

/// The place of each line in the rows of all blocks, one block after the other.
pub(crate) struct LanePlaces {
    /// Per line: its first row, and its lane.
    place: Vec<(u32, u8)>,
    /// Index of the first point of each line, in line order, and the total.
    first_point: Vec<u32>,
    blocks: Vec<PlacedBlock>,
    /// Per line: its lane, numbered over all blocks.
    lane_of: Vec<u32>,
    lines: Lines<1>,
    level: Level,
}

/// The rows and lines of a block.
pub(crate) struct PlacedBlock {
    pub(crate) rows: Range<usize>,
    /// The lines in its lanes; unused lanes repeat the last one.
    pub(crate) lines: [u32; LANES],
    /// Number of lanes in use.
    lanes: usize,
}

/// Source of the points of a block.
pub(crate) trait WriteBlock: Sync {
    /// Writes all points of a block.
    fn write<S: Simd>(&self, simd: S, block: &PlacedBlock, lines: &mut [Line<'_, 1>]);
}

/// Blocks per task: some thousands of points.
const BLOCKS_PER_TASK: usize = 16;

impl LanePlaces {
    /// From blocks, given by the lines in their lanes and their number of rows.
    pub(crate) fn new<'a>(
        first_point: &[u32],
        blocks: impl IntoIterator<Item = (&'a [u32], usize)>,
    ) -> Self {
        let count = first_point.len().saturating_sub(1);
        let (mut place, mut lane_of) = (vec![(0, 0); count], vec![0; count]);
        let mut placed = Vec::new();
        let (mut first, mut first_lane) = (0, 0);
        for (lines, rows) in blocks {
            for (lane, &line) in lines.iter().enumerate() {
                place[line as usize] = (first as u32, lane as u8);
                lane_of[line as usize] = first_lane + lane as u32;
            }
            placed.push(PlacedBlock {
                rows: first..first + rows,
                lines: std::array::from_fn(|lane| *in_lane(lines, lane)),
                lanes: lines.len(),
            });
            first += rows;
            first_lane += lines.len() as u32;
        }
        Self {
            place,
            first_point: first_point.to_vec(),
            blocks: placed,
            lines: Lines::new(lane_of.len()),
            lane_of,
            level: Level::new(),
        }
    }

    /// Writes all lines, line after line, block by block.
    pub(crate) fn write_blocks(&self, out: &mut [Vec3], what: &impl WriteBlock) {
        let counts = self.first_point.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        self.lines.with(counts, &self.lane_of, [out], |lines| {
            write_in_halves(&self.blocks, lines, self.level, what);
        });
    }

    /// Selects another instruction set.
    #[cfg(test)]
    pub(crate) fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// First row and lane of every line.
    pub(crate) fn of_lines(&self) -> &[(u32, u8)] {
        &self.place
    }

    /// The points of a line.
    pub(crate) fn points_of(&self, line: usize) -> Range<usize> {
        self.first_point[line] as usize..self.first_point[line + 1] as usize
    }

    /// Writes `of(row, lane)` for all points, line after line.
    pub(crate) fn unpack(&self, out: &mut [Vec3], of: impl Fn(usize, usize) -> Vec3 + Sync) {
        self.unpack_lines(0..self.place.len(), out, &of);
    }

    fn unpack_lines(
        &self,
        lines: Range<usize>,
        out: &mut [Vec3],
        of: &(impl Fn(usize, usize) -> Vec3 + Sync),
    ) {
        if lines.len() > LINES_PER_TASK {
            let middle = lines.start + lines.len() / 2;
            let points = (self.first_point[middle] - self.first_point[lines.start]) as usize;
            let (a, b) = out.split_at_mut(points);
            rayon::join(
                || self.unpack_lines(lines.start..middle, a, of),
                || self.unpack_lines(middle..lines.end, b, of),
            );
            return;
        }
        let mut rest = out;
        for line in lines {
            let (row, lane) = self.place[line];
            let (mine, others) = rest.split_at_mut(self.points_of(line).len());
            for (i, to) in mine.iter_mut().enumerate() {
                *to = of(row as usize + i, lane.into());
            }
            rest = others;
        }
    }
}

/// Divides the blocks into tasks by halving.
fn write_in_halves(
    blocks: &[PlacedBlock],
    mut lines: &mut [Line<'_, 1>],
    level: Level,
    what: &impl WriteBlock,
) {
    if blocks.len() > BLOCKS_PER_TASK {
        let (a, b) = blocks.split_at(blocks.len() / 2);
        let (lines_a, lines_b) = lines.split_at_mut(a.iter().map(|block| block.lanes).sum());
        rayon::join(
            || write_in_halves(a, lines_a, level, what),
            || write_in_halves(b, lines_b, level, what),
        );
        return;
    }
    for block in blocks {
        let (mine, others) = std::mem::take(&mut lines).split_at_mut(block.lanes);
        lines = others;
        dispatch!(level, simd => what.write(simd, block, mine));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::LANES;

    #[test]
    fn lines_are_sorted_by_likeness_then_morton_code_then_index() {
        let roots = [3.0, 1.0, 3.0, 1.0, 0.0].map(|x| Vec3::X * x);
        let kinds = [1, 1, 0, 0, 0];
        let box_of_all = (Vec3::ZERO, Vec3::splat(3.0));
        let order = order_for_lanes(5, |i| kinds[i], |i| roots[i], box_of_all);
        assert_eq!(order, [4, 3, 2, 1, 0]);
        assert_eq!(order_for_lanes(3, |_| 0, |_| Vec3::ONE, box_of_all), [0, 1, 2]);
        assert_eq!((*in_lane(&[7, 8], 0), *in_lane(&[7, 8], 15)), (7, 8));
    }

    /// Lines of one to three points, in blocks in reverse order, enough for several tasks.
    #[test]
    fn points_are_unpacked_in_the_order_of_the_lines() {
        let count = 3 * LINES_PER_TASK + 5;
        let points = |line: usize| 1 + line % 3;
        let mut first_point = vec![0];
        for line in 0..count {
            first_point.push(first_point[line] + points(line) as u32);
        }
        let order: Vec<u32> = (0..count as u32).rev().collect();
        let rows = |lines: &[u32]| lines.iter().map(|&l| points(l as usize)).max().unwrap_or(0);
        let blocks = order.chunks(LANES).map(|lines| (lines, rows(lines)));
        let places = LanePlaces::new(&first_point, blocks.clone());
        // Write line and point into every row and lane.
        let mut packed = Vec::new();
        for (lines, rows) in blocks {
            for i in 0..rows {
                packed.push(std::array::from_fn::<_, LANES, _>(|l| {
                    Vec3::new(*in_lane(lines, l) as f32, i as f32, 0.0)
                }));
            }
        }
        let mut out = vec![Vec3::NAN; first_point[count] as usize];
        places.unpack(&mut out, |row, lane| packed[row][lane]);
        for line in 0..count {
            for (i, p) in out[places.points_of(line)].iter().enumerate() {
                assert_eq!(*p, Vec3::new(line as f32, i as f32, 0.0));
            }
        }
    }
}
