//! The mass-spring hair of `selle2008`: every hair with bending, twisting and its natural curl.
//!
//! A strand is a chain of particles with edge, bending, torsion and altitude springs (`strand.rs`, `springs.rs`,
//! `altitude.rs`), whose constants follow from the fibre (`homogenise.rs`). A step is divided into substeps
//! (`substep_count.rs`), each of which has the nine stages of section 4 (`substep.rs`): two implicit
//! velocity solves (`assemble.rs`, `math::banded`), strain limiting (`limit.rs`), collision with the body
//! (`collide.rs`) and contact with other hair (`couple.rs`, `contact::HairContact`).
//!
//! The state is stored in rows of sixteen strands (`block.rs`). `plain.rs` is one substep without
//! lanes, `tetrahedra.rs` the bodies and shells of section 3.1.
//!
//! Deviations: edges are less stiff than those of the fibre (`homogenise.rs`), and weight acts only on the points of
//! the hair, not on extra particles, which would twist it. Backward
//! Euler evaluates the springs in the middle of the substep, as the trapezoidal rule does.

pub mod altitude;
mod assemble;
mod block;
mod collide;
mod couple;
mod double;
pub mod elastica;
mod ends;
mod homogenise;
mod lever;
mod limit;
pub mod link;
pub mod linking;
mod net;
mod pins;
pub mod plain;
mod samples;
mod springs;
mod strand;
mod substep;
mod substep_count;
pub mod tetrahedra;

use fearless_simd::Level;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

pub use self::ends::FarEnd;
pub use self::homogenise::UnitStiffness;
pub use self::lever::LeverSquared;

use self::block::{Block, FarEndPose};
use self::couple::{Coupling, Place};
use self::strand::{Material, Strand};
use self::substep::{Scratch, Substep, Work, in_halves};
use super::quarantine::lanes_of;
use super::sample_rows::SampleRows;
use super::{Capabilities, Environment, Model, ModelSettings, StepReport};
use crate::collide::{PosedShape, pose_between};
use crate::contact::{Access, HairContact, Lender, Samples};
use crate::groom::Groom;
use crate::math::bytes::{Reader, floats, put_f64, put_floats};
use crate::math::lane_layout::order_for_lanes;
use crate::math::lanes::{lane, set_lane};
use crate::math::{LANES, RigidTransform, SolveReport};
use crate::params::{Ramp, choice, parameters};
use crate::{Error, Result};

/// Name of this model in scene files.
pub const NAME: &str = "mass-spring";

/// Capabilities of this model.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    contact: Access::ANY,
    splits_steps: true,
    pins: Some(2),
    ..Capabilities::STRANDS
};

/// Integration of the velocity over a substep (`selle2008` section 4, steps 7 and 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VelocityUpdate {
    /// Damps frequencies above that of the substep: robust.
    #[default]
    BackwardEuler,
    /// As published: stiff springs oscillate.
    Trapezoidal,
}

impl VelocityUpdate {
    /// All choices by name.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("backward-euler", Self::BackwardEuler), ("trapezoidal", Self::Trapezoidal)];
}

choice!(VelocityUpdate, "velocity update");

parameters! {
    /// Parameters of the mass-spring model. Stiffness, mass and damping of the hair are those of the groom's fibre.
    pub struct Settings of NAME {
        /// Stiffness against bending and twisting, relative to that of the fibre.
        stiffness: Ramp = 1.0.into(), "", 1e-3..=1000.0;
        /// Rate at which hair takes on the velocity of the air.
        damping: Ramp = 4.0.into(), "1/s", 0.0..=1000.0;
        /// Friction on the body, relative to what the body has.
        friction: Ramp = 1.0.into(), "", 0.0..=100.0;
        /// Whether the groom is the shape at rest under gravity; if not, it sags.
        hold_shape: bool = true;
        /// Fraction of the approach speed at which hair rebounds from the body. Of this and `body.field_restitution` the
        /// larger one counts.
        restitution: f32 = 0.0, "", 0.0..=1.0;
        /// Largest stretch of a segment, as a fraction of its length.
        strain_limit: f32 = 0.01, "", 0.0..=0.9;
        /// Integration of the velocity over a substep: backward-euler is robust, trapezoidal is as published and
        /// oscillates.
        velocity_update: VelocityUpdate = VelocityUpdate::BackwardEuler;
        /// Longest substep; fast hair gets shorter ones.
        longest_substep: f32 = 1.1e-3, "s", 1e-6..=1.0;
        /// Shortest substep, however fast the hair moves.
        shortest_substep: f32 = 2e-4, "s", 1e-6..=1.0;
        /// Angle between two segments below which hair counts as straight there, and gets extra particles that represent
        /// its twist.
        straight_below: f32 = 0.35, "rad", 0.0..=std::f64::consts::PI;
        /// Relative residual at which the solver stops where hairs are in contact.
        ///
        /// A thousandth is far below the effect of hair on hair; each factor of ten takes half as long again.
        tolerance: f32 = 1e-3, "", 1e-9..=0.5;
        /// Largest number of iterations of the solver where hairs are in contact.
        max_iterations: u32 = 50, "", 1..=10_000;
        /// Whether tips are pinned too, and moved by the keys that follow.
        ///
        /// The last two points and the particle beside them are pinned.
        hold_tips: bool = false;
        nested {
            /// Motion of pinned ends relative to the body.
            far_end: FarEnd,
        }
    }
}

/// The power of two that makes the mean mass of a point about 1.
fn mass_scale(groom: &Groom) -> f32 {
    let mass = |s: usize| {
        let points = groom.strands.points_of(s);
        let radius = groom.radius[points.start].max(1e-9);
        groom.fibre.mass_per_length(radius) * groom.strands.length(s) / points.len() as f32
    };
    let count = groom.strands.strand_count();
    let mean = (0..count).map(|s| f64::from(mass(s))).sum::<f64>() / count.max(1) as f64;
    mean.clamp(1e-20, 1e20).log2().round().exp2().recip() as f32
}

/// Appends the colliders as they move between two fractions of the step.
fn pose_shapes(
    env: &Environment<'_>,
    [start, end]: [f32; 2],
    restitution: f32,
    shapes: &mut Vec<PosedShape>,
) {
    let moving = env.colliders.iter().map(|c| pose_between(c, start, end));
    let h = env.dt * (end - start);
    shapes.extend(moving.map(|c| PosedShape::bouncing(&c, h, restitution)));
}

/// Blocks per task.
const BLOCKS_PER_TASK: usize = 8;

/// Points per task.
const POINTS_PER_TASK: usize = 4096;

/// Hair that moves as masses and springs.
pub struct MassSpring {
    settings: Settings,
    fibre_damping: f32,
    /// Scale of masses and forces.
    scale: f32,
    level: Level,
    blocks: Vec<Block>,
    /// One per task, or one per block if contact couples them.
    scratch: Vec<Scratch>,
    /// Block, row and lane of each point of the groom.
    place: Vec<Place>,
    coupling: Option<Coupling>,
    /// Colliders of all substeps of the current step, one after the other.
    shapes: Vec<PosedShape>,
    samples: SampleRows,
    /// Substeps per second that strands need.
    rates: Vec<f32>,
    /// Time since the start (s), for the far end.
    clock: f64,
    /// Whether blocks have reserved memory for pins.
    pins: bool,
}

impl MassSpring {
    /// Builds the model; the groom is balanced against `gravity` (m/s^2).
    pub fn new(groom: &Groom, settings: &Settings, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        let ratio = 2.0 * f64::from(groom.fibre.shear_modulus / groom.fibre.young_modulus);
        let unit = UnitStiffness::new(ratio);
        let embedded = |s: usize| groom.embedded[s] as usize;
        let order = order_for_lanes(
            groom.strands.strand_count(),
            |s| Strand::count_particles(groom.strands.strand(s), embedded(s), settings),
            |s| groom.strands.strand(s)[0],
            groom.strands.bounds().unwrap_or_default(),
        );
        let scale = mass_scale(groom);
        let lay_out = |&s: &usize| {
            let line = groom.strands.strand(s);
            let radius = &groom.radius[groom.strands.points_of(s)];
            let material = Material { fibre: &groom.fibre, radius, unit: &unit };
            let strand = Strand::new(line, embedded(s), &material, settings, gravity);
            (s as u32, strand, line[0])
        };
        let blocks: Vec<Block> = order
            .par_chunks(LANES)
            .map(|strands| {
                let strands: Vec<_> = strands.iter().map(lay_out).collect();
                let mut block = Block::new(&strands, scale.into());
                let h = f64::from(settings.longest_substep);
                let lag = h + f64::from(groom.fibre.damping);
                for (l, (_, strand, _)) in strands.iter().enumerate() {
                    block.double |= u16::from(strand.needs_double(h, lag)) << l;
                }
                block
            })
            .collect();
        // Record the block, row and lane of each point.
        let mut place = vec![Place::default(); groom.strands.point_count()];
        for (b, block) in blocks.iter().enumerate() {
            for l in 0..block.lanes {
                let points = groom.strands.points_of(block.strands[l] as usize);
                let rows = (0..block.rows).filter(|row| block.is_point[*row] >> l & 1 == 1);
                for (point, row) in points.zip(rows) {
                    place[point] = Place { block: b as u32, row: row as u16, lane: l as u8 };
                }
            }
        }
        let tasks = blocks.chunks(BLOCKS_PER_TASK);
        let scratch = tasks.map(Scratch::new).collect();
        let mut model = Self {
            settings: settings.clone(),
            fibre_damping: groom.fibre.damping,
            scale,
            level: Level::new(),
            blocks,
            scratch,
            place,
            coupling: None,
            shapes: Vec::new(),
            samples: SampleRows::default(),
            rates: Vec::new(),
            clock: 0.0,
            pins: false,
        };
        model.reset(&vec![RigidTransform::IDENTITY; groom.strands.strand_count()]);
        Ok(model)
    }

    /// Switches contact of hair on hair on or off.
    pub fn set_contact(&mut self, contact: Option<Box<dyn HairContact>>) {
        let Settings { tolerance, max_iterations, .. } = self.settings;
        let per = if contact.is_some() { 1 } else { BLOCKS_PER_TASK };
        self.scratch = self.blocks.chunks(per).map(Scratch::new).collect();
        let Self { place, scratch, scale, .. } = self;
        self.coupling = contact.map(|contact| {
            Coupling::new(contact, place, scratch, *scale, tolerance, max_iterations)
        });
    }

    /// Number of particles, including extra ones.
    pub fn particle_count(&self) -> usize {
        let lanes = |b: &Block| b.count[..b.lanes].iter().map(|c| usize::from(*c)).sum::<usize>();
        self.blocks.iter().map(lanes).sum()
    }

    /// Twist of a strand from end to end (rad), relative to its rest shape: the rotation of its extra
    /// particles about it. Zero if it has none.
    ///
    /// Model: the twist of a joint is the rotation from the parallel transported side of a segment to that of the next,
    /// which must be less than half a turn.
    pub fn twist_of(&self, strand: usize) -> f64 {
        let lanes = |b: &'_ Block| (0..b.lanes).find(|&l| b.strands[l] as usize == strand);
        let Some((block, l)) = self.blocks.iter().find_map(|b| lanes(b).map(|l| (b, l))) else {
            return 0.0;
        };
        let particles = |of: &[f32]| -> Vec<(DVec3, bool)> {
            let is_point = |row: usize| block.is_point[row] >> l & 1 == 1;
            let rows = 0..block.count[l] as usize;
            rows.map(|row| (lane(of, row, l).as_dvec3(), is_point(row))).collect()
        };
        linking::twist(&particles(&block.x), &particles(&block.rest))
    }

    /// Writes a vector per point in the groom's order.
    fn gather(&self, out: &mut [Vec3], of: impl Fn(&Block, usize, usize) -> Vec3 + Sync) {
        let pieces =
            out.par_chunks_mut(POINTS_PER_TASK).zip(self.place.par_chunks(POINTS_PER_TASK));
        let blocks = &self.blocks;
        pieces.for_each(|(out, place)| {
            for (out, p) in out.iter_mut().zip(place) {
                *out = of(&blocks[p.block as usize], p.row.into(), p.lane.into());
            }
        });
    }

    /// The constants of a substep, as a function of the fractions of a step of `dt` seconds at which it starts
    /// and ends.
    fn substeps(&self, dt: f32) -> impl Fn(f32, f32) -> Substep + Sync + use<> {
        let settings = self.settings.clone();
        let (clock, fibre_damping) = (self.clock, self.fibre_damping);
        let released = self.is_released();
        move |start, end| {
            let time = clock + f64::from(dt * end);
            let is_pinned = settings.hold_tips;
            Substep {
                h: dt * (end - start),
                fraction: end,
                fibre_damping,
                drag: settings.damping.at(0.0),
                friction: settings.friction.at(0.0),
                strain_limit: settings.strain_limit,
                restitution: settings.restitution,
                velocity_update: settings.velocity_update,
                far_end: is_pinned.then(|| FarEndPose::at(&settings.far_end, time)),
                released,
            }
        }
    }

    fn is_released(&self) -> bool {
        let far_end = &self.settings.far_end;
        far_end.release && self.clock >= f64::from(far_end.until)
    }
}

impl Lender for MassSpring {
    fn lend(&mut self) -> Samples<'_> {
        self.samples.fill(&self.blocks, &self.place, 1.0 / self.scale)
    }

    fn take_back(&mut self) {
        self.samples.take_velocities(&mut self.blocks, &self.place);
    }

    fn couple(&mut self, contact: Box<dyn HairContact>) {
        self.set_contact(Some(contact));
    }
}

impl Model for MassSpring {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let mut substeps = self.begin(env);
        let (colliders, level) = (env.colliders.len(), self.level);
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes.clear();
        let substep = self.substeps(env.dt);
        let restitution = self.settings.restitution;
        let mut solved = SolveReport::default();
        if let Some(mut coupling) = self.coupling.take() {
            // Advance all blocks stage by stage if hairs are in contact, and divide the remainder of the step
            // again after each substep: hair that snaps is faster than at the start of the step.
            let (mut over, mut taken) = (0.0, 0);
            while over < 1.0 {
                let until = if substeps > 1 { over + (1.0 - over) / substeps as f32 } else { 1.0 };
                shapes.clear();
                pose_shapes(env, [over, until], restitution, &mut shapes);
                let (blocks, scratch) = (&mut self.blocks[..], &mut self.scratch[..]);
                let coupling = Some(&mut coupling);
                let mut work = Work { level, blocks, scratch, per: 1, coupling };
                let found = work.run(env, &shapes, &substep(over, until));
                solved.iterations = solved.iterations.max(found.iterations);
                solved.residual = solved.residual.max(found.residual);
                (over, taken) = (until, taken + 1);
                if over < 1.0 {
                    substeps = self.substeps_left(env, 1.0 - over);
                }
            }
            substeps = taken;
            self.coupling = Some(coupling);
        } else {
            // Otherwise advance each block by all substeps while it is in the cache.
            let fraction = |k: u32| k as f32 / substeps as f32;
            (0..substeps).for_each(|k| {
                pose_shapes(env, [fraction(k), fraction(k + 1)], restitution, &mut shapes)
            });
            let shapes_of = |k: u32| &shapes[k as usize * colliders..][..colliders];
            let (blocks, scratch) = (&mut self.blocks, &mut self.scratch);
            in_halves(blocks, scratch, BLOCKS_PER_TASK, &|block, scratch| {
                for k in 0..substeps {
                    let substep = substep(fraction(k), fraction(k + 1));
                    let blocks = std::slice::from_mut(block);
                    let scratch = std::slice::from_mut(scratch);
                    let mut work = Work { level, blocks, scratch, per: 1, coupling: None };
                    work.run(env, shapes_of(k), &substep);
                }
            });
        }
        self.shapes = shapes;
        self.clock += f64::from(env.dt);
        self.quarantine(report);
        report.substeps = substeps;
        report.solve = solved;
        report.contact.strands = self.coupling.as_ref().map(|coupling| coupling.contact.report());
    }

    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.clock = 0.0;
        for block in &mut self.blocks {
            block.slid = [[Vec3::ZERO; LANES]; 2];
            for l in 0..LANES {
                block.reset_lane(l, &world_from_rest[block.strands[l] as usize]);
            }
        }
        self.reset_contact();
    }

    fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]) {
        for block in &mut self.blocks {
            for l in 0..LANES {
                let s = block.strands[l] as usize;
                block.carry_lane(l, &from[s], &to[s]);
            }
        }
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.gather(out, |block, row, l| block.world_position(row, l));
    }

    fn velocities(&self, out: &mut [Vec3]) {
        self.gather(out, |block, row, l| lane(&block.v, row, l));
    }

    fn lender(&mut self) -> Option<&mut dyn Lender> {
        Some(self)
    }

    fn change(&mut self, settings: &ModelSettings, _: &Groom) -> Result<bool> {
        let ModelSettings::MassSpring(settings) = settings else { return Ok(false) };
        settings.validate()?;
        let now = &self.settings;
        // Build a new model for parameters from which blocks have constants.
        let alike = |a: &Ramp, b: &Ramp| a == b || a.constant().and(b.constant()).is_some();
        let same = now.stiffness == settings.stiffness
            && (now.hold_shape, now.hold_tips) == (settings.hold_shape, settings.hold_tips)
            && now.longest_substep == settings.longest_substep
            && now.straight_below == settings.straight_below
            && alike(&now.damping, &settings.damping)
            && alike(&now.friction, &settings.friction);
        if !same {
            return Ok(false);
        }
        if let Some(coupling) = &mut self.coupling {
            coupling.set_accuracy(settings.tolerance, settings.max_iterations);
        }
        self.settings.clone_from(settings);
        Ok(true)
    }

    fn save(&self, out: &mut Vec<u8>) {
        put_f64(out, self.clock);
        for block in &self.blocks {
            let origin = block.origin.iter().flat_map(|o| o.to_array());
            put_floats(out, block.x.iter().chain(&block.v).copied().chain(origin));
        }
        if let Some(coupling) = &self.coupling {
            put_floats(out, coupling.memory().flat_map(|v| v.to_array()));
            coupling.contact.save(out);
        }
    }

    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()> {
        let numbers = |b: &Block| 2 * b.x.len() + 3 * LANES;
        let particles = self.blocks.iter().map(numbers).sum::<usize>();
        let memory = self.coupling.as_ref().map_or(0, |coupling| 3 * coupling.memory().count());
        let expected = 8 + 4 * (particles + memory);
        let wrong = || {
            let found = bytes.len();
            Error::BadCheckpoint(format!("{found} bytes of hair where the groom needs {expected}"))
        };
        let (state, contact) = bytes.split_at_checked(expected).ok_or_else(wrong)?;
        match &mut self.coupling {
            Some(coupling) => {
                let left = coupling.contact.restore(contact);
                if left.is_none_or(|left| !left.is_empty()) {
                    return Err(wrong());
                }
            }
            None if contact.is_empty() => {}
            None => return Err(wrong()),
        }
        let mut state = Reader(state);
        self.clock = state.f64().unwrap_or_default();
        let mut values = floats(state.0);
        let mut next = || values.next().unwrap_or(0.0);
        for block in &mut self.blocks {
            block.x.iter_mut().for_each(|x| *x = next());
            block.v.iter_mut().for_each(|v| *v = next());
            block.origin.iter_mut().for_each(|o| *o = Vec3::new(next(), next(), next()));
            block.slide(&self.settings.far_end, self.clock);
            for l in 0..LANES {
                block.root[1][l] = world_from_rest[block.strands[l] as usize];
            }
        }
        if let Some(coupling) = &mut self.coupling {
            coupling.memory_mut().for_each(|v| *v = Vec3::new(next(), next(), next()));
        }
        Ok(())
    }
}

impl MassSpring {
    /// Prepares a step, and returns the number of its substeps.
    fn begin(&mut self, env: &Environment<'_>) -> u32 {
        let released = self.is_released();
        let time = self.clock + f64::from(env.dt);
        let Self { blocks, scratch, settings, .. } = self;
        if !env.pins.is_empty() && !std::mem::replace(&mut self.pins, true) {
            blocks.iter_mut().for_each(Block::make_room_for_pins);
        }
        let far_end = &settings.far_end;
        let per = blocks.len().div_ceil(scratch.len().max(1)).max(1);
        in_halves(blocks, scratch, per, &|block, _| {
            block.root[0] = block.root[1];
            block.slide(far_end, time);
            block.without_pose = 0;
            block.release_pins();
            for l in 0..LANES {
                // Update the pose of the root; one without a finite pose keeps the last.
                let root = env.world_from_rest[block.strands[l] as usize];
                if root.is_finite() {
                    block.root[1][l] = root;
                } else {
                    block.without_pose |= 1 << l;
                }
                let still = env.wind.is_still();
                let wind = if still { Vec3::ZERO } else { env.air_at(block.origin[l]) };
                set_lane(&mut block.wind, 0, l, wind);
                block.load_lane(l, env.gravity);
                block.free_tip(l, released);
            }
            if !env.pins.is_empty() {
                block.load_pins(env);
            }
            block.wanted_rate = substep_count::fastest(block, env.dt, env.dt);
        });
        substep_count::substeps(blocks, env.dt, &self.settings, &mut self.rates)
    }

    /// The number of substeps of the remainder of a step, from the current speed of the hair.
    fn substeps_left(&mut self, env: &Environment<'_>, fraction: f32) -> u32 {
        let Self { blocks, scratch, .. } = self;
        let left = env.dt * fraction;
        in_halves(blocks, scratch, 1, &|block, _| {
            block.wanted_rate = substep_count::fastest(block, left, env.dt);
        });
        substep_count::substeps(blocks, left, &self.settings, &mut self.rates)
    }

    /// Resets broken strands to their rest shape, and reports in the order of the blocks.
    fn quarantine(&mut self, report: &mut StepReport) {
        let per = self.blocks.len().div_ceil(self.scratch.len().max(1)).max(1);
        in_halves(&mut self.blocks, &mut self.scratch, per, &|block, _| {
            block.broken = (block.find_broken() | block.without_pose) & block.in_use();
        });
        for block in &mut self.blocks {
            report.add(block.unresolved, block.broken.into(), &block.strands);
            for l in lanes_of(block.broken.into()) {
                let root = block.root[1][l];
                block.reset_lane(l, &root);
            }
        }
    }

    fn reset_contact(&mut self) {
        if let Some(coupling) = &mut self.coupling {
            coupling.reset();
        }
    }
}

#[cfg(test)]
mod tests;
