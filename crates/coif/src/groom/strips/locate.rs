//! Binding of the points of a strand to their strip: two adjacent joints, and the offsets in their frames.
//! `grow::strips` places strands by it; the thickness of a strip follows from it.

use glam::Vec3;

use super::{JointFrame, Strips};
use crate::groom::Groom;

/// The binding of a point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hung {
    /// The segment of the strip, which is the index of its first joint.
    pub(crate) segment: usize,
    /// Weight of its second joint, 0 to 1.
    pub(crate) fraction: f32,
    /// Offsets from the two joints, in their frames (m).
    pub(crate) offset: [Vec3; 2],
}

impl Strips {
    /// Binds the points of a strand to a strip, in order. `frames` is scratch.
    pub(crate) fn hang(
        &self,
        strip: usize,
        points: &[Vec3],
        frames: &mut Vec<JointFrame>,
        mut visit: impl FnMut(Hung, Vec3),
    ) {
        let joints = self.edges.strand(strip);
        self.rest_frames(strip, frames);
        let mut from = 0;
        for &p in points {
            let (segment, fraction) = nearest_segment(joints, p, from);
            from = segment;
            let offset = [segment, segment + 1].map(|j| frames[j].local(p - joints[j]));
            visit(Hung { segment, fraction, offset }, p);
        }
    }

    /// Per strip: largest distance of its strands from its plane (m).
    pub(crate) fn thickness(&self, groom: &Groom) -> Vec<f32> {
        let mut thickness = vec![0.0f32; self.count()];
        let mut frames = Vec::new();
        for (s, line) in groom.strands.iter().enumerate() {
            let strip = self.strip_of_strand[s] as usize;
            let thick = &mut thickness[strip];
            let embedded = (groom.embedded[s] as usize).clamp(1, line.len() - 1);
            self.hang(strip, &line[embedded..], &mut frames, |hung, _| {
                *thick = hung.offset.iter().map(|o| o.y.abs()).fold(*thick, f32::max);
            });
        }
        thickness
    }
}

/// The segment of a chain nearest to a point, from segment `from` on, and the fraction of it. Of equally near
/// segments, the first: points of a strand are bound in increasing order.
fn nearest_segment(joints: &[Vec3], p: Vec3, from: usize) -> (usize, f32) {
    let mut best = (f32::INFINITY, from, 0.0);
    for j in from..joints.len() - 1 {
        let (a, edge) = (joints[j], joints[j + 1] - joints[j]);
        let fraction = ((p - a).dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
        let distance = p.distance_squared(a + edge * fraction);
        if distance < best.0 {
            best = (distance, j, fraction);
        }
    }
    (best.1, best.2)
}
