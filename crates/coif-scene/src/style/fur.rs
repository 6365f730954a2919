//! A coat of fur: short hair that lies back from the nose to the tail.

use glam::Vec3;

use super::{Grown, Recipe};
use crate::figure::Figure;
use crate::implicit::smoothstep;
use crate::random::{Random, noise, noise3};
use crate::roots::Root;

pub(super) fn grow(
    figure: &dyn Figure,
    root: &Root,
    recipe: &Recipe,
    random: &mut Random,
) -> Grown {
    let p0 = root.position;
    // Shorter on the face and the paws, longest on neck and back.
    let face = smoothstep(0.135, 0.060, p0.distance(Vec3::new(0.0, 0.045, 0.130)));
    let paws = smoothstep(-0.185, -0.215, p0.y);
    let fraction = 1.0 - 0.72 * face - 0.5 * paws;
    let length = recipe.length
        * fraction.max(0.18)
        * random.between(0.72, 1.0)
        * (1.0 + 0.25 * noise(p0 * 35.0, 2));
    // Comb back and down, with a slow variation over the skin.
    let back = Vec3::new(0.25 * p0.x.signum() * face, -0.75, -0.55 - 0.5 * face);
    let comb = (back + noise3(p0 * 28.0, 7) * 0.35).reject_from_normalized(root.normal);
    let lift = 0.75 - 0.25 * face;
    let mut d = (root.normal * lift + comb * 0.65 + random.vector() * 0.08).normalize();
    let steps = 24;
    let step = length / steps as f32;
    let mut p = p0;
    let mut line = vec![p];
    for _ in 0..steps {
        d = (d + (comb * 22.0 + Vec3::NEG_Y * 8.0) * step).normalize_or(d);
        p += d * step;
        let depth = 0.0010 - figure.value(p);
        if depth > 0.0 && line.len() > 3 {
            p += figure.normal(p) * depth;
        }
        line.push(p);
    }
    Grown { line, pinned: 1 }
}
