//! How far the hair is from perfect: stretch, penetration, speed, kinks, drift, values that are not finite.
//!
//! Everything is measured from what is shown: positions in the groom's order, now and at the last look
//! before. So it means the same for every model, also for those that move strips or a mesh and place strands
//! only when somebody looks. A model's own velocities would differ from that between models.
//!
//! It is the last stage and runs once per frame that is looked at. It changes nothing.

mod body_speed;
mod drift;
mod kinks;
mod monitor;
mod motion;
mod shape;
mod strand_list;

use glam::Vec3;

pub use self::drift::{DRIFT_TOLERANCE, Drift};
pub use self::kinks::KINK_ANGLE;
pub use self::motion::{HairMotion, MOVING_SPEED};
pub use self::strand_list::StrandList;

pub(super) use self::monitor::{HealthMonitor, Snapshot};

use crate::math::RigidTransform;

/// How well the hair keeps its length and its shape, stays out of the body, and comes to rest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// Largest relative change of a segment's length, of points that are free to move.
    pub stretch_max: f32,
    /// Deepest free point inside a collider (m). A point that cannot get out because its root is
    /// inside and the strand between is too short counts only as far as it could do better.
    pub penetration_max: f32,
    /// The deepest free point of strands whose root is outside (m): what no fold of the skin excuses.
    pub penetration_rooted_outside_max: f32,
    /// Strand and point of the deepest penetration.
    pub deepest: (usize, usize),
    /// How many points are not finite: always 0 unless there is a defect.
    pub non_finite: usize,
    /// How fast the hair moves, since the last look at an earlier time.
    pub motion: HairMotion,
    /// Strands with a turn of more than [`KINK_ANGLE`] at a point where the groom turns less.
    pub kinked: StrandList,
    /// How far the hair is from its groomed place.
    pub drift: Drift,
}

impl Health {
    /// Takes in the health of strands that come after these.
    fn add(&mut self, next: &Self) {
        self.stretch_max = self.stretch_max.max(next.stretch_max);
        if next.penetration_max > self.penetration_max {
            (self.penetration_max, self.deepest) = (next.penetration_max, next.deepest);
        }
        self.penetration_rooted_outside_max =
            self.penetration_rooted_outside_max.max(next.penetration_rooted_outside_max);
        self.non_finite += next.non_finite;
        self.motion.add(&next.motion);
        self.kinked.add(&next.kinked);
        self.drift.add(&next.drift);
    }
}

/// One strand, as the measures see it.
struct StrandLook<'a> {
    /// Its number.
    index: usize,
    /// In the groom (m).
    rest: &'a [Vec3],
    /// Now (m).
    now: &'a [Vec3],
    /// The last point that moves rigidly with the scalp.
    last_pinned: usize,
    /// Where the scalp under its root has gone from the rest shape.
    world_from_rest: RigidTransform,
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Strand 0 on a scalp that has not moved, pinned at its root.
    pub(super) fn look<'a>(rest: &'a [Vec3], now: &'a [Vec3]) -> StrandLook<'a> {
        StrandLook {
            index: 0,
            rest,
            now,
            last_pinned: 0,
            world_from_rest: RigidTransform::IDENTITY,
        }
    }
}
