//! The built-in scenes: ready to run, and templates for new ones.

use super::scene::Scene;

/// Declares the list from the names of the files.
macro_rules! scenes {
    ($($name:literal,)+) => {
        &[$(($name, include_str!(concat!("../../../../scenes/", $name, ".toml"))),)+]
    };
}

const SCENES: &[(&str, &str)] = scenes![
    "demo",
    "short",
    "bob",
    "long-straight",
    "long-wavy",
    "long-curly",
    "ponytail",
    "fur",
    "still",
    "shake",
    "nod",
    "turn",
    "spin",
    "walk",
    "jump",
    "fall-and-stop",
    "wind",
    "hair-10k",
    "monster",
    "afghan",
    "girl",
    "tuft",
    "hair-loop",
    "hair-twist",
    "hair-pull",
    "hair-spring",
    "hair-sweep",
    "long-straight-10k",
    "long-curly-5k",
    "medium-10k-wind",
    "full-head-100k",
    "strips-short",
    "strips-bob",
    "strips-long",
    "strips-ponytail",
    "hair-mesh-short",
    "hair-mesh-shoulder",
    "hair-mesh-long",
    "hair-mesh-fitted",
    "hair-mesh-locks",
];

/// The names of all built-in scenes: the demo, one per style, one per motion, wind, a benchmark scene, the characters
/// of `muller2012`, the single hairs and heads of `selle2008`, four heads of strips as in `jung2005`, and hair meshes
/// as in `wu2016`.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name)
}

/// The text of a built-in scene, including its comments.
pub fn text(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The title of a built-in scene.
pub fn one_line(name: &str) -> Option<String> {
    Scene::from_toml(text(name)?, name, &[]).ok().map(|scene| scene.title)
}
