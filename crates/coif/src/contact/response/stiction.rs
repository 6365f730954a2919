//! Stiction springs between hairs (`selle2008` 5.2).
//!
//! Two segments that come nearer than one distance get a spring between their closest points.
//! It keeps these points until it is longer than another distance, then it breaks:
//! hair pulled across hair sticks and slips (`selle2008` figure 10 c). A segment has at most n springs,
//! to the nearest segments with fewer than n.

use glam::Vec3;
use rayon::prelude::*;

use super::impulses::{Ends, Impulses, Link, Lists};
use super::spring::ContactSpring;
use crate::contact::detection::pairs::Pairs;
use crate::contact::detection::segments::{Segments, closest_points_segment_segment};
use crate::math::bytes::{Reader, put_u32, put_u64};
use crate::math::group::make_room;
use crate::params::parameters;
use crate::{Error, Result};

/// Largest number of springs of a segment.
pub(crate) const MAX_SPRINGS: u32 = 8;

/// Segments per task.
const CHUNK: usize = 1024;

/// Bytes of a saved spring.
const SAVED: usize = 16;

parameters! {
    /// Parameters of stiction. The defaults are for dry human hair, where a spring breaks at 2 micronewtons: the
    /// weight of three centimetres of hair.
    pub struct Settings of "stiction", also check_distances {
        /// Distance below which two hairs get a spring; less than `break`.
        ///
        /// About the distance between simulated hairs: with less, none stick.
        make: f32 = 0.5e-3, "m", 1e-6..=0.1;
        /// Length at which a spring breaks; more than `make`.
        ///
        /// Otherwise springs would be made and broken in one step.
        break_ as "break": f32 = 1e-3, "m", 1e-6..=0.1;
        /// Rest length of a spring; at most `break`; less than `make` pulls hairs together.
        ///
        /// `selle2008` uses `make`.
        rest: f32 = 0.5e-3, "m", 0.0..=0.1;
        /// Largest number of springs of a segment.
        springs: u32 = 4, "", 1..=MAX_SPRINGS;
        /// Force per length of the spring; leave the table out for none.
        stiffness: f32 = 4e-3, "N/m", 1e-9..=1000.0;
        /// Force per speed of the spring.
        ///
        /// The default is a quarter of the critical damping of half a centimetre of hair.
        damping: f32 = 5e-6, "N s/m", 0.0..=1.0;
    }
}

impl Settings {
    /// Refuses distances in the wrong order.
    fn check_distances(&self) -> Result<()> {
        let Self { make, break_, rest, .. } = *self;
        let checks = [
            ("stiction break (m)", break_, break_ > make, "more than make"),
            ("stiction rest (m)", rest, rest <= break_, "at most break"),
        ];
        match checks.into_iter().find(|(_, _, fine, _)| !fine) {
            Some((name, value, _, expected)) => {
                Err(Error::OutOfRange { name: name.into(), value: value.into(), expected })
            }
            None => Ok(()),
        }
    }
}

/// The springs between hairs.
#[derive(Debug)]
pub(crate) struct Stiction {
    settings: Settings,
    /// In the order of the first segment, then the second.
    springs: Vec<ContactSpring>,
    /// Per segment: index of its first spring as the first segment.
    first: Vec<u32>,
    /// Per segment: number of springs that it may still get.
    free: Vec<u8>,
    /// Per spring: whether it is short enough not to break.
    holds: Vec<bool>,
    near: Lists<Near>,
    links: Vec<Link>,
    /// Per link: its distance and number, by which links are compared.
    ranks: Vec<u64>,
    ends: Ends,
    /// Per segment: the highest rank that it accepts.
    last: Vec<u64>,
    made: u64,
    broken: u64,
}

/// Two segments that are near enough for a spring.
#[derive(Debug, Clone, Copy)]
struct Near {
    link: Link,
    distance: f32,
}

impl Stiction {
    /// Checks the parameters.
    pub(crate) fn new(settings: &Settings) -> Result<Self> {
        settings.validate()?;
        Ok(Self {
            settings: settings.clone(),
            springs: Vec::new(),
            first: Vec::new(),
            free: Vec::new(),
            holds: Vec::new(),
            near: Lists::default(),
            links: Vec::new(),
            ranks: Vec::new(),
            ends: Ends::default(),
            last: Vec::new(),
            made: 0,
            broken: 0,
        })
    }

    /// The current springs.
    pub(crate) fn springs(&self) -> &[ContactSpring] {
        &self.springs
    }

    /// Numbers of springs made and broken in the last [`Stiction::update`].
    pub(crate) fn changes(&self) -> (u64, u64) {
        (self.made, self.broken)
    }

    /// Whether there is a spring between two segments, `a` before `b`.
    #[inline]
    pub(crate) fn holds(&self, a: u32, b: u32) -> bool {
        let Some(&[from, to]) = self.first.get(a as usize..a as usize + 2) else { return false };
        self.springs[from as usize..to as usize].iter().any(|spring| spring.segments[1] == b)
    }

    /// Breaks springs that are too long and makes new ones among the pairs.
    pub(crate) fn update(&mut self, segments: &Segments, pairs: &Pairs, position: &[Vec3]) {
        let points = segments.points();
        self.break_long(position);
        self.count(points);
        self.find_near(pairs, position);
        self.choose(points);
        self.make();
        self.count(points);
    }

    /// Removes all springs.
    pub(crate) fn clear(&mut self) {
        self.springs.clear();
        self.first.clear();
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let springs = self.springs.capacity() * size_of::<ContactSpring>() + self.holds.capacity();
        let per_point = 4 * self.first.capacity() + self.free.capacity() + 8 * self.last.capacity();
        let links = 16 * self.links.capacity() + 8 * self.ranks.capacity();
        springs + per_point + links + self.near.bytes() + self.ends.bytes()
    }

    fn break_long(&mut self, position: &[Vec3]) {
        let before = self.springs.len();
        let max_length = self.settings.break_;
        self.holds.resize(before, false);
        let holds = self.holds.par_iter_mut().zip(&self.springs).with_min_len(CHUNK);
        holds.for_each(|(holds, spring)| {
            *holds = spring.difference(position).length() <= max_length
        });
        // Remove the others, and those of NaN length.
        let mut holds = self.holds.iter();
        self.springs.retain(|_| holds.next().is_some_and(|&holds| holds));
        self.broken = (before - self.springs.len()) as u64;
    }

    /// Counts the springs of each segment, as the first one and in total.
    fn count(&mut self, points: usize) {
        self.free.clear();
        self.free.resize(points, self.settings.springs as u8);
        self.first.clear();
        self.first.resize(points + 1, 0);
        for spring in &self.springs {
            let [a, b] = spring.segments.map(|s| s as usize);
            self.first[a + 1] += 1;
            for segment in [a, b] {
                self.free[segment] = self.free[segment].saturating_sub(1);
            }
        }
        for p in 1..self.first.len() {
            self.first[p] += self.first[p - 1];
        }
    }

    /// Finds the pairs that are near enough, of segments that may get a spring.
    fn find_near(&mut self, pairs: &Pairs, position: &[Vec3]) {
        let mut near = std::mem::take(&mut self.near);
        let (free, make) = (&self.free, self.settings.make);
        near.fill(pairs.points(), |range, list| {
            // NaN is not near.
            let near =
                |a: usize, b: usize, apart: f32| (apart < make) & (free[a] > 0) & (free[b] > 0);
            pairs.each_near(range, &[position], near, |a, b| {
                if self.holds(a as u32, b as u32) {
                    return;
                }
                let of = |s: usize| [position[s], position[s + 1]];
                let closest = closest_points_segment_segment(of(a), of(b));
                let distance = closest.distance();
                if distance < make {
                    let link = Link { a: a as u32, b: b as u32, at: [closest.s, closest.t] };
                    list.push(Near { link, distance });
                }
            });
        });
        self.near = near;
        self.links.clear();
        self.ranks.clear();
        make_room(&mut self.links, self.near.len());
        make_room(&mut self.ranks, self.near.len());
        for (i, near) in self.near.iter().enumerate() {
            self.links.push(near.link);
            // The bits of positive floats have the order of the floats.
            self.ranks.push((u64::from(near.distance.to_bits()) << 32) | i as u64);
        }
    }

    /// Finds the highest rank that each segment accepts: that of its n-th nearest link. A spring needs both segments.
    fn choose(&mut self, points: usize) {
        self.ends.prepare(points, &self.links);
        self.last.resize(points, 0);
        let (ends, free, ranks) = (&self.ends, &self.free, &self.ranks);
        self.last.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, last)| {
            for (i, last) in last.iter_mut().enumerate() {
                let segment = chunk * CHUNK + i;
                let mut nearest = [u64::MAX; MAX_SPRINGS as usize];
                let nearest = &mut nearest[..usize::from(free[segment])];
                let as_b = ends.of_b(segment).iter().map(|&link| link as usize);
                for link in ends.of_a(segment).chain(as_b) {
                    insert(nearest, ranks[link]);
                }
                *last = nearest.last().copied().unwrap_or(0);
            }
        });
    }

    /// Merges the chosen springs into the sorted list, from the back.
    fn make(&mut self) {
        let chosen = |i: usize| {
            let (link, rank) = (self.links[i], self.ranks[i]);
            rank <= self.last[link.a as usize] && rank <= self.last[link.b as usize]
        };
        let made = (0..self.links.len()).filter(|&i| chosen(i)).count();
        self.made = made as u64;
        let mut old = self.springs.len();
        make_room(&mut self.springs, old + made);
        make_room(&mut self.holds, old + made);
        let Some(&filler) = self.links.first().filter(|_| made > 0) else { return };
        self.springs.resize(old + made, spring_of(&filler, &self.settings));
        let mut to = self.springs.len();
        for i in (0..self.links.len()).rev().filter(|&i| chosen(i)) {
            let link = self.links[i];
            let after = |s: &ContactSpring| s.segments > [link.a, link.b];
            while old > 0 && after(&self.springs[old - 1]) {
                (to, old) = (to - 1, old - 1);
                self.springs[to] = self.springs[old];
            }
            to -= 1;
            self.springs[to] = spring_of(&link, &self.settings);
        }
    }

    /// Applies the forces of the springs over `dt` (s) to the velocities, for models that do not solve for
    /// them.
    ///
    /// Model: implicit damped springs of constant direction, with the impulse `j = -dt (k (l - l0 + dt v) + c v)` at the
    /// velocity v after all impulses. Iterations over all springs converge to the implicit solution of the springs without
    /// the forces of the strands.
    /// Source: `selle2008` 4.1.
    pub(in crate::contact) fn pull(
        &self,
        segments: &Segments,
        motion: &Motion<'_>,
        rounds: u32,
        scratch: &mut Scratch,
        velocity: &mut [Vec3],
    ) {
        let (position, dt) = (motion.position, motion.dt);
        scratch.links.clear();
        scratch.pulls.clear();
        make_room(&mut scratch.links, self.springs.len());
        make_room(&mut scratch.pulls, self.springs.len());
        scratch.links.extend(self.springs.iter().map(link_of));
        scratch.pulls.extend(self.springs.iter().map(|spring| {
            let difference = spring.difference(position);
            let along = difference.normalize_or_zero();
            Pull {
                along,
                push: dt * spring.stiffness * (difference.length() - spring.rest),
                sum: 0.0,
            }
        }));
        let drag = dt * (dt * self.settings.stiffness + self.settings.damping);
        let Scratch { links, pulls, impulses } = scratch;
        impulses.prepare(segments, links);
        for _ in 0..rounds {
            impulses.round(links, pulls, velocity, |_, pull, pair| {
                let wanted = -(pull.push + drag * pair.velocity.dot(pull.along));
                let change = (wanted - pull.sum) / (1.0 + drag * pair.inverse_mass);
                pull.sum += change;
                pull.along * change
            });
            impulses.add_to(segments, links, velocity);
        }
    }

    /// Appends the springs.
    pub(in crate::contact) fn save(&self, out: &mut Vec<u8>) {
        put_u64(out, self.springs.len() as u64);
        for spring in &self.springs {
            let link = link_of(spring);
            for word in [link.a, link.b, link.at[0].to_bits(), link.at[1].to_bits()] {
                put_u32(out, word);
            }
        }
    }

    /// Restores what was saved; `None`, and nothing has changed, if these are not such bytes.
    pub(in crate::contact) fn restore<'a>(
        &mut self,
        segments: &Segments,
        bytes: &'a [u8],
    ) -> Option<&'a [u8]> {
        let mut reader = Reader(bytes);
        let count = usize::try_from(reader.u64()?).ok()?;
        let springs = reader.take(count.checked_mul(SAVED)?)?;
        let rest = reader.0;
        let links = springs.chunks_exact(SAVED).map(|spring| {
            let mut spring = Reader(spring);
            let mut word = || spring.u32().unwrap_or_default();
            let (a, b) = (word(), word());
            Link { a, b, at: [word(), word()].map(f32::from_bits) }
        });
        // Refuse springs that are not sorted, or of segments that do not exist.
        let fine = |link: &Link| {
            link.a < link.b
                && segments.starts(link.a as usize)
                && segments.starts(link.b as usize)
                && link.at.iter().all(|x| (0.0..=1.0).contains(x))
        };
        if !(links.clone().all(|link| fine(&link))
            && links.clone().is_sorted_by(|x, y| (x.a, x.b) < (y.a, y.b)))
        {
            return None;
        }
        self.springs.clear();
        self.springs.extend(links.map(|link| spring_of(&link, &self.settings)));
        self.count(segments.points());
        Some(rest)
    }
}

/// Positions of the hair (m), and length of the step (s).
pub(in crate::contact) struct Motion<'a> {
    pub(in crate::contact) position: &'a [Vec3],
    pub(in crate::contact) dt: f32,
}

/// Memory of [`Stiction::pull`].
#[derive(Debug, Default)]
pub(in crate::contact) struct Scratch {
    links: Vec<Link>,
    pulls: Vec<Pull>,
    impulses: Impulses,
}

/// A spring within a step.
#[derive(Debug, Clone, Copy)]
struct Pull {
    along: Vec3,
    /// Impulse of the spring at its current length (N s).
    push: f32,
    /// Sum of the impulses of all iterations (N s).
    sum: f32,
}

fn link_of(spring: &ContactSpring) -> Link {
    let [a, b] = spring.segments;
    Link { a, b, at: spring.at }
}

fn spring_of(link: &Link, settings: &Settings) -> ContactSpring {
    let &Settings { rest, stiffness, damping, .. } = settings;
    ContactSpring { segments: [link.a, link.b], at: link.at, rest, stiffness, damping }
}

/// Inserts a rank into the sorted list of the lowest ones.
#[inline]
fn insert(lowest: &mut [u64], rank: u64) {
    if lowest.last().is_none_or(|&last| rank >= last) {
        return;
    }
    let mut at = lowest.len() - 1;
    while at > 0 && lowest[at - 1] > rank {
        lowest[at] = lowest[at - 1];
        at -= 1;
    }
    lowest[at] = rank;
}
