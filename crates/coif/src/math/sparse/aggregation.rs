//! Coarse level by unsmoothed aggregation of neighbouring columns.
//!
//! A Gauss-Seidel sweep reduces errors that differ between neighbouring columns; an error that is smooth over many columns
//! takes as many iterations as the grid is columns wide. The Galerkin matrix `P^T A P` of aggregates of about nine
//! columns gives the solver its first guess; aggregates may be aggregated again (algebraic multigrid).

use glam::Vec3A;

use super::block_matrix::BlockMatrix;
use super::colouring::coupled_columns;
use super::conjugate_gradient::{ColumnScratch, Limits, solve_columns};
use super::gauss_seidel::BlockGaussSeidel;

/// Smallest number of columns that gets a coarser level: below, its solve costs more than the iterations that it saves.
const MIN_COLUMNS: usize = 200;

/// Relative squared residual and largest number of iterations of the coarse solve, loose because it is a first guess.
const LIMITS: Limits<'_> = Limits { absolute: &[], relative: 1e-4, iterations: 20 };

/// Block of the coarse matrix that a block of the fine matrix is added to.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// A diagonal block, together with the transposed block.
    Diagonal(u32),
    /// A lower block.
    Lower(u32),
    /// A lower block, transposed.
    Transposed(u32),
}

/// The matrix of groups of columns, and the next coarser level.
#[derive(Debug, Clone)]
pub(crate) struct CoarseLevel {
    matrix: BlockMatrix,
    columns: BlockGaussSeidel,
    /// Per unknown of the fine matrix: the unknown of its group, on the same level.
    of: Vec<u32>,
    /// Per lower block of the fine matrix, in its order.
    targets: Vec<Target>,
    residual: Vec<Vec3A>,
    change: Vec<Vec3A>,
    scratch: ColumnScratch,
    coarser: Option<Box<CoarseLevel>>,
}

impl CoarseLevel {
    /// For a matrix whose columns start at these unknowns; `None` if it has few.
    pub(crate) fn new(matrix: &BlockMatrix, starts: &[u32]) -> Option<Self> {
        let count = starts.len() - 1;
        if count < MIN_COLUMNS {
            return None;
        }
        let group = groups(matrix, starts);
        let groups = group.iter().map(|&g| g as usize + 1).max().unwrap_or(0);
        // Give each group the length of its longest column.
        let mut lengths = vec![0; groups];
        for (column, &g) in group.iter().enumerate() {
            let length = &mut lengths[g as usize];
            *length = (*length).max(starts[column + 1] - starts[column]);
        }
        let mut coarse_starts = vec![0];
        for length in lengths {
            coarse_starts.push(coarse_starts[coarse_starts.len() - 1] + length);
        }
        let mut of = Vec::with_capacity(matrix.rows());
        for (column, &g) in group.iter().enumerate() {
            let levels = 0..starts[column + 1] - starts[column];
            of.extend(levels.map(|level| coarse_starts[g as usize] + level));
        }
        let lower = (0..matrix.rows())
            .flat_map(|v| matrix.lower(v).map(move |k| (v, matrix.columns()[k] as usize)));
        let lower: Vec<[u32; 2]> = lower.map(|(v, w)| [of[v], of[w]]).collect();
        let total = coarse_starts[groups] as usize;
        let pinned = |v: u32| coarse_starts.binary_search(&v).is_ok();
        let coarse = BlockMatrix::new(total, lower.iter().copied(), pinned);
        let targets = lower
            .iter()
            .map(|&[a, b]| match a.cmp(&b) {
                std::cmp::Ordering::Equal => Target::Diagonal(a),
                std::cmp::Ordering::Greater => Target::Lower(coarse.place(a, b)),
                std::cmp::Ordering::Less => Target::Transposed(coarse.place(a, b)),
            })
            .collect();
        let columns = BlockGaussSeidel::new(&coarse, &coarse_starts);
        Some(Self {
            scratch: ColumnScratch::new(&columns, total),
            columns,
            of,
            targets,
            residual: vec![Vec3A::ZERO; total],
            change: vec![Vec3A::ZERO; total],
            coarser: Self::new(&coarse, &coarse_starts).map(Box::new),
            matrix: coarse,
        })
    }

    /// Sets the values from a matrix whose lower half is filled.
    ///
    /// Model: `P^T A P` with piecewise constant prolongation P: all unknowns of a group on a level have the same value.
    pub(crate) fn fill(&mut self, fine: &BlockMatrix) {
        self.matrix.clear();
        for (v, &to) in self.of.iter().enumerate() {
            self.matrix.diagonal[to as usize] += fine.diagonal[v];
        }
        for (target, block) in self.targets.iter().zip(fine.blocks()) {
            match *target {
                Target::Diagonal(v) => {
                    self.matrix.diagonal[v as usize] += *block + block.transpose();
                }
                Target::Lower(k) => self.matrix.blocks_mut()[k as usize] += *block,
                Target::Transposed(k) => self.matrix.blocks_mut()[k as usize] += block.transpose(),
            }
        }
        self.columns.factor(&self.matrix);
        if let Some(coarser) = &mut self.coarser {
            coarser.fill(&self.matrix);
        }
    }

    /// Coarse-level correction: a change of the fine unknowns that removes most of the smooth component of `residual`.
    pub(super) fn guess(&mut self, residual: &[Vec3A], change: &mut [Vec3A]) {
        self.residual.fill(Vec3A::ZERO);
        for (r, &to) in residual.iter().zip(&self.of) {
            self.residual[to as usize] += *r;
        }
        self.change.fill(Vec3A::ZERO);
        solve_columns(
            (&self.matrix, &self.columns, self.coarser.as_deref_mut()),
            &self.residual,
            &mut self.change,
            |_, change| change,
            &LIMITS,
            &mut self.scratch,
        );
        for (to, &from) in change.iter_mut().zip(&self.of) {
            *to = self.change[from as usize];
        }
    }
}

/// Assigns every column to a group of neighbours. Columns without a neighbour in a group become seeds of new groups, in
/// order, with all their neighbours; the remaining columns join the first neighbouring group.
fn groups(matrix: &BlockMatrix, starts: &[u32]) -> Vec<u32> {
    let count = starts.len() - 1;
    let beside = coupled_columns(matrix, starts);
    const NONE: u32 = u32::MAX;
    let mut group = vec![NONE; count];
    let mut next = 0;
    for column in 0..count {
        let near = &beside[column];
        if group[column] == NONE && near.iter().all(|&c| group[c as usize] == NONE) {
            group[column] = next;
            near.iter().for_each(|&c| group[c as usize] = next);
            next += 1;
        }
    }
    let seeded = group.clone();
    for column in 0..count {
        if group[column] == NONE {
            let found = beside[column].iter().map(|&c| seeded[c as usize]).find(|&g| g != NONE);
            group[column] = found.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::super::grid::Grid;
    use super::*;

    /// The coarse product is the fine product of the prolongated vector, restricted.
    #[test]
    fn the_coarse_matrix_is_the_galerkin_product() {
        let Grid { matrix: fine, starts } = Grid::new([16, 15], |_| 5);
        let mut coarse = CoarseLevel::new(&fine, &starts).unwrap();
        coarse.fill(&fine);
        assert!(coarse.matrix.rows() * 4 < fine.rows());
        let is_pinned = |v: u32| coarse.columns.is_pinned(v as usize);
        let y: Vec<Vec3A> = (0..coarse.matrix.rows() as u32)
            .map(
                |v| if is_pinned(v) { Vec3A::ZERO } else { Vec3A::new((v as f32).sin(), 1.0, 0.5) },
            )
            .collect();
        let x: Vec<Vec3A> = coarse.of.iter().map(|&v| y[v as usize]).collect();
        let mut product = vec![Vec3A::ZERO; x.len()];
        fine.multiply(&x, &mut product);
        let mut expected = vec![Vec3A::ZERO; y.len()];
        coarse.of.iter().zip(&product).for_each(|(&v, p)| expected[v as usize] += *p);
        let mut found = vec![Vec3A::ZERO; y.len()];
        coarse.matrix.multiply(&y, &mut found);
        for v in 0..y.len() {
            assert!((expected[v] - found[v]).length() < 1e-3, "{v}: {} {}", expected[v], found[v]);
        }
    }

    #[test]
    fn few_columns_have_no_coarse_level() {
        let Grid { matrix: fine, starts } = Grid::new([4, 4], |_| 5);
        assert!(CoarseLevel::new(&fine, &starts).is_none());
    }
}
