//! Equal and opposite impulses between points of two segments, for many pairs at once.
//!
//! Model: block Jacobi with mass splitting. All pairs start from the same velocities, and the mass of a point in n pairs
//! is distributed among them: the impulse of a pair is computed for points of 1/n of the mass, and applied to the full
//! mass. So impulses on a point are averaged and do not overshoot, and each pair conserves momentum exactly.
//!
//! Gauss-Seidel would depend on the order of the pairs, and colours that make it
//! parallel would change with every pair. Here each point gathers its impulses in the order
//! of the pairs, so the bits do not depend on the number of threads.

use std::ops::Range;

use fearless_simd::Level;
use glam::Vec3;
use rayon::prelude::*;

use super::spring::difference;
use crate::contact::detection::segments::Segments;
use crate::math::cache::prefetch_item;
use crate::math::group::{Keyed, group, make_room, make_room_after};

/// Pairs or points per task.
const CHUNK: usize = 1024;

/// Prefetch distance, in links.
const AHEAD: usize = 24;

/// A point of one segment and a point of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::contact) struct Link {
    pub(in crate::contact) a: u32,
    pub(in crate::contact) b: u32,
    /// Barycentric coordinates along `a` and `b`, 0..1.
    pub(in crate::contact) at: [f32; 2],
}

impl Link {
    /// The four ends and their weights in the vector from the point on `b` to that on `a`.
    #[inline]
    pub(in crate::contact) fn points(&self) -> [(usize, f32); 4] {
        let (a, b, [s, t]) = (self.a as usize, self.b as usize, self.at);
        [(a, 1.0 - s), (a + 1, s), (b, t - 1.0), (b + 1, -t)]
    }

    /// The difference of an interpolated value between the point on `a` and that on `b`.
    #[inline]
    pub(in crate::contact) fn difference(&self, values: &[Vec3]) -> Vec3 {
        difference([self.a, self.b], self.at, values)
    }
}

/// Relative motion of a pair.
pub(in crate::contact) struct PairMotion {
    /// Velocity of the point on `a` relative to that on `b` (m/s).
    pub(in crate::contact) velocity: Vec3,
    /// Relative velocity per impulse (1/kg), with masses distributed over pairs.
    pub(in crate::contact) inverse_mass: f32,
}

/// The links of each segment.
#[derive(Debug, Default)]
pub(in crate::contact) struct Ends {
    /// Per segment: its first link as `a`.
    first_a: Vec<u32>,
    /// Per segment: index in `order_b` of its first link as `b`.
    first_b: Vec<u32>,
    /// The links in the order of `b`.
    order_b: Vec<u32>,
}

impl Ends {
    /// Indexes links that are sorted by `a`, then `b`.
    pub(in crate::contact) fn prepare(&mut self, points: usize, links: &[Link]) {
        self.first_a.clear();
        self.first_a.resize(points + 1, 0);
        // Find the first link of each segment by bisection per task, then in order.
        self.first_a.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, first)| {
            let segment = (chunk * CHUNK) as u32;
            let mut at = links.partition_point(|link| link.a < segment);
            for (i, first) in first.iter_mut().enumerate() {
                while links.get(at).is_some_and(|link| link.a < segment + i as u32) {
                    at += 1;
                }
                *first = at as u32;
            }
        });
        group(&ByB(links), points, links.len(), &mut self.first_b, &mut self.order_b);
    }

    /// The links of a segment as `a`.
    #[inline]
    pub(in crate::contact) fn of_a(&self, segment: usize) -> Range<usize> {
        self.first_a[segment] as usize..self.first_a[segment + 1] as usize
    }

    /// The links of a segment as `b`.
    #[inline]
    pub(in crate::contact) fn of_b(&self, segment: usize) -> &[u32] {
        &self.order_b[self.first_b[segment] as usize..self.first_b[segment + 1] as usize]
    }

    /// The links of a segment as `b`; calls `soon` with those of later segments, for prefetching.
    #[inline]
    fn of_b_ahead(&self, segment: usize, mut soon: impl FnMut(u32)) -> &[u32] {
        let from = self.first_b[segment] as usize;
        let to = self.first_b[segment + 1] as usize;
        let ahead = self.order_b.len().min(to + AHEAD);
        self.order_b[ahead.min(from + AHEAD)..ahead].iter().for_each(|&link| soon(link));
        &self.order_b[from..to]
    }

    /// Number of links of a segment.
    #[inline]
    fn count(&self, segment: usize) -> usize {
        self.of_a(segment).len() + self.of_b(segment).len()
    }

    /// Number of links that act on a point.
    #[inline]
    fn links_of_point(&self, point: usize) -> usize {
        let before = if point > 0 { self.count(point - 1) } else { 0 };
        before + self.count(point)
    }

    pub(in crate::contact) fn bytes(&self) -> usize {
        4 * (self.first_a.capacity() + self.first_b.capacity() + self.order_b.capacity())
    }
}

/// The numbers of links by their second segment.
struct ByB<'a>(&'a [Link]);

impl Keyed for ByB<'_> {
    fn each(&self, mut take: impl FnMut(u32, u32)) {
        self.0.iter().enumerate().for_each(|(i, link)| take(link.b, i as u32));
    }
}

/// An impulse (N s) on the first segment of a link, and the place of its reaction on the second.
#[derive(Debug, Clone, Copy, Default)]
struct Push {
    impulse: Vec3,
    at: f32,
}

/// The links of all segments, and the impulses of an iteration.
#[derive(Debug)]
pub(in crate::contact) struct Impulses {
    level: Level,
    ends: Ends,
    pushes: Vec<Push>,
    /// Per point: inverse of the mass that each of its links has (1/kg).
    lightness: Vec<f32>,
}

impl Default for Impulses {
    fn default() -> Self {
        Self {
            level: Level::new(),
            ends: Ends::default(),
            pushes: Vec::new(),
            lightness: Vec::new(),
        }
    }
}

impl Impulses {
    /// Bytes of memory in use.
    pub(in crate::contact) fn bytes(&self) -> usize {
        self.ends.bytes() + 16 * self.pushes.capacity() + 4 * self.lightness.capacity()
    }

    /// Reserves memory for a few links, so that the first ones allocate nothing.
    pub(in crate::contact) fn reserve(&mut self, points: usize) {
        let Ends { first_a, first_b, order_b } = &mut self.ends;
        for list in [first_a, first_b] {
            list.reserve((points + 2).saturating_sub(list.len()));
        }
        self.lightness.reserve(points.saturating_sub(self.lightness.len()));
        make_room(order_b, 0);
        make_room(&mut self.pushes, 0);
    }

    /// Indexes links that are sorted by `a`, then `b`, and distributes masses.
    pub(in crate::contact) fn prepare(&mut self, segments: &Segments, links: &[Link]) {
        self.ends.prepare(segments.points(), links);
        let (ends, inverse_mass) = (&self.ends, segments.inverse_mass());
        self.lightness.resize(segments.points(), 0.0);
        self.lightness.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, lightness)| {
            for (i, lightness) in lightness.iter_mut().enumerate() {
                let p = chunk * CHUNK + i;
                *lightness = inverse_mass[p] * ends.links_of_point(p) as f32;
            }
        });
    }

    /// The relative motion of a link.
    #[inline]
    fn pair_motion(&self, link: &Link, velocity: &[Vec3]) -> PairMotion {
        let sum = link.points().iter().map(|&(p, w)| w * w * self.lightness[p]).sum();
        PairMotion { velocity: link.difference(velocity), inverse_mass: sum }
    }

    /// Computes the impulses (N s) of all links at these velocities. `impulse` gets the link, its
    /// state, and its relative motion, and returns the impulse on `a`.
    pub(in crate::contact) fn round<T: Send>(
        &mut self,
        links: &[Link],
        state: &mut [T],
        velocity: &[Vec3],
        impulse: impl Fn(&Link, &mut T, PairMotion) -> Vec3 + Sync,
    ) {
        let mut pushes = std::mem::take(&mut self.pushes);
        make_room(&mut pushes, links.len());
        pushes.resize(links.len(), Push::default());
        let level = self.level;
        pushes
            .par_chunks_mut(CHUNK)
            .zip(links.par_chunks(CHUNK).zip(state.par_chunks_mut(CHUNK)))
            .for_each(|(pushes, (links, state))| {
                for (i, (push, state)) in pushes.iter_mut().zip(state).enumerate() {
                    if let Some(later) = links.get(i + AHEAD) {
                        prefetch_item(level, velocity, later.b as usize);
                        prefetch_item(level, velocity, later.b as usize + 1);
                    }
                    let link = &links[i];
                    let pair_motion = self.pair_motion(link, velocity);
                    let mut found = Vec3::ZERO;
                    if pair_motion.inverse_mass > 0.0 {
                        found = impulse(link, state, pair_motion);
                    }
                    let found = if found.is_finite() { found } else { Vec3::ZERO };
                    *push = Push { impulse: found, at: link.at[1] };
                }
            });
        self.pushes = pushes;
    }

    /// Calls `take` with each point of `range` and the change of its velocity (m/s) by the impulses
    /// of the last iteration.
    #[inline]
    pub(in crate::contact) fn each_change(
        &self,
        range: Range<usize>,
        links: &[Link],
        inverse_mass: &[f32],
        mut take: impl FnMut(usize, Vec3),
    ) {
        // Sum the impulses on the end of the previous segment and on the start of the next one.
        let mut before = match range.start.checked_sub(1) {
            Some(segment) => self.of_segment(segment, links)[1],
            None => Vec3::ZERO,
        };
        for point in range {
            let [own, next] = self.of_segment(point, links);
            take(point, (before + own) * inverse_mass[point]);
            before = next;
        }
    }

    /// The impulses (N s) on the two ends of a segment.
    #[inline]
    fn of_segment(&self, segment: usize, links: &[Link]) -> [Vec3; 2] {
        let (mut all, mut to_next) = (Vec3::ZERO, Vec3::ZERO);
        let as_a = self.ends.of_a(segment);
        for (push, link) in self.pushes[as_a.clone()].iter().zip(&links[as_a]) {
            all += push.impulse;
            to_next += push.impulse * link.at[0];
        }
        for &i in self.ends.of_b_ahead(segment, |later| {
            prefetch_item(self.level, &self.pushes, later as usize);
        }) {
            let push = self.pushes[i as usize];
            all -= push.impulse;
            to_next -= push.impulse * push.at;
        }
        [all - to_next, to_next]
    }

    /// Applies the impulses of the last iteration to the velocities (m/s).
    pub(in crate::contact) fn add_to(
        &self,
        segments: &Segments,
        links: &[Link],
        velocity: &mut [Vec3],
    ) {
        let inverse_mass = segments.inverse_mass();
        velocity.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, velocity)| {
            let first = chunk * CHUNK;
            let range = first..first + velocity.len();
            self.each_change(range, links, inverse_mass, |i, change| velocity[i - first] += change);
        });
    }
}

/// An impulse of `normal` (N s) along `n` with Coulomb friction: at most `friction` times
/// `normal`, and at most the impulse that stops the sliding.
#[inline]
pub(in crate::contact) fn with_friction(
    n: Vec3,
    normal: f32,
    friction: f32,
    pair_motion: &PairMotion,
) -> Vec3 {
    let slide = pair_motion.velocity - n * pair_motion.velocity.dot(n);
    let speed = slide.length();
    let stop = speed / pair_motion.inverse_mass;
    let drag = stop.min(friction * normal);
    n * normal - if speed > 0.0 { slide * (drag / speed) } else { Vec3::ZERO }
}

/// A unit vector perpendicular to two segments: the normal where the offset between them is too short to have a direction.
pub(in crate::contact) fn across(a: Vec3, b: Vec3) -> Vec3 {
    let n = a.cross(b);
    let min_length = 1e-6 * a.length() * b.length();
    if n.length() > min_length {
        n.normalize_or(Vec3::Y)
    } else {
        a.try_normalize().map_or(Vec3::Y, |a| a.any_orthonormal_vector())
    }
}

/// One list per task, read in order.
#[derive(Debug)]
pub(in crate::contact) struct Lists<T> {
    lists: Vec<Vec<T>>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { lists: Vec::new() }
    }
}

impl<T: Copy + Send + Sync> Lists<T> {
    /// Fills the lists: `fill` appends the elements of a range of points to the list of its task.
    pub(in crate::contact) fn fill(
        &mut self,
        points: usize,
        fill: impl Fn(Range<usize>, &mut Vec<T>) + Sync,
    ) {
        self.lists.resize_with(points.div_ceil(CHUNK), Vec::new);
        self.lists.par_iter_mut().enumerate().for_each(|(chunk, list)| {
            list.clear();
            let room = list.capacity();
            fill(chunk * CHUNK..((chunk + 1) * CHUNK).min(points), list);
            make_room_after(list, room);
        });
    }

    /// Number of elements.
    pub(in crate::contact) fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// All elements in order.
    pub(in crate::contact) fn iter(&self) -> impl Iterator<Item = &T> {
        self.lists.iter().flatten()
    }

    /// Bytes of memory in use.
    pub(in crate::contact) fn bytes(&self) -> usize {
        self.lists.iter().map(|list| list.capacity() * size_of::<T>()).sum()
    }
}
