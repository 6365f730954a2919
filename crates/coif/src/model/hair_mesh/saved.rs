//! A hair mesh in a checkpoint: everything that a step changes.

use glam::Vec3A;

use super::dynamics::{MeshDynamics, VertexCollision};
use crate::math::RigidTransform;
use crate::math::bytes::{Reader, put_floats, put_u32};
use crate::{Error, Result};

/// Floats per vertex: position, velocity, normal and friction of its collision, depth at rest, times of
/// standing still and of being stuck, whether the contact was loose in the last step.
const FLOATS: usize = 14;

/// Bytes per vertex: those floats, and which solid it collides with.
const BYTES: usize = 4 * FLOATS + 4;

/// No collision.
const NOTHING: u32 = u32::MAX;

impl MeshDynamics {
    /// Appends everything that a step changes.
    pub fn save(&self, out: &mut Vec<u8>) {
        for v in 0..self.x.len() {
            let collision = self.collision[v].unwrap_or(VertexCollision {
                normal: Vec3A::ZERO,
                solid: NOTHING,
                friction: 0.0,
                is_loose: false,
            });
            let vectors = [self.x[v], self.v[v], collision.normal];
            let floats = vectors.iter().flat_map(|v| v.to_array());
            let is_loose = f32::from(u8::from(collision.is_loose));
            let numbers =
                [collision.friction, self.depth[v], self.idle[v], self.stuck[v], is_loose];
            put_floats(out, floats.chain(numbers));
            put_u32(out, collision.solid);
        }
        out.extend(self.open.iter().map(|open| u8::from(*open)));
        out.push(u8::from(self.depth_is_known));
    }

    /// Restores what [`MeshDynamics::save`] wrote, with the roots as they were then. On error nothing
    /// has changed.
    pub fn restore(&mut self, bytes: &[u8], roots: &[RigidTransform]) -> Result<()> {
        let expected = BYTES * self.x.len() + self.open.len() + 1;
        if bytes.len() != expected {
            return Err(Error::BadCheckpoint(format!(
                "{} bytes of a hair mesh where {expected} were expected",
                bytes.len()
            )));
        }
        let (vertices, flags) = bytes.split_at(BYTES * self.x.len());
        for (v, bytes) in vertices.chunks_exact(BYTES).enumerate() {
            let mut reader = Reader(bytes);
            let mut float = || reader.f32().unwrap_or_default();
            let mut vector = || Vec3A::new(float(), float(), float());
            self.x[v] = vector();
            self.v[v] = vector();
            let normal = vector();
            let (friction, depth) = (float(), float());
            (self.depth[v], self.idle[v], self.stuck[v]) = (depth, float(), float());
            let is_loose = float() > 0.0;
            let solid = reader.u32().unwrap_or(NOTHING);
            self.collision[v] =
                (solid != NOTHING).then_some(VertexCollision { normal, solid, friction, is_loose });
        }
        let (open, known) = flags.split_at(self.open.len());
        for (to, from) in self.open.iter_mut().zip(open) {
            *to = *from != 0;
        }
        self.obstructed.known = false;
        self.depth_is_known = known.first().is_some_and(|k| *k != 0);
        for (to, from) in self.roots.iter_mut().zip(roots) {
            *to = *from;
        }
        Ok(())
    }
}
