//! Strands that leave the scalp, follow the comb along the head and fall.

use glam::Vec3;

use super::{Grown, Recipe};
use crate::figure::Figure;
use crate::implicit::{ellipsoid, smoothstep};
use crate::random::{Random, noise};
use crate::roots::Root;

/// Steps that a strand grows in: fine enough to round the shoulders.
const STEPS: usize = 90;

/// Where the parting runs (m, to the wearer's left of the middle).
const PARTING: f32 = 0.014;

/// How a strand grows, point by point.
struct Growth<'a> {
    figure: &'a dyn Figure,
    /// Extra solid that keeps hair out of the face.
    shield: fn(Vec3) -> f32,
    /// Distance to keep from the skin after a few centimetres (m).
    layer: f32,
    /// Pull of gravity on the direction (1/m).
    weight: f32,
    /// Pull of the comb on the direction (1/m), at a place and after a length.
    comb: &'a dyn Fn(Vec3, f32) -> Vec3,
    /// Says where to cut the strand off.
    cut: &'a dyn Fn(Vec3, f32) -> bool,
}

impl Growth<'_> {
    fn grow(&self, root: &Root, start: Vec3, length: f32) -> Vec<Vec3> {
        let step = length / STEPS as f32;
        let (mut p, mut d) = (root.position, start);
        let mut line = vec![p];
        for i in 1..=STEPS {
            let along = i as f32 * step;
            d = (d + (Vec3::NEG_Y * self.weight + (self.comb)(p, along)) * step).normalize_or(d);
            p += d * step;
            // Stay at the layer's distance from the skin, which opens up over the first centimetres.
            let layer = self.layer * (1.0 - (-along / 0.035).exp());
            let depth = layer - self.figure.value(p);
            if depth > 0.0 {
                let n = self.figure.normal(p);
                p += n * depth;
                d = (d - n * d.dot(n).min(0.0)).normalize_or(d);
            }
            let depth = -(self.shield)(p);
            if depth > 0.0 {
                let n = gradient(self.shield, p);
                p += n * depth;
                d = (d - n * d.dot(n).min(0.0)).normalize_or(d);
            }
            line.push(p);
            if (self.cut)(p, along) && line.len() > 4 {
                break;
            }
        }
        line
    }
}

fn gradient(f: fn(Vec3) -> f32, p: Vec3) -> Vec3 {
    const H: f32 = 1e-3;
    let d = |axis: Vec3| f(p + axis * H) - f(p - axis * H);
    Vec3::new(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)).normalize_or(Vec3::X)
}

/// Hair parts to both sides of the face: an invisible solid in front of it.
fn face_shield(p: Vec3) -> f32 {
    let face = ellipsoid(p, Vec3::new(0.0, -0.060, 0.070), Vec3::new(0.068, 0.118, 0.075));
    let throat = ellipsoid(p, Vec3::new(0.0, -0.22, 0.075), Vec3::new(0.055, 0.16, 0.075));
    face.min(throat)
}

fn no_shield(_: Vec3) -> f32 {
    1.0
}

/// Which side of the parting a root is on. The parting runs from the forehead to the crown and
/// fades out at the back, where hair falls straight down.
fn side_of(root: Vec3) -> f32 {
    let wobble = 0.002 * noise(root * 90.0, 5);
    if root.x > PARTING + wobble { 1.0 } else { -1.0 }
}

/// How high up a root sits, 0 at the nape to 1 at the parting: hair from above lies over hair from
/// below.
fn layer_of(root: Vec3) -> f32 {
    smoothstep(-0.07, 0.12, root.y)
}

/// Long hair, parted, that falls over the shoulders to chest and back.
pub(super) fn long(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    let side = side_of(root.position);
    let layer = layer_of(root.position);
    let front = smoothstep(-0.02, 0.07, root.position.z);
    // Cut to about the same height, so that hair from the crown is longest; thin the ends out.
    let length =
        recipe.length * (0.80 + 0.20 * layer) * (1.0 - 0.16 * random.unit() * random.unit())
            + 0.02 * random.signed();
    let aside = Vec3::new(side, 0.0, -0.25 - 0.55 * front);
    let start = (root.normal * 0.55 + aside * 0.9 + Vec3::NEG_Y * 0.1).normalize();
    let back = root.position.z < -0.045;
    let comb = move |p: Vec3, along: f32| {
        // Sweep away from the parting, then let go; hair from the front goes behind the face.
        let sweep = (-along / 0.05).exp();
        let away = Vec3::new(side * (1.0 - 0.7 * f32::from(back)), 0.0, -0.2 - 0.9 * front);
        let gather = Vec3::new(-p.x, 0.0, -0.25 * (p.z + 0.02)) * smoothstep(-0.10, -0.22, p.y);
        away * (26.0 * sweep) + gather * 18.0
    };
    let growth = Growth {
        figure,
        shield: face_shield,
        layer: 0.0025 + 0.017 * layer * (0.75 + 0.5 * random.unit()) + 0.002 * random.unit(),
        weight: 26.0,
        comb: &comb,
        cut: &|_, _| false,
    };
    Grown { line: growth.grow(root, start, length.max(0.02)), held: 1 }
}

/// A bob to the jaw with a fringe to the brows; tips turn in.
pub(super) fn bob(figure: &dyn Figure, root: &Root, recipe: &Recipe, random: &mut Random) -> Grown {
    let p0 = root.position;
    let fringe = p0.z > 0.040 && p0.x.abs() < 0.052 - 0.35 * (0.075 - p0.z).max(0.0) && p0.y > 0.06;
    let layer = layer_of(p0);
    let stray = random.unit() * random.unit();
    let scale = recipe.length / 0.30;
    if fringe {
        let start = (root.normal * 0.75 + Vec3::new(0.0, -0.15, 0.9)).normalize();
        let end =
            0.028 + 0.006 * random.signed() + 0.10 * p0.x * p0.x / 0.05 - 0.02 * (scale - 1.0);
        let comb =
            |p: Vec3, along: f32| Vec3::new(0.25 * p.x, 0.0, 30.0 * (-along / 0.03).exp() - 8.0);
        let growth = Growth {
            figure,
            shield: no_shield,
            layer: 0.004 + 0.009 * smoothstep(0.06, 0.11, p0.y) + 0.002 * random.unit(),
            weight: 30.0,
            comb: &comb,
            cut: &move |p, _| p.y < end && p.z > 0.05,
        };
        return Grown { line: growth.grow(root, start, 0.16 * scale), held: 1 };
    }
    let side = if p0.x + 0.002 * noise(p0 * 90.0, 5) > 0.0 { 1.0 } else { -1.0 };
    let front = smoothstep(0.0, 0.06, p0.z);
    let end = -0.098 + 0.010 * random.signed() + 0.012 * stray - 0.2 * (scale - 1.0);
    let start = (root.normal * 0.6 + Vec3::new(side, 0.0, -0.2 - 0.5 * front) * 0.85).normalize();
    let back = p0.z < -0.045;
    let comb = move |p: Vec3, along: f32| {
        let away = Vec3::new(side * (1.0 - 0.75 * f32::from(back)), 0.0, -0.15 - 0.5 * front);
        // Turn in towards the neck below the ears.
        let inwards = Vec3::new(-p.x, 0.0, -p.z - 0.03).normalize_or_zero();
        away * (26.0 * (-along / 0.05).exp()) + inwards * (24.0 * smoothstep(-0.045, -0.09, p.y))
    };
    let growth = Growth {
        figure,
        shield: face_shield,
        layer: 0.003 + 0.022 * layer * (0.8 + 0.4 * random.unit()),
        weight: 27.0,
        comb: &comb,
        cut: &move |p, _| p.y < end,
    };
    Grown { line: growth.grow(root, start, recipe.length), held: 1 }
}

/// Short hair from a whorl at the crown: forward on top, down at the sides.
pub(super) fn short(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    let p0 = root.position;
    let crown = Vec3::new(0.008, 0.115, -0.052);
    let top = smoothstep(0.035, 0.105, p0.y);
    let length = recipe.length * (0.30 + 0.70 * top) * random.between(0.8, 1.05);
    let away = (p0 - crown).reject_from_normalized(root.normal).normalize_or(Vec3::Z);
    // Turn the comb about the whorl, and lift the front up and aside.
    let around = root.normal.cross(away);
    let comb = (away + around * 0.45 + Vec3::new(0.35, 0.0, 0.0) * smoothstep(0.02, 0.08, p0.z))
        .normalize_or(away);
    let lift = 0.42 + 0.45 * top + 0.25 * smoothstep(0.04, 0.08, p0.z) * top;
    let start = (root.normal * lift + comb * 0.8 + random.vector() * 0.07).normalize();
    let growth = Growth {
        figure,
        shield: no_shield,
        layer: 0.0015 + 0.012 * top * random.between(0.6, 1.0),
        weight: 9.0,
        comb: &move |_, _| comb * 9.0,
        cut: &|_, _| false,
    };
    Grown { line: growth.grow(root, start, length), held: 1 }
}
