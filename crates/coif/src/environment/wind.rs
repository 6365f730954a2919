//! Wind with gusts: the velocity of the air at a place and time.
//!
//! Gusts are value noise in space that drifts with the mean wind and changes with time; models read the velocity for
//! their drag.

use glam::{DVec3, Vec3};

use crate::params::parameters;

parameters! {
    /// Moving air: a steady wind with gusts that drift along with it.
    pub struct Wind of "wind" {
        /// Mean velocity; 3 is a breeze, 20 a storm.
        velocity: Vec3 = Vec3::ZERO, "m/s", -200.0..=200.0;
        /// Strength of gusts relative to the mean.
        gusts: f32 = 0.0, "", 0.0..=1.0;
        /// Seed of the gusts.
        seed: u64 = 0, "", 0..=i64::MAX;
    }
}

/// Size of a gust (m): about a head, so that a gust reaches one side of the hair before the other.
const GUST_SIZE: f32 = 0.35;

/// Rate at which gusts change shape while they drift (1/s).
const GUST_RATE: f64 = 1.3;

impl Wind {
    /// Whether the air is at rest everywhere.
    pub fn is_still(&self) -> bool {
        self.velocity == Vec3::ZERO
    }

    /// Velocity of the air (m/s) at a place and time (s), for a wind that has not changed since time 0.
    pub fn velocity_at(&self, p: Vec3, time: f64) -> Vec3 {
        self.velocity_with(&Gusts::default(), p, time)
    }

    /// Velocity of the air (m/s) at a place and time (s), for gusts that have drifted with earlier winds.
    pub(crate) fn velocity_with(&self, gusts: &Gusts, p: Vec3, time: f64) -> Vec3 {
        let speed = self.velocity.length();
        if speed == 0.0 || self.gusts == 0.0 {
            return self.velocity;
        }
        // Drift with the wind, so that gusts come from upwind.
        let at = (p.as_dvec3() - gusts.drifted_by(self, time)).as_vec3() / GUST_SIZE;
        let phase = (time * GUST_RATE) as f32;
        let noise = |salt: u64| {
            let coarse = smooth_noise(at + Vec3::Y * phase, self.seed.wrapping_add(salt));
            let fine = smooth_noise(at * 2.3 - Vec3::Y * phase, self.seed.wrapping_add(salt + 17));
            (coarse + 0.5 * fine) / 1.5
        };
        let sway = Vec3::new(noise(1), 0.5 * noise(2), noise(3));
        self.velocity * (1.0 + self.gusts * noise(4)) + sway * (self.gusts * speed)
    }
}

/// Drift of the gusts with all winds up to now: gusts stay continuous where the wind changes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gusts {
    /// Displacement of the air (m) up to the time of the last change (s).
    pub(crate) drifted: DVec3,
    pub(crate) since: f64,
}

impl Gusts {
    /// Displacement of the air (m) up to a time (s), with `wind` since the last change.
    fn drifted_by(&self, wind: &Wind, time: f64) -> DVec3 {
        self.drifted + wind.velocity.as_dvec3() * (time - self.since)
    }

    /// Ends the wind `before` at `time` (s).
    pub(crate) fn change(&mut self, before: &Wind, time: f64) {
        *self = Self { drifted: self.drifted_by(before, time), since: time };
    }

    /// Moves all gusts by `by` (m), because the origin has moved by `-by`.
    pub(crate) fn shift(&mut self, by: DVec3) {
        self.drifted += by;
    }
}

/// Value noise in -1..1: random numbers on a unit lattice, blended with zero slope at its points.
fn smooth_noise(p: Vec3, seed: u64) -> f32 {
    let cell = p.floor();
    let f = p - cell;
    let s = f * f * (Vec3::splat(3.0) - 2.0 * f);
    let corner = |dx: i64, dy: i64, dz: i64| {
        let mut h = seed ^ 0x9e37_79b9_7f4a_7c15;
        for k in [cell.x as i64 + dx, cell.y as i64 + dy, cell.z as i64 + dz] {
            h = (h ^ k as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            h ^= h >> 31;
        }
        (h >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let edge = |dy, dz| mix(corner(0, dy, dz), corner(1, dy, dz), s.x);
    mix(mix(edge(0, 0), edge(1, 0), s.y), mix(edge(0, 1), edge(1, 1), s.y), s.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_gusts_the_wind_is_steady() {
        let wind = Wind { velocity: Vec3::X * 3.0, ..Wind::default() };
        assert_eq!(wind.velocity_at(Vec3::ONE, 0.7), Vec3::X * 3.0);
    }

    #[test]
    fn gusts_vary_around_the_mean_and_are_smooth() {
        let wind = Wind { velocity: Vec3::X * 3.0, gusts: 0.5, seed: 4 };
        let samples: Vec<Vec3> =
            (0..2000).map(|i| wind.velocity_at(Vec3::ZERO, f64::from(i) * 0.01)).collect();
        let mean = samples.iter().sum::<Vec3>() / samples.len() as f32;
        assert!(mean.distance(wind.velocity) < 0.4, "{mean}");
        let spread = samples.iter().map(|v| v.distance(mean)).fold(0.0, f32::max);
        assert!(spread > 0.5 && spread < 4.0, "{spread}");
        let jump = samples.windows(2).map(|w| w[0].distance(w[1])).fold(0.0, f32::max);
        assert!(jump < 0.6, "{jump}");
    }
}
