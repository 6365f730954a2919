//! Dependencies between the modules of the crate: a module uses only modules that precede it in a fixed order.

use std::path::Path;

/// The modules in order of dependency. A module may use itself, those before it, and `error`.
const MODULES: [&str; 11] = [
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

/// Collects (file, module) where a file below a folder uses a module that comes after its own.
fn collect_violations(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_violations(&path, root, found);
            continue;
        }
        let inside = path.strip_prefix(root).expect("a file below the root");
        let name = inside.to_string_lossy().replace('\\', "/");
        let module = name.split(['/', '.']).next().unwrap_or_default();
        let Some(place) = MODULES.iter().position(|m| *m == module) else { continue };
        // Tests and links in comments may use any module.
        if name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let end = used.find(|c: char| !c.is_alphanumeric() && c != '_');
                let used = &used[..end.unwrap_or(used.len())];
                if MODULES.iter().position(|m| *m == used).is_some_and(|there| there > place) {
                    found.push((name.clone(), used.to_owned()));
                }
            }
        }
    }
}

#[test]
fn modules_use_only_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect_violations(&root, &root, &mut found);
    assert!(found.is_empty(), "these files use later modules: {found:#?}");
}
