//! The nodes of the band: their distance, and the velocity of the closest point.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x8};
use glam::{Vec3, Vec4};

use super::grid::{Layout, WIDTH};
use super::lanes::V;
use super::near::Nearest;
use super::pseudo_normal::Surface;

/// A node in the band, whose distance is exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandNode {
    /// Place in the order x, y, z.
    pub(super) place: u32,
    /// Which node.
    pub(super) node: [u32; 3],
    /// Unsigned (cells).
    pub(super) distance: f32,
}

impl BandNode {
    pub(super) fn position(&self) -> Vec3 {
        Vec3::from(self.node.map(|n| n as f32))
    }
}

/// Collects the nodes that are nearer than `band` cells, in the order of the layout.
#[inline(always)]
pub(super) fn collect<S: Simd>(
    simd: S,
    layout: &Layout,
    band: f32,
    nearest: &Nearest,
    out: &mut Vec<BandNode>,
) {
    out.clear();
    let [nx, ny, nz] = layout.len;
    for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
        let row = layout.index(0, y, z);
        for x in (0..nx).step_by(WIDTH) {
            let i = row + x;
            let distance2 = f32x8::from_slice(simd, &nearest.distance2[i..i + WIDTH]);
            let mut bits = distance2.simd_lt(band * band).to_bitmask();
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if x + lane < nx {
                    out.push(BandNode {
                        place: (i + lane) as u32,
                        node: [(x + lane) as u32, y as u32, z as u32],
                        distance: nearest.distance2[i + lane].sqrt(),
                    });
                }
            }
        }
    }
}

/// Finds the velocities of the points closest to nodes of the band. The fourth component is set to one:
/// the velocity is known.
#[inline(always)]
pub(super) fn carry_velocities<S: Simd>(
    simd: S,
    surface: &Surface<'_>,
    nearest: &Nearest,
    band: &[BandNode],
    velocities: &[Vec3],
    out: &mut [Vec4],
) {
    let velocity = |v: u32| velocities.get(v as usize).copied().unwrap_or_default();
    for eight in band.chunks(WIDTH) {
        let mut point = [[0.0; WIDTH]; 3];
        let mut corner = [[0.0; WIDTH]; 9];
        let mut corners = [[0; 3]; WIDTH];
        for (lane, node) in eight.iter().enumerate() {
            corners[lane] = surface.triangles[nearest.triangle[node.place as usize] as usize];
            for axis in 0..3 {
                point[axis][lane] = node.node[axis] as f32;
            }
            for c in 0..3 {
                let v = surface.vertices[corners[lane][c] as usize];
                for axis in 0..3 {
                    corner[3 * c + axis][lane] = v[axis];
                }
            }
        }
        let p = V::load(simd, &point, 0);
        let [a, b, c] =
            [V::load(simd, &corner, 0), V::load(simd, &corner, 3), V::load(simd, &corner, 6)];
        let weights = closest_weights(simd, p, a, b, c);
        for (lane, node) in eight.iter().enumerate() {
            let [a, b, c] = corners[lane];
            let v = velocity(a) * weights.0[lane]
                + velocity(b) * weights.1[lane]
                + velocity(c) * weights.2[lane];
            let v = if v.is_finite() { v } else { Vec3::ZERO };
            out[node.place as usize] = v.extend(1.0);
        }
    }
}

/// Weights of the corners at the closest points of eight triangles.
#[inline(always)]
fn closest_weights<S: Simd>(simd: S, p: V<S>, a: V<S>, b: V<S>, c: V<S>) -> V<S> {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let tiny = f32x8::splat(simd, f32::MIN_POSITIVE);
    // Find the nearest edge, and the place on it.
    let (ab, ab2) = closest_on_edge(simd, p, a, b);
    let (bc, bc2) = closest_on_edge(simd, p, b, c);
    let (ca, ca2) = closest_on_edge(simd, p, c, a);
    let on_ab = V(one - ab, ab, zero);
    let on_edge = V(zero, one - bc, bc).or(bc2.simd_lt(ab2), on_ab);
    let on_edge = V(ca, zero, one - ca).or(ca2.simd_lt(ab2.min(bc2)), on_edge);
    // Take the foot in the plane instead if it is within the triangle.
    let (ab, ac, ap) = (b.minus(a), c.minus(a), p.minus(a));
    let normal = ab.cross(ac);
    let inverse = one / normal.dot(normal).max(tiny);
    let of_c = ab.cross(ap).dot(normal) * inverse;
    let of_b = ap.cross(ac).dot(normal) * inverse;
    let of_a = one - of_b - of_c;
    let within = of_a.min(of_b).min(of_c).simd_gt(zero);
    V(of_a, of_b, of_c).or(within, on_edge)
}

/// The fraction of the edge from `from` to `to` that is closest to `p`, and the squared distance.
#[inline(always)]
fn closest_on_edge<S: Simd>(simd: S, p: V<S>, from: V<S>, to: V<S>) -> (f32x8<S>, f32x8<S>) {
    let (edge, offset) = (to.minus(from), p.minus(from));
    let length2 = edge.dot(edge).max(f32x8::splat(simd, f32::MIN_POSITIVE));
    let t = (edge.dot(offset) / length2).max(f32x8::splat(simd, 0.0)).min(f32x8::splat(simd, 1.0));
    let gap = offset.minus(edge.times(t));
    (t, gap.dot(gap))
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::super::pseudo_normal::closest_point;
    use super::*;
    use crate::math::testing::vec3;

    #[inline(always)]
    fn weights<S: Simd>(simd: S, points: [Vec3; 4]) -> [f32; 3] {
        let splat = |v: f32| f32x8::splat(simd, v);
        let [p, a, b, c] = points.map(|v| V(splat(v.x), splat(v.y), splat(v.z)));
        let w = closest_weights(simd, p, a, b, c);
        [w.0[5], w.1[5], w.2[5]]
    }

    proptest! {
        #[test]
        fn weights_are_those_of_the_closest_point(
            points in [vec3(1.0), vec3(1.0), vec3(1.0), vec3(1.0)], flat in 0usize..4
        ) {
            let mut points = points;
            if flat == 0 {
                points[2] = points[1];
            }
            let w = dispatch!(Level::new(), simd => weights(simd, points));
            let [p, a, b, c] = points;
            let (q, _) = closest_point(p, [a, b, c]);
            let found = a * w[0] + b * w[1] + c * w[2];
            prop_assert!((found.distance(p) - q.distance(p)).abs() < 1e-4, "{found} for {q}");
            prop_assert!(w.iter().all(|w| (0.0..=1.0).contains(w)));
        }
    }
}
