//! Forces and matrix of one velocity solve, sixteen strands at a time.
//!
//! The directions of springs are constant during a solve (`selle2008` 4.1), so that the system is linear and positive
//! definite, in the layout of `math::banded`.

use fearless_simd::{Level, Select, Simd, SimdBase, SimdFloat, SimdMask, dispatch, f32x16};
use glam::Vec3;

use super::altitude::{CANDIDATES, min_altitude};
use super::block::{Block, ParticleCollision, SPRINGS};
use super::limit::mask;
use crate::math::LANES;
use crate::math::banded::{BLOCKS, DIAGONAL, ROW, lower};
use crate::math::lanes::{VECTOR, Vec3x};

/// Sine below which four particles count as collinear in single precision.
const PARALLEL: f32 = 1e-3;

/// Shortest spring with a defined direction (m).
const NO_LENGTH: f32 = 1e-12;

/// Parameters of a velocity solve: `v' = v + step a(x, v')`, where the force of a spring is
/// `k (stretch + lag rate(v'))`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Time within the substep over which the acceleration acts (s).
    pub(super) step: f32,
    /// Implicit look-ahead of springs plus the fibre's damping time (s).
    pub(super) lag: f32,
    /// Drag (1/s): rate of the relaxation to the velocity of the air, for blocks without drag per particle.
    pub(super) drag: f32,
}

/// The system of one block: the matrix in rows of [`ROW`], the right-hand side in rows of [`VECTOR`].
pub(super) struct System<'a> {
    pub(super) band: &'a mut [f32],
    pub(super) rhs: &'a mut [f32],
}

/// [`assemble`] with the instruction set of the machine.
pub(super) fn assemble_lanes(
    level: Level,
    block: &Block,
    x: &[f32],
    v: &[f32],
    times: &Times,
    system: &mut System<'_>,
) {
    if block.drag.is_empty() {
        dispatch!(level, simd => assemble::<_, false>(simd, block, x, v, times, system));
    } else {
        dispatch!(level, simd => assemble::<_, true>(simd, block, x, v, times, system));
    }
}

/// Assembles the system for the change of the velocities `v` at the positions `x`.
///
/// Model: `(M (1 + s c) + s lag sum k w d d^T w^T) dv = s (f + sum k (stretch + lag rate(v)) ...)`.
/// Source: `selle2008` 4.1, with its misprint corrected: positions at the end of the step, directions at its
/// start.
/// Symbols: s `step` (s), lag the step plus the fibre's damping time (s), c drag (1/s), which with `DRAGS` differs between
/// particles, k stiffness, w weights and d direction of a spring.
#[inline(always)]
fn assemble<S: Simd, const DRAGS: bool>(
    simd: S,
    block: &Block,
    x: &[f32],
    v: &[f32],
    times: &Times,
    system: &mut System<'_>,
) {
    let rows = block.rows;
    let x = &x.as_chunks::<VECTOR>().0[..rows];
    let v = &v.as_chunks::<VECTOR>().0[..rows];
    let load = &block.load.as_chunks::<VECTOR>().0[..rows];
    let mass = &block.mass.as_chunks::<LANES>().0[..rows];
    let springs = &block.springs.as_chunks::<{ SPRINGS * LANES }>().0[..rows];
    let drags = &block.drag.as_chunks::<LANES>().0[..if DRAGS { rows } else { 0 }];
    let band = &mut system.band.as_chunks_mut::<ROW>().0[..rows];
    let rhs = &mut system.rhs.as_chunks_mut::<VECTOR>().0[..rows];
    let splat = |value: f32| f32x16::splat(simd, value);
    let (step, lag) = (splat(times.step), splat(times.lag));
    let coefficient = splat(times.step * times.lag);
    let wind = Vec3x::of_row(simd, &block.wind);

    // Keep the forces of springs that start at the last four rows, so that each row is written once, when all springs that
    // act on it are known.
    let mut edges = [[Pull::none(simd); BLOCKS]; REACH];
    let mut tetrahedra = [Tetrahedron::none(simd); REACH];
    for j in 0..rows {
        let (from, speed) = (Vec3x::of_row(simd, &x[j]), Vec3x::of_row(simd, &v[j]));
        let numbers = &springs[j];
        // Compute the springs to the next three particles.
        for s in 1..=BLOCKS {
            let edge = &mut edges[j % REACH][s - 1];
            if j + s >= rows {
                *edge = Pull::none(simd);
                continue;
            }
            let stiffness = spring_number(simd, numbers, 2 * s - 2);
            let rest = spring_number(simd, numbers, 2 * s - 1);
            let difference = Vec3x::of_row(simd, &x[j + s]) - from;
            let length = difference.length().max(splat(NO_LENGTH));
            let d = difference * (splat(1.0) / length);
            let rate = d.dot(Vec3x::of_row(simd, &v[j + s]) - speed);
            edge.force = d * (stiffness * step * (length - rest + lag * rate));
            edge.outer = outer_product(d, coefficient * stiffness);
        }
        // Compute the altitude spring of the tetrahedron with them.
        let tetrahedron = &mut tetrahedra[j % REACH];
        if j + 3 < rows {
            let mut four = [from; 4];
            for i in 1..4 {
                four[i] = Vec3x::of_row(simd, &x[j + i]);
            }
            let Across { weights, direction, length, rest } = altitude(simd, four, numbers);
            let mut rate_vector = speed * weights[0];
            for i in 1..4 {
                rate_vector += Vec3x::of_row(simd, &v[j + i]) * weights[i];
            }
            // Switch it off where an edge has collapsed.
            let stiffness = spring_number(simd, numbers, 6);
            let stiffness = direction.dot(direction).simd_gt(0.5).select(stiffness, splat(0.0));
            let rate = direction.dot(rate_vector);
            let tension = stiffness * step * (length - rest + lag * rate);
            tetrahedron.weights = weights;
            tetrahedron.pull = Pull {
                force: direction * tension,
                outer: outer_product(direction, coefficient * stiffness),
            };
        } else {
            *tetrahedron = Tetrahedron::none(simd);
        }

        // Start the row with mass, load and drag.
        let mass = f32x16::from_slice(simd, &mass[j]);
        let (drag, slowed) = if DRAGS {
            let drag = f32x16::from_slice(simd, &drags[j]);
            (drag, splat(1.0) + step * drag)
        } else {
            (splat(times.drag), splat(1.0 + times.step * times.drag))
        };
        let air = (wind - speed) * (mass * drag);
        let mut force = (Vec3x::of_row(simd, &load[j]) + air) * step;
        let inertia = mass * slowed;
        let mut diagonal = [splat(0.0); 6];
        for axis in 0..3 {
            diagonal[lower(axis, axis)] = inertia;
        }
        let mut before = [[splat(0.0); 6]; BLOCKS];
        // Add the springs that start and end here.
        for s in 0..BLOCKS {
            let own = &edges[j % REACH][s];
            force += own.force;
            let other = &edges[(j + REACH - 1 - s) % REACH][s];
            force = force - other.force;
            for i in 0..6 {
                diagonal[i] += own.outer[i] + other.outer[i];
                before[s][i] -= other.outer[i];
            }
        }
        // Add the tetrahedra with this particle.
        for a in 0..REACH {
            let Tetrahedron { pull, weights } = &tetrahedra[(j + REACH - a) % REACH];
            force = force - pull.force * weights[a];
            for i in 0..6 {
                let part = pull.outer[i] * weights[a];
                diagonal[i] += part * weights[a];
                for b in 0..a {
                    before[a - b - 1][i] += part * weights[b];
                }
            }
        }
        force.to_row(&mut rhs[j]);
        store_row(&diagonal, &before, &mut band[j]);
    }
    hold_particles(simd, &block.free, band, rhs);
}

/// Number of rows that a spring acts on.
const REACH: usize = BLOCKS + 1;

/// Force of a spring, and its contribution to the matrix.
#[derive(Clone, Copy)]
struct Pull<S: Simd> {
    force: Vec3x<S>,
    /// The lower triangle of a symmetric block.
    outer: [f32x16<S>; 6],
}

impl<S: Simd> Pull<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        Self { force: Vec3x::splat(simd, Vec3::ZERO), outer: [f32x16::splat(simd, 0.0); 6] }
    }
}

/// Force and matrix contribution of an altitude spring, and the weights of its particles.
#[derive(Clone, Copy)]
struct Tetrahedron<S: Simd> {
    pull: Pull<S>,
    weights: [f32x16<S>; 4],
}

impl<S: Simd> Tetrahedron<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        Self { pull: Pull::none(simd), weights: [f32x16::splat(simd, 0.0); 4] }
    }
}

/// Writes a row of the matrix: its diagonal block, and those that couple it with previous rows.
#[inline(always)]
fn store_row<S: Simd>(
    diagonal: &[f32x16<S>; 6],
    before: &[[f32x16<S>; 6]; BLOCKS],
    row: &mut [f32; ROW],
) {
    for i in 0..6 {
        diagonal[i].store_slice(number_mut(row, DIAGONAL + i));
    }
    for s in 0..BLOCKS {
        for r in 0..3 {
            for c in 0..3 {
                let value = before[s][lower(r.max(c), r.min(c))];
                value.store_slice(number_mut(row, 9 * s + 3 * r + c));
            }
        }
    }
}

/// The altitude springs of sixteen tetrahedra.
struct Across<S: Simd> {
    weights: [f32x16<S>; 4],
    /// Zero where an edge has collapsed.
    direction: Vec3x<S>,
    length: f32x16<S>,
    rest: f32x16<S>,
}

/// [`min_altitude`] in lanes, of the altitude springs of a row. Unused without stiffness.
#[inline(always)]
fn altitude<S: Simd>(simd: S, x: [Vec3x<S>; 4], numbers: &[f32; SPRINGS * LANES]) -> Across<S> {
    let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let (g1, g2, g3) = (b.cross(c), c.cross(a), a.cross(b));
    let g0 = Vec3x::splat(simd, Vec3::ZERO) - (g1 + g2 + g3);
    let six_volume = a.dot(g1);
    // Select the largest base, which has the shortest altitude.
    let bases = [g0, g1, g2, g3, g0 + g1, g0 + g2, g0 + g3];
    let mut base = bases[0];
    let mut area2 = base.dot(base);
    let mut rest = spring_number(simd, numbers, 7);
    for i in 1..CANDIDATES {
        let size = bases[i].dot(bases[i]);
        let larger = size.simd_gt(area2);
        base = bases[i].or(larger, base);
        area2 = larger.select(size, area2);
        rest = larger.select(spring_number(simd, numbers, 7 + i), rest);
    }
    let inverse_area2 = f32x16::splat(simd, 1.0) / area2.max(f32x16::splat(simd, 1e-30));
    let inverse_area = inverse_area2.sqrt();
    let scaled_base = base * inverse_area2;
    let mut across = Across {
        weights: [
            g0.dot(scaled_base),
            g1.dot(scaled_base),
            g2.dot(scaled_base),
            g3.dot(scaled_base),
        ],
        direction: base * inverse_area,
        length: six_volume * inverse_area,
        rest,
    };
    // Treat collinear particles, which are rare, one by one.
    let longest2 = a.dot(a).max(b.dot(b)).max(c.dot(c));
    let limit = longest2 * longest2 * f32x16::splat(simd, PARALLEL * PARALLEL);
    let lines = area2.simd_lt(limit) & spring_number(simd, numbers, 6).simd_gt(0.0);
    let lines = lines.to_bitmask() as u32 & 0xffff;
    if lines != 0 {
        for l in 0..LANES {
            if lines >> l & 1 == 1 {
                across.take_line(x, numbers, l);
            }
        }
    }
    across
}

impl<S: Simd> Across<S> {
    /// Computes the altitude of one lane with collinear particles.
    #[cold]
    fn take_line(&mut self, x: [Vec3x<S>; 4], numbers: &[f32; SPRINGS * LANES], l: usize) {
        let Some(found) = min_altitude(x.map(|p| p.lane(l).as_dvec3())) else {
            self.direction.set_lane(l, Vec3::ZERO);
            return;
        };
        self.direction.set_lane(l, found.direction.as_vec3());
        self.length[l] = found.length as f32;
        self.rest[l] = numbers[(7 + found.candidate) * LANES + l];
        for i in 0..4 {
            self.weights[i][l] = found.weights[i] as f32;
        }
    }
}

/// The lower triangle of `factor d d^T`.
#[inline(always)]
fn outer_product<S: Simd>(d: Vec3x<S>, factor: f32x16<S>) -> [f32x16<S>; 6] {
    let e = d * factor;
    [d.x * e.x, d.y * e.x, d.y * e.y, d.z * e.x, d.z * e.y, d.z * e.z]
}

/// Number `at` of a row of springs.
#[inline(always)]
fn spring_number<S: Simd>(simd: S, row: &[f32; SPRINGS * LANES], at: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &row[at * LANES..(at + 1) * LANES])
}

#[inline(always)]
fn load_number<S: Simd>(simd: S, row: &[f32; ROW], at: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &row[at * LANES..(at + 1) * LANES])
}

#[inline(always)]
fn number_mut(row: &mut [f32; ROW], at: usize) -> &mut [f32] {
    &mut row[at * LANES..(at + 1) * LANES]
}

/// Removes pinned particles from the system.
#[inline(always)]
fn hold_particles<S: Simd>(
    simd: S,
    free: &[u16],
    band: &mut [[f32; ROW]],
    rhs: &mut [[f32; VECTOR]],
) {
    for j in 0..band.len() {
        if free[j] == u16::MAX {
            continue;
        }
        let one = f32x16::splat(simd, 1.0);
        let keep = mask(simd, free[j]).select(one, f32x16::splat(simd, 0.0));
        (Vec3x::of_row(simd, &rhs[j]) * keep).to_row(&mut rhs[j]);
        for at in 0..DIAGONAL {
            (load_number(simd, &band[j], at) * keep).store_slice(number_mut(&mut band[j], at));
        }
        for s in 1..=BLOCKS.min(band.len() - 1 - j) {
            let later = &mut band[j + s];
            for at in 9 * (s - 1)..9 * s {
                (load_number(simd, later, at) * keep).store_slice(number_mut(later, at));
            }
        }
    }
}

/// Removes the directions in which the velocities of colliding particles are prescribed from the system.
///
/// Model: with the projector P perpendicular to the normal, rows and columns of the particle become P A P, and
/// its normal direction gets a decoupled equation; a particle that sticks has P = 0. The velocity in that
/// direction is kept exactly, and the condition of the matrix does not get worse.
pub(super) fn constrain(collisions: &[ParticleCollision], system: &mut System<'_>) {
    let rows = system.rhs.len() / VECTOR;
    for collision in collisions {
        let (j, l) = (collision.row as usize, collision.lane as usize);
        let n = collision.normal.to_array();
        let projector: [[f32; 3]; 3] = std::array::from_fn(|r| {
            std::array::from_fn(|c| {
                let identity = if r == c { 1.0 } else { 0.0 };
                if collision.sticks { 0.0 } else { identity - n[r] * n[c] }
            })
        });
        let band = &mut *system.band;
        let at = |row: usize, number: usize| row * ROW + number * LANES + l;
        // Project the right-hand side.
        let force: [f32; 3] = std::array::from_fn(|c| system.rhs[j * VECTOR + c * LANES + l]);
        for r in 0..3 {
            system.rhs[j * VECTOR + r * LANES + l] =
                (0..3).map(|c| projector[r][c] * force[c]).sum();
        }
        // Project the diagonal block, with its mean diagonal along the removed directions.
        let diagonal: [[f32; 3]; 3] = std::array::from_fn(|r| {
            std::array::from_fn(|c| band[at(j, DIAGONAL + lower(r.max(c), r.min(c)))])
        });
        let size = (diagonal[0][0] + diagonal[1][1] + diagonal[2][2]) / 3.0;
        let inner = product(&projector, &product(&diagonal, &projector));
        for r in 0..3 {
            for c in 0..=r {
                let identity = if r == c { 1.0 } else { 0.0 };
                let rest = size * (identity - projector[r][c]);
                band[at(j, DIAGONAL + lower(r, c))] = inner[r][c] + rest;
            }
        }
        // Project the blocks in its row, then in its column.
        for before in 1..=BLOCKS.min(j) {
            let old = read_block(band, |i| at(j, 9 * (before - 1) + i));
            let new = product(&projector, &old);
            (0..9).for_each(|i| band[at(j, 9 * (before - 1) + i)] = new[i / 3][i % 3]);
        }
        for after in 1..=BLOCKS.min(rows - 1 - j) {
            let old = read_block(band, |i| at(j + after, 9 * (after - 1) + i));
            let new = product(&old, &projector);
            (0..9).for_each(|i| band[at(j + after, 9 * (after - 1) + i)] = new[i / 3][i % 3]);
        }
    }
}

fn read_block(band: &[f32], at: impl Fn(usize) -> usize) -> [[f32; 3]; 3] {
    std::array::from_fn(|r| std::array::from_fn(|c| band[at(3 * r + c)]))
}

fn product(a: &[[f32; 3]; 3], b: &[[f32; 3]; 3]) -> [[f32; 3]; 3] {
    std::array::from_fn(|r| std::array::from_fn(|c| (0..3).map(|k| a[r][k] * b[k][c]).sum()))
}
