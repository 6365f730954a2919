//! Drift: distance of hair from its groomed shape, transformed with the scalp under its root.

use super::{StrandList, StrandLook};

/// Drift beyond which a strand counts as displaced, as a fraction of its length: 3 mm of 30 cm, which is to
/// be seen when hair hangs beside a face. Rounding is a thousand times less.
pub const DRIFT_TOLERANCE: f32 = 0.01;

/// Distance of the hair from the groom, transformed with the scalp. While the body moves that is the motion of the hair;
/// on a body at rest it is the deviation from the groomed shape.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drift {
    /// Largest distance of a free point from its groomed place, as a fraction of its strand's length.
    pub max: f32,
    /// The strand of `max`.
    pub strand: usize,
    /// Largest distance of a free point from its groomed place (m).
    pub distance_max: f32,
    /// The strand of `distance_max`.
    pub distance_strand: usize,
    /// Strands that are farther away than [`DRIFT_TOLERANCE`].
    pub drifted: StrandList,
}

impl Drift {
    /// Adds one strand.
    pub(super) fn measure(&mut self, strand: &StrandLook<'_>) {
        let (mut length, mut farthest) = (0.0f32, 0.0f32);
        for i in 1..strand.rest.len() {
            length += strand.rest[i].distance(strand.rest[i - 1]);
            if i > strand.last_pinned {
                let place = strand.world_from_rest.point(strand.rest[i]);
                // What is not finite is counted elsewhere, and max leaves it out.
                farthest = farthest.max(strand.now[i].distance_squared(place));
            }
        }
        let distance = farthest.sqrt();
        let drift = if length > 0.0 { distance / length } else { 0.0 };
        if distance > self.distance_max {
            (self.distance_max, self.distance_strand) = (distance, strand.index);
        }
        if drift > self.max {
            (self.max, self.strand) = (drift, strand.index);
        }
        if drift > DRIFT_TOLERANCE {
            self.drifted.push(strand.index);
        }
    }

    /// Appends the result of the strands after these.
    pub(super) fn add(&mut self, next: &Self) {
        if next.max > self.max {
            (self.max, self.strand) = (next.max, next.strand);
        }
        if next.distance_max > self.distance_max {
            (self.distance_max, self.distance_strand) = (next.distance_max, next.distance_strand);
        }
        self.drifted.add(&next.drifted);
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::super::testing::look;
    use super::*;
    use crate::math::RigidTransform;

    #[test]
    fn a_displaced_tip_gives_the_drift() {
        let rest = [Vec3::ZERO, Vec3::X * 0.1, Vec3::X * 0.2];
        let mut now = rest;
        let mut drift = Drift::default();
        drift.measure(&look(&rest, &now));
        assert_eq!(drift, Drift::default());
        now[2] += Vec3::Y * 0.01;
        drift.measure(&look(&rest, &now));
        assert!((drift.max - 0.05).abs() < 1e-6, "{drift:?}");
        assert!((drift.distance_max - 0.01).abs() < 1e-7, "{drift:?}");
        assert_eq!((drift.drifted.count, drift.drifted.first()), (1, &[0][..]));
        // A point that is fixed to the scalp does not drift.
        let mut last_pinned = look(&rest, &now);
        last_pinned.last_pinned = 2;
        let mut drift = Drift::default();
        drift.measure(&last_pinned);
        assert_eq!(drift.max, 0.0);
    }

    #[test]
    fn hair_that_rides_along_does_not_drift() {
        let rest = [Vec3::Y, Vec3::new(0.1, 1.0, 0.0), Vec3::new(0.2, 0.9, 0.0)];
        let pose = RigidTransform {
            rotation: Quat::from_rotation_z(2.0),
            translation: Vec3::new(3.0, -1.0, 0.5),
        };
        let now = rest.map(|p| pose.point(p));
        let mut strand = look(&rest, &now);
        strand.world_from_rest = pose;
        let mut drift = Drift::default();
        drift.measure(&strand);
        // Rounding of coordinates of some metres.
        assert!(drift.distance_max < 1e-6, "{drift:?}");
        assert_eq!(drift.drifted.count, 0);
    }
}
