//! Unit and axis of hair that grows on a head, from the place of its roots.
//!
//! A scalp is most of a sphere of a known size, open towards the face and the neck, and its hair hangs down. Nothing is
//! concluded from few strands, from short fur, or from roots that are not on such a cap: a coat all around an animal, a
//! brush, a single lock.

use coif::groom::Strands;
use coif::math::dense::solve_positive_definite;
use glam::{DVec3, Vec3};

use crate::Up;

/// Diameter (m) of the sphere through the roots on a head; that of three public grooms and a public scalp is 0.17 to 0.19.
pub(crate) const HEAD_DIAMETER_M: f32 = 0.185;

/// Minimum number of strands of a head of hair; fewer may be a lock.
const MIN_STRANDS: usize = 200;

/// Maximum root mean square distance of roots from their sphere, in radii; 0.06 to 0.11 on heads.
const MAX_DEVIATION: f64 = 0.16;

/// Distance of the mean root from the centre of the sphere, in radii: 0.36 to 0.40 on heads, 0 on a ball with fur all
/// around, 0.5 on a hemisphere, 1 on a small patch, whose sphere is uncertain.
const CAP: std::ops::RangeInclusive<f64> = 0.2..=0.65;

/// Minimum length of the median strand in diameters: hair of 2 to 3 cm. Shorter hair may be fur.
const MIN_LENGTH: f32 = 0.14;

/// Minimum z component of a direction (unit vectors) that is called z.
const MOSTLY: f32 = 0.85;

/// Minimum component of the direction to the mean root along the axis that points up: the cap is open towards the face
/// as well.
const CAP_UP: f32 = 0.5;

/// What the roots and the directions of hair tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeadOfHair {
    /// Diameter of the sphere through the roots, in the unit of the file.
    pub(crate) diameter: f32,
    /// The axis that points up, if the hair hangs along it.
    pub(crate) up: Option<Up>,
}

impl HeadOfHair {
    /// `None` if there is no evidence of a head.
    pub(crate) fn of(strands: &Strands) -> Option<Self> {
        if strands.strand_count() < MIN_STRANDS {
            return None;
        }
        let roots: Vec<Vec3> = strands.iter().filter_map(|s| s.first().copied()).collect();
        let (centre, radius) = sphere(&roots)?;
        let count = roots.len() as f64;
        let away = roots.iter().map(|p| p.as_dvec3().distance(centre) - radius);
        let deviation = (away.map(|d| d * d).sum::<f64>() / count).sqrt();
        let mean = roots.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
        let cap = mean - centre;
        let mut lengths: Vec<f32> =
            (0..strands.strand_count()).map(|s| strands.length(s)).collect();
        let middle = lengths.len() / 2;
        let median = *lengths.select_nth_unstable_by(middle, f32::total_cmp).1;
        let diameter = (2.0 * radius) as f32;
        let is_head = deviation <= MAX_DEVIATION * radius
            && CAP.contains(&(cap.length() / radius))
            && median >= MIN_LENGTH * diameter;
        if !(is_head && diameter.is_finite() && diameter > 0.0) {
            return None;
        }
        // Hair hangs down, and the cap is on top.
        let hang = mean_hang(strands).normalize_or_zero();
        let cap = cap.as_vec3().normalize_or_zero();
        let is_up = |axis: Vec3| hang.dot(axis) <= -MOSTLY && cap.dot(axis) >= CAP_UP;
        let up = [(Vec3::Y, Up::Y), (Vec3::Z, Up::Z)].into_iter().find(|(axis, _)| is_up(*axis));
        Some(Self { diameter, up: up.map(|(_, up)| up) })
    }
}

/// Mean of tip minus root, in the unit of the strands.
pub(crate) fn mean_hang(strands: &Strands) -> Vec3 {
    let ends = strands.iter().filter_map(|s| Some((s.first()?, s.last()?)));
    let sum: DVec3 = ends.map(|(root, tip)| tip.as_dvec3() - root.as_dvec3()).sum();
    (sum / strands.strand_count().max(1) as f64).as_vec3()
}

/// Centre and radius of the sphere through points.
///
/// Model: minimises the sum of (|p|^2 - 2 c p - k)^2 over the centre c and k = r^2 - |c|^2 (algebraic least squares).
fn sphere(points: &[Vec3]) -> Option<(DVec3, f64)> {
    let mean = points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / points.len() as f64;
    let size = points.iter().map(|p| p.as_dvec3().distance_squared(mean)).sum::<f64>();
    let size = (size / points.len() as f64).sqrt();
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    let (mut matrix, mut rhs) = ([0.0; 16], [0.0; 4]);
    for p in points {
        let p = (p.as_dvec3() - mean) / size;
        let row = [2.0 * p.x, 2.0 * p.y, 2.0 * p.z, 1.0];
        for i in 0..4 {
            rhs[i] += row[i] * p.length_squared();
            for j in 0..4 {
                matrix[4 * i + j] += row[i] * row[j];
            }
        }
    }
    if !solve_positive_definite(&mut matrix, &mut rhs) {
        return None;
    }
    let centre = DVec3::new(rhs[0], rhs[1], rhs[2]);
    let radius = (rhs[3] + centre.length_squared()).sqrt();
    (radius.is_finite() && centre.is_finite()).then(|| (mean + centre * size, radius * size))
}

/// A head of hair for tests: roots on a spherical cap of `diameter` that faces up and back, strands that hang along -y.
#[cfg(test)]
pub(crate) fn cap_of_hair(diameter: f32, count: usize, length: f32) -> Strands {
    let mut strands = Strands::new();
    let back_and_up = Vec3::new(0.0, 0.8, -0.6);
    let mut k = 0u32;
    while strands.strand_count() < count {
        // Take the points of a Fibonacci lattice on the sphere that are on the cap.
        let z = 1.0 - 2.0 * ((k as f32 * 0.618_034).fract());
        let angle = k as f32 * 2.399_963 * 7.0;
        let ring = (1.0 - z * z).sqrt();
        let out = Vec3::new(ring * angle.cos(), z, ring * angle.sin());
        if out.dot(back_and_up) > -0.2 {
            let root = out * diameter * 0.5;
            strands.push(&[root, root - Vec3::Y * length * 0.5, root - Vec3::Y * length]);
        }
        k += 1;
    }
    strands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_of_hair_is_a_head_of_its_diameter() {
        for unit in [1.0, 0.01, 0.003] {
            let strands = cap_of_hair(0.18 / unit, 800, 0.1 / unit);
            let head = HeadOfHair::of(&strands).unwrap();
            // The roots are on a sphere exactly, so only rounding is left.
            assert!((head.diameter * unit - 0.18).abs() < 1e-4, "{head:?}");
            assert_eq!(head.up, Some(Up::Y));
        }
    }

    #[test]
    fn the_axis_along_which_hair_hangs_from_its_cap_points_up() {
        let mut strands = cap_of_hair(0.18, 800, 0.1);
        strands.positions_mut().iter_mut().for_each(|p| *p = Vec3::new(p.x, -p.z, p.y));
        assert_eq!(HeadOfHair::of(&strands).unwrap().up, Some(Up::Z));
        // Hair that is blown to the back of a head along -z: its cap does not face along z.
        let mut blown = cap_of_hair(0.18, 800, 0.1);
        for s in 0..blown.strand_count() {
            let root = blown.strand(s)[0];
            blown.strand_mut(s)[1..].iter_mut().for_each(|p| {
                *p = root - Vec3::Z * (root.y - p.y);
            });
        }
        assert_eq!(HeadOfHair::of(&blown).unwrap().up, None);
    }

    #[test]
    fn nothing_is_concluded_from_few_strands_fur_or_flat_roots() {
        assert_eq!(HeadOfHair::of(&cap_of_hair(0.18, MIN_STRANDS - 1, 0.1)), None);
        // Fur of a centimetre.
        assert_eq!(HeadOfHair::of(&cap_of_hair(0.18, 800, 0.01)), None);
        // A long trunk, a flat brush, and roots in one point.
        for squeeze in [Vec3::new(1.0, 0.6, 4.0), Vec3::new(1.0, 0.0, 1.0), Vec3::ZERO] {
            let mut strands = cap_of_hair(0.18, 800, 0.2);
            for s in 0..strands.strand_count() {
                let moved = strands.strand(s)[0] * (squeeze - Vec3::ONE);
                strands.strand_mut(s).iter_mut().for_each(|p| *p += moved);
            }
            assert_eq!(HeadOfHair::of(&strands), None, "{squeeze}");
        }
    }
}
