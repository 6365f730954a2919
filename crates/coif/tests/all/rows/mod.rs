//! Particles in rows of sixteen, the layout of the input of contacts.

use coif::contact::volume::plain::Particle;
use coif::contact::{Order, Samples};
use coif::math::Random;
use glam::Vec3;

/// A free particle of mass one.
pub(crate) fn particle(position: Vec3, motion: Vec3) -> Particle {
    Particle { position, motion, velocity: Vec3::ZERO, mass: 1.0, free: true }
}

/// Random particles at rest in a ball, sorted along y.
pub(crate) fn cloud(count: usize, radius: f32, seed: u64) -> Vec<Particle> {
    let mut random = Random::new(seed, 0);
    let mut out = Vec::with_capacity(count);
    while out.len() < count {
        let p = random.vector();
        if p.length_squared() < 1.0 {
            out.push(particle(p * radius, Vec3::ZERO));
        }
    }
    out.sort_by(|a, b| a.position.y.total_cmp(&b.position.y));
    out
}

/// The arrays behind [`Samples`].
pub(crate) struct Rows {
    pub(crate) position: Vec<f32>,
    pub(crate) motion: Vec<f32>,
    pub(crate) velocity: Vec<f32>,
    pub(crate) mass: Vec<f32>,
    pub(crate) present: Vec<u16>,
    pub(crate) free: Vec<u16>,
    count: usize,
}

impl Rows {
    pub(crate) fn new(particles: &[Particle]) -> Self {
        let rows = particles.len().div_ceil(16);
        let mut out = Self {
            position: vec![0.0; rows * 48],
            motion: vec![0.0; rows * 48],
            velocity: vec![0.0; rows * 48],
            mass: vec![0.0; rows * 16],
            present: vec![0; rows],
            free: vec![0; rows],
            count: particles.len(),
        };
        for (i, p) in particles.iter().enumerate() {
            let (row, lane) = (i / 16, i % 16);
            for axis in 0..3 {
                let at = row * 48 + axis * 16 + lane;
                out.position[at] = p.position[axis];
                out.motion[at] = p.motion[axis];
                out.velocity[at] = p.velocity[axis];
            }
            out.mass[i] = p.mass;
            out.present[row] |= 1 << lane;
            out.free[row] |= u16::from(p.free) << lane;
        }
        out
    }

    pub(crate) fn samples(&mut self) -> Samples<'_> {
        Samples {
            position: &self.position,
            motion: &self.motion,
            velocity: &mut self.velocity,
            mass: &self.mass,
            present: &self.present,
            free: &self.free,
            order: Order::ByPoint,
        }
    }

    #[allow(dead_code)] // Not every test reads particles back.
    pub(crate) fn particles(&self) -> Vec<Particle> {
        let read = |from: &[f32], i: usize| {
            let at = i / 16 * 48 + i % 16;
            Vec3::new(from[at], from[at + 16], from[at + 32])
        };
        (0..self.count)
            .map(|i| Particle {
                position: read(&self.position, i),
                motion: read(&self.motion, i),
                velocity: read(&self.velocity, i),
                mass: self.mass[i],
                free: self.free[i / 16] & (1 << (i % 16)) != 0,
            })
            .collect()
    }
}
