//! The built-in hound: an Afghan, with a long narrow head carried high, a deep chest, long legs and
//! a tail that ends in a ring.
//!
//! It stands on the ground at y = 0 and looks along +z. Size is that of a grown dog.

mod motion;

use std::sync::Arc;

use coif::body::{BoneWeights, Collider, Motion};
use glam::{Quat, Vec3};

use self::motion::{EARS, FORE, HIND, HoundMotion, PELVIS, TAIL};
use crate::figure::{Coat, Figure};
use crate::file::Motion as Kind;
use crate::implicit::{Implicit, smoothstep, sphere};
use crate::lens::Lens;
use crate::motion::{CHEST, HEAD, NECK, Pivots};
use crate::parts::{Parts, ball, egg, tube, turned_egg};
use crate::random::noise;

/// An Afghan hound.
pub struct Hound {
    parts: Parts,
}

// Regions of the body.
const TRUNK: usize = 0;
const RUMP: usize = 1;
const THROAT: usize = 2;
const SKULL: usize = 3;
const MUZZLE: usize = 4;
const EAR: usize = 5;
const UPPER_LEG: usize = 6;
const LOWER_LEG: usize = 7;
const PAW: usize = 8;
const TAIL_HAIR: usize = 9;
const NOSE: usize = 10;

const EYE: (Vec3, f32) = (Vec3::new(0.0345, 0.9060, 0.4300), 0.0135);
const NOSE_AT: Vec3 = Vec3::new(0.0, 0.8620, 0.6060);
const MOUTH: [Vec3; 2] = [Vec3::new(0.020, 0.842, 0.595), Vec3::new(0.036, 0.853, 0.470)];

/// Joints of the tail, from the rump to the ring at its end, and its thickness there (m).
const TAIL_JOINTS: [([f32; 3], f32); 6] = [
    ([0.0, 0.640, -0.340], 0.027),
    ([0.0, 0.665, -0.425], 0.021),
    ([0.0, 0.730, -0.500], 0.017),
    ([0.0, 0.815, -0.525], 0.014),
    ([0.0, 0.870, -0.480], 0.012),
    ([0.0, 0.850, -0.430], 0.010),
];

impl Hound {
    /// Assembles its parts.
    pub fn new() -> Self {
        let mut parts = Parts::default();
        // Deep chest, tucked waist, prominent hips.
        let lean = Quat::from_rotation_x(0.22);
        parts.add(turned_egg([0.0, 0.535, 0.130], lean, [0.098, 0.150, 0.185]), 0.05, CHEST, TRUNK);
        parts.add(
            tube([0.0, 0.610, 0.080], [0.0, 0.605, -0.130], [0.078, 0.070]),
            0.09,
            CHEST,
            TRUNK,
        );
        parts.add(egg([0.0, 0.500, 0.245], [0.060, 0.085, 0.060]), 0.05, CHEST, TRUNK);
        parts.add(egg([0.0, 0.590, -0.245], [0.086, 0.095, 0.115]), 0.08, PELVIS, RUMP);
        // A long neck.
        parts.add(
            tube([0.0, 0.610, 0.215], [0.0, 0.755, 0.295], [0.082, 0.062]),
            0.07,
            CHEST,
            THROAT,
        );
        parts.add(
            tube([0.0, 0.755, 0.295], [0.0, 0.880, 0.350], [0.062, 0.052]),
            0.04,
            NECK,
            THROAT,
        );
        // A narrow head with a long muzzle.
        let tip = Quat::from_rotation_x(0.16);
        parts.add(
            turned_egg([0.0, 0.898, 0.378], tip, [0.0505, 0.0520, 0.0860]),
            0.03,
            HEAD,
            SKULL,
        );
        parts.add(
            tube([0.0, 0.886, 0.440], [0.0, 0.856, 0.575], [0.0375, 0.0245]),
            0.030,
            HEAD,
            MUZZLE,
        );
        parts.add(
            tube([0.0, 0.858, 0.430], [0.0, 0.833, 0.565], [0.0270, 0.0165]),
            0.016,
            HEAD,
            MUZZLE,
        );
        parts.detail(
            tube([0.0, 0.898, 0.455], [0.0, 0.872, 0.580], [0.0190, 0.0165]),
            0.016,
            HEAD,
            MUZZLE,
        );
        parts.details(
            egg([0.037, 0.920, 0.425], [0.014, 0.009, 0.020]),
            0.014,
            [HEAD, HEAD],
            SKULL,
        );
        parts.detail(egg([0.0, 0.8620, 0.5985], [0.0175, 0.0140, 0.0150]), 0.006, HEAD, NOSE);
        parts.details(ball(EYE.0.to_array(), EYE.1), 0.003, [HEAD, HEAD], SKULL);
        // Ears hang flat at the sides of the head.
        let hang = Quat::from_rotation_z(0.10) * Quat::from_rotation_x(-0.12);
        parts.both(
            turned_egg([0.072, 0.822, 0.346], hang, [0.0135, 0.0920, 0.0460]),
            0.016,
            EARS,
            EAR,
        );
        // Fore legs.
        let [upper, fore, paw] = [0, 1, 2].map(|k| [FORE[0] + k, FORE[1] + k]);
        parts.both(
            tube([0.082, 0.575, 0.190], [0.088, 0.385, 0.105], [0.060, 0.040]),
            0.05,
            upper,
            UPPER_LEG,
        );
        parts.both(
            tube([0.088, 0.385, 0.105], [0.084, 0.160, 0.145], [0.038, 0.026]),
            0.02,
            fore,
            LOWER_LEG,
        );
        parts.both(
            tube([0.084, 0.160, 0.145], [0.084, 0.050, 0.165], [0.027, 0.026]),
            0.02,
            paw,
            LOWER_LEG,
        );
        parts.both(egg([0.084, 0.030, 0.188], [0.043, 0.029, 0.062]), 0.03, paw, PAW);
        // Hind legs.
        let [thigh, shank, foot] = [0, 1, 2].map(|k| [HIND[0] + k, HIND[1] + k]);
        parts.both(
            tube([0.074, 0.585, -0.245], [0.090, 0.405, -0.165], [0.084, 0.056]),
            0.05,
            thigh,
            UPPER_LEG,
        );
        parts.both(
            tube([0.090, 0.405, -0.165], [0.090, 0.205, -0.335], [0.050, 0.028]),
            0.03,
            shank,
            LOWER_LEG,
        );
        parts.both(
            tube([0.090, 0.205, -0.335], [0.090, 0.050, -0.300], [0.028, 0.026]),
            0.02,
            foot,
            LOWER_LEG,
        );
        parts.both(egg([0.090, 0.030, -0.272], [0.043, 0.029, 0.062]), 0.03, foot, PAW);
        // The tail.
        for (i, pair) in TAIL_JOINTS.windows(2).enumerate() {
            let (a, b) = (pair[0], pair[1]);
            let fillet = if i == 0 { 0.04 } else { 0.01 };
            parts.add(tube(a.0, b.0, [a.1, b.1]), fillet, TAIL + i.min(3), TAIL_HAIR);
        }
        Self { parts }
    }
}

impl Default for Hound {
    fn default() -> Self {
        Self::new()
    }
}

/// Distance to the nearer eye.
fn eye_distance(p: Vec3) -> f32 {
    sphere(Vec3::new(p.x.abs(), p.y, p.z), EYE.0, EYE.1)
}

impl Implicit for Hound {
    fn value(&self, p: Vec3) -> f32 {
        self.parts.value(p)
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        self.parts.bounds()
    }
}

impl Figure for Hound {
    fn colliders(&self) -> Vec<Collider> {
        self.parts.colliders()
    }

    fn pivots(&self) -> Pivots {
        Pivots { neck: Vec3::new(0.0, 0.640, 0.225), head: Vec3::new(0.0, 0.860, 0.345) }
    }

    fn hair_density(&self, p: Vec3) -> f32 {
        let regions = self.parts.regions(p);
        let bare = smoothstep(0.0, 0.005, eye_distance(p))
            * smoothstep(0.0185, 0.024, p.distance(NOSE_AT - Vec3::Z * 0.008))
            * smoothstep(0.003, 0.012, p.y);
        // Fewer hairs where they are short, more on ears and tail, where few hairs must cover much.
        let dense = 0.60 - 0.45 * regions[MUZZLE]
            + 0.40 * regions[EAR]
            + 0.40 * regions[TAIL_HAIR]
            + 0.40 * regions[SKULL];
        bare * dense
    }

    fn bone_weights(&self, p: Vec3) -> BoneWeights {
        self.parts.bone_weights(p)
    }

    fn motion(&self, kind: Kind, speed: f32) -> Arc<dyn Motion> {
        Arc::new(HoundMotion::new(kind, speed, self.pivots()))
    }

    fn lens(&self) -> Option<Lens> {
        Some(Lens { centre: Vec3::new(0.0, 0.880, 0.470), radius: 0.110, power: 2.9 })
    }

    fn coat(&self, p: Vec3, normal: Vec3) -> Coat {
        let regions = self.parts.regions(p);
        let side = Vec3::X * (p.x.signum() * smoothstep(0.0, 0.015, p.x.abs()));
        // The saddle along the back is short and smooth, from the withers to the tail.
        let spine = smoothstep(0.40, 0.80, normal.y) * smoothstep(0.16, 0.02, p.z);
        let saddle = spine * (regions[TRUNK] + regions[RUMP]);
        // The topknot falls from the middle of the skull to both sides, behind the eyes.
        let crown = regions[SKULL] * smoothstep(0.440, 0.395, p.z);
        let brow = regions[SKULL] * (1.0 - smoothstep(0.440, 0.395, p.z));
        let lengths = [
            (TRUNK, 0.80),
            (RUMP, 0.72),
            (THROAT, 0.62),
            (EAR, 1.00),
            (UPPER_LEG, 0.66),
            (LOWER_LEG, 0.52),
            (PAW, 0.36),
            (TAIL_HAIR, 0.62),
            (MUZZLE, 0.045),
            (NOSE, 0.03),
        ];
        let mut length: f32 = lengths.iter().map(|&(region, long)| regions[region] * long).sum();
        length += crown * 0.80 + brow * 0.05;
        length *= 1.0 - 0.80 * saddle;
        length *= 1.0 - 0.20 * smoothstep(0.24, 0.10, p.y);
        // Belly hair must not reach the ground.
        length *= 1.0 - 0.35 * smoothstep(-0.3, -0.8, normal.y) * regions[TRUNK];
        // Back and down along the body; sideways over the skull; back from the nose on the face.
        let leg = regions[UPPER_LEG] + regions[LOWER_LEG] + regions[PAW];
        let mut comb = Vec3::new(0.0, -0.75, -0.42) + side * (0.45 * spine);
        comb += (side * 0.75 + Vec3::new(0.0, 0.15, -0.05)) * crown;
        comb += Vec3::new(0.0, 0.1, -1.2) * (brow + regions[MUZZLE]);
        comb += Vec3::new(0.0, -0.5, 0.10) * (leg + regions[EAR]);
        comb += Vec3::new(0.0, -0.3, -0.4) * regions[TAIL_HAIR];
        // On the paws hair lies outwards, so that it does not go through the ground.
        let low = smoothstep(0.11, 0.05, p.y);
        let outwards = (normal * Vec3::new(1.0, 0.0, 1.0)).normalize_or_zero();
        comb = comb.lerp(outwards * 0.8 + Vec3::new(0.0, -0.05, 0.1), low);
        let short = (regions[MUZZLE] + brow + saddle).min(1.0);
        Coat {
            length: length.max(0.03),
            comb,
            lift: 0.34 - 0.14 * short - 0.10 * regions[EAR],
            weight: (14.0 + 10.0 * regions[EAR] - 6.0 * short) * (1.0 - low),
        }
    }

    fn coat_color(&self, p: Vec3) -> Option<[Vec3; 2]> {
        let regions = self.parts.regions(p);
        let cream = [Vec3::new(0.330, 0.195, 0.090), Vec3::new(0.600, 0.430, 0.250)];
        let red = [Vec3::new(0.160, 0.066, 0.022), Vec3::new(0.400, 0.205, 0.080)];
        let black = [Vec3::new(0.013, 0.010, 0.009), Vec3::new(0.030, 0.022, 0.017)];
        // A black mask, darker ears and saddle, pale legs.
        let back = smoothstep(0.57, 0.66, p.y) * (regions[TRUNK] + regions[RUMP]);
        let dark = (0.85 * regions[EAR] + 0.70 * back + 0.55 * regions[SKULL])
            + 0.22 * noise(p * 11.0, 31);
        let mask = regions[MUZZLE].max(regions[SKULL] * smoothstep(0.395, 0.430, p.z))
            * smoothstep(0.425, 0.480, p.z + 0.010 * noise(p * 60.0, 5));
        let fringe = 0.65 * regions[EAR] * smoothstep(0.80, 0.73, p.y);
        let mixed =
            |k: usize| cream[k].lerp(red[k], dark.clamp(0.0, 1.0)).lerp(black[k], mask.max(fringe));
        Some([mixed(0), mixed(1)])
    }

    fn shown(&self) -> f32 {
        1.0
    }

    fn color(&self, p: Vec3, hair: Vec3) -> Vec3 {
        let [root, tip] = self.coat_color(p).unwrap_or([hair, hair]);
        let mut color = root.lerp(tip, 0.30) * (1.0 - 0.2 * smoothstep(0.45, 0.40, p.z));
        let black = Vec3::splat(0.006);
        color =
            color.lerp(black, smoothstep(0.0230, 0.0195, p.distance(NOSE_AT - Vec3::Z * 0.008)));
        // The line of the mouth.
        let q = Vec3::new(p.x.abs(), p.y, p.z);
        let line = MOUTH[1] - MOUTH[0];
        let t = ((q - MOUTH[0]).dot(line) / line.length_squared()).clamp(0.0, 1.0);
        let lip = (q.y - (MOUTH[0] + line * t).y).abs();
        let on_lip = smoothstep(0.0045, 0.0020, lip) * smoothstep(0.465, 0.475, p.z);
        color = color.lerp(black, 0.85 * on_lip);
        // Dark almond eyes with a black rim and a glint.
        let away = eye_distance(p);
        color = color.lerp(black, smoothstep(0.007, 0.003, away));
        if away < 0.0025 {
            let out = (q - EYE.0).normalize_or(Vec3::Z);
            let off = out.angle_between(Vec3::new(0.75, 0.12, 0.70));
            let iris = Vec3::new(0.085, 0.036, 0.012);
            color = black
                .lerp(iris, smoothstep(0.95, 0.75, off))
                .lerp(black, smoothstep(0.42, 0.34, off));
            let glint = out.angle_between(Vec3::new(0.70, 0.50, 0.70));
            color = color.lerp(Vec3::splat(0.9), smoothstep(0.24, 0.16, glint));
        }
        color
    }
}
