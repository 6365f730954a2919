//! The exact projection for the few particles in a corner of several colliders.

use glam::Vec3;

use super::collider::StepCollider;
use crate::collide::GRAZING;
use crate::math::on_sphere::nearest_allowed;

/// Rounds of the exact enumeration with tangent planes at the newest candidate, before the planes
/// that separate the predecessor from the colliders.
const EXACT_ROUNDS: usize = 2;

/// Displacement of a point, as a multiple of its depth, beyond which it counts as far: that out of a crease of 30 degrees.
const FAR: f32 = 4.0;

/// The point of the sphere of radius `length` around `parent` that is outside of all colliders and
/// near to `candidate`, and whether there is one; otherwise the point that is least deep.
///
/// Model: take one half-space free of each collider. The feasible point nearest to the candidate is
/// the candidate, or lies on one circle, or where two circles intersect: all of these are tried. Tangent planes
/// near the candidate give the nearest solution, but may exclude the gap between two colliders;
/// planes that separate the predecessor from each collider leave a feasible point in every crease.
pub(super) fn resolve_on_sphere<'a>(
    colliders: impl Iterator<Item = &'a StepCollider> + Clone,
    parent: Vec3,
    length: f32,
    candidate: Vec3,
) -> (Vec3, bool) {
    let mut best = (candidate, depth_at(colliders.clone(), candidate));
    let mut tangent_at = candidate;
    for round in 0..=EXACT_ROUNDS {
        if round == EXACT_ROUNDS {
            tangent_at = parent;
        }
        // Planes are computed again at each use: corners are rare, and nothing is allocated.
        let planes = colliders
            .clone()
            .map(|collider| collider.half_space(tangent_at))
            .filter(|plane| plane.normal.dot(parent) - plane.offset < length);
        let Some(next) = nearest_allowed(planes, parent, length, candidate) else { break };
        let depth = depth_at(colliders.clone(), next);
        if depth < best.1 {
            best = (next, depth);
        }
        if depth == 0.0 {
            break;
        }
        tangent_at = next;
    }
    (best.0, best.1 <= 0.0)
}

/// The same for points that contact holds from the next step on (`resting.rs`): a point at a negligible depth and far
/// from any free point stays. In a sharp crease a point a micrometre deep would be turned out by millimetres, slide
/// back, and be turned out again, indefinitely.
pub(super) fn leave_corner<'a>(
    colliders: impl Iterator<Item = &'a StepCollider> + Clone,
    parent: Vec3,
    length: f32,
    candidate: Vec3,
) -> (Vec3, bool) {
    let (found, free) = resolve_on_sphere(colliders.clone(), parent, length, candidate);
    let depth = depth_at(colliders, candidate);
    if depth < GRAZING && found.distance(candidate) > FAR * depth {
        return (candidate, true);
    }
    (found, free)
}

/// Depth of a point inside (m, measured to tangent planes), 0 outside.
fn depth_at<'a>(colliders: impl Iterator<Item = &'a StepCollider>, p: Vec3) -> f32 {
    colliders.filter_map(|c| c.inside(p)).map(|(_, d)| -d).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use proptest::prelude::*;

    use super::*;
    use crate::body::{MovingCollider, Shape};
    use crate::math::RigidTransform;
    use crate::math::testing::vec3;

    fn fixed(shape: Shape, centre: Vec3, rotation: Quat) -> StepCollider {
        let pose = RigidTransform { rotation, translation: centre };
        StepCollider::new(&MovingCollider { shape, friction: 0.3, start: pose, end: pose }, 0.01)
    }

    /// In the sharp crease of two balls a tip that grazes one of them stays, and one that is deep is pushed out.
    #[test]
    fn what_grazes_in_a_crease_is_not_turned_far_away() {
        let ball = |x: f32| fixed(Shape::Sphere { radius: 0.1 }, Vec3::X * x, Quat::IDENTITY);
        let balls = [ball(-0.0999), ball(0.0999)];
        // The crease runs around the x axis at this radius.
        let crease = (0.1f32.powi(2) - 0.0999f32.powi(2)).sqrt();
        let parent = Vec3::Y * (crease + 0.01);
        let graze = Vec3::new(1e-5, crease + 2e-4, 0.0);
        let length = graze.distance(parent);
        assert!(depth_at(balls.iter(), graze) < GRAZING);
        assert!(resolve_on_sphere(balls.iter(), parent, length, graze).0.distance(graze) > 1e-3);
        assert_eq!(leave_corner(balls.iter(), parent, length, graze), (graze, true));
        let deep = parent - Vec3::new(0.3, 1.0, 0.0).normalize() * length;
        assert!(depth_at(balls.iter(), deep) > GRAZING);
        let (out, free) = leave_corner(balls.iter(), parent, length, deep);
        assert!(free && depth_at(balls.iter(), out) == 0.0);
    }

    proptest! {
        /// In a corner of two colliders the result has the right length and is outside of both,
        /// wherever the predecessor is outside.
        #[test]
        fn corners_are_left_at_the_right_length(
            parent in vec3(0.3), direction in vec3(1.0), turn in -3.0f32..3.0
        ) {
            let colliders = [
                fixed(
                    Shape::Ellipsoid { radii: Vec3::new(0.1, 0.15, 0.12) },
                    Vec3::ZERO, Quat::from_rotation_z(turn)
                ),
                fixed(
                    Shape::Capsule { half_height: 0.2, radius: 0.06 },
                    Vec3::new(0.12, -0.1, 0.0), Quat::from_rotation_x(turn)
                ),
                fixed(Shape::Plane, Vec3::Y * -0.2, Quat::IDENTITY),
            ];
            prop_assume!(colliders.iter().all(|c| c.inside(parent).is_none()));
            let length = 0.012;
            let candidate = parent + direction.normalize_or(Vec3::X) * length;
            let (p, free) = resolve_on_sphere(colliders.iter(), parent, length, candidate);
            prop_assert!(free);
            prop_assert!((p.distance(parent) / length - 1.0).abs() < 1e-4);
            prop_assert!(colliders.iter().all(|c| c.inside(p).is_none()));
        }
    }

    #[test]
    fn where_no_point_is_free_length_wins_and_it_is_said() {
        // The predecessor is at the centre of a ball that the segment cannot leave.
        let ball = [fixed(Shape::Sphere { radius: 0.5 }, Vec3::ZERO, Quat::IDENTITY)];
        let (p, free) = resolve_on_sphere(ball.iter(), Vec3::X * 0.1, 0.01, Vec3::X * 0.09);
        assert!(!free);
        assert!((p.distance(Vec3::X * 0.1) - 0.01).abs() < 1e-6);
        assert!(p.x > 0.105, "it should at least head out: {p}");
    }

    #[test]
    fn a_free_candidate_stays() {
        let ball = [fixed(Shape::Sphere { radius: 0.5 }, Vec3::ZERO, Quat::IDENTITY)];
        let candidate = Vec3::X * 0.7;
        let (p, free) = resolve_on_sphere(ball.iter(), Vec3::X * 0.69, 0.01, candidate);
        assert!(free);
        assert!(p.distance(candidate) < 1e-6);
    }
}
