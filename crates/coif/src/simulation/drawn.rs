//! Hair of a driven body at the drawn time: the end of a frame between two steps.

use std::ops::Range;
use std::sync::Mutex;

use glam::Vec3;

use crate::environment::Onward;
use crate::groom::Groom;
use crate::math::RigidTransform;

/// Strands per task.
const STRANDS: usize = 64;

/// Hair at the drawn time.
#[derive(Default)]
pub(super) struct Drawn {
    /// Poses of the strands' roots at the drawn time, and whether they are current: not if that is the end of a step.
    pub(super) world_from_rest: Vec<RigidTransform>,
    pub(super) is_posed: bool,
    /// Poses of the primitives' roots at the start of the last substep.
    pub(super) before: Vec<RigidTransform>,
    /// Length of that substep (s).
    pub(super) dt: f32,
    /// Positions of all points at the drawn time, once they have been read.
    pub(super) positions: Vec<Vec3>,
    pub(super) is_placed: bool,
    /// Velocities of all points: scratch.
    velocities: Mutex<Vec<Vec3>>,
}

impl Drawn {
    /// Records the root poses of primitives at the start of a substep of `dt` (s).
    pub(super) fn begin_step(&mut self, world_from_rest: &[RigidTransform], dt: f32) {
        self.before.clear();
        self.before.extend_from_slice(world_from_rest);
        self.dt = dt;
    }

    /// Moves everything by `by` (m): the origin has moved by its negative.
    pub(super) fn shift(&mut self, by: Vec3) {
        self.before.iter_mut().for_each(|pose| pose.translation += by);
    }

    /// Carries the points of strands that the model moves itself onward from the end of the last step.
    pub(super) fn go_on(
        &self,
        groom: &Groom,
        onward: &Onward<'_>,
        velocities: impl FnOnce(&mut [Vec3]),
        positions: &mut [Vec3],
    ) {
        let mut scratch = self.velocities.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        scratch.resize(positions.len(), Vec3::ZERO);
        velocities(&mut scratch);
        let work = |s: usize, positions: &mut [Vec3], velocities: &[Vec3]| {
            let embedded = (groom.embedded[s] as usize).clamp(1, positions.len());
            onward.of_strand(s).go_on(embedded, positions, velocities);
        };
        let strands = 0..groom.strands.strand_count();
        in_halves(strands, groom.strands.first_points(), positions, &scratch, &work);
    }
}

/// Splits the strands recursively into tasks.
fn in_halves(
    strands: Range<usize>,
    first: &[u32],
    positions: &mut [Vec3],
    velocities: &[Vec3],
    work: &(impl Fn(usize, &mut [Vec3], &[Vec3]) + Sync),
) {
    let at = |s: usize| (first[s] - first[strands.start]) as usize;
    if strands.len() <= STRANDS {
        for s in strands.clone() {
            work(s, &mut positions[at(s)..at(s + 1)], &velocities[at(s)..at(s + 1)]);
        }
        return;
    }
    let middle = strands.start + strands.len() / 2;
    let (x0, x1) = positions.split_at_mut(at(middle));
    let (v0, v1) = velocities.split_at(at(middle));
    rayon::join(
        || in_halves(strands.start..middle, first, x0, v0, work),
        || in_halves(middle..strands.end, first, x1, v1, work),
    );
}
