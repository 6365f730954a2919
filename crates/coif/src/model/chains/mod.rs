//! Strands as chains of free particles: the common part of models that store one position
//! and one velocity per point.
//!
//! Particles are stored in the groom's order in flat arrays of vectors, strand after strand, root to tip. A
//! model gives a function that advances one chain; [`Chains::step`] calls it for all of them in
//! parallel, resets chains that broke, and reports in strand order. Motion of the roots, springs to
//! the groomed shape (`shape.rs`, `hold.rs`, `profile.rs`), collision with the body (`crate::collide`),
//! access of contacts (`rows.rs`), reset, teleport and checkpoints are here. Internal forces
//! or constraints belong to the models.

mod hold;
mod profile;
mod refit;
mod rows;
mod shape;

use std::ops::Range;

use glam::Vec3;

pub(super) use self::hold::{Hold, hold_groom};
pub(super) use self::profile::{Profile, Pull};
pub(super) use self::refit::Pool;
pub(super) use self::shape::{Pose, Shape};

use self::rows::Rows;
use super::quarantine::is_sane;
use super::{Environment, PinTarget, Pins, StepReport};
use crate::collide::{Collision, FrictionScale, Particles, PosedField, PosedShape};
use crate::contact::{Lender, Samples};
use crate::groom::Groom;
use crate::limits::MAX_STRAND_LENGTHS;
use crate::math::RigidTransform;
use crate::math::bytes::{floats, put_floats};
use crate::params::Ramp;
use crate::{Error, Result};

/// The methods of `Model` that are the same for all models with their state in a field `chains`.
macro_rules! keep_in_chains {
    () => {
        fn reset(&mut self, world_from_rest: &[$crate::math::RigidTransform]) {
            self.chains.reset(world_from_rest);
        }

        fn teleport(
            &mut self,
            from: &[$crate::math::RigidTransform],
            to: &[$crate::math::RigidTransform],
        ) {
            self.chains.teleport(from, to);
        }

        fn positions(&self, out: &mut [glam::Vec3]) {
            out.copy_from_slice(&self.chains.position);
        }

        fn velocities(&self, out: &mut [glam::Vec3]) {
            out.copy_from_slice(&self.chains.velocity);
        }

        fn lender(&mut self) -> Option<&mut dyn $crate::contact::Lender> {
            Some(&mut self.chains)
        }

        fn save(&self, out: &mut Vec<u8>) {
            self.chains.save(out);
        }

        fn restore(
            &mut self,
            bytes: &[u8],
            world_from_rest: &[$crate::math::RigidTransform],
        ) -> $crate::Result<()> {
            self.chains.restore(bytes, world_from_rest)
        }
    };
}
pub(super) use keep_in_chains;

/// Strands per task: fewer cost more for scheduling than they take to advance.
const GRAIN: usize = 32;

/// Refuses a groom with a strand whose longest segment is more than `limit` times its shortest.
pub(super) fn check_even(groom: &Groom, limit: f32, model: &'static str) -> Result<()> {
    for strand in 0..groom.strands.strand_count() {
        let lengths = groom.strands.strand(strand).windows(2).map(|w| w[0].distance(w[1]));
        let (shortest, longest) =
            lengths.fold((f32::INFINITY, 0.0f32), |(lo, hi), l| (lo.min(l), hi.max(l)));
        let ratio = longest / shortest;
        if ratio > limit {
            return Err(Error::UnevenStrand { strand, ratio, limit, model });
        }
    }
    Ok(())
}

/// All particles, with the constants of their rest shape.
pub(super) struct Chains {
    /// Positions (m), in the groom's order.
    pub(super) position: Vec<Vec3>,
    /// Velocities (m/s), in the groom's order.
    pub(super) velocity: Vec<Vec3>,
    /// Positions of particles before they moved (m): scratch.
    before: Vec<Vec3>,
    /// Their velocities then (m/s): scratch.
    arriving: Vec<Vec3>,
    /// Collisions of particles with the body: scratch.
    collision: Vec<Collision>,
    /// Positions in the rest shape (m).
    rest: Vec<Vec3>,
    /// Friction relative to that of the body: of all, and of each particle where they differ.
    friction: (f32, Vec<f32>),
    strands: Vec<Strand>,
    /// Access for contact between hair.
    rows: Rows,
}

impl Lender for Chains {
    fn lend(&mut self) -> Samples<'_> {
        self.rows.fill(&self.position, &self.velocity)
    }

    fn take_back(&mut self) {
        self.rows.take_velocities(&mut self.velocity);
    }
}

/// A strand's range in the arrays, its root, and the outcome of its last step.
struct Strand {
    first: usize,
    count: usize,
    /// Number of particles at the root end that the scalp carries.
    embedded: usize,
    /// Largest distance of a particle from the root (m).
    reach: f32,
    /// `world_from_rest` at the end of the last step.
    root: RigidTransform,
    broken: bool,
    unresolved: u32,
}

/// One chain during a step.
pub(super) struct Chain<'a> {
    /// Its particles' indices in the groom's order.
    pub(super) points: Range<usize>,
    /// Number of particles at the root end that the scalp carries: at least one, and at least one is free.
    pub(super) embedded: usize,
    pub(super) position: &'a mut [Vec3],
    pub(super) velocity: &'a mut [Vec3],
    /// Positions of particles before they moved (m), for friction and velocities.
    pub(super) before: &'a mut [Vec3],
    /// Velocities of particles before the step's forces acted (m/s), for restitution.
    pub(super) arriving: &'a mut [Vec3],
    /// Collisions of particles with the body since this was cleared.
    pub(super) collision: &'a mut [Collision],
    pub(super) rest: &'a [Vec3],
    /// Its points that are pinned.
    pub(super) pins: &'a [PinTarget],
    friction: FrictionScale<'a>,
    /// `world_from_rest` at the start of the step.
    pub(super) root_before: Pose,
    /// `world_from_rest` at the end of the step.
    pub(super) root: Pose,
}

impl Chain<'_> {
    /// Projects every free particle that is inside the body onto its surface, with friction against its displacement since
    /// `before` in `dt` seconds. Returns the number that are still inside.
    pub(super) fn collide(
        &mut self,
        shapes: &[PosedShape],
        field: Option<&PosedField<'_>>,
        dt: f32,
    ) -> u32 {
        let free = self.embedded..;
        let FrictionScale { all, each } = self.friction;
        let mut particles = Particles {
            position: &mut self.position[free.clone()],
            before: &self.before[free.clone()],
            arriving: &self.arriving[free.clone()],
            collision: &mut self.collision[free.clone()],
            friction: FrictionScale { all, each: each.get(free).unwrap_or(&[]) },
        };
        particles.collide(shapes, field, dt)
    }

    /// Whether a particle is pinned.
    pub(super) fn is_pinned(&self, i: usize) -> bool {
        self.pins.iter().any(|pin| pin.point as usize == i)
    }
}

impl Chains {
    /// Particles of a valid groom. `friction` is relative to that of the body.
    pub(super) fn new(groom: &Groom, friction: &Ramp) -> Self {
        let rest = groom.strands.positions().to_vec();
        let mut length = vec![0.0; rest.len()];
        let strands = (0..groom.strands.strand_count()).map(|s| {
            let points = groom.strands.points_of(s);
            let mut total = 0.0;
            for p in points.clone().skip(1) {
                length[p] = rest[p].distance(rest[p - 1]);
                total += length[p];
            }
            Strand {
                first: points.start,
                count: points.len(),
                embedded: (groom.embedded[s] as usize).clamp(1, points.len() - 1),
                reach: MAX_STRAND_LENGTHS * total,
                root: RigidTransform::IDENTITY,
                broken: false,
                unresolved: 0,
            }
        });
        let strands: Vec<Strand> = strands.collect();
        let pinned = strands.iter().flat_map(|s| s.first..s.first + s.embedded);
        let mut chains = Self {
            rows: Rows::new(groom, &length, pinned),
            position: rest.clone(),
            velocity: vec![Vec3::ZERO; rest.len()],
            before: rest.clone(),
            arriving: vec![Vec3::ZERO; rest.len()],
            collision: vec![Collision::NONE; rest.len()],
            rest,
            friction: (0.0, Vec::new()),
            strands,
        };
        chains.set_friction(groom, friction);
        chains
    }

    /// Sets friction relative to that of the body.
    pub(super) fn set_friction(&mut self, groom: &Groom, friction: &Ramp) {
        let (all, each) = &mut self.friction;
        *all = friction.at(0.0);
        each.clear();
        for line in groom.strands.iter().filter(|_| friction.constant().is_none()) {
            friction.extend_along(line, each);
        }
    }

    /// Index range and number of embedded particles of every strand.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
        self.strands.iter().map(|s| (s.first..s.first + s.count, s.embedded))
    }

    /// Advances every chain with `advance`, which returns the number of particles left inside the
    /// body, then resets broken chains and reports.
    pub(super) fn step(
        &mut self,
        env: &Environment<'_>,
        report: &mut StepReport,
        advance: &(impl Fn(Chain<'_>) -> u32 + Sync),
    ) {
        let (all, each) = &self.friction;
        let friction = FrictionScale { all: *all, each };
        let fixed =
            Fixed { rest: &self.rest, friction, roots: env.world_from_rest, pins: env.pins };
        let range = StrandRange {
            first_strand: 0,
            first_point: 0,
            strands: &mut self.strands,
            position: &mut self.position,
            velocity: &mut self.velocity,
            before: &mut self.before,
            arriving: &mut self.arriving,
            collision: &mut self.collision,
        };
        range.advance(&fixed, advance);
        for (s, strand) in (0u32..).zip(&self.strands) {
            report.add(strand.unresolved, strand.broken.into(), &[s]);
        }
    }

    pub(super) fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        for (strand, root) in self.strands.iter_mut().zip(world_from_rest) {
            strand.root = *root;
            for p in strand.first..strand.first + strand.count {
                self.position[p] = root.point(self.rest[p]);
                self.velocity[p] = Vec3::ZERO;
            }
        }
    }

    pub(super) fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]) {
        for (s, strand) in self.strands.iter_mut().enumerate() {
            let motion = to[s] * from[s].inverse();
            strand.root = to[s];
            for p in strand.first..strand.first + strand.count {
                self.position[p] = motion.point(self.position[p]);
                self.velocity[p] = motion.direction(self.velocity[p]);
            }
        }
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        put_floats(out, self.position.iter().chain(&self.velocity).flat_map(|v| v.to_array()));
    }

    pub(super) fn restore(
        &mut self,
        bytes: &[u8],
        world_from_rest: &[RigidTransform],
    ) -> Result<()> {
        let expected = 24 * self.position.len();
        if bytes.len() != expected {
            return Err(Error::BadCheckpoint(format!(
                "{} bytes of particles where the groom needs {expected}",
                bytes.len()
            )));
        }
        let mut values = floats(bytes);
        for to in self.position.iter_mut().chain(&mut self.velocity) {
            *to = Vec3::from_array(std::array::from_fn(|_| values.next().unwrap_or(0.0)));
        }
        for (strand, root) in self.strands.iter_mut().zip(world_from_rest) {
            strand.root = *root;
        }
        Ok(())
    }
}

/// Constant inputs of chains in a step.
struct Fixed<'a> {
    rest: &'a [Vec3],
    friction: FrictionScale<'a>,
    roots: &'a [RigidTransform],
    pins: Pins<'a>,
}

/// A range of strands with their particles.
struct StrandRange<'a> {
    first_strand: usize,
    first_point: usize,
    strands: &'a mut [Strand],
    position: &'a mut [Vec3],
    velocity: &'a mut [Vec3],
    before: &'a mut [Vec3],
    arriving: &'a mut [Vec3],
    collision: &'a mut [Collision],
}

impl StrandRange<'_> {
    /// Advances these strands, divided into tasks by halving. Chains are independent, and nothing is allocated.
    fn advance(self, fixed: &Fixed<'_>, advance: &(impl Fn(Chain<'_>) -> u32 + Sync)) {
        if self.strands.len() > GRAIN {
            let (a, b) = self.split();
            rayon::join(|| a.advance(fixed, advance), || b.advance(fixed, advance));
            return;
        }
        for (s, strand) in self.strands.iter_mut().enumerate() {
            let points = strand.first..strand.first + strand.count;
            let here = points.start - self.first_point..points.end - self.first_point;
            let root = &fixed.roots[self.first_strand + s];
            let FrictionScale { all, each } = fixed.friction;
            let chain = Chain {
                points: points.clone(),
                embedded: strand.embedded,
                position: &mut self.position[here.clone()],
                velocity: &mut self.velocity[here.clone()],
                before: &mut self.before[here.clone()],
                arriving: &mut self.arriving[here.clone()],
                collision: &mut self.collision[here.clone()],
                rest: &fixed.rest[points.clone()],
                pins: fixed.pins.of(self.first_strand + s),
                friction: FrictionScale { all, each: each.get(points.clone()).unwrap_or(&[]) },
                root_before: Pose::new(&strand.root),
                root: Pose::new(root),
            };
            strand.unresolved = advance(chain);
            // Reset a broken chain to its rest shape at its last finite root pose.
            let (position, velocity) = (&mut self.position[here.clone()], &mut self.velocity[here]);
            if root.is_finite() {
                strand.root = *root;
            }
            let from_root = position.iter().map(|p| p.distance_squared(position[0]));
            let state = from_root.zip(velocity.iter().map(|v| v.is_finite()));
            strand.broken = !is_sane(state, strand.reach);
            if strand.broken {
                for (p, rest) in position.iter_mut().zip(&fixed.rest[points]) {
                    *p = strand.root.point(*rest);
                }
                velocity.fill(Vec3::ZERO);
            }
        }
    }

    fn split(self) -> (Self, Self) {
        let strand = self.strands.len() / 2;
        let point = self.strands[strand].first - self.first_point;
        let (strands, more_strands) = self.strands.split_at_mut(strand);
        let (position, more_position) = self.position.split_at_mut(point);
        let (velocity, more_velocity) = self.velocity.split_at_mut(point);
        let (before, more_before) = self.before.split_at_mut(point);
        let (arriving, more_arriving) = self.arriving.split_at_mut(point);
        let (collision, more_collision) = self.collision.split_at_mut(point);
        (
            StrandRange { strands, position, velocity, before, arriving, collision, ..self },
            StrandRange {
                first_strand: self.first_strand + strand,
                first_point: self.first_point + point,
                strands: more_strands,
                position: more_position,
                velocity: more_velocity,
                before: more_before,
                arriving: more_arriving,
                collision: more_collision,
            },
        )
    }
}
