//! Segments of strands that turn about their inner ends until their outer ends are outside of the body: the length-sphere
//! projection of `kernel.rs`, one at a time and without friction.

use glam::Vec3;

use crate::collide::PosedShape;
use crate::environment::FieldObstacle;

/// Square of the sine of the angle between a segment and a normal below which the segment has no
/// direction along the surface.
pub(super) const STRAIGHT: f32 = 1e-8;

/// The direction nearest to `along` in which a segment from `parent` ends at least `room` (m) outside of a shape,
/// as far as its length allows: see `turn_out` in the kernel.
pub(super) fn leave_shape(
    shape: &PosedShape,
    parent: Vec3,
    along: Vec3,
    length: f32,
    room: f32,
) -> Vec3 {
    let p = parent + along * length;
    // Most are far away.
    if !shape.plane && !shape.may_reach(p, room) {
        return along;
    }
    let (out, distance) = shape.tangent_plane(p);
    if distance >= room { along } else { turn(along, out, (room - distance) / length) }
}

/// The same for a body's own surface, at the end of the step.
pub(super) fn leave_field(
    obstacle: &FieldObstacle<'_>,
    parent: Vec3,
    along: Vec3,
    length: f32,
    room: f32,
) -> Vec3 {
    let p = parent + along * length;
    let distance = obstacle.field.distance_at(p) - obstacle.skin;
    if distance >= room {
        return along;
    }
    let out = obstacle.field.sample(p).gradient.normalize_or_zero();
    if out == Vec3::ZERO { along } else { turn(along, out, (room - distance) / length) }
}

/// Turns a unit vector until it has `more` along `out` than it had, or as much as it can have.
fn turn(along: Vec3, out: Vec3, more: f32) -> Vec3 {
    let into = out.dot(along);
    let c = (into + more).min(1.0);
    let flat = along - out * into;
    let straight = flat.length_squared() < STRAIGHT;
    let flat = if straight { out.any_orthonormal_vector() } else { flat.normalize() };
    (out * c + flat * (1.0 - c * c).max(0.0).sqrt()).normalize_or(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{MovingCollider, Shape};
    use crate::math::RigidTransform;

    #[test]
    fn segments_turn_out_of_every_shape() {
        for shape in [
            Shape::Sphere { radius: 0.4 },
            Shape::Ellipsoid { radii: Vec3::new(0.3, 0.8, 0.5) },
            Shape::Capsule { half_height: 0.5, radius: 0.2 },
            Shape::Plane,
        ] {
            let pose = RigidTransform::from_translation(Vec3::Y * 0.1);
            let collider = MovingCollider { shape, friction: 0.3, start: pose, end: pose };
            let posed = PosedShape::new(&collider, 0.01);
            for i in 0..400 {
                let t = i as f32;
                let p = Vec3::new((t * 0.7).sin(), (t * 0.31).cos(), (t * 0.13).sin())
                    * (0.1 + 0.004 * t);
                let (out, distance) = posed.tangent_plane(p);
                // From the surface, straight in or along: the end is outside, at the same length.
                let parent = p - out * distance;
                for along in [-out, out.any_orthonormal_vector()] {
                    let turned = leave_shape(&posed, parent, along, 0.05, 1e-3);
                    assert!(turned.is_normalized());
                    let end = posed.tangent_plane(parent + turned * 0.05).1;
                    assert!(end > 1e-3 - 1e-5 || distance < -0.05, "{shape:?} {p}: {end}");
                }
            }
        }
    }
}
