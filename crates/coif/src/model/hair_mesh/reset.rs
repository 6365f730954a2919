//! Columns with prescribed positions: reset to their rest shape, teleported with the body,
//! or collapsed onto their roots.

use glam::Vec3A;

use super::dynamics::MeshDynamics;
use crate::math::RigidTransform;
use crate::model::quarantine::is_sane;

impl MeshDynamics {
    /// Resets columns to their rest shape that are out of range, not finite, or grow where `roots` has no
    /// finite pose.
    pub(super) fn reset_broken(&mut self, roots: &[RigidTransform], broken: &mut [bool]) -> u32 {
        let mut count = 0;
        for column in 0..self.roots.len() {
            let range = self.starts[column] as usize..self.starts[column + 1] as usize;
            let root = self.x[range.start];
            let points = range.map(|v| (self.x[v].distance_squared(root), self.v[v].is_finite()));
            let grows = roots.get(column).is_none_or(RigidTransform::is_finite);
            let sane = grows && is_sane(points, self.reach[column]);
            if let Some(broken) = broken.get_mut(column) {
                *broken = !sane;
            }
            if !sane {
                count += 1;
                self.reset_column(column);
            }
        }
        count
    }

    fn reset_column(&mut self, column: usize) {
        for v in self.starts[column] as usize..self.starts[column + 1] as usize {
            self.x[v] = self.roots[column].point(self.rest[v].into()).into();
            self.v[v] = Vec3A::ZERO;
            self.collision[v] = None;
            self.stuck[v] = 0.0;
            self.idle[v] = 0.0;
        }
    }

    /// Puts every column at rest on its rest shape, carried by the body.
    pub fn reset(&mut self, roots: &[RigidTransform]) {
        for (column, root) in roots.iter().enumerate().take(self.roots.len()) {
            self.roots[column] = *root;
            self.reset_column(column);
        }
        self.open.fill(false);
        self.depth_is_known = false;
        self.obstructed.known = false;
    }

    /// Carries the hair along with a teleport of the body to these roots.
    pub fn teleport(&mut self, roots: &[RigidTransform]) {
        self.obstructed.known = false;
        for (column, to) in roots.iter().enumerate().take(self.roots.len()) {
            let motion = *to * self.roots[column].inverse();
            let turn = |d: Vec3A| Vec3A::from(motion.direction(d.into()));
            self.roots[column] = *to;
            for v in self.starts[column] as usize..self.starts[column + 1] as usize {
                self.x[v] = motion.point(self.x[v].into()).into();
                self.v[v] = turn(self.v[v]);
                if let Some(collision) = &mut self.collision[v] {
                    collision.normal = turn(collision.normal);
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
}
