//! Pins: points of strands that are tied to a bone of the body, or to a pose set by the caller.
//!
//! The list of pins and the target of each point in a step are here, for every model. A model gets
//! [targets](crate::model::Pins) within reach of its strands, and adds only its own projection.

use glam::{Affine3A, Vec3};

use super::checkpoint::{put_pose, take_pose};
use super::path::Path;
use super::{Simulation, body_pose};
use crate::body::{Body, BodyPose};
use crate::groom::Groom;
use crate::math::bytes::{Reader, put_floats, put_u32};
use crate::math::{RigidTransform, WorldTransform, fit_rigid};
use crate::model::{ModelSettings, PinReport, PinTarget, Primitive};
use crate::{Error, Result};

/// Time (s) in which a point is moved back to its pin after a teleport that has separated the two: long against a step.
const RETURN_TIME: f32 = 0.25;

/// Relative tolerance of a strand's length: rounding of its points.
const ROUNDING: f32 = 2e-6;

/// Distance (m) of a point from its pin after a teleport that counts as rounding.
const PARTED: f32 = 1e-4;

/// What a point is pinned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// A bone of the body that hair grows on.
    Bone(usize),
    /// A pose set by the caller, by its number: the hand of another character, a comb, a ribbon. See
    /// [`Simulation::set_pin_pose`].
    Pose(u32),
}

/// An anchor with pins, or a pose that pins may use.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    anchor: Anchor,
    /// Path of a pose in the frame.
    path: Path,
    /// World from its own frame, at the end of the last step.
    now: Affine3A,
    /// Vertices whose rigid motion a bone follows if the body has no bone poses.
    vertices: Vec<usize>,
}

/// A point that is pinned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pin {
    strand: u32,
    point: u32,
    /// Index of the anchor among the hooks.
    hook: u32,
    /// Length of the strand up to there from the last point that the scalp carries (m).
    reach: f32,
    /// Start and end of its motion to the pin, in the frame of the anchor (m).
    from: Vec3,
    to: Vec3,
    /// Elapsed time and duration of that motion (s).
    elapsed: f32,
    over: f32,
    /// Its position at the end of the last step (m).
    target: Vec3,
}

impl Pin {
    /// Its current place, in the frame of the anchor (m).
    fn place(&self) -> Vec3 {
        if self.elapsed >= self.over {
            return self.to;
        }
        let t = self.elapsed / self.over;
        self.from.lerp(self.to, t * t * (3.0 - 2.0 * t))
    }

    /// Starts its motion from `here` (m) to where it is pinned.
    fn return_from(&mut self, here: Vec3, hook: &Hook) {
        self.target = here;
        let from = hook.now.inverse().transform_point3(here);
        if from.is_finite() && hook.now.transform_point3(self.to).distance(here) > PARTED {
            (self.from, self.elapsed, self.over) = (from, 0.0, self.over.max(RETURN_TIME));
        }
    }
}

/// All pins of a simulation.
#[derive(Debug, Clone, Default)]
pub(super) struct AllPins {
    pub(super) hooks: Vec<Hook>,
    /// By strand, then by point.
    pub(super) pins: Vec<Pin>,
    /// Positions of vertices: scratch.
    vertices: Vec<Vec3>,
}

impl Hook {
    /// Updates it from a pose of the body, and a fraction of the frame.
    fn follow(
        &mut self,
        body: &Body,
        pose: BodyPose<'_>,
        in_frame: f32,
        positions: &mut Vec<Vec3>,
    ) {
        let rigid =
            |t: RigidTransform| Affine3A::from_rotation_translation(t.rotation, t.translation);
        let bone = match self.anchor {
            Anchor::Pose(_) => {
                self.now = rigid(self.path.at(in_frame));
                return;
            }
            Anchor::Bone(bone) => bone,
        };
        if let Some(now) = body.bone_in(pose, bone) {
            self.now = now;
            return;
        }
        if self.vertices.is_empty() {
            self.vertices = body.vertices_of_bone(bone);
        }
        let (mut from, mut to) = ([Vec3::ZERO; 64], [Vec3::ZERO; 64]);
        let count = self.vertices.len().min(64);
        positions.clear();
        body.vertices_in(pose, self.vertices.iter().copied(), &mut Vec::new(), positions);
        for (i, &v) in self.vertices[..count].iter().enumerate() {
            (from[i], to[i]) = (body.rest().positions[v], positions[i]);
        }
        self.now = rigid(fit_rigid(&from[..count], &to[..count]));
    }
}

impl AllPins {
    pub(super) fn is_empty(&self) -> bool {
        self.pins.is_empty()
    }

    /// Whether any pose moves in this frame, or any point is moving to its pin.
    pub(super) fn any_moves(&self) -> bool {
        let moves = |hook: &Hook| hook.path.moves();
        !self.pins.is_empty()
            && (self.hooks.iter().any(moves) || self.pins.iter().any(|p| p.elapsed < p.over))
    }

    /// Ends a frame: poses are at its end.
    pub(super) fn arrive(&mut self) {
        self.hooks.iter_mut().for_each(|hook| hook.path.arrive());
    }

    /// Moves everything by `by` (m): the origin has moved by its negative.
    pub(super) fn shift(&mut self, by: Vec3) {
        for hook in &mut self.hooks {
            hook.path.shift(by);
            hook.now.translation += glam::Vec3A::from(by);
        }
        self.pins.iter_mut().for_each(|pin| pin.target += by);
    }

    /// Updates all anchors from a pose of the body, and a fraction of the frame.
    pub(super) fn follow(&mut self, body: &Body, pose: BodyPose<'_>, in_frame: f32) {
        for hook in &mut self.hooks {
            hook.follow(body, pose, in_frame, &mut self.vertices);
        }
    }

    /// Writes the targets of a step of `dt` (s) at whose end roots are at `world_from_rest`.
    pub(super) fn targets(
        &mut self,
        dt: f32,
        groom: &Groom,
        min_embedded: usize,
        world_from_rest: &[RigidTransform],
        out: &mut Vec<PinTarget>,
    ) -> PinReport {
        out.clear();
        let mut report = PinReport::default();
        // The pin before, or the last point that the scalp carries: strand, place, length of the strand up to there.
        let mut before = (u32::MAX, Vec3::ZERO, 0.0);
        for pin in &mut self.pins {
            pin.elapsed = (pin.elapsed + dt).min(pin.over);
            let s = pin.strand as usize;
            if before.0 != pin.strand {
                let root = groom.strands.strand(s)[embedded(groom, s, min_embedded) - 1];
                before = (pin.strand, world_from_rest[s].point(root), 0.0);
            }
            let wanted = self.hooks[pin.hook as usize].now.transform_point3(pin.place());
            let (reach, path) = ((pin.reach - before.2).max(0.0), wanted - before.1);
            let distance = path.length();
            let mut end = wanted;
            report.add(pin.strand, distance - reach, reach * ROUNDING);
            if distance > reach * (1.0 + ROUNDING) {
                end = before.1 + path * (reach / distance);
            }
            // An anchor without a finite pose keeps its last target.
            if !end.is_finite() {
                end = pin.target;
            }
            let Pin { strand, point, target: start, .. } = *pin;
            out.push(PinTarget { strand, point, start, end });
            pin.target = end;
            before = (pin.strand, end, pin.reach);
        }
        report
    }

    /// Moves pins with a teleport of the hair from one pose of its roots to another; the
    /// body is there already. Where an anchor has moved differently, points are moved to it over [`RETURN_TIME`].
    pub(super) fn jump(
        &mut self,
        body: &Body,
        pose: BodyPose<'_>,
        [from, to]: [&[RigidTransform]; 2],
    ) {
        let motion = |s: usize| to[s] * from[s].inverse();
        for (h, hook) in self.hooks.iter_mut().enumerate() {
            // A pose moves with the first strand that is pinned to it.
            let hangs = self.pins.iter().find(|pin| pin.hook as usize == h);
            let motion = motion(hangs.map_or(0, |pin| pin.strand as usize));
            if let Anchor::Pose(_) = hook.anchor {
                let (turn, place) = (hook.now.matrix3, hook.now.translation);
                let rotation = glam::Quat::from_mat3a(&turn);
                let here = RigidTransform { rotation, translation: place.into() };
                hook.path = Path::still(motion * here);
            }
            hook.follow(body, pose, 1.0, &mut self.vertices);
        }
        for pin in &mut self.pins {
            let here = motion(pin.strand as usize).point(pin.target);
            pin.return_from(here, &self.hooks[pin.hook as usize]);
        }
    }

    /// Starts the motion of points that have been reset to their rest shape to their pins: those of one strand, or of all.
    pub(super) fn return_from_rest(
        &mut self,
        strand: Option<u32>,
        groom: &Groom,
        world_from_rest: &[RigidTransform],
    ) {
        let of = |pin: &&mut Pin| strand.is_none_or(|strand| pin.strand == strand);
        for pin in self.pins.iter_mut().filter(of) {
            let s = pin.strand as usize;
            let rest = groom.strands.strand(s)[pin.point as usize];
            pin.return_from(world_from_rest[s].point(rest), &self.hooks[pin.hook as usize]);
        }
    }

    /// Unpins all points of a hook, and removes it.
    fn remove(&mut self, hook: usize) {
        self.hooks.remove(hook);
        self.pins.retain(|pin| pin.hook as usize != hook);
        for pin in self.pins.iter_mut().filter(|pin| pin.hook as usize > hook) {
            pin.hook -= 1;
        }
    }

    /// Appends all of it, for a checkpoint.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        put_u32(out, self.hooks.len() as u32);
        for Hook { anchor, path, now, .. } in &self.hooks {
            let (kind, number) = match anchor {
                Anchor::Bone(bone) => (0, *bone as u32),
                Anchor::Pose(id) => (1, *id),
            };
            put_u32(out, kind);
            put_u32(out, number);
            put_pose(out, &path.start);
            put_pose(out, &path.end);
            put_floats(out, now.to_cols_array());
        }
        for pin in &self.pins {
            [pin.strand, pin.point, pin.hook].iter().for_each(|number| put_u32(out, *number));
            put_floats(out, [pin.reach, pin.elapsed, pin.over]);
            put_floats(out, [pin.from, pin.to, pin.target].iter().flat_map(|v| v.to_array()));
        }
    }

    /// Reads what [`save`](Self::save) wrote, for so many bones; `fits` tests whether a strand and point exist.
    pub(super) fn read(
        bytes: &[u8],
        bones: usize,
        fits: impl Fn(usize, usize) -> bool,
    ) -> Option<Self> {
        let mut from = Reader(bytes);
        let mut all = Self::default();
        for _ in 0..from.u32()? {
            let anchor = match (from.u32()?, from.u32()?) {
                (0, bone) if (bone as usize) < bones => Anchor::Bone(bone as usize),
                (1, id) => Anchor::Pose(id),
                _ => return None,
            };
            let mut pose = || take_pose(&mut from).filter(|pose| pose.is_finite());
            let path = Path { start: pose()?, end: pose()? };
            let numbers: Vec<f32> = from.floats(12)?.collect();
            let now = Affine3A::from_cols_slice(&numbers);
            all.hooks.push(Hook { anchor, path, now, vertices: Vec::new() });
        }
        while !from.0.is_empty() {
            let [strand, point, hook] = [from.u32()?, from.u32()?, from.u32()?];
            let mut number = || from.f32().filter(|number| number.is_finite());
            let [reach, elapsed, over] = [number()?, number()?, number()?];
            let mut vector = || Some(Vec3::new(number()?, number()?, number()?));
            let (from, to, target) = (vector()?, vector()?, vector()?);
            let last = all.pins.last().map(|pin: &Pin| (pin.strand, pin.point));
            let sorted = last.is_none_or(|last| last < (strand, point));
            if !sorted || hook as usize >= all.hooks.len() || !fits(strand as usize, point as usize)
            {
                return None;
            }
            all.pins.push(Pin { strand, point, hook, reach, from, to, elapsed, over, target });
        }
        Some(all)
    }

    fn at(&self, strand: usize, point: usize) -> std::result::Result<usize, usize> {
        let of = |pin: &Pin| (pin.strand as usize, pin.point as usize);
        self.pins.binary_search_by_key(&(strand, point), of)
    }
}

/// Number of points of a strand that the scalp carries, at least `min`.
fn embedded(groom: &Groom, strand: usize, min: usize) -> usize {
    let points = groom.strands.points_of(strand).len();
    (groom.embedded[strand] as usize).max(min).clamp(1, points - 1)
}

impl Simulation {
    /// Pins a point of a strand, counted from its root, where it is now: from then on it stays at that place of the
    /// anchor. A point that was pinned is pinned anew. Nothing jumps; a point that moves is stopped.
    ///
    /// Where the anchor goes farther than the strand reaches, length wins: see
    /// [`StepReport::pins`](crate::model::StepReport::pins). A pinned point goes where its pin takes it, also into the
    /// body. On error nothing has changed.
    pub fn pin(&mut self, strand: usize, point: usize, anchor: Anchor) -> Result<()> {
        self.tie(strand, point, anchor, None)
    }

    /// Pins a point of a strand to a place in the frame of the anchor (m), and moves it there within a time (s). For a bone
    /// the frame is the rest shape of the body.
    pub fn pin_at(
        &mut self,
        strand: usize,
        point: usize,
        anchor: Anchor,
        place: Vec3,
        seconds: f32,
    ) -> Result<()> {
        let finite = place.is_finite() && seconds.is_finite() && seconds >= 0.0;
        if !finite {
            let problem = "expected a finite place, and a time of zero or more".into();
            return Err(Error::Pin { strand, point, problem });
        }
        self.tie(strand, point, anchor, Some((place, seconds)))
    }

    /// Releases a point, which keeps its velocity. Returns whether it was pinned.
    pub fn unpin(&mut self, strand: usize, point: usize) -> bool {
        let found = self.pins.at(strand, point);
        if let Ok(index) = found {
            self.pins.pins.remove(index);
            self.wake_if(true);
        }
        found.is_ok()
    }

    /// Releases all points.
    pub fn unpin_all(&mut self) {
        self.wake_if(!self.pins.is_empty());
        self.pins.pins.clear();
    }

    /// The points that are pinned: strand, point, and anchor.
    pub fn pins(&self) -> impl Iterator<Item = (usize, usize, Anchor)> + '_ {
        let anchor = |pin: &Pin| self.pins.hooks[pin.hook as usize].anchor;
        self.pins.pins.iter().map(move |pin| (pin.strand as usize, pin.point as usize, anchor(pin)))
    }

    /// Sets a pose that points may be pinned to, as it is at the end of the next frame. One that was not there before
    /// appears at rest; the others move from where they were, with the next [`drive`](Self::drive) or with the next step.
    pub fn set_pin_pose(&mut self, id: u32, pose: WorldTransform) -> Result<()> {
        if !(pose.is_finite() && pose.rotation.length_squared() > 1e-6) {
            return Err(Error::PoseNotFinite { what: format!("pose {id} of pins") });
        }
        let pose = WorldTransform { rotation: pose.rotation.normalize(), ..pose };
        let pose = pose.relative_to(self.origin);
        let anchor = Anchor::Pose(id);
        match self.pins.hooks.iter_mut().find(|hook| hook.anchor == anchor) {
            Some(hook) => hook.path.end = pose,
            None => {
                let now = Affine3A::from_rotation_translation(pose.rotation, pose.translation);
                let path = Path::still(pose);
                self.pins.hooks.push(Hook { anchor, path, now, vertices: Vec::new() });
            }
        }
        Ok(())
    }

    /// Removes a pose, and releases everything pinned to it. Returns whether it existed.
    pub fn remove_pin_pose(&mut self, id: u32) -> bool {
        let found = self.pins.hooks.iter().position(|hook| hook.anchor == Anchor::Pose(id));
        if let Some(hook) = found {
            self.pins.remove(hook);
            self.wake_if(true);
        }
        found.is_some()
    }

    fn tie(
        &mut self,
        strand: usize,
        point: usize,
        anchor: Anchor,
        place: Option<(Vec3, f32)>,
    ) -> Result<()> {
        let can = self.model.capabilities();
        let Some(min_embedded) = can.pins else {
            let because = match can.moves {
                Primitive::Strand => " with these parameters",
                Primitive::Strip => ", for it moves strips and not single strands",
                Primitive::HairMesh => ", for it moves a mesh and not single strands",
            };
            let expected = ModelSettings::taking_pins().join(", ");
            return Err(Error::NoPins { model: self.model.name(), because, expected });
        };
        let wrong = |problem: String| Err(Error::Pin { strand, point, problem });
        let strands = &self.groom.strands;
        let count = strands.strand_count();
        if strand >= count {
            return wrong(format!("there are {count} strands, counted from 0"));
        }
        let line = strands.strand(strand);
        let first = embedded(&self.groom, strand, min_embedded);
        if point < first || point >= line.len() {
            let last = line.len() - 1;
            return wrong(format!("expected a point from {first} to {last}, which hair moves"));
        }
        let reach = line[first - 1..=point].windows(2).map(|w| w[0].distance(w[1])).sum();
        let hook = match self.hook(anchor) {
            Ok(hook) => hook,
            Err(problem) => return wrong(problem),
        };
        // Compute the point's position at the end of the last step, also in the anchor's frame.
        self.grow_at_step();
        let target = self.grown[self.groom.strands.points_of(strand).start + point];
        let here = self.pins.hooks[hook].now.inverse().transform_point3(target);
        if !here.is_finite() {
            return wrong(
                "its anchor has no size: expected a bone that is not scaled to zero".into(),
            );
        }
        let (to, over) = place.unwrap_or((here, 0.0));
        let pin = Pin {
            strand: strand as u32,
            point: point as u32,
            hook: hook as u32,
            reach,
            from: here,
            to,
            elapsed: 0.0,
            over,
            target,
        };
        match self.pins.at(strand, point) {
            Ok(index) => self.pins.pins[index] = pin,
            Err(index) => self.pins.pins.insert(index, pin),
        }
        self.wake_if(true);
        Ok(())
    }

    /// The hook of an anchor; where it is at the end of the last step is known.
    fn hook(&mut self, anchor: Anchor) -> std::result::Result<usize, String> {
        if let Some(hook) = self.pins.hooks.iter().position(|hook| hook.anchor == anchor) {
            return Ok(hook);
        }
        let bone = match (anchor, self.body.bones()) {
            (Anchor::Bone(bone), Some(bones)) if bone < bones => bone,
            (Anchor::Bone(bone), Some(bones)) => {
                return Err(format!("bone {bone} is none of the {bones} of the body"));
            }
            (Anchor::Bone(_), None) => {
                return Err("the body has no bones: expected a pose (set_pin_pose)".into());
            }
            (Anchor::Pose(id), _) => {
                return Err(format!("pose {id} is nowhere: call set_pin_pose first"));
            }
        };
        let path = Path::still(RigidTransform::IDENTITY);
        let vertices = self.body.vertices_of_bone(bone);
        let mut hook = Hook { anchor, path, now: Affine3A::IDENTITY, vertices };
        if let Some(keys) = &mut self.keys {
            keys.set_fraction(self.step_fraction);
        }
        let pose = body_pose(&self.keys, self.step_time());
        hook.follow(&self.body, pose, 0.0, &mut self.pins.vertices);
        if let Some(keys) = &mut self.keys {
            keys.set_fraction(1.0);
        }
        self.pins.hooks.push(hook);
        Ok(self.pins.hooks.len() - 1)
    }
}
