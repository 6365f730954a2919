//! Clearance of hair from the body at rest, which it may keep in motion.

use fearless_simd::{Level, dispatch};
use glam::Vec3;

use crate::body::MovingCollider;
use crate::collide::{Near, PosedShape, PosedShapes};
use crate::environment::FieldObstacle;

/// Rounding (m) of a groom at rest against the surface that it lies on.
pub(super) const GRAZE: f32 = 2e-5;

/// Deepest that hair may lie in the body at rest and stay there (m): colliders are rough, and grooms lie a little
/// below their surface. Deeper hair goes through something, and is pushed out.
pub(crate) const DEEPEST: f32 = 5e-3;

/// Largest distance (m) of a collider that a point at rest is measured against: distances in the step are
/// less than the true ones, the more so the longer a collider is, and never by as much as this.
const NEIGHBOUR: f32 = 0.5;

/// Clearance of a point at this distance from the body at rest, whatever its own radius.
pub(super) fn room_at(distance: f32) -> f32 {
    let room = distance - GRAZE;
    if room < -DEEPEST { 0.0 } else { room }
}

/// A collider at the start of the step.
pub(super) fn at_start(collider: &MovingCollider) -> PosedShape {
    PosedShape::new(&MovingCollider { end: collider.start, ..*collider }, 1.0)
}

/// The body in the first step: the groom's clearance at rest is measured against it.
pub(crate) struct BodyAtRest<'a> {
    shapes: PosedShapes,
    field: Option<FieldObstacle<'a>>,
    level: Level,
}

impl<'a> BodyAtRest<'a> {
    /// Colliders at the start of the step, and the body's own surface.
    pub(crate) fn new(colliders: &[MovingCollider], field: Option<FieldObstacle<'a>>) -> Self {
        let mut shapes = PosedShapes::default();
        shapes.refill(colliders.iter().map(at_start));
        Self { shapes, field, level: Level::new() }
    }

    /// Largest clearance from the body of a point that is groomed here (m).
    pub(crate) fn room(&self, p: Vec3) -> f32 {
        let near = dispatch!(self.level, simd => Near::pick(simd, &self.shapes, p, NEIGHBOUR));
        let of_field = self.field.map(|o| o.field.distance_at(p) - o.skin);
        let of_shapes = near.all().map(|s| s.tangent_plane(p).1);
        room_at(of_shapes.chain(of_field).fold(f32::INFINITY, f32::min))
    }
}
