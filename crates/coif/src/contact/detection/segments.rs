//! The segments of all strands, and the closest points of two of them.
//!
//! Segment `i` is the one from point `i` of the chains to point `i + 1`; no segment starts at the tip of a strand. So
//! segments need no table of their own, and neighbours on a strand are neighbours in memory.

use glam::{DVec3, Vec3};

use crate::contact::{Chains, Place};
use crate::limits::MAX_GROOM_COORDINATE;

/// Squared sine of the angle below which two segments count as parallel: about the resolution of double precision.
const PARALLEL: f64 = 1e-13;

/// The segments of all chains, and the inverse masses of their points.
#[derive(Debug, Clone)]
pub struct Segments {
    /// Per point: its chain.
    strand: Vec<u32>,
    /// Per point: one over its mass (1/kg), zero if it is embedded in the scalp.
    inverse_mass: Vec<f32>,
    /// Per point: distance from the root along the chain at rest (m).
    arc_length: Vec<f32>,
    count: usize,
}

impl Segments {
    /// The segments of these chains. Masses are scaled by `mass_scale`, which is 1 for dry hair.
    pub fn new(chains: &Chains, mass_scale: f32) -> Self {
        let inverse = |(mass, pinned): (&f32, &bool)| {
            let inverse = 1.0 / (mass * mass_scale);
            if *pinned || !inverse.is_finite() { 0.0 } else { inverse }
        };
        let strand = (0..chains.count()).flat_map(|c| chains.points_of(c).map(move |_| c as u32));
        Self {
            strand: strand.collect(),
            inverse_mass: chains.mass().iter().zip(chains.pinned()).map(inverse).collect(),
            arc_length: chains.arc_length().to_vec(),
            count: chains.points() - chains.count(),
        }
    }

    /// A place on a segment, 0 at its first point and 1 at the next.
    pub fn place(&self, segment: u32, at: f32) -> Place {
        let first = segment as usize;
        let (from, to) = (self.arc_length[first], self.arc_length[first + 1]);
        Place { chain: self.strand[first], arc_length: from + (to - from) * at }
    }

    /// Reorders the points: the new number i is the old number `order[i]`; points of a strand must stay together. An order
    /// that is not a permutation changes nothing.
    pub(in crate::contact) fn arrange(&mut self, order: &[u32]) {
        let mut used = vec![false; self.points()];
        let mut is_new =
            |p: &u32| used.get_mut(*p as usize).is_some_and(|s| !std::mem::replace(s, true));
        if order.len() == self.points() && order.iter().all(&mut is_new) {
            self.strand = order.iter().map(|&p| self.strand[p as usize]).collect();
            for values in [&mut self.inverse_mass, &mut self.arc_length] {
                *values = order.iter().map(|&p| values[p as usize]).collect();
            }
        }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.strand.len()
    }

    /// Number of segments.
    pub fn count(&self) -> usize {
        self.count
    }

    /// One over the mass of each point (1/kg); zero if it cannot be moved.
    pub fn inverse_mass(&self) -> &[f32] {
        &self.inverse_mass
    }

    /// Whether a segment starts at this point.
    #[inline]
    pub(in crate::contact) fn starts(&self, point: usize) -> bool {
        point + 1 < self.strand.len() && self.strand[point] == self.strand[point + 1]
    }

    /// Whether two segments are of different strands, or at least `apart` segments from each other.
    #[inline]
    pub(in crate::contact) fn may_collide(&self, a: u32, b: u32, apart: u32) -> bool {
        a.abs_diff(b) >= apart || self.strand[a as usize] != self.strand[b as usize]
    }
}

/// Whether contact can be computed at the coordinates of a point.
#[inline]
pub(in crate::contact) fn usable(p: Vec3) -> bool {
    p.abs().max_element() < MAX_GROOM_COORDINATE && !p.is_nan()
}

/// The closest points of two segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// Barycentric coordinate along the first segment, 0..1.
    pub s: f32,
    /// Barycentric coordinate along the second segment, 0..1.
    pub t: f32,
    /// Offset from the point on the second to the point on the first (m).
    pub apart: Vec3,
}

impl Closest {
    /// Distance of the two points (m).
    pub fn distance(&self) -> f32 {
        self.apart.length()
    }
}

/// The closest points of the segments `a` and `b`.
///
/// Model: minimum of a convex function of two barycentric coordinates on the unit square. If that of the two lines
/// is outside, one coordinate is clamped, and the other follows from it.
/// The closest points of parallel segments are in the middle of their overlap. Segments of length zero count as points.
#[inline]
pub fn closest_points_segment_segment(a: [Vec3; 2], b: [Vec3; 2]) -> Closest {
    let (p, q) = (a[0].as_dvec3(), b[0].as_dvec3());
    closest_points(p, a[1].as_dvec3() - p, q, b[1].as_dvec3() - q)
}

/// The closest points of the segments from `p` to `p + u` and from `q` to `q + v`.
#[inline]
pub(in crate::contact) fn closest_points(p: DVec3, u: DVec3, q: DVec3, v: DVec3) -> Closest {
    let w = p - q;
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let unit = |x: f64| x.clamp(0.0, 1.0);
    let (s, t) = if uu <= f64::MIN_POSITIVE {
        (0.0, if vv <= f64::MIN_POSITIVE { 0.0 } else { unit(vw / vv) })
    } else if vv <= f64::MIN_POSITIVE {
        (unit(-uw / uu), 0.0)
    } else {
        let area = uu * vv - uv * uv;
        let s = if area > PARALLEL * uu * vv {
            unit((uv * vw - vv * uw) / area)
        } else {
            // Take the middle of the overlap on the first.
            let (from, to) = (-uw / uu, (uv - uw) / uu);
            0.5 * (unit(from) + unit(to))
        };
        // Project on the second; if clamped, project back on the first.
        let t = (uv * s + vw) / vv;
        if (0.0..=1.0).contains(&t) { (s, t) } else { (unit((uv * unit(t) - uw) / uu), unit(t)) }
    };
    let apart = w + u * s - v * t;
    Closest { s: s as f32, t: t as f32, apart: apart.as_vec3() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::groom::{Fibre, Groom, Strands};

    fn vec3() -> impl Strategy<Value = Vec3> {
        // A coarse lattice makes parallel, collinear and crossing segments common.
        let lattice = (-2i32..3, -2i32..3, -2i32..3)
            .prop_map(|(x, y, z)| Vec3::new(x as f32, y as f32, z as f32) * 0.25);
        let free = (-0.5f32..0.5, -0.5f32..0.5, -0.5f32..0.5).prop_map(Vec3::from);
        prop_oneof![lattice, free]
    }

    fn distance_to_segment(x: Vec3, [a, b]: [Vec3; 2]) -> f32 {
        let d = b - a;
        let t = if d == Vec3::ZERO { 0.0 } else { ((x - a).dot(d) / d.dot(d)).clamp(0.0, 1.0) };
        x.distance(a + d * t)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// No pair of points of the two segments is nearer, and the result is a pair of their points.
        #[test]
        fn nothing_is_nearer(a in [vec3(), vec3()], b in [vec3(), vec3()]) {
            let c = closest_points_segment_segment(a, b);
            prop_assert!((0.0..=1.0).contains(&c.s) && (0.0..=1.0).contains(&c.t), "{c:?}");
            let (x, y) = (a[0].lerp(a[1], c.s), b[0].lerp(b[1], c.t));
            prop_assert!((x - y).distance(c.apart) < 1e-6, "{c:?}");
            for i in 0..=64 {
                let along = a[0].lerp(a[1], i as f32 / 64.0);
                prop_assert!(c.distance() <= distance_to_segment(along, b) + 1e-6, "{c:?}");
            }
            for end in b {
                prop_assert!(c.distance() <= distance_to_segment(end, a) + 1e-6, "{c:?}");
            }
            // The order of the segments does not matter for the distance.
            let d = closest_points_segment_segment(b, a).distance();
            prop_assert!((c.distance() - d).abs() < 1e-6);
        }

        /// Segments that are nearly parallel, for which single precision is not enough.
        #[test]
        fn nearly_parallel_segments_are_exact(
            tilt in -1e-4f32..1e-4, shift in -0.9f32..0.9, gap in 1e-4f32..1e-2
        ) {
            let a = [Vec3::ZERO, Vec3::X];
            let b = [Vec3::new(shift, gap, 0.0), Vec3::new(shift + 1.0, gap + tilt, 0.0)];
            let c = closest_points_segment_segment(a, b);
            let brute = [
                distance_to_segment(a[0], b), distance_to_segment(a[1], b),
                distance_to_segment(b[0], a), distance_to_segment(b[1], a),
            ];
            let min_distance = brute.into_iter().fold(f32::INFINITY, f32::min);
            prop_assert!((c.distance() - min_distance).abs() < 2e-7, "{} {min_distance}", c.distance());
        }
    }

    #[test]
    fn parallel_segments_are_closest_in_the_middle_of_their_overlap() {
        let a = [Vec3::ZERO, Vec3::X];
        let b = [Vec3::new(1.5, 0.1, 0.0), Vec3::new(0.5, 0.1, 0.0)];
        let c = closest_points_segment_segment(a, b);
        assert!((c.s - 0.75).abs() < 1e-6 && (c.t - 0.75).abs() < 1e-6, "{c:?}");
    }

    #[test]
    fn masses_are_scaled_and_embedded_points_have_infinite_mass() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::X * 0.01, Vec3::X * 0.03, Vec3::X * 0.04]);
        strands.push(&[Vec3::Y, Vec3::Y * 1.02]);
        let mut groom = Groom::new(strands, Fibre::default());
        groom.embedded[0] = 2;
        let segments = Segments::new(&Chains::of_strands(&groom), 2.0);
        assert_eq!(segments.count(), 4);
        let inverse = segments.inverse_mass();
        assert_eq!(&inverse[..2], &[0.0, 0.0]);
        let line = groom.fibre.mass_per_length(groom.fibre.radius);
        assert!((1.0 / inverse[2] - 2.0 * line * 0.015).abs() < 1e-12);
        let starts: Vec<bool> = (0..6).map(|p| segments.starts(p)).collect();
        assert_eq!(starts, [true, true, true, false, true, false]);
        assert!(!segments.may_collide(0, 2, 4) && segments.may_collide(2, 4, 4));
    }
}
