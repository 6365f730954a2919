//! Dynamic Follow-The-Leader (`muller2012`): zero stretch in one pass.
//!
//! Each particle is predicted, pulled towards its groomed direction, put on the sphere of its
//! segment's length around its predecessor and moved on that sphere out of the body, root to tip.
//! Velocities are corrected for the mass that the one-way projection hides (eq. 9).
//!
//! The state lies in blocks of sixteen strands, one strand per lane (`block.rs`); the pass is in
//! `kernel.rs`, the plain version of the same pass that tests and benchmarks compare with in
//! `plain.rs`. Backward propagation, chains held at other ends and the bending limit (3.4, 3.5)
//! are not here yet.

mod block;
mod collider;
mod contact;
mod kernel;
mod on_sphere;
pub mod plain;
mod rest;

use fearless_simd::{Level, dispatch};
use glam::Vec3;
use rayon::prelude::*;

use self::block::Block;
use self::collider::StepCollider;
use super::{Environment, Model, StepReport};
use crate::groom::Groom;
use crate::math::{LANES, RigidTransform, lanes, morton_code};
use crate::{Error, Result};

/// The word that chooses this model.
pub const NAME: &str = "follow-the-leader";

/// Parameters of Follow-The-Leader.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Scale `s` of the velocity correction (`muller2012` eq. 9), 0..1. 1 hides the uneven masses
    /// completely and damps most; a little less swings longer.
    pub correction: f32,
    /// Time (s) in which a segment swings back to its groomed direction: small is stiff. Segments
    /// whose groomed shape needs more to stand gravity are made stiffer by themselves.
    pub style_time: f32,
    /// Rate (1/s) at which hair takes on the velocity of the air. A single fibre in still air is
    /// faster still; hair in locks carries air along with it.
    pub damping: f32,
    /// Whether the groom is the shape that hair has under gravity (rather than without).
    pub hold_shape: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { correction: 0.95, style_time: 0.1, damping: 10.0, hold_shape: true }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        let checks = [
            ("correction", self.correction, (0.0..=1.0).contains(&self.correction), "0 to 1"),
            ("style_time (s)", self.style_time, self.style_time > 0.0, "more than 0"),
            ("damping (1/s)", self.damping, self.damping >= 0.0, "0 or more"),
        ];
        for (name, value, fine, expected) in checks {
            if !(fine && value.is_finite()) {
                return Err(Error::OutOfRange { name: name.into(), value: value.into(), expected });
            }
        }
        Ok(())
    }
}

/// The constants of a pass.
#[derive(Debug, Clone, Copy)]
struct Pass {
    dt: f32,
    gravity: Vec3,
    correction: f32,
    damping: f32,
}

/// Hair that moves by Follow-The-Leader.
pub struct FollowTheLeader {
    settings: Settings,
    level: Level,
    blocks: Vec<Block>,
    /// Per strand: its block and lane.
    place: Vec<(u32, u8)>,
    first_point: Vec<u32>,
}

impl FollowTheLeader {
    /// Lays a groom out in lanes and finds the directions in which it rests.
    pub fn new(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        let pass = Pass {
            dt,
            gravity: if settings.hold_shape { gravity } else { Vec3::ZERO },
            correction: settings.correction,
            damping: settings.damping,
        };
        // Put strands of equal length and equal embedding next to each other, and among them
        // neighbours on the scalp: they touch the same colliders.
        let points = |s: usize| groom.strands.points_of(s).len();
        let mut order: Vec<usize> = (0..groom.strands.strand_count()).collect();
        let (lo, hi) = groom.strands.bounds().unwrap_or_default();
        order.sort_by_cached_key(|&s| {
            (points(s), groom.embedded[s], morton_code(groom.strands.strand(s)[0], lo, hi), s)
        });
        let blocks: Vec<Block> = order
            .par_chunks(LANES)
            .map(|strands| Block::new(groom, strands, &pass, settings.style_time))
            .collect();
        let mut place = vec![(0, 0); order.len()];
        for (i, &s) in order.iter().enumerate() {
            place[s] = ((i / LANES) as u32, (i % LANES) as u8);
        }
        let mut model = Self {
            settings: settings.clone(),
            level: Level::new(),
            blocks,
            place,
            first_point: groom.strands.first_points().to_vec(),
        };
        model.reset(&vec![RigidTransform::IDENTITY; groom.strands.strand_count()]);
        Ok(model)
    }

    fn unpack(&self, out: &mut [Vec3], array: impl Fn(&Block) -> &[f32]) {
        for (s, &(block, lane)) in self.place.iter().enumerate() {
            let from = array(&self.blocks[block as usize]);
            let points = self.first_point[s] as usize..self.first_point[s + 1] as usize;
            for (i, p) in out[points].iter_mut().enumerate() {
                *p = lanes::lane(from, i, lane.into());
            }
        }
    }
}

impl Model for FollowTheLeader {
    fn name(&self) -> &'static str {
        NAME
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let colliders: Vec<StepCollider> =
            env.colliders.iter().map(|c| StepCollider::new(c, env.dt)).collect();
        let pass = Pass {
            dt: env.dt,
            gravity: env.gravity,
            correction: self.settings.correction,
            damping: self.settings.damping,
        };
        let level = self.level;
        // Advance the blocks in any order: none reads another.
        let outcomes: Vec<block::Outcome> = self
            .blocks
            .par_iter_mut()
            .map(|block| {
                block.load_roots(env);
                dispatch!(level, simd => kernel::step_block(simd, block, &pass, &colliders))
            })
            .collect();
        // Report in block order, so that the report has the same bits for any number of threads.
        for (block, outcome) in self.blocks.iter_mut().zip(outcomes) {
            report.unresolved += u64::from(outcome.unresolved);
            for lane in 0..block.lanes {
                if outcome.broken & (1 << lane) != 0 {
                    let strand = block.strands[lane];
                    block.reset_lane(lane, &env.world_from_rest[strand as usize]);
                    report.quarantined.push(strand);
                }
            }
        }
    }

    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.blocks.par_iter_mut().for_each(|block| {
            for lane in 0..LANES {
                block.reset_lane(lane, &world_from_rest[block.strands[lane] as usize]);
            }
        });
    }

    fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]) {
        self.blocks.par_iter_mut().for_each(|block| {
            for lane in 0..LANES {
                let strand = block.strands[lane] as usize;
                block.carry_lane(lane, &(to[strand] * from[strand].inverse()));
                block.set_root(lane, &to[strand]);
            }
        });
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.unpack(out, |block| &block.position);
    }

    fn velocities(&self, out: &mut [Vec3]) {
        self.unpack(out, |block| &block.velocity);
    }

    fn save(&self, out: &mut Vec<u8>) {
        for block in &self.blocks {
            for value in block.position.iter().chain(&block.velocity) {
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()> {
        let expected: usize =
            self.blocks.iter().map(|b| 4 * (b.position.len() + b.velocity.len())).sum();
        if bytes.len() != expected {
            return Err(Error::BadCheckpoint(format!(
                "{} bytes of particles where the groom needs {expected}",
                bytes.len()
            )));
        }
        let mut values =
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        for block in &mut self.blocks {
            for to in block.position.iter_mut().chain(&mut block.velocity) {
                *to = values.next().unwrap_or(0.0);
            }
            for lane in 0..LANES {
                block.set_root(lane, &world_from_rest[block.strands[lane] as usize]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::body::{MovingCollider, Shape};
    use crate::groom::{Fibre, Strands};
    use crate::simulation::Wind;

    /// The instruction set that the machine offers and the least that its kind has give the same
    /// bits, contact included.
    #[test]
    fn instruction_sets_agree_to_the_bit() {
        let mut strands = Strands::new();
        for s in 0..37 {
            let a = s as f32 * 0.7;
            let start = Vec3::new(a.cos(), 1.0, a.sin()) * 0.1;
            let bend = |i: f32| Vec3::new(a.cos() * i, 0.3 * i - 2.0 * i * i, a.sin() * i);
            let line: Vec<Vec3> = (0..15).map(|i| start + bend(i as f32 * 0.02)).collect();
            strands.push(&line);
        }
        let groom = Groom::new(strands, Fibre::default());
        let (dt, gravity) = (1.0 / 240.0, Vec3::NEG_Y * 9.81);
        let run = |level: Level| {
            let mut model =
                FollowTheLeader::new(&groom, &Settings::default(), dt, gravity).expect("valid");
            model.level = level;
            for step in 0..60 {
                let turn = Quat::from_rotation_y(0.05 * step as f32);
                let pose = RigidTransform { rotation: turn, translation: Vec3::ZERO };
                let collider = MovingCollider {
                    shape: Shape::Ellipsoid { radii: Vec3::new(0.2, 0.14, 0.17) },
                    friction: 0.3,
                    start: pose,
                    end: pose,
                };
                let env = Environment {
                    time: 0.0,
                    dt,
                    gravity,
                    wind: &Wind::default(),
                    world_from_rest: &[pose; 37],
                    colliders: &[collider],
                };
                model.step(&env, &mut StepReport::default());
            }
            let mut positions = vec![Vec3::ZERO; groom.strands.point_count()];
            model.positions(&mut positions);
            crate::simulation::hash_positions(&positions)
        };
        assert_eq!(run(Level::new()), run(Level::baseline()));
    }
}
