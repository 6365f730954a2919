//! Which of sixteen points are inside of an obstacle: a quick look before each of them is treated alone.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, f32x16, mask32x16};
use glam::{Mat3A, Vec3A};

use super::{Around, Solid};
use crate::body::Shape;
use crate::math::LANES;
use crate::math::lanes::{HALF, VECTOR, Vec3x, Vec3x8};

impl Around<'_> {
    /// One bit for every point (m; all x, all y, all z) that is inside of a solid or below the body's own
    /// surface, but for rounding.
    pub(super) fn inside(&self, level: Level, points: &[f32; VECTOR]) -> u32 {
        dispatch!(level, simd => self.inside_lanes(simd, points))
    }

    #[inline(always)]
    fn inside_lanes<S: Simd>(&self, simd: S, points: &[f32; VECTOR]) -> u32 {
        let p = Vec3x::of_row(simd, points);
        let mut inside = mask32x16::splat(simd, false);
        for solid in &self.obstacles.solids {
            inside |= solid.holds(simd, p);
        }
        let mut bits = inside.to_bitmask() as u32;
        if let Some(field) = self.field {
            for half in 0..LANES / HALF {
                let p = Vec3x8::of_row(simd, points, half);
                let (distance, _) = field.field.slopes(simd, p, (1 << HALF) - 1);
                bits |= (distance.simd_lt(0.0).to_bitmask() as u32) << (half * HALF);
            }
        }
        bits
    }
}

impl Solid {
    /// Lanes whose points are inside.
    #[inline(always)]
    fn holds<S: Simd>(&self, simd: S, p: Vec3x<S>) -> mask32x16<S> {
        let way = p - Vec3x::splat(simd, self.centre.into());
        // Most points are far away.
        let near = way.dot(way).simd_le(self.reach * self.reach);
        if !near.any_true() {
            return near;
        }
        match self.shape {
            Shape::Sphere { .. } => near,
            Shape::Ellipsoid { radii } => {
                // The ellipsoid as a unit ball.
                let scaled = Mat3A::from_diagonal(radii.recip()) * self.shape_from_world;
                let local = times(simd, &scaled, way);
                near & local.dot(local).simd_le(1.0)
            }
            Shape::Capsule { half_height, radius } => {
                let mut local = times(simd, &self.shape_from_world, way);
                let axis = local.y.max(f32x16::splat(simd, -half_height));
                local.y -= axis.min(f32x16::splat(simd, half_height));
                near & local.dot(local).simd_le(radius * radius)
            }
            Shape::Plane => times(simd, &self.shape_from_world, way).y.simd_le(0.0),
        }
    }
}

/// A matrix times a vector in every lane.
#[inline(always)]
fn times<S: Simd>(simd: S, m: &Mat3A, v: Vec3x<S>) -> Vec3x<S> {
    let column = |c: Vec3A| Vec3x::splat(simd, c.into());
    column(m.x_axis) * v.x + column(m.y_axis) * v.y + column(m.z_axis) * v.z
}
