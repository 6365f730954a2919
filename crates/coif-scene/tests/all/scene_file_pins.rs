//! `[[groom.pin]]`: points of strands that a scene pins to bones.

use coif::simulation::Anchor;
use coif_scene::motion::{CHEST, GROUND, HEAD};
use coif_scene::{Scene, build};
use std::path::Path;

const STYLE: &str =
    "[groom]\nstyle = 'long-straight'\nstrands = 40\npoints = 12\n[body]\nresolution = 0.012\n";

fn read(text: &str, sets: &[&str]) -> Result<Scene, coif_scene::file::SceneError> {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    Scene::from_toml(&format!("{STYLE}{text}"), "test", &sets)
}

#[test]
fn pins_of_a_scene_are_read_written_and_tied() {
    let text = "[[groom.pin]]\nto = 'chest'\n[[groom.pin]]\nstrands = '3-5'\npoint = 0.5\n\
                [[groom.pin]]\nstrands = '7'\npoint = 0\nto = 'ground'\n";
    let scene = read(text, &[]).expect("valid");
    assert_eq!(scene.pins.len(), 3);
    let again = Scene::from_toml(&scene.to_toml(), "again", &[]).expect("valid");
    assert_eq!(again.pins, scene.pins);
    let mut simulation =
        build(&scene, Path::new(".")).expect("built").simulation().expect("simulated");
    let pins: Vec<_> = simulation.pins().collect();
    assert_eq!(pins.len(), 44);
    assert!((0..40).all(|s| pins.contains(&(s, 11, Anchor::Bone(CHEST)))));
    assert!((3..6).all(|s| {
        let middle = |&(strand, point, to): &(usize, usize, Anchor)| {
            strand == s && (5..=6).contains(&point) && to == Anchor::Bone(HEAD)
        };
        pins.iter().any(middle)
    }));
    // A point that the scalp carries cannot be pinned: the first one that moves is.
    let first = |p: &&(usize, usize, Anchor)| p.0 == 7 && p.2 == Anchor::Bone(GROUND);
    assert!(pins.iter().filter(first).all(|p| p.1 < 5) && pins.iter().any(|p| first(&p)));
    let before = simulation.strands();
    simulation.advance_to(0.2);
    // On a body at rest pinned hair stays where it is.
    let tip = |strands: &coif::groom::Strands| strands.strand(20)[11];
    assert!(tip(&before).distance(tip(&simulation.strands())) < 1e-4);
    assert_eq!(simulation.report().pins.count, 44);
    let moved = read(text, &["groom.pin.0.to=head"]).expect("valid");
    assert_eq!(moved.pins[0].to.name(), "head");
}

#[test]
fn wrong_pins_are_refused_with_their_place() {
    for (text, expected) in [
        ("[[groom.pin]]\nstrands = '5-3'", "'strands' in [[groom.pin]]"),
        ("[[groom.pin]]\nstrands = 'some'", "'some'"),
        ("[[groom.pin]]\npoint = 1.5", "'point' in [[groom.pin]]"),
        ("[[groom.pin]]\nto = 'foot'", "chest, neck, head, ground"),
        ("[[groom.pin]]\nbone = 'head'", "'bone' in [[groom.pin]]"),
        ("[groom.pin]\nto = 'head'", "[[groom.pin]]"),
    ] {
        let error = read(text, &[]).expect_err(text);
        let all = format!("{error} {}", error.hint().unwrap_or_default());
        assert!(all.contains(expected), "{text}: {all}");
    }
    // A strand that does not exist, and a model without pins.
    for (text, sets, expected) in [
        ("[[groom.pin]]\nstrands = '39-40'", &[][..], "strand 40"),
        ("[[groom.pin]]\n", &["model.ends=free"][..], "follow-the-leader"),
        ("[[groom.pin]]\n", &["model.name=hair-mesh"][..], "hair-mesh"),
    ] {
        let scene = read(text, sets).expect("valid");
        let built = build(&scene, Path::new(".")).expect("built");
        let error = built.simulation().err().expect("refused").to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
