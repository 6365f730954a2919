//! Clearance of hair from the body at rest: the largest clearance that is required in motion.

use fearless_simd::{Level, dispatch};
use glam::Vec3;

use crate::body::MovingCollider;
use crate::collide::{Near, PosedShape, PosedShapes};
use crate::environment::FieldObstacle;

/// Tolerance (m) for a groom at rest on a surface.
pub(super) const GRAZE: f32 = 2e-5;

/// Largest depth of hair in the body at rest that is kept (m): colliders are approximations, and grooms may be slightly
/// below their surface. Deeper hair passes through a collider, and is pushed out.
pub(crate) const DEEPEST: f32 = 5e-3;

/// Largest distance (m) of colliders that are tested at a point at rest: distances in the step are
/// less than the true ones, by more for long colliders, but by less than this.
const NEIGHBOUR: f32 = 0.5;

/// Clearance (m) of a point at a distance (m) from the body at rest.
pub(super) fn clearance_at(distance: f32) -> f32 {
    let clearance = distance - GRAZE;
    if clearance < -DEEPEST { 0.0 } else { clearance }
}

/// A collider at the start of the step.
pub(super) fn at_start(collider: &MovingCollider) -> PosedShape {
    PosedShape::new(&MovingCollider { end: collider.start, ..*collider }, 1.0)
}

/// The body at the start of the first step, for the clearance of the groom at rest.
pub(crate) struct BodyAtRest<'a> {
    shapes: PosedShapes,
    field: Option<FieldObstacle<'a>>,
    level: Level,
}

impl<'a> BodyAtRest<'a> {
    /// From colliders at the start of the step, and the body's distance field.
    pub(crate) fn new(colliders: &[MovingCollider], field: Option<FieldObstacle<'a>>) -> Self {
        let mut shapes = PosedShapes::default();
        shapes.refill(colliders.iter().map(at_start));
        Self { shapes, field, level: Level::new() }
    }

    /// Clearance from the body of a groomed point (m).
    pub(crate) fn clearance(&self, p: Vec3) -> f32 {
        let near = dispatch!(self.level, simd => Near::pick(simd, &self.shapes, p, NEIGHBOUR));
        let of_field = self.field.map(|o| o.distance_at(p) - o.skin);
        let of_shapes = near.all().map(|s| s.tangent_plane(p).1);
        clearance_at(of_shapes.chain(of_field).fold(f32::INFINITY, f32::min))
    }
}
