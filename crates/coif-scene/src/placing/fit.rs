//! The similarity that takes the roots of a groom onto a scalp.
//!
//! Several starts are refined coarsely; the best ones are refined with more points.

mod refine;
mod start;

use coif::body::{ClosestTriangle, TriangleMesh};
use glam::{DQuat, DVec3, Vec3};

use self::refine::Refinement;

/// Rotation, translation and uniform scale: p becomes scale * (rotation * p) + translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// Uniform scale.
    pub scale: f64,
    /// Rotation.
    pub rotation: DQuat,
    /// Translation (m).
    pub translation: DVec3,
}

impl Similarity {
    /// The image of a point.
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.precise(p.as_dvec3()).as_vec3()
    }

    fn precise(&self, p: DVec3) -> DVec3 {
        self.rotation * p * self.scale + self.translation
    }

    fn inverse(&self, p: DVec3) -> DVec3 {
        self.rotation.inverse() * (p - self.translation) / self.scale
    }
}

/// A fit and its residuals over all roots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Takes the groom to the body.
    pub body_from_groom: Similarity,
    /// Mean distance of roots from the scalp (m).
    pub mean: f32,
    /// Largest distance of a root from the scalp (m).
    pub worst: f32,
}

/// Where roots belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// On a scalp, which hair covers from border to border.
    Scalp,
    /// On some places of a head or a body without a scalp of its own.
    Surface,
}

/// Minimum number of roots that determine a similarity.
const MIN_ROOTS: usize = 12;

/// Maximum number of roots for the coarse and for the fine refinement: enough for a scalp of any shape.
const SAMPLES: [usize; 2] = [300, 1500];

/// Iterations of the coarse and of the fine refinement.
const ITERATIONS: [usize; 2] = [14, 80];

/// Number of starts that are refined finely.
const FINALISTS: usize = 4;

/// By how much a turn by half a circle from the expected rotation must be better than that, less one, on a scalp and
/// elsewhere: on a round head without a scalp hair fits everywhere.
const TURN_PENALTY: [f64; 2] = [0.3, 3.0];

/// Fits roots to a mesh; of similar fits the one nearest to the `expected` rotation. `None` if they do not determine a similarity: too few, at one place, or on a line.
///
/// Model: minimises the squared distances of the roots from the mesh, divided by the scale, over rotation, translation
/// and scale. Without the division the groom would shrink into a point of the mesh. For a scalp distances of its points
/// from the roots are added in the coarse refinement, so that roots cover it; the fine refinement ends without them, so that
/// roots that cover only some of it are not pulled apart.
/// Source: iterative closest points with Gauss-Newton steps (Chen and Medioni 1992), trimmed (Chetverikov et al. 2002).
pub(crate) fn fit(
    roots: &[Vec3],
    mesh: &TriangleMesh,
    target: Target,
    expected: DQuat,
) -> Option<Fit> {
    let penalised = |error: f64, fit: &Similarity| {
        let turn = fit.rotation.angle_between(expected) / std::f64::consts::PI;
        error * (1.0 + TURN_PENALTY[usize::from(target == Target::Surface)] * turn)
    };
    let search = ClosestTriangle::new(mesh)?;
    if roots.len() < MIN_ROOTS {
        return None;
    }
    let few = start::strided(roots, SAMPLES[0]);
    let many = start::strided(roots, SAMPLES[1]);
    let starts = start::starts(&many, mesh, target)?;
    let [coarse, fine] = [&few, &many].map(|roots| Refinement::new(roots, mesh, &search, target));
    // Refine all starts coarsely, and sort them by their error.
    let mut found: Vec<(f64, Similarity)> = Vec::new();
    for start in starts {
        let refined = coarse.refined(start, ITERATIONS[0], true);
        found.extend(refined.map(|s| (penalised(coarse.error(&s), &s), s)));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Refine the best finely.
    let finished = found.iter().take(FINALISTS).filter_map(|(_, start)| {
        let half = fine.refined(*start, ITERATIONS[1] / 4, true)?;
        let end = fine.refined(half, ITERATIONS[1], false)?;
        Some((penalised(fine.error(&end), &end), end))
    });
    let (_, best) = finished.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (mut sum, mut worst) = (0.0, 0.0f32);
    for &root in roots {
        let p = best.point(root);
        let away = search.closest(p).point.distance(p);
        (sum, worst) = (sum + f64::from(away), worst.max(away));
    }
    let mean = (sum / roots.len() as f64) as f32;
    (mean.is_finite() && worst.is_finite()).then_some(Fit { body_from_groom: best, mean, worst })
}

#[cfg(test)]
mod tests;
