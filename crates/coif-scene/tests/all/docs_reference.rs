//! The documents agree with the code: the reference of the scene file, the example of the README, and the links between
//! files.

use std::path::Path;

use coif_scene::{Scene, build};

const THIS_FILE: &str = include_str!("docs_reference.rs");
const README: &str = include_str!("../../../../README.md");

#[test]
fn the_reference_of_the_scene_file_is_up_to_date() {
    let written = include_str!("../../../../docs/scene-file.md");
    let now = coif_scene::file::reference();
    let first = written.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(
        written == now,
        "docs/scene-file.md is out of date, first at line {}; regenerate it with \
         'coif scenes --reference > docs/scene-file.md'",
        first.unwrap_or(written.lines().count().min(now.lines().count())) + 1,
    );
}

#[test]
fn the_example_of_the_readme_runs() -> Result<(), Box<dyn std::error::Error>> {
    // README begins
    // A scene is plain data; this list does what --set does on the command line.
    let sets = ["groom.strands=500".to_string(), "body.motion=nod".to_string()];
    let scene = Scene::from_toml("[groom]\nstyle = 'bob'\n", "my.toml", &sets)?;

    // Grow the hair, build the body, and bind one to the other.
    let mut simulation = build(&scene, Path::new("."))?.simulation()?;

    // Simulate half a second, thirty frames.
    for frame in 1..=30 {
        simulation.advance_to(f64::from(frame) / 60.0);
    }
    let health = simulation.health();
    println!("stretch {:.1e}, depth {:.1e} m", health.stretch_max, health.penetration_max);
    let tip = simulation.strands().strand(0).last().copied();
    println!("the tip of the first strand is at {tip:?}");
    // README ends
    assert!((simulation.time() - 0.5).abs() < 1e-9);
    assert!(health.stretch_max < 1e-4 && health.non_finite == 0, "{health:?}");
    assert!(simulation.report().quarantined.is_empty());
    Ok(())
}

#[test]
fn the_example_of_the_readme_is_the_one_that_runs() {
    // Find the lines that contain only a mark, not the words in this test.
    let mut lines = THIS_FILE.lines().map(str::trim);
    lines.by_ref().find(|line| *line == "// README begins");
    let here: Vec<&str> = lines.take_while(|line| *line != "// README ends").collect();
    assert!(here.len() > 5, "the marks around the example are gone");
    let there: Vec<&str> = README.lines().map(str::trim).collect();
    assert!(
        there.windows(here.len()).any(|lines| lines == here),
        "the example of README.md differs from the one in tests/all/docs_reference.rs"
    );
}

/// Every link of a document to a file of the project is valid.
#[test]
fn links_of_the_documents_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut missing = Vec::new();
    let mut documents =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned).to_vec();
    for folder in ["docs", "docs/rooms"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        documents.extend(names.filter(|n| n.ends_with(".md")).map(|n| format!("{folder}/{n}")));
    }
    assert!(documents.len() > 10, "{documents:?}");
    for document in &documents {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let folder = root.join(document).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") && !folder.join(file).exists() {
                missing.push(format!("{document}: {file}"));
            }
        }
    }
    assert!(missing.is_empty(), "broken links: {missing:#?}");
}

/// Ends of ranges that depend on other keys, as their lines in the reference say.
const LIMITED_BY_OTHER_KEYS: [&str; 4] = [
    "model.stretch_modulus=1e12",
    "contact.stiction.make=0.1",
    "contact.stiction.break=1e-6",
    "contact.stiction.rest=0.1",
];

/// Both ends of each range that the reference gives for models and contact are accepted, on a small groom.
#[test]
fn the_ends_of_all_ranges_are_accepted() {
    let mut refused = Vec::new();
    let mut section = String::new();
    let mut tried = 0;
    let text = coif_scene::file::reference();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            section = name.trim_matches(['`', '[', ']']).to_owned();
            continue;
        }
        if !["model", "groom.fibre", "world"].contains(&&*section)
            && !section.starts_with("contact")
        {
            continue;
        }
        let cells: Vec<&str> = line.split(" | ").map(|c| c.trim_matches(['|', ' '])).collect();
        let [key, "number" | "number or ramp" | "integer", range, .., meaning] = cells[..] else {
            continue;
        };
        let Some((low, high)) = range.split_once(" to ") else { continue };
        let models = meaning.split_once("Only with model ").map(|(_, rest)| rest);
        let model = models.and_then(|m| m.split([',', '.']).next()).unwrap_or("follow-the-leader");
        for value in [low, high] {
            let scene = format!(
                "[groom]\nstyle = 'tuft'\nstrands = 3\npoints = 4\n[body]\nresolution = 0.02\n\
                 [model]\nname = '{model}'\n"
            );
            let key = format!("{section}.{}={value}", key.trim_matches('`'));
            let built = Scene::from_toml(&scene, "ends.toml", std::slice::from_ref(&key))
                .map_err(|e| e.report())
                .and_then(|scene| build(&scene, Path::new(".")).map_err(|e| e.to_string()))
                .and_then(|built| built.simulation().map(|_| ()).map_err(|e| e.to_string()));
            tried += 1;
            if LIMITED_BY_OTHER_KEYS.contains(&&*key) {
                continue;
            }
            if let Err(why) = built {
                refused.push(format!("{key} ({model}): {why}"));
            }
        }
    }
    assert!(tried > 60, "only {tried} ends were found in the reference");
    assert!(refused.is_empty(), "{refused:#?}");
}
