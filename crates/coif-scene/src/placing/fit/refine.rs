//! Gauss-Newton steps from a start towards the similarity with the smallest distances.

use coif::body::{ClosestTriangle, TriangleMesh};
use coif::math::dense::solve_positive_definite;
use glam::{DQuat, DVec3, Vec3};

use super::start::{centre_and_size, on_surface};
use super::{Similarity, Target};

/// Fraction of the roots that count: those nearest to the mesh. Some grow on brows and lashes, or beside the scalp.
const KEPT_ROOTS: f64 = 0.9;

/// Fraction of the points of a scalp that count: those nearest to a root.
const KEPT_SCALP: f64 = 0.8;

/// Weight of the distance to the closest point, beside that to its tangent plane with weight one: without it roots would
/// glide too far in one step.
const TO_POINT: f64 = 0.05;

/// Weight of distances of the scalp from the roots.
const OF_SCALP: f64 = 0.3;

/// Damping, relative to the diagonal: directions that nothing determines stay as they are.
const DAMPING: f64 = 1e-4;

/// Largest rotation (rad), change of the logarithm of the scale, and displacement in sizes of the groom of a step.
const MAX_STEP: f64 = 0.35;

/// Largest change of the scale in all, as a factor.
const MAX_SCALE: f64 = 4.0;

/// Steps below this (in sizes of the groom) end the refinement: far below the rounding of single precision.
const SETTLED: f64 = 1e-9;

/// Roots, the mesh they belong on, and points of the mesh that they should cover.
pub(super) struct Refinement<'a> {
    roots: Vec<DVec3>,
    size: f64,
    mesh: &'a TriangleMesh,
    search: &'a ClosestTriangle<'a>,
    scalp: Vec<DVec3>,
    /// Each root as a triangle without extent, for queries of the nearest root.
    points: TriangleMesh,
}

/// A distance that is to become small: of the root `p` from the point `q`.
struct Pair {
    p: DVec3,
    q: DVec3,
    /// The normal of the tangent plane at `q`.
    normal: Option<DVec3>,
    weight: f64,
}

impl<'a> Refinement<'a> {
    pub(super) fn new(
        roots: &[Vec3],
        mesh: &'a TriangleMesh,
        search: &'a ClosestTriangle<'a>,
        target: Target,
    ) -> Self {
        let triangles = (0..roots.len() as u32).map(|i| [i; 3]).collect();
        let points = TriangleMesh { positions: roots.to_vec(), triangles };
        let roots: Vec<DVec3> = roots.iter().map(|p| p.as_dvec3()).collect();
        let (_, size) = centre_and_size(roots.iter().copied());
        let scalp = if target == Target::Scalp { on_surface(mesh) } else { Vec::new() };
        Self { roots, size, mesh, search, scalp, points }
    }

    /// Takes steps until they are small; `None` if the roots determine no step.
    pub(super) fn refined(
        &self,
        start: Similarity,
        iterations: usize,
        with_scalp: bool,
    ) -> Option<Similarity> {
        let scalp_search = ClosestTriangle::new(&self.points).filter(|_| with_scalp);
        let mut at = start;
        for _ in 0..iterations {
            let mut pairs = self.of_roots(&at);
            if let Some(search) = &scalp_search {
                pairs.extend(self.of_scalp(&at, search));
            }
            let (next, step) = self.step(&at, &pairs)?;
            let ratio = next.scale / start.scale;
            if !(1.0 / MAX_SCALE..=MAX_SCALE).contains(&ratio) {
                return None;
            }
            at = next;
            if step < SETTLED {
                break;
            }
        }
        Some(at)
    }

    /// Mean distance of what counts, in sizes of the groom.
    pub(super) fn error(&self, at: &Similarity) -> f64 {
        let mean = |pairs: Vec<Pair>| {
            let count = pairs.len().max(1) as f64;
            pairs.iter().map(|pair| pair.p.distance(pair.q)).sum::<f64>() / count
        };
        let scalp = ClosestTriangle::new(&self.points).filter(|_| !self.scalp.is_empty());
        let scalp = scalp.map_or(0.0, |search| OF_SCALP * mean(self.of_scalp(at, &search)));
        (mean(self.of_roots(at)) + scalp) / (at.scale * self.size)
    }

    /// Roots and the closest points of the mesh.
    fn of_roots(&self, at: &Similarity) -> Vec<Pair> {
        let pairs = self.roots.iter().map(|&root| {
            let p = at.precise(root);
            let hit = self.search.closest(p.as_vec3());
            // The closest point again in double precision.
            let [a, b, c] = self.mesh.corners(hit.triangle).map(|p| p.as_dvec3());
            let [u, v, w] = hit.barycentric.map(f64::from);
            let face = (b - a).cross(c - a).try_normalize();
            // Within a face its plane is exact; at an edge the surface turns towards the root.
            let is_inside = hit.barycentric.iter().all(|&w| w > 1e-5);
            let mut q = a * u + b * v + c * w;
            if let (true, Some(face)) = (is_inside, face) {
                q = p - face * (p - a).dot(face);
            }
            let normal = if is_inside { face } else { (p - q).try_normalize().or(face) };
            Pair { p, q, normal, weight: 1.0 }
        });
        nearest(pairs.collect(), KEPT_ROOTS)
    }

    /// Points of the scalp and the nearest roots.
    fn of_scalp(&self, at: &Similarity, search: &ClosestTriangle<'_>) -> Vec<Pair> {
        let pairs = self.scalp.iter().map(|&q| {
            let root = search.closest(at.inverse(q).as_vec3()).triangle;
            Pair { p: at.precise(self.roots[root]), q, normal: None, weight: 0.0 }
        });
        let mut pairs = nearest(pairs.collect(), KEPT_SCALP);
        let weight = OF_SCALP * self.roots.len() as f64 / pairs.len().max(1) as f64;
        pairs.iter_mut().for_each(|pair| pair.weight = weight);
        pairs
    }

    /// One damped Gauss-Newton step, and its length.
    ///
    /// Model: with p' from the mean root, a rotation w, a translation t and a change l of the logarithm of the scale move
    /// a root by w x p' + t + l p'; a distance divided by the scale also changes by -l times itself, so that its derivative
    /// with respect to l is n (q - mean).
    fn step(&self, at: &Similarity, pairs: &[Pair]) -> Option<(Similarity, f64)> {
        let (pivot, size) =
            (centre_and_size(self.roots.iter().map(|&p| at.precise(p))).0, at.scale * self.size);
        let (mut matrix, mut rhs) = ([0.0; 49], [0.0; 7]);
        let mut add = |n: DVec3, pair: &Pair, weight: f64| {
            let (p, q) = ((pair.p - pivot) / size, (pair.q - pivot) / size);
            let turn = p.cross(n);
            let row = [turn.x, turn.y, turn.z, n.x, n.y, n.z, n.dot(q)];
            let residual = n.dot(p - q);
            for i in 0..7 {
                rhs[i] -= weight * row[i] * residual;
                for j in 0..7 {
                    matrix[7 * i + j] += weight * row[i] * row[j];
                }
            }
        };
        for pair in pairs {
            let to_point = match pair.normal {
                Some(normal) => {
                    add(normal, pair, pair.weight);
                    TO_POINT * pair.weight
                }
                None => pair.weight,
            };
            [DVec3::X, DVec3::Y, DVec3::Z].into_iter().for_each(|axis| add(axis, pair, to_point));
        }
        let trace: f64 = (0..7).map(|i| matrix[8 * i]).sum();
        for i in 0..7 {
            matrix[8 * i] += DAMPING * matrix[8 * i] + 1e-9 * trace;
        }
        if !solve_positive_definite(&mut matrix, &mut rhs) || rhs.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let length = rhs.iter().map(|v| v * v).sum::<f64>().sqrt();
        let shortened = rhs.map(|v| v * (MAX_STEP / length.max(MAX_STEP)));
        let [a, b, c, x, y, z, grow] = shortened;
        let turn = DQuat::from_scaled_axis(DVec3::new(a, b, c));
        let grow = grow.exp();
        // Rotate and scale about the mean root, then translate.
        let translation =
            turn * (at.translation - pivot) * grow + pivot + DVec3::new(x, y, z) * size;
        let rotation = (turn * at.rotation).normalize();
        Some((Similarity { scale: at.scale * grow, rotation, translation }, length))
    }
}

/// The given fraction of the pairs with the smallest distances.
fn nearest(mut pairs: Vec<Pair>, fraction: f64) -> Vec<Pair> {
    let distance2 = |pair: &Pair| pair.p.distance_squared(pair.q);
    pairs.sort_by(|a, b| distance2(a).total_cmp(&distance2(b)));
    pairs.truncate(((pairs.len() as f64 * fraction).ceil() as usize).max(1));
    pairs
}
