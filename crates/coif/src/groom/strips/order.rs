//! Vertical order of strips that were fitted to strands.
//!
//! Hair with higher roots falls over hair with lower ones, like shingles. The order is derived from the
//! groom: a strip lies on a neighbour if it is farther out at most of its joints. Chains of such pairs
//! are columns, in which `model::cantilever` keeps the order. Strips over scalp polygons are made in columns
//! ([`super::scalp`]).

use std::collections::BTreeMap;

use glam::{IVec3, Vec3};

use super::{JointFrame, Strips};

/// Largest mean lateral distance of a strip from the one that it lies on, in mean widths of both:
/// more would order strips that only pass each other.
const BESIDE: f32 = 0.75;

/// Height of a joint over the one below (m) from which it counts as farther out: a few hairs.
const FARTHER_OUT: f32 = 1e-4;

/// Smallest fraction of the joints at which a strip is farther out than the one it lies on.
const MOSTLY: f32 = 0.7;

/// Two strips of which one may lie on the other, with their mean distance (m).
struct Pair {
    apart: f32,
    upper: usize,
    lower: usize,
}

/// Determines which strips lie on which, sorts them from lowest to highest, and assigns layers.
///
/// Model: candidates are pairs in which one strip is farther out than the other at most joints, over it rather than
/// beside it, and at no joint farther away than `reach` (m). They are chosen greedily by distance; a strip lies on at
/// most one other and carries at most one. Its joints are then moved along it, each next to the joint of the same index
/// below. Layers, which give the clearance from the body, are assigned by the height of the anchors.
/// Deviations: in `jung2005` 4.2 the order is that of the modelled layers; strips fitted to strands have none.
pub(super) fn lay_in_order(strips: Strips, reach: f32, layers: u32) -> Strips {
    let count = strips.count();
    let frames: Vec<Vec<JointFrame>> = (0..count)
        .map(|s| {
            let mut frames = Vec::new();
            strips.rest_frames(s, &mut frames);
            frames
        })
        .collect();
    // Find candidate pairs, nearest first.
    let mut pairs = Vec::new();
    for (upper, lower) in neighbours(&strips, reach) {
        pairs.extend(pair(&strips, &frames, [upper, lower], reach));
    }
    pairs.sort_by(|a, b| {
        a.apart.total_cmp(&b.apart).then((a.upper, a.lower).cmp(&(b.upper, b.lower)))
    });
    let mut below = vec![Strips::NONE; count];
    let mut above = vec![Strips::NONE; count];
    // Choose pairs without making cycles.
    for Pair { upper, lower, .. } in pairs {
        let free = below[upper] == Strips::NONE && above[lower] == Strips::NONE;
        if free && !chain(&below, lower).any(|s| s == upper) {
            (below[upper], above[lower]) = (lower as u32, upper as u32);
        }
    }
    // Sort by depth: the model processes columns from the lowest strip.
    let depth: Vec<usize> = (0..count).map(|s| chain(&below, s).count() - 1).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&s| (depth[s], s));
    let named = Strips { layer: layers_by_height(&strips, layers), below, ..strips };
    let mut new_name = vec![0; count];
    order.iter().zip(0..).for_each(|(&s, name)| new_name[s] = name);
    let mut picked = named.pick(&order);
    for s in 0..count {
        if let Some(below) = picked.lies_on(s) {
            let line = joint_over_joint(picked.edges.strand(s), picked.edges.strand(below));
            picked.edges.strand_mut(s).copy_from_slice(&line);
        }
    }
    Strips {
        strip_of_strand: named.strip_of_strand.iter().map(|&s| new_name[s as usize]).collect(),
        ..picked
    }
}

/// Shortest and longest segment of a strip whose joints are moved over those of another, in mean lengths.
const EVEN: [f32; 2] = [0.5, 1.6];

/// Moves the joints of a strip along it, as near as possible to those of the strip that it lies on.
fn joint_over_joint(line: &[Vec3], below: &[Vec3]) -> Vec<Vec3> {
    let segments = line.len() - 1;
    let mut until = vec![0.0f32];
    for w in line.windows(2) {
        until.push(until[until.len() - 1] + w[0].distance(w[1]));
    }
    let total = until[segments];
    let mean = total / segments as f32;
    let mut out = vec![line[0]];
    let mut before = 0.0;
    for i in 1..segments {
        // Find the point nearest to the joint below.
        let low = below[i.min(below.len() - 1)];
        let mut best = (f32::INFINITY, 0.0);
        for k in 0..segments {
            let (a, edge) = (line[k], line[k + 1] - line[k]);
            let fraction = ((low - a).dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
            let apart = (a + edge * fraction).distance_squared(low);
            if apart < best.0 {
                best = (apart, until[k] + fraction * (until[k + 1] - until[k]));
            }
        }
        let left = (segments - i) as f32;
        let lowest = (before + EVEN[0] * mean).max(total - EVEN[1] * mean * left);
        let highest = (before + EVEN[1] * mean).min(total - EVEN[0] * mean * left);
        before = best.1.max(lowest).min(highest);
        let k = until.partition_point(|&u| u <= before).clamp(1, segments) - 1;
        let fraction = ((before - until[k]) / (until[k + 1] - until[k])).clamp(0.0, 1.0);
        out.push(line[k].lerp(line[k + 1], fraction));
    }
    out.push(line[segments]);
    out
}

/// Layers of equal size, by the height of the anchors.
fn layers_by_height(strips: &Strips, layers: u32) -> Vec<u32> {
    let height = |s: usize| strips.edges.strand(s)[0].y;
    let mut order: Vec<usize> = (0..strips.count()).collect();
    order.sort_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
    let mut layer = vec![0; order.len()];
    for (rank, &strip) in order.iter().enumerate() {
        layer[strip] = (rank as u64 * u64::from(layers) / order.len() as u64) as u32;
    }
    layer
}

/// A strip and all its successors.
fn chain(next: &[u32], first: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(first), |&s| (next[s] != Strips::NONE).then(|| next[s] as usize))
}

/// Pairs of different strips whose anchors are within a distance (m), in both orders.
fn neighbours(strips: &Strips, reach: f32) -> Vec<(usize, usize)> {
    let anchor = |s: usize| strips.edges.strand(s)[0];
    let cell = |p: Vec3| (p / reach.max(1e-6)).floor().as_ivec3();
    let mut grid = BTreeMap::<[i32; 3], Vec<usize>>::new();
    for s in 0..strips.count() {
        grid.entry(cell(anchor(s)).to_array()).or_default().push(s);
    }
    let mut out = Vec::new();
    for a in 0..strips.count() {
        for k in 0..27 {
            let at = cell(anchor(a)).saturating_add(IVec3::new(k % 3, k / 3 % 3, k / 9) - 1);
            let others = grid.get(&at.to_array()).into_iter().flatten();
            let near = |&&b: &&usize| b != a && anchor(a).distance(anchor(b)) <= reach;
            out.extend(others.filter(near).map(|&b| (a, b)));
        }
    }
    out
}

/// The pair, if one strip lies on the other, joint over joint and none farther away than `reach` (m).
fn pair(
    strips: &Strips,
    frames: &[Vec<JointFrame>],
    [upper, lower]: [usize; 2],
    reach: f32,
) -> Option<Pair> {
    let (high, low) = (strips.edges.strand(upper), strips.edges.strand(lower));
    if high.len() != low.len() {
        return None;
    }
    let width = 0.5 * (strips.width[upper] + strips.width[lower]);
    let [mut apart, mut beside, mut farther_out] = [0.0; 3];
    for i in 1..high.len() {
        let frame = &frames[lower][i];
        if (high[i] - low[i]).dot(frame.normal()) > FARTHER_OUT {
            farther_out += 1.0;
        }
        // Measure between the middles of the strips.
        let middle = |s: usize, p: Vec3| p + frames[s][i].binormal * (0.5 * strips.width[s]);
        let offset = middle(upper, high[i]) - middle(lower, low[i]);
        if offset.length() > reach {
            return None;
        }
        beside += offset.dot(frame.binormal).abs();
        apart += offset.length();
    }
    let joints = (high.len() - 1) as f32;
    let over = beside < BESIDE * width * joints && farther_out >= MOSTLY * joints;
    over.then_some(Pair { apart: apart / joints, upper, lower })
}

#[cfg(test)]
mod tests {
    use super::super::wisps;
    use super::*;
    use crate::groom::{Fibre, Groom, Strands};

    /// Rows of tufts on a wall, each of which falls over the one below.
    fn shingles(rows: usize) -> Groom {
        let mut strands = Strands::new();
        for column in 0..3 {
            for row in 0..rows {
                for s in 0..6 {
                    let across = 0.03 * column as f32 + 0.001 * (s % 3) as f32;
                    let root = Vec3::new(across, 0.008 * row as f32 + 0.001 * (s / 3) as f32, 0.0);
                    let line = (0..12).map(|i| {
                        let t = i as f32 / 11.0;
                        root + Vec3::new(0.0, -0.12 * t * t, 0.06 * t)
                    });
                    strands.push(&line.collect::<Vec<_>>());
                }
            }
        }
        Groom::new(strands, Fibre::default())
    }

    #[test]
    fn strips_that_fall_over_each_other_form_columns_from_the_lowest() {
        let groom = shingles(5);
        let strips = wisps::through_strands(&groom, &wisps::Settings::default()).unwrap();
        assert_eq!(strips.validate(groom.strands.strand_count()), Ok(()));
        let columns = strips.columns();
        assert_eq!(columns.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5, 5]);
        for column in columns {
            let anchor = |s: usize| strips.edges.strand(s)[0];
            assert!(column.windows(2).all(|w| anchor(w[0]).y < anchor(w[1]).y));
            assert!(column.windows(2).all(|w| (anchor(w[0]).x - anchor(w[1]).x).abs() < 0.01));
            assert!(column.windows(2).all(|w| strips.layer[w[0]] <= strips.layer[w[1]]));
            assert_eq!([0, 4].map(|i| strips.layer[column[i]]), [0, 3]);
        }
        // The strip of each strand starts at the root of the strand.
        for (s, line) in groom.strands.iter().enumerate() {
            let strip = strips.strip_of_strand[s] as usize;
            assert!(strips.edges.strand(strip)[0].distance(line[0]) < 0.006, "strand {s}");
        }
    }

    #[test]
    fn strips_beside_each_other_or_through_each_other_have_no_order() {
        // One row: no strip lies on another.
        let strips = wisps::through_strands(&shingles(1), &wisps::Settings::default()).unwrap();
        assert!((0..strips.count()).all(|s| strips.lies_on(s).is_none()));
        // The upper ones pass through the lower ones.
        let mut groom = shingles(2);
        for row in 0..6 {
            for point in groom.strands.positions_mut()[72 * row..72 * (row + 1)].iter_mut() {
                if row % 2 == 1 {
                    point.z *= 0.5;
                }
            }
        }
        let strips = wisps::through_strands(&groom, &wisps::Settings::default()).unwrap();
        let crossing = (0..strips.count()).filter(|&s| {
            let Some(below) = strips.lies_on(s) else { return false };
            strips.edges.strand(s)[0].y > strips.edges.strand(below)[0].y
        });
        assert_eq!(crossing.count(), 0);
    }
}
