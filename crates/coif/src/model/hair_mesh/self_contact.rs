//! Bundles that are not neighbours keep out of each other.
//!
//! An outer vertex inside a prism of such a bundle, and the face through which it leaves on the shortest
//! way, are moved apart, half each. What that does to the shape is spread over the mesh together with
//! the contacts with the body.

use glam::Vec3A;

use super::dynamics::MeshDynamics;
use super::solve::Constraint;
use crate::groom::hair_mesh::{Exposure, HairMesh, Prism, SideKind, Topology};

/// A prism with what it needs to know of its faces.
#[derive(Debug, Clone, Copy)]
struct Cell {
    prism: Prism,
    bundle: u32,
    /// Bits of the sides that are outside, then one for the tip end.
    outside: u8,
}

/// Prisms sorted by place, and who is a neighbour of whom.
#[derive(Default)]
pub(crate) struct SelfContact {
    cells: Vec<Cell>,
    /// Edge of a box of the grid (m): no smaller than the largest prism at rest.
    size: f32,
    /// Hashed boxes: where each one's prisms start in `sorted`, and the total.
    starts: Vec<u32>,
    sorted: Vec<u32>,
    box_of: Vec<u32>,
    /// Per column, the bundles that it never collides with, sorted; by ranges of `near`.
    near_starts: Vec<u32>,
    near: Vec<u32>,
    column_of: Vec<u32>,
    /// How often each vertex was moved.
    times: Vec<u32>,
}

/// Deepest that a vertex is pushed out of a bundle in one step, as a share of a prism's size: what is
/// deeper came through, and goes back by and by.
const MOST: f32 = 0.5;

impl SelfContact {
    pub(crate) fn new(mesh: &HairMesh, topology: &Topology) -> Self {
        let (near_starts, near) = neighbours(mesh);
        let mut cells = Vec::with_capacity(mesh.prism_count());
        let mut size = 0.0f32;
        for (b, bundle) in mesh.bundles.iter().enumerate() {
            for layer in 0..bundle.layers {
                let prism = mesh.prism(b, layer);
                let at = |v: &u32| mesh.positions()[*v as usize];
                let all = || prism.lower().iter().chain(prism.upper()).map(at);
                let lo = all().reduce(|a, b| a.min(b)).unwrap_or_default();
                let hi = all().reduce(|a, b| a.max(b)).unwrap_or_default();
                size = size.max((hi - lo).max_element());
                let mut outside = 0;
                for side in 0..bundle.corners() {
                    let columns = bundle.side(side);
                    let outer = topology.sides.iter().any(|s| {
                        s.layer == layer
                            && s.kind != SideKind::Internal
                            && s.bundle == b as u32
                            && s.columns == columns
                    });
                    outside |= u8::from(outer) << side;
                }
                outside |= u8::from(layer + 1 == bundle.layers) << bundle.corners();
                cells.push(Cell { prism, bundle: b as u32, outside });
            }
        }
        let boxes = (2 * cells.len()).next_power_of_two();
        let column_of = (0..mesh.vertex_count()).map(|v| mesh.locate(v).0 as u32).collect();
        Self {
            size: size.max(f32::MIN_POSITIVE),
            starts: vec![0; boxes + 1],
            sorted: vec![0; cells.len()],
            box_of: vec![0; cells.len()],
            near_starts,
            near,
            column_of,
            times: vec![0; mesh.vertex_count()],
            cells,
        }
    }

    /// Sorts the prisms by the box that holds their middle: a counting sort, in the order of prisms.
    fn sort(&mut self, x: &[Vec3A]) {
        self.starts.fill(0);
        for (cell, b) in self.cells.iter().zip(&mut self.box_of) {
            *b = self.starts.len() as u32 - 2;
            let place = middle(&cell.prism, x) / self.size;
            *b &= hash([place.x.floor() as i32, place.y.floor() as i32, place.z.floor() as i32]);
            self.starts[*b as usize + 1] += 1;
        }
        for b in 1..self.starts.len() {
            self.starts[b] += self.starts[b - 1];
        }
        // Fill from the back, so that every start ends where it began.
        for (c, b) in self.box_of.iter().enumerate().rev() {
            let end = &mut self.starts[*b as usize + 1];
            *end -= 1;
            self.sorted[*end as usize] = c as u32;
        }
        // Every start has moved down by its own count: shift them back.
        let boxes = self.starts.len() - 1;
        for b in 0..boxes {
            self.starts[b] = self.starts[b + 1];
        }
        self.starts[boxes] = self.cells.len() as u32;
    }

    fn is_near(&self, vertex: usize, bundle: u32) -> bool {
        let column = self.column_of[vertex] as usize;
        let range = self.near_starts[column] as usize..self.near_starts[column + 1] as usize;
        self.near[range].binary_search(&bundle).is_ok()
    }
}

/// What of a prism a vertex leaves through.
struct Exit {
    face: [u32; 4],
    corners: usize,
    normal: Vec3A,
    depth: f32,
}

impl MeshDynamics {
    /// Moves outer vertices that are inside a bundle that is neither their own nor a neighbour, and the
    /// faces that they leave through. Returns how many.
    pub(super) fn keep_bundles_apart(&mut self) -> u32 {
        let mut contact = std::mem::take(&mut self.self_contact);
        contact.sort(&self.x);
        contact.times.fill(0);
        let mut found = 0;
        for v in 0..self.x.len() {
            if self.exposure[v] == Exposure::Internal || self.is_root(v) {
                continue;
            }
            let Some(exit) = contact.exit(v, &self.x) else { continue };
            found += 1;
            self.part(v, &exit, MOST * contact.size, &mut contact.times);
        }
        for (v, times) in contact.times.iter().enumerate() {
            if *times > 0 {
                self.moved[v] /= *times as f32;
                self.constraint[v] = Constraint::Held;
            }
        }
        self.self_contact = contact;
        found
    }

    /// Moves a vertex and a face apart, half each, and takes off the speed at which they come nearer.
    fn part(&mut self, v: usize, exit: &Exit, most: f32, times: &mut [u32]) {
        let face = &exit.face[..exit.corners];
        let share = 1.0 / exit.corners as f32;
        let mean: Vec3A = face.iter().map(|&w| self.v[w as usize]).sum::<Vec3A>() * share;
        let closing = (self.v[v] - mean).dot(exit.normal).min(0.0);
        let half = 0.5 * exit.depth.min(most);
        let mut shift = |mesh: &mut Self, w: usize, by: f32| {
            // What the body holds stays where it is.
            if mesh.constraint[w] != Constraint::Held || times[w] > 0 {
                mesh.moved[w] += exit.normal * (by * half);
                mesh.v[w] -= exit.normal * (by * 0.5 * closing);
                times[w] += 1;
            }
        };
        shift(self, v, 1.0);
        for &w in face {
            shift(self, w as usize, -1.0);
        }
    }
}

impl SelfContact {
    /// The nearest way out of the prisms that a vertex must not be in; `None` if it is in none.
    fn exit(&self, v: usize, x: &[Vec3A]) -> Option<Exit> {
        let p = x[v];
        let place = p / self.size;
        let at = [place.x.floor() as i32, place.y.floor() as i32, place.z.floor() as i32];
        let mask = self.starts.len() as u32 - 2;
        let mut best: Option<Exit> = None;
        for k in 0..27 {
            let b = hash([
                at[0].wrapping_add(k % 3 - 1),
                at[1].wrapping_add(k / 3 % 3 - 1),
                at[2].wrapping_add(k / 9 - 1),
            ]) & mask;
            let range = self.starts[b as usize] as usize..self.starts[b as usize + 1] as usize;
            for &c in &self.sorted[range] {
                let cell = &self.cells[c as usize];
                if self.is_near(v, cell.bundle) || !holds(&cell.prism, p, x) {
                    continue;
                }
                let exit = way_out(cell, p, x);
                if best.as_ref().is_none_or(|b| exit.depth < b.depth) {
                    best = Some(exit);
                }
            }
        }
        best
    }
}

fn middle(prism: &Prism, x: &[Vec3A]) -> Vec3A {
    let n = prism.corners();
    let all = prism.lower().iter().chain(prism.upper());
    all.map(|&v| x[v as usize]).sum::<Vec3A>() * (0.5 / n as f32)
}

fn hash([x, y, z]: [i32; 3]) -> u32 {
    let mixed = (x as u32).wrapping_mul(73_856_093)
        ^ (y as u32).wrapping_mul(19_349_663)
        ^ (z as u32).wrapping_mul(83_492_791);
    mixed ^ mixed >> 15
}

/// Whether a prism holds a point: one of the tetrahedra that it can be cut into does.
fn holds(prism: &Prism, p: Vec3A, x: &[Vec3A]) -> bool {
    let all = || prism.lower().iter().chain(prism.upper()).map(|&v| x[v as usize]);
    let inside = |axis: usize| {
        let lo = all().map(|q| q[axis]).fold(f32::INFINITY, f32::min);
        let hi = all().map(|q| q[axis]).fold(f32::NEG_INFINITY, f32::max);
        (lo..=hi).contains(&p[axis])
    };
    if !(0..3).all(inside) {
        return false;
    }
    let lower = |i: usize| x[prism.lower()[i] as usize];
    let upper = |i: usize| x[prism.upper()[i] as usize];
    // Over the triangle (0, i, i + 1): three tetrahedra.
    (1..prism.corners() - 1).any(|i| {
        let (a, b, c) = (lower(0), lower(i), lower(i + 1));
        let (d, e, f) = (upper(0), upper(i), upper(i + 1));
        in_tetrahedron(p, [a, b, c, f]) || in_tetrahedron(p, [a, b, e, f]) || in_tetrahedron(p, [a, d, e, f])
    })
}

fn in_tetrahedron(p: Vec3A, [a, b, c, d]: [Vec3A; 4]) -> bool {
    let volume = |a: Vec3A, b: Vec3A, c: Vec3A, d: Vec3A| (b - a).cross(c - a).dot(d - a);
    let parts = [volume(p, b, c, d), volume(a, p, c, d), volume(a, b, p, d), volume(a, b, c, p)];
    parts.iter().all(|v| *v > 0.0) || parts.iter().all(|v| *v < 0.0)
}

/// The outer face of a prism that is nearest to a point inside; any face of a prism without outer ones.
fn way_out(cell: &Cell, p: Vec3A, x: &[Vec3A]) -> Exit {
    let (prism, n) = (&cell.prism, cell.prism.corners());
    let centre = middle(prism, x);
    let mut best = Exit { face: [0; 4], corners: 4, normal: Vec3A::Y, depth: f32::INFINITY };
    for face in 0..=n {
        if cell.outside != 0 && cell.outside >> face & 1 == 0 {
            continue;
        }
        let (vertices, corners) = if face < n {
            let (i, next) = (face, (face + 1) % n);
            ([prism.lower()[i], prism.lower()[next], prism.upper()[next], prism.upper()[i]], 4)
        } else {
            let mut tip = [prism.upper()[0]; 4];
            tip[..n].copy_from_slice(prism.upper());
            (tip, n)
        };
        let at = vertices.map(|v| x[v as usize]);
        let normal = (at[2] - at[0]).cross(at[corners - 1] - at[1]).normalize_or(Vec3A::Y);
        let on = at[..corners].iter().sum::<Vec3A>() / corners as f32;
        // Out of the prism, whichever way round it is by now.
        let normal = if normal.dot(on - centre) < 0.0 { -normal } else { normal };
        let depth = (on - p).dot(normal).max(0.0);
        if depth < best.depth {
            best = Exit { face: vertices, corners, normal, depth };
        }
    }
    best
}

/// Per column, the bundles around it and their neighbours over shared columns and seams.
fn neighbours(mesh: &HairMesh) -> (Vec<u32>, Vec<u32>) {
    let columns = mesh.column_count();
    // Columns of a seam count as one.
    let mut class: Vec<u32> = (0..columns as u32).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for seam in &mesh.seams {
            let [a, b] = seam.columns.map(|c| c as usize);
            let least = class[a].min(class[b]);
            changed |= class[a] != least || class[b] != least;
            (class[a], class[b]) = (least, least);
        }
    }
    let mut around = vec![Vec::new(); columns];
    for (b, bundle) in mesh.bundles.iter().enumerate() {
        for &c in bundle.columns() {
            around[class[c as usize] as usize].push(b as u32);
        }
    }
    let (mut starts, mut near) = (vec![0], Vec::new());
    for c in 0..columns {
        let first = near.len();
        for &b in &around[class[c] as usize] {
            for &d in mesh.bundles[b as usize].columns() {
                near.extend_from_slice(&around[class[d as usize] as usize]);
            }
        }
        let mut own = near.split_off(first);
        own.sort_unstable();
        own.dedup();
        near.append(&mut own);
        starts.push(near.len() as u32);
    }
    (starts, near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_point_is_inside_a_box_or_a_prism_exactly_when_it_is() {
        for triangles in [false, true] {
            let mesh = HairMesh::block([2, 1], 1, Vec3::new(2.0, 1.0, 1.0), triangles);
            let x: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
            for i in 1..500 {
                let at = |k: f32| (i as f32 * k).sin();
                let p = Vec3A::new(at(1.1) * 1.2, 0.5 + at(1.7) * 0.7, at(2.3) * 0.7);
                let inside = p.x.abs() < 1.0 && (p.y - 0.5).abs() < 0.5 && p.z.abs() < 0.5;
                let held = mesh.prisms().any(|prism| holds(&prism, p, &x));
                assert_eq!(held, inside, "{p}");
            }
        }
    }

    #[test]
    fn prisms_are_found_again_in_their_boxes() {
        let mesh = HairMesh::block([3, 3], 4, Vec3::ONE, true);
        let x: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
        let mut contact = SelfContact::new(&mesh, &mesh.topology());
        contact.sort(&x);
        let mut seen = contact.sorted.clone();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..mesh.prism_count() as u32));
        for b in 0..contact.starts.len() - 1 {
            for k in contact.starts[b]..contact.starts[b + 1] {
                assert_eq!(contact.box_of[contact.sorted[k as usize] as usize], b as u32);
            }
        }
    }
}
