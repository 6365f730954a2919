//! Reads a body from OBJ files: its named parts, its neck, its motion and its colliders.

use std::path::Path;
use std::sync::Arc;

use coif::body::{Body, BoneWeights, Collider, Shape, TriangleMesh};
use coif_io::{ObjMesh, ReadOptions};

use crate::build::{BuildError, MAX_SCALP_COORDINATE, up};
use crate::file::{BodyFile, Collide, GroomSource, Motion as MotionKind, Scene};
use crate::lattice;
use crate::motion::{BodyMotion, GROUND, HEAD, Pivots, until};
use crate::neck::Neck;

/// Extent (m) above which a body gets a warning: probably a stray vertex, or another unit of length.
const LARGE_BODY: f32 = 100.0;

/// A body from a file and the parts of it that a scene names.
pub(crate) struct LoadedBody {
    pub(crate) body: Body,
    /// The triangles that hair grows on, if the scene names them.
    pub(crate) scalp: Option<Vec<u32>>,
    /// The triangles that pictures show; all if absent.
    pub(crate) shown: Option<Vec<u32>>,
    /// The triangles of the head for a groom to be fitted to.
    pub(crate) head: Vec<u32>,
}

/// Reads the body of a scene.
pub(crate) fn read(
    scene: &Scene,
    file: &BodyFile,
    folder: &Path,
    warnings: &mut Vec<String>,
) -> Result<LoadedBody, BuildError> {
    let path = folder.join(&file.path);
    let options = ReadOptions { scale_m: file.scale, up: file.up.map(up) };
    let invalid = |source| BuildError::Invalid { what: path.display().to_string(), source };
    let (first, sequence) = if file.is_sequence() {
        let loaded = coif_io::read_mesh_sequence(&path, &options)?;
        warnings.extend(loaded.warnings);
        (loaded.value.first, Some(loaded.value.frames))
    } else {
        let loaded = coif_io::obj::read_mesh(&path, &options)?;
        warnings.extend(loaded.warnings);
        (loaded.value, None)
    };
    // Select the named parts.
    let part = |key: &'static str, names: &Option<Vec<String>>| match names {
        Some(names) => part(&first, key, names, &path).map(Some),
        None => Ok(None),
    };
    let shown = part("show", &file.show)?;
    let solid = part("collide_with", &file.collide_with)?;
    let scalp = part("scalp", &file.scalp)?;
    // Find the neck among the triangles that are shown.
    let visible = shown.as_ref().map_or_else(|| first.mesh.clone(), |shown| first.mesh.part(shown));
    let neck = neck(&first, &visible, file, &path)?;
    let body = match sequence {
        Some(frames) => {
            let fps = file.fps.map_or(f64::from(scene.time.fps), f64::from);
            Body::sampled(first.mesh.triangles.clone(), frames, fps).map_err(invalid)?
        }
        None => moved(scene, &first.mesh, neck.as_ref()).map_err(invalid)?,
    };
    if let Some(neck) =
        neck.filter(|_| !file.is_sequence() && scene.body.motion != MotionKind::Still)
    {
        warnings.push(neck_text(&neck, &path));
    }
    warn(&first.mesh, scene, &path, warnings);
    let mut body = body.with_colliders(colliders(scene, neck.as_ref())).map_err(invalid)?;
    if let Some(solid) = &solid {
        body = body.with_solid(solid).map_err(invalid)?;
    }
    let scalp = match (&scene.groom, scalp) {
        (GroomSource::Style(_), Some(scalp)) => {
            Some(within_reach(body.rest(), scalp, &path, warnings))
        }
        (_, scalp) => scalp,
    };
    // Hair from a file is bound to what is visible unless the scalp is named.
    if let Some(scalp) = scalp.as_ref().or(shown.as_ref()).filter(|scalp| !scalp.is_empty()) {
        body = body.with_scalp(scalp).map_err(invalid)?;
    }
    let head = head(body.rest(), shown.as_deref(), neck.as_ref());
    Ok(LoadedBody { body, scalp, shown, head })
}

/// The triangles with these names.
fn part(
    mesh: &ObjMesh,
    key: &'static str,
    names: &[String],
    path: &Path,
) -> Result<Vec<u32>, BuildError> {
    let no_group = |group: String| {
        let mut groups: Vec<String> = Vec::new();
        for group in &mesh.groups {
            if !groups.contains(&group.name) {
                groups.push(group.name.clone());
            }
        }
        BuildError::NoGroup { file: path.display().to_string(), key, group, groups }
    };
    let triangles = mesh.matching(names).map_err(no_group)?;
    if triangles.is_empty() {
        return Err(BuildError::EmptyPart { file: path.display().to_string(), key });
    }
    Ok(triangles)
}

/// The neck that the scene names, or the one that the mesh shows.
fn neck(
    first: &ObjMesh,
    visible: &TriangleMesh,
    file: &BodyFile,
    path: &Path,
) -> Result<Option<Neck>, BuildError> {
    let missing = |what: String| BuildError::NoNeck { file: path.display().to_string(), what };
    match (file.neck_height, file.neck.as_str()) {
        (Some(height), _) => {
            let neck = Neck::at(visible, height);
            neck.map(Some).ok_or_else(|| missing(format!("at a height of {height} m")))
        }
        (None, "auto") => Ok(Neck::find(visible)),
        (None, "none") => Ok(None),
        (None, name) => {
            let part = part(first, "neck", &[name.to_owned()], path)?;
            let neck = Neck::of_part(&first.mesh.part(&part));
            neck.map(Some)
                .ok_or_else(|| missing(format!("in the group '{name}', which has no height")))
        }
    }
}

/// A mesh that follows the motion of the scene: above its neck, or as a whole if it has none.
fn moved(scene: &Scene, mesh: &TriangleMesh, neck: Option<&Neck>) -> coif::Result<Body> {
    let (pivots, weights): (Pivots, Vec<BoneWeights>) = match neck {
        Some(neck) => (neck.pivots(), mesh.positions.iter().map(|p| neck.weights(p.y)).collect()),
        None => {
            // Move the whole mesh like a head whose neck is at the bottom centre of its bounds.
            let (lo, hi) = mesh.bounds().unwrap_or_default();
            let below = ((lo + hi) * 0.5).with_y(lo.y);
            let on_head = [(HEAD as u16, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)];
            (Pivots { neck: below, head: below }, vec![on_head; mesh.positions.len()])
        }
    };
    let motion = BodyMotion::new(scene.body.motion, scene.body.speed, pivots);
    Body::skinned(mesh.clone(), weights, until(Arc::new(motion), scene.body.stop))
}

fn neck_text(neck: &Neck, path: &Path) -> String {
    format!(
        "{}: its head turns on a neck found at a height of {:.3} m, {:.1} cm wide, the skin blended over {:.1} cm; to \
         override, set body.neck or body.neck_height",
        path.display(),
        0.5 * (neck.low.y + neck.high.y),
        100.0 * neck.size,
        100.0 * (neck.high.y - neck.low.y)
    )
}

/// The triangles of the head: those that are shown, above the neck.
fn head(mesh: &TriangleMesh, shown: Option<&[u32]>, neck: Option<&Neck>) -> Vec<u32> {
    let all: Vec<u32> = match shown {
        Some(shown) => shown.to_vec(),
        None => (0..mesh.triangles.len() as u32).collect(),
    };
    let Some(neck) = neck else { return all };
    let above = |t: &u32| mesh.corners(*t as usize).iter().all(|p| p.y >= neck.high.y);
    let head: Vec<u32> = all.iter().copied().filter(above).collect();
    if head.is_empty() { all } else { head }
}

/// The colliders listed in the scene: planes are fixed in the world, other shapes move with the head, or with the part of
/// a body with a neck that they are at.
pub(crate) fn colliders(scene: &Scene, neck: Option<&Neck>) -> Vec<Collider> {
    let build = |spec: &crate::file::ColliderSpec| {
        let mut collider = spec.build(HEAD);
        if collider.shape == Shape::Plane {
            collider.bone = GROUND;
        } else if let Some(neck) = neck {
            collider.bone = neck.bone(spec.center.y);
        }
        collider
    };
    scene.body.colliders.iter().map(build).collect()
}

fn warn(mesh: &TriangleMesh, scene: &Scene, path: &Path, warnings: &mut Vec<String>) {
    if let Some((lo, hi)) = mesh.bounds()
        && (hi - lo).max_element() > LARGE_BODY
    {
        warnings.push(format!(
            "{}: is {:.0} m large, expected a body of a few metres; grids over it keep within {} cells, \
             so theirs are larger; hint: remove vertices that lie far away from the rest, or set \
             body.scale to the length of the file's unit in metres",
            path.display(),
            (hi - lo).max_element(),
            lattice::MAX_CUBES
        ));
    }
    if scene.body.colliders.is_empty() && scene.body.collide == Collide::Primitives {
        warnings.push(format!(
            "{}: no [[body.collider]] is given, so hair goes through this body; hint: set \
             body.collide=distance-field",
            path.display()
        ));
    }
}

/// The triangles of a scalp within [`MAX_SCALP_COORDINATE`], with a warning about those that are left out.
fn within_reach(
    mesh: &TriangleMesh,
    mut scalp: Vec<u32>,
    path: &Path,
    warnings: &mut Vec<String>,
) -> Vec<u32> {
    let all = scalp.len();
    scalp.retain(|&t| {
        let corners = mesh.corners(t as usize);
        corners.iter().all(|p| p.abs().max_element() <= MAX_SCALP_COORDINATE)
    });
    if scalp.len() < all {
        warnings.push(format!(
            "{}: {} of the scalp's {all} triangles reach beyond {MAX_SCALP_COORDINATE} m from the origin, and no \
             hair grows on those; hint: remove vertices that lie far away from the rest of the body, or \
             set body.scale to the length of the file's unit in metres",
            path.display(),
            all - scalp.len()
        ));
    }
    scalp
}
