//! Collision and contact keys: the body's surface as a distance field, and hair on hair as a volume. The keys reach the
//! simulation, and invalid ones are refused with a hint.

use std::path::Path;

use coif::contact::{ContactSettings, broad_phase, strand_contact, volume};
use coif_scene::file::{Collide, FieldScene, Problem, Scene};
use coif_scene::{Built, build};

use crate::scene_text::read_with as read;

fn built(text: &str) -> Built {
    let small = "groom.strands = 80\ngroom.points = 12\nbody.resolution = 0.01\n";
    let scene = read(&format!("{small}{text}"), &[]).unwrap_or_else(|e| panic!("{}", e.report()));
    build(&scene, Path::new(".")).expect("a scene without files")
}

#[track_caller]
fn check(text: &str, sets: &[&str], message: &str, hint: &str) {
    let error = read(text, sets).expect_err("it must be refused");
    assert_eq!(error.to_string(), message);
    assert!(error.hint().unwrap_or_default().contains(hint), "{}", error.report());
    assert_eq!(error.place().is_set, !sets.is_empty(), "{}", error.report());
}

// ---- the body's surface ----

#[test]
fn the_surface_reaches_the_world_with_a_cell_that_fits_the_body() {
    let built = built("body.collide = 'distance-field'\n");
    let surface = built.world().surface.expect("hair collides with the surface");
    let (lo, hi) = built.body.rest().bounds().unwrap();
    let extent = (hi - lo).max_element();
    assert!((surface.field.cell - extent / 60.0).abs() < 1e-6, "{surface:?} of {extent} m");
    assert_eq!((surface.friction, surface.restitution), (0.3, 0.0));
    let mut colliders = Vec::new();
    built.body.collider_poses_at(0.0, &mut colliders);
    assert!(colliders.is_empty(), "the body's own shapes are not used");
    let mut simulation = built.simulation().unwrap();
    simulation.advance_to(0.1);
    assert!(simulation.surface_report().is_some_and(|r| !r.cell_grown));
}

#[test]
fn listed_shapes_are_added_to_the_surface() {
    let built = built("body.collide = 'distance-field'\nbody.collider = [{ shape = 'plane' }]\n");
    let mut colliders = Vec::new();
    built.body.collider_poses_at(0.0, &mut colliders);
    assert_eq!(colliders.len(), 1);
}

#[test]
fn the_keys_of_the_surface_reach_it() {
    let text = "[body]\ncollide = 'distance-field'\nfield_cell = 0.02\nfield_friction = 1\n\
                field_restitution = 0.5\n";
    let scene = read(text, &[]).unwrap();
    assert_eq!(scene.body.collide, Collide::DistanceField);
    let expected = FieldScene { cell: Some(0.02), friction: 1.0, restitution: 0.5 };
    assert_eq!(scene.body.field, expected);
    let built = build(&Scene { groom: read(SMALL, &[]).unwrap().groom, ..scene }, Path::new("."));
    let surface = built.unwrap().world().surface.unwrap();
    assert_eq!((surface.field.cell, surface.friction, surface.restitution), (0.02, 1.0, 0.5));
    assert_eq!(read("", &[]).unwrap().body.field.cell, None);
}

const SMALL: &str = "[groom]\nstrands = 10";

#[test]
fn keys_of_the_surface_need_the_surface() {
    check(
        "[body]\nfield_cell = 0.01",
        &[],
        "'field_cell' in [body] needs collide = \"distance-field\"",
        "set body.collide=distance-field, or remove 'field_cell'",
    );
    check(
        "[body]\ncollide = 'none'",
        &["body.field_friction=1"],
        "'field_friction' in [body] needs collide = \"distance-field\"",
        "body.collide",
    );
    let on = "body.collide=distance-field";
    let range = "'field_cell' in [body] is 0 m: expected 0.001 to 1 m";
    check("", &[on, "body.field_cell=0"], range, "");
    let range = "'field_restitution' in [body] is 2: expected 0 to 1";
    check("", &[on, "body.field_restitution=2"], range, "");
    let range = "'field_friction' in [body]: expected a number, found a string";
    check("", &[on, "body.field_friction=much"], range, "");
    // If the neighbouring key is invalid, that is the error.
    let text = "[body]\ncollide = 3\nfield_cell = 0.01";
    let error = read(text, &[]).unwrap_err();
    assert!(matches!(error.problem(), Problem::WrongType { .. }), "{}", error.report());
}

/// Setting another collision method drops the details of the previous one.
#[test]
fn another_collision_method_on_the_command_line_drops_the_keys_of_the_surface() {
    let text = "[body]\ncollide = 'distance-field'\nfield_cell = 0.01\nspeed = 2";
    let scene = read(text, &["body.collide=primitives"]).unwrap();
    assert_eq!((scene.body.collide, scene.body.speed), (Collide::Primitives, 2.0));
    assert_eq!(scene.body.field, FieldScene::default());
    let scene = read(text, &["body.collide=distance-field"]).unwrap();
    assert_eq!(scene.body.field.cell, Some(0.01), "the same again changes nothing");
    let error = read(text, &["body.field_cell=0.02", "body.collide=none"]).unwrap_err();
    assert!(matches!(error.problem(), Problem::Missing { .. }), "{}", error.report());
    assert!(error.place().is_set);
}

/// A tetrahedron from a file, without colliders: hair stays out of its surface.
#[test]
fn a_mesh_from_a_file_needs_no_colliders_with_its_surface() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "v -.1 0 -.1\nv .1 0 -.1\nv 0 0 .1\nv 0 .2 0\ng top\nf 1 4 2\nf 2 4 3\nf 3 4 1\n\
                g base\nf 1 2 3\n";
    std::fs::write(folder.path().join("a.obj"), mesh).unwrap();
    let hair = "v 0 .2 0\nv .02 .24 0\nv .06 .25 0\nv .1 .25 0\nl 1 2 3 4\n";
    std::fs::write(folder.path().join("hair.obj"), hair).unwrap();
    let text = "groom.file = 'hair.obj'\nbody.file = 'a.obj'\nmodel.hold_shape = false\n\
                model.style_time = 1000\n";
    let deepest = |set: &str| {
        let built = build(&read(text, &[set]).unwrap(), folder.path()).unwrap();
        let mut simulation = built.simulation().unwrap();
        let mut depth = 0.0f32;
        for frame in 1..60 {
            simulation.advance_to(f64::from(frame) / 60.0);
            depth = depth.max(simulation.health().penetration_max);
        }
        (built.warnings, depth, simulation.strands())
    };
    let (warnings, depth, strands) = deepest("body.collide=distance-field");
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(depth < 1e-3, "{depth}");
    let (warnings, _, through) = deepest("body.collide=primitives");
    assert!(warnings.iter().any(|w| w.contains("distance-field")), "{warnings:?}");
    let tip = |strands: &coif::groom::Strands| strands.strand(0)[3];
    assert!(tip(&strands).distance(tip(&through)) > 0.01, "the surface changes nothing");
}

// ---- hair as a volume ----

#[test]
fn a_table_or_a_name_enables_the_volume() {
    let on = Some(volume::Settings::default());
    for text in [
        "[contact.volume]",
        "contact = ['volume']",
        "contact = ['volume', 'volume']",
        "[contact]\nvolume = {}",
    ] {
        let scene = read(text, &[]).unwrap_or_else(|e| panic!("{}", e.report()));
        assert_eq!(scene.volume, on, "{text}");
        assert_eq!(
            scene.world().contacts,
            on.clone().into_iter().map(Into::into).collect::<Vec<_>>(),
            "{text}"
        );
        assert_eq!(read(text, &["contact=[]"]).unwrap().volume, None, "{text}");
    }
    for text in ["", "[contact]", "contact = []"] {
        assert_eq!(read(text, &[]).unwrap().volume, None, "{text}");
        for set in ["contact=[\"volume\"]", "contact.volume={}", "contact={volume={}}"] {
            assert_eq!(read(text, &[set]).unwrap().volume, on, "{text} {set}");
        }
    }
}

#[test]
fn the_keys_of_the_volume_reach_it() {
    let text = "[contact.volume]\nfriction = 0.25\nrepulsion = 0.5\ncell = 0.02\n";
    let expected = volume::Settings {
        friction: 0.25,
        repulsion: 0.5,
        cell: 0.02,
        ..volume::Settings::default()
    };
    let scene = read(text, &[]).unwrap();
    assert_eq!(scene.volume, Some(expected.clone()));
    // A key on the command line enables it, and changes only itself.
    for text in ["", "contact = ['volume']", "[contact.volume]"] {
        let volume = read(text, &["contact.volume.friction=0.2"]).unwrap().volume;
        let default = volume::Settings::default();
        assert_eq!(volume, Some(volume::Settings { friction: 0.2, ..default }), "{text}");
    }
    let volume = read(text, &["contact.volume.friction=1"]).unwrap().volume;
    assert_eq!(volume, Some(volume::Settings { friction: 1.0, ..expected }));
    let mut simulation = built(text).simulation().unwrap();
    simulation.advance_to(0.05);
    assert_eq!(simulation.report().contact.volume.expect("a report").cell, 0.02);
}

#[test]
fn contacts_that_do_not_fit_are_refused() {
    let unknown = "unknown contact 'volme'";
    check("[contact.volme]", &[], unknown, "did you mean 'volume'? available: volume");
    check("contact = ['volume', 'volme']", &[], unknown, "did you mean 'volume'?");
    check("", &["contact.volme.friction=1"], unknown, "did you mean 'volume'?");
    for name in coif_scene::file::PLANNED_CONTACTS {
        let message = format!("contact '{name}' is not available yet");
        check(&format!("contact = ['{name}']"), &[], &message, "available: volume");
        check(&format!("[contact.{name}]"), &[], &message, "available: volume");
    }
    let list = "'contact' at the top level: expected a table or a list of names, found";
    check("contact = 'volume'", &[], &format!("{list} a string"), "contact = [\"volume\"]");
    check("contact = [1]", &[], &format!("{list} an array"), "contact = [\"volume\"]");
    check("contact = ['volume', true]", &[], &format!("{list} an array"), "[contact.volume]");
    check("[[contact]]", &[], &format!("{list} an array"), "[contact.volume]");
    let table = "'volume' in [contact]: expected a table, found true or false";
    check("contact.volume = true", &[], table, "");
    check(
        "[contact.volume]\nfrction = 0.1",
        &[],
        "unknown key 'frction' in [contact.volume]",
        "did you mean 'friction'? known keys: friction, repulsion, rest_density, cell",
    );
    let range = "'friction' in [contact.volume] is 1.5: expected 0 to 1";
    check("[contact.volume]\nfriction = 1.5", &[], range, "");
    let range = "'cell' in [contact.volume] is 0 m: expected 0.0001 to 10 m";
    check("", &["contact.volume.cell=0"], range, "");
    let kind = "'repulsion' in [contact.volume]: expected a number of metres, found a string";
    check("", &["contact.volume.repulsion=far"], kind, "");
}

#[test]
fn a_written_scene_has_the_volume_only_if_it_is_enabled() {
    let off = Scene::default().to_toml();
    assert!(off.contains("\n# [contact.volume]\n"), "{off}");
    let on = read("[contact.volume]\nfriction = 0.2", &[]).unwrap();
    let text = on.to_toml();
    assert!(text.contains("\n[contact.volume]\nfriction = 0.2 "), "{text}");
    assert_eq!(read(&text, &[]), Ok(on));
}

#[test]
fn detection_is_chosen_by_name_and_enables_nothing() {
    let text = "[contact.strands]\ndetection = 'grid'\nmargin = 1e-4\n";
    let scene = read(text, &[]).unwrap();
    assert!(scene.contacts().is_empty());
    let scene = read(text, &["contact.stiction={}"]).unwrap();
    let [ContactSettings::Strands(strands)] = &scene.contacts()[..] else { panic!("one contact") };
    let wanted = broad_phase::Settings { method: broad_phase::Method::Grid, margin: 1e-4 };
    assert!(strands.detection == wanted && strands.stiction.is_some());
    let by_default = read("[contact.stiction]", &[]).unwrap().strands.detection;
    assert_eq!(by_default, broad_phase::Settings::default());
    assert_eq!(by_default, strand_contact::Settings::NONE.detection);
    let message = "unknown detection 'gird'";
    check("[contact.strands]\ndetection = 'gird'", &[], message, "did you mean 'grid'?");
    check("contact = ['strands']", &[], "unknown contact 'strands'", "available: volume");
}
