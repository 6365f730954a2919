//! `volume`: friction and repulsion between the hair of the built-in head, on one grid. The reference
//! is the plain version of the same contact on one thread.

use coif::contact::volume::plain::{Particle, PlainVolume};
use coif::contact::volume::{Settings, Volume};
use coif::contact::{Order, Samples};
use coif::groom::Strands;
use coif::math::{LANES, morton_code};
use coif::simulation::{World, hash_positions};
use coif::with_threads;
use glam::Vec3;

use super::ftl::head;
use super::timing::Pieces;
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "volume",
    about: "friction and repulsion on a grid: 10,000 strands of 30 points",
    run,
};

/// Steps in one timed piece: one frame at 60 frames a second.
const STEPS: usize = 4;
/// Memory that a step moves per particle (bytes): the position for the bounds (12); position, motion
/// and rest density for the grid (28); position and motion again, the velocity read and written (48).
const BYTES_PER_PARTICLE: f64 = 88.0;

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let (strands, name) = if setting.quick { (1000, "volume-1k") } else { (10_000, "volume-10k") };
    let built = head(strands)?;
    let settings = Settings::default();
    let dt = World::default().dt();
    let hair = InRows::new(&built.groom.strands);
    let particles = hair.particles.len();
    let mut rows = Vec::new();
    for threads in setting.thread_counts() {
        let row = with_threads(threads, || -> Result<Row, Error> {
            let mut hair = hair.clone();
            let mut lanes = Volume::new(&settings)?;
            let mut plain = PlainVolume::new(&settings)?;
            lanes.rest(&hair.position, &[], &hair.present);
            plain.rest(&hair.particles);
            hair.squeeze();
            let mut pieces = Pieces::default();
            // Alternate piece by piece, so that both see the same disturbances.
            for piece in 0..setting.repetitions() + 1 {
                let fast = seconds(|| {
                    for _ in 0..STEPS {
                        lanes.apply(&mut hair.samples(), dt);
                    }
                });
                let slow = seconds(|| {
                    for _ in 0..STEPS {
                        plain.apply(&mut hair.particles, dt);
                    }
                });
                // The first piece warms up.
                if piece > 0 {
                    pieces.add(fast, Some(slow));
                }
            }
            let hash = hash_positions(&hair.velocities());
            let reference = "plain version, one thread";
            Ok(Row { threads, ..pieces.row(name, [strands, particles], STEPS, reference, hash) })
        })??;
        let limit = BYTES_PER_PARTICLE / bandwidth::measure(threads)? * 1e9;
        rows.push(Row { memory_limit_ns: Some(limit), ..row });
    }
    Ok(rows)
}

/// Hair in the layout of models, sixteen strands that grow next to each other, point by point; and as one structure per
/// particle.
#[derive(Clone)]
struct InRows {
    position: Vec<f32>,
    motion: Vec<f32>,
    velocity: Vec<f32>,
    present: Vec<u16>,
    free: Vec<u16>,
    particles: Vec<Particle>,
}

impl InRows {
    fn new(strands: &Strands) -> Self {
        let (lo, hi) = strands.bounds().unwrap_or_default();
        let mut order: Vec<usize> = (0..strands.strand_count()).collect();
        order.sort_by_key(|&s| {
            (strands.points_of(s).len(), morton_code(strands.strand(s)[0], lo, hi), s)
        });
        let (mut rows, mut particles) = (0, Vec::with_capacity(strands.point_count()));
        let mut out = Self {
            position: Vec::new(),
            motion: Vec::new(),
            velocity: Vec::new(),
            present: Vec::new(),
            free: Vec::new(),
            particles: Vec::new(),
        };
        for block in order.chunks(LANES) {
            let points = block.iter().map(|&s| strands.points_of(s).len()).max().unwrap_or(0);
            out.grow(rows + points);
            for (lane, &s) in block.iter().enumerate() {
                for (i, &p) in strands.strand(s).iter().enumerate() {
                    // The head turns by five radians a second.
                    let motion = Vec3::new(0.0, 5.0, 0.0).cross(p);
                    out.put(rows + i, lane, p, motion, i > 0);
                    let (velocity, mass) = (Vec3::ZERO, 1.0);
                    particles.push(Particle { position: p, motion, velocity, mass, free: i > 0 });
                }
            }
            rows += points;
        }
        out.particles = particles;
        out
    }

    fn grow(&mut self, rows: usize) {
        for vectors in [&mut self.position, &mut self.motion, &mut self.velocity] {
            vectors.resize(rows * 3 * LANES, 0.0);
        }
        self.present.resize(rows, 0);
        self.free.resize(rows, 0);
    }

    fn put(&mut self, row: usize, lane: usize, position: Vec3, motion: Vec3, free: bool) {
        for axis in 0..3 {
            let at = (row * 3 + axis) * LANES + lane;
            self.position[at] = position[axis];
            self.motion[at] = motion[axis];
        }
        self.present[row] |= 1 << lane;
        self.free[row] |= u16::from(free) << lane;
    }

    /// Scales all hair down, so that pressure acts.
    fn squeeze(&mut self) {
        self.position.iter_mut().for_each(|x| *x *= 0.9);
        self.particles.iter_mut().for_each(|p| p.position *= 0.9);
    }

    fn samples(&mut self) -> Samples<'_> {
        Samples {
            position: &self.position,
            motion: &self.motion,
            velocity: &mut self.velocity,
            mass: &[],
            present: &self.present,
            free: &self.free,
            order: Order::ByPoint,
        }
    }

    fn velocities(&self) -> Vec<Vec3> {
        let row = |row: &[f32]| {
            let lane = |l: usize| Vec3::new(row[l], row[LANES + l], row[2 * LANES + l]);
            (0..LANES).map(lane).collect::<Vec<Vec3>>()
        };
        self.velocity.chunks_exact(3 * LANES).flat_map(row).collect()
    }
}
