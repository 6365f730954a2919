//! One step from start to end: the body poses its colliders, roots follow the body, the model moves
//! the hair, and contact of hair on hair acts. Reading a frame places every strand (`grow`) and measures its health.
//!
//! Steps have a fixed length that does not depend on the frame rate. The simulation owns the
//! model's state and its scratch memory; groom and body do not change.

mod bodies;
mod change;
mod checkpoint;
mod colliders;
mod crowd;
mod drawn;
mod drive;
mod health;
mod path;
mod pins;
mod read;
mod roots;
mod sleep;
mod timers;
mod world;

use std::sync::Arc;

use glam::{DVec3, Vec3};

pub use self::bodies::BodyId;
pub use self::colliders::FreeCollider;
pub use self::crowd::Crowd;
pub use self::health::{
    DRIFT_TOLERANCE, Drift, HairMotion, Health, KINK_ANGLE, MOVING_SPEED, StrandList,
};
pub use self::pins::Anchor;
pub use self::read::Layout;
pub use self::roots::Roots;
pub use self::sleep::REST_SPEED;
pub use self::timers::{Stage, Timers};
pub use self::world::World;
pub use crate::environment::{Surface, Wind};
pub use crate::math::hash_positions;

use self::bodies::Bodies;
use self::colliders::Colliders;
use self::drawn::Drawn;
use self::health::{HealthMonitor, Snapshot};
use self::pins::AllPins;
use self::sleep::Sleep;
use crate::body::{Body, BodyPose, MovingCollider, PoseKeys, distance_field};
use crate::collide::SKIN;
use crate::contact::Contacts;
use crate::environment::{GrowEnvironment, Gusts, Onward, SurfaceField};
use crate::groom::strips::{StripPose, Strips};
use crate::groom::{Groom, RootBinding, Strands};
use crate::grow::Growth;
use crate::math::RigidTransform;
use crate::model::cantilever::StripLanes;
use crate::model::{
    Carrier, Environment, FieldObstacle, Model, ModelSettings, MovesStrips, PinTarget, Pins,
    StepReport,
};
use crate::{Error, Result};

/// Most substeps of a step that is longer than a model takes well: with fewer than eight steps a second hair
/// is rough rather than late.
const MAX_SUBSTEPS: f32 = 8.0;

/// Most steps that a model takes at once.
const MAX_AT_ONCE: usize = 8;

/// The input of a model that changes from step to step.
#[derive(Default)]
struct Surroundings {
    /// Time at the end of the step (s).
    time: f64,
    /// Length of the step (s).
    dt: f32,
    colliders: Vec<MovingCollider>,
    world_from_rest: Vec<RigidTransform>,
    pins: Vec<PinTarget>,
}

impl Surroundings {
    fn environment<'a>(
        &'a self,
        world: &'a World,
        gusts: Gusts,
        field: Option<FieldObstacle<'a>>,
    ) -> Environment<'a> {
        Environment {
            time: self.time,
            dt: self.dt,
            gravity: world.gravity,
            wind: &world.wind,
            gusts,
            world_from_rest: &self.world_from_rest,
            colliders: &self.colliders,
            field,
            pins: Pins::new(&self.pins),
        }
    }
}

/// Hair on a body, moving.
pub struct Simulation {
    groom: Arc<Groom>,
    body: Arc<Body>,
    world: World,
    model: Box<dyn Model>,
    /// The roots of the strands.
    roots: Roots,
    /// The roots of what the model moves, if that is not strands.
    primitives: Option<Roots>,
    steps: u64,
    /// The poses that the body is driven to, if it is.
    keys: Option<Box<PoseKeys>>,
    /// How far the last frame goes beyond the last step (s), of a body that is driven.
    ahead: f64,
    drawn: Drawn,
    /// Fraction of the last frame at which the last step ended; 0 if that was before it.
    step_fraction: f32,
    /// Gravity (m/s^2) that the rest shape is balanced against.
    held_gravity: Vec3,
    sleep: Sleep,
    /// Velocities of all points: scratch.
    read_velocities: Vec<Vec3>,
    /// Where the origin of all positions is (m).
    origin: DVec3,
    /// Largest time (s) that is simulated in one call.
    max_catch_up: Option<f64>,
    /// The input of the model for each of the next steps.
    surroundings: Vec<Surroundings>,
    colliders: Colliders,
    pins: AllPins,
    gusts: Gusts,
    /// Poses of the primitives before a jump: scratch.
    before_jump: Vec<RigidTransform>,
    surface: Option<SurfaceField>,
    /// Bodies besides the one that the hair grows on.
    bodies: Bodies,
    contacts: Contacts,
    growth: Growth,
    report: StepReport,
    /// Positions of every strand, as `grow` placed them last.
    grown: Vec<Vec3>,
    /// Whether they are those of the present state.
    is_grown: bool,
    health: HealthMonitor,
    timers: Timers,
}

impl Simulation {
    /// Sets hair on a body at time 0, in its rest shape.
    pub fn new(
        groom: Arc<Groom>,
        body: Arc<Body>,
        model: &ModelSettings,
        world: World,
    ) -> Result<Self> {
        check(&groom, &world)?;
        let heavy = heavy_groom(&groom, &world);
        let heavy = heavy.as_ref().unwrap_or(&groom);
        let model = model.build(heavy, world.dt(), world.gravity)?;
        Self::with_model(groom, body, model, world)
    }

    /// The same with a model that the caller has built for this groom, for steps of [`World::dt`].
    pub fn with_model(
        groom: Arc<Groom>,
        body: Arc<Body>,
        mut model: Box<dyn Model>,
        world: World,
    ) -> Result<Self> {
        check(&groom, &world)?;
        let roots = Roots::new(&groom.roots, &body)?;
        // Strips and columns of hair meshes grow on the scalp themselves, wherever strands are.
        let bind = |places: Vec<Vec3>| {
            let places = places.into_iter();
            Roots::new(&RootBinding::nearest_on(body.rest(), body.scalp(), places)?, &body)
        };
        let primitives = model.carrier().map(|carrier| bind(carrier.root_places())).transpose()?;
        let (name, can) = (model.name(), model.capabilities());
        let field_of = |surface| SurfaceField::new(&body, surface, can.splits_steps, SKIN);
        let surface = world.surface.as_ref().map(field_of).transpose()?;
        let contacts = Contacts::new(&world.contacts, &groom, name, can.contact, model.lender())?;
        let held_gravity = world.gravity;
        let mut simulation = Self {
            growth: Growth::new(&groom, &*model)?,
            contacts,
            surface,
            bodies: Bodies::default(),
            groom,
            body,
            world,
            model,
            roots,
            primitives,
            steps: 0,
            keys: None,
            ahead: 0.0,
            drawn: Drawn::default(),
            step_fraction: 1.0,
            held_gravity,
            sleep: Sleep::default(),
            read_velocities: Vec::new(),
            origin: DVec3::ZERO,
            max_catch_up: None,
            surroundings: Vec::new(),
            colliders: Colliders::default(),
            pins: AllPins::default(),
            gusts: Gusts::default(),
            before_jump: Vec::new(),
            report: StepReport::default(),
            grown: Vec::new(),
            is_grown: false,
            health: HealthMonitor::default(),
            timers: Timers::default(),
        };
        simulation.reset();
        Ok(simulation)
    }

    /// Simulated time (s) since the start.
    pub fn time(&self) -> f64 {
        self.step_time() + self.ahead
    }

    /// Time (s) at the end of the last step.
    fn step_time(&self) -> f64 {
        self.steps as f64 / f64::from(self.world.steps_per_second)
    }

    /// Advances by one step. A body that was [driven](Self::drive) stands where it is.
    pub fn step(&mut self) {
        self.bodies.begin_frame(self.world.dt());
        self.step_in_frame([0.0, 1.0]);
        self.colliders.arrive();
        self.bodies.arrive();
        self.pins.arrive();
        self.forget_places();
    }

    /// Advances by one step, in which the body moves from one fraction of the frame to another.
    fn step_in_frame(&mut self, [start, end]: [f64; 2]) {
        let longest = self.model.capabilities().longest_step;
        let substeps = (self.world.dt() / longest).ceil().clamp(1.0, MAX_SUBSTEPS);
        for substep in 1..=substeps as u32 {
            let fraction = f64::from(substep) / f64::from(substeps);
            let time = (self.steps as f64 + fraction) / f64::from(self.world.steps_per_second);
            let in_frame = start + (end - start) * fraction;
            self.follow_body_in_step(0, time, self.world.dt() / substeps, in_frame as f32);
            self.move_hair(1);
        }
        self.steps += 1;
    }

    /// Advances to `time` (s) by whole steps: to the last step that is not after it. For a motion that is known in
    /// advance; where poses come frame by frame, [`drive`](Self::drive).
    pub fn advance_to(&mut self, time: f64) {
        let target = (time * f64::from(self.world.steps_per_second) + 1e-6).floor();
        self.skip_before(target);
        while (self.steps as f64) < target {
            let count = self.steps_at_once().min((target - self.steps as f64) as usize);
            if count > 1 {
                self.step_at_once(count);
            } else {
                self.step();
            }
        }
    }

    /// How many steps the model takes at once: more than one only where nothing happens between them.
    fn steps_at_once(&self) -> usize {
        let can = self.model.capabilities();
        let no_field = self.surface.is_none() && self.bodies.is_empty();
        let alone = self.contacts.is_empty() && no_field;
        let whole = can.longest_step >= self.world.dt();
        if alone && whole { can.steps_at_once.min(MAX_AT_ONCE) } else { 1 }
    }

    /// Advances by several steps that the model takes at once.
    fn step_at_once(&mut self, count: usize) {
        for k in 0..count {
            self.steps += 1;
            self.follow_body_in_step(k, self.step_time(), self.world.dt(), 1.0);
        }
        self.move_hair(count);
        self.colliders.arrive();
        self.bodies.arrive();
        self.pins.arrive();
    }

    /// Poses body and roots at the end of step `k` of the next ones, at the time `end` (s) after
    /// `dt` (s), and at a fraction of the frame.
    fn follow_body_in_step(&mut self, k: usize, end: f64, dt: f32, in_frame: f32) {
        if k == self.surroundings.len() {
            self.surroundings.push(Surroundings::default());
        }
        let offset = self.animation_offset();
        let step = &mut self.surroundings[k];
        (step.time, step.dt) = (end, dt);
        if let Some(keys) = &mut self.keys {
            keys.set_fraction(in_frame);
            self.drawn.begin_step(poses(&self.roots, self.primitives.as_ref()), dt);
        }
        let pose = body_pose(&self.keys, end);
        // Pose the colliders at the end of the step, which is the start of the next.
        self.timers.measure(Stage::Body, || {
            self.colliders.follow(&self.body, pose, in_frame);
            self.colliders.moving(&mut step.colliders);
            if let Some(surface) = &mut self.surface {
                surface.follow(&self.body, pose, Vec3::ZERO, dt);
            }
            self.bodies.follow(end, in_frame, offset, dt);
        });
        // In the first step, before the roots move: measure the clearance of the strands at rest from the body.
        self.timers.measure(Stage::Grow, || {
            let poses = poses(&self.roots, self.primitives.as_ref());
            let field = self.surface.as_ref().map(SurfaceField::obstacle);
            self.growth.measure_clearance(&*self.model, poses, &step.colliders, field);
        });
        // Let the roots follow the body.
        self.timers.measure(Stage::Roots, || {
            for roots in std::iter::once(&mut self.roots).chain(&mut self.primitives) {
                match &self.surface {
                    Some(surface) => roots.follow_vertices(surface.vertices()),
                    None => roots.follow_pose(&self.body, pose),
                }
            }
            let poses = poses(&self.roots, self.primitives.as_ref());
            step.world_from_rest.clear();
            step.world_from_rest.extend_from_slice(poses);
        });
        // Find the targets of pins.
        self.pins.follow(&self.body, pose, in_frame);
        let min_embedded = self.model.capabilities().pins.unwrap_or(1);
        let roots = self.roots.world_from_rest();
        self.report.pins = self.pins.targets(dt, &self.groom, min_embedded, roots, &mut step.pins);
        self.report_invalid();
    }

    /// Takes the next `count` steps, for which the body has been followed.
    fn move_hair(&mut self, count: usize) {
        self.forget_places();
        let quarantined = self.report.quarantined.len();
        // Move the hair.
        self.timers.measure(Stage::Model, || {
            let field = self.bodies.with(self.surface.as_ref());
            let environments: [_; MAX_AT_ONCE] = std::array::from_fn(|k| {
                self.surroundings[k.min(count - 1)].environment(&self.world, self.gusts, field)
            });
            self.model.steps(&environments[..count], &mut self.report);
        });
        if !self.pins.is_empty() {
            for &strand in &self.report.quarantined[quarantined..] {
                let roots = self.roots.world_from_rest();
                self.pins.return_from_rest(Some(strand), &self.groom, roots);
            }
        }
        let Surroundings { dt, colliders, .. } = &self.surroundings[count - 1];
        self.timers.measure(Stage::Grow, || self.growth.follow(colliders, *dt));
        // Let contact of hair on hair act.
        if let Some(lender) = self.model.lender().filter(|_| !self.contacts.is_empty()) {
            self.timers.measure(Stage::Contact, || {
                self.contacts.apply(lender, *dt, &mut self.report.contact);
            });
        }
    }

    /// Reports the strands whose root pose, or that of the primitive that they follow, is not finite: they are left
    /// in place.
    fn report_invalid(&mut self) {
        let primitives = self.primitives.as_ref().filter(|roots| roots.any_invalid());
        if primitives.is_none() && !self.roots.any_invalid() {
            return;
        }
        let carried = |s: usize| {
            let carriers = || self.growth.carriers(&*self.model, s);
            primitives.is_some_and(|roots| carriers().iter().any(|&c| roots.is_invalid(c)))
        };
        let strands = 0..self.groom.strands.strand_count();
        let invalid = strands.filter(|&s| self.roots.is_invalid(s) || carried(s));
        self.report.quarantined.extend(invalid.map(|s| s as u32));
    }

    /// Puts the hair on its rest shape at the body's present pose, without velocity.
    pub fn reset(&mut self) {
        self.forget_places();
        self.health.forget();
        self.follow_body();
        self.model.reset(poses(&self.roots, self.primitives.as_ref()));
        self.growth.follow(&[], 0.0);
        self.body_has_jumped();
        let pose = body_pose(&self.keys, self.step_time());
        self.pins.follow(&self.body, pose, 1.0);
        self.pins.return_from_rest(None, &self.groom, self.roots.world_from_rest());
        if let Some(lender) = self.model.lender() {
            self.contacts.reset(lender);
        }
    }

    /// Jumps to another time of the body's own motion: the hair moves rigidly with its roots
    /// and gains no velocity from the jump. For a jump to a pose, [`teleport_to`](Self::teleport_to).
    pub fn teleport(&mut self, time: f64) {
        self.note_jump();
        self.steps = (time * f64::from(self.world.steps_per_second)).round().max(0.0) as u64;
        self.bodies.shift(self.frame_origin().as_vec3());
        (self.keys, self.ahead) = (None, 0.0);
        self.jump();
    }

    /// Stores the poses of the primitives before a jump.
    fn note_jump(&mut self) {
        let from = poses(&self.roots, self.primitives.as_ref());
        self.before_jump.clear();
        self.before_jump.extend_from_slice(from);
    }

    /// Moves the hair rigidly with its roots from the stored poses to the present ones.
    fn jump(&mut self) {
        self.forget_places();
        self.health.forget();
        self.follow_body();
        let now = poses(&self.roots, self.primitives.as_ref());
        self.model.teleport(&self.before_jump, now);
        let pose = body_pose(&self.keys, self.step_time());
        self.pins.jump(&self.body, pose, [&self.before_jump, now]);
        self.growth.follow(&[], 0.0);
        self.body_has_jumped();
    }

    /// Moves all roots to where the body is now.
    fn follow_body(&mut self) {
        let pose = body_pose(&self.keys, self.step_time());
        for roots in std::iter::once(&mut self.roots).chain(&mut self.primitives) {
            roots.follow_pose(&self.body, pose);
        }
    }

    /// Poses colliders and the body's surface with the body, without velocity.
    fn body_has_jumped(&mut self) {
        let pose = body_pose(&self.keys, self.step_time());
        self.colliders.follow(&self.body, pose, 1.0);
        self.colliders.arrive();
        if let Some(surface) = &mut self.surface {
            surface.reset(&self.body, pose, Vec3::ZERO);
        }
        let (time, offset) = (self.step_time(), self.animation_offset());
        self.bodies.reset(time, offset);
    }

    /// The groom in its rest shape.
    pub fn groom(&self) -> &Groom {
        &self.groom
    }

    /// The body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The model's name.
    pub fn model_name(&self) -> &'static str {
        self.model.name()
    }

    /// Places every strand: where all points are now (m), in the groom's order. Done once for a state and then
    /// kept for health, files and pictures.
    pub fn grow(&mut self) -> &[Vec3] {
        if self.ahead <= 0.0 {
            self.grow_at_step();
            return &self.grown;
        }
        if !self.drawn.is_placed {
            let mut drawn = std::mem::take(&mut self.drawn.positions);
            let mut timers = std::mem::take(&mut self.timers);
            drawn.resize(self.groom.strands.point_count(), Vec3::ZERO);
            // Make room for a frame that ends with a step, too.
            self.grown.resize(drawn.len(), Vec3::ZERO);
            timers.measure(Stage::Grow, || self.place(self.onward().as_ref(), &mut drawn));
            (self.drawn.positions, self.drawn.is_placed, self.timers) = (drawn, true, timers);
        }
        &self.drawn.positions
    }

    /// Places every strand at the end of the last step.
    fn grow_at_step(&mut self) {
        if !self.is_grown {
            let mut grown = std::mem::take(&mut self.grown);
            let mut timers = std::mem::take(&mut self.timers);
            grown.resize(self.groom.strands.point_count(), Vec3::ZERO);
            timers.measure(Stage::Grow, || self.place(None, &mut grown));
            (self.grown, self.is_grown, self.timers) = (grown, true, timers);
        }
    }

    /// Extrapolation of hair from the end of the last step to the drawn time, if that is later.
    fn onward(&self) -> Option<Onward<'_>> {
        (self.ahead > 0.0).then(|| Onward {
            before: &self.drawn.before,
            now: poses(&self.roots, self.primitives.as_ref()),
            strands_now: self.roots.world_from_rest(),
            strands_drawn: &self.drawn.world_from_rest,
            dt: self.drawn.dt,
            ahead: self.ahead as f32,
        })
    }

    /// Writes the positions of all points (m): at the end of the last step, or onward from there.
    fn place(&self, onward: Option<&Onward<'_>>, out: &mut [Vec3]) {
        let by_model = onward.filter(|_| self.primitives.is_none());
        if let (Some(onward), Some(lanes)) = (by_model, self.model.strand_lanes()) {
            return lanes.go_on(onward, &self.groom.embedded, out);
        }
        let env = grow_environment(&self.roots, self.bodies.with(self.surface.as_ref()));
        self.growth.positions(&*self.model, &env, onward, out);
        if let Some(onward) = by_model {
            let velocities = |out: &mut [Vec3]| self.model.velocities(out);
            self.drawn.go_on(&self.groom, onward, velocities, out);
        }
    }

    /// Writes the current positions of all points (m), in the groom's order: what [`grow`](Self::grow) has kept, or
    /// anew.
    pub fn positions(&self, out: &mut [Vec3]) {
        let onward = self.onward();
        match onward {
            Some(_) if self.drawn.is_placed => out.copy_from_slice(&self.drawn.positions),
            None if self.is_grown => out.copy_from_slice(&self.grown),
            _ => self.place(onward.as_ref(), out),
        }
    }

    /// Invalidates the placed strands, because hair has moved.
    fn forget_places(&mut self) {
        (self.is_grown, self.drawn.is_placed) = (false, false);
    }

    /// Writes the current velocities of all points (m/s), in the groom's order.
    pub fn velocities(&self, out: &mut [Vec3]) {
        self.growth.velocities(&*self.model, out);
    }

    /// The strands as they are now.
    pub fn strands(&self) -> Strands {
        let mut strands = self.groom.strands.clone();
        self.positions(strands.positions_mut());
        strands
    }

    fn moved_strips(&self) -> Option<&dyn MovesStrips> {
        match self.model.carrier() {
            Some(Carrier::Strips(strips)) => Some(strips),
            _ => None,
        }
    }

    /// The strips that the model moves, in their rest shape, if it moves strips.
    pub fn strips(&self) -> Option<&Strips> {
        self.moved_strips().map(MovesStrips::strips)
    }

    /// Writes where the joints of those strips are now. False if there are none.
    pub fn strip_pose(&self, out: &mut StripPose) -> bool {
        self.moved_strips().inspect(|strips| strips.pose(out)).is_some()
    }

    /// Where those strips are now, as the model holds them: what a
    /// [`StripMesh`](crate::grow::strips::StripMesh) follows fastest.
    pub fn strip_lanes(&self) -> Option<StripLanes<'_>> {
        self.moved_strips().map(MovesStrips::lanes)
    }

    /// Report: quarantined strands and unresolved collisions so far, and figures of the last step.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Report of the last distance field of the body's surface, if hair collides with it.
    pub fn surface_report(&self) -> Option<&distance_field::Report> {
        self.surface.as_ref().map(|surface| surface.field().report())
    }

    /// Time spent per stage so far.
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Measures the hair as it is now: stretch, penetration, kinks, drift, and its speed since
    /// the last call at an earlier time. Call it once per frame; after a jump (`reset`, `teleport`,
    /// `restore`) the next call counts as the first.
    ///
    /// Of a body that is driven it is the health at the end of the last step.
    pub fn health(&mut self) -> Health {
        self.grow_at_step();
        self.timers.measure(Stage::Health, || {
            let surface = self.surface.as_ref();
            let mut fibre = self.groom.fibre;
            fibre.density *= self.world.mass_scale();
            let snapshot = Snapshot {
                groom: &self.groom,
                fibre,
                step: self.steps,
                steps_per_second: self.world.steps_per_second,
                world_from_rest: self.roots.world_from_rest(),
                shapes: self.colliders.shapes(),
                poses: self.colliders.poses(),
                surface,
                bodies: self.bodies.surfaces(),
            };
            self.health.look(&snapshot, &self.grown)
        })
    }

    /// A number that changes with any bit of the hair's positions.
    pub fn state_hash(&self) -> u64 {
        hash_positions(self.strands().positions())
    }
}

/// The groom as the model has it, if that is heavier: wet hair is denser.
fn heavy_groom(groom: &Groom, world: &World) -> Option<Groom> {
    let wet = world.mass_scale();
    (wet != 1.0).then(|| {
        let mut heavy = groom.clone();
        heavy.fibre.density *= wet;
        heavy
    })
}

/// Whether a groom that grows on something can be simulated in a world.
fn check(groom: &Groom, world: &World) -> Result<()> {
    groom.validate()?;
    world.validate()?;
    if groom.roots.len() != groom.strands.strand_count() {
        return Err(Error::Unbound);
    }
    Ok(())
}

/// The pose of the body: the driven one, or that of its own animation at `time` (s).
fn body_pose(keys: &Option<Box<PoseKeys>>, time: f64) -> BodyPose<'_> {
    keys.as_ref().map_or(BodyPose::At(time), |keys| BodyPose::Driven(keys))
}

/// One pose per primitive that the model moves.
fn poses<'a>(strands: &'a Roots, primitives: Option<&'a Roots>) -> &'a [RigidTransform] {
    primitives.unwrap_or(strands).world_from_rest()
}

/// The input of `grow`.
fn grow_environment<'a>(
    strands: &'a Roots,
    field: Option<FieldObstacle<'a>>,
) -> GrowEnvironment<'a> {
    GrowEnvironment { world_from_rest: strands.world_from_rest(), field }
}
