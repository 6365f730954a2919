//! Segments of strands that turn about their inner ends until their outer ends are outside of the body: the length-sphere
//! projection of `model::cantilever`, without friction, one at a time: out of a body's own surface. `hung_lanes.rs` does the
//! same out of shapes, sixteen at a time.

use glam::Vec3;

#[cfg(test)]
use crate::collide::{Near, PosedShape};
use crate::environment::FieldObstacle;
use crate::model::cantilever::STRAIGHT;

/// A segment of a strand that can turn.
pub(super) struct Turning {
    /// Where it begins (m).
    pub(super) parent: Vec3,
    /// How long it is (m).
    pub(super) length: f32,
    /// Clearance of its end from the body (m).
    pub(super) room: f32,
}

impl Turning {
    /// Point by point what lanes do: the direction nearest to `along` in which the segment ends outside of all that is near, as far as its length
    /// allows; a second time, if that ended in another collision.
    #[cfg(test)]
    pub(super) fn leave(
        &self,
        along: Vec3,
        near: &Near<'_>,
        field: Option<&FieldObstacle<'_>>,
    ) -> Vec3 {
        let all = |along| {
            let turned = near.all().fold(along, |along, shape| self.leave_shape(shape, along));
            field.map_or(turned, |field| self.leave_field(field, turned))
        };
        let turned = all(along);
        if turned == along { along } else { all(turned) }
    }

    /// The same for a shape alone: see `turn_out` in the model's kernel.
    #[cfg(test)]
    fn leave_shape(&self, shape: &PosedShape, along: Vec3) -> Vec3 {
        let p = self.parent + along * self.length;
        // Most shapes are out of reach.
        if !shape.plane && !shape.may_reach(p, self.room) {
            return along;
        }
        let (out, distance) = shape.tangent_plane(p);
        self.turn(along, out, distance)
    }

    /// The same for a body's own surface, as it is now.
    pub(super) fn leave_field(&self, obstacle: &FieldObstacle<'_>, along: Vec3) -> Vec3 {
        let p = self.parent + along * self.length;
        let distance = obstacle.distance_at(p) - obstacle.skin;
        if distance >= self.room {
            return along;
        }
        let out = obstacle.sample(p).gradient.normalize_or_zero();
        if out == Vec3::ZERO { along } else { self.turn(along, out, distance) }
    }

    /// Turns the segment until its end is far enough outside of a surface that is `distance` (m) below it along `out`,
    /// or as far as it can be.
    fn turn(&self, along: Vec3, out: Vec3, distance: f32) -> Vec3 {
        if distance >= self.room {
            return along;
        }
        turn(along, out, (self.room - distance) / self.length)
    }
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
    use crate::collide::testing::{points, shapes, still};

    #[test]
    fn segments_turn_out_of_every_shape() {
        for shape in shapes() {
            let posed = still(shape, Vec3::Y * 0.1);
            for p in points() {
                let (out, distance) = posed.tangent_plane(p);
                // From the surface, straight in or along: the end is outside, at the same length.
                let parent = p - out * distance;
                for along in [-out, out.any_orthonormal_vector()] {
                    let segment = Turning { parent, length: 0.05, room: 1e-3 };
                    let turned = segment.leave_shape(&posed, along);
                    assert!(turned.is_normalized());
                    let end = posed.tangent_plane(parent + turned * 0.05).1;
                    assert!(end > 1e-3 - 1e-5 || distance < -0.05, "{shape:?} {p}: {end}");
                }
            }
        }
    }
}
