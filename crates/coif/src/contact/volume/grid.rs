//! The grid: its bounds are fitted to the hair, its nodes are on a lattice that is fixed in space.

use glam::{IVec3, Vec3};

use crate::math::lanes;

/// Largest number of nodes of a grid: with a cell of one centimetre, a cube of one metre and 68 MiB. Hair that needs more
/// gets a larger cell.
pub(super) const MAX_NODES: usize = 1 << 20;

/// Fraction of the particles that may be left out at each end of each axis, if the hair does not fit
/// otherwise: strands that are far away from all others.
const STRAY_FRACTION: f32 = 0.005;

/// Factor by which the cell is enlarged until the grid fits.
const COARSER: f32 = 1.25;

/// A regular grid of nodes around the hair, with one layer of empty nodes on every side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    /// Node 0 (m).
    pub(super) origin: Vec3,
    /// Distance between nodes (m).
    pub(super) cell: f32,
    pub(super) inverse_cell: f32,
    /// Nodes along x, y and z.
    pub(super) nodes: [usize; 3],
    /// Box in which particles take part (m).
    pub(super) lo: Vec3,
    pub(super) hi: Vec3,
}

impl Grid {
    /// A grid without nodes.
    pub(super) const EMPTY: Self = Self {
        origin: Vec3::ZERO,
        cell: 1.0,
        inverse_cell: 1.0,
        nodes: [0; 3],
        lo: Vec3::INFINITY,
        hi: Vec3::NEG_INFINITY,
    };

    /// The grid with this cell over a box; `None` if it has too many nodes.
    fn over(lo: Vec3, hi: Vec3, cell: f32) -> Option<Self> {
        let inverse_cell = 1.0 / cell;
        // Put nodes at multiples of the cell, so that the nodes of hair at rest do not depend on the motion of other
        // hair.
        let first = (lo * inverse_cell).floor() - 1.0;
        let origin = first * cell;
        let size = ((hi - origin) * inverse_cell).floor() + 3.0;
        if size.x.max(size.y).max(size.z) > MAX_NODES as f32 {
            return None;
        }
        let nodes = [size.x as usize, size.y as usize, size.z as usize];
        (nodes[0] * nodes[1] * nodes[2] <= MAX_NODES).then_some(Self {
            origin,
            cell,
            inverse_cell,
            nodes,
            lo,
            hi,
        })
    }

    /// Fits a grid to particles in the box `lo..hi`. If it would get too large, leaves out particles
    /// that are far from all others; if that does not help, makes the cells larger.
    pub(super) fn fit(bounds: (Vec3, Vec3), cell: f32, position: &[f32], present: &[u16]) -> Self {
        let (lo, hi) = bounds;
        if !lo.cmple(hi).all() {
            return Self::EMPTY;
        }
        if let Some(grid) = Self::over(lo, hi, cell) {
            return grid;
        }
        let (lo, hi) = without_strays(lo, hi, position, present);
        let mut coarse = cell;
        loop {
            if let Some(grid) = Self::over(lo, hi, coarse) {
                return grid;
            }
            coarse *= COARSER;
        }
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes[0] * self.nodes[1] * self.nodes[2]
    }

    /// Number of nodes in a layer of equal y. Nodes lie along x, then z, then y: hair is tall, and
    /// layers are distributed over threads.
    pub(super) fn layer(&self) -> usize {
        self.nodes[0] * self.nodes[2]
    }

    /// Volume of a cell (m^3).
    pub(super) fn volume(&self) -> f32 {
        self.cell * self.cell * self.cell
    }

    /// The last cell along each axis that does not touch the empty border.
    pub(super) fn last_cell(&self) -> Vec3 {
        Vec3::from(self.nodes.map(|n| n as f32 - 3.0))
    }

    /// The cell that contains a point, and the point's coordinates in it, 0..1 along each axis.
    fn locate(&self, p: Vec3) -> (IVec3, Vec3) {
        let at = (p - self.origin) * self.inverse_cell;
        let cell = at.floor().min(self.last_cell()).max(Vec3::ONE);
        (cell.as_ivec3(), (at - cell).clamp(Vec3::ZERO, Vec3::ONE))
    }

    /// The number of the node at these coordinates.
    fn index(&self, node: IVec3) -> usize {
        let [x, y, z] = node.to_array().map(|i| i as usize);
        x + self.nodes[0] * (z + self.nodes[2] * y)
    }

    /// The numbers and trilinear weights of the eight nodes around a particle in the box.
    pub(super) fn corners_of_particle(&self, p: Vec3) -> [(usize, f32); 8] {
        let (cell, at) = self.locate(p);
        self.corners(cell, at)
    }

    /// The numbers and trilinear weights of the eight nodes around any point, if it is inside of the grid.
    pub(super) fn corners_of_point(&self, p: Vec3) -> Option<[(usize, f32); 8]> {
        let at = (p - self.origin) * self.inverse_cell;
        let last = Vec3::from(self.nodes.map(|n| n as f32 - 1.0));
        let inside = at.cmpge(Vec3::ZERO).all() && at.cmplt(last).all();
        inside.then(|| self.corners(at.floor().as_ivec3(), at - at.floor()))
    }

    fn corners(&self, cell: IVec3, at: Vec3) -> [(usize, f32); 8] {
        std::array::from_fn(|corner| {
            let corner = corner as i32;
            let step = IVec3::new(corner & 1, (corner >> 1) & 1, corner >> 2);
            let w = Vec3::select(step.cmpeq(IVec3::ONE), at, Vec3::ONE - at);
            (self.index(cell + step), w.x * w.y * w.z)
        })
    }

    /// Whether a point is in the box of particles that take part.
    pub(super) fn holds(&self, p: Vec3) -> bool {
        p.cmpge(self.lo).all() && p.cmple(self.hi).all()
    }
}

/// Shrinks a box by cutting ends that contain at most [`STRAY_FRACTION`] of the particles, as long as that halves one of
/// its sides.
fn without_strays(mut lo: Vec3, mut hi: Vec3, position: &[f32], present: &[u16]) -> (Vec3, Vec3) {
    const BINS: usize = 256;
    loop {
        // Count particles along each axis.
        let mut counts = [[0u32; BINS]; 3];
        let mut all = 0;
        let scale = BINS as f32 / (hi - lo).max(Vec3::splat(f32::MIN_POSITIVE));
        for (row, &bits) in present.iter().enumerate() {
            for lane in (0..lanes::LANES).filter(|l| bits & (1 << l) != 0) {
                let p = lanes::lane(position, row, lane);
                if p.cmpge(lo).all() && p.cmple(hi).all() {
                    let bin = ((p - lo) * scale).to_array();
                    for axis in 0..3 {
                        counts[axis][(bin[axis] as usize).min(BINS - 1)] += 1;
                    }
                    all += 1;
                }
            }
        }
        // Cut off the ends with few particles.
        let few = (all as f32 * STRAY_FRACTION) as u32;
        let width = (hi - lo) / BINS as f32;
        let (mut from, mut to) = (Vec3::ZERO, Vec3::ZERO);
        for axis in 0..3 {
            let skip = |bins: &mut dyn Iterator<Item = &u32>| {
                let mut passed = 0;
                bins.take_while(|&&n| {
                    passed += n;
                    passed <= few
                })
                .count()
                .min(BINS - 1) as f32
            };
            from[axis] = skip(&mut counts[axis].iter());
            to[axis] = skip(&mut counts[axis].iter().rev());
        }
        let (next_lo, next_hi) = (lo + from * width, hi - to * width);
        // Stop if no side is halved.
        let shrunk = (next_hi - next_lo).cmplt((hi - lo) * 0.5).any();
        if !shrunk || !next_lo.cmple(next_hi).all() {
            return (lo, hi);
        }
        (lo, hi) = (next_lo, next_hi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_covers_its_box_with_nodes_on_the_lattice() {
        let (lo, hi) = (Vec3::new(-0.123, 0.0, 0.456), Vec3::new(0.2, 0.01, 0.9));
        let grid = Grid::fit((lo, hi), 0.01, &[], &[]);
        for p in [lo, hi, (lo + hi) * 0.5, Vec3::new(lo.x, hi.y, lo.z)] {
            let (cell, at) = grid.locate(p);
            assert!(cell.cmpge(IVec3::ONE).all(), "{cell}");
            for axis in 0..3 {
                assert!(cell[axis] as usize + 2 < grid.nodes[axis], "{cell} in {:?}", grid.nodes);
                assert!((0.0..=1.0).contains(&at[axis]), "{at}");
            }
        }
        let steps = grid.origin * 100.0;
        assert!(steps.distance(steps.round()) < 1e-3);
        assert_eq!(grid.cell, 0.01);
    }

    #[test]
    fn strays_are_left_out_and_wide_hair_gets_larger_cells() {
        // Sixteen thousand particles in a decimetre, sixteen far away.
        let rows = 1001;
        let mut position = vec![0.0; rows * lanes::VECTOR];
        for row in 0..rows {
            for lane in 0..16 {
                let i = (row * 16 + lane) as f32;
                let near = Vec3::new(i.sin(), (1.3 * i).sin(), (1.7 * i).sin()) * 0.05;
                let p = if row == 500 { Vec3::new(9e4, -5e4, 10.0 + i) } else { near };
                lanes::set_lane(&mut position, row, lane, p);
            }
        }
        let present = vec![u16::MAX; rows];
        let bounds = (Vec3::new(-0.05, -5e4, -0.05), Vec3::new(9e4, 0.05, 9e3));
        let grid = Grid::fit(bounds, 0.01, &position, &present);
        assert_eq!(grid.cell, 0.01);
        assert!(grid.holds(Vec3::splat(0.04)) && !grid.holds(Vec3::new(9e4, -5e4, 10.0)));

        let bounds = (Vec3::splat(-3.0), Vec3::splat(3.0));
        let grid = Grid::fit(bounds, 0.01, &[], &[]);
        assert!(grid.cell > 0.05 && grid.cell < 0.08, "{}", grid.cell);
        assert!(grid.len() <= MAX_NODES && grid.len() > MAX_NODES / 4);
    }
}
