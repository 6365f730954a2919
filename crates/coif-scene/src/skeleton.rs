//! Inverse kinematics of legs, and gaits.
//!
//! A figure with limbs adds bones after those of the trunk; the bones that it has in common with other figures (chest,
//! neck, head, ground) keep their numbers.

use coif::math::RigidTransform;
use glam::{Quat, Vec3};

use crate::motion::hermite;

/// A leg with two long bones and a foot, which bends in the plane of y and z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leg {
    pub(crate) hip: Vec3,
    pub(crate) knee: Vec3,
    pub(crate) ankle: Vec3,
}

/// Pose of a foot on its path: offset of the ankle (m), turn of the foot about x (rad).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Footfall {
    pub(crate) forward: f32,
    pub(crate) up: f32,
    pub(crate) pitch: f32,
}

impl Leg {
    /// The same leg on the other side.
    pub(crate) fn mirrored(self) -> Self {
        let over = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
        Self { hip: over(self.hip), knee: over(self.knee), ankle: over(self.ankle) }
    }

    /// Inverse kinematics: poses of thigh, shank and foot for an ankle at `target`, or as near as the leg
    /// is long; the foot is turned by `pitch`.
    ///
    /// Model: the law of cosines in the plane of the leg; the knee stays on the side where it is at
    /// rest.
    pub(crate) fn reach(&self, target: Vec3, pitch: f32) -> [RigidTransform; 3] {
        let flat = |v: Vec3| Vec3::new(0.0, v.y, v.z);
        let angle = |v: Vec3| v.z.atan2(v.y);
        let (thigh, shank) = (flat(self.knee - self.hip), flat(self.ankle - self.knee));
        let (long, short) = (thigh.length(), shank.length());
        let to_target = flat(target - self.hip);
        let min_distance = (long - short).abs() + 0.02 * long;
        let distance = to_target.length().clamp(min_distance, 0.999 * (long + short));
        // Place the knee.
        let cosine = (long * long + distance * distance - short * short) / (2.0 * long * distance);
        let side = wrapped(angle(thigh) - angle(flat(self.ankle - self.hip))).signum();
        let thigh_turn =
            wrapped(angle(to_target) + side * cosine.clamp(-1.0, 1.0).acos() - angle(thigh));
        let turn = Quat::from_rotation_x(thigh_turn);
        let knee = self.hip + turn * (self.knee - self.hip);
        // Place the ankle.
        let end = flat(self.hip) + to_target.normalize_or(Vec3::NEG_Y) * distance;
        let shank_turn = Quat::from_rotation_x(wrapped(angle(flat(end - knee)) - angle(shank)));
        let ankle = knee + shank_turn * (self.ankle - self.knee);
        let carry = |from: Vec3, to: Vec3, rotation: Quat| RigidTransform {
            rotation,
            translation: to - rotation * from,
        };
        [
            carry(self.hip, self.hip, turn),
            carry(self.knee, knee, shank_turn),
            carry(self.ankle, ankle, Quat::from_rotation_x(pitch)),
        ]
    }
}

/// Parameters of a gait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gait {
    /// Length of the path of a foot on the ground (m).
    pub(crate) stride: f64,
    /// Maximum height of a foot in the air (m).
    pub(crate) lift: f64,
    /// Fraction of the time that a foot is on the ground.
    pub(crate) stance: f64,
    /// Angle by which a foot in the air is bent back (rad).
    pub(crate) bend: f64,
}

impl Gait {
    /// The foot at `phase` of its cycle; on the ground it moves back at constant speed.
    pub(crate) fn foot(&self, phase: f64, amount: f64) -> Footfall {
        let u = phase.rem_euclid(1.0);
        let half = 0.5 * self.stride;
        let (forward, air) = if u < self.stance {
            (half - self.stride * u / self.stance, None)
        } else {
            let x = (u - self.stance) / (1.0 - self.stance);
            let slope = -self.stride * (1.0 - self.stance) / self.stance;
            (hermite(x, -half, slope, half, slope), Some(x))
        };
        // Lift it smoothly, and bend it most in the first half of its path through the air.
        let up = air.map_or(0.0, |x| (std::f64::consts::PI * x).sin().powi(2));
        let bent = air.map_or(0.0, |x| (std::f64::consts::PI * x.powf(0.7)).sin().powi(2));
        Footfall {
            forward: (amount * forward) as f32,
            up: (amount * self.lift * up) as f32,
            pitch: (amount * self.bend * bent) as f32,
        }
    }
}

fn wrapped(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEG: Leg = Leg {
        hip: Vec3::new(0.1, 0.6, 0.2),
        knee: Vec3::new(0.1, 0.4, 0.12),
        ankle: Vec3::new(0.1, 0.15, 0.16),
    };

    #[test]
    fn a_leg_rests_at_its_rest_and_reaches_its_target() {
        for part in LEG.reach(LEG.ankle, 0.0) {
            assert!(part.point(LEG.knee).distance(LEG.knee) < 1e-5);
        }
        for offset in [Vec3::new(0.0, 0.05, 0.08), Vec3::new(0.0, 0.02, -0.09)] {
            let target = LEG.ankle + offset;
            let [thigh, shank, foot] = LEG.reach(target, 0.3);
            assert!(foot.point(LEG.ankle).distance(target) < 1e-5);
            assert!(thigh.point(LEG.knee).distance(shank.point(LEG.knee)) < 1e-5);
            assert!(shank.point(LEG.ankle).distance(target) < 1e-5);
            assert!(thigh.point(LEG.hip).distance(LEG.hip) < 1e-5);
            // The knee bends backwards, as at rest.
            assert!(thigh.point(LEG.knee).z < LEG.hip.z.midpoint(target.z));
        }
        // A target out of reach stretches the leg, not its bones.
        let [_, shank, _] = LEG.reach(Vec3::new(0.1, -3.0, 0.0), 0.0);
        let length = shank.point(LEG.ankle).distance(LEG.hip);
        assert!((0.45..0.47).contains(&length), "{length}");
    }

    #[test]
    fn a_foot_moves_without_a_jump_and_stays_above_the_ground() {
        let gait = Gait { stride: 0.2, lift: 0.06, stance: 0.55, bend: 0.5 };
        let steps = 4000;
        for i in 0..steps {
            let at = |i: i32| gait.foot(f64::from(i) / f64::from(steps), 1.0);
            let (a, b) = (at(i), at(i + 1));
            assert!((a.forward - b.forward).abs() + (a.up - b.up).abs() < 4e-4);
            assert!(a.up >= 0.0);
        }
    }
}
