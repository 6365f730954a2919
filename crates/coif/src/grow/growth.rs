//! The stage `grow`: from what a model moves to all strands of the groom.
//!
//! Strands are bound once, into strips or into a hair mesh, and then follow what the model moves: `follow` after every
//! step, `positions` and `velocities` when they are read.

use std::sync::Mutex;

use fearless_simd::Level;
use glam::Vec3;

use super::body_shapes::BodyShapes;
use super::hair_mesh::{Binding, MeshState};
use super::strips::{Joints, StripBinding};
use crate::Result;
use crate::body::MovingCollider;
use crate::environment::{FieldObstacle, GrowEnvironment, Onward};
use crate::groom::Groom;
use crate::groom::strips::StripPose;
use crate::math::RigidTransform;
use crate::math::bytes::{Reader, put_floats};
use crate::model::cantilever::BodyAtRest;
use crate::model::{Carrier, Model};

/// How the strands of a groom are placed.
pub(crate) enum Growth {
    /// The model moves them itself.
    ByModel,
    /// In strips.
    InStrips(Box<InStrips>),
    /// In a hair mesh.
    InHairMesh(Box<InHairMesh>),
}

/// Strands that are bound into strips.
pub(crate) struct InStrips {
    pub(super) binding: StripBinding,
    body: BodyShapes,
    /// In the order of the strips: scratch.
    joints: Mutex<StripScratch>,
}

/// Positions and velocities of joints.
#[derive(Default)]
struct StripScratch {
    pose: StripPose,
    velocities: Vec<Vec3>,
}

/// Strands that are bound into a hair mesh.
pub(crate) struct InHairMesh {
    binding: Binding,
    body: BodyShapes,
    mesh: Mutex<MeshScratch>,
}

/// Positions and velocities of the vertices of a hair mesh: scratch.
#[derive(Default)]
struct MeshScratch {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    state: MeshState,
}

/// What a checkpoint holds of a growth.
pub(crate) struct SavedGrowth {
    body: BodyShapes,
    /// Clearance of strands from the body (m), and whether that has been measured.
    room: Vec<f32>,
    has_clearance: bool,
}

impl Growth {
    /// For the groom that a model was built for.
    pub(crate) fn new(groom: &Groom, model: &dyn Model) -> Result<Self> {
        Ok(match model.carrier() {
            None => Self::ByModel,
            Some(Carrier::Strips(model)) => Self::InStrips(Box::new(InStrips {
                binding: StripBinding::new(groom, model.strips()),
                body: BodyShapes::default(),
                joints: Mutex::default(),
            })),
            Some(Carrier::HairMesh(mesh)) => Self::InHairMesh(Box::new(InHairMesh {
                binding: Binding::new(mesh, &groom.strands)?,
                body: BodyShapes::default(),
                mesh: Mutex::default(),
            })),
        })
    }

    /// Before the first step: measures the clearance of the strands from the body at rest. `world_from_rest` is the current
    /// pose per primitive, colliders and surface are those of the step.
    pub(crate) fn measure_clearance(
        &mut self,
        model: &dyn Model,
        world_from_rest: &[RigidTransform],
        colliders: &[MovingCollider],
        field: Option<FieldObstacle<'_>>,
    ) {
        if let (Self::InStrips(strands), Some(Carrier::Strips(strips))) = (self, model.carrier())
            && !strands.binding.clearance().1
        {
            let InStrips { binding, joints, .. } = &mut **strands;
            let StripScratch { pose, .. } =
                joints.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            strips.pose(pose);
            binding.measure_clearance(pose, world_from_rest, &BodyAtRest::new(colliders, field));
        }
    }

    /// Updates the colliders after a step of length `dt` (s). None after a teleport: strands are where they are
    /// carried to. Positions are computed when they are read.
    pub(crate) fn follow(&mut self, colliders: &[MovingCollider], dt: f32) {
        match self {
            Self::ByModel => {}
            Self::InStrips(strands) => strands.body.pose(colliders, dt),
            Self::InHairMesh(strands) => strands.body.pose(colliders, dt),
        }
    }

    /// The primitives that carry a strand, some of them twice where there are fewer than four.
    pub(crate) fn carriers(&self, model: &dyn Model, strand: usize) -> [usize; 4] {
        match (self, model.carrier()) {
            (Self::InStrips(strands), _) => [strands.binding.strip_of(strand); 4],
            (Self::InHairMesh(strands), Some(Carrier::HairMesh(mesh))) => {
                strands.binding.columns_of(mesh, strand)
            }
            _ => [strand; 4],
        }
    }

    /// Writes the positions of all points of the strands (m), in the groom's order: at the end of the last step, or
    /// onward from there, which strands that the model moves itself do not do here.
    pub(crate) fn positions(
        &self,
        model: &dyn Model,
        env: &GrowEnvironment<'_>,
        onward: Option<&Onward<'_>>,
        out: &mut [Vec3],
    ) {
        match (self, model.carrier()) {
            (Self::InStrips(strands), Some(Carrier::Strips(strips))) => {
                lend(&strands.joints, |StripScratch { pose, velocities }| {
                    strips.pose(pose);
                    if let Some(onward) = onward {
                        velocities.resize(pose.position.len(), Vec3::ZERO);
                        model.velocities(velocities);
                        let first = strips.strips().edges.first_points();
                        let StripPose { position, tangent, binormal } = pose;
                        let velocity = &velocities[..];
                        let joints = Joints { position, tangent, binormal, velocity };
                        let strips = 0..first.len().saturating_sub(1);
                        joints.go_on(strips, first, onward, Level::new());
                    }
                    strands.binding.positions(pose, &strands.body.shapes, env, onward, out);
                });
            }
            (Self::InHairMesh(strands), Some(Carrier::HairMesh(mesh))) => {
                lend(&strands.mesh, |MeshScratch { positions, velocities, state }| {
                    positions.resize(mesh.vertex_count(), Vec3::ZERO);
                    model.positions(positions);
                    if let Some(onward) = onward {
                        velocities.resize(mesh.vertex_count(), Vec3::ZERO);
                        model.velocities(velocities);
                        for column in 0..mesh.column_count() {
                            let goes_on = onward.beside_scalp(column);
                            for v in mesh.columns.points_of(column) {
                                positions[v] = goes_on(positions[v], velocities[v]);
                            }
                        }
                    }
                    let obstacle = strands.body.and(env.field.as_ref());
                    strands.binding.positions_of(positions, state, &obstacle, onward, out);
                });
            }
            _ => model.positions(out),
        }
    }

    /// Writes the velocities of all points of the strands (m/s), in the groom's order.
    pub(crate) fn velocities(&self, model: &dyn Model, out: &mut [Vec3]) {
        match self {
            Self::ByModel => model.velocities(out),
            Self::InStrips(strands) => {
                lend(&strands.joints, |StripScratch { velocities, .. }| {
                    velocities.resize(strands.binding.joint_count(), Vec3::ZERO);
                    model.velocities(velocities);
                    strands.binding.velocities(velocities, out);
                })
            }
            Self::InHairMesh(strands) => {
                let Some(Carrier::HairMesh(mesh)) = model.carrier() else { return };
                lend(&strands.mesh, |MeshScratch { positions, velocities, state }| {
                    positions.resize(mesh.vertex_count(), Vec3::ZERO);
                    velocities.resize(mesh.vertex_count(), Vec3::ZERO);
                    model.positions(positions);
                    model.velocities(velocities);
                    let obstacle = strands.body.and(None);
                    let vertices = [&positions[..], &velocities[..]];
                    strands.binding.velocities_of(vertices, state, &obstacle, out);
                });
            }
        }
    }

    /// Appends what steps have changed, for a checkpoint.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        match self {
            Self::ByModel => {}
            Self::InStrips(strands) => {
                strands.body.save(out);
                let (room, has_clearance) = strands.binding.clearance();
                out.push(has_clearance.into());
                put_floats(out, room.iter().copied());
            }
            Self::InHairMesh(strands) => strands.body.save(out),
        }
    }

    /// Reads what [`Growth::save`] wrote; `None` if it is something else.
    pub(crate) fn read(&self, bytes: &[u8]) -> Option<SavedGrowth> {
        let mut from = Reader(bytes);
        let body = match self {
            Self::ByModel => BodyShapes::default(),
            _ => BodyShapes::read(&mut from)?,
        };
        let mut saved = SavedGrowth { body, room: Vec::new(), has_clearance: false };
        if let Self::InStrips(strands) = self {
            saved.has_clearance = from.u8()? != 0;
            saved.room = from.floats(strands.binding.clearance().0.len())?.collect();
        }
        from.0.is_empty().then_some(saved)
    }

    /// Goes back to what was saved.
    pub(crate) fn restore(&mut self, saved: SavedGrowth) {
        match self {
            Self::ByModel => {}
            Self::InStrips(strands) => {
                strands.body = saved.body;
                strands.binding.set_clearance(saved.room, saved.has_clearance);
            }
            Self::InHairMesh(strands) => strands.body = saved.body,
        }
    }
}

/// Lends memory; concurrent callers get new memory.
fn lend<T: Default>(memory: &Mutex<T>, work: impl FnOnce(&mut T)) {
    match memory.try_lock() {
        Ok(mut memory) => work(&mut memory),
        Err(_) => work(&mut T::default()),
    }
}
