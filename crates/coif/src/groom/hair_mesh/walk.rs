use std::collections::BTreeMap;

use glam::Vec3;

use super::{Bundle, HairMesh, Seam, wrong};
use crate::Result;
use crate::groom::Strands;

/// Vertices of a seam are at most this far apart (m).
const SAME_PLACE: f32 = 1e-6;

/// Polygons over shared vertices, as files have them.
#[derive(Debug, Clone, Copy)]
pub struct Polygons<'a> {
    /// Vertices (m).
    pub positions: &'a [Vec3],
    /// Vertices of all polygons, one after the other.
    pub corners: &'a [u32],
    /// Where each polygon ends in `corners`.
    pub ends: &'a [usize],
    /// Per polygon: whether it is a root polygon.
    pub is_root: &'a [bool],
    /// Per polygon: whether it lies along a seam and may open.
    pub may_open: &'a [bool],
}

impl Polygons<'_> {
    fn polygon(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.corners[start..self.ends[i]]
    }
}

impl HairMesh {
    /// Finds columns, bundles and layers by walking from the root polygons along quads: a side of a layer
    /// is the quad over the side of the layer below. A bundle ends where a polygon caps it, or where a
    /// side has no quad. Elements in errors count from 0 in the order of the polygons and vertices given.
    pub fn from_polygons(polygons: &Polygons<'_>) -> Result<Self> {
        let count = polygons.ends.len();
        let mut over: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        let mut caps: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for i in (0..count).filter(|&i| !polygons.is_root[i]) {
            let corners = polygons.polygon(i);
            for (k, &a) in corners.iter().enumerate() {
                let b = corners[(k + 1) % corners.len()];
                over.entry([a.min(b), a.max(b)]).or_default().push(i);
            }
            let mut sorted = corners.to_vec();
            sorted.sort_unstable();
            caps.insert(sorted, i);
        }
        let mut walk = Walk {
            polygons,
            over,
            above: vec![u32::MAX; polygons.positions.len()],
            opens: vec![u32::MAX; polygons.positions.len()],
        };
        // Climb every root polygon to its end.
        let mut found: Vec<(Vec<u32>, u32)> = Vec::new();
        for i in (0..count).filter(|&i| polygons.is_root[i]) {
            let roots = polygons.polygon(i).to_vec();
            if !(3..=4).contains(&roots.len()) {
                return Err(wrong(
                    format!("polygon {i}"),
                    format!("is a root polygon with {} corners: expected 3 or 4", roots.len()),
                ));
            }
            let mut level = roots.clone();
            let mut layers = 0;
            loop {
                let mut sorted = level.clone();
                sorted.sort_unstable();
                if layers > 0 && caps.contains_key(&sorted) {
                    break;
                }
                let Some(next) = walk.climb(&level)? else { break };
                level = next;
                layers += 1;
                if layers as usize > polygons.positions.len() {
                    return Err(wrong(
                        format!("polygon {i}"),
                        "has layers that lead back to themselves",
                    ));
                }
            }
            if layers == 0 {
                return Err(wrong(
                    format!("polygon {i}"),
                    "is a root polygon without a layer: expected a quad over each of its sides",
                ));
            }
            found.push((roots, layers));
        }
        if found.is_empty() {
            return Err(wrong("hair mesh".into(), "has no root polygon"));
        }
        walk.columns(&found)
    }
}

struct Walk<'a> {
    polygons: &'a Polygons<'a>,
    /// The polygons at each edge, roots aside.
    over: BTreeMap<[u32; 2], Vec<usize>>,
    /// The vertex over each vertex; `u32::MAX` for none known.
    above: Vec<u32>,
    /// The lowest level on which a column may open, by its root; `u32::MAX` for none.
    opens: Vec<u32>,
}

impl Walk<'_> {
    /// The polygon one layer up, if every side has a quad over it that leads on.
    fn climb(&mut self, level: &[u32]) -> Result<Option<Vec<u32>>> {
        let n = level.len();
        let mut next = vec![u32::MAX; n];
        for side in 0..n {
            let (a, b) = (level[side], level[(side + 1) % n]);
            let Some((up_a, up_b)) = self.quad_over(a, b, level) else { return Ok(None) };
            for (corner, v, up) in [(side, a, up_a), ((side + 1) % n, b, up_b)] {
                if next[corner] != u32::MAX && next[corner] != up {
                    return Err(wrong(
                        format!("vertex {v}"),
                        format!("has two vertices over it, {} and {up}", next[corner]),
                    ));
                }
                next[corner] = up;
            }
        }
        for (corner, &v) in level.iter().enumerate() {
            let known = self.above[v as usize];
            if known != u32::MAX && known != next[corner] {
                return Err(wrong(
                    format!("vertex {v}"),
                    format!("has two vertices over it, {known} and {}", next[corner]),
                ));
            }
        }
        for (corner, &v) in level.iter().enumerate() {
            self.above[v as usize] = next[corner];
        }
        Ok(Some(next))
    }

    /// The vertices over the two ends of an edge, through a quad that does not lead back down or across.
    fn quad_over(&self, a: u32, b: u32, level: &[u32]) -> Option<(u32, u32)> {
        let known = (self.above[a as usize], self.above[b as usize]);
        for &i in self.over.get(&[a.min(b), a.max(b)])? {
            let quad = self.polygons.polygon(i);
            if quad.len() != 4 {
                continue;
            }
            let at = quad.iter().position(|&v| v == a)?;
            let (before, after, opposite) =
                (quad[(at + 3) % 4], quad[(at + 1) % 4], quad[(at + 2) % 4]);
            let (up_a, up_b) = if after == b { (before, opposite) } else { (after, opposite) };
            // A cap lies within the level; the layer below has this one over it.
            let within = level.contains(&up_a) || level.contains(&up_b);
            let down = self.above[up_a as usize] == a || self.above[up_b as usize] == b;
            let fits = (known.0 == u32::MAX || known.0 == up_a)
                && (known.1 == u32::MAX || known.1 == up_b);
            if !within && !down && fits {
                return Some((up_a, up_b));
            }
        }
        None
    }

    /// Turns chains of vertices into columns, in the order of their roots.
    fn columns(mut self, found: &[(Vec<u32>, u32)]) -> Result<HairMesh> {
        let mut vertices: BTreeMap<u32, usize> = BTreeMap::new();
        for (roots, layers) in found {
            for &root in roots {
                let needed = vertices.entry(root).or_insert(0);
                *needed = (*needed).max(*layers as usize + 1);
            }
        }
        let mut columns = Strands::new();
        let mut number: BTreeMap<u32, u32> = BTreeMap::new();
        let mut place: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (&root, &needed) in &vertices {
            let column = columns.strand_count() as u32;
            number.insert(root, column);
            let mut line = Vec::with_capacity(needed);
            let mut v = root;
            for level in 0..needed {
                line.push(self.polygons.positions[v as usize]);
                place.insert(v, (column, level as u32));
                v = self.above[v as usize];
                if v == u32::MAX {
                    break;
                }
            }
            columns.push(&line);
        }
        let bundles = found
            .iter()
            .filter_map(|(roots, layers)| {
                let own: Vec<u32> = roots.iter().filter_map(|r| number.get(r).copied()).collect();
                Bundle::over(&own, *layers)
            })
            .collect();
        // A polygon that may open says from which level on its columns may part.
        self.opens = vec![u32::MAX; columns.strand_count()];
        for i in (0..self.polygons.ends.len()).filter(|&i| self.polygons.may_open[i]) {
            let at = self.polygons.polygon(i).iter().filter_map(|v| place.get(v));
            let at: Vec<(u32, u32)> = at.copied().collect();
            let lowest = at.iter().map(|p| p.1).min().unwrap_or(0);
            for (column, _) in at {
                let opens = &mut self.opens[column as usize];
                *opens = (*opens).min(lowest + 1);
            }
        }
        let seams = self.seams(&columns);
        Ok(HairMesh { columns, bundles, seams, roots: Vec::new() })
    }

    /// Joins columns that may open and stand in the same place.
    fn seams(&self, columns: &Strands) -> Vec<Seam> {
        let open: Vec<usize> =
            (0..columns.strand_count()).filter(|&c| self.opens[c] != u32::MAX).collect();
        let mut seams = Vec::new();
        for (i, &b) in open.iter().enumerate() {
            let same = |a: usize| {
                let (p, q) = (columns.strand(a), columns.strand(b));
                p.iter().zip(q).all(|(p, q)| p.distance(*q) <= SAME_PLACE)
            };
            if let Some(&a) = open[..i].iter().find(|&&a| same(a)) {
                let first_level = self.opens[a].min(self.opens[b]);
                seams.push(Seam { columns: [a as u32, b as u32], first_level });
            }
        }
        seams
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All polygons of a mesh in a shuffled order.
    fn polygons_of(mesh: &HairMesh) -> (Vec<u32>, Vec<usize>, Vec<bool>, Vec<bool>) {
        let mut all: Vec<(Vec<u32>, bool)> = Vec::new();
        for bundle in &mesh.bundles {
            let roots = bundle.columns().iter().map(|&c| mesh.vertex(c, 0)).collect();
            all.push((roots, true));
        }
        let topology = mesh.topology();
        all.extend(topology.sides.iter().rev().map(|s| (s.vertices.to_vec(), false)));
        let caps = topology.caps.iter();
        all.extend(caps.map(|c| (c.vertices[..usize::from(c.corners)].to_vec(), false)));
        let mut corners = Vec::new();
        let mut ends = Vec::new();
        for (polygon, _) in &all {
            corners.extend_from_slice(polygon);
            ends.push(corners.len());
        }
        let is_root = all.iter().map(|p| p.1).collect();
        let may_open = vec![false; all.len()];
        (corners, ends, is_root, may_open)
    }

    fn walked(mesh: &HairMesh) -> Result<HairMesh> {
        let (corners, ends, is_root, may_open) = polygons_of(mesh);
        HairMesh::from_polygons(&Polygons {
            positions: mesh.positions(),
            corners: &corners,
            ends: &ends,
            is_root: &is_root,
            may_open: &may_open,
        })
    }

    #[test]
    fn layers_are_found_by_walking() {
        for mesh in [
            HairMesh::block([3, 2], 4, Vec3::new(0.1, 0.3, 0.1), true),
            HairMesh::block([1, 1], 1, Vec3::ONE, false),
        ] {
            assert_eq!(walked(&mesh).unwrap(), mesh);
        }
    }

    #[test]
    fn a_short_bundle_amid_long_ones_ends_at_its_cap() {
        let mut mesh = HairMesh::block([3, 3], 4, Vec3::new(0.1, 0.3, 0.1), false);
        mesh.bundles[4].layers = 2;
        mesh.validate().unwrap();
        assert_eq!(walked(&mesh).unwrap(), mesh);
    }

    #[test]
    fn polygons_that_are_no_hair_mesh_are_named() {
        let mesh = HairMesh::block([2, 1], 2, Vec3::ONE, false);
        let (corners, ends, is_root, may_open) = polygons_of(&mesh);
        let none = vec![false; ends.len()];
        let polygons = Polygons {
            positions: mesh.positions(),
            corners: &corners,
            ends: &ends,
            is_root: &none,
            may_open: &may_open,
        };
        assert!(HairMesh::from_polygons(&polygons).is_err());
        // Only the root polygons: nothing grows on them.
        let bare = Polygons {
            is_root: &is_root[..2],
            ends: &ends[..2],
            may_open: &may_open[..2],
            ..polygons
        };
        let error = HairMesh::from_polygons(&bare).unwrap_err().to_string();
        assert!(error.contains("polygon 0") && error.contains("without a layer"), "{error}");
    }
}
