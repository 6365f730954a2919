//! The input of a model in one step: gravity, wind, obstacles, and the poses of the roots.

mod obstacle;
mod onward;
mod pins;
mod wind;

use glam::Vec3;

pub(crate) use self::obstacle::Nowhere;
pub use self::obstacle::{Link, Obstacle, ObstacleCollision};
pub(crate) use self::onward::Onward;
pub use self::pins::{PinTarget, Pins};
pub use self::wind::{Gusts, Wind};

use crate::body::MovingCollider;
use crate::body::distance_field::DistanceField;
use crate::body::level_set_time::LevelSetInTime;
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
    /// Distance field of the body's surface, if hair collides with it.
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
    /// Distance field of the body's surface at the current pose, if hair collides with it.
    pub field: Option<FieldObstacle<'a>>,
}

/// A body that hair collides with as a distance field.
#[derive(Clone, Copy)]
pub struct FieldObstacle<'a> {
    /// Distance to the surface at the end of the step, and its velocity.
    pub field: &'a DistanceField,
    /// Its motion in the step, for a model that [splits steps](crate::model::Capabilities::splits_steps).
    pub motion: Option<FieldMotion<'a>>,
    /// Coefficient of Coulomb friction.
    pub friction: f32,
    /// Restitution: fraction of the approach speed that is left after an impact.
    pub restitution: f32,
    /// Distance that hair keeps from the surface (m).
    pub skin: f32,
}

/// The motion of a field during a step.
#[derive(Clone, Copy)]
pub struct FieldMotion<'a> {
    /// Distance to the surface at the start of the step. Its velocity, and that of the field at the end,
    /// is the displacement of each point of the surface in this step, over the length of the step.
    pub start: &'a DistanceField,
    /// Speed of the fastest point of the surface (m/s).
    pub fastest: f32,
}

impl<'a> FieldObstacle<'a> {
    /// The surface at any time of a step of length `dt` (s), if its motion is known.
    pub(crate) fn in_time(&self, dt: f32) -> Option<LevelSetInTime<'a>> {
        self.motion.map(|motion| LevelSetInTime::new(motion.start, self.field, dt))
    }
}
