//! Contact of a hair mesh with the body: position correction, deformation minimisation, velocities.

use std::time::Instant;

use glam::Vec3A;

use super::dynamics::{MeshDynamics, MeshEnvironment, VertexCollision};
use super::obstacles::Hit;
use super::report::MeshReport;
use crate::collide::response::{friction_fraction, rebound_speed};
use crate::groom::hair_mesh::Exposure;
use crate::math::sparse::modified_conjugate_gradient::Constraint;

/// Rounds in which vertices that minimisation left inside are pushed out and the change is distributed
/// again. After the last they are only pushed out.
const ROUNDS: usize = 2;

/// Largest stretch that contact may give an edge along the hair, as a fraction of its length: hair may be snagged.
const MAX_STRETCH: f32 = 0.3;

/// Tolerance of minimisation (m): a tenth of a millimetre on the mean.
const TOLERANCE: f32 = 1e-4;

impl MeshDynamics {
    /// Pushes vertices out of the body and distributes the displacement over the shape.
    ///
    /// Model: outer vertices inside the body go to its surface; all others follow so that edges change
    /// as little as possible; only velocities into the surface change.
    /// Source: `wu2016` 3.2, figure 4.
    /// Deviations: the paper stops there, and notes that minimisation can leave vertices inside. Here
    /// all vertices are tested again, inner ones pushed out by as much more as they lie deeper in
    /// the hair, and the change distributed anew with them pinned too, a few times.
    pub(super) fn collide(&mut self, env: &MeshEnvironment<'_>, h: f32, report: &mut MeshReport) {
        let clock = Instant::now();
        self.free_all();
        if self.settings.self_collision {
            self.keep_bundles_apart(h, report);
            self.free_all();
        }
        let found = self.correct_outer(env);
        report.corrected += found;
        self.times.collision += clock.elapsed().as_secs_f64();
        if found > 0 {
            self.distribute(self.settings.minimise, report);
        }
        for round in 0..ROUNDS {
            if round + 1 == ROUNDS && report.corrected > 0 {
                self.limit_stretch(MAX_STRETCH, h);
            }
            if !self.settings.clear_inside {
                continue;
            }
            let clock = Instant::now();
            let left = self.correct_rest(env);
            report.corrected += left;
            self.times.collision += clock.elapsed().as_secs_f64();
            if left > 0 {
                let is_last = round + 1 == ROUNDS;
                self.distribute(self.settings.minimise && !is_last, report);
                report.inside += if is_last { self.count_inside(env) } else { 0 };
            }
        }
        self.free_all();
    }

    /// Unpins all vertices but the roots.
    fn free_all(&mut self) {
        self.constraint.fill(Constraint::Free);
        for root in &self.starts[..self.starts.len() - 1] {
            self.constraint[*root as usize] = Constraint::Pinned;
        }
    }

    /// Corrects outer vertices that are inside the body: `moved` are their displacements, and they are pinned.
    fn correct_outer(&mut self, env: &MeshEnvironment<'_>) -> u32 {
        let mut found = 0;
        let field = env.field.as_ref();
        self.moved.fill(Vec3A::ZERO);
        for v in 0..self.x.len() {
            let pinned = self.constraint[v] == Constraint::Pinned;
            if pinned || self.exposure[v] == Exposure::Internal {
                continue;
            }
            if self.may_pass(v) {
                self.collision[v] = None;
                continue;
            }
            let (before, allowed) = (self.before[v], self.allowed(v));
            let hit = self.obstacles.push_out(Some(before), self.x[v], -allowed, field);
            if let Some(hit) = hit {
                found += 1;
                self.moved[v] = hit.point - self.x[v];
                self.constraint[v] = Constraint::Pinned;
                self.resolve_collision(v, &hit);
            } else if let Some(collision) = self.collision[v] {
                // Update the normal, or drop the contact.
                let normal =
                    self.obstacles.resting_normal(collision.solid, self.x[v], allowed, field);
                self.collision[v] = normal.map(|normal| VertexCollision { normal, ..collision });
            }
        }
        found
    }

    /// Velocity of a vertex after a collision: restitution along the normal, friction along the surface.
    fn resolve_collision(&mut self, v: usize, hit: &Hit) {
        let relative = self.friction.get(v).copied();
        let friction = relative.unwrap_or(self.settings.friction.at(0.0)) * hit.friction;
        let relative = self.v[v] - hit.velocity;
        let into = -relative.dot(hit.normal);
        // The approach is that before the forces of the substep.
        let arriving = (relative - self.change[v]).dot(hit.normal);
        let bounce = rebound_speed(arriving, hit.restitution.max(self.settings.restitution));
        if into > 0.0 {
            let sliding = relative + hit.normal * into;
            let limit = friction * (into + bounce);
            let kept = 1.0 - friction_fraction(sliding.length(), limit);
            self.v[v] = hit.velocity + sliding * kept + hit.normal * bounce;
        }
        let (normal, solid) = (hit.normal, hit.solid);
        let stays = bounce <= 0.0;
        self.collision[v] =
            stays.then_some(VertexCollision { normal, solid, friction, is_loose: false });
    }

    /// Corrects all vertices that are inside the body after minimisation, inner ones as well.
    fn correct_rest(&mut self, env: &MeshEnvironment<'_>) -> u32 {
        let mut found = 0;
        let field = env.field.as_ref();
        self.moved.fill(Vec3A::ZERO);
        for v in 0..self.x.len() {
            if self.is_root(v) || self.may_pass(v) {
                continue;
            }
            let allowed = self.allowed(v);
            if self.obstacles.push_out(None, self.x[v], -allowed, field).is_none() {
                continue;
            }
            let room = if allowed > 0.0 { -allowed } else { self.clearance[v] };
            if let Some(hit) = self.obstacles.push_out(None, self.x[v], room, field) {
                found += 1;
                self.moved[v] = hit.point - self.x[v];
                self.constraint[v] = Constraint::Pinned;
                let into = (self.v[v] - hit.velocity).dot(hit.normal).min(0.0);
                self.v[v] -= hit.normal * into;
            }
        }
        found
    }

    /// How many vertices are deeper in the body than they may be.
    fn count_inside(&self, env: &MeshEnvironment<'_>) -> u32 {
        let inside = |v: &usize| {
            let free = !self.is_root(*v) && !self.may_pass(*v);
            let (x, allowed) = (self.x[*v], self.allowed(*v));
            free && self.obstacles.push_out(None, x, -allowed, env.field.as_ref()).is_some()
        };
        (0..self.x.len()).filter(inside).count() as u32
    }

    /// Moves vertices that were corrected, and with deformation minimisation all others after them.
    pub(super) fn distribute(&mut self, with_all: bool, report: &mut MeshReport) {
        let clock = Instant::now();
        if with_all {
            let (constraint, zero, scratch) = (&self.constraint, &self.zero, &mut self.scratch);
            let solve =
                self.minimiser.spread(constraint, zero, &mut self.moved, TOLERANCE, scratch);
            report.minimise_iterations += solve.iterations;
        }
        for (x, moved) in self.x.iter_mut().zip(&self.moved) {
            *x += *moved;
        }
        self.times.minimise += clock.elapsed().as_secs_f64();
    }
}
