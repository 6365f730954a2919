//! Rigid transforms and affine maps of sixteen lines, one per lane.

use fearless_simd::{Simd, SimdBase, SimdMask, f32x16, mask32x16};
use glam::Vec3;

use super::lanes::Vec3x;
use super::{LANES, RigidTransform};

/// Rigid transforms of sixteen lines: quaternions, then translations (m), a row of lanes per component.
pub(crate) struct PoseLanes([[f32; LANES]; 7]);

impl PoseLanes {
    /// Loads the poses of some lines.
    #[inline(always)]
    pub(crate) fn gather(poses: &[RigidTransform], lines: &[u32; LANES]) -> Self {
        let mut rows = [[0.0; LANES]; 7];
        for (l, &line) in lines.iter().enumerate() {
            let RigidTransform { rotation: q, translation: t } = &poses[line as usize];
            for (row, value) in rows.iter_mut().zip([q.x, q.y, q.z, q.w, t.x, t.y, t.z]) {
                row[l] = value;
            }
        }
        Self(rows)
    }

    /// The lanes in which both have the same pose.
    #[inline(always)]
    fn same<S: Simd>(&self, simd: S, other: &Self) -> mask32x16<S> {
        let mut same = mask32x16::splat(simd, true);
        for (a, b) in self.0.iter().zip(&other.0) {
            same &= f32x16::from_slice(simd, a).simd_eq(f32x16::from_slice(simd, b));
        }
        same
    }

    /// The transforms as affine maps.
    #[inline(always)]
    pub(crate) fn maps<S: Simd>(&self, simd: S) -> AffineLanes<S> {
        let row = |k: usize| f32x16::from_slice(simd, &self.0[k]);
        let (x, y, z, w) = (row(0), row(1), row(2), row(3));
        let one = f32x16::splat(simd, 1.0);
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        AffineLanes {
            columns: [
                Vec3x { x: one - (yy + zz), y: xy + wz, z: xz - wy },
                Vec3x { x: xy - wz, y: one - (xx + zz), z: yz + wx },
                Vec3x { x: xz + wy, y: yz - wx, z: one - (xx + yy) },
            ],
            added: Vec3x { x: row(4), y: row(5), z: row(6) },
        }
    }

    /// The transforms from these poses, whose maps are `maps`, to others; exactly the identity where both are equal.
    #[inline(always)]
    pub(crate) fn to<S: Simd>(
        &self,
        simd: S,
        maps: &AffineLanes<S>,
        other: &Self,
        others: &AffineLanes<S>,
    ) -> AffineLanes<S> {
        let columns = others.rotation_from(maps);
        let still = Vec3x::splat(simd, Vec3::ZERO);
        let turned = AffineLanes { columns, added: still }.direction(maps.added);
        let same = self.same(simd, other);
        let [x, y, z] = columns;
        let axis = |axis: Vec3| Vec3x::splat(simd, axis);
        AffineLanes {
            columns: [
                axis(Vec3::X).or(same, x),
                axis(Vec3::Y).or(same, y),
                axis(Vec3::Z).or(same, z),
            ],
            added: still.or(same, others.added - turned),
        }
    }
}

/// An affine map per lane: the columns of a matrix, and a translation.
#[derive(Clone, Copy)]
pub(crate) struct AffineLanes<S: Simd> {
    pub(crate) columns: [Vec3x<S>; 3],
    pub(crate) added: Vec3x<S>,
}

impl<S: Simd> AffineLanes<S> {
    /// Columns of the rotations from `from` to these.
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
