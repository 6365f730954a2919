//! The simulation cache: a folder with the scene, one groom per frame and the last checkpoint.
//!
//! ```text
//! OUT/scene.toml          the scene that made it; its first line marks the folder as a cache
//! OUT/frame.00000.hair    the groom at the start, then one file per frame
//! OUT/checkpoint.bin      the state to resume a simulation from its last frame
//! OUT/health.csv          a table with one row per frame, if the simulation keeps one
//! ```
//! Every file is written atomically, so a run that is killed leaves only complete files. The table grows by whole rows:
//! see [`RowFile`](crate::RowFile).

use std::fs;
use std::path::{Path, PathBuf};

use coif::groom::Groom;
use coif::math::bytes::{Reader, put_u32, put_u64};
use glam::Vec3;

use crate::checksum::{Checksum, Summed};
use crate::{Error, Place, ReadOptions, Result, SequenceName, atomic, hair};

const SCENE: &str = "scene.toml";
const CHECKPOINT: &str = "checkpoint.bin";
const HEALTH: &str = "health.csv";
/// First line of the scene in a cache, a comment for every TOML reader.
const MARK: &str = "# coif cache 1\n";
const MAGIC: &[u8; 8] = b"COIFCKPT";
const VERSION: u32 = 2;
/// Magic, version, frame, length, checksum.
const CHECKPOINT_HEADER: usize = 8 + 4 + 8 + 8 + 8;

/// A folder of frames.
///
/// ```
/// # use coif::groom::{Fibre, Groom, Strands};
/// # use glam::Vec3;
/// # let folder = tempfile::tempdir()?;
/// # let out = folder.path().join("shake");
/// # let mut strands = Strands::new();
/// # strands.push(&[Vec3::ZERO, Vec3::Y]);
/// # let groom = Groom::new(strands, Fibre::default());
/// # let simulated = [Vec3::ZERO, Vec3::X];
/// let cache = coif_io::Cache::create(&out, "[time]\nframes = 120\n", false)?;
/// cache.write_frame(0, &groom, groom.strands.positions())?;
/// cache.write_frame(1, &groom, &simulated)?;
/// cache.write_checkpoint(1, b"state of the simulation")?;
///
/// let cache = coif_io::Cache::open(&out)?;
/// assert_eq!(cache.frame_count()?, 2);
/// assert_eq!(cache.read_frame(1)?.strands.positions(), simulated);
/// assert_eq!(cache.read_checkpoint()?, Some((1, b"state of the simulation".to_vec())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Starts a cache. With `overwrite`, an older cache in the same folder is emptied first; a folder with other files
    /// in it is refused.
    pub fn create(folder: impl AsRef<Path>, scene: &str, overwrite: bool) -> Result<Self> {
        let folder = folder.as_ref();
        if folder.exists() && !folder.is_dir() {
            return Err(Error::refused(folder, "is a file, expected a folder for the frames")
                .with_hint("choose another name for the output"));
        }
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
        atomic::remove_leftovers(folder);
        let cache = Self { folder: folder.into() };
        if is_cache(folder) {
            if !overwrite {
                return Err(Error::refused(folder, "already holds a simulation")
                    .with_hint("resume it, allow it to be overwritten, or choose another folder"));
            }
            cache.clear()?;
        } else {
            let mut entries = fs::read_dir(folder).map_err(|e| Error::io(folder, "read", e))?;
            if entries.next().is_some() {
                let reason = "is not empty and holds no Coif simulation";
                return Err(Error::refused(folder, reason)
                    .with_hint("choose a new folder; nothing in this one was changed"));
            }
        }
        atomic::write_whole(folder.join(SCENE), format!("{MARK}{scene}").as_bytes())?;
        Ok(cache)
    }

    /// Opens a cache to inspect or to resume it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        if !is_cache(folder) {
            fs::metadata(folder).map_err(|e| Error::io(folder, "read", e))?;
            return Err(Error::refused(folder, "holds no Coif simulation")
                .with_hint("a cache is a folder with scene.toml and frame.00000.hair in it"));
        }
        atomic::remove_leftovers(folder);
        Ok(Self { folder: folder.into() })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The text of the scene, as it was given to [`Cache::create`].
    pub fn scene(&self) -> Result<String> {
        let path = self.folder.join(SCENE);
        let bytes = crate::read_bounded(&path, crate::MAX_SCENE_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = Place::Byte(e.utf8_error().valid_up_to() as u64);
            Error::malformed(&path, at, "text in UTF-8", "other bytes")
        })?;
        Ok(text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text))
    }

    /// Path of a frame, whether it exists or not.
    pub fn frame_path(&self, frame: u64) -> PathBuf {
        self.frames().file(frame)
    }

    /// Path of the table with one row per frame, whether it exists or not.
    pub fn health_path(&self) -> PathBuf {
        self.folder.join(HEALTH)
    }

    /// Writes a frame: a groom whose points are at `positions`. Returns the checksum of the file.
    pub fn write_frame(&self, frame: u64, groom: &Groom, positions: &[Vec3]) -> Result<u64> {
        let path = self.frame_path(frame);
        hair::check_posed(&path, groom, positions)?;
        let out = atomic::AtomicFile::create(&path)?;
        let mut out = Summed { out, sum: Checksum::new(frame) };
        hair::encode(&mut out, groom, positions).map_err(|e| Error::io(&path, "write", e))?;
        out.out.commit()?;
        Ok(out.sum.finish())
    }

    /// The checksum of the current file of a frame; equal to that of [`Cache::write_frame`] if the file is unchanged.
    pub fn frame_checksum(&self, frame: u64) -> Result<u64> {
        let mut sum = Checksum::new(frame);
        sum.update(&crate::load(&self.frame_path(frame))?);
        Ok(sum.finish())
    }

    /// Reads a frame.
    pub fn read_frame(&self, frame: u64) -> Result<Groom> {
        let path = self.frame_path(frame);
        if !path.exists() {
            let reason =
                format!("there is no frame {frame}, the cache holds {}", self.frame_count()?);
            return Err(Error::refused(&path, reason).with_hint("frames are counted from 0"));
        }
        Ok(hair::read(path, &ReadOptions::default())?.value)
    }

    /// Number of complete frames from 0 on without a gap. All frames of a simulation have the same size, so a file
    /// whose size differs from the first is damaged and counts as a gap.
    pub fn frame_count(&self) -> Result<u64> {
        let numbers = self.frame_numbers()?;
        let size = |frame: u64| std::fs::metadata(self.frame_path(frame)).map(|m| m.len()).ok();
        let first = size(0).filter(|&bytes| bytes > 0);
        let whole = |frame: u64| first.is_some() && size(frame) == first;
        let in_order = (0..).zip(&numbers).take_while(|(i, found)| i == *found && whole(*i));
        Ok(in_order.count() as u64)
    }

    /// Stores the state to resume a simulation after `frame`.
    pub fn write_checkpoint(&self, frame: u64, payload: &[u8]) -> Result<()> {
        let mut bytes = Vec::with_capacity(CHECKPOINT_HEADER + payload.len());
        bytes.extend(MAGIC);
        put_u32(&mut bytes, VERSION);
        put_u64(&mut bytes, frame);
        put_u64(&mut bytes, payload.len() as u64);
        put_u64(&mut bytes, checksum(frame, payload));
        bytes.extend_from_slice(payload);
        atomic::write_whole(self.folder.join(CHECKPOINT), &bytes)
    }

    /// The last checkpoint and its frame, or `None` if there is none.
    pub fn read_checkpoint(&self) -> Result<Option<(u64, Vec<u8>)>> {
        let path = self.folder.join(CHECKPOINT);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = crate::load(&path)?;
        match parse_checkpoint(&path, &bytes) {
            Ok((frame, payload)) => Ok(Some((frame, payload.to_vec()))),
            Err(error) => {
                Err(error.with_hint("the checkpoint is damaged: simulate again from the start"))
            }
        }
    }

    /// Numbers of all frames, ascending.
    fn frame_numbers(&self) -> Result<Vec<u64>> {
        self.frames().existing().map_err(|e| Error::io(&self.folder, "read", e))
    }

    fn frames(&self) -> SequenceName {
        SequenceName::new(&self.folder, "frame.", 5, ".hair")
    }

    /// Removes the checkpoint, the table and then the frames, last one first, so that a run killed in between
    /// leaves a shorter cache without gaps.
    fn clear(&self) -> Result<()> {
        for path in [self.folder.join(CHECKPOINT), self.health_path()] {
            if path.exists() {
                fs::remove_file(&path).map_err(|e| Error::io(&path, "remove", e))?;
            }
        }
        for frame in self.frame_numbers()?.into_iter().rev() {
            let path = self.frame_path(frame);
            fs::remove_file(&path).map_err(|e| Error::io(&path, "remove", e))?;
        }
        Ok(())
    }
}

/// Whether a folder is a cache that Coif made.
pub(crate) fn is_cache(folder: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; MARK.len()];
    let scene = fs::File::open(folder.join(SCENE));
    scene.is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == MARK.as_bytes()
}

fn parse_checkpoint<'a>(path: &Path, bytes: &'a [u8]) -> Result<(u64, &'a [u8])> {
    let wrong = |at: u64, expected: String, found: String| {
        Error::malformed(path, Place::Byte(at), expected, found)
    };
    let mut reader = Reader(bytes);
    let header = (|| {
        let magic = reader.take(MAGIC.len())?;
        Some((magic, reader.u32()?, reader.u64()?, reader.u64()?, reader.u64()?))
    })();
    let Some((magic, version, frame, length, sum)) = header else {
        let end = bytes.len();
        return Err(wrong(end as u64, format!("{CHECKPOINT_HEADER} bytes"), "the end".into()));
    };
    let payload = reader.0;
    if magic != MAGIC {
        let found = format!("'{}'", magic.escape_ascii());
        return Err(wrong(0, "the letters 'COIFCKPT'".into(), found));
    }
    if version != VERSION {
        return Err(wrong(8, format!("version {VERSION}"), version.to_string()));
    }
    if payload.len() as u64 != length {
        let expected = format!("{length} bytes of state");
        return Err(wrong(20, expected, payload.len().to_string()));
    }
    let found = checksum(frame, payload);
    if found != sum {
        return Err(wrong(28, format!("checksum {sum:016x}"), format!("{found:016x}")));
    }
    Ok((frame, payload))
}

fn checksum(frame: u64, payload: &[u8]) -> u64 {
    let mut sum = Checksum::new(frame);
    sum.update(payload);
    sum.finish()
}
