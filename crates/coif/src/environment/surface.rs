//! The surface of a body as something that hair collides with: its mesh at every step, and the distance
//! field around it.
//!
//! For a model with substeps it keeps the field at the start of the step as well: the
//! one that was built for the end of the step before. Velocities are how far each vertex goes in the
//! step, over its length, in both fields, so that a point on one surface moves to the other.

use glam::{Affine3A, Vec3};

use super::{FieldMotion, FieldObstacle};
use crate::Result;
use crate::body::distance_field::{self, DistanceField};
use crate::body::{Body, BodyPose};

/// How hair collides with the surface of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Resolution and extent of the distance field.
    pub field: distance_field::Settings,
    /// Coulomb friction.
    pub friction: f32,
    /// Restitution: fraction of the approach speed that is left after an impact, 0..1.
    pub restitution: f32,
}

impl Default for Surface {
    fn default() -> Self {
        // The field is sampled inside of the body or next to it only.
        let field = distance_field::Settings { reach: 0.06, ..Default::default() };
        Self { field, friction: 0.3, restitution: 0.0 }
    }
}

/// The mesh of a body and its field, as they move.
pub struct SurfaceField {
    field: DistanceField,
    /// At the start of the step, for a model with substeps.
    start: Option<DistanceField>,
    /// Speed of the fastest vertex in the step (m/s), for a model with substeps.
    fastest: f32,
    friction: f32,
    restitution: f32,
    skin: f32,
    /// For how many steps the mesh has stood still.
    stood: u32,
    bones: Vec<Affine3A>,
    before: Vec<Vec3>,
    now: Vec<Vec3>,
    velocity: Vec<Vec3>,
}

impl SurfaceField {
    /// With the field at the start of each step, if `in_substeps`. Hair keeps a distance of `skin` (m).
    pub(crate) fn new(
        body: &Body,
        settings: &Surface,
        in_substeps: bool,
        skin: f32,
    ) -> Result<Self> {
        let field = || DistanceField::new(body.solid(), &settings.field);
        Ok(Self {
            field: field()?,
            start: in_substeps.then(field).transpose()?,
            fastest: 0.0,
            friction: settings.friction,
            restitution: settings.restitution,
            skin,
            stood: 0,
            bones: Vec::new(),
            before: Vec::new(),
            now: Vec::new(),
            velocity: Vec::new(),
        })
    }

    /// Resets to a pose, moved by `offset` (m), without velocity.
    pub(crate) fn reset(&mut self, body: &Body, pose: BodyPose<'_>, offset: Vec3) {
        self.pose(body, pose, offset);
        self.before.clone_from(&self.now);
        self.stood = 0;
        self.build(1.0);
    }

    /// Resets to positions of the vertices (m), without velocity.
    pub(crate) fn reset_to(&mut self, vertices: &[Vec3]) {
        self.now.clear();
        self.now.extend_from_slice(vertices);
        self.before.clone_from(&self.now);
        self.stood = 0;
        self.build(1.0);
    }

    /// Moves all vertices by `by` (m), for an origin that has moved by its negative.
    pub(crate) fn shift(&mut self, by: Vec3) {
        self.now.iter_mut().for_each(|p| *p += by);
        self.before.clone_from(&self.now);
        self.stood = 0;
        self.build(1.0);
    }

    /// Follows the body to the end of a step of length `dt` (s), where it is moved by `offset` (m).
    pub(crate) fn follow(&mut self, body: &Body, end: BodyPose<'_>, offset: Vec3, dt: f32) {
        std::mem::swap(&mut self.before, &mut self.now);
        self.pose(body, end, offset);
        // From the second step at rest on all fields are as they would be built.
        self.stood = if self.now == self.before { self.stood.saturating_add(1) } else { 0 };
        if self.stood >= 2 {
            return;
        }
        // The end of the last step is the start of this one.
        if let Some(start) = &mut self.start {
            std::mem::swap(start, &mut self.field);
        }
        self.build(dt);
        if let Some(start) = &mut self.start {
            start.set_velocities(&self.velocity);
            let speed2 = self.velocity.iter().map(|v| v.length_squared());
            self.fastest = speed2.fold(0.0, f32::max).sqrt();
        }
    }

    fn pose(&mut self, body: &Body, pose: BodyPose<'_>, offset: Vec3) {
        self.now.clear();
        let vertices = 0..body.rest().positions.len();
        body.vertices_in(pose, vertices, &mut self.bones, &mut self.now);
        if offset != Vec3::ZERO {
            self.now.iter_mut().for_each(|p| *p += offset);
        }
    }

    fn build(&mut self, dt: f32) {
        self.velocity.clear();
        let moved = self.now.iter().zip(&self.before).map(|(now, before)| (*now - *before) / dt);
        self.velocity.extend(moved);
        self.field.rebuild(&self.now, &self.velocity);
    }

    /// Positions of the body's vertices at the end of the step (m).
    pub(crate) fn vertices(&self) -> &[Vec3] {
        &self.now
    }

    pub(crate) fn field(&self) -> &DistanceField {
        &self.field
    }

    /// The surface alone as an obstacle.
    pub fn obstacle(&self) -> FieldObstacle<'_> {
        FieldObstacle {
            motion: self.start.as_ref().map(|start| FieldMotion { start, fastest: self.fastest }),
            friction: self.friction,
            restitution: self.restitution,
            ..FieldObstacle::new(&self.field, self.skin)
        }
    }
}
