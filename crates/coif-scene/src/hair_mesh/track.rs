//! The surface curves that columns of the built-in hair meshes follow.
//!
//! All columns of one step around the head share a track: from the parting over the scalp to the hair line and on to
//! the end of the hair. They differ in where they start and in their height above it, so that they cannot cross: hair
//! from near the parting lies over hair from near the hair line.

use glam::Vec3;

use super::Cut;
use crate::figure::Figure;
use crate::implicit::smoothstep;
use crate::style::grow::face_shield;

/// Distance between points of a track (m).
const STEP: f32 = 0.002;

/// Longest track (m).
const LONGEST: f32 = 1.2;

/// Distance of a track from skin and face (m), and the distance at which it begins to slide along them.
const GAP: f32 = 0.0025;
const SOFT: f32 = 0.010;

/// The vertical line that hair below the ears lies around (m, x and z).
const AXIS: Vec3 = Vec3::new(0.0, 0.0, -0.030);

/// Half width of long hair on the back (m); with less, its bundles are compressed.
const BACK_HALF_WIDTH: f32 = 0.105;

/// Coordinate z of hair that hangs beside the face (m); farther in front it would lie over the cheeks.
const BESIDE: f32 = 0.012;

/// A curve over the body, with the up direction at each point.
pub(super) struct Track {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Length from the start to each point (m).
    passed: Vec<f32>,
}

impl Track {
    /// Continues from `scalp`, the points on the skin from the parting outwards, until the hair ends at the height
    /// `end` (m). `around` is its position around the head, 0..1.
    pub(super) fn new(
        figure: &dyn Figure,
        cut: Cut,
        scalp: Vec<Vec3>,
        around: f32,
        end: f32,
    ) -> Self {
        let mut points = scalp;
        if points.len() >= 2 {
            let last = points[points.len() - 1];
            let mut direction = (last - points[points.len() - 2]).normalize_or(Vec3::NEG_Y);
            let mut p = last;
            for _ in 0..(LONGEST / STEP) as usize {
                direction = next_direction(figure, cut, around, p, direction);
                p += direction * STEP;
                points.push(p);
                if p.y < end {
                    break;
                }
            }
        }
        let normals = smoothed(points.iter().map(|&p| up_from(figure, p)).collect(), |n| {
            n.normalize_or(Vec3::Y)
        });
        // Raise the track where ears and other parts stick out of it, with smooth ramps before and behind.
        let bumps = points.iter().zip(&normals).map(|(&p, &n)| Vec3::X * bump(figure, p, n));
        let bumps = smoothed(bumps.collect(), |b| b);
        for ((p, n), b) in points.iter_mut().zip(&normals).zip(&bumps) {
            *p += *n * b.x;
        }
        let mut passed = vec![0.0];
        for pair in points.windows(2) {
            passed.push(passed[passed.len() - 1] + pair[0].distance(pair[1]));
        }
        Self { points, normals, passed }
    }

    /// Length of the whole track (m).
    pub(super) fn length(&self) -> f32 {
        self.passed[self.passed.len() - 1]
    }

    /// The point at an arc length along the track and a height above it (m).
    pub(super) fn at(&self, along: f32, height: f32) -> Vec3 {
        let last = self.points.len() - 1;
        let i = self.passed.partition_point(|&s| s <= along).clamp(1, last) - 1;
        let length = self.passed[i + 1] - self.passed[i];
        // Continue straight beyond the end of the track.
        let t = (along - self.passed[i]) / length.max(1e-6);
        let t = if i + 1 == last { t.max(0.0) } else { t.clamp(0.0, 1.0) };
        let up = self.normals[i].lerp(self.normals[i + 1], t.min(1.0)).normalize_or(Vec3::Y);
        self.points[i].lerp(self.points[i + 1], t) + up * height
    }
}

/// The direction of a track below the hair line.
fn next_direction(figure: &dyn Figure, cut: Cut, around: f32, p: Vec3, direction: Vec3) -> Vec3 {
    let radial = Vec3::new(p.x - AXIS.x, 0.0, p.z - AXIS.z);
    let wanted = match cut {
        // All around the neck, turning in at the ends; beside the face, not over it.
        Cut::Short | Cut::Shoulder => {
            let inwards = 5.0 * (radial.length() - 0.075).max(0.0) * smoothstep(-0.02, -0.10, p.y);
            let back = 1.1 * smoothstep(BESIDE, BESIDE + 0.03, p.z) * smoothstep(0.08, 0.03, p.y);
            Vec3::NEG_Y - radial.normalize_or_zero() * inwards - Vec3::Z * back
        }
        // Behind the shoulders and down the back, spread over its width.
        Cut::Long => {
            let below = smoothstep(0.07, -0.02, p.y);
            let back = 1.3 * below * smoothstep(-0.125, -0.05, p.z);
            let place = BACK_HALF_WIDTH * (1.0 - 2.0 * around);
            let aside = ((place - p.x) / 0.08).clamp(-0.6, 0.6) * smoothstep(0.0, -0.08, p.y);
            Vec3::NEG_Y + Vec3::new(aside, 0.0, -back)
        }
    };
    // Turn towards that direction within a few centimetres.
    let mut direction = (direction + wanted * (STEP / 0.020)).normalize_or(direction);
    let skin = |q: Vec3| figure.hull(q) - GAP;
    direction = slid(direction, skin(p), SOFT, || gradient(&skin, p));
    direction = slid(direction, face_shield(p), SOFT, || gradient(&face_shield, p));
    direction.normalize_or(Vec3::NEG_Y)
}

/// Removes the component of a direction into a surface, weighted by proximity, and points it outwards if `distance` (m)
/// is negative.
fn slid(direction: Vec3, distance: f32, soft: f32, normal: impl Fn() -> Vec3) -> Vec3 {
    if distance >= soft {
        return direction;
    }
    let n = normal();
    let weight = 1.0 - (distance / soft).clamp(0.0, 1.0);
    direction - n * (direction.dot(n).min(0.0) * weight) + n * (-distance / soft).clamp(0.0, 1.0)
}

/// The up direction of a track: out of the skull on top, away from the neck below.
fn up_from(figure: &dyn Figure, p: Vec3) -> Vec3 {
    let hull = |q: Vec3| figure.hull(q);
    let aside = Vec3::new(p.x - AXIS.x, 0.0, p.z - AXIS.z).normalize_or(Vec3::NEG_Z);
    let mut up = aside.lerp(gradient(&hull, p), smoothstep(-0.03, 0.06, p.y));
    // Beside the face hair stands off to the side, not to the front.
    up.z -= up.z.max(0.0) * 0.75 * smoothstep(0.10, 0.05, p.y);
    up.normalize_or(aside)
}

/// Height by which a track has to be raised to be outside of the body (m).
fn bump(figure: &dyn Figure, p: Vec3, up: Vec3) -> f32 {
    const HIGHEST: f32 = 0.03;
    let mut height = 0.0;
    while height < HIGHEST && figure.value(p + up * (height + 1e-4)) < 0.0 {
        height += 0.001;
    }
    height
}

/// Smooths values along a track; `project` is applied to each mean.
fn smoothed(mut values: Vec<Vec3>, project: impl Fn(Vec3) -> Vec3) -> Vec<Vec3> {
    for _ in 0..30 {
        let before = values.clone();
        for i in 1..before.len().saturating_sub(1) {
            values[i] = project((before[i - 1] + before[i] * 2.0 + before[i + 1]) * 0.25);
        }
    }
    values
}

fn gradient(f: &dyn Fn(Vec3) -> f32, p: Vec3) -> Vec3 {
    const H: f32 = 1e-3;
    let d = |axis: Vec3| f(p + axis * H) - f(p - axis * H);
    Vec3::new(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)).normalize_or(Vec3::Y)
}
