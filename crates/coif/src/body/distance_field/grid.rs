//! The nodes of the field: a box of cubic cells around the mesh, fitted anew each step, and the order of the nodes in
//! memory.

use glam::Vec3;

use super::Settings;

/// Nodes that a lane kernel treats at a time.
pub(super) const WIDTH: usize = 8;

/// Smallest cell as a fraction of the largest coordinate: eight steps of single precision. Below this
/// neighbouring nodes would have the same coordinates.
const FINEST: f64 = 1e-6;

/// Nodes in memory: `fast` next to each other, then `mid`, then `slow`.
///
/// Around and between the nodes are places that belong to no node, so that a stencil may look one
/// node over the border: one after each row, one row after each plane, one plane at either end.
/// Rows are filled up to a multiple of [`WIDTH`] before that.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Layout {
    /// Nodes along the axes, fast to slow.
    pub(super) len: [usize; 3],
    /// From one row to the next.
    pub(super) row: usize,
    /// From one plane to the next.
    pub(super) plane: usize,
}

impl Layout {
    pub(super) fn new(fast: usize, mid: usize, slow: usize) -> Self {
        let row = fast.next_multiple_of(WIDTH) + 1;
        Self { len: [fast, mid, slow], row, plane: row * (mid + 1) }
    }

    /// Index of a node.
    #[inline(always)]
    pub(super) fn index(&self, fast: usize, mid: usize, slow: usize) -> usize {
        self.plane + self.row + 1 + fast + mid * self.row + slow * self.plane
    }

    /// Number of places, for all nodes and the padding around them.
    pub(super) fn size(&self) -> usize {
        self.index(0, 0, self.len[2] + 1) + 2 * WIDTH
    }
}

/// The box of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    /// Position of the first node (m).
    pub(super) origin: Vec3,
    /// Edge of a cell (m).
    pub(super) cell: f32,
    /// 1 / cell.
    pub(super) inverse_cell: f32,
    /// x fast, z slow: the order of the finished field.
    pub(super) xyz: Layout,
    /// z fast, x slow: the order in which marching along x runs in lanes.
    pub(super) zyx: Layout,
}

impl Grid {
    /// Fits cells around the box from `lo` to `hi` (finite, m). The cell is as large as wanted, or
    /// the smallest that keeps within the cap.
    pub(super) fn fit(lo: Vec3, hi: Vec3, settings: &Settings) -> Self {
        let far = lo.abs().max(hi.abs()).max_element();
        let mut cell = f64::from(settings.cell).max(f64::from(far) * FINEST);
        let extent = (hi.as_dvec3() - lo.as_dvec3()).to_array();
        let cells = loop {
            // Keep the band and one more cell free on all sides: the border has to be outside.
            let margin = f64::from(settings.margin).max((f64::from(settings.band) + 1.0) * cell);
            let cells = extent.map(|e| ((e + 2.0 * margin) / cell).ceil().max(1.0));
            let ratio = cells.iter().product::<f64>() / f64::from(settings.max_cells);
            if ratio <= 1.0 {
                break cells;
            }
            cell *= ratio.cbrt().max(1.002);
        };
        let [nx, ny, nz] = cells.map(|c| c as usize + 1);
        let cell = cell as f32;
        // Centre the cells on the mesh.
        let size = Vec3::from(cells.map(|c| c as f32)) * cell;
        Self {
            origin: lo + (hi - lo) * 0.5 - size * 0.5,
            cell,
            inverse_cell: 1.0 / cell,
            xyz: Layout::new(nx, ny, nz),
            zyx: Layout::new(nz, ny, nx),
        }
    }

    /// In cells from the first node.
    #[inline(always)]
    pub(super) fn in_cells(&self, p: Vec3) -> Vec3 {
        (p - self.origin) * self.inverse_cell
    }
}

impl Default for Grid {
    /// No nodes at all.
    fn default() -> Self {
        Self {
            origin: Vec3::ZERO,
            cell: 1.0,
            inverse_cell: 1.0,
            xyz: Layout::default(),
            zyx: Layout::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cell_grows_until_the_cap_holds() {
        let settings = Settings { cell: 1e-4, max_cells: 10_000, ..Settings::default() };
        for size in [Vec3::ONE, Vec3::new(100.0, 1e-3, 1e-3), Vec3::ZERO] {
            let grid = Grid::fit(Vec3::ZERO, size, &settings);
            let cells: usize = grid.xyz.len.iter().map(|n| n - 1).product();
            assert!(cells <= 10_000, "{cells} cells");
            assert!(cells > 1000 || grid.cell == 1e-4, "{cells} cells of {}", grid.cell);
        }
    }

    #[test]
    fn the_border_keeps_its_distance_from_the_mesh() {
        for at in [0.0f32, 1.0, -77.0, 1e6, 1e12] {
            let lo = Vec3::splat(at);
            let hi = lo + Vec3::new(1.0, 2.0, 0.0);
            let grid = Grid::fit(lo, hi, &Settings::default());
            let last = Vec3::from(grid.xyz.len.map(|n| (n - 1) as f32));
            let room = grid.in_cells(lo).min(last - grid.in_cells(hi)).min_element();
            assert!(room > Settings::default().band + 0.2, "{room} cells at {at}");
        }
    }

    #[test]
    fn no_two_nodes_share_a_place_and_none_is_next_to_another_row() {
        let layout = Layout::new(9, 3, 4);
        let mut visits = vec![0; layout.size()];
        for (s, m, f) in
            (0..4).flat_map(|s| (0..3).flat_map(move |m| (0..9).map(move |f| (s, m, f))))
        {
            visits[layout.index(f, m, s)] += 1;
        }
        assert!(visits.iter().all(|&n| n <= 1));
        assert_eq!(visits[layout.index(0, 1, 2) - 1], 0);
        assert_eq!(visits[layout.index(3, 0, 2) - layout.row], 0);
        assert_eq!(visits[layout.index(3, 2, 2) + layout.row], 0);
    }
}
