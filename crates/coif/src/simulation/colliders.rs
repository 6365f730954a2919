//! The poses of all colliders: those of the body, and free ones.

use glam::DVec3;

use super::path::Path;
use crate::body::{Body, BodyPose, MovingCollider, Shape};
use crate::math::{RigidTransform, WorldTransform};
use crate::{Error, Result};

/// A collider that belongs to no bone: the hand of another character, a ball, another body's shapes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeCollider {
    /// Identifier: a collider with the same number in the next frame is the same one, and moves to its new pose.
    pub id: u32,
    /// What it is.
    pub shape: Shape,
    /// Where it is at the end of the next frame.
    pub world_from_shape: WorldTransform,
    /// Coulomb friction against hair.
    pub friction: f32,
}

/// A free collider as it moves.
#[derive(Debug, Clone, Copy)]
struct Free {
    id: u32,
    shape: Shape,
    friction: f32,
    path: Path,
}

/// The colliders of a simulation, those of the body first.
#[derive(Default)]
pub(super) struct Colliders {
    free: Vec<Free>,
    /// Those of the frame before: scratch.
    last: Vec<Free>,
    /// Poses of all at the start and the end of the step.
    poses: [Vec<RigidTransform>; 2],
    /// Shape and friction of all at the end of the step.
    shapes: Vec<(Shape, f32)>,
}

impl Colliders {
    /// Poses all of them at the end of a step, at a fraction of the frame. The last end poses become the start poses;
    /// one without a finite pose stays where it was.
    pub(super) fn follow(&mut self, body: &Body, pose: BodyPose<'_>, fraction: f32) {
        self.poses.swap(0, 1);
        self.shapes.clear();
        let Self { free, poses: [before, now], shapes, .. } = self;
        match pose {
            BodyPose::At(time) => {
                body.collider_poses_at(time, now);
                shapes.extend(body.colliders().iter().map(|c| (c.shape, c.friction)));
            }
            BodyPose::Driven(keys) => {
                now.clear();
                for (i, collider) in body.colliders().iter().enumerate() {
                    let (shape, pose) = keys.collider(i, collider);
                    now.push(pose);
                    shapes.push((shape, collider.friction));
                }
            }
        }
        now.extend(free.iter().map(|c| c.path.at(fraction)));
        shapes.extend(free.iter().map(|c| (c.shape, c.friction)));
        for (now, before) in now.iter_mut().zip(before).filter(|(now, _)| !now.is_finite()) {
            *now = *before;
        }
    }

    /// Writes the motion of all during the step.
    pub(super) fn moving(&self, out: &mut Vec<MovingCollider>) {
        let [start, end] = &self.poses;
        out.clear();
        let poses = start.iter().zip(end);
        out.extend(self.shapes.iter().zip(poses).map(|(&(shape, friction), (&start, &end))| {
            MovingCollider { shape, friction, start, end }
        }));
    }

    /// Shape and friction of all.
    pub(super) fn shapes(&self) -> &[(Shape, f32)] {
        &self.shapes
    }

    /// Poses of all at the end of the step.
    pub(super) fn poses(&self) -> &[RigidTransform] {
        &self.poses[1]
    }

    /// Restores the poses of all at the end of a frame.
    pub(super) fn set_poses(&mut self, poses: Vec<RigidTransform>) {
        let of_body = poses.len() - self.free.len().min(poses.len());
        for (free, pose) in self.free.iter_mut().zip(&poses[of_body..]) {
            free.path = Path::still(*pose);
        }
        self.poses[1] = poses;
    }

    /// Whether any free one moves in this frame.
    pub(super) fn any_moves(&self) -> bool {
        self.free.iter().any(|c| c.path.moves())
    }

    /// Ends a frame: free colliders have arrived.
    pub(super) fn arrive(&mut self) {
        self.free.iter_mut().for_each(|c| c.path.arrive());
    }

    /// Sets the poses of the free colliders at the end of the next frame. A new one starts there at rest. On
    /// error nothing has changed. Returns whether the list has changed, and if so whether numbers of those that were
    /// there have changed.
    pub(super) fn set_free(
        &mut self,
        colliders: &[FreeCollider],
        origin: DVec3,
    ) -> Result<Option<bool>> {
        for (i, c) in colliders.iter().enumerate() {
            c.shape.validate()?;
            if !(c.world_from_shape.is_finite()
                && c.world_from_shape.rotation.length_squared() > 1e-6)
            {
                return Err(Error::PoseNotFinite { what: format!("free collider {}", c.id) });
            }
            if !(c.friction.is_finite() && c.friction >= 0.0) {
                return Err(Error::OutOfRange {
                    name: format!("friction of free collider {}", c.id),
                    value: c.friction.into(),
                    expected: "zero or more",
                });
            }
            if colliders[..i].iter().any(|other| other.id == c.id) {
                return Err(Error::OutOfRange {
                    name: "id of a free collider".into(),
                    value: c.id.into(),
                    expected: "a number that no other one has",
                });
            }
        }
        std::mem::swap(&mut self.free, &mut self.last);
        self.free.clear();
        let renumbered = colliders.len() < self.last.len()
            || self.last.iter().zip(colliders).any(|(last, c)| last.id != c.id);
        let mut changed = renumbered || colliders.len() != self.last.len();
        for (i, c) in colliders.iter().enumerate() {
            let t = &c.world_from_shape;
            let end = WorldTransform { rotation: t.rotation.normalize(), ..*t }.relative_to(origin);
            // Usually it has the same index in the list as before.
            let same = self.last.get(i).filter(|last| last.id == c.id);
            let last = same.or_else(|| self.last.iter().find(|last| last.id == c.id));
            changed |= last.is_none_or(|last| last.shape != c.shape || last.friction != c.friction);
            let start = last.map_or(end, |last| last.path.start);
            let path = Path { start, end };
            self.free.push(Free { id: c.id, shape: c.shape, friction: c.friction, path });
        }
        Ok(changed.then_some(renumbered))
    }

    /// Moves everything by `by` (m), for an origin that has moved by its negative.
    pub(super) fn shift(&mut self, by: glam::Vec3) {
        for free in &mut self.free {
            free.path.shift(by);
        }
        for pose in self.poses.iter_mut().flatten() {
            pose.translation += by;
        }
    }
}
