//! Reference implementation without lanes and without a banded solver, for tests and benchmarks.
//!
//! One strand after the other, double precision, springs one by one, textbook conjugate gradients.
//! Free hair only: roots are fixed, and there are no collisions.

use glam::{DVec3, Vec3};

use super::link::{Constraint, Link, Particles, solve_velocities};
use super::strand::{Material, Strand};
use super::{Settings, UnitStiffness, VelocityUpdate};
use crate::Result;
use crate::groom::Groom;
use crate::math::SolveReport;

/// Norm of the residual at which a solve stops, relative to that of the right-hand side.
const TOLERANCE: f64 = 1e-7;

/// Hair that moves as masses and springs: reference implementation.
pub struct PlainHair {
    settings: Settings,
    fibre_damping: f64,
    strands: Vec<PlainStrand>,
}

struct PlainStrand {
    shape: Strand,
    root: DVec3,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    constraint: Vec<Constraint>,
    drag: Vec<f64>,
}

impl PlainHair {
    /// Builds the model; the groom is balanced against `gravity` (m/s^2).
    pub fn new(groom: &Groom, settings: &Settings, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        let ratio = 2.0 * f64::from(groom.fibre.shear_modulus / groom.fibre.young_modulus);
        let unit = UnitStiffness::new(ratio);
        let strands = (0..groom.strands.strand_count()).map(|s| {
            let line = groom.strands.strand(s);
            let radius = &groom.radius[groom.strands.points_of(s)];
            let material = Material { fibre: &groom.fibre, radius, unit: &unit };
            let embedded = groom.embedded[s] as usize;
            let shape = Strand::new(line, embedded, &material, settings, gravity);
            let drag = |row| f64::from(*shape.drag.get(row).unwrap_or(&settings.damping.at(0.0)));
            let pinned =
                |pinned: &bool| if *pinned { Constraint::Pinned } else { Constraint::Free };
            PlainStrand {
                x: shape.position.clone(),
                v: vec![DVec3::ZERO; shape.position.len()],
                constraint: shape.pinned.iter().map(pinned).collect(),
                drag: (0..shape.position.len()).map(drag).collect(),
                root: line[0].as_dvec3(),
                shape,
            }
        });
        let strands = strands.collect();
        Ok(Self { settings: settings.clone(), fibre_damping: groom.fibre.damping.into(), strands })
    }

    /// One substep of `h` seconds in still air (`selle2008` section 4). Returns the maxima of the reports of
    /// all solves.
    pub fn advance(&mut self, h: f64, gravity: DVec3) -> SolveReport {
        let mut worst = SolveReport::default();
        for strand in &mut self.strands {
            let update = self.settings.velocity_update;
            // 1. Solve for the velocity after half a step.
            let times = [0.5 * h, h + self.fibre_damping];
            let mut half = strand.v.clone();
            let first = strand.solve(&strand.x, &mut half, gravity, times);
            // 2. Limit the strain.
            strand.limit_strain(&mut half, h, self.settings.strain_limit.into());
            // 4. Advance positions.
            let next: Vec<DVec3> = strand.x.iter().zip(&half).map(|(x, v)| *x + *v * h).collect();
            // 7. and 8. Solve for the velocity at the end.
            let middle: Vec<DVec3> =
                strand.x.iter().zip(&next).map(|(a, b)| (*a + *b) * 0.5).collect();
            let mut v = strand.v.clone();
            let second = match update {
                VelocityUpdate::BackwardEuler => {
                    strand.solve(&middle, &mut v, gravity, [h, h + self.fibre_damping])
                }
                VelocityUpdate::Trapezoidal => {
                    let times = [0.5 * h, h + self.fibre_damping];
                    let report = strand.solve(&middle, &mut v, gravity, times);
                    v.iter_mut().zip(&strand.v).for_each(|(v, before)| *v = *v * 2.0 - *before);
                    report
                }
            };
            (strand.x, strand.v) = (next, v);
            for report in [first, second] {
                worst.iterations = worst.iterations.max(report.iterations);
                worst.residual = worst.residual.max(report.residual);
            }
        }
        worst
    }

    /// Positions of the points of the hair (m), in the groom's order.
    pub fn positions(&self) -> Vec<DVec3> {
        let of = |s: &PlainStrand| {
            let (root, x) = (s.root, s.x.clone());
            let points = s.shape.point.clone().into_iter().zip(x);
            points.filter_map(move |(point, x)| point.map(|_| x + root)).collect::<Vec<_>>()
        };
        self.strands.iter().flat_map(of).collect()
    }

    /// Kinetic energy (J).
    pub fn kinetic_energy(&self) -> f64 {
        let of = |s: &PlainStrand| {
            let motion = s.shape.mass.iter().zip(&s.v).map(|(m, v)| 0.5 * m * v.length_squared());
            motion.sum::<f64>()
        };
        self.strands.iter().map(of).sum()
    }

    /// Sum of elastic, kinetic and potential energy (J).
    pub fn energy(&self, gravity: DVec3) -> f64 {
        let of = |s: &PlainStrand| {
            let springs: f64 = s.shape.links(&s.x).iter().map(Link::energy).sum();
            let load =
                (0..s.x.len()).map(|i| s.x[i].dot(s.shape.hold[i] + gravity * s.shape.weight[i]));
            springs - load.sum::<f64>()
        };
        self.kinetic_energy() + self.strands.iter().map(of).sum::<f64>()
    }
}

impl PlainStrand {
    fn solve(&self, x: &[DVec3], v: &mut [DVec3], gravity: DVec3, times: [f64; 2]) -> SolveReport {
        let shape = &self.shape;
        let force: Vec<DVec3> =
            (0..v.len()).map(|i| shape.hold[i] + gravity * shape.weight[i]).collect();
        let (mass, constraint, wind) = (&shape.mass[..], &self.constraint[..], DVec3::ZERO);
        let particles = Particles { mass, constraint, force: &force, drag: &self.drag, wind };
        solve_velocities(&particles, &shape.links(x), v, times, TOLERANCE)
    }

    fn limit_strain(&self, half: &mut [DVec3], h: f64, limit: f64) {
        let point = &self.shape.point;
        let mut end: Vec<DVec3> = self.x.iter().zip(&*half).map(|(x, v)| *x + *v * h).collect();
        for row in (1..end.len()).filter(|&row| !self.shape.pinned[row]) {
            let is_segment = point[row].is_some() && point[row - 1].is_none();
            let parent = if is_segment { row - 2 } else { row - 1 };
            let rest = self.shape.position[row].distance(self.shape.position[parent]);
            let segment = end[row] - end[parent];
            let distance = segment.length();
            let wanted = distance.clamp(rest * (1.0 - limit), rest * (1.0 + limit));
            if distance > 0.0 && (wanted - distance).abs() > 1e-6 * rest {
                let change = segment * ((wanted - distance) / distance);
                end[row] += change;
                half[row] += change / h;
            }
        }
    }
}

impl Strand {
    /// All springs, linearised at these positions.
    pub(super) fn links(&self, x: &[DVec3]) -> Vec<Link> {
        let count = x.len();
        let mut links = Vec::with_capacity(4 * count);
        for row in 0..count {
            for (s, spring) in self.springs[row].iter().enumerate() {
                let end = row + s + 1;
                if end < count && spring.stiffness > 0.0 {
                    let pair = [row as u32, end as u32];
                    links.extend(Link::between(pair, x, spring.stiffness, spring.rest));
                }
            }
            if row + 3 < count && self.altitude[row].0 > 0.0 {
                let points = std::array::from_fn(|i| (row + i) as u32);
                let (stiffness, rest) = &self.altitude[row];
                links.extend(Link::across(points, x, *stiffness, rest));
            }
        }
        links
    }
}
