//! Hair that has lost its way: corners that are turned inside out, vertices that the body keeps from
//! going home, and locks that have twisted or folded and stay so. The forces of a step alone would leave all
//! of these where they are, in a shape that is at rest and wrong.
//!
//! Such vertices are led home by a spring of their own that gets harder as long as it has not helped. It is
//! part of the implicit step (`dynamics.rs`); contact goes on as usual. Only hair that is still lost after
//! seconds on a head that does not move goes through the body.
//!
//! Where the body has come to be where hair belongs, as a shoulder that the head has turned over, hair lies
//! elsewhere by right: nothing that hangs together with it is led.

use glam::Vec3A;

use super::dynamics::{MeshDynamics, MeshEnvironment};
use crate::groom::hair_mesh::{HairMesh, Topology};

/// Time (s) in which lost vertices are led home: short enough to win against the prisms around them. Longer,
/// and tangles stay.
pub(super) const HOME_TIME: f32 = 0.05;

/// Farthest ahead (m) that a lost vertex of a bundle on its own is led at a time: as a whole it may well hang
/// elsewhere, and to throw it home would turn it over. Bundles that share columns hold each other.
const MAX_LED: f32 = 0.03;

/// Time (s) after which that pull has doubled: what does not come home is pulled harder.
const PATIENCE: f32 = 0.27;

/// How often it doubles at most: by then it wins against any prism.
const MAX_DOUBLINGS: f32 = 12.0;

/// Most time (s) that counts while hair is in motion on a head that is: it may still find its way by itself.
const IN_MOTION: f32 = 0.67;

/// Time (s) after which a vertex that is lost and close to home goes there right through the body: it is never
/// deep in it. Less, and hair passes through what it could still slip off.
const LOST_CLOSE_BY: f32 = 1.5;

/// The same for a vertex that is anywhere: by then it has been pulled as hard as it will be. Never, and hair that
/// is tied around an ear stays so.
const LOST_FOR_LONG: f32 = 4.5;

/// How fast (m/s) the body yields to a lost vertex before that, and how far (m): hair slips off an ear that is
/// a little thinner, and seldom has to go through it.
const YIELDS: f32 = 1e-3;
const MAX_YIELDED: f32 = 1.6e-3;

/// Time (s) that stands for ever.
const FOR_EVER: f32 = 1e6;

/// How far (m) that is close: no farther than hair may be in the body on the way.
const CLOSE: f32 = 2.5e-3;

/// Speed (m/s) against the place that the roots carry a vertex to, below which it counts as at rest: half
/// a centimetre in a frame. Hair that is thrown about is faster, and the body stays closed to it.
const AT_REST: f32 = 0.15;

/// Speed (m/s) below which a vertex stands still, on roots that do, and for how long (s) it has to for it to stay
/// there by itself: hair that swings is slow for a moment only.
const STILL: f32 = 0.02;
const STAYS: f32 = 0.8;

/// Speed (m/s) up to which a vertex that was caught is led on, once it is off the surface.
const LED: f32 = 0.5;

/// How far from home a vertex that touches the body may rest, as a share of the shortest edge at it. More,
/// and prisms stay too small by as much.
const OFF: f32 = 0.04;

/// The same for a vertex that is being led home, which is then let go.
const BACK: f32 = 0.02;

/// Farthest that a vertex may be from home (m), with the body in the way, to be caught rather than laid
/// elsewhere: hair slips off an ear, but stays on the side of a shoulder that the head has turned it to.
const SNAG: f32 = 0.04;

/// How much deeper in the body than at rest (m) the place of a vertex is for its hair to lie elsewhere by right.
const BARRED: f32 = 1e-3;

/// How far the load on hair may be from that at rest (m/s^2) for its rest shape to be where it belongs: the
/// head nods by six degrees, or a breeze blows.
const SAME_LOAD: f32 = 1.0;

impl MeshDynamics {
    /// Where the roots carry a vertex at the end of the step (m).
    pub(super) fn home(&self, column: usize, v: usize) -> Vec3A {
        self.roots[column].point(self.rest[v].into()).into()
    }

    /// The way on which a lost vertex is led at a time (m).
    pub(super) fn way_home(&self, column: usize, v: usize) -> Vec3A {
        let way = self.home(column, v) - self.x[v];
        if self.alone[column] { way.clamp_length_max(MAX_LED) } else { way }
    }

    /// How hard a vertex is led home (1/s^2).
    pub(super) fn pull_home(&self, v: usize) -> f32 {
        let doublings = (self.lost[v] / PATIENCE).min(MAX_DOUBLINGS);
        doublings.exp2() / (HOME_TIME * HOME_TIME)
    }

    /// How deep in the body a vertex may be (m): as deep as at rest, and a little deeper the longer it is lost.
    pub(super) fn allowed(&self, v: usize) -> f32 {
        let more = YIELDS * (self.lost[v] - LOST_CLOSE_BY);
        self.depth[v] + more.clamp(0.0, MAX_YIELDED)
    }

    /// Whether the body lets a vertex pass.
    pub(super) fn may_pass(&self, v: usize) -> bool {
        self.lost[v] > LOST_FOR_LONG
    }

    /// Counts for how long vertices have been lost; those of corners that are inside out are marked in
    /// `is_lost` already.
    pub(super) fn count_lost(&mut self, env: &MeshEnvironment<'_>, h: f32) {
        let mut barred = std::mem::take(&mut self.barred);
        barred.known &= self.is_still(env);
        for column in 0..self.roots.len() {
            let is_still = self.roots[column] == self.roots_before[column];
            for v in self.starts[column] as usize + 1..self.starts[column + 1] as usize {
                let stands = is_still && self.v[v].length_squared() < STILL * STILL;
                self.idle[v] = if stands { self.idle[v] + h } else { 0.0 };
                // Volume alone brings corners back that are not led.
                let mut is_barred = || barred.look(self, column, env);
                let is_lost =
                    (self.is_lost[v] || self.is_caught(column, v, env, h)) && !is_barred();
                self.lost[v] = match self.lost[v] {
                    _ if !is_lost => 0.0,
                    IN_MOTION.. if self.is_thrown(column, v, h) => IN_MOTION,
                    LOST_CLOSE_BY.. if self.is_close(column, v) => FOR_EVER,
                    time => time + h,
                };
            }
        }
        self.barred = barred;
    }

    /// Whether neither roots nor colliders have moved in this step.
    fn is_still(&self, env: &MeshEnvironment<'_>) -> bool {
        self.roots == self.roots_before
            && env.field.is_none()
            && env.colliders.iter().all(|c| c.start == c.end)
    }

    /// Whether the load (m/s^2) on a column is about that of the rest shape.
    pub(super) fn rests(&self, column: usize, load: Vec3A) -> bool {
        let at_rest = Vec3A::from(self.roots[column].direction(self.held.into()));
        load.distance_squared(at_rest) < SAME_LOAD * SAME_LOAD
    }

    /// Whether a vertex is caught: it rests on the body, or stays where it is, although its load is that at rest
    /// and nothing is where it belongs.
    ///
    /// Model: under this load the rest shape is where hair belongs. So it is contact that holds the vertex, or
    /// a lock is twisted.
    fn is_caught(&self, column: usize, v: usize, env: &MeshEnvironment<'_>, h: f32) -> bool {
        let (touch, was_lost) = (self.touch[v], self.lost[v] > 0.0);
        let stays = self.idle[v] > STAYS;
        if !self.as_at_rest[column] || !(was_lost || stays || touch.is_some()) {
            return false;
        }
        let home = self.home(column, v);
        let way = home - self.x[v];
        let off = way.length_squared();
        let least = self.shortest[v] * if was_lost { BACK } else { OFF };
        let is_barred = touch.is_some_and(|touch| touch.normal.dot(way) < 0.0);
        off > least * least
            && (off < SNAG * SNAG || !is_barred)
            && self.is_slow(column, v, h, if was_lost { LED } else { AT_REST })
            && self.obstacles.push_out(None, home, -self.depth[v], env.field.as_ref()).is_none()
    }

    /// Whether a vertex is close to home.
    fn is_close(&self, column: usize, v: usize) -> bool {
        self.home(column, v).distance_squared(self.x[v]) < CLOSE * CLOSE
    }

    /// Velocity (m/s) of the place that its root carries a vertex to.
    fn carried(&self, column: usize, v: usize, h: f32) -> Vec3A {
        let before = Vec3A::from(self.roots_before[column].point(self.rest[v].into()));
        (self.home(column, v) - before) / h
    }

    /// Whether a vertex moves along with the place that its root carries it to, but for `speed` (m/s).
    fn is_slow(&self, column: usize, v: usize, h: f32, speed: f32) -> bool {
        self.v[v].distance_squared(self.carried(column, v, h)) < speed * speed
    }

    /// Whether a vertex is thrown about by its root. Hair that flutters on a head at rest is not: it is what
    /// holds it that makes it flutter.
    fn is_thrown(&self, column: usize, v: usize, h: f32) -> bool {
        let carried = self.carried(column, v, h).length_squared();
        carried > AT_REST * AT_REST && !self.is_slow(column, v, h, AT_REST)
    }
}

/// Where the body is in the way of hair that hangs together.
#[derive(Debug, Default)]
pub(super) struct Barred {
    /// Per column: a number for all that hangs together with it.
    hangs: Vec<u32>,
    /// Per such number: whether the body is where any of it belongs; if that is known.
    is_barred: Vec<bool>,
    pub(super) known: bool,
}

impl Barred {
    pub(super) fn new(mesh: &HairMesh) -> Self {
        let hangs = hang_together(mesh);
        let count = hangs.iter().max().map_or(0, |&most| most as usize + 1);
        Self { hangs, is_barred: vec![false; count], known: false }
    }

    /// Whether the body is where a column belongs, or anything that hangs together with it. The first to ask
    /// finds out for all.
    fn look(&mut self, mesh: &MeshDynamics, column: usize, env: &MeshEnvironment<'_>) -> bool {
        if !self.known {
            self.known = true;
            self.is_barred.fill(false);
            for (c, &hangs) in self.hangs.iter().enumerate() {
                let mut vertices = mesh.starts[c] as usize + 1..mesh.starts[c + 1] as usize;
                let is_barred = &mut self.is_barred[hangs as usize];
                *is_barred = *is_barred
                    || vertices.any(|v| {
                        let deep = mesh.depth[v] + BARRED;
                        let (home, field) = (mesh.home(c, v), env.field.as_ref());
                        mesh.obstacles.push_out(None, home, -deep, field).is_some()
                    });
            }
        }
        self.is_barred[self.hangs[column] as usize]
    }
}

/// Per column: a number that is the same for columns that share bundles or are sewn together, directly or
/// through others.
fn hang_together(mesh: &HairMesh) -> Vec<u32> {
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
        let least = a.min(b);
        first[a as usize] = least;
        first[b as usize] = least;
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
