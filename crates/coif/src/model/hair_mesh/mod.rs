//! Hair meshes: hair as a volume of prisms that keeps its shape and springs back (`wu2016`).
//!
//! The vertices of a [`crate::groom::HairMesh`] move as cloth does (`baraff1998`): stretch,
//! shear and bending conditions on its faces, and a volume condition in the corners of its prisms, one
//! implicit step at a time ([`dynamics`](MeshDynamics)). Strands are not simulated: each keeps its place
//! in the mesh and is carried along with its own length, out of the colliders
//! ([`crate::grow::hair_mesh`]).
//!
//! A step is: roots follow, forces and matrix (`assemble.rs`), constrained solve (`math/sparse`), contact
//! with the body (`collide.rs`: position correction, deformation minimisation, velocities), seams, and
//! a look at what broke.

mod assemble;
mod collide;
pub mod condition;
mod dynamics;
mod elements;
mod hold;
mod lost;
mod measure;
mod minimise;
mod nearest_column;
mod obstacles;
pub mod plain;
mod saved;
mod seams;
mod self_contact;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::Vec3;

pub use dynamics::{MeshDynamics, MeshEnvironment, MeshReport, MeshTimes};
pub use measure::MeshMeasure;
pub use settings::Settings;

use self::nearest_column::NearestColumn;
use self::obstacles::Around;
use super::{Capabilities, Carrier, Environment, GrowEnvironment, Model, Primitive, StepReport};
use crate::Result;
use crate::contact::Access;
use crate::groom::hair_mesh::FitSettings;
use crate::groom::{Groom, HairMesh};
use crate::grow::hair_mesh::Binding;
use crate::grow::hair_mesh::plain::PlainBinding;
use crate::math::RigidTransform;

/// The word that chooses this model.
pub const NAME: &str = "hair-mesh";

/// What it can do.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    moves: Primitive::HairMesh,
    contact: Access::NONE,
    splits_steps: false,
    longest_step: f32::INFINITY,
};

/// Hair that moves as a hair mesh.
pub struct HairMeshModel {
    dynamics: MeshDynamics,
    binding: Binding,
    /// Roots of the columns in the rest shape (m).
    root_places: Vec<Vec3>,
    nearest_column: NearestColumn,
    report: MeshReport,
    /// Scratch: columns that broke, vertices for the binding.
    broken: Vec<bool>,
    vertices: [Vec<Vec3>; 2],
}

impl HairMeshModel {
    /// Lays out a groom with its hair mesh; one is fitted to a groom that has none. `gravity` (m/s^2) is
    /// what the rest shape has to stand.
    pub fn new(groom: &Groom, settings: &Settings, gravity: Vec3) -> Result<Self> {
        groom.validate()?;
        let mesh = match &groom.hair_mesh {
            Some(mesh) => mesh.clone(),
            None => fitted(groom)?,
        };
        let dynamics = MeshDynamics::new(&mesh, settings, gravity)?;
        let binding = Binding::new(&mesh, &groom.strands)?;
        let vertices = vec![Vec3::ZERO; mesh.vertex_count()];
        let mut model = Self {
            root_places: mesh.columns.iter().map(|column| column[0]).collect(),
            nearest_column: NearestColumn::new(groom, &mesh),
            broken: vec![false; mesh.column_count()],
            vertices: [vertices.clone(), vertices],
            report: MeshReport::default(),
            dynamics,
            binding,
        };
        model.carry_hair();
        Ok(model)
    }

    /// The mesh in motion.
    pub fn dynamics(&self) -> &MeshDynamics {
        &self.dynamics
    }

    /// What the last step came to.
    pub fn report(&self) -> &MeshReport {
        &self.report
    }

    /// Its strands as they can be laid point by point, without lanes.
    pub fn plain_binding(&self) -> PlainBinding {
        PlainBinding::new(&self.binding)
    }

    /// Where the points are (m), laid that way: what [`Model::positions`] is measured and checked against.
    pub fn plain_positions(&self, plain: &PlainBinding, out: &mut [Vec3]) {
        let around = Around { obstacles: &self.dynamics.obstacles, field: None };
        plain.positions_outside(&self.binding, &around, out);
    }

    /// Carries the strands along with the mesh.
    fn carry_hair(&mut self) {
        let [positions, velocities] = &mut self.vertices;
        for (to, from) in positions.iter_mut().zip(self.dynamics.positions()) {
            *to = (*from).into();
        }
        for (to, from) in velocities.iter_mut().zip(self.dynamics.velocities()) {
            *to = (*from).into();
        }
        self.binding.update(positions, velocities);
    }
}

/// A mesh for a groom that has none.
fn fitted(groom: &Groom) -> Result<Arc<HairMesh>> {
    let (mesh, _) = HairMesh::fit(groom, &FitSettings::default())?;
    Ok(Arc::new(mesh))
}

impl Carrier for HairMeshModel {
    fn root_places(&self) -> Vec<Vec3> {
        self.root_places.clone()
    }

    fn grow(&self, env: &GrowEnvironment<'_>, out: &mut [Vec3]) {
        let around = Around { obstacles: &self.dynamics.obstacles, field: env.field.as_ref() };
        self.binding.positions_outside(&around, out);
    }
}

impl Model for HairMeshModel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let seen = MeshEnvironment {
            time: env.time,
            dt: env.dt,
            gravity: env.gravity,
            wind: env.wind,
            colliders: env.colliders,
            field: env.field,
        };
        self.report = self.dynamics.step(&seen, env.world_from_rest, &mut self.broken);
        self.carry_hair();
        report.unresolved += u64::from(self.report.inside);
        report.solve = self.report.solve;
        report.substeps = self.dynamics.parts();
        if self.report.broken > 0 {
            self.nearest_column.name_strands(&self.broken, &mut report.quarantined);
        }
    }

    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.dynamics.reset(world_from_rest);
        self.carry_hair();
    }

    fn teleport(&mut self, _from: &[RigidTransform], to: &[RigidTransform]) {
        self.dynamics.teleport(to);
        self.carry_hair();
    }

    fn positions(&self, out: &mut [Vec3]) {
        let around = Around { obstacles: &self.dynamics.obstacles, field: None };
        self.binding.positions_outside(&around, out);
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn velocities(&self, out: &mut [Vec3]) {
        let around = Around { obstacles: &self.dynamics.obstacles, field: None };
        self.binding.velocities_outside(&around, out);
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.dynamics.save(out);
    }

    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()> {
        self.dynamics.restore(bytes, world_from_rest)?;
        self.carry_hair();
        Ok(())
    }
}
