//! Single hairs that stand straight up from the top of the body, for a close look: `selle2008`
//! figures 10 and 11.

use glam::Vec3;

use super::{Grown, Recipe};
use crate::figure::Figure;
use crate::random::Random;
use crate::roots::Root;

/// Segments of a hair as it grows.
const STEPS: usize = 400;

/// Radius of a coil (m).
const COIL_RADIUS: f32 = 0.005;

/// Length of hair in one turn of a coil (m).
const COIL_TURN: f32 = 0.036;

/// A straight hair.
pub(super) fn straight(_: &dyn Figure, root: &Root, recipe: &Recipe, _: &mut Random) -> Grown {
    let at = |i: usize| root.position + Vec3::Y * (recipe.length * i as f32 / STEPS as f32);
    Grown { line: (0..=STEPS).map(at).collect(), pinned: 1 }
}

/// A helix.
pub(super) fn coil(_: &dyn Figure, root: &Root, recipe: &Recipe, random: &mut Random) -> Grown {
    let start = random.unit() * std::f32::consts::TAU;
    let around = std::f32::consts::TAU * COIL_RADIUS;
    let rise = (1.0 - (around / COIL_TURN).powi(2)).max(0.0).sqrt();
    let line = (0..=STEPS).map(|i| {
        let arc_length = recipe.length * i as f32 / STEPS as f32;
        let angle = start + arc_length / COIL_TURN * std::f32::consts::TAU;
        // Widen from the root to the full radius within a third of a turn.
        let radius = COIL_RADIUS * (3.0 * arc_length / COIL_TURN).min(1.0);
        let out = Vec3::new(angle.cos(), 0.0, angle.sin()) * radius;
        root.position + out + Vec3::Y * (arc_length * rise)
    });
    Grown { line: line.collect(), pinned: 1 }
}
