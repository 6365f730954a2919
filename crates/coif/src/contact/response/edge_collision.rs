//! Edge-edge collision of hair on hair within a step, by continuous collision detection (`selle2008` 5.3).
//!
//! Pairs whose segments collide between start and end of the step get an inelastic impulse with friction.
//! That can make other pairs collide, so the test is repeated; remaining collisions are counted. Pairs with a stiction
//! spring are skipped, as in the paper: springs bring hair so near that most of these collisions
//! are false.

use fearless_simd::dispatch;
use glam::Vec3;
use rayon::prelude::*;

use super::impulses::{Impulses, Link, Lists, across, with_friction};
use super::stiction::Stiction;
use crate::Result;
use crate::contact::detection::crossing::{TOLERANCE, first_crossing};
use crate::contact::detection::culling::keep_passing;
use crate::contact::detection::pairs::{BATCH, Move, Pairs};
use crate::contact::detection::segments::Segments;
use crate::math::group::make_room;
use crate::params::parameters;

/// Points per task.
const CHUNK: usize = 1024;

/// Jacobi iterations between two collision tests.
const INNER_ROUNDS: u32 = 3;

/// Largest ratio of the numbers of collisions after and before a round that justifies another one.
const HELPS: f64 = 0.75;

/// Number of collisions up to which more rounds cost next to nothing, and the factor of the rounds of the settings that
/// they get: between two hairs in contact, a collision moves from segment to segment.
const FEW: u64 = 64;
const ROUNDS_OF_FEW: u32 = 8;

parameters! {
    /// Parameters of collision.
    pub struct Settings of "edge-collision" {
        /// Coulomb friction between hairs.
        friction: f32 = 0.3, "", 0.0..=10.0;
        /// Distance of two hairs after a collision: a fraction of the hair's radius, so that rounding does not let them
        /// pass through each other in the next step.
        gap: f32 = 1e-5, "m", 1e-6..=0.1;
        /// Largest number of rounds of collision tests per substep.
        rounds: u32 = 4, "", 1..=100;
    }
}

/// Report of collision in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Pairs that would have collided.
    pub collided: u64,
    /// Pairs that still collide after the last round.
    pub left: u64,
}

/// Collision between hairs, with its memory.
#[derive(Debug, Default)]
pub(crate) struct EdgeCollision {
    settings: Settings,
    found: Lists<Collision>,
    links: Vec<Link>,
    collisions: Vec<Collision>,
    impulses: Impulses,
    /// Velocity over the step (m/s).
    motion: Vec<Vec3>,
    /// Per point: whether the last round moved it; per segment: whether it moved one of its ends.
    moved: Vec<bool>,
    moved_segments: Vec<bool>,
    /// Displacements of segments since the last update of the pairs, at the start (empty if there are none) and at the
    /// end.
    moves: [Vec<Move>; 2],
    report: Report,
}

/// Two segments that collide.
#[derive(Debug, Clone, Copy)]
struct Collision {
    link: Link,
    /// Unit normal from the second to the first, on the sides that they have before the collision.
    normal: Vec3,
    /// Smallest relative speed along the normal after the impulse (m/s).
    target: f32,
}

/// The motion of hair in a step.
pub(crate) struct Trajectory<'a> {
    /// Positions at the start (m).
    pub(crate) start: &'a [Vec3],
    /// Positions at the end (m).
    pub(crate) end: &'a mut [Vec3],
    /// Velocities (m/s), which are changed along with the end.
    pub(crate) velocity: &'a mut [Vec3],
    /// Length of the step (s).
    pub(crate) dt: f32,
}

impl EdgeCollision {
    /// Checks the parameters.
    pub(crate) fn new(settings: &Settings) -> Result<Self> {
        settings.validate()?;
        Ok(Self { settings: settings.clone(), ..Self::default() })
    }

    /// Report of the last step.
    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let collisions = self.collisions.capacity() * size_of::<Collision>();
        let moves = self.moves.iter().map(|m| 16 * m.capacity()).sum::<usize>();
        let points = 12 * self.motion.capacity() + 2 * self.moved.capacity() + moves;
        collisions
            + points
            + 16 * self.links.capacity()
            + self.found.bytes()
            + self.impulses.bytes()
    }

    /// Changes ends and velocities so that no pair collides.
    ///
    /// Model: the colliding points keep their distance along the normal, or get the gap if it is
    /// smaller; the friction impulse is at most the coefficient times the normal impulse.
    /// Source: `selle2008` 5.3, after the edge/edge collision of Bridson et al. 2002, without rigid impact zones.
    /// Deviations: block Jacobi instead of one pair after the other, see `impulses.rs`.
    pub(crate) fn collide(
        &mut self,
        segments: &Segments,
        pairs: &Pairs,
        stiction: Option<&Stiction>,
        trajectory: &mut Trajectory<'_>,
    ) {
        self.report = Report::default();
        self.moved.clear();
        self.moved.resize(segments.points(), true);
        self.resolve(segments, pairs, stiction, trajectory);
    }

    /// [`Self::collide`] again, for points that have moved since, and for the remaining collisions.
    pub(in crate::contact) fn collide_again(
        &mut self,
        segments: &Segments,
        pairs: &Pairs,
        stiction: Option<&Stiction>,
        trajectory: &mut Trajectory<'_>,
        moved: &[bool],
    ) {
        let Report { collided, left } = self.report;
        if left == 0 || self.moved.len() != moved.len() {
            self.moved.clear();
            self.moved.extend_from_slice(moved);
        } else {
            self.moved.iter_mut().zip(moved).for_each(|(all, moved)| *all |= moved);
        }
        self.resolve(segments, pairs, stiction, trajectory);
        self.report.collided += collided.saturating_sub(left);
    }

    /// Repeats collision tests and impulses, for pairs with a point that the previous round moved.
    fn resolve(
        &mut self,
        segments: &Segments,
        pairs: &Pairs,
        stiction: Option<&Stiction>,
        trajectory: &mut Trajectory<'_>,
    ) {
        let dt = trajectory.dt;
        self.motion.clear();
        self.motion.extend(
            trajectory.end.iter().zip(trajectory.start).map(|(end, start)| (*end - *start) / dt),
        );
        self.moves[0].clear();
        self.moves[0].reserve(segments.points());
        self.impulses.reserve(segments.points());
        if !pairs.are_for(trajectory.start) {
            pairs.moves(trajectory.start, &mut self.moves[0]);
        }
        let max_rounds = ROUNDS_OF_FEW * self.settings.rounds;
        for round in 0..=max_rounds {
            self.find(segments, pairs, stiction, trajectory);
            let collided = self.collisions.len() as u64;
            let before = std::mem::replace(&mut self.report.left, collided);
            if round == 0 {
                self.report.collided = collided;
            }
            // Stop where rounds only move collisions to neighbours, as in very dense hair.
            let helps = round == 0 || collided as f64 <= HELPS * before as f64;
            let few = collided <= FEW && round < max_rounds;
            if collided == 0 || !few && (round >= self.settings.rounds || !helps) {
                break;
            }
            self.push(segments, trajectory);
        }
    }

    /// Finds the pairs that collide, among those with a point that moved in the last round.
    fn find(
        &mut self,
        segments: &Segments,
        pairs: &Pairs,
        stiction: Option<&Stiction>,
        trajectory: &Trajectory<'_>,
    ) {
        let moved = &self.moved;
        self.moved_segments.clear();
        self.moved_segments.extend(moved.windows(2).map(|ends| ends[0] || ends[1]));
        let (moved_segments, inverse_mass, level) =
            (&self.moved_segments, segments.inverse_mass(), pairs.level());
        let (start, end) = (trajectory.start, &*trajectory.end);
        let steps =
            Steps { start, end, motion: &self.motion, dt: trajectory.dt, gap: self.settings.gap };
        pairs.moves(end, &mut self.moves[1]);
        let moves = &self.moves;
        self.found.fill(pairs.points(), |range, list| {
            // Leave out pairs that are farther apart than they can approach.
            let near = |a: usize, b: usize, apart: f32| {
                let approach = |moves: &[Move]| moves[a].approach(&moves[b]);
                let nearer = approach(&moves[1]);
                let nearer =
                    if moves[0].is_empty() { nearer } else { nearer.max(approach(&moves[0])) };
                let far = apart - nearer > 2.0 * TOLERANCE as f32;
                (moved_segments[a] | moved_segments[b]) & !far
            };
            let mut passing = [(0, 0); BATCH];
            pairs.each_batch(range, &[start, end], near, |batch| {
                let kept = &mut passing;
                let count = dispatch!(level, simd => keep_passing(simd, batch, start, end, kept));
                for &(a, b) in &passing[..count] {
                    let (a, b) = (a as usize, b as usize);
                    let points = [a, a + 1, b, b + 1];
                    let is_pinned = points.iter().all(|&p| inverse_mass[p] == 0.0);
                    if !(is_pinned
                        || stiction.is_some_and(|stiction| stiction.holds(a as u32, b as u32)))
                    {
                        list.extend(collision(&steps, a, b));
                    }
                }
            });
        });
        self.collisions.clear();
        make_room(&mut self.collisions, self.found.len());
        make_room(&mut self.links, self.found.len());
        self.collisions.extend(self.found.iter());
        self.links.clear();
        self.links.extend(self.collisions.iter().map(|collision| collision.link));
    }

    /// Applies impulses to the pairs that collide.
    fn push(&mut self, segments: &Segments, trajectory: &mut Trajectory<'_>) {
        let (friction, dt, links) = (self.settings.friction, trajectory.dt, &self.links);
        let inverse_mass = segments.inverse_mass();
        self.impulses.prepare(segments, links);
        self.moved.fill(false);
        for _ in 0..INNER_ROUNDS {
            let collisions = &mut self.collisions;
            self.impulses.round(links, collisions, &self.motion, |_, collision, pair| {
                let missing = collision.target - pair.velocity.dot(collision.normal);
                if missing <= 0.0 {
                    return Vec3::ZERO;
                }
                with_friction(collision.normal, missing / pair.inverse_mass, friction, &pair)
            });
            // Apply the change to motion, end and velocity.
            let impulses = &self.impulses;
            let points = self.motion.par_chunks_mut(CHUNK).zip(self.moved.par_chunks_mut(CHUNK));
            let ends =
                trajectory.end.par_chunks_mut(CHUNK).zip(trajectory.velocity.par_chunks_mut(CHUNK));
            points.zip(ends).enumerate().for_each(|(chunk, ((motion, moved), (end, velocity)))| {
                let first = chunk * CHUNK;
                let range = first..first + motion.len();
                impulses.each_change(range, links, inverse_mass, |point, change| {
                    if change != Vec3::ZERO {
                        let i = point - first;
                        motion[i] += change;
                        velocity[i] += change;
                        end[i] += change * dt;
                        moved[i] = true;
                    }
                });
            });
        }
    }
}

/// Displacements of the points.
struct Steps<'a> {
    start: &'a [Vec3],
    end: &'a [Vec3],
    motion: &'a [Vec3],
    dt: f32,
    gap: f32,
}

/// The collision of two segments, if they collide and are not separating already.
fn collision(steps: &Steps<'_>, a: usize, b: usize) -> Option<Collision> {
    let &Steps { start, end, motion, dt, gap } = steps;
    let of = |x: &[Vec3], s: usize| [x[s], x[s + 1]];
    let crossing = first_crossing(of(start, a), of(end, a), of(start, b), of(end, b))?;
    let link = Link { a: a as u32, b: b as u32, at: crossing.at };
    let time = crossing.time as f32;
    let edge = |s: usize| start[s + 1].lerp(end[s + 1], time) - start[s].lerp(end[s], time);
    let apart = link.difference(start);
    let speed = link.difference(motion);
    let normal = normal(edge(a), edge(b), apart, speed);
    let target = ((gap - apart.dot(normal)) / dt).max(0.0);
    (speed.dot(normal) < target).then_some(Collision { link, normal, target })
}

/// The normal of a collision of two segments: perpendicular to both, towards the side of the first before the collision.
fn normal(a: Vec3, b: Vec3, apart: Vec3, speed: Vec3) -> Vec3 {
    let n = a.cross(b);
    let n = if n.length() > 1e-4 * a.length() * b.length() {
        n.normalize_or(Vec3::Y)
    } else {
        // Parallel: along the offset between them, perpendicular to the hair.
        let along = a.normalize_or_zero();
        let offset = apart - along * apart.dot(along);
        offset.try_normalize().unwrap_or_else(|| across(a, b))
    };
    let side = apart.dot(n);
    let ahead = if side == 0.0 { -speed.dot(n) } else { side };
    if ahead < 0.0 { -n } else { n }
}
