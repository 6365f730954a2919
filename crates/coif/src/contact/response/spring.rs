//! A spring between two hairs in contact.

use glam::Vec3;

use crate::contact::Place;
use crate::contact::detection::segments::Segments;

/// A spring between a point of one segment and a point of another.
///
/// Model: the points have fixed barycentric coordinates on the segments. The tension along the offset between them is
/// `stiffness * (length - rest)` plus `damping` times the rate of the length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactSpring {
    /// The two segments, by their first points.
    pub segments: [u32; 2],
    /// Barycentric coordinates of the points on them, 0 at the first end and 1 at the next.
    pub at: [f32; 2],
    /// Rest length (m).
    pub rest: f32,
    /// Force per length (N/m).
    pub stiffness: f32,
    /// Force per speed (N s/m).
    pub damping: f32,
}

/// A force between two places on chains: on the first along `direction`, on the second against it.
///
/// Model: to first order the force changes by `-stiffness * x - damping * v`, where x (m) and v (m/s) are the changes of
/// distance and of its rate along `direction`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactForce {
    /// The two places.
    pub at: [Place; 2],
    /// Unit vector from the second place to the first.
    pub direction: Vec3,
    /// The force (N): positive if it repels, negative if it attracts.
    pub magnitude: f32,
    /// Force per length (N/m).
    pub stiffness: f32,
    /// Force per speed (N s/m).
    pub damping: f32,
}

impl ContactSpring {
    /// The force for points with these positions (m) and velocities (m/s).
    pub fn force(&self, segments: &Segments, position: &[Vec3], velocity: &[Vec3]) -> ContactForce {
        let apart = self.difference(position);
        let length = apart.length();
        let direction = apart.normalize_or_zero();
        let rate = self.difference(velocity).dot(direction);
        let [a, b] = self.segments;
        let at = [segments.place(a, self.at[0]), segments.place(b, self.at[1])];
        let magnitude = -self.stiffness * (length - self.rest) - self.damping * rate;
        let Self { stiffness, damping, .. } = *self;
        ContactForce { at, direction, magnitude, stiffness, damping }
    }

    /// The difference of an interpolated value between its points, first minus second.
    #[inline]
    pub fn difference(&self, value: &[Vec3]) -> Vec3 {
        difference(self.segments, self.at, value)
    }
}

/// The difference of an interpolated value between points of two segments, first minus second.
#[inline]
pub(crate) fn difference(segments: [u32; 2], at: [f32; 2], value: &[Vec3]) -> Vec3 {
    let [a, b] = segments.map(|s| s as usize);
    let [s, t] = at;
    value[a] * (1.0 - s) + value[a + 1] * s - (value[b] * (1.0 - t) + value[b + 1] * t)
}
