//! Broad phase: which shapes some hair may collide with, eight shapes at a time.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x8};
use glam::Vec3;

use super::PosedShape;
use crate::math::Bits;
use crate::math::lanes::HALF;

/// All colliders at one moment, with two levels of bounding balls in lanes: one ball per collider, and one around each
/// eight. Colliders of one character are adjacent.
#[derive(Debug, Clone, Default)]
pub(crate) struct PosedShapes {
    pub(crate) all: Vec<PosedShape>,
    balls: Vec<Balls>,
    groups: Vec<Balls>,
}

/// Eight balls: x, y, z, radius (m).
type Balls = [[f32; HALF]; 4];

/// Balls at infinity, for lanes without a shape.
const NOTHING: Balls = [[f32::INFINITY; HALF], [0.0; HALF], [0.0; HALF], [0.0; HALF]];

impl PosedShapes {
    /// Replaces the colliders, reusing the memory.
    pub(crate) fn refill(&mut self, shapes: impl Iterator<Item = PosedShape>) {
        self.all.clear();
        self.all.extend(shapes);
        self.balls.clear();
        self.groups.clear();
        for (k, eight) in self.all.chunks(HALF).enumerate() {
            let mut balls = NOTHING;
            let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for (l, shape) in eight.iter().enumerate() {
                set_ball(&mut balls, l, shape.centre, shape.reach);
                (lo, hi) = (lo.min(shape.centre), hi.max(shape.centre));
            }
            self.balls.push(balls);
            if k % HALF == 0 {
                self.groups.push(NOTHING);
            }
            let middle = 0.5 * (lo + hi);
            let far = |s: &PosedShape| s.centre.distance(middle) + s.reach;
            if let Some(group) = self.groups.last_mut() {
                set_ball(group, k % HALF, middle, eight.iter().map(far).fold(0.0, f32::max));
            }
        }
    }
}

fn set_ball(balls: &mut Balls, l: usize, middle: Vec3, reach: f32) {
    for (to, v) in balls.iter_mut().zip([middle.x, middle.y, middle.z, reach]) {
        to[l] = v;
    }
}

/// One bit for each of eight balls that a ball overlaps.
#[inline(always)]
fn overlapping<S: Simd>(simd: S, [x, y, z, size]: &Balls, middle: Vec3, radius: f32) -> Bits {
    let row = |row: &[f32; HALF]| f32x8::from_slice(simd, row);
    let (x, y, z) = (row(x) - middle.x, row(y) - middle.y, row(z) - middle.z);
    let size = row(size) + radius;
    Bits((x * x + y * y + z * z).simd_lt(size * size).to_bitmask())
}

/// The shapes near some hair.
pub(crate) struct Near<'a> {
    shapes: &'a PosedShapes,
    picked: [u32; MAX_NEAR],
    /// Lower bound of their distance from the anchors (m).
    begins: [f32; MAX_NEAR],
    /// Above [`MAX_NEAR`], all shapes count as near.
    count: usize,
}

/// Most shapes in the list of near ones.
const MAX_NEAR: usize = 48;

impl<'a> Near<'a> {
    /// None of some shapes.
    #[inline(always)]
    pub(crate) fn new(shapes: &'a PosedShapes) -> Self {
        Self { shapes, picked: [0; MAX_NEAR], begins: [0.0; MAX_NEAR], count: 0 }
    }

    /// Those of some shapes that may come within `reach` (m) of a point.
    #[inline(always)]
    pub(crate) fn pick<S: Simd>(simd: S, shapes: &'a PosedShapes, point: Vec3, reach: f32) -> Self {
        let mut near = Self::new(shapes);
        near.add(simd, point, 0.0, reach);
        near
    }

    /// Adds those that may come within `reach` (m) of a ball around some anchors.
    #[inline(always)]
    pub(crate) fn add<S: Simd>(&mut self, simd: S, middle: Vec3, radius: f32, reach: f32) {
        let farthest = radius + reach;
        for (g, group) in self.shapes.groups.iter().enumerate() {
            for k in overlapping(simd, group, middle, farthest).map(|k| g * HALF + k) {
                for l in overlapping(simd, &self.shapes.balls[k], middle, farthest) {
                    self.take(k * HALF + l, middle, radius, reach);
                }
            }
        }
    }

    /// Adds one to the list, or lowers its distance there.
    #[inline(always)]
    fn take(&mut self, i: usize, middle: Vec3, radius: f32, reach: f32) {
        let shape = &self.shapes.all[i];
        // The ball around a plane is infinite.
        if shape.plane && !shape.may_reach(middle, radius + reach) {
            return;
        }
        let begins = shape.centre.distance(middle) - shape.reach - radius;
        let known = &self.picked[..self.count.min(MAX_NEAR)];
        if let Some(k) = known.iter().position(|&picked| picked == i as u32) {
            self.begins[k] = self.begins[k].min(begins);
            return;
        }
        if let Some(picked) = self.picked.get_mut(self.count) {
            *picked = i as u32;
            self.begins[self.count] = begins;
        }
        self.count += 1;
    }

    /// Each of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a PosedShape> {
        self.iter(f32::INFINITY).map(|(_, shape)| shape)
    }

    /// Each of them whose distance from the anchors may be below `within` (m), and its index in the list.
    #[inline(always)]
    pub(crate) fn iter(&self, within: f32) -> impl Iterator<Item = (usize, &'a PosedShape)> {
        let all = self.count > MAX_NEAR;
        let count = if all { self.shapes.all.len() } else { self.count };
        let shapes = self.shapes;
        (0..count)
            .filter(move |&i| all || self.begins[i] <= within)
            .map(move |i| (i, &shapes.all[if all { i } else { self.picked[i] as usize }]))
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::super::testing::{points, shapes as kinds, still};
    use super::*;

    #[test]
    fn what_is_near_is_found_in_lanes() {
        let all: Vec<PosedShape> =
            points().enumerate().map(|(i, p)| still(kinds()[i % 4], p * 4.0)).take(45).collect();
        let mut shapes = PosedShapes::default();
        shapes.refill(all.iter().copied());
        for (k, p) in points().enumerate() {
            let radius = 0.02 * k as f32;
            let expected = all.iter().filter(|s| s.may_reach(p, radius)).map(|s| s.centre);
            let found: Vec<Vec3> = dispatch!(Level::new(), simd => {
                Near::pick(simd, &shapes, p, radius).all().map(|s| s.centre).collect()
            });
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
