//! Outcome of a step of a hair mesh, and the time spent in its stages.

use crate::math::SolveReport;

/// Outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshReport {
    /// How the step's system was solved.
    pub solve: SolveReport,
    /// Iterations of deformation minimisation.
    pub minimise_iterations: u32,
    /// Vertices that position correction moved.
    pub corrected: u32,
    /// Vertices that are still inside the body.
    pub inside: u32,
    /// Columns that were reset to their rest shape.
    pub broken: u32,
    /// Stitches of seams that are open.
    pub open: u32,
}

/// Time spent in the stages of steps (s), as figure 6 of `wu2016` divides it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshTimes {
    /// Forces and the matrix.
    pub forces: f64,
    /// The implicit solve.
    pub solve: f64,
    /// Finding vertices inside the body, and pushing them out.
    pub collision: f64,
    /// Deformation minimisation.
    pub minimise: f64,
    /// Everything else: roots, seams, checks.
    pub rest: f64,
}
