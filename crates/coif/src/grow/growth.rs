//! The stage `grow`: from what a model moves to all strands of the groom.
//!
//! Strands are bound once, into strips or into a hair mesh, and then follow what the model moves: `follow` after every
//! step, `positions` and `velocities` when somebody looks.

use std::sync::Mutex;

use glam::Vec3;

use super::body_shapes::BodyShapes;
use super::hair_mesh::Binding;
use super::strips::StripBinding;
use crate::Result;
use crate::body::MovingCollider;
use crate::environment::{FieldObstacle, GrowEnvironment};
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
    /// Where joints are, or how fast they move, in the order of the strips: scratch.
    joints: Mutex<StripPose>,
}

/// Strands that are bound into a hair mesh, and its vertices as of the last step: positions and velocities.
pub(crate) struct InHairMesh {
    binding: Binding,
    body: BodyShapes,
    vertices: [Vec<Vec3>; 2],
}

/// What a checkpoint holds of a growth.
pub(crate) struct SavedGrowth {
    body: BodyShapes,
    /// How far strands stay from the body (m), and whether that has been measured.
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
            Some(Carrier::HairMesh(mesh)) => {
                let vertices = vec![Vec3::ZERO; mesh.vertex_count()];
                Self::InHairMesh(Box::new(InHairMesh {
                    binding: Binding::new(mesh, &groom.strands)?,
                    body: BodyShapes::default(),
                    vertices: [vertices.clone(), vertices],
                }))
            }
        })
    }

    /// Before the first step: learns how far from the body the strands lie at rest. `world_from_rest` is a pose per
    /// primitive as it still is, colliders and surface are those of the step.
    pub(crate) fn measure_clearance(
        &mut self,
        model: &dyn Model,
        world_from_rest: &[RigidTransform],
        colliders: &[MovingCollider],
        field: Option<FieldObstacle<'_>>,
    ) {
        if let (Self::InStrips(strands), Some(Carrier::Strips(strips))) = (self, model.carrier())
            && !strands.binding.has_clearance
        {
            let InStrips { binding, joints, .. } = &mut **strands;
            let pose = joints.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            strips.pose(pose);
            binding.measure_clearance(pose, world_from_rest, &BodyAtRest::new(colliders, field));
        }
    }

    /// Takes on what a step of length `dt` (s) did: to what the model moves, and to the colliders. No colliders after
    /// a jump: strands are where they are carried to.
    pub(crate) fn follow(&mut self, model: &dyn Model, colliders: &[MovingCollider], dt: f32) {
        match self {
            Self::ByModel => {}
            // Joints are put in order when somebody looks.
            Self::InStrips(strands) => strands.body.pose(colliders, dt),
            Self::InHairMesh(strands) => {
                strands.body.pose(colliders, dt);
                strands.update(model);
            }
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

    /// Writes the positions of all points of the strands (m), in the groom's order.
    pub(crate) fn positions(&self, model: &dyn Model, env: &GrowEnvironment<'_>, out: &mut [Vec3]) {
        match (self, model.carrier()) {
            (Self::InStrips(strands), Some(Carrier::Strips(strips))) => {
                strands.with_joints(|joints| {
                    strips.pose(joints);
                    strands.binding.positions(joints, &strands.body.shapes, env, out);
                });
            }
            (Self::InHairMesh(strands), _) => {
                strands.binding.positions_outside(&strands.body.and(env.field.as_ref()), out);
            }
            _ => model.positions(out),
        }
    }

    /// Writes the velocities of all points of the strands (m/s), in the groom's order.
    pub(crate) fn velocities(&self, model: &dyn Model, out: &mut [Vec3]) {
        match self {
            Self::ByModel => model.velocities(out),
            Self::InStrips(strands) => strands.with_joints(|joints| {
                joints.position.resize(strands.binding.joint_count(), Vec3::ZERO);
                model.velocities(&mut joints.position);
                strands.binding.velocities(&joints.position, out);
            }),
            Self::InHairMesh(strands) => {
                strands.binding.velocities_outside(&strands.body.and(None), out);
            }
        }
    }

    /// Appends what steps have changed, for a checkpoint.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        match self {
            Self::ByModel => {}
            Self::InStrips(strands) => {
                strands.body.save(out);
                out.push(strands.binding.has_clearance.into());
                put_floats(out, strands.binding.room.iter().copied());
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
            saved.room = from.floats(strands.binding.room.len())?.collect();
        }
        from.0.is_empty().then_some(saved)
    }

    /// Goes back to what was saved, with a model that has done so.
    pub(crate) fn restore(&mut self, saved: SavedGrowth, model: &dyn Model) {
        match self {
            Self::ByModel => {}
            Self::InStrips(strands) => {
                strands.body = saved.body;
                strands.binding.has_clearance = saved.has_clearance;
                strands.binding.room = saved.room;
            }
            Self::InHairMesh(strands) => {
                strands.body = saved.body;
                strands.update(model);
            }
        }
    }
}

impl InStrips {
    /// Lends memory for joints. Whoever comes while another has it gets new.
    fn with_joints(&self, work: impl FnOnce(&mut StripPose)) {
        match self.joints.try_lock() {
            Ok(mut joints) => work(&mut joints),
            Err(_) => work(&mut StripPose::default()),
        }
    }
}

impl InHairMesh {
    /// Takes the vertices as the model has them now.
    fn update(&mut self, model: &dyn Model) {
        let [positions, velocities] = &mut self.vertices;
        model.positions(positions);
        model.velocities(velocities);
        self.binding.update(positions, velocities);
    }
}
