//! Hair placed point by point, without lanes: the reference for speed and results of [`Binding`].

use glam::{Vec3, Vec3A};

use super::Binding;
use super::curve::MeshFrames;
use super::lay::{Chain, Moving};
use super::place::{Place, Root};
use crate::environment::{Link, Nowhere, Obstacle};

/// The strands of a binding, in their order.
pub struct PlainBinding {
    places: Vec<Place>,
    roots: Vec<Root>,
    /// Per point: the length of the segment before it (m); 0 at a root.
    lengths: Vec<f32>,
    /// First point of every strand, and the total.
    first: Vec<u32>,
}

impl PlainBinding {
    /// The same strands.
    pub fn new(binding: &Binding) -> Self {
        let blocks = &binding.blocks;
        let (mut places, mut lengths, mut roots) = (Vec::new(), Vec::new(), Vec::new());
        for s in 0..blocks.lane_of.len() {
            let (block, lane, points) = blocks.strand(s);
            let rows = block.first_row..block.first_row + points;
            places.extend(rows.clone().filter_map(|row| blocks.place(row, lane)));
            lengths.extend(rows.map(|row| blocks.length(row, lane)));
            roots.push(block.roots[lane]);
        }
        Self { places, roots, lengths, first: binding.first.clone() }
    }

    /// As [`Binding::positions`], for the vertices of the last update of `binding`.
    pub fn positions(&self, binding: &Binding, out: &mut [Vec3]) {
        self.positions_outside(binding, &Nowhere, out);
    }

    /// As [`Binding::velocities`], for the vertices of the last update of `binding`.
    pub fn velocities(&self, binding: &Binding, out: &mut [Vec3]) {
        self.velocities_outside(binding, &Nowhere, out);
    }

    /// As [`Binding::positions_outside`].
    pub fn positions_outside(&self, binding: &Binding, obstacle: &impl Obstacle, out: &mut [Vec3]) {
        let mesh_frames = binding.mesh_frames();
        let curve = |i: usize| Moving {
            at: self.places[i].position(mesh_frames.now),
            velocity: Vec3A::ZERO,
        };
        self.lay(mesh_frames, obstacle, &curve, |i, p| out[i] = p.at.into());
    }

    /// As [`Binding::velocities_outside`].
    pub fn velocities_outside(
        &self,
        binding: &Binding,
        obstacle: &impl Obstacle,
        out: &mut [Vec3],
    ) {
        let mesh_frames = binding.mesh_frames();
        let curve = |i: usize| self.places[i].moving(mesh_frames.now, mesh_frames.rates);
        self.lay(mesh_frames, obstacle, &curve, |i, p| out[i] = p.velocity.into());
    }

    /// Lays every strand along the curve of its places, outside of the obstacle.
    #[inline]
    fn lay(
        &self,
        mesh_frames: MeshFrames<'_>,
        obstacle: &impl Obstacle,
        curve: &impl Fn(usize) -> Moving,
        mut out: impl FnMut(usize, Moving),
    ) {
        for (pair, root) in self.first.windows(2).zip(&self.roots) {
            let first = pair[0] as usize;
            let lengths = &self.lengths[first..pair[1] as usize];
            if lengths.is_empty() {
                continue;
            }
            let root = root.moving(mesh_frames.now, mesh_frames.rates);
            let at = |i: usize| if i == 0 { root } else { curve(first + i) };
            let mut chain = Chain::new(lengths.len(), at);
            let mut last = chain.end();
            // Below the skin a strand may be as long as it takes it to get out.
            let mut allowed = obstacle.depth(last.at);
            out(first, last);
            for (i, &length) in lengths.iter().enumerate().skip(1) {
                let mut here = chain.link(length);
                allowed = (allowed - length).max(0.0);
                let link = Link { parent: last.at, length, wanted: here.at };
                if let Some(collision) = obstacle.place(&link, allowed) {
                    let into = (here.velocity - collision.velocity).dot(collision.normal).min(0.0);
                    here = Moving {
                        at: collision.at,
                        velocity: here.velocity - collision.normal * into,
                    };
                    chain.push(here);
                }
                out(first + i, here);
                last = here;
            }
        }
    }
}
