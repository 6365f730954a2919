//! Speed of the colliders and of the surface between two measurements.

use glam::Vec3;
use rayon::prelude::*;

use crate::body::{MovingCollider, Shape};

/// Vertices that one task treats.
const VERTICES: usize = 8192;

/// Radius (m) at which the rotation of a plane counts: about the distance of hair from its middle.
const PLANE_REACH: f32 = 1.0;

/// Upper bound of the displacement of a point of these colliders from start to end (m).
pub(super) fn colliders_moved(colliders: &[MovingCollider]) -> f32 {
    let moved = colliders.iter().map(|c| {
        let reach = match c.shape {
            Shape::Sphere { radius } => radius,
            Shape::Ellipsoid { radii } => radii.max_element(),
            Shape::Capsule { half_height, radius } => half_height + radius,
            Shape::Plane => PLANE_REACH,
        };
        // A turn by an angle takes a point at this distance along a chord.
        let turn = (c.start.rotation.conjugate() * c.end.rotation).xyz().length();
        c.start.translation.distance(c.end.translation) + 2.0 * reach * turn
    });
    moved.fold(0.0, f32::max)
}

/// Largest displacement of a vertex (m).
pub(super) fn vertices_moved(before: &[Vec3], now: &[Vec3]) -> f32 {
    // The largest of all is the same in any order.
    let pieces = before.par_chunks(VERTICES).zip(now.par_chunks(VERTICES));
    let moved = pieces.map(|(before, now)| {
        let moved2 = before.iter().zip(now).map(|(a, b)| a.distance_squared(*b));
        moved2.fold(0.0, f32::max)
    });
    moved.reduce(|| 0.0, f32::max).sqrt()
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::math::RigidTransform;

    #[test]
    fn shifts_and_turns_of_colliders_count() {
        let shape = Shape::Capsule { half_height: 0.2, radius: 0.1 };
        let start = RigidTransform::IDENTITY;
        let moved = |end| colliders_moved(&[MovingCollider { shape, friction: 0.0, start, end }]);
        assert_eq!(moved(start), 0.0);
        let shift = RigidTransform::from_translation(Vec3::Z * 0.02);
        assert!((moved(shift) - 0.02).abs() < 1e-7);
        let turn = RigidTransform { rotation: Quat::from_rotation_x(0.1), ..start };
        let chord = 2.0 * 0.3 * 0.05f32.sin();
        assert!((moved(turn) - chord).abs() < 1e-6);
    }

    #[test]
    fn the_farthest_vertex_counts() {
        let before = vec![Vec3::ONE; 3 * VERTICES];
        let mut now = before.clone();
        assert_eq!(vertices_moved(&before, &now), 0.0);
        now[2 * VERTICES + 5].y += 0.5;
        assert_eq!(vertices_moved(&before, &now), 0.5);
    }
}
