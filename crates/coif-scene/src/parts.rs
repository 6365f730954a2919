//! Bodies made of simple parts: balls, ellipsoids and limbs, each on a bone.
//!
//! One list gives everything a figure needs: the implicit solid (a smooth union), the skinning weights, the region of a
//! point, and colliders inside the parts.

use coif::body::{BoneWeights, Collider, Shape};
use glam::{Quat, Vec3};

use crate::implicit::{carve, ellipsoid, join, limb, sphere, turned_ellipsoid};

/// The shape of a part (m).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Solid {
    Ball {
        centre: Vec3,
        radius: f32,
    },
    Ellipsoid {
        centre: Vec3,
        turn: Quat,
        radii: Vec3,
    },
    /// Round ends; the radius goes from the first to the second.
    Limb {
        ends: [Vec3; 2],
        radii: [f32; 2],
    },
    /// A limb cut off flat at its second end, which is below the first.
    Bell {
        ends: [Vec3; 2],
        radii: [f32; 2],
    },
}

impl Solid {
    fn value(&self, p: Vec3) -> f32 {
        match *self {
            Self::Ball { centre, radius } => sphere(p, centre, radius),
            Self::Ellipsoid { centre, turn, radii } if turn == Quat::IDENTITY => {
                ellipsoid(p, centre, radii)
            }
            Self::Ellipsoid { centre, turn, radii } => turned_ellipsoid(p, centre, turn, radii),
            Self::Limb { ends: [a, b], radii: [ra, rb] } => limb(p, a, b, ra, rb),
            Self::Bell { ends: [a, b], radii: [ra, rb] } => {
                -join(-limb(p, a, b, ra, rb), p.y - b.y, 0.02)
            }
        }
    }

    /// A bounding sphere.
    fn around(&self) -> (Vec3, f32) {
        match *self {
            Self::Ball { centre, radius } => (centre, radius),
            Self::Ellipsoid { centre, radii, .. } => (centre, radii.max_element()),
            Self::Limb { ends: [a, b], radii } | Self::Bell { ends: [a, b], radii } => {
                ((a + b) * 0.5, a.distance(b) * 0.5 + radii[0].max(radii[1]))
            }
        }
    }

    fn mirrored(&self) -> Self {
        let over = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
        match *self {
            Self::Ball { centre, radius } => Self::Ball { centre: over(centre), radius },
            Self::Ellipsoid { centre, turn: q, radii } => Self::Ellipsoid {
                centre: over(centre),
                turn: Quat::from_xyzw(q.x, -q.y, -q.z, q.w),
                radii,
            },
            Self::Limb { ends, radii } => Self::Limb { ends: ends.map(over), radii },
            Self::Bell { ends, radii } => Self::Bell { ends: ends.map(over), radii },
        }
    }

    /// Convex shapes inside, with position and rotation.
    fn shapes(&self) -> Vec<(Shape, Vec3, Quat)> {
        match *self {
            Self::Ball { centre, radius } => {
                vec![(Shape::Sphere { radius: radius - INSIDE }, centre, Quat::IDENTITY)]
            }
            Self::Ellipsoid { centre, turn, radii } => {
                vec![(Shape::Ellipsoid { radii: radii - INSIDE }, centre, turn)]
            }
            Self::Limb { ends: [a, b], radii: [ra, rb] }
            | Self::Bell { ends: [a, b], radii: [ra, rb] } => {
                // Follow the taper in steps.
                let pieces = ((ra - rb).abs() / TAPER_STEP).ceil().clamp(1.0, 8.0);
                let turn = Quat::from_rotation_arc(Vec3::Y, (b - a).normalize_or(Vec3::Y));
                let half_height = a.distance(b) * 0.5 / pieces;
                (0..pieces as usize)
                    .map(|i| {
                        let t = (i as f32 + 0.5) / pieces;
                        let radius = ra + (rb - ra) * t - INSIDE;
                        (Shape::Capsule { half_height, radius }, a.lerp(b, t), turn)
                    })
                    .collect()
            }
        }
    }
}

/// Depth of colliders below the surface (m).
const INSIDE: f32 = 0.0008;

/// Difference in radius of neighbouring capsules along a limb (m).
const TAPER_STEP: f32 = 0.005;

/// One part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) solid: Solid,
    /// Width of the fillet to the parts before it (m).
    pub(crate) fillet: f32,
    /// The bone that carries it.
    pub(crate) bone: usize,
    /// Its region, numbered by the figure.
    pub(crate) region: usize,
    /// Whether it is subtracted instead of added.
    pub(crate) hollow: bool,
    /// Whether it is too small for a collider.
    pub(crate) detail: bool,
}

impl Part {
    fn new(solid: Solid, fillet: f32, bone: usize, region: usize) -> Self {
        Self { solid, fillet, bone, region, hollow: false, detail: false }
    }
}

/// The parts, in the order in which they are joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    around: Vec<(Vec3, f32)>,
}

/// Distance (m) over which bone and region blend from one part to another.
const SOFT: f32 = 0.016;

/// Maximum number of regions of a figure.
pub(crate) const REGIONS: usize = 16;

impl Parts {
    fn push(&mut self, part: Part) -> &mut Part {
        self.around.push(part.solid.around());
        self.parts.push(part);
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, solid: Solid, fillet: f32, bone: usize, region: usize) {
        self.push(Part::new(solid, fillet, bone, region));
    }

    /// Adds a part on the left and its mirror image, each on its own bone.
    pub(crate) fn both(&mut self, solid: Solid, fillet: f32, bones: [usize; 2], region: usize) {
        self.add(solid, fillet, bones[0], region);
        self.add(solid.mirrored(), fillet, bones[1], region);
    }

    /// Adds something small that hair does not collide with.
    pub(crate) fn detail(&mut self, solid: Solid, fillet: f32, bone: usize, region: usize) {
        self.push(Part::new(solid, fillet, bone, region)).detail = true;
    }

    /// Adds something small on both sides that hair does not collide with.
    pub(crate) fn details(&mut self, solid: Solid, fillet: f32, bones: [usize; 2], region: usize) {
        self.detail(solid, fillet, bones[0], region);
        self.detail(solid.mirrored(), fillet, bones[1], region);
    }

    /// Subtracts a solid.
    pub(crate) fn hollow(&mut self, solid: Solid, fillet: f32, bone: usize, region: usize) {
        self.push(Part::new(solid, fillet, bone, region)).hollow = true;
    }

    /// The smooth union.
    pub(crate) fn value(&self, p: Vec3) -> f32 {
        let mut d = f32::INFINITY;
        for (part, &(middle, reach)) in self.parts.iter().zip(&self.around) {
            // Skip parts that are too far away to change anything.
            let nearest = p.distance(middle) - reach;
            let matters = if part.hollow { -d } else { d };
            if nearest > matters + part.fillet {
                continue;
            }
            let there = part.solid.value(p);
            let change = if part.hollow { carve } else { join };
            d = change(d, there, part.fillet);
        }
        d
    }

    /// A box around everything.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.parts.iter().zip(&self.around).filter(|(part, _)| !part.hollow).fold(
            start,
            |(lo, hi), (part, &(middle, reach))| match part.solid {
                Solid::Limb { ends, radii } | Solid::Bell { ends, radii } => (0..2)
                    .fold((lo, hi), |(lo, hi), k| {
                        (lo.min(ends[k] - radii[k]), hi.max(ends[k] + radii[k]))
                    }),
                _ => (lo.min(middle - reach), hi.max(middle + reach)),
            },
        )
    }

    /// Weight of each part at a point, largest for the nearest.
    fn part_weights(&self, p: Vec3, soft: f32) -> impl Iterator<Item = (&Part, f32)> {
        let values: Vec<f32> = self.parts.iter().map(|part| part.solid.value(p)).collect();
        let min = self
            .parts
            .iter()
            .zip(&values)
            .filter(|(part, _)| !part.hollow)
            .fold(f32::INFINITY, |min, (_, v)| min.min(*v));
        self.parts.iter().zip(values).filter(|(part, _)| !part.hollow).filter_map(
            move |(part, value)| {
                let away = (value - min) / soft;
                (away < 4.0).then(|| (part, (-away).exp() - (-4.0f32).exp()))
            },
        )
    }

    /// Skinning weights at a point of the surface.
    pub(crate) fn bone_weights(&self, p: Vec3) -> BoneWeights {
        let mut carried: Vec<(u16, f32)> = Vec::new();
        for (part, blend) in self.part_weights(p, SOFT) {
            match carried.iter_mut().find(|(bone, _)| usize::from(*bone) == part.bone) {
                // Take the maximum over the parts of a bone: the sum of many small ones would outweigh a large one.
                Some((_, weight)) => *weight = weight.max(blend),
                None => carried.push((part.bone as u16, blend)),
            }
        }
        carried.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        carried.truncate(4);
        let total: f32 = carried.iter().map(|c| c.1).sum();
        let mut weights = [(0, 0.0); 4];
        for (to, (bone, weight)) in weights.iter_mut().zip(carried) {
            *to = (bone, weight / total);
        }
        weights
    }

    /// Weight of each region at a point; the sum is 1.
    pub(crate) fn regions(&self, p: Vec3) -> [f32; REGIONS] {
        self.regions_within(p, SOFT)
    }

    /// [`Self::regions`] with borders that are `soft` metres wide, for colours of small details.
    pub(crate) fn regions_within(&self, p: Vec3, soft: f32) -> [f32; REGIONS] {
        let mut regions = [0.0f32; REGIONS];
        for (part, blend) in self.part_weights(p, soft) {
            let region = &mut regions[part.region.min(REGIONS - 1)];
            *region = region.max(blend);
        }
        let total: f32 = regions.iter().sum();
        regions.map(|blend| blend / total.max(1e-12))
    }

    /// Distance (m) to the nearest part of a region.
    pub(crate) fn distance_to(&self, region: usize, p: Vec3) -> f32 {
        let of_region = self.parts.iter().filter(|part| part.region == region && !part.hollow);
        of_region.fold(f32::INFINITY, |min, part| min.min(part.solid.value(p)))
    }

    /// Distance (m) to the nearest subtracted solid: about 0 on the walls it left.
    pub(crate) fn distance_to_hollow(&self, p: Vec3) -> f32 {
        let hollows = self.parts.iter().filter(|part| part.hollow);
        hollows.fold(f32::INFINITY, |min, part| min.min(part.solid.value(p)))
    }

    /// Convex shapes inside the parts.
    pub(crate) fn colliders(&self) -> Vec<Collider> {
        self.parts
            .iter()
            .filter(|part| !part.detail && !part.hollow)
            .flat_map(|part| {
                let shapes = part.solid.shapes().into_iter();
                shapes.map(|(shape, at, turn)| Collider::new(shape, at, turn, part.bone))
            })
            .collect()
    }
}

/// An ellipsoid along the axes.
pub(crate) fn egg(centre: [f32; 3], radii: [f32; 3]) -> Solid {
    turned_egg(centre, Quat::IDENTITY, radii)
}

/// A rotated ellipsoid.
pub(crate) fn turned_egg(centre: [f32; 3], turn: Quat, radii: [f32; 3]) -> Solid {
    Solid::Ellipsoid { centre: centre.into(), turn, radii: radii.into() }
}

/// A ball.
pub(crate) fn ball(centre: [f32; 3], radius: f32) -> Solid {
    Solid::Ball { centre: centre.into(), radius }
}

/// A limb from `a` to `b`.
pub(crate) fn tube(a: [f32; 3], b: [f32; 3], radii: [f32; 2]) -> Solid {
    Solid::Limb { ends: [a.into(), b.into()], radii }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Parts {
        let mut parts = Parts::default();
        parts.add(egg([0.0; 3], [0.10, 0.12, 0.08]), 0.02, 0, 0);
        parts.both(tube([0.08, 0.0, 0.0], [0.30, 0.0, 0.0], [0.04, 0.02]), 0.03, [1, 2], 1);
        parts.hollow(ball([0.0, 0.0, 0.08], 0.03), 0.01, 0, 2);
        parts
    }

    #[test]
    fn skipping_far_parts_changes_nothing() {
        let parts = two();
        for i in 0..2000 {
            let t = i as f32 * 0.37;
            let p = Vec3::new((t * 1.3).sin(), (t * 0.7).cos(), (t * 2.1).sin()) * 0.4;
            let slow = parts.parts.iter().fold(f32::INFINITY, |d, part| {
                let there = part.solid.value(p);
                if part.hollow { carve(d, there, part.fillet) } else { join(d, there, part.fillet) }
            });
            // Ellipsoids are not exact far away, so a far part may be skipped a little early.
            assert!((slow - parts.value(p)).abs() < 2e-3, "{p}: {slow} {}", parts.value(p));
        }
    }

    #[test]
    fn weights_add_up_and_each_side_follows_its_bone() {
        let parts = two();
        for (p, bone) in [
            (Vec3::new(0.3, 0.02, 0.0), 1),
            (Vec3::new(-0.3, 0.02, 0.0), 2),
            (Vec3::new(0.0, 0.12, 0.0), 0),
        ] {
            let weights = parts.bone_weights(p);
            assert!((weights.iter().map(|w| w.1).sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(weights[0].0 == bone && weights[0].1 > 0.9, "{weights:?}");
            assert!((parts.regions(p).iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn colliders_lie_inside() {
        let parts = two();
        for collider in parts.colliders() {
            let Shape::Capsule { half_height, radius } = collider.shape else { continue };
            let end = collider.world_from_shape.point(Vec3::Y * half_height);
            assert!(parts.value(end) < -0.8 * radius, "{collider:?}");
        }
    }
}
