//! Scene files as text, for the tests of reading and refusing.

use coif_scene::file::{Scene, SceneError};

pub(crate) fn read(text: &str) -> Result<Scene, SceneError> {
    Scene::from_toml(text, "test.toml", &[])
}

pub(crate) fn read_with(text: &str, sets: &[&str]) -> Result<Scene, SceneError> {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    Scene::from_toml(text, "test.toml", &sets)
}

/// The error of a text that must be refused.
pub(crate) fn refused(text: &str) -> SceneError {
    match read(text) {
        Err(error) => error,
        Ok(_) => panic!("this was accepted:\n{text}"),
    }
}

pub(crate) fn refused_with(text: &str, sets: &[&str]) -> SceneError {
    match read_with(text, sets) {
        Err(error) => error,
        Ok(_) => panic!("this was accepted: {sets:?}\n{text}"),
    }
}

#[track_caller]
pub(crate) fn check(text: &str, line: usize, column: usize, message: &str, hint: &str) {
    let error = refused(text);
    assert_eq!(error.to_string(), message);
    assert_eq!((error.line(), error.column()), (line, column), "{}", error.report());
    let found = error.hint().unwrap_or_default();
    assert!(found.contains(hint) && (found.is_empty() == hint.is_empty()), "hint: {found}");
}
