//! The motions of the hound: trotting on the spot, shaking, and the motions of all figures.

use std::f64::consts::TAU;

use coif::body::Motion;
use coif::math::RigidTransform;
use glam::{EulerRot, Quat, Vec3};

use super::TAIL_JOINTS;
use crate::file::Motion as Kind;
use crate::motion::{BodyMotion, CHEST, GROUND, HEAD, NECK, Pivots, ease};
use crate::skeleton::{Footfall, Gait, Leg};

pub(super) const PELVIS: usize = 4;
pub(super) const EARS: [usize; 2] = [5, 6];
/// The first of four bones of the tail.
pub(super) const TAIL: usize = 7;
/// The first of three bones of the fore legs, left and right.
pub(super) const FORE: [usize; 2] = [11, 14];
/// The first of three bones of the hind legs.
pub(super) const HIND: [usize; 2] = [17, 20];
const BONES: usize = 23;

/// Strides of a trot in a second.
const STRIDES: f64 = 1.45;

const FORE_GAIT: Gait = Gait { stride: 0.22, lift: 0.085, stance: 0.52, bend: 1.15 };
const HIND_GAIT: Gait = Gait { stride: 0.22, lift: 0.060, stance: 0.52, bend: 0.75 };

const FORE_LEG: Leg = Leg {
    hip: Vec3::new(0.082, 0.575, 0.190),
    knee: Vec3::new(0.088, 0.385, 0.105),
    ankle: Vec3::new(0.084, 0.160, 0.145),
};
const HIND_LEG: Leg = Leg {
    hip: Vec3::new(0.074, 0.585, -0.245),
    knee: Vec3::new(0.090, 0.405, -0.165),
    ankle: Vec3::new(0.090, 0.205, -0.335),
};
const WAIST: Vec3 = Vec3::new(0.0, 0.600, -0.120);
const EAR_ROOT: Vec3 = Vec3::new(0.050, 0.905, 0.352);

pub(super) struct HoundMotion {
    body: BodyMotion,
    pivots: Pivots,
}

/// The pose at one moment.
struct Stance {
    trunk: RigidTransform,
    pelvis: Quat,
    head: [f64; 3],
    /// Outwards and forwards (rad), left and right.
    ears: [[f64; 2]; 2],
    /// Sideways and up, at each bone of the tail (rad).
    tail: [[f64; 2]; 4],
    /// Fore left, fore right, hind left, hind right.
    feet: [Footfall; 4],
    /// Transform of the ground under the feet.
    ground: RigidTransform,
}

impl HoundMotion {
    pub(super) fn new(kind: Kind, speed: f32, pivots: Pivots) -> Self {
        Self { body: BodyMotion::new(kind, speed, pivots), pivots }
    }

    fn stance(&self, time: f64) -> Stance {
        let t = self.body.clock(time);
        let begin = ease(t / 0.5);
        let walks = matches!(self.body.kind(), Kind::Walk | Kind::Play);
        match self.body.kind() {
            Kind::Shake => shake(t, begin),
            _ if walks => {
                let (_, amount) = self.body.steps(time);
                let mut stance = trot(STRIDES * t, amount);
                if self.body.kind() == Kind::Play {
                    let pose = self.body.pose(time);
                    stance.head[0] += pose.head_yaw;
                }
                stance
            }
            kind => {
                // Bend the legs in a crouch, and lift them in a jump.
                let pose = self.body.pose(time);
                let trunk = self.body.world_from_rest(CHEST, time);
                let mut ground = trunk;
                if kind != Kind::FallAndStop {
                    ground.translation.y = ground.translation.y.max(0.0);
                }
                let wag = if kind == Kind::Still { 0.0 } else { 0.12 * begin };
                Stance {
                    trunk,
                    pelvis: Quat::IDENTITY,
                    head: [pose.head_yaw, pose.head_pitch, pose.head_roll],
                    ears: [[0.0; 2]; 2],
                    tail: std::array::from_fn(|i| {
                        [wag * (TAU * 1.6 * t - 0.5 * i as f64).sin(), 0.0]
                    }),
                    feet: [Footfall::default(); 4],
                    ground,
                }
            }
        }
    }
}

/// A springy trot: diagonal feet move together, and the trunk is lowest while they are on the ground.
fn trot(phase: f64, amount: f64) -> Stance {
    let angle = TAU * phase;
    let lag = |by: f64, times: f64| (times * (angle - by)).sin();
    let height = 0.020 * amount * (2.0 * angle).cos() - 0.012 * amount;
    let rotation = Quat::from_euler(
        EulerRot::YXZ,
        (0.025 * amount * angle.sin()) as f32,
        (0.014 * amount * (2.0 * angle + 0.6).sin()) as f32,
        (0.030 * amount * angle.cos()) as f32,
    );
    let trunk = RigidTransform::about(Vec3::new(0.0, 0.55, 0.0), rotation);
    let shift = Vec3::new((0.006 * amount * angle.sin()) as f32, height as f32, 0.0);
    let trunk = RigidTransform { translation: trunk.translation + shift, ..trunk };
    let flap = |by: f64| [0.10 * amount * (1.0 + lag(by, 2.0)), 0.10 * amount * lag(by + 0.3, 2.0)];
    Stance {
        trunk,
        pelvis: Quat::from_rotation_y((-0.06 * amount * angle.sin()) as f32)
            * Quat::from_rotation_z((-0.035 * amount * angle.cos()) as f32),
        head: [
            0.10 * amount * (0.31 * angle).sin(),
            0.045 * amount * lag(0.35, 2.0),
            0.03 * amount * lag(0.2, 1.0),
        ],
        ears: [flap(0.9), flap(1.1)],
        tail: std::array::from_fn(|i| {
            let by = 0.45 * i as f64;
            [0.10 * amount * lag(by, 1.0), 0.05 * amount * lag(by, 2.0)]
        }),
        feet: [
            FORE_GAIT.foot(phase, amount),
            FORE_GAIT.foot(phase + 0.5, amount),
            HIND_GAIT.foot(phase + 0.5, amount),
            HIND_GAIT.foot(phase, amount),
        ],
        ground: RigidTransform::IDENTITY,
    }
}

/// Shaking water out of the coat, in bursts: the head first, the trunk after it.
fn shake(t: f64, begin: f64) -> Stance {
    let burst = begin * (0.35 + 0.65 * (0.5 - 0.5 * (TAU * t / 1.6).cos()));
    let roll = |by: f64| (TAU * 2.6 * t - by).sin();
    let trunk = RigidTransform::about(
        Vec3::new(0.0, 0.56, 0.0),
        Quat::from_rotation_z((0.17 * burst * roll(0.9)) as f32),
    );
    Stance {
        trunk: RigidTransform {
            translation: trunk.translation + Vec3::new(0.0, (-0.02 * burst) as f32, 0.0),
            ..trunk
        },
        pelvis: Quat::from_rotation_z((-0.22 * burst * roll(1.4)) as f32),
        head: [0.08 * burst * roll(0.4), 0.14 * burst, 0.62 * burst * roll(0.0)],
        ears: [
            [burst * (0.45 - 0.45 * roll(0.9)), 0.2 * burst * roll(0.3)],
            [burst * (0.45 + 0.45 * roll(0.9)), 0.2 * burst * roll(0.3)],
        ],
        tail: std::array::from_fn(|i| [0.16 * burst * roll(1.8 + 0.5 * i as f64), 0.0]),
        feet: [Footfall::default(); 4],
        ground: RigidTransform::IDENTITY,
    }
}

impl Stance {
    fn pelvis(&self) -> RigidTransform {
        self.trunk * RigidTransform::about(WAIST, self.pelvis)
    }

    /// A fraction of the rotation of the head.
    fn nod(&self, fraction: f64) -> Quat {
        let [yaw, pitch, roll] = self.head.map(|angle| (angle * fraction) as f32);
        Quat::from_euler(EulerRot::YXZ, yaw, pitch, roll)
    }

    fn head(&self, pivots: &Pivots) -> RigidTransform {
        self.trunk
            * RigidTransform::about(pivots.neck, self.nod(0.4))
            * RigidTransform::about(pivots.head, self.nod(0.6))
    }

    fn ear(&self, right: usize, pivots: &Pivots) -> RigidTransform {
        let side = if right == 0 { 1.0 } else { -1.0 };
        let [out, forth] = self.ears[right].map(|angle| angle as f32);
        let root = Vec3::new(side * EAR_ROOT.x, EAR_ROOT.y, EAR_ROOT.z);
        let turn = Quat::from_rotation_z(side * out) * Quat::from_rotation_x(-forth);
        self.head(pivots) * RigidTransform::about(root, turn)
    }

    fn tail(&self, last: usize) -> RigidTransform {
        (0..=last).fold(self.pelvis(), |from, i| {
            let [aside, up] = self.tail[i].map(|angle| angle as f32);
            let turn = Quat::from_rotation_y(aside) * Quat::from_rotation_x(up);
            from * RigidTransform::about(Vec3::from(TAIL_JOINTS[i].0), turn)
        })
    }

    /// Thigh, shank or foot of a leg, which hangs from `from` and stands on the ground.
    fn leg(&self, leg: Leg, foot: Footfall, from: RigidTransform, part: usize) -> RigidTransform {
        let place = leg.ankle + Vec3::new(0.0, foot.up, foot.forward);
        let target = from.inverse().point(self.ground.point(place));
        from * leg.reach(target, foot.pitch)[part]
    }
}

impl Motion for HoundMotion {
    fn bones(&self) -> usize {
        BONES
    }

    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
        if bone == GROUND {
            return RigidTransform::IDENTITY;
        }
        let stance = self.stance(time);
        let part_of = |first: usize| (first..first + 3).contains(&bone).then(|| bone - first);
        for (k, first) in FORE.into_iter().enumerate() {
            if let Some(part) = part_of(first) {
                let leg = if k == 0 { FORE_LEG } else { FORE_LEG.mirrored() };
                return stance.leg(leg, stance.feet[k], stance.trunk, part);
            }
        }
        for (k, first) in HIND.into_iter().enumerate() {
            if let Some(part) = part_of(first) {
                let leg = if k == 0 { HIND_LEG } else { HIND_LEG.mirrored() };
                return stance.leg(leg, stance.feet[2 + k], stance.pelvis(), part);
            }
        }
        match bone {
            CHEST => stance.trunk,
            NECK => {
                let half = stance.nod(0.4);
                stance.trunk * RigidTransform::about(self.pivots.neck, half)
            }
            HEAD => stance.head(&self.pivots),
            PELVIS => stance.pelvis(),
            _ if bone == EARS[0] => stance.ear(0, &self.pivots),
            _ if bone == EARS[1] => stance.ear(1, &self.pivots),
            _ => stance.tail((bone - TAIL).min(3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every motion starts at rest; no bone jumps; feet do not slide under the ground when trotting.
    #[test]
    fn motions_are_continuous_and_feet_stay_above_the_ground() {
        let pivots =
            Pivots { neck: Vec3::new(0.0, 0.64, 0.225), head: Vec3::new(0.0, 0.86, 0.345) };
        for &kind in Kind::ALL {
            let motion = HoundMotion::new(kind, 1.0, pivots);
            let ends = [
                (HEAD, Vec3::new(0.03, 0.9, 0.43)),
                (FORE[0] + 2, FORE_LEG.ankle),
                (HIND[1] + 1, Vec3::ZERO),
            ];
            for (bone, p) in ends {
                let at = |t: f64| motion.world_from_rest(bone, t).point(p);
                assert!(at(0.0).distance(p) < 2e-3, "{kind:?} bone {bone} starts at {}", at(0.0));
                let dt = 2e-3;
                for i in 0..3000 {
                    let t = f64::from(i) * dt;
                    let speed = at(t + dt).distance(at(t)) / dt as f32;
                    assert!(speed < 6.5, "{kind:?} bone {bone} moves at {speed} m/s at {t}");
                }
            }
            if kind == Kind::Walk {
                let lowest = (0..500)
                    .map(|i| {
                        let t = f64::from(i) * 0.01;
                        motion.world_from_rest(FORE[0] + 2, t).point(FORE_LEG.ankle).y
                    })
                    .fold(f32::INFINITY, f32::min);
                assert!(lowest > FORE_LEG.ankle.y - 0.004, "{lowest}");
            }
        }
    }
}
