//! The scene of a command: a built-in name or a file, changed by `--set`.

use std::path::{Path, PathBuf};

use coif_io::Cache;
use coif_scene::file::{BodySource, GroomSource};
use coif_scene::{Scene, builtin, suggestion};

use crate::failure::Failure;

/// A scene, and the folder to which its paths are relative.
pub(crate) struct Source {
    /// A built-in name or a path, as given.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) scene: Scene,
}

impl Source {
    /// Reads a built-in scene or a scene file, changed by `sets`.
    pub(crate) fn load(name: &str, sets: &[String]) -> Result<Self, Failure> {
        let source = |text: &str, folder: &Path| {
            let scene = Scene::from_toml(text, name, sets)?;
            Ok(Self { name: name.into(), folder: folder.into(), scene })
        };
        // A built-in name takes precedence over a folder of the same name: ./NAME is always a path.
        if let Some(text) = builtin::text(name) {
            return source(text, Path::new("."));
        }
        let path = Path::new(name);
        if path.is_dir() {
            let hint = match Cache::open(path) {
                Ok(_) => format!(
                    "this is a simulation: 'coif render {name}' shows it, \
                     'coif simulate {name}/scene.toml' runs it again"
                ),
                Err(_) => "give a scene file or the name of a built-in scene".into(),
            };
            return Err(Failure::new(format!("{name}: is a folder, expected a scene"), hint));
        }
        let bytes =
            coif_io::read_bounded(path, coif_io::MAX_SCENE_BYTES).map_err(|e| match &e {
                coif_io::Error::Io { source, .. } => no_scene(name, source),
                _ => Failure::from(e),
            })?;
        let Ok(text) = String::from_utf8(bytes) else {
            let hint = match coif_io::FileKind::of(path) {
                Ok(coif_io::FileKind::Groom) => format!(
                    "this is a groom; put [groom] file = \"{name}\" in a scene file, \
                     or look at it with 'coif render {name} -o picture.png'"
                ),
                _ => "a scene file is TOML; 'coif scenes demo' prints one to start from".into(),
            };
            return Err(Failure::new(format!("{name}: is not a text, expected a scene"), hint));
        };
        source(&text, path.parent().unwrap_or(Path::new(".")))
    }

    /// The scene with absolute paths.
    pub(crate) fn portable(&self) -> Scene {
        let mut scene = self.scene.clone();
        let absolute = |path: &mut String| {
            let joined = self.folder.join(path.as_str());
            if let Some(text) = std::path::absolute(joined).ok().as_deref().and_then(Path::to_str) {
                *path = text.into();
            }
        };
        if let GroomSource::File(file) = &mut scene.groom {
            absolute(&mut file.path);
        }
        if let BodySource::File(file) = &mut scene.body.source {
            absolute(&mut file.path);
        }
        scene
    }
}

/// The error for a scene that cannot be read.
fn no_scene(name: &str, error: &std::io::Error) -> Failure {
    if error.kind() != std::io::ErrorKind::NotFound {
        return Failure::new(
            format!("{name}: cannot read: {error}"),
            "check who owns the file and its permissions",
        );
    }
    let all: Vec<&str> = builtin::names().collect();
    let meant = suggestion(name, &all);
    Failure::new(
        format!("{name}: no such scene file, and no built-in scene has this name"),
        format!("{meant}built-in scenes: {}", all.join(", ")),
    )
}
