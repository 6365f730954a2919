//! The built-in creature: a small round animal that sits upright, for fur.

use coif::body::{Collider, Shape};
use glam::{Quat, Vec3};

use crate::figure::Figure;
use crate::implicit::{Implicit, ellipsoid, join, limb, smoothstep, sphere, turned_ellipsoid};
use crate::motion::{CHEST, HEAD, NECK, Pivots};

/// A round body, a head with a snout, two ears, four paws and a tail.
pub struct Creature;

const TORSO: (Vec3, Vec3) = (Vec3::new(0.0, -0.120, -0.015), Vec3::new(0.098, 0.110, 0.092));
const SKULL: (Vec3, Vec3) = (Vec3::new(0.0, 0.045, 0.020), Vec3::new(0.080, 0.070, 0.076));
const SNOUT: (Vec3, Vec3) = (Vec3::new(0.0, 0.022, 0.092), Vec3::new(0.034, 0.026, 0.030));
const EAR: (Vec3, Vec3) = (Vec3::new(0.060, 0.110, 0.008), Vec3::new(0.026, 0.036, 0.010));
const EYE: (Vec3, f32) = (Vec3::new(0.034, 0.060, 0.083), 0.0105);
const NOSE: (Vec3, Vec3) = (Vec3::new(0.0, 0.036, 0.120), Vec3::new(0.0110, 0.0080, 0.0075));
const FOOT: (Vec3, Vec3) = (Vec3::new(0.055, -0.214, 0.052), Vec3::new(0.034, 0.022, 0.050));
const HAND: (Vec3, Vec3) = (Vec3::new(0.078, -0.105, 0.062), Vec3::new(0.024, 0.042, 0.026));
const TAIL: (Vec3, Vec3) = (Vec3::new(0.0, -0.185, -0.100), Vec3::new(0.0, -0.135, -0.165));

fn ear_turn() -> Quat {
    Quat::from_rotation_z(-0.45) * Quat::from_rotation_y(0.35)
}

fn hand_turn() -> Quat {
    Quat::from_rotation_x(-0.5) * Quat::from_rotation_z(0.25)
}

fn mirrored(p: Vec3) -> Vec3 {
    Vec3::new(p.x.abs(), p.y, p.z)
}

/// Signed distance to the parts without fur: eyes and nose (m).
fn bare(p: Vec3) -> f32 {
    let p = mirrored(p);
    sphere(p, EYE.0, EYE.1).min(ellipsoid(p, NOSE.0, NOSE.1))
}

impl Implicit for Creature {
    fn value(&self, p: Vec3) -> f32 {
        let p = mirrored(p);
        let mut d = ellipsoid(p, TORSO.0, TORSO.1);
        d = join(d, ellipsoid(p, SKULL.0, SKULL.1), 0.040);
        d = join(d, ellipsoid(p, SNOUT.0, SNOUT.1), 0.024);
        d = join(d, turned_ellipsoid(p, EAR.0, ear_turn(), EAR.1), 0.014);
        d = join(d, ellipsoid(p, FOOT.0, FOOT.1), 0.016);
        d = join(d, turned_ellipsoid(p, HAND.0, hand_turn(), HAND.1), 0.014);
        d = join(d, limb(p, TAIL.0, TAIL.1, 0.026, 0.022), 0.020);
        d = join(d, sphere(p, EYE.0, EYE.1), 0.003);
        join(d, ellipsoid(p, NOSE.0, NOSE.1), 0.004)
    }

    fn bounds(&self) -> (Vec3, Vec3) {
        (Vec3::new(-0.13, -0.245, -0.20), Vec3::new(0.13, 0.160, 0.145))
    }
}

impl Figure for Creature {
    fn colliders(&self) -> Vec<Collider> {
        let round = |(centre, radii): (Vec3, Vec3), turn: Quat, bone| {
            Collider::new(Shape::Ellipsoid { radii: radii - 0.0005 }, centre, turn, bone)
        };
        let mirror =
            |(centre, radii): (Vec3, Vec3)| (Vec3::new(-centre.x, centre.y, centre.z), radii);
        let other = |q: Quat| Quat::from_xyzw(q.x, -q.y, -q.z, q.w);
        let axis = TAIL.1 - TAIL.0;
        let tail = Shape::Capsule { half_height: axis.length() * 0.5, radius: 0.022 };
        let throat = (Vec3::new(0.0, -0.020, 0.0), Vec3::new(0.052, 0.055, 0.046));
        vec![
            round(TORSO, Quat::IDENTITY, CHEST),
            round(throat, Quat::IDENTITY, NECK),
            round(SKULL, Quat::IDENTITY, HEAD),
            round(SNOUT, Quat::IDENTITY, HEAD),
            round(EAR, ear_turn(), HEAD),
            round(mirror(EAR), other(ear_turn()), HEAD),
            round(FOOT, Quat::IDENTITY, CHEST),
            round(mirror(FOOT), Quat::IDENTITY, CHEST),
            round(HAND, hand_turn(), CHEST),
            round(mirror(HAND), other(hand_turn()), CHEST),
            Collider::new(
                tail,
                (TAIL.0 + TAIL.1) * 0.5,
                Quat::from_rotation_arc(Vec3::Y, axis.normalize()),
                CHEST,
            ),
        ]
    }

    fn pivots(&self) -> Pivots {
        Pivots { neck: Vec3::new(0.0, -0.050, -0.005), head: Vec3::new(0.0, -0.010, 0.0) }
    }

    fn hair_density(&self, p: Vec3) -> f32 {
        smoothstep(0.001, 0.006, bare(p))
    }

    fn head_weight(&self, p: Vec3) -> f32 {
        smoothstep(-0.070, 0.010, p.y) * smoothstep(0.16, 0.10, (p.z - 0.02).abs().max(0.0))
    }

    fn color(&self, p: Vec3, hair: Vec3) -> Vec3 {
        let black = Vec3::splat(0.008);
        black.lerp(hair * 0.6 + Vec3::new(0.05, 0.03, 0.025), smoothstep(0.0, 0.003, bare(p)))
    }
}
