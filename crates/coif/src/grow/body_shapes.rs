//! The colliders that strands are placed outside of, posed as at the end of the last step.

use crate::body::MovingCollider;
use crate::collide::{PosedShape, PosedShapes, read_colliders, save_colliders};
use crate::environment::{FieldObstacle, Obstacle};
use crate::grow::hair_mesh::BodyAround;
use crate::math::bytes::{Reader, put_floats};

/// Obstacles of strands while they are placed. None at first and after a teleport: then strands are where they are
/// carried to.
#[derive(Debug, Default)]
pub struct BodyShapes {
    pub(super) shapes: PosedShapes,
    /// Their source, for a checkpoint.
    colliders: Vec<MovingCollider>,
    /// Length of the step (s) that moved them there.
    dt: f32,
}

impl BodyShapes {
    /// Poses the colliders at the end of a step of length `dt` (s).
    pub fn pose(&mut self, colliders: &[MovingCollider], dt: f32) {
        self.dt = dt;
        self.colliders.clear();
        self.colliders.extend_from_slice(colliders);
        self.shapes.refill(colliders.iter().map(|c| PosedShape::new(c, dt)));
    }

    /// These and the body's own surface, for strands in a [hair mesh](super::hair_mesh::Binding).
    pub fn and<'a>(&'a self, field: Option<&'a FieldObstacle<'a>>) -> impl Obstacle + 'a {
        BodyAround::new(&self.shapes.all, field)
    }

    /// Appends them, for a checkpoint.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        put_floats(out, [self.dt]);
        save_colliders(&self.colliders, out);
    }

    /// What [`BodyShapes::save`] wrote; `None` if it is something else.
    pub(super) fn read(from: &mut Reader<'_>) -> Option<Self> {
        let dt = from.f32()?;
        let mut shapes = Self::default();
        shapes.pose(&read_colliders(from)?, dt);
        Some(shapes)
    }
}
