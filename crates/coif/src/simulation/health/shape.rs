//! Stretch of segments and penetration of points into the body.

use glam::Vec3;

use super::{Health, StrandLook};
use crate::body::distance_field::DistanceField;
use crate::collide::PosedShape;

/// Adds stretch, penetration and points that are not finite of one strand to `health`. `depth` is scratch
/// memory.
pub(super) fn measure<'a>(
    strand: &StrandLook<'_>,
    shapes: &[PosedShape],
    fields: impl IntoIterator<Item = &'a DistanceField>,
    depth: &mut Vec<f32>,
    health: &mut Health,
) {
    let (rest, line) = (strand.rest, strand.now);
    measure_depth(shapes, line, depth);
    for field in fields {
        for (depth, p) in depth.iter_mut().zip(line) {
            *depth = depth.max(-field.distance_at(*p));
        }
    }
    let root_depth = depth[strand.last_pinned];
    let mut from_root = 0.0;
    for i in 0..line.len() {
        if !line[i].is_finite() {
            health.non_finite += 1;
            continue;
        }
        if i <= strand.last_pinned {
            continue;
        }
        let length = rest[i].distance(rest[i - 1]);
        from_root += length;
        let stretch = (line[i].distance(line[i - 1]) / length - 1.0).abs();
        health.stretch_max = health.stretch_max.max(stretch);
        if root_depth <= 0.0 {
            health.penetration_rooted_outside_max =
                health.penetration_rooted_outside_max.max(depth[i]);
        }
        let depth = depth[i] - (root_depth - from_root).max(0.0);
        if depth > health.penetration_max {
            health.penetration_max = depth;
            health.deepest = (strand.index, i);
        }
    }
}

/// How deep each point of a line is inside the shapes (m), 0 outside.
fn measure_depth(shapes: &[PosedShape], line: &[Vec3], depth: &mut Vec<f32>) {
    depth.clear();
    depth.resize(line.len(), 0.0);
    let (lo, hi) = line.iter().fold((line[0], line[0]), |(lo, hi), &p| (lo.min(p), hi.max(p)));
    for shape in shapes.iter().filter(|shape| shape.overlaps_box(lo, hi)) {
        for (p, depth) in line.iter().zip(depth.iter_mut()) {
            if let Some((distance, _)) = shape.probe((*p).into(), 0.0) {
                *depth = depth.max(-distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::super::testing::look;
    use super::*;
    use crate::body::{MovingCollider, Shape};
    use crate::math::RigidTransform;

    /// The health of one strand beside a ball of radius 1 m.
    fn measured(rest: &[Vec3], now: &[Vec3]) -> Health {
        let pose = RigidTransform { rotation: Quat::IDENTITY, translation: Vec3::ZERO };
        let shape = Shape::Sphere { radius: 1.0 };
        let collider = MovingCollider { shape, friction: 0.0, start: pose, end: pose };
        let shapes = [PosedShape::without_skin(&collider)];
        let mut health = Health::default();
        measure(&look(rest, now), &shapes, None, &mut Vec::new(), &mut health);
        health
    }

    #[test]
    fn stretch_and_depth_are_measured() {
        let rest = [Vec3::X * 1.0, Vec3::X * 1.5, Vec3::X * 2.0];
        let mut now = rest;
        now[2] = Vec3::X * 2.05;
        let health = measured(&rest, &now);
        assert!((health.stretch_max - 0.1).abs() < 1e-5);
        assert_eq!(health.penetration_max, 0.0);
        now[1] = Vec3::Y * 0.9;
        let health = measured(&rest, &now);
        assert!((health.penetration_max - 0.1).abs() < 1e-5);
        assert_eq!(health.deepest, (0, 1));
        now[2] = Vec3::NAN;
        assert_eq!(measured(&rest, &now).non_finite, 1);
    }

    #[test]
    fn a_root_below_the_surface_excuses_only_what_cannot_be_reached() {
        let rest = [Vec3::X * 0.9, Vec3::X * 0.95, Vec3::X * 1.1];
        let health = measured(&rest, &rest);
        assert!(health.penetration_max < 1e-6, "{health:?}");
        let health = measured(&rest, &[rest[0], Vec3::X * 0.85, rest[2]]);
        assert!((health.penetration_max - 0.1).abs() < 1e-5, "{health:?}");
    }
}
