//! Meshes of implicit solids: one vertex per cell that the surface passes through, one quad per
//! lattice edge that crosses it (naive surface nets), then every vertex is moved onto the surface.

use coif::body::TriangleMesh;
use glam::{IVec3, Vec3};
use rayon::prelude::*;

use crate::implicit::Implicit;

/// Cells along the edge of a block; blocks that the surface cannot reach are skipped.
const BLOCK: i32 = 8;

/// Steps along the gradient that move a vertex onto the surface.
const POLISH: usize = 4;

/// Meshes `solid` with triangles of about `cell` metres. Counter-clockwise seen from outside.
pub fn mesh(solid: &dyn Implicit, cell: f32) -> TriangleMesh {
    let (lo, hi) = solid.bounds();
    let lo = lo - Vec3::splat(2.0 * cell);
    let cells = ((hi + Vec3::splat(2.0 * cell) - lo) / cell).ceil().as_ivec3();
    let nodes = cells + IVec3::ONE;
    let index = |c: IVec3| ((c.z * nodes.y + c.y) * nodes.x + c.x) as usize;
    let place = |c: IVec3| lo + c.as_vec3() * cell;

    // Sample the solid, slab by slab; far from the surface one value serves a whole block.
    let slabs = (nodes.z + BLOCK - 1) / BLOCK;
    let values: Vec<f32> = (0..slabs)
        .into_par_iter()
        .flat_map_iter(|slab| {
            let z0 = slab * BLOCK;
            let depth = BLOCK.min(nodes.z - z0);
            let mut out = vec![0.0; (nodes.x * nodes.y * depth) as usize];
            for y0 in (0..nodes.y).step_by(BLOCK as usize) {
                for x0 in (0..nodes.x).step_by(BLOCK as usize) {
                    let origin = IVec3::new(x0, y0, z0);
                    let middle = solid.value(place(origin + IVec3::splat(BLOCK / 2)));
                    let reach = cell * BLOCK as f32 * 0.87 * 1.6;
                    for z in z0..z0 + depth {
                        for y in y0..(y0 + BLOCK).min(nodes.y) {
                            for x in x0..(x0 + BLOCK).min(nodes.x) {
                                let at = ((z - z0) * nodes.y + y) * nodes.x + x;
                                out[at as usize] = if middle.abs() > reach {
                                    middle
                                } else {
                                    solid.value(place(IVec3::new(x, y, z)))
                                };
                            }
                        }
                    }
                }
            }
            out
        })
        .collect();

    // Put a vertex into every cell with a change of sign, at the mean of the crossings.
    let mut vertex_of = vec![u32::MAX; values.len()];
    let mut positions = Vec::new();
    for z in 0..cells.z {
        for y in 0..cells.y {
            for x in 0..cells.x {
                let c = IVec3::new(x, y, z);
                if let Some(p) = mean_crossing(c, &|n| values[index(n)]) {
                    vertex_of[index(c)] = positions.len() as u32;
                    positions.push(lo + p * cell);
                }
            }
        }
    }
    // Join the four cells around every lattice edge that crosses the surface.
    let mut triangles = Vec::new();
    let axes = [IVec3::X, IVec3::Y, IVec3::Z];
    for z in 1..cells.z {
        for y in 1..cells.y {
            for x in 1..cells.x {
                let c = IVec3::new(x, y, z);
                for k in 0..3 {
                    let (a, b) = (values[index(c)], values[index(c + axes[k])]);
                    if (a < 0.0) == (b < 0.0) {
                        continue;
                    }
                    let (u, v) = (axes[(k + 1) % 3], axes[(k + 2) % 3]);
                    let quad = [c - u - v, c - v, c, c - u].map(|n| vertex_of[index(n)]);
                    let [p, q, r, s] =
                        if a < 0.0 { quad } else { [quad[3], quad[2], quad[1], quad[0]] };
                    triangles.extend([[p, q, r], [p, r, s]]);
                }
            }
        }
    }
    // Move the vertices onto the surface along the gradient.
    positions.par_iter_mut().for_each(|p| {
        for _ in 0..POLISH {
            *p -= solid.normal(*p) * solid.value(*p).clamp(-0.5 * cell, 0.5 * cell);
        }
    });
    TriangleMesh { positions, triangles }
}

/// Mean of the places where the surface crosses the edges of a cell, in lattice units.
fn mean_crossing(c: IVec3, value: &dyn Fn(IVec3) -> f32) -> Option<Vec3> {
    let corner = |i: i32| c + IVec3::new(i & 1, (i >> 1) & 1, (i >> 2) & 1);
    let at: [f32; 8] = std::array::from_fn(|i| value(corner(i as i32)));
    let inside = at.iter().filter(|v| **v < 0.0).count();
    if inside == 0 || inside == 8 {
        return None;
    }
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for i in 0..8 {
        for bit in [1, 2, 4] {
            let j = i | bit;
            if j != i && (at[i] < 0.0) != (at[j] < 0.0) {
                let t = at[i] / (at[i] - at[j]);
                sum += corner(i as i32).as_vec3().lerp(corner(j as i32).as_vec3(), t);
                count += 1.0;
            }
        }
    }
    Some(sum / count)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A ball of 10 cm.
    pub(crate) struct Ball;

    impl Implicit for Ball {
        fn value(&self, p: Vec3) -> f32 {
            p.length() - 0.1
        }
        fn bounds(&self) -> (Vec3, Vec3) {
            (Vec3::splat(-0.1), Vec3::splat(0.1))
        }
    }

    #[test]
    fn a_ball_is_closed_round_and_faces_outwards() {
        let mesh = mesh(&Ball, 0.01);
        assert!(mesh.validate().is_ok());
        assert!(mesh.positions.iter().all(|p| (p.length() - 0.1).abs() < 1e-4));
        // Closed: the Euler characteristic of a sphere. Outwards: the volume by the divergence theorem.
        let edges = mesh.triangles.len() * 3 / 2;
        assert_eq!(mesh.positions.len() + mesh.triangles.len() - edges, 2);
        let volume: f32 = (0..mesh.triangles.len())
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        assert!((volume / 4.18879e-3 - 1.0).abs() < 0.02, "{volume}");
    }
}
