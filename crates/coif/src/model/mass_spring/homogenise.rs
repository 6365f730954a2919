//! Spring constants of straight hair from the stiffness of the fibre.
//!
//! In units of the bending stiffness `EI` and the length `l` of a segment, the constants of straight
//! hair depend only on the ratio of torsional to bending stiffness of the fibre: `k = c EI / l^3`.
//! They are computed once, by bending and twisting a piece of hair with a small moment.

use glam::DVec3;

use super::altitude::altitude_lengths;
use super::lever::LeverSquared;
use super::link::{Link, dense_stiffness};
use super::strand::{ROTATION, raise};
use crate::math::dense::solve_positive_definite;

/// Constants of the springs of straight hair, as multiples of `EI / l^3`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitStiffness {
    /// Edges of hair and of the triangles on it.
    pub edge: f64,
    /// Springs to the second next particle.
    pub bend: f64,
    /// Springs to the third next particle.
    pub torsion: f64,
    /// Altitude springs.
    pub altitude: f64,
    /// Their squared levers.
    pub lever_squared: LeverSquared,
}

/// Stiffness of edges, as a multiple of `EI / l^3`: a hundred times that of the other springs. That of the
/// fibre is some ten thousand times, too much for single precision; the strain limit bounds the
/// stretch (`selle2008` 4.2).
const EDGE: f64 = 400.0;

/// Altitude springs, as a fraction of the bending springs. With a tenth, joints that bend away from their extra
/// particles by more than a radian fold; with more than a half, the torsional stiffness cannot be reached.
const ALTITUDE: f64 = 0.5;

/// Smallest and largest ratio of torsional to bending stiffness that can be reached; others are clamped.
const MIN_RATIO: f64 = 0.1;
const MAX_RATIO: f64 = 0.8;

/// Revolutions of the extra particles about the hair in the two pieces that are measured: whole revolutions, for
/// isotropic bending.
const TURNS: [usize; 2] = [2, 4];

/// Compliance of a joint for `EI` 1: bending (mean of two directions) and twisting.
struct Compliance {
    bend: f64,
    twist: f64,
}

impl UnitStiffness {
    /// Computes the constants for a ratio `GJ / EI` of torsional to bending stiffness.
    pub fn new(twist_over_bend: f64) -> Self {
        let target = twist_over_bend.clamp(MIN_RATIO, MAX_RATIO);
        let joint = piece(1);
        let lever_squared = LeverSquared::of_even_hair([joint[0], joint[1], joint[2], joint[3]]);
        let constants = |log: [f64; 2]| {
            let [torsion, bend] = log.map(f64::exp);
            Self { edge: EDGE, bend, torsion, altitude: ALTITUDE * bend, lever_squared }
        };
        let error = |log: [f64; 2]| {
            let found = constants(log).measure();
            [found.bend.ln(), (found.twist * target).ln()]
        };
        // Solve by Newton's method for the logarithms of the two constants.
        let mut log = [4.0f64.ln(), 2.0f64.ln()];
        for _ in 0..30 {
            let now = error(log);
            if now[0].abs().max(now[1].abs()) < 1e-10 {
                break;
            }
            let step = 1e-5;
            let [dx, dy] = [error([log[0] + step, log[1]]), error([log[0], log[1] + step])]
                .map(|e| [(e[0] - now[0]) / step, (e[1] - now[1]) / step]);
            let determinant = dx[0] * dy[1] - dx[1] * dy[0];
            let change = [
                (dy[0] * now[1] - dy[1] * now[0]) / determinant,
                (dx[1] * now[0] - dx[0] * now[1]) / determinant,
            ];
            for (log, change) in log.iter_mut().zip(change) {
                *log += change.clamp(-0.5, 0.5);
            }
        }
        constants(log)
    }

    /// Angle per joint and unit moment of straight hair with segments of length 1.
    ///
    /// Model: joints are in series, so that their angles add up; the difference between a longer and a
    /// shorter piece is due to the additional joints, without effects of the ends.
    fn measure(&self) -> Compliance {
        let joints = TURNS.map(|t| t * (std::f64::consts::TAU / ROTATION).round() as usize);
        let [short, long] = joints.map(|n| self.turn_piece(n));
        let more = (joints[1] - joints[0]) as f64;
        let per_joint = |axis: usize| (long[axis] - short[axis]) / more;
        Compliance { bend: 0.5 * (per_joint(0) + per_joint(1)), twist: per_joint(2) }
    }

    /// Rotations of the end of a piece of hair by unit moments about two axes across it and about its own.
    ///
    /// Model: the first triangle is pinned, a pure moment acts on the last one.
    fn turn_piece(&self, joints: usize) -> [f64; 3] {
        let x = piece(joints);
        let (n, pinned) = (x.len(), 3);
        // Assemble the stiffness of the free points.
        let unknowns = 3 * (n - pinned);
        let matrix = dense_stiffness(self.links(&x), n, pinned);
        // Apply a moment to the last triangle by forces that sum to zero.
        let last = [n - 3, n - 2, n - 1];
        let centre = last.iter().map(|&i| x[i]).sum::<DVec3>() / 3.0;
        [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            let unit = rigid_forces(last.map(|i| x[i] - centre), axis);
            let mut rhs = vec![0.0; unknowns];
            for (i, f) in last.into_iter().zip(unit) {
                f.write_to_slice(&mut rhs[3 * (i - pinned)..]);
            }
            let forces = rhs.clone();
            let solved = solve_positive_definite(&mut matrix.clone(), &mut rhs);
            // The angle is the work of the unit moment.
            let angle: f64 = rhs.iter().zip(&forces).map(|(u, f)| u * f).sum();
            if solved { angle } else { f64::NAN }
        })
    }

    fn links(&self, x: &[DVec3]) -> Vec<Link> {
        let mut links = Vec::new();
        for j in 0..x.len() {
            for s in 1..=3 {
                if j + s < x.len() {
                    let stiffness = match s {
                        1 => self.edge,
                        2 if j % 2 == 0 => self.edge,
                        2 => self.bend,
                        _ => self.torsion,
                    };
                    let pair = [j as u32, (j + s) as u32];
                    let rest = x[j].distance(x[j + s]);
                    links.extend(Link::between(pair, x, stiffness, rest));
                }
            }
            if j + 3 < x.len() {
                let points = std::array::from_fn(|i| (j + i) as u32);
                let rest = altitude_lengths(points.map(|p| x[p as usize]));
                links.extend(Link::across(points, x, self.altitude, &rest));
            }
        }
        links
    }
}

/// Straight hair with segments of length 1.
fn piece(joints: usize) -> Vec<DVec3> {
    let mut x = Vec::new();
    for i in 0..=joints {
        let (a, b) = (DVec3::Z * i as f64, DVec3::Z * (i + 1) as f64);
        let angle = ROTATION * i as f64;
        let side = DVec3::new(angle.cos(), angle.sin(), 0.0);
        x.extend([a, raise(a, b, side)]);
    }
    x.push(DVec3::Z * (joints + 1) as f64);
    x
}

/// Forces on three points around their centre with zero sum and a unit moment about an axis.
fn rigid_forces(arms: [DVec3; 3], axis: DVec3) -> [DVec3; 3] {
    let inertia = arms.iter().fold(glam::DMat3::ZERO, |sum, r| {
        let outer = glam::DMat3::from_cols(*r * r.x, *r * r.y, *r * r.z);
        sum + glam::DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer
    });
    let spin = inertia.inverse() * axis;
    arms.map(|r| spin.cross(r))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_give_the_stiffness_of_the_fibre() {
        for ratio in [0.1, 0.25, 0.5, 0.77, 0.8] {
            let unit = UnitStiffness::new(ratio);
            let found = unit.measure();
            assert!((found.bend - 1.0).abs() < 1e-6, "{ratio}: {}", found.bend);
            assert!((found.twist * ratio - 1.0).abs() < 1e-6, "{ratio}: {}", found.twist);
            assert!(unit.torsion > 0.1 && unit.bend > 0.1 && unit.bend < 30.0, "{unit:?}");
        }
    }
}
