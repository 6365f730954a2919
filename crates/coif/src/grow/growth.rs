//! The stage `grow`: from what a model moves to all strands of the groom.

use glam::Vec3;

use super::hair_mesh::Binding;
use crate::Result;
use crate::environment::GrowEnvironment;
use crate::groom::Groom;
use crate::model::{Carrier, Model};

/// How the strands of a groom are placed.
pub(crate) enum Growth {
    /// Where the model has them, or where its strips carry them.
    ByModel,
    /// In a hair mesh.
    InHairMesh(Box<InHairMesh>),
}

/// Strands that are bound into a hair mesh, and its vertices as they were seen last: positions and velocities.
pub(crate) struct InHairMesh {
    binding: Binding,
    vertices: [Vec<Vec3>; 2],
}

impl Growth {
    /// For the groom that a model was built for.
    pub(crate) fn new(groom: &Groom, model: &dyn Model) -> Result<Self> {
        let Some(Carrier::HairMesh(mesh)) = model.carrier() else { return Ok(Self::ByModel) };
        let binding = Binding::new(mesh.mesh(), &groom.strands)?;
        let vertices = vec![Vec3::ZERO; mesh.mesh().vertex_count()];
        let vertices = [vertices.clone(), vertices];
        let mut growth = Self::InHairMesh(Box::new(InHairMesh { binding, vertices }));
        growth.follow(model);
        Ok(growth)
    }

    /// Takes on where the model has moved its primitives.
    pub(crate) fn follow(&mut self, model: &dyn Model) {
        if let Self::InHairMesh(strands) = self {
            let InHairMesh { binding, vertices: [positions, velocities] } = &mut **strands;
            model.positions(positions);
            model.velocities(velocities);
            binding.update(positions, velocities);
        }
    }

    /// Writes the positions of all points of the strands (m), in the groom's order.
    pub(crate) fn positions(&self, model: &dyn Model, env: &GrowEnvironment<'_>, out: &mut [Vec3]) {
        match (self, model.carrier()) {
            (Self::InHairMesh(strands), Some(Carrier::HairMesh(mesh))) => {
                strands.binding.positions_outside(&mesh.obstacle(env.field.as_ref()), out);
            }
            (_, Some(Carrier::Strips(strips))) => strips.strand_positions(env, out),
            _ => model.positions(out),
        }
    }

    /// Writes the velocities of all points of the strands (m/s), in the groom's order.
    pub(crate) fn velocities(&self, model: &dyn Model, out: &mut [Vec3]) {
        match (self, model.carrier()) {
            (Self::InHairMesh(strands), Some(Carrier::HairMesh(mesh))) => {
                strands.binding.velocities_outside(&mesh.obstacle(None), out);
            }
            (_, Some(Carrier::Strips(strips))) => strips.strand_velocities(out),
            _ => model.velocities(out),
        }
    }
}
