//! The springs between hairs as a matrix `C = G c G^T`, one column of G per spring, and the dual
//! (Woodbury) system for their forces, solved by conjugate gradients.
//!
//! Model: there is one unknown per spring, `y = c^1/2 G^T x`, with
//! `(1 + c^1/2 G^T A^-1 G c^1/2) y = c^1/2 G^T A^-1 b`. Conjugate gradients on it take as
//! many iterations as on the system for x with A as preconditioner, and a fifth of the memory.
//! Symbols: x change of the velocities, A matrix of the strands, b right-hand side, c stiffness of the springs times step
//! and look-ahead.
//!
//! Springs, then points, are distributed over threads, which write to separate places; sums are taken in the order
//! of the springs.

use fearless_simd::Level;
use glam::Vec3;
use rayon::prelude::*;

use crate::contact::{ContactSpring, difference};
use crate::math::cache::prefetch_item;
use crate::math::group::{Keyed, group, make_room};

/// Points or springs per task: fixed, for the order of sums.
const CHUNK: usize = 2048;

/// Prefetch distance, in springs.
const AHEAD: usize = 24;

/// State of a point for the springs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointState {
    pub(super) position: Vec3,
    pub(super) velocity: Vec3,
}

/// A linearised spring with constant direction.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    segments: [u32; 2],
    at: [f32; 2],
    /// Unit vector from the second point to the first; zero if the spring has no direction.
    direction: Vec3,
    /// `c^1/2`, the root of the factor of `g g^T` in the matrix.
    root: f32,
}

/// An end of a spring on a segment.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    direction: Vec3,
    /// Barycentric coordinate on the segment.
    at: f32,
}

/// The springs, and the points that they connect.
#[derive(Debug)]
pub(super) struct Net {
    level: Level,
    links: Vec<Link>,
    /// Per segment: index of its first end of a spring; per end, twice the number of the spring, plus one at the
    /// second segment.
    first: Vec<u32>,
    numbers: Vec<u32>,
    ends: Vec<End>,
    state: Vec<PointState>,
    /// Response of the points to the springs, per point.
    value: Vec<Vec3>,
    /// Forces of the springs, their sum per point, and the previous sum.
    rate: Vec<f32>,
    sum: Vec<Vec3>,
    last_sum: Vec<Vec3>,
    /// The vectors of the iteration, per spring: solution, residual, search direction, and its image.
    solution: Vec<f32>,
    residual: Vec<f32>,
    search: Vec<f32>,
    image: Vec<f32>,
    /// One sum per chunk.
    sums: Vec<f64>,
}

impl Net {
    pub(super) fn new(points: usize) -> Self {
        let zeros = || vec![Vec3::ZERO; points];
        Self {
            level: Level::new(),
            links: Vec::new(),
            first: vec![0; points + 1],
            numbers: Vec::new(),
            ends: Vec::new(),
            state: vec![PointState::default(); points],
            value: zeros(),
            rate: Vec::new(),
            sum: zeros(),
            last_sum: zeros(),
            solution: Vec::new(),
            residual: Vec::new(),
            search: Vec::new(),
            image: Vec::new(),
            sums: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Removes all springs.
    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    /// The springs' forces at each point, and the memory for the response of the points.
    pub(super) fn sums_and_values(&mut self) -> (&[Vec3], &mut [Vec3]) {
        (&self.sum, &mut self.value)
    }

    /// The last response of the points.
    pub(super) fn values(&self) -> &[Vec3] {
        &self.value
    }

    /// Sets the segments that the springs connect: lists the ends of springs at every segment, in the
    /// order of the springs. A spring between missing segments is ignored.
    pub(super) fn tie(&mut self, springs: &[ContactSpring]) {
        let points = self.sum.len();
        let tied = Tied { springs, segments: points.saturating_sub(1) as u32 };
        let count = tied.count();
        group(&tied, points, count, &mut self.first, &mut self.numbers);
        make_room(&mut self.ends, count);
        self.ends.resize(count, End::default());
        make_room(&mut self.links, springs.len());
        for list in [
            &mut self.rate,
            &mut self.solution,
            &mut self.residual,
            &mut self.search,
            &mut self.image,
        ] {
            make_room(list, springs.len());
            list.resize(springs.len(), 0.0);
        }
    }

    /// Sets the state of the points.
    pub(super) fn set_state(&mut self, state: impl Fn(usize) -> PointState + Sync) {
        let states = self.state.par_iter_mut().enumerate().with_min_len(CHUNK);
        states.for_each(|(i, to)| *to = state(i));
    }

    /// Linearises the springs with constant directions, and computes their initial forces; `step` is the
    /// time over which they act (s, scaled), `look_ahead` their implicit look-ahead (s).
    ///
    /// Source: `selle2008` 4.1.
    pub(super) fn freeze(&mut self, springs: &[ContactSpring], step: f32, look_ahead: f32) {
        self.links.resize(springs.len(), Link::default());
        let state = &self.state;
        self.links.par_iter_mut().zip(&mut self.rate).zip(springs).with_min_len(CHUNK).for_each(
            |((link, pull), spring)| {
                (*link, *pull) = frozen(spring, state, step, look_ahead).unwrap_or_default();
            },
        );
        let (links, numbers) = (&self.links, &self.numbers);
        self.ends.par_iter_mut().zip(numbers).with_min_len(CHUNK).for_each(|(end, &number)| {
            let (link, side) = (&links[number as usize / 2], number as usize % 2);
            let direction = if side == 0 { link.direction } else { -link.direction };
            *end = End { direction, at: link.at[side] };
        });
        self.sum_up();
    }

    /// Sets the initial forces of the springs from the values of all points.
    pub(super) fn start(&mut self, values: &[Vec3]) {
        self.value.copy_from_slice(values);
        let (level, value) = (self.level, &self.value);
        self.links
            .par_chunks(CHUNK)
            .zip(self.residual.par_chunks_mut(CHUNK))
            .zip(self.rate.par_chunks_mut(CHUNK))
            .for_each(|((links, residual), rate)| {
                each_stretch(level, links, value, |i, stretch| {
                    residual[i] = -stretch;
                    rate[i] = links[i].root * stretch;
                });
            });
        self.sum_up();
    }

    /// Starts the iteration with the response of the points; returns the squared norm of the residual.
    pub(super) fn begin(&mut self) -> f64 {
        let (level, value) = (self.level, &self.value);
        self.solution.fill(0.0);
        self.links
            .par_chunks(CHUNK)
            .zip(self.residual.par_chunks_mut(CHUNK))
            .zip(self.search.par_chunks_mut(CHUNK))
            .zip(self.rate.par_chunks_mut(CHUNK))
            .map(|(((links, residual), search), rate)| {
                let mut sum = 0.0;
                each_stretch(level, links, value, |i, stretch| {
                    residual[i] += stretch;
                    search[i] = residual[i];
                    rate[i] = links[i].root * search[i];
                    sum += f64::from(residual[i]) * f64::from(residual[i]);
                });
                sum
            })
            .collect_into_vec(&mut self.sums);
        let energy = self.sums.iter().sum();
        self.last_sum.fill(Vec3::ZERO);
        self.sum_up();
        energy
    }

    /// Squared norm of the residual of the system for x, or an upper bound of it if a point is not free. `turn` is the
    /// factor that [`Net::advance`] returned last.
    ///
    /// Model: `b - (A + C) x = -G c^1/2 r` with the residual r of y. The search direction is r plus
    /// `turn` times the previous one, so that the residual follows from the springs' forces.
    pub(super) fn left(&mut self, turn: f32) -> f64 {
        self.sum
            .par_chunks(CHUNK)
            .zip(self.last_sum.par_chunks_mut(CHUNK))
            .map(|(sum, last)| {
                let mut all = 0.0;
                for (sum, last) in sum.iter().zip(last) {
                    all += f64::from((*sum - turn * *last).length_squared());
                    *last = *sum;
                }
                all
            })
            .collect_into_vec(&mut self.sums);
        self.sums.iter().sum()
    }

    /// One iteration, with the response of the points to the search direction; `energy` is the squared norm of the
    /// residual. Returns the new one, and the factor of the old search direction in the new one;
    /// `None` if the iteration has broken down.
    pub(super) fn advance(&mut self, energy: f64) -> Option<(f64, f32)> {
        let (level, value) = (self.level, &self.value);
        self.links
            .par_chunks(CHUNK)
            .zip(self.search.par_chunks(CHUNK))
            .zip(self.image.par_chunks_mut(CHUNK))
            .map(|((links, search), image)| {
                let mut sum = 0.0;
                each_stretch(level, links, value, |i, stretch| {
                    image[i] = search[i] + stretch;
                    sum += f64::from(search[i]) * f64::from(image[i]);
                });
                sum
            })
            .collect_into_vec(&mut self.sums);
        let curvature: f64 = self.sums.iter().sum();
        if !(curvature > 0.0 && energy.is_finite()) {
            return None;
        }
        let step = (energy / curvature) as f32;
        self.residual
            .par_chunks_mut(CHUNK)
            .zip(self.solution.par_chunks_mut(CHUNK))
            .zip(self.search.par_chunks(CHUNK).zip(self.image.par_chunks(CHUNK)))
            .map(|((residual, solution), (search, image))| {
                let mut sum = 0.0;
                for i in 0..residual.len() {
                    solution[i] += step * search[i];
                    residual[i] -= step * image[i];
                    sum += f64::from(residual[i]) * f64::from(residual[i]);
                }
                sum
            })
            .collect_into_vec(&mut self.sums);
        let now: f64 = self.sums.iter().sum();
        let turn = (now / energy) as f32;
        self.search
            .par_chunks_mut(CHUNK)
            .zip(self.rate.par_chunks_mut(CHUNK))
            .zip(self.residual.par_chunks(CHUNK).zip(self.links.par_chunks(CHUNK)))
            .for_each(|((search, rate), (residual, links))| {
                for i in 0..search.len() {
                    search[i] = residual[i] + turn * search[i];
                    rate[i] = links[i].root * search[i];
                }
            });
        self.sum_up();
        Some((now, turn))
    }

    /// Sets the springs' forces to the solution.
    pub(super) fn finish(&mut self) {
        let found = self.rate.par_iter_mut().zip(&self.links).zip(&self.solution);
        found.with_min_len(CHUNK).for_each(|((rate, link), solution)| {
            *rate = link.root * solution;
        });
        self.sum_up();
    }

    /// Sums the springs' forces at every point.
    fn sum_up(&mut self) {
        let Self { first, numbers, ends, rate, sum, .. } = self;
        // Contribution of a segment to its two points.
        let of_segment = |segment: usize| {
            let (mut all, mut to_next) = (Vec3::ZERO, Vec3::ZERO);
            let range = first[segment] as usize..first[segment + 1] as usize;
            for (end, &number) in ends[range.clone()].iter().zip(&numbers[range]) {
                let pull = end.direction * rate[number as usize / 2];
                all += pull;
                to_next += pull * end.at;
            }
            [all - to_next, to_next]
        };
        sum.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, sums)| {
            let from = chunk * CHUNK;
            let mut before = if from > 0 { of_segment(from - 1)[1] } else { Vec3::ZERO };
            for (i, sum) in sums.iter_mut().enumerate() {
                let [own, next] = of_segment(from + i);
                *sum = before + own;
                before = next;
            }
        });
    }
}

/// Calls `take` with the number of every spring and its scaled stretch `c^1/2 g^T x` for the values x of its points.
#[inline]
fn each_stretch(level: Level, links: &[Link], value: &[Vec3], mut take: impl FnMut(usize, f32)) {
    for (i, link) in links.iter().enumerate() {
        if let Some(later) = links.get(i + AHEAD) {
            let other = later.segments[1] as usize;
            prefetch_item(level, value, other);
            prefetch_item(level, value, other + 1);
        }
        let change = difference(link.segments, link.at, value);
        let stretch = link.root * link.direction.dot(change);
        // Ignore springs of broken hair.
        take(i, if stretch.is_finite() { stretch } else { 0.0 });
    }
}

/// The ends of springs by segment.
struct Tied<'a> {
    springs: &'a [ContactSpring],
    segments: u32,
}

impl Tied<'_> {
    fn count(&self) -> usize {
        let mut count = 0;
        self.each(|_, _| count += 1);
        count
    }
}

impl Keyed for Tied<'_> {
    fn each(&self, mut take: impl FnMut(u32, u32)) {
        for (number, spring) in self.springs.iter().enumerate() {
            if spring.segments.iter().all(|&s| s < self.segments) {
                take(spring.segments[0], 2 * number as u32);
                take(spring.segments[1], 2 * number as u32 + 1);
            }
        }
    }
}

/// A linearised spring, and its impulse (N s, scaled); `None` if it has no direction.
fn frozen(
    spring: &ContactSpring,
    state: &[PointState],
    step: f32,
    look_ahead: f32,
) -> Option<(Link, f32)> {
    let (mut edge, mut velocity) = (Vec3::ZERO, Vec3::ZERO);
    for ((segment, at), sign) in spring.segments.into_iter().zip(spring.at).zip([1.0, -1.0]) {
        let (a, b) = (state.get(segment as usize)?, state.get(segment as usize + 1)?);
        edge += sign * a.position.lerp(b.position, at);
        velocity += sign * a.velocity.lerp(b.velocity, at);
    }
    let direction = edge.try_normalize()?;
    let lag = look_ahead * spring.stiffness + spring.damping;
    let stretch = edge.length() - spring.rest;
    let pull = step * (spring.stiffness * stretch + lag * velocity.dot(direction));
    let root = (step * lag).sqrt();
    let link = Link { segments: spring.segments, at: spring.at, direction, root };
    (pull.is_finite() && root.is_finite()).then_some((link, pull))
}
