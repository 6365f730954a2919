//! The built-in girl: the bust's head on the body of a child in a dress, from head to foot.
//!
//! The origin lies between the ears, as on the bust, so that hairstyles fit both.

use std::f64::consts::TAU;
use std::sync::Arc;

use coif::body::{BoneWeights, Collider, Motion, Shape};
use coif::math::RigidTransform;
use glam::{Quat, Vec2, Vec3};

use crate::bust::{self, Bust};
use crate::figure::{Figure, neck_weights};
use crate::file::Motion as Kind;
use crate::implicit::{Implicit, join, smoothstep};
use crate::lens::Lens;
use crate::motion::{BodyMotion, CHEST, GROUND, HEAD, NECK, Pivots, ease};
use crate::parts::{Parts, Solid, egg, tube};
use crate::skeleton::{Gait, Leg};

/// A girl of about eight years.
pub struct Girl {
    /// Everything below the head.
    parts: Parts,
}

const UPPER_ARMS: [usize; 2] = [4, 5];
const FOREARMS: [usize; 2] = [6, 7];
/// The first of three bones of each leg.
const LEGS: [usize; 2] = [8, 11];
const BONES: usize = 14;

// Regions of the body.
const SKIN: usize = 0;
const DRESS: usize = 1;
const SHOE: usize = 2;
const LEG: usize = 3;

const SHOULDER: Vec3 = Vec3::new(0.120, -0.227, -0.030);
const ELBOW: Vec3 = Vec3::new(0.170, -0.410, -0.036);
const WRIST: Vec3 = Vec3::new(0.216, -0.583, -0.004);
const LEFT_LEG: Leg = Leg {
    hip: Vec3::new(0.062, -0.575, -0.020),
    knee: Vec3::new(0.064, -0.840, -0.002),
    ankle: Vec3::new(0.064, -1.120, -0.025),
};
const GAIT: Gait = Gait { stride: 0.26, lift: 0.055, stance: 0.60, bend: 0.55 };

/// Height of the boundary between the head and the parts below (m).
const SEAM: f32 = -0.17;

impl Girl {
    /// Assembles her parts.
    pub fn new() -> Self {
        let mut parts = Parts::default();
        // Neck and trunk.
        parts.add(
            tube([0.0, -0.060, -0.024], [0.0, -0.170, -0.036], [0.041, 0.043]),
            0.02,
            NECK,
            SKIN,
        );
        parts.add(egg([0.0, -0.295, -0.026], [0.106, 0.120, 0.076]), 0.05, CHEST, DRESS);
        parts.add(
            tube([0.0, -0.355, -0.024], [0.0, -0.455, -0.020], [0.082, 0.078]),
            0.05,
            CHEST,
            DRESS,
        );
        parts.both(
            tube([0.024, -0.160, -0.042], [0.100, -0.205, -0.036], [0.026, 0.034]),
            0.035,
            [CHEST, CHEST],
            SKIN,
        );
        // The skirt, with a hem.
        let skirt = Solid::Bell {
            ends: [Vec3::new(0.0, -0.445, -0.020), Vec3::new(0.0, -0.770, -0.018)],
            radii: [0.074, 0.180],
        };
        parts.add(skirt, 0.05, CHEST, DRESS);
        // Arms with puffed sleeves.
        let point = |p: Vec3| p.to_array();
        parts.both(tube(point(SHOULDER), point(ELBOW), [0.036, 0.029]), 0.03, UPPER_ARMS, SKIN);
        parts.both(egg([0.130, -0.255, -0.031], [0.050, 0.052, 0.050]), 0.02, UPPER_ARMS, DRESS);
        parts.both(tube(point(ELBOW), point(WRIST), [0.0285, 0.0195]), 0.015, FOREARMS, SKIN);
        parts.both(egg([0.223, -0.631, 0.006], [0.0155, 0.040, 0.0255]), 0.014, FOREARMS, SKIN);
        let thumb = tube([0.215, -0.607, 0.022], [0.214, -0.639, 0.037], [0.0095, 0.0075]);
        parts.details(thumb, 0.008, FOREARMS, SKIN);
        // Legs with shoes.
        let Leg { hip, knee, ankle } = LEFT_LEG;
        let [thigh, shank, foot] = [0, 1, 2].map(|k| [LEGS[0] + k, LEGS[1] + k]);
        parts.both(tube(point(hip.lerp(knee, 0.3)), point(knee), [0.056, 0.043]), 0.02, thigh, LEG);
        parts.both(egg([0.064, -0.920, -0.018], [0.042, 0.085, 0.045]), 0.02, shank, LEG);
        parts.both(tube(point(knee), point(ankle), [0.041, 0.027]), 0.02, shank, LEG);
        parts.both(egg([0.066, -1.151, -0.020], [0.034, 0.036, 0.045]), 0.014, foot, SHOE);
        parts.both(egg([0.069, -1.161, 0.040], [0.037, 0.027, 0.068]), 0.025, foot, SHOE);
        Self { parts }
    }
}

impl Default for Girl {
    fn default() -> Self {
        Self::new()
    }
}

/// Maps a point of her face to the bust's: a child's jaw is shorter, her nose smaller, her cheeks rounder.
fn grown_up(p: Vec3) -> Vec3 {
    let low = smoothstep(0.0, -0.07, p.y);
    let nose = (p.z - 0.086).max(0.0);
    // The corners of the mouth go up.
    let smile = 6.0
        * p.x
        * p.x
        * smoothstep(0.030, 0.010, (p.y + 0.057).abs())
        * smoothstep(0.045, 0.025, p.x.abs());
    Vec3::new(
        p.x * (1.0 - 0.05 * low),
        p.y * (1.0 + 0.16 * low) - smile,
        p.z + 0.7 * nose - 0.003 * low,
    )
}

impl Implicit for Girl {
    fn value(&self, p: Vec3) -> f32 {
        if p.y < SEAM {
            return self.parts.value(p);
        }
        let head = bust::head(grown_up(Vec3::new(p.x.abs(), p.y, p.z)));
        if p.y > 0.045 { head } else { join(head, self.parts.value(p), 0.022) }
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        let (lo, hi) = self.parts.bounds();
        (lo, hi.max(Vec3::new(0.0, 0.14, 0.125)))
    }
}

impl Figure for Girl {
    fn hull(&self, p: Vec3) -> f32 {
        let head = bust::skull(p);
        if p.y < 0.02 { join(head, self.parts.value(p), 0.022) } else { head }
    }

    fn colliders(&self) -> Vec<Collider> {
        // The bust's head with her own neck.
        let is_neck =
            |c: &Collider| matches!(c.shape, Shape::Capsule { radius, .. } if radius > 0.04);
        let is_head = |c: &Collider| c.bone == HEAD && !is_neck(c);
        let head = Bust.colliders().into_iter().filter(is_head);
        head.chain(self.parts.colliders()).collect()
    }

    fn pivots(&self) -> Pivots {
        Pivots { neck: Vec3::new(0.0, -0.165, -0.036), head: Vec3::new(0.0, -0.060, -0.018) }
    }

    fn hair_density(&self, p: Vec3) -> f32 {
        if p.y < -0.10 { 0.0 } else { Bust.hair_density(grown_up(p)) }
    }

    fn bone_weights(&self, p: Vec3) -> BoneWeights {
        // The neck bends as the bust's; arms and legs hang from the chest.
        if p.y > -0.190 && p.x.abs() < 0.09 {
            neck_weights(Bust.head_weight(p))
        } else {
            self.parts.bone_weights(p)
        }
    }

    fn motion(&self, kind: Kind, speed: f32) -> Arc<dyn Motion> {
        Arc::new(GirlMotion { body: BodyMotion::new(kind, speed, self.pivots()) })
    }

    fn lens(&self) -> Option<Lens> {
        Some(Lens { centre: Vec3::new(0.0, -0.010, 0.065), radius: 0.078, power: 4.2 })
    }

    fn shown(&self) -> f32 {
        0.66
    }

    fn color(&self, p: Vec3, hair: Vec3) -> Vec3 {
        let skin = Vec3::new(0.66, 0.40, 0.29);
        if p.y > SEAM {
            return eyes(Bust.color(grown_up(p), hair), p, hair);
        }
        let regions = self.parts.regions_within(p, 0.004);
        let mut color = skin;
        // White socks, red shoes.
        let cloth_leg = regions[LEG] * smoothstep(-0.775, -0.765, p.y);
        let sock = regions[LEG] * smoothstep(-1.000, -1.010, p.y);
        color = color.lerp(Vec3::splat(0.75), sock);
        color = color.lerp(Vec3::new(0.30, 0.018, 0.022), smoothstep(0.4, 0.6, regions[SHOE]));
        // A blue dress with a white hem and a sash; the neckline is round.
        let neckline = smoothstep(-0.217, -0.227, p.y - 3.5 * p.x * p.x - 0.25 * p.z.max(0.0));
        let straps =
            regions[SKIN] * smoothstep(0.045, 0.055, p.x.abs()) * smoothstep(-0.275, -0.265, p.y);
        let cloth = (regions[DRESS] + straps + cloth_leg).min(1.0) * neckline;
        let mut dress = Vec3::new(0.045, 0.130, 0.330);
        dress = dress.lerp(Vec3::splat(0.72), smoothstep(-0.733, -0.739, p.y));
        let sash = smoothstep(0.020, 0.015, (p.y + 0.425).abs());
        dress = dress.lerp(Vec3::new(0.62, 0.10, 0.14), sash);
        color.lerp(dress, smoothstep(0.4, 0.6, cloth))
    }
}

/// Paints open eyes over the bust's closed lids.
fn eyes(skin: Vec3, p: Vec3, hair: Vec3) -> Vec3 {
    let (x, y) = ((p.x.abs() - 0.0312) / 0.0150, (p.y + 0.0010) / 0.0090);
    if p.z < 0.055 || x.abs() > 1.5 || y.abs() > 2.0 {
        return skin;
    }
    // The opening is an almond; lashes follow its upper edge.
    let open = (1.0 - x * x).max(0.0);
    let edge = if y > 0.0 { y - open } else { -y - 0.62 * open };
    let white = Vec3::new(0.78, 0.77, 0.74);
    let away = Vec2::new(x * 1.667 + 0.05, y - 0.05).length();
    let iris = Vec3::new(0.050, 0.110, 0.150).lerp(Vec3::new(0.150, 0.260, 0.300), away);
    let mut eye = white.lerp(iris, smoothstep(0.88, 0.74, away));
    eye = eye.lerp(Vec3::splat(0.004), smoothstep(0.42, 0.32, away));
    eye =
        eye.lerp(Vec3::ONE, smoothstep(0.22, 0.12, Vec2::new(x * 1.667 - 0.25, y - 0.36).length()));
    let lash = smoothstep(0.30, 0.05, (edge - 0.10).abs()) * smoothstep(-0.15, 0.15, y);
    let color = skin.lerp(eye, smoothstep(0.10, -0.05, edge));
    color.lerp(hair * 0.15, 0.95 * lash * smoothstep(1.25, 1.05, x.abs()))
}

struct GirlMotion {
    body: BodyMotion,
}

impl GirlMotion {
    fn leg(&self, side: usize, part: usize, time: f64) -> RigidTransform {
        let trunk = self.body.world_from_rest(CHEST, time);
        let (phase, amount) = self.body.steps(time);
        // Feet stay on the ground unless the whole body is in the air.
        let mut ground = RigidTransform { translation: Vec3::ZERO, ..trunk };
        let height = trunk.translation.y;
        let falls = self.body.kind() == Kind::FallAndStop;
        ground.translation.y = if falls { height } else { height.max(0.0) * (1.0 - amount as f32) };
        let leg = if side == 0 { LEFT_LEG } else { LEFT_LEG.mirrored() };
        let foot = GAIT.foot(phase + 0.5 * side as f64, amount);
        let place = leg.ankle + Vec3::new(0.0, foot.up, foot.forward);
        // Point the toes down in the air.
        let air = if falls { 0.0 } else { ease(f64::from(ground.translation.y) / 0.12) as f32 };
        let target = trunk.inverse().point(ground.point(place));
        trunk * leg.reach(target, foot.pitch + 0.5 * air)[part]
    }

    fn arm(&self, side: usize, fore: bool, time: f64) -> RigidTransform {
        let trunk = self.body.world_from_rest(CHEST, time);
        let (phase, amount) = self.body.steps(time);
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let over = |p: Vec3| Vec3::new(sign * p.x, p.y, p.z);
        // Swing opposite to the leg of the same side; raise the arms in the air.
        let swing = 0.42 * amount * (TAU * phase).cos();
        let air = ease(f64::from(trunk.translation.y) / 0.15) as f32 * (1.0 - amount as f32);
        let turn =
            Quat::from_rotation_z(sign * 0.75 * air) * Quat::from_rotation_x(sign * swing as f32);
        let upper = trunk * RigidTransform::about(over(SHOULDER), turn);
        if !fore {
            return upper;
        }
        let bend = -(0.25 * amount as f32) - 0.35 * air;
        upper * RigidTransform::about(over(ELBOW), Quat::from_rotation_x(bend))
    }
}

impl Motion for GirlMotion {
    fn bones(&self) -> usize {
        BONES
    }

    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
        match bone {
            GROUND => RigidTransform::IDENTITY,
            CHEST | NECK | HEAD => self.body.world_from_rest(bone, time),
            _ if UPPER_ARMS.contains(&bone) => self.arm(bone - UPPER_ARMS[0], false, time),
            _ if FOREARMS.contains(&bone) => self.arm(bone - FOREARMS[0], true, time),
            _ => {
                let leg = (bone - LEGS[0]).min(5);
                self.leg(leg / 3, leg % 3, time)
            }
        }
    }
}
