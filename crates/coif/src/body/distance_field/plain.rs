//! The textbook version of the same task, with the methods of `muller2012` 3.7: each triangle against the nodes of its
//! widened box, sides by pseudo-normals, fast marching with a heap, velocities averaged outward. Tests compare
//! [`super::DistanceField`] with it, and `coif bench` measures the speed-up over it.
//!
//! It is correct for closed meshes without self-intersections; nothing is repaired.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec3;

use super::grid::Grid;
use super::pseudo_normal::{Rings, Surface, closest_point};
use super::{SLACK, Settings};
use crate::Result;

/// A field on nodes, x first.
#[derive(Debug, Clone, Default)]
pub struct PlainDistanceField {
    /// Position of the first node (m).
    pub origin: Vec3,
    /// Edge of a cell (m).
    pub cell: f32,
    /// Nodes along x, y, z.
    pub dims: [usize; 3],
    /// Signed (m); infinite beyond the reach.
    pub distance: Vec<f32>,
    /// Of the surface (m/s).
    pub velocity: Vec<Vec3>,
}

impl PlainDistanceField {
    /// Builds the field of a mesh; see [`super::DistanceField::rebuild`].
    pub fn build(
        triangles: &[[u32; 3]],
        positions: &[Vec3],
        velocities: &[Vec3],
        settings: &Settings,
    ) -> Result<Self> {
        settings.validate()?;
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &p in positions {
            (lo, hi) = (lo.min(p), hi.max(p));
        }
        if !lo.is_finite() || !hi.is_finite() {
            return Ok(Self::default());
        }
        let grid = Grid::fit(lo, hi, settings);
        let [nx, ny, nz] = grid.xyz.len;
        let mut field = Self {
            origin: grid.origin,
            cell: grid.cell,
            dims: grid.xyz.len,
            distance: vec![f32::INFINITY; nx * ny * nz],
            velocity: vec![Vec3::ZERO; nx * ny * nz],
        };
        let vertices: Vec<[f32; 4]> =
            positions.iter().map(|&p| grid.in_cells(p).extend(0.0).to_array()).collect();
        let rings = Rings::new(triangles);
        let surface = Surface { triangles, vertices: &vertices, rings: &rings };
        field.fill_band(&surface, velocities, settings.band + SLACK);
        field.march(settings.reach * grid.inverse_cell);
        for d in &mut field.distance {
            *d *= grid.cell;
        }
        Ok(field)
    }

    /// Index of a node.
    pub fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.dims[0] * (y + self.dims[1] * z)
    }

    fn fill_band(&mut self, surface: &Surface<'_>, velocities: &[Vec3], band: f32) {
        for (t, corners) in surface.triangles.iter().enumerate() {
            if corners.iter().any(|&v| v as usize >= surface.vertices.len()) {
                continue;
            }
            let [a, b, c] = surface.corners(t as u32);
            let first = (a.min(b).min(c) - band).ceil().max(Vec3::ZERO).as_uvec3();
            let last = (a.max(b).max(c) + band).floor().max(Vec3::ZERO).as_uvec3();
            let end = [0, 1, 2].map(|i| (last[i] as usize + 1).min(self.dims[i]));
            for z in first.z as usize..end[2] {
                for y in first.y as usize..end[1] {
                    for x in first.x as usize..end[0] {
                        let p = Vec3::new(x as f32, y as f32, z as f32);
                        let (q, weights) = closest_point(p, [a, b, c]);
                        let distance = p.distance(q);
                        let i = self.index([x, y, z]);
                        if distance < band && distance < self.distance[i].abs() {
                            let front = surface.in_front(p, t as u32);
                            self.distance[i] = if front { distance } else { -distance };
                            let velocity = |i: usize| {
                                velocities.get(corners[i] as usize).copied().unwrap_or_default()
                            };
                            self.velocity[i] = velocity(0) * weights[0]
                                + velocity(1) * weights[1]
                                + velocity(2) * weights[2];
                        }
                    }
                }
            }
        }
    }

    /// Fast marching: accept the nearest node, and estimate its neighbours anew.
    fn march(&mut self, reach: f32) {
        let exact: Vec<bool> = self.distance.iter().map(|d| d.is_finite()).collect();
        let mut known = vec![false; self.distance.len()];
        let mut queue = BinaryHeap::new();
        for (i, d) in self.distance.iter().enumerate().filter(|(_, d)| d.is_finite()) {
            // Distances are positive, so that their bits are ordered as they are.
            queue.push(Reverse((d.abs().to_bits(), i)));
        }
        while let Some(Reverse((bits, i))) = queue.pop() {
            if known[i] || bits != self.distance[i].abs().to_bits() {
                continue;
            }
            known[i] = true;
            for (_, j) in self.neighbours(i).into_iter().flatten() {
                if known[j] || exact[j] {
                    continue;
                }
                let Some((distance, velocity)) = self.estimate(j, &known) else { continue };
                if distance < self.distance[j].abs() && distance <= reach {
                    self.distance[j] = distance.copysign(self.distance[i]);
                    self.velocity[j] = velocity;
                    queue.push(Reverse((distance.to_bits(), j)));
                }
            }
        }
    }

    /// The distance that solves |grad d| = 1 with the known neighbours, and their mean velocity.
    fn estimate(&self, i: usize, known: &[bool]) -> Option<(f32, Vec3)> {
        let mut least = [f32::INFINITY; 3];
        let (mut velocity, mut count) = (Vec3::ZERO, 0.0);
        for (axis, j) in self.neighbours(i).into_iter().flatten().filter(|&(_, j)| known[j]) {
            least[axis] = least[axis].min(self.distance[j].abs());
            velocity += self.velocity[j];
            count += 1.0;
        }
        least.sort_by(f32::total_cmp);
        let [a, b, c] = least;
        if count == 0.0 {
            return None;
        }
        // Use one, two or three axes, as long as the result is beyond all that are used.
        let mut distance = a + 1.0;
        if distance > b {
            distance = 0.5 * (a + b + (2.0 - (a - b) * (a - b)).max(0.0).sqrt());
        }
        if distance > c {
            let (sum, squares) = (a + b + c, a * a + b * b + c * c);
            distance = (sum + (sum * sum - 3.0 * (squares - 1.0)).max(0.0).sqrt()) / 3.0;
        }
        Some((distance, velocity / count))
    }

    /// The six neighbours with their axis, as far as there are.
    fn neighbours(&self, i: usize) -> [Option<(usize, usize)>; 6] {
        let [nx, ny, nz] = self.dims;
        let at = [i % nx, i / nx % ny, i / (nx * ny)];
        let step = [1, nx, nx * ny];
        let last = [nx - 1, ny - 1, nz - 1];
        let back = |axis: usize| (at[axis] > 0).then(|| (axis, i - step[axis]));
        let forth = |axis: usize| (at[axis] < last[axis]).then(|| (axis, i + step[axis]));
        [back(0), forth(0), back(1), forth(1), back(2), forth(2)]
    }
}
