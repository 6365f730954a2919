//! Errors of the result: stretch, penetration, speed, kinks, drift, values that are not finite.
//!
//! Everything is measured from the drawn strands: positions in the groom's order, now and at the last measurement
//! before. So the figures of all models compare, also of those that move strips or a mesh and place strands
//! only when a frame is read. The velocities that models keep do not have one meaning.
//!
//! It is the last stage and runs once per frame that is read. It changes nothing.

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

/// Errors of the hair in length, shape, penetration of the body, and its motion.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// Largest relative change of a segment's length, of points that are free to move.
    pub stretch_max: f32,
    /// Deepest free point inside a collider (m). Of a point that cannot leave because its root is
    /// inside and the strand between is too short only the depth counts that it could have left.
    pub penetration_max: f32,
    /// The deepest free point of strands whose root is outside (m).
    pub penetration_rooted_outside_max: f32,
    /// Strand and point of the deepest penetration.
    pub deepest: (usize, usize),
    /// How many points are not finite: always 0 unless there is a defect.
    pub non_finite: usize,
    /// Speed of the hair since the last measurement at an earlier time.
    pub motion: HairMotion,
    /// Strands with a turn of more than [`KINK_ANGLE`] at a point where the groom turns less.
    pub kinked: StrandList,
    /// Distance of the hair from its groomed shape.
    pub drift: Drift,
}

impl Health {
    /// Appends the result of the strands after these.
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

/// One strand, as input of the measures.
struct StrandLook<'a> {
    /// Its number.
    index: usize,
    /// In the groom (m).
    rest: &'a [Vec3],
    /// Now (m).
    now: &'a [Vec3],
    /// Index of the last point that moves rigidly with the scalp.
    last_pinned: usize,
    /// Rigid transform of the scalp under its root, from the rest shape.
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
