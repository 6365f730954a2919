//! Scatters roots over the root polygons of a hair mesh.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::style::hash;
use crate::groom::HairMesh;
use crate::groom::hair_mesh::polygon;

/// Places of a polygon that its area and density are measured at.
const PROBES: u32 = 64;

/// Places that are tried for one root before a polygon counts as full.
const TRIES: u32 = 400;

/// A place in a root polygon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootPlace {
    /// The bundle over the polygon.
    pub bundle: u32,
    /// Coordinates in the polygon.
    pub at: Vec2,
    /// Where that is in the rest shape (m).
    pub position: Vec3,
}

/// Spreads `count` roots over the root polygons in proportion to their area and to `density` (0..1 at each
/// place). The same seed gives the same places; any first part of them is evenly spread as well. Fewer
/// than `count`, or none, come back only where the density leaves no room.
///
/// Model: every polygon gets its quota of the roots, rounded so that they add up, at the points of a
/// sequence of low discrepancy (of the plastic number), of which more are kept where the polygon is wide
/// and the density high.
pub fn scatter(
    mesh: &HairMesh,
    count: usize,
    seed: u64,
    density: impl Fn(Vec3) -> f32 + Sync,
) -> Vec<RootPlace> {
    let polygons: Vec<Polygon> = (0..mesh.bundles.len())
        .into_par_iter()
        .map(|b| Polygon::new(mesh, b, seed, &density))
        .collect();
    let total: f64 = polygons.iter().map(|p| p.mass).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    // Give each polygon its quota; the last fractions go to the roots of largest remainder.
    let wanted = |p: &Polygon| p.mass / total * count as f64;
    let mut quotas: Vec<usize> = polygons.iter().map(|p| wanted(p).floor() as usize).collect();
    let mut order: Vec<usize> = (0..polygons.len()).collect();
    let remainder = |b: usize| wanted(&polygons[b]).fract();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b)));
    let missing = count.saturating_sub(quotas.iter().sum());
    for &b in order.iter().take(missing) {
        quotas[b] += 1;
    }
    let mut places: Vec<(f32, RootPlace)> = polygons
        .par_iter()
        .zip(&quotas)
        .flat_map_iter(|(polygon, &quota)| polygon.roots(quota, &density))
        .collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.bundle.cmp(&b.1.bundle)));
    places.into_iter().map(|(_, place)| place).collect()
}

struct Polygon {
    bundle: u32,
    corners: [Vec3; 4],
    count: usize,
    /// Area times mean density (m^2).
    mass: f64,
    /// Largest area per unit of the coordinates (m^2).
    widest: f32,
    start: u64,
}

impl Polygon {
    fn new(mesh: &HairMesh, bundle: usize, seed: u64, density: &impl Fn(Vec3) -> f32) -> Self {
        let b = &mesh.bundles[bundle];
        let mut corners = [Vec3::ZERO; 4];
        for (corner, &c) in corners.iter_mut().zip(b.columns()) {
            *corner = mesh.columns.strand(c as usize)[0];
        }
        let start = hash(seed, bundle as u64, 0x7007);
        let mut polygon = Self {
            bundle: bundle as u32,
            corners,
            count: b.corners(),
            mass: 0.0,
            widest: 0.0,
            start,
        };
        for i in 0..PROBES {
            let (at, _) = polygon.probe(i);
            let area = polygon.area_rate(at);
            polygon.widest = polygon.widest.max(area);
            let grows = density(polygon.point(at)).clamp(0.0, 1.0);
            polygon.mass += f64::from(area * grows) / f64::from(PROBES);
        }
        if polygon.count == 3 {
            polygon.mass *= 0.5;
        }
        polygon
    }

    /// The i-th place of the sequence, and a number in 0..1 beside it.
    fn probe(&self, i: u32) -> (Vec2, f32) {
        // The place steps by powers of the inverse of the root of x^3 = x + 1, the chance by the golden
        // ratio.
        const STEP: [f64; 3] =
            [0.754_877_666_246_692_7, 0.569_840_290_998_053_3, 0.618_033_988_749_894_9];
        let value = |axis: usize| {
            let from =
                (self.start.rotate_left(21 * axis as u32) >> 40) as f64 / (1u64 << 24) as f64;
            (from + STEP[axis] * f64::from(i + 1)).fract() as f32
        };
        let mut at = Vec2::new(value(0), value(1));
        if self.count == 3 && at.x + at.y > 1.0 {
            at = Vec2::ONE - at;
        }
        (at, value(2))
    }

    fn point(&self, at: Vec2) -> Vec3 {
        let w = polygon::weights(self.count, at);
        self.corners.iter().zip(w).map(|(&c, w)| c * w).sum()
    }

    /// Area per unit of the coordinates (m^2).
    fn area_rate(&self, at: Vec2) -> f32 {
        let [u, v] = polygon::weight_rates(self.count, at)
            .map(|w| self.corners.iter().zip(w).map(|(&c, w)| c * w).sum::<Vec3>());
        u.cross(v).length()
    }

    /// That many roots, each with its rank in the polygon, 0..1.
    fn roots(&self, quota: usize, density: &impl Fn(Vec3) -> f32) -> Vec<(f32, RootPlace)> {
        let mut roots = Vec::with_capacity(quota);
        let (mut i, mut misses) = (0u32, 0);
        while roots.len() < quota && misses < TRIES {
            let (at, chance) = self.probe(i);
            i += 1;
            let position = self.point(at);
            if chance * self.widest < self.area_rate(at) * density(position) {
                let rank = (roots.len() as f32 + 0.5) / quota as f32;
                roots.push((rank, RootPlace { bundle: self.bundle, at, position }));
                misses = 0;
            } else {
                misses += 1;
            }
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uneven() -> HairMesh {
        // Cells of very different size, some of them cut into triangles.
        let mut mesh = HairMesh::block([4, 3], 2, Vec3::new(1.0, 0.5, 1.0), true);
        for p in mesh.columns.positions_mut() {
            p.x += 0.6 * p.x * p.x.abs();
            p.z += 0.3 * p.z * p.x;
        }
        mesh
    }

    #[test]
    fn density_is_the_same_in_every_polygon_and_within_it() {
        let mesh = uneven();
        let count = 20_000;
        let roots = scatter(&mesh, count, 7, |_| 1.0);
        assert_eq!(roots.len(), count);
        // Count in squares of a grid over the plane, well inside.
        let cell = 0.05;
        let mut counts = Vec::new();
        for ix in -10..10 {
            for iz in -6..6 {
                let lo = Vec3::new(ix as f32, 0.0, iz as f32) * cell;
                let hi = lo + Vec3::splat(cell);
                let inside = |p: Vec3| p.x >= lo.x && p.x < hi.x && p.z >= lo.z && p.z < hi.z;
                counts.push(roots.iter().filter(|r| inside(r.position)).count() as f64);
            }
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance =
            counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / counts.len() as f64;
        // The variance of random points is their mean.
        println!("{mean} roots in a square, variance {variance}");
        assert!(variance < 0.25 * mean, "{mean} {variance}");
        // Polygons get their quota to one root.
        let all = mesh.root_triangles();
        let area_of = |b: usize| -> f64 {
            (0..all.1.len())
                .filter(|&t| all.1[t] as usize == b)
                .map(|t| {
                    let [p, q, r] = all.0.corners(t);
                    0.5 * f64::from((q - p).cross(r - p).length())
                })
                .sum()
        };
        let total: f64 = (0..mesh.bundles.len()).map(area_of).sum();
        for b in 0..mesh.bundles.len() {
            let found = roots.iter().filter(|r| r.bundle as usize == b).count() as f64;
            let expected = area_of(b) / total * count as f64;
            assert!((found - expected).abs() < 1.0 + 0.01 * expected, "{b}: {found} {expected}");
        }
    }

    #[test]
    fn a_first_part_is_spread_like_the_whole_and_density_is_followed() {
        let mesh = uneven();
        let roots = scatter(&mesh, 4000, 1, |p| if p.x < 0.0 { 1.0 } else { 0.25 });
        assert_eq!(roots.len(), 4000);
        let area = |left: bool| -> f64 {
            scatter(&mesh, 20_000, 2, |_| 1.0)
                .iter()
                .filter(|r| (r.position.x < 0.0) == left)
                .count() as f64
        };
        let expected = area(true) / (area(true) + 0.25 * area(false));
        for part in [400, 4000] {
            let left = roots[..part].iter().filter(|r| r.position.x < 0.0).count();
            let fraction = left as f64 / part as f64;
            assert!((fraction - expected).abs() < 0.04, "{part}: {fraction}, expected {expected}");
        }
        assert!(scatter(&mesh, 10, 1, |_| 0.0).is_empty());
        assert_eq!(scatter(&mesh, 100, 1, |_| 1.0), scatter(&mesh, 100, 1, |_| 1.0));
        assert_ne!(scatter(&mesh, 100, 1, |_| 1.0), scatter(&mesh, 100, 2, |_| 1.0));
    }

    #[test]
    fn no_two_roots_are_close() {
        let mesh = HairMesh::block([1, 1], 1, Vec3::ONE, false);
        let roots = scatter(&mesh, 2000, 3, |_| 1.0);
        let mean = (1.0f32 / 2000.0).sqrt();
        let nearest = (0..roots.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| roots[i].position.distance(roots[j].position))
            .fold(f32::INFINITY, f32::min);
        // Random points would come as close as a hundredth of the mean distance.
        println!("nearest {} of the mean distance", nearest / mean);
        assert!(nearest > 0.3 * mean, "{}", nearest / mean);
    }
}
