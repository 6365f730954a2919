//! Output of the hair of a simulation: a folder with every frame, numbered files, one file with the last frame, or one
//! file with the strips of every frame. Everything is checked before the first step and written atomically.

use std::path::{Path, PathBuf};

use coif::groom::Groom;
use coif_io::{AtomicFile, Cache, SequenceName};
use glam::Vec3;

use crate::failure::Failure;

/// The output requested by `-o`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A folder that keeps every frame and can be resumed.
    Cache(PathBuf),
    /// One file per frame.
    Sequence(SequenceName),
    /// One file with the last frame.
    Last(PathBuf),
    /// One file with the strips of every frame.
    Strips(PathBuf),
    /// One file with arrays of positions and velocities of every frame.
    Motion(PathBuf),
}

/// File extensions of hair.
const GROOM_ENDINGS: [&str; 2] = ["hair", "obj"];
/// File extension of strips with their motion.
const STRIPS_ENDING: &str = "glb";
/// File extension of positions and velocities.
const MOTION_ENDING: &str = "npz";
/// Maximum number of letters of an extension of a format; longer ones and those with other characters belong to the
/// name of a folder, as in `run_0.05`.
const MAX_ENDING: usize = 5;
/// File extensions that belong to `--render`.
const PICTURE_ENDINGS: [&str; 5] = ["png", "mp4", "gif", "apng", "jpg"];

impl Target {
    /// Determines the kind of output from the name.
    pub(crate) fn parse(path: &Path) -> Result<Self, Failure> {
        let ends_with_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let ending = ending(path);
        if ends_with_slash || path.is_dir() {
            return Ok(Self::Cache(path.into()));
        }
        if ending.contains(['#', '%']) {
            let message = format!("{}: numbered files need an extension", path.display());
            let hint = format!("write for instance {}.hair", path.display());
            return Err(Failure::new(message, hint));
        }
        if !is_format(&ending) {
            return Ok(Self::Cache(path.into()));
        }
        if [STRIPS_ENDING, MOTION_ENDING].contains(&ending.as_str()) {
            if SequenceName::parse(path).is_some() {
                let message = format!("{}: a .{ending} file holds all frames", path.display());
                return Err(Failure::new(
                    message,
                    "leave out the placeholder for the frame number",
                ));
            }
            let path = path.into();
            let is_strips = ending == STRIPS_ENDING;
            return Ok(if is_strips { Self::Strips(path) } else { Self::Motion(path) });
        }
        if !GROOM_ENDINGS.contains(&ending.as_str()) {
            let hint = if PICTURE_ENDINGS.contains(&ending.as_str()) {
                format!("pictures and films go to --render {}", path.display())
            } else {
                format!(
                    "use .hair, .obj, .npz (arrays), .glb (strips), or a folder: {}/",
                    path.display()
                )
            };
            let message = format!("{}: hair cannot be written as '.{ending}'", path.display());
            return Err(Failure::new(message, hint));
        }
        Ok(match SequenceName::parse(path) {
            Some(sequence) => Self::Sequence(sequence),
            None => Self::Last(path.into()),
        })
    }

    /// Checks that it can be written, without leaving anything behind.
    pub(crate) fn probe(&self, resume: bool, overwrite: bool) -> Result<(), Failure> {
        match self {
            Self::Cache(folder) => probe_folder(folder, resume, overwrite),
            Self::Sequence(sequence) => probe_file(&sequence.file(0)),
            Self::Last(path) | Self::Strips(path) | Self::Motion(path) => probe_file(path),
        }
    }
}

/// The extension in lower case, without the dot.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Whether an extension looks like that of a format, known or not.
fn is_format(ending: &str) -> bool {
    let is_word = (1..=MAX_ENDING).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word || PICTURE_ENDINGS.contains(&ending)
}

/// Checks that a file can be created.
pub(crate) fn probe_file(path: &Path) -> Result<(), Failure> {
    AtomicFile::create(path)?;
    Ok(())
}

/// Checks that a file can be created in a folder; errors name the folder, not the file that was tried.
fn probe_inside(folder: &Path) -> Result<(), Failure> {
    match AtomicFile::create(folder.join("probe")) {
        Ok(_) => Ok(()),
        Err(coif_io::Error::Io { source, .. }) => {
            let file = folder.into();
            Err(coif_io::Error::Io { file, action: "write into this folder", source }.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn probe_folder(folder: &Path, resume: bool, overwrite: bool) -> Result<(), Failure> {
    if folder.is_dir() {
        if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
            return probe_inside(folder);
        }
        let refused = |reason: &str, hint: &str| {
            Failure::new(format!("{}: {reason}", folder.display()), hint)
        };
        if Cache::open(folder).is_err() {
            let reason = "is not empty and holds no Coif simulation";
            return Err(refused(reason, "choose a new folder; nothing in this one was changed"));
        }
        if !resume && !overwrite {
            let hint = "--resume continues it, --overwrite replaces it, \
                        or choose another folder";
            return Err(refused("already holds a simulation", hint));
        }
        return probe_inside(folder);
    }
    if folder.exists() {
        let message = format!("{}: is a file, expected a folder for the frames", folder.display());
        return Err(Failure::new(message, "choose another name for the output"));
    }
    // The first new folder is created in the nearest existing one.
    let parent = folder.ancestors().skip(1).find(|a| a.as_os_str().is_empty() || a.exists());
    let parent = parent.filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    probe_inside(parent)
}

/// An output that is being written.
pub(crate) enum Writer {
    /// Every frame and some checkpoints.
    Cache(Cache),
    /// One file per frame.
    Sequence(SequenceName),
    /// Only the last frame.
    Last(PathBuf),
}

/// Result of writing a frame.
#[derive(Default)]
pub(crate) struct Written {
    /// What the format cannot store.
    pub(crate) dropped: Vec<String>,
    /// Checksum of the file, if it is a frame of a cache.
    pub(crate) checksum: Option<u64>,
}

impl Writer {
    /// Writes a frame.
    pub(crate) fn write(
        &self,
        frame: u64,
        is_last: bool,
        groom: &Groom,
        positions: &[Vec3],
    ) -> Result<Written, Failure> {
        match self {
            Self::Cache(cache) => {
                let checksum = cache.write_frame(frame, groom, positions)?;
                Ok(Written { dropped: Vec::new(), checksum: Some(checksum) })
            }
            Self::Sequence(sequence) => write_posed(&sequence.file(frame), groom, positions),
            Self::Last(path) if is_last => write_posed(path, groom, positions),
            Self::Last(_) => Ok(Written::default()),
        }
    }
}

/// Writes a groom with its points at other positions.
fn write_posed(path: &Path, groom: &Groom, positions: &[Vec3]) -> Result<Written, Failure> {
    let mut posed = groom.clone();
    posed.strands.positions_mut().copy_from_slice(positions);
    Ok(Written { dropped: coif_io::write_groom(path, &posed)?, checksum: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_determines_the_kind() {
        let kind = |name: &str| Target::parse(Path::new(name));
        assert_eq!(kind("run").unwrap(), Target::Cache("run".into()));
        assert_eq!(kind("run.v2/").unwrap(), Target::Cache("run.v2/".into()));
        // What is no extension is part of the name of a folder.
        for name in ["sw_0.05", "run.v2", "2026.11.19", "bob.stiffness_2"] {
            assert_eq!(kind(name).unwrap(), Target::Cache(name.into()));
        }
        assert_eq!(kind("a.hair").unwrap(), Target::Last("a.hair".into()));
        assert_eq!(kind("a.npz").unwrap(), Target::Motion("a.npz".into()));
        assert!(matches!(kind("a.##.OBJ").unwrap(), Target::Sequence(_)));
        assert_eq!(kind("a.GLB").unwrap(), Target::Strips("a.GLB".into()));
        for (name, expected) in [
            ("a.mp4", "--render"),
            ("a.abc", ".hair, .obj"),
            ("a.%03d.glb", "placeholder"),
            ("a.####", "a.####.hair"),
        ] {
            let Err(Failure::Error { hint: Some(hint), .. }) = kind(name) else { panic!("{name}") };
            assert!(hint.contains(expected), "{hint}");
        }
    }
}
