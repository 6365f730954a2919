//! Edges, faces and the outer surface of a hair mesh, derived from columns and bundles.

use super::{HairMesh, Seam};

/// Whether a side face is on the outer surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideKind {
    /// Two bundles share it.
    Internal,
    /// It belongs to one bundle, and coincides at rest with a face of another along a seam: internal
    /// while the seam is closed, external where it has opened.
    Seam {
        /// Index of the coinciding face in [`Topology::sides`].
        twin: u32,
    },
    /// It belongs to one bundle, and coincides with no other face.
    External,
}

/// A quad between two columns in one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Counter-clockwise seen from outside of the first bundle: lower edge, then upper edge backwards.
    pub vertices: [u32; 4],
    /// The columns of its lower edge.
    pub columns: [u32; 2],
    /// The layer.
    pub layer: u32,
    /// The bundle that its normal points out of.
    pub bundle: u32,
    /// Whether it is on the outer surface.
    pub kind: SideKind,
}

/// The polygon at the tip end of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// Counter-clockwise seen from outside; the last repeats the first for a triangle.
    pub vertices: [u32; 4],
    /// Number of its corners: 3 or 4.
    pub corners: u8,
    /// The bundle that ends here.
    pub bundle: u32,
}

/// Whether a vertex is on the outer surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exposure {
    /// Inside the volume.
    Internal,
    /// Only on faces of a seam: inside while it is closed.
    Seam,
    /// On the outer surface.
    External,
}

/// Edges, faces and exposure of a hair mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Topology {
    /// Edges along columns: the vertex nearer to the root first. Column after column.
    pub along: Vec<[u32; 2]>,
    /// Edges across, on every level including the roots, without duplicates, smaller vertex first, sorted.
    pub across: Vec<[u32; 2]>,
    /// Side faces; one that two bundles share is listed once.
    pub sides: Vec<Side>,
    /// Polygons at the tip ends, one per bundle.
    pub caps: Vec<Cap>,
    /// Per vertex: whether it is on the outer surface.
    pub exposure: Vec<Exposure>,
}

impl HairMesh {
    /// Derives edges, faces and the outer surface. The mesh has to be [valid](HairMesh::validate).
    pub fn topology(&self) -> Topology {
        let mut along = Vec::with_capacity(self.vertex_count());
        for c in 0..self.column_count() {
            let vertices = self.columns.points_of(c);
            along.extend(vertices.clone().zip(vertices.skip(1)).map(|(a, b)| [a as u32, b as u32]));
        }
        let mut across = Vec::new();
        for bundle in &self.bundles {
            for side in 0..bundle.corners() {
                let [a, b] = bundle.side(side);
                across.extend((0..=bundle.layers).map(|k| {
                    let (p, q) = (self.vertex(a, k), self.vertex(b, k));
                    [p.min(q), p.max(q)]
                }));
            }
        }
        across.sort_unstable();
        across.dedup();
        let sides = self.sides();
        let caps: Vec<Cap> = self.caps().collect();
        let exposure = self.exposure(&sides, &caps);
        Topology { along, across, sides, caps, exposure }
    }

    fn sides(&self) -> Vec<Side> {
        // List every side of every prism by its columns and layer, so that equal ones are neighbours.
        let mut all: Vec<([u32; 2], u32, u32, u32)> = Vec::new();
        for (b, bundle) in self.bundles.iter().enumerate() {
            for side in 0..bundle.corners() {
                let [p, q] = bundle.side(side);
                let key = [p.min(q), p.max(q)];
                all.extend((0..bundle.layers).map(|k| (key, k, b as u32, side as u32)));
            }
        }
        all.sort_unstable();
        let mut sides: Vec<Side> = Vec::with_capacity(all.len());
        let mut i = 0;
        while i < all.len() {
            let (key, layer, b, side) = all[i];
            let shared = all[i..].iter().take_while(|s| s.0 == key && s.1 == layer).count();
            let [p, q] = self.bundles[b as usize].side(side as usize);
            sides.push(Side {
                vertices: [
                    self.vertex(p, layer),
                    self.vertex(q, layer),
                    self.vertex(q, layer + 1),
                    self.vertex(p, layer + 1),
                ],
                columns: [p, q],
                layer,
                bundle: b,
                kind: if shared > 1 { SideKind::Internal } else { SideKind::External },
            });
            i += shared;
        }
        self.pair_sides_along_seams(&mut sides);
        sides
    }

    /// Pairs outer sides that coincide because their columns do.
    fn pair_sides_along_seams(&self, sides: &mut [Side]) {
        if self.seams.is_empty() {
            return;
        }
        let class = coinciding_columns(self.column_count(), &self.seams);
        let mut outer: Vec<([u32; 2], u32, u32)> = Vec::new();
        for (i, side) in sides.iter().enumerate() {
            if side.kind == SideKind::External {
                let [p, q] = side.columns.map(|c| class[c as usize]);
                outer.push(([p.min(q), p.max(q)], side.layer, i as u32));
            }
        }
        outer.sort_unstable();
        for pair in outer.windows(2) {
            let ((key, layer, i), (other, other_layer, j)) = (pair[0], pair[1]);
            let free = sides[i as usize].kind == SideKind::External;
            if key == other && layer == other_layer && free {
                sides[i as usize].kind = SideKind::Seam { twin: j };
                sides[j as usize].kind = SideKind::Seam { twin: i };
            }
        }
    }

    fn caps(&self) -> impl Iterator<Item = Cap> + '_ {
        self.bundles.iter().enumerate().map(|(b, bundle)| {
            let mut vertices = [self.vertex(bundle.columns()[0], bundle.layers); 4];
            for (v, &c) in vertices.iter_mut().zip(bundle.columns()) {
                *v = self.vertex(c, bundle.layers);
            }
            Cap { vertices, corners: bundle.corners() as u8, bundle: b as u32 }
        })
    }

    fn exposure(&self, sides: &[Side], caps: &[Cap]) -> Vec<Exposure> {
        let mut exposure = vec![Exposure::Internal; self.vertex_count()];
        let mut expose = |vertices: &[u32], to: Exposure| {
            for &v in vertices {
                exposure[v as usize] = exposure[v as usize].max(to);
            }
        };
        for side in sides {
            match side.kind {
                SideKind::Internal => {}
                SideKind::Seam { .. } => expose(&side.vertices, Exposure::Seam),
                SideKind::External => expose(&side.vertices, Exposure::External),
            }
        }
        for cap in caps {
            expose(&cap.vertices, Exposure::External);
        }
        exposure
    }
}

/// Per column the smallest column that it coincides with through seams; itself without a seam.
pub(super) fn coinciding_columns(columns: usize, seams: &[Seam]) -> Vec<u32> {
    let mut class: Vec<u32> = (0..columns as u32).collect();
    fn top(class: &[u32], mut c: u32) -> u32 {
        while class[c as usize] != c {
            c = class[c as usize];
        }
        c
    }
    for seam in seams {
        let [a, b] = seam.columns.map(|c| top(&class, c));
        class[a.max(b) as usize] = a.min(b);
    }
    (0..columns as u32).map(|c| top(&class, c)).collect()
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::{Bundle, HairMesh};
    use super::*;

    #[test]
    fn a_block_has_the_known_numbers_of_edges_and_faces() {
        let mesh = HairMesh::block([2, 2], 3, Vec3::ONE, false);
        let t = mesh.topology();
        assert_eq!((mesh.vertex_count(), mesh.prism_count()), (36, 12));
        assert_eq!((t.along.len(), t.across.len()), (27, 12 * 4));
        let count = |kind| t.sides.iter().filter(|s| s.kind == kind).count();
        assert_eq!((count(SideKind::Internal), count(SideKind::External)), (4 * 3, 8 * 3));
        assert_eq!(t.caps.len(), 4);
        // Only the column in the middle is inside, except its tip.
        let inside = t.exposure.iter().filter(|&&e| e == Exposure::Internal).count();
        assert_eq!(inside, 3);
    }

    #[test]
    fn outer_faces_have_outward_normals() {
        let mesh = HairMesh::block([2, 3], 2, Vec3::new(1.0, 0.5, 2.0), true);
        let middle = Vec3::new(0.0, 0.25, 0.0);
        let t = mesh.topology();
        let at = |v: u32| mesh.positions()[v as usize];
        for side in t.sides.iter().filter(|s| s.kind == SideKind::External) {
            let [a, b, _, d] = side.vertices.map(at);
            assert!((b - a).cross(d - a).dot(a - middle) > 0.0, "{side:?}");
        }
        for cap in &t.caps {
            let [a, b, c, _] = cap.vertices.map(at);
            assert!((b - a).cross(c - a).y > 0.0, "{cap:?}");
        }
    }

    #[test]
    fn a_shorter_neighbour_leaves_the_upper_part_of_a_side_outside() {
        let mut mesh = HairMesh::block([2, 1], 3, Vec3::ONE, false);
        // Cut the second bundle and the two columns that only it has.
        mesh.bundles[1].layers = 1;
        let cut = mesh.bundles[1].columns().to_vec();
        let shared = mesh.bundles[0].columns().to_vec();
        let mut columns = crate::groom::Strands::new();
        for c in 0..mesh.column_count() {
            let only = cut.contains(&(c as u32)) && !shared.contains(&(c as u32));
            columns.push(&mesh.columns.strand(c)[..if only { 2 } else { 4 }]);
        }
        mesh.columns = columns;
        let t = mesh.topology();
        let internal: Vec<u32> =
            t.sides.iter().filter(|s| s.kind == SideKind::Internal).map(|s| s.layer).collect();
        assert_eq!(internal, [0]);
        assert_eq!(t.caps[1].vertices.len(), 4);
    }

    #[test]
    fn faces_along_a_seam_are_paired() {
        let mesh = HairMesh::parted_block(2, Vec3::ONE);
        let t = mesh.topology();
        let seams: Vec<usize> = (0..t.sides.len())
            .filter(|&i| matches!(t.sides[i].kind, SideKind::Seam { .. }))
            .collect();
        assert_eq!(seams.len(), 4);
        for i in seams {
            let SideKind::Seam { twin } = t.sides[i].kind else { unreachable!() };
            assert_eq!(t.sides[twin as usize].kind, SideKind::Seam { twin: i as u32 });
            assert_ne!(t.sides[twin as usize].bundle, t.sides[i].bundle);
        }
        let bundle = Bundle::triangle([0, 1, 2], 1);
        assert_eq!(bundle.side(2), [2, 0]);
    }
}
