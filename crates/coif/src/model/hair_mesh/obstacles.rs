//! Obstacles of the vertices of a hair mesh: the colliders and the surface of the body in a substep.

use glam::Vec3A;

use crate::body::MovingCollider;
use crate::collide::{PosedShape, SKIN, depth_inside, pose_between};
use crate::environment::FieldObstacle;

/// Distance from a surface (m) up to which a vertex that is in contact with it stays so.
const CONTACT_DISTANCE: f32 = 1e-3;

/// Rounds through the obstacles for one vertex: two that cross at a right angle take two or three, where they intersect
/// in a narrow wedge it takes more.
const ROUNDS: usize = 12;

/// Result of pushing a vertex out, and its collision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// Outside of all obstacles, as far as possible (m).
    pub(crate) point: Vec3A,
    /// Out of the surface, unit length.
    pub(crate) normal: Vec3A,
    /// Velocity of the surface (m/s).
    pub(crate) velocity: Vec3A,
    pub(crate) friction: f32,
    pub(crate) restitution: f32,
    /// Which shape; the distance fields of bodies are numbered after the last.
    pub(crate) solid: u32,
}

/// All obstacles of a step.
#[derive(Default)]
pub(crate) struct Obstacles {
    shapes: Vec<PosedShape>,
}

impl Obstacles {
    /// Poses the colliders for a substep, `dt` seconds long, that goes from the first fraction of the
    /// step to the second.
    pub(crate) fn pose(&mut self, colliders: &[MovingCollider], dt: f32, [from, to]: [f32; 2]) {
        self.shapes.clear();
        self.shapes.extend(colliders.iter().map(|c| {
            let c = if from > 0.0 || to < 1.0 { pose_between(c, from, to) } else { *c };
            PosedShape::new(&c, dt)
        }));
    }

    /// How deep a point is in the deepest shape or below the body's surface, skin included (m); 0 outside.
    pub(crate) fn depth(&self, p: Vec3A, field: Option<&FieldObstacle<'_>>) -> f32 {
        depth_inside(&self.shapes, field, p)
    }

    /// The body with a distance field that has this number.
    fn body<'a>(&self, solid: u32, field: Option<&FieldObstacle<'a>>) -> Option<FieldObstacle<'a>> {
        field?.get((solid as usize).checked_sub(self.shapes.len())?)
    }

    /// Velocity of the material of a solid, or of the surface of a body, at a point (m/s).
    pub(crate) fn velocity(
        &self,
        solid: u32,
        p: Vec3A,
        field: Option<&FieldObstacle<'_>>,
    ) -> Vec3A {
        match self.shapes.get(solid as usize) {
            Some(shape) => shape.velocity_at(p.into()).into(),
            None => self
                .body(solid, field)
                .map_or(Vec3A::ZERO, |body| body.field.sample(p.into()).velocity.into()),
        }
    }

    /// Normal of a surface that a vertex has collided with, if they are still in contact; `allowed` is how deep it may
    /// be (m).
    pub(crate) fn resting_normal(
        &self,
        solid: u32,
        p: Vec3A,
        allowed: f32,
        field: Option<&FieldObstacle<'_>>,
    ) -> Option<Vec3A> {
        let margin = CONTACT_DISTANCE - allowed;
        if let Some(shape) = self.shapes.get(solid as usize) {
            let (distance, normal) = shape.probe(p, margin)?;
            return (distance < margin).then_some(normal);
        }
        let body = self.body(solid, field)?;
        let near = body.field.distance_at(p.into()) < body.skin + margin;
        near.then(|| body.field.sample(p.into()).gradient.into())
    }

    /// Pushes a vertex that went from `before` to `p` out of all obstacles, `clearance` metres away from
    /// them; a negative one allows that depth. `None` if it is outside.
    ///
    /// Model: closest point of the surface. A vertex whose path went right through a solid, in the
    /// solid's frame, goes to the tangent plane at the point of entry, so that hair does not change
    /// sides.
    pub(crate) fn push_out(
        &self,
        before: Option<Vec3A>,
        p: Vec3A,
        clearance: f32,
        field: Option<&FieldObstacle<'_>>,
    ) -> Option<Hit> {
        let mut hit: Option<Hit> = None;
        let mut at = p;
        let mut wedge = Wedge::default();
        for _ in 0..ROUNDS {
            let mut moved = false;
            for (i, shape) in self.shapes.iter().enumerate() {
                let entered = if hit.is_none() && clearance >= 0.0 {
                    before.and_then(|before| shape.entered(before, at))
                } else {
                    None
                };
                let (point, normal) = match entered {
                    Some(tangent) => tangent,
                    None => match shape.probe(at, clearance) {
                        Some((distance, normal)) if distance < clearance - 0.5 * SKIN => {
                            (wedge.leave(at, normal, clearance - distance), normal)
                        }
                        _ => continue,
                    },
                };
                at = point;
                moved = true;
                hit = Some(Hit {
                    point,
                    normal,
                    velocity: shape.velocity_at(point.into()).into(),
                    friction: shape.friction,
                    restitution: 0.0,
                    solid: i as u32,
                });
            }
            for (k, field) in field.into_iter().flat_map(FieldObstacle::all).enumerate() {
                let room = clearance + field.skin;
                if field.field.distance_at(at.into()) < room - 0.5 * SKIN {
                    let sample = field.field.sample(at.into());
                    let normal = Vec3A::from(sample.gradient);
                    at = wedge.leave(at, normal, room - sample.distance);
                    moved = true;
                    hit = Some(Hit {
                        point: at,
                        normal,
                        velocity: sample.velocity.into(),
                        friction: field.friction,
                        restitution: field.restitution,
                        solid: (self.shapes.len() + k) as u32,
                    });
                }
            }
            if !moved {
                break;
            }
        }
        hit
    }
}

/// Longest displacement (m) out of a wedge in one iteration: from behind an ear.
const WEDGE: f32 = 0.03;

/// The surface that a point was last pushed out of.
#[derive(Default)]
struct Wedge {
    /// Its tangent plane: unit normal and height, none at first.
    plane: Option<(Vec3A, f32)>,
}

impl Wedge {
    /// Moves a point that is `depth` metres below a surface with this normal onto it, and along it out of the
    /// last surface as well.
    ///
    /// Model: nearest point above both tangent planes. Otherwise the point would alternate between
    /// surfaces that face each other, and out of a narrow wedge that takes dozens of rounds.
    #[inline(always)]
    fn leave(&mut self, p: Vec3A, normal: Vec3A, depth: f32) -> Vec3A {
        let mut correction = normal * depth;
        if let Some((last, height)) = self.plane {
            let (cosine, below) = (last.dot(normal), (height - last.dot(p)).max(0.0));
            let sine2 = 1.0 - cosine * cosine;
            if cosine < 0.0 && sine2 > 1e-4 {
                let [a, b] = [depth - below * cosine, below - depth * cosine];
                correction = ((normal * a + last * b) / sine2).clamp_length_max(WEDGE.max(depth));
            }
        }
        let to = p + correction;
        self.plane = Some((normal, normal.dot(to)));
        to
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::body::Shape;
    use crate::collide::testing::{SMALL, turned};
    use crate::math::RigidTransform;

    #[test]
    fn points_inside_any_shape_come_out_and_points_outside_stay() {
        for shape in SMALL {
            let collider = turned(shape, Vec3::new(0.02, -0.01, 0.03));
            let mut obstacles = Obstacles::default();
            obstacles.pose(&[collider], 0.01, [0.0, 1.0]);
            // The same with its skin.
            let mut outer = MovingCollider { shape: shape.grown(SKIN), ..collider };
            if shape == Shape::Plane {
                outer.end.translation += collider.end.rotation * (Vec3::Y * SKIN);
            }
            for i in 0..300 {
                let at = |k: f32| (i as f32 * k).sin() * 0.15;
                let p = Vec3::new(at(1.1), at(1.7), at(2.3));
                let depth = outer.depth_at(p);
                let hit = obstacles.push_out(None, p.into(), 0.0, None);
                assert_eq!(hit.is_some(), depth > 0.5 * SKIN, "{shape:?} {p} {depth}");
                assert!((obstacles.depth(p.into(), None) - depth).abs() < 1e-5);
                if let Some(hit) = hit {
                    assert!(outer.depth_at(hit.point.into()) < 1e-6);
                    assert!((hit.point.distance(p.into()) - depth).abs() < 1e-5);
                }
                // With clearance it is that far away.
                if let Some(hit) = obstacles.push_out(None, p.into(), 0.02, None) {
                    let s = outer.project_point(hit.point.into());
                    assert!((s.distance - 0.02).abs() < 3e-3, "{shape:?}: {}", s.distance);
                }
            }
        }
    }

    /// Behind an ear, where two surfaces face each other at a few degrees, a vertex is pushed out of both.
    #[test]
    fn a_vertex_in_a_narrow_wedge_comes_out_of_both_sides() {
        let radii = [Vec3::new(0.075, 0.086, 0.095), Vec3::new(0.0105, 0.034, 0.0205)];
        let at = [Vec3::new(0.0, 0.04, 0.002), Vec3::new(0.0775, 0.0, 0.0)];
        let both = [0, 1].map(|i| turned(Shape::Ellipsoid { radii: radii[i] }, at[i]));
        let mut obstacles = Obstacles::default();
        obstacles.pose(&both, 0.01, [0.0, 1.0]);
        let mut between = 0;
        for i in 0..4000 {
            let along = |k: f32, half: f32| (i as f32 * k).sin() * half;
            let p = at[1] + Vec3::new(along(1.1, 0.012), along(1.7, 0.03), along(2.3, 0.02));
            between += u32::from(both.iter().all(|c| c.depth_at(p) > 0.0));
            if let Some(hit) = obstacles.push_out(None, p.into(), 0.0, None) {
                let deep = both.map(|c| c.depth_at(hit.point.into()));
                assert!(deep.iter().all(|d| *d < SKIN), "{p}: {deep:?}");
                assert!(hit.point.distance(p.into()) < 0.05, "{p} {hit:?}");
            }
        }
        assert!(between > 100, "{between}");
    }

    /// Hair that a fast head would pass through stays on its side.
    #[test]
    fn a_vertex_that_went_right_through_stays_on_its_side() {
        let shape = Shape::Ellipsoid { radii: Vec3::new(0.08, 0.1, 0.09) };
        let start = RigidTransform::from_translation(Vec3::new(0.3, 0.0, 0.0));
        let end = RigidTransform::from_translation(Vec3::new(-0.3, 0.0, 0.0));
        let collider = MovingCollider { shape, friction: 0.0, start, end };
        let mut obstacles = Obstacles::default();
        obstacles.pose(&[collider], 1.0 / 30.0, [0.0, 1.0]);
        // The solid passes over a vertex that does not move.
        let p = Vec3A::new(0.0, 0.01, 0.0);
        let hit = obstacles.push_out(Some(p), p, 0.0, None).unwrap();
        assert!(hit.normal.x < -0.9 && hit.point.x < -0.37, "{hit:?}");
        assert!(hit.velocity.x < 0.0);
        // One that it only grazes is left alone.
        let beside = Vec3A::new(0.0, 0.095, 0.0);
        assert!(obstacles.push_out(Some(beside), beside, 0.0, None).is_none());
    }
}
