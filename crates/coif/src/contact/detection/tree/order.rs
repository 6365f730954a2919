//! The order of the segments in the tree: neighbours in space are neighbours in memory.
//!
//! Segments are split recursively by the median of their middles along an axis, down to eights, at the borders of the
//! tree's nodes (`nodes.rs`).

use glam::Vec3;

use crate::contact::detection::lines::WIDTH;

/// Segments per task.
const TASK: usize = 4096;

/// A segment that is being sorted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) middle: Vec3,
    /// Its extent along each axis, from end to end (m).
    pub(super) extent: Vec3,
    pub(super) segment: u32,
}

/// Sorts segments into an order in which nodes of the tree are compact; `reach` is the search distance
/// (m).
pub(super) fn sort(items: &mut [Item], reach: f32) {
    // Find the size of the largest node that does not contain all of them.
    let mut node = WIDTH;
    while node * WIDTH < items.len() {
        node *= WIDTH;
    }
    split(items, node, reach);
}

/// Splits segments at borders of nodes of `node` segments, then within these nodes.
fn split(items: &mut [Item], node: usize, reach: f32) {
    if items.len() <= node {
        if node > WIDTH {
            split(items, node / WIDTH, reach);
        }
        return;
    }
    let nodes = items.len().div_ceil(node);
    let at = nodes.div_ceil(2) * node;
    if at >= items.len() {
        return;
    }
    let axis = best_axis(items, reach);
    // Break ties by number, so that the split is unique.
    items.select_nth_unstable_by(at, |a, b| {
        a.middle[axis].total_cmp(&b.middle[axis]).then(a.segment.cmp(&b.segment))
    });
    let large = items.len() > TASK;
    let (low, high) = items.split_at_mut(at);
    if large {
        rayon::join(|| split(low, node, reach), || split(high, node, reach));
    } else {
        split(low, node, reach);
        split(high, node, reach);
    }
}

/// The axis along which a split leaves the fewest overlaps: the largest range of the middles, relative
/// to the mean extent of the segments and the search distance.
fn best_axis(items: &[Item], reach: f32) -> usize {
    let (mut lo, mut hi, mut extent) = (Vec3::INFINITY, Vec3::NEG_INFINITY, Vec3::ZERO);
    for item in items {
        lo = lo.min(item.middle);
        hi = hi.max(item.middle);
        extent += item.extent;
    }
    let mean = extent / items.len() as f32;
    let spread = (hi - lo) / (mean + Vec3::splat(2.0 * reach + 1e-9));
    if spread.x >= spread.y.max(spread.z) {
        0
    } else if spread.y >= spread.z {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eights of a lattice of lines are compact, and the order is a permutation.
    #[test]
    fn eights_are_compact() {
        let mut items: Vec<Item> = (0..40 * 40 * 3)
            .map(|i| {
                let place = |k: usize| (i * 7919 % 4800 / k) as f32;
                let middle = Vec3::new(place(1) % 40.0, place(1600) * 10.0, place(40) % 40.0);
                Item { middle, extent: Vec3::Y * 10.0, segment: i as u32 }
            })
            .collect();
        let before = items.clone();
        sort(&mut items, 0.5);
        let mut used = vec![false; items.len()];
        for item in &items {
            assert!(!std::mem::replace(&mut used[item.segment as usize], true));
            assert_eq!(item.middle, before[item.segment as usize].middle);
        }
        let width = |eight: &[Item]| {
            let lo = eight.iter().fold(Vec3::INFINITY, |lo, i| lo.min(i.middle));
            let hi = eight.iter().fold(Vec3::NEG_INFINITY, |hi, i| hi.max(i.middle));
            (hi - lo).x.max((hi - lo).z)
        };
        let mean = items.chunks(WIDTH).map(width).sum::<f32>() / (items.len() / WIDTH) as f32;
        assert!(mean < 4.0, "{mean}");
    }
}
