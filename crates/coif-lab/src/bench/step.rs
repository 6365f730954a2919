//! The environment of one step, prepared outside of the timing.

use coif::body::MovingCollider;
use coif::math::RigidTransform;
use coif::model::Environment;
use coif::simulation::Wind;
use glam::Vec3;

/// One step of a motion.
pub(super) struct Step {
    /// Number of steps before it.
    pub(super) index: usize,
    /// Its length (s).
    pub(super) dt: f32,
    pub(super) roots: Vec<RigidTransform>,
    pub(super) colliders: Vec<MovingCollider>,
}

impl Step {
    pub(super) fn environment<'a>(&'a self, gravity: Vec3, wind: &'a Wind) -> Environment<'a> {
        Environment {
            time: (self.index + 1) as f64 * f64::from(self.dt),
            dt: self.dt,
            gravity,
            wind,
            world_from_rest: &self.roots,
            colliders: &self.colliders,
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        }
    }
}
