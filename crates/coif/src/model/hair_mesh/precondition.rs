//! A step's matrix split along the columns of the mesh: what the solver sweeps over.
//!
//! Hair is stiffest along itself, and vertices are numbered along columns: what couples the vertices of
//! one column is a band of two blocks beside the diagonal. [`Columns::factor`] factors these bands
//! exactly, each column for itself, as `D = F F^T`. Sweeps over the columns there and back take in what
//! couples a column to those before and after it, so that neighbours hear of each other.

use glam::{Mat3A, Vec3A};

use super::matrix::BlockMatrix;

/// The factors of the bands along all columns: `F = L G` with two blocks below the diagonal in L and lower
/// triangles in G.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// Inverse of G.
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
            // Inverses of the pivots one and two before.
            let mut inverses = [Mat3A::ZERO; 2];
            for v in first..last {
                let [one, two] = self.places[v].map(block);
                let mut pivot = matrix.diagonal[v];
                let mut below = [Mat3A::ZERO; 2];
                let mut one_d = one;
                if v >= first + 2 {
                    // L2 = A2 / D; what A1 still holds of it goes through the row between.
                    below[1] = two * inverses[1];
                    one_d -= two * self.below[v - 1][0].transpose();
                    pivot -= below[1] * two.transpose();
                }
                if v > first {
                    below[0] = one_d * inverses[0];
                    pivot -= below[0] * one_d.transpose();
                }
                self.below[v] = below;
                let root = inverse_root(pivot).unwrap_or_else(|| {
                    // Where rounding has spoilt a pivot, that of the diagonal does.
                    inverse_root(matrix.diagonal[v]).unwrap_or(Mat3A::ZERO)
                });
                self.inverse[v] = root;
                inverses = [root.transpose() * root, inverses[0]];
            }
        }
    }

    /// Applies the inverse of F to one column in place; its first vertex is left alone.
    #[inline(always)]
    fn solve_down(&self, column: usize, x: &mut [Vec3A]) {
        let (mut back, mut back2) = (Vec3A::ZERO, Vec3A::ZERO);
        for v in self.vertices(column) {
            let [one, two] = &self.below[v];
            let value = x[v] - *one * back - *two * back2;
            x[v] = self.inverse[v] * value;
            (back2, back) = (back, value);
        }
    }

    /// Applies the inverse of F^T to one column in place; its first vertex is left alone.
    #[inline(always)]
    fn solve_up(&self, column: usize, x: &mut [Vec3A]) {
        // What the rows above take from this one and the one below it.
        let (mut here, mut next) = (Vec3A::ZERO, Vec3A::ZERO);
        for v in self.vertices(column).rev() {
            let value = transposed_times(&self.inverse[v], x[v]) - here;
            x[v] = value;
            let [one, two] = &self.below[v];
            here = next + transposed_times(one, value);
            next = transposed_times(two, value);
        }
    }

    /// Sum of blocks times vectors.
    #[inline(always)]
    fn product(matrix: &BlockMatrix, range: std::ops::Range<usize>, x: &[Vec3A]) -> Vec3A {
        let pairs = matrix.blocks()[range.clone()].iter().zip(&matrix.columns()[range]);
        let mut sum = Vec3A::ZERO;
        for (block, &column) in pairs {
            sum += *block * x[column as usize];
        }
        sum
    }

    /// Takes a residual into the variables of [`Columns::image`]: `scaled = F^T (D + L)^-1 r`, with L what
    /// couples a column to those before it. `spare` is scratch.
    pub fn scale(
        &self,
        matrix: &BlockMatrix,
        r: &[Vec3A],
        scaled: &mut [Vec3A],
        spare: &mut [Vec3A],
    ) {
        for column in 0..self.columns() {
            let root = self.starts[column] as usize;
            (scaled[root], spare[root]) = (Vec3A::ZERO, Vec3A::ZERO);
            for v in self.vertices(column) {
                let before = matrix.lower(v).start..self.others[v][0] as usize;
                scaled[v] = r[v] - Self::product(matrix, before, spare);
            }
            self.solve_down(column, scaled);
            for v in self.vertices(column) {
                spare[v] = scaled[v];
            }
            self.solve_up(column, spare);
        }
    }

    /// The matrix in scaled variables times `p`: `image = F^T (D + L)^-1 A (D + L)^-T F p`; and
    /// `plain = (D + L)^-T F p`, which is `p` in the variables of the matrix. `spare` is scratch. Returns
    /// `p . image`.
    ///
    /// Model: symmetric Gauss-Seidel, column by column, as preconditioner on both sides. Because
    /// `A = (D + L) + (D + L)^T - D`, one sweep back and one there give the image, at half of what the
    /// product with A and the preconditioner take one after the other.
    /// Source: `eisenstat1981`, with blocks.
    /// Symbols: y of the sweep back is `F^-1` of what columns after this one add, so that
    /// `F^T plain = p - y`.
    pub fn image(
        &self,
        matrix: &BlockMatrix,
        p: &[Vec3A],
        plain: &mut [Vec3A],
        image: &mut [Vec3A],
        spare: &mut [[Vec3A; 2]],
    ) -> f64 {
        for column in (0..self.columns()).rev() {
            for v in self.vertices(column) {
                let after = self.others[v][1] as usize..matrix.upper(v).end;
                plain[v] = Self::product(matrix, after, plain);
            }
            self.solve_down(column, plain);
            for v in self.vertices(column) {
                spare[v][0] = plain[v];
                plain[v] = p[v] - plain[v];
            }
            self.solve_up(column, plain);
        }
        let mut curvature = 0.0;
        for column in 0..self.columns() {
            for v in self.vertices(column) {
                let before = matrix.lower(v).start..self.others[v][0] as usize;
                let pairs = matrix.blocks()[before.clone()].iter().zip(&matrix.columns()[before]);
                let mut sum = Vec3A::ZERO;
                for (block, &w) in pairs {
                    sum += *block * spare[w as usize][1];
                }
                image[v] = sum;
            }
            self.solve_down(column, image);
            self.solve_up_from(column, spare, image);
            for v in self.vertices(column) {
                image[v] = p[v] - image[v];
                curvature += f64::from(p[v].dot(image[v]));
            }
        }
        curvature
    }

    /// Applies the inverse of F^T to the first of each pair less `taken`, and puts it into the second.
    #[inline(always)]
    fn solve_up_from(&self, column: usize, pairs: &mut [[Vec3A; 2]], taken: &[Vec3A]) {
        let (mut here, mut next) = (Vec3A::ZERO, Vec3A::ZERO);
        for v in self.vertices(column).rev() {
            let x = pairs[v][0] - taken[v];
            let value = transposed_times(&self.inverse[v], x) - here;
            pairs[v][1] = value;
            let [one, two] = &self.below[v];
            here = next + transposed_times(one, value);
            next = transposed_times(two, value);
        }
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether a vertex is the first of its column.
    #[cfg(test)]
    pub(super) fn is_root(&self, v: usize) -> bool {
        self.starts.binary_search(&(v as u32)).is_ok()
    }

    /// Vertices of a column that are not held.
    #[inline(always)]
    pub fn vertices(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column] as usize + 1..self.starts[column + 1] as usize
    }
}

/// `m^T x`.
#[inline(always)]
fn transposed_times(m: &Mat3A, x: Vec3A) -> Vec3A {
    m.transpose() * x
}

/// Inverse of the lower triangle G of a symmetric block `G G^T`, if that is positive definite as far as
/// rounding tells.
#[inline(always)]
fn inverse_root(m: Mat3A) -> Option<Mat3A> {
    /// Share of a diagonal element below which what is left of it is rounding.
    const LEAST: f32 = 1e-6;
    let (a, b, c) = (m.x_axis, m.y_axis, m.z_axis);
    let g00 = a.x.sqrt();
    let (g10, g20) = (a.y / g00, a.z / g00);
    let d1 = b.y - g10 * g10;
    let g11 = d1.sqrt();
    let g21 = (b.z - g20 * g10) / g11;
    let d2 = c.z - g20 * g20 - g21 * g21;
    let g22 = d2.sqrt();
    // A comparison with a value that is not a number fails.
    if !(a.x > 0.0 && d1 > LEAST * b.y && d2 > LEAST * c.z) {
        return None;
    }
    let (i00, i11, i22) = (1.0 / g00, 1.0 / g11, 1.0 / g22);
    let i10 = -g10 * i00 * i11;
    let i21 = -g21 * i11 * i22;
    let i20 = -(g20 * i00 + g21 * i10) * i22;
    Some(Mat3A::from_cols(
        Vec3A::new(i00, i10, i20),
        Vec3A::new(0.0, i11, i21),
        Vec3A::new(0.0, 0.0, i22),
    ))
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
    fn a_root_is_that_of_its_block() {
        for i in 0..50 {
            let at = |k: f32| (i as f32 * k + k).sin();
            let half = Mat3A::from_cols_array(&std::array::from_fn(|j| at(0.7 + j as f32)));
            let block = half * half.transpose() + Mat3A::from_diagonal(glam::Vec3::splat(0.1));
            let root = inverse_root(block).unwrap();
            let one = root * block * root.transpose();
            assert!(one.abs_diff_eq(Mat3A::IDENTITY, 1e-3), "{one}");
            assert_eq!((root.y_axis.x, root.z_axis.x, root.z_axis.y), (0.0, 0.0, 0.0));
        }
        assert!(inverse_root(Mat3A::ZERO).is_none());
        assert!(inverse_root(-Mat3A::IDENTITY).is_none());
        assert!(inverse_root(Mat3A::IDENTITY * f32::NAN).is_none());
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
        for c in 0..columns.columns() {
            columns.solve_down(c, &mut x);
            columns.solve_up(c, &mut x);
        }
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

    /// The image in scaled variables belongs to the matrix: scaling the product with `plain` gives it.
    #[test]
    fn an_image_is_the_scaled_product_with_the_matrix() {
        let mesh = HairMesh::block([2, 2], 4, glam::Vec3::ONE, true);
        let starts = mesh.columns.first_points();
        let whole = matrix(&mesh);
        let mut columns = Columns::new(&whole, starts);
        columns.factor(&whole);
        let n = whole.rows();
        let zero = vec![Vec3A::ZERO; n];
        let vector = |seed: f32| -> Vec<Vec3A> {
            let at = |i: usize| Vec3A::new((seed + i as f32).sin(), (seed * i as f32).cos(), seed);
            let root = |i: usize| starts.contains(&(i as u32));
            (0..n).map(|i| if root(i) { Vec3A::ZERO } else { at(i) }).collect()
        };
        let dot = |a: &[Vec3A], b: &[Vec3A]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f32>();
        let image = |p: &[Vec3A]| {
            let (mut plain, mut image) = (zero.clone(), zero.clone());
            let mut spare = vec![[Vec3A::ZERO; 2]; n];
            let curvature = columns.image(&whole, p, &mut plain, &mut image, &mut spare);
            (plain, image, curvature)
        };
        for seed in 1..6 {
            let p = vector(seed as f32 * 0.3);
            let (plain, found, curvature) = image(&p);
            let (mut product, mut scaled, mut spare) = (zero.clone(), zero.clone(), zero.clone());
            whole.multiply(&plain, &mut product);
            columns.scale(&whole, &product, &mut scaled, &mut spare);
            for v in 0..n {
                assert!((scaled[v] - found[v]).length() < 1e-4, "{v}: {} {}", scaled[v], found[v]);
            }
            assert!(curvature > 0.0 && (curvature - f64::from(dot(&p, &found))).abs() < 1e-3);
            // Conjugate gradients need it symmetric.
            let q = vector(seed as f32 * 0.7 + 1.0);
            let (one, other) = (dot(&q, &found), dot(&p, &image(&q).1));
            assert!((one - other).abs() < 1e-4 * (1.0 + one.abs()), "{one} {other}");
        }
    }
}
