//! Everything needed to go on after the last frame with the same bits.

use super::{Simulation, hash_positions};
use crate::math::bytes::{Reader, put_u32, put_u64};
use crate::model::StepReport;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"coifsim2";

impl Simulation {
    /// The state as bytes: number of steps, report so far, contacts, growth, and the model's own state.
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
        // The springs between hairs and what growth has learnt come before the model, which takes all that is left.
        let mut part = Vec::new();
        self.contacts.save(&mut part);
        put_part(&mut out, &part);
        part.clear();
        self.growth.save(&mut part);
        put_part(&mut out, &part);
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
        // Keep the present springs, in case the model does not take its part.
        let mut kept = Vec::new();
        self.contacts.save(&mut kept);
        if !self.contacts.restore(springs) {
            self.contacts.restore(&kept);
            return Err(Error::BadCheckpoint("its springs between hairs are not these".into()));
        }
        let present = self.time();
        self.follow_body(steps as f64 / f64::from(self.world.steps_per_second));
        let poses = super::poses(&self.roots, self.primitives.as_ref());
        if let Err(error) = self.model.restore(reader.0, poses) {
            self.follow_body(present);
            self.contacts.restore(&kept);
            return Err(error);
        }
        self.growth.restore(grown, &*self.model);
        self.steps = steps;
        self.is_grown = false;
        self.health.forget();
        self.report = StepReport { quarantined, unresolved, ..StepReport::default() };
        self.body.collider_poses_at(self.time(), &mut self.poses[1]);
        let time = self.time();
        if let Some(surface) = &mut self.surface {
            surface.reset(&self.body, time);
        }
        Ok(())
    }

    fn groom_hash(&self) -> u64 {
        hash_positions(self.groom.strands.positions())
    }
}

/// Appends bytes with their number before them.
fn put_part(out: &mut Vec<u8>, part: &[u8]) {
    put_u64(out, part.len() as u64);
    out.extend_from_slice(part);
}

/// Takes what [`put_part`] wrote.
fn take_part<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(reader.u64()?).ok()?;
    reader.take(length)
}

/// The error of bytes that end too early.
fn cut_off() -> Error {
    Error::BadCheckpoint("it is cut off".into())
}
