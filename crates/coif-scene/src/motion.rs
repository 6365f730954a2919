//! The motions of the built-in bodies: three bones (chest, neck, head) driven by a few angles.

use std::sync::Arc;

use coif::body::Motion;
use coif::math::RigidTransform;
use glam::{EulerRot, Quat, Vec3};

use crate::file::Motion as Kind;

/// The bone of the chest and everything below.
pub const CHEST: usize = 0;
/// The bone of the neck, which turns less than half as far as the head.
pub const NECK: usize = 1;
/// The bone of the head.
pub const HEAD: usize = 2;

/// A fixed bone, for colliders that do not belong to the body.
pub const GROUND: usize = 3;

/// Where the neck leaves the chest, and where the head sits on the neck (m).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pivots {
    /// Lower end of the neck.
    pub neck: Vec3,
    /// Upper end of the neck.
    pub head: Vec3,
}

/// A named motion of a body with a chest, a neck and a head.
#[derive(Debug, Clone)]
pub struct BodyMotion {
    kind: Kind,
    speed: f64,
    pivots: Pivots,
}

/// A motion that is frozen from the time `end` (s) on.
struct Until {
    motion: Arc<dyn Motion>,
    end: f64,
}

impl Motion for Until {
    fn bones(&self) -> usize {
        self.motion.bones()
    }
    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
        self.motion.world_from_rest(bone, time.min(self.end))
    }
}

/// Freezes a motion at the time `end` (s), if there is one.
pub(crate) fn until(motion: Arc<dyn Motion>, end: Option<f32>) -> Arc<dyn Motion> {
    match end {
        Some(end) => Arc::new(Until { motion, end: end.into() }),
        None => motion,
    }
}

/// Angles (radians) and a shift (m) at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pose {
    pub(crate) head_yaw: f64,
    pub(crate) head_pitch: f64,
    pub(crate) head_roll: f64,
    pub(crate) body_yaw: f64,
    pub(crate) shift: [f64; 3],
}

impl BodyMotion {
    /// `speed` 1 is the natural speed of a person; 2 is twice as fast.
    pub fn new(kind: Kind, speed: f32, pivots: Pivots) -> Self {
        Self { kind, speed: speed.into(), pivots }
    }

    /// The kind of motion.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Time on the motion's own clock (s).
    pub(crate) fn clock(&self, time: f64) -> f64 {
        (time * self.speed).max(0.0)
    }

    /// Phase in the cycle of two steps, and amplitude of walking, 0 to 1.
    pub(crate) fn steps(&self, time: f64) -> (f64, f64) {
        let t = self.clock(time);
        match self.kind {
            Kind::Walk => (0.95 * t, ease(t / 0.35)),
            Kind::Play => play_steps(t % PLAY),
            _ => (0.0, 0.0),
        }
    }

    /// Angles and shift at `time` (s).
    pub(crate) fn pose(&self, time: f64) -> Pose {
        use std::f64::consts::{PI, TAU};
        let t = self.clock(time);
        // Start from rest, so that the first frame does not jerk the hair.
        let begin = ease(t / 0.35);
        match self.kind {
            Kind::Still => Pose::default(),
            Kind::Shake => Pose {
                head_yaw: 0.75 * begin * (TAU * 0.9 * t).sin(),
                head_roll: 0.06 * begin * (TAU * 0.9 * t).sin(),
                ..Pose::default()
            },
            Kind::Nod => {
                Pose { head_pitch: 0.42 * begin * (TAU * 1.1 * t).sin(), ..Pose::default() }
            }
            // Look over one shoulder and stop, then back.
            Kind::Turn => {
                let u = t % 2.4;
                let away = ease((u - 0.15) / 0.32) - ease((u - 1.25) / 0.32);
                Pose { head_yaw: 1.15 * away, head_pitch: 0.05 * away, ..Pose::default() }
            }
            // Accelerate to one turn a second, hold it, stop.
            Kind::Spin => {
                let u = t % 3.2;
                let whole = (t / 3.2).floor();
                let per_round = ramp(3.2, 0.3, 0.5, 1.8, 0.45);
                let turns = whole * per_round + ramp(u, 0.3, 0.5, 1.8, 0.45);
                Pose { body_yaw: TAU * turns, ..Pose::default() }
            }
            Kind::Walk => walk(TAU * 0.95 * t, begin),
            // Crouch, leave the ground at 2.2 m/s, land and bend the knees.
            Kind::Jump => {
                let u = t % 1.5;
                Pose {
                    head_pitch: 0.12 * bell((u - 0.28) / 0.2) + 0.18 * bell((u - 0.98) / 0.22),
                    shift: [0.0, JUMP.height(u), 0.0],
                    ..Pose::default()
                }
            }
            // Small hops with alternating turns to both sides.
            Kind::Hop => {
                let hops = (t / HOP.period).floor();
                let u = t - hops * HOP.period;
                let side = |hop: f64| if hop < 1.0 { 0.0 } else { 1.0 - 2.0 * (hop % 2.0) };
                let turned = ease((u - HOP.leave) / HOP.flight());
                let lean = side(hops) + (side(hops + 1.0) - side(hops)) * turned;
                Pose {
                    head_pitch: 0.10 * bell((u - 0.13) / 0.11) + 0.16 * bell((u - 0.57) / 0.14),
                    head_roll: 0.07 * lean,
                    body_yaw: 0.30 * lean,
                    shift: [0.0, HOP.height(u), 0.0],
                    ..Pose::default()
                }
            }
            // Look to both sides, walk, hop.
            Kind::Play => {
                let u = t % PLAY;
                let (phase, amount) = play_steps(u);
                let mut pose = walk(TAU * phase, amount);
                let left = ease((u - 0.2) / 0.35) - ease((u - 0.75) / 0.45);
                let right = ease((u - 0.75) / 0.45) - ease((u - 1.45) / 0.35);
                pose.head_yaw += 0.95 * left - 0.85 * right;
                pose.head_pitch += 0.06 * (left + right);
                let hop = u - 4.3;
                if hop > 0.0 {
                    pose.head_pitch +=
                        0.10 * bell((hop - 0.18) / 0.14) + 0.15 * bell((hop - 0.78) / 0.18);
                    pose.shift[1] += SKIP.height(hop);
                }
                pose
            }
            // Fall freely for a third of a second, stop within three centimetres.
            Kind::FallAndStop => {
                let fall = (t - 0.25).clamp(0.0, 0.35);
                let speed = 9.81 * 0.35;
                let stop_time = 0.05;
                let s = ((t - 0.6) / stop_time).clamp(0.0, 1.0);
                let braking = speed * stop_time * (s - s * s * s + 0.5 * s.powi(4));
                let y = -0.5 * 9.81 * fall * fall - braking;
                let nod = 0.1 * bell((t - 0.72) / 0.16) * (PI * 0.5).sin();
                Pose { head_pitch: nod, shift: [0.0, y, 0.0], ..Pose::default() }
            }
        }
    }
}

impl Motion for BodyMotion {
    fn bones(&self) -> usize {
        4
    }

    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
        if bone == GROUND {
            return RigidTransform::IDENTITY;
        }
        let pose = self.pose(time);
        let shift = Vec3::from(pose.shift.map(|c| c as f32));
        let body = RigidTransform {
            rotation: Quat::from_rotation_y(wrapped(pose.body_yaw)),
            translation: shift,
        };
        let fraction = |s: f64| {
            Quat::from_euler(
                EulerRot::YXZ,
                (pose.head_yaw * s) as f32,
                (pose.head_pitch * s) as f32,
                (pose.head_roll * s) as f32,
            )
        };
        let neck = RigidTransform::about(self.pivots.neck, fraction(0.4));
        match bone {
            CHEST => body,
            NECK => body * neck,
            _ => body * neck * RigidTransform::about(self.pivots.head, fraction(0.6)),
        }
    }
}

/// The angle within one turn, so that f32 keeps its precision after many.
fn wrapped(angle: f64) -> f32 {
    (angle % std::f64::consts::TAU) as f32
}

/// 0 to 1 with no velocity and no acceleration at the ends.
pub(crate) fn ease(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (10.0 + x * (6.0 * x - 15.0))
}

/// A smooth bump of height 1 and half width 1.
pub(crate) fn bell(x: f64) -> f64 {
    let s = (1.0 - x * x).max(0.0);
    s * s * s
}

/// Turns made by `t` when speed rises to one per second from `start` for `rise`, and falls for
/// `fall` from `stop` on.
fn ramp(t: f64, start: f64, rise: f64, stop: f64, fall: f64) -> f64 {
    // The integral of a smoothstep of width w: w (s^3 - s^4 / 2).
    let area = |x: f64, w: f64| {
        let s = (x / w).clamp(0.0, 1.0);
        w * (s * s * s - 0.5 * s.powi(4)) + (x - w).max(0.0)
    };
    area(t - start, rise) - area(t - stop, fall)
}

/// Length of the sequence of [`Kind::Play`] (s).
const PLAY: f64 = 5.8;

/// Phase and amplitude of the steps of [`Kind::Play`].
fn play_steps(u: f64) -> (f64, f64) {
    // Four steps from 1.9 s on, slow at both ends.
    (0.95 * (u - 1.9), ease((u - 1.9) / 0.35) - ease((u - 3.7) / 0.4))
}

/// The sway of walking at an angle in the cycle of two steps.
fn walk(step: f64, amount: f64) -> Pose {
    Pose {
        head_yaw: 0.05 * amount * step.sin(),
        head_pitch: 0.04 * amount * (2.0 * step).sin(),
        head_roll: 0.03 * amount * step.cos(),
        body_yaw: 0.09 * amount * step.sin(),
        shift: [
            0.018 * amount * step.cos(),
            -0.024 * amount * (2.0 * step + 0.4).cos(),
            0.01 * amount * (2.0 * step).sin(),
        ],
    }
}

/// A jump: crouch, flight, landing.
struct Leap {
    /// Time from one crouch to the next (s).
    period: f64,
    /// Time at which the feet leave the ground (s).
    leave: f64,
    /// Upward speed at that time (m/s).
    speed: f64,
    /// Depth of the crouch (m).
    crouch: f64,
}

/// A jump in one and a half seconds.
const JUMP: Leap = Leap { period: 1.5, leave: 0.42, speed: 2.2, crouch: 0.10 };

/// A small hop.
const HOP: Leap = Leap { period: 0.74, leave: 0.20, speed: 1.35, crouch: 0.012 };

/// A hop of a child.
const SKIP: Leap = Leap { period: 1.0, leave: 0.30, speed: 1.9, crouch: 0.04 };

impl Leap {
    /// Time in the air (s).
    fn flight(&self) -> f64 {
        2.0 * self.speed / 9.81
    }

    /// Height (m): crouch, flight, landing, straighten up.
    fn height(&self, u: f64) -> f64 {
        let land = self.leave + self.flight();
        if u < self.leave {
            // Crouch, then accelerate to the take-off speed.
            let x = u / self.leave;
            hermite(x, 0.0, 0.0, 0.0, self.speed * self.leave)
                - self.crouch * bell((x - 0.55) / 0.45)
        } else if u < land {
            let x = u - self.leave;
            self.speed * x - 0.5 * 9.81 * x * x
        } else {
            // Decelerate smoothly from the landing speed, then straighten.
            let x = ((u - land) / (self.period - land)).min(1.0);
            hermite(x, 0.0, -self.speed * (self.period - land), 0.0, 0.0)
        }
    }
}

/// Cubic from value `a` and slope `da` at 0 to value `b` and slope `db` at 1.
pub(crate) fn hermite(x: f64, a: f64, da: f64, b: f64, db: f64) -> f64 {
    let (x2, x3) = (x * x, x * x * x);
    a * (2.0 * x3 - 3.0 * x2 + 1.0)
        + da * (x3 - 2.0 * x2 + x)
        + b * (3.0 * x2 - 2.0 * x3)
        + db * (x3 - x2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIVOTS: Pivots =
        Pivots { neck: Vec3::new(0.0, -0.18, -0.03), head: Vec3::new(0.0, -0.09, -0.02) };

    /// Every motion starts from rest at the rest pose, and a point of the head never jumps.
    #[test]
    fn motions_start_at_rest_and_are_continuous() {
        for &kind in Kind::ALL {
            let motion = BodyMotion::new(kind, 1.0, PIVOTS);
            let tip = Vec3::new(0.0, 0.1, 0.1);
            let at = |t: f64| motion.world_from_rest(HEAD, t).point(tip);
            assert!(at(0.0).distance(tip) < 2e-3, "{kind:?} {}", at(0.0));
            let dt = 1e-3;
            assert!(at(dt).distance(at(0.0)) < 3e-4, "{kind:?} starts with a kick");
            let mut fastest = 0.0f32;
            for i in 0..6000 {
                let t = f64::from(i) * dt;
                fastest = fastest.max(at(t + dt).distance(at(t)) / dt as f32);
            }
            assert!(fastest < 4.0, "{kind:?} moves at {fastest} m/s");
            assert!(kind == Kind::Still || fastest > 0.1, "{kind:?} hardly moves");
        }
    }

    #[test]
    fn a_motion_that_ends_is_itself_before_and_still_after() {
        let shake = Arc::new(BodyMotion::new(Kind::Shake, 1.0, PIVOTS));
        let ends = until(shake.clone(), Some(0.5));
        let at = |t: f64| shake.world_from_rest(HEAD, t);
        assert_eq!(ends.bones(), shake.bones());
        for (time, same) in [(0.0, 0.0), (0.3, 0.3), (0.5, 0.5), (0.7, 0.5), (90.0, 0.5)] {
            assert_eq!(ends.world_from_rest(HEAD, time), at(same), "{time}");
        }
        assert_eq!(until(shake.clone(), None).world_from_rest(HEAD, 0.7), at(0.7));
    }

    #[test]
    fn speed_scales_time() {
        let slow = BodyMotion::new(Kind::Shake, 1.0, PIVOTS);
        let fast = BodyMotion::new(Kind::Shake, 2.0, PIVOTS);
        assert_eq!(slow.world_from_rest(HEAD, 0.8), fast.world_from_rest(HEAD, 0.4));
    }
}
