//! The conditions of a hair mesh: their vertices, stiffness, and values at rest.
//!
//! Every stiffness is a modulus times the fraction of the hair's volume that the condition stands for. So
//! energies are integrals over the hair, and do not depend on how finely the mesh is cut.

use glam::Vec3A;

use super::condition::volume_condition;
use super::settings::Settings;
use crate::groom::hair_mesh::{HairMesh, Prism, Topology, tetrahedron_volume};
use crate::math::sparse::BlockMatrix;
use crate::params::Ramp;

/// An edge that resists stretch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) vertices: [u32; 2],
    /// Place of the pair in the matrix.
    pub(crate) block: u32,
    /// 1/m.
    pub(crate) inverse_rest: f32,
    /// Energy (J) at a stretch of 1, twice.
    pub(crate) stiffness: f32,
    /// What is added to the stretch: the tension of hair that hangs at rest, over the stiffness.
    pub(crate) offset: f32,
}

/// A quad that resists shear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quad {
    /// Corners in turn.
    pub(crate) corners: [u32; 4],
    /// Places of the pairs (1,0), (2,0), (3,0), (2,1), (3,1), (3,2) in the matrix.
    pub(crate) blocks: [u32; 6],
    /// Bits of the pairs whose first corner has the smaller index, so that the block is transposed.
    pub(crate) turned: u8,
    pub(crate) inverse_lengths: [f32; 2],
    pub(crate) rest: f32,
    pub(crate) stiffness: f32,
}

/// The corner of a prism, which keeps its volume.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    /// In rising order.
    pub(crate) vertices: [u32; 4],
    /// Places of the pairs (1,0), (2,0), (3,0), (2,1), (3,1), (3,2) in the matrix.
    pub(crate) blocks: [u32; 6],
    /// 1/m^3.
    pub(crate) inverse_reference: f32,
    /// m^3, with the sign that the order of the vertices gives it.
    pub(crate) rest: f32,
    pub(crate) stiffness: f32,
}

/// A vertex of a column about which hair bends, with its neighbours on the same level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hinge {
    /// The vertex in the middle; its column goes from the vertex before it to the one after it. At a
    /// root there is none before it.
    pub(crate) vertex: u32,
    /// The column that it is the root of, if it is one.
    pub(crate) root: Option<u32>,
    /// Places of (vertex, before), (after, vertex), (after, before) in the matrix.
    pub(crate) blocks: [u32; 3],
    /// First of its wings, and how many.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A neighbour with which a hinge has an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wing {
    pub(crate) neighbour: u32,
    /// Places of the pairs of the neighbour with the vertex before, the vertex and the vertex after.
    pub(crate) blocks: [u32; 3],
    /// Whether the neighbour's index is larger than those of the column.
    pub(crate) is_later: bool,
    /// Cosine and sine of the angle at rest.
    pub(crate) rest: [f32; 2],
    /// Lower bound of the distance from the axis (m).
    pub(crate) min_length: f32,
    pub(crate) stiffness: f32,
}

/// Two vertices of a seam.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stitch {
    pub(crate) vertices: [u32; 2],
    pub(crate) block: u32,
    /// N/m.
    pub(crate) stiffness: f32,
    /// How far its sides are apart when it opens (m).
    pub(crate) gap: f32,
    /// Whether it may open.
    pub(crate) may_open: bool,
}

/// All conditions of a mesh.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elements {
    /// kg.
    pub(crate) mass: Vec<f32>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) quads: Vec<Quad>,
    pub(crate) corners: Vec<Corner>,
    /// Where each prism's corners end.
    pub(crate) prism_ends: Vec<u32>,
    pub(crate) hinges: Vec<Hinge>,
    pub(crate) wings: Vec<Wing>,
    pub(crate) stitches: Vec<Stitch>,
}

/// The value of a ramp at every vertex, by its place on its column.
pub(super) fn along_columns(mesh: &HairMesh, ramp: &Ramp) -> Vec<f32> {
    (0..mesh.column_count()).flat_map(|c| ramp.along(mesh.columns.strand(c))).collect()
}

/// Mean of the values of some vertices.
fn mean_of(values: &[f32], vertices: &[u32]) -> f32 {
    vertices.iter().map(|&v| values[v as usize]).sum::<f32>() / vertices.len() as f32
}

/// Lower bound of the volume of a corner, as a fraction of the mean of its prism: flatter corners
/// would be stiffer than the volume of hair that belongs to them.
const MIN_CORNER: f32 = 0.3;

/// Lower bound of the distance of a wing from its axis, as a fraction of that at rest.
const MIN_WING: f32 = 0.25;

/// How much farther than that from its axis a wing has to be at rest for a bending condition.
const CLEAR_WING: f32 = 1.5;

/// Largest stiffness of a condition per mass of a vertex (1/s^2). In a step of a 30th of a second it then
/// weighs half a million times as much as the vertex, which single precision just resolves. Edges of a
/// centimetre are unaffected.
const HARDEST: f32 = 3e8;

/// How much stiffer a stitch is below the first level of its seam, where it never opens.
const SEWN: f32 = 20.0;

impl Elements {
    /// The conditions of a valid mesh, and the matrix that they fit into.
    pub(crate) fn new(
        mesh: &HairMesh,
        topology: &Topology,
        settings: &Settings,
    ) -> (Self, BlockMatrix) {
        let n = mesh.vertex_count();
        let rest: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
        let mut elements = Self { mass: vec![0.0; n], ..Self::default() };
        let relative = along_columns(mesh, &settings.stiffness);
        let relative = &relative[..];
        let mut volumes = Volumes::default();
        for prism in mesh.prisms() {
            elements.add_prism(mesh, &prism, settings, relative, &mut volumes);
        }
        elements.soften_corners(&rest);
        elements.add_edges(&rest, topology, settings, relative, &mut volumes.edges);
        elements.add_quads(&rest, settings, relative, &mut volumes.quads);
        elements.add_hinges(mesh, &rest, topology, settings, relative);
        elements.add_stitches(mesh, &rest, settings);
        let matrix = elements.place(mesh);
        (elements, matrix)
    }

    /// The corners of a prism; adds the volume that its edges and faces stand for.
    fn add_prism(
        &mut self,
        mesh: &HairMesh,
        prism: &Prism,
        settings: &Settings,
        relative: &[f32],
        volumes: &mut Volumes,
    ) {
        let n = prism.corners();
        let at = |v: u32| mesh.positions()[v as usize];
        let tetrahedra = prism.corner_tetrahedra();
        let count = tetrahedra.len() as f32;
        let mean = tetrahedra.map(|t| tetrahedron_volume(t.map(at))).sum::<f32>() / count;
        // A corner is a sixth of a box, or a third of a prism over a triangle.
        let volume = mean.abs() * if n == 4 { 6.0 } else { 3.0 };
        let reference = mean.abs();
        for mut vertices in prism.corner_tetrahedra() {
            for v in vertices {
                self.mass[v as usize] += settings.bulk_density * volume / (4.0 * count);
            }
            vertices.sort_unstable();
            let rest = tetrahedron_volume(vertices.map(at));
            self.corners.push(Corner {
                vertices,
                blocks: [0; 6],
                inverse_reference: 1.0 / rest.abs().max(MIN_CORNER * reference),
                rest,
                stiffness: settings.bulk_modulus * mean_of(relative, &vertices) * volume / count,
            });
        }
        self.prism_ends.push(self.corners.len() as u32);
        let (lower, upper) = (prism.lower(), prism.upper());
        let corner_volume = volume / n as f32;
        for i in 0..n {
            let next = (i + 1) % n;
            volumes.add_edge(lower[i], upper[i], corner_volume);
            volumes.add_edge(lower[i], lower[next], corner_volume);
            volumes.add_edge(upper[i], upper[next], corner_volume);
            volumes.add_quad([lower[i], lower[next], upper[next], upper[i]], 2.0 * corner_volume);
        }
        if let ([a, b, c, d], [e, f, g, h]) = (lower, upper) {
            volumes.add_quad([*a, *b, *c, *d], 0.5 * volume);
            volumes.add_quad([*e, *f, *g, *h], 0.5 * volume);
        }
    }

    /// Bounds the stiffness of corners, now that all masses are known.
    fn soften_corners(&mut self, rest: &[Vec3A]) {
        for i in 0..self.corners.len() {
            let corner = self.corners[i];
            let c = volume_condition(
                corner.vertices.map(|v| rest[v as usize]),
                corner.inverse_reference,
                corner.rest,
            );
            let steepest = c.gradients.map(Vec3A::length_squared).into_iter().fold(0.0, f32::max);
            let hardest = self.hardest(&corner.vertices, steepest);
            self.corners[i].stiffness = corner.stiffness.min(hardest);
        }
    }

    /// Largest stiffness (J) that a condition may have: see [`HARDEST`]. Symbols: `steepest` square of its gradient
    /// (1/m^2), at most.
    fn hardest(&self, vertices: &[u32], steepest: f32) -> f32 {
        let masses = vertices.iter().map(|&v| self.mass[v as usize]);
        HARDEST * masses.fold(f32::INFINITY, f32::min) / steepest.max(f32::MIN_POSITIVE)
    }

    fn add_edges(
        &mut self,
        rest: &[Vec3A],
        topology: &Topology,
        settings: &Settings,
        relative: &[f32],
        volumes: &mut [([u32; 2], f32)],
    ) {
        let mut along = topology.along.clone();
        along.sort_unstable();
        volumes.sort_by_key(|s| s.0);
        for same in volumes.chunk_by(|a, b| a.0 == b.0) {
            let vertices = same[0].0;
            let volume: f32 = same.iter().map(|s| s.1).sum();
            let length = rest[vertices[0] as usize].distance(rest[vertices[1] as usize]);
            let is_along = along.binary_search(&vertices).is_ok();
            let modulus = if is_along {
                settings.along_modulus
            } else {
                settings.across_modulus * mean_of(relative, &vertices)
            };
            let hardest = self.hardest(&vertices, 1.0 / (length * length));
            self.edges.push(Edge {
                vertices,
                block: 0,
                inverse_rest: 1.0 / length,
                stiffness: (modulus * volume).min(hardest),
                offset: 0.0,
            });
        }
    }

    fn add_quads(
        &mut self,
        rest: &[Vec3A],
        settings: &Settings,
        relative: &[f32],
        volumes: &mut [([u32; 4], [u32; 4], f32)],
    ) {
        volumes.sort_by_key(|s| s.0);
        for same in volumes.chunk_by(|a, b| a.0 == b.0) {
            let corners = same[0].1;
            let volume: f32 = same.iter().map(|s| s.2).sum();
            let [a, b, c, d] = corners.map(|v| rest[v as usize]);
            let (u, v) = (0.5 * (b - a + c - d), 0.5 * (d - a + c - b));
            let inverse_lengths = [u, v].map(|w| 1.0 / w.length().max(f32::MIN_POSITIVE));
            let steepest = inverse_lengths.iter().fold(0.0, |s: f32, i| s.max(i * i));
            let hardest = self.hardest(&corners, steepest);
            self.quads.push(Quad {
                corners,
                blocks: [0; 6],
                turned: 0,
                inverse_lengths,
                rest: u.dot(v) * inverse_lengths[0] * inverse_lengths[1],
                stiffness: (settings.shear_modulus * mean_of(relative, &corners) * volume)
                    .min(hardest),
            });
        }
    }

    fn add_hinges(
        &mut self,
        mesh: &HairMesh,
        rest: &[Vec3A],
        topology: &Topology,
        settings: &Settings,
        relative: &[f32],
    ) {
        let mut beside: Vec<[u32; 2]> =
            topology.across.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        beside.sort_unstable();
        for column in 0..mesh.column_count() {
            let vertices = mesh.columns.points_of(column);
            for vertex in vertices.start..vertices.end.saturating_sub(1) {
                let is_root = vertex == vertices.start;
                let here = rest[vertex];
                let after = rest[vertex + 1];
                let before = if is_root { here + here - after } else { rest[vertex - 1] };
                let from = beside.partition_point(|p| (p[0] as usize) < vertex);
                let neighbours = &beside[from..];
                let count = neighbours.iter().take_while(|p| p[0] as usize == vertex).count();
                // Averaged over axes in all directions, bending counts half.
                let volume = self.mass[vertex] / settings.bulk_density * 2.0 / count.max(1) as f32;
                let length = 0.5 * (here.distance(after) + here.distance(before));
                let reach = if is_root { 0.5 * length } else { length };
                let bending = settings.bending * relative[vertex];
                let first = self.wings.len() as u32;
                for pair in &neighbours[..count] {
                    let x = [here, rest[pair[1] as usize], before, after];
                    // Hair that runs along an edge does not bend about it.
                    if wing_height(x) < CLEAR_WING * MIN_WING * length {
                        continue;
                    }
                    let min_length = MIN_WING * length;
                    let own = [vertex as u32, vertex as u32 + 1, pair[1]];
                    let hardest = self.hardest(&own, 1.0 / (min_length * min_length));
                    self.wings.push(Wing {
                        neighbour: pair[1],
                        blocks: [0; 3],
                        is_later: pair[1] as usize > vertex,
                        rest: rest_angle(x),
                        min_length,
                        stiffness: (bending * volume / (reach * reach)).min(hardest),
                    });
                }
                let vertex = vertex as u32;
                let count = self.wings.len() as u32 - first;
                let root = is_root.then_some(column as u32);
                self.hinges.push(Hinge { vertex, root, blocks: [0; 3], first, count });
            }
        }
    }

    fn add_stitches(&mut self, mesh: &HairMesh, rest: &[Vec3A], settings: &Settings) {
        for seam in &mesh.seams {
            let [a, b] = seam.columns.map(|c| mesh.columns.points_of(c as usize));
            for level in 1..a.len().min(b.len()) {
                let (p, q) = (a.start + level, b.start + level);
                // The face that a vertex of the seam stands for is about as wide as its hair.
                let mass = self.mass[p].min(self.mass[q]);
                let length = rest[p].distance(rest[p - 1]);
                let area = (mass / settings.bulk_density * length).max(0.0).sqrt();
                let stiffness = settings.seam_strength * area / settings.seam_gap;
                let may_open = level >= seam.first_level as usize;
                self.stitches.push(Stitch {
                    vertices: [p as u32, q as u32],
                    block: 0,
                    stiffness: if may_open { stiffness } else { SEWN * stiffness },
                    gap: settings.seam_gap,
                    may_open,
                });
            }
        }
    }

    /// Builds the matrix and finds the block indices of all conditions in it.
    fn place(&mut self, mesh: &HairMesh) -> BlockMatrix {
        const PAIRS: [[usize; 2]; 6] = [[1, 0], [2, 0], [3, 0], [2, 1], [3, 1], [3, 2]];
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        pairs.extend(self.edges.iter().map(|e| e.vertices));
        for four in
            self.quads.iter().map(|q| q.corners).chain(self.corners.iter().map(|c| c.vertices))
        {
            pairs.extend(PAIRS.map(|[i, j]| [four[i], four[j]]));
        }
        let is_root = |v: u32| mesh.columns.first_points().binary_search(&v).is_ok();
        for hinge in &self.hinges {
            let v = hinge.vertex;
            let before = if is_root(v) { v } else { v - 1 };
            pairs.push([before, v + 1]);
            for wing in &self.wings[hinge.first as usize..][..hinge.count as usize] {
                pairs.extend([before, v, v + 1].map(|w| [wing.neighbour, w]));
            }
        }
        pairs.extend(self.stitches.iter().map(|s| s.vertices));
        let matrix = BlockMatrix::new(mesh.vertex_count(), pairs, is_root);
        for edge in &mut self.edges {
            edge.block = matrix.place(edge.vertices[0], edge.vertices[1]);
        }
        for quad in &mut self.quads {
            let at = |[i, j]: [usize; 2]| matrix.place(quad.corners[i], quad.corners[j]);
            quad.blocks = PAIRS.map(at);
            for (bit, [i, j]) in PAIRS.iter().enumerate() {
                quad.turned |= u8::from(quad.corners[*i] < quad.corners[*j]) << bit;
            }
        }
        for corner in &mut self.corners {
            corner.blocks =
                PAIRS.map(|[i, j]| matrix.place(corner.vertices[i], corner.vertices[j]));
        }
        for hinge in &mut self.hinges {
            let v = hinge.vertex;
            let before = if is_root(v) { v } else { v - 1 };
            hinge.blocks =
                [matrix.place(v, before), matrix.place(v + 1, v), matrix.place(v + 1, before)];
            for wing in &mut self.wings[hinge.first as usize..][..hinge.count as usize] {
                wing.blocks = [before, v, v + 1].map(|w| matrix.place(wing.neighbour, w));
            }
        }
        for stitch in &mut self.stitches {
            stitch.block = matrix.place(stitch.vertices[0], stitch.vertices[1]);
        }
        matrix
    }
}

/// Distance of the nearer wing from the axis, or length of the axis if that is less (m).
fn wing_height([a, b, before, after]: [Vec3A; 4]) -> f32 {
    let u = (b - a).normalize_or_zero();
    let height = |p: Vec3A| (p - a - u * u.dot(p - a)).length();
    height(before).min(height(after)).min(a.distance(b))
}

/// Cosine and sine of the angle that a hinge has at rest.
fn rest_angle(x: [Vec3A; 4]) -> [f32; 2] {
    let [a, b, before, after] = x;
    let u = (b - a).normalize_or_zero();
    let flat = |p: Vec3A| p - a - u * u.dot(p - a);
    let (p, q) = (-flat(before), flat(after));
    let scale = p.length() * q.length();
    if scale > 0.0 { [p.dot(q) / scale, p.cross(q).dot(u) / scale] } else { [1.0, 0.0] }
}

/// Fractions of volume, collected prism by prism.
#[derive(Default)]
struct Volumes {
    edges: Vec<([u32; 2], f32)>,
    /// Sorted corners, corners in turn, volume.
    quads: Vec<([u32; 4], [u32; 4], f32)>,
}

impl Volumes {
    fn add_edge(&mut self, a: u32, b: u32, volume: f32) {
        self.edges.push(([a.min(b), a.max(b)], volume));
    }

    fn add_quad(&mut self, corners: [u32; 4], volume: f32) {
        let mut sorted = corners;
        sorted.sort_unstable();
        self.quads.push((sorted, corners, volume));
    }
}
