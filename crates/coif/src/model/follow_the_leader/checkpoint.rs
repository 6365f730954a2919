//! The state of all strands as bytes, and back.

use glam::Vec3;

use super::ageing::Age;
use super::{FollowTheLeader, TIME_OUT, pins};
use crate::math::bytes::{Reader, put_floats};
use crate::math::{LANES, RigidTransform};
use crate::{Error, Result};

impl FollowTheLeader {
    pub(super) fn save_state(&self, out: &mut Vec<u8>) {
        put_floats(out, [self.since_reset]);
        put_floats(out, self.gravity.to_array());
        let state = [&self.position, &self.velocity, &self.tension, &self.contact, &self.frame];
        put_floats(out, state.into_iter().flat_map(|rows| rows.iter().copied()));
        for age in self.blocks.iter().flat_map(|block| block.ages.of) {
            put_floats(out, [age.age, age.drag]);
        }
        // Depths matter only while hair is pushed out of the body.
        if (f32::EPSILON..TIME_OUT).contains(&self.since_reset) {
            for block in &self.blocks {
                out.push(u8::from(block.began_inside));
                if block.began_inside {
                    put_floats(out, block.depth.iter().copied());
                }
            }
        }
        pins::save(&self.blocks, out);
    }

    pub(super) fn restore_state(
        &mut self,
        bytes: &[u8],
        world_from_rest: &[RigidTransform],
    ) -> Result<()> {
        let state = [&self.position, &self.velocity, &self.tension, &self.contact, &self.frame];
        let state: usize = state.into_iter().map(|rows| rows.len()).sum();
        let ages = 2 * LANES * self.blocks.len();
        let expected = 4 * (4 + state + ages);
        let short = || {
            let found = bytes.len();
            Error::BadCheckpoint(format!(
                "{found} bytes of particles where the groom needs {expected} or more"
            ))
        };
        let mut reader = Reader(bytes);
        let since_reset = reader.f32().ok_or_else(short)?;
        let mut number = || reader.f32().ok_or_else(short);
        let gravity = Vec3::new(number()?, number()?, number()?);
        let values = reader.floats(state).ok_or_else(short)?;
        let ages: Vec<f32> = reader.floats(ages).ok_or_else(short)?.collect();
        let mut depths = vec![Vec::new(); self.blocks.len()];
        if (f32::EPSILON..TIME_OUT).contains(&since_reset) {
            for (block, depth) in self.blocks.iter().zip(&mut depths) {
                let has = reader.u8().ok_or_else(short)? == 1;
                let size = if has { block.depth.len() } else { 0 };
                *depth = reader.floats(size).ok_or_else(short)?.collect();
            }
        }
        let pins = pins::read(&mut reader, &self.blocks).ok_or_else(short)?;
        if !reader.0.is_empty() || !(0.0..=TIME_OUT).contains(&since_reset) {
            return Err(short());
        }
        let state = [
            &mut self.position,
            &mut self.velocity,
            &mut self.tension,
            &mut self.contact,
            &mut self.frame,
        ];
        for (to, value) in state.into_iter().flat_map(|rows| rows.iter_mut()).zip(values) {
            *to = value;
        }
        (self.since_reset, self.gravity) = (since_reset, gravity);
        pins::restore(pins, &mut self.blocks);
        let mut ages = ages.as_chunks().0.iter().map(|&[age, drag]| Age { age, drag });
        for (block, depth) in self.blocks.iter_mut().zip(depths) {
            for (lane, age) in ages.by_ref().take(LANES).enumerate() {
                block.ages.set(lane, age, self.settings.settling_time);
            }
            block.began_inside = !depth.is_empty();
            if block.began_inside {
                block.depth.copy_from_slice(&depth);
            }
            for lane in 0..LANES {
                block.set_root(lane, &world_from_rest[block.strands[lane] as usize]);
            }
        }
        Ok(())
    }
}
