//! The column of each strand: for the report of broken columns.

use glam::Vec3;
use rayon::prelude::*;

use crate::groom::{Groom, HairMesh};

/// Per strand: the column whose root is nearest to its own.
#[derive(Debug, Clone)]
pub(super) struct NearestColumn(Vec<u32>);

impl NearestColumn {
    /// For a valid groom.
    pub(super) fn new(groom: &Groom, mesh: &HairMesh) -> Self {
        let columns: Vec<Vec3> = mesh.columns.iter().map(|c| c[0]).collect();
        let roots: Vec<Vec3> = groom.strands.iter().map(|s| s[0]).collect();
        let nearest = |p: &Vec3| {
            let distance = |c: &u32| columns[*c as usize].distance_squared(*p);
            let all = 0..columns.len() as u32;
            all.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
        };
        Self(roots.par_iter().map(nearest).collect())
    }

    /// Names the strands that grow nearest to the columns that are marked.
    pub(super) fn name_strands(&self, marked: &[bool], out: &mut Vec<u32>) {
        for (strand, column) in self.0.iter().enumerate() {
            if marked[*column as usize] {
                out.push(strand as u32);
            }
        }
    }
}
