//! Atomic file output: write to a temporary file, then rename.
//!
//! Bytes go to a temporary file in the folder of the destination. [`AtomicFile::commit`] renames
//! it; without that, dropping removes it and the destination stays as it was. A process that is
//! killed leaves at most a temporary file, which [`remove_leftovers`] recognises by its name.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::{Error, Result};

/// A file that appears under its name only when it is complete.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("picture.ppm");
/// let mut file = coif_io::AtomicFile::create(&path)?;
/// file.write_all(b"P6 1 1 255\n")?;
/// assert!(!path.exists());
/// file.write_all(&[200, 120, 40])?;
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?.len(), 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    /// `None` only while `commit` runs.
    out: Option<BufWriter<File>>,
    temporary: PathBuf,
    destination: PathBuf,
}

/// Size of the write buffer (bytes).
const BUFFER: usize = 256 * 1024;

impl AtomicFile {
    /// Starts a file that will replace `path`.
    ///
    /// Refuses targets that a rename would destroy: a folder, a device, a file that is read-only. A
    /// symbolic link stays one; the file that it points to is replaced.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut destination = path.to_path_buf();
        let mut permissions = None;
        if let Ok(found) = fs::metadata(path) {
            if found.is_dir() {
                return Err(Error::refused(path, "is a folder, so no file can be written there")
                    .with_hint("give the name of a file inside it"));
            }
            if !found.is_file() {
                return Err(Error::refused(path, "is not a regular file"));
            }
            if found.permissions().readonly() {
                return Err(Error::refused(path, "is write-protected")
                    .with_hint("remove the protection, or choose another name"));
            }
            permissions = Some(found.permissions());
            destination = fs::canonicalize(path).map_err(|e| Error::io(path, "write", e))?;
        }
        let folder = match destination.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if destination.file_name().is_none() {
            return Err(Error::refused(path, "is not the name of a file"));
        }
        if !folder.is_dir() {
            return Err(Error::refused(
                path,
                format!("cannot be written: there is no folder {}", folder.display()),
            )
            .with_hint("create the folder first"));
        }
        let temporary = folder.join(temporary_name());
        let file = File::create_new(&temporary).map_err(|e| Error::io(path, "write", e))?;
        let out = Some(BufWriter::with_capacity(BUFFER, file));
        let this = Self { out, temporary, destination };
        if let Some(permissions) = permissions {
            fs::set_permissions(&this.temporary, permissions)
                .map_err(|e| Error::io(path, "write", e))?;
        }
        Ok(this)
    }

    /// A separate handle to the unfinished file, open for reading and writing from its start: for an encoder that keeps
    /// its output, or for reading back. It does not see what is still in the buffer of this writer.
    pub fn reopen(&self) -> Result<File> {
        let opened = File::options().read(true).write(true).open(&self.temporary);
        opened.map_err(|e| self.error(e))
    }

    /// An error that names the destination.
    pub fn error(&self, source: io::Error) -> Error {
        Error::io(&self.destination, "write", source)
    }

    /// Flushes the buffer and gives the file its name.
    pub fn commit(mut self) -> Result<()> {
        if let Some(mut out) = self.out.take() {
            out.flush().map_err(|e| self.error(e))?;
        }
        fs::rename(&self.temporary, &self.destination).map_err(|e| self.error(e))
    }

    /// The final path of the file.
    pub fn destination(&self) -> &Path {
        &self.destination
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // Discard the buffer instead of writing it, then remove the file; after a rename there is nothing to remove.
        if let Some(out) = self.out.take() {
            drop(out.into_parts());
        }
        let _ = fs::remove_file(&self.temporary);
    }
}

impl AtomicFile {
    fn writer(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.out.as_mut().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer()?.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer()?.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer()?.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer()?.seek(to)
    }
}

/// Writes all of `bytes` to `path`, or nothing.
pub fn write_whole(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, "write", e))?;
    file.commit()
}

/// Removes the temporary files in a folder whose process has ended, and returns their number.
///
/// Files of a process that may still run are kept: another process may open a folder while a simulation writes to it.
pub fn remove_leftovers(folder: impl AsRef<Path>) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let is_leftover = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let Some((process, stamp)) = name.to_str().and_then(parse_temporary_name) else {
            return false;
        };
        if process != std::process::id() {
            return !may_run(process) || is_older_than(entry, Duration::from_secs(24 * 3600));
        }
        // The same number with another start is an earlier process, or one in another container.
        stamp != process_stamp() && is_older_than(entry, Duration::from_secs(60))
    };
    entries.flatten().filter(is_leftover).filter(|e| fs::remove_file(e.path()).is_ok()).count()
}

fn is_older_than(entry: &fs::DirEntry, age: Duration) -> bool {
    let modified = entry.metadata().and_then(|m| m.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|elapsed| elapsed > age))
}

/// Whether the process may still run. Only Linux can tell without unsafe code; elsewhere the age
/// of the file decides.
fn may_run(process: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(process.to_string()).exists()
}

/// A unique name: process, start of the process, running number.
fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".coif-{}-{:x}-{number}.tmp", std::process::id(), process_stamp())
}

/// Process and start of the process from a temporary name.
fn parse_temporary_name(name: &str) -> Option<(u32, u128)> {
    let mut parts = name.strip_prefix(".coif-")?.strip_suffix(".tmp")?.split('-');
    let (process, stamp, number) = (parts.next()?, parts.next()?, parts.next()?);
    number.parse::<u64>().ok()?;
    let parsed = (process.parse().ok()?, u128::from_str_radix(stamp, 16).ok()?);
    parts.next().is_none().then_some(parsed)
}

/// Nanoseconds since 1970 when this process first wrote a file.
fn process_stamp() -> u128 {
    static STAMP: OnceLock<u128> = OnceLock::new();
    *STAMP.get_or_init(|| {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_unfinished_file_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(&[1; 3 * BUFFER]).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn seeking_back_patches_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"????body").unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"head").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"headbody");
    }

    #[test]
    fn folders_and_protected_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(AtomicFile::create(folder.path()).unwrap_err().hint().is_some());
        let missing = AtomicFile::create(folder.path().join("no/a.txt")).unwrap_err();
        assert!(missing.to_string().contains("no folder"), "{missing}");
        let path = folder.path().join("a.txt");
        write_whole(&path, b"old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert!(write_whole(&path, b"new").unwrap_err().to_string().contains("protected"));
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        write_whole(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }

    #[test]
    fn only_the_files_of_dead_writers_are_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let mine = AtomicFile::create(folder.path().join("a.txt")).unwrap();
        // Linux has no process number that large.
        fs::write(folder.path().join(".coif-4294967295-1f-0.tmp"), b"dead").unwrap();
        fs::write(folder.path().join("notes.tmp"), b"someone else's").unwrap();
        let expected = usize::from(cfg!(target_os = "linux"));
        assert_eq!(remove_leftovers(folder.path()), expected);
        mine.commit().unwrap();
        assert!(names(folder.path()).contains(&"a.txt".into()));
        assert!(names(folder.path()).contains(&"notes.tmp".into()));
    }
}
