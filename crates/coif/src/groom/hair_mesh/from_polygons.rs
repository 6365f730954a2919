//! Conversion of polygons over shared vertices to columns, bundles and layers.
//!
//! All bundles are built from the roots together, one layer at a time. When the sides over a level are searched, every
//! vertex up to that level has been visited, so a quad from an edge of the level to two unvisited vertices
//! is a side; tips of shorter neighbours and sides of the layer below are not. The order of the polygons is irrelevant.

use std::collections::BTreeMap;

use glam::Vec3;

use super::names::{Names, Traced};
use super::{Bundle, HairMesh, Seam, wrong};
use crate::groom::Strands;
use crate::{Error, Result};

/// Largest distance of coinciding vertices of a seam (m).
const SAME_PLACE: f32 = 1e-6;

/// Largest number of quads over one edge that are tried as a side; a hair mesh has one. The number of combinations
/// grows with the fourth power.
const MAX_OVER_EDGE: usize = 8;

/// Polygons over shared vertices, as in mesh files.
#[derive(Debug, Clone, Copy)]
pub struct Polygons<'a> {
    /// Vertices (m).
    pub positions: &'a [Vec3],
    /// Vertices of all polygons, one after the other.
    pub corners: &'a [u32],
    /// End of each polygon in `corners`.
    pub ends: &'a [usize],
    /// Per polygon: whether it is a root polygon.
    pub is_root: &'a [bool],
    /// Per polygon: whether it lies on a seam and may open.
    pub may_open: &'a [bool],
}

impl Polygons<'_> {
    fn polygon(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.corners[start..self.ends[i]]
    }
}

/// A hair mesh made from polygons, and hints of missing elements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Walked {
    /// The mesh, which is valid. Columns are in the order of their root vertices, bundles in that of the root
    /// polygons; the order of all other polygons is irrelevant.
    pub mesh: HairMesh,
    /// Polygons that belong to no bundle.
    pub loose: Vec<usize>,
    /// Root polygons of bundles that end without a polygon at their tip although some of their sides continue
    /// there, or although other bundles have one.
    pub open: Vec<usize>,
}

/// A bundle that is being built from its root polygon.
struct PartialBundle {
    /// Its root polygon.
    root: usize,
    /// The vertices of its current level.
    level: Vec<u32>,
    layers: u32,
    end: Option<End>,
}

/// How a bundle ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// With a polygon at its tip.
    Tip,
    /// Without one, where no side continues.
    Open,
    /// Without one, where some sides continue.
    Torn,
}

impl HairMesh {
    /// Builds columns, bundles and layers from the root polygons along quads: a side of a layer
    /// is the quad over the side of the layer below. A bundle ends where a polygon caps it, or where a
    /// side has no quad. `names` gives the names of polygons and vertices in errors.
    pub fn from_polygons(polygons: &Polygons<'_>, names: &dyn Names) -> Result<Walked> {
        let mut walk = Walk::new(polygons, names)?;
        let mut bundles = walk.roots()?;
        loop {
            // Find the next level of every bundle before any of its vertices counts as visited.
            let mut steps: Vec<(usize, Vec<u32>)> = Vec::new();
            for (b, bundle) in bundles.iter_mut().enumerate().filter(|(_, b)| b.end.is_none()) {
                if bundle.layers > 0 && walk.is_capped(&bundle.level) {
                    bundle.end = Some(End::Tip);
                    continue;
                }
                let sides = walk.sides_over(&bundle.level)?;
                let bare = sides.iter().filter(|quads| quads.is_empty()).count();
                if bare == 0 {
                    steps.push((b, walk.level_above(&bundle.level, &sides)?));
                    continue;
                }
                if bundle.layers == 0 {
                    return Err(walk.without_layer(bundle, &sides));
                }
                bundle.end = Some(if bare < sides.len() { End::Torn } else { End::Open });
            }
            if steps.is_empty() {
                break;
            }
            for (b, next) in steps {
                walk.visit(&bundles[b].level, &next)?;
                bundles[b].level = next;
                bundles[b].layers += 1;
            }
        }
        let tips = bundles.iter().any(|b| b.end == Some(End::Tip));
        let is_open = |b: &&PartialBundle| match b.end {
            Some(End::Torn) => true,
            Some(End::Open) => tips,
            Some(End::Tip) | None => false,
        };
        let open = bundles.iter().filter(is_open).map(|b| b.root).collect();
        let (mesh, vertices) = walk.mesh(&bundles);
        let roots: Vec<usize> = bundles.iter().map(|b| b.root).collect();
        mesh.validate_named(&Traced { names, mesh: &mesh, vertices: &vertices, roots: &roots })?;
        let loose = (0..polygons.ends.len()).filter(|&i| !walk.used[i]).collect();
        Ok(Walked { mesh, loose, open })
    }
}

struct Walk<'a> {
    polygons: &'a Polygons<'a>,
    names: &'a dyn Names,
    /// The quads at each edge, without root polygons.
    at_edge: BTreeMap<[u32; 2], Vec<usize>>,
    /// The polygons over each set of vertices, without root polygons.
    with_vertices: BTreeMap<Vec<u32>, Vec<usize>>,
    /// The vertex above each vertex; `u32::MAX` if none has been visited.
    above: Vec<u32>,
    /// The vertex below each vertex, itself for a root; `u32::MAX` for one that has not been visited.
    below: Vec<u32>,
    /// Per polygon: whether it belongs to a bundle.
    used: Vec<bool>,
}

impl<'a> Walk<'a> {
    fn new(polygons: &'a Polygons<'a>, names: &'a dyn Names) -> Result<Self> {
        let vertices = polygons.positions.len();
        let mut at_edge: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        let mut with_vertices: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for i in 0..polygons.ends.len() {
            let corners = polygons.polygon(i);
            if let Some(v) = corners.iter().find(|&&v| v as usize >= vertices) {
                let problem = format!("names vertex {v} of {vertices}, counted from 0");
                return Err(wrong(names.polygon(i), problem));
            }
            if polygons.is_root[i] {
                continue;
            }
            if corners.len() == 4 {
                for (k, &a) in corners.iter().enumerate() {
                    at_edge.entry(edge(a, corners[(k + 1) % 4])).or_default().push(i);
                }
            }
            with_vertices.entry(sorted(corners)).or_default().push(i);
        }
        let unknown = vec![u32::MAX; vertices];
        let (above, below) = (unknown.clone(), unknown);
        let used = polygons.is_root.to_vec();
        Ok(Self { polygons, names, at_edge, with_vertices, above, below, used })
    }

    /// The root polygons, as bundles without layers. Marks their vertices as visited.
    fn roots(&mut self) -> Result<Vec<PartialBundle>> {
        let mut bundles = Vec::new();
        let mut by_vertices: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for i in (0..self.polygons.ends.len()).filter(|&i| self.polygons.is_root[i]) {
            let level = self.polygons.polygon(i).to_vec();
            let refuse = |problem: String| Err(wrong(self.names.polygon(i), problem));
            if !(3..=4).contains(&level.len()) {
                let corners = level.len();
                return refuse(format!(
                    "is a root polygon with {corners} corners: expected 3 or 4"
                ));
            }
            let key = sorted(&level);
            if let Some(pair) = key.windows(2).find(|pair| pair[0] == pair[1]) {
                return refuse(format!("has {} twice", self.names.vertex(pair[0])));
            }
            if let Some(first) = by_vertices.insert(key, i) {
                return refuse(format!(
                    "is a duplicate root polygon: {} has the same vertices",
                    self.names.polygon(first)
                ));
            }
            level.iter().for_each(|&v| self.below[v as usize] = v);
            bundles.push(PartialBundle { root: i, level, layers: 0, end: None });
        }
        if bundles.is_empty() {
            return Err(wrong("hair mesh".into(), "has no root polygon"));
        }
        Ok(bundles)
    }

    /// Whether a polygon over exactly these vertices ends a bundle here.
    fn is_capped(&mut self, level: &[u32]) -> bool {
        let Some(caps) = self.with_vertices.get(&sorted(level)) else { return false };
        caps.iter().for_each(|&i| self.used[i] = true);
        true
    }

    /// For each side of a level: the candidate quads, as pairs of unvisited vertices above its first and
    /// its second vertex.
    fn sides_over(&self, level: &[u32]) -> Result<Vec<Vec<[u32; 2]>>> {
        let mut sides = Vec::with_capacity(level.len());
        for [a, b] in edges(level) {
            let mut quads: Vec<[u32; 2]> = self.quads_over(a, b).map(|(_, up)| up).collect();
            quads.sort_unstable();
            quads.dedup();
            quads.retain(|up| up.iter().all(|&v| self.below[v as usize] == u32::MAX));
            if quads.len() > MAX_OVER_EDGE {
                let (a, b) = (self.names.vertex(a), self.names.vertex(b));
                let problem = format!("has {} quads over it: expected 1", quads.len());
                return Err(wrong(format!("the edge between {a} and {b}"), problem));
            }
            sides.push(quads);
        }
        Ok(sides)
    }

    /// The quads at an edge, each with its vertices adjacent to the ends of the edge.
    fn quads_over(&self, a: u32, b: u32) -> impl Iterator<Item = (usize, [u32; 2])> + '_ {
        let quads = self.at_edge.get(&edge(a, b)).map_or(&[][..], Vec::as_slice);
        quads.iter().filter_map(move |&i| {
            let quad = self.polygons.polygon(i);
            let at = quad.iter().position(|&v| v == a)?;
            let [before, after] = [quad[(at + 3) % 4], quad[(at + 1) % 4]];
            let up_a = if after == b { before } else { after };
            let up_b = quad[(at + 2) % 4];
            ((after == b || before == b) && up_a != up_b).then_some((i, [up_a, up_b]))
        })
    }

    /// The level above, from the one choice of a quad per side that closes the loop.
    fn level_above(&self, level: &[u32], sides: &[Vec<[u32; 2]>]) -> Result<Vec<u32>> {
        let mut paths: Vec<Vec<u32>> = sides[0].iter().map(|up| up.to_vec()).collect();
        for quads in &sides[1..] {
            let extended = |path: &Vec<u32>| {
                let path = path.clone();
                let here = path[path.len() - 1];
                let on = quads.iter().filter(move |up| up[0] == here);
                on.map(move |up| [&path[..], &[up[1]]].concat()).collect::<Vec<_>>()
            };
            paths = paths.iter().flat_map(extended).collect();
        }
        paths.retain(|path| path[0] == path[level.len()]);
        match &paths[..] {
            [only] => Ok(only[..level.len()].to_vec()),
            [] => {
                // Name the corner above which two adjacent sides differ.
                let n = level.len();
                let parted = |i: &usize| {
                    let (before, after) = (&sides[(i + n - 1) % n], &sides[*i]);
                    !before.iter().any(|p| after.iter().any(|q| p[1] == q[0]))
                };
                let i = (0..n).find(parted).unwrap_or(0);
                let (before, after) = (sides[(i + n - 1) % n][0][1], sides[i][0][0]);
                if before == after {
                    let problem =
                        "has sides over it that do not close: one of its quads is too many";
                    return Err(wrong(self.names.vertex(level[i]), problem));
                }
                Err(self.two_over(level[i], before, after))
            }
            [first, second, ..] => {
                let differ = |i: &usize| first[*i] != second[*i];
                let i = (0..level.len()).find(differ).unwrap_or(0);
                Err(self.two_over(level[i], first[i], second[i]))
            }
        }
    }

    fn two_over(&self, v: u32, first: u32, second: u32) -> Error {
        let [first, second] = [first.min(second), first.max(second)].map(|v| self.names.vertex(v));
        let problem = format!("has two vertices over it, {first} and {second}");
        wrong(self.names.vertex(v), problem)
    }

    fn without_layer(&self, bundle: &PartialBundle, sides: &[Vec<[u32; 2]>]) -> Error {
        let bare = edges(&bundle.level).zip(sides).filter(|(_, quads)| quads.is_empty());
        let bare: Vec<[u32; 2]> = bare.map(|(ends, _)| ends).collect();
        let first = bare.first().map(|ends| ends.map(|v| self.names.vertex(v)).join(" and "));
        Error::RootWithoutLayer {
            polygon: self.names.polygon(bundle.root),
            bare: bare.len(),
            sides: sides.len(),
            first: first.unwrap_or_default(),
        }
    }

    /// Marks the level above a level as visited, and the quads between them as used.
    fn visit(&mut self, level: &[u32], next: &[u32]) -> Result<()> {
        for (&v, &up) in level.iter().zip(next) {
            let (above, below) = (self.above[v as usize], self.below[up as usize]);
            if above != u32::MAX && above != up {
                return Err(self.two_over(v, above, up));
            }
            if below != u32::MAX && below != v {
                let [a, b] = [below.min(v), below.max(v)].map(|v| self.names.vertex(v));
                let problem = format!("is over two vertices, {a} and {b}");
                return Err(wrong(self.names.vertex(up), problem));
            }
            self.above[v as usize] = up;
            self.below[up as usize] = v;
        }
        for ([a, b], up) in edges(level).zip(edges(next)) {
            let own = self.quads_over(a, b).filter(|quad| quad.1 == up).map(|quad| quad.0);
            for i in own.collect::<Vec<_>>() {
                self.used[i] = true;
            }
        }
        Ok(())
    }

    /// Makes columns of the chains of vertices, in the order of their roots, and bundles and seams. Also returns the
    /// source of each vertex of the mesh.
    fn mesh(&self, partial: &[PartialBundle]) -> (HairMesh, Vec<u32>) {
        let mut needed: BTreeMap<u32, usize> = BTreeMap::new();
        for bundle in partial {
            for &root in self.polygons.polygon(bundle.root) {
                let needed = needed.entry(root).or_insert(0);
                *needed = (*needed).max(bundle.layers as usize + 1);
            }
        }
        let mut columns = Strands::new();
        let mut number: BTreeMap<u32, u32> = BTreeMap::new();
        let mut place: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let mut vertices = Vec::new();
        for (&root, &needed) in &needed {
            let column = columns.strand_count() as u32;
            number.insert(root, column);
            let up = |&v: &u32| Some(self.above[v as usize]).filter(|&v| v != u32::MAX);
            let chain: Vec<u32> = std::iter::successors(Some(root), up).take(needed).collect();
            for (level, &v) in chain.iter().enumerate() {
                place.insert(v, (column, level as u32));
            }
            let line: Vec<Vec3> =
                chain.iter().map(|&v| self.polygons.positions[v as usize]).collect();
            columns.push(&line);
            vertices.extend(chain);
        }
        let bundles = partial
            .iter()
            .filter_map(|bundle| {
                let roots = self.polygons.polygon(bundle.root);
                let own: Vec<u32> = roots.iter().filter_map(|r| number.get(r).copied()).collect();
                Bundle::over(&own, bundle.layers)
            })
            .collect();
        // Find the level from which columns may separate: above the lowest vertex of a polygon that may open.
        let mut opens = vec![u32::MAX; columns.strand_count()];
        for i in (0..self.used.len()).filter(|&i| self.used[i] && self.polygons.may_open[i]) {
            let at = self.polygons.polygon(i).iter().filter_map(|v| place.get(v));
            let at: Vec<(u32, u32)> = at.copied().collect();
            let lowest = at.iter().map(|p| p.1).min().unwrap_or(0);
            for (column, _) in at {
                let opens = &mut opens[column as usize];
                *opens = (*opens).min(lowest + 1);
            }
        }
        let seams = seams(&columns, &opens);
        (HairMesh { columns, bundles, seams, roots: Vec::new() }, vertices)
    }
}

/// Seams between columns that may open, each from a level on, and coincide.
fn seams(columns: &Strands, opens: &[u32]) -> Vec<Seam> {
    let open: Vec<usize> = (0..opens.len()).filter(|&c| opens[c] != u32::MAX).collect();
    let mut seams = Vec::new();
    for (i, &b) in open.iter().enumerate() {
        let same = |a: usize| {
            let (p, q) = (columns.strand(a), columns.strand(b));
            p.iter().zip(q).all(|(p, q)| p.distance(*q) <= SAME_PLACE)
        };
        if let Some(&a) = open[..i].iter().find(|&&a| same(a)) {
            let first_level = opens[a].min(opens[b]);
            seams.push(Seam { columns: [a as u32, b as u32], first_level });
        }
    }
    seams
}

fn edge(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The sides of a polygon, in its order.
fn edges(polygon: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    let ends = polygon.iter().cycle().skip(1);
    polygon.iter().zip(ends).map(|(&a, &b)| [a, b])
}

fn sorted(vertices: &[u32]) -> Vec<u32> {
    let mut sorted = vertices.to_vec();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests;
