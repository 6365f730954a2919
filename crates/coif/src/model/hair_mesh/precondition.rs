//! Approximate inverses of a step's matrix, cheap enough to be applied in every iteration.
//!
//! Hair is stiffest along itself, and vertices are numbered along columns: what couples the vertices of
//! one column is a band of two blocks beside the diagonal. [`Columns::factor`] factors these bands
//! exactly, each column for itself; [`Columns::sweep`] goes over the columns there and back with them,
//! so that neighbours hear of each other within one application.

use glam::{Mat3A, Vec3A};

use super::matrix::BlockMatrix;

/// The factors of the bands along all columns: `L D L^T` with two blocks below the diagonal.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// Inverse of D.
    inverse: Vec<Mat3A>,
    /// Blocks of L one and two below the diagonal, by row; zero where there is none.
    below: Vec<[Mat3A; 2]>,
    /// Places of the blocks one and two below the diagonal in the matrix.
    places: Vec<[u32; 2]>,
    /// First vertex of every column, which is held, and the total.
    starts: Vec<u32>,
    /// Per row, where the blocks of columns before its own end, and those of columns after it begin.
    others: Vec<[u32; 2]>,
}

impl Columns {
    /// For columns that start at these vertices; the last of them is the total.
    pub fn new(matrix: &BlockMatrix, starts: &[u32]) -> Self {
        let n = matrix.rows();
        let mut places = vec![[matrix.block_count() as u32; 2]; n];
        for column in starts.windows(2) {
            for v in column[0] + 1..column[1] {
                let at = |back: u32| {
                    if v > column[0] + back {
                        matrix.place(v, v - back)
                    } else {
                        matrix.place(v, v)
                    }
                };
                places[v as usize] = [at(1), at(2)];
            }
        }
        let mut others = vec![[0; 2]; n];
        for column in starts.windows(2) {
            for v in column[0] as usize..column[1] as usize {
                let (lower, upper) = (matrix.lower(v), matrix.upper(v));
                let before = |k: usize| matrix.columns()[k] < column[0];
                let own = |k: usize| matrix.columns()[k] < column[1];
                let end = lower.start + lower.filter(|&k| before(k)).count();
                let begin = upper.start + upper.filter(|&k| own(k)).count();
                others[v] = [end as u32, begin as u32];
            }
        }
        Self {
            others,
            inverse: vec![Mat3A::ZERO; n],
            below: vec![[Mat3A::ZERO; 2]; n],
            places,
            starts: starts.to_vec(),
        }
    }

    /// Factors the bands of a matrix whose lower half is filled.
    pub fn factor(&mut self, matrix: &BlockMatrix) {
        let none = matrix.block_count() as u32;
        let block = |k: u32| if k == none { Mat3A::ZERO } else { matrix.blocks()[k as usize] };
        for column in 0..self.starts.len() - 1 {
            let (first, last) =
                (self.starts[column] as usize + 1, self.starts[column + 1] as usize);
            for v in first..last {
                let [one, two] = self.places[v].map(block);
                let mut pivot = matrix.diagonal[v];
                let mut below = [Mat3A::ZERO; 2];
                let mut one_d = one;
                if v >= first + 2 {
                    // L2 = A2 / D; what A1 still holds of it goes through the row between.
                    below[1] = two * self.inverse[v - 2];
                    one_d -= two * self.below[v - 1][0].transpose();
                    pivot -= below[1] * two.transpose();
                }
                if v > first {
                    below[0] = one_d * self.inverse[v - 1];
                    pivot -= below[0] * one_d.transpose();
                }
                self.below[v] = below;
                self.inverse[v] = invert(pivot, matrix.diagonal[v]);
            }
        }
    }

    /// Solves one column in place; its first vertex is left alone.
    #[inline(always)]
    pub fn solve_column(&self, column: usize, x: &mut [Vec3A]) {
        let (first, last) = (self.starts[column] as usize + 1, self.starts[column + 1] as usize);
        let (mut back, mut back2) = (Vec3A::ZERO, Vec3A::ZERO);
        for v in first..last {
            let [one, two] = &self.below[v];
            let value = x[v] - *one * back - *two * back2;
            x[v] = value;
            (back2, back) = (back, value);
        }
        for v in first..last {
            x[v] = self.inverse[v] * x[v];
        }
        for v in (first..last).rev() {
            let value = x[v];
            let [one, two] = &self.below[v];
            if v > first {
                x[v - 1] -= one.transpose() * value;
            }
            if v > first + 1 {
                x[v - 2] -= two.transpose() * value;
            }
        }
    }

    /// Applies the inverse of `(D + L) D^-1 (D + L^T)` to `r`, with D the bands along columns and L what
    /// couples a column to those before it: symmetric Gauss-Seidel, column by column. `spare` is
    /// scratch.
    pub fn sweep(&self, matrix: &BlockMatrix, r: &[Vec3A], z: &mut [Vec3A], spare: &mut [Vec3A]) {
        let (blocks, columns) = (matrix.blocks(), matrix.columns());
        let product = |range: std::ops::Range<usize>, z: &[Vec3A]| {
            let pairs = blocks[range.clone()].iter().zip(&columns[range]);
            let mut sum = Vec3A::ZERO;
            for (block, &column) in pairs {
                sum += *block * z[column as usize];
            }
            sum
        };
        for column in 0..self.columns() {
            z[self.starts[column] as usize] = Vec3A::ZERO;
            for v in self.vertices(column) {
                let before = matrix.lower(v).start..self.others[v][0] as usize;
                z[v] = r[v] - product(before, z);
            }
            self.solve_column(column, z);
        }
        for column in (0..self.columns()).rev() {
            for v in self.vertices(column) {
                let after = self.others[v][1] as usize..matrix.upper(v).end;
                spare[v] = product(after, z);
            }
            self.solve_column(column, spare);
            for v in self.vertices(column) {
                z[v] -= spare[v];
            }
        }
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.starts.len() - 1
    }

    /// Vertices of a column that are not held.
    #[inline(always)]
    pub fn vertices(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column] as usize + 1..self.starts[column + 1] as usize
    }
}

/// Inverse of a symmetric positive definite block; where rounding has spoilt it, that of what it was
/// before.
#[inline(always)]
fn invert(pivot: Mat3A, whole: Mat3A) -> Mat3A {
    let least = 1e-6 * (whole.x_axis.x * whole.y_axis.y * whole.z_axis.z);
    if pivot.determinant() > least * 1e-3 { pivot.inverse() } else { whole.inverse() }
}

#[cfg(test)]
mod tests {
    use super::super::elements::Elements;
    use super::super::settings::Settings;
    use super::*;
    use crate::groom::hair_mesh::HairMesh;

    /// A positive definite matrix with the pattern of a mesh.
    fn matrix(mesh: &HairMesh) -> BlockMatrix {
        let (_, mut matrix) = Elements::new(mesh, &mesh.topology(), &Settings::default());
        let count = matrix.block_count();
        let block = |k: usize| {
            let at = |i: usize| 0.05 * ((k * 9 + i) as f32 * 1.7).sin();
            Mat3A::from_cols_array(&std::array::from_fn(at))
        };
        for k in 0..count {
            matrix.blocks_mut()[k] = block(k);
        }
        matrix.mirror();
        for d in &mut matrix.diagonal {
            *d = Mat3A::from_diagonal(glam::Vec3::new(2.0, 2.5, 3.0));
        }
        matrix
    }

    #[test]
    fn columns_for_themselves_are_solved_exactly() {
        let mesh = HairMesh::block([1, 1], 7, glam::Vec3::ONE, false);
        let starts = mesh.columns.first_points();
        let whole = matrix(&mesh);
        let mut columns = Columns::new(&whole, starts);
        columns.factor(&whole);
        let right: Vec<Vec3A> =
            (0..whole.rows()).map(|i| Vec3A::new((i as f32).sin(), 1.0, -0.3)).collect();
        let mut x = right.clone();
        (0..columns.columns()).for_each(|c| columns.solve_column(c, &mut x));
        for c in 0..columns.columns() {
            for v in columns.vertices(c) {
                // The row of the matrix with only the vertices of this column.
                let mut sum = whole.diagonal[v] * x[v];
                for w in columns.vertices(c).filter(|&w| w != v) {
                    if let Some(k) = whole.find(v as u32, w as u32) {
                        sum += whole.blocks()[k as usize] * x[w];
                    }
                }
                assert!((sum - right[v]).length() < 1e-5, "{v}: {sum} {}", right[v]);
            }
        }
    }

    /// Conjugate gradients need a preconditioner that is symmetric and positive.
    #[test]
    fn a_sweep_is_symmetric_and_positive() {
        let mesh = HairMesh::block([2, 2], 4, glam::Vec3::ONE, true);
        let starts = mesh.columns.first_points();
        let whole = matrix(&mesh);
        let mut columns = Columns::new(&whole, starts);
        columns.factor(&whole);
        let n = whole.rows();
        let roots = |v: usize| starts.contains(&(v as u32));
        let vector = |seed: f32| -> Vec<Vec3A> {
            let at = |i: usize| Vec3A::new((seed + i as f32).sin(), (seed * i as f32).cos(), seed);
            (0..n).map(|i| if roots(i) { Vec3A::ZERO } else { at(i) }).collect()
        };
        let apply = |r: &[Vec3A]| {
            let (mut z, mut spare) = (vec![Vec3A::ZERO; n], vec![Vec3A::ZERO; n]);
            columns.sweep(&whole, r, &mut z, &mut spare);
            z
        };
        let dot = |a: &[Vec3A], b: &[Vec3A]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f32>();
        for seed in 1..6 {
            let (a, b) = (vector(seed as f32 * 0.3), vector(seed as f32 * 0.7 + 1.0));
            let (one, other) = (dot(&a, &apply(&b)), dot(&b, &apply(&a)));
            assert!((one - other).abs() < 1e-4 * dot(&a, &apply(&a)), "{one} {other}");
            assert!(dot(&a, &apply(&a)) > 0.0);
        }
    }
}
