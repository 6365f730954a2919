//! Checkpoints: all state that a run needs to continue after the last frame with the same bits.

use glam::{DVec3, Quat, Vec3};

use super::bodies::SavedBody;
use super::pins::AllPins;
use super::roots::{InvalidRoots, Roots};
use super::{Simulation, hash_positions};
use crate::body::{BodyPose, PoseKeys};
use crate::environment::Gusts;
use crate::math::RigidTransform;
use crate::math::bytes::{Reader, put_floats, put_u32, put_u64};
use crate::model::StepReport;
use crate::{Error, Result};

/// The state of a driven body in a checkpoint.
struct Driven {
    /// Time beyond the last step (s).
    ahead: f64,
    /// Where the origin is (m).
    origin: DVec3,
    keys: Option<Box<PoseKeys>>,
    /// Length of the last substep (s).
    dt: f32,
    /// Roots of strands before that substep; roots of strands and of what the model moves after it.
    roots: [Vec<RigidTransform>; 3],
    /// Vertices of the body's surface then (m), where hair collides with it.
    vertices: Vec<Vec3>,
}

/// Invalid roots of strands and of what the model moves, poses of colliders, and other bodies.
type Posed = ([InvalidRoots; 2], Vec<RigidTransform>, Vec<SavedBody>);

const MAGIC: &[u8; 8] = b"coifsim4";

impl Simulation {
    /// The state as bytes: number of steps, report so far, contacts, growth, poses that do not follow from the body, pins, and
    /// the model's own state.
    pub fn checkpoint(&self) -> Vec<u8> {
        let name = self.model.name().as_bytes();
        let mut out = MAGIC.to_vec();
        out.push(name.len() as u8);
        out.extend_from_slice(name);
        put_u64(&mut out, self.groom_hash());
        put_u64(&mut out, self.steps);
        let Gusts { drifted, since } = self.gusts;
        let gusts = [drifted.x, drifted.y, drifted.z, since];
        gusts.iter().for_each(|number| put_u64(&mut out, number.to_bits()));
        put_u64(&mut out, self.report.unresolved);
        put_u64(&mut out, self.report.quarantined.len() as u64);
        for strand in &self.report.quarantined {
            put_u32(&mut out, *strand);
        }
        // Springs between hairs, the clearances of growth and poses come before the model, whose state is the rest of the bytes.
        let mut section = Vec::new();
        self.contacts.save(&mut section);
        put_section(&mut out, &section);
        section.clear();
        self.growth.save(&mut section);
        put_section(&mut out, &section);
        section.clear();
        self.invalid_roots().iter().for_each(|invalid| put_invalid(&mut section, invalid));
        self.colliders.poses().iter().for_each(|pose| put_pose(&mut section, pose));
        self.bodies.save(&mut section);
        put_section(&mut out, &section);
        section.clear();
        self.save_driven(&mut section);
        put_section(&mut out, &section);
        section.clear();
        self.pins.save(&mut section);
        put_section(&mut out, &section);
        self.model.save(&mut out);
        out
    }

    /// Restores a checkpoint of a simulation of the same groom with the same model. On error
    /// nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let mut reader = Reader(bytes);
        if reader.take(8).ok_or_else(cut_off)? != MAGIC {
            return Err(Error::BadCheckpoint("it is no checkpoint of a simulation".into()));
        }
        let name_length = usize::from(reader.u8().ok_or_else(cut_off)?);
        let name =
            String::from_utf8_lossy(reader.take(name_length).ok_or_else(cut_off)?).into_owned();
        if name != self.model.name() {
            let this = self.model.name();
            return Err(Error::BadCheckpoint(format!("it is of model '{name}', this is '{this}'")));
        }
        if reader.u64().ok_or_else(cut_off)? != self.groom_hash() {
            return Err(Error::BadCheckpoint("it is of another groom".into()));
        }
        let steps = reader.u64().ok_or_else(cut_off)?;
        let mut number = || reader.f64().filter(|number| number.is_finite()).ok_or_else(cut_off);
        let drifted = DVec3::new(number()?, number()?, number()?);
        let gusts = Gusts { drifted, since: number()? };
        let unresolved = reader.u64().ok_or_else(cut_off)?;
        let count = reader.u64().ok_or_else(cut_off)?;
        let bytes = usize::try_from(count).ok().and_then(|n| n.checked_mul(4));
        let mut quarantined = Reader(bytes.and_then(|n| reader.take(n)).ok_or_else(cut_off)?);
        let quarantined = std::iter::from_fn(|| quarantined.u32()).collect();
        let springs = take_part(&mut reader).ok_or_else(cut_off)?;
        let grown = take_part(&mut reader).ok_or_else(cut_off)?;
        let Some(grown) = self.growth.read(grown) else {
            return Err(Error::BadCheckpoint("its strands are not placed as these".into()));
        };
        let posed = take_part(&mut reader).and_then(|posed| self.read_posed(posed));
        let (invalid, colliders, bodies) = posed.ok_or_else(|| {
            Error::BadCheckpoint("it is cut off, or of other colliders or bodies".into())
        })?;
        let driven = take_part(&mut reader).and_then(|driven| self.read_driven(driven));
        let mut driven = driven.ok_or_else(|| {
            Error::BadCheckpoint("its body was driven in another way than this one can be".into())
        })?;
        let pins = take_part(&mut reader).and_then(|pins| self.read_pins(pins));
        let pins = pins.ok_or_else(|| {
            Error::BadCheckpoint("its pins are not on these strands and this body".into())
        })?;
        // Keep the present springs, in case the model refuses its state.
        let mut kept = Vec::new();
        self.contacts.save(&mut kept);
        if !self.contacts.restore(springs) {
            self.contacts.restore(&kept);
            return Err(Error::BadCheckpoint("its springs between hairs are not these".into()));
        }
        let present_invalid = self.invalid_roots();
        let present_steps = std::mem::replace(&mut self.steps, steps);
        let present = self.driven();
        let vertices = std::mem::take(&mut driven.vertices);
        self.set_driven(driven);
        self.place_invalid(&invalid);
        let poses = super::poses(&self.roots, self.primitives.as_ref());
        if let Err(error) = self.model.restore(reader.0, poses) {
            self.steps = present_steps;
            self.set_driven(present);
            self.place_invalid(&present_invalid);
            self.contacts.restore(&kept);
            return Err(error);
        }
        self.growth.restore(grown);
        (self.pins, self.gusts) = (pins, gusts);
        self.forget_places();
        self.health.forget();
        self.report = StepReport { quarantined, unresolved, ..StepReport::default() };
        self.colliders.set_poses(colliders);
        let time = self.step_time();
        match &mut self.surface {
            Some(surface) if self.keys.is_some() => surface.reset_to(&vertices),
            Some(surface) => surface.reset(&self.body, BodyPose::At(time), Vec3::ZERO),
            None => {}
        }
        self.bodies.restore(bodies);
        self.draw();
        Ok(())
    }

    /// The state of the driven body.
    fn driven(&self) -> Driven {
        let primitives = self.primitives.as_ref().map(|roots| roots.world_from_rest().to_vec());
        Driven {
            ahead: self.ahead,
            origin: self.origin,
            keys: self.keys.clone(),
            dt: self.drawn.dt,
            roots: [
                self.drawn.before.clone(),
                self.roots.world_from_rest().to_vec(),
                primitives.unwrap_or_default(),
            ],
            vertices: self.surface.as_ref().map_or(Vec::new(), |s| s.vertices().to_vec()),
        }
    }

    /// Appends the state of a driven body; nothing if the body is not driven.
    fn save_driven(&self, out: &mut Vec<u8>) {
        let Driven { ahead, origin, keys, dt, roots, vertices } = self.driven();
        let Some(keys) = keys else { return };
        let [x, y, z] = origin.to_array();
        [ahead, x, y, z].iter().for_each(|number| put_u64(out, number.to_bits()));
        put_floats(out, [dt]);
        roots.iter().flatten().for_each(|pose| put_pose(out, pose));
        put_floats(out, vertices.iter().flat_map(|p| p.to_array()));
        keys.save(out);
    }

    /// Reads what [`save_driven`](Self::save_driven) wrote; `None` if it is something else.
    fn read_driven(&self, bytes: &[u8]) -> Option<Driven> {
        let mut from = Reader(bytes);
        let [strands, primitives] =
            [self.roots.len(), self.primitives.as_ref().map_or(0, Roots::len)];
        if bytes.is_empty() {
            let (origin, roots) = (self.origin, [const { Vec::new() }; 3]);
            let vertices = Vec::new();
            return Some(Driven { ahead: 0.0, origin, keys: None, dt: 0.0, roots, vertices });
        }
        let mut number = || Some(f64::from_bits(from.u64()?)).filter(|number| number.is_finite());
        let ahead = number()?;
        let origin = DVec3::new(number()?, number()?, number()?);
        let dt = from.f32()?;
        let mut poses = |count: usize| {
            let poses = (0..count).map(|_| take_pose(&mut from).filter(|pose| pose.is_finite()));
            poses.collect::<Option<Vec<_>>>()
        };
        let moved = if self.primitives.is_some() { primitives } else { strands };
        let roots = [poses(moved)?, poses(strands)?, poses(primitives)?];
        let count = self.surface.as_ref().map_or(0, |surface| surface.vertices().len());
        let numbers: Vec<f32> = from.floats(3 * count)?.collect();
        let vertices = numbers.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect();
        let keys = Some(Box::new(PoseKeys::read(&mut from, &self.body)?));
        let fits = from.0.is_empty() && ahead >= 0.0 && dt > 0.0;
        fits.then_some(Driven { ahead, origin, keys, dt, roots, vertices })
    }

    /// Restores the pose of the body: the one it was driven to, or that of its own animation.
    fn set_driven(&mut self, driven: Driven) {
        let [before, strands, primitives] = driven.roots;
        (self.ahead, self.origin, self.keys) = (driven.ahead, driven.origin, driven.keys);
        (self.drawn.dt, self.drawn.before) = (driven.dt, before);
        self.follow_body();
        if self.keys.is_some() {
            self.roots.set_world_from_rest(strands);
            self.primitives
                .iter_mut()
                .for_each(|roots| roots.set_world_from_rest(primitives.clone()));
        }
    }

    /// Invalid roots of strands, and of what the model moves.
    fn invalid_roots(&self) -> [InvalidRoots; 2] {
        [self.roots.invalid(), self.primitives.as_ref().map(Roots::invalid).unwrap_or_default()]
    }

    fn place_invalid(&mut self, invalid: &[InvalidRoots; 2]) {
        for (roots, invalid) in
            std::iter::once(&mut self.roots).chain(&mut self.primitives).zip(invalid)
        {
            roots.place_invalid(invalid);
        }
    }

    /// Invalid roots, poses of colliders and other bodies from a checkpoint; `None` if it is something else.
    fn read_posed(&self, bytes: &[u8]) -> Option<Posed> {
        let mut from = Reader(bytes);
        let strands = take_invalid(&mut from, self.roots.len())?;
        let primitives = take_invalid(&mut from, self.primitives.as_ref().map_or(0, Roots::len))?;
        let colliders =
            self.colliders.poses().iter().map(|_| take_pose(&mut from)).collect::<Option<_>>()?;
        let bodies = self.bodies.read(&mut from)?;
        from.0.is_empty().then_some(([strands, primitives], colliders, bodies))
    }

    /// Reads what [`AllPins::save`] wrote; `None` if it does not fit this simulation.
    fn read_pins(&self, bytes: &[u8]) -> Option<AllPins> {
        let bones = self.body.bones().unwrap_or(0);
        let can = self.model.capabilities().pins.is_some();
        let points = |s: usize| self.groom.strands.points_of(s).len();
        let fits = |strand: usize, point: usize| {
            can && strand < self.groom.strands.strand_count() && point < points(strand)
        };
        AllPins::read(bytes, bones, fits)
    }

    fn groom_hash(&self) -> u64 {
        hash_positions(self.groom.strands.positions())
    }
}

/// Appends bytes with their number before them.
fn put_section(out: &mut Vec<u8>, section: &[u8]) {
    put_u64(out, section.len() as u64);
    out.extend_from_slice(section);
}

/// Reads what [`put_section`] wrote.
fn take_part<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(reader.u64()?).ok()?;
    reader.take(length)
}

/// Appends invalid roots: their number, and name and pose of each.
fn put_invalid(out: &mut Vec<u8>, invalid: &InvalidRoots) {
    put_u64(out, invalid.len() as u64);
    for (root, pose) in invalid {
        put_u32(out, *root as u32);
        put_pose(out, pose);
    }
}

/// Reads what [`put_invalid`] wrote, of so many roots.
fn take_invalid(from: &mut Reader<'_>, count: usize) -> Option<InvalidRoots> {
    let number = usize::try_from(from.u64()?).ok().filter(|number| *number <= count)?;
    let mut one = || {
        let root = from.u32().filter(|root| (*root as usize) < count)?;
        Some((root as usize, take_pose(from)?))
    };
    (0..number).map(|_| one()).collect()
}

pub(super) fn put_pose(out: &mut Vec<u8>, pose: &RigidTransform) {
    put_floats(out, pose.rotation.to_array());
    put_floats(out, pose.translation.to_array());
}

pub(super) fn take_pose(from: &mut Reader<'_>) -> Option<RigidTransform> {
    let mut float = || from.f32();
    let [x, y, z, w] = [float()?, float()?, float()?, float()?];
    let translation = Vec3::new(float()?, float()?, float()?);
    Some(RigidTransform { rotation: Quat::from_xyzw(x, y, z, w), translation })
}

/// The error of bytes that end too early.
fn cut_off() -> Error {
    Error::BadCheckpoint("it is cut off".into())
}
