//! One `.glb` file with the strips of every frame, written when the last one is there.

use std::path::{Path, PathBuf};

use coif::groom::strips::{StripPose, Strips, texture};
use coif::grow::strips::StripMesh;
use coif::model::cantilever;
use coif::simulation::Simulation;
use coif_io::gltf::{StripFilm, StripFrame};
use coif_scene::Scene;
use glam::Vec3;

use crate::failure::Failure;

/// How far a vertex may be from its place (m) in a frame that the file leaves to the player's blending:
/// nobody sees less than half a millimetre on hair that moves. Of a slow motion few frames are left, of a
/// shaken head nearly all.
const TOLERANCE: f32 = 5e-4;

/// Frames so far.
pub(super) struct StripsFile {
    path: PathBuf,
    strips: Strips,
    mesh: StripMesh,
    pose: StripPose,
    frames: Vec<StripFrame>,
}

/// Says early if a scene has no strips.
pub(super) fn check(path: &Path, scene: &Scene) -> Result<(), Failure> {
    if scene.model.name() == cantilever::NAME {
        return Ok(());
    }
    Err(Failure::new(
        format!(
            "{}: a .glb file holds strips, and model '{}' has none",
            path.display(),
            scene.model.name()
        ),
        format!("add --set model.name={}, which makes strips of any hair", cantilever::NAME),
    ))
}

impl StripsFile {
    pub(super) fn start(path: &Path, simulation: &Simulation) -> Self {
        let strips = simulation.strips().cloned().unwrap_or_default();
        let mesh = StripMesh::new(&strips);
        Self { path: path.into(), strips, mesh, pose: StripPose::default(), frames: Vec::new() }
    }

    /// Takes in the present frame.
    pub(super) fn push(&mut self, simulation: &Simulation) {
        if simulation.strip_pose(&mut self.pose) {
            self.mesh.follow(&self.strips, &self.pose);
            self.frames.push(StripFrame::of(&self.mesh));
        }
    }

    /// Writes the file; `color` is that of the hair, linear.
    pub(super) fn finish(self, fps: f64, color: Vec3) -> Result<(), Failure> {
        let texture = texture::paint(&texture::Settings::default());
        let (mesh, frames) = (&self.mesh, &self.frames[..]);
        let (texture, tolerance) = (&texture, TOLERANCE);
        let film = StripFilm { mesh, frames, fps, texture, color, tolerance };
        Ok(coif_io::gltf::write_strips(&self.path, &film)?)
    }
}
