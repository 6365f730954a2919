//! Strands that leave the scalp, follow the comb along the head and fall.

use glam::Vec3;

use super::{Grown, Recipe};
use crate::figure::Figure;
use crate::implicit::{ellipsoid, smoothstep};
use crate::random::{Random, noise};
use crate::roots::Root;

/// Segments of a strand as it grows: fine enough to bend around the shoulders.
const STEPS: usize = 64;

/// Distance to keep from ears and other small parts (m): hair lies on them.
const OVER_EARS: f32 = 0.0015;

/// Largest height of small parts over the hull (m).
const EAR_REACH: f32 = 0.035;

/// Position of the parting (m, to the wearer's left of the middle).
pub(crate) const PARTING: f32 = 0.014;

/// The rules by which a strand grows, point by point.
pub(crate) struct Growth<'a> {
    pub(crate) figure: &'a dyn Figure,
    /// Extra solid that keeps hair out of the face.
    pub(crate) shield: fn(Vec3) -> f32,
    /// Distance to keep from the skin after a few centimetres (m).
    pub(crate) layer: f32,
    /// Rate at which gravity turns the direction (1/m).
    pub(crate) weight: f32,
    /// Rate at which the comb turns the direction (1/m), at a point and after a length.
    pub(crate) comb: &'a dyn Fn(Vec3, f32) -> Vec3,
    /// Whether the strand is cut at a point, after a length.
    pub(crate) cut: &'a dyn Fn(Vec3, f32) -> bool,
}

impl Growth<'_> {
    pub(crate) fn grow(&self, root: Vec3, start: Vec3, length: f32) -> Vec<Vec3> {
        let step = length / STEPS as f32;
        let (mut p, mut d) = (root, start);
        let mut line = vec![p];
        for i in 1..=STEPS {
            let along = i as f32 * step;
            d = (d + (Vec3::NEG_Y * self.weight + (self.comb)(p, along)) * step).normalize_or(d);
            p += d * step;
            // Stay at the layer's distance from the skin, which opens up over the first centimetres.
            let layer = self.layer * (1.0 - (-along / 0.035).exp());
            let hull = |p: Vec3| self.figure.hull(p) - layer;
            let skin = |p: Vec3| self.figure.value(p) - layer.min(OVER_EARS);
            let above = hull(p);
            slide(&hull, above, &mut p, &mut d);
            if above < EAR_REACH {
                slide(&skin, skin(p), &mut p, &mut d);
            }
            slide(&self.shield, (self.shield)(p), &mut p, &mut d);
            line.push(p);
            if (self.cut)(p, along) && line.len() > 4 {
                break;
            }
        }
        line
    }
}

/// Moves a point that is inside (`value` below 0) out, and turns its direction along the surface.
fn slide(solid: &dyn Fn(Vec3) -> f32, value: f32, p: &mut Vec3, d: &mut Vec3) {
    if value < 0.0 {
        let n = gradient(solid, *p);
        *p -= n * value;
        *d = (*d - n * d.dot(n).min(0.0)).normalize_or(*d);
    }
}

fn gradient(f: &dyn Fn(Vec3) -> f32, p: Vec3) -> Vec3 {
    const H: f32 = 1e-3;
    let d = |axis: Vec3| f(p + axis * H) - f(p - axis * H);
    Vec3::new(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)).normalize_or(Vec3::X)
}

/// An invisible solid in front of the face, which parts hair to both sides.
pub(crate) fn face_shield(p: Vec3) -> f32 {
    let face = ellipsoid(p, Vec3::new(0.0, -0.055, 0.075), Vec3::new(0.061, 0.112, 0.072));
    let throat = ellipsoid(p, Vec3::new(0.0, -0.22, 0.075), Vec3::new(0.050, 0.16, 0.075));
    face.min(throat)
}

pub(crate) fn no_shield(_: Vec3) -> f32 {
    1.0
}

/// The top of the head, where hair whorls (m).
pub(crate) const CROWN: Vec3 = Vec3::new(0.006, 0.115, -0.050);

/// Which side of the parting a root is on.
fn side_of(root: Vec3, parting: f32) -> f32 {
    let wobble = 0.0015 * noise(root * 90.0, 5);
    if root.x > parting + wobble { 1.0 } else { -1.0 }
}

/// Direction along the scalp, away from the parting in front and from the crown at the back, so that the parting fades
/// out at the crown; `back` combs hair from the front behind the face.
fn away_from_parting(root: &Root, side: f32, back: f32) -> Vec3 {
    let p = root.position;
    let radial = (p - CROWN).normalize_or(Vec3::NEG_Z);
    let aside = Vec3::new(side, -0.9, -back * (0.3 + 0.5 * smoothstep(0.0, 0.07, p.z))).normalize();
    let in_front = smoothstep(-0.055, -0.015, p.z);
    radial.lerp(aside, in_front).reject_from_normalized(root.normal).normalize_or(radial)
}

/// Height of a root, 0 at the nape to 1 at the parting: hair from above lies over hair from below.
fn layer_of(root: Vec3) -> f32 {
    smoothstep(-0.07, 0.12, root.y)
}

/// Long hair, parted, that falls in front of the shoulders and down the back.
pub(super) fn long(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    let p0 = root.position;
    let side = side_of(p0, PARTING);
    let layer = layer_of(p0);
    let front = smoothstep(0.0, 0.07, p0.z);
    // Cut to about the same height, so that hair from the crown is longest; thin out the ends.
    let length =
        recipe.length * (0.80 + 0.20 * layer) * (1.0 - 0.16 * random.unit() * random.unit())
            + 0.012 * random.signed();
    let away = away_from_parting(root, side, 1.0);
    let start = (root.normal * 0.35 + away).normalize();
    // Hair from the front falls in front of the shoulder, the rest behind it.
    let before = p0.z + 0.014 * noise(p0 * 60.0, 9) + 0.008 * random.signed() > -0.016;
    let spread = random.signed();
    let column = if before {
        Vec3::new(side * (0.090 + 0.034 * spread), 0.0, 0.060 - 0.012 * spread * spread)
    } else {
        Vec3::new(0.95 * p0.x + 0.022 * spread, 0.0, -0.105)
    };
    let comb = move |p: Vec3, along: f32| {
        let sweep = away * (34.0 * (-along / 0.030).exp());
        // Hair from the front is combed back over the temple before it falls.
        let back = Vec3::NEG_Z * (22.0 * front * (-along / 0.09).exp());
        let to_column = Vec3::new(column.x - p.x, 0.0, column.z - p.z);
        sweep + back + to_column * (420.0 * smoothstep(-0.04, -0.16, p.y))
    };
    let growth = Growth {
        figure,
        shield: face_shield,
        layer: 0.0025 + 0.0170 * layer * random.between(0.7, 1.15) + 0.002 * random.unit(),
        weight: 42.0,
        comb: &comb,
        cut: &|_, _| false,
    };
    Grown { line: growth.grow(root.position, start, length.max(0.02)), pinned: 1 }
}

/// A bob to the jaw with a fringe to the brows; tips turn in.
pub(super) fn bob(figure: &dyn Figure, root: &Root, recipe: &Recipe, random: &mut Random) -> Grown {
    let p0 = root.position;
    let layer = layer_of(p0);
    let stray = random.unit() * random.unit();
    let scale = recipe.length / 0.30;
    // The fringe starts from a triangle behind the forehead.
    let fringe = p0.z > 0.032 + 0.35 * (p0.x.abs() - 0.030).max(0.0) && p0.x.abs() < 0.066;
    if fringe {
        let fan = Vec3::new(p0.x * 4.0, 0.0, 1.0);
        let away = fan.reject_from_normalized(root.normal).normalize_or(Vec3::Z);
        let start = (root.normal * 0.38 + away).normalize();
        let end = 0.026 + 0.005 * random.signed() - 4.0 * p0.x * p0.x - 0.02 * (scale - 1.0);
        let comb = move |p: Vec3, along: f32| {
            let in_again = Vec3::new(0.0, 0.0, -p.z).normalize_or_zero();
            away * (26.0 * (-along / 0.025).exp())
                + in_again * (16.0 * smoothstep(0.02, 0.06, along))
        };
        let growth = Growth {
            figure,
            shield: no_shield,
            layer: 0.0022 + 0.0075 * smoothstep(0.07, 0.115, p0.y) + 0.002 * random.unit(),
            weight: 52.0,
            comb: &comb,
            cut: &move |p, _| p.y < end && p.z > 0.04,
        };
        return Grown { line: growth.grow(root.position, start, 0.17 * scale), pinned: 1 };
    }
    let side = side_of(p0, 0.0);
    let end = -0.092 + 0.008 * random.signed() + 0.012 * stray - 0.2 * (scale - 1.0);
    let away = away_from_parting(root, side, 0.1);
    let start = (root.normal * 0.40 + away).normalize();
    let comb = move |p: Vec3, along: f32| {
        // Turn in towards the neck below the ears.
        let inwards = Vec3::new(-p.x, 0.0, -p.z - 0.03).normalize_or_zero();
        away * (36.0 * (-along / 0.035).exp()) + inwards * (30.0 * smoothstep(-0.02, -0.08, p.y))
    };
    let growth = Growth {
        figure,
        shield: bob_shield,
        layer: 0.0025 + 0.0170 * layer * random.between(0.75, 1.1),
        weight: 40.0,
        comb: &comb,
        cut: &move |p, _| p.y < end,
    };
    Grown { line: growth.grow(root.position, start, recipe.length), pinned: 1 }
}

/// The solid in front of the face for a bob, which comes closer to the face than long hair.
pub(crate) fn bob_shield(p: Vec3) -> f32 {
    ellipsoid(p, Vec3::new(0.0, -0.060, 0.080), Vec3::new(0.052, 0.100, 0.062))
}

/// Short hair from a whorl at the crown: forward on top, down at the sides.
pub(super) fn short(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    let p0 = root.position;
    let top = smoothstep(0.035, 0.105, p0.y);
    let length = recipe.length * (0.30 + 0.70 * top) * random.between(0.8, 1.05);
    let away = (p0 - CROWN).reject_from_normalized(root.normal).normalize_or(Vec3::Z);
    // Turn the comb about the whorl, and lift the front up and aside.
    let around = root.normal.cross(away);
    let comb = (away + around * 0.45 + Vec3::new(0.35, 0.0, 0.0) * smoothstep(0.02, 0.08, p0.z))
        .normalize_or(away);
    let lift = 0.30 + 0.38 * top + 0.25 * smoothstep(0.04, 0.08, p0.z) * top;
    let start = (root.normal * lift + comb * 0.8 + random.vector() * 0.07).normalize();
    let growth = Growth {
        figure,
        shield: no_shield,
        layer: 0.0015 + 0.012 * top * random.between(0.6, 1.0),
        weight: 9.0,
        comb: &move |_, _| comb * 9.0,
        cut: &|_, _| false,
    };
    Grown { line: growth.grow(root.position, start, length), pinned: 1 }
}
