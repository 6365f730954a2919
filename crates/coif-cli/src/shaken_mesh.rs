//! A built-in hair mesh on a bust that is shaken as a whole: what the benchmark and the validation of
//! hair meshes run.

use std::sync::Arc;

use coif::body::{Collider, MovingCollider};
use coif::groom::HairMesh;
use coif::math::RigidTransform;
use coif::model::hair_mesh::{MeshDynamics, MeshEnvironment, MeshReport};
use coif::simulation::{Wind, World};
use coif_scene::{Scene, build, builtin};
use glam::{Quat, Vec3};

use crate::failure::Failure;

/// One step a frame, 30 frames a second (s).
pub(crate) const STEP: f32 = 1.0 / 30.0;

/// A hair mesh and the shapes of the body that it is on.
pub(crate) struct ShakenMesh {
    pub(crate) mesh: Arc<HairMesh>,
    pub(crate) colliders: Vec<Collider>,
}

/// What a mesh sees of one step, prepared outside of any clock.
pub(crate) struct ShakenStep {
    pub(crate) pose: RigidTransform,
    roots: Vec<RigidTransform>,
    colliders: Vec<MovingCollider>,
}

impl ShakenMesh {
    /// That of a built-in scene, in one of its resolutions.
    pub(crate) fn built_in(scene: &str, resolution: &str) -> Result<Self, Failure> {
        let sets = ["groom.strands=50".into(), format!("groom.hair_mesh.resolution={resolution}")];
        let text = builtin::text(scene).unwrap_or_default();
        let built = build(&Scene::from_toml(text, scene, &sets)?, std::path::Path::new("."))?;
        let mesh = built.groom.hair_mesh.clone().unwrap_or_default();
        Ok(Self { mesh, colliders: built.body.colliders().to_vec() })
    }

    /// The step from one time (s) of the motion to another, or at rest.
    pub(crate) fn step(&self, from: Option<f32>, to: Option<f32>) -> ShakenStep {
        let [start, end] = [from, to].map(|time| time.map_or(RigidTransform::IDENTITY, pose));
        let moving = |c: &Collider| MovingCollider {
            shape: c.shape,
            friction: c.friction,
            start: start * c.world_from_shape,
            end: end * c.world_from_shape,
        };
        ShakenStep {
            pose: end,
            roots: vec![end; self.mesh.column_count()],
            colliders: self.colliders.iter().map(moving).collect(),
        }
    }
}

impl ShakenStep {
    /// Steps a mesh; `broken` has a place per column.
    pub(crate) fn advance(&self, hair: &mut MeshDynamics, broken: &mut [bool]) -> MeshReport {
        let wind = Wind::default();
        let env = MeshEnvironment {
            time: 0.0,
            dt: STEP,
            gravity: World::default().gravity,
            wind: &wind,
            colliders: &self.colliders,
            field: None,
        };
        hair.step(&env, &self.roots, broken)
    }

    /// Vertices that are more than a millimetre inside the body.
    pub(crate) fn inside(&self, hair: &MeshDynamics) -> usize {
        let deep = |p: Vec3| self.colliders.iter().any(|c| c.depth_at(p) > 1e-3);
        hair.positions().iter().filter(|p| deep((**p).into())).count()
    }

    /// The same without anything to collide with.
    pub(crate) fn in_empty_space(mut self) -> Self {
        self.colliders.clear();
        self
    }
}

/// Shakes no, nods and goes to and fro, starting at rest: a lively head, in seconds.
fn pose(time: f32) -> RigidTransform {
    let swing = |rate: f32| 1.0 - (time * rate).cos();
    let turn = Quat::from_rotation_y(0.45 * (time * 7.0).sin() * swing(1.3).min(1.0));
    let nod = Quat::from_rotation_x(0.2 * swing(4.0));
    RigidTransform {
        rotation: turn * nod,
        translation: Vec3::new(0.03 * swing(5.0), 0.02 * swing(8.0), 0.0),
    }
}
