//! Springs to the groom and drag of the air, with parameters that vary from root to tip.

use glam::Vec3;

use super::Shape;
use crate::groom::Groom;
use crate::params::Ramp;

/// Style time and damping of every particle.
pub(in crate::model) struct Profile {
    root: Tie,
    /// Per particle; empty if all are equal.
    each: Vec<Tie>,
    /// Values along a strand: scratch.
    along: [Vec<f32>; 2],
}

/// The spring of a particle to its position in the groom, and its drag in air.
#[derive(Debug, Clone, Copy)]
struct Tie {
    /// Time constant (s) of the return.
    style_time: f32,
    /// Rate (1/s) of the relaxation to the velocity of the air.
    damping: f32,
}

/// Effect of spring, gravity and air on a particle in a step.
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
        let root = Tie { style_time: 0.0, damping: 0.0 };
        let mut profile = Self { root, each: Vec::new(), along: Default::default() };
        profile.set(groom, style_time, damping);
        profile
    }

    /// Sets new values in the same memory.
    pub(in crate::model) fn set(&mut self, groom: &Groom, style_time: &Ramp, damping: &Ramp) {
        self.root = Tie { style_time: style_time.at(0.0), damping: damping.at(0.0) };
        self.each.clear();
        if style_time.constant().and(damping.constant()).is_some() {
            return;
        }
        for line in groom.strands.iter() {
            for (ramp, along) in [style_time, damping].into_iter().zip(&mut self.along) {
                along.clear();
                ramp.extend_along(line, along);
            }
            let [style_time, damping] = &self.along;
            let ties = style_time.iter().zip(damping);
            self.each.extend(ties.map(|(&style_time, &damping)| Tie { style_time, damping }));
        }
    }

    /// Effect of springs, gravity (m/s^2) and wind (m/s) on each particle in a step of `h` seconds.
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
