//! Seams: where bundles may part. They hold like a row of stitches, tear one by one where the load is
//! too high, and close again.

use super::dynamics::MeshDynamics;
use super::elements::Stitch;

/// Strength of an open seam whose sides are near each other, as a fraction of that of a closed one: their hair adheres
/// a little. Without it, locks that lie on the body side by side stay apart; with too much, they never part.
const OPEN_STRENGTH: f32 = 0.2;

/// Largest distance of such sides, in gaps at which a seam opens.
const NEAR: f32 = 4.0;

impl Stitch {
    /// Stiffness (N/m) with its sides at this distance (m). `None` if it carries no load.
    pub(super) fn holds(&self, is_open: bool, apart: f32) -> Option<f32> {
        if !is_open {
            return Some(self.stiffness);
        }
        let strength = OPEN_STRENGTH * (self.gap / apart.max(f32::MIN_POSITIVE)).min(1.0);
        (apart < NEAR * self.gap).then_some(self.stiffness * strength)
    }
}

impl MeshDynamics {
    /// Opens stitches beyond their strength and closes those whose sides are near and slow.
    /// Returns how many are open.
    ///
    /// Model: a stitch is a spring between two vertices that coincide at rest, as stiff as its strength
    /// over its gap: at the gap it carries its strength, then it opens and carries little, and nothing from
    /// farther away. It closes at half of the gap, once the sides are slow. This hysteresis avoids flutter, and the
    /// rest shape, where the sides coincide, is closed.
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
