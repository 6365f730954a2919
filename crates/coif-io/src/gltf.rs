//! Strips of hair as glTF 2.0, one binary file (`.glb`) with mesh, motion and texture. Writing only.
//!
//! The motion is a list of morph targets and an animation of their weights, which Blender, three.js and engines read
//! without an extension. A target takes 24 bytes per vertex (position and normal), so few targets are written, and
//! frames are weighted sums of them (`morph.rs`). Tangents are those of the first frame: Blender and three.js ignore
//! others.

use std::path::Path;

use coif::groom::strips::texture::StripTexture;
use coif::grow::strips::StripMesh;
use glam::Vec3;
use serde_json::{Value, json};

use crate::morph::Morph;
use crate::{Error, Result, atomic};

/// Geometry of the vertices in one frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StripFrame {
    /// Positions (m).
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Unit vectors across the strips, perpendicular to the normals: the direction of the first texture coordinate,
    /// called tangent in glTF.
    pub tangents: Vec<Vec3>,
}

impl StripFrame {
    /// The current geometry of a mesh.
    pub fn of(mesh: &StripMesh) -> Self {
        let across = |(n, b): (&Vec3, &Vec3)| (*b - *n * n.dot(*b)).normalize_or(*b);
        Self {
            positions: mesh.positions.clone(),
            normals: mesh.normals.clone(),
            tangents: mesh.normals.iter().zip(&mesh.binormals).map(across).collect(),
        }
    }
}

/// Strips, their motion and their appearance.
pub struct StripFilm<'a> {
    /// Texture coordinates and triangles; its positions are not used.
    pub mesh: &'a StripMesh,
    /// One or more frames.
    pub frames: &'a [StripFrame],
    /// Frames per second.
    pub fps: f64,
    /// The strands on a strip.
    pub texture: &'a StripTexture,
    /// Colour of the hair, linear RGB in 0..1.
    pub color: Vec3,
    /// Maximum error of a vertex position (m) where frames are weighted sums of fewer shapes; one vertex in a thousand
    /// may deviate up to six times as far. With 0 no deviation is allowed.
    pub tolerance: f32,
}

/// Opacity from which a pixel of the texture counts as hair: lower shows more of the soft edges.
const CUTOFF: f32 = 0.4;

/// Roughness of the material.
const ROUGHNESS: f32 = 0.45;

/// Constants of glTF: 32-bit float, 32-bit unsigned integer, vertex buffer, index buffer.
const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// Writes strips as a `.glb` file.
pub fn write_strips(path: impl AsRef<Path>, film: &StripFilm<'_>) -> Result<()> {
    write_strips_unless(path, film, &|| false).map(|_| ())
}

/// [`write_strips`] that can be cancelled: `stop` is polled while shapes are fitted. Returns `false` if nothing was
/// written because it returned `true`.
pub fn write_strips_unless(
    path: impl AsRef<Path>,
    film: &StripFilm<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<bool> {
    let path = path.as_ref();
    let bytes = glb_bytes(film, stop).map_err(|reason| {
        Error::refused(path, reason).with_hint("export fewer frames or strips")
    })?;
    match bytes {
        Some(bytes) => atomic::write_whole(path, &bytes).map(|()| true),
        None => Ok(false),
    }
}

/// The bytes of the file, or the reason why they cannot be made.
pub fn strips_to_glb(film: &StripFilm<'_>) -> Result<Vec<u8>, String> {
    Ok(glb_bytes(film, &|| false)?.unwrap_or_default())
}

/// The bytes, or `None` if cancelled by `stop`.
fn glb_bytes(film: &StripFilm<'_>, stop: &dyn Fn() -> bool) -> Result<Option<Vec<u8>>, String> {
    let vertices = film.mesh.coordinates.len();
    let fits = |f: &StripFrame| {
        [&f.positions, &f.normals, &f.tangents].iter().all(|vectors| vectors.len() == vertices)
    };
    // Refuse frames that do not fit the mesh or one file.
    let Some(first) = film.frames.first() else { return Err("there are no frames".into()) };
    if !film.frames.iter().all(fits) {
        return Err(format!(
            "a frame has another number of vertices than the {vertices} of the mesh"
        ));
    }
    let Some(morph) = Morph::of(film.frames, film.tolerance, stop) else { return Ok(None) };
    let size = (morph.moved.len() + 1) as u64 * vertices as u64 * 24;
    if size > u64::from(u32::MAX) / 2 {
        return Err(format!("{} MB of frames do not fit into one file", size / 1_000_000));
    }
    let mut pack = Packer::default();

    // Pack the mesh of the first frame.
    let indices = film.mesh.triangles.as_flattened();
    let view = pack.view(indices.iter().flat_map(|i| i.to_le_bytes()), Some(INDICES));
    let index_count = indices.len();
    let triangles = pack.accessor(json!({
        "bufferView": view, "componentType": UNSIGNED, "count": index_count, "type": "SCALAR",
    }));
    let position = pack.vectors(&first.positions, true);
    let normal = pack.vectors(&first.normals, false);
    // The binormal of glTF, N x T w, points against the second texture coordinate.
    let tangents = first.tangents.iter().flat_map(|t| t.extend(1.0).to_array());
    let view = pack.view(tangents.flat_map(f32::to_le_bytes), Some(VERTICES));
    let tangent = pack.accessor(json!({
        "bufferView": view, "componentType": FLOAT, "count": vertices, "type": "VEC4",
    }));
    let coordinates = film.mesh.coordinates.iter().flat_map(|c| c.to_array());
    let view = pack.view(coordinates.flat_map(f32::to_le_bytes), Some(VERTICES));
    let texcoord = pack.accessor(json!({
        "bufferView": view, "componentType": FLOAT, "count": vertices, "type": "VEC2",
    }));

    // Pack the targets: displacements of vertices and normals from the first frame.
    let mut targets = Vec::with_capacity(morph.moved.len());
    for (moved, turned) in morph.moved.iter().zip(&morph.turned) {
        let (moved, turned) = (pack.vectors(moved, true), pack.vectors(turned, false));
        targets.push(json!({ "POSITION": moved, "NORMAL": turned }));
    }
    let png = png_of(film.texture)?;
    let image = pack.view(png.into_iter(), None);

    // Pack the weight of each target over time.
    let mut animations = Vec::new();
    if !targets.is_empty() {
        let times: Vec<f32> = morph.frames.iter().map(|&k| (k as f64 / film.fps) as f32).collect();
        let view = pack.view(times.iter().flat_map(|t| t.to_le_bytes()), None);
        let input = pack.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": times.len(), "type": "SCALAR",
            "min": [times[0]], "max": [times[times.len() - 1]],
        }));
        let weights = morph.weights.iter().flatten();
        let view = pack.view(weights.flat_map(|w| w.to_le_bytes()), None);
        let count = times.len() * targets.len();
        let output = pack.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": count, "type": "SCALAR",
        }));
        animations.push(json!({
            "name": "motion",
            "samplers": [{ "input": input, "output": output, "interpolation": "LINEAR" }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
        }));
    }
    // Describe mesh, material and scene.
    let mut mesh = json!({
        "name": "strips",
        "primitives": [{
            "attributes": {
                "POSITION": position,
                "NORMAL": normal,
                "TANGENT": tangent,
                "TEXCOORD_0": texcoord,
            },
            "indices": triangles,
            "material": 0,
        }],
    });
    if !targets.is_empty() {
        mesh["weights"] = json!(vec![0.0; targets.len()]);
        let names: Vec<String> = (1..=targets.len()).map(|k| format!("shape {k}")).collect();
        mesh["extras"] = json!({ "targetNames": names });
        mesh["primitives"][0]["targets"] = Value::Array(targets);
    }
    let mut document = json!({
        "asset": { "version": "2.0", "generator": "Coif" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "name": "hair", "mesh": 0 }],
        "meshes": [mesh],
        "materials": [{
            "name": "hair",
            "doubleSided": true,
            "alphaMode": "MASK",
            "alphaCutoff": CUTOFF,
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": 0 },
                "baseColorFactor": [film.color.x, film.color.y, film.color.z, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": ROUGHNESS,
            },
        }],
        "textures": [{ "source": 0, "sampler": 0 }],
        // Trilinear filtering, clamped to the edges.
        "samplers": [{ "magFilter": 9729, "minFilter": 9987, "wrapS": 33071, "wrapT": 33071 }],
        "images": [{ "name": "strands", "bufferView": image, "mimeType": "image/png" }],
        "accessors": pack.accessors,
        "bufferViews": pack.views,
        "buffers": [{ "byteLength": pack.bytes.len() }],
    });
    if !animations.is_empty() {
        document["animations"] = Value::Array(animations);
    }
    container(document.to_string().into_bytes(), pack.bytes).map(Some)
}

/// Header and the two chunks of a binary glTF, each padded to four bytes.
fn container(mut text: Vec<u8>, mut data: Vec<u8>) -> Result<Vec<u8>, String> {
    text.resize(text.len().next_multiple_of(4), b' ');
    data.resize(data.len().next_multiple_of(4), 0);
    let total = 12 + 8 + text.len() + 8 + data.len();
    let length = |n: usize| u32::try_from(n).map_err(|_| "the file would exceed 4 GB".to_owned());
    let mut out = Vec::with_capacity(total);
    out.extend(b"glTF");
    out.extend(2u32.to_le_bytes());
    out.extend(length(total)?.to_le_bytes());
    out.extend(length(text.len())?.to_le_bytes());
    out.extend(b"JSON");
    out.extend(text);
    out.extend(length(data.len())?.to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(data);
    Ok(out)
}

fn png_of(texture: &StripTexture) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let failed = |e: png::EncodingError| format!("the texture cannot be encoded: {e}");
    let mut encoder = png::Encoder::new(&mut bytes, texture.width as u32, texture.height as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&texture.rgba).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// The binary buffer with its views and accessors.
#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Packer {
    /// Appends bytes at a multiple of four; returns the index of their view.
    fn view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        let length = self.bytes.len() - start;
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": length });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Appends vectors, with their bounds if requested; returns the index of the accessor.
    fn vectors(&mut self, vectors: &[Vec3], bounds: bool) -> usize {
        let floats = vectors.iter().flat_map(|v| v.to_array());
        let view = self.view(floats.flat_map(f32::to_le_bytes), Some(VERTICES));
        let mut accessor = json!({
            "bufferView": view, "componentType": FLOAT, "count": vectors.len(), "type": "VEC3",
        });
        if bounds {
            let lo = vectors.iter().copied().reduce(Vec3::min).unwrap_or_default();
            let hi = vectors.iter().copied().reduce(Vec3::max).unwrap_or_default();
            accessor["min"] = json!(lo.to_array());
            accessor["max"] = json!(hi.to_array());
        }
        self.accessor(accessor)
    }
}
