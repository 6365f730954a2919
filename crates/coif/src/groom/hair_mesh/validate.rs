use std::collections::BTreeMap;

use glam::Vec3;

use super::names::{CountedFromZero, ElementNames};
use super::{Bundle, HairMesh, wrong};
use crate::Result;
use crate::limits::MAX_GROOM_COORDINATE;

/// Smallest openness of a prism's corner: its volume over the product of its three edges, 1 for a right-angled corner.
/// A flatter corner counts as degenerate.
pub(super) const FLAT: f32 = 1e-3;

/// Shortest segment of a column (m): less than the width of a hair. In shorter ones the rounding error of positions a
/// few metres from the origin is a strain of a hundredth, which makes stiff hair unstable.
pub(super) const SHORTEST: f32 = 5e-5;

/// Largest distance of columns of a seam at rest, as a fraction of their first segment.
const SEAM_GAP: f32 = 1e-3;

impl HairMesh {
    /// Returns an error for the first invalid element: values that are not
    /// finite, columns and bundles that do not fit each other, roots that are not a manifold, polygons
    /// that are clockwise, prisms without volume, seams between columns that do not coincide.
    pub fn validate(&self) -> Result<()> {
        self.validate_named(&CountedFromZero)
    }

    /// [`HairMesh::validate`] with other names of elements.
    pub(super) fn validate_named(&self, names: &dyn ElementNames) -> Result<()> {
        if self.bundles.is_empty() {
            return Err(wrong("hair mesh".into(), "has no bundle"));
        }
        if !self.roots.is_empty() && self.roots.len() != self.column_count() {
            return Err(wrong(
                "roots".into(),
                format!("are {} for {} columns", self.roots.len(), self.column_count()),
            ));
        }
        self.validate_columns(names)?;
        self.validate_bundles(names)?;
        self.validate_roots(names)?;
        self.validate_prisms(names)?;
        self.validate_segments(names)?;
        self.validate_seams(names)
    }

    /// Whether a layer of a bundle has corners that are more open than `flat`, at least [`FLAT`], and segments that
    /// [`HairMesh::validate`] accepts.
    pub(super) fn is_good(&self, bundle: usize, layer: u32, flat: f32) -> bool {
        let prism = self.prism(bundle, layer);
        let at = |v: u32| self.positions()[v as usize];
        let long = |(&a, &b): (&u32, &u32)| at(a).distance(at(b)) >= SHORTEST;
        prism.corner_tetrahedra().all(|t| openness(t.map(at)) > flat)
            && prism.lower().iter().zip(prism.upper()).all(long)
    }

    /// Bundles with a layer that is not good in the sense of [`HairMesh::is_good`].
    pub(super) fn bad_bundles(&self, flat: f32) -> Vec<usize> {
        let bad = |b: &usize| (0..self.bundles[*b].layers).any(|k| !self.is_good(*b, k, flat));
        (0..self.bundles.len()).filter(bad).collect()
    }

    fn validate_columns(&self, names: &dyn ElementNames) -> Result<()> {
        for (c, column) in self.columns.iter().enumerate() {
            if column.len() < 2 {
                return Err(wrong(
                    names.column(c as u32),
                    "has no segment: expected 2 vertices or more",
                ));
            }
            let bad = |p: &Vec3| !(p.is_finite() && p.abs().max_element() <= MAX_GROOM_COORDINATE);
            if let Some(k) = column.iter().position(bad) {
                return Err(wrong(
                    names.level(c as u32, k as u32),
                    format!(
                        "is at {}: expected finite coordinates of at most {MAX_GROOM_COORDINATE} m",
                        column[k]
                    ),
                ));
            }
        }
        Ok(())
    }

    fn validate_segments(&self, names: &dyn ElementNames) -> Result<()> {
        for (c, column) in self.columns.iter().enumerate() {
            let short = |w: &[Vec3]| w[0].distance(w[1]) < SHORTEST;
            if let Some(k) = column.windows(2).position(short) {
                return Err(wrong(
                    names.level(c as u32, k as u32 + 1),
                    format!(
                        "is {:.4} mm from the level before: expected {:.2} mm or more",
                        1e3 * column[k].distance(column[k + 1]),
                        1e3 * SHORTEST
                    ),
                ));
            }
        }
        Ok(())
    }

    fn validate_bundles(&self, names: &dyn ElementNames) -> Result<()> {
        let mut longest = vec![0; self.column_count()];
        for (b, bundle) in self.bundles.iter().enumerate() {
            if bundle.layers == 0 {
                return Err(wrong(names.bundle(b), "has no layer"));
            }
            for (i, &c) in bundle.columns().iter().enumerate() {
                let Some(longest) = longest.get_mut(c as usize) else {
                    let columns = self.column_count();
                    return Err(wrong(
                        names.bundle(b),
                        format!("names column {c}, but there are {columns} columns"),
                    ));
                };
                if bundle.columns()[..i].contains(&c) {
                    return Err(wrong(names.bundle(b), format!("has {} twice", names.column(c))));
                }
                let vertices = self.columns.points_of(c as usize).len();
                if (bundle.layers as usize) >= vertices {
                    return Err(wrong(
                        names.bundle(b),
                        format!(
                            "has {} layers, but {} has {vertices} vertices: expected {} or more",
                            bundle.layers,
                            names.column(c),
                            bundle.layers + 1
                        ),
                    ));
                }
                *longest = bundle.layers.max(*longest);
            }
        }
        // Refuse vertices that belong to no prism: no force would act on them.
        for (c, &layers) in longest.iter().enumerate() {
            let vertices = self.columns.points_of(c).len();
            if layers == 0 {
                return Err(wrong(names.column(c as u32), "belongs to no bundle"));
            }
            if vertices != layers as usize + 1 {
                return Err(wrong(
                    names.column(c as u32),
                    format!(
                        "has {vertices} vertices, but its longest bundle needs only {}",
                        layers + 1
                    ),
                ));
            }
        }
        Ok(())
    }

    /// At most two polygons share an edge, in opposite directions, and those around a column are
    /// connected.
    fn validate_roots(&self, names: &dyn ElementNames) -> Result<()> {
        let mut by_columns: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for (b, bundle) in self.bundles.iter().enumerate() {
            let mut columns = bundle.columns().to_vec();
            columns.sort_unstable();
            if let Some(first) = by_columns.insert(columns, b) {
                let problem =
                    format!("is a duplicate: {} has the same columns", names.bundle(first));
                return Err(wrong(names.bundle(b), problem));
            }
        }
        let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
        for (b, bundle) in self.bundles.iter().enumerate() {
            for side in 0..bundle.corners() {
                let [p, q] = bundle.side(side);
                if let Some(&other) = edges.get(&[p, q]) {
                    let more = edges.contains_key(&[q, p]);
                    return Err(wrong(
                        names.root_edge([p, q]),
                        if more {
                            format!(
                                "belongs to more than two bundles, {} and {} among them",
                                names.bundle(other),
                                names.bundle(b)
                            )
                        } else {
                            format!(
                                "has the same direction in {} and {}: one is turned over",
                                names.bundle(other),
                                names.bundle(b)
                            )
                        },
                    ));
                }
                edges.insert([p, q], b);
            }
        }
        // Walk around each column from bundle to bundle; all of its bundles must be reached.
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); self.column_count()];
        for (b, bundle) in self.bundles.iter().enumerate() {
            bundle.columns().iter().for_each(|&c| around[c as usize].push(b));
        }
        for (c, bundles) in around.iter().enumerate() {
            let reached = fan(c as u32, bundles[0], &self.bundles, &edges);
            if reached != bundles.len() {
                return Err(wrong(
                    names.column(c as u32),
                    "joins bundles that share no edge: expected a column of its own for each group",
                ));
            }
        }
        Ok(())
    }

    fn validate_prisms(&self, names: &dyn ElementNames) -> Result<()> {
        let at = |v: u32| self.positions()[v as usize];
        for (b, bundle) in self.bundles.iter().enumerate() {
            for k in 0..bundle.layers {
                let prism = self.prism(b, k);
                let corners: Vec<f32> =
                    prism.corner_tetrahedra().map(|t| openness(t.map(at))).collect();
                let good = corners.iter().filter(|&&m| m > FLAT).count();
                let turned = corners.iter().filter(|&&m| m < -FLAT).count();
                if good == corners.len() {
                    continue;
                }
                let problem = if turned == corners.len() {
                    "is inside out: expected a root polygon that is counter-clockwise seen from outside"
                        .to_owned()
                } else {
                    let is_good = |t: &[u32; 4]| openness(t.map(at)) > FLAT;
                    let first = prism.corner_tetrahedra().find(|t| !is_good(t));
                    let (column, level) = self.locate(first.map_or(0, |t| t[0] as usize));
                    format!(
                        "is flat, folded or inverted: {} of its {} corners have no volume, the first at {}",
                        corners.len() - good,
                        corners.len(),
                        names.level(column as u32, level as u32)
                    )
                };
                return Err(wrong(names.layer(b, k), problem));
            }
        }
        Ok(())
    }

    fn validate_seams(&self, names: &dyn ElementNames) -> Result<()> {
        for (s, seam) in self.seams.iter().enumerate() {
            let [a, b] = seam.columns;
            let element = || format!("seam {s}");
            if a == b || a.max(b) as usize >= self.column_count() {
                return Err(wrong(
                    element(),
                    format!(
                        "joins columns {a} and {b}: expected two different columns of the mesh"
                    ),
                ));
            }
            if seam.first_level == 0 {
                return Err(wrong(element(), "opens from level 0 on: expected 1 or more"));
            }
            let columns = seam.columns.map(|c| self.columns.strand(c as usize));
            let gap = SEAM_GAP * columns[0][0].distance(columns[0][1]);
            let apart = |(p, q): (&Vec3, &Vec3)| p.distance(*q) > gap;
            if let Some(k) = columns[0].iter().zip(columns[1]).position(apart) {
                return Err(wrong(
                    element(),
                    format!(
                        "joins {} and {}, which are apart on level {k} at rest",
                        names.column(a),
                        names.column(b)
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Volume of a corner over the product of its three edges: 1 if they are perpendicular, 0 if it is
/// flat, negative if it is inverted. NaN, with which every comparison fails, if an edge has no length.
pub(super) fn openness([a, b, c, d]: [Vec3; 4]) -> f32 {
    let (e1, e2, e3) = (b - a, c - a, d - a);
    e1.dot(e2.cross(e3)) / (e1.length() * e2.length() * e3.length())
}

/// Number of bundles around a column that can be reached from one of them over shared edges.
fn fan(column: u32, start: usize, bundles: &[Bundle], edges: &BTreeMap<[u32; 2], usize>) -> usize {
    let neighbour = |b: usize, forward: bool| {
        let columns = bundles[b].columns();
        let n = columns.len();
        let i = columns.iter().position(|&c| c == column)?;
        let edge = if forward {
            [column, columns[(i + n - 1) % n]]
        } else {
            [columns[(i + 1) % n], column]
        };
        edges.get(&edge).copied()
    };
    let mut reached = 1;
    for forward in [true, false] {
        let mut at = start;
        while let Some(next) = neighbour(at, forward) {
            if next == start {
                return reached;
            }
            reached += 1;
            at = next;
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::Seam;
    use super::*;
    use crate::Error;
    use crate::groom::Strands;

    fn block() -> HairMesh {
        HairMesh::block([2, 2], 3, Vec3::new(0.1, 0.3, 0.1), true)
    }

    fn problem(mesh: &HairMesh) -> (String, String) {
        match mesh.validate() {
            Err(Error::HairMesh { element, problem }) => (element, problem),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn good_meshes_pass() {
        assert_eq!(block().validate(), Ok(()));
        assert_eq!(HairMesh::parted_block(3, Vec3::ONE).validate(), Ok(()));
        assert_eq!(problem(&HairMesh::default()).0, "hair mesh");
    }

    #[test]
    fn errors_name_the_vertex_that_is_not_finite() {
        let mut mesh = block();
        mesh.columns.strand_mut(4)[2].y = f32::NAN;
        assert_eq!(problem(&mesh).0, "column 4, level 2");
    }

    #[test]
    fn errors_name_bundles_that_do_not_fit_their_columns() {
        let mut mesh = block();
        mesh.bundles[1].layers = 4;
        let (element, problem_text) = problem(&mesh);
        assert_eq!(element, "bundle 1");
        assert!(problem_text.contains("4 layers"), "{problem_text}");
        mesh.bundles[1].layers = 0;
        assert_eq!(problem(&mesh), ("bundle 1".into(), "has no layer".into()));

        let mut mesh = block();
        mesh.bundles[0] = Bundle::triangle([0, 9, 3], 3);
        assert!(problem(&mesh).1.contains("column 9"));
        mesh.bundles[0] = Bundle::triangle([0, 3, 0], 3);
        assert!(problem(&mesh).1.contains("column 0 twice"));

        let mut mesh = block();
        mesh.columns.push(&[Vec3::ZERO, Vec3::Y]);
        assert_eq!(problem(&mesh), ("column 9".into(), "belongs to no bundle".into()));

        let mut mesh = HairMesh::block([1, 1], 3, Vec3::ONE, false);
        mesh.bundles[0].layers = 2;
        assert!(problem(&mesh).1.contains("needs only 3"));
    }

    #[test]
    fn errors_name_roots_that_are_not_a_manifold() {
        // A third bundle on an edge that has two.
        let mut mesh = block();
        mesh.columns.push(&[
            Vec3::X,
            Vec3::X + Vec3::Y,
            Vec3::X + 2.0 * Vec3::Y,
            Vec3::X + 3.0 * Vec3::Y,
        ]);
        mesh.bundles.push(Bundle::triangle([3, 4, 9], 3));
        let (element, text) = problem(&mesh);
        assert_eq!(element, "root edge between columns 3 and 4");
        assert!(text.contains("more than two"), "{text}");

        // One bundle in reverse order.
        let mut mesh = block();
        let mut columns = mesh.bundles[0].columns().to_vec();
        columns.reverse();
        mesh.bundles[0] = Bundle::over(&columns, 3).unwrap();
        assert!(problem(&mesh).1.contains("turned over"));

        // A duplicate.
        let mut mesh = block();
        let (first, count) = (mesh.bundles[0], mesh.bundles.len());
        mesh.bundles.push(first);
        let (element, text) = problem(&mesh);
        assert_eq!(element, format!("bundle {count}"));
        assert!(text.contains("duplicate: bundle 0 has"), "{text}");

        // Two quads that share only a corner.
        let mut mesh = HairMesh::block([2, 2], 3, Vec3::ONE, false);
        let mut columns = Strands::new();
        let (first, last) = (mesh.bundles[0], mesh.bundles[3]);
        let mut of = [u32::MAX; 9];
        for &c in first.columns().iter().chain(last.columns()) {
            if of[c as usize] == u32::MAX {
                of[c as usize] = columns.strand_count() as u32;
                columns.push(mesh.columns.strand(c as usize));
            }
        }
        mesh.columns = columns;
        mesh.bundles = [first, last]
            .map(|b| {
                let columns: Vec<u32> = b.columns().iter().map(|&c| of[c as usize]).collect();
                Bundle::over(&columns, 3).unwrap()
            })
            .to_vec();
        let (element, text) = problem(&mesh);
        assert_eq!(element, format!("column {}", of[4]));
        assert!(text.contains("share no edge"), "{text}");
    }

    #[test]
    fn errors_name_clockwise_flat_and_folded_prisms() {
        let mut mesh = block();
        for bundle in &mut mesh.bundles {
            let mut columns = bundle.columns().to_vec();
            columns.reverse();
            *bundle = Bundle::over(&columns, 3).unwrap();
        }
        let (element, text) = problem(&mesh);
        assert_eq!(element, "bundle 0, layer 0");
        assert!(text.contains("inside out"), "{text}");

        let mut mesh = block();
        let column = mesh.columns.strand_mut(8);
        column[3] = column[2];
        let (element, text) = problem(&mesh);
        assert_eq!(element, format!("bundle {}, layer 2", mesh.bundles.len() - 1));
        assert!(text.contains("no volume"), "{text}");
    }

    #[test]
    fn seams_must_join_columns_that_coincide() {
        let mut mesh = HairMesh::parted_block(3, Vec3::ONE);
        mesh.columns.strand_mut(1)[2].x += 0.01;
        assert!(problem(&mesh).1.contains("apart on level 2"));
        let mut mesh = HairMesh::parted_block(3, Vec3::ONE);
        mesh.seams[0].first_level = 0;
        assert_eq!(problem(&mesh).0, "seam 0");
        mesh.seams[0] = Seam { columns: [2, 2], first_level: 1 };
        assert_eq!(problem(&mesh).0, "seam 0");
    }
}
