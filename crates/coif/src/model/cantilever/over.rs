//! How far a joint is over the strip that its own lies on: one joint at a time, and eight.
//!
//! Both strips count by their middle lines. A joint is over that segment of the lower strip that it is beside,
//! of the four around the lower joint of the same number; out is the normal of the lower strip there, which
//! follows the scalp's. Strips are laid so that joints of one number are beside each other
//! (`groom::strips`), and slide along each other by less than a segment or two.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x8, mask32x8};
use glam::Vec3;

use super::block::{Below, Joints};
use crate::groom::strips::JointFrame;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x8, half_row};

/// How steeply the roof falls off that a strip carries beside itself (m down per m aside). A strip that has
/// slid off the other by their mean width may sink beside it by no more, so that it comes back over it and
/// not under it. Less holds hair up that hangs beside other hair, much more cannot be climbed by a segment.
pub(super) const ROOF: f32 = 0.7;

/// A joint of the lower strip: its place (m), its frame, and the length of its segment (m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Lower {
    pub(super) position: Vec3,
    pub(super) frame: JointFrame,
    pub(super) length: f32,
}

/// Where a joint is, seen from the strip below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over {
    /// The normal of the strip below.
    pub(super) out: Vec3,
    /// Along it (m), and across the strip (m).
    pub(super) height: f32,
    pub(super) aside: f32,
}

/// Where the middle (m) of joint `i` of a strip is, seen from a strip of which `half` is half the width (m)
/// and `lower` gives the joints, up to the last one.
///
/// Model: the strip below is a ribbon whose middle line goes from joint to joint. Its normal belongs to a
/// segment and is at right angles to the first edge; where the ribbon twists, the middle line leaves that
/// plane evenly along the segment. Where the ribbon bends up, a point has to be over both segments beside the
/// joint; where it bends down, over one.
pub(super) fn over(
    lower: impl Fn(usize) -> Lower,
    [i, last]: [usize; 2],
    middle: Vec3,
    half: f32,
) -> Over {
    let from = |joint: &Lower| middle - joint.position - joint.frame.binormal * half;
    // Seen from the segment that begins at a joint.
    let seen = |first: usize| {
        let (start, end) = (lower(first), lower(first + 1));
        let (way, out) = (from(&start), end.frame.normal());
        let share = (way.dot(end.frame.tangent) / end.length).clamp(0.0, 1.0);
        let height = way.dot(out) + start.frame.binormal.dot(out) * (half * share);
        Over { out, height, aside: way.dot(end.frame.binormal) }
    };
    let (here, next) = (lower(i), lower(i + 1));
    let way = from(&here);
    if way.dot(here.frame.tangent) < -here.length {
        return seen(i.saturating_sub(2));
    }
    // Nothing comes after the tip.
    if i >= last {
        return seen(i - 1);
    }
    if way.dot(next.frame.tangent) > next.length {
        return seen((i + 1).min(last - 1));
    }
    let (before, after) = (seen(i - 1), seen(i));
    let valley = next.frame.tangent.dot(before.out) > 0.0;
    if (after.height < before.height) == valley { after } else { before }
}

/// How far over its strip a joint has to be (m), `gap` if it is on it, with how far aside it is and how far
/// it is aside at most to be on it (m).
pub(super) fn least_height(gap: f32, aside: f32, on: f32) -> f32 {
    gap - (aside.abs() - on).max(0.0) * ROOF
}

/// The joints around those that a row of joints lies on, and how far those stay over them (m).
#[derive(Clone, Copy)]
pub(super) struct RowsBelow<'a> {
    /// Two before, one before, beside, one after, two after.
    rows: [&'a Joints; 5],
    /// Which of their positions is that after the step.
    now: usize,
    gap: &'a [f32; LANES],
}

/// The same as [`Over`] for eight joints, and how high each has to be (m).
pub(super) struct OverLanes<S: Simd> {
    pub(super) out: Vec3x8<S>,
    pub(super) height: f32x8<S>,
    pub(super) least: f32x8<S>,
}

impl<'a> RowsBelow<'a> {
    /// Around joint `i`; the last one stands for all beyond.
    #[inline(always)]
    pub(super) fn new(below: &Below<'a>, gaps: &'a [[f32; LANES]], i: usize) -> Option<Self> {
        let last = below.joints.last()?;
        let joint = |i: usize| below.joints.get(i).unwrap_or(last);
        let rows = [joint(i.saturating_sub(2)), joint(i - 1), joint(i), joint(i + 1), joint(i + 2)];
        Some(Self { rows, now: below.now, gap: gaps.get(i)? })
    }

    /// [`over`] and [`least_height`] in half of the lanes, of joints `i` of strips that end at `tips`, over
    /// strips whose half width is `half`.
    #[inline(always)]
    pub(super) fn over<S: Simd>(
        &self,
        simd: S,
        lanes: usize,
        middle: Vec3x8<S>,
        half: f32x8<S>,
        on: f32x8<S>,
        [i, tips]: [f32x8<S>; 2],
    ) -> OverLanes<S> {
        let Self { rows: [far_back, back, here, next, far_next], now, gap } = *self;
        let load = |row: &[f32; VECTOR]| Vec3x8::of_row(simd, row, lanes);
        let length = |row: &Joints| half_row(simd, &row.length, lanes);
        let seen = Ribbon { simd, lanes, now, middle, half };
        // The segments before and after the joint.
        let (before, after) = (seen.from(back, here), seen.from(here, next));
        let tangent = load(&next.tangent);
        let valley = tangent.dot(before.out).simd_gt(0.0);
        let lower = after.height.simd_lt(before.height);
        // Nothing comes after the tip.
        let goes_on = tips.simd_gt(i);
        let mut found = after.or(!(valley ^ lower) & goes_on, before);
        // Or one farther away.
        let way = middle - load(&here.position[now]) - load(&here.binormal) * half;
        let short = (way.dot(load(&here.tangent)) + length(here)).simd_lt(0.0);
        let far = way.dot(tangent).simd_gt(length(next)) & !short & goes_on;
        if (short | far).any_true() {
            let farther = seen.from(next, far_next).or(tips.simd_gt(i + 1.0), after);
            found = seen.from(far_back, back).or(short, farther.or(far, found));
        }
        let off = (found.aside.abs() - on).max(f32x8::splat(simd, 0.0));
        OverLanes {
            out: found.out,
            height: found.height,
            least: half_row(simd, gap, lanes) - off * ROOF,
        }
    }
}

/// Where eight joints are, seen from segments.
#[derive(Clone, Copy)]
struct Seen<S: Simd> {
    out: Vec3x8<S>,
    height: f32x8<S>,
    aside: f32x8<S>,
}

impl<S: Simd> Seen<S> {
    /// These where a mask says so, else the others.
    #[inline(always)]
    fn or(self, mask: mask32x8<S>, other: Self) -> Self {
        Self {
            out: self.out.or(mask, other.out),
            height: mask.select(self.height, other.height),
            aside: mask.select(self.aside, other.aside),
        }
    }
}

/// Middles of joints (m), and half the width (m) of the strips that they are seen from.
#[derive(Clone, Copy)]
struct Ribbon<S: Simd> {
    simd: S,
    lanes: usize,
    now: usize,
    middle: Vec3x8<S>,
    half: f32x8<S>,
}

impl<S: Simd> Ribbon<S> {
    /// Seen from the segment between two joints.
    #[inline(always)]
    fn from(&self, first: &Joints, second: &Joints) -> Seen<S> {
        let Self { simd, lanes, now, middle, half } = *self;
        let start = Vec3x8::of_row(simd, &first.binormal, lanes);
        let across = Vec3x8::of_row(simd, &second.binormal, lanes);
        let tangent = Vec3x8::of_row(simd, &second.tangent, lanes);
        let way = middle - Vec3x8::of_row(simd, &first.position[now], lanes) - start * half;
        let out = tangent.cross(across);
        let length = half_row(simd, &second.length, lanes);
        let zero = f32x8::splat(simd, 0.0);
        // As a share of the half width: how far along times how far the middle line leaves the plane.
        let along = way.dot(tangent).max(zero).min(length);
        let height = way.dot(out) + start.dot(out) * (half * along / length);
        Seen { out, height, aside: way.dot(across) }
    }
}
