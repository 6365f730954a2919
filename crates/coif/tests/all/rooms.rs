//! Layers of the crate: a module depends on those above it in the list, never on those beneath.

use std::path::Path;

/// The rooms, from top to bottom. What a room may use is itself, those above it, and `error`.
const ROOMS: [&str; 11] = [
    "limits",
    "math",
    "params",
    "groom",
    "body",
    "environment",
    "collide",
    "contact",
    "model",
    "grow",
    "simulation",
];

/// Notes which files below a folder use rooms beneath their own.
fn look(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            look(&path, root, found);
            continue;
        }
        let inside = path.strip_prefix(root).expect("a file below the root");
        let name = inside.to_string_lossy().replace('\\', "/");
        let room = name.split(['/', '.']).next().unwrap_or_default();
        let Some(place) = ROOMS.iter().position(|r| *r == room) else { continue };
        // Tests and links in comments are free.
        if name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let end = used.find(|c: char| !c.is_alphanumeric() && c != '_');
                let used = &used[..end.unwrap_or(used.len())];
                if ROOMS.iter().position(|r| *r == used).is_some_and(|there| there > place) {
                    found.push((name.clone(), used.to_owned()));
                }
            }
        }
    }
}

#[test]
fn rooms_know_only_those_above_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    look(&root, &root, &mut found);
    assert!(found.is_empty(), "these look down: {found:#?}");
}
