//! Assignment of strips to blocks, and the order of the blocks.
//!
//! Strips that lie on each other form a column. Sixteen neighbouring columns form a *stack*: a block
//! per layer, lowest first, with one column per lane, the highest first. So the joints that a block
//! lies on are in the rows of the previous block. Stacks are independent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use glam::Vec3;

use super::block::{Below, Block, Rows};
use crate::groom::strips::Strips;
use crate::math::{LANES, morton_code};

/// Blocks that one task advances: some ten thousand joints.
const BLOCKS_PER_TASK: usize = 32;

/// Largest distance of anchors of one head (m): more than a head, less than between two people.
const APART: f32 = 0.45;

/// Edge of the cells that separate heads (m): more than the distance of neighbouring anchors of one head; two cells are
/// less than the gap between two people.
const CELL: f32 = 0.1;

/// Largest number of heads in a block: with more, additional colliders cost more than full lanes gain.
const MAX_HEADS: usize = 3;

/// Number of lanes of a block that may stay empty instead of being filled from another head.
const SPARE: usize = 3;

/// Ends of ranges of neighbouring anchors: those of one range are within [`APART`] of its first.
pub(super) fn head_ends(anchors: &[Vec3]) -> Vec<usize> {
    let (mut ends, mut first) = (Vec::new(), 0);
    for l in 1..=anchors.len() {
        if l == anchors.len() || anchors[l].distance(anchors[first]) > APART {
            ends.push(l);
            first = l;
        }
    }
    ends
}

/// The strips of each block, and whether it lies on the previous block.
pub(super) fn stacks(strips: &Strips) -> Vec<(Vec<usize>, bool)> {
    let columns = strips.columns();
    let anchor = |column: usize| strips.edges.strand(columns[column][0])[0];
    // Sort columns by number of joints, head, number of strips and Morton code, so that columns of a block are similar
    // and near each other, and few blocks of a crowd are not full.
    let anchors: Vec<Vec3> = (0..columns.len()).map(anchor).collect();
    let head = heads(&anchors);
    let mut boxes = vec![(Vec3::INFINITY, Vec3::NEG_INFINITY); columns.len()];
    for (c, &p) in anchors.iter().enumerate() {
        let (lo, hi) = &mut boxes[head[c]];
        (*lo, *hi) = (lo.min(p), hi.max(p));
    }
    let mut order: Vec<usize> = (0..columns.len()).collect();
    let joints = |c: usize| columns[c].iter().map(|&s| strips.edges.points_of(s).len()).max();
    order.sort_by_cached_key(|&c| {
        let (lo, hi) = boxes[head[c]];
        let hi = lo + Vec3::splat((hi - lo).max_element());
        let height = Reverse(columns[c].len());
        (joints(c), head[c], height, morton_code(anchors[c], lo, hi), c)
    });
    // Divide the columns into groups of sixteen.
    let (mut full, mut left) = (Vec::new(), Vec::<usize>::new());
    let mut first = 0;
    for i in 1..=order.len() {
        let from = order[first];
        let cut = order.get(i).is_none_or(|&c| {
            i - first == LANES
                || (joints(c), head[c]) != (joints(from), head[from])
                || anchors[c].distance(anchors[from]) > APART
        });
        if cut {
            match &order[first..i] {
                lanes if lanes.len() == LANES => full.push(lanes.to_vec()),
                lanes => left.extend_from_slice(lanes),
            }
            first = i;
        }
    }
    // Combine the remainders of a few heads in blocks.
    let mut shared: Vec<Vec<usize>> = Vec::new();
    for c in left {
        let fits = |lanes: &Vec<usize>| {
            let last = lanes[lanes.len() - 1];
            let near = head[last] == head[c] && anchors[last].distance(anchors[c]) < APART;
            let roots: Vec<Vec3> = lanes.iter().map(|&c| anchors[c]).collect();
            let head_ends = head_ends(&roots).len();
            lanes.len() < LANES && (near || lanes.len() + SPARE < LANES && head_ends < MAX_HEADS)
        };
        match shared.last_mut().filter(|lanes| fits(lanes)) {
            Some(lanes) => lanes.push(c),
            None => shared.push(vec![c]),
        }
    }
    let mut blocks = Vec::with_capacity(strips.count() / LANES + 1);
    for mut lanes in full.into_iter().chain(shared) {
        // Sort columns by height, so that the lanes of a block are the first lanes of the one below.
        lanes.sort_by_key(|&c| Reverse(columns[c].len()));
        for k in 0..columns[lanes[0]].len() {
            let layer = lanes.iter().filter_map(|&c| columns[c].get(k)).copied();
            blocks.push((layer.collect(), k > 0));
        }
    }
    blocks
}

/// The head of each anchor, identified by its first anchor: anchors in adjacent cells of a grid are on one head.
fn heads(anchors: &[Vec3]) -> Vec<usize> {
    let cell = |p: Vec3| (p / CELL).floor().as_ivec3().to_array();
    let mut cells = BTreeMap::<[i32; 3], Vec<usize>>::new();
    for (a, &p) in anchors.iter().enumerate() {
        cells.entry(cell(p)).or_default().push(a);
    }
    let mut head = vec![usize::MAX; anchors.len()];
    let mut open = Vec::new();
    for (a, &p) in anchors.iter().enumerate() {
        if head[a] != usize::MAX {
            continue;
        }
        // Fill all connected cells.
        open.push(cell(p));
        while let Some(at) = open.pop() {
            let Some(found) = cells.remove(&at) else { continue };
            found.into_iter().for_each(|b| head[b] = a);
            for i in 0..27 {
                let step = [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1];
                open.push(std::array::from_fn(|k| at[k].saturating_add(step[k])));
            }
        }
    }
    head
}

/// Calls `work` for every block with its rows and those of the block that it lies on, lower ones first.
/// Divides the stacks into tasks by halving.
pub(super) fn in_halves(
    blocks: &mut [Block],
    rows: Rows<'_>,
    work: &(impl Fn(&mut Block, &mut Rows<'_>, Option<Below<'_>>) + Sync),
) {
    // Divide between two stacks.
    let mut middle = blocks.len() / 2;
    while blocks.get(middle).is_some_and(|block| block.over) {
        middle += 1;
    }
    let small = blocks.len() <= BLOCKS_PER_TASK || middle >= blocks.len();
    if small || rayon::current_num_threads() == 1 {
        let mut rest = rows;
        let mut before: Option<Rows<'_>> = None;
        for block in blocks {
            let (mut mine, others) = rest.split(block.joints);
            let below = before.as_ref().filter(|_| block.over).map(Rows::below);
            work(block, &mut mine, below);
            (before, rest) = (Some(mine), others);
        }
        return;
    }
    let (a, b) = blocks.split_at_mut(middle);
    let (rows_a, rows_b) = rows.split(a.iter().map(|block| block.joints).sum());
    rayon::join(|| in_halves(a, rows_a, work), || in_halves(b, rows_b, work));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::Strands;

    /// Columns of different heights, 1 m apart in two groups.
    #[test]
    fn a_block_lies_on_the_block_before_lane_by_lane() {
        let mut strips = Strips::default();
        let mut edges = Strands::new();
        for layer in 0..3u32 {
            for c in 0..40u32 {
                // Every fourth column has one strip only.
                if layer > 0 && c % 4 == 0 {
                    continue;
                }
                let x = 0.001 * c as f32 + if c < 20 { 0.0 } else { 1.0 };
                let root = Vec3::new(x, 0.001 * layer as f32, 0.0);
                let below = strips.virtual_point.iter().rposition(|p: &Vec3| p.x == x);
                strips.below.push(below.map_or(Strips::NONE, |s| s as u32));
                strips.virtual_point.push(root);
                edges.push(&[root, root + Vec3::Z * 0.1]);
            }
        }
        strips.edges = edges;
        let blocks = stacks(&strips);
        let mut visited: Vec<usize> = blocks.iter().flat_map(|(lanes, _)| lanes.clone()).collect();
        visited.sort_unstable();
        assert_eq!(visited, (0..strips.count()).collect::<Vec<_>>());
        for (i, (lanes, over)) in blocks.iter().enumerate() {
            assert!(lanes.len() <= LANES);
            let x = |s: &usize| strips.virtual_point[*s].x;
            // The remainders of the two groups are in one block, one after the other.
            let roots: Vec<Vec3> = lanes.iter().map(|&s| strips.edges.strand(s)[0]).collect();
            let ends = head_ends(&roots);
            assert!(ends.len() <= 2 && ends.last() == Some(&lanes.len()));
            let mut from = 0;
            for end in ends {
                assert!(lanes[from..end].iter().all(|s| (x(s) - x(&lanes[from])).abs() < APART));
                from = end;
            }
            for (l, &s) in lanes.iter().enumerate() {
                assert_eq!(strips.lies_on(s), over.then(|| blocks[i - 1].0[l]));
            }
        }
    }
}
