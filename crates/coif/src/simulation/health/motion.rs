//! Speed and kinetic energy of the hair, from the displacement of its points since the last measurement.
//!
//! Model: the mean velocity of a point between two measurements is its displacement over the time between; relative to
//! the scalp, the displacement less the one by the rigid motion of the scalp under
//! the root. Deviations: the speed of a point that swings to and fro within a frame is underestimated.

use glam::Vec3;

use super::{StrandList, StrandLook};
use crate::groom::Fibre;
use crate::math::RigidTransform;

/// Speed relative to the scalp above which a point counts as moving (m/s): a centimetre a second is visible, and
/// a hundred times the rounding of hair at rest.
pub const MOVING_SPEED: f32 = 0.01;

/// Speed of the free points of the hair since the last measurement at an earlier time. All zero at
/// the first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HairMotion {
    /// Time since the last measurement (s).
    pub seconds: f64,
    /// Largest speed of a point in the world (m/s).
    pub speed_max: f32,
    /// Strand and point of `speed_max`.
    pub fastest: (usize, usize),
    /// Largest speed of a point relative to the scalp under its root (m/s): 0 for hair that moves rigidly with it.
    pub relative_speed_max: f32,
    /// Strand and point of `relative_speed_max`.
    pub fastest_relative: (usize, usize),
    /// Free points that are faster than [`MOVING_SPEED`] relative to the scalp.
    pub moving_points: usize,
    /// Strands with such a point.
    pub moving_strands: StrandList,
    /// Kinetic energy in the world (J). A point has half the mass of each segment beside it.
    pub kinetic_energy: f64,
    /// Largest speed of the body (m/s): of the groomed shape transformed with the scalp, of the colliders, and of
    /// the surface where hair collides with that.
    pub body_speed_max: f32,
    /// Free points that were measured, and the sum of their speeds (m/s).
    points: usize,
    speed_sum: f64,
}

impl HairMotion {
    /// Mean speed of the free points in the world (m/s).
    pub fn speed_mean(&self) -> f32 {
        (self.speed_sum / self.points.max(1) as f64) as f32
    }

    /// Appends the result of the strands after these.
    pub(super) fn add(&mut self, next: &Self) {
        self.seconds = self.seconds.max(next.seconds);
        if next.speed_max > self.speed_max {
            (self.speed_max, self.fastest) = (next.speed_max, next.fastest);
        }
        if next.relative_speed_max > self.relative_speed_max {
            (self.relative_speed_max, self.fastest_relative) =
                (next.relative_speed_max, next.fastest_relative);
        }
        self.moving_points += next.moving_points;
        self.moving_strands.add(&next.moving_strands);
        self.kinetic_energy += next.kinetic_energy;
        self.body_speed_max = self.body_speed_max.max(next.body_speed_max);
        self.points += next.points;
        self.speed_sum += next.speed_sum;
    }
}

/// One strand at the last measurement.
pub(super) struct StrandBefore<'a> {
    /// Its points (m).
    pub(super) points: &'a [Vec3],
    /// Rigid transform of the scalp under its root.
    pub(super) world_from_rest: RigidTransform,
    /// Time since then (s).
    pub(super) seconds: f64,
}

impl HairMotion {
    /// Adds one strand of fibres with these radii (m) at its points.
    pub(super) fn measure(
        &mut self,
        strand: &StrandLook<'_>,
        before: &StrandBefore<'_>,
        fibre: &Fibre,
        radius: &[f32],
    ) {
        let rate = (1.0 / before.seconds) as f32;
        let now_from_before = strand.world_from_rest * before.world_from_rest.inverse();
        let mut moves = false;
        let mut inner = 0.0;
        for i in 0..strand.now.len() {
            // Half of each segment beside the point belongs to it.
            let outer = strand.rest.get(i + 1).map_or(0.0, |next| next.distance(strand.rest[i]));
            let length = 0.5 * (inner + outer);
            inner = outer;
            let displacement = strand.now[i] - before.points[i];
            if i <= strand.last_pinned || !displacement.is_finite() {
                continue;
            }
            let speed = displacement.length() * rate;
            let carried = now_from_before.point(before.points[i]);
            let relative = strand.now[i].distance(carried) * rate;
            if speed > self.speed_max {
                (self.speed_max, self.fastest) = (speed, (strand.index, i));
            }
            if relative > self.relative_speed_max {
                (self.relative_speed_max, self.fastest_relative) = (relative, (strand.index, i));
            }
            if relative > MOVING_SPEED {
                self.moving_points += 1;
                moves = true;
            }
            let mass = f64::from(length * fibre.mass_per_length(radius[i]));
            self.kinetic_energy += 0.5 * mass * f64::from(speed) * f64::from(speed);
            self.speed_sum += f64::from(speed);
            self.points += 1;
        }
        if moves {
            self.moving_strands.push(strand.index);
        }
        // The groomed shape, transformed with the scalp, has the speed of the scalp's rotation as well.
        for end in [strand.rest.first(), strand.rest.last()].into_iter().flatten() {
            let place = strand.world_from_rest.point(*end);
            let carried = place.distance(before.world_from_rest.point(*end));
            self.body_speed_max = self.body_speed_max.max(carried * rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::super::testing::look;
    use super::*;

    const REST: [Vec3; 3] =
        [Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.3, 1.0, 0.0), Vec3::new(0.8, 1.0, 0.0)];
    const RADII: [f32; 3] = [50e-6; 3];

    fn measured(now: &[Vec3], pose: RigidTransform, seconds: f64) -> HairMotion {
        let mut strand = look(&REST, now);
        strand.world_from_rest = pose;
        let world_from_rest = RigidTransform::IDENTITY;
        let before = StrandBefore { points: &REST, world_from_rest, seconds };
        let mut motion = HairMotion::default();
        motion.measure(&strand, &before, &Fibre::default(), &RADII);
        motion
    }

    /// A quarter turn about z in 2 s: chords of sqrt(2) r, which are straight.
    #[test]
    fn a_rigid_turn_is_calm_beside_the_scalp() {
        let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let pose = RigidTransform::about(Vec3::Y, quarter);
        let motion = measured(&REST.map(|p| pose.point(p)), pose, 2.0);
        let chord = |r: f32| r * 2.0f32.sqrt() / 2.0;
        assert!(motion.relative_speed_max < 1e-6, "{motion:?}");
        assert_eq!((motion.moving_points, motion.moving_strands.count), (0, 0));
        assert!((motion.speed_max - chord(0.8)).abs() < 1e-6, "{motion:?}");
        assert_eq!(motion.fastest, (0, 2));
        assert!((motion.speed_mean() - chord(0.55)).abs() < 1e-6, "{motion:?}");
        assert!((motion.body_speed_max - chord(0.8)).abs() < 1e-6, "{motion:?}");
        // Point 1 has half of 0.3 m and of 0.5 m, point 2 half of 0.5 m.
        let per_length = f64::from(Fibre::default().mass_per_length(RADII[0]));
        let square = |r: f32| f64::from(chord(r)).powi(2);
        let energy = 0.5 * per_length * (0.4 * square(0.3) + 0.25 * square(0.8));
        assert!((motion.kinetic_energy / energy - 1.0).abs() < 1e-5, "{motion:?}");
    }

    /// Hair that stays in place while the scalp moves has a speed relative to the scalp only.
    #[test]
    fn hair_that_stays_behind_moves_beside_the_scalp() {
        let pose = RigidTransform::from_translation(Vec3::X * 0.1);
        let motion = measured(&REST, pose, 0.5);
        assert_eq!((motion.speed_max, motion.kinetic_energy), (0.0, 0.0));
        assert!((motion.relative_speed_max - 0.2).abs() < 1e-6, "{motion:?}");
        assert!((motion.body_speed_max - 0.2).abs() < 1e-6, "{motion:?}");
        assert_eq!((motion.moving_points, motion.moving_strands.first()), (2, &[0][..]));
    }

    #[test]
    fn one_point_that_moves_is_named() {
        let mut now = REST;
        now[1].z += 0.003;
        let motion = measured(&now, RigidTransform::IDENTITY, 0.1);
        assert_eq!((motion.fastest, motion.fastest_relative), ((0, 1), (0, 1)));
        assert!((motion.relative_speed_max - 0.03).abs() < 1e-6);
        assert_eq!((motion.moving_points, motion.body_speed_max), (1, 0.0));
        // Slower than a centimetre a second is at rest; what is not finite is left out.
        assert_eq!(measured(&now, RigidTransform::IDENTITY, 1.0).moving_points, 0);
        now[2] = Vec3::NAN;
        let motion = measured(&now, RigidTransform::IDENTITY, 0.1);
        assert!(motion.kinetic_energy.is_finite() && motion.speed_mean().is_finite());
    }
}
