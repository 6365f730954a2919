//! Lays the strands of a block along their curves: the chain of `lay.rs` in sixteen lanes, operation by
//! operation the same.
//!
//! Each lane is at a point of its own of its curve. Lanes that go on to the next segment do so together,
//! row by row of the curve; the others keep theirs.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};

use super::blocks::{Block, Blocks};
use super::curve::{Curve, CurveRows, MeshFrames, MovingLanes, PointRow, roots};
use super::lay::{GRAZING, Moving, NOTHING, SAME};
use crate::environment::{Link, Obstacle, Onward};
use crate::math::LANES;
use crate::math::cache::prefetch_item;
use crate::math::lanes::Vec3x;
use crate::math::lines::{Line, WRITTEN, write_rows};
use crate::math::pose_lanes::AffineLanes;

/// Points in a line of the cache, roughly.
const POINTS_IN_LINE: usize = 5;

/// Memory of one task.
pub(super) struct Scratch {
    pub(super) curve: CurveRows,
    pub(super) laid: [PointRow; WRITTEN],
}

impl Scratch {
    pub(super) const EMPTY: Self =
        Self { curve: CurveRows::EMPTY, laid: [PointRow::NONE; WRITTEN] };
}

/// Chains that are being laid along the curves of a block.
struct Chains<'a, S: Simd> {
    curve: Curve<'a>,
    /// Number of the last point of each curve.
    last: f32x16<S>,
    /// The second point of the segment that each chain has come to.
    next: f32x16<S>,
    from: MovingLanes<S>,
    to: MovingLanes<S>,
    /// How far along that segment it has come, 0..1.
    fraction: f32x16<S>,
    /// Where the chains end so far.
    end: MovingLanes<S>,
    /// No chain that can still go on has a `next` below this.
    lowest: usize,
}

/// Lays the strands of a block outside of an obstacle, and writes positions, or velocities (`RATES`). The mesh and the
/// obstacle are where they are at the end of a step; from there strands are carried onward with their scalp.
///
/// Model: see [`super::lay::Chain`].
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn lay_block<S: Simd, const RATES: bool>(
    simd: S,
    blocks: &Blocks,
    block: &Block,
    mesh_frames: MeshFrames<'_>,
    obstacle: &impl Obstacle,
    onward: Option<&Onward<'_>>,
    scratch: &mut Scratch,
    lines: &mut [Line<'_, 1>],
) {
    if block.rows == 0 {
        return;
    }
    // Prefetch the memory that will be written.
    for [line] in &*lines {
        (0..line.len()).step_by(POINTS_IN_LINE).for_each(|i| prefetch_item(simd.level(), line, i));
    }
    let last = f32x16::from_slice(simd, &block.last);
    let root = roots::<S, RATES>(simd, block, mesh_frames);
    let laid = &mut scratch.laid;
    laid[0].store::<S, RATES>(&root);
    // Below the skin a strand may be as long as it takes it to get out.
    let mut allowed = [0.0; LANES];
    for_lanes(obstacle.may_hold(&laid[0].at), |k| allowed[k] = obstacle.depth(laid[0].lane(k).at));
    let mut allowed = f32x16::from_slice(simd, &allowed);
    let curve = Curve::new(blocks, block, mesh_frames, &mut scratch.curve);
    let mut chains = Chains::new(simd, curve, last, root);
    // No closures around operations in lanes: they are compiled without the instruction set.
    let mut carried = None;
    if let Some(onward) = onward {
        carried = Some(onward.carried(simd, &block.strands));
    }
    let mut written = 0;
    for i in 1..block.rows {
        let length = f32x16::from_slice(simd, &blocks.row(block.first_row + i).0.length);
        let parents = chains.end;
        let active = last.simd_ge(f32x16::splat(simd, i as f32));
        chains.curve.prepare::<S, RATES>(simd, chains.lowest);
        if i == 1 {
            chains.to = chains.curve.row::<S, RATES>(simd, 1);
        }
        chains.link::<RATES>(simd, length, active);
        if i - written == WRITTEN {
            write::<S, RATES>(simd, laid, WRITTEN, written, &carried, lines);
            written = i;
        }
        let row = &mut laid[i - written];
        row.store::<S, RATES>(&chains.end);
        allowed = (allowed - length).max(f32x16::splat(simd, 0.0));
        let inside = obstacle.may_hold(&row.at) & active.to_bitmask() as u32;
        if inside != 0 {
            let mut before = PointRow::NONE;
            before.store::<S, RATES>(&parents);
            for_lanes(inside, |k| {
                let here = row.lane(k);
                let link = Link { parent: before.lane(k).at, length: length[k], wanted: here.at };
                if let Some(collision) = obstacle.place(&link, allowed[k]) {
                    let into = (here.velocity - collision.velocity).dot(collision.normal).min(0.0);
                    let velocity = here.velocity - collision.normal * into;
                    row.set_lane(k, Moving { at: collision.at, velocity });
                }
            });
            chains.end = row.load::<S, RATES>(simd);
        }
    }
    write::<S, RATES>(simd, laid, block.rows - written, written, &carried, lines);
}

/// Does something for every lane whose bit is set.
#[inline(always)]
fn for_lanes(bits: u32, mut visit: impl FnMut(usize)) {
    let mut left = bits & ((1 << LANES) - 1);
    while left != 0 {
        visit(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// Writes so many rows to the strands, from the point `first` on.
#[inline(always)]
fn write<S: Simd, const RATES: bool>(
    simd: S,
    rows: &mut [PointRow; WRITTEN],
    count: usize,
    first: usize,
    carried: &Option<AffineLanes<S>>,
    lines: &mut [Line<'_, 1>],
) {
    if let Some(carried) = carried {
        for row in rows.iter_mut().take(count) {
            let row = if RATES { &mut row.velocity } else { &mut row.at };
            carried.point(Vec3x::of_row(simd, row)).to_row(row);
        }
    }
    let row = |i: usize| Vec3x::of_row(simd, if RATES { &rows[i].velocity } else { &rows[i].at });
    write_rows(simd, row, count, first, lines);
}

impl<'a, S: Simd> Chains<'a, S> {
    /// Starts at the roots; the first segments are not set yet.
    #[inline(always)]
    fn new(simd: S, curve: Curve<'a>, last: f32x16<S>, root: MovingLanes<S>) -> Self {
        let (zero, next) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0));
        Self { curve, last, next, from: root, to: root, fraction: zero, end: root, lowest: 1 }
    }

    /// Lays a link of each lane's length (m); see [`super::lay::Chain::link`].
    #[inline(always)]
    fn link<const RATES: bool>(&mut self, simd: S, length: f32x16<S>, active: mask32x16<S>) {
        let (q, one) = (self.end, f32x16::splat(simd, 1.0));
        // Leave segments behind whose end is within the link's reach.
        let within = length * (1.0 - SAME);
        let mut reached = (self.to.at - q.at).length();
        loop {
            let on = self.next.simd_lt(self.last) & reached.simd_lt(within);
            if !on.any_true() {
                break;
            }
            self.step::<RATES>(simd, on);
            reached = (self.to.at - q.at).length();
        }
        let same = (reached - length).abs().simd_le(length * SAME);
        let d = self.to.at - self.from.at;
        if (same | !active).all_true() {
            // All are on the points of their curves.
            self.fraction = one;
            self.end = self.to;
            if RATES {
                self.end.velocity = slid(simd, &self.to, q, d);
            }
            return;
        }
        // |a + s d - q| = l, where the curve leaves the ball.
        let start = self.from.at + d * self.fraction - q.at;
        let beside = !same & start.dot(start).simd_gt(length * length);
        let away = self.from.at - q.at;
        let (dd, ad) = (d.dot(d), away.dot(d));
        let nothing = !same & dd.simd_lt(NOTHING * NOTHING);
        let zero = f32x16::splat(simd, 0.0);
        let root = (ad * ad - dd * (away.dot(away) - length * length)).max(zero).sqrt();
        let fraction = ((root - ad) / dd).max(self.fraction);
        let before = self.fraction;
        self.fraction = same.select(one, (nothing | beside).select(before, fraction));
        let mut end = self.at::<RATES>(self.fraction);
        let on_point = self.fraction.simd_eq(one);
        end.at = self.to.at.or(on_point | nothing, end.at);
        if RATES {
            end.velocity = self.to.velocity.or(on_point | nothing, end.velocity);
            end.velocity = end.velocity.or(nothing, slid(simd, &end, q, d));
        }
        self.end = end;
        if (beside & active).any_true() {
            self.return_to_curve::<RATES>(simd, length, beside & active, q);
        }
    }

    /// Lets some lanes go to the next segments of their curves.
    #[inline(always)]
    fn step<const RATES: bool>(&mut self, simd: S, lanes: mask32x16<S>) {
        self.from = or::<S, RATES>(self.to, lanes, self.from);
        self.fraction = lanes.select(f32x16::splat(simd, 0.0), self.fraction);
        self.next = lanes.select(self.next + 1.0, self.next);
        // Load their rows, the lowest first.
        let mut wanted = lanes;
        let mut i = self.lowest;
        loop {
            let here = self.next.simd_eq(f32x16::splat(simd, i as f32));
            if (here & wanted).any_true() {
                self.to =
                    or::<S, RATES>(self.curve.row::<S, RATES>(simd, i), here & wanted, self.to);
                wanted &= !here;
                if !wanted.any_true() {
                    break;
                }
            }
            if i == self.lowest && !(here & self.next.simd_lt(self.last)).any_true() {
                self.lowest += 1;
            }
            i += 1;
        }
    }

    /// Lets some lanes go on from beside their curves; see [`super::lay::Chain::return_to_curve`].
    #[inline(always)]
    fn return_to_curve<const RATES: bool>(
        &mut self,
        simd: S,
        length: f32x16<S>,
        lanes: mask32x16<S>,
        q: MovingLanes<S>,
    ) {
        let (mut left, mut going) = (length, lanes);
        let nothing = f32x16::splat(simd, NOTHING);
        loop {
            let whole = (self.from.at - self.to.at).length();
            let rest = whole * (f32x16::splat(simd, 1.0) - self.fraction);
            let stop = going & (left.simd_le(rest) | self.next.simd_ge(self.last));
            self.fraction = stop.select(self.fraction + left / whole.max(nothing), self.fraction);
            going &= !stop;
            if !going.any_true() {
                break;
            }
            left -= rest;
            self.step::<RATES>(simd, going);
        }
        let aim = self.at::<RATES>(self.fraction);
        let offset = aim.at - q.at;
        let u = offset * (f32x16::splat(simd, 1.0) / offset.length().max(nothing));
        let mut end = MovingLanes { at: q.at + u * length, velocity: aim.velocity };
        if RATES {
            end.velocity = aim.velocity - u * u.dot(aim.velocity - q.velocity);
        }
        self.end = or::<S, RATES>(end, lanes, self.end);
    }

    /// A point of the present segments.
    #[inline(always)]
    fn at<const RATES: bool>(&self, fraction: f32x16<S>) -> MovingLanes<S> {
        let at = self.from.at + (self.to.at - self.from.at) * fraction;
        let mut velocity = self.from.velocity;
        if RATES {
            velocity += (self.to.velocity - self.from.velocity) * fraction;
        }
        MovingLanes { at, velocity }
    }
}

/// The velocities of points on segments `d` that keep their distance from `q`.
#[inline(always)]
fn slid<S: Simd>(simd: S, here: &MovingLanes<S>, q: MovingLanes<S>, d: Vec3x<S>) -> Vec3x<S> {
    let link = here.at - q.at;
    let rate = link.dot(d);
    let min_rate2 = f32x16::splat(simd, GRAZING * GRAZING) * d.dot(d) * link.dot(link);
    let slides = (rate * rate).simd_gt(min_rate2);
    let slide = d * (link.dot(q.velocity - here.velocity) / rate);
    (here.velocity + slide).or(slides, here.velocity)
}

/// `a` where the mask is set, `b` elsewhere.
#[inline(always)]
fn or<S: Simd, const RATES: bool>(
    a: MovingLanes<S>,
    mask: mask32x16<S>,
    b: MovingLanes<S>,
) -> MovingLanes<S> {
    let velocity = if RATES { a.velocity.or(mask, b.velocity) } else { b.velocity };
    MovingLanes { at: a.at.or(mask, b.at), velocity }
}
