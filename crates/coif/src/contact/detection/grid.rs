//! A uniform grid with mailboxes (`cani2006` 4).
//!
//! Every segment, thickened by half of the search distance, is put into all cells that it overlaps. Segments in a common
//! cell are tested against each other, once: a mailbox per segment holds the last segment that was tested against it. Cells
//! are hashed, so that the domain is unbounded; hash collisions of cells only cost tests.
//!
//! It suits segments of similar length. Those that are much longer or faster than the mean are tested against all
//! others; where very many are in one cell, time grows with the square of their number. It has no state.

use fearless_simd::{Level, Simd, dispatch};
use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::broad_phase::{APART, BroadPhase, Motion, PairList, Reach};
use super::found::{Found, Nearest, collect};
use super::lines::{Eight, Line, Probe, SLACK, WIDTH};
use super::segments::Segments;
use crate::math::group::{Keyed, group, make_room, make_room_after};

/// Edge of a cell as a fraction of the mean length of segments. Larger cells contain more segments that are not near;
/// with smaller ones, a segment overlaps more of them.
const CELL: f32 = 0.25;

/// Largest length of a segment in cells, sixteen times the mean length. Longer ones are tested against all others.
const MAX_PIECES: f32 = 64.0;

/// Smallest edge of a cell (m), for segments of length zero.
const MIN_CELL: f32 = 1e-6;

/// The broad phase `grid`.
#[derive(Default)]
pub(super) struct Grid {
    /// The segments in ascending order, and their motion.
    segment: Vec<u32>,
    lines: Vec<Line>,
    /// Segments that are tested against all others, as indices in `segment`.
    everywhere: Vec<u32>,
    /// Per place in the table: index of its first segment in `inside`; then these, as indices in `segment`.
    first: Vec<u32>,
    inside: Vec<u32>,
    tasks: Vec<Found>,
    /// Per task and segment: one more than the segment that was last tested against it.
    mailboxes: Vec<Vec<u32>>,
}

impl BroadPhase for Grid {
    fn search(
        &mut self,
        segments: &Segments,
        motion: &Motion<'_>,
        reach: Reach,
        pairs: &mut PairList,
    ) {
        let points = motion.middle.len();
        self.segment.clear();
        let all = (0..points.saturating_sub(1)).filter(|&p| motion.has_segment(segments, p));
        self.segment.extend(all.map(|p| p as u32));
        self.lines.clear();
        self.lines.extend(self.segment.iter().map(|&s| Line::of_segment(motion, s as usize)));
        let cells = Cells::fitted_to(&self.lines, reach.total());
        self.fill(&cells);
        let chunk = self.collect_pairs(segments, &cells, reach.total());
        collect(&self.tasks, &self.segment, chunk, points, pairs);
    }

    fn bytes(&self) -> usize {
        let found: usize = self.tasks.iter().map(Found::bytes).sum();
        let mailboxes: usize = self.mailboxes.iter().map(Vec::capacity).sum();
        let tables = self.first.capacity() + self.inside.capacity() + self.everywhere.capacity();
        let lines = size_of::<Line>() * self.lines.capacity();
        found + lines + 4 * (mailboxes + tables + self.segment.capacity())
    }
}

impl Grid {
    /// Inserts every segment into its cells.
    fn fill(&mut self, cells: &Cells) {
        let lines = &self.lines;
        self.everywhere.clear();
        make_room(&mut self.everywhere, 0);
        self.everywhere.extend(
            (0..lines.len() as u32).filter(|&i| cells.pieces(&lines[i as usize]).is_none()),
        );
        let entries = Entries { lines, cells };
        let mut count = 0;
        entries.each(|_, _| count += 1);
        group(&entries, cells.places, count, &mut self.first, &mut self.inside);
    }

    /// Finds the near segments of every segment among those before it. Returns the number of segments per task.
    fn collect_pairs(&mut self, segments: &Segments, cells: &Cells, reach: f32) -> usize {
        let count = self.segment.len();
        let threads = rayon::current_num_threads().max(1);
        let chunk = count.div_ceil(threads).max(1);
        let tasks = count.div_ceil(chunk);
        self.tasks.resize_with(tasks, Found::default);
        if self.mailboxes.len() < tasks {
            self.mailboxes.resize_with(tasks, Vec::new);
        }
        let Self { segment, lines, everywhere, first, inside, tasks, mailboxes } = self;
        let filled = Filled { segment, lines, everywhere, first, inside };
        let level = Level::new();
        let tasks = tasks.par_iter_mut().zip(mailboxes).enumerate();
        tasks.for_each(|(task, (found, mailbox))| {
            let range = task * chunk..((task + 1) * chunk).min(count);
            mailbox.clear();
            mailbox.resize(range.end, 0);
            dispatch!(level, simd => {
                filled.collect_pairs(simd, segments, cells, reach, range, mailbox, found);
            });
        });
        chunk
    }
}

/// Size of the cells and of their hash table.
struct Cells {
    edge: f32,
    /// Half of the search distance (m), by which each of two segments is thickened.
    half_reach: f32,
    /// A power of two.
    places: usize,
}

impl Cells {
    fn fitted_to(lines: &[Line], reach: f32) -> Self {
        let half_reach = 0.5 * reach;
        let mut cells = Self { edge: MIN_CELL, half_reach, places: 1 };
        // Sum in double precision and in order, so that the result is the same for any number of threads.
        let mean = |of: &dyn Fn(&Line) -> f32| {
            let sum: f64 = lines.iter().map(|line| f64::from(of(line))).sum();
            (sum / lines.len().max(1) as f64) as f32
        };
        let length = mean(&|line| 2.0 * line.half.length());
        cells.edge = (CELL * length).max(2.0 * mean(&|line| cells.radius(line))).max(MIN_CELL);
        // Make about as many places as there are entries.
        cells.places = (8 * lines.len()).next_power_of_two();
        cells
    }

    /// Radius (m) of a capsule around a segment such that those of two segments within reach overlap. Rounding adds
    /// some millionths of the coordinates.
    fn radius(&self, line: &Line) -> f32 {
        let farthest = line.middle.abs().max_element() + line.half.abs().max_element();
        (self.half_reach + line.pad + line.displacement.length()) * (1.0 + 2.0 * SLACK)
            + 2e-6 * farthest
    }

    /// The number of pieces of a segment, and the radius of its capsule. `None` if it is too long or too thick.
    fn pieces(&self, line: &Line) -> Option<(u32, f32)> {
        let pieces = (2.0 * line.half.length() / self.edge).ceil().max(1.0);
        let radius = self.radius(line);
        (pieces <= MAX_PIECES && radius <= 4.0 * self.edge).then_some((pieces as u32, radius))
    }

    /// Calls `visit` with the place in the table of every cell that a segment overlaps, each cell once.
    #[inline]
    fn each(&self, line: &Line, mut visit: impl FnMut(usize)) {
        let Some((pieces, radius)) = self.pieces(line) else { return };
        let cell = |p: Vec3| (p / self.edge).floor().as_ivec3();
        let start = line.middle - line.half;
        let step = 2.0 * line.half / pieces as f32;
        let mut last = (IVec3::ONE, IVec3::ZERO);
        for piece in 0..pieces {
            let (a, b) = (start + step * piece as f32, start + step * (piece + 1) as f32);
            let (lo, hi) = (cell(a.min(b) - radius), cell(a.max(b) + radius));
            for x in lo.x..=hi.x {
                for y in lo.y..=hi.y {
                    for z in lo.z..=hi.z {
                        let here = IVec3::new(x, y, z);
                        // Pieces are consecutive, so a cell visited for any earlier piece is in the box of the last one.
                        let visited = here.cmpge(last.0).all() && here.cmple(last.1).all();
                        if !visited {
                            visit(self.place(here));
                        }
                    }
                }
            }
            last = (lo, hi);
        }
    }

    /// The place of a cell in the table.
    #[inline]
    fn place(&self, cell: IVec3) -> usize {
        let hash = (cell.x as u32).wrapping_mul(0x8da6_b343)
            ^ (cell.y as u32).wrapping_mul(0xd816_3841)
            ^ (cell.z as u32).wrapping_mul(0xcb1a_b31f);
        (hash ^ hash >> 15) as usize & (self.places - 1)
    }
}

/// All pairs of a place in the table and a segment there.
struct Entries<'a> {
    lines: &'a [Line],
    cells: &'a Cells,
}

impl Keyed for Entries<'_> {
    fn each(&self, mut take: impl FnMut(u32, u32)) {
        for (i, line) in self.lines.iter().enumerate() {
            self.cells.each(line, |place| take(place as u32, i as u32));
        }
    }
}

/// The grid with all segments in their cells.
struct Filled<'a> {
    segment: &'a [u32],
    lines: &'a [Line],
    everywhere: &'a [u32],
    first: &'a [u32],
    inside: &'a [u32],
}

impl Filled<'_> {
    /// Finds the pairs of each segment of `range` with those before it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn collect_pairs<S: Simd>(
        &self,
        simd: S,
        segments: &Segments,
        cells: &Cells,
        reach: f32,
        range: std::ops::Range<usize>,
        mailbox: &mut [u32],
        to: &mut Found,
    ) {
        to.clear();
        let room_for_pairs = to.others.capacity();
        let mut nearest = Nearest::new();
        for own in range {
            let line = &self.lines[own];
            let probe = Probe::new(simd, line, reach);
            let mut eight = Candidates { lines: Eight::default(), number: [0; WIDTH], count: 0 };
            nearest.clear();
            let mut ask = |other: u32| {
                let place = other as usize;
                if segments.may_collide(self.segment[own], self.segment[place], APART) {
                    eight.push(simd, &probe, other, &self.lines[place], &mut nearest);
                }
            };
            if cells.pieces(line).is_none() {
                (0..own as u32).for_each(&mut ask);
            } else {
                cells.each(line, |place| {
                    let (from, to) = (self.first[place] as usize, self.first[place + 1] as usize);
                    for &other in self.inside[from..to].iter().take_while(|&&o| o < own as u32) {
                        let last = std::mem::replace(&mut mailbox[other as usize], own as u32 + 1);
                        if last != own as u32 + 1 {
                            ask(other);
                        }
                    }
                });
                self.everywhere.iter().take_while(|&&o| o < own as u32).for_each(|&o| ask(o));
            }
            eight.test(simd, &probe, &mut nearest);
            to.counts.push(nearest.found().len() as u8);
            let found = nearest.found().iter();
            to.others.extend(found.map(|&(_, other)| self.segment[other as usize]));
        }
        to.dropped = nearest.dropped;
        make_room_after(&mut to.others, room_for_pairs);
    }
}

/// Buffer of up to eight segments of common cells.
struct Candidates {
    lines: Eight,
    number: [u32; WIDTH],
    count: usize,
}

impl Candidates {
    #[inline(always)]
    fn push<S: Simd>(
        &mut self,
        simd: S,
        probe: &Probe<S>,
        number: u32,
        line: &Line,
        nearest: &mut Nearest,
    ) {
        self.lines.set(self.count, line);
        self.number[self.count] = number;
        self.count += 1;
        if self.count == WIDTH {
            // Select the instruction set again: the closures between do not inherit that of the caller.
            simd.vectorize(
                #[inline(always)]
                || self.test(simd, probe, nearest),
            );
        }
    }

    /// Tests the segments in the buffer, and empties it.
    #[inline(always)]
    fn test<S: Simd>(&mut self, simd: S, probe: &Probe<S>, nearest: &mut Nearest) {
        let mut distance2 = [0.0; WIDTH];
        let bits = probe.test(simd, &self.lines, &mut distance2);
        for lane in (0..self.count).filter(|lane| bits >> lane & 1 == 1) {
            nearest.add(distance2[lane], self.number[lane]);
        }
        self.count = 0;
    }
}
