//! Which nodes are inside.
//!
//! A node is inside where its winding number is not zero. One count along x is enough for a closed mesh, and
//! is checked: every row must end at zero, and no two neighbours may be on different sides unless
//! both are near the surface. If that fails, the mesh has holes, and all three axes vote:
//! - a row that went through a hole does not vote;
//! - the majority of the others wins, so that no hole leaks farther than its own rim;
//! - a tie goes to the pseudo-normal within the band; what is left goes to the neighbours;
//! - where inside meets outside without a surface, the hole is closed by a cap.
//!
//! A sheet has no inside: hardly any of its rows ends at zero.
//!
//! Bodies that overlap count as one. What is left of their surfaces within each other separates
//! inside from inside, and is found by the winding number behind it: nodes next to it lose their
//! distance, and get it from the outer surface by marching.

use super::Report;
use super::band::BandNode;
use super::crossings::{Rows, UNKNOWN};
use super::grid::Layout;
use super::near::Nearest;
use super::pseudo_normal::Surface;

/// Distance (cells) below which a node is on the surface, and has no side.
const ON_SURFACE: f32 = 1e-3;
/// A node for which no row has a vote.
const UNDECIDED: u8 = 2;
/// Nodes that are decided with the rest of their layer.
const NEXT_INSIDE: u8 = 3;
const NEXT_OUTSIDE: u8 = 4;
/// A node with as many votes for the one side as for the other.
const TIED: u8 = 5;

/// Sides of all nodes; memory is kept between steps.
#[derive(Debug, Default)]
pub(super) struct Sides {
    /// 1 inside, 0 outside, in the order x, y, z.
    pub(super) inside: Vec<u8>,
    /// Nodes that a cap over a hole runs between.
    pub(super) caps: Vec<u32>,
    winding: [Vec<i16>; 3],
    is_crossed: Vec<bool>,
    near: Vec<u8>,
    undecided: Vec<u32>,
}

impl Sides {
    /// Finds the sides. Nodes of the band that are next to an inner surface leave the band.
    pub(super) fn settle(
        &mut self,
        layout: &Layout,
        surface: &Surface<'_>,
        nearest: &Nearest,
        band: &mut Vec<BandNode>,
        report: &mut Report,
    ) {
        self.caps.clear();
        self.near.clear();
        self.near.resize(layout.size(), 0);
        for node in band.iter() {
            self.near[node.place as usize] = 1;
        }
        // Count along x.
        let corners = |t: u32| surface.triangles[t as usize].map(|v| surface.vertices[v as usize]);
        let candidates = nearest.crossing_x.iter().map(|&t| corners(t));
        let rows = Rows { axis: 0, layout };
        let open = rows.count(candidates, &mut self.winding[0], &mut self.is_crossed);
        self.inside.clear();
        self.inside.extend(self.winding[0].iter().map(|&w| u8::from(w != 0)));
        // Confirm, or let all axes vote.
        if open > 0 || !self.changes_only_near(layout) {
            report.open_rows = open;
            self.vote(layout, surface, nearest, band, report);
            self.close_holes(layout);
            report.capped_nodes = self.caps.len() as u32;
        }
        // Drop surfaces inside another body.
        if self.winding[0].iter().fold(false, |any, &w| any | (w.unsigned_abs() > 1)) {
            let before = band.len();
            band.retain(|node| self.is_outer(node, layout, surface, nearest));
            report.inner_nodes = (before - band.len()) as u32;
        }
    }

    /// Whether neighbours on different sides are always near the surface.
    fn changes_only_near(&self, layout: &Layout) -> bool {
        let mut bad = 0;
        for step in [1, layout.row, layout.plane] {
            let (inside, near) = (&self.inside[..], &self.near[..]);
            let pairs = inside.iter().zip(&inside[step..]).zip(near.iter().zip(&near[step..]));
            bad |= pairs.fold(0, |bad, ((a, b), (c, d))| bad | ((a ^ b) & !(c & d)));
        }
        bad & 1 == 0
    }

    /// Counts along y and z too, and decides by majority.
    fn vote(
        &mut self,
        layout: &Layout,
        surface: &Surface<'_>,
        nearest: &Nearest,
        band: &[BandNode],
        report: &mut Report,
    ) {
        for axis in 1..3 {
            let all = surface.triangles.iter().filter_map(|t| {
                let [a, b, c] = t.map(|v| surface.vertices.get(v as usize));
                Some([*a?, *b?, *c?])
            });
            let rows = Rows { axis, layout };
            report.open_rows += rows.count(all, &mut self.winding[axis], &mut self.is_crossed);
        }
        let [first, second, third] = &mut self.winding;
        let others = second.iter().zip(third.iter());
        for ((inside, first), others) in self.inside.iter_mut().zip(first.iter_mut()).zip(others) {
            let votes = [*first, *others.0, *others.1];
            let known = |w: &&i16| **w != UNKNOWN;
            let balance: i32 =
                votes.iter().filter(known).map(|&w| if w == 0 { -1 } else { 1 }).sum();
            *inside = match balance {
                1.. => 1,
                0 if votes.iter().any(|w| known(&w)) => TIED,
                0 => UNDECIDED,
                _ => 0,
            };
            // Keep the winding number of an axis that agrees with the majority.
            let winner = votes.iter().filter(known).find(|&&w| (w != 0) == (balance > 0));
            *first = winner.copied().unwrap_or(0);
        }
        // Break ties near the surface.
        for node in band {
            let i = node.place as usize;
            if self.inside[i] == TIED {
                let front = surface.in_front(node.position(), nearest.triangle[i]);
                self.inside[i] = u8::from(!front);
            }
        }
        self.settle_by_neighbours(layout);
        for (inside, winding) in self.inside.iter_mut().zip(&mut self.winding[0]) {
            *inside &= 1;
            if *inside == 1 && *winding == 0 {
                *winding = 1;
            }
        }
    }

    /// Neighbours inside less neighbours outside.
    fn neighbours(&self, layout: &Layout, i: usize) -> i32 {
        let steps = [1, layout.row, layout.plane];
        let all = steps.iter().flat_map(|s| [self.inside[i - s], self.inside[i + s]]);
        all.map(|side| match side {
            0 => -1,
            1 => 1,
            _ => 0,
        })
        .sum()
    }

    /// Decides the undecided from both sides at once, one layer of nodes after the other, so that the
    /// sides meet in the middle of a hole.
    fn settle_by_neighbours(&mut self, layout: &Layout) {
        self.undecided.clear();
        let nodes = layout.index(0, 0, 0)..layout.index(0, 0, layout.len[2]);
        for i in nodes {
            if self.inside[i] > 1 {
                self.inside[i] = UNDECIDED;
                self.undecided.push(i as u32);
            }
        }
        let mut left = usize::MAX;
        while self.undecided.len() < left {
            left = self.undecided.len();
            // Decide the whole layer from the layers before it, then store it.
            for i in 0..left {
                let i = self.undecided[i] as usize;
                let balance = self.neighbours(layout, i);
                if balance != 0 {
                    self.inside[i] = if balance > 0 { NEXT_INSIDE } else { NEXT_OUTSIDE };
                }
            }
            let inside = &mut self.inside;
            self.undecided.retain(|&i| {
                let side = &mut inside[i as usize];
                let decided = *side != UNDECIDED;
                if decided {
                    *side = u8::from(*side == NEXT_INSIDE);
                }
                !decided
            });
        }
    }

    /// Collects the nodes on both sides of every change of side without a surface in between.
    fn close_holes(&mut self, layout: &Layout) {
        let nodes = layout.index(0, 0, 0)..layout.index(0, 0, layout.len[2]);
        for i in nodes {
            for step in [1, layout.row, layout.plane] {
                let j = i + step;
                if self.inside[i] != self.inside[j] && self.near[i] & self.near[j] == 0 {
                    self.caps.extend([i as u32, j as u32]);
                }
            }
        }
    }

    /// Whether the surface next to a node has an outside: winding number zero on one of its sides.
    fn is_outer(
        &self,
        node: &BandNode,
        layout: &Layout,
        surface: &Surface<'_>,
        nearest: &Nearest,
    ) -> bool {
        let i = node.place as usize;
        if self.inside[i] == 0 {
            return true;
        }
        // Exactly on a surface, decide by the neighbours.
        if node.distance < ON_SURFACE {
            let steps = [1, layout.row, layout.plane];
            return steps.iter().any(|s| self.inside[i - s] & self.inside[i + s] == 0);
        }
        let winding = self.winding[0][i];
        let front = surface.in_front(node.position(), nearest.triangle[i]);
        if front { winding == -1 } else { winding == 1 }
    }
}
