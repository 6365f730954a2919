//! Overlapping strands with random velocities, for tests of contact.

use coif::groom::{Fibre, Groom, Strands};
use coif::math::Random;
use glam::Vec3;

/// Strands, and the velocities of their points (m/s).
pub(crate) struct Tangle {
    pub(crate) groom: Groom,
    pub(crate) velocity: Vec<Vec3>,
}

/// Strands of `points` points, with first points within `size` (m) of the origin along each axis.
pub(crate) fn tangle(strands: usize, points: usize, size: f32) -> Tangle {
    let mut random = Random::new(1, 0);
    let mut vector = move || random.vector();
    let mut all = Strands::new();
    let mut velocity = Vec::new();
    for _ in 0..strands {
        let mut p = vector() * size;
        let along = vector().normalize_or(Vec3::X);
        let speed = vector();
        let mut line = Vec::new();
        for _ in 0..points {
            line.push(p);
            velocity.push(speed + vector() * 0.2);
            p += (along + vector() * 0.3).normalize_or(Vec3::X) * 0.004;
        }
        all.push(&line);
    }
    Tangle { groom: Groom::new(all, Fibre::default()), velocity }
}
