//! A row of sixteen particles on the grid: their nodes and trilinear weights.

use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f32x16, mask32x16, u32x16};
use glam::Vec3;

use super::grid::Grid;
use crate::limits::MAX_WORLD_DISTANCE;
use crate::math::LANES;
use crate::math::lanes::Vec3x;

/// The particles that a grid is filled from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) position: &'a [f32],
    pub(super) motion: &'a [f32],
    /// Empty: all particles have mass one.
    pub(super) mass: &'a [f32],
    /// Density of the rest shape at each particle (kg/m^3), rows of 16. Empty: none.
    pub(super) rest: &'a [f32],
    pub(super) present: &'a [u16],
}

/// Sixteen particles with valid values; unused lanes are in the first cell of the grid, with mass zero.
pub(super) struct Row<S: Simd> {
    /// Lanes that take part.
    pub(super) used: mask32x16<S>,
    pub(super) motion: Vec3x<S>,
    pub(super) mass: f32x16<S>,
    /// Density of the rest shape (kg/m^3).
    pub(super) rest: f32x16<S>,
    /// Number of the node at the low corner of the cell.
    pub(super) index: u32x16<S>,
    /// y coordinate of that node.
    pub(super) layer: f32x16<S>,
    /// Place in the cell, 0..1 along each axis.
    pub(super) at: Vec3x<S>,
}

/// Constants of a grid in lanes.
pub(super) struct Lattice<S: Simd> {
    origin: Vec3x<S>,
    lo: Vec3x<S>,
    hi: Vec3x<S>,
    last: Vec3x<S>,
    inverse_cell: f32x16<S>,
    width: f32x16<S>,
    layer: f32x16<S>,
}

impl<S: Simd> Lattice<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, grid: &Grid) -> Self {
        Self {
            origin: Vec3x::splat(simd, grid.origin),
            lo: Vec3x::splat(simd, grid.lo),
            hi: Vec3x::splat(simd, grid.hi),
            last: Vec3x::splat(simd, grid.last_cell()),
            inverse_cell: f32x16::splat(simd, grid.inverse_cell),
            width: f32x16::splat(simd, grid.nodes[0] as f32),
            layer: f32x16::splat(simd, grid.layer() as f32),
        }
    }

    /// Reads a row and finds its cells.
    #[inline(always)]
    pub(super) fn row(&self, simd: S, from: &Source<'_>, row: usize) -> Row<S> {
        self.moving_row(simd, from, row, Vec3x::load(simd, from.motion, row))
    }

    /// As [`row`](Self::row), with the velocities `motion`.
    #[inline(always)]
    pub(super) fn moving_row(
        &self,
        simd: S,
        from: &Source<'_>,
        row: usize,
        motion: Vec3x<S>,
    ) -> Row<S> {
        let p = Vec3x::load(simd, from.position, row);
        let zero = f32x16::splat(simd, 0.0);
        let one = f32x16::splat(simd, 1.0);
        let mut used = present(simd, from.present[row])
            & p.x.simd_ge(self.lo.x)
            & p.y.simd_ge(self.lo.y)
            & p.z.simd_ge(self.lo.z)
            & p.x.simd_le(self.hi.x)
            & p.y.simd_le(self.hi.y)
            & p.z.simd_le(self.hi.z)
            & motion.dot(motion).simd_lt(FASTEST * FASTEST);
        let mut mass = one;
        if !from.mass.is_empty() {
            mass = f32x16::from_slice(simd, &from.mass[row * LANES..(row + 1) * LANES]);
            used &= mass.simd_gt(0.0) & mass.simd_lt(HEAVIEST);
        }
        let mut rest = zero;
        if !from.rest.is_empty() {
            rest = f32x16::from_slice(simd, &from.rest[row * LANES..(row + 1) * LANES]);
        }
        let p = p.or(used, self.lo);
        let scaled = (p - self.origin) * self.inverse_cell;
        let cell = Vec3x {
            x: scaled.x.floor().min(self.last.x).max(one),
            y: scaled.y.floor().min(self.last.y).max(one),
            z: scaled.z.floor().min(self.last.z).max(one),
        };
        let at = scaled - cell;
        // Node numbers are below 2^20, so single precision holds them exactly.
        let index = cell.x + self.width * cell.z + self.layer * cell.y;
        Row {
            used,
            motion: motion.or(used, Vec3x { x: zero, y: zero, z: zero }),
            mass: used.select(mass, zero),
            rest,
            index: index.to_int(),
            layer: cell.y,
            at: Vec3x {
                x: at.x.max(zero).min(one),
                y: at.y.max(zero).min(one),
                z: at.z.max(zero).min(one),
            },
        }
    }
}

/// Largest speed (m/s) of a particle that takes part: far beyond any hair.
const FASTEST: f32 = 1e6;

/// Largest mass (kg) of a particle that takes part: sums stay finite.
const HEAVIEST: f32 = 1e12;

/// Whether the values of a particle are valid for any grid.
pub(super) fn sane(position: Vec3, motion: Vec3, mass: f32) -> bool {
    position.length_squared() < MAX_WORLD_DISTANCE * MAX_WORLD_DISTANCE
        && motion.length_squared() < FASTEST * FASTEST
        && mass > 0.0
        && mass < HEAVIEST
}

/// The lanes of a row that hold a particle.
#[inline(always)]
pub(super) fn present<S: Simd>(simd: S, bits: u16) -> mask32x16<S> {
    mask32x16::from_bitmask(simd, bits.into())
}

impl<S: Simd> Row<S> {
    /// Trilinear weights of the eight nodes of the cell, in the order of the nodes: x first, then z,
    /// then y. They sum to one.
    #[inline(always)]
    pub(super) fn weights(&self) -> [f32x16<S>; 8] {
        let one = f32x16::splat(self.mass.simd, 1.0);
        let (x1, y1, z1) = (self.at.x, self.at.y, self.at.z);
        let (x0, y0, z0) = (one - x1, one - y1, one - z1);
        let (a, b, c, d) = (y0 * z0, y0 * z1, y1 * z0, y1 * z1);
        [x0 * a, x1 * a, x0 * b, x1 * b, x0 * c, x1 * c, x0 * d, x1 * d]
    }
}

/// Bounds of some rows (m).
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) lo: Vec3,
    pub(super) hi: Vec3,
}

impl Bounds {
    pub(super) const NONE: Self = Self { lo: Vec3::INFINITY, hi: Vec3::NEG_INFINITY };

    pub(super) fn union(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// Bounds of the particles that are not too far from the origin; writes their range along y per row.
#[inline(always)]
pub(super) fn bounds<S: Simd>(
    simd: S,
    position: &[f32],
    bits: &[u16],
    ranges: &mut [[f32; 2]],
) -> Bounds {
    let far = f32x16::splat(simd, f32::INFINITY);
    let mut lo = Vec3x { x: far, y: far, z: far };
    let mut hi = Vec3x { x: -far, y: -far, z: -far };
    for (row, range) in ranges.iter_mut().enumerate() {
        let p = Vec3x::load(simd, position, row);
        let used =
            present(simd, bits[row]) & p.dot(p).simd_lt(MAX_WORLD_DISTANCE * MAX_WORLD_DISTANCE);
        let (low, high) = (used.select(p.y, far), used.select(p.y, -far));
        *range = [low.reduce_min(), high.reduce_max()];
        lo.x = lo.x.min(used.select(p.x, far));
        lo.y = lo.y.min(low);
        lo.z = lo.z.min(used.select(p.z, far));
        hi.x = hi.x.max(used.select(p.x, -far));
        hi.y = hi.y.max(high);
        hi.z = hi.z.max(used.select(p.z, -far));
    }
    Bounds {
        lo: Vec3::new(lo.x.reduce_min(), lo.y.reduce_min(), lo.z.reduce_min()),
        hi: Vec3::new(hi.x.reduce_max(), hi.y.reduce_max(), hi.z.reduce_max()),
    }
}
