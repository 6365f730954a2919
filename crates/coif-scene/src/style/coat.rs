//! Long fur in the figure's comb directions: it leaves the skin, follows the comb and hangs down.

use glam::Vec3;

use super::{Grown, Recipe};
use crate::figure::Figure;
use crate::random::{Random, noise, noise3};
use crate::roots::Root;

/// Segments of a hair as it grows.
const STEPS: usize = 22;

/// Curvature of a hair per length of the comb vector (1/m).
const COMB: f32 = 16.0;

/// Distance of the top of the coat from the skin, as a fraction of the length of the hair.
const DEPTH: f32 = 0.16;

pub(super) fn grow(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    let p0 = root.position;
    let coat = figure.coat(p0, root.normal);
    // Vary the length from place to place and from hair to hair; keep it visible.
    let length = (recipe.length
        * coat.length
        * random.between(0.70, 1.0)
        * (1.0 + 0.18 * noise(p0 * 22.0, 2)))
    .max(0.004);
    // Vary the comb slowly over the skin.
    let comb = coat.comb + noise3(p0 * 16.0, 7) * (0.22 * coat.comb.length());
    let along = comb.reject_from_normalized(root.normal).normalize_or(Vec3::NEG_Y);
    let mut d = (root.normal * coat.lift + along * (1.0 - coat.lift) + random.vector() * 0.07)
        .normalize_or(root.normal);
    let pull = comb * COMB + Vec3::NEG_Y * coat.weight;
    let layer = (DEPTH * length).min(0.022) * random.between(0.05, 1.0);
    let step = length / STEPS as f32;
    let mut p = p0;
    let mut line = vec![p];
    for i in 1..=STEPS {
        d = (d + pull * step).normalize_or(d);
        p += d * step;
        // Stay at the layer's distance from the skin, which opens up along the hair.
        let fraction = i as f32 / STEPS as f32;
        let depth = layer * (1.0 - (1.0 - fraction) * (1.0 - fraction)) - figure.value(p);
        if depth > 0.0 {
            let n = figure.normal(p);
            p += n * depth;
            d = (d - n * d.dot(n).min(0.0)).normalize_or(d);
        }
        line.push(p);
    }
    Grown { line, pinned: 1 }
}
