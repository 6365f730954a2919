//! The frame of a vertex of a hair mesh: its position, the direction of its column, and a direction
//! across it.
//!
//! All three are linear in the positions of the vertex and its neighbours, with coefficients from the rest
//! shape. So they are unique and continuous in the positions, and their rates of change follow from the same
//! formula with velocities.

use glam::{Mat3, Vec3, Vec3A};
use rayon::prelude::*;

use crate::groom::HairMesh;

/// Vertices per task.
const CHUNK: usize = 512;

/// Smoothing iterations of the directions across columns.
const SMOOTHING: usize = 60;

/// Regularisation of the fit of a direction, as a fraction of the trace of its matrix, which is singular where
/// neighbours are few.
const RIDGE: f32 = 1e-6;

/// A vertex and its frame; or their rates of change.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Frame {
    /// Position (m).
    pub position: Vec3A,
    /// Derivative along the column, per layer (m). At rest about as long as the adjacent segments.
    pub along: Vec3A,
    /// Direction across the column. At rest a unit vector.
    pub across: Vec3A,
}

/// Computes the frames of a hair mesh's vertices.
#[derive(Debug, Clone)]
pub struct Frames {
    /// Per vertex: index of its first neighbour in `neighbours`; the total at the end.
    first: Vec<u32>,
    neighbours: Vec<Neighbour>,
}

/// Weights of the edge to a neighbour.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    vertex: u32,
    along: f32,
    across: f32,
}

impl Frames {
    /// For a valid hair mesh.
    pub fn new(mesh: &HairMesh) -> Self {
        let rest = mesh.positions();
        let (along_first, along) = along_stencils(mesh);
        let tangents: Vec<Vec3> = (0..rest.len())
            .map(|v| {
                let stencil = &along[along_first[v] as usize..along_first[v + 1] as usize];
                stencil.iter().map(|&(n, c)| (rest[n as usize] - rest[v]) * c).sum()
            })
            .collect();
        let across = across_neighbours(mesh);
        let directions = smooth_directions(mesh, &tangents, &across);
        let mut first = vec![0u32];
        let mut neighbours: Vec<Neighbour> = Vec::new();
        for v in 0..rest.len() {
            let start = neighbours.len();
            let stencil = &along[along_first[v] as usize..along_first[v + 1] as usize];
            neighbours.extend(stencil.iter().map(|&(vertex, along)| Neighbour {
                vertex,
                along,
                across: 0.0,
            }));
            for &vertex in &across[v] {
                neighbours.push(Neighbour { vertex, along: 0.0, across: 0.0 });
            }
            // Find the coefficients of least squares with which the edges to the neighbours sum to the
            // direction: e . (sum e e^T)^-1 d.
            let edge = |n: &Neighbour| rest[n.vertex as usize] - rest[v];
            let mut sum = Mat3::ZERO;
            for n in &neighbours[start..] {
                let e = edge(n);
                sum += Mat3::from_cols(e * e.x, e * e.y, e * e.z);
            }
            let ridge = RIDGE * (sum.x_axis.x + sum.y_axis.y + sum.z_axis.z);
            let solve = (sum + Mat3::from_diagonal(Vec3::splat(ridge.max(1e-30)))).inverse();
            let d = solve * directions[v];
            for n in &mut neighbours[start..] {
                n.across = edge(n).dot(d);
            }
            first.push(neighbours.len() as u32);
        }
        Self { first, neighbours }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.first.len() - 1
    }

    /// Writes the frames of vertices at these positions (m); with velocities (m/s) as input, the rates of the frames.
    /// Extra places at the end of `out` are not changed.
    pub fn update(&self, vertices: &[Vec3], out: &mut [Frame]) {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
            for (i, frame) in out.iter_mut().enumerate() {
                let v = chunk * CHUNK + i;
                if v < self.vertex_count() {
                    *frame = self.frame(vertices, v);
                }
            }
        });
    }

    fn frame(&self, vertices: &[Vec3], v: usize) -> Frame {
        let position = Vec3A::from(vertices[v]);
        let (mut along, mut across) = (Vec3A::ZERO, Vec3A::ZERO);
        for n in &self.neighbours[self.first[v] as usize..self.first[v + 1] as usize] {
            let edge = Vec3A::from(vertices[n.vertex as usize]) - position;
            along += edge * n.along;
            across += edge * n.across;
        }
        Frame { position, along, across }
    }
}

/// The derivative of a column's curve at its vertices, per layer, as a stencil: neighbours and coefficients.
///
/// Model: a cubic Hermite spline whose tangent is the weighted mean of the two adjacent segments, with more weight on the
/// shorter one, so that uneven layers do not overshoot; with even layers it is the Catmull-Rom
/// spline. The ends are natural: no curvature.
fn along_stencils(mesh: &HairMesh) -> (Vec<u32>, Vec<(u32, f32)>) {
    let mut first = vec![0u32];
    let mut stencils = Vec::new();
    // The tangent at an inner vertex k, as fractions of the segments before and after it.
    let inner = |line: &[Vec3], k: usize| {
        let (before, after) = (line[k].distance(line[k - 1]), line[k + 1].distance(line[k]));
        let sum = (before + after).max(f32::MIN_POSITIVE);
        (2.0 * (after / sum) * (after / sum), 2.0 * (before / sum) * (before / sum))
    };
    for c in 0..mesh.column_count() {
        let line = mesh.columns.strand(c);
        let v0 = mesh.columns.points_of(c).start as u32;
        let last = line.len() - 1;
        for k in 0..=last {
            let v = v0 + k as u32;
            if k > 0 && k < last {
                let (before, after) = inner(line, k);
                stencils.extend([(v - 1, -before), (v + 1, after)]);
            } else if last == 1 {
                stencils.push(if k == 0 { (v + 1, 1.0) } else { (v - 1, -1.0) });
            } else if k == 0 {
                // 1.5 d0 - 0.5 m1, with m1 = a d0 + b d1 and d1 = (x2 - x0) - (x1 - x0).
                let (a, b) = inner(line, 1);
                stencils.extend([(v + 1, 1.5 - 0.5 * a + 0.5 * b), (v + 2, -0.5 * b)]);
            } else {
                let (a, b) = inner(line, last - 1);
                stencils.extend([(v - 1, -(1.5 - 0.5 * b + 0.5 * a)), (v - 2, 0.5 * a)]);
            }
            first.push(stencils.len() as u32);
        }
    }
    (first, stencils)
}

/// Per vertex its neighbours on its own level, without duplicates, in ascending order.
fn across_neighbours(mesh: &HairMesh) -> Vec<Vec<u32>> {
    let mut across: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertex_count()];
    for bundle in &mesh.bundles {
        for side in 0..bundle.corners() {
            let [a, b] = bundle.side(side);
            for k in 0..=bundle.layers {
                let (p, q) = (mesh.vertex(a, k), mesh.vertex(b, k));
                across[p as usize].push(q);
                across[q as usize].push(p);
            }
        }
    }
    for list in &mut across {
        list.sort_unstable();
        list.dedup();
    }
    across
}

/// A direction perpendicular to the column at every vertex, smoothed over neighbours.
fn smooth_directions(mesh: &HairMesh, tangents: &[Vec3], across: &[Vec<u32>]) -> Vec<Vec3> {
    let unit = |v: usize| tangents[v].normalize_or(Vec3::Y);
    // Transport one direction from the mean tangent of the roots to each root, then along its column.
    let roots = (0..mesh.column_count()).map(|c| unit(mesh.columns.points_of(c).start));
    let mean = roots.sum::<Vec3>().normalize_or(Vec3::Y);
    let start = mean.any_orthonormal_vector();
    let mut directions = vec![Vec3::ZERO; tangents.len()];
    for c in 0..mesh.column_count() {
        let (mut tangent, mut direction) = (mean, start);
        for v in mesh.columns.points_of(c) {
            let turn = glam::Quat::from_rotation_arc(tangent, unit(v));
            (tangent, direction) = (unit(v), turn * direction);
            directions[v] = across_tangent(direction, unit(v));
        }
    }
    // Average every direction with those of its neighbours.
    let mut next = directions.clone();
    for _ in 0..SMOOTHING {
        for v in 0..tangents.len() {
            let (column, level) = mesh.locate(v);
            let line = mesh.columns.points_of(column);
            let mut sum = directions[v];
            if level > 0 {
                sum += directions[v - 1];
            }
            if v + 1 < line.end {
                sum += directions[v + 1];
            }
            sum += across[v].iter().map(|&n| directions[n as usize]).sum::<Vec3>();
            next[v] = across_tangent(sum, unit(v));
        }
        std::mem::swap(&mut directions, &mut next);
    }
    directions
}

/// The component of a direction perpendicular to a unit tangent, normalised.
fn across_tangent(direction: Vec3, tangent: Vec3) -> Vec3 {
    direction
        .reject_from_normalized(tangent)
        .try_normalize()
        .unwrap_or_else(|| tangent.any_orthonormal_vector())
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    fn frames_of(mesh: &HairMesh, vertices: &[Vec3]) -> Vec<Frame> {
        let mut out = vec![Frame::default(); vertices.len()];
        Frames::new(mesh).update(vertices, &mut out);
        out
    }

    #[test]
    fn frames_are_orthogonal_at_rest_with_a_unit_vector_across() {
        let mesh = HairMesh::block([3, 2], 4, Vec3::new(0.1, 0.4, 0.1), true);
        for frame in frames_of(&mesh, mesh.positions()) {
            assert!((frame.across.length() - 1.0).abs() < 1e-4, "{frame:?}");
            assert!((frame.along - Vec3A::Y * 0.1).length() < 1e-6, "{frame:?}");
            assert!(frame.across.dot(frame.along).abs() < 1e-5, "{frame:?}");
        }
    }

    #[test]
    fn frames_are_covariant_under_affine_maps() {
        let mesh = HairMesh::block([2, 2], 3, Vec3::new(0.1, 0.3, 0.1), false);
        let map = Mat3::from_quat(Quat::from_rotation_x(2.9))
            * Mat3::from_cols(Vec3::X * 1.2, Vec3::new(0.3, 0.8, 0.0), Vec3::Z * 0.5);
        let moved: Vec<Vec3> = mesh.positions().iter().map(|&p| map * p + Vec3::ONE).collect();
        let (rest, now) = (frames_of(&mesh, mesh.positions()), frames_of(&mesh, &moved));
        for (r, n) in rest.iter().zip(&now) {
            assert!((Vec3::from(n.along) - map * Vec3::from(r.along)).length() < 1e-5);
            assert!((Vec3::from(n.across) - map * Vec3::from(r.across)).length() < 1e-4);
        }
    }

    #[test]
    fn neighbouring_columns_have_similar_directions_across() {
        let mesh = HairMesh::block([4, 4], 4, Vec3::new(0.1, 0.3, 0.1), false);
        let frames = frames_of(&mesh, mesh.positions());
        for [a, b] in mesh.topology().across {
            assert!(frames[a as usize].across.dot(frames[b as usize].across) > 0.99);
        }
    }
}
