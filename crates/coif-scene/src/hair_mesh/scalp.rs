//! Where the tracks of a built-in hair mesh run over a head.

use coif::body::TriangleMesh;
use glam::{Quat, Vec3};

use crate::figure::Figure;
use crate::style::grow::{CROWN, PARTING};

/// Middle of the built-in bust's scalp (m): what the places below are measured from.
const BUST_MIDDLE: Vec3 = Vec3::new(0.0, 0.029, -0.010);

/// Half the width of the bust's scalp (m).
const BUST_HALF_WIDTH: f32 = 0.0756;

/// Angle from the face at which the rings of parted hair begin (radians): the temple.
const TEMPLE: f32 = 0.86;

/// Density of hair at which the outermost ring lies: a little outside of what one sees as hair line.
const LINE: f32 = 0.15;

/// Points of a track over the scalp.
const POINTS: usize = 60;

/// A head as directions from its middle.
pub(super) struct Scalp<'a> {
    figure: &'a dyn Figure,
    middle: Vec3,
    /// Size in comparison with the bust's.
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

    /// Points on the skin from the parting (`parting` of the way along it, 1 at the crown) to the hair line,
    /// `around` the head: 0 at one temple, 0.5 at the nape, 1 at the other temple.
    pub(super) fn track(&self, parting: f32, around: f32) -> Vec<Vec3> {
        let direction = |on_bust: Vec3| (on_bust - BUST_MIDDLE).normalize_or(Vec3::Y);
        let front = Vec3::new(PARTING, 0.080, 0.078);
        let from = turned(direction(front), direction(CROWN), parting);
        let angle = TEMPLE + (std::f32::consts::TAU - 2.0 * TEMPLE) * around;
        let down = Vec3::new(angle.sin(), -1.2, angle.cos()).normalize_or(Vec3::NEG_Y);
        let line = self.hair_line(from, down);
        (0..=POINTS)
            .map(|i| turned(from, down, line * i as f32 / POINTS as f32))
            .map(|direction| self.surface(direction))
            .collect()
    }

    /// How far from one direction to another hair grows, 0..1.
    fn hair_line(&self, from: Vec3, to: Vec3) -> f32 {
        const SAMPLES: usize = 48;
        let grows = |t: f32| self.figure.hair_density(self.surface(turned(from, to, t))) > LINE;
        // Look for the first bare place beyond the first hairy one.
        let at = |i: usize| i as f32 / SAMPLES as f32;
        let first = (0..=SAMPLES).find(|&i| grows(at(i))).unwrap_or(0);
        let bare = (first..=SAMPLES).find(|&i| !grows(at(i))).unwrap_or(SAMPLES);
        let (mut hairy, mut bare) = (at(bare.saturating_sub(1)), at(bare));
        for _ in 0..12 {
            let half = 0.5 * (hairy + bare);
            if grows(half) { hairy = half } else { bare = half }
        }
        bare.max(0.05)
    }
}

/// One direction turned towards another, by a share of the angle between them; beyond it above 1.
fn turned(from: Vec3, to: Vec3, share: f32) -> Vec3 {
    let (axis, angle) = Quat::from_rotation_arc(from, to).to_axis_angle();
    Quat::from_axis_angle(axis, angle * share) * from
}
