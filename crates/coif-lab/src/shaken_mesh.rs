//! A built-in hair mesh on a bust that is shaken as a whole, for the benchmark and the validation of hair meshes.

use std::sync::Arc;

use coif::body::{Collider, MovingCollider};
use coif::groom::HairMesh;
use coif::math::RigidTransform;
use coif::model::hair_mesh::{MeshDynamics, MeshEnvironment, MeshReport};
use coif::simulation::{Wind, World};
use glam::{Quat, Vec3};

use crate::Error;

/// Length of a step (s): one per frame at 30 frames a second.
pub(crate) const STEP: f32 = 1.0 / 30.0;

/// A hair mesh and the colliders of its body.
pub(crate) struct ShakenMesh {
    pub(crate) mesh: Arc<HairMesh>,
    pub(crate) colliders: Vec<Collider>,
}

/// The environment of one step, prepared outside of the timing.
pub(crate) struct ShakenStep {
    pub(crate) pose: RigidTransform,
    roots: Vec<RigidTransform>,
    pub(crate) colliders: Vec<MovingCollider>,
}

impl ShakenMesh {
    /// The hair mesh of a built-in scene, in one of its resolutions, with or without seams.
    pub(crate) fn built_in(scene: &str, resolution: &str, seams: bool) -> Result<Self, Error> {
        let sets = [
            "groom.strands=50".into(),
            format!("groom.hair_mesh.resolution={resolution}"),
            format!("groom.hair_mesh.seams={seams}"),
        ];
        let (_, built) = crate::built_in(scene, &sets)?;
        let mesh = built.groom.hair_mesh.clone().unwrap_or_default();
        Ok(Self { mesh, colliders: built.body.colliders().to_vec() })
    }

    /// The step of a motion from one time (s) to another; without a time, at rest.
    pub(crate) fn step(&self, motion: &Motion, from: Option<f32>, to: Option<f32>) -> ShakenStep {
        let pose = |time| motion.pose(time);
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
    /// Steps a mesh; `broken` has an entry per column.
    pub(crate) fn advance(&self, hair: &mut MeshDynamics, broken: &mut [bool]) -> MeshReport {
        let wind = Wind::default();
        let env = MeshEnvironment {
            time: 0.0,
            dt: STEP,
            gravity: World::default().gravity,
            wind: &wind,
            gusts: Default::default(),
            colliders: &self.colliders,
            field: None,
        };
        hair.step(&env, &self.roots, broken)
    }

    /// Depth of each vertex inside the body (m).
    pub(crate) fn depths(&self, hair: &MeshDynamics) -> Vec<f32> {
        let depth = |p: Vec3| self.colliders.iter().map(|c| c.depth_at(p)).fold(0.0, f32::max);
        hair.positions().iter().map(|p| depth((*p).into())).collect()
    }

    /// The step without colliders.
    pub(crate) fn in_empty_space(mut self) -> Self {
        self.colliders.clear();
        self
    }
}

/// A motion of the head that starts at rest: it shakes, nods and moves sideways.
pub(crate) struct Motion {
    /// Amplitude (rad) and angular frequency (rad/s).
    turn: [f32; 2],
    nod: [f32; 2],
    /// Amplitude (m) and angular frequency (rad/s) of the sideways motion.
    aside: [f32; 2],
}

/// Motions of about the same intensity, with different amplitudes and frequencies.
pub(crate) const MOTIONS: [Motion; 6] = [
    Motion { turn: [0.45, 7.0], nod: [0.2, 4.0], aside: [0.03, 5.0] },
    Motion { turn: [0.55, 5.5], nod: [0.15, 4.6], aside: [0.025, 6.1] },
    Motion { turn: [0.35, 8.6], nod: [0.25, 3.3], aside: [0.035, 4.1] },
    Motion { turn: [0.50, 6.3], nod: [0.18, 5.1], aside: [0.02, 5.7] },
    Motion { turn: [0.40, 7.7], nod: [0.22, 3.7], aside: [0.04, 4.5] },
    Motion { turn: [0.58, 4.9], nod: [0.26, 4.9], aside: [0.03, 3.6] },
];

impl Motion {
    /// World from rest at a time (s).
    fn pose(&self, time: f32) -> RigidTransform {
        let swing = |rate: f32| 1.0 - (time * rate).cos();
        let [[turn, turning], [nod, nodding], [aside, going]] = [self.turn, self.nod, self.aside];
        let turn = Quat::from_rotation_y(turn * (time * turning).sin() * swing(1.3).min(1.0));
        let nod = Quat::from_rotation_x(nod * swing(nodding));
        RigidTransform {
            rotation: turn * nod,
            translation: Vec3::new(aside * swing(going), 0.02 * swing(8.0), 0.0),
        }
    }
}
