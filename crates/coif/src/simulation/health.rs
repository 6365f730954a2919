use glam::{Mat3, Vec3};
use rayon::prelude::*;

use crate::body::distance_field::DistanceField;
use crate::body::{MovingCollider, Shape};
use crate::groom::{Groom, Strands};

/// How well the hair keeps its length and stays out of the body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// Largest relative change of a segment's length, of points that are free to move.
    pub stretch_max: f32,
    /// Deepest free point inside a collider (m). A point that cannot get out because its root is
    /// inside and the strand between is too short counts only as far as it could do better.
    pub penetration_max: f32,
    /// The deepest free point of strands whose root is outside (m): what no fold of the skin excuses.
    pub penetration_rooted_outside_max: f32,
    /// Strand and point of the deepest penetration.
    pub deepest: (usize, usize),
    /// How many points are not finite: always 0 unless there is a defect.
    pub non_finite: usize,
}

impl Health {
    /// Compares `now` with the rest shape, the colliders and the body's own surface.
    pub fn measure(
        groom: &Groom,
        now: &Strands,
        colliders: &[MovingCollider],
        field: Option<&DistanceField>,
    ) -> Self {
        let solids: Vec<Solid> = colliders.iter().map(Solid::new).collect();
        (0..now.strand_count())
            .into_par_iter()
            .with_min_len(256)
            .map_init(Vec::new, |depth, s| Self::of_strand(groom, now, &solids, field, s, depth))
            .reduce(Self::default, Self::worse)
    }

    fn of_strand(
        groom: &Groom,
        now: &Strands,
        solids: &[Solid],
        field: Option<&DistanceField>,
        strand: usize,
        depth: &mut Vec<f32>,
    ) -> Self {
        let (rest, line) = (groom.strands.strand(strand), now.strand(strand));
        let mut health = Self::default();
        measure_depth(solids, line, depth);
        if let Some(field) = field {
            for (depth, p) in depth.iter_mut().zip(line) {
                *depth = depth.max(-field.distance_at(*p));
            }
        }
        let held = (groom.embedded[strand] as usize).clamp(1, line.len()) - 1;
        let root_depth = depth[held];
        let mut from_root = 0.0;
        for i in 0..line.len() {
            if !line[i].is_finite() {
                health.non_finite += 1;
                continue;
            }
            if i <= held {
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
                health.deepest = (strand, i);
            }
        }
        health
    }

    /// The worse of two, in any order the same.
    fn worse(a: Self, b: Self) -> Self {
        let a_is_deeper = a.penetration_max > b.penetration_max
            || (a.penetration_max == b.penetration_max && a.deepest <= b.deepest);
        let deeper = if a_is_deeper { a } else { b };
        Self {
            stretch_max: a.stretch_max.max(b.stretch_max),
            penetration_max: deeper.penetration_max,
            penetration_rooted_outside_max: a
                .penetration_rooted_outside_max
                .max(b.penetration_rooted_outside_max),
            deepest: deeper.deepest,
            non_finite: a.non_finite + b.non_finite,
        }
    }
}

/// A collider, ready for many questions.
struct Solid {
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
    fn new(collider: &MovingCollider) -> Self {
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

    use super::*;
    use crate::groom::Fibre;
    use crate::math::RigidTransform;

    fn ball() -> [MovingCollider; 1] {
        let pose = RigidTransform { rotation: Quat::IDENTITY, translation: Vec3::ZERO };
        [MovingCollider {
            shape: Shape::Sphere { radius: 1.0 },
            friction: 0.0,
            start: pose,
            end: pose,
        }]
    }

    #[test]
    fn stretch_and_depth_are_measured() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::X * 1.0, Vec3::X * 1.5, Vec3::X * 2.0]);
        let groom = Groom::new(strands.clone(), Fibre::default());
        strands.positions_mut()[2] = Vec3::X * 2.05;
        let health = Health::measure(&groom, &strands, &ball(), None);
        assert!((health.stretch_max - 0.1).abs() < 1e-5);
        assert_eq!(health.penetration_max, 0.0);
        strands.positions_mut()[1] = Vec3::Y * 0.9;
        let health = Health::measure(&groom, &strands, &ball(), None);
        assert!((health.penetration_max - 0.1).abs() < 1e-5);
        assert_eq!(health.deepest, (0, 1));
    }

    #[test]
    fn a_root_below_the_surface_excuses_only_what_cannot_be_reached() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::X * 0.9, Vec3::X * 0.95, Vec3::X * 1.1]);
        let groom = Groom::new(strands.clone(), Fibre::default());
        let health = Health::measure(&groom, &strands, &ball(), None);
        assert!(health.penetration_max < 1e-6, "{health:?}");
        strands.positions_mut()[1] = Vec3::X * 0.85;
        let health = Health::measure(&groom, &strands, &ball(), None);
        assert!((health.penetration_max - 0.1).abs() < 1e-5, "{health:?}");
    }
}
