//! Everything needed to go on after the last frame with the same bits.

use glam::{Quat, Vec3};

use super::roots::{InvalidRoots, Roots};
use super::{Simulation, hash_positions};
use crate::math::RigidTransform;
use crate::math::bytes::{Reader, put_floats, put_u32, put_u64};
use crate::model::StepReport;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"coifsim2";

impl Simulation {
    /// The state as bytes: number of steps, report so far, contacts, growth, poses that the body does not say, and the
    /// model's own state.
    pub fn checkpoint(&self) -> Vec<u8> {
        let name = self.model.name().as_bytes();
        let mut out = MAGIC.to_vec();
        out.push(name.len() as u8);
        out.extend_from_slice(name);
        put_u64(&mut out, self.groom_hash());
        put_u64(&mut out, self.steps);
        put_u64(&mut out, self.report.unresolved);
        put_u64(&mut out, self.report.quarantined.len() as u64);
        for strand in &self.report.quarantined {
            put_u32(&mut out, *strand);
        }
        // Springs between hairs, what growth has learnt and poses come before the model, which takes all that is left.
        let mut section = Vec::new();
        self.contacts.save(&mut section);
        put_section(&mut out, &section);
        section.clear();
        self.growth.save(&mut section);
        put_section(&mut out, &section);
        section.clear();
        self.invalid_roots().iter().for_each(|invalid| put_invalid(&mut section, invalid));
        self.poses[1].iter().for_each(|pose| put_pose(&mut section, pose));
        put_section(&mut out, &section);
        self.model.save(&mut out);
        out
    }

    /// Goes back to a checkpoint of a simulation of the same groom with the same model. On error
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
        let (invalid, colliders) = posed.ok_or_else(cut_off)?;
        // Keep the present springs, in case the model does not take its part.
        let mut kept = Vec::new();
        self.contacts.save(&mut kept);
        if !self.contacts.restore(springs) {
            self.contacts.restore(&kept);
            return Err(Error::BadCheckpoint("its springs between hairs are not these".into()));
        }
        let (present, present_invalid) = (self.time(), self.invalid_roots());
        self.follow_body(steps as f64 / f64::from(self.world.steps_per_second));
        self.place_invalid(&invalid);
        let poses = super::poses(&self.roots, self.primitives.as_ref());
        if let Err(error) = self.model.restore(reader.0, poses) {
            self.follow_body(present);
            self.place_invalid(&present_invalid);
            self.contacts.restore(&kept);
            return Err(error);
        }
        self.growth.restore(grown, &*self.model);
        self.steps = steps;
        self.is_grown = false;
        self.health.forget();
        self.report = StepReport { quarantined, unresolved, ..StepReport::default() };
        self.poses[1] = colliders;
        let time = self.time();
        if let Some(surface) = &mut self.surface {
            surface.reset(&self.body, time);
        }
        Ok(())
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

    /// Invalid roots and poses of colliders from a checkpoint; `None` if it is something else.
    fn read_posed(&self, bytes: &[u8]) -> Option<([InvalidRoots; 2], Vec<RigidTransform>)> {
        let mut from = Reader(bytes);
        let strands = take_invalid(&mut from, self.roots.len())?;
        let primitives = take_invalid(&mut from, self.primitives.as_ref().map_or(0, Roots::len))?;
        let colliders =
            self.poses[1].iter().map(|_| take_pose(&mut from)).collect::<Option<_>>()?;
        from.0.is_empty().then_some(([strands, primitives], colliders))
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

/// Takes what [`put_section`] wrote.
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

/// Takes what [`put_invalid`] wrote, of so many roots.
fn take_invalid(from: &mut Reader<'_>, count: usize) -> Option<InvalidRoots> {
    let number = usize::try_from(from.u64()?).ok().filter(|number| *number <= count)?;
    let mut one = || {
        let root = from.u32().filter(|root| (*root as usize) < count)?;
        Some((root as usize, take_pose(from)?))
    };
    (0..number).map(|_| one()).collect()
}

fn put_pose(out: &mut Vec<u8>, pose: &RigidTransform) {
    put_floats(out, pose.rotation.to_array());
    put_floats(out, pose.translation.to_array());
}

fn take_pose(from: &mut Reader<'_>) -> Option<RigidTransform> {
    let mut float = || from.f32();
    let [x, y, z, w] = [float()?, float()?, float()?, float()?];
    let translation = Vec3::new(float()?, float()?, float()?);
    Some(RigidTransform { rotation: Quat::from_xyzw(x, y, z, w), translation })
}

/// The error of bytes that end too early.
fn cut_off() -> Error {
    Error::BadCheckpoint("it is cut off".into())
}
