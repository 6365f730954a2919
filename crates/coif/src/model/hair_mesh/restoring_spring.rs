//! Restoring springs for vertices that are stuck: those of inverted corners, those that the body keeps from their rest
//! target (snagged), and those of locks that have twisted or folded. These shapes are equilibria of the other forces.
//!
//! A stuck vertex has a spring to its rest target, the place to which its root carries the rest shape. Its stiffness
//! grows with the time for which the vertex has been stuck. It is part of the implicit step (`dynamics.rs`); collision
//! acts as usual. Only a vertex that is stuck for seconds on a head at rest passes through the body.
//!
//! If the rest target of a vertex is inside a collider, as under a shoulder that the head has turned over, restoring springs
//! are disabled for its whole connected component.

use glam::Vec3A;

use super::dynamics::{MeshDynamics, MeshEnvironment};
use crate::groom::hair_mesh::{HairMesh, Topology};

/// Time constant (s) of the spring: short enough to outweigh the prisms around the vertex. With a longer one, tangles
/// stay.
pub(super) const RESTORING_TIME: f32 = 0.05;

/// Largest extension (m) that counts where a bundle has no column in common with another: the whole bundle may be
/// displaced, and a larger force would turn it over. Bundles with common columns hold each other.
const MAX_DISPLACEMENT: f32 = 0.03;

/// Time (s) in which the stiffness doubles.
const DOUBLING_TIME: f32 = 0.27;

/// How often it doubles at most: by then it outweighs any prism.
const MAX_DOUBLINGS: f32 = 12.0;

/// Largest time (s) that counts as stuck while hair and head are in motion: it may still come free by itself.
const IN_MOTION: f32 = 0.67;

/// Time (s) after which a stuck vertex that is close to its target passes through the body: it is never deep in it.
/// With less, hair passes through obstacles that it could still slip off.
const STUCK_NEAR_TARGET: f32 = 1.5;

/// The same for a vertex at any distance: by then the spring has its largest stiffness. Without it, hair that is wound
/// around an ear stays there.
const MAX_STUCK: f32 = 4.5;

/// Speed (m/s) at which the surface recedes for a stuck vertex after [`STUCK_NEAR_TARGET`], and the largest
/// displacement (m): hair slips off an ear that is slightly thinner, and seldom has to pass through it.
const YIELDS: f32 = 1e-3;
const MAX_YIELDED: f32 = 1.6e-3;

/// Time (s) that stands for infinity.
const FOR_EVER: f32 = 1e6;

/// Distance (m) from the target that is close: no more than hair may be inside the body on its path.
const CLOSE: f32 = 2.5e-3;

/// Speed (m/s) against the place that the roots carry a vertex to, below which it counts as at rest: half a centimetre
/// in a frame. Hair in violent motion is faster, and may not pass through the body.
const AT_REST: f32 = 0.15;

/// Speed (m/s) below which a vertex stands still, on roots that do, and the time (s) after which it counts as standing
/// still: swinging hair is slow for a moment only.
const STILL: f32 = 0.02;
const STAYS: f32 = 0.8;

/// Speed (m/s) up to which a vertex that was snagged stays so once it has left the surface.
const SNAGGED_SPEED: f32 = 0.5;

/// How far from its target a vertex in contact may rest, as a fraction of the shortest edge at it. With more, prisms
/// stay too small by as much.
const OFF: f32 = 0.04;

/// The same for a vertex with a restoring spring, which is then released.
const BACK: f32 = 0.02;

/// Largest distance (m) from its target at which a vertex with the body in between counts as snagged: hair slips off an
/// ear, but stays on the side of a shoulder that the head has turned it to.
const SNAG: f32 = 0.04;

/// How much deeper in the body than at rest (m) a rest target has to be to obstruct its connected component.
const OBSTRUCTED_DEPTH: f32 = 1e-3;

/// How far the load on hair may be from that at rest (m/s^2) for the rest shape to be the equilibrium: the head nods by
/// six degrees, or a breeze blows.
const SAME_LOAD: f32 = 1.0;

impl MeshDynamics {
    /// The rest target of a vertex: where its root carries it at the end of the step (m).
    pub(super) fn rest_target(&self, column: usize, v: usize) -> Vec3A {
        self.roots[column].point(self.rest[v].into()).into()
    }

    /// Extension (m) of the restoring spring of a vertex.
    pub(super) fn restoring_displacement(&self, column: usize, v: usize) -> Vec3A {
        let displacement = self.rest_target(column, v) - self.x[v];
        if self.alone[column] {
            displacement.clamp_length_max(MAX_DISPLACEMENT)
        } else {
            displacement
        }
    }

    /// Stiffness per mass (1/s^2) of the restoring spring of a vertex.
    pub(super) fn restoring_stiffness(&self, v: usize) -> f32 {
        let doublings = (self.stuck[v] / DOUBLING_TIME).min(MAX_DOUBLINGS);
        doublings.exp2() / (RESTORING_TIME * RESTORING_TIME)
    }

    /// How deep in the body a vertex may be (m): as deep as at rest, and a little deeper the longer it is stuck.
    pub(super) fn allowed(&self, v: usize) -> f32 {
        let more = YIELDS * (self.stuck[v] - STUCK_NEAR_TARGET);
        self.depth[v] + more.clamp(0.0, MAX_YIELDED)
    }

    /// Whether the body lets a vertex pass.
    pub(super) fn may_pass(&self, v: usize) -> bool {
        self.stuck[v] > MAX_STUCK
    }

    /// Counts for how long vertices have been stuck; those of inverted corners are marked in `is_stuck` already.
    pub(super) fn count_stuck(&mut self, env: &MeshEnvironment<'_>, h: f32) {
        let mut obstructed = std::mem::take(&mut self.obstructed);
        obstructed.known &= self.is_still(env);
        for column in 0..self.roots.len() {
            let is_still = self.roots[column] == self.roots_before[column];
            for v in self.starts[column] as usize + 1..self.starts[column + 1] as usize {
                let stands = is_still && self.v[v].length_squared() < STILL * STILL;
                self.idle[v] = if stands { self.idle[v] + h } else { 0.0 };
                // Corners without a restoring spring have only their volume condition.
                let mut is_obstructed = || obstructed.look(self, column, env);
                let is_stuck =
                    (self.is_stuck[v] || self.is_snagged(column, v, env, h)) && !is_obstructed();
                self.stuck[v] = match self.stuck[v] {
                    _ if !is_stuck => 0.0,
                    IN_MOTION.. if self.is_thrown(column, v, h) => IN_MOTION,
                    STUCK_NEAR_TARGET.. if self.is_close(column, v) => FOR_EVER,
                    time => time + h,
                };
            }
        }
        self.obstructed = obstructed;
    }

    /// Whether neither roots nor colliders have moved in this step.
    fn is_still(&self, env: &MeshEnvironment<'_>) -> bool {
        self.roots == self.roots_before
            && env.field.is_none()
            && env.colliders.iter().all(|c| c.start == c.end)
    }

    /// Whether the load (m/s^2) on a column is about that of the rest shape.
    pub(super) fn rests(&self, column: usize, load: Vec3A) -> bool {
        let at_rest = Vec3A::from(self.roots[column].direction(self.held_gravity.into()));
        load.distance_squared(at_rest) < SAME_LOAD * SAME_LOAD
    }

    /// Whether a vertex is snagged: in contact with the body, or standing still, away from its target under the load of
    /// the rest shape, while nothing is at the target.
    ///
    /// Model: under this load the rest shape is the equilibrium. So it is contact that holds the vertex, or a lock is
    /// twisted.
    fn is_snagged(&self, column: usize, v: usize, env: &MeshEnvironment<'_>, h: f32) -> bool {
        let (collision, was_stuck) = (self.collision[v], self.stuck[v] > 0.0);
        let stays = self.idle[v] > STAYS;
        if !self.as_at_rest[column] || !(was_stuck || stays || collision.is_some()) {
            return false;
        }
        let target = self.rest_target(column, v);
        let displacement = target - self.x[v];
        let off = displacement.length_squared();
        let min_distance = self.shortest[v] * if was_stuck { BACK } else { OFF };
        let is_obstructed =
            collision.is_some_and(|collision| collision.normal.dot(displacement) < 0.0);
        off > min_distance * min_distance
            && (off < SNAG * SNAG || !is_obstructed)
            && self.is_slow(column, v, h, if was_stuck { SNAGGED_SPEED } else { AT_REST })
            && self.obstacles.push_out(None, target, -self.depth[v], env.field.as_ref()).is_none()
    }

    /// Whether a vertex is close to its target.
    fn is_close(&self, column: usize, v: usize) -> bool {
        self.rest_target(column, v).distance_squared(self.x[v]) < CLOSE * CLOSE
    }

    /// Velocity (m/s) of the place that its root carries a vertex to.
    fn carried(&self, column: usize, v: usize, h: f32) -> Vec3A {
        let before = Vec3A::from(self.roots_before[column].point(self.rest[v].into()));
        (self.rest_target(column, v) - before) / h
    }

    /// Whether a vertex moves along with the place that its root carries it to, but for `speed` (m/s).
    fn is_slow(&self, column: usize, v: usize, h: f32, speed: f32) -> bool {
        self.v[v].distance_squared(self.carried(column, v, h)) < speed * speed
    }

    /// Whether a vertex is in violent motion because its root is. Hair that oscillates on a head at rest is not.
    fn is_thrown(&self, column: usize, v: usize, h: f32) -> bool {
        let carried = self.carried(column, v, h).length_squared();
        carried > AT_REST * AT_REST && !self.is_slow(column, v, h, AT_REST)
    }
}

/// Which connected components of the mesh are obstructed: have a rest target inside the body.
#[derive(Debug, Default)]
pub(super) struct Obstructed {
    /// Per column: its connected component.
    component: Vec<u32>,
    /// Per component: whether a rest target of it is inside the body; if that is known.
    is_obstructed: Vec<bool>,
    pub(super) known: bool,
}

impl Obstructed {
    pub(super) fn new(mesh: &HairMesh) -> Self {
        let component = connected_components(mesh);
        let count = component.iter().max().map_or(0, |&max| max as usize + 1);
        Self { component, is_obstructed: vec![false; count], known: false }
    }

    /// Whether the component of a column is obstructed. The first call computes it for all.
    fn look(&mut self, mesh: &MeshDynamics, column: usize, env: &MeshEnvironment<'_>) -> bool {
        if !self.known {
            self.known = true;
            self.is_obstructed.fill(false);
            for (c, &component) in self.component.iter().enumerate() {
                let mut vertices = mesh.starts[c] as usize + 1..mesh.starts[c + 1] as usize;
                let is_obstructed = &mut self.is_obstructed[component as usize];
                *is_obstructed = *is_obstructed
                    || vertices.any(|v| {
                        let deep = mesh.depth[v] + OBSTRUCTED_DEPTH;
                        let (target, field) = (mesh.rest_target(c, v), env.field.as_ref());
                        mesh.obstacles.push_out(None, target, -deep, field).is_some()
                    });
            }
        }
        self.is_obstructed[self.component[column] as usize]
    }
}

/// Per column: its connected component, by bundles and seams.
fn connected_components(mesh: &HairMesh) -> Vec<u32> {
    let mut first: Vec<u32> = (0..mesh.column_count() as u32).collect();
    let find = |first: &[u32], mut c: u32| {
        while first[c as usize] != c {
            c = first[c as usize];
        }
        c
    };
    let bundles = mesh.bundles.iter().flat_map(|b| b.columns().windows(2).map(|w| [w[0], w[1]]));
    let seams = mesh.seams.iter().map(|seam| seam.columns);
    for [a, b] in bundles.chain(seams) {
        let (a, b) = (find(&first, a), find(&first, b));
        let lower = a.min(b);
        first[a as usize] = lower;
        first[b as usize] = lower;
    }
    let roots: Vec<u32> = (0..first.len() as u32).map(|c| find(&first, c)).collect();
    let mut names = roots.clone();
    names.sort_unstable();
    names.dedup();
    roots.iter().map(|r| names.partition_point(|n| n < r) as u32).collect()
}

/// Per column: whether it belongs to a bundle that shares no column with another.
pub(super) fn columns_alone(mesh: &HairMesh) -> Vec<bool> {
    let mut bundles = vec![0u32; mesh.column_count()];
    for bundle in &mesh.bundles {
        bundle.columns().iter().for_each(|&c| bundles[c as usize] += 1);
    }
    let mut alone = vec![true; mesh.column_count()];
    for bundle in &mesh.bundles {
        let own = bundle.columns().iter().all(|&c| bundles[c as usize] == 1);
        bundle.columns().iter().for_each(|&c| alone[c as usize] &= own);
    }
    alone
}

/// Length (m) of the shortest edge at every vertex.
pub(super) fn shortest_edges(rest: &[Vec3A], topology: &Topology) -> Vec<f32> {
    let mut shortest = vec![f32::INFINITY; rest.len()];
    for &[a, b] in topology.along.iter().chain(&topology.across) {
        let length = rest[a as usize].distance(rest[b as usize]);
        for v in [a, b] {
            shortest[v as usize] = shortest[v as usize].min(length);
        }
    }
    shortest
}
