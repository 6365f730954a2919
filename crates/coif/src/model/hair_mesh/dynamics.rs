//! A hair mesh in motion: its vertices, and one step of them.
//!
//! It has columns and their roots, but no strands: `grow` puts hair into it. `layout.rs` makes it of a mesh,
//! `implicit.rs` has forces and solve, `collide.rs` the contact with the body, `reset.rs` resets and teleports.

use std::time::Instant;

use glam::{Mat3A, Vec3, Vec3A};

use super::elements::Elements;
use super::measure::MeshMeasure;
use super::minimise::Minimiser;
use super::obstacles::Obstacles;
use super::report::{MeshReport, MeshTimes};
use super::restoring_spring::Obstructed;
use super::self_contact::SelfContact;
use super::settings::Settings;
use crate::body::MovingCollider;
use crate::environment::{Gusts, Wind};
use crate::groom::hair_mesh::Exposure;
use crate::limits::MAX_STRAND_LENGTHS;
use crate::math::RigidTransform;
use crate::math::sparse::modified_conjugate_gradient::{Constraint, Scratch};
use crate::math::sparse::{BlockGaussSeidel, BlockMatrix, CoarseLevel, ColumnScratch};
use crate::model::FieldObstacle;

/// The environment of a hair mesh during one step.
#[derive(Clone, Copy)]
pub struct MeshEnvironment<'a> {
    /// Time at the end of the step (s).
    pub time: f64,
    /// Length of the step (s).
    pub dt: f32,
    /// Acceleration of gravity (m/s^2).
    pub gravity: Vec3,
    /// Moving air.
    pub wind: &'a Wind,
    /// Phase of its gusts.
    pub gusts: Gusts,
    /// Colliders.
    pub colliders: &'a [MovingCollider],
    /// The surfaces of bodies.
    pub field: Option<FieldObstacle<'a>>,
}

/// A vertex that lies on a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct VertexCollision {
    pub(super) normal: Vec3A,
    pub(super) solid: u32,
    pub(super) friction: f32,
    /// Whether the contact force would have been attractive in the last step.
    pub(super) is_loose: bool,
}

/// Largest stretch of an edge along the hair before contact, as a fraction of its rest length.
const MAX_STRETCH: f32 = 0.1;

/// A hair mesh in motion.
pub struct MeshDynamics {
    pub(super) settings: Settings,
    pub(super) elements: Elements,
    pub(super) matrix: BlockMatrix,
    pub(super) preconditioner: BlockGaussSeidel,
    pub(super) coarse: Option<CoarseLevel>,
    pub(super) minimiser: Minimiser,
    /// First vertex of every column, and the total.
    pub(super) starts: Vec<u32>,
    /// Positions in the rest shape (m).
    pub(super) rest: Vec<Vec3A>,
    /// Acceleration (m/s^2) that holds each vertex against gravity, in the rest frame.
    pub(super) hold: Vec<Vec3A>,
    /// Stiffness per mass (1/s^2) of the spring that holds it.
    pub(super) hold_stiffness: Vec<f32>,
    /// Gravity that the rest shape is balanced against (m/s^2), in the rest frame.
    pub(super) held_gravity: Vec3A,
    /// Per vertex: rate (1/s) at which it takes on the velocity of the air, and friction relative to that of the body;
    /// each empty where it is the same everywhere.
    pub(super) drag: Vec<f32>,
    pub(super) friction: Vec<f32>,
    /// Farthest that a vertex of a column may be from its root (m).
    pub(super) reach: Vec<f32>,
    pub(super) exposure: Vec<Exposure>,
    /// Clearance of vertices inside the mesh from a surface (m).
    pub(super) clearance: Vec<f32>,
    /// Shortest edge at each vertex at rest (m).
    pub(super) shortest: Vec<f32>,
    /// Per column: whether its bundle shares no column with another.
    pub(super) alone: Vec<bool>,
    /// What a step changes.
    pub(super) x: Vec<Vec3A>,
    pub(super) v: Vec<Vec3A>,
    pub(super) change: Vec<Vec3A>,
    pub(super) collision: Vec<Option<VertexCollision>>,
    pub(super) open: Vec<bool>,
    /// For how long each vertex has been stuck (s).
    pub(super) stuck: Vec<f32>,
    /// For how long each vertex has stood still (s).
    pub(super) idle: Vec<f32>,
    /// Whether it is a corner of an inverted prism now: scratch.
    pub(super) is_stuck: Vec<bool>,
    /// Per column: whether its load is that at rest.
    pub(super) as_at_rest: Vec<bool>,
    /// Which connected components have a rest target inside the body.
    pub(super) obstructed: Obstructed,
    /// Depth of each vertex inside the body at rest (m), once it is measured.
    pub(super) depth: Vec<f32>,
    pub(super) depth_is_known: bool,
    /// World from rest per column, at the end of the last step.
    pub(super) roots: Vec<RigidTransform>,
    /// The same at its start.
    pub(super) roots_before: Vec<RigidTransform>,
    /// Scratch.
    pub(super) below: Vec<[Vec3A; 2]>,
    pub(super) rhs: Vec<Vec3A>,
    pub(super) zero: Vec<Vec3A>,
    pub(super) constraint: Vec<Constraint>,
    pub(super) before: Vec<Vec3A>,
    pub(super) moved: Vec<Vec3A>,
    pub(super) scratch: Scratch,
    pub(super) column_scratch: ColumnScratch,
    /// Per connected component: energy (J, twice) of the error of velocities that the solve of a long step may
    /// leave.
    pub(super) error_energy: Vec<f64>,
    /// The same for the present length of a step: scratch.
    pub(super) allowed_energy: Vec<f64>,
    /// Per off-diagonal block and per vertex: the matrix projected on the normal of a contact.
    pub(super) projected: Vec<Vec3A>,
    pub(super) projected_diagonal: Vec<Vec3A>,
    pub(super) obstacles: Obstacles,
    pub(super) self_contact: SelfContact,
    pub(super) times: MeshTimes,
}

impl MeshDynamics {
    /// Advances by a step. `roots` are the poses of each column's root at its end, from the rest shape.
    /// Columns that were reset to their rest shape are marked in `broken`.
    pub fn step(
        &mut self,
        env: &MeshEnvironment<'_>,
        roots: &[RigidTransform],
        broken: &mut [bool],
    ) -> MeshReport {
        let clock = Instant::now();
        self.measure_depth(env);
        let substeps = self.settings.substeps;
        let h = env.dt / substeps as f32;
        let mut report = MeshReport::default();
        self.times.rest += clock.elapsed().as_secs_f64();
        for substep in 0..substeps {
            let over = |k: u32| k as f32 / substeps as f32;
            let clock = Instant::now();
            self.pose_obstacles(env, h, [over(substep), over(substep + 1)]);
            self.follow_roots(roots, h, 1.0 / (substeps - substep) as f32);
            self.before.copy_from_slice(&self.x);
            self.times.rest += clock.elapsed().as_secs_f64();

            let clock = Instant::now();
            self.assemble(env, h);
            self.times.forces += clock.elapsed().as_secs_f64();

            let clock = Instant::now();
            let solve = self.solve(env, h);
            report.solve.iterations = report.solve.iterations.max(solve.iterations);
            report.solve.residual = report.solve.residual.max(solve.residual);
            self.times.solve += clock.elapsed().as_secs_f64();

            let clock = Instant::now();
            self.limit_stretch(MAX_STRETCH, h);
            self.times.rest += clock.elapsed().as_secs_f64();
            self.collide(env, h, &mut report);
        }
        let clock = Instant::now();
        report.open = self.part_seams();
        report.broken = self.reset_broken(roots, broken);
        self.times.rest += clock.elapsed().as_secs_f64();
        report
    }

    /// Measures the depth of vertices that are groomed inside the body: they may stay that deep.
    fn measure_depth(&mut self, env: &MeshEnvironment<'_>) {
        if self.depth_is_known {
            return;
        }
        self.depth_is_known = true;
        self.pose_obstacles(env, env.dt, [0.0, 0.0]);
        let own = env.field.and_then(|field| field.of_own_body());
        for v in 0..self.x.len() {
            // The field is that at the end of the step: the body has hardly moved by then.
            self.depth[v] = self.obstacles.depth(self.x[v], own.as_ref());
        }
    }

    /// Poses the colliders for a substep, from one fraction of the step to another.
    fn pose_obstacles(&mut self, env: &MeshEnvironment<'_>, h: f32, fractions: [f32; 2]) {
        self.obstacles.pose(env.colliders, h, fractions);
    }

    /// Gives the roots their velocity for the fraction `fraction` of the motion.
    fn follow_roots(&mut self, roots: &[RigidTransform], h: f32, fraction: f32) {
        for column in 0..self.roots.len() {
            let (from, mut to) = (self.roots[column], self.roots[column]);
            let finite = |t: &&RigidTransform| t.is_finite();
            if let Some(root) = roots.get(column).filter(finite) {
                to = *root;
            }
            if fraction < 1.0 {
                to = RigidTransform {
                    rotation: from.rotation.slerp(to.rotation, fraction),
                    translation: from.translation.lerp(to.translation, fraction),
                };
            }
            let v = self.starts[column] as usize;
            let (root, next) = (self.rest[v], self.rest[v + 1]);
            let below = Vec3::from(root + root - next);
            let [old, new] = [from, to].map(|t| Vec3A::from(t.point(below)));
            self.below[column] = [old, (new - old) / h];
            self.v[v] = (Vec3A::from(to.point(root.into())) - self.x[v]) / h;
            self.roots_before[column] = from;
            self.roots[column] = to;
        }
    }

    /// Shortens edges along the hair that are too long, root to tip, and slows what is faster than hair
    /// can be.
    ///
    /// Model: every vertex is moved nearer to its predecessor, which is done already, and loses its
    /// relative speed away from it (as `selle2008` 4.2). No hair moves by more than its own length in a step.
    pub(super) fn limit_stretch(&mut self, max_stretch: f32, h: f32) {
        for column in 0..self.roots.len() {
            let first = self.starts[column] as usize;
            let fastest = self.reach[column] / (MAX_STRAND_LENGTHS * h);
            for v in first + 1..self.starts[column + 1] as usize {
                let edge = self.x[v] - self.x[v - 1];
                let allowed = self.rest[v].distance(self.rest[v - 1]) * (1.0 + max_stretch);
                let length = edge.length();
                if length > allowed {
                    let u = edge / length;
                    self.x[v] = self.x[v - 1] + u * allowed;
                    let away = (self.v[v] - self.v[v - 1]).dot(u).max(0.0);
                    self.v[v] -= u * away;
                }
                let relative = self.v[v] - self.v[first];
                if relative.length_squared() > fastest * fastest {
                    self.v[v] = self.v[first] + relative * (fastest / relative.length());
                }
            }
        }
    }

    /// Positions of all vertices (m), column after column.
    pub fn positions(&self) -> &[Vec3A] {
        &self.x
    }

    /// Velocities of all vertices (m/s).
    pub fn velocities(&self) -> &[Vec3A] {
        &self.v
    }

    /// Velocities of all vertices (m/s), to be changed from outside between steps.
    pub fn velocities_mut(&mut self) -> &mut [Vec3A] {
        &mut self.v
    }

    /// How far the mesh is from its rest shape.
    pub fn measure(&self) -> MeshMeasure {
        MeshMeasure::new(self)
    }

    /// Whether a vertex is the root of its column.
    pub(super) fn is_root(&self, v: usize) -> bool {
        self.starts.binary_search(&(v as u32)).is_ok()
    }

    /// Substeps of a step.
    pub fn substeps(&self) -> u32 {
        self.settings.substeps
    }

    /// Time spent so far.
    pub fn times(&self) -> &MeshTimes {
        &self.times
    }

    /// Bytes of the matrix of a step, as it is summed up.
    pub fn matrix_bytes(&self) -> usize {
        (self.matrix.block_count() + self.matrix.rows()) * size_of::<Mat3A>()
    }

    /// Bytes that an iteration of the solver reads and writes.
    pub fn iteration_bytes(&self) -> usize {
        self.preconditioner.bytes()
    }
}
