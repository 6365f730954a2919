//! The shipped default holds grooms and comes to rest, and the quick checks of `validate` pass.

mod program;

use program::Folder;

/// Hair that was thrown about lies still five seconds after the body does. (Single strands that lie against shoulders
/// which the head has turned over need not: the README says so.)
#[test]
fn thrown_hair_comes_to_rest() {
    let folder = Folder::new();
    let cases = [
        ("fall-and-stop", "long-straight", "1"),
        ("fall-and-stop", "long-straight", "2"),
        ("fall-and-stop", "ponytail", "5"),
        ("fall-and-stop", "bob", "1"),
        ("spin", "long-wavy", "1"),
        ("spin", "short", "3"),
    ];
    for (motion, style, speed) in cases {
        let sets = [
            format!("groom.style={style}"),
            format!("body.speed={speed}"),
            "groom.strands=100".into(),
            "body.stop=1.0".into(),
        ];
        let mut args = vec!["simulate", motion, "--frames", "370", "-q"];
        for set in &sets {
            args.extend(["--set", set]);
        }
        let report = folder.json(&args);
        let series = report["series"].as_array().expect("a series");
        let last = &series[series.len() - 1];
        let speed_now = last["relative_speed_max_m_s"].as_f64().expect("a speed");
        println!("{motion} {style} at speed {speed}: {speed_now} m/s (0.01)");
        assert!(speed_now < 0.01, "{motion} {style} at speed {speed}: {speed_now} m/s");
        assert_eq!(report["quarantined"], 0);
    }
}

/// Checks of `validate` that take less than a minute each; `hair-mesh` and `strips` take longer.
fn validate(names: &[&str]) {
    let folder = Folder::new();
    for name in names {
        folder.ok(&["validate", name, "-q"]);
    }
}

#[test]
fn quick_validations_pass() {
    validate(&["length", "chain", "ftl"]);
}

#[test]
fn hold_validation_passes() {
    validate(&["hold"]);
}

#[test]
fn mass_spring_validations_pass() {
    validate(&["coil", "rope"]);
}

#[test]
fn strip_and_field_validations_pass() {
    validate(&["cantilever", "level-set"]);
}

#[test]
fn twist_validation_passes() {
    validate(&["twist"]);
}
