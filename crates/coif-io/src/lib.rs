//! File formats of Coif, one file per format.
//!
//! Whatever is read is converted to metres, y up. Files are written under a temporary name and then renamed, so that no
//! half-written file is visible. The extension chooses the format.
//!
//! ```
//! # use coif::groom::{Fibre, Groom, Strands};
//! # use glam::Vec3;
//! # let folder = tempfile::tempdir()?;
//! # let (hair, lines) = (folder.path().join("braid.hair"), folder.path().join("braid.obj"));
//! # let mut strands = Strands::new();
//! # strands.push(&[Vec3::ZERO, Vec3::Y * 0.2]);
//! # coif_io::write_groom(&hair, &Groom::new(strands, Fibre::default()))?;
//! use coif_io::ReadOptions;
//!
//! let braid = coif_io::read_groom(&hair, &ReadOptions::default())?;
//! for warning in &braid.warnings {
//!     eprintln!("warning: {warning}");
//! }
//! for dropped in coif_io::write_groom(&lines, &braid.value)? {
//!     eprintln!("warning: {dropped}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atomic;
pub mod gltf;
pub mod hair;
pub mod npz;
pub mod obj;

mod cache;
mod checksum;
mod color;
mod crc32;
mod error;
mod head_of_hair;
mod morph;
mod row_file;
mod sequence_name;
mod unit;
mod writable;

pub use atomic::AtomicFile;
pub use cache::Cache;
pub use error::{Error, Place, hint_for_io};
pub use obj::{MeshSequence, ObjMesh, read_hair_mesh, read_mesh_sequence, write_hair_mesh};
pub use row_file::RowFile;
pub use sequence_name::SequenceName;
pub use unit::{ReadOptions, Up};

use std::fmt;
use std::fs;
use std::path::Path;

use coif::groom::Groom;

/// The result of the functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Extensions that a groom can be read from and written to.
pub const GROOM_EXTENSIONS: &str = ".hair, .obj";

/// Extensions that a body can be read from and written to.
pub const MESH_EXTENSIONS: &str = ".obj";

/// Maximum number of bytes of a scene file: a thousand times the longest built-in one.
pub const MAX_SCENE_BYTES: u64 = 16 << 20;

/// A value read from a file, with warnings for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// The value.
    pub value: T,
    /// What was assumed or ignored.
    pub warnings: Vec<String>,
    /// Metres per unit of the file, as used.
    pub scale_m: f32,
    /// The axis of the file that points up, as used.
    pub up: Up,
}

/// The kind of content of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// Hair.
    Groom,
    /// A body.
    Mesh,
    /// A hair mesh: a volume in which hair grows.
    HairMesh,
    /// A folder of simulated frames.
    Cache,
    /// A scene file.
    Scene,
}

impl FileKind {
    /// Determines the kind by the name, and where that does not suffice by the content.
    ///
    /// An `.obj` file with a group 'roots' is a hair mesh, one with other polygons a mesh, one with only polylines a
    /// groom.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let found = fs::metadata(path).map_err(|e| Error::io(path, "read", e))?;
        if found.is_dir() {
            return Cache::open(path).map(|_| FileKind::Cache);
        }
        match extension(path).as_str() {
            ".hair" => Ok(FileKind::Groom),
            ".toml" => Ok(FileKind::Scene),
            ".obj" => obj::kind(path),
            _ => Err(unknown(path, "groom, mesh or scene", ".hair, .obj, .toml")),
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Groom => "groom",
            FileKind::HairMesh => "hair-mesh",
            FileKind::Mesh => "mesh",
            FileKind::Cache => "cache",
            FileKind::Scene => "scene",
        })
    }
}

/// Reads hair from a file of any known format.
pub fn read_groom(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<Groom>> {
    let path = path.as_ref();
    match extension(path).as_str() {
        ".hair" => hair::read(path, options),
        ".obj" => obj::read_groom(path, options),
        _ => Err(unknown(path, "groom", GROOM_EXTENSIONS)),
    }
}

/// Writes hair to a file of any known format. Returns notes on what the format cannot store.
pub fn write_groom(path: impl AsRef<Path>, groom: &Groom) -> Result<Vec<String>> {
    let path = path.as_ref();
    match extension(path).as_str() {
        ".hair" => hair::write(path, groom),
        ".obj" => obj::write_groom(path, groom),
        _ => Err(unknown(path, "groom", GROOM_EXTENSIONS)),
    }
}

/// Reads a body from a file of any known format.
pub fn read_mesh(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Loaded<ObjMesh>> {
    let path = path.as_ref();
    match extension(path).as_str() {
        ".obj" => obj::read_mesh(path, options),
        _ => Err(unknown(path, "mesh", MESH_EXTENSIONS)),
    }
}

/// Writes a body to a file of any known format.
pub fn write_mesh(path: impl AsRef<Path>, body: &ObjMesh) -> Result<()> {
    let path = path.as_ref();
    match extension(path).as_str() {
        ".obj" => obj::write_mesh(path, body),
        _ => Err(unknown(path, "mesh", MESH_EXTENSIONS)),
    }
}

/// The extension in lower case with its dot, or nothing.
fn extension(path: &Path) -> String {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    extension.map(|e| format!(".{e}")).unwrap_or_default()
}

fn unknown(file: &Path, what: &'static str, known: &'static str) -> Error {
    let extension = extension(file);
    let hint = match extension.as_str() {
        ".abc" | ".usd" | ".usda" | ".usdc" | ".usdz" | ".tfx" | ".glb" | ".gltf" | ".fbx"
        | ".ma" | ".mb" | ".blend" => {
            Some(format!("{extension} is not supported yet; convert it to {}", known_list(known)))
        }
        ".hair" => Some("a .hair file holds hair only; a body has to be an .obj file".into()),
        "" if file.is_dir() => Some("this is a folder; give the name of a file inside it".into()),
        "" => Some(format!("the name has no extension; add one of {known}")),
        _ => None,
    };
    Error::UnknownExtension { file: file.into(), what, extension, known, hint }
}

/// The formats of a list without that of scenes, for a sentence.
fn known_list(known: &str) -> String {
    known.replace(", .toml", "").replace(", ", " or ")
}

/// Reads a regular file of at most `max_bytes` into memory: for files written by hand, such as scenes. Devices, pipes
/// and folders are refused.
pub fn read_bounded(path: impl AsRef<Path>, max_bytes: u64) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let found = fs::metadata(path).map_err(|e| Error::io(path, "read", e))?;
    if found.is_file() && found.len() > max_bytes {
        let reason = format!("has {} bytes, expected {max_bytes} or fewer", found.len());
        return Err(Error::refused(path, reason).with_hint("check that this is the right file"));
    }
    load(path)
}

/// Reads a regular file into memory; its length bounds the sizes that a corrupt header can request.
fn load(path: &Path) -> Result<Vec<u8>> {
    let found = fs::metadata(path).map_err(|e| Error::io(path, "read", e))?;
    if found.is_dir() {
        return Err(Error::refused(path, "is a folder, expected a file")
            .with_hint("give the name of a file inside it"));
    }
    if !found.is_file() {
        return Err(Error::refused(path, "is not a regular file")
            .with_hint("copy its content to a file, and give the name of that file"));
    }
    fs::read(path).map_err(|e| Error::io(path, "read", e))
}
