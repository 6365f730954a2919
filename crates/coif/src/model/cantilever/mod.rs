//! Layered wisps as cantilever beams: the cheapest model that keeps a hairstyle.
//!
//! Each strip is a chain of joints that is fixed to the scalp and bends back to its groom. It has no
//! momentum, so it does not oscillate (`jung2005` 4; the step is in `kernel.rs`), and
//! there is no restitution.
//! Strips are simulated sixteen at a time, in rows of joints; the strands of the groom are bound to them and
//! are placed only when they are read (`grow::strips`).

mod block;
mod clearance;
mod kernel;
mod lanes;
mod over;
pub mod plain;
mod settings;
mod stack;
#[cfg(test)]
mod tests;

use fearless_simd::{Level, dispatch};
use glam::Vec3;
use rayon::prelude::*;

pub(crate) use self::clearance::BodyAtRest;
#[cfg(test)]
pub(crate) use self::clearance::DEEPEST;
pub(crate) use self::kernel::STRAIGHT;
pub(crate) use self::lanes::LaneBlock;
pub use self::lanes::StripLanes;
pub use self::settings::Settings;

use self::block::{Below, Block, Common, Joints, Rows};
use self::kernel::{Obstacles, Pass, Surroundings};
use super::quarantine::lanes_of;
use super::{
    Capabilities, Carrier, Environment, Model, ModelSettings, MovesStrips, Primitive, StepReport,
};
use crate::collide::{PosedShape, PosedShapes};
use crate::contact::Access;
use crate::groom::strips::{StripPose, Strips, wisps};
use crate::groom::{Fibre, Groom};
use crate::math::bytes::{floats, put_floats};
use crate::math::lane_layout::LanePlaces;
use crate::math::lanes::{VECTOR, lane};
use crate::math::{LANES, RigidTransform};
use crate::{Error, Result};

/// Name of this model in scene files.
pub const NAME: &str = "cantilever";

/// Capabilities of this model.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    moves: Primitive::Strip,
    contact: Access::NONE,
    splits_steps: false,
    longest_step: LONGEST_STEP,
    steps_at_once: 1,
    pins: None,
};

/// Longest step (s): a 120th of a second with a tolerance for rounding, so that 30, 60 and 120 frames a second
/// give the same shape. With longer steps, hair that slides over the body takes another path; the cost of shorter
/// ones is proportional to their number.
const LONGEST_STEP: f32 = 1.01 / 120.0;

/// Weight of the length of a step in the moving average: one long frame is distributed over eight.
const NEW_STEP: f32 = 0.125;

/// Largest growth of virtual collision spheres along a strip (m per m): with more, a strip that
/// comes to lie on the body would stand up from it.
const WIDENS: f32 = 0.15;

/// Largest radius of the sphere of a joint, from that of the previous joint and the distance to it (m).
fn widest(before: f32, length: f32) -> f32 {
    before.max(0.0) + WIDENS * length
}

/// The strips of a groom, or strips fitted to its strands.
fn strips_of(groom: &Groom, settings: &Settings) -> Result<Strips> {
    match &groom.strips {
        Some(strips) => Ok((**strips).clone()),
        None => wisps::through_strands(groom, &settings.wisps),
    }
}

/// Heights of the lowest and the highest anchor (m).
fn heights_of(strips: &Strips) -> [f32; 2] {
    let anchors = strips.edges.iter().map(|line| line[0].y);
    anchors.fold([f32::INFINITY, f32::NEG_INFINITY], |[lo, hi], y| [lo.min(y), hi.max(y)])
}

/// Hair that moves as strips.
pub struct Cantilever {
    settings: Settings,
    level: Level,
    strips: Strips,
    blocks: Vec<Block>,
    /// The joints of all blocks, one block after the other, and the index of their current positions.
    joints: Vec<Joints>,
    now: usize,
    /// Fibre of the hair.
    fibre: Fibre,
    /// Index of each strip in the rows.
    places: LanePlaces,
    /// Last finite poses of the roots of the strips.
    roots: Vec<RigidTransform>,
    /// Gravity (m/s^2) that the rest shape is balanced against.
    held_gravity: Option<Vec3>,
    /// Averaged length of a step (s), and that of the last one.
    dt: f32,
    last_step: f32,
    /// The averaged and the actual length of a step (s) for which bend factors are set.
    set_for: [f32; 2],
    /// Whether the clearance of the groom from the body has been measured.
    has_clearance: bool,
    /// The colliders at the end of the step: scratch.
    shapes: PosedShapes,
}

impl Cantilever {
    /// Builds the model from the strips of a groom, or from strips fitted to its strands.
    pub fn new(groom: &Groom, settings: &Settings) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        let strips = strips_of(groom, settings)?;
        strips.validate(groom.strands.strand_count())?;
        let heights = heights_of(&strips);
        let (fibre, thickness) = (&groom.fibre, &strips.thickness(groom));
        let common = Common { strips: &strips, fibre, settings, thickness, heights };
        let (blocks, joints): (Vec<Block>, Vec<Vec<Joints>>) = stack::stacks(&strips)
            .into_par_iter()
            .map(|(strips, over)| Block::new(&common, &strips, over))
            .unzip();
        let in_lanes = blocks.iter().map(|b| (&b.strips[..b.lanes], b.joints));
        let places = LanePlaces::new(strips.edges.first_points(), in_lanes);
        let count = strips.count();
        let mut model = Self {
            settings: settings.clone(),
            level: Level::new(),
            strips,
            blocks,
            joints: joints.concat(),
            now: 0,
            places,
            fibre: groom.fibre,
            roots: vec![RigidTransform::IDENTITY; count],
            held_gravity: None,
            dt: 0.0,
            last_step: 0.0,
            set_for: [0.0; 2],
            has_clearance: false,
            shapes: PosedShapes::default(),
        };
        model.reset(&vec![RigidTransform::IDENTITY; count]);
        Ok(model)
    }

    /// Sets the gravity (m/s^2) that the rest shape is balanced against; by default it is that of each step.
    pub fn hold_against(&mut self, gravity: Vec3) {
        self.held_gravity = Some(gravity);
    }

    /// The strips in their rest shape.
    pub fn strips(&self) -> &Strips {
        &self.strips
    }

    /// Writes the current pose of the joints.
    pub fn pose(&self, out: &mut StripPose) {
        let joints = self.strips.edges.point_count();
        out.position.resize(joints, Vec3::ZERO);
        out.binormal.resize(joints, Vec3::ZERO);
        self.unpack(|row| &row.position[self.now], &mut out.position);
        self.unpack(|row| &row.binormal, &mut out.binormal);
        out.tangent.clear();
        let first = self.strips.edges.first_points();
        out.tangent.resize(out.position.len(), Vec3::ZERO);
        for block in &self.blocks {
            for l in 0..block.lanes {
                let s = block.strips[l] as usize;
                let joints = first[s] as usize..first[s + 1] as usize;
                let (line, tangents) = (&out.position[joints.clone()], &mut out.tangent[joints]);
                tangents[0] = block.growth(l);
                for i in 1..line.len() {
                    tangents[i] = (line[i] - line[i - 1]).normalize_or(tangents[i - 1]);
                }
            }
        }
    }

    /// Writes a value of all joints, in the order of the strips.
    fn unpack(&self, part: impl Fn(&Joints) -> &[f32; VECTOR] + Sync, out: &mut [Vec3]) {
        self.places.unpack(out, |row, l| lane(part(&self.joints[row]), 0, l));
    }

    /// Calls `work` for every block with its rows and those of the block that it lies on.
    fn for_each_block(
        &mut self,
        work: impl Fn(&mut Block, &mut Rows<'_>, Option<Below<'_>>) + Sync,
    ) {
        let rows = Rows { joints: &mut self.joints, now: self.now };
        stack::in_halves(&mut self.blocks, rows, &work);
    }

    /// Limits the virtual collision spheres to the clearance of the groom at rest.
    ///
    /// Source: `jung2005` 4.2; the paper sets radii by hand.
    fn measure_clearance(&mut self, env: &Environment<'_>) {
        let own = env.field.and_then(|field| field.of_own_body());
        let body = BodyAtRest::new(env.colliders, own);
        self.for_each_block(|_, rows, _| {
            let mut before = [f32::INFINITY; LANES];
            for joint in rows.joints.iter_mut() {
                for l in 0..LANES {
                    let p = lane(&joint.position[rows.now], 0, l);
                    let room = body.clearance(p);
                    joint.radius[l] =
                        joint.radius[l].min(room).min(widest(before[l], joint.length[l]));
                }
                before = joint.radius;
            }
        });
        self.has_clearance = true;
    }

    /// Averages the length of steps for the effect of forces (`jung2005` 4.3 step 1), and sets the bend factors for
    /// the length of the step.
    fn average_step(&mut self, dt: f32) {
        self.dt = if self.dt > 0.0 { self.dt + (dt - self.dt) * NEW_STEP } else { dt };
        if self.set_for != [self.dt, dt] {
            self.set_for = [self.dt, dt];
            self.blocks.iter_mut().for_each(|block| block.set_step(self.dt, dt));
        }
    }
}

impl Pass {
    fn new(settings: &Settings, held: Option<Vec3>, before: f32, env: &Environment<'_>) -> Self {
        let fall_time = 1.0 / settings.damping.at(0.0);
        let gravity = env.gravity;
        let held_gravity = if settings.hold_shape { held.unwrap_or(gravity) } else { Vec3::ZERO };
        Self {
            step: env.dt,
            before,
            gravity,
            held_gravity,
            fall_time,
            swing_time: settings.inertia * fall_time,
            inertia: settings.inertia,
            friction: settings.friction.at(0.0),
        }
    }
}

impl MovesStrips for Cantilever {
    fn strips(&self) -> &Strips {
        &self.strips
    }

    fn pose(&self, out: &mut StripPose) {
        Self::pose(self, out);
    }

    fn lanes(&self) -> StripLanes<'_> {
        Self::lanes(self)
    }
}

impl Model for Cantilever {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        if !self.has_clearance {
            self.measure_clearance(env);
        }
        self.average_step(env.dt);
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes.refill(env.colliders.iter().map(|c| PosedShape::new(c, env.dt)));
        // Update the poses of roots; one without a finite pose keeps the last.
        let mut roots = std::mem::take(&mut self.roots);
        for (root, now) in roots.iter_mut().zip(env.world_from_rest).filter(|(_, t)| t.is_finite())
        {
            *root = *now;
        }
        self.now = 1 - self.now;
        let before = if self.last_step > 0.0 { self.last_step } else { env.dt };
        self.last_step = env.dt;
        let pass = Pass::new(&self.settings, self.held_gravity, before, env);
        let level = self.level;
        let obstacles = Obstacles { shapes: &shapes, field: env.field.as_ref() };
        // Advance the stacks, which are independent; reset lanes that are not finite.
        self.for_each_block(|block, rows, below| {
            let outcome = dispatch!(level, simd => {
                let wind = block.wind(env, &rows.joints[0].position[1 - rows.now]);
                let around = Surroundings { roots: block.roots(&roots), wind };
                if block.ramps.is_empty() {
                    kernel::step_block::<_, false>(simd, block, rows, below, &pass, &around, &obstacles)
                } else {
                    kernel::step_block::<_, true>(simd, block, rows, below, &pass, &around, &obstacles)
                }
            });
            block.outcome = outcome;
            for (l, &strip) in block.strips.iter().enumerate() {
                if !env.world_from_rest[strip as usize].is_finite() {
                    block.outcome.broken |= 1 << l;
                }
            }
            for l in lanes_of(block.outcome.broken) {
                rows.reset_lane(block, l, &roots[block.strips[l] as usize]);
                block.stop_root(l);
            }
        });
        // Report the strands of strips that were reset.
        for block in &self.blocks {
            report.add(block.outcome.unresolved, 0, &[]);
            for l in lanes_of(block.outcome.broken).take_while(|l| *l < block.lanes) {
                let strands = self.strips.strip_of_strand.iter().zip(0u32..);
                let mine = strands.filter(|(strip, _)| **strip == block.strips[l]);
                report.quarantined.extend(mine.map(|(_, strand)| strand));
            }
        }
        self.shapes = shapes;
        self.roots = roots;
    }

    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.roots.copy_from_slice(world_from_rest);
        self.for_each_block(|block, rows, _| {
            block.set_roots(world_from_rest);
            for l in 0..LANES {
                let root = &world_from_rest[block.strips[l] as usize];
                block.stop_root(l);
                rows.reset_lane(block, l, root);
            }
        });
    }

    fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]) {
        self.roots.copy_from_slice(to);
        self.for_each_block(|block, rows, _| {
            block.set_roots(to);
            for l in 0..LANES {
                let strip = block.strips[l] as usize;
                let motion = to[strip] * from[strip].inverse();
                rows.carry_lane(l, &motion);
                for velocity in [&mut block.velocity, &mut block.end_velocity] {
                    let turned = motion.direction(lane(velocity, 0, l));
                    crate::math::lanes::set_lane(velocity, 0, l, turned);
                }
            }
        });
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.unpack(|row| &row.position[self.now], out);
    }

    fn velocities(&self, out: &mut [Vec3]) {
        // Divide the displacements in the last step by its length.
        let per_second = if self.last_step > 0.0 { 1.0 / self.last_step } else { 0.0 };
        self.places.unpack(out, |row, l| {
            let [now, before] =
                [self.now, 1 - self.now].map(|k| lane(&self.joints[row].position[k], 0, l));
            (now - before) * per_second
        });
    }

    fn carrier(&self) -> Option<Carrier<'_>> {
        Some(Carrier::Strips(self))
    }

    fn change(&mut self, settings: &ModelSettings, _: &Groom) -> Result<bool> {
        let ModelSettings::Cantilever(settings) = settings else { return Ok(false) };
        settings.validate()?;
        let now = &self.settings;
        // Build a new model for ramps, and for other strips or layers.
        let same = now.wisps == settings.wisps
            && now.layer_distance == settings.layer_distance
            && !(now.varies() || settings.varies());
        if !same {
            return Ok(false);
        }
        self.settings.clone_from(settings);
        let Self { settings, strips, fibre, blocks, .. } = self;
        let (heights, layers) = (heights_of(strips), strips.layers());
        let common = Common { strips, fibre, settings, thickness: &[], heights };
        blocks.iter_mut().for_each(|block| block.soften(&common, layers));
        self.set_for = [0.0; 2];
        Ok(true)
    }

    fn save(&self, out: &mut Vec<u8>) {
        out.push(self.has_clearance.into());
        let mut floats = |values: &[f32]| put_floats(out, values.iter().copied());
        floats(&[self.dt, self.last_step]);
        for row in &self.joints {
            floats(&row.position[1 - self.now]);
            floats(&row.position[self.now]);
            floats(&row.deviation);
            floats(&row.binormal);
            floats(&row.radius);
        }
        for block in &self.blocks {
            floats(&block.velocity);
            floats(&block.end_velocity);
        }
    }

    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()> {
        let joints = self.joints.len() * (4 * VECTOR + LANES);
        let blocks = self.blocks.len() * 2 * VECTOR;
        let expected = 1 + 4 * (2 + joints + blocks);
        if bytes.len() != expected {
            let found = bytes.len();
            return Err(Error::BadCheckpoint(format!(
                "{found} bytes of strips where the groom needs {expected}"
            )));
        }
        self.has_clearance = bytes[0] != 0;
        let mut values = floats(&bytes[1..]);
        let mut fill = |to: &mut [f32]| to.iter_mut().zip(&mut values).for_each(|(to, v)| *to = v);
        let mut head = [0.0; 2];
        fill(&mut head);
        [self.dt, self.last_step] = head;
        for row in &mut self.joints {
            fill(&mut row.position[1 - self.now]);
            fill(&mut row.position[self.now]);
            fill(&mut row.deviation);
            fill(&mut row.binormal);
            fill(&mut row.radius);
        }
        for block in &mut self.blocks {
            fill(&mut block.velocity);
            fill(&mut block.end_velocity);
            block.set_roots(world_from_rest);
        }
        self.roots.copy_from_slice(world_from_rest);
        // Let the next step set the bend factors.
        self.set_for = [0.0; 2];
        Ok(())
    }
}
