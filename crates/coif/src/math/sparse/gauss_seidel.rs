//! Block symmetric Gauss-Seidel as preconditioner, with the columns of a matrix as blocks (line relaxation).
//!
//! The blocks of one column are a band of two beside the diagonal. [`BlockGaussSeidel::factor`] factors these bands
//! exactly, column by column, as `D = F F^T` (banded Cholesky). A forward and a backward sweep over the
//! columns include the blocks L between a column and the earlier and later ones. The preconditioner is split to both
//! sides of the matrix (`eisenstat1981`), so that an iteration of conjugate gradients reads the matrix once. Columns
//! that are not coupled are solved eight at a time, one per lane.

use std::ops::Range;

use fearless_simd::{Level, Simd, SimdBase, dispatch, f32x8};
use glam::{Mat3A, Vec3A};

use super::bands::{Bands, Rows};
use super::block_matrix::BlockMatrix;
use super::cholesky::Cholesky;
use super::colouring::{Group, components, coupled_columns, groups, unknowns};
use super::lanes::{Factor, LANES, Slot, load, set_lane, store, zero};

/// The factors of the bands along all columns: `F = L G` with two blocks below the diagonal in L and lower
/// triangles in G.
#[derive(Debug, Clone)]
pub(crate) struct BlockGaussSeidel {
    /// In the order of a forward sweep.
    groups: Vec<Group>,
    /// By slot.
    factors: Vec<Factor>,
    /// Places of the blocks one and two below the diagonal in the matrix, by unknown.
    places: Vec<[u32; 2]>,
    /// First unknown of every column, which is pinned, and the total.
    starts: Vec<u32>,
    /// Coupling between columns.
    bands: Bands,
    /// Per column: its connected component.
    component: Vec<u32>,
    level: Level,
}

/// One number per lane and group, for sums and factors that differ between connected components.
pub(super) type ByLane<T> = Vec<[T; LANES]>;

/// Memory of sweeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Sweep {
    plain: Rows,
    second: Rows,
    added: Vec<Slot>,
    sum: Vec<Slot>,
}

impl BlockGaussSeidel {
    /// For columns that start at these unknowns; the last of them is the total.
    pub(crate) fn new(matrix: &BlockMatrix, starts: &[u32]) -> Self {
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
        let beside = coupled_columns(matrix, starts);
        let component = components(&beside);
        let groups = groups(&beside, starts, &component);
        let order: Vec<u32> = groups.iter().flat_map(|g| g.columns.iter().copied()).collect();
        let slots = groups.last().map_or(0, |g| g.slots.end);
        Self {
            groups,
            factors: vec![Factor::default(); slots],
            bands: Bands::new(matrix, starts, &order),
            component,
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
            added: self.slots(),
            sum: vec![Slot::default(); self.bands.longest()],
        }
    }

    /// Zero for every unknown.
    pub(super) fn slots(&self) -> Vec<Slot> {
        vec![Slot::default(); self.factors.len()]
    }

    /// A number for every lane of every group.
    pub(super) fn by_lane<T: Copy + Default>(&self) -> ByLane<T> {
        vec![[T::default(); LANES]; self.groups.len()]
    }

    /// Number of connected components: columns of different components are not coupled.
    pub(crate) fn component_count(&self) -> usize {
        self.component.iter().map(|&c| c as usize + 1).max().unwrap_or(0)
    }

    /// The component of a column.
    pub(crate) fn component(&self, column: usize) -> usize {
        self.component[column] as usize
    }

    /// Sums up the lanes of each component.
    pub(super) fn sum_components(&self, lanes: &ByLane<f64>, sums: &mut [f64]) {
        sums.fill(0.0);
        for (group, lanes) in self.groups.iter().zip(lanes) {
            for (component, lane) in group.components.iter().zip(lanes) {
                if let Some(sum) = sums.get_mut(*component as usize) {
                    *sum += lane;
                }
            }
        }
    }

    /// Copies the number of each component to its lanes.
    pub(super) fn spread_components(&self, numbers: &[f32], lanes: &mut ByLane<f32>) {
        for (group, lanes) in self.groups.iter().zip(lanes) {
            for (component, lane) in group.components.iter().zip(lanes) {
                *lane = numbers.get(*component as usize).copied().unwrap_or(0.0);
            }
        }
    }

    /// Sets the matrix: packs the blocks between columns, and factors each column.
    pub(crate) fn factor(&mut self, matrix: &BlockMatrix) {
        self.bands.fill(matrix);
        let none = matrix.block_count() as u32;
        let block = |k: u32| if k == none { Mat3A::ZERO } else { matrix.blocks()[k as usize] };
        for group in &self.groups {
            for (lane, &column) in group.columns.iter().enumerate() {
                // Cholesky factors of the previous two pivots, and the previous block of F one below the diagonal.
                let (mut roots, mut last) = ([Cholesky::default(); 2], Mat3A::ZERO);
                for (i, v) in unknowns(&self.starts, column as usize).enumerate() {
                    let [one, two] = self.places[v];
                    let (one, two) = (block(one), block(two));
                    let mut pivot = matrix.diagonal[v];
                    let mut below = [Mat3A::ZERO; 2];
                    let mut near = one;
                    if i >= 2 {
                        let far = roots[1].divide_transposed(two);
                        below[1] = roots[1].divide(far);
                        // Subtract the fill-in.
                        near -= far * last.transpose();
                        pivot -= far * far.transpose();
                    }
                    if i > 0 {
                        near = roots[0].divide_transposed(near);
                        below[0] = roots[0].divide(near);
                        pivot -= near * near.transpose();
                    }
                    let root = Cholesky::new(pivot).unwrap_or_else(|| {
                        // Where rounding makes a pivot indefinite, use the diagonal block.
                        Cholesky::new(matrix.diagonal[v]).unwrap_or_default()
                    });
                    self.factors[group.slots.start + i].set(lane, root.inverse(), below);
                    roots = [root, roots[0]];
                    last = near;
                }
            }
        }
    }

    /// Forward substitution: applies `F^-1` to the columns of a group, in place.
    #[inline(always)]
    fn forward_substitution<S: Simd>(simd: S, factors: &[Factor], values: &mut [Slot]) {
        let (mut back, mut back2) = (zero(simd), zero(simd));
        for (factor, value) in factors.iter().zip(values) {
            let far = load(simd, value) - factor.times(simd, 1, back2);
            let here = far - factor.times(simd, 0, back);
            store(factor.inverse_times(simd, here), value);
            (back2, back) = (back, here);
        }
    }

    /// Back substitution: applies `F^-T` to the columns of a group, in place.
    #[inline(always)]
    fn back_substitution<S: Simd>(simd: S, factors: &[Factor], values: &mut [Slot]) {
        // Contributions of this row and the one below it to the rows above.
        let (mut here, mut next) = (zero(simd), zero(simd));
        for (factor, value) in factors.iter().zip(values).rev() {
            let x = factor.inverse_transposed_times(simd, load(simd, value)) - here;
            store(x, value);
            here = next + factor.transposed_times(simd, 0, x);
            next = factor.transposed_times(simd, 1, x);
        }
    }

    /// Transforms a residual to the variables of [`BlockGaussSeidel::image`]: `scaled = F^T (D + L)^-1 r`, with L the
    /// coupling of a column to earlier ones.
    pub(super) fn scale(&self, r: &[Vec3A], scaled: &mut [Slot], sweep: &mut Sweep) {
        for group in &self.groups {
            for (k, &column) in group.columns.iter().enumerate() {
                for (i, v) in unknowns(&self.starts, column as usize).enumerate() {
                    set_lane(&mut scaled[group.slots.start + i], k, r[v]);
                }
            }
        }
        dispatch!(self.level, simd => self.scale_in(simd, scaled, sweep));
    }

    #[inline(always)]
    fn scale_in<S: Simd>(&self, simd: S, scaled: &mut [Slot], sweep: &mut Sweep) {
        simd.vectorize(
            #[inline(always)]
            || {
                let Sweep { second, sum, .. } = sweep;
                for group in &self.groups {
                    let factors = &self.factors[group.slots.clone()];
                    let scaled = &mut scaled[group.slots.clone()];
                    self.bands.add_before(simd, &group.columns, second, sum);
                    for (scaled, sum) in scaled.iter_mut().zip(&*sum) {
                        store(load(simd, scaled) - load(simd, sum), scaled);
                    }
                    Self::forward_substitution(simd, factors, scaled);
                    sum[..scaled.len()].copy_from_slice(scaled);
                    Self::back_substitution(simd, factors, &mut sum[..scaled.len()]);
                    self.bands.put(simd, &group.columns, &sum[..group.whole()], second);
                }
            },
        );
    }

    /// Product of the matrix in scaled variables with `p`: `image = F^T (D + L)^-1 A (D + L)^-T F p`. Writes
    /// `p . image` to `curvature`.
    ///
    /// Model: symmetric Gauss-Seidel, column by column, as preconditioner on both sides. Because `A = (D + L) + (D +
    /// L)^T - D`, one backward and one forward sweep give the image, at half the cost of the product with A followed by
    /// the preconditioner. Source: `eisenstat1981`, with blocks. Symbols: y of the backward sweep is `F^-1` times the
    /// contributions of later columns, so that `F^T (D + L)^-T F p = p - y`.
    pub(super) fn image(
        &self,
        p: &[Slot],
        image: &mut [Slot],
        sweep: &mut Sweep,
        curvature: &mut ByLane<f64>,
    ) {
        dispatch!(self.level, simd => self.image_in(simd, p, image, sweep, curvature));
    }

    #[inline(always)]
    fn image_in<S: Simd>(
        &self,
        simd: S,
        p: &[Slot],
        image: &mut [Slot],
        sweep: &mut Sweep,
        curvature: &mut ByLane<f64>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                self.sweep_back(simd, p, sweep);
                let Sweep { second, added, sum, .. } = sweep;
                for (group, curvature) in self.groups.iter().zip(curvature) {
                    *curvature = [0.0; LANES];
                    let factors = &self.factors[group.slots.clone()];
                    let (p, image) = (&p[group.slots.clone()], &mut image[group.slots.clone()]);
                    self.bands.add_before(simd, &group.columns, second, sum);
                    Self::forward_substitution(simd, factors, &mut sum[..p.len()]);
                    for (k, added) in added[group.slots.clone()].iter().enumerate() {
                        let taken = load(simd, &sum[k]);
                        let p = load(simd, &p[k]);
                        let left = p - taken;
                        store(left, &mut image[k]);
                        add_to(curvature, p.dot(left));
                        store(load(simd, added) - taken, &mut sum[k]);
                    }
                    Self::back_substitution(simd, factors, &mut sum[..p.len()]);
                    self.bands.put(simd, &group.columns, &sum[..group.whole()], second);
                }
            },
        );
    }

    /// The backward sweep: `plain = (D + L)^-T F p`, and the contributions y to `added`.
    #[inline(always)]
    fn sweep_back<S: Simd>(&self, simd: S, p: &[Slot], sweep: &mut Sweep) {
        let Sweep { plain, added, sum, .. } = sweep;
        for group in self.groups.iter().rev() {
            let factors = &self.factors[group.slots.clone()];
            let (p, added) = (&p[group.slots.clone()], &mut added[group.slots.clone()]);
            self.bands.add_after(simd, &group.columns, plain, sum);
            Self::forward_substitution(simd, factors, &mut sum[..p.len()]);
            added.copy_from_slice(&sum[..p.len()]);
            for (p, sum) in p.iter().zip(&mut *sum) {
                store(load(simd, p) - load(simd, sum), sum);
            }
            Self::back_substitution(simd, factors, &mut sum[..p.len()]);
            self.bands.put(simd, &group.columns, &sum[..group.whole()], plain);
        }
    }

    /// Adds `(D + L)^-T F p` to `x`: transforms `p` back to the variables of the matrix.
    pub(super) fn add_plain(&self, p: &[Slot], x: &mut [Vec3A], sweep: &mut Sweep) {
        dispatch!(self.level, simd => simd.vectorize(
            #[inline(always)]
            || self.sweep_back(simd, p, sweep)
        ));
        for column in 0..self.columns() {
            let (at, stride) = self.bands.place(column);
            for (i, v) in self.unknowns(column).enumerate() {
                let [a, b, c] = [0, 1, 2].map(|k| sweep.plain.0[at + i + k * stride]);
                x[v] += Vec3A::new(a, b, c);
            }
        }
    }

    /// The sum of the squared lengths of all vectors, by lane.
    pub(super) fn squares(&self, r: &[Slot], sums: &mut ByLane<f64>) {
        dispatch!(self.level, simd => simd.vectorize(
            #[inline(always)]
            || {
                for (group, sum) in self.groups.iter().zip(&mut *sums) {
                    *sum = [0.0; LANES];
                    for r in &r[group.slots.clone()] {
                        let r = load(simd, r);
                        add_to(sum, r.dot(r));
                    }
                }
            }
        ));
    }

    /// Subtracts `step * image` from `r`, and writes the sum of the squares of the result to `sums`.
    pub(super) fn subtract_image(
        &self,
        r: &mut [Slot],
        steps: &ByLane<f32>,
        image: &[Slot],
        sums: &mut ByLane<f64>,
    ) {
        dispatch!(self.level, simd => simd.vectorize(
            #[inline(always)]
            || {
                for ((group, step), sum) in self.groups.iter().zip(steps).zip(&mut *sums) {
                    *sum = [0.0; LANES];
                    let step = f32x8::from_slice(simd, step);
                    let (r, image) = (&mut r[group.slots.clone()], &image[group.slots.clone()]);
                    for (r, image) in r.iter_mut().zip(image) {
                        let left = load(simd, r) - load(simd, image) * step;
                        store(left, r);
                        add_to(sum, left.dot(left));
                    }
                }
            }
        ));
    }

    /// Adds `step * p` to `x`, and sets `p` to the next direction `r + ratio * p`.
    pub(super) fn update(
        &self,
        x: &mut [Slot],
        steps: &ByLane<f32>,
        p: &mut [Slot],
        ratios: &ByLane<f32>,
        r: &[Slot],
    ) {
        dispatch!(self.level, simd => simd.vectorize(
            #[inline(always)]
            || {
                for ((group, step), ratio) in self.groups.iter().zip(steps).zip(ratios) {
                    let slots = group.slots.clone();
                    let (step, ratio) =
                        (f32x8::from_slice(simd, step), f32x8::from_slice(simd, ratio));
                    let (x, p) = (&mut x[slots.clone()], &mut p[slots.clone()]);
                    for ((x, p), r) in x.iter_mut().zip(p).zip(&r[slots]) {
                        let direction = load(simd, p);
                        store(load(simd, x) + direction * step, x);
                        store(load(simd, r) + direction * ratio, p);
                    }
                }
            }
        ));
    }

    /// Bytes that an iteration reads and writes: bands and factors in both sweeps, the vectors of [`BlockGaussSeidel::image`]
    /// and those of the solver around it.
    pub(crate) fn bytes(&self) -> usize {
        /// Number of times that a vector is read or written: 6 in the backward sweep (p, added, plain), 6 in the forward
        /// sweep, 8 in the updates between them.
        const VECTORS: usize = 20;
        let factor = 2 * size_of::<Factor>() + VECTORS * size_of::<Slot>();
        2 * self.bands.bytes() + self.factors.len() * factor
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether an unknown is the first of its column.
    #[cfg(test)]
    pub(super) fn is_pinned(&self, v: usize) -> bool {
        self.starts.binary_search(&(v as u32)).is_ok()
    }

    /// Unknowns of a column that are not pinned.
    #[inline(always)]
    pub(crate) fn unknowns(&self, column: usize) -> Range<usize> {
        unknowns(&self.starts, column)
    }
}

/// Adds eight numbers, lane by lane.
#[inline(always)]
fn add_to<S: Simd>(sum: &mut [f64; LANES], values: f32x8<S>) {
    let mut lanes = [0.0; LANES];
    values.store_slice(&mut lanes);
    for (sum, value) in sum.iter_mut().zip(lanes) {
        *sum += f64::from(value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::Grid;
    use super::*;

    #[test]
    fn uncoupled_columns_are_solved_exactly() {
        let grid = Grid::new([2, 2], |_| 7);
        let rhs = grid.vector(0.4);
        let Grid { matrix: mut whole, starts } = grid;
        // Keep only blocks within columns.
        let column = |v: u32| starts.partition_point(|&s| s <= v);
        for row in 0..whole.rows() {
            for k in whole.lower(row) {
                if column(whole.columns()[k]) != column(row as u32) {
                    whole.blocks_mut()[k] = Mat3A::ZERO;
                }
            }
        }
        let mut columns = BlockGaussSeidel::new(&whole, &starts);
        columns.factor(&whole);
        let n = whole.rows();
        let (mut scaled, mut sweep) = (columns.slots(), columns.sweep());
        let (mut x, mut back) = (vec![Vec3A::ZERO; n], vec![Vec3A::ZERO; n]);
        columns.scale(&rhs, &mut scaled, &mut sweep);
        columns.add_plain(&scaled, &mut x, &mut sweep);
        whole.multiply(&x, &mut back);
        for v in 0..n {
            assert!((back[v] - rhs[v]).length() < 1e-5, "{v}: {} {}", back[v], rhs[v]);
        }
    }

    /// The image equals the product of the matrix with the unscaled direction, scaled.
    #[test]
    fn an_image_is_the_scaled_product_with_the_matrix() {
        // Neighbouring columns have different lengths, so that groups are partly filled.
        let uneven = Grid::new([7, 6], |column| [3, 8, 9, 17][column as usize / 3 % 4]);
        for grid in [Grid::new([3, 3], |_| 4), uneven] {
            let whole = &grid.matrix;
            let mut columns = BlockGaussSeidel::new(whole, &grid.starts);
            columns.factor(whole);
            let n = whole.rows();
            let zero = vec![Vec3A::ZERO; n];
            let mut sweep = columns.sweep();
            let dot = |a: &[Slot], b: &[Slot]| {
                let pairs = a.iter().flatten().flatten().zip(b.iter().flatten().flatten());
                pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>()
            };
            let mut direction = |seed: f32| {
                let mut p = columns.slots();
                columns.scale(&grid.vector(seed), &mut p, &mut columns.sweep());
                let mut image = columns.slots();
                let mut curvature = columns.by_lane();
                columns.image(&p, &mut image, &mut sweep, &mut curvature);
                (p, image, curvature.iter().flatten().sum::<f64>())
            };
            for seed in 1..6 {
                let (p, image, curvature) = direction(seed as f32 * 0.3);
                let (mut plain, mut product) = (zero.clone(), zero.clone());
                columns.add_plain(&p, &mut plain, &mut columns.sweep());
                whole.multiply(&plain, &mut product);
                let mut scaled = columns.slots();
                columns.scale(&product, &mut scaled, &mut columns.sweep());
                for (s, (a, b)) in scaled.iter().zip(&image).enumerate() {
                    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
                        assert!((a - b).abs() < 1e-4, "{s}: {a} {b}");
                    }
                }
                assert!(curvature > 0.0 && (curvature - dot(&p, &image)).abs() < 1e-3);
                // Conjugate gradients need a symmetric operator.
                let (q, other, _) = direction(seed as f32 * 0.7 + 1.0);
                let (one, other) = (dot(&q, &image), dot(&p, &other));
                assert!((one - other).abs() < 1e-4 * (1.0 + one.abs()), "{one} {other}");
            }
        }
    }
}
