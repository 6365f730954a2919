//! The built-in monster: a round friendly body with big eyes, a wide mouth, horns and short limbs.
//!
//! It stands on the ground at y = 0 and looks along +z.

use std::sync::Arc;

use coif::body::{BoneWeights, Collider, Motion};
use coif::math::RigidTransform;
use glam::{Quat, Vec3};

use crate::figure::{Coat, Figure};
use crate::file::Motion as Kind;
use crate::implicit::{Implicit, smoothstep, sphere};
use crate::lens::Lens;
use crate::motion::{BodyMotion, CHEST, GROUND, HEAD, NECK, Pivots, ease};
use crate::parts::{Parts, ball, egg, tube, turned_egg};
use crate::random::noise;

/// A furry monster, half a metre tall.
pub struct Monster {
    parts: Parts,
}

const ARMS: [usize; 2] = [4, 5];
const LEGS: [usize; 2] = [6, 7];
const BONES: usize = 8;

// Regions of the body.
const BODY: usize = 0;
const FACE: usize = 1;
const ARM: usize = 2;
const HAND: usize = 3;
const FOOT: usize = 4;
const HORN: usize = 5;
const CLAW: usize = 6;
const TOOTH: usize = 7;
const NOSE: usize = 8;
const MOUTH: usize = 9;
const EYES: usize = 10;

const EYE: (Vec3, f32) = (Vec3::new(0.049, 0.364, 0.098), 0.042);
/// The upper lid hangs over the eye: higher, farther back and a little larger.
const LID: (Vec3, f32) = (Vec3::new(0.050, 0.376, 0.090), 0.0445);
const LOOK: Vec3 = Vec3::new(-0.10, -0.03, 1.0);
const MOUTH_AT: (Vec3, Vec3) = (Vec3::new(0.0, 0.236, 0.150), Vec3::new(0.086, 0.034, 0.060));
const NOSE_AT: (Vec3, Vec3) = (Vec3::new(0.0, 0.304, 0.150), Vec3::new(0.024, 0.018, 0.018));
const SHOULDER: Vec3 = Vec3::new(0.130, 0.270, 0.010);

impl Monster {
    /// Assembles its parts.
    pub fn new() -> Self {
        let mut parts = Parts::default();
        // A pear-shaped body.
        parts.add(egg([0.0, 0.185, -0.005], [0.168, 0.150, 0.148]), 0.05, CHEST, BODY);
        parts.add(egg([0.0, 0.310, 0.000], [0.142, 0.135, 0.128]), 0.10, HEAD, BODY);
        parts.add(egg([0.0, 0.268, 0.085], [0.098, 0.070, 0.066]), 0.05, NECK, FACE);
        // Legs with big feet, toes and claws.
        parts.both(
            tube([0.082, 0.090, 0.0], [0.090, 0.042, 0.012], [0.062, 0.042]),
            0.04,
            LEGS,
            FOOT,
        );
        parts.both(egg([0.094, 0.032, 0.052], [0.058, 0.031, 0.086]), 0.03, LEGS, FOOT);
        for (x, z) in [(0.058, 0.122), (0.096, 0.134), (0.133, 0.116)] {
            parts.details(ball([x, 0.027, z], 0.026), 0.014, LEGS, FOOT);
            let claw = tube([x, 0.024, z + 0.020], [x * 1.01, 0.012, z + 0.043], [0.0095, 0.003]);
            parts.details(claw, 0.002, LEGS, CLAW);
        }
        // Arms with hands.
        let (shoulder, wrist) = (SHOULDER.to_array(), [0.212, 0.172, 0.050]);
        parts.both(tube(shoulder, wrist, [0.043, 0.033]), 0.04, ARMS, ARM);
        parts.both(egg([0.220, 0.153, 0.060], [0.037, 0.037, 0.036]), 0.02, ARMS, HAND);
        for (x, y, z) in [(0.200, 0.116, 0.082), (0.226, 0.108, 0.074), (0.247, 0.121, 0.058)] {
            let knuckle = [0.220 + 0.45 * (x - 0.220), 0.140, 0.060 + 0.45 * (z - 0.060)];
            parts.details(tube(knuckle, [x, y, z], [0.018, 0.0150]), 0.010, ARMS, HAND);
            let tip = [x + 0.2 * (x - 0.220), y - 0.026, z + 0.010];
            parts.details(
                tube([x, y - 0.007, z + 0.003], tip, [0.0085, 0.0025]),
                0.002,
                ARMS,
                CLAW,
            );
        }
        // Curved horns.
        let horn = [
            ([0.072, 0.412, -0.005], 0.0260),
            ([0.108, 0.456, -0.012], 0.0215),
            ([0.129, 0.497, -0.004], 0.0150),
            ([0.128, 0.530, 0.010], 0.0100),
            ([0.119, 0.550, 0.022], 0.0065),
        ];
        for pair in horn.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let fillet = if a.1 > 0.025 { 0.012 } else { 0.004 };
            parts.both(tube(a.0, b.0, [a.1, b.1]), fillet, [HEAD, HEAD], HORN);
        }
        // The mouth with its lips, tongue and teeth.
        let (m, r) = MOUTH_AT;
        for (x, tilt) in [(0.0, 0.0), (0.046, 0.30)] {
            let lift = 3.4 * x * x;
            let piece = turned_egg(
                [x, m.y + lift, m.z - 0.9 * x * x / 0.086],
                Quat::from_rotation_z(tilt),
                [0.046, r.y - 0.9 * lift, r.z],
            );
            parts.hollow(piece, 0.008, NECK, MOUTH);
            if x > 0.0 {
                let other = turned_egg(
                    [-x, m.y + lift, m.z - 0.9 * x * x / 0.086],
                    Quat::from_rotation_z(-tilt),
                    [0.046, r.y - 0.9 * lift, r.z],
                );
                parts.hollow(other, 0.008, NECK, MOUTH);
            }
        }
        parts.detail(egg([0.0, 0.216, 0.108], [0.036, 0.014, 0.038]), 0.010, NECK, MOUTH);
        for (x, long) in [(0.014, 0.020), (0.040, 0.024), (0.066, 0.017)] {
            let top = m.y + 3.4 * x * x + r.y * (1.0 - (x / 0.115) * (x / 0.115)).sqrt() + 0.004;
            let z = front(&parts, x, top) - 0.012;
            let tooth = tube([x, top, z], [x * 0.98, top - long, z + 0.003], [0.0100, 0.0035]);
            parts.details(tooth, 0.003, [NECK, NECK], TOOTH);
        }
        let z = front(&parts, 0.058, 0.212) - 0.011;
        let fang = tube([0.058, 0.214, z], [0.060, 0.248, z + 0.004], [0.0095, 0.0035]);
        parts.details(fang, 0.003, [NECK, NECK], TOOTH);
        // Nose and eyes.
        parts.detail(egg(NOSE_AT.0.to_array(), NOSE_AT.1.to_array()), 0.006, HEAD, NOSE);
        parts.both(ball(EYE.0.to_array(), EYE.1), 0.006, [HEAD, HEAD], EYES);
        parts.both(ball(LID.0.to_array(), LID.1), 0.002, [HEAD, HEAD], FACE);
        Self { parts }
    }
}

/// Position of the front surface at a place of the face (m along z).
fn front(parts: &Parts, x: f32, y: f32) -> f32 {
    let at = |i: i32| 0.20 - 0.001 * i as f32;
    (0..200).map(at).find(|&z| parts.value(Vec3::new(x, y, z)) < 0.0).unwrap_or(0.0)
}

impl Default for Monster {
    fn default() -> Self {
        Self::new()
    }
}

/// Distance to the open part of the nearer eye.
fn eye_distance(p: Vec3) -> f32 {
    let p = Vec3::new(p.x.abs(), p.y, p.z);
    sphere(p, EYE.0, EYE.1).max(-sphere(p, LID.0, LID.1 - 0.0005))
}

impl Implicit for Monster {
    fn value(&self, p: Vec3) -> f32 {
        self.parts.value(p)
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        self.parts.bounds()
    }
}

impl Figure for Monster {
    fn colliders(&self) -> Vec<Collider> {
        self.parts.colliders()
    }

    fn pivots(&self) -> Pivots {
        Pivots { neck: Vec3::new(0.0, 0.17, 0.0), head: Vec3::new(0.0, 0.24, 0.0) }
    }

    fn hair_density(&self, p: Vec3) -> f32 {
        let hard = [HORN, CLAW, TOOTH, NOSE]
            .map(|region| smoothstep(0.001, 0.004, self.parts.distance_to(region, p)));
        let soles = smoothstep(0.004, 0.012, p.y);
        hard.iter().product::<f32>()
            * smoothstep(0.001, 0.005, eye_distance(p))
            * smoothstep(0.006, 0.012, self.parts.distance_to_hollow(p))
            * soles
    }

    fn bone_weights(&self, p: Vec3) -> BoneWeights {
        self.parts.bone_weights(p)
    }

    fn motion(&self, kind: Kind, speed: f32) -> Arc<dyn Motion> {
        Arc::new(MonsterMotion { body: BodyMotion::new(kind, speed, self.pivots()) })
    }

    fn lens(&self) -> Option<Lens> {
        Some(Lens { centre: Vec3::new(0.0, 0.325, 0.11), radius: 0.115, power: 2.3 })
    }

    fn coat(&self, p: Vec3, normal: Vec3) -> Coat {
        let regions = self.parts.regions(p);
        // Short around the eyes and the mouth, so that the face stays free.
        let face = smoothstep(0.045, 0.004, eye_distance(p))
            .max(smoothstep(0.050, 0.008, self.parts.distance_to_hollow(p)))
            .max(0.8 * smoothstep(0.055, 0.020, p.distance(NOSE_AT.0)));
        let small = regions[HAND].max(0.8 * regions[FOOT]);
        let length = (1.0 - 0.78 * face) * (1.0 - 0.66 * small) * (1.0 - 0.25 * regions[ARM]);
        // A tuft stands up between the horns; everything else falls down and away from the face.
        let top = smoothstep(0.385, 0.44, p.y) * smoothstep(0.095, 0.03, p.x.abs());
        let front = smoothstep(0.02, 0.10, p.z);
        let aside = Vec3::new(p.x.signum() * smoothstep(0.0, 0.04, p.x.abs()), 0.0, 0.0);
        let fall = Vec3::new(0.0, -1.0, -0.12) + aside * (0.55 * front);
        let tuft = Vec3::new(p.x * 5.0, 0.55, -0.75);
        // On the feet hair lies outwards, so that it does not go through the ground.
        let low = smoothstep(0.075, 0.030, p.y);
        let outwards = (normal * Vec3::new(1.0, 0.0, 1.0)).normalize_or_zero();
        let flat = outwards * 0.9 + Vec3::new(0.0, 0.04, 0.15);
        Coat {
            length: length * (1.0 + 0.30 * top),
            comb: fall.lerp(tuft, top).lerp(flat, low),
            lift: (0.45 - 0.12 * face + 0.2 * top).max(0.25)
                - 0.15 * normal.y.max(0.0) * (1.0 - top),
            weight: 7.0 * (1.0 - low),
        }
    }

    fn coat_color(&self, p: Vec3) -> Option<[Vec3; 2]> {
        // Orange with a pale belly, and brown stripes over the back.
        let orange = [Vec3::new(0.200, 0.045, 0.008), Vec3::new(0.620, 0.225, 0.035)];
        let brown = [Vec3::new(0.060, 0.012, 0.006), Vec3::new(0.190, 0.050, 0.018)];
        let pale = [Vec3::new(0.330, 0.220, 0.105), Vec3::new(0.680, 0.560, 0.340)];
        let belly = ((p - Vec3::new(0.0, 0.145, 0.14)) / Vec3::new(1.1, 1.0, 1.2)).length();
        let wave = p.y * 62.0 + 2.6 * noise(p * 9.0, 21) + 9.0 * p.x.abs();
        let stripes = smoothstep(0.25, 0.75, wave.sin()) * smoothstep(0.05, -0.03, p.z);
        let belly = 0.85 * smoothstep(0.105, 0.065, belly);
        let mixed = |k: usize| orange[k].lerp(brown[k], stripes).lerp(pale[k], belly);
        Some([mixed(0), mixed(1)])
    }

    fn shown(&self) -> f32 {
        1.0
    }

    fn color(&self, p: Vec3, hair: Vec3) -> Vec3 {
        let regions = self.parts.regions(p);
        let on = |region: usize| smoothstep(0.0025, 0.0010, self.parts.distance_to(region, p));
        let [root, tip] = self.coat_color(p).unwrap_or([hair, hair]);
        let mut color = root.lerp(tip, 0.25);
        // Hands and feet are bare at the bottom.
        color = color.lerp(Vec3::new(0.190, 0.060, 0.025), regions[HAND].max(regions[FOOT]) * 0.5);
        // Mouth: lips, then the dark inside, then the tongue.
        let mouth = smoothstep(0.014, 0.005, self.parts.distance_to_hollow(p));
        color = color.lerp(Vec3::new(0.060, 0.020, 0.050), mouth);
        let inside = smoothstep(0.005, 0.001, self.parts.distance_to_hollow(p));
        color = color.lerp(Vec3::new(0.045, 0.006, 0.010), inside);
        let tongue = on(MOUTH) * inside;
        color = color.lerp(Vec3::new(0.50, 0.10, 0.12), tongue);
        let bone = Vec3::new(0.62, 0.52, 0.36);
        let ring = 0.80 + 0.20 * (p.y * 420.0).sin();
        let aged = bone * (0.55 + 0.45 * smoothstep(0.43, 0.53, p.y)) * ring;
        color = color.lerp(aged, on(HORN));
        color = color.lerp(Vec3::new(0.80, 0.76, 0.64), on(TOOTH));
        color = color.lerp(Vec3::new(0.10, 0.085, 0.075), on(CLAW));
        color = color.lerp(Vec3::new(0.16, 0.030, 0.070), on(NOSE));
        // Eyes: white, iris, pupil, a glint.
        if eye_distance(p) < 0.003 {
            let q = Vec3::new(p.x.abs(), p.y, p.z);
            let out = (q - EYE.0).normalize_or(Vec3::Z);
            let off = out.angle_between(LOOK);
            let white = Vec3::new(0.86, 0.86, 0.82);
            let iris = Vec3::new(0.02, 0.16, 0.10).lerp(Vec3::new(0.10, 0.50, 0.28), off / 0.6);
            let mut eye = white.lerp(iris, smoothstep(0.66, 0.60, off));
            eye = eye.lerp(Vec3::splat(0.004), smoothstep(0.40, 0.34, off));
            // The glint is on the same side of both eyes.
            let at = (p - Vec3::new(EYE.0.x.copysign(p.x), EYE.0.y, EYE.0.z)).normalize_or(Vec3::Z);
            let glint = at.angle_between(Vec3::new(0.16, 0.24, 1.0));
            eye = eye.lerp(Vec3::ONE, smoothstep(0.13, 0.09, glint));
            color = color.lerp(eye, smoothstep(0.003, 0.001, eye_distance(p)));
        }
        color
    }
}

/// Trunk and head move as in all figures; legs stay on the ground while the body crouches; arms swing.
struct MonsterMotion {
    body: BodyMotion,
}

impl MonsterMotion {
    fn arm(&self, left: bool, time: f64) -> RigidTransform {
        let pose = self.body.pose(time);
        let side = if left { 1.0 } else { -1.0 };
        // Raise the arms with every hop, swing them with every step.
        let air = ease(pose.shift[1] / 0.12) as f32;
        let (phase, amount) = self.body.steps(time);
        let swing = (0.5 * amount * (std::f64::consts::TAU * phase).sin()) as f32 * side;
        let shoulder = Vec3::new(side * SHOULDER.x, SHOULDER.y, SHOULDER.z);
        let raise = Quat::from_rotation_z(side * 1.05 * air) * Quat::from_rotation_x(swing);
        RigidTransform::about(shoulder, raise)
    }
}

impl Motion for MonsterMotion {
    fn bones(&self) -> usize {
        BONES
    }

    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
        let trunk = |bone| self.body.world_from_rest(bone, time);
        if ARMS.contains(&bone) {
            // Shoulders are between chest and head.
            return trunk(NECK) * self.arm(bone == ARMS[0], time);
        }
        if LEGS.contains(&bone) {
            let left = bone == LEGS[0];
            let mut leg = trunk(CHEST);
            if self.body.kind() != Kind::FallAndStop {
                leg.translation.y = leg.translation.y.max(0.0);
            }
            let (phase, amount) = self.body.steps(time);
            let phase = phase + if left { 0.0 } else { 0.5 };
            let lift = (std::f64::consts::TAU * phase).sin().max(0.0);
            leg.translation.y += (0.03 * amount * lift * lift) as f32;
            return leg;
        }
        if bone == GROUND { RigidTransform::IDENTITY } else { trunk(bone) }
    }
}
