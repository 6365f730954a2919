//! Choosing a model: its own keys reach it, those of other models are refused with a hint, and the scene runs.

use std::path::Path;

use coif::model::ModelSettings;
use coif::model::follow_the_leader::Ends;
use coif::params::Ramp;
use coif_scene::file::{Problem, Scene};
use coif_scene::{Built, build};

use crate::scene_text::read_with as read;

fn built(text: &str) -> Built {
    let small = "[groom]\nstrands = 60\npoints = 16\n[body]\nmotion = 'nod'\nresolution = 0.01\n";
    let scene = read(&format!("{small}{text}"), &[]).expect("a valid scene");
    build(&scene, Path::new(".")).expect("a scene without files")
}

#[test]
fn the_keys_of_a_model_reach_it() {
    let scene = read("[model]\nname = 'position-based'\niterations = 7\ndamping = 1", &[]).unwrap();
    let ModelSettings::PositionBased(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!((model.iterations, model.damping.constant()), (7, Some(1.0)));
    let text = "[model]\nsubsteps = 12\nstretch_modulus = 1e6\nname = 'explicit-spring'";
    let scene = read(text, &["model.stretch_damping=0"]).unwrap();
    let ModelSettings::ExplicitSpring(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!(model.substeps, 12);
    assert_eq!((model.stretch_modulus.constant(), model.stretch_damping), (Some(1e6), 0.0));
    // 0 substeps means as many as stability requires.
    let scene = read(text, &["model.substeps=0"]).unwrap();
    let ModelSettings::ExplicitSpring(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!(model.substeps, 0);
}

#[test]
fn the_keys_of_follow_the_leader_reach_it() {
    let text =
        "[model]\nbend_limit = 0.5\nends = 'both-evenly'\nbackward = true\ncorrection = 0.25";
    let scene = read(text, &[]).unwrap();
    let ModelSettings::FollowTheLeader(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!((model.bend_limit, model.correction.constant()), (0.5, Some(0.25)));
    assert_eq!((model.ends, model.backward), (Ends::BothEvenly, true));
    for (name, ends) in Ends::NAMES {
        let scene = read("", &[&format!("model.ends={name}")]).unwrap();
        let ModelSettings::FollowTheLeader(model) = &scene.model else { panic!("{scene:?}") };
        assert_eq!(model.ends, *ends);
    }
    for (set, message) in [
        ("model.ends=tip", "unknown choice of ends 'tip'"),
        (
            "model.ends=1",
            "'ends' in [model]: expected one of root, both, both-evenly, free, found an integer",
        ),
        ("model.bend_limit=1.5", "'bend_limit' in [model] is 1.5: expected 0 to 1"),
        ("model.backward=1", "'backward' in [model]: expected true or false, found an integer"),
    ] {
        assert_eq!(read("", &[set]).unwrap_err().to_string(), message);
    }
    let error = read("[model]\nname = 'position-based'\nends = 'free'", &[]).unwrap_err();
    assert!(matches!(error.problem(), Problem::Conflict { .. }), "{}", error.report());
}

/// The friction of the fibre is that of the built-in body; colliders of the scene have their own.
#[test]
fn the_friction_of_the_fibre_reaches_the_body() {
    let text = "[groom.fibre]\nfriction = 0.7\n\
                [[body.collider]]\nshape = 'sphere'\nradius = 0.1\nfriction = 0.2\n";
    let built = built(text);
    let frictions: Vec<f32> = built.body.colliders().iter().map(|c| c.friction).collect();
    assert!(frictions.len() > 5 && frictions.contains(&0.2), "{frictions:?}");
    assert_eq!(frictions.iter().filter(|f| **f != 0.7).count(), 1, "{frictions:?}");
}

/// A ramp goes from root to tip; anything else is refused with its place.
#[test]
fn a_parameter_can_be_a_ramp() {
    let text = "[model]\nname = 'position-based'\ndamping = [[0, 8], [0.5, 4], [1, 2]]";
    let scene = read(text, &["model.style_time=[[0, 0.05], [1, 1000]]"]).unwrap();
    let ModelSettings::PositionBased(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!(model.damping, Ramp::new(&[[0.0, 8.0], [0.5, 4.0], [1.0, 2.0]]).unwrap());
    assert_eq!((model.style_time.at(0.0), model.style_time.at(1.0)), (0.05, 1000.0));
    assert_eq!(read(&scene.to_toml(), &[]), Ok(scene));
    // A ramp of equal values is a number.
    let scene = read(text, &["model.damping=[[0, 3], [1, 3]]"]).unwrap();
    assert!(scene.to_toml().contains("\ndamping = 3 "), "{}", scene.to_toml());
    let expected = "expected a number (1/s), or a ramp of places from 0 to 1 and numbers, such as [[0, 1], [1, 2]]";
    for (value, message) in [
        ("[[0, 1], [0, 2]]", format!("{expected}, found places that do not increase")),
        ("[]", format!("{expected}, found places that do not increase")),
        ("[1, 2]", format!("{expected}, found an integer")),
        ("[[0, 1, 2]]", format!("{expected}, found an array")),
        ("much", format!("{expected}, found a string")),
    ] {
        let error = read(text, &[&format!("model.damping={value}")]).unwrap_err();
        assert_eq!(error.to_string(), format!("'damping' in [model]: {message}"), "{value}");
    }
    for (value, range) in [("[[0, 1], [1, -2]]", "-2 1/s"), ("[[0, 1], [2, 1]]", "2 1/s")] {
        let error = read(text, &[&format!("model.damping={value}")]).unwrap_err();
        assert!(error.to_string().starts_with(&format!("'damping' in [model] is {range}")));
    }
    let message = read("[model]\nstyle_length = [[0, 8], [1, 2]]", &[]).unwrap_err().to_string();
    assert_eq!(message, "'style_length' in [model]: expected a number of metres, found an array");
}

/// The largest style time disables the style in models that can do without, and is accepted by every model.
#[test]
fn the_largest_style_time_is_no_style() {
    // Mass-spring hair is held by its fibre, and a hair mesh by its own forces: they have no style time.
    let styled = |name: &&&str| !["mass-spring", "hair-mesh"].contains(*name);
    for name in ModelSettings::NAMES.iter().filter(styled) {
        let text = format!("[model]\nname = '{name}'\nstyle_time = 1000\n");
        let scene = read(&text, &[]).unwrap();
        let style_time = match &scene.model {
            ModelSettings::FollowTheLeader(m) => m.style_time.constant(),
            ModelSettings::PositionBased(m) => m.style_time.constant(),
            ModelSettings::ExplicitSpring(m) => m.style_time.constant(),
            ModelSettings::Cantilever(m) => m.style_time.constant(),
            other => panic!("{other:?}"),
        };
        let expected = if *name == "cantilever" { 1000.0 } else { f32::INFINITY };
        assert_eq!(style_time, Some(expected), "{name}");
        assert!(scene.to_toml().contains("\nstyle_time = 1000 "), "{}", scene.to_toml());
        assert_eq!(read(&scene.to_toml(), &[]).as_ref(), Ok(&scene));
        let mut simulation = built(&text).simulation().unwrap();
        simulation.advance_to(0.2);
        assert_eq!(simulation.health().non_finite, 0, "{name}");
        assert!(simulation.report().quarantined.is_empty(), "{name}");
    }
    let scene = read("[model]\nstyle_time = 999", &[]).unwrap();
    let ModelSettings::FollowTheLeader(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!(model.style_time.constant(), Some(999.0));
}

#[test]
fn keys_of_another_model_are_refused_with_a_hint() {
    for (text, message, hint) in [
        (
            "[model]\nname = 'position-based'\ncorrection = 1",
            "'correction' in [model] cannot be used together with model 'position-based'",
            "'correction' belongs to follow-the-leader; position-based has style_time, damping, friction, hold_shape, restitution, iterations",
        ),
        (
            "[model]\n\niterations = 3",
            "'iterations' in [model] cannot be used together with model 'follow-the-leader', which is \
             the default",
            "'iterations' belongs to position-based; follow-the-leader has style_time, style_length",
        ),
        (
            "[model]\nname = 'follow-the-leader'\nsubsteps = 3",
            "'substeps' in [model] cannot be used together with model 'follow-the-leader'",
            "'substeps' belongs to explicit-spring",
        ),
    ] {
        let error = read(text, &[]).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().unwrap().starts_with(hint), "{}", error.report());
        assert_eq!((error.line(), error.column()), (3, 1), "{}", error.report());
    }
    // The unknown name is the error, not the keys after it.
    let error = read("[model]\nname = 'position-bases'\niterations = 3", &[]).unwrap_err();
    assert!(matches!(error.problem(), Problem::UnknownChoice { .. }), "{}", error.report());
    let error = read("[model]\nname = 3\niterations = 3", &[]).unwrap_err();
    assert!(matches!(error.problem(), Problem::WrongType { .. }), "{}", error.report());
}

/// Setting another model on the command line drops the keys of the previous one.
#[test]
fn another_model_on_the_command_line_drops_the_keys_of_the_first() {
    let text = "[model]\nname = 'position-based'\niterations = 3\nstyle_time = 0.5";
    let scene = read(text, &["model.name=explicit-spring"]).unwrap();
    let ModelSettings::ExplicitSpring(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!(model.style_time.constant(), Some(0.5), "keys of both models stay");
    // The same model again changes nothing; a contradiction within the command line stays one.
    let scene = read(text, &["model.name=position-based"]).unwrap();
    let ModelSettings::PositionBased(model) = &scene.model else { panic!("{scene:?}") };
    assert_eq!(model.iterations, 3);
    let error = read(text, &["model.iterations=4", "model.name=explicit-spring"]).unwrap_err();
    assert!(matches!(error.problem(), Problem::Conflict { .. }), "{}", error.report());
    assert!(error.place().is_set);
}

#[test]
fn every_model_moves_hair_on_the_built_in_head() {
    for name in ModelSettings::NAMES {
        let built = built(&format!("[model]\nname = '{name}'"));
        let mut simulation = built.simulation().unwrap();
        assert_eq!(simulation.model_name(), *name);
        simulation.advance_to(0.5);
        let health = simulation.health();
        println!("{name}: {health:?}");
        assert!(simulation.report().quarantined.is_empty(), "{name}");
        assert_eq!(health.non_finite, 0, "{name}");
        // Strands in a hair mesh are interpolated: the limits hold for the mesh, not for them.
        if *name != "hair-mesh" {
            assert!(health.penetration_max < 1e-3, "{name}: {health:?}");
            assert!(health.stretch_max < 0.1, "{name}: {health:?}");
        }
    }
}

/// Contact between hairs is refused by models that do not simulate strands.
#[test]
fn models_of_strips_and_meshes_refuse_contact_between_hairs() {
    for model in ["hair-mesh", "cantilever"] {
        for table in ["volume", "stiction", "repulsion", "edge-collision"] {
            let text = format!("[model]\nname = '{model}'\n[contact.{table}]\n");
            let message = built(&text).simulation().err().expect("no such contact").to_string();
            let expected = format!("model '{model}' does not take contact");
            assert!(message.starts_with(&expected), "{table}: {message}");
        }
    }
}

#[test]
fn springs_that_are_too_stiff_for_their_substeps_say_how_many_they_need() {
    let text = "[model]\nname = 'explicit-spring'\nsubsteps = 2";
    let message = built(text).simulation().err().unwrap().to_string();
    let needed = message.rsplit("expected ").next().and_then(|t| t.split(' ').next()).unwrap();
    assert!(needed.parse::<u32>().is_ok_and(|n| n > 2), "{message}");
    let enough = text.replace("= 2", &format!("= {needed}"));
    assert!(built(&enough).simulation().is_ok());
}

/// Strips that cannot grow report what is wrong with them, not with the scalp.
#[test]
fn strips_that_cannot_grow_report_the_reason() {
    let grow = |keys: &str| {
        let text = format!("[groom]\nstyle = 'strips'\n{keys}\n[model]\nname = 'cantilever'");
        build(&Scene::from_toml(&text, "test.toml", &[]).unwrap(), Path::new("."))
    };
    let error = grow("strip_tangent = [0, 0, 0]").err().expect("no strips").to_string();
    assert!(error.contains("tangent"), "{error}");
    // Too many strips are reduced, with a warning.
    let many =
        grow("strands = 640\nstrip_density = 100000\nstrip_layers = 64").expect("fewer strips");
    let told =
        |w: &String| w.contains("200000 or fewer") && w.contains("lower groom.strip_density");
    assert!(many.warnings.iter().any(told), "{:?}", many.warnings);
}

/// Keys with the names of the last version still work, in a file and on the command line, with a warning.
#[test]
fn keys_with_old_names_work_and_warn() {
    let text = "[model]\nname = 'mass-spring'\nlongest_part = 0.002\n";
    let scene = read(text, &["model.shortest_part=0.001"]).expect("old names");
    let ModelSettings::MassSpring(settings) = &scene.model else { panic!("{:?}", scene.model) };
    assert_eq!((settings.longest_substep, settings.shortest_substep), (0.002, 0.001));
    assert_eq!(scene.warnings.len(), 2, "{:?}", scene.warnings);
    for (warning, new) in scene.warnings.iter().zip(["longest_substep", "shortest_substep"]) {
        assert!(warning.contains(&format!("model.{new}")), "{warning}");
    }
    // `--set` overrides the file, whichever name the key has there.
    let scene = read(text, &["model.longest_part=0.004"]).expect("old names");
    let ModelSettings::MassSpring(settings) = &scene.model else { panic!("{:?}", scene.model) };
    assert_eq!(settings.longest_substep, 0.004);
    let text = "[model]\nname = 'hair-mesh'\nparts = 3\n";
    let scene = read(text, &["model.most_iterations=70"]).expect("old names");
    let ModelSettings::HairMesh(settings) = &scene.model else { panic!("{:?}", scene.model) };
    assert_eq!((settings.substeps, settings.max_iterations), (3, 70));
    for (warning, new) in scene.warnings.iter().zip(["substeps", "max_iterations"]) {
        assert!(warning.contains(&format!("model.{new}")), "{warning}");
    }
    assert_eq!(scene.warnings.len(), 2, "{:?}", scene.warnings);
    // The written scene has the new names and no warnings.
    assert!(read(&scene.to_toml(), &[]).expect("new names").warnings.is_empty());
}
