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
//! quarantine.

mod assemble;
mod collide;
mod condition;
mod dynamics;
mod elements;
mod hold;
mod implicit;
mod layout;
mod measure;
mod minimise;
mod nearest_column;
mod obstacles;
pub mod plain;
mod report;
mod reset;
mod restoring_spring;
mod saved;
mod seams;
mod self_contact;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::Vec3;

pub use dynamics::{MeshDynamics, MeshEnvironment};
pub use measure::MeshMeasure;
pub use report::{MeshReport, MeshTimes};
pub use settings::Settings;

use self::nearest_column::NearestColumn;
use super::{Capabilities, Carrier, Environment, Model, ModelSettings, Primitive, StepReport};
use crate::contact::Access;
use crate::groom::hair_mesh::FitSettings;
use crate::groom::{Groom, HairMesh};
use crate::math::RigidTransform;
use crate::{Error, Result};

/// Name of this model in scene files.
pub const NAME: &str = "hair-mesh";

/// Capabilities of this model.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    moves: Primitive::HairMesh,
    contact: Access::NONE,
    splits_steps: false,
    longest_step: f32::INFINITY,
    steps_at_once: 1,
    pins: None,
};

/// Hair that moves as a hair mesh.
pub struct HairMeshModel {
    dynamics: MeshDynamics,
    mesh: Arc<HairMesh>,
    nearest_column: NearestColumn,
    report: MeshReport,
    /// Scratch: columns that broke.
    broken: Vec<bool>,
}

impl HairMeshModel {
    /// Lays out a groom with its hair mesh; one is fitted to a groom that has none. The rest shape is balanced
    /// against `gravity` (m/s^2).
    pub fn new(groom: &Groom, settings: &Settings, gravity: Vec3) -> Result<Self> {
        groom.validate()?;
        let mesh = match &groom.hair_mesh {
            Some(mesh) => mesh.clone(),
            None => fitted(groom)?,
        };
        let dynamics = MeshDynamics::new(&mesh, settings, gravity)?;
        Ok(Self {
            nearest_column: NearestColumn::new(groom, &mesh),
            broken: vec![false; mesh.column_count()],
            report: MeshReport::default(),
            dynamics,
            mesh,
        })
    }

    /// The mesh in motion.
    pub fn dynamics(&self) -> &MeshDynamics {
        &self.dynamics
    }

    /// Outcome of the last step.
    pub fn report(&self) -> &MeshReport {
        &self.report
    }

    /// The mesh in its rest shape: that of the groom, or one that was fitted to it.
    pub fn mesh(&self) -> &HairMesh {
        &self.mesh
    }
}

/// Whether a mesh can be laid out like this.
fn check(mesh: &HairMesh, settings: &Settings, gravity: Vec3) -> Result<()> {
    settings.validate()?;
    mesh.validate()?;
    if gravity.is_finite() {
        return Ok(());
    }
    let (name, expected) = ("gravity (m/s^2)".into(), "finite numbers");
    Err(Error::OutOfRange { name, value: f64::NAN, expected })
}

/// A mesh for a groom that has none.
fn fitted(groom: &Groom) -> Result<Arc<HairMesh>> {
    let (mesh, _) = HairMesh::fit(groom, &FitSettings::default())?;
    Ok(Arc::new(mesh))
}

impl Model for HairMeshModel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let environment = MeshEnvironment {
            time: env.time,
            dt: env.dt,
            gravity: env.gravity,
            wind: env.wind,
            gusts: env.gusts,
            colliders: env.colliders,
            field: env.field,
        };
        self.report = self.dynamics.step(&environment, env.world_from_rest, &mut self.broken);
        report.unresolved += u64::from(self.report.inside);
        report.solve = self.report.solve;
        report.substeps = self.dynamics.substeps();
        if self.report.broken > 0 {
            self.nearest_column.name_strands(&self.broken, &mut report.quarantined);
        }
    }

    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.dynamics.reset(world_from_rest);
    }

    fn teleport(&mut self, _from: &[RigidTransform], to: &[RigidTransform]) {
        self.dynamics.teleport(to);
    }

    fn positions(&self, out: &mut [Vec3]) {
        for (to, from) in out.iter_mut().zip(self.dynamics.positions()) {
            *to = (*from).into();
        }
    }

    fn change(&mut self, settings: &ModelSettings, _: &Groom) -> Result<bool> {
        let ModelSettings::HairMesh(settings) = settings else { return Ok(false) };
        settings.validate()?;
        Ok(self.dynamics.change(settings))
    }

    fn carrier(&self) -> Option<Carrier<'_>> {
        Some(Carrier::HairMesh(&self.mesh))
    }

    fn velocities(&self, out: &mut [Vec3]) {
        for (to, from) in out.iter_mut().zip(self.dynamics.velocities()) {
            *to = (*from).into();
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.dynamics.save(out);
    }

    fn restore(&mut self, bytes: &[u8], world_from_rest: &[RigidTransform]) -> Result<()> {
        self.dynamics.restore(bytes, world_from_rest)
    }
}
