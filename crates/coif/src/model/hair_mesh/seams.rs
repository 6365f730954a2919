//! Seams: where bundles may part. They hold like a row of stitches, tear one by one where the load is
//! too high, and close again.

use super::dynamics::MeshDynamics;

impl MeshDynamics {
    /// Opens stitches that gape wider than they bear and closes those whose sides are near and slow.
    /// Returns how many are open.
    ///
    /// Model: a stitch is a spring between two vertices that coincide at rest, as stiff as its strength
    /// over its gap: at the gap it bears its strength, then it opens and bears nothing. It closes at half
    /// of the gap, once the sides are slow. So it does not flutter, and the rest shape, where the sides
    /// coincide, is closed.
    pub(super) fn part_seams(&mut self) -> u32 {
        let (gap, speed) = (self.settings.seam_gap, self.settings.seam_speed);
        let mut count = 0;
        for (stitch, open) in self.elements.stitches.iter().zip(&mut self.open) {
            let [a, b] = stitch.vertices.map(|v| v as usize);
            let distance = self.x[a].distance(self.x[b]);
            if !*open {
                *open = stitch.may_open && distance > gap;
            } else if distance < 0.5 * gap && self.v[a].distance(self.v[b]) < speed {
                *open = false;
            }
            count += u32::from(*open);
        }
        count
    }
}
