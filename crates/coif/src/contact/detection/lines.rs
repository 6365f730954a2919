//! Eight moving lines in lanes, and the test of one line against all of them.
//!
//! A line is a segment, or the axis of a capsule around eight segments. The test is the same
//! for both, so that a test of eight capsules saves tests of up to 64 segments.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x8};
use glam::Vec3;

use super::broad_phase::Motion;

/// Lines tested together.
pub(super) const WIDTH: usize = 8;

/// Relative tolerance of distances, for rounding errors of single precision.
pub(super) const SLACK: f32 = 1e-3;

/// A line in the middle of its motion.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    /// Middle (m).
    pub(super) middle: Vec3,
    /// Half of the vector from end to end (m).
    pub(super) half: Vec3,
    /// Half of the displacement of its middle (m).
    pub(super) displacement: Vec3,
    /// Bound (m) on the distance of its points from the motion that middle, half and displacement describe.
    pub(super) pad: f32,
}

impl Line {
    /// A segment of hair with this motion.
    #[inline]
    pub(super) fn of_segment(motion: &Motion<'_>, segment: usize) -> Self {
        let ends = |of: &[Vec3]| (of[segment], of[segment + 1]);
        let ((a, b), (displacement_a, displacement_b)) =
            (ends(motion.middle), ends(motion.displacement));
        Self {
            middle: 0.5 * (a + b),
            half: 0.5 * (b - a),
            displacement: 0.25 * (displacement_a + displacement_b),
            pad: 0.25 * displacement_a.distance(displacement_b),
        }
    }
}

/// Eight lines, one array for each number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Eight {
    middle: [[f32; WIDTH]; 3],
    half: [[f32; WIDTH]; 3],
    displacement: [[f32; WIDTH]; 3],
    pad: [f32; WIDTH],
}

impl Eight {
    #[inline]
    pub(super) fn set(&mut self, lane: usize, line: &Line) {
        for axis in 0..3 {
            self.middle[axis][lane] = line.middle[axis];
            self.half[axis][lane] = line.half[axis];
            self.displacement[axis][lane] = line.displacement[axis];
        }
        self.pad[lane] = line.pad;
    }

    #[inline]
    pub(super) fn get(&self, lane: usize) -> Line {
        let of = |from: &[[f32; WIDTH]; 3]| Vec3::from(from.map(|values| values[lane]));
        let (middle, half, displacement) =
            (of(&self.middle), of(&self.half), of(&self.displacement));
        Line { middle, half, displacement, pad: self.pad[lane] }
    }

    /// The axis of a capsule around the first `count` lines, with its radius as the pad.
    pub(super) fn capsule(&self, count: usize) -> Line {
        let lines = (0..count).map(|lane| self.get(lane));
        // Average the axes, with all in the half-space of the first.
        let first = self.get(0).half;
        let (mut along, mut middle, mut displacement) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        for line in lines.clone() {
            along += if line.half.dot(first) < 0.0 { -line.half } else { line.half };
            middle += line.middle;
            displacement += line.displacement;
        }
        let weight = 1.0 / count.max(1) as f32;
        let (along, middle, displacement) =
            (along.normalize_or(Vec3::X), middle * weight, displacement * weight);
        // Extend axis and radius to contain all ends.
        let (mut lo, mut hi, mut pad) = (f32::INFINITY, f32::NEG_INFINITY, 0.0f32);
        for line in lines {
            for end in [line.middle - line.half, line.middle + line.half] {
                let from = end - middle;
                let at = from.dot(along);
                (lo, hi) = (lo.min(at), hi.max(at));
                let across = (from - along * at).length();
                pad = pad.max(across + line.pad + line.displacement.distance(displacement));
            }
        }
        let half = along * (0.5 * (hi - lo));
        Line {
            middle: middle + along * (0.5 * (hi + lo)),
            half,
            displacement,
            pad: pad * (1.0 + SLACK),
        }
    }
}

/// The line that is tested against others, in all lanes.
pub(super) struct Probe<S: Simd> {
    middle: [f32x8<S>; 3],
    displacement: [f32x8<S>; 3],
    along: [f32x8<S>; 3],
    length: f32x8<S>,
    near: f32x8<S>,
}

impl<S: Simd> Probe<S> {
    /// A probe for lines that come within `reach` (m) of the line.
    #[inline(always)]
    pub(super) fn new(simd: S, line: &Line, reach: f32) -> Self {
        let splat = |v: Vec3| v.to_array().map(|x| f32x8::splat(simd, x));
        let length = line.half.length();
        let along = if length > 0.0 { line.half / length } else { Vec3::ZERO };
        Self {
            middle: splat(line.middle),
            displacement: splat(line.displacement),
            along: splat(along),
            length: f32x8::splat(simd, length),
            near: f32x8::splat(simd, (reach + line.pad) * (1.0 + SLACK)),
        }
    }

    /// The lines that may come near, as bits: a cheaper test with a few more false positives.
    ///
    /// Model: as [`Probe::test`] with this line extended to infinity, and a test of the distance along it.
    #[inline(always)]
    pub(super) fn rough_test(&self, simd: S, lines: &Eight) -> u32 {
        let near = self.near(simd, lines);
        let one = f32x8::splat(simd, 1.0);
        let (e, w) = (load(simd, &lines.half), minus(load(simd, &lines.middle), self.middle));
        // Split the offset between the middles, and the half line, into along and across.
        let (wa, ea) = (dot(w, self.along), dot(e, self.along));
        let (wc, ec) = (less(w, self.along, wa), less(e, self.along, ea));
        // Find the point of the other line that is nearest to this one.
        let t = dot(wc, ec) / dot(ec, ec).max(f32x8::splat(simd, 1e-30));
        let q = less(wc, ec, t.max(-one).min(one));
        let beside = wa.abs().simd_le(self.length + ea.abs() + near);
        (dot(q, q).simd_le(near * near) & beside).to_bitmask() as u32
    }

    /// The lines that come near, as bits, and their squared distances in the middle of the motion.
    ///
    /// Model: two lines in linear motion come within `reach` only if, in the middle of the
    /// motion, their distance is at most `reach` plus half of their relative displacement.
    #[inline(always)]
    pub(super) fn test(&self, simd: S, lines: &Eight, distance2: &mut [f32; WIDTH]) -> u32 {
        let near = self.near(simd, lines);
        let (tiny, one) = (f32x8::splat(simd, 1e-30), f32x8::splat(simd, 1.0));
        let (e, w) = (load(simd, &lines.half), minus(load(simd, &lines.middle), self.middle));
        let (wa, ea) = (dot(w, self.along), dot(e, self.along));
        let (wc, ec) = (less(w, self.along, wa), less(e, self.along, ea));
        let t = (dot(wc, ec) / dot(ec, ec).max(tiny)).max(-one).min(one);
        // Clamp to the end of this line, and find the closest point on the other from there.
        let s = (wa - ea * t).max(-self.length).min(self.length);
        let w = less(w, self.along, s);
        let t = (dot(w, e) / dot(e, e).max(tiny)).max(-one).min(one);
        let q = less(w, e, t);
        let d2 = dot(q, q);
        d2.store_slice(distance2);
        d2.simd_le(near * near).to_bitmask() as u32
    }

    /// Largest distance in the middle of the motion.
    #[inline(always)]
    fn near(&self, simd: S, lines: &Eight) -> f32x8<S> {
        let displacement = minus(load(simd, &lines.displacement), self.displacement);
        self.near + f32x8::from_slice(simd, &lines.pad) + dot(displacement, displacement).sqrt()
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, from: &[[f32; WIDTH]; 3]) -> [f32x8<S>; 3] {
    [
        f32x8::from_slice(simd, &from[0]),
        f32x8::from_slice(simd, &from[1]),
        f32x8::from_slice(simd, &from[2]),
    ]
}

#[inline(always)]
fn dot<S: Simd>(a: [f32x8<S>; 3], b: [f32x8<S>; 3]) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn minus<S: Simd>(a: [f32x8<S>; 3], b: [f32x8<S>; 3]) -> [f32x8<S>; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a - b t`
#[inline(always)]
fn less<S: Simd>(a: [f32x8<S>; 3], b: [f32x8<S>; 3], t: f32x8<S>) -> [f32x8<S>; 3] {
    [a[0] - b[0] * t, a[1] - b[1] * t, a[2] - b[2] * t]
}
