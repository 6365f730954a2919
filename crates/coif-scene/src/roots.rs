//! Roots of hairs: blue-noise points on a mesh with a density, and the normals to grow along.

use coif::body::TriangleMesh;
use coif::groom::RootBinding;
use glam::{IVec3, Vec3};

use crate::lattice;
use crate::random::Random;

/// A root on the scalp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    pub(crate) binding: RootBinding,
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
}

/// Maximum number of consecutive candidates at places without hair. The smallest patch of the built-in styles is a
/// thousandth of a head: the probability to miss it is e^-10000.
const MAX_BARE: u64 = 10_000_000;

/// Spreads exactly `count` roots over the mesh, with distances that follow `density` (0..1 at each point; nothing grows
/// where it is 0). `None` if it is 0 everywhere, or nearly everywhere.
///
/// Model: dart throwing over candidates in random order, with a radius that shrinks whenever no place for more is
/// found; so every prefix of the roots is evenly spread as well.
pub(crate) fn scatter(
    mesh: &TriangleMesh,
    normals: &[Vec3],
    density: impl Fn(usize, Vec3) -> f32,
    count: usize,
    seed: u64,
) -> Option<Vec<Root>> {
    // Sum up the area that can grow hair, triangle by triangle.
    let mut area_until = Vec::with_capacity(mesh.triangles.len());
    let mut area = 0.0f64;
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t);
        let grows = [a, b, c, (a + b + c) / 3.0].iter().any(|&p| density(t, p) > 0.0);
        if grows {
            area += f64::from((b - a).cross(c - a).length()) * 0.5;
        }
        area_until.push(area);
    }
    if area <= 0.0 {
        return None;
    }
    let mut random = Random::new(seed, 0x5ca1_7000);
    let mut candidate = || {
        let target = f64::from(random.unit()) * area;
        let t = area_until.partition_point(|&a| a <= target).min(mesh.triangles.len() - 1);
        let (mut u, mut v) = (random.unit(), random.unit());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        (t, [1.0 - u - v, u, v], random.unit())
    };
    // Start with a radius at which hexagonal packing would hold 1.6 times the count on the area.
    let mut radius = (area as f32 / count as f32 * 0.7).sqrt();
    let mut grid = Grid::new(mesh, radius);
    let mut roots: Vec<Root> = Vec::with_capacity(count);
    let (mut misses, mut bare) = (0, 0u64);
    while roots.len() < count {
        let (t, w, chance) = candidate();
        let [a, b, c] = mesh.corners(t);
        let p = a * w[0] + b * w[1] + c * w[2];
        let here = density(t, p);
        // Give up where almost none of the area grows hair: a triangle with one corner in a patch may be a thousand
        // kilometres long.
        bare = if here > 0.0 { 0 } else { bare + 1 };
        if bare > MAX_BARE {
            return None;
        }
        let wanted = radius / here.max(0.05).sqrt();
        if chance < here && grid.is_free(p, wanted) {
            grid.insert(p);
            let [na, nb, nc] = mesh.triangles[t].map(|v| normals[v as usize]);
            roots.push(Root {
                binding: RootBinding {
                    triangle: t as u32,
                    barycentric: w,
                    rest_frame: mesh.triangle_frame(t),
                    offset: Vec3::ZERO,
                },
                position: p,
                normal: (na * w[0] + nb * w[1] + nc * w[2]).normalize_or(Vec3::Y),
            });
            misses = 0;
        } else {
            misses += 1;
            // Shrink the radius when places become hard to find.
            if misses > 60 + roots.len() / 200 {
                radius *= 0.93;
                misses = 0;
            }
        }
    }
    Some(roots)
}

/// Points in the cubes of a lattice, for proximity queries.
struct Grid {
    lo: Vec3,
    cell: f32,
    size: IVec3,
    first: Vec<u32>,
    next: Vec<u32>,
    points: Vec<Vec3>,
}

impl Grid {
    fn new(mesh: &TriangleMesh, radius: f32) -> Self {
        let (lo, hi) = mesh.bounds().unwrap_or((Vec3::ZERO, Vec3::ONE));
        let (cell, size) = lattice::fit(hi - lo, radius, lattice::MAX_CUBES);
        let cubes = size.element_product() as usize;
        Self { lo, cell, size, first: vec![u32::MAX; cubes], next: Vec::new(), points: Vec::new() }
    }

    fn cube(&self, p: Vec3) -> IVec3 {
        ((p - self.lo) / self.cell).as_ivec3().clamp(IVec3::ZERO, self.size - IVec3::ONE)
    }

    fn index(&self, c: IVec3) -> usize {
        ((c.z * self.size.y + c.y) * self.size.x + c.x) as usize
    }

    fn insert(&mut self, p: Vec3) {
        let cube = self.index(self.cube(p));
        self.next.push(self.first[cube]);
        self.first[cube] = self.points.len() as u32;
        self.points.push(p);
    }

    fn is_free(&self, p: Vec3, radius: f32) -> bool {
        let (lo, hi) = (self.cube(p - Vec3::splat(radius)), self.cube(p + Vec3::splat(radius)));
        for z in lo.z..=hi.z {
            for y in lo.y..=hi.y {
                for x in lo.x..=hi.x {
                    let mut i = self.first[self.index(IVec3::new(x, y, z))];
                    while i != u32::MAX {
                        if self.points[i as usize].distance_squared(p) < radius * radius {
                            return false;
                        }
                        i = self.next[i as usize];
                    }
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> TriangleMesh {
        TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 0.0, 1.0), Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 3, 2]],
        }
    }

    #[test]
    fn any_count_is_reached_and_no_two_roots_are_close() {
        let mesh = square();
        let normals = mesh.vertex_normals();
        for count in [1, 2, 100, 3000] {
            let roots = scatter(&mesh, &normals, |_, _| 1.0, count, 3).unwrap();
            assert_eq!(roots.len(), count);
            if count == 3000 {
                let mut nearest: Vec<f32> = (0..count)
                    .map(|i| {
                        (0..count)
                            .filter(|&j| j != i)
                            .map(|j| roots[i].position.distance(roots[j].position))
                            .fold(f32::INFINITY, f32::min)
                    })
                    .collect();
                nearest.sort_by(f32::total_cmp);
                // Of random points some would be as close as a hundredth of the mean distance.
                let mean = (1.0 / count as f32).sqrt();
                assert!(nearest[0] > 0.45 * mean, "{} {mean}", nearest[0]);
            }
        }
    }

    #[test]
    fn density_is_followed() {
        let mesh = square();
        let normals = mesh.vertex_normals();
        let density = |_: usize, p: Vec3| if p.x < 0.5 { 1.0 } else { 0.25 };
        let roots = scatter(&mesh, &normals, density, 2000, 1).unwrap();
        let left = roots.iter().filter(|r| r.position.x < 0.5).count();
        assert!((1450..1750).contains(&left), "{left}");
        assert!(scatter(&mesh, &normals, |_, _| 0.0, 10, 1).is_none());
    }
}
