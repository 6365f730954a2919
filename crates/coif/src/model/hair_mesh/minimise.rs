//! Deformation minimisation: distributes position corrections of some vertices over all the others so that
//! edges change as little as possible.
//!
//! The matrix depends only on which vertices are connected, so it is made and factored once; contacts
//! come and go as constraints of the solver.

use glam::Vec3A;

use crate::groom::hair_mesh::{HairMesh, Topology};
use crate::math::SolveReport;
use crate::math::sparse::modified_conjugate_gradient::{
    Constraint, Limits, Scratch, System, solve_constrained,
};

/// The matrix `A^T A` of a mesh's edges, with the factors of its columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Minimiser {
    /// Where each vertex's neighbours start, and the total.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// Number of edges at a vertex.
    degree: Vec<f32>,
    /// First vertex of every column, and the total.
    columns: Vec<u32>,
    /// Factors of the tridiagonal matrix of each column, as preconditioner: one over the pivot.
    pivot: Vec<f32>,
}

impl Minimiser {
    /// For the edges of a mesh, along and across.
    pub(crate) fn new(mesh: &HairMesh, topology: &Topology) -> Self {
        let n = mesh.vertex_count();
        let edges = topology.along.iter().chain(&topology.across);
        let mut pairs: Vec<[u32; 2]> = edges.flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; n + 1];
        pairs.iter().for_each(|p| starts[p[0] as usize + 1] += 1);
        (0..n).for_each(|v| starts[v + 1] += starts[v]);
        let degree: Vec<f32> = (0..n).map(|v| (starts[v + 1] - starts[v]) as f32).collect();
        let columns = mesh.columns.first_points().to_vec();
        let mut pivot = vec![0.0; n];
        for column in columns.windows(2) {
            let first = column[0] as usize + 1;
            for v in first..column[1] as usize {
                let before = if v > first { pivot[v - 1] } else { 0.0 };
                pivot[v] = 1.0 / (degree[v] - before);
            }
        }
        let neighbours = pairs.iter().map(|p| p[1]).collect();
        Self { starts, neighbours, degree, columns, pivot }
    }

    /// Moves every vertex that is not pinned so that the edges change as little as possible: `moved` is the
    /// displacement of each vertex (m), given for the pinned ones.
    ///
    /// Model: minimise the sum over edges of `|d_i - d_j|^2`, that is `A^T A d = 0` where nothing is pinned,
    /// with `d = x'' - x`.
    /// Source: `wu2016` 3.2, eq. 3 and 4.
    /// Deviations: solved for the change `d` instead of `x''`, which is the same with less rounding.
    pub(crate) fn spread(
        &self,
        constraint: &[Constraint],
        zero: &[Vec3A],
        moved: &mut [Vec3A],
        tolerance: f32,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let limits = Limits {
            absolute: tolerance * tolerance * moved.len() as f32,
            relative: 0.0,
            iterations: ITERATIONS,
        };
        solve_constrained(self, constraint, zero, moved, &limits, scratch)
    }
}

/// Maximum number of iterations: more than a mesh with 50,000 vertices needs.
const ITERATIONS: u32 = 200;

impl System for Minimiser {
    fn multiply(&self, x: &[Vec3A], y: &mut [Vec3A]) {
        for (v, y) in y.iter_mut().enumerate() {
            let around = self.starts[v] as usize..self.starts[v + 1] as usize;
            let mut sum = x[v] * self.degree[v];
            for &w in &self.neighbours[around] {
                sum -= x[w as usize];
            }
            *y = sum;
        }
    }

    fn precondition(&self, r: &[Vec3A], z: &mut [Vec3A], _spare: &mut [Vec3A]) {
        for column in self.columns.windows(2) {
            let (first, last) = (column[0] as usize + 1, column[1] as usize);
            z[first - 1] = Vec3A::ZERO;
            let mut before = Vec3A::ZERO;
            for v in first..last {
                before = (r[v] + before) * self.pivot[v];
                z[v] = before;
            }
            for v in (first..last.saturating_sub(1)).rev() {
                let outer = z[v + 1] * self.pivot[v];
                z[v] += outer;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn spread(mesh: &HairMesh, pinned: &[(usize, Vec3A)]) -> (Vec<Vec3A>, SolveReport) {
        let n = mesh.vertex_count();
        let minimiser = Minimiser::new(mesh, &mesh.topology());
        let mut constraint = vec![Constraint::Free; n];
        let mut moved = vec![Vec3A::ZERO; n];
        for &root in &mesh.columns.first_points()[..mesh.column_count()] {
            constraint[root as usize] = Constraint::Pinned;
        }
        for &(v, displacement) in pinned {
            (constraint[v], moved[v]) = (Constraint::Pinned, displacement);
        }
        let zero = vec![Vec3A::ZERO; n];
        let mut scratch = Scratch::new(n);
        let report = minimiser.spread(&constraint, &zero, &mut moved, 1e-7, &mut scratch);
        (moved, report)
    }

    /// All tips moved alike: the displacement falls off evenly to the roots.
    #[test]
    fn moved_tips_shear_a_block_evenly() {
        let mesh = HairMesh::block([3, 2], 6, Vec3::ONE, false);
        let displacement = Vec3A::new(0.3, -0.1, 0.2);
        let tips: Vec<_> = (0..mesh.column_count())
            .map(|c| (mesh.columns.points_of(c).end - 1, displacement))
            .collect();
        let (moved, _) = spread(&mesh, &tips);
        for v in 0..mesh.vertex_count() {
            let (_, level) = mesh.locate(v);
            assert!(
                (moved[v] - displacement * (level as f32 / 6.0)).length() < 1e-4,
                "{v}: {}",
                moved[v]
            );
        }
    }

    /// The sum over edges is stationary at every vertex that is free.
    #[test]
    fn one_moved_vertex_takes_its_neighbours_along() {
        let mesh = HairMesh::block([4, 4], 8, Vec3::ONE, true);
        let pushed = mesh.vertex(7, 5) as usize;
        let (moved, _) = spread(&mesh, &[(pushed, Vec3A::X)]);
        assert_eq!(moved[pushed], Vec3A::X);
        let minimiser = Minimiser::new(&mesh, &mesh.topology());
        let mut slope = vec![Vec3A::ZERO; moved.len()];
        minimiser.multiply(&moved, &mut slope);
        let roots = mesh.columns.first_points();
        for v in 0..moved.len() {
            let pinned = v == pushed || roots.contains(&(v as u32));
            assert!(pinned || slope[v].length() < 1e-3, "{v}: {}", slope[v]);
            assert!((-1e-3..=1.0).contains(&moved[v].x));
        }
        assert!(moved[pushed + 1].x > 0.2);
    }
}
