//! A hair mesh in motion: its vertices, and one step of them.
//!
//! This knows columns and their roots, but no strands: [`super::HairMeshModel`] puts hair into it.

use std::time::Instant;

use glam::{Mat3A, Vec3, Vec3A};

use super::assemble::{Implicit, State, assemble};
use super::check;
use super::elements::{Elements, along_columns};
use super::hold::{hold_columns, hold_stiffness};
use super::measure::MeshMeasure;
use super::minimise::Minimiser;
use super::obstacles::Obstacles;
use super::restoring_spring::{Obstructed, RESTORING_TIME, columns_alone, shortest_edges};
use super::settings::Settings;
use crate::Result;
use crate::body::MovingCollider;
use crate::collide::response::regularised_friction_fraction;
use crate::environment::Wind;
use crate::groom::hair_mesh::{Exposure, HairMesh, Topology};
use crate::limits::MAX_STRAND_LENGTHS;
use crate::math::sparse::modified_conjugate_gradient::{Constraint, Scratch};
use crate::math::sparse::{
    BlockGaussSeidel, BlockMatrix, CoarseLevel, ColumnScratch, Limits, solve_columns,
};
use crate::math::{RigidTransform, SolveReport};
use crate::model::FieldObstacle;
use crate::model::quarantine::is_sane;
use crate::params::Ramp;

/// What a hair mesh sees of the world during one step.
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
    /// Shapes that hair must stay out of.
    pub colliders: &'a [MovingCollider],
    /// The body's own surface.
    pub field: Option<FieldObstacle<'a>>,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshReport {
    /// How the step's system was solved.
    pub solve: SolveReport,
    /// Iterations of deformation minimisation.
    pub minimise_iterations: u32,
    /// Vertices that position correction moved.
    pub corrected: u32,
    /// Vertices that are still inside the body.
    pub inside: u32,
    /// Columns that were put back on their rest shape.
    pub broken: u32,
    /// Stitches of seams that are open.
    pub open: u32,
}

/// Time spent in the parts of steps (s), as figure 6 of `wu2016` divides it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshTimes {
    /// Forces and the matrix.
    pub forces: f64,
    /// The implicit solve.
    pub solve: f64,
    /// Finding vertices inside the body, and bringing them out.
    pub collision: f64,
    /// Deformation minimisation.
    pub minimise: f64,
    /// Everything else: roots, seams, checks.
    pub rest: f64,
}

/// A vertex that lies on a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    pub(super) normal: Vec3A,
    pub(super) solid: u32,
    pub(super) friction: f32,
    /// Whether the surface would have had to pull in the last step.
    pub(super) is_loose: bool,
}

/// Most that the pressure behind friction is, as an acceleration (m/s^2): five times the hair's weight.
/// Hair that is drawn tight over an edge would else hold itself there for ever.
const MAX_PRESSURE: f32 = 50.0;

/// Most that an edge along the hair may be longer than at rest, as a share, before contact.
const MAX_STRETCH: f32 = 0.1;

/// Length of a step (s) that may leave the whole error that is allowed.
const LONG_STEP: f32 = 1.0 / 60.0;

/// Share of the error at the start, in squares, that a solve may leave: hair in violent motion needs no
/// more than a few parts in a thousand.
const RELATIVE: f64 = 1e-5;

/// A hair mesh in motion.
pub struct MeshDynamics {
    pub(super) settings: Settings,
    pub(super) elements: Elements,
    matrix: BlockMatrix,
    preconditioner: BlockGaussSeidel,
    coarse: Option<CoarseLevel>,
    pub(super) minimiser: Minimiser,
    /// First vertex of every column, and the total.
    pub(super) starts: Vec<u32>,
    /// Positions in the rest shape (m).
    pub(super) rest: Vec<Vec3A>,
    /// Acceleration (m/s^2) that holds each vertex against gravity, in the rest frame.
    hold: Vec<Vec3A>,
    /// Stiffness per mass (1/s^2) of what holds it.
    hold_stiffness: Vec<f32>,
    /// Acceleration of gravity that the rest shape stands (m/s^2), in the rest frame.
    pub(super) held: Vec3A,
    /// Per vertex: rate (1/s) at which it takes on the velocity of the air, and friction relative to that of the body;
    /// each empty where it is the same everywhere.
    drag: Vec<f32>,
    pub(super) friction: Vec<f32>,
    /// Farthest that a vertex of a column may be from its root (m).
    reach: Vec<f32>,
    pub(super) exposure: Vec<Exposure>,
    /// How far from a surface vertices inside the mesh are put (m).
    pub(super) clearance: Vec<f32>,
    /// Shortest edge at each vertex at rest (m).
    pub(super) shortest: Vec<f32>,
    /// Per column: whether its bundle shares no column with another.
    pub(super) alone: Vec<bool>,
    /// What a step changes.
    pub(super) x: Vec<Vec3A>,
    pub(super) v: Vec<Vec3A>,
    pub(super) change: Vec<Vec3A>,
    pub(super) touch: Vec<Option<Touch>>,
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
    /// How deep each vertex is inside the body at rest (m), once that is known.
    pub(super) depth: Vec<f32>,
    pub(super) depth_is_known: bool,
    /// World from rest per column, where the last step ended.
    pub(super) roots: Vec<RigidTransform>,
    /// And where it began.
    pub(super) roots_before: Vec<RigidTransform>,
    /// Scratch.
    below: Vec<[Vec3A; 2]>,
    right: Vec<Vec3A>,
    pub(super) zero: Vec<Vec3A>,
    pub(super) constraint: Vec<Constraint>,
    pub(super) before: Vec<Vec3A>,
    pub(super) moved: Vec<Vec3A>,
    pub(super) scratch: Scratch,
    column_scratch: ColumnScratch,
    /// Per connected component: energy (J, twice) of the error of velocities that the solve of a long step may
    /// leave.
    error_energy: Vec<f64>,
    /// The same for the present length of a step: scratch.
    allowed_energy: Vec<f64>,
    /// Per place beside the diagonal and per vertex: what the normal of a contact sees of the matrix.
    projected: Vec<Vec3A>,
    projected_diagonal: Vec<Vec3A>,
    pub(super) obstacles: Obstacles,
    pub(super) self_contact: super::self_contact::SelfContact,
    pub(super) times: MeshTimes,
}

impl MeshDynamics {
    /// Lays out a mesh; `gravity` (m/s^2) is what its rest shape has to stand.
    pub fn new(mesh: &HairMesh, settings: &Settings, gravity: Vec3) -> Result<Self> {
        check(mesh, settings, gravity)?;
        let topology = mesh.topology();
        let (mut elements, matrix) = Elements::new(mesh, &topology, settings);
        let n = mesh.vertex_count();
        let starts = mesh.columns.first_points().to_vec();
        let gravity = if settings.hold_shape { gravity } else { Vec3::ZERO };
        let hold = hold_columns(mesh, &mut elements, gravity);
        let rest: Vec<Vec3A> = mesh.positions().iter().map(|&p| p.into()).collect();
        let reach =
            (0..mesh.column_count()).map(|c| MAX_STRAND_LENGTHS * mesh.columns.length(c)).collect();
        let varying = |ramp: &Ramp| match ramp.constant() {
            Some(_) => Vec::new(),
            None => along_columns(mesh, ramp),
        };
        let (drag, friction) = (varying(&settings.damping), varying(&settings.friction));
        let mut constraint = vec![Constraint::Free; n];
        starts[..starts.len() - 1]
            .iter()
            .for_each(|&root| constraint[root as usize] = Constraint::Pinned);
        let zero = vec![Vec3A::ZERO; n];
        let columns = mesh.column_count();
        let open = vec![false; elements.stitches.len()];
        let projected = vec![Vec3A::ZERO; matrix.place_count()];
        let preconditioner = BlockGaussSeidel::new(&matrix, &starts);
        let mut error_energy = vec![0.0; preconditioner.component_count()];
        for column in 0..columns {
            let mass = preconditioner.unknowns(column).map(|v| f64::from(elements.mass[v]));
            let tolerance = f64::from(settings.tolerance);
            error_energy[preconditioner.component(column)] +=
                mass.sum::<f64>() * tolerance * tolerance;
        }
        Ok(Self {
            allowed_energy: error_energy.clone(),
            error_energy,
            column_scratch: ColumnScratch::new(&preconditioner, n),
            preconditioner,
            coarse: CoarseLevel::new(&matrix, &starts),
            minimiser: Minimiser::new(mesh, &topology),
            clearance: clearance(&rest, &topology),
            shortest: shortest_edges(&rest, &topology),
            alone: columns_alone(mesh),
            self_contact: super::self_contact::SelfContact::new(mesh, &topology),
            exposure: topology.exposure,
            settings: settings.clone(),
            elements,
            matrix,
            starts,
            hold_stiffness: hold_stiffness(mesh, &hold),
            hold,
            held: gravity.into(),
            drag,
            friction,
            reach,
            x: rest.clone(),
            v: zero.clone(),
            change: zero.clone(),
            touch: vec![None; n],
            stuck: vec![0.0; n],
            idle: vec![0.0; n],
            is_stuck: vec![false; n],
            as_at_rest: vec![false; columns],
            obstructed: Obstructed::new(mesh),
            open,
            depth: vec![0.0; n],
            depth_is_known: false,
            roots: vec![RigidTransform::IDENTITY; columns],
            roots_before: vec![RigidTransform::IDENTITY; columns],
            below: vec![[Vec3A::ZERO; 2]; columns],
            right: zero.clone(),
            constraint,
            before: rest.clone(),
            moved: zero.clone(),
            zero,
            rest,
            scratch: Scratch::new(n),
            projected,
            projected_diagonal: vec![Vec3A::ZERO; n],
            obstacles: Obstacles::default(),
            times: MeshTimes::default(),
        })
    }

    /// Advances by a step. `roots` says where each column's root has gone by its end, from the rest shape.
    /// Columns that were put back on their rest shape are marked in `broken`.
    pub fn step(
        &mut self,
        env: &MeshEnvironment<'_>,
        roots: &[RigidTransform],
        broken: &mut [bool],
    ) -> MeshReport {
        let clock = Instant::now();
        self.learn_depth(env);
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
        report.broken = self.put_back_broken(broken);
        self.times.rest += clock.elapsed().as_secs_f64();
        report
    }

    /// Where vertices are groomed inside the body, they may stay as deep as that.
    fn learn_depth(&mut self, env: &MeshEnvironment<'_>) {
        if self.depth_is_known {
            return;
        }
        self.depth_is_known = true;
        self.pose_obstacles(env, env.dt, [0.0, 0.0]);
        for v in 0..self.x.len() {
            // The field is that at the end of the step: the body has hardly moved by then.
            self.depth[v] = self.obstacles.depth(self.x[v], env.field.as_ref());
        }
    }

    /// Poses the colliders for a substep, from one fraction of the step to another.
    fn pose_obstacles(&mut self, env: &MeshEnvironment<'_>, h: f32, fractions: [f32; 2]) {
        self.obstacles.pose(env.colliders, h, fractions);
    }

    /// Gives the roots the velocity that takes them the share `share` of the way to where they belong.
    fn follow_roots(&mut self, roots: &[RigidTransform], h: f32, share: f32) {
        for column in 0..self.roots.len() {
            let (from, mut to) = (self.roots[column], self.roots[column]);
            let finite = |t: &&RigidTransform| t.is_finite();
            if let Some(root) = roots.get(column).filter(finite) {
                to = *root;
            }
            if share < 1.0 {
                to = RigidTransform {
                    rotation: from.rotation.slerp(to.rotation, share),
                    translation: from.translation.lerp(to.translation, share),
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

    /// Forces and the matrix.
    fn assemble(&mut self, env: &MeshEnvironment<'_>, h: f32) {
        let all_alike = self.settings.damping.at(0.0);
        let largest = self.settings.damping.values().fold(0.0, f32::max);
        let still = env.wind.is_still();
        self.matrix.clear();
        for column in 0..self.roots.len() {
            let turn = Mat3A::from_quat(self.roots[column].rotation);
            let root = self.x[self.starts[column] as usize];
            let gravity = Vec3A::from(env.gravity);
            let wind = if still {
                Vec3A::ZERO
            } else {
                // Gusts are as large as a head: one per column is fine enough.
                Vec3A::from(env.wind.velocity_at(root.into(), env.time))
            };
            self.as_at_rest[column] = self.rests(column, gravity + wind * largest);
            for v in self.starts[column] as usize..self.starts[column + 1] as usize {
                let mass = self.elements.mass[v];
                let drag = *self.drag.get(v).unwrap_or(&all_alike);
                let mut own = gravity + turn * self.hold[v] + (wind - self.v[v]) * drag;
                let mut inertia = 1.0 + h * drag;
                // What holds a vertex at rest brings it back, too.
                let stiffness = self.hold_stiffness[v];
                own += (self.rest_target(column, v) - self.x[v] - self.v[v] * h) * stiffness;
                inertia += h * h * stiffness;
                // Add the restoring spring of a vertex that is stuck.
                if self.stuck[v] > 0.0 {
                    let displacement = self.restoring_displacement(column, v);
                    let pull = self.restoring_stiffness(v);
                    own += (displacement - self.v[v] * (h + RESTORING_TIME)) * pull;
                    inertia += h * (h + RESTORING_TIME) * pull;
                }
                self.right[v] = own * (h * mass);
                self.matrix.diagonal[v] = Mat3A::from_diagonal(Vec3::splat(mass * inertia));
            }
        }
        let implicit = Implicit { h, friction_time: self.settings.friction_time };
        let state = State {
            x: &self.x,
            v: &self.v,
            below: &self.below,
            open: &self.open,
            stuck: &self.stuck,
        };
        self.is_stuck.fill(false);
        let (matrix, right, is_stuck) = (&mut self.matrix, &mut self.right, &mut self.is_stuck);
        assemble(&self.elements, implicit, state, matrix, right, is_stuck);
        self.count_stuck(env, h);
    }

    /// The implicit solve with contacts as constraints, then new velocities and positions.
    fn solve(&mut self, env: &MeshEnvironment<'_>, h: f32) -> SolveReport {
        // Start from what the constraints prescribe. Starting from the last step's change would save a
        // tenth of the iterations, but what a solve leaves would then feed the next, and hair trembles.
        let mut touches = false;
        for v in 0..self.x.len() {
            self.change[v] = Vec3A::ZERO;
            if let Some(touch) = self.touch[v] {
                touches = true;
                let surface = self.obstacles.velocity(touch.solid, self.x[v], env.field.as_ref());
                self.change[v] = touch.normal * touch.normal.dot(surface - self.v[v]);
            }
        }
        // Put the constraints into the matrix, and note what their forces will be.
        if touches {
            self.matrix.multiply(&self.change, &mut self.moved);
            for v in 0..self.x.len() {
                let mut missing = self.right[v] - self.moved[v];
                if let Some(Touch { normal, .. }) = self.touch[v] {
                    missing -= normal * normal.dot(missing);
                    self.projected_diagonal[v] =
                        self.matrix.project_row(v, normal, &mut self.projected);
                }
                self.moved[v] = missing;
            }
            for v in 0..self.x.len() {
                if let Some(touch) = self.touch[v] {
                    self.matrix.constrain(v, touch.normal);
                }
            }
        }
        self.preconditioner.factor(&self.matrix);
        if let Some(coarse) = &mut self.coarse {
            coarse.fill(&self.matrix);
        }
        // What solves leave adds up: shorter steps must each leave less.
        let share = f64::from(h / LONG_STEP).min(1.0);
        for (allowed, whole) in self.allowed_energy.iter_mut().zip(&self.error_energy) {
            *allowed = whole * share * share;
        }
        let limits = Limits {
            absolute: &self.allowed_energy,
            relative: RELATIVE,
            iterations: self.settings.max_iterations,
        };
        let report = solve_columns(
            (&self.matrix, &self.preconditioner, self.coarse.as_mut()),
            if touches { &self.moved } else { &self.right },
            &mut self.change,
            |v, change| match &self.touch[v] {
                Some(touch) => change - touch.normal * touch.normal.dot(change),
                None => change,
            },
            &limits,
            &mut self.column_scratch,
        );
        for v in 0..self.x.len() {
            self.v[v] += self.change[v];
            if let Some(touch) = self.touch[v] {
                self.rub(v, touch, env, h);
            }
            self.x[v] += self.v[v] * h;
        }
        // Roots are exactly where the body has them.
        for column in 0..self.roots.len() {
            let v = self.starts[column] as usize;
            self.x[v] = self.roots[column].point(self.rest[v].into()).into();
        }
        report
    }

    /// Coulomb friction of a vertex on a surface, regularised at rest (`cani2006` 5.2 does so between
    /// wisps); the vertex leaves the surface if that would have to pull.
    fn rub(&mut self, v: usize, touch: Touch, env: &MeshEnvironment<'_>, h: f32) {
        // What the surface gave (kg m/s): what is missing in the vertex's own balance along the normal.
        let projected = (&self.projected[..], self.projected_diagonal[v]);
        let push = self.matrix.projected_times(v, projected.0, projected.1, &self.change)
            - touch.normal.dot(self.right[v]);
        if push <= 0.0 {
            // One step may be rounding, and what is let go too early falls back with a jolt.
            self.touch[v] = (!touch.is_loose).then_some(Touch { is_loose: true, ..touch });
            return;
        }
        self.touch[v] = Some(Touch { is_loose: false, ..touch });
        let surface = self.obstacles.velocity(touch.solid, self.x[v], env.field.as_ref());
        let sliding = self.v[v] - surface;
        let sliding = sliding - touch.normal * touch.normal.dot(sliding);
        let speed = sliding.length();
        let most = touch.friction * (push / self.elements.mass[v]).min(MAX_PRESSURE * h);
        self.v[v] -=
            sliding * regularised_friction_fraction(speed, most, self.settings.creep_speed);
    }

    /// Shortens edges along the hair that are too long, root to tip, and slows what is faster than hair
    /// can be.
    ///
    /// Model: every vertex is brought nearer to its predecessor, which is done already, and loses the
    /// speed at which it goes away from it (as `selle2008` 4.2). No hair crosses its own length in a step.
    pub(super) fn limit_stretch(&mut self, most: f32, h: f32) {
        for column in 0..self.roots.len() {
            let first = self.starts[column] as usize;
            let fastest = self.reach[column] / (MAX_STRAND_LENGTHS * h);
            for v in first + 1..self.starts[column + 1] as usize {
                let way = self.x[v] - self.x[v - 1];
                let allowed = self.rest[v].distance(self.rest[v - 1]) * (1.0 + most);
                let length = way.length();
                if length > allowed {
                    let u = way / length;
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

    /// Puts columns back on their rest shape that left the world or are no longer numbers.
    fn put_back_broken(&mut self, broken: &mut [bool]) -> u32 {
        let mut count = 0;
        for column in 0..self.roots.len() {
            let range = self.starts[column] as usize..self.starts[column + 1] as usize;
            let root = self.x[range.start];
            let points = range.map(|v| (self.x[v].distance_squared(root), self.v[v].is_finite()));
            let sane = is_sane(points, self.reach[column]);
            if let Some(broken) = broken.get_mut(column) {
                *broken = !sane;
            }
            if !sane {
                count += 1;
                self.put_on_rest(column);
            }
        }
        count
    }

    fn put_on_rest(&mut self, column: usize) {
        for v in self.starts[column] as usize..self.starts[column + 1] as usize {
            self.x[v] = self.roots[column].point(self.rest[v].into()).into();
            self.v[v] = Vec3A::ZERO;
            self.touch[v] = None;
            self.stuck[v] = 0.0;
            self.idle[v] = 0.0;
        }
    }

    /// Puts every column at rest on its rest shape, carried by the body.
    pub fn reset(&mut self, roots: &[RigidTransform]) {
        for (column, root) in roots.iter().enumerate().take(self.roots.len()) {
            self.roots[column] = *root;
            self.put_on_rest(column);
        }
        self.open.fill(false);
        self.depth_is_known = false;
        self.obstructed.known = false;
    }

    /// Carries the hair along with a jump of the body to where these roots are.
    pub fn teleport(&mut self, roots: &[RigidTransform]) {
        self.obstructed.known = false;
        for (column, to) in roots.iter().enumerate().take(self.roots.len()) {
            let motion = *to * self.roots[column].inverse();
            let turn = |d: Vec3A| Vec3A::from(motion.direction(d.into()));
            self.roots[column] = *to;
            for v in self.starts[column] as usize..self.starts[column + 1] as usize {
                self.x[v] = motion.point(self.x[v].into()).into();
                self.v[v] = turn(self.v[v]);
                if let Some(touch) = &mut self.touch[v] {
                    touch.normal = turn(touch.normal);
                }
            }
        }
    }

    /// Moves every vertex onto the root of its column and stops it: figure 8 of `wu2016`.
    pub fn collapse(&mut self) {
        for column in 0..self.roots.len() {
            let root = self.x[self.starts[column] as usize];
            for v in self.starts[column] as usize..self.starts[column + 1] as usize {
                (self.x[v], self.v[v]) = (root, Vec3A::ZERO);
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

/// Share of the way to the outside that a vertex inside keeps when the body pushes it.
const KEPT_INSIDE: f32 = 0.3;

/// How far from a surface each vertex is put (m): outer ones on it, inner ones in proportion to how deep they
/// lie in the hair.
fn clearance(rest: &[Vec3A], topology: &Topology) -> Vec<f32> {
    let outer = |v: usize| topology.exposure[v] == Exposure::External;
    let mut way: Vec<f32> =
        (0..rest.len()).map(|v| if outer(v) { 0.0 } else { f32::INFINITY }).collect();
    // Shortest ways along edges: a mesh is only a few edges thick.
    let edges = || topology.across.iter().chain(&topology.along);
    let mut changed = true;
    while changed {
        changed = false;
        for &[a, b] in edges() {
            let (a, b) = (a as usize, b as usize);
            let length = rest[a].distance(rest[b]);
            for (near, far) in [(a, b), (b, a)] {
                if way[near] + length < way[far] {
                    way[far] = way[near] + length;
                    changed = true;
                }
            }
        }
    }
    way.iter().map(|w| if w.is_finite() { KEPT_INSIDE * w } else { 0.0 }).collect()
}
