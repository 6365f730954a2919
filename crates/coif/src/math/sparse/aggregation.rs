//! Coarse level by unsmoothed aggregation: neighbouring columns as one.
//!
//! A Gauss-Seidel sweep reduces errors between neighbouring columns; an error that is smooth over many columns takes
//! as many iterations as there are columns side by side. The Galerkin matrix `P^T A P` of aggregates of about nine
//! columns gives the solver its first guess; aggregates may be aggregated again (algebraic multigrid).

use glam::Vec3A;

use super::block_matrix::BlockMatrix;
use super::colouring::columns_beside;
use super::conjugate_gradient::{ColumnScratch, Limits, solve_columns};
use super::gauss_seidel::BlockGaussSeidel;

/// Fewer columns than this need no coarser level.
const MIN_COLUMNS: usize = 200;

/// Relative squared residual and largest number of iterations of the coarse solve: it is a first guess.
const LIMITS: Limits<'_> = Limits { absolute: &[], relative: 1e-4, iterations: 20 };

/// Target of a block of the fine matrix.
#[derive(Debug, Clone, Copy)]
enum Goal {
    /// Onto the diagonal, with its mirror.
    Diagonal(u32),
    /// Into a lower block.
    Lower(u32),
    /// Into a lower block, transposed.
    Turned(u32),
}

/// The matrix of groups of columns, and one coarser still.
#[derive(Debug, Clone)]
pub(crate) struct CoarseLevel {
    matrix: BlockMatrix,
    columns: BlockGaussSeidel,
    /// Per unknown of the fine matrix: the unknown of its group, on the same level.
    of: Vec<u32>,
    /// Per lower block of the fine matrix, in its order.
    goals: Vec<Goal>,
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
        // A group is as long as its longest column.
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
        let goals = lower
            .iter()
            .map(|&[a, b]| match a.cmp(&b) {
                std::cmp::Ordering::Equal => Goal::Diagonal(a),
                std::cmp::Ordering::Greater => Goal::Lower(coarse.place(a, b)),
                std::cmp::Ordering::Less => Goal::Turned(coarse.place(a, b)),
            })
            .collect();
        let columns = BlockGaussSeidel::new(&coarse, &coarse_starts);
        Some(Self {
            scratch: ColumnScratch::new(&columns, total),
            columns,
            of,
            goals,
            residual: vec![Vec3A::ZERO; total],
            change: vec![Vec3A::ZERO; total],
            coarser: Self::new(&coarse, &coarse_starts).map(Box::new),
            matrix: coarse,
        })
    }

    /// Sets the values from a matrix whose lower half is filled.
    ///
    /// Model: all unknowns of a group on a level move alike, `P^T A P` with ones in P.
    pub(crate) fn fill(&mut self, fine: &BlockMatrix) {
        self.matrix.clear();
        for (v, &to) in self.of.iter().enumerate() {
            self.matrix.diagonal[to as usize] += fine.diagonal[v];
        }
        // Lower blocks of all rows lie one after the other.
        for (goal, block) in self.goals.iter().zip(fine.blocks()) {
            match *goal {
                Goal::Diagonal(v) => {
                    self.matrix.diagonal[v as usize] += *block + block.transpose();
                }
                Goal::Lower(k) => self.matrix.blocks_mut()[k as usize] += *block,
                Goal::Turned(k) => self.matrix.blocks_mut()[k as usize] += block.transpose(),
            }
        }
        self.columns.factor(&self.matrix);
        if let Some(coarser) = &mut self.coarser {
            coarser.fill(&self.matrix);
        }
    }

    /// Coarse-level correction: a change of the fine unknowns that removes most of the smooth component of this
    /// residual.
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

/// Puts every column into a group with its neighbours: columns of which no neighbour belongs to
/// a group yet found groups, in order; the others join the first group beside them.
fn groups(matrix: &BlockMatrix, starts: &[u32]) -> Vec<u32> {
    let count = starts.len() - 1;
    let beside = columns_beside(matrix, starts);
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
    let founded = group.clone();
    for column in 0..count {
        if group[column] == NONE {
            let found = beside[column].iter().map(|&c| founded[c as usize]).find(|&g| g != NONE);
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

    /// The coarse product is the fine one, restricted and prolongated.
    #[test]
    fn the_coarse_matrix_is_the_fine_one_of_groups() {
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
