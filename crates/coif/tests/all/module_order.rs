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
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for path in lines.collect::<Vec<_>>().join("\n").split("crate::").skip(1) {
            let later = |used: &&str| MODULES.iter().position(|m| m == used) > Some(place);
            found.extend(
                first_names(path).filter(later).map(|used| (name.clone(), used.to_owned())),
            );
        }
    }
}

/// The first name of a path, or of every path in a list: `a` of `a::b`, `a` and `c` of `{a::b, c}`.
fn first_names(path: &str) -> impl Iterator<Item = &str> {
    let list = path.strip_prefix('{').and_then(|list| Some(&list[..list.find(';')?]));
    let mut depth = 0;
    let top_level = move |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    list.unwrap_or(path).split(top_level).take(if list.is_some() { usize::MAX } else { 1 }).map(
        |item| {
            let item = item.trim_start();
            &item[..item.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(item.len())]
        },
    )
}

#[test]
fn first_names_are_those_of_paths_and_lists() {
    let names = |path| first_names(path).collect::<Vec<_>>();
    assert_eq!(names("grow::Growth;\nuse x"), ["grow"]);
    assert_eq!(names("{Error, model::{Model, Lender}, grow};\nlet a"), ["Error", "model", "grow"]);
}

#[test]
fn modules_use_only_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect_violations(&root, &root, &mut found);
    assert!(found.is_empty(), "these files use later modules: {found:#?}");
}
