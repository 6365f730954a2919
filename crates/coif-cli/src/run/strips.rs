//! One `.glb` file with the strips of all frames, written after the last frame.

use std::path::{Path, PathBuf};

use coif::groom::strips::texture;
use coif::grow::strips::StripMesh;
use coif::model::cantilever;
use coif::simulation::Simulation;
use coif_io::gltf::{StripFilm, StripFrame};
use coif_scene::Scene;
use glam::Vec3;

use crate::failure::Failure;

/// Maximum error of a vertex position (m) in frames that the file leaves to interpolation: a millimetre is invisible in
/// moving hair, and for a shaken head a third of the frames is enough for it.
const TOLERANCE: f32 = 1e-3;

/// The frames so far.
pub(super) struct StripsFile {
    path: PathBuf,
    mesh: StripMesh,
    frames: Vec<StripFrame>,
}

/// Refuses a scene without strips before it is simulated.
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
        let mesh = simulation.strips().map(StripMesh::new).unwrap_or_default();
        Self { path: path.into(), mesh, frames: Vec::new() }
    }

    /// Adds the current frame.
    pub(super) fn push(&mut self, simulation: &Simulation) {
        if let Some(lanes) = simulation.strip_lanes() {
            self.mesh.follow_lanes(&lanes);
            self.frames.push(StripFrame::of(&self.mesh));
        }
    }

    /// Writes the file; `color` is that of the hair, linear. Returns `false` if the user stopped it before.
    pub(super) fn finish(self, fps: f64, color: Vec3) -> Result<bool, Failure> {
        let texture = texture::paint(&texture::Settings::default());
        let (mesh, frames) = (&self.mesh, &self.frames[..]);
        let (texture, tolerance) = (&texture, TOLERANCE);
        let film = StripFilm { mesh, frames, fps, texture, color, tolerance };
        Ok(coif_io::gltf::write_strips_unless(&self.path, &film, &crate::interrupt::requested)?)
    }
}
