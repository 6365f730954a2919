//! The body as an obstacle for strands in a hair mesh: links that would end inside are placed outside, with their length.

use fearless_simd::Level;
use glam::{Vec3, Vec3A};

use crate::collide::{GRAZING, PosedShape, SKIN, depth_inside};
use crate::environment::{FieldObstacle, Link, Obstacle, ObstacleCollision};
use crate::math::LANES;
use crate::math::on_sphere::{HalfSpace, nearest_allowed, search_around};

/// Rounds of tangent planes for a link of a strand before those at its parent.
const PLANE_ROUNDS: usize = 3;

/// Most planes that a link is tested against: no more solids of a body intersect in one place.
const MAX_PLANES: usize = 8;

/// Colliders and, if there is one, the body's own surface, for strands to stay out of.
pub(crate) struct BodyAround<'a> {
    pub(super) shapes: &'a [PosedShape],
    pub(super) field: Option<&'a FieldObstacle<'a>>,
    level: Level,
}

impl<'a> BodyAround<'a> {
    /// Shapes at the end of the last step, and the current surface.
    pub(crate) fn new(shapes: &'a [PosedShape], field: Option<&'a FieldObstacle<'a>>) -> Self {
        Self { shapes, field, level: Level::new() }
    }
}

impl Obstacle for BodyAround<'_> {
    fn depth(&self, p: Vec3A) -> f32 {
        depth_inside(self.shapes, self.field, p)
    }

    fn may_hold(&self, points: &[f32; 3 * LANES]) -> u32 {
        self.inside(self.level, points)
    }

    /// Model: project onto the tangent planes at the wanted place, then at the result, at last at the parent: these
    /// separate the parent from all convex obstacles, so that a place outside exists in every crease. What is still
    /// inside, in a hollow of the body's own surface, is found by searching the sphere.
    fn place(&self, link: &Link, allowed: f32) -> Option<ObstacleCollision> {
        let deep = |p: Vec3| self.depth(p.into()) - allowed;
        let (parent, wanted) = (Vec3::from(link.parent), Vec3::from(link.wanted));
        let mut best = (wanted, deep(wanted));
        if best.1 <= 0.5 * SKIN {
            return None;
        }
        let collision = self.deepest(link.wanted);
        let mut tangent_at = wanted;
        for round in 0..=PLANE_ROUNDS {
            if round == PLANE_ROUNDS {
                tangent_at = parent;
            }
            let mut planes = [HalfSpace { normal: Vec3::Y, offset: 0.0 }; MAX_PLANES];
            let count = self.planes(tangent_at.into(), 2.0 * link.length, allowed, &mut planes);
            let planes = planes[..count].iter().copied();
            let Some(next) = nearest_allowed(planes, parent, link.length, wanted) else { continue };
            let depth = deep(next);
            if depth < best.1 {
                best = (next, depth);
            }
            if best.1 <= 0.5 * SKIN {
                break;
            }
            tangent_at = next;
        }
        if best.1 > GRAZING {
            let along = (best.0 - parent).normalize_or(Vec3::Y);
            let out = self.deepest(link.parent).normal.into();
            let (direction, depth) = search_around(parent, link.length, along, out, deep);
            if depth < best.1 {
                best = (parent + direction * link.length, depth);
            }
        }
        Some(ObstacleCollision { at: best.0.into(), ..collision })
    }
}

impl BodyAround<'_> {
    /// Normal and velocity of the obstacle that is nearest to a point, or deepest around it.
    fn deepest(&self, p: Vec3A) -> ObstacleCollision {
        let mut min_distance = f32::INFINITY;
        let mut collision = ObstacleCollision { at: p, normal: Vec3A::Y, velocity: Vec3A::ZERO };
        for shape in self.shapes {
            if let Some((distance, normal)) = shape.probe(p, SKIN)
                && distance < min_distance
            {
                min_distance = distance;
                collision = ObstacleCollision {
                    at: p,
                    normal,
                    velocity: shape.velocity_at(p.into()).into(),
                };
            }
        }
        if let Some(field) = self.field {
            let sample = field.sample(p.into());
            if sample.distance - field.skin < min_distance {
                collision = ObstacleCollision {
                    at: p,
                    normal: sample.gradient.into(),
                    velocity: sample.velocity.into(),
                };
            }
        }
        collision
    }

    /// Writes half-spaces that exclude the obstacles nearer to `p` than `reach` (m), but for a depth of `allowed` (m);
    /// returns how many.
    fn planes(&self, p: Vec3A, reach: f32, allowed: f32, out: &mut [HalfSpace]) -> usize {
        let near = self.shapes.iter().filter_map(|shape| shape.probe(p, reach));
        let fields = self.field.into_iter().flat_map(FieldObstacle::all).map(|f| {
            let sample = f.field.sample(p.into());
            (sample.distance - f.skin, Vec3A::from(sample.gradient))
        });
        let mut count = 0;
        for ((distance, normal), out) in fields.chain(near).zip(out) {
            *out = HalfSpace { normal: normal.into(), offset: normal.dot(p) - distance - allowed };
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Shape;
    use crate::collide::testing::{SMALL, turned};

    fn still(shape: Shape, at: Vec3) -> PosedShape {
        PosedShape::new(&turned(shape, at), 0.01)
    }

    /// Sixteen points at a time are inside where they are one by one.
    #[test]
    fn a_quick_look_finds_the_points_that_are_inside() {
        for shape in SMALL {
            let shapes = [still(shape, Vec3::new(0.02, -0.01, 0.03))];
            let around = BodyAround::new(&shapes, None);
            let mut inside_count = 0;
            for row in 0..200 {
                let at = |i: usize| {
                    let along = |k: f32| ((16 * row + i) as f32 * k).sin() * 0.12;
                    Vec3A::new(along(1.1), along(1.7), along(2.3))
                };
                let points = std::array::from_fn(|k| at(k % LANES)[k / LANES]);
                let bits = around.may_hold(&points);
                for i in 0..LANES {
                    let depth = around.depth(at(i));
                    // On the surface, within rounding, both results are valid.
                    let is_near = shapes[0].probe(at(i), 1e-6).is_some_and(|(d, _)| d < 1e-6);
                    let is_clear = depth > 1e-6 || !is_near;
                    assert!(
                        !is_clear || (depth > 0.0) == (bits & (1 << i) != 0),
                        "{shape:?} {depth}"
                    );
                    inside_count += usize::from(depth > 1e-6);
                }
            }
            assert!((100..3000).contains(&inside_count), "{shape:?} {inside_count}");
        }
    }

    /// Wherever a link begins outside of two solids that cross and a plane, it ends outside, as long as it is.
    #[test]
    fn links_leave_every_crease_with_their_length() {
        let shapes = [
            still(Shape::Ellipsoid { radii: Vec3::new(0.1, 0.15, 0.12) }, Vec3::ZERO),
            still(Shape::Capsule { half_height: 0.2, radius: 0.06 }, Vec3::new(0.12, -0.1, 0.0)),
            still(Shape::Plane, Vec3::Y * -0.2),
        ];
        let around = BodyAround::new(&shapes, None);
        let (mut collisions, mut deepest) = (0, 0.0f32);
        for i in 0..250_000 {
            let at = |k: f32| (i as f32 * k).sin();
            let parent = Vec3A::new(at(1.1), at(1.7), at(2.3)) * 0.25;
            if around.depth(parent) > 0.0 {
                continue;
            }
            let direction = Vec3A::new(at(0.7), at(0.9), at(1.3)).normalize_or(Vec3A::X);
            let link = Link { parent, length: 0.012, wanted: parent + direction * 0.012 };
            if let Some(place) = around.place(&link, 0.0) {
                collisions += 1;
                deepest = deepest.max(around.depth(place.at));
                assert!((place.at.distance(parent) / link.length - 1.0).abs() < 1e-4);
            }
        }
        println!("{collisions} links collided; {deepest} m at most");
        assert!(collisions > 1000 && deepest <= 0.5 * SKIN, "{collisions} {deepest}");
    }
}
