//! Sparse symmetric systems of 3x3 blocks, and their iterative solution. Independent of hair.
//!
//! An unknown is a vector of three numbers, with a row of blocks. Unknowns are numbered column after
//! column: a *column* here is a run of unknowns, a line of a grid, whose first unknown is pinned and whose others
//! are coupled with the two before them (block pentadiagonal). The *level* of an unknown counts from that first
//! one. Unknowns of different columns are coupled only where their levels differ by at most one.
//!
//! | file | method |
//! |---|---|
//! | `block_matrix.rs` | block compressed sparse rows, lower half only |
//! | `gauss_seidel.rs` | preconditioner: block symmetric Gauss-Seidel with columns as blocks (line relaxation), in Eisenstat's form |
//! | `cholesky.rs` | Cholesky factors of single blocks, the pivots of a column |
//! | `bands.rs` | the blocks between columns, packed into bands of 16-bit integers |
//! | `colouring.rs` | multicolour ordering of the columns, and connected components |
//! | `lanes.rs` | eight columns side by side, one per lane |
//! | `aggregation.rs` | coarse level by unsmoothed aggregation of columns (algebraic multigrid) |
//! | `conjugate_gradient.rs` | preconditioned conjugate gradients, one step length per connected component |
//! | `modified_conjugate_gradient.rs` | conjugate gradients with a filter for constraints (Modified PCG) |

mod aggregation;
mod bands;
mod block_matrix;
mod cholesky;
mod colouring;
mod conjugate_gradient;
mod gauss_seidel;
#[cfg(test)]
mod grid;
mod lanes;
pub(crate) mod modified_conjugate_gradient;

pub(crate) use aggregation::CoarseLevel;
pub(crate) use block_matrix::{BlockMatrix, outer};
pub(crate) use conjugate_gradient::{ColumnScratch, Limits, solve_columns};
pub(crate) use gauss_seidel::BlockGaussSeidel;
