//! Contact between bundles that are not neighbours.
//!
//! Every outer vertex has a ball around it, half as wide as the mesh is there. Balls of bundles that are
//! neither the same nor neighbours are moved apart, half each; balls that overlap at rest keep the
//! distance that they have at rest. The displacement is distributed over the mesh together with
//! that by contacts with the body.

use glam::Vec3A;

use super::dynamics::MeshDynamics;
use super::report::MeshReport;
use crate::groom::hair_mesh::{Exposure, HairMesh, Topology};
use crate::math::sparse::modified_conjugate_gradient::Constraint;

/// Outer vertices sorted by place, and neighbours of columns.
#[derive(Default)]
pub(crate) struct SelfContact {
    /// Outer vertices that are no roots.
    vertices: Vec<u32>,
    /// Radius of the ball around each of them (m).
    radius: Vec<f32>,
    /// Edge of a box of the grid (m): the largest distance at which balls are in contact.
    size: f32,
    /// Hashed boxes: where each one's vertices start in `sorted`, and the total.
    starts: Vec<u32>,
    sorted: Vec<u32>,
    box_of: Vec<u32>,
    /// Per column, the columns that it never collides with, sorted; by ranges of `near`.
    near_starts: Vec<u32>,
    near: Vec<u32>,
    column_of: Vec<u32>,
    /// Whether each vertex was moved.
    is_moved: Vec<bool>,
}

/// Radius of a ball, as a fraction of the mean edge across at its vertex: balls of neighbours overlap, so
/// that nothing slips between them.
const RADIUS: f32 = 0.6;

/// Sweeps over all pairs: one pair may undo the correction of another.
const SWEEPS: usize = 3;

impl SelfContact {
    pub(crate) fn new(mesh: &HairMesh, topology: &Topology) -> Self {
        let (near_starts, near) = neighbours(mesh);
        let n = mesh.vertex_count();
        let (mut sum, mut count) = (vec![0.0f32; n], vec![0u32; n]);
        for edge in &topology.across {
            let [a, b] = edge.map(|v| mesh.positions()[v as usize]);
            for &v in edge {
                sum[v as usize] += a.distance(b);
                count[v as usize] += 1;
            }
        }
        let is_root = |v: u32| mesh.columns.first_points().binary_search(&v).is_ok();
        let outer = |v: &u32| topology.exposure[*v as usize] != Exposure::Internal && !is_root(*v);
        let vertices: Vec<u32> = (0..n as u32).filter(outer).collect();
        let radius: Vec<f32> = vertices
            .iter()
            .map(|&v| RADIUS * sum[v as usize] / count[v as usize].max(1) as f32)
            .collect();
        let largest = radius.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let boxes = (2 * vertices.len()).next_power_of_two();
        Self {
            size: 2.0 * largest,
            starts: vec![0; boxes + 1],
            sorted: vec![0; vertices.len()],
            box_of: vec![0; vertices.len()],
            near_starts,
            near,
            column_of: (0..n).map(|v| mesh.locate(v).0 as u32).collect(),
            is_moved: vec![false; n],
            vertices,
            radius,
        }
    }

    /// The box of the grid that holds a point.
    fn place(&self, p: Vec3A) -> [i32; 3] {
        let p = p / self.size;
        [p.x.floor() as i32, p.y.floor() as i32, p.z.floor() as i32]
    }

    fn slot(&self, place: [i32; 3]) -> u32 {
        hash(place) & (self.starts.len() as u32 - 2)
    }

    /// Sorts the vertices by their boxes: a counting sort, in the order of vertices.
    fn sort(&mut self, x: &[Vec3A]) {
        self.starts.fill(0);
        for k in 0..self.vertices.len() {
            let slot = self.slot(self.place(x[self.vertices[k] as usize]));
            self.box_of[k] = slot;
            self.starts[slot as usize] += 1;
        }
        // Ends of boxes, which become starts while they are filled from the back.
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        for k in (0..self.vertices.len()).rev() {
            let start = &mut self.starts[self.box_of[k] as usize];
            *start -= 1;
            self.sorted[*start as usize] = k as u32;
        }
    }

    /// Whether two vertices belong to the same bundle or to neighbours.
    fn are_near(&self, a: u32, b: u32) -> bool {
        let column = self.column_of[a as usize] as usize;
        let range = self.near_starts[column] as usize..self.near_starts[column + 1] as usize;
        self.near[range].binary_search(&self.column_of[b as usize]).is_ok()
    }
}

impl MeshDynamics {
    /// Moves outer vertices apart that are too near to each other and belong to bundles that are not neighbours.
    ///
    /// Model: vertices i and j are too near below `min(r_i + r_j, d)`, with r their balls' radii and d
    /// their distance at rest. Each moves half of the overlap, all other vertices follow by deformation
    /// minimisation, and velocities follow the positions.
    pub(super) fn keep_bundles_apart(&mut self, h: f32, report: &mut MeshReport) {
        self.moved.fill(Vec3A::ZERO);
        let mut contact = std::mem::take(&mut self.self_contact);
        contact.sort(&self.x);
        contact.is_moved.fill(false);
        let count = contact.vertices.len();
        for k in (0..SWEEPS).flat_map(|_| 0..count) {
            let place = contact.place(self.x[contact.vertices[k] as usize]);
            for around in 0..27 {
                let slot = contact.slot([
                    place[0].wrapping_add(around % 3 - 1),
                    place[1].wrapping_add(around / 3 % 3 - 1),
                    place[2].wrapping_add(around / 9 - 1),
                ]) as usize;
                let others = contact.starts[slot] as usize..contact.starts[slot + 1] as usize;
                for at in others {
                    let other = contact.sorted[at] as usize;
                    if other > k {
                        self.separate(&mut contact, k, other);
                    }
                }
            }
        }
        let mut found = 0;
        for (v, is_moved) in contact.is_moved.iter().enumerate() {
            if *is_moved {
                found += 1;
                self.constraint[v] = Constraint::Pinned;
            }
        }
        self.self_contact = contact;
        if found == 0 {
            return;
        }
        report.corrected += found;
        self.distribute(self.settings.minimise, report);
        for (v, moved) in self.v.iter_mut().zip(&self.moved) {
            *v += *moved / h;
        }
    }

    /// Moves a pair of vertices apart if their balls overlap more than at rest.
    fn separate(&mut self, contact: &mut SelfContact, k: usize, other: usize) {
        let (a, b) = (contact.vertices[k], contact.vertices[other]);
        let (i, j) = (a as usize, b as usize);
        let offset = self.x[j] + self.moved[j] - self.x[i] - self.moved[i];
        let contact_distance = contact.radius[k] + contact.radius[other];
        let squared = offset.length_squared();
        if squared >= contact_distance * contact_distance
            || squared == 0.0
            || contact.are_near(a, b)
        {
            return;
        }
        let min_distance = contact_distance.min(self.rest[i].distance(self.rest[j]));
        let distance = squared.sqrt();
        if distance >= min_distance {
            return;
        }
        let normal = offset / distance;
        for (v, side) in [(i, -0.5), (j, 0.5)] {
            self.moved[v] += normal * (side * (min_distance - distance));
            contact.is_moved[v] = true;
        }
    }
}

fn hash([x, y, z]: [i32; 3]) -> u32 {
    let mixed = (x as u32).wrapping_mul(73_856_093)
        ^ (y as u32).wrapping_mul(19_349_663)
        ^ (z as u32).wrapping_mul(83_492_791);
    mixed ^ mixed >> 15
}

/// Per column, the columns of the bundles around it and of their neighbours over shared columns and
/// seams.
fn neighbours(mesh: &HairMesh) -> (Vec<u32>, Vec<u32>) {
    let columns = mesh.column_count();
    // Columns of a seam count as one.
    let mut class: Vec<u32> = (0..columns as u32).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for seam in &mesh.seams {
            let [a, b] = seam.columns.map(|c| c as usize);
            let lower = class[a].min(class[b]);
            changed |= class[a] != lower || class[b] != lower;
            (class[a], class[b]) = (lower, lower);
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
                let bundles = &around[class[d as usize] as usize];
                near.extend(bundles.iter().flat_map(|&b| mesh.bundles[b as usize].columns()));
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
    fn vertices_are_found_again_in_their_boxes() {
        let mesh = HairMesh::block([3, 3], 4, Vec3::ONE, true);
        let x: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
        let mut contact = SelfContact::new(&mesh, &mesh.topology());
        contact.sort(&x);
        let mut visited = contact.sorted.clone();
        visited.sort_unstable();
        assert!(visited.iter().copied().eq(0..contact.vertices.len() as u32));
        for b in 0..contact.starts.len() - 1 {
            for k in contact.starts[b]..contact.starts[b + 1] {
                assert_eq!(contact.box_of[contact.sorted[k as usize] as usize], b as u32);
            }
        }
    }

    #[test]
    fn bundles_are_near_over_shared_columns_and_seams() {
        let row = HairMesh::block([4, 1], 1, Vec3::ONE, false);
        let contact = SelfContact::new(&row, &row.topology());
        let vertex = |column: u32| row.vertex(column, 1);
        assert!(contact.are_near(vertex(0), vertex(1)) && contact.are_near(vertex(0), vertex(2)));
        assert!(!contact.are_near(vertex(0), vertex(3)));
        let parted = HairMesh::parted_block(1, Vec3::ONE);
        let contact = SelfContact::new(&parted, &parted.topology());
        let last = parted.column_count() as u32 - 1;
        assert!(contact.are_near(parted.vertex(0, 1), parted.vertex(last, 1)));
    }
}
