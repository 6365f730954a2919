//! A step's matrix split along the columns of the mesh: what the solver sweeps over.
//!
//! Hair is stiffest along itself, and vertices are numbered along columns: what couples the vertices of
//! one column is a band of two blocks beside the diagonal. [`Columns::factor`] factors these bands
//! exactly, each column for itself, as `D = F F^T`. Sweeps over the columns there and back take in what
//! couples a column to those before and after it, so that neighbours hear of each other.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};
use glam::{Mat3A, Vec3A};

use super::bands::{Bands, Rows};
use super::matrix::BlockMatrix;

/// The factors of the bands along all columns: `F = L G` with two blocks below the diagonal in L and lower
/// triangles in G.
#[derive(Debug, Clone)]
pub struct Columns {
    /// By row.
    factors: Vec<Factor>,
    /// Places of the blocks one and two below the diagonal in the matrix.
    places: Vec<[u32; 2]>,
    /// First vertex of every column, which is held, and the total.
    starts: Vec<u32>,
    /// What couples columns to each other.
    bands: Bands,
    level: Level,
}

/// What belongs to one row of F.
#[derive(Debug, Clone, Copy, Default)]
struct Factor {
    /// Inverse of the block of G.
    inverse: Mat3A,
    /// Blocks of L one and two below the diagonal; zero where there is none.
    below: [Mat3A; 2],
}

/// Memory of sweeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Sweep {
    /// The direction of [`Columns::image`] in the variables of the matrix.
    pub(super) plain: Rows,
    second: Rows,
    added: Vec<Vec3A>,
    sum: Vec<f32>,
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
        Self {
            factors: vec![Factor::default(); n],
            bands: Bands::new(matrix, starts),
            level: Level::new(),
            places,
            starts: starts.to_vec(),
        }
    }

    /// Memory for sweeps.
    pub(super) fn sweep(&self) -> Sweep {
        Sweep {
            plain: self.bands.rows(),
            second: self.bands.rows(),
            added: vec![Vec3A::ZERO; self.factors.len()],
            sum: vec![0.0; 3 * self.bands.longest()],
        }
    }

    /// Takes over a matrix: packs what is between columns, and factors each of them.
    pub fn factor(&mut self, matrix: &BlockMatrix) {
        self.bands.fill(matrix);
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
                    one_d -= two * self.factors[v - 1].below[0].transpose();
                    pivot -= below[1] * two.transpose();
                }
                if v > first {
                    below[0] = one_d * inverses[0];
                    pivot -= below[0] * one_d.transpose();
                }
                let root = inverse_root(pivot).unwrap_or_else(|| {
                    // Where rounding has spoilt a pivot, that of the diagonal does.
                    inverse_root(matrix.diagonal[v]).unwrap_or(Mat3A::ZERO)
                });
                self.factors[v] = Factor { inverse: root, below };
                inverses = [root.transpose() * root, inverses[0]];
            }
        }
    }

    /// Applies the inverse of F to one column: `from` has its vertices by their place in the column and
    /// their index, `to` takes the result by index.
    #[inline(always)]
    fn solve_down(
        &self,
        vertices: Range<usize>,
        from: impl Fn(usize, usize) -> Vec3A,
        mut to: impl FnMut(usize, Vec3A),
    ) {
        let (mut back, mut back2) = (Vec3A::ZERO, Vec3A::ZERO);
        for (i, v) in vertices.enumerate() {
            let Factor { inverse, below: [one, two] } = &self.factors[v];
            let value = from(i, v) - *two * back2 - *one * back;
            to(v, *inverse * value);
            (back2, back) = (back, value);
        }
    }

    /// Applies the inverse of F^T to one column: `from` has its vertices by index, `to` takes the result by
    /// the place in the column.
    #[inline(always)]
    fn solve_up(
        &self,
        vertices: Range<usize>,
        from: impl Fn(usize) -> Vec3A,
        mut to: impl FnMut(usize, Vec3A),
    ) {
        // What the rows above take from this one and the one below it.
        let (mut here, mut next) = (Vec3A::ZERO, Vec3A::ZERO);
        for (i, v) in vertices.enumerate().rev() {
            let Factor { inverse, below: [one, two] } = &self.factors[v];
            let value = transposed_times(inverse, from(v)) - here;
            to(i, value);
            here = next + transposed_times(one, value);
            next = transposed_times(two, value);
        }
    }

    /// Takes a residual into the variables of [`Columns::image`]: `scaled = F^T (D + L)^-1 r`, with L what
    /// couples a column to those before it.
    pub(super) fn scale(&self, r: &[Vec3A], scaled: &mut [Vec3A], scratch: &mut Sweep) {
        dispatch!(self.level, simd => simd.vectorize(
            #[inline(always)]
            || self.scale_all(r, scaled, scratch)
        ));
    }

    #[inline(always)]
    fn scale_all(&self, r: &[Vec3A], scaled: &mut [Vec3A], scratch: &mut Sweep) {
        let Sweep { second, sum, .. } = scratch;
        let longest = sum.len() / 3;
        for column in 0..self.columns() {
            scaled[self.starts[column] as usize] = Vec3A::ZERO;
            self.bands.from_before(column, second, sum);
            let vertices = self.vertices(column);
            let sums = |i: usize| Vec3A::new(sum[i], sum[longest + i], sum[2 * longest + i]);
            self.solve_down(vertices.clone(), |i, v| r[v] - sums(i), |v, x| scaled[v] = x);
            let (at, stride) = self.bands.place(column);
            self.solve_up(vertices, |v| scaled[v], |i, x| put(&mut second.0, at + i, stride, x));
        }
    }

    /// The matrix in scaled variables times `p`: `image = F^T (D + L)^-1 A (D + L)^-T F p`; and
    /// `plain = (D + L)^-T F p` in the scratch memory, which is `p` in the variables of the matrix. Returns
    /// `p . image`.
    ///
    /// Model: symmetric Gauss-Seidel, column by column, as preconditioner on both sides. Because
    /// `A = (D + L) + (D + L)^T - D`, one sweep back and one there give the image, at half of what the
    /// product with A and the preconditioner take one after the other.
    /// Source: `eisenstat1981`, with blocks.
    /// Symbols: y of the sweep back is `F^-1` of what columns after this one add, so that
    /// `F^T plain = p - y`.
    pub(super) fn image(&self, p: &[Vec3A], image: &mut [Vec3A], scratch: &mut Sweep) -> f64 {
        dispatch!(self.level, simd => simd.vectorize(
            #[inline(always)]
            || self.image_all(p, image, scratch)
        ))
    }

    #[inline(always)]
    fn image_all(&self, p: &[Vec3A], image: &mut [Vec3A], scratch: &mut Sweep) -> f64 {
        let Sweep { plain, second, added, sum } = scratch;
        let longest = sum.len() / 3;
        for column in (0..self.columns()).rev() {
            self.bands.from_after(column, plain, sum);
            let vertices = self.vertices(column);
            let sums = |i: usize| Vec3A::new(sum[i], sum[longest + i], sum[2 * longest + i]);
            self.solve_down(vertices.clone(), |i, _| sums(i), |v, y| added[v] = y);
            let (at, stride) = self.bands.place(column);
            self.solve_up(vertices, |v| p[v] - added[v], |i, x| put(&mut plain.0, at + i, stride, x));
        }
        let mut curvature = 0.0;
        for column in 0..self.columns() {
            self.bands.from_before(column, second, sum);
            let vertices = self.vertices(column);
            let sums = |i: usize| Vec3A::new(sum[i], sum[longest + i], sum[2 * longest + i]);
            self.solve_down(vertices.clone(), |i, _| sums(i), |v, x| image[v] = x);
            let (at, stride) = self.bands.place(column);
            self.solve_up(
                vertices.clone(),
                |v| added[v] - image[v],
                |i, x| put(&mut second.0, at + i, stride, x),
            );
            for v in vertices {
                image[v] = p[v] - image[v];
                curvature += f64::from(p[v].dot(image[v]));
            }
        }
        curvature
    }

    /// Adds what is in rows to vectors by vertex.
    pub(super) fn add_rows(&self, rows: &Rows, to: &mut [Vec3A]) {
        for column in 0..self.columns() {
            let (at, stride) = self.bands.place(column);
            for (i, v) in self.vertices(column).enumerate() {
                let [x, y, z] = [0, 1, 2].map(|k| rows.0[at + i + k * stride]);
                to[v] += Vec3A::new(x, y, z);
            }
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

/// Puts a vector into rows.
#[inline(always)]
fn put(rows: &mut [f32], at: usize, stride: usize, x: Vec3A) {
    rows[at] = x.x;
    rows[at + stride] = x.y;
    rows[at + 2 * stride] = x.z;
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
