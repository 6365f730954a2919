//! Closest point on a triangle mesh: a bounding volume hierarchy, built once to bind roots.

use glam::Vec3;

use super::triangle_mesh::TriangleMesh;

/// The closest point on a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleHit {
    /// Which triangle.
    pub triangle: usize,
    /// Barycentric coordinates: weights of its corners.
    pub barycentric: [f32; 3],
    /// The point (m).
    pub point: Vec3,
}

/// Answers closest-point queries on a mesh that does not move.
pub struct ClosestTriangle<'a> {
    mesh: &'a TriangleMesh,
    nodes: Vec<Node>,
    order: Vec<u32>,
}

/// A box over `order[first..first + count]`. An inner node's children are the next node and `right`.
struct Node {
    lo: Vec3,
    hi: Vec3,
    first: u32,
    count: u32,
    right: u32,
}

/// Largest number of triangles per leaf: for fewer, the test of a box costs more than that of the triangles.
const LEAF: usize = 4;

impl<'a> ClosestTriangle<'a> {
    /// `None` if the mesh has no triangle.
    pub fn new(mesh: &'a TriangleMesh) -> Option<Self> {
        if mesh.triangles.is_empty() {
            return None;
        }
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        let centres: Vec<Vec3> =
            (0..mesh.triangles.len()).map(|t| mesh.corners(t).iter().sum::<Vec3>() / 3.0).collect();
        let mut nodes = Vec::new();
        build(mesh, &centres, &mut order, 0, &mut nodes);
        Some(Self { mesh, nodes, order })
    }

    /// The point of the mesh that is closest to `p`; of equally close ones, the first in the traversal.
    pub fn closest(&self, p: Vec3) -> TriangleHit {
        let mut best = TriangleHit { triangle: 0, barycentric: [1.0, 0.0, 0.0], point: p };
        let mut best_distance2 = f32::INFINITY;
        let mut stack = vec![0u32];
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n as usize];
            if distance2_box(p, node) >= best_distance2 {
                continue;
            }
            if node.right == 0 {
                for &t in &self.order[node.first as usize..(node.first + node.count) as usize] {
                    let (point, barycentric) =
                        closest_point_triangle(p, self.mesh.corners(t as usize));
                    let d2 = point.distance_squared(p);
                    if d2 < best_distance2 {
                        best_distance2 = d2;
                        best = TriangleHit { triangle: t as usize, barycentric, point };
                    }
                }
            } else {
                // Push the nearer child last, so that it is visited first.
                let (a, b) = (n + 1, node.right);
                let a_first = distance2_box(p, &self.nodes[a as usize])
                    <= distance2_box(p, &self.nodes[b as usize]);
                stack.extend(if a_first { [b, a] } else { [a, b] });
            }
        }
        best
    }
}

fn build(
    mesh: &TriangleMesh,
    centres: &[Vec3],
    order: &mut [u32],
    first: usize,
    nodes: &mut Vec<Node>,
) {
    let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &t in order.iter() {
        for c in mesh.corners(t as usize) {
            (lo, hi) = (lo.min(c), hi.max(c));
        }
    }
    let this = nodes.len();
    nodes.push(Node { lo, hi, first: first as u32, count: order.len() as u32, right: 0 });
    if order.len() > LEAF {
        let size = hi - lo;
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&a, &b| {
            centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(middle);
        build(mesh, centres, left, first, nodes);
        nodes[this].right = nodes.len() as u32;
        build(mesh, centres, right, first + middle, nodes);
    }
}

fn distance2_box(p: Vec3, node: &Node) -> f32 {
    (p - p.clamp(node.lo, node.hi)).length_squared()
}

/// The point of a triangle that is closest to `p`, with its barycentric coordinates.
///
/// Model: Voronoi regions of the corners, the edges and the face, tested in that order (Ericson,
/// *Real-Time Collision Detection*, 5.1.5).
pub fn closest_point_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, [f32; 3]) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, [1.0, 0.0, 0.0]);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, [0.0, 1.0, 0.0]);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return (a + ab * v, [1.0 - v, v, 0.0]);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, [0.0, 0.0, 1.0]);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return (a + ac * w, [1.0 - w, 0.0, w]);
    }
    let va = d3 * d6 - d5 * d4;
    let (e1, e2) = (d4 - d3, d5 - d6);
    if va <= 0.0 && e1 >= 0.0 && e2 >= 0.0 {
        let w = e1 / (e1 + e2);
        return (b + (c - b) * w, [0.0, 1.0 - w, w]);
    }
    let sum = va + vb + vc;
    let (v, w) = (vb / sum, vc / sum);
    (a + ab * v + ac * w, [1.0 - v - w, v, w])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math::testing::vec3;

    proptest! {
        /// No point of a fine barycentric lattice on the triangle is closer.
        #[test]
        fn nothing_on_the_triangle_is_closer(
            p in vec3(1.0),
            a in vec3(1.0),
            b in vec3(1.0),
            c in vec3(1.0),
        ) {
            let (q, w) = closest_point_triangle(p, [a, b, c]);
            prop_assert!((a * w[0] + b * w[1] + c * w[2]).distance(q) < 1e-5);
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (i as f32 / 20.0, j as f32 / 20.0);
                    let on = a * (1.0 - u - v) + b * u + c * v;
                    prop_assert!(p.distance(q) <= p.distance(on) + 1e-5);
                }
            }
        }

        /// The hierarchy gives the same result as a loop over all triangles.
        #[test]
        fn hierarchy_agrees_with_brute_force(
            positions in proptest::collection::vec(vec3(1.0), 12..40), p in vec3(1.0)
        ) {
            let n = positions.len() as u32;
            let triangles = (0..n - 2).map(|i| [i, (i * 7 + 1) % n, (i * 5 + 3) % n]).collect();
            let mesh = TriangleMesh { positions, triangles };
            let hit = ClosestTriangle::new(&mesh).unwrap().closest(p);
            let brute = (0..mesh.triangles.len())
                .map(|t| closest_point_triangle(p, mesh.corners(t)).0.distance(p))
                .fold(f32::INFINITY, f32::min);
            prop_assert!((hit.point.distance(p) - brute).abs() < 1e-6);
        }
    }
}
