//! Positive definite systems for tests: a grid of columns, each coupled with six neighbours.

use glam::{Mat3A, Vec3, Vec3A};

use super::block_matrix::BlockMatrix;

/// A matrix and the first unknowns of its columns.
pub(super) struct Grid {
    pub(super) matrix: BlockMatrix,
    /// First unknown of every column, and the total.
    pub(super) starts: Vec<u32>,
}

impl Grid {
    /// `width` by `depth` columns; `length` gives the number of unknowns after the first.
    ///
    /// A row has at most 22 off-diagonal blocks with elements of at most 0.03: absolute values that sum to at most 1.98,
    /// less than the smallest element of the diagonal, so that the matrix is positive definite.
    pub(super) fn new([width, depth]: [u32; 2], length: impl Fn(u32) -> u32) -> Self {
        let mut starts = vec![0];
        for column in 0..width * depth {
            starts.push(starts[column as usize] + length(column) + 1);
        }
        let unknowns = |column: u32| starts[column as usize]..starts[column as usize + 1];
        let mut pairs = Vec::new();
        for column in 0..width * depth {
            let own = unknowns(column);
            pairs.extend(
                own.clone().flat_map(|v| [[v, v + 1], [v, v + 2]]).filter(|p| own.contains(&p[1])),
            );
            let (x, y) = (column % width, column / width);
            for (x, y) in [(x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                if x < width && y < depth {
                    let other = unknowns(y * width + x);
                    for (level, v) in own.clone().enumerate() {
                        let beside = level.saturating_sub(1)..=level + 1;
                        pairs.extend(
                            beside
                                .map(|l| [v, other.start + l as u32])
                                .filter(|p| other.contains(&p[1])),
                        );
                    }
                }
            }
        }
        let is_pinned = |v: u32| starts.binary_search(&v).is_ok();
        let total = starts[starts.len() - 1] as usize;
        let mut matrix = BlockMatrix::new(total, pairs, is_pinned);
        for k in 0..matrix.block_count() {
            let at = |i: usize| 0.03 * ((k * 9 + i) as f32 * 1.7).sin();
            matrix.blocks_mut()[k] = Mat3A::from_cols_array(&std::array::from_fn(at));
        }
        matrix.diagonal.fill(Mat3A::from_diagonal(Vec3::new(2.0, 2.5, 3.0)));
        Self { matrix, starts }
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        self.starts.len() - 1
    }

    /// A vector with non-zero values for the unknowns that are not pinned.
    pub(super) fn vector(&self, seed: f32) -> Vec<Vec3A> {
        let at = |i: usize| Vec3A::new((seed + i as f32).sin(), (seed * i as f32).cos(), seed);
        let is_pinned = |i: usize| self.starts.contains(&(i as u32));
        (0..self.matrix.rows()).map(|i| if is_pinned(i) { Vec3A::ZERO } else { at(i) }).collect()
    }
}
