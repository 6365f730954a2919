//! The built-in bust: head with a face, ears, neck and shoulders, as one smooth implicit solid.
//!
//! The origin lies between the ears, the face looks along +z, sizes are those of an adult.

use coif::body::{Collider, Shape};
use glam::{Quat, Vec3};

use crate::figure::Figure;
use crate::implicit::{
    Implicit, carve, ellipsoid, join, limb, smoothstep, sphere, turned_ellipsoid,
};
use crate::motion::{CHEST, HEAD, NECK, Pivots};

/// Head, neck and shoulders.
pub struct Bust;

/// Height at which the bust is cut off (m).
const BASE: f32 = -0.40;

const CRANIUM: (Vec3, Vec3) = (Vec3::new(0.0, 0.036, -0.014), Vec3::new(0.0755, 0.0865, 0.0955));
const FOREHEAD: (Vec3, Vec3) = (Vec3::new(0.0, 0.030, 0.034), Vec3::new(0.0640, 0.062, 0.0545));
const FACE: (Vec3, Vec3) = (Vec3::new(0.0, -0.030, 0.030), Vec3::new(0.0560, 0.072, 0.0555));
const MUZZLE: (Vec3, Vec3) = (Vec3::new(0.0, -0.064, 0.052), Vec3::new(0.0330, 0.034, 0.0350));
const CHEST_BODY: (Vec3, Vec3) = (Vec3::new(0.0, -0.350, -0.020), Vec3::new(0.168, 0.150, 0.098));
const EAR: (Vec3, Vec3) = (Vec3::new(0.0775, -0.004, -0.016), Vec3::new(0.0095, 0.0330, 0.0195));
const NECK_ENDS: (Vec3, Vec3) = (Vec3::new(0.0, -0.045, -0.022), Vec3::new(0.0, -0.205, -0.040));
const NECK_RADII: (f32, f32) = (0.0500, 0.0560);
const SHOULDER_ENDS: (Vec3, Vec3) =
    (Vec3::new(0.035, -0.214, -0.046), Vec3::new(0.158, -0.262, -0.036));
const SHOULDER_RADIUS: f32 = 0.043;
const DELTOID: (Vec3, f32) = (Vec3::new(0.170, -0.285, -0.032), 0.055);
const EYE: Vec3 = Vec3::new(0.0310, -0.0005, 0.0660);

fn ear_turn() -> Quat {
    Quat::from_rotation_y(0.28) * Quat::from_rotation_x(-0.16) * Quat::from_rotation_z(-0.12)
}

impl Implicit for Bust {
    fn value(&self, p: Vec3) -> f32 {
        // The right half is the left half's mirror image.
        let p = Vec3::new(p.x.abs(), p.y, p.z);
        // Far above or below the seam only one of the two parts matters.
        if p.y > 0.045 {
            return head(p);
        }
        if p.y < -0.20 {
            return neck_and_shoulders(p).max(BASE - p.y);
        }
        join(head(p), neck_and_shoulders(p), 0.022)
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        (Vec3::new(-0.24, BASE - 0.005, -0.15), Vec3::new(0.24, 0.14, 0.125))
    }
}

/// The head, right side.
pub(crate) fn head(p: Vec3) -> f32 {
    // Skull and face.
    let mut d = ellipsoid(p, CRANIUM.0, CRANIUM.1);
    d = join(d, ellipsoid(p, FOREHEAD.0, FOREHEAD.1), 0.030);
    d = join(d, ellipsoid(p, FACE.0, FACE.1), 0.030);
    if p.z < -0.045 && p.x < 0.06 {
        // Neither the face nor the ears extend this far back.
        return d;
    }
    // Cheek bone, jaw and chin.
    d = join(
        d,
        ellipsoid(p, Vec3::new(0.038, -0.021, 0.050), Vec3::new(0.021, 0.017, 0.022)),
        0.026,
    );
    let jaw_corner = Vec3::new(0.0455, -0.062, 0.004);
    d = join(d, limb(p, Vec3::new(0.0580, -0.012, -0.006), jaw_corner, 0.012, 0.0125), 0.030);
    d = join(d, limb(p, jaw_corner, Vec3::new(0.012, -0.1000, 0.061), 0.0125, 0.0115), 0.030);
    d = join(d, ellipsoid(p, MUZZLE.0, MUZZLE.1), 0.026);
    d = join(
        d,
        ellipsoid(p, Vec3::new(0.0, -0.0990, 0.0690), Vec3::new(0.0185, 0.0140, 0.0165)),
        0.016,
    );
    // Cheeks fill the space from the cheek bone to the mouth.
    d = join(
        d,
        ellipsoid(p, Vec3::new(0.031, -0.050, 0.049), Vec3::new(0.019, 0.024, 0.022)),
        0.022,
    );
    // Brow ridge over a hollow, lids over the eye ball.
    d = carve(
        d,
        ellipsoid(p, Vec3::new(0.0315, 0.0005, 0.0935), Vec3::new(0.0200, 0.0125, 0.0125)),
        0.016,
    );
    d = join(
        d,
        limb(
            p,
            Vec3::new(0.0110, 0.0170, 0.0805),
            Vec3::new(0.0440, 0.0170, 0.0655),
            0.0068,
            0.0050,
        ),
        0.014,
    );
    let lid = ellipsoid(p, EYE, Vec3::new(0.0165, 0.0118, 0.0148));
    d = join(d, lid, 0.0050);
    // The slit between the lids.
    let slit_y = EYE.y - 0.0052 + 6.0 * (p.x - EYE.x) * (p.x - EYE.x);
    let slit = Vec3::new(p.x - EYE.x, (p.y - slit_y) * 1.0, p.z - 0.0805);
    d = carve(d, ellipsoid(slit, Vec3::ZERO, Vec3::new(0.0135, 0.00085, 0.0060)), 0.0014);
    // Nose: bridge, tip, wings, nostrils.
    d = join(
        d,
        limb(p, Vec3::new(0.0, 0.0120, 0.0800), Vec3::new(0.0, -0.0270, 0.0985), 0.0062, 0.0078),
        0.014,
    );
    d = join(d, sphere(p, Vec3::new(0.0, -0.0305, 0.0995), 0.0088), 0.008);
    d = join(
        d,
        ellipsoid(p, Vec3::new(0.0112, -0.0345, 0.0890), Vec3::new(0.0070, 0.0064, 0.0090)),
        0.007,
    );
    d = carve(
        d,
        ellipsoid(p, Vec3::new(0.0062, -0.0410, 0.0935), Vec3::new(0.0034, 0.0028, 0.0050)),
        0.003,
    );
    // Philtrum, lips, the hollow under them.
    d = carve(
        d,
        limb(p, Vec3::new(0.0, -0.0455, 0.0925), Vec3::new(0.0, -0.0545, 0.0935), 0.0022, 0.0026),
        0.005,
    );
    if p.z > 0.05 {
        let lips = Lips::at(p);
        d -= 0.0036 * lips.upper + 0.0046 * lips.lower - 0.0012 * lips.line;
    }
    d = carve(
        d,
        ellipsoid(p, Vec3::new(0.0, -0.0835, 0.0925), Vec3::new(0.0150, 0.0050, 0.0055)),
        0.010,
    );
    // Ear: a bowl with a rim.
    let ear = turned_ellipsoid(p, EAR.0, ear_turn(), EAR.1);
    let bowl = turned_ellipsoid(
        p,
        EAR.0 + Vec3::new(0.0095, 0.004, 0.0035),
        ear_turn(),
        Vec3::new(0.0085, 0.0235, 0.0125),
    );
    let rim = carve(ear, bowl, 0.004);
    let tragus = sphere(p, Vec3::new(0.0745, -0.009, 0.0005), 0.0060);
    join(d, join(rim, tragus, 0.005), 0.006)
}

/// Weights of the lips and of the line between them at a place, 0..1 each.
struct Lips {
    upper: f32,
    lower: f32,
    line: f32,
}

impl Lips {
    /// Half the width of the mouth (m).
    const HALF_WIDTH: f32 = 0.0255;

    fn at(p: Vec3) -> Self {
        let across = (1.0 - (p.x / Self::HALF_WIDTH).powi(2)).max(0.0);
        let line_y = -0.0660 + 1.2 * p.x * p.x;
        // The bow of the upper lip dips in the middle.
        let bow = 1.0 - 0.2 * (-(p.x / 0.0042).powi(2)).exp();
        let hump = |v: f32| (4.0 * v * (1.0 - v)).max(0.0);
        let upper = hump((p.y - line_y) / (0.0070 * across.powf(0.7) * bow).max(1e-5));
        let lower = hump((line_y - p.y) / (0.0088 * across.powf(0.6)).max(1e-5));
        let line = smoothstep(0.0024, 0.0002, (p.y - line_y).abs())
            * smoothstep(Self::HALF_WIDTH + 0.001, Self::HALF_WIDTH - 0.004, p.x);
        let rise = across.sqrt() * smoothstep(0.02, 0.35, across);
        Self { upper: upper * rise, lower: lower * rise, line }
    }
}

/// Neck, shoulders and chest, right side.
fn neck_and_shoulders(p: Vec3) -> f32 {
    let mut d = limb(p, NECK_ENDS.0, NECK_ENDS.1, NECK_RADII.0, NECK_RADII.1);
    // The muscle from behind the ear to the collar bone, and the throat.
    d = join(
        d,
        limb(p, Vec3::new(0.052, -0.060, -0.030), Vec3::new(0.016, -0.218, 0.014), 0.010, 0.009),
        0.022,
    );
    d = join(d, sphere(p, Vec3::new(0.0, -0.150, 0.012), 0.012), 0.020);
    // Trapezius, shoulder, chest, collar bone.
    d = join(
        d,
        limb(p, Vec3::new(0.030, -0.150, -0.058), Vec3::new(0.115, -0.238, -0.050), 0.026, 0.030),
        0.034,
    );
    d = join(d, limb(p, SHOULDER_ENDS.0, SHOULDER_ENDS.1, SHOULDER_RADIUS, SHOULDER_RADIUS), 0.030);
    d = join(d, sphere(p, DELTOID.0, DELTOID.1), 0.026);
    d = join(d, ellipsoid(p, CHEST_BODY.0, CHEST_BODY.1), 0.034);
    d = join(d, limb(p, DELTOID.0, Vec3::new(0.188, -0.45, -0.035), 0.050, 0.045), 0.030);
    join(
        d,
        limb(p, Vec3::new(0.014, -0.236, 0.036), Vec3::new(0.140, -0.232, 0.002), 0.0070, 0.0065),
        0.018,
    )
}

/// Height of the hair line around the head (m), by the angle from the face: the forehead, the
/// temple, down in front of the ear, over it, behind it, and down to the nape.
fn hair_line(angle: f32) -> f32 {
    const POINTS: [(f32, f32); 10] = [
        (0.00, 0.0720),
        (0.40, 0.0720),
        (0.72, 0.0660),
        (0.95, 0.0420),
        (1.22, 0.0050),
        (1.42, 0.0020),
        (1.62, 0.0330),
        (2.00, 0.0120),
        (2.40, -0.0480),
        (3.15, -0.0640),
    ];
    let i = POINTS.partition_point(|p| p.0 <= angle).clamp(1, POINTS.len() - 1);
    let (a, b) = (POINTS[i - 1], POINTS[i]);
    a.1 + (b.1 - a.1) * smoothstep(a.0, b.0, angle)
}

/// Skull and face without ears, nose and chin.
pub(crate) fn skull(p: Vec3) -> f32 {
    let skull = ellipsoid(p, CRANIUM.0, CRANIUM.1);
    let d = join(skull, ellipsoid(p, FOREHEAD.0, FOREHEAD.1), 0.030);
    join(d, ellipsoid(p, FACE.0, FACE.1), 0.030)
}

fn ear_distance(p: Vec3) -> f32 {
    let p = Vec3::new(p.x.abs(), p.y, p.z);
    turned_ellipsoid(p, EAR.0, ear_turn(), EAR.1)
}

impl Figure for Bust {
    fn hull(&self, p: Vec3) -> f32 {
        let p = Vec3::new(p.x.abs(), p.y, p.z);
        let d = skull(p);
        if p.y < 0.02 { join(d, neck_and_shoulders(p), 0.022) } else { d }
    }

    fn colliders(&self) -> Vec<Collider> {
        let on = |shape, centre, rotation, bone| Collider::new(shape, centre, rotation, bone);
        let round = |(centre, radii): (Vec3, Vec3), grow: f32, bone| {
            on(Shape::Ellipsoid { radii: radii + grow }, centre, Quat::IDENTITY, bone)
        };
        let along = |a: Vec3, b: Vec3, radius, bone| {
            let turn = Quat::from_rotation_arc(Vec3::Y, (b - a).normalize());
            on(
                Shape::Capsule { half_height: a.distance(b) * 0.5, radius },
                (a + b) * 0.5,
                turn,
                bone,
            )
        };
        // Head: the skull follows the surface where hair grows. The face colliders are slightly larger than the
        // surface, so that segments between two points of a strand stay outside as well.
        let mut all = vec![
            round(CRANIUM, -0.0005, HEAD),
            round(FOREHEAD, 0.0, HEAD),
            round(FACE, 0.003, HEAD),
            round(MUZZLE, 0.004, HEAD),
            on(
                Shape::Sphere { radius: 0.0185 },
                Vec3::new(0.0, -0.0975, 0.0650),
                Quat::IDENTITY,
                HEAD,
            ),
            along(Vec3::new(0.0, 0.008, 0.080), Vec3::new(0.0, -0.030, 0.0965), 0.0115, HEAD),
        ];
        let mirror = |v: Vec3, side: f32| Vec3::new(v.x * side, v.y, v.z);
        for side in [1.0, -1.0] {
            let turn = ear_turn();
            let turn =
                if side > 0.0 { turn } else { Quat::from_xyzw(turn.x, -turn.y, -turn.z, turn.w) };
            let ear = Shape::Ellipsoid { radii: EAR.1 + 0.001 };
            all.push(on(ear, mirror(EAR.0, side), turn, HEAD));
            let jaw = [Vec3::new(0.046, -0.056, 0.006), Vec3::new(0.016, -0.095, 0.056)];
            all.push(along(mirror(jaw[0], side), mirror(jaw[1], side), 0.0175, HEAD));
            let joint = Shape::Sphere { radius: 0.020 };
            let before_ear = mirror(Vec3::new(0.053, -0.020, 0.008), side);
            all.push(on(joint, before_ear, Quat::IDENTITY, HEAD));
            let behind_jaw = Shape::Sphere { radius: 0.021 };
            let below_ear = mirror(Vec3::new(0.045, -0.056, -0.016), side);
            all.push(on(behind_jaw, below_ear, Quat::IDENTITY, HEAD));
            let cheek =
                (mirror(Vec3::new(0.034, -0.030, 0.048), side), Vec3::new(0.024, 0.032, 0.026));
            all.push(round(cheek, 0.0, HEAD));
            // Trunk: slightly larger than the surface where shapes blend into each other. Hair a few millimetres
            // above the skin looks right, hair below it does not.
            let (a, b) = SHOULDER_ENDS;
            all.push(along(mirror(a, side), mirror(b, side), SHOULDER_RADIUS + 0.009, CHEST));
            let trapezius = [Vec3::new(0.026, -0.150, -0.056), Vec3::new(0.105, -0.232, -0.050)];
            all.push(along(mirror(trapezius[0], side), mirror(trapezius[1], side), 0.037, CHEST));
            let deltoid = Shape::Sphere { radius: DELTOID.1 + 0.007 };
            all.push(on(deltoid, mirror(DELTOID.0, side), Quat::IDENTITY, CHEST));
            let collar = [Vec3::new(0.014, -0.238, 0.034), Vec3::new(0.140, -0.236, 0.000)];
            all.push(along(mirror(collar[0], side), mirror(collar[1], side), 0.018, CHEST));
            let front =
                (mirror(Vec3::new(0.118, -0.275, -0.008), side), Vec3::new(0.062, 0.050, 0.050));
            all.push(round(front, 0.006, CHEST));
            let blade =
                (mirror(Vec3::new(0.085, -0.300, -0.060), side), Vec3::new(0.075, 0.080, 0.052));
            all.push(round(blade, 0.006, CHEST));
            let arm = [DELTOID.0, Vec3::new(0.188, -0.45, -0.035)];
            all.push(along(mirror(arm[0], side), mirror(arm[1], side), 0.054, CHEST));
        }
        all.push(round(
            (Vec3::new(0.0, -0.218, -0.034), Vec3::new(0.098, 0.060, 0.066)),
            0.0,
            CHEST,
        ));
        let middle = NECK_ENDS.0.lerp(NECK_ENDS.1, 0.5);
        all.push(along(NECK_ENDS.0, middle, NECK_RADII.0 + 0.001, HEAD));
        all.push(along(middle, NECK_ENDS.1, NECK_RADII.1 + 0.006, NECK));
        all.push(round(CHEST_BODY, 0.009, CHEST));
        all
    }

    fn pivots(&self) -> Pivots {
        Pivots { neck: Vec3::new(0.0, -0.190, -0.036), head: Vec3::new(0.0, -0.060, -0.018) }
    }

    fn hair_density(&self, p: Vec3) -> f32 {
        let angle = p.x.abs().atan2(p.z + 0.004);
        let line = hair_line(angle);
        let on_ear = smoothstep(0.0015, 0.004, ear_distance(p));
        smoothstep(line - 0.002, line + 0.012, p.y) * on_ear
    }

    fn head_weight(&self, p: Vec3) -> f32 {
        // The chin moves with the head although it is as low as the neck.
        let under_chin = 0.75 * p.z.clamp(0.0, 0.09) * smoothstep(-0.155, -0.115, p.y);
        smoothstep(-0.215, -0.045, p.y + under_chin)
    }

    fn color(&self, p: Vec3, hair: Vec3) -> Vec3 {
        let skin = Vec3::new(0.66, 0.40, 0.29);
        let q = Vec3::new(p.x.abs(), p.y, p.z);
        // Redder on cheeks, nose and ears; paler on the chest.
        let flush = smoothstep(0.030, 0.0, q.distance(Vec3::new(0.040, -0.035, 0.066)))
            .max(smoothstep(0.016, 0.0, q.distance(Vec3::new(0.0, -0.032, 0.105))))
            .max(smoothstep(0.006, -0.002, ear_distance(p)));
        let mut color = skin * (Vec3::ONE - Vec3::new(0.02, 0.13, 0.16) * flush);
        // Lips.
        let lips = Lips::at(q);
        let red = (1.4 * (lips.upper + lips.lower)).max(lips.line).min(1.0);
        color = color.lerp(Vec3::new(0.50, 0.17, 0.15), 0.8 * red * smoothstep(0.06, 0.07, q.z));
        // Lashes along the slit of the lids, and brows, in the colour of the hair.
        let dark = hair * 0.35;
        let slit_y = EYE.y - 0.0056 + 6.0 * (q.x - EYE.x) * (q.x - EYE.x);
        let lash = smoothstep(0.0020, 0.0008, (q.y - slit_y).abs())
            * smoothstep(0.0165, 0.0135, (q.x - EYE.x).abs())
            * smoothstep(0.060, 0.066, q.z);
        color = color.lerp(dark, 0.9 * lash);
        let t = ((q.x - 0.013) / 0.036).clamp(0.0, 1.0);
        let brow_y = 0.0205 + 0.0045 * (1.0 - (2.2 * t - 1.25) * (2.2 * t - 1.25));
        let brow = smoothstep(0.0058, 0.0010, (q.y - brow_y).abs() + 0.0016 * t)
            * smoothstep(0.010, 0.014, q.x)
            * smoothstep(0.052, 0.047, q.x)
            * smoothstep(0.04, 0.05, q.z);
        color = color.lerp(hair * 0.6, 0.75 * brow);
        // Hair roots darken the scalp.
        color.lerp(hair * 0.5 + skin * 0.02, 0.94 * self.hair_density(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bust_has_human_proportions_and_hair_only_on_the_scalp() {
        let bust = Bust;
        let surface_along = |from: Vec3, direction: Vec3| {
            (0..4000)
                .map(|i| from + direction * (0.2 - i as f32 * 5e-5))
                .find(|&p| bust.value(p) < 0.0)
        };
        let top = surface_along(Vec3::new(0.0, 0.0, -0.01), Vec3::Y).unwrap();
        let back = surface_along(Vec3::new(0.0, 0.03, 0.0), Vec3::NEG_Z).unwrap();
        let brow = surface_along(Vec3::new(0.0, 0.03, 0.0), Vec3::Z).unwrap();
        let side = surface_along(Vec3::new(0.0, 0.05, -0.02), Vec3::X).unwrap();
        println!("top {top} back {back} brow {brow} side {side}");
        assert!((0.11..0.14).contains(&top.y));
        assert!((0.17..0.21).contains(&(brow.z - back.z)));
        assert!((0.140..0.165).contains(&(2.0 * side.x)));
        assert_eq!(bust.hair_density(top), 1.0);
        assert_eq!(bust.hair_density(back), 1.0);
        assert_eq!(bust.hair_density(brow), 0.0);
        assert_eq!(bust.hair_density(Vec3::new(0.17, -0.25, 0.0)), 0.0);
        assert!(bust.head_weight(top) == 1.0 && bust.head_weight(Vec3::new(0.0, -0.3, 0.0)) == 0.0);
    }

    #[test]
    fn the_bust_is_symmetric() {
        for p in [Vec3::new(0.05, 0.0, 0.07), Vec3::new(0.08, -0.1, -0.02)] {
            assert_eq!(Bust.value(p), Bust.value(Vec3::new(-p.x, p.y, p.z)));
        }
    }
}
