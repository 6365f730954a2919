//! The examples are as the documentation describes them.

const README: &str = include_str!("../../../../README.md");
const GAME_LOOP: &str = include_str!("../../examples/game_loop.rs");
const OWN_MODEL: &str = include_str!("../../examples/own_model.rs");

#[test]
fn the_readme_quotes_the_game_loop() {
    let library = README.split("## As a library").nth(1).unwrap_or_default();
    let shown = library.split("```").nth(1).unwrap_or_default();
    let lines = shown.lines().skip(1).map(str::trim).filter(|line| !line.starts_with("//"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    assert!(lines.len() > 5, "{lines:?}");
    for line in lines {
        assert!(GAME_LOOP.lines().any(|there| there.trim() == line), "{line}");
    }
}

#[test]
fn a_custom_model_takes_fewer_than_100_lines() {
    assert!(OWN_MODEL.lines().count() < 100);
}
