//! Locks: neighbouring strands gather, locks wave and curl, single hairs stray.

use glam::Vec3;
use rayon::prelude::*;

use super::Grown;
use crate::figure::Figure;
use crate::implicit::smoothstep;
use crate::lattice;
use crate::random::{Random, noise3};
use crate::roots::Root;

/// Parameters of gathering and curling. Lengths in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Locks {
    /// Distance between neighbouring locks at the scalp.
    spacing: f32,
    /// How far strands close in on their lock at the tip, 0..1.
    close: f32,
    /// Radius of the wave or curl.
    radius: f32,
    /// Length along the strand of one turn of the wave or curl.
    turn: f32,
    /// 0: waves in a plane, 1: round curls.
    round: f32,
    /// Distance from the root at which the wave or curl begins.
    from: f32,
    /// Sideways deviation of single hairs at the tip.
    frizz: f32,
    /// Fraction of hairs that leave their lock.
    strays: f32,
    /// Phase difference of the hairs of a lock (radians).
    apart: f32,
}

impl Locks {
    /// Straight hair with faint locks.
    pub(super) fn smooth() -> Self {
        Self {
            spacing: 0.009,
            close: 0.55,
            radius: 0.0016,
            turn: 0.16,
            round: 0.3,
            from: 0.06,
            frizz: 0.0030,
            strays: 0.06,
            apart: 0.5,
        }
    }

    /// Soft waves.
    pub(super) fn waves() -> Self {
        Self {
            spacing: 0.013,
            close: 0.72,
            radius: 0.0085,
            turn: 0.085,
            round: 0.35,
            from: 0.07,
            frizz: 0.0040,
            strays: 0.09,
            apart: 0.5,
        }
    }

    /// Corkscrew curls.
    pub(super) fn curls() -> Self {
        Self {
            spacing: 0.016,
            close: 0.93,
            radius: 0.0105,
            turn: 0.055,
            round: 1.0,
            from: 0.025,
            frizz: 0.0035,
            strays: 0.07,
            apart: 0.12,
        }
    }

    /// The tail of a ponytail.
    pub(super) fn tail() -> Self {
        Self {
            spacing: 0.011,
            close: 0.35,
            radius: 0.004,
            turn: 0.11,
            round: 0.5,
            from: 0.20,
            frizz: 0.0035,
            strays: 0.06,
            apart: 0.5,
        }
    }

    /// Short tufts.
    pub(super) fn tufts() -> Self {
        Self {
            spacing: 0.0075,
            close: 0.55,
            radius: 0.0006,
            turn: 0.05,
            round: 0.5,
            from: 0.01,
            frizz: 0.0022,
            strays: 0.08,
            apart: 0.5,
        }
    }

    /// Fur that clumps at its tips.
    pub(super) fn coat() -> Self {
        Self {
            spacing: 0.0055,
            close: 0.50,
            radius: 0.0007,
            turn: 0.030,
            round: 0.6,
            from: 0.006,
            frizz: 0.0016,
            strays: 0.08,
            apart: 0.5,
        }
    }

    /// Thick tufts of long fur.
    pub(super) fn shaggy() -> Self {
        Self {
            spacing: 0.016,
            close: 0.72,
            radius: 0.0030,
            turn: 0.070,
            round: 0.6,
            from: 0.015,
            frizz: 0.0045,
            strays: 0.10,
            apart: 0.5,
        }
    }

    /// Long fur in soft strands.
    pub(super) fn silky() -> Self {
        Self {
            spacing: 0.028,
            close: 0.60,
            radius: 0.0040,
            turn: 0.15,
            round: 0.4,
            from: 0.05,
            frizz: 0.0060,
            strays: 0.08,
            apart: 0.6,
        }
    }

    /// Gathers grown strands around locks.
    pub(super) fn gather(
        &self,
        figure: &dyn Figure,
        roots: &[Root],
        grown: Vec<Grown>,
        seed: u64,
    ) -> Vec<Grown> {
        let leaders = Leaders::choose(roots, self.spacing);
        (0..grown.len())
            .into_par_iter()
            .map(|s| {
                let mut random = Random::new(seed, 0x10c5_0000 + s as u64);
                let leader = leaders.nearest(roots, &grown, s);
                self.place(figure, &grown[s], &grown[leader], leader, &mut random, seed)
            })
            .collect()
    }

    fn place(
        &self,
        figure: &dyn Figure,
        strand: &Grown,
        leader: &Grown,
        lock: usize,
        random: &mut Random,
        seed: u64,
    ) -> Grown {
        let mut of_lock = Random::new(seed, 0x70c4_0000 + lock as u64);
        let phase = of_lock.unit() * std::f32::consts::TAU + self.apart * random.signed();
        let size = of_lock.between(0.7, 1.25) * random.between(0.85, 1.15);
        let turn = self.turn * of_lock.between(0.8, 1.25);
        let handed = if of_lock.unit() < 0.5 { -1.0 } else { 1.0 };
        let stray = random.unit() < self.strays;
        let close = self.close * if stray { 0.25 } else { 1.0 } * random.between(0.7, 1.0);
        let frizz = self.frizz * if stray { 2.2 } else { random.between(0.3, 1.0) };
        let own = random.vector() * 40.0;

        let n = strand.line.len();
        let total: f32 = strand.line.windows(2).map(|w| w[0].distance(w[1])).sum();
        let mut along = 0.0;
        let mut line = Vec::with_capacity(n);
        // A twist-free frame along the leader: hairs of a lock wave and curl together.
        let frames = frames_along(&leader.line);
        for i in 0..n {
            let mut p = strand.line[i];
            if i > 0 {
                along += strand.line[i].distance(strand.line[i - 1]);
            }
            if i < strand.pinned {
                line.push(p);
                continue;
            }
            let fraction = along / total.max(1e-6);
            // Close in on the leader, more towards the tip.
            let there =
                (fraction * (leader.line.len() - 1) as f32).min((leader.line.len() - 1) as f32);
            let k = (there as usize).min(leader.line.len() - 2);
            let middle = leader.line[k].lerp(leader.line[k + 1], there - k as f32);
            let pull = close * smoothstep(0.05, 0.75, fraction);
            p = p.lerp(middle, pull);
            // Wave or curl with the lock.
            let set_in = smoothstep(self.from, self.from + 1.5 * self.turn, along);
            let angle = handed * along / turn * std::f32::consts::TAU + phase;
            let (across, binormal) = frames[k];
            let radius = self.radius * size * set_in;
            p += across * (radius * angle.cos()) + binormal * (radius * self.round * angle.sin());
            // Let single hairs deviate.
            let wander = noise3(p * 55.0 + own, 11);
            p += wander * (frizz * fraction * (0.4 + fraction));
            let depth = 0.0012 - figure.value(p);
            if depth > 0.0 && along > 0.004 {
                p += figure.normal(p) * depth;
            }
            line.push(p);
        }
        Grown { line, pinned: strand.pinned }
    }
}

/// Two unit vectors across each segment of a line, with minimal rotation along it.
fn frames_along(line: &[Vec3]) -> Vec<(Vec3, Vec3)> {
    let mut across = (line[1] - line[0]).normalize_or(Vec3::Y).any_orthonormal_vector();
    line.windows(2)
        .map(|w| {
            let d = (w[1] - w[0]).normalize_or(Vec3::Y);
            across = (across - d * across.dot(d)).normalize_or(d.any_orthonormal_vector());
            (across, d.cross(across))
        })
        .collect()
}

/// Maximum number of cubes of the lattice of leaders: 12 MB of lists. A head needs 30,000.
const MAX_CUBES: usize = 1 << 19;

/// The strands around which locks gather: a subset of the roots, evenly spaced.
struct Leaders {
    strands: Vec<usize>,
    cell: f32,
    lo: Vec3,
    size: [usize; 3],
    first: Vec<Vec<u32>>,
}

impl Leaders {
    /// Every prefix of the roots is evenly spread, so the first ones at the spacing become leaders.
    fn choose(roots: &[Root], spacing: f32) -> Self {
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for root in roots {
            (lo, hi) = (lo.min(root.position), hi.max(root.position));
        }
        let (cell, size) = lattice::fit(hi - lo, spacing * 1.5, MAX_CUBES);
        let size = size.to_array().map(|n| n as usize);
        let mut leaders = Self {
            strands: Vec::new(),
            cell,
            lo,
            size,
            first: vec![Vec::new(); size[0] * size[1] * size[2]],
        };
        for (s, root) in roots.iter().enumerate() {
            let near = leaders
                .around(root.position)
                .any(|l| roots[l].position.distance(root.position) < spacing);
            if !near {
                let cube = leaders.index(leaders.cube(root.position));
                leaders.first[cube].push(leaders.strands.len() as u32);
                leaders.strands.push(s);
            }
        }
        leaders
    }

    fn cube(&self, p: Vec3) -> [usize; 3] {
        let c = ((p - self.lo) / self.cell).to_array();
        std::array::from_fn(|k| (c[k].max(0.0) as usize).min(self.size[k] - 1))
    }

    fn index(&self, c: [usize; 3]) -> usize {
        (c[2] * self.size[1] + c[1]) * self.size[0] + c[0]
    }

    fn around(&self, p: Vec3) -> impl Iterator<Item = usize> + '_ {
        let c = self.cube(p);
        let near = move |k: usize| c[k].saturating_sub(1)..(c[k] + 2).min(self.size[k]);
        near(2)
            .flat_map(move |z| near(1).flat_map(move |y| near(0).map(move |x| [x, y, z])))
            .flat_map(|cube| self.first[self.index(cube)].iter())
            .map(|&l| self.strands[l as usize])
    }

    /// The nearest leader of a strand, preferring one whose strand falls to the same side.
    fn nearest(&self, roots: &[Root], grown: &[Grown], s: usize) -> usize {
        let p = roots[s].position;
        let tip = grown[s].line[grown[s].line.len() - 1];
        let cost = |l: usize| {
            let other = grown[l].line[grown[l].line.len() - 1];
            roots[l].position.distance(p) + 0.35 * other.distance(tip)
        };
        self.around(p).min_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b))).unwrap_or(s)
    }
}
