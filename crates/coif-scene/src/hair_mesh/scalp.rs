//! The tracks of a built-in hair mesh over a head.

use coif::body::TriangleMesh;
use glam::{Quat, Vec3};

use crate::figure::Figure;
use crate::implicit::smoothstep;
use crate::style::grow::{CROWN, PARTING};

/// Middle of the built-in bust's scalp (m), the origin of the places below.
const BUST_MIDDLE: Vec3 = Vec3::new(0.0, 0.029, -0.010);

/// Half the width of the bust's scalp (m).
const BUST_HALF_WIDTH: f32 = 0.0756;

/// Angle from the face at which the rings of parted hair begin (radians): in front of the ear. With a smaller angle
/// hair grows from the forehead over the face.
const TEMPLE: f32 = 1.1;

/// Slope by which tracks descend from the middle of the head: at the temple, and at the back.
const AIM: [f32; 2] = [0.1, 1.2];

/// Slope by which a track at the front rises towards the temple: over the corner of the forehead, where the hair line
/// is.
const ARCH: f32 = 0.32;

/// Density of hair at which the outermost ring lies: a little outside of the visible hair line.
const LINE: f32 = 0.15;

/// Points of a track over the scalp.
const POINTS: usize = 60;

/// A head, described by directions from its middle.
pub(super) struct Scalp<'a> {
    figure: &'a dyn Figure,
    middle: Vec3,
    /// Size relative to the bust's.
    scale: f32,
}

impl<'a> Scalp<'a> {
    /// `None` if nothing grows on the figure.
    pub(super) fn new(figure: &'a dyn Figure, mesh: &TriangleMesh) -> Option<Self> {
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &p in mesh.positions.iter().filter(|&&p| figure.hair_density(p) > 0.5) {
            (lo, hi) = (lo.min(p), hi.max(p));
        }
        let scale = 0.5 * (hi.x - lo.x) / BUST_HALF_WIDTH;
        let middle = 0.5 * (lo + hi);
        (scale.is_finite() && scale > 0.0).then_some(Self { figure, middle, scale })
    }

    /// The skin in a direction from the middle of the head.
    fn surface(&self, direction: Vec3) -> Vec3 {
        let (mut inside, mut outside) = (0.0, 0.4 * self.scale);
        for _ in 0..40 {
            let half = 0.5 * (inside + outside);
            if self.figure.hull(self.middle + direction * half) < 0.0 {
                inside = half;
            } else {
                outside = half;
            }
        }
        self.middle + direction * (0.5 * (inside + outside))
    }

    /// Points on the skin from the parting (`parting` of the path along it, 1 at the crown) to the hair line,
    /// `around` the head: 0 at one temple, 0.5 at the nape, 1 at the other temple.
    pub(super) fn track(&self, parting: f32, around: f32) -> Vec<Vec3> {
        let direction = |on_bust: Vec3| (on_bust - BUST_MIDDLE).normalize_or(Vec3::Y);
        let front = Vec3::new(PARTING, 0.080, 0.078);
        let from = turned(direction(front), direction(CROWN), parting);
        let angle = TEMPLE + (std::f32::consts::TAU - 2.0 * TEMPLE) * around;
        let back = smoothstep(0.0, 0.42, around.min(1.0 - around));
        let aim = AIM[0] + (AIM[1] - AIM[0]) * back;
        let down = Vec3::new(angle.sin(), -aim, angle.cos()).normalize_or(Vec3::NEG_Y);
        let arch = ARCH * (1.0 - back);
        let path = |t: f32| {
            let up = arch * (std::f32::consts::PI * t).sin();
            self.surface((turned(from, down, t) + Vec3::Y * up).normalize_or(down))
        };
        let line = self.hair_line(path);
        (0..=POINTS).map(|i| path(line * i as f32 / POINTS as f32)).collect()
    }

    /// Fraction of a path over the skin on which hair grows, 0..1.
    fn hair_line(&self, path: impl Fn(f32) -> Vec3) -> f32 {
        const SAMPLES: usize = 48;
        let grows = |t: f32| self.figure.hair_density(path(t)) > LINE;
        // Find the last place with hair; bare places before it get no strands.
        let at = |i: usize| i as f32 / SAMPLES as f32;
        let last = (0..=SAMPLES).rev().find(|&i| grows(at(i))).unwrap_or(0);
        let (mut hairy, mut bare) = (at(last), at((last + 1).min(SAMPLES)));
        for _ in 0..12 {
            let half = 0.5 * (hairy + bare);
            if grows(half) { hairy = half } else { bare = half }
        }
        bare.max(0.05)
    }
}

/// Rotates a direction towards another by a fraction of the angle between them; a fraction above 1 goes beyond it.
fn turned(from: Vec3, to: Vec3, fraction: f32) -> Vec3 {
    let (axis, angle) = Quat::from_rotation_arc(from, to).to_axis_angle();
    Quat::from_axis_angle(axis, angle * fraction) * from
}
