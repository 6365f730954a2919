//! The roots of columns: they go with the strands that grow around them.
//!
//! A model is told how the scalp under each strand has moved. A column's root goes with the few strands
//! nearest to it, the nearest most, so that it neither jumps nor tears where the scalp is soft.

use glam::{Quat, Vec3};
use rayon::prelude::*;

use crate::groom::{Groom, HairMesh};
use crate::math::RigidTransform;

/// Strands that a root goes with.
const NEAREST: usize = 3;

/// Adds to distances in weights (m): nearer than a tenth of a millimetre is the same place.
const SAME: f32 = 1e-4;

/// Where the roots of columns are.
#[derive(Debug, Clone)]
pub(super) struct ColumnRoots {
    /// Per column: strands and their weights, which add up to 1.
    near: Vec<[(u32, f32); NEAREST]>,
    /// Roots in the rest shape (m).
    rest: Vec<Vec3>,
    /// Per strand: the nearest column.
    column_of: Vec<u32>,
    world_from_rest: Vec<RigidTransform>,
}

impl ColumnRoots {
    /// For a valid groom.
    pub(super) fn new(groom: &Groom, mesh: &HairMesh) -> Self {
        let roots: Vec<Vec3> = groom.strands.iter().map(|s| s[0]).collect();
        let rest: Vec<Vec3> = mesh.columns.iter().map(|c| c[0]).collect();
        let near: Vec<_> = rest.par_iter().map(|&root| nearest(root, &roots)).collect();
        let column_of = roots
            .par_iter()
            .map(|p| {
                let distance = |c: &u32| rest[*c as usize].distance_squared(*p);
                let columns = 0..rest.len() as u32;
                columns.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
            })
            .collect();
        let world_from_rest = vec![RigidTransform::IDENTITY; rest.len()];
        Self { near, rest, column_of, world_from_rest }
    }

    /// Moves the roots with the scalp under the strands.
    pub(super) fn follow(&mut self, strands: &[RigidTransform]) -> &[RigidTransform] {
        for (column, to) in self.world_from_rest.iter_mut().enumerate() {
            let rest = self.rest[column];
            let near = &self.near[column];
            let first = strands[near[0].0 as usize];
            let (mut place, mut turn) = (Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
            for &(strand, weight) in near {
                let pose = strands[strand as usize];
                let side = if pose.rotation.dot(first.rotation) < 0.0 { -weight } else { weight };
                place += pose.point(rest) * weight;
                turn += pose.rotation * side;
            }
            let length = turn.length();
            let rotation = if length > 0.0 { turn * (1.0 / length) } else { first.rotation };
            *to = RigidTransform { rotation, translation: place - rotation * rest };
        }
        &self.world_from_rest
    }

    /// Names the strands that grow nearest to the columns that are marked.
    pub(super) fn name_strands(&self, marked: &[bool], out: &mut Vec<u32>) {
        for (strand, column) in self.column_of.iter().enumerate() {
            if marked[*column as usize] {
                out.push(strand as u32);
            }
        }
    }
}

/// The strands nearest to a root, with weights.
fn nearest(root: Vec3, roots: &[Vec3]) -> [(u32, f32); NEAREST] {
    let mut best = [(0u32, f32::INFINITY); NEAREST];
    for (s, p) in roots.iter().enumerate() {
        let distance = p.distance(root);
        if distance < best[NEAREST - 1].1 {
            best[NEAREST - 1] = (s as u32, distance);
            best.sort_by(|a, b| a.1.total_cmp(&b.1));
        }
    }
    let weight = |distance: f32| {
        let near = distance + SAME;
        if distance.is_finite() { 1.0 / (near * near) } else { 0.0 }
    };
    let sum: f32 = best.iter().map(|b| weight(b.1)).sum();
    best.map(|(s, distance)| (s, weight(distance) / sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_goes_with_the_strands_around_it() {
        let roots = [Vec3::ZERO, Vec3::X, Vec3::X * 5.0, Vec3::Y];
        let near = nearest(Vec3::new(0.1, 0.0, 0.0), &roots);
        assert_eq!(near[0].0, 0);
        assert!((near.iter().map(|n| n.1).sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(near[0].1 > 0.9);
        // Fewer strands than it asks for.
        let alone = nearest(Vec3::ONE, &roots[..1]);
        assert_eq!(alone[0], (0, 1.0));
        assert_eq!(alone[1].1, 0.0);
    }
}
