//! The input of a model in one step: gravity, wind, obstacles, and the poses of the roots.

mod field;
mod obstacle;
mod onward;
mod pins;
mod surface;
mod wind;

use glam::Vec3;

pub use self::field::{FieldMotion, FieldObstacle};
pub(crate) use self::obstacle::Nowhere;
pub use self::obstacle::{Link, Obstacle, ObstacleCollision};
pub(crate) use self::onward::Onward;
pub use self::pins::{PinTarget, Pins};
pub use self::surface::{Surface, SurfaceField};
pub use self::wind::{Gusts, Wind};

use crate::body::MovingCollider;
use crate::math::RigidTransform;

/// The input of a model during one step.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Time at the end of the step (s).
    pub time: f64,
    /// Length of the step (s).
    pub dt: f32,
    /// Acceleration of gravity (m/s^2).
    pub gravity: Vec3,
    /// Mean velocity and gusts of the air: see [`air_at`](Self::air_at).
    pub wind: &'a Wind,
    /// How far its gusts have drifted.
    pub gusts: Gusts,
    /// Per primitive that the model moves (strand, strip, column of a hair mesh): rigid transform of the scalp under its root
    /// at the end of the step, from the rest shape.
    pub world_from_rest: &'a [RigidTransform],
    /// Shapes that hair collides with.
    pub colliders: &'a [MovingCollider],
    /// Distance fields of the body's own surface and of other bodies, if hair collides with any.
    pub field: Option<FieldObstacle<'a>>,
    /// Pinned points, for a model that takes [pins](crate::model::Capabilities::pins).
    pub pins: Pins<'a>,
}

impl Environment<'_> {
    /// Velocity of the air at a place (m/s).
    pub fn air_at(&self, p: Vec3) -> Vec3 {
        self.wind.velocity_with(&self.gusts, p, self.time)
    }
}

/// The input of `grow`, which places the strands when a frame is read.
#[derive(Clone, Copy)]
pub struct GrowEnvironment<'a> {
    /// Per strand: rigid transform of the scalp under its root, from the rest shape.
    pub world_from_rest: &'a [RigidTransform],
    /// Distance fields of the body's own surface and of other bodies at the current poses, if hair collides with any.
    pub field: Option<FieldObstacle<'a>>,
}
