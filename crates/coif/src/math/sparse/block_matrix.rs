//! A symmetric sparse matrix of 3x3 blocks (block compressed sparse rows), one row of blocks per unknown.
//!
//! The sparsity pattern is fixed when the matrix is built; the caller fills the diagonal and the lower half, the upper
//! half is not stored. Unknowns are numbered column after column, so that the blocks along a column are next to the
//! diagonal. A block is three padded columns (48 bytes), so that a product takes four numbers at a time. Elements are
//! accumulated here; the solver reads a compressed copy (`bands.rs`).

use glam::{Mat3A, Vec3A};

/// A symmetric matrix of 3x3 blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockMatrix {
    /// First off-diagonal place of the lower half of each row, and the total.
    lowers: Vec<u32>,
    /// First off-diagonal place of the upper half of each row; all upper halves follow all lower ones.
    uppers: Vec<u32>,
    /// Column of each place.
    columns: Vec<u32>,
    /// Blocks of the lower half, row by row and left to right; then a dummy that is written but never read.
    blocks: Vec<Mat3A>,
    /// Per place of the upper half: the lower block that is its transpose.
    mirrors: Vec<u32>,
    /// Blocks on the diagonal.
    pub(crate) diagonal: Vec<Mat3A>,
}

impl BlockMatrix {
    /// An empty matrix for `unknowns` rows with blocks for these pairs, in any order, except those of
    /// unknowns that are `pinned`: their rows stay empty.
    pub(crate) fn new(
        unknowns: usize,
        pairs: impl IntoIterator<Item = [u32; 2]>,
        pinned: impl Fn(u32) -> bool,
    ) -> Self {
        let mut all: Vec<[u32; 2]> = pairs
            .into_iter()
            .filter(|&[a, b]| a != b && !pinned(a) && !pinned(b))
            .flat_map(|[a, b]| [[a, b], [b, a]])
            .collect();
        // Sort by half, lower first, then by row and column.
        all.sort_unstable_by_key(|&[row, column]| (column > row, row, column));
        all.dedup();
        let (mut lowers, mut uppers) = (vec![0; unknowns + 1], vec![0; unknowns + 1]);
        for &[row, column] in &all {
            let half = if column < row { &mut lowers } else { &mut uppers };
            half[row as usize + 1] += 1;
        }
        for row in 0..unknowns {
            lowers[row + 1] += lowers[row];
        }
        uppers[0] = lowers[unknowns];
        for row in 0..unknowns {
            uppers[row + 1] += uppers[row];
        }
        let mut matrix = Self {
            lowers,
            uppers,
            columns: all.iter().map(|p| p[1]).collect(),
            blocks: vec![Mat3A::ZERO; all.len() / 2 + 1],
            mirrors: Vec::new(),
            diagonal: vec![Mat3A::ZERO; unknowns],
        };
        for row in 0..unknowns {
            for k in matrix.upper(row) {
                let mirror = matrix.find(matrix.columns[k], row as u32).unwrap_or_default();
                matrix.mirrors.push(mirror);
            }
        }
        matrix
    }

    /// Number of rows of blocks.
    pub(crate) fn rows(&self) -> usize {
        self.diagonal.len()
    }

    /// Number of blocks below the diagonal.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// Number of off-diagonal places, below and above.
    pub(crate) fn place_count(&self) -> usize {
        self.columns.len()
    }

    /// Index of the lower block of a pair, in either order; that of the dummy block for a pair without one.
    pub(crate) fn place(&self, a: u32, b: u32) -> u32 {
        self.find(a.max(b), a.min(b)).unwrap_or(self.block_count() as u32)
    }

    /// Off-diagonal place of a row and column.
    fn find(&self, row: u32, column: u32) -> Option<u32> {
        let range = if column < row { self.lower(row as usize) } else { self.upper(row as usize) };
        let at = self.columns[range.clone()].binary_search(&column).ok()?;
        Some((range.start + at) as u32)
    }

    /// Places of a row left of the diagonal: indices of its blocks.
    #[inline(always)]
    pub(crate) fn lower(&self, row: usize) -> std::ops::Range<usize> {
        self.lowers[row] as usize..self.lowers[row + 1] as usize
    }

    /// Places of a row right of the diagonal; their blocks are stored with other rows.
    #[inline(always)]
    pub(crate) fn upper(&self, row: usize) -> std::ops::Range<usize> {
        self.uppers[row] as usize..self.uppers[row + 1] as usize
    }

    /// Columns of places.
    #[inline(always)]
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Blocks of the lower half.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> &[Mat3A] {
        &self.blocks
    }

    /// Blocks of the lower half, mutable.
    #[inline(always)]
    pub(crate) fn blocks_mut(&mut self) -> &mut [Mat3A] {
        &mut self.blocks
    }

    /// Sets everything to zero.
    pub(crate) fn clear(&mut self) {
        self.blocks.fill(Mat3A::ZERO);
        self.diagonal.fill(Mat3A::ZERO);
    }

    /// The lower block whose transpose belongs to a place of the upper half.
    #[inline(always)]
    fn mirror(&self, place: usize) -> usize {
        self.mirrors[place - self.block_count()] as usize
    }

    /// Projects a row onto a unit vector: writes `A_vw^T n` for every off-diagonal block of row v to its place, and
    /// returns it for the diagonal block.
    pub(crate) fn project_row(&self, v: usize, n: Vec3A, projected: &mut [Vec3A]) -> Vec3A {
        for k in self.lower(v) {
            projected[k] = self.blocks[k].transpose() * n;
        }
        for k in self.upper(v) {
            projected[k] = self.blocks[self.mirror(k)] * n;
        }
        self.diagonal[v].transpose() * n
    }

    /// Product of a row projected by [`BlockMatrix::project_row`] with a vector: `n . (A x)_v`.
    pub(crate) fn projected_times(
        &self,
        v: usize,
        projected: &[Vec3A],
        diagonal: Vec3A,
        x: &[Vec3A],
    ) -> f32 {
        let mut sum = diagonal.dot(x[v]);
        for k in self.lower(v).chain(self.upper(v)) {
            sum += projected[k].dot(x[self.columns[k] as usize]);
        }
        sum
    }

    /// Removes the direction `n`, a unit vector, from the row and column of an unknown: `S A S` with
    /// `S = 1 - n n^T`, plus a positive multiple of `n n^T` on the diagonal so that it stays positive definite. A
    /// solution then has no component along n where the right-hand side has none.
    pub(crate) fn constrain(&mut self, v: usize, n: Vec3A) {
        for k in self.lower(v) {
            let block = self.blocks[k];
            self.blocks[k] = block - outer(n, block.transpose() * n);
        }
        for k in self.upper(v) {
            let mirror = self.mirror(k);
            let block = self.blocks[mirror];
            self.blocks[mirror] = block - outer(block * n, n);
        }
        let d = self.diagonal[v];
        let size = (d.x_axis.x + d.y_axis.y + d.z_axis.z) * (1.0 / 3.0);
        let (dn, ndn) = (d * n, n.dot(d * n));
        self.diagonal[v] = d - outer(n, dn) - outer(dn, n) + outer(n * (ndn + size), n);
    }

    /// The matrix times a vector.
    pub(crate) fn multiply(&self, x: &[Vec3A], y: &mut [Vec3A]) {
        for row in 0..self.rows() {
            let mut sum = self.diagonal[row] * x[row];
            for k in self.lower(row) {
                let (block, column) = (&self.blocks[k], self.columns[k] as usize);
                sum += *block * x[column];
                // Add the transposed block; `y[column]` has been set before, because column < row.
                y[column] += block.transpose() * x[row];
            }
            y[row] = sum;
        }
    }
}

/// `a b^T`.
#[inline(always)]
pub(crate) fn outer(a: Vec3A, b: Vec3A) -> Mat3A {
    Mat3A::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The removed direction has no effect from either side, and the rest is unchanged.
    #[test]
    fn a_constrained_matrix_is_filtered_on_both_sides() {
        let pairs = [[0, 1], [2, 1], [0, 2]];
        let mut matrix = BlockMatrix::new(3, pairs, |_| false);
        for k in 0..matrix.block_count() {
            let at = |i: usize| ((k * 9 + i) as f32 * 1.3).sin();
            matrix.blocks_mut()[k] = Mat3A::from_cols_array(&std::array::from_fn(at));
        }
        for d in &mut matrix.diagonal {
            *d = Mat3A::from_diagonal(glam::Vec3::new(5.0, 6.0, 7.0));
        }
        let normals = [(0, Vec3A::new(0.6, 0.0, 0.8)), (1, Vec3A::new(0.0, -0.8, 0.6))];
        let x: Vec<Vec3A> = (0..3).map(|i| Vec3A::new(0.4, i as f32, -1.0)).collect();
        let mut whole = vec![Vec3A::ZERO; 3];
        // Filter the vector, multiply, and filter the product.
        let mut filtered = x.clone();
        normals.iter().for_each(|&(v, n)| filtered[v] = filtered[v] - n * n.dot(filtered[v]));
        matrix.multiply(&filtered, &mut whole);
        let mut projected = vec![Vec3A::ZERO; matrix.place_count()];
        let diagonal = matrix.project_row(0, normals[0].1, &mut projected);
        let along = matrix.projected_times(0, &projected, diagonal, &filtered);
        assert!((along - normals[0].1.dot(whole[0])).abs() < 1e-5);
        normals.iter().for_each(|&(v, n)| whole[v] = whole[v] - n * n.dot(whole[v]));
        normals.iter().for_each(|&(v, n)| matrix.constrain(v, n));
        let mut found = vec![Vec3A::ZERO; 3];
        matrix.multiply(&filtered, &mut found);
        for v in 0..3 {
            assert!((found[v] - whole[v]).length() < 1e-5, "{v}: {} {}", found[v], whole[v]);
        }
        for (v, n) in normals {
            assert!((matrix.diagonal[v] * n - n * 6.0).length() < 1e-5);
        }
    }

    #[test]
    fn a_product_is_that_of_the_dense_matrix() {
        let pairs = [[0, 1], [2, 1], [0, 3], [3, 1], [1, 0]];
        let mut matrix = BlockMatrix::new(4, pairs, |_| false);
        assert_eq!((matrix.block_count(), matrix.place_count()), (4, 8));
        let mut value = 0.0;
        let mut next = || {
            value += 1.0;
            Mat3A::from_cols_array(&std::array::from_fn(|i| (value * 0.7 + i as f32).sin()))
        };
        let mut dense = vec![vec![Mat3A::ZERO; 4]; 4];
        for row in 0..4u32 {
            let block = next();
            let symmetric = block + block.transpose();
            matrix.diagonal[row as usize] = symmetric;
            dense[row as usize][row as usize] = symmetric;
            for column in 0..row {
                if let Some(k) = matrix.find(row, column) {
                    let block = next();
                    matrix.blocks_mut()[k as usize] = block;
                    dense[row as usize][column as usize] = block;
                    dense[column as usize][row as usize] = block.transpose();
                }
            }
        }
        let x: Vec<Vec3A> = (0..4).map(|i| Vec3A::new(1.0, i as f32, -0.5)).collect();
        let mut y = vec![Vec3A::ZERO; 4];
        matrix.multiply(&x, &mut y);
        for row in 0..4 {
            let truth: Vec3A = (0..4).map(|c| dense[row][c] * x[c]).sum();
            assert!((truth - y[row]).length() < 1e-5);
        }
    }
}
