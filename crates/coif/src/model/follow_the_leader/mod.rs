//! Dynamic Follow-The-Leader (`muller2012`): zero stretch in one pass.
//!
//! Each particle is placed on the sphere of its segment's length around its predecessor, in the direction of its
//! predicted position, and pushed out of the body on that sphere, root to tip.
//!
//! The prediction has two variants. By default a pass from tip to root goes first (`articulated/`; 3.4, made
//! implicit): it accumulates the masses and forces of all that hangs on a point, and
//! holds the groomed shape (`style.rs`). It is stable for any groom and any step, and comes to rest. Without
//! it ([`Settings::backward`]) particles are predicted independently and velocities corrected for the mass that
//! the one-way projection hides (eq. 9), the paper's algorithm box (`one_way.rs`): the fastest, for
//! chains of nearly equal segments, without a style.
//!
//! The state lies in rows of sixteen strands, one strand per lane (`block.rs`); chains pinned at other ends are in
//! `other_ends.rs`, the plain version of the passes that tests and benchmarks compare with in `plain/`.

mod ageing;
mod articulated;
mod block;
mod both_ends;
mod checkpoint;
mod choices;
mod close_outside;
mod collider;
mod contact;
#[cfg(test)]
mod energy_tests;
mod frames;
mod free;
mod joint;
mod lend;
mod near;
mod on_sphere;
mod one_way;
mod other_ends;
mod pins;
pub mod plain;
mod point_contact;
mod resting;
mod state;
mod style;

pub use self::choices::{CorrectionForm, Ends};

use fearless_simd::{Level, dispatch};
use glam::Vec3;
use rayon::prelude::*;

use self::ageing::{Age, Ages};
use self::block::{Block, Outcome, Rows, Upcoming};
use self::collider::{Obstacles, StepCollider};
use self::near::Group;
use self::style::Tie;
use super::chains::check_even;
use super::quarantine::lanes_of;
use super::strand_lanes::Rows as LaneRows;
use super::{Capabilities, Environment, Model, ModelSettings, PinReport, StepReport, StrandLanes};
use crate::contact::Lender;
use crate::groom::Groom;
use crate::math::cache::{LineAligned, prefetch_whole};
use crate::math::lane_layout::{LanePlaces, order_for_lanes};
use crate::math::lanes::VECTOR;
use crate::math::{LANES, RigidTransform};
use crate::params::{Ramp, parameters};
use crate::{Error, Result};

/// Name of this model in scene files.
pub const NAME: &str = "follow-the-leader";

/// Strands are independent, so a block advances by several steps while it is in the cache (temporal blocking).
pub(super) const CAPABILITIES: Capabilities =
    Capabilities { steps_at_once: MAX_STEPS, pins: Some(1), ..Capabilities::STRANDS };

/// Steps that a block advances by at once: those of a frame of a 60th of a second at 480 steps a second.
const MAX_STEPS: usize = 8;

parameters! {
    /// Parameters of Follow-The-Leader.
    pub struct Settings of NAME {
        /// Time in which hair swings back to its groom, one over the angular frequency in weightlessness: more is
        /// softer, 1000 is limp.
        ///
        /// The groom is at rest under gravity for any.
        style_time: Ramp = 0.2.into(), "s", 1e-3..=1000.0, unlimited: true;
        /// Length up to which the style holds directions too: shorter hair, and waves in longer hair, swing back
        /// faster than the style time, the shorter the faster.
        style_length: f32 = 0.3, "m", 0.0..=10.0;
        /// Damping of the swing back to the groom: 1 is critical, less swings over.
        damping_ratio: f32 = 0.5, "", 0.0..=10.0;
        /// Rate at which hair takes on the velocity of the air.
        ///
        /// A single fibre in still air is faster still; hair in locks carries air along with it.
        damping: Ramp = 4.0.into(), "1/s", 0.0..=1000.0;
        /// Friction on the body, relative to what the body has.
        friction: Ramp = 1.0.into(), "", 0.0..=100.0;
        /// Whether the groom is the shape at rest under gravity; if not, it sags.
        hold_shape: bool = true;
        /// Mass per length that the motion shows at the tip, relative to the root: 1 is even, less is livelier.
        ///
        /// Scale `s` of the velocity correction (`muller2012` eq. 9), of the strand or of a segment: see
        /// [`correction_form`](Self::correction_form). As a ramp it says by how much the mass per length falls at each place, as a
        /// power of the path length up to there (`style.rs`).
        correction: Ramp = 0.9.into(), "", 0.0..=1.0;
        /// What the correction is the scale of: the strand, so that it means the same for any number of points, or each
        /// segment, as in the paper.
        ///
        /// Per segment, masses fall as `m, s m, s^2 m ..` (3.2): the scale of a strand is its power by the number of segments.
        correction_form: CorrectionForm = CorrectionForm::Strand;
        /// Fraction of the approach speed at which hair rebounds from the body. Of this and `body.field_restitution` the
        /// larger one counts.
        ///
        /// Not in the one-way pass.
        restitution: f32 = 0.0, "", 0.0..=1.0;
        /// Time after which hair that lies still, on a head that stands still and without wind, has settled: friction with
        /// the hair around it then holds it against its own weight, friction on the body is doubled, and both grow on.
        /// 1000 is never.
        ///
        /// Not in the one-way pass, nor with free ends.
        settling_time: f32 = 0.5, "s", 1e-3..=1000.0, unlimited: true;
        /// Smallest distance between every second point, as a fraction of the straight distance: 0 bends freely, 1 not
        /// at all.
        ///
        /// `muller2012` eq. 11, `s_b`: the largest turn between two segments is `2 acos(s_b)`, by default 60 degrees, beyond
        /// which hair looks kinked. With a pass from tip to root no segment is held straighter than in the groom, and
        /// the style's own joints hold hair before it gets there (`joint.rs`).
        bend_limit: f32 = 0.8661, "", 0.0..=1.0;
        /// Which ends of a strand follow the body: the root, both (the tip at its place in the rest shape, carried by the
        /// scalp under the root), or none. Both-evenly differs from both without a pass from tip to root only.
        ends: Ends = Ends::Root;
        /// Whether a pass from tip to root goes first; if not, the one-way pass of the paper, for chains of equal
        /// segments without style (style_time = 1000, hold_shape = false).
        ///
        /// `muller2012` 3.4. Without it the velocity correction of eq. 9 stands in for it, one step late.
        backward: bool = true;
    }
}

impl Settings {
    /// A strand without style, air or stiffness: a chain.
    pub fn limp() -> Self {
        Self {
            bend_limit: 0.0,
            style_time: f32::INFINITY.into(),
            damping: 0.0.into(),
            settling_time: f32::INFINITY,
            hold_shape: false,
            ..Self::default()
        }
    }

    /// A chain as the paper moves it: one pass, and the velocity correction of eq. 9.
    pub fn paper() -> Self {
        Self { backward: false, ..Self::limp() }
    }

    /// Whether the two implicit passes hold the tips too.
    fn holds_tips(&self) -> bool {
        self.backward && matches!(self.ends, Ends::Both | Ends::BothEvenly)
    }

    /// Whether the two implicit passes move free strands.
    fn is_free(&self) -> bool {
        self.backward && self.ends == Ends::Free
    }

    /// Checks the additional limits of the one-way pass.
    fn check_one_way(&self, groom: &Groom) -> Result<()> {
        if !(self.backward || self.is_tied_evenly()) {
            return Err(Error::OneWayRamp);
        }
        if self.backward {
            return Ok(());
        }
        if self.is_styled() {
            return Err(Error::OneWayStyle);
        }
        if self.ends == Ends::Root {
            check_even(groom, ONE_WAY_RATIO, NAME)?;
        }
        Ok(())
    }

    /// Whether hair has a style at all.
    fn is_styled(&self) -> bool {
        self.style_time.values().any(f32::is_finite) || self.hold_shape
    }
}

/// Largest ratio of segment lengths in a strand for the one-way pass: its reaction, one step late, grows
/// where hair bends and a segment is much longer than the one before it.
const ONE_WAY_RATIO: f32 = 2.0;

/// Largest turn of a segment against the one before.
#[derive(Debug, Clone, Copy)]
struct BendLimit {
    cos: f32,
    sin: f32,
}

impl BendLimit {
    /// The condition of eq. 11 for equal segments: a turn of at most `2 acos(s_b)`.
    fn new(s_b: f32) -> Self {
        Self::of_cosine(2.0 * s_b * s_b - 1.0)
    }

    fn of_cosine(cos: f32) -> Self {
        Self { cos, sin: (1.0 - cos * cos).max(0.0).sqrt() }
    }

    fn is_on(&self) -> bool {
        self.cos > -1.0
    }
}

/// The constants of a pass.
#[derive(Debug, Clone, Copy)]
struct Pass {
    dt: f32,
    gravity: Vec3,
    /// Whether a style acts anywhere.
    is_styled: bool,
    bend: BendLimit,
    /// Spring, air and friction of points, where they are constant from root to tip.
    tie: Tie,
    /// Smallest fraction of its velocity that a point keeps in the air.
    min_carried_on: f32,
    ends: Ends,
    /// Whether tips are held by the two implicit passes (`both_ends.rs`).
    holds_tips: bool,
    backward: bool,
    /// Fraction of its depth at the start that a point may still be inside of the body.
    still_inside: f32,
    restitution: f32,
    /// Time (s) in which contacts settle.
    settling_time: f32,
}

impl Pass {
    /// Whether the two implicit passes move free strands (`free.rs`).
    #[inline(always)]
    fn is_free(&self) -> bool {
        self.ends == Ends::Free
    }

    fn new(settings: &Settings, dt: f32, gravity: Vec3) -> Self {
        let carried_on = |damping: f32| 1.0 / (1.0 + damping * dt);
        Self {
            dt,
            gravity,
            is_styled: settings.style_time.values().any(f32::is_finite),
            bend: BendLimit::new(settings.bend_limit),
            tie: Tie::at(settings, 0.0, dt),
            min_carried_on: settings.damping.values().map(carried_on).fold(1.0, f32::min),
            ends: settings.ends,
            holds_tips: settings.holds_tips(),
            backward: settings.backward,
            still_inside: 0.0,
            restitution: settings.restitution,
            // Contacts of free strands do not age: no scalp says whether they rest.
            settling_time: if settings.ends == Ends::Free {
                f32::INFINITY
            } else {
                settings.settling_time
            },
        }
    }
}

/// Inputs of a step that all blocks share.
struct Prepared {
    pass: Pass,
    colliders: Vec<StepCollider>,
    groups: Vec<Group>,
}

impl Prepared {
    fn obstacles<'a>(&'a self, env: &'a Environment<'_>) -> Obstacles<'a> {
        let Self { colliders, groups, .. } = self;
        Obstacles { colliders, groups, field: env.field.as_ref() }
    }
}

/// Hair that moves by Follow-The-Leader.
pub struct FollowTheLeader {
    settings: Settings,
    /// Length of the steps that its constants are for (s).
    dt: f32,
    /// Gravity (m/s^2) of the last step.
    gravity: Vec3,
    level: Level,
    blocks: Vec<Block>,
    /// State of all blocks, one after the other.
    position: LineAligned,
    velocity: LineAligned,
    tension: LineAligned,
    contact: LineAligned,
    frame: LineAligned,
    /// Per row: which lanes hold a particle, and which of those may move.
    present: Vec<u16>,
    free: Vec<u16>,
    /// Mass of each particle (kg), in rows of sixteen numbers.
    mass: LineAligned,
    /// Position of each strand in the rows.
    places: LanePlaces,
    /// Shared inputs of each of the next steps.
    prepared: Vec<Prepared>,
    /// Time (s) since hair was put on its rest shape; until [`TIME_OUT`] points that began inside are pushed out.
    since_reset: f32,
    /// Memory for the results of the first of two passes, one for each task.
    scratch: Vec<LineAligned>,
    /// Whether blocks have room for pins.
    pins: bool,
}

/// Time (s) in which hair that begins inside of the body is pushed out: half a second, so that 5 mm a frame (60 a
/// second) push out what is 15 cm deep, more than half of a head.
const TIME_OUT: f32 = 0.5;

/// Blocks that one task advances: some ten thousand particles, so that handing out tasks costs little.
const BLOCKS_PER_TASK: usize = 24;

impl FollowTheLeader {
    /// Lays a groom out in lanes.
    pub fn new(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        settings.check_one_way(groom)?;
        let order = order_for_lanes(
            groom.strands.strand_count(),
            |s| (groom.strands.points_of(s).len(), groom.embedded[s]),
            |s| groom.strands.strand(s)[0],
            groom.strands.bounds().unwrap_or_default(),
        );
        let blocks: Vec<Block> = order
            .par_chunks(LANES)
            .map(|strands| Block::new(groom, strands, settings, dt, gravity))
            .collect();
        let rows: usize = blocks.iter().map(|b| b.points).sum();
        let in_lanes = blocks.iter().map(|b| (&b.strands[..b.lanes], b.points));
        let mut model = Self {
            settings: settings.clone(),
            dt,
            gravity,
            level: Level::new(),
            position: LineAligned::zeros(rows * VECTOR),
            velocity: LineAligned::zeros(rows * VECTOR),
            tension: LineAligned::zeros(rows * LANES),
            contact: LineAligned::zeros(if settings.backward { rows * resting::MEMORY } else { 0 }),
            frame: LineAligned::zeros(if settings.backward { rows * frames::FRAME } else { 0 }),
            present: vec![0; rows],
            free: vec![0; rows],
            mass: LineAligned::zeros(rows * LANES),
            places: LanePlaces::new(groom.strands.first_points(), in_lanes),
            prepared: Vec::new(),
            since_reset: 0.0,
            scratch: Vec::new(),
            pins: false,
            blocks,
        };
        let longest = model.blocks.iter().map(|b| b.points).max().unwrap_or(0);
        let room = longest * if settings.backward { articulated::ROOM } else { 2 * VECTOR };
        let tasks = model.blocks.len().div_ceil(BLOCKS_PER_TASK);
        model.scratch.resize_with(tasks, || LineAligned::zeros(room));
        let mut first = 0;
        for block in &model.blocks {
            for l in 0..block.lanes {
                let strand = block.strands[l] as usize;
                let last = block.last[l] as usize;
                for i in 0..=last {
                    model.present[first + i] |= 1 << l;
                    let moves = i as f32 > block.last_embedded[l];
                    model.free[first + i] |= u16::from(moves) << l;
                    let line = groom.strands.strand(strand);
                    let inner = if i > 0 { line[i].distance(line[i - 1]) } else { 0.0 };
                    let outer = if i < last { line[i].distance(line[i + 1]) } else { 0.0 };
                    let radius = groom.radius[groom.strands.points_of(strand).start + i];
                    model.mass[(first + i) * LANES + l] =
                        0.5 * (inner + outer) * groom.fibre.mass_per_length(radius);
                }
            }
            first += block.points;
        }
        model.reset(&vec![RigidTransform::IDENTITY; groom.strands.strand_count()]);
        Ok(model)
    }

    /// Frames of the segments of a strand, root first (`frames.rs`).
    #[cfg(test)]
    fn frames_of(&self, strand: usize) -> Vec<glam::Quat> {
        let (row, lane) = self.places.of_lines()[strand];
        let points = self.places.points_of(strand).len();
        let rows = &self.frame.as_chunks::<{ frames::FRAME }>().0[row as usize..];
        let number = |row: &[f32; frames::FRAME], k: usize| row[k * LANES + usize::from(lane)];
        let of = |row| {
            glam::Quat::from_xyzw(number(row, 1), number(row, 2), number(row, 3), number(row, 0))
        };
        rows[..points].iter().map(of).collect()
    }

    /// Resets the age of all contacts: the forces on hair have changed (`ageing.rs`).
    fn renew_contacts(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.ages = Ages::default());
    }

    /// Prepares the shared inputs of step `k` of the next steps.
    fn prepare(
        &mut self,
        k: usize,
        env: &Environment<'_>,
        prepared: &mut Vec<Prepared>,
        report: &mut StepReport,
    ) {
        let mut pass = Pass::new(&self.settings, env.dt, env.gravity);
        if self.gravity != env.gravity {
            self.gravity = env.gravity;
            self.renew_contacts();
        }
        let began = self.since_reset == 0.0 && self.settings.backward;
        self.since_reset = (self.since_reset + env.dt).min(TIME_OUT);
        pass.still_inside = 1.0 - self.since_reset / TIME_OUT;
        if k == prepared.len() {
            prepared.push(Prepared { pass, colliders: Vec::new(), groups: Vec::new() });
        }
        let step = &mut prepared[k];
        step.pass = pass;
        step.colliders.clear();
        step.colliders.extend(env.colliders.iter().map(|c| StepCollider::new(c, env.dt)));
        Group::lay_out(&step.colliders, &mut step.groups);
        // Find points that begin inside of the body; they are pushed out gradually.
        if began {
            let obstacles = step.obstacles(env);
            for block in &mut self.blocks {
                let (count, deepest) = block.measure_depth(env.world_from_rest, &obstacles);
                report.began_inside += count;
                report.began_inside_depth = report.began_inside_depth.max(deepest);
            }
        }
    }

    /// Calls `work` for every block with its rows, scratch memory of its own, and the next rows to prefetch.
    fn for_each_block(
        &mut self,
        work: impl Fn(&mut Block, Rows<'_>, &mut [f32], Upcoming<'_>) + Sync,
    ) {
        let rows = Rows {
            position: &mut self.position,
            velocity: &mut self.velocity,
            tension: &mut self.tension,
            contact: &mut self.contact,
            frame: &mut self.frame,
        };
        in_halves(self.level, &mut self.blocks, rows, &mut self.scratch, &work);
    }
}

/// Splits the blocks recursively into tasks: the pieces depend on the groom only.
fn in_halves(
    level: Level,
    blocks: &mut [Block],
    rows: Rows<'_>,
    scratch: &mut [LineAligned],
    work: &(impl Fn(&mut Block, Rows<'_>, &mut [f32], Upcoming<'_>) + Sync),
) {
    let [first, ..] = scratch else { return };
    if blocks.len() <= BLOCKS_PER_TASK || rayon::current_num_threads() == 1 {
        let mut rest = rows;
        for b in 0..blocks.len() {
            let (done, next) = blocks.split_at_mut(b + 1);
            let (mine, others) = rest.split(done[b].points);
            let upcoming = next.first().map(|block| {
                prefetch_whole(level, block);
                Upcoming::new(block, &others)
            });
            work(&mut done[b], mine, first, upcoming.unwrap_or_default());
            rest = others;
        }
        return;
    }
    let tasks = scratch.len() / 2;
    let (a, b) = blocks.split_at_mut(tasks * BLOCKS_PER_TASK);
    let (scratch_a, scratch_b) = scratch.split_at_mut(tasks);
    let (rows_a, rows_b) = rows.split(a.iter().map(|block| block.points).sum());
    rayon::join(
        || in_halves(level, a, rows_a, scratch_a, work),
        || in_halves(level, b, rows_b, scratch_b, work),
    );
}

/// Advances one block with the kernel that fits it.
fn advance(
    level: Level,
    block: &Block,
    rows: Rows<'_>,
    pass: &Pass,
    obstacles: &Obstacles<'_>,
    scratch: &mut [f32],
    next: Upcoming<'_>,
) -> Outcome {
    use one_way::step_block;
    if pass.ends != Ends::Root && !pass.backward {
        return dispatch!(level,
            simd => other_ends::step_block(simd, block, rows, pass, obstacles, scratch));
    }
    if pass.backward {
        return dispatch!(level,
            simd => articulated::step_block(simd, block, rows, pass, obstacles, scratch, next));
    }
    if block.even {
        dispatch!(level, simd => step_block::<_, true>(simd, block, rows, pass, obstacles, next))
    } else {
        dispatch!(level, simd => step_block::<_, false>(simd, block, rows, pass, obstacles, next))
    }
}

impl Model for FollowTheLeader {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        let Settings { ends, backward, .. } = self.settings;
        let pins = CAPABILITIES.pins.filter(|_| backward && ends != Ends::Free);
        Capabilities { pins, ..CAPABILITIES }
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        self.steps(std::slice::from_ref(env), report);
    }

    fn steps(&mut self, steps: &[Environment<'_>], report: &mut StepReport) {
        let level = self.level;
        let mut prepared = std::mem::take(&mut self.prepared);
        if steps.iter().any(|env| !env.pins.is_empty()) && !std::mem::replace(&mut self.pins, true)
        {
            self.blocks.iter_mut().for_each(Block::make_room_for_pins);
        }
        for steps in steps.chunks(MAX_STEPS) {
            for (k, env) in steps.iter().enumerate() {
                self.prepare(k, env, &mut prepared, report);
            }
            // Advance the blocks in any order: they are independent.
            self.for_each_block(|block, mut rows, scratch, next| {
                for (k, (env, step)) in steps.iter().zip(&prepared).enumerate() {
                    let next = if k + 1 == steps.len() { next } else { Upcoming::default() };
                    dispatch!(level, simd => block.load_roots(simd, env, rows.position));
                    let (mine, obstacles) = (rows.reborrow(), step.obstacles(env));
                    block.load_pins(env, mine.contact, &step.pass, &obstacles);
                    if step.pass.backward && step.pass.is_free() {
                        let (x, v) = (&*mine.position, &*mine.velocity);
                        block.load_free_frames(x, v, mine.frame, &step.pass);
                    }
                    let mut outcome =
                        advance(level, block, mine, &step.pass, &obstacles, scratch, next);
                    outcome.broken |= block.without_pose;
                    if !block.pins.is_empty() {
                        block.hold_pins(&mut rows, &step.pass, &obstacles);
                    }
                    if step.pass.holds_tips {
                        block.tips = block.report_tips(rows.position);
                    }
                    if step.pass.backward {
                        block.age_contacts(&outcome, &step.pass);
                    }
                    for lane in lanes_of(outcome.broken) {
                        let mut root = block.root_of(lane);
                        if step.pass.is_free() {
                            // Put it back on the scalp.
                            let pose = env.world_from_rest[block.strands[lane] as usize];
                            root = if pose.is_finite() { pose } else { RigidTransform::IDENTITY };
                            block.set_root(lane, &root);
                        }
                        rows.reset_lane(block, lane, &root);
                        block.forget_pins(lane);
                        block.ages.set(lane, Age::default(), step.pass.settling_time);
                    }
                    block.outcome[k] = outcome;
                }
            });
            for k in 0..steps.len() {
                for block in &self.blocks {
                    let Outcome { unresolved, broken, .. } = block.outcome[k];
                    report.add(unresolved, broken, &block.strands[..block.lanes]);
                }
            }
        }
        self.prepared = prepared;
        report.ends = PinReport::default();
        self.blocks.iter().for_each(|block| report.ends.merge(&block.tips));
    }

    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.since_reset = 0.0;
        self.for_each_block(|block, mut rows, _, _| {
            for lane in 0..LANES {
                let root = &world_from_rest[block.strands[lane] as usize];
                block.set_root(lane, root);
                block.forget_pins(lane);
                block.ages.set(lane, Age::default(), f32::INFINITY);
                rows.reset_lane(block, lane, root);
            }
        });
    }

    fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]) {
        let is_free = self.settings.is_free();
        self.for_each_block(|block, mut rows, _, _| {
            for lane in 0..LANES {
                let strand = block.strands[lane] as usize;
                let motion = to[strand] * from[strand].inverse();
                rows.carry_lane(block, lane, &motion);
                if is_free {
                    free::turn(rows.frame, lane, motion.rotation);
                }
                block.turn_pins(lane, |force| motion.direction(force));
                block.set_root(lane, &to[strand]);
            }
        });
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.places.write_blocks(out, &LaneRows(&self.position));
    }

    fn velocities(&self, out: &mut [Vec3]) {
        self.places.write_blocks(out, &LaneRows(&self.velocity));
    }

    fn strand_lanes(&self) -> Option<StrandLanes<'_>> {
        let Self { places, position, velocity, .. } = self;
        let is_free = self.settings.ends == Ends::Free;
        Some(StrandLanes { places, position, velocity, is_free })
    }

    fn lender(&mut self) -> Option<&mut dyn Lender> {
        Some(self)
    }

    fn change(&mut self, settings: &ModelSettings, _: &Groom) -> Result<bool> {
        let ModelSettings::FollowTheLeader(settings) = settings else { return Ok(false) };
        settings.validate()?;
        let even = |s: &Settings| s.is_tied_evenly() && s.backward;
        // Parameters of layout and masses need a new model; the others are read in every step, except for the goal.
        let now = &self.settings;
        let same = now.ends == settings.ends
            && now.correction == settings.correction
            && now.correction_form == settings.correction_form
            && now.hold_shape == settings.hold_shape
            && now.bend_limit == settings.bend_limit;
        if !(same && even(now) && even(settings)) {
            return Ok(false);
        }
        let dt = self.dt;
        let spring = |s: &Settings| Tie::at(s, 0.0, dt).spring;
        let by = spring(settings) - spring(now);
        let length = settings.style_length * settings.style_length;
        self.blocks.iter_mut().for_each(|block| block.restyle(by, length));
        self.settings.clone_from(settings);
        self.renew_contacts();
        Ok(true)
    }

    fn renumber_colliders(&mut self) {
        for row in self.contact.as_chunks_mut::<{ resting::MEMORY }>().0 {
            (0..LANES).for_each(|lane| resting::forget(row, lane));
        }
        self.renew_contacts();
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.save_state(out);
    }

    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()> {
        self.restore_state(bytes, world_from_rest)
    }
}

#[cfg(test)]
mod tests;
