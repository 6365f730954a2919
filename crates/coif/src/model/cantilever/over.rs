//! Height of a joint over the strip below: for one joint, and for sixteen in lanes.
//!
//! Both strips are represented by their middle lines. The height is measured over one of the four segments of the lower
//! strip around its joint of the same index, along the normal of that segment. Joints of the same index are beside each
//! other in the groom (`groom::strips`), and strips slide along each other by less than two segments.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::block::{Below, Joints};
use crate::groom::strips::JointFrame;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

/// Slope of the minimum height beside the strip below (m down per m of lateral distance). A strip that has
/// slid off the other by more than their mean width may not sink faster than this, so that it returns over it and
/// not under it. With less, hair beside other hair is held up; with much more, a segment cannot return.
pub(super) const ROOF: f32 = 0.7;

/// A joint of the lower strip: its position (m), its frame, and the length of its segment (m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Lower {
    pub(super) position: Vec3,
    pub(super) frame: JointFrame,
    pub(super) length: f32,
}

/// Position of a joint relative to the strip below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over {
    /// The normal of the strip below.
    pub(super) out: Vec3,
    /// Distances along the normal (m), and across the strip (m).
    pub(super) height: f32,
    pub(super) aside: f32,
}

/// Position of a point `middle` (m), the middle of a strip at joint `i`, relative to the strip below, of which `half` is
/// half the width (m) and `lower` gives the joints up to the index `last`.
///
/// Model: the strip below is a ribbon with a piecewise linear middle line. Each segment has one normal,
/// perpendicular to the first edge; where the ribbon twists, the distance of the middle line from that plane is linear
/// along the segment. Where the ribbon is concave, the smaller height over the two segments beside the
/// joint counts; where it is convex, the larger.
pub(super) fn over(
    lower: impl Fn(usize) -> Lower,
    [i, last]: [usize; 2],
    middle: Vec3,
    half: f32,
) -> Over {
    let from = |joint: &Lower| middle - joint.position - joint.frame.binormal * half;
    // Measure relative to the segment that starts at a joint.
    let above_segment = |first: usize| {
        let (start, end) = (lower(first), lower(first + 1));
        let (offset, out) = (from(&start), end.frame.normal());
        let fraction = (offset.dot(end.frame.tangent) / end.length).clamp(0.0, 1.0);
        let height = offset.dot(out) + start.frame.binormal.dot(out) * (half * fraction);
        Over { out, height, aside: offset.dot(end.frame.binormal) }
    };
    let (here, next) = (lower(i), lower(i + 1));
    let offset = from(&here);
    if offset.dot(here.frame.tangent) < -here.length {
        return above_segment(i.saturating_sub(2));
    }
    // Use the last segment at the tip.
    if i >= last {
        return above_segment(i - 1);
    }
    if offset.dot(next.frame.tangent) > next.length {
        return above_segment((i + 1).min(last - 1));
    }
    let (before, after) = (above_segment(i - 1), above_segment(i));
    let valley = next.frame.tangent.dot(before.out) > 0.0;
    if (after.height < before.height) == valley { after } else { before }
}

/// Minimum height of a joint over the strip below (m): `gap` up to the lateral distance `on` (m), and less beyond.
pub(super) fn min_height(gap: f32, aside: f32, on: f32) -> f32 {
    gap - (aside.abs() - on).max(0.0) * ROOF
}

/// The joints that a row of joints lies on, and its minimum height over them (m).
#[derive(Clone, Copy)]
pub(super) struct RowsBelow<'a> {
    joints: &'a [Joints],
    /// Index of their positions after the step.
    now: usize,
    /// The index of the row.
    i: usize,
    gap: &'a [f32; LANES],
}

/// [`Over`] for sixteen joints, and their minimum heights (m).
pub(super) struct OverLanes<S: Simd> {
    pub(super) out: Vec3x<S>,
    pub(super) height: f32x16<S>,
    pub(super) min_height: f32x16<S>,
}

/// Constants of all joints of sixteen strips: half the width of the strips below, the lateral distance up to which
/// a strip lies on them (m), and the numbers of the last joints.
#[derive(Clone, Copy)]
pub(super) struct Ribbons<S: Simd> {
    pub(super) half: f32x16<S>,
    pub(super) on: f32x16<S>,
    pub(super) last: f32x16<S>,
}

impl<'a> RowsBelow<'a> {
    /// The rows around joint `i`.
    #[inline(always)]
    pub(super) fn new(below: &Below<'a>, gaps: &'a [[f32; LANES]], i: usize) -> Option<Self> {
        let gap = gaps.get(i)?;
        (below.joints.len() > 1).then_some(Self { joints: below.joints, now: below.now, i, gap })
    }

    /// The segments that end and start beside the joint.
    #[inline(always)]
    pub(super) fn beside<S: Simd>(
        &self,
        simd: S,
        ribbons: &Ribbons<S>,
        known: Option<Segment<S>>,
    ) -> [Segment<S>; 2] {
        let before = known.unwrap_or_else(|| self.segment(simd, ribbons, self.i - 1));
        [before, self.segment(simd, ribbons, self.i)]
    }

    /// The segment that starts at joint `k`; indices are clamped to the last joint.
    #[inline(always)]
    fn segment<S: Simd>(&self, simd: S, ribbons: &Ribbons<S>, k: usize) -> Segment<S> {
        let last = self.joints.len() - 1;
        let (start, end) = (&self.joints[k.min(last)], &self.joints[(k + 1).min(last)]);
        let before = &self.joints[k.min(last - 1)];
        Segment::new(simd, self.now, ribbons.half, [start, end, before])
    }

    /// [`over`] and [`min_height`] in lanes, of joints whose middles are given, with the
    /// segments [`beside`](Self::beside) them.
    #[inline(always)]
    pub(super) fn over<S: Simd>(
        &self,
        simd: S,
        middle: Vec3x<S>,
        ribbons: &Ribbons<S>,
        [before, after]: &[Segment<S>; 2],
    ) -> OverLanes<S> {
        let i = self.i as f32;
        let (first, second) = (before.above(simd, middle), after.above(simd, middle));
        let valley = after.tangent.dot(before.out).simd_gt(0.0);
        let lower = second.height.simd_lt(first.height);
        // Use the last segment at the tip.
        let before_tip = ribbons.last.simd_gt(i);
        let mut found = second.or(!(valley ^ lower) & before_tip, first);
        // Use a farther segment where the joint is beyond both.
        let offset = middle - after.start;
        let short = (offset.dot(before.tangent) + before.length).simd_lt(0.0);
        let far = second.along.simd_gt(after.length) & !short & before_tip;
        if (short | far).any_true() {
            let farther = self.segment(simd, ribbons, self.i + 1).above(simd, middle);
            let farther = farther.or(ribbons.last.simd_gt(i + 1.0), second);
            let nearer = self.segment(simd, ribbons, self.i.saturating_sub(2)).above(simd, middle);
            found = nearer.or(short, farther.or(far, found));
        }
        let off = (found.aside.abs() - ribbons.on).max(f32x16::splat(simd, 0.0));
        OverLanes {
            out: found.out,
            height: found.height,
            min_height: f32x16::from_slice(simd, self.gap) - off * ROOF,
        }
    }
}

/// Positions of sixteen joints relative to segments.
#[derive(Clone, Copy)]
struct Above<S: Simd> {
    out: Vec3x<S>,
    /// Distances along the segment from its start, along its normal and across it (m).
    along: f32x16<S>,
    height: f32x16<S>,
    aside: f32x16<S>,
}

impl<S: Simd> Above<S> {
    /// `self` where the mask is set, `other` elsewhere; `along` is always that of `self`.
    #[inline(always)]
    fn or(self, mask: mask32x16<S>, other: Self) -> Self {
        Self {
            out: self.out.or(mask, other.out),
            along: self.along,
            height: mask.select(self.height, other.height),
            aside: mask.select(self.aside, other.aside),
        }
    }
}

/// Segments of sixteen lower strips.
#[derive(Clone, Copy)]
pub(super) struct Segment<S: Simd> {
    /// Start of their middle lines (m), their direction, normal and binormal.
    start: Vec3x<S>,
    tangent: Vec3x<S>,
    out: Vec3x<S>,
    across: Vec3x<S>,
    length: f32x16<S>,
    /// Deviation of the middle line from the plane of the segment, per length along it.
    twist: f32x16<S>,
}

impl<S: Simd> Segment<S> {
    /// The segment from joint `a` to joint `b`, of strips of half width `half` (m); its tangent is the direction from
    /// `before`, the joint before `b`.
    #[inline(always)]
    fn new(simd: S, now: usize, half: f32x16<S>, [a, b, before]: [&Joints; 3]) -> Self {
        let load = |row: &[f32; VECTOR]| Vec3x::of_row(simd, row);
        let (start, across) = (load(&a.binormal) * half, load(&b.binormal));
        let length = f32x16::from_slice(simd, &b.length);
        let per_length = f32x16::splat(simd, 1.0) / length;
        let tangent = (load(&b.position[now]) - load(&before.position[now])) * per_length;
        let out = tangent.cross(across);
        Self {
            start: start + load(&a.position[now]),
            tangent,
            out,
            across,
            length,
            twist: start.dot(out) * per_length,
        }
    }

    /// Positions of joints whose middles are given (m).
    #[inline(always)]
    fn above(&self, simd: S, middle: Vec3x<S>) -> Above<S> {
        let offset = middle - self.start;
        let along = offset.dot(self.tangent);
        let fraction = along.max(f32x16::splat(simd, 0.0)).min(self.length);
        Above {
            out: self.out,
            along,
            height: offset.dot(self.out) + self.twist * fraction,
            aside: offset.dot(self.across),
        }
    }
}
