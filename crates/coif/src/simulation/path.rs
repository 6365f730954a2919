//! The motion of an object that a caller places, during a frame.

use crate::math::RigidTransform;

/// From the pose at the end of the last frame to the pose at the end of this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Path {
    pub(super) start: RigidTransform,
    pub(super) end: RigidTransform,
}

impl Path {
    /// At rest.
    pub(super) fn still(at: RigidTransform) -> Self {
        Self { start: at, end: at }
    }

    /// At a fraction of the frame: exactly at the start if it does not move.
    pub(super) fn at(&self, fraction: f32) -> RigidTransform {
        if fraction >= 1.0 {
            return self.end;
        }
        let (start, end) = (&self.start, &self.end);
        let by = end.rotation * start.rotation.conjugate();
        let by = if by.w < 0.0 { -by } else { by };
        let turn = glam::Quat::from_scaled_axis(by.to_scaled_axis() * fraction);
        RigidTransform {
            rotation: (turn * start.rotation).normalize(),
            translation: start.translation + (end.translation - start.translation) * fraction,
        }
    }

    /// Whether it moves in this frame.
    pub(super) fn moves(&self) -> bool {
        self.start != self.end
    }

    /// Ends a frame.
    pub(super) fn arrive(&mut self) {
        self.start = self.end;
    }

    /// Moves it by `by` (m): the origin has moved by its negative.
    pub(super) fn shift(&mut self, by: glam::Vec3) {
        self.start.translation += by;
        self.end.translation += by;
    }
}
