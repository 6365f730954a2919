//! Velocity solves on their own: banded factorisation against the textbook's conjugate gradient, and hair in lanes
//! against the plain version.

use std::f64::consts::FRAC_PI_4;

use coif::groom::{Fibre, Groom, Strands};
use coif::math::banded::Banded;
use coif::math::{LANES, RigidTransform};
use coif::model::mass_spring::altitude::altitude_lengths;
use coif::model::mass_spring::link::{Constraint, Link, Particles, solve_velocities};
use coif::model::mass_spring::plain::PlainHair;
use coif::model::mass_spring::{MassSpring, Settings, UnitStiffness};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::{Wind, World, hash_positions};
use coif::with_threads;
use glam::{DVec3, Vec3};

use super::super::timing::Pieces;
use super::super::{Row, Setting, seconds};
use crate::Error;

/// Segments of a strand, and their length (m).
const SEGMENTS: usize = 50;
const SEGMENT: f64 = 0.006;
/// Strands of `free-hair`.
const STRANDS: usize = 1024;
/// Strands of the plain version, which is much slower.
const PLAIN_STRANDS: usize = 8;
/// Substeps of a frame of 1/60 s.
const SUBSTEPS: usize = 16;
/// Length of a substep (s).
const SUBSTEP: f64 = 1.0 / (60 * SUBSTEPS) as f64;
/// Tolerance of the conjugate gradient: the rounding of single precision.
const TOLERANCE: f64 = 1e-4;
/// Pinned particles.
const PINNED: usize = 3;

pub(super) fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    if !["factor-solve", "assembly", "free-hair"].iter().any(|name| setting.wants(name)) {
        return Ok(Vec::new());
    }
    let direct = factor_solve(setting)?;
    let mut rows = Vec::new();
    for threads in setting.thread_counts() {
        rows.push(with_threads(threads, || free_hair(setting, threads))??);
    }
    // A substep has two solves; the rest is forces, matrix, strain limit and copies.
    let left = 0.5 * rows[0].ns_per_particle_step - direct.ns_per_particle_step;
    let left_min = 0.5 * rows[0].ns_per_particle_step_min - direct.ns_per_particle_step_min;
    let assembly = Row {
        name: "assembly".into(),
        ns_per_particle_step: left,
        ns_per_particle_step_min: left_min,
        ms_per_frame: left * 1e-6 * (rows[0].particles * 2 * SUBSTEPS) as f64,
        reference_ratio: direct.ns_per_particle_step / left,
        reference: "factor-solve, same run",
        ..rows[0].clone()
    };
    rows.splice(0..0, [direct, assembly]);
    Ok(rows)
}

/// Factorisation and solve of sixteen strands on one core.
fn factor_solve(setting: &Setting) -> Result<Row, Error> {
    let hair = Hair::new();
    let (assembled, rhs) = hair.in_lanes();
    let particles = hair.mass.len() * LANES;
    let mut banded = Banded::new(hair.mass.len());
    let mut solution = rhs.clone();
    let mut pieces = Pieces::default();
    for piece in 0..50 * setting.repetitions() {
        banded.rows_mut().copy_from_slice(&assembled);
        solution.copy_from_slice(&rhs);
        let fast = seconds(|| {
            banded.factor();
            banded.solve(&mut solution);
        });
        // The plain version is slow: measure it once in fifty pieces, and on one strand of the sixteen.
        let slow = (piece % 50 == 49).then(|| {
            seconds(|| {
                hair.solve_plainly();
            })
        });
        pieces.add(fast, slow.map(|strand| strand * LANES as f64));
    }
    let rows: Vec<Vec3> = solution.chunks_exact(3).map(Vec3::from_slice).collect();
    let reference = "conjugate gradient, double precision, no lanes";
    let row = pieces.row("factor-solve", [LANES, particles], 1, reference, hash_positions(&rows));
    Ok(Row { ms_per_frame: row.ms_per_frame * (2 * SUBSTEPS) as f64, ..row })
}

/// Substeps of hair that is pulled sideways, without collision or contact.
fn free_hair(setting: &Setting, threads: usize) -> Result<Row, Error> {
    let strands = if setting.quick { STRANDS / 8 } else { STRANDS };
    let (groom, few) = (groom(strands), groom(PLAIN_STRANDS));
    let world = World { steps_per_second: 60, ..World::default() };
    let aside = Vec3::new(3.0, -9.81, 1.0);
    let mut lanes = MassSpring::new(&groom, &Settings::default(), world.gravity)?;
    let mut plain = PlainHair::new(&few, &Settings::default(), world.gravity)?;
    let particles = lanes.particle_count();
    let plain_particles = particles / strands * PLAIN_STRANDS;
    let roots = vec![RigidTransform::IDENTITY; strands];
    let (wind, report) = (Wind::default(), &mut StepReport::default());
    let mut pieces = Pieces::default();
    for piece in 0..=setting.repetitions() {
        let env = Environment {
            time: (piece + 1) as f64 * f64::from(world.dt()),
            dt: world.dt(),
            gravity: aside,
            wind: &wind,
            world_from_rest: &roots,
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        let fast = seconds(|| lanes.step(&env, report)) / f64::from(report.substeps.max(1));
        let slow = seconds(|| {
            plain.advance(SUBSTEP, aside.as_dvec3());
        });
        // The first piece warms up.
        if piece > 0 {
            pieces.add(fast / particles as f64, Some(slow / plain_particles as f64));
        }
    }
    let mut positions = vec![Vec3::ZERO; groom.strands.point_count()];
    lanes.positions(&mut positions);
    let (hash, reference) = (hash_positions(&positions), "plain version, one thread");
    let row = pieces.row("free-hair", [strands, particles], 1, reference, hash);
    Ok(Row {
        threads,
        ns_per_particle_step: pieces.median() * 1e9,
        ns_per_particle_step_min: pieces.min() * 1e9,
        ms_per_frame: row.ms_per_frame * (SUBSTEPS * particles) as f64,
        ..row
    })
}

/// Slightly curved hair that points downwards.
fn groom(strands: usize) -> Groom {
    let mut all = Strands::new();
    for s in 0..strands {
        let angle = s as f32 * 2.399_963;
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        let point = |i: usize| {
            let along = i as f32 * SEGMENT as f32;
            out * (0.1 + 0.2 * along * (1.0 - along)) - Vec3::Y * along
        };
        all.push(&(0..=SEGMENTS).map(point).collect::<Vec<_>>());
    }
    Groom::new(all, Fibre::default())
}

/// The system of a velocity solve: one straight strand with its extra particles, pulled sideways.
struct Hair {
    mass: Vec<f64>,
    links: Vec<Link>,
    force: Vec<DVec3>,
    constraint: Vec<Constraint>,
    drag: Vec<f64>,
    /// Time by which the springs are extrapolated (s).
    lag: f64,
}

impl Hair {
    fn new() -> Self {
        let fibre = Fibre::default();
        let unit = UnitStiffness::new(0.5);
        // Every other particle is an extra one, rotated by a quarter of a turn from the last.
        let x: Vec<DVec3> = (0..=2 * SEGMENTS)
            .map(|row| {
                let turn = [DVec3::X, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Z][row / 2 % 4];
                let beside = if row % 2 == 1 { 0.75f64.sqrt() * SEGMENT } else { 0.0 };
                DVec3::NEG_Y * (0.5 * row as f64 * SEGMENT) + turn * beside
            })
            .collect();
        let bending = f64::from(fibre.young_modulus) * FRAC_PI_4 * f64::from(fibre.radius).powi(4)
            / SEGMENT.powi(3);
        let mut links = Vec::new();
        for row in 0..x.len() {
            for s in (1..=3).filter(|s| row + s < x.len()) {
                let is_edge = s == 1 || (s == 2 && row % 2 == 0);
                let constant = if is_edge { unit.edge } else { [unit.bend, unit.torsion][s - 2] };
                let pair = [row as u32, (row + s) as u32];
                let rest = x[row].distance(x[row + s]);
                links.extend(Link::between(pair, &x, constant * bending, rest));
            }
            if row + 3 < x.len() {
                let four = std::array::from_fn(|i| (row + i) as u32);
                let rest = altitude_lengths(std::array::from_fn(|i| x[row + i]));
                links.extend(Link::across(four, &x, unit.altitude * bending, &rest));
            }
        }
        let mass = 0.5 * f64::from(fibre.mass_per_length(fibre.radius)) * SEGMENT;
        let pinned = |row: usize| if row < PINNED { Constraint::Pinned } else { Constraint::Free };
        Self {
            mass: vec![mass; x.len()],
            links,
            force: vec![DVec3::new(3.0, 0.0, 1.0) * mass; x.len()],
            constraint: (0..x.len()).map(pinned).collect(),
            drag: vec![0.0; x.len()],
            lag: SUBSTEP + f64::from(fibre.damping),
        }
    }

    /// The system in sixteen lanes, with masses about 1: rows of the matrix and right-hand sides.
    fn in_lanes(&self) -> (Vec<f32>, Vec<f32>) {
        let scale = 1.0 / self.mass[0];
        let mut banded = Banded::new(self.mass.len());
        let mut add = |row: usize, before: usize, at: [usize; 2], value: f64| {
            (0..LANES).for_each(|l| banded.add(row, before, at, l, (value * scale) as f32));
        };
        for (row, mass) in self.mass.iter().enumerate() {
            (0..3).for_each(|axis| add(row, 0, [axis, axis], *mass));
        }
        for link in &self.links {
            for (a, b) in (0..16).map(|i| (i / 4, i % 4)) {
                let (row, other) = (link.points[a] as usize, link.points[b] as usize);
                let weight =
                    link.weights[a] * link.weights[b] * SUBSTEP * self.lag * link.stiffness;
                if other > row || other < PINNED || weight == 0.0 {
                    continue;
                }
                for (r, c) in (0..9).map(|i| (i / 3, i % 3)).filter(|(r, c)| other < row || r >= c)
                {
                    add(row, row - other, [r, c], weight * link.direction[r] * link.direction[c]);
                }
            }
        }
        let rhs = self.force.iter().enumerate().flat_map(|(row, force)| {
            let force = if row < PINNED { DVec3::ZERO } else { *force };
            let axis = move |axis: usize| (force[axis] * SUBSTEP * scale) as f32;
            (0..3).flat_map(move |a| std::iter::repeat_n(axis(a), LANES))
        });
        let rhs = rhs.collect();
        (banded.rows_mut().to_vec(), rhs)
    }

    /// The velocities of one strand by conjugate gradients.
    fn solve_plainly(&self) -> Vec<DVec3> {
        let mut velocity = vec![DVec3::ZERO; self.mass.len()];
        let particles = Particles {
            mass: &self.mass,
            constraint: &self.constraint,
            force: &self.force,
            drag: &self.drag,
            wind: DVec3::ZERO,
        };
        solve_velocities(&particles, &self.links, &mut velocity, [SUBSTEP, self.lag], TOLERANCE);
        velocity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both methods solve the same system.
    #[test]
    fn the_banded_factor_agrees_with_conjugate_gradients() {
        let hair = Hair::new();
        let (assembled, mut solution) = hair.in_lanes();
        let mut banded = Banded::new(hair.mass.len());
        banded.rows_mut().copy_from_slice(&assembled);
        banded.factor();
        banded.solve(&mut solution);
        let truth = hair.solve_plainly();
        let size = truth.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!(size > 1e-4, "{size}");
        for (row, truth) in truth.iter().enumerate() {
            let at = |axis: usize| f64::from(solution[(3 * row + axis) * LANES + 5]);
            let apart = DVec3::new(at(0), at(1), at(2)).distance(*truth) / size;
            assert!(apart < 0.01, "{row}: {apart}");
        }
    }
}
