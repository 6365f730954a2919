//! Queries of a posed shape for sixteen points at once.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16};
use glam::{Mat3, Vec3};

use super::PosedShape;
use crate::body::Shape;
use crate::math::lanes::Vec3x;
use crate::math::unit_ball::NO_GRADIENT;

/// A matrix times a vector in every lane.
#[inline(always)]
fn times<S: Simd>(simd: S, m: &Mat3, v: Vec3x<S>) -> Vec3x<S> {
    let column = |c: Vec3| Vec3x::splat(simd, c);
    column(m.x_axis) * v.x + column(m.y_axis) * v.y + column(m.z_axis) * v.z
}

impl PosedShape {
    /// Velocity (m/s) of the material at sixteen points.
    #[inline(always)]
    pub(crate) fn velocities<S: Simd>(&self, simd: S, p: Vec3x<S>) -> Vec3x<S> {
        times(simd, &self.spin, p) + Vec3x::splat(simd, self.drift)
    }

    /// Points of the unit ball, or of the half space.
    #[inline(always)]
    fn in_ball<S: Simd>(&self, simd: S, p: Vec3x<S>) -> Vec3x<S> {
        let [x, y, z] = [self.to_ball.x_axis, self.to_ball.y_axis, self.to_ball.z_axis];
        let mut s = Vec3x {
            x: p.x * x.x + p.y * y.x + p.z * z.x - self.ball_centre.x,
            y: p.x * x.y + p.y * y.y + p.z * z.y - self.ball_centre.y,
            z: p.x * x.z + p.y * y.z + p.z * z.z - self.ball_centre.z,
        };
        if self.sweep > 0.0 {
            let sweep = f32x16::splat(simd, self.sweep);
            s.y -= s.y.max(sweep * -1.0).min(sweep);
        }
        s
    }

    /// [`may_reach`](Self::may_reach) into balls around sixteen points.
    #[inline(always)]
    pub(crate) fn may_reach_lanes<S: Simd>(
        &self,
        simd: S,
        p: Vec3x<S>,
        radius: f32x16<S>,
    ) -> mask32x16<S> {
        if self.plane {
            return self.in_ball(simd, p).y.simd_lt(radius);
        }
        let (from_centre, reach) = (p - Vec3x::splat(simd, self.centre), radius + self.reach);
        from_centre.dot(from_centre).simd_lt(reach * reach)
    }

    /// Which of sixteen points may be nearer than a radius (m): all that are, and some others.
    #[inline(always)]
    pub(crate) fn may_overlap<S: Simd>(
        &self,
        simd: S,
        p: Vec3x<S>,
        radius: f32x16<S>,
    ) -> mask32x16<S> {
        let s = self.in_ball(simd, p);
        if self.plane {
            return s.y.simd_lt(radius);
        }
        let limit = radius.max(f32x16::splat(simd, 0.0)) * self.steepest + 1.0;
        s.dot(s).simd_lt(limit * limit)
    }

    /// [`tangent_plane`](Self::tangent_plane) of sixteen points.
    #[inline(always)]
    pub(crate) fn tangent_planes<S: Simd>(&self, simd: S, p: Vec3x<S>) -> (Vec3x<S>, f32x16<S>) {
        let m = &self.to_ball;
        let splat = |v: f32| f32x16::splat(simd, v);
        let s = self.in_ball(simd, p);
        if self.plane {
            return (Vec3x::splat(simd, m.transpose() * Vec3::Y), s.y);
        }
        let level2 = s.dot(s);
        let gradient = Vec3x {
            x: s.x * m.x_axis.x + s.y * m.x_axis.y + s.z * m.x_axis.z,
            y: s.x * m.y_axis.x + s.y * m.y_axis.y + s.z * m.y_axis.z,
            z: s.x * m.z_axis.x + s.y * m.z_axis.y + s.z * m.z_axis.z,
        };
        let size2 = gradient.dot(gradient);
        let inverse = splat(1.0) / size2.max(splat(NO_GRADIENT)).sqrt();
        let mut distance = (level2 - level2.sqrt()) * inverse;
        let mut out = gradient * inverse;
        let degenerate = size2.simd_lt(NO_GRADIENT);
        if degenerate.any_true() {
            let (normal, depth) = self.tangent_plane(self.centre);
            out = Vec3x::splat(simd, normal).or(degenerate, out);
            distance = degenerate.select(splat(depth), distance);
        }
        (out, distance)
    }

    /// Lanes whose points are inside.
    #[inline(always)]
    pub(crate) fn holds<S: Simd>(&self, simd: S, p: Vec3x<S>) -> mask32x16<S> {
        let from_centre = p - Vec3x::splat(simd, self.centre);
        // Most points are far away.
        let near = from_centre.dot(from_centre).simd_le(self.reach * self.reach);
        if !near.any_true() {
            return near;
        }
        match self.shape() {
            Shape::Sphere { .. } => near,
            Shape::Ellipsoid { .. } => {
                let local = times(simd, &self.to_ball, from_centre);
                near & local.dot(local).simd_le(1.0)
            }
            Shape::Capsule { half_height, radius } => {
                let mut local = times(simd, &self.shape_from_world(), from_centre);
                let axis = local.y.max(f32x16::splat(simd, -half_height));
                local.y -= axis.min(f32x16::splat(simd, half_height));
                near & local.dot(local).simd_le(radius * radius)
            }
            Shape::Plane => times(simd, &self.to_ball, from_centre).y.simd_le(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::super::testing::{points, shapes, still};
    use super::*;

    #[test]
    fn lanes_say_what_one_point_says() {
        let all: Vec<Vec3> = points().collect();
        for shape in shapes() {
            let mut posed = still(shape, Vec3::Y * 0.1);
            (posed.spin, posed.drift) = (Mat3::from_rotation_z(0.3), Vec3::X);
            for sixteen in all.chunks_exact(16) {
                dispatch!(Level::new(), simd => {
                    let mut p = Vec3x::splat(simd, Vec3::ZERO);
                    sixteen.iter().enumerate().for_each(|(l, &q)| p.set_lane(l, q));
                    let radius = f32x16::splat(simd, 0.1);
                    let (outs, distances) = posed.tangent_planes(simd, p);
                    let overlaps = posed.may_overlap(simd, p, radius).to_bitmask();
                    let inside = posed.holds(simd, p).to_bitmask();
                    let velocities = posed.velocities(simd, p);
                    for (l, &q) in sixteen.iter().enumerate() {
                        let (out, distance) = posed.tangent_plane(q);
                        assert!((distances[l] - distance).abs() < 1e-5);
                        assert!(outs.lane(l).distance(out) < 1e-4);
                        assert!(distance >= 0.1 || overlaps & (1 << l) != 0, "{shape:?} {q}");
                        assert!(distance.abs() < 1e-6 || (inside >> l & 1 == 1) == (distance < 0.0));
                        assert!(velocities.lane(l).distance(posed.velocity_at(q)) < 1e-5);
                    }
                });
            }
        }
    }
}
