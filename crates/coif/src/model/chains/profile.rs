//! Ties to the groom and drag of the air, from root to tip.

use glam::Vec3;

use super::Shape;
use crate::groom::Groom;
use crate::params::Ramp;

/// Style time and damping of every particle.
pub(in crate::model) struct Profile {
    root: Tie,
    /// Per particle; empty where all are the same.
    each: Vec<Tie>,
}

/// How a particle is tied to its place in the groom, and to the air.
#[derive(Debug, Clone, Copy)]
struct Tie {
    /// Time (s) in which it returns.
    style_time: f32,
    /// Rate (1/s) at which it takes on the velocity of the air.
    damping: f32,
}

/// What ties and air do to a particle in a step.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Pull {
    pub(in crate::model) shape: Shape,
    /// Acceleration (m/s^2) by gravity and moving air.
    pub(in crate::model) push: Vec3,
    /// Fraction of its velocity that it keeps in still air.
    pub(in crate::model) carried_on: f32,
}

impl Tie {
    fn pull(&self, h: f32, gravity: Vec3, wind: Vec3) -> Pull {
        Pull {
            shape: Shape::new(self.style_time, h),
            push: gravity + wind * self.damping,
            carried_on: 1.0 / (1.0 + self.damping * h),
        }
    }
}

impl Profile {
    pub(in crate::model) fn new(groom: &Groom, style_time: &Ramp, damping: &Ramp) -> Self {
        let tie = |(style_time, damping)| Tie { style_time, damping };
        let mut each = Vec::new();
        if style_time.constant().and(damping.constant()).is_none() {
            for s in 0..groom.strands.strand_count() {
                let line = groom.strands.strand(s);
                each.extend(style_time.along(line).into_iter().zip(damping.along(line)).map(tie));
            }
        }
        Self { root: tie((style_time.at(0.0), damping.at(0.0))), each }
    }

    /// What ties, gravity (m/s^2) and wind (m/s) do to each particle in a step of `h` seconds.
    pub(in crate::model) fn pull(
        &self,
        h: f32,
        gravity: Vec3,
        wind: Vec3,
    ) -> impl Fn(usize) -> Pull + '_ {
        let all = self.root.pull(h, gravity, wind);
        move |point| self.each.get(point).map_or(all, |tie| tie.pull(h, gravity, wind))
    }
}
