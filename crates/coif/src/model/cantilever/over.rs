//! Height of a joint over the strip that its own lies on: one joint at a time, and sixteen.
//!
//! Both strips are represented by their middle lines. A joint is over the segment of the lower strip beside it,
//! of the four around the lower joint of the same number; out is the normal of the lower strip there, which
//! follows the scalp's. Strips are laid so that joints of one number are beside each other
//! (`groom::strips`), and slide along each other by less than a segment or two.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::block::{Below, Joints};
use crate::groom::strips::JointFrame;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, Vec3x};

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

/// Position of a joint relative to the strip below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over {
    /// The normal of the strip below.
    pub(super) out: Vec3,
    /// Along it (m), and across the strip (m).
    pub(super) height: f32,
    pub(super) aside: f32,
}

/// Position of the middle (m) of joint `i` of a strip relative to a strip of which `half` is half the width (m)
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
    // Relative to the segment that begins at a joint.
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
    // No segment begins at the tip.
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

/// Minimum height of a joint over its strip (m), `gap` if it is on it, by its lateral distance and the
/// largest one at which it is on it (m).
pub(super) fn min_height(gap: f32, aside: f32, on: f32) -> f32 {
    gap - (aside.abs() - on).max(0.0) * ROOF
}

/// The joints that a row of joints lies on, and its minimum height over them (m).
#[derive(Clone, Copy)]
pub(super) struct RowsBelow<'a> {
    joints: &'a [Joints],
    /// Which of their positions is that after the step.
    now: usize,
    /// The number of the row.
    i: usize,
    gap: &'a [f32; LANES],
}

/// The same as [`Over`] for sixteen joints, and their minimum heights (m).
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
    /// Around joint `i`.
    #[inline(always)]
    pub(super) fn new(below: &Below<'a>, gaps: &'a [[f32; LANES]], i: usize) -> Option<Self> {
        let gap = gaps.get(i)?;
        (below.joints.len() > 1).then_some(Self { joints: below.joints, now: below.now, i, gap })
    }

    /// The segment that ends beside the joint, and that which begins there.
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

    /// The segment that begins at joint `k`; the last joint stands for all beyond.
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
        // No segment begins at the tip.
        let goes_on = ribbons.last.simd_gt(i);
        let mut found = second.or(!(valley ^ lower) & goes_on, first);
        // Or one farther away.
        let offset = middle - after.start;
        let short = (offset.dot(before.tangent) + before.length).simd_lt(0.0);
        let far = second.along.simd_gt(after.length) & !short & goes_on;
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
    /// Along the segment from its start, over it and aside of it (m).
    along: f32x16<S>,
    height: f32x16<S>,
    aside: f32x16<S>,
}

impl<S: Simd> Above<S> {
    /// The values of `self` where the mask is set, else the others.
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
    /// From a joint to another of strips of which `half` is half the width (m); `before` is the joint before
    /// that other.
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
