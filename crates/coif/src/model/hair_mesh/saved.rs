//! A hair mesh in a checkpoint: everything that a step changes.

use glam::Vec3A;

use super::dynamics::{MeshDynamics, Touch};
use crate::math::RigidTransform;
use crate::{Error, Result};

/// Floats per vertex: position, velocity, normal and friction of what it touches, depth at rest.
const FLOATS: usize = 11;

/// Bytes per vertex: those floats, and which solid it touches.
const BYTES: usize = 4 * FLOATS + 4;

/// Touches nothing.
const NOTHING: u32 = u32::MAX;

impl MeshDynamics {
    /// Appends everything that a step changes.
    pub fn save(&self, out: &mut Vec<u8>) {
        for v in 0..self.x.len() {
            let touch = self.touch[v].unwrap_or(Touch {
                normal: Vec3A::ZERO,
                solid: NOTHING,
                friction: 0.0,
            });
            let vectors = [self.x[v], self.v[v], touch.normal];
            let floats = vectors.iter().flat_map(|v| v.to_array());
            for value in floats.chain([touch.friction, self.depth[v]]) {
                out.extend_from_slice(&value.to_le_bytes());
            }
            out.extend_from_slice(&touch.solid.to_le_bytes());
        }
        out.extend_from_slice(&self.lost);
        out.extend(self.open.iter().map(|open| u8::from(*open)));
        out.push(u8::from(self.depth_is_known));
    }

    /// Takes back what [`MeshDynamics::save`] wrote, with the roots where they were then. On error nothing
    /// has changed.
    pub fn restore(&mut self, bytes: &[u8], roots: &[RigidTransform]) -> Result<()> {
        let expected = (BYTES + 1) * self.x.len() + self.open.len() + 1;
        if bytes.len() != expected {
            return Err(Error::BadCheckpoint(format!(
                "{} bytes of vertices where the hair mesh needs {expected}",
                bytes.len()
            )));
        }
        let (vertices, flags) = bytes.split_at(BYTES * self.x.len());
        for (v, bytes) in vertices.chunks_exact(BYTES).enumerate() {
            let mut words = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
            let mut float = || words.next().map_or(0.0, f32::from_le_bytes);
            let mut vector = || Vec3A::new(float(), float(), float());
            self.x[v] = vector();
            self.v[v] = vector();
            let normal = vector();
            let (friction, depth) = (float(), float());
            let solid = words.next().map_or(NOTHING, u32::from_le_bytes);
            self.depth[v] = depth;
            self.touch[v] = (solid != NOTHING).then_some(Touch { normal, solid, friction });
        }
        let (lost, flags) = flags.split_at(self.x.len());
        self.lost.copy_from_slice(lost);
        let (open, known) = flags.split_at(self.open.len());
        for (to, from) in self.open.iter_mut().zip(open) {
            *to = *from != 0;
        }
        self.obstacles.forget();
        self.depth_is_known = known.first().is_some_and(|k| *k != 0);
        for (to, from) in self.roots.iter_mut().zip(roots) {
            *to = *from;
        }
        Ok(())
    }
}
