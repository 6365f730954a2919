//! Broad phase: the colliders that a few rows of particles could collide with.
//!
//! Colliders lie in lanes here; sixteen of them are tested at once against a box or a ball around all places that the next
//! points can have. The others are skipped for these points.

use fearless_simd::{Select, Simd, SimdBase, SimdMask, f32x8, f32x16, mask32x8, mask32x16};
use glam::Vec3;

use super::collider::StepCollider;
use super::contact::level_of;
use crate::math::lanes::{Vec3x, Vec3x8};
use crate::math::{Bits, LANES};

/// Number of colliders with a bit of their own. All further ones share the last bit and always count as
/// near.
const SINGLE: usize = 63;

/// Distance (m) that the broad phase adds to a path: more than the rounding of positions ten metres from the origin. Less
/// could leave out a collider that a point grazes.
const MARGIN: f32 = 1e-5;

/// Rounding of positions and distances, relative to coordinates.
const ROUNDING: f32 = 1e-6;

/// An axis-aligned box in the world (m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) lo: Vec3,
    pub(super) hi: Vec3,
}

/// Some of the colliders, one bit each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near<'a> {
    all: &'a [StepCollider],
    bits: u64,
}

impl<'a> Near<'a> {
    /// None of them.
    #[inline(always)]
    pub(super) fn none(all: &'a [StepCollider]) -> Self {
        Self { all, bits: 0 }
    }

    /// All of them.
    #[cfg(test)]
    pub(super) fn all(all: &'a [StepCollider]) -> Self {
        Self { all, bits: if all.len() > SINGLE { u64::MAX } else { (1 << all.len()) - 1 } }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.bits == 0
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.shared().len() + (self.bits & !(1 << SINGLE)).count_ones() as usize
    }

    /// Those without a bit of their own.
    #[inline(always)]
    fn shared(&self) -> &'a [StepCollider] {
        let rest = self.all.get(SINGLE..).unwrap_or_default();
        if self.bits >> SINGLE != 0 { rest } else { &[] }
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a StepCollider> + Clone {
        self.numbered().map(|(_, collider)| collider)
    }

    /// Each with its index among all colliders.
    #[inline(always)]
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &'a StepCollider)> + Clone {
        let all = self.all;
        let single = Bits(self.bits & !(1 << SINGLE)).filter_map(|c| Some((c, all.get(c)?)));
        let shared = self.shared().iter().enumerate().map(|(c, collider)| (SINGLE + c, collider));
        single.chain(shared)
    }

    /// The lanes of points that are inside of any collider.
    #[inline(always)]
    pub(super) fn hold_row<S: Simd>(&self, simd: S, p: Vec3x<S>) -> mask32x16<S> {
        let mut inside = mask32x16::splat(simd, false);
        for c in Bits(self.bits & !(1 << SINGLE)) {
            if let Some(collider) = self.all.get(c) {
                inside |= level_of_row(simd, collider, p).simd_lt(1.0);
            }
        }
        for collider in self.shared() {
            inside |= level_of_row(simd, collider, p).simd_lt(1.0);
        }
        inside
    }

    /// The same in two halves.
    #[inline(always)]
    pub(super) fn hold<S: Simd>(&self, simd: S, p: [Vec3x8<S>; 2]) -> [mask32x8<S>; 2] {
        let outside = mask32x8::splat(simd, false);
        let mut inside = [outside; 2];
        for c in Bits(self.bits & !(1 << SINGLE)) {
            if let Some(collider) = self.all.get(c) {
                for half in 0..2 {
                    inside[half] |= level(simd, collider, p[half]).simd_lt(1.0);
                }
            }
        }
        for collider in self.shared() {
            for half in 0..2 {
                inside[half] |= level(simd, collider, p[half]).simd_lt(1.0);
            }
        }
        inside
    }
}

/// Level function of a collider at each point: 1 on the surface, less inside.
#[inline(always)]
fn level<S: Simd>(simd: S, c: &StepCollider, p: Vec3x8<S>) -> f32x8<S> {
    if c.sweep > 0.0 || c.plane {
        return level_of(simd, c, p).1;
    }
    let d = p - Vec3x8::splat(simd, c.centre);
    let [xx, yy, zz, xy, xz, yz] = c.form;
    d.x * (d.x * xx + d.y * xy + d.z * xz) + d.y * (d.y * yy + d.z * yz) + d.z * d.z * zz
}

/// The same for a whole row.
#[inline(always)]
fn level_of_row<S: Simd>(simd: S, c: &StepCollider, p: Vec3x<S>) -> f32x16<S> {
    if c.sweep > 0.0 || c.plane {
        let m = &c.to_ball;
        let y = p.x * m.x_axis.y + p.y * m.y_axis.y + p.z * m.z_axis.y - c.ball_centre.y;
        if c.plane {
            return y + 1.0;
        }
        let x = p.x * m.x_axis.x + p.y * m.y_axis.x + p.z * m.z_axis.x - c.ball_centre.x;
        let z = p.x * m.x_axis.z + p.y * m.y_axis.z + p.z * m.z_axis.z - c.ball_centre.z;
        let y = y - y.max(f32x16::splat(simd, -c.sweep)).min(f32x16::splat(simd, c.sweep));
        return x * x + y * y + z * z;
    }
    let d = p - Vec3x::splat(simd, c.centre);
    let [xx, yy, zz, xy, xz, yz] = c.form;
    d.x * (d.x * xx + d.y * xy + d.z * xz) + d.y * (d.y * yy + d.z * yz) + d.z * d.z * zz
}

/// Sixteen colliders in lanes, for comparison with a box or a ball.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// See [`StepCollider`]: columns of `to_ball`, then `ball_centre`.
    to_ball: [[[f32; LANES]; 3]; 4],
    sweep: [f32; LANES],
    /// 1 for planes.
    plane: [f32; LANES],
    /// See [`StepCollider::steepest`].
    steepest: [f32; LANES],
    /// Boxes around them (m).
    lo: [[f32; LANES]; 3],
    hi: [[f32; LANES]; 3],
}

impl Group {
    /// Lanes without a collider have an empty box.
    const EMPTY: Self = Self {
        to_ball: [[[0.0; LANES]; 3]; 4],
        sweep: [0.0; LANES],
        plane: [0.0; LANES],
        steepest: [0.0; LANES],
        lo: [[f32::INFINITY; LANES]; 3],
        hi: [[f32::NEG_INFINITY; LANES]; 3],
    };

    /// Lays colliders out in lanes.
    pub(super) fn lay_out(colliders: &[StepCollider], groups: &mut Vec<Self>) {
        groups.clear();
        for some in colliders[..colliders.len().min(SINGLE)].chunks(LANES) {
            let mut group = Self::EMPTY;
            for (l, c) in some.iter().enumerate() {
                let m = &c.to_ball;
                let columns = [m.x_axis, m.y_axis, m.z_axis, c.ball_centre];
                let bounds = c.bounds();
                for i in 0..3 {
                    for k in 0..4 {
                        group.to_ball[k][i][l] = columns[k][i];
                    }
                    group.lo[i][l] = bounds.lo[i];
                    group.hi[i][l] = bounds.hi[i];
                }
                group.sweep[l] = c.sweep;
                group.plane[l] = f32::from(c.plane);
                group.steepest[l] = c.steepest;
            }
            groups.push(group);
        }
    }

    /// Those that may overlap a box: by their own boxes, and by a ball around the box in the scale
    /// of their unit balls. One bit each.
    #[inline(always)]
    fn reach<S: Simd>(&self, simd: S, bounds: &Bounds) -> u64 {
        let mut overlap = mask32x16::splat(simd, true);
        for i in 0..3 {
            overlap &= load(simd, &self.lo[i]).simd_le(bounds.hi[i])
                & load(simd, &self.hi[i]).simd_ge(bounds.lo[i]);
        }
        if !overlap.any_true() {
            return 0;
        }
        let (centre, extent) = ((bounds.lo + bounds.hi) * 0.5, (bounds.hi - bounds.lo) * 0.5);
        let [x, y, z, ball] = &self.to_ball;
        let (x, y, z) = (columns(simd, x), columns(simd, y), columns(simd, z));
        let mut s = weighted(x, y, z, centre) - columns(simd, ball);
        let size = weighted(abs(x), abs(y), abs(z), extent);
        let below = s.y.simd_lt(size.y);
        let sweep = load(simd, &self.sweep);
        s.y = s.y - s.y.max(-sweep).min(sweep);
        let reach = size.length() + 1.0;
        let round = s.dot(s).simd_lt(reach * reach);
        let plane = load(simd, &self.plane).simd_gt(0.5);
        (plane.select(below, round) & overlap).to_bitmask()
    }

    /// Those that may overlap a ball, by a ball around it in the scale of their unit balls. One bit each; what is not a
    /// number counts as overlapping.
    #[inline(always)]
    fn reach_ball<S: Simd>(&self, simd: S, centre: Vec3, radius: f32) -> u64 {
        let [x, y, z, ball] = &self.to_ball;
        let (x, y, z) = (columns(simd, x), columns(simd, y), columns(simd, z));
        let mut s = weighted(x, y, z, centre) - columns(simd, ball);
        let above = s.y;
        let sweep = load(simd, &self.sweep);
        s.y = s.y - s.y.max(-sweep).min(sweep);
        let reach = load(simd, &self.steepest) * radius + 1.0;
        let plane = load(simd, &self.plane).simd_gt(0.5);
        let outside = plane.select(above.simd_ge(radius), s.dot(s).simd_ge(reach * reach));
        !outside.to_bitmask() & 0xffff
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, row: &[f32; LANES]) -> f32x16<S> {
    f32x16::from_slice(simd, row)
}

#[inline(always)]
fn columns<S: Simd>(simd: S, [x, y, z]: &[[f32; LANES]; 3]) -> Vec3x<S> {
    Vec3x { x: load(simd, x), y: load(simd, y), z: load(simd, z) }
}

#[inline(always)]
fn weighted<S: Simd>(x: Vec3x<S>, y: Vec3x<S>, z: Vec3x<S>, weights: Vec3) -> Vec3x<S> {
    let splat = Vec3x::splat(x.x.simd, weights);
    x * splat.x + y * splat.y + z * splat.z
}

#[inline(always)]
fn abs<S: Simd>(v: Vec3x<S>) -> Vec3x<S> {
    Vec3x { x: v.x.abs(), y: v.y.abs(), z: v.z.abs() }
}

/// The colliders that may overlap a box.
#[inline(always)]
pub(super) fn near_box<'a, S: Simd>(
    simd: S,
    all: &'a [StepCollider],
    groups: &[Group],
    bounds: &Bounds,
) -> Near<'a> {
    let mut bits = if all.len() > SINGLE { 1 << SINGLE } else { 0 };
    for (g, group) in groups.iter().enumerate() {
        bits |= group.reach(simd, bounds) << (g * LANES);
    }
    Near { all, bits }
}

/// The colliders that places within a path of this length (m) from points can be inside of.
#[inline(always)]
pub(super) fn near_path<'a, S: Simd>(
    simd: S,
    all: &'a [StepCollider],
    groups: &[Group],
    from: Vec3x<S>,
    path: f32,
) -> Near<'a> {
    let lane = |l: usize| from.lane(l);
    let centre = 0.25 * ((lane(0) + lane(5)) + (lane(10) + lane(15)));
    let off = from - Vec3x::splat(simd, centre);
    let radius = off.dot(off).reduce_max().sqrt() + path;
    // Positions are rounded, and so are distances in the scale of unit balls.
    let radius = radius + MARGIN + ROUNDING * (centre.abs().max_element() + radius);
    let own = if all.len() < SINGLE { (1 << all.len()) - 1 } else { u64::MAX };
    let mut bits = if all.len() > SINGLE { 1 << SINGLE } else { 0 };
    for (g, group) in groups.iter().enumerate() {
        bits |= (group.reach_ball(simd, centre, radius) << (g * LANES)) & own;
    }
    Near { all, bits }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use glam::Quat;
    use proptest::prelude::*;

    use super::super::collider::tests::fixed;
    use super::*;
    use crate::body::Shape;
    use crate::math::lanes::{VECTOR, set_lane};
    use crate::math::testing::vec3;

    fn shapes(turn: f32) -> Vec<StepCollider> {
        let turn = Quat::from_rotation_z(turn) * Quat::from_rotation_x(turn * 0.7);
        [
            Shape::Ellipsoid { radii: Vec3::new(0.1, 0.3, 0.05) },
            Shape::Capsule { half_height: 0.2, radius: 0.06 },
            Shape::Sphere { radius: 0.2 },
            Shape::Plane,
        ]
        .map(|shape| fixed(shape, Vec3::new(0.05, 0.0, 0.0), turn))
        .to_vec()
    }

    fn near<'a>(all: &'a [StepCollider], lo: Vec3, hi: Vec3) -> Near<'a> {
        let mut groups = Vec::new();
        Group::lay_out(all, &mut groups);
        dispatch!(Level::new(), simd => near_box(simd, all, &groups, &Bounds { lo, hi }))
    }

    proptest! {
        /// The level function agrees with the exact test.
        #[test]
        fn levels_agree_with_the_exact_test(p in vec3(0.4), turn in -3.0f32..3.0) {
            for collider in shapes(turn) {
                let level = dispatch!(Level::new(),
                    simd => level(simd, &collider, Vec3x8::splat(simd, p))[0]);
                let inside = collider.inside(p).is_some();
                prop_assert!((level - 1.0).abs() < 1e-5 || (level < 1.0) == inside);
            }
        }

        /// A collider that contains the end of a path is near the path's beginning.
        #[test]
        fn a_collider_at_the_end_of_a_path_is_near(
            from in prop::collection::vec(vec3(0.5), LANES),
            by in vec3(0.2),
            lane in 0..LANES,
            turn in -3.0f32..3.0,
        ) {
            let (all, mut groups, mut row) = (shapes(turn), Vec::new(), [0.0; VECTOR]);
            Group::lay_out(&all, &mut groups);
            for (l, &p) in from.iter().enumerate() {
                set_lane(&mut row, 0, l, p);
            }
            let near = dispatch!(Level::new(),
                simd => near_path(simd, &all, &groups, Vec3x::of_row(simd, &row), by.length()));
            for (c, collider) in all.iter().enumerate() {
                prop_assert!(collider.inside(from[lane] + by).is_none() || near.bits >> c & 1 == 1);
            }
        }

        /// The level function of a row agrees with that of a half.
        #[test]
        fn levels_of_rows_and_halves_agree(p in vec3(0.4), turn in -3.0f32..3.0) {
            for collider in shapes(turn) {
                let (row, half) = dispatch!(Level::new(), simd => (
                    level_of_row(simd, &collider, Vec3x::splat(simd, p))[3],
                    level(simd, &collider, Vec3x8::splat(simd, p))[3],
                ));
                prop_assert_eq!(row, half);
            }
        }

        /// A collider that contains a point of a box is near the box.
        #[test]
        fn what_holds_a_point_is_near(
            p in vec3(0.4),
            below in vec3(0.2),
            above in vec3(0.2),
            turn in -3.0f32..3.0,
        ) {
            let all = shapes(turn);
            let near = near(&all, p - below.abs(), p + above.abs());
            for (c, collider) in all.iter().enumerate() {
                prop_assert!(collider.inside(p).is_none() || near.bits >> c & 1 == 1);
            }
        }
    }

    #[test]
    fn what_is_far_is_not_near() {
        let all = shapes(0.0);
        assert_eq!(near(&all, Vec3::splat(0.9), Vec3::splat(1.0)).len(), 0);
        assert_eq!(near(&all, Vec3::splat(-0.01), Vec3::splat(0.01)).len(), 4);
    }

    #[test]
    fn colliders_beyond_the_bits_are_always_near() {
        let all: Vec<StepCollider> = (0..70)
            .map(|c| fixed(Shape::Sphere { radius: 0.1 }, Vec3::X * c as f32, Quat::IDENTITY))
            .collect();
        assert_eq!(Near::all(&all).iter().count(), 70);
        let near = near(&all, Vec3::X * 2.9, Vec3::X * 3.1);
        assert_eq!(near.len(), 8);
        assert_eq!(near.iter().filter(|c| c.centre.x > 62.5).count(), 7);
    }
}
