use glam::Vec3;

use super::HairMesh;
use super::validate::{FLAT, SHORTEST, openness};

/// Openness that corners are opened to: volume over the product of the three edges, 1 for a right-angled corner.
/// [`HairMesh::validate`] requires a fiftieth of it.
const OPEN: f32 = 0.05;

/// Length that segments of columns are lengthened to (m): four times the minimum of [`HairMesh::validate`].
const LONG: f32 = 4.0 * SHORTEST;

/// Smoothing of a moved vertex per iteration: fraction of the distance to the midpoint of its neighbours on the column.
const EVEN: f32 = 0.05;

impl HairMesh {
    /// Opens prisms that are flat, folded or inverted, and lengthens very short segments, by moving vertices other than
    /// roots, for at most `rounds` iterations. `keep` projects a vertex that was moved, for instance out of the body.
    /// Returns the number of remaining corners that [`HairMesh::validate`] would reject.
    ///
    /// Model: position-based dynamics with one constraint per corner: the volume of its tetrahedron is at least `OPEN`
    /// times the product of its edges. In the first half of the iterations moved vertices are smoothed along their columns.
    /// The two columns of a seam stay together.
    pub fn untangle(&mut self, rounds: usize, keep: impl Fn(Vec3) -> Vec3) -> usize {
        self.open_to(OPEN, rounds, keep)
    }

    /// [`HairMesh::untangle`] to another openness: the volume of corners over
    /// the product of their edges. Slivers that are much less open than a tenth have a second equilibrium, inverted,
    /// in which they may stay after violent motion.
    pub fn open_to(&mut self, open: f32, rounds: usize, keep: impl Fn(Vec3) -> Vec3) -> usize {
        // List corners, places of vertices and pairs of vertices on seams.
        let wanted_open = open;
        let corners: Vec<[u32; 4]> =
            self.prisms().flat_map(|prism| prism.corner_tetrahedra()).collect();
        let place: Vec<(usize, usize)> = (0..self.vertex_count()).map(|v| self.locate(v)).collect();
        let weight = |v: u32| f32::from(place[v as usize].1 > 0);
        let last = |v: usize| self.columns.points_of(place[v].0).end - 1;
        let last: Vec<usize> = (0..self.vertex_count()).map(last).collect();
        let seams: Vec<[usize; 2]> = self
            .seams
            .iter()
            .flat_map(|seam| {
                let [a, b] = seam.columns.map(|c| self.columns.points_of(c as usize));
                a.zip(b).map(|(p, q)| [p, q])
            })
            .collect();
        let mut moved = vec![false; self.vertex_count()];
        for round in 0..rounds {
            // Omit the smoothing and lower the target in the second half, because the constraints may contradict each
            // other.
            let early = 2 * round < rounds;
            let open = if early { wanted_open } else { 0.4 * wanted_open };
            // Project the volume constraint of each corner.
            let x = self.columns.positions_mut();
            let mut closed = 0;
            moved.fill(false);
            for corner in &corners {
                let [a, b, c, d] = corner.map(|v| x[v as usize]);
                let (e1, e2, e3) = (b - a, c - a, d - a);
                let wanted = open * e1.length() * e2.length() * e3.length();
                let volume = e1.dot(e2.cross(e3));
                if volume >= wanted {
                    continue;
                }
                closed += 1;
                let g = [e2.cross(e3), e3.cross(e1), e1.cross(e2)];
                let gradient = [-(g[0] + g[1] + g[2]), g[0], g[1], g[2]];
                let size: f32 = corner
                    .iter()
                    .zip(&gradient)
                    .map(|(&v, g)| weight(v) * g.length_squared())
                    .sum();
                if size <= f32::MIN_POSITIVE {
                    continue;
                }
                // Open it by slightly more than required, so that rounding does not leave it closed.
                let mut scale = (1.1 * wanted - volume) / size;
                // Limit the displacement of a vertex to half the shortest edge: contradictory constraints diverge
                // without a limit.
                let shortest = e1.length().min(e2.length()).min(e3.length());
                let farthest = gradient.iter().fold(0.0f32, |far, g| far.max(g.length()));
                scale = scale.min(0.5 * shortest / farthest.max(f32::MIN_POSITIVE));
                for (&v, g) in corner.iter().zip(&gradient) {
                    x[v as usize] += *g * (scale * weight(v));
                    moved[v as usize] = place[v as usize].1 > 0;
                }
            }
            // Lengthen short segments in the direction of their column.
            for v in 1..x.len() {
                let level = place[v].1;
                let e = x[v] - x[v.saturating_sub(1)];
                if level == 0 || e.length() >= LONG {
                    continue;
                }
                closed += 1;
                let around = x[last[v].min(v + 1)] - x[v - level.min(2)];
                let correction = around.normalize_or(Vec3::Y) * (1.1 * (LONG - e.length()));
                let fraction = if level > 1 { 0.5 } else { 0.0 };
                x[v] += correction * (1.0 - fraction);
                x[v - 1] -= correction * fraction;
                (moved[v], moved[v - 1]) = (true, moved[v - 1] || level > 1);
            }
            if closed == 0 {
                break;
            }
            // Smooth along columns, keep twins together, and project every vertex with `keep`.
            for v in 0..x.len() {
                if early && moved[v] && v < last[v] {
                    x[v] = x[v].lerp(0.5 * (x[v - 1] + x[v + 1]), EVEN);
                }
            }
            for &[p, q] in &seams {
                if moved[p] || moved[q] {
                    let middle = 0.5 * (x[p] + x[q]);
                    (x[p], x[q]) = (middle, middle);
                }
            }
            for v in 0..x.len() {
                if moved[v] {
                    x[v] = keep(x[v]);
                }
            }
        }
        self.closed_corners()
    }

    /// Number of degenerate corners of prisms.
    fn closed_corners(&self) -> usize {
        let at = |v: u32| self.positions()[v as usize];
        let closed = |corner: &[u32; 4]| {
            let open = openness(corner.map(at));
            open.is_nan() || open <= FLAT
        };
        self.prisms().map(|p| p.corner_tetrahedra().filter(closed).count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_prisms_are_opened_and_good_ones_not_changed() {
        let good = HairMesh::block([3, 3], 4, Vec3::new(0.1, 0.3, 0.1), true);
        let mut same = good.clone();
        assert_eq!(same.untangle(10, |p| p), 0);
        assert_eq!(same, good);
        // Fold the middle and flatten a tip.
        let mut folded = good.clone();
        folded.columns.strand_mut(5)[2].y = 0.30;
        folded.columns.strand_mut(10)[4].y = 0.19;
        folded.columns.strand_mut(6)[3].x += 0.08;
        assert!(folded.validate().is_err() && folded.closed_corners() > 3);
        assert_eq!(folded.untangle(300, |p| p), 0);
        folded.validate().unwrap();
        // Roots have not moved, and no vertex has moved far.
        let farthest = folded
            .positions()
            .iter()
            .zip(good.positions())
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        assert!(farthest < 0.15, "{farthest}");
        assert!((0..16).all(|c| folded.columns.strand(c)[0] == good.columns.strand(c)[0]));
    }

    #[test]
    fn twins_on_a_seam_stay_together() {
        let mut mesh = HairMesh::parted_block(3, Vec3::new(0.1, 0.3, 0.1));
        for seam in mesh.seams.clone() {
            for c in seam.columns {
                mesh.columns.strand_mut(c as usize)[2].x += 0.06;
            }
        }
        assert!(mesh.validate().is_err());
        assert_eq!(mesh.untangle(300, |p| p), 0);
        mesh.validate().unwrap();
    }
}
