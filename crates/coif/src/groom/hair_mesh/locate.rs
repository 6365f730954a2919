//! Distances of points of strands from a hair mesh at rest.

use std::collections::BTreeMap;

use glam::Vec3;
use rayon::prelude::*;

use super::HairMesh;
use super::frames::{Frame, Frames};
use super::search::{Around, Found, Search};
use crate::groom::Strands;
use crate::math::ClosestTriangle;
use crate::{Error, Result};

/// Per bundle its neighbours and their neighbours, in ascending order. Bundles are neighbours if they have a root
/// position in common.
fn neighbourhoods(mesh: &HairMesh) -> Vec<Vec<u32>> {
    let root = |c: u32| mesh.columns.strand(c as usize)[0].to_array().map(f32::to_bits);
    let mut at_root: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
    for (b, bundle) in mesh.bundles.iter().enumerate() {
        bundle.columns().iter().for_each(|&c| at_root.entry(root(c)).or_default().push(b as u32));
    }
    let beside = |b: u32| {
        let columns = mesh.bundles[b as usize].columns().iter();
        columns.flat_map(|&c| at_root.get(&root(c)).into_iter().flatten().copied())
    };
    (0..mesh.bundles.len() as u32)
        .map(|b| {
            let mut near: Vec<u32> = beside(b).flat_map(beside).filter(|&n| n != b).collect();
            near.sort_unstable();
            near.dedup();
            near
        })
        .collect()
}

impl HairMesh {
    /// Distance of each point of some strands from the valid mesh at rest (m), 0 for those inside: the smallest from
    /// the bundle of its strand and the [neighbourhoods] of that. Below `enough` (m) it is only an upper bound.
    pub(super) fn distances(&self, strands: &Strands, enough: f32) -> Result<Vec<f32>> {
        self.nearest(strands, enough, |_, _, distance| distance)
    }

    /// For every point that is farther than `enough` (m) from the mesh at rest: the vertices around the nearest place
    /// of the mesh, with their weights, and the offset from there to the point.
    pub(super) fn outside(&self, strands: &Strands, enough: f32) -> Result<Vec<(Around, Vec3)>> {
        let all = self.nearest(strands, enough, |search, (found, p), distance| {
            (distance > enough).then(|| {
                let (vertices, place) = search.vertices(&found);
                (vertices, p - place)
            })
        })?;
        Ok(all.into_iter().flatten().collect())
    }

    /// The result of `measure` for every point, with the nearest place of the mesh and its distance (m).
    fn nearest<T: Send>(
        &self,
        strands: &Strands,
        enough: f32,
        measure: impl Fn(&Search<'_>, (Found, Vec3), f32) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut now = vec![Frame::default(); self.vertex_count()];
        Frames::new(self).update(self.positions(), &mut now);
        let (triangles, bundle_of) = self.root_triangles();
        let roots = ClosestTriangle::new(&triangles).ok_or(Error::NoTriangles)?;
        let search = Search { mesh: self, frames: &now, roots, bundle_of: &bundle_of };
        let near = neighbourhoods(self);
        let lines: Vec<&[Vec3]> = strands.iter().collect();
        let found: Vec<Vec<T>> = lines
            .par_iter()
            .map(|line| {
                let mut found = Vec::new();
                search.strand(line, &mut found);
                let measured = |(f, &p): (&Found, &Vec3)| {
                    let near = &near[f.bundle as usize];
                    let (place, distance) = search.nearest_of(f, p, near, enough);
                    measure(&search, (place, p), distance)
                };
                found.iter().zip(*line).map(measured).collect()
            })
            .collect();
        Ok(found.into_iter().flatten().collect())
    }
}
