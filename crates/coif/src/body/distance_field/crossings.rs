//! Winding numbers of the surface around the nodes, counted along the rows of the grid.
//!
//! A row starts outside. Every crossing into the mesh adds one, every crossing out of it subtracts
//! one; the running count is the winding number of the next node. A row whose count does
//! not end at zero has gone through a hole.

use super::grid::Layout;

/// Winding number of the nodes of a row that went through a hole.
pub(super) const UNKNOWN: i16 = i16::MIN;

/// Adds up crossings of rows along one axis.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    /// 0 for x, 1 for y, 2 for z.
    pub(super) axis: usize,
    pub(super) layout: &'a Layout,
}

impl Rows<'_> {
    /// Counts along all rows. `winding` and `is_crossed` are overwritten; returns how many rows went
    /// through a hole. Their nodes become [`UNKNOWN`].
    pub(super) fn count(
        &self,
        candidates: impl Iterator<Item = [[f32; 4]; 3]>,
        winding: &mut Vec<i16>,
        is_crossed: &mut Vec<bool>,
    ) -> u32 {
        let (u, v) = self.across();
        winding.clear();
        winding.resize(self.layout.size(), 0);
        is_crossed.clear();
        is_crossed.resize(self.layout.len[u] * self.layout.len[v], false);
        for corners in candidates {
            self.cross(corners, winding, is_crossed);
        }
        self.sum(winding, is_crossed)
    }

    /// The two axes across the rows, such that (u, v, axis) is right-handed.
    fn across(&self) -> (usize, usize) {
        ((self.axis + 1) % 3, (self.axis + 2) % 3)
    }

    /// Adds the crossings of a triangle with all rows, each at the first node behind it.
    fn cross(&self, corners: [[f32; 4]; 3], winding: &mut [i16], is_crossed: &mut [bool]) {
        let (u, v) = self.across();
        let [a, b, c] = corners.map(|p| [p[u], p[v], p[self.axis]]);
        let (lo, hi) = span(a[0], b[0], c[0]);
        let (v_lo, v_hi) = span(a[1], b[1], c[1]);
        let (w_lo, w_hi) = (a[2].min(b[2]).min(c[2]), a[2].max(b[2]).max(c[2]));
        if [a, b, c].iter().flatten().any(|x| x.is_nan()) {
            return;
        }
        let (u_len, v_len) = (self.layout.len[u], self.layout.len[v]);
        for j in v_lo..v_hi.min(v_len) {
            for i in lo..hi.min(u_len) {
                let p = [i as f32, j as f32];
                let (ab, bc, ca) = (side(a, b, p), side(b, c, p), side(c, a, p));
                if ab.left != bc.left || bc.left != ca.left {
                    continue;
                }
                // Find the place on the row, and step to the next node.
                let sum = ab.area + bc.area + ca.area;
                let depth = (bc.area * a[2] + ca.area * b[2] + ab.area * c[2]) / sum;
                let depth = if depth.is_finite() { depth.clamp(w_lo, w_hi) } else { w_lo };
                // Coordinates are not negative, so that casting rounds down.
                let next = depth as usize + 1;
                let row = i + j * u_len;
                is_crossed[row] = true;
                let mut at = [0; 3];
                (at[u], at[v], at[self.axis]) = (i, j, next.min(self.layout.len[self.axis] - 1));
                let place = &mut winding[self.layout.index(at[0], at[1], at[2])];
                // A counter-clockwise face points along the row: the row leaves the mesh.
                *place = place.wrapping_add(if ab.left { -1 } else { 1 });
            }
        }
    }

    /// Sums along the rows that were crossed.
    fn sum(&self, winding: &mut [i16], is_crossed: &[bool]) -> u32 {
        let (u, v) = self.across();
        let layout = self.layout;
        let stride = [1, layout.row, layout.plane];
        let (u_len, length) = (layout.len[u], layout.len[self.axis]);
        let mut open = 0;
        for (row, _) in is_crossed.iter().enumerate().filter(|&(_, &is_crossed)| is_crossed) {
            let start = layout.index(0, 0, 0) + row % u_len * stride[u] + row / u_len * stride[v];
            let nodes = || (0..length).map(|i| start + i * stride[self.axis]);
            let mut count = 0i16;
            for i in nodes() {
                count = count.wrapping_add(winding[i]);
                winding[i] = count;
            }
            if count != 0 {
                open += 1;
                nodes().for_each(|i| winding[i] = UNKNOWN);
            }
        }
        open
    }
}

/// The integers in the range of three numbers, none of which is negative.
fn span(a: f32, b: f32, c: f32) -> (usize, usize) {
    let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
    let first = lo as usize;
    (first + usize::from((first as f32) < lo), hi as usize + 1)
}

/// On which side of an edge a point is.
struct Side {
    /// Twice the area of the triangle of the edge and the point.
    area: f32,
    left: bool,
}

/// Two triangles that share an edge agree to the bit on which of them has the point: swapping the
/// ends changes nothing but the sign. A point exactly on the edge counts as if it were a little
/// farther towards -u, and infinitely less so towards +v.
fn side(a: [f32; 3], b: [f32; 3], p: [f32; 2]) -> Side {
    let area = (a[0] - p[0]) * (b[1] - p[1]) - (a[1] - p[1]) * (b[0] - p[0]);
    let left = if area == 0.0 { b[1] > a[1] || (b[1] == a[1] && b[0] > a[0]) } else { area > 0.0 };
    Side { area, left }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube whose corners and diagonals lie exactly on rows: every row has the correct count.
    #[test]
    fn rows_through_corners_and_edges_count_once() {
        let layout = Layout::new(9, 9, 9);
        let corner = |i: usize| [0, 1, 2, 3].map(|a| if i >> a & 1 == 1 { 6.0 } else { 2.0 });
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        let triangles: Vec<_> = triangles.map(|t| t.map(corner)).collect();
        for axis in 0..3 {
            let rows = Rows { axis, layout: &layout };
            let (mut winding, mut is_crossed) = (Vec::new(), Vec::new());
            let open = rows.count(triangles.iter().copied(), &mut winding, &mut is_crossed);
            assert_eq!(open, 0);
            for n in 0..729 {
                let p = [n % 9, n / 9 % 9, n / 81];
                let within = p.iter().all(|&c| (3..6).contains(&c));
                let without = p.iter().any(|&c| !(2..=6).contains(&c));
                let w = winding[layout.index(p[0], p[1], p[2])];
                assert!(w == 0 || !without, "{p:?}: {w}");
                assert!(w == 1 || !within, "{p:?}: {w}");
            }
        }
    }
}
