//! Length and body: how far segments are from their length, and how deep points are in the body.

use glam::{Mat3, Vec3};

use super::{Health, StrandLook};
use crate::body::distance_field::DistanceField;
use crate::body::{MovingCollider, Shape};

/// Takes stretch, penetration and points that are not finite of one strand into `health`. `depth` is scratch
/// memory.
pub(super) fn measure(
    strand: &StrandLook<'_>,
    solids: &[Solid],
    field: Option<&DistanceField>,
    depth: &mut Vec<f32>,
    health: &mut Health,
) {
    let (rest, line) = (strand.rest, strand.now);
    measure_depth(solids, line, depth);
    if let Some(field) = field {
        for (depth, p) in depth.iter_mut().zip(line) {
            *depth = depth.max(-field.distance_at(*p));
        }
    }
    let root_depth = depth[strand.held];
    let mut from_root = 0.0;
    for i in 0..line.len() {
        if !line[i].is_finite() {
            health.non_finite += 1;
            continue;
        }
        if i <= strand.held {
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

/// A collider, ready for many questions.
pub(super) struct Solid {
    shape: Shape,
    rotation: Mat3,
    translation: Vec3,
    /// The shape as a unit ball, scaled and swept along y: inverse radii (1/m), half length (m).
    inverse_radii: Vec3,
    half_height: f32,
    centre: Vec3,
    /// Radius of a ball around it (m).
    reach: f32,
}

impl Solid {
    pub(super) fn new(collider: &MovingCollider) -> Self {
        let shape_from_world = collider.end.inverse();
        let (radii, half_height) = match collider.shape {
            Shape::Sphere { radius } => (Vec3::splat(radius), 0.0),
            Shape::Ellipsoid { radii } => (radii, 0.0),
            Shape::Capsule { half_height, radius } => (Vec3::splat(radius), half_height),
            // Nothing is far from a plane, and everything below it is inside: see `contains`.
            Shape::Plane => (Vec3::INFINITY, 0.0),
        };
        Self {
            shape: collider.shape,
            rotation: Mat3::from_quat(shape_from_world.rotation),
            translation: shape_from_world.translation,
            inverse_radii: 1.0 / radii,
            half_height,
            centre: collider.end.translation,
            reach: radii.max_element() + half_height,
        }
    }

    fn contains(&self, local: Vec3) -> bool {
        if self.shape == Shape::Plane {
            return local.y < 0.0;
        }
        let y = local.y - local.y.clamp(-self.half_height, self.half_height);
        (Vec3::new(local.x, y, local.z) * self.inverse_radii).length_squared() < 1.0
    }
}

/// How deep each point of a line is inside the solids (m), 0 outside.
fn measure_depth(solids: &[Solid], line: &[Vec3], depth: &mut Vec<f32>) {
    depth.clear();
    depth.resize(line.len(), 0.0);
    let (lo, hi) = line.iter().fold((line[0], line[0]), |(lo, hi), &p| (lo.min(p), hi.max(p)));
    for solid in solids {
        // Skip what the strand's box does not reach.
        let nearest = solid.centre.clamp(lo, hi);
        if nearest.distance_squared(solid.centre) > solid.reach * solid.reach {
            continue;
        }
        for (p, depth) in line.iter().zip(depth.iter_mut()) {
            let local = solid.rotation * *p + solid.translation;
            if solid.contains(local) {
                *depth = depth.max(-solid.shape.project_point(local).distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::super::testing::look;
    use super::*;
    use crate::math::RigidTransform;

    /// The health of one strand beside a ball of radius 1 m.
    fn measured(rest: &[Vec3], now: &[Vec3]) -> Health {
        let pose = RigidTransform { rotation: Quat::IDENTITY, translation: Vec3::ZERO };
        let shape = Shape::Sphere { radius: 1.0 };
        let solids = [Solid::new(&MovingCollider { shape, friction: 0.0, start: pose, end: pose })];
        let mut health = Health::default();
        measure(&look(rest, now), &solids, None, &mut Vec::new(), &mut health);
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
