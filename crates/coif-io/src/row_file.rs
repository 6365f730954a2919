//! A text table that grows by whole rows, also if the process is killed, and that can be resumed.
//!
//! The file with the header and the rows that are kept is created by a rename. Each row is then appended with one
//! write. A partial last line, for instance after a power failure, is dropped when the table is opened again.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Error, Result, atomic};

/// A text file with a header and rows, one per line, that is appended to.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("speed.csv");
/// use coif_io::RowFile;
///
/// let mut table = RowFile::create(&path, "frame,speed_m_s")?;
/// table.push("0,0.0")?;
/// table.push("1,0.25")?;
/// drop(table);
///
/// let (mut table, kept) = RowFile::open(&path, "frame,speed_m_s", |row| row.starts_with('0'))?;
/// assert_eq!(kept, ["0,0.0"]);
/// table.push("1,0.5")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "frame,speed_m_s\n0,0.0\n1,0.5\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RowFile {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
    line: String,
}

impl RowFile {
    /// Starts a table, and replaces an existing one.
    pub fn create(path: impl AsRef<Path>, header: &str) -> Result<Self> {
        Self::with_rows(path.as_ref(), header, &[])
    }

    /// Continues a table after its first rows that are complete and that `keep` accepts, and returns these. A file that
    /// is missing or has another header is replaced.
    pub fn open(
        path: impl AsRef<Path>,
        header: &str,
        mut keep: impl FnMut(&str) -> bool,
    ) -> Result<(Self, Vec<String>)> {
        let path = path.as_ref();
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.unwrap_or_default();
        let mut whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let kept: Vec<String> = if whole.next() == Some(header) {
            whole.take_while(|row| keep(row)).map(str::to_owned).collect()
        } else {
            Vec::new()
        };
        Ok((Self::with_rows(path, header, &kept)?, kept))
    }

    fn with_rows(path: &Path, header: &str, rows: &[String]) -> Result<Self> {
        let mut text = format!("{header}\n");
        for row in rows {
            text.push_str(row);
            text.push('\n');
        }
        atomic::write_whole(path, text.as_bytes())?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|e| Error::io(path, "write", e))?;
        Ok(Self { path: path.into(), file, length: text.len() as u64, line: String::new() })
    }

    /// Appends one row, which must not contain a line break.
    pub fn push(&mut self, row: &str) -> Result<()> {
        self.line.clear();
        self.line.push_str(row);
        self.line.push('\n');
        if let Err(error) = self.file.write_all(self.line.as_bytes()) {
            // A full disk may have taken a part of the line.
            let _ = self.file.set_len(self.length);
            return Err(Error::io(&self.path, "write", error));
        }
        self.length += self.line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "frame,speed_m_s";

    /// If a file is truncated at any byte, its complete rows are kept and the rest is dropped.
    #[test]
    fn a_truncated_table_continues_with_complete_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut table = RowFile::create(&path, HEADER).unwrap();
        (0..3).for_each(|i| table.push(&format!("{i},{}", i * i)).unwrap());
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_eq!(whole, "frame,speed_m_s\n0,0\n1,1\n2,4\n");
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut table, kept) = RowFile::open(&path, HEADER, |row| row != "2,4").unwrap();
            let lines = whole[..cut].matches('\n').count().saturating_sub(1).min(2);
            assert_eq!(kept, ["0,0", "1,1"][..lines], "cut at {cut}");
            table.push("9,9").unwrap();
            let expected = [&[HEADER], &["0,0", "1,1"][..lines], &["9,9", ""]].concat().join("\n");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_table_with_another_header_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, b"frame\n0\n\xff\xfe\n").unwrap();
        let (_, kept) = RowFile::open(&path, HEADER, |_| true).unwrap();
        assert!(kept.is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEADER}\n"));
        assert!(RowFile::create(folder.path().join("no/a.csv"), HEADER).is_err());
    }
}
