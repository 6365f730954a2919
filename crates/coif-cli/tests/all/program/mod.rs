//! Runs the program in a fresh folder and checks its output and the files that it leaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A fresh folder in which the program runs.
pub(crate) struct Folder(TempDir);

/// Settings of all small scenes: few strands, a coarse head.
pub(crate) const SMALL: &[&str] =
    &["--set", "groom.strands=120", "--set", "groom.points=12", "--set", "body.resolution=0.02"];

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file for the test");
        path
    }

    /// The names of everything in the folder, hidden files included, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(self.0.path())
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coif"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Runs and expects success; returns stdout.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs with `--json` and expects exactly one document on stdout.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).expect("one JSON document and nothing else")
    }

    /// Runs and expects exit code 2, an error, a hint, nothing on stdout and no new file; returns stderr.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let before = self.names();
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("error: "), "{arguments:?}: {stderr}");
        assert!(stderr.contains("hint: "), "{arguments:?}: no hint in {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?} wrote to stdout");
        assert_eq!(self.names(), before, "{arguments:?} left something behind");
        stderr
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A `.hair` file of straight strands: positions as given.
pub(crate) fn hair_bytes(strands: &[&[[f32; 3]]]) -> Vec<u8> {
    let points: usize = strands.iter().map(|s| s.len()).sum();
    let mut bytes = b"HAIR".to_vec();
    bytes.extend((strands.len() as u32).to_le_bytes());
    bytes.extend((points as u32).to_le_bytes());
    bytes.extend(3u32.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    for default in [0.0001f32, 0.0, 0.3, 0.2, 0.1] {
        bytes.extend(default.to_le_bytes());
    }
    let mut info = [0u8; 88];
    let words = b"unit=m up=y";
    info[..words.len()].copy_from_slice(words);
    bytes.extend(info);
    for strand in strands {
        bytes.extend((strand.len() as u16 - 1).to_le_bytes());
    }
    for coordinate in strands.iter().copied().flatten().flatten() {
        bytes.extend(coordinate.to_le_bytes());
    }
    bytes
}

/// Two strands on top of a head at the origin.
pub(crate) fn two_strands() -> Vec<u8> {
    hair_bytes(&[
        &[[0.0, 0.1, 0.0], [0.0, 0.2, 0.0], [0.1, 0.25, 0.0]],
        &[[0.02, 0.1, 0.0], [0.02, 0.2, 0.05]],
    ])
}
