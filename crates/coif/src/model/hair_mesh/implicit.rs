//! The implicit step of a hair mesh: forces and matrix, the solve with contacts as constraints, and friction from the
//! constraint forces.

use glam::{Mat3A, Vec3, Vec3A};

use super::assemble::{Implicit, State, assemble};
use super::dynamics::{MeshDynamics, MeshEnvironment, VertexCollision};
use super::restoring_spring::RESTORING_TIME;
use crate::collide::response::regularised_friction_fraction;
use crate::math::SolveReport;
use crate::math::sparse::{Limits, solve_columns};

/// Largest contact pressure that friction is computed from, as an acceleration (m/s^2): five times the hair's weight.
/// Without it, hair that is drawn tight over an edge would stay there by its own friction.
const MAX_PRESSURE: f32 = 50.0;

/// Length of a step (s) with the whole tolerance.
const LONG_STEP: f32 = 1.0 / 60.0;

impl MeshDynamics {
    /// Forces and the matrix.
    pub(super) fn assemble(&mut self, env: &MeshEnvironment<'_>, h: f32) {
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
                // Gusts are as large as a head: one sample per column is fine enough.
                Vec3A::from(env.wind.velocity_with(&env.gusts, root.into(), env.time))
            };
            self.as_at_rest[column] = self.rests(column, gravity + wind * largest);
            for v in self.starts[column] as usize..self.starts[column + 1] as usize {
                let mass = self.elements.mass[v];
                let drag = *self.drag.get(v).unwrap_or(&all_alike);
                let mut own = gravity + turn * self.hold[v] + (wind - self.v[v]) * drag;
                let mut inertia = 1.0 + h * drag;
                // Add the spring that holds the vertex at rest.
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
                self.rhs[v] = own * (h * mass);
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
        let (matrix, rhs, is_stuck) = (&mut self.matrix, &mut self.rhs, &mut self.is_stuck);
        assemble(&self.elements, implicit, state, matrix, rhs, is_stuck);
        self.count_stuck(env, h);
    }

    /// The implicit solve with contacts as constraints, then new velocities and positions.
    pub(super) fn solve(&mut self, env: &MeshEnvironment<'_>, h: f32) -> SolveReport {
        // Start from the prescribed changes. Starting from the last step's change would save a tenth of the iterations,
        // but residuals would enter the next step, and hair oscillates.
        let mut any_collision = false;
        for v in 0..self.x.len() {
            self.change[v] = Vec3A::ZERO;
            if let Some(collision) = self.collision[v] {
                any_collision = true;
                let surface =
                    self.obstacles.velocity(collision.solid, self.x[v], env.field.as_ref());
                self.change[v] = collision.normal * collision.normal.dot(surface - self.v[v]);
            }
        }
        // Apply the constraints to the matrix, and store the rows of their forces.
        if any_collision {
            self.matrix.multiply(&self.change, &mut self.moved);
            for v in 0..self.x.len() {
                let mut missing = self.rhs[v] - self.moved[v];
                if let Some(VertexCollision { normal, .. }) = self.collision[v] {
                    missing -= normal * normal.dot(missing);
                    self.projected_diagonal[v] =
                        self.matrix.project_row(v, normal, &mut self.projected);
                }
                self.moved[v] = missing;
            }
            for v in 0..self.x.len() {
                if let Some(collision) = self.collision[v] {
                    self.matrix.constrain(v, collision.normal);
                }
            }
        }
        self.preconditioner.factor(&self.matrix);
        if let Some(coarse) = &mut self.coarse {
            coarse.fill(&self.matrix);
        }
        // Residuals accumulate: shorter steps must each leave less.
        let fraction = f64::from(h / LONG_STEP).min(1.0);
        for (allowed, whole) in self.allowed_energy.iter_mut().zip(&self.error_energy) {
            *allowed = whole * fraction * fraction;
        }
        let limits = Limits {
            absolute: &self.allowed_energy,
            relative: f64::from(self.settings.relative_tolerance).powi(2),
            iterations: self.settings.max_iterations,
        };
        let report = solve_columns(
            (&self.matrix, &self.preconditioner, self.coarse.as_mut()),
            if any_collision { &self.moved } else { &self.rhs },
            &mut self.change,
            |v, change| match &self.collision[v] {
                Some(collision) => change - collision.normal * collision.normal.dot(change),
                None => change,
            },
            &limits,
            &mut self.column_scratch,
        );
        for v in 0..self.x.len() {
            self.v[v] += self.change[v];
            if let Some(collision) = self.collision[v] {
                self.apply_friction(v, collision, env, h);
            }
            self.x[v] += self.v[v] * h;
        }
        // Set roots exactly to the body.
        for column in 0..self.roots.len() {
            let v = self.starts[column] as usize;
            self.x[v] = self.roots[column].point(self.rest[v].into()).into();
        }
        report
    }

    /// Coulomb friction of a vertex on a surface, regularised at rest (`cani2006` 5.2 does so between
    /// wisps); the vertex leaves the surface if the contact force would be attractive.
    fn apply_friction(
        &mut self,
        v: usize,
        collision: VertexCollision,
        env: &MeshEnvironment<'_>,
        h: f32,
    ) {
        // Contact impulse (kg m/s): the residual of the vertex's own balance along the normal.
        let projected = (&self.projected[..], self.projected_diagonal[v]);
        let push = self.matrix.projected_times(v, projected.0, projected.1, &self.change)
            - collision.normal.dot(self.rhs[v]);
        if push <= 0.0 {
            // A single step may be rounding, and a contact that is released too early falls back with a jolt.
            self.collision[v] =
                (!collision.is_loose).then_some(VertexCollision { is_loose: true, ..collision });
            return;
        }
        self.collision[v] = Some(VertexCollision { is_loose: false, ..collision });
        let surface = self.obstacles.velocity(collision.solid, self.x[v], env.field.as_ref());
        let sliding = self.v[v] - surface;
        let sliding = sliding - collision.normal * collision.normal.dot(sliding);
        let speed = sliding.length();
        let max_change = collision.friction * (push / self.elements.mass[v]).min(MAX_PRESSURE * h);
        self.v[v] -=
            sliding * regularised_friction_fraction(speed, max_change, self.settings.creep_speed);
    }
}
