//! Hair combed back along the head to a tie, and a tail that hangs from it.

use glam::Vec3;

use super::{Grown, Recipe};
use crate::figure::Figure;
use crate::random::Random;
use crate::roots::Root;

/// Position of the tie (m).
const TIE: Vec3 = Vec3::new(0.0, 0.070, -0.128);

/// Radius of the tail at the tie (m).
const TIE_RADIUS: f32 = 0.013;

/// Direction in which the tail leaves the tie.
const AWAY: Vec3 = Vec3::new(0.0, 0.42, -0.91);

pub(super) fn grow(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    // Choose the position of the hair in the cross-section of the tail.
    let (angle, r) = (random.unit() * std::f32::consts::TAU, random.unit().sqrt());
    let (side, up) = (Vec3::X, AWAY.cross(Vec3::X).normalize());
    let place = (side * angle.cos() + up * angle.sin()) * r;
    let through = TIE + place * TIE_RADIUS;
    // Follow the head to the tie.
    let distance = root.position.distance(through) * 1.35;
    let step = distance / 48.0;
    let layer = 0.002 + 0.006 * random.unit();
    let mut p = root.position;
    let mut d = (root.normal * 0.35
        + (through - p).reject_from_normalized(root.normal).normalize_or(Vec3::NEG_Z))
    .normalize();
    let mut line = vec![p];
    for i in 1..200 {
        let offset = through - p;
        let left = offset.length();
        if left < step * 1.2 {
            break;
        }
        d = (d * 0.75 + offset / left * 0.25).normalize_or(d);
        p += d * step;
        let gap = layer * (1.0 - (-(i as f32) * step / 0.02).exp());
        let depth = gap - figure.value(p);
        if depth > 0.0 {
            let n = figure.normal(p);
            p += n * depth;
            d = (d - n * d.dot(n).min(0.0)).normalize_or(d);
        }
        line.push(p);
    }
    line.push(through);
    let pinned = line.len();
    // Hang from the tie: swell, then close towards the tip.
    let length = recipe.length * random.between(0.82, 1.0);
    let steps = 70;
    let step = length / steps as f32;
    let mut axis = TIE;
    let mut d = AWAY;
    for i in 1..=steps {
        let along = i as f32 / steps as f32;
        d = (d + Vec3::NEG_Y * (34.0 * step)).normalize();
        axis += d * step;
        let swell = TIE_RADIUS + 0.021 * (std::f32::consts::PI * along.powf(0.6)).sin().max(0.0);
        let across = place - d * place.dot(d);
        let mut p = axis + across * swell;
        let depth = 0.006 - figure.value(p);
        if depth > 0.0 {
            p += figure.normal(p) * depth;
        }
        line.push(p);
    }
    Grown { line, pinned }
}
