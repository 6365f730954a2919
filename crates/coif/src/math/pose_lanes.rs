//! Rigid transforms and affine maps of sixteen lines, one per lane.

use fearless_simd::{Simd, SimdBase, f32x16};
use glam::Vec3;

use super::lanes::{VECTOR, Vec3x, set_lane};
use super::{LANES, RigidTransform};

/// An affine map per lane: columns of a matrix, then what is added.
#[derive(Clone, Copy)]
pub(crate) struct AffineLanes<S: Simd> {
    pub(crate) columns: [Vec3x<S>; 3],
    pub(crate) added: Vec3x<S>,
}

impl<S: Simd> AffineLanes<S> {
    /// The rigid transforms of sixteen lines.
    #[inline(always)]
    pub(crate) fn of_poses(simd: S, poses: &[RigidTransform; LANES]) -> Self {
        let (mut turn, mut place) = ([[0.0; LANES]; 4], [0.0; VECTOR]);
        for (l, pose) in poses.iter().enumerate() {
            let q = pose.rotation;
            (turn[0][l], turn[1][l], turn[2][l], turn[3][l]) = (q.x, q.y, q.z, q.w);
            set_lane(&mut place, 0, l, pose.translation);
        }
        let [x, y, z, w] = [0, 1, 2, 3].map(|k| f32x16::from_slice(simd, &turn[k]));
        let one = f32x16::splat(simd, 1.0);
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Self {
            columns: [
                Vec3x { x: one - (yy + zz), y: xy + wz, z: xz - wy },
                Vec3x { x: xy - wz, y: one - (xx + zz), z: yz + wx },
                Vec3x { x: xz + wy, y: yz - wx, z: one - (xx + yy) },
            ],
            added: Vec3x::of_row(simd, &place),
        }
    }

    /// The transforms that take lines from the poses `from` to the poses `to`; where both are the same, nothing moves, to
    /// the bit.
    #[inline(always)]
    pub(crate) fn between(
        simd: S,
        from: &[RigidTransform; LANES],
        to: &[RigidTransform; LANES],
    ) -> Self {
        let columns = Self::of_poses(simd, to).rotation_from(&Self::of_poses(simd, from));
        let [a, b] = [from, to].map(|poses| Self::of_poses(simd, poses).added);
        let turned = Self { columns, added: Vec3x::splat(simd, Vec3::ZERO) }.direction(a);
        let mut map = Self { columns, added: b - turned };
        for l in 0..LANES {
            if from[l] == to[l] {
                for (column, axis) in map.columns.iter_mut().zip([Vec3::X, Vec3::Y, Vec3::Z]) {
                    column.set_lane(l, axis);
                }
                map.added.set_lane(l, Vec3::ZERO);
            }
        }
        map
    }

    /// Columns of the rotations from those of `from`.
    #[inline(always)]
    pub(crate) fn rotation_from(&self, from: &Self) -> [Vec3x<S>; 3] {
        let ([x, y, z], [u, v, w]) = (self.columns, from.columns);
        [x * u.x + y * v.x + z * w.x, x * u.y + y * v.y + z * w.y, x * u.z + y * v.z + z * w.z]
    }

    #[inline(always)]
    pub(crate) fn direction(&self, v: Vec3x<S>) -> Vec3x<S> {
        let [x, y, z] = self.columns;
        x * v.x + y * v.y + z * v.z
    }

    #[inline(always)]
    pub(crate) fn point(&self, p: Vec3x<S>) -> Vec3x<S> {
        self.direction(p) + self.added
    }
}
