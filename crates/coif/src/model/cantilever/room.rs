//! How far from the body hair lies at rest: as far as that, it may come in motion.

use fearless_simd::{Level, dispatch};
use glam::Vec3;

use crate::body::MovingCollider;
use crate::collide::{Near, PosedShape, PosedShapes};
use crate::environment::FieldObstacle;

/// Rounding (m) that a groom at rest may have against the surface that it lies on.
pub(super) const GRAZE: f32 = 2e-5;

/// Deepest that hair may lie in the body at rest and stay there (m): colliders are rough, and grooms lie a little
/// below their surface. What is deeper goes through something, and leaves it.
pub(crate) const DEEPEST: f32 = 5e-3;

/// How far away a collider may be (m) that a point at rest is measured against: distances in the step are
/// less than the true ones, the more so the longer a collider is, and never by as much as this.
const NEIGHBOUR: f32 = 0.5;

/// How far a point stays from the body (m) that is at this distance from it at rest, whatever it would like.
pub(super) fn room_at(distance: f32) -> f32 {
    let room = distance - GRAZE;
    if room < -DEEPEST { 0.0 } else { room }
}

/// A collider where the step starts.
pub(super) fn at_start(collider: &MovingCollider) -> PosedShape {
    PosedShape::new(&MovingCollider { end: collider.start, ..*collider }, 1.0)
}

/// The body as the first step finds it: what the groom at rest is measured against.
pub(crate) struct BodyAtRest<'a> {
    shapes: PosedShapes,
    field: Option<FieldObstacle<'a>>,
    level: Level,
}

impl<'a> BodyAtRest<'a> {
    /// Colliders where the step starts, and the body's own surface.
    pub(crate) fn new(colliders: &[MovingCollider], field: Option<FieldObstacle<'a>>) -> Self {
        let mut shapes = PosedShapes::default();
        shapes.refill(colliders.iter().map(at_start));
        Self { shapes, field, level: Level::new() }
    }

    /// How far a point that is groomed here stays from the body (m), at most.
    pub(crate) fn room(&self, p: Vec3) -> f32 {
        let near = dispatch!(self.level, simd => Near::pick(simd, &self.shapes, p, NEIGHBOUR));
        let of_field = self.field.map(|o| o.field.distance_at(p) - o.skin);
        let of_shapes = near.all().map(|s| s.tangent_plane(p).1);
        room_at(of_shapes.chain(of_field).fold(f32::INFINITY, f32::min))
    }
}
