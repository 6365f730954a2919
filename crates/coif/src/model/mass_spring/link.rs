//! Springs in double precision, one by one: for bodies of tetrahedra, for constants that are computed once,
//! and for the reference implementation.
//!
//! A link is a linearised spring with constant direction (`selle2008` 4.1), between two points or across a
//! tetrahedron: its length is the component of a weighted sum of up to four points along the direction, so that its
//! force is linear in positions and velocities.

use glam::DVec3;

use super::altitude::{CANDIDATES, min_altitude};
use crate::math::{SolveReport, conjugate_gradient};

/// A spring with constant direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The points; those without weight are ignored.
    pub points: [u32; 4],
    /// Their weights in the spring's vector.
    pub weights: [f64; 4],
    /// Unit vector.
    pub direction: DVec3,
    /// Length less rest length (m).
    pub stretch: f64,
    /// Force per length (N/m).
    pub stiffness: f64,
}

impl Link {
    /// A spring between two points; `None` if they coincide, so that it has no direction.
    pub fn between([a, b]: [u32; 2], x: &[DVec3], stiffness: f64, rest: f64) -> Option<Self> {
        let edge = x[b as usize] - x[a as usize];
        let length = edge.length();
        let direction = edge.try_normalize()?;
        let weights = [-1.0, 1.0, 0.0, 0.0];
        Some(Self { points: [a, b, a, b], weights, direction, stretch: length - rest, stiffness })
    }

    /// The altitude spring of a tetrahedron with these altitudes at rest.
    pub fn across(
        points: [u32; 4],
        x: &[DVec3],
        stiffness: f64,
        rest: &[f64; CANDIDATES],
    ) -> Option<Self> {
        let altitude = min_altitude(points.map(|p| x[p as usize]))?;
        Some(Self {
            points,
            weights: altitude.weights,
            direction: altitude.direction,
            stretch: altitude.length - rest[altitude.candidate],
            stiffness,
        })
    }

    /// Rate of the length (m/s) for velocities, or its change (m) for displacements.
    pub fn rate(&self, v: &[DVec3]) -> f64 {
        let sum: DVec3 = (0..4).map(|i| v[self.points[i] as usize] * self.weights[i]).sum();
        sum.dot(self.direction)
    }

    /// Adds the force of a tension (N) to its points.
    pub fn pull(&self, tension: f64, force: &mut [DVec3]) {
        for i in 0..4 {
            force[self.points[i] as usize] -= self.direction * (tension * self.weights[i]);
        }
    }

    /// Energy stored (J).
    pub fn energy(&self) -> f64 {
        0.5 * self.stiffness * self.stretch * self.stretch
    }
}

/// Constraint of a particle's velocity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Constraint {
    /// None.
    #[default]
    Free,
    /// No change along this unit vector.
    Normal(DVec3),
    /// No change.
    Pinned,
}

impl Constraint {
    fn filter(&self, v: DVec3) -> DVec3 {
        match *self {
            Self::Free => v,
            Self::Normal(n) => v - n * v.dot(n),
            Self::Pinned => DVec3::ZERO,
        }
    }
}

/// The particles of a velocity solve.
pub struct Particles<'a> {
    /// Masses (kg).
    pub mass: &'a [f64],
    /// Their constraints.
    pub constraint: &'a [Constraint],
    /// Force that does not depend on the solution (N).
    pub force: &'a [DVec3],
    /// Drag of each (1/s): rate of the relaxation to the velocity of the air.
    pub drag: &'a [f64],
    /// Velocity of the air (m/s).
    pub wind: DVec3,
}

/// One implicit step of velocities.
///
/// Model: `v' = v + s a(v')`, where the force of a spring is `k (stretch + lag rate(v'))`; solved for the change of the
/// velocity by conjugate gradients.
/// Source: `selle2008` 4.1.
/// Symbols: s `step` (s), lag the time step plus the fibre's damping time (s), k stiffness (N/m).
pub fn solve_velocities(
    particles: &Particles<'_>,
    links: &[Link],
    velocity: &mut [DVec3],
    [step, lag]: [f64; 2],
    tolerance: f64,
) -> SolveReport {
    let n = velocity.len();
    let mut force: Vec<DVec3> = (0..n)
        .map(|i| {
            let drag = particles.drag[i] * particles.mass[i];
            particles.force[i] + (particles.wind - velocity[i]) * drag
        })
        .collect();
    for link in links {
        link.pull(link.stiffness * (link.stretch + lag * link.rate(velocity)), &mut force);
    }
    let filter = |v: &mut [DVec3]| {
        for (v, constraint) in v.iter_mut().zip(particles.constraint) {
            *v = constraint.filter(*v);
        }
    };
    force.iter_mut().for_each(|f| *f *= step);
    filter(&mut force);
    let inertia = |i: usize| particles.mass[i] * (1.0 + step * particles.drag[i]);
    let mut diagonal = vec![0.0; 3 * n];
    for i in 0..n {
        diagonal[3 * i..3 * i + 3].fill(inertia(i));
    }
    for link in links {
        for i in 0..4 {
            let w = link.direction * link.weights[i];
            for (c, w) in w.to_array().into_iter().enumerate() {
                diagonal[3 * link.points[i] as usize + c] += step * lag * link.stiffness * w * w;
            }
        }
    }
    let mut vectors = vec![DVec3::ZERO; n];
    let mut image = vec![DVec3::ZERO; n];
    let apply = |x: &[f64], y: &mut [f64]| {
        for (v, x) in vectors.iter_mut().zip(x.chunks_exact(3)) {
            *v = DVec3::from_slice(x);
        }
        filter(&mut vectors);
        image.fill(DVec3::ZERO);
        for link in links {
            link.pull(-step * lag * link.stiffness * link.rate(&vectors), &mut image);
        }
        for i in 0..n {
            image[i] += vectors[i] * inertia(i);
        }
        filter(&mut image);
        for (y, image) in y.chunks_exact_mut(3).zip(&image) {
            image.write_to_slice(y);
        }
    };
    let rhs: Vec<f64> = force.iter().flat_map(|f| f.to_array()).collect();
    let mut change = vec![0.0; 3 * n];
    let report = conjugate_gradient(apply, &diagonal, &rhs, &mut change, tolerance, 20_000);
    for ((v, change), constraint) in
        velocity.iter_mut().zip(change.chunks_exact(3)).zip(particles.constraint)
    {
        *v += constraint.filter(DVec3::from_slice(change));
    }
    report
}

/// The stiffness matrix of springs, in row-major order, for the points after the first `pinned` of `count`.
pub(super) fn dense_stiffness(links: Vec<Link>, count: usize, pinned: usize) -> Vec<f64> {
    let n = 3 * (count - pinned);
    let mut matrix = vec![0.0; n * n];
    for link in links {
        for (a, b) in (0..16).map(|i| (i / 4, i % 4)) {
            let (pa, pb) = (link.points[a] as usize, link.points[b] as usize);
            if pa < pinned || pb < pinned {
                continue;
            }
            let weight = link.stiffness * link.weights[a] * link.weights[b];
            for (r, c) in (0..9).map(|i| (i / 3, i % 3)) {
                matrix[(3 * (pa - pinned) + r) * n + 3 * (pb - pinned) + c] +=
                    weight * link.direction[r] * link.direction[c];
            }
        }
    }
    matrix
}
