//! The rest shape of hair: the groom, moved rigidly with the scalp under the root.
//!
//! Model: with `x(s)` the strand, `g(s)` the groom carried by the scalp, `rho` the mass per length,
//! `T` the style time and `a` the style length, the style is the potential
//!
//! ```text
//! E = rho / (2 T^2) * integral of |x - g|^2 + a^2 |x' - g'|^2 ds   -   integral of f . x ds
//! ```
//!
//! the distance between strand and groom in positions and directions (the latter through frames, so that large
//! rotations of curls recover as a whole: `frames.rs`). It is a potential in the scalp's
//! frame, so that on a head that stands still no loop of motion gains energy from it; a goal carried by
//! the hair itself would be a follower force, and a motor against contact. Waves longer than `2 pi a`
//! swing back in the style time; shorter ones, and hair shorter than `a`, as a taut string does: the
//! shorter the faster. Stiffness is per mass and length, so it depends neither on the number of points
//! nor on the step. Damping is stiffness-proportional (Kelvin-Voigt): `damping_ratio` is that of the long
//! waves in weightlessness.
//!
//! `f` is the dead load of the inverse statics, carried by the scalp's frame: what the style adds so that
//! the groom is an equilibrium under gravity. Hair that hangs needs none, so it swings as a pendulum;
//! hair that lies across or stands is held. Tensions of the groom are never negative, so the groom is a
//! strict minimum of the whole potential for any style time.

use glam::Vec3;

use super::joint::Limit;
use super::{Ends, Settings};
use crate::limits::KINK_RADIANS;
use crate::params::Ramp;

/// Rest shape of a strand in the units of its lane: masses by the mass of a mean segment.
pub(super) struct RestShape {
    /// Per point: its mass (half of each segment beside it).
    pub(super) mass: Vec<f32>,
    /// Per point: mass times squared step frequency times place, plus the dead load times `dt^2` (m).
    pub(super) goal: Vec<Vec3>,
    /// Per point: the vector from its predecessor in the rest shape (m).
    pub(super) step: Vec<Vec3>,
    /// Per point: cosine of the largest turn of its segment against the one before.
    pub(super) turn: Vec<f32>,
    /// Per point: the limit of the joint before its segment.
    pub(super) limit: Vec<Limit>,
    /// Per point: spring, air and friction.
    pub(super) tie: Vec<Tie>,
    /// `a^2` over the mean length of a segment (m): times the spring it is the stiffness of directions.
    pub(super) link: f32,
}

/// Spring, air and friction of a point, in units of one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tie {
    /// Squared frequency of the long waves times `dt^2`.
    pub(super) spring: f32,
    /// Damping rate of the long waves times `dt`.
    pub(super) damper: f32,
    /// Fraction of its velocity that it keeps in the air.
    pub(super) carried_on: f32,
    /// Friction on the body, relative to the body's.
    pub(super) friction: f32,
}

impl Tie {
    /// At a fraction of the length from 0 (root) to 1 (tip).
    pub(super) fn at(settings: &Settings, place: f32, dt: f32) -> Self {
        let time = settings.style_time.at(place);
        let frequency = if time.is_finite() { dt / time } else { 0.0 };
        Self {
            spring: frequency * frequency,
            damper: 2.0 * settings.damping_ratio * frequency,
            carried_on: 1.0 / (1.0 + settings.damping.at(place) * dt),
            friction: settings.friction.at(place),
        }
    }

    /// At each point of a strand.
    fn along(settings: &Settings, line: &[Vec3], dt: f32) -> Vec<Self> {
        // The ramp from 0 to 1 is the fraction of the arc length.
        let place = Ramp::new(&[[0.0, 0.0], [1.0, 1.0]]).map(|ramp| ramp.along(line));
        place.into_iter().flatten().map(|place| Self::at(settings, place, dt)).collect()
    }
}

impl RestShape {
    /// `embedded` points of the line are pinned to the scalp, at least one.
    pub(super) fn new(line: &[Vec3], settings: &Settings, dt: f32, gravity: Vec3) -> Self {
        let last = line.len() - 1;
        let length = |i: usize| line[i].distance(line[i - 1]);
        let total: f32 = (1..=last).map(length).sum();
        let mean = total / last as f32;
        // Mass per length decreases smoothly, as a power of the scale of eq. 9, from root to tip.
        let mut from_root = 0.0;
        let mut density = |l: f32| {
            from_root += l;
            settings.density((from_root - 0.5 * l) / total, last) * l / mean
        };
        let segment: Vec<f32> = (1..=last).map(|i| density(length(i))).collect();
        let mass: Vec<f32> = (0..=last)
            .map(|i| {
                0.5 * (i.checked_sub(1).map_or(0.0, |i| segment[i])
                    + segment.get(i).unwrap_or(&0.0))
            })
            .collect();
        // No dead load: nothing holds a free strand against gravity.
        let load = if settings.hold_shape && settings.ends != Ends::Free {
            dead_load(line, &mass, gravity)
        } else {
            vec![Vec3::ZERO; last + 1]
        };
        let tie = Tie::along(settings, line, dt);
        let goal = |i: usize| line[i] * (mass[i] * tie[i].spring) + load[i] * (dt * dt);
        let goal = (0..=last).map(goal).collect();
        let step: Vec<Vec3> = (0..=last).map(|i| line[i] - line[i.saturating_sub(1)]).collect();
        let angle = |i: usize| if i > 1 { step[i].angle_between(step[i - 1]) } else { 0.0 };
        // The bending limit of eq. 11, or a little more than the groom turns by.
        let largest = 2.0 * settings.bend_limit.clamp(0.0, 1.0).acos();
        let allowed = |angle: f32| {
            let free = angle + FREE_TURN;
            let short_of_kink = (KINK_RADIANS - 10.0 * ROUNDING).max(angle + ROUNDING);
            largest.max(if angle < KINK_RADIANS - ROUNDING {
                free.min(short_of_kink)
            } else {
                free
            })
        };
        let turn = (0..=last).map(|i| allowed(angle(i)).min(std::f32::consts::PI).cos()).collect();
        let limit = (0..=last).map(|i| Limit::new(angle(i).cos())).collect();
        Self {
            mass,
            goal,
            step,
            turn,
            limit,
            tie,
            link: settings.style_length * settings.style_length / mean,
        }
    }
}

impl Settings {
    /// Whether spring, air and friction are constant from root to tip.
    pub(super) fn is_tied_evenly(&self) -> bool {
        [&self.style_time, &self.damping, &self.friction].iter().all(|r| r.constant().is_some())
    }

    /// Mass per length at a place from 0 (root) to 1 (tip), relative to the root: `s^place`, or for a scale `s` that is
    /// a ramp the exponential of the integral of `ln s` from the root. `s` is that of the strand of so many segments.
    pub(super) fn density(&self, place: f32, segments: usize) -> f32 {
        const PIECES: usize = 64;
        let power = self.correction_form.of_strand(segments);
        if let Some(scale) = self.correction.constant() {
            return scale.powf(power).max(SMALLEST_DENSITY).powf(place);
        }
        let at = |i: usize| place * (i as f32 + 0.5) / PIECES as f32;
        let log = |i: usize| self.correction.at(at(i)).powf(power).max(SMALLEST_DENSITY).ln();
        ((0..PIECES).map(log).sum::<f32>() * place / PIECES as f32).exp()
    }
}

/// Angle (radians) by which rounding turns a segment of 1 cm, a metre from the origin.
const ROUNDING: f32 = 1e-5;

/// Angle (radians) by which the bending limit lets a segment turn farther than it does in the groom: so little that
/// a limit below the groom's own turns still leaves the groom at rest.
const FREE_TURN: f32 = 0.05;

/// Least mass per length at the tip, relative to the root: keeps the mass matrix regular.
const SMALLEST_DENSITY: f32 = 1e-3;

/// The smallest forces on the points of a line that make it an equilibrium of an inextensible chain under
/// gravity (N, for masses in kg).
///
/// Model (inverse statics): from tip to root, the force on a segment's outer end, the tension of the
/// next one, its weight and its load, must be along the segment. The load cancels the transverse component and
/// any compression.
pub(super) fn dead_load(line: &[Vec3], mass: &[f32], gravity: Vec3) -> Vec<Vec3> {
    let mut load = vec![Vec3::ZERO; line.len()];
    let mut pull = Vec3::ZERO;
    for i in (1..line.len()).rev() {
        let along = (line[i] - line[i - 1]).normalize_or_zero();
        let all = pull + gravity * mass[i];
        pull = along * all.dot(along).max(0.0);
        load[i] = pull - all;
    }
    load
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Ramp;

    fn coil(points: usize) -> Vec<Vec3> {
        let turn = |i: usize| 15.0 * i as f32 / (points - 1) as f32;
        let place =
            |i: usize| Vec3::new(0.02 * turn(i).cos(), -0.02 * turn(i), 0.02 * turn(i).sin());
        (0..points).map(place).collect()
    }

    /// With its load every point of a line is in equilibrium: no transverse force on its segment, no compression in it.
    #[test]
    fn dead_loads_balance_gravity() {
        let gravity = Vec3::new(0.3, -9.81, 0.1);
        for line in [coil(30), coil(7), vec![Vec3::ZERO, Vec3::Y * 0.1, Vec3::Y * 0.2]] {
            let mass = vec![0.5; line.len()];
            let load = dead_load(&line, &mass, gravity);
            let mut pull = Vec3::ZERO;
            for i in (1..line.len()).rev() {
                let along = (line[i] - line[i - 1]).normalize();
                pull += gravity * mass[i] + load[i];
                assert!(pull.cross(along).length() < 1e-4, "point {i}: {pull}");
                assert!(pull.dot(along) > -1e-4, "point {i}: {pull}");
            }
        }
    }

    #[test]
    fn hanging_hair_is_held_by_its_tension_alone() {
        let line: Vec<Vec3> = (0..10).map(|i| Vec3::NEG_Y * 0.03 * i as f32).collect();
        let load = dead_load(&line, &[1.0; 10], Vec3::NEG_Y * 9.81);
        assert!(load.iter().all(|f| f.length() < 1e-5), "{load:?}");
    }

    #[test]
    fn masses_stand_for_half_of_each_segment_whatever_their_lengths() {
        let line = [0.0, 0.1, 0.11, 0.4].map(|y| Vec3::NEG_Y * y);
        let settings = Settings { correction: 1.0.into(), ..Settings::default() };
        let shape = RestShape::new(&line, &settings, 0.01, Vec3::NEG_Y);
        let mean = 0.4 / 3.0;
        for (mass, length) in shape.mass.iter().zip([0.05, 0.055, 0.15, 0.145]) {
            assert!((mass - length / mean).abs() < 1e-5, "{mass}");
        }
    }

    /// With a scale of `exp(-k s)` mass per length falls as `exp(-k s^2 / 2)`; a constant ramp equals the number.
    #[test]
    fn a_ramp_of_the_correction_makes_mass_fall_by_place() {
        let line: Vec<Vec3> = (0..=40).map(|i| Vec3::NEG_Y * (0.01 * i as f32)).collect();
        let mass = |correction: Ramp| {
            let settings = Settings { correction, ..Settings::default() };
            RestShape::new(&line, &settings, 0.01, Vec3::NEG_Y).mass
        };
        let k = 2.0f32;
        let points: Vec<[f32; 2]> =
            (0..=40).map(|i| i as f32 / 40.0).map(|s| [s, (-k * s).exp()]).collect();
        let found = mass(Ramp::new(&points).expect("places increase"));
        for (i, mass) in found.iter().enumerate().take(40).skip(1) {
            let place = i as f32 / 40.0;
            let expected = (-0.5 * k * place * place).exp();
            assert!((mass / expected - 1.0).abs() < 2e-3, "point {i}: {mass} {expected}");
        }
        let constant = Ramp::new(&[[0.0, 0.7], [1.0, 0.7]]).expect("places increase");
        assert_eq!(mass(constant), mass(0.7.into()));
    }
}
