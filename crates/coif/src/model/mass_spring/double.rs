//! Velocity solves in double precision, strand by strand, for hair that is too stiff for single precision.
//!
//! The matrix of a substep is inertia plus stiffness. In its softest modes, those of the whole hair, inertia
//! dominates, and must not be lost to the rounding of the stiffness: where the stiffness of a
//! particle, times the substep and the look-ahead of springs, exceeds [`SINGLE`] times its mass, the matrix
//! of its strand is assembled, factored and solved here. State, right-hand sides and solutions stay in single
//! precision in the lanes of the block; its other strands are not affected.

use glam::{DMat3, DVec3, Vec3};

use super::altitude::{CANDIDATES, min_altitude};
use super::assemble::Times;
use super::block::{Block, ParticleCollision, SPRINGS};
use super::strand::Strand;
use crate::math::LANES;
use crate::math::banded::BLOCKS;
use crate::math::lanes::{lane, set_lane};

/// Largest ratio of stiffness to inertia in a matrix of single precision. The rounding error, one part in 1.7e7, is then
/// at most a twentieth of the inertia; from 2e7 on, pivots become negative and hair breaks.
const SINGLE: f64 = 8e5;

/// Numbers per scalar row of the matrix up to its diagonal: three previous unknowns and the own one, three axes each.
const LINE: usize = 3 * BLOCKS + 3;

/// A scalar row of a symmetric banded matrix, up to and including its diagonal; after factoring, of the factor.
type Line = [f64; LINE];

impl Strand {
    /// Whether a substep of `h` seconds, with a look-ahead of springs of `lag` seconds, needs double precision.
    pub(super) fn needs_double(&self, h: f64, lag: f64) -> bool {
        let mut stiffness = vec![0.0; self.position.len()];
        for row in 0..stiffness.len() {
            for (s, spring) in self.springs[row].iter().enumerate() {
                for end in [row, row + s + 1].into_iter().filter(|&end| end < self.mass.len()) {
                    stiffness[end] += spring.stiffness;
                }
            }
            for end in (row..row + 4).filter(|&end| end < self.mass.len()) {
                stiffness[end] += self.altitude[row].0;
            }
        }
        let ratio = |row: usize| stiffness[row] * h * lag / self.mass[row];
        (0..stiffness.len()).any(|row| !self.pinned[row] && ratio(row) > SINGLE)
    }
}

/// Memory for the matrices of the lanes of a block that need it.
#[derive(Debug, Clone, Default)]
pub(super) struct Double {
    /// Lane after lane, each with as many lines as the block has unknowns.
    lines: Vec<Line>,
    rhs: Vec<f64>,
}

impl Double {
    /// Memory for any of these blocks.
    pub(super) fn new(blocks: &[Block]) -> Self {
        let lines = blocks.iter().map(|b| 3 * b.rows * b.double.count_ones() as usize).max();
        let lines = lines.unwrap_or(0);
        Self { lines: vec![[0.0; LINE]; lines], rhs: vec![0.0; lines] }
    }

    /// Assembles the matrices and right-hand sides of all lanes that need it: [`super::assemble`]
    /// in double precision.
    pub(super) fn assemble(
        &mut self,
        block: &Block,
        x: &[f32],
        v: &[f32],
        times: &Times,
        collisions: &[ParticleCollision],
        rhs: &mut [f32],
    ) {
        for (k, l) in lanes_of(block).enumerate() {
            let lines = &mut self.lines[3 * block.rows * k..][..3 * block.rows];
            assemble_lane(block, l, x, v, times, lines, rhs);
            for collision in collisions.iter().filter(|collision| usize::from(collision.lane) == l)
            {
                constrain(collision, lines, rhs);
            }
        }
    }

    /// Replaces the matrices by their factors.
    pub(super) fn factor(&mut self, block: &Block) {
        for (k, _) in lanes_of(block).enumerate() {
            factor(&mut self.lines[3 * block.rows * k..][..3 * block.rows]);
        }
    }

    /// Solves for the lanes that need it, and calls `single` to solve for the others.
    pub(super) fn solve(
        &mut self,
        block: &Block,
        vector: &mut [f32],
        mut single: impl FnMut(&mut [f32]),
    ) {
        if block.double == 0 {
            single(vector);
            return;
        }
        let unknowns = 3 * block.rows;
        for (k, l) in lanes_of(block).enumerate() {
            for row in 0..block.rows {
                let value = lane(vector, row, l).as_dvec3();
                value.write_to_slice(&mut self.rhs[unknowns * k + 3 * row..]);
                set_lane(vector, row, l, Vec3::ZERO);
            }
        }
        single(vector);
        for (k, l) in lanes_of(block).enumerate() {
            let rhs = &mut self.rhs[unknowns * k..][..unknowns];
            solve(&self.lines[unknowns * k..][..unknowns], rhs);
            for row in 0..block.rows {
                let value = DVec3::from_slice(&rhs[3 * row..]).as_vec3();
                set_lane(vector, row, l, value);
            }
        }
    }
}

fn lanes_of(block: &Block) -> impl Iterator<Item = usize> + use<> {
    let bits = block.double;
    (0..LANES).filter(move |l| bits >> l & 1 == 1)
}

/// Assembles the system of one lane: the matrix in `lines`, the right-hand side in the lane of `rhs`.
fn assemble_lane(
    block: &Block,
    l: usize,
    x: &[f32],
    v: &[f32],
    times: &Times,
    lines: &mut [Line],
    rhs: &mut [f32],
) {
    let count = block.count[l] as usize;
    let (step, lag) = (f64::from(times.step), f64::from(times.lag));
    let at = |row: usize| lane(x, row, l).as_dvec3();
    let speed = |row: usize| lane(v, row, l).as_dvec3();
    let number = |row: usize, i: usize| f64::from(block.springs[(row * SPRINGS + i) * LANES + l]);
    lines.fill([0.0; LINE]);
    // Sum the forces of springs in double precision: they are large and nearly cancel.
    let mut forces = [DVec3::ZERO; BLOCKS + 1];
    let wind = lane(&block.wind, 0, l).as_dvec3();
    for row in 0..count {
        let mut pull = |points: [usize; 4], weights: [f64; 4], direction: DVec3, tension: f64| {
            for (point, weight) in points.into_iter().zip(weights) {
                forces[point % (BLOCKS + 1)] -= direction * (weight * tension);
            }
        };
        for s in 1..=BLOCKS.min(count - 1 - row) {
            let (stiffness, rest) = (number(row, 2 * s - 2), number(row, 2 * s - 1));
            let difference = at(row + s) - at(row);
            let length = difference.length();
            if stiffness == 0.0 || length < 1e-12 {
                continue;
            }
            let d = difference / length;
            let rate = d.dot(speed(row + s) - speed(row));
            let points = [row, row + s, row, row];
            let weights = [-1.0, 1.0, 0.0, 0.0];
            pull(points, weights, d, stiffness * (length - rest + lag * rate));
            add_outer(lines, points, weights, d, step * lag * stiffness);
        }
        let stiffness = number(row, 6);
        if row + 3 < count && stiffness > 0.0 {
            let points: [usize; 4] = std::array::from_fn(|i| row + i);
            let rest: [f64; CANDIDATES] = std::array::from_fn(|i| number(row, 7 + i));
            if let Some(found) = min_altitude(points.map(at)) {
                let rate: DVec3 = (0..4).map(|i| speed(row + i) * found.weights[i]).sum();
                let rate = rate.dot(found.direction);
                let tension = stiffness * (found.length - rest[found.candidate] + lag * rate);
                pull(points, found.weights, found.direction, tension);
                let stiffness = step * lag * stiffness;
                add_outer(lines, points, found.weights, found.direction, stiffness);
            }
        }
        // Write the row: all springs that act on it have been added.
        let mass = f64::from(block.mass[row * LANES + l]);
        let drag = f64::from(*block.drag.get(row * LANES + l).unwrap_or(&times.drag));
        let load = lane(&block.load, row, l).as_dvec3();
        let own = std::mem::take(&mut forces[row % (BLOCKS + 1)]);
        let force = (own + load + (wind - speed(row)) * (mass * drag)) * step;
        set_lane(rhs, row, l, force.as_vec3());
        for axis in 0..3 {
            lines[3 * row + axis][LINE - 1] += mass * (1.0 + step * drag);
        }
    }
    // Decouple the equations of pinned particles and of padding.
    for row in 0..block.rows {
        if row >= count || block.free[row] >> l & 1 == 0 {
            project(lines, row, DMat3::ZERO);
            set_lane(rhs, row, l, Vec3::ZERO);
        }
    }
}

/// Adds `factor w d d^T w^T` of up to four particles.
fn add_outer(
    lines: &mut [Line],
    points: [usize; 4],
    weights: [f64; 4],
    direction: DVec3,
    factor: f64,
) {
    let d = direction.to_array();
    for (a, wa) in points.into_iter().zip(weights) {
        for (b, wb) in points.into_iter().zip(weights) {
            if b > a || wa == 0.0 || wb == 0.0 {
                continue;
            }
            for r in 0..3 {
                let line = 3 * a + r;
                for c in 0..3 {
                    let column = 3 * b + c;
                    if column <= line {
                        lines[line][LINE - 1 - (line - column)] += factor * wa * wb * d[r] * d[c];
                    }
                }
            }
        }
    }
}

/// Removes the constrained directions of a particle from its lines: rows and columns become P A P for the projector P,
/// and the removed directions get decoupled equations.
fn project(lines: &mut [Line], row: usize, projector: DMat3) {
    // Project the off-diagonal blocks of its rows, then of its columns, then the diagonal block.
    let first = 3 * row;
    for column in first.saturating_sub(LINE - 1)..first {
        let mut old = [0.0; 3];
        for r in 0..3 {
            let apart = first + r - column;
            old[r] = if apart < LINE { lines[first + r][LINE - 1 - apart] } else { 0.0 };
        }
        let new = (projector * DVec3::from_array(old)).to_array();
        for r in 0..3 {
            let apart = first + r - column;
            if apart < LINE {
                lines[first + r][LINE - 1 - apart] = new[r];
            }
        }
    }
    for line in first + 3..(first + 2 + LINE).min(lines.len()) {
        let mut old = [0.0; 3];
        for c in 0..3 {
            let apart = line - first - c;
            old[c] = if apart < LINE { lines[line][LINE - 1 - apart] } else { 0.0 };
        }
        let new = (projector * DVec3::from_array(old)).to_array();
        for c in 0..3 {
            let apart = line - first - c;
            if apart < LINE {
                lines[line][LINE - 1 - apart] = new[c];
            }
        }
    }
    let at = |r: usize, c: usize| lines[first + r.max(c)][LINE - 1 - r.abs_diff(c)];
    let block =
        DMat3::from_cols_array_2d(&std::array::from_fn(|c| std::array::from_fn(|r| at(r, c))));
    let size = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
    let size = if size > 0.0 { size } else { 1.0 };
    let new = projector * block * projector + (DMat3::IDENTITY - projector) * size;
    for r in 0..3 {
        for c in 0..=r {
            lines[first + r][LINE - 1 - (r - c)] = new.col(c)[r];
        }
    }
}

/// [`super::assemble::constrain`] for one particle.
fn constrain(collision: &ParticleCollision, lines: &mut [Line], rhs: &mut [f32]) {
    let (row, l) = (usize::from(collision.row), usize::from(collision.lane));
    let n = collision.normal.as_dvec3();
    let across = DMat3::IDENTITY - DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    let projector = if collision.sticks { DMat3::ZERO } else { across };
    project(lines, row, projector);
    let force = projector * lane(rhs, row, l).as_dvec3();
    set_lane(rhs, row, l, force.as_vec3());
}

/// Factors the matrix as `L D L^T`, in place: elements before the diagonal are those of L, the diagonal is the inverse of D.
fn factor(lines: &mut [Line]) {
    for i in 0..lines.len() {
        let (done, rest) = lines.split_at_mut(i);
        let line = &mut rest[0];
        let first = i.saturating_sub(LINE - 1);
        // `w_j = a_ij - sum_k w_k l_jk`.
        for j in first..i {
            let other = &done[j];
            let mut sum = line[LINE - 1 - (i - j)];
            for k in first.max(j.saturating_sub(LINE - 1))..j {
                sum -= line[LINE - 1 - (i - k)] * other[LINE - 1 - (j - k)];
            }
            line[LINE - 1 - (i - j)] = sum;
        }
        let mut pivot = line[LINE - 1];
        for j in first..i {
            let w = line[LINE - 1 - (i - j)];
            let l = w * done[j][LINE - 1];
            pivot -= w * l;
            line[LINE - 1 - (i - j)] = l;
        }
        line[LINE - 1] = 1.0 / pivot;
    }
}

/// Replaces a right-hand side by the solution.
fn solve(lines: &[Line], x: &mut [f64]) {
    for i in 0..lines.len() {
        for j in i.saturating_sub(LINE - 1)..i {
            x[i] -= lines[i][LINE - 1 - (i - j)] * x[j];
        }
    }
    for i in (0..lines.len()).rev() {
        x[i] *= lines[i][LINE - 1];
        for k in i + 1..(i + LINE).min(lines.len()) {
            x[i] -= lines[k][LINE - 1 - (k - i)] * x[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::super::assemble::{System, assemble_lanes, constrain as constrain_lanes};
    use super::super::homogenise::UnitStiffness;
    use super::super::strand::Material;
    use super::*;
    use crate::groom::Fibre;
    use crate::math::Random;
    use crate::math::banded::{DIAGONAL, ROW, lower};
    use crate::math::dense::solve_positive_definite;
    use crate::math::lanes::VECTOR;

    /// All elements of matrix and right-hand side agree with single precision, with all springs, load,
    /// drag, wind, pinned and colliding particles, for strands of different lengths.
    #[test]
    fn the_system_agrees_with_single_precision() {
        let mut random = Random::new(7, 0);
        let fibre = Fibre { young_modulus: 1e6, shear_modulus: 2.5e5, ..Fibre::default() };
        let unit = UnitStiffness::new(0.5);
        let radius = vec![fibre.radius; 14];
        let material = Material { fibre: &fibre, radius: &radius, unit: &unit };
        let strands: Vec<_> = (0..LANES)
            .map(|l| {
                let bend = |i: usize| 0.004 * (0.9 * i as f32 + l as f32).sin();
                let at = |i: usize| Vec3::new(0.01 * i as f32, bend(i), bend(i + 2));
                let line: Vec<Vec3> = (0..14 - l % 3).map(at).collect();
                let gravity = Vec3::NEG_Y * 9.81;
                let strand = Strand::new(&line, 1, &material, &Settings::default(), gravity);
                (l as u32, strand, line[0])
            })
            .collect();
        let mut block = Block::new(&strands, 1e7);
        block.double = u16::MAX;
        let mut fill = |to: &mut [f32], size: f64| {
            to.iter_mut().for_each(|x| *x += size as f32 * random.signed());
        };
        let (mut x, mut v) = (block.rest.to_vec(), vec![0.0; block.rows * VECTOR]);
        fill(&mut x, 5e-4);
        fill(&mut v, 0.3);
        fill(&mut block.load, 10.0);
        fill(&mut block.wind, 5.0);
        let normal = Vec3::new(0.6, 0.0, 0.8);
        let collision = |row, lane, sticks| ParticleCollision { row, lane, normal, sticks };
        block.collisions.extend([
            collision(6, 1, false),
            collision(7, 1, true),
            collision(9, 4, false),
        ]);
        let times = Times { step: 1.1e-3, lag: 3e-3, drag: 20.0 };
        let (mut band, mut rhs) = (vec![0.0; block.rows * ROW], vec![0.0; block.rows * VECTOR]);
        let mut system = System { band: &mut band, rhs: &mut rhs };
        let level = fearless_simd::Level::new();
        assemble_lanes(level, &block, &x, &v, &times, &mut system);
        constrain_lanes(&block.collisions, &mut system);
        let mut double = Double::new(std::slice::from_ref(&block));
        let mut right_double = rhs.clone();
        double.assemble(&block, &x, &v, &times, &block.collisions, &mut right_double);
        for l in 0..LANES {
            let lines = &double.lines[3 * block.rows * l..];
            let largest = (0..block.count[l] as usize)
                .map(|row| lane(&rhs, row, l).length())
                .fold(0.0f32, f32::max);
            for row in 0..block.count[l] as usize {
                let at = |number: usize| f64::from(band[row * ROW + number * LANES + l]);
                let (a, b) = (lane(&rhs, row, l), lane(&right_double, row, l));
                assert!(a.distance(b) < 2e-4 * largest, "{l} {row}: {a} {b}");
                let free = block.free[row] >> l & 1 == 1;
                let size = (0..3).map(|r| at(DIAGONAL + lower(r, r))).fold(0.0, f64::max);
                for r in 0..3 {
                    let line = &lines[3 * row + r];
                    for c in 0..=r {
                        let (a, b) = (at(DIAGONAL + lower(r, c)), line[LINE - 1 - (r - c)]);
                        // Pinned particles have decoupled equations with any diagonal.
                        assert!(!free || (a - b).abs() < 2e-4 * size, "{l} {row} {r} {c}: {a} {b}");
                    }
                    for before in 1..=BLOCKS.min(row) {
                        for c in 0..3 {
                            let a = at(9 * (before - 1) + 3 * r + c);
                            let apart = 3 * before + r - c;
                            let b = if apart < LINE { line[LINE - 1 - apart] } else { 0.0 };
                            let here = (l, row, before, r, c);
                            assert!((a - b).abs() < 2e-4 * size, "{here:?}: {a} {b}");
                        }
                    }
                }
            }
        }
    }

    /// A random banded matrix with stiffnesses over ten orders of magnitude, a pinned particle and
    /// one on a surface, compared with a dense solver.
    #[test]
    fn the_solution_is_that_of_a_dense_solver() {
        let rows = 9;
        let n = 3 * rows;
        let mut random = Random::new(7, 0);
        let mut lines = vec![[0.0; LINE]; n];
        for i in 0..n {
            lines[i][LINE - 1] = 1.0;
        }
        for row in 0..rows - 3 {
            let direction = random.vector().as_dvec3().normalize();
            let weights = std::array::from_fn(|_| random.signed().into());
            let points = std::array::from_fn(|i| row + i);
            add_outer(&mut lines, points, weights, direction, 10f64.powi(2 * row as i32));
        }
        let normal = DVec3::new(0.6, 0.0, 0.8);
        let across = DMat3::IDENTITY - DMat3::from_cols(normal * 0.6, DVec3::ZERO, normal * 0.8);
        project(&mut lines, 2, DMat3::ZERO);
        project(&mut lines, 5, across);
        let mut dense = vec![0.0; n * n];
        for i in 0..n {
            for j in i.saturating_sub(LINE - 1)..=i {
                dense[i * n + j] = lines[i][LINE - 1 - (i - j)];
                dense[j * n + i] = dense[i * n + j];
            }
        }
        // The removed direction does not couple to the rest.
        for c in (0..n).filter(|c| c / 3 != 5) {
            let along = (0..3).map(|r| dense[(15 + r) * n + c] * normal[r]).sum::<f64>();
            assert!(along.abs() < 1e-9 * dense[c * n + c].max(1.0), "{c}: {along}");
            assert!(c / 3 == 2 || (0..3).all(|r| dense[(6 + r) * n + c] == 0.0));
        }
        let rhs: Vec<f64> = (0..n).map(|_| random.signed().into()).collect();
        let (mut found, mut truth) = (rhs.clone(), rhs);
        factor(&mut lines);
        solve(&lines, &mut found);
        assert!(solve_positive_definite(&mut dense, &mut truth));
        for (a, b) in found.iter().zip(&truth) {
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
        }
    }
}
