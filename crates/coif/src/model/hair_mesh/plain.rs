//! A textbook hair mesh: the same conditions in a sparse matrix of single numbers, row by row, and
//! conjugate gradients with diagonal preconditioner, in double precision. The reference of tests and
//! benchmarks; without contact.

use glam::{Mat3A, Vec3, Vec3A};

use super::check;
use super::condition::{bend_condition, shear_condition, stretch_condition, volume_condition};
use super::elements::{Elements, along_columns};
use super::settings::Settings;
use crate::Result;
use crate::groom::hair_mesh::HairMesh;
use crate::math::{RigidTransform, SolveReport, conjugate_gradient};

/// Relative residual of the textbook solve. The stiff edges along the hair dominate
/// the right-hand side, so that the soft motion across needs a small one.
const TOLERANCE: f64 = 1e-6;

/// A hair mesh in a straightforward implementation.
pub struct PlainMesh {
    settings: Settings,
    /// Rate (1/s) at which each vertex takes on the velocity of the air.
    drag: Vec<f32>,
    elements: Elements,
    starts: Vec<u32>,
    rest: Vec<Vec3A>,
    x: Vec<Vec3A>,
    v: Vec<Vec3A>,
    matrix: Rows,
    root: RigidTransform,
}

/// Compressed rows of single numbers.
struct Rows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(n: usize, mut pairs: Vec<[u32; 2]>) -> Self {
        pairs.extend((0..n as u32).map(|v| [v, v]));
        let mut all: Vec<[u32; 2]> = pairs.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        all.sort_unstable();
        all.dedup();
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for same in all.chunk_by(|a, b| a[0] == b[0]) {
            for _ in 0..3 {
                columns.extend(same.iter().flat_map(|p| (0..3).map(|k| 3 * p[1] + k)));
                starts.push(columns.len());
            }
        }
        let values = vec![0.0; columns.len()];
        Self { starts, columns, values }
    }

    /// Adds a block and, for a pair, its mirror image.
    fn add(&mut self, a: usize, b: usize, block: Mat3A) {
        self.add_one(a, b, block);
        if a != b {
            self.add_one(b, a, block.transpose());
        }
    }

    fn add_one(&mut self, a: usize, b: usize, block: Mat3A) {
        for row in 0..3 {
            let range = self.starts[3 * a + row]..self.starts[3 * a + row + 1];
            let columns = &self.columns[range.clone()];
            let first = columns.partition_point(|&c| c < 3 * b as u32);
            for column in 0..3 {
                let value = f64::from(block.col(column)[row]);
                self.values[range.start + first + column] += value;
            }
        }
    }

    fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (row, y) in y.iter_mut().enumerate() {
            let range = self.starts[row]..self.starts[row + 1];
            let pairs = self.values[range.clone()].iter().zip(&self.columns[range]);
            *y = pairs.map(|(value, &column)| value * x[column as usize]).sum();
        }
    }

    /// Removes a vertex from the system: its change is zero.
    fn hold(&mut self, v: usize) {
        for row in 3 * v..3 * v + 3 {
            for k in self.starts[row]..self.starts[row + 1] {
                self.values[k] = if self.columns[k] as usize == row { 1.0 } else { 0.0 };
            }
        }
    }
}

impl PlainMesh {
    /// Lays out a mesh; its rest shape is balanced against `gravity` (m/s^2).
    pub fn new(mesh: &HairMesh, settings: &Settings, gravity: Vec3) -> Result<Self> {
        check(mesh, settings, gravity)?;
        let (elements, _) = Elements::new(mesh, &mesh.topology(), settings);
        let mut pairs: Vec<[u32; 2]> = elements.edges.iter().map(|e| e.vertices).collect();
        let quads = elements.quads.iter().map(|q| q.corners);
        for four in quads.chain(elements.corners.iter().map(|c| c.vertices)) {
            pairs.extend((0..4).flat_map(|i| (0..i).map(move |j| [four[i], four[j]])));
        }
        for hinge in &elements.hinges {
            let (v, before) = (hinge.vertex, hinge.vertex.max(1) - 1);
            pairs.push([before, v + 1]);
            for wing in &elements.wings[hinge.first as usize..][..hinge.count as usize] {
                pairs.extend([before, v, v + 1].map(|w| [wing.neighbour, w]));
            }
        }
        pairs.extend(elements.stitches.iter().map(|s| s.vertices));
        let rest: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
        Ok(Self {
            matrix: Rows::new(rest.len(), pairs),
            drag: along_columns(mesh, &settings.damping),
            settings: settings.clone(),
            elements,
            starts: mesh.columns.first_points().to_vec(),
            x: rest.clone(),
            v: vec![Vec3A::ZERO; rest.len()],
            rest,
            root: RigidTransform::IDENTITY,
        })
    }

    /// Positions of all vertices (m).
    pub fn positions(&self) -> &[Vec3A] {
        &self.x
    }

    /// Advances by a step of `h` seconds under gravity (m/s^2), with all roots going to `root`.
    pub fn step(&mut self, h: f32, gravity: Vec3, root: RigidTransform) -> SolveReport {
        let n = self.x.len();
        let is_root: Vec<bool> =
            (0..n).map(|v| self.starts.binary_search(&(v as u32)).is_ok()).collect();
        for v in (0..n).filter(|&v| is_root[v]) {
            self.v[v] = (Vec3A::from(root.point(self.rest[v].into())) - self.x[v]) / h;
        }
        let mut rhs = vec![Vec3A::ZERO; n];
        self.matrix.values.fill(0.0);
        for v in 0..n {
            let drag = self.drag[v];
            let mass = self.elements.mass[v];
            rhs[v] = (Vec3A::from(gravity) - self.v[v] * drag) * (h * mass);
            let inertia = Mat3A::from_diagonal(Vec3::splat(mass * (1.0 + h * drag)));
            self.matrix.add(v, v, inertia);
        }
        self.add_conditions(h, root, &mut rhs);
        for v in (0..n).filter(|&v| is_root[v]) {
            self.matrix.hold(v);
            rhs[v] = Vec3A::ZERO;
        }
        // Roots do not change, so that the entries of their columns are multiplied with zero.
        let b: Vec<f64> = rhs.iter().flat_map(|r| r.to_array().map(f64::from)).collect();
        let diagonal: Vec<f64> = (0..3 * n)
            .map(|row| {
                let range = self.matrix.starts[row]..self.matrix.starts[row + 1];
                let at =
                    self.matrix.columns[range.clone()].partition_point(|&c| (c as usize) < row);
                self.matrix.values[range.start + at]
            })
            .collect();
        let mut change = vec![0.0; 3 * n];
        let matrix = &self.matrix;
        let apply = |x: &[f64], y: &mut [f64]| matrix.multiply(x, y);
        let report = conjugate_gradient(apply, &diagonal, &b, &mut change, TOLERANCE, 3 * n as u32);
        for v in 0..n {
            let [x, y, z] = [0, 1, 2].map(|k| change[3 * v + k] as f32);
            self.v[v] += Vec3A::new(x, y, z);
            self.x[v] += self.v[v] * h;
        }
        self.root = root;
        report
    }

    fn add_conditions(&mut self, h: f32, root: RigidTransform, rhs: &mut [Vec3A]) {
        let ahead = h + self.settings.friction_time;
        let Self { elements, matrix, x, v, .. } = self;
        // One condition: its vertices with gradients, value and stiffness.
        let mut add = |four: &[(usize, Vec3A)], value: f32, rate: f32, stiffness: [f32; 2]| {
            let [push, slope] = stiffness;
            let push = h * (push * value + ahead * slope * rate);
            for (k, &(i, g)) in four.iter().enumerate() {
                rhs[i] -= g * push;
                for &(j, other) in &four[..=k] {
                    let (g, other) = (g * (slope * h * ahead), other);
                    let block = Mat3A::from_cols(g * other.x, g * other.y, g * other.z);
                    matrix.add(i, j, block);
                }
            }
        };
        for quad in &elements.quads {
            let i = quad.corners.map(|v| v as usize);
            let c = shear_condition(i.map(|v| x[v]), quad.inverse_lengths, quad.rest);
            let g = c.gradients();
            let rate = (0..4).map(|k| g[k].dot(v[i[k]])).sum();
            let four: [_; 4] = std::array::from_fn(|k| (i[k], g[k]));
            add(&four, c.value, rate, [quad.stiffness; 2]);
        }
        for corner in &elements.corners {
            let i = corner.vertices.map(|v| v as usize);
            let c = volume_condition(i.map(|v| x[v]), corner.inverse_reference, corner.rest);
            let rate = (0..4).map(|k| c.gradients[k].dot(v[i[k]])).sum();
            let four: [_; 4] = std::array::from_fn(|k| (i[k], c.gradients[k]));
            add(&four, c.value, rate, [corner.stiffness; 2]);
        }
        for edge in &elements.edges {
            let [a, b] = edge.vertices.map(|v| v as usize);
            let c = stretch_condition(x[a], x[b], edge.inverse_rest);
            let (g, moving) = (c.gradient, v[b] - v[a]);
            let value = c.value + edge.offset;
            add(&[(a, -g), (b, g)], value, g.dot(moving), [edge.stiffness; 2]);
        }
        for hinge in &elements.hinges {
            let here = hinge.vertex as usize;
            let (before, after) = (here.max(1) - 1, here + 1);
            for wing in &elements.wings[hinge.first as usize..][..hinge.count as usize] {
                let b = wing.neighbour as usize;
                let ghost = |pose: RigidTransform| {
                    let below = self.rest[here] * 2.0 - self.rest[after];
                    Vec3A::from(pose.point(below.into()))
                };
                let (x_before, v_before) = match hinge.root {
                    Some(_) => (ghost(self.root), (ghost(root) - ghost(self.root)) / h),
                    None => (x[before], v[before]),
                };
                let c =
                    bend_condition([x[here], x[b], x_before, x[after]], wing.rest, wing.min_length);
                let [g_a, g_b, g_before, g_after] = c.gradients;
                let rate = g_a.dot(v[here])
                    + g_b.dot(v[b])
                    + g_before.dot(v_before)
                    + g_after.dot(v[after]);
                let stiffness = [wing.stiffness, wing.stiffness * c.slope];
                let four = [(before, g_before), (here, g_a), (b, g_b), (after, g_after)];
                let pinned = usize::from(hinge.root.is_some());
                add(&four[pinned..], c.force, rate, stiffness);
            }
        }
        // Transverse stiffness of a taut edge.
        for edge in &elements.edges {
            let [a, b] = edge.vertices.map(|v| v as usize);
            let c = stretch_condition(x[a], x[b], edge.inverse_rest);
            let (u, moving) = (c.direction, v[b] - v[a]);
            let taut = edge.stiffness * (c.value + edge.offset).max(0.0) * c.across * h * h;
            let push = (moving - u * u.dot(moving)) * taut;
            rhs[a] += push;
            rhs[b] -= push;
            let block = Mat3A::from_diagonal(Vec3::splat(taut))
                - Mat3A::from_cols(u * u.x, u * u.y, u * u.z) * taut;
            matrix.add(a, a, block);
            matrix.add(b, b, block);
            matrix.add(a, b, block * -1.0);
        }
    }
}
