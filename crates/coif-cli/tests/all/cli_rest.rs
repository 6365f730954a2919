//! The default settings hold grooms and come to rest, and the quick checks of `validate` pass.

use crate::program::Folder;

/// A head that moves for a second and then stands still for five.
struct Thrown {
    motion: &'static str,
    style: &'static str,
    speed: u32,
    seed: u32,
}

impl Thrown {
    /// The largest speed of a point relative to the scalp (m/s), five seconds after the stop.
    fn speed_at_rest(&self, folder: &Folder) -> f64 {
        let Self { motion, style, speed, seed } = self;
        let sets = [
            format!("groom.style={style}"),
            format!("groom.seed={seed}"),
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
        let fastest = last["relative_speed_max_m_s"].as_f64().expect("a speed");
        println!("{motion} {style} at speed {speed}, seed {seed}: {fastest} m/s (0.01)");
        fastest
    }
}

/// Hair that was moved violently is at rest five seconds after the body.
#[test]
fn thrown_hair_comes_to_rest() {
    let folder = Folder::new();
    let cases = [
        ("fall-and-stop", "long-straight", 1),
        ("fall-and-stop", "long-straight", 2),
        ("fall-and-stop", "ponytail", 5),
        ("fall-and-stop", "bob", 1),
        ("spin", "long-wavy", 1),
        ("spin", "short", 3),
        // The head has turned over its shoulders, and hair lies on them.
        ("shake", "long-straight", 1),
        ("shake", "long-curly", 1),
        ("spin", "long-wavy", 3),
    ];
    for (motion, style, speed) in cases {
        let fastest = Thrown { motion, style, speed, seed: 1 }.speed_at_rest(&folder);
        assert!(fastest < 0.01, "{motion} {style} at speed {speed}: {fastest} m/s");
    }
}

/// The same for random cases, up to twenty times the speed.
#[test]
fn hair_thrown_at_random_comes_to_rest() {
    let folder = Folder::new();
    let motions = ["shake", "nod", "turn", "spin", "walk", "jump", "fall-and-stop"];
    let styles = ["short", "bob", "long-straight", "long-wavy", "long-curly", "ponytail"];
    let speeds = [1, 2, 3, 5, 10, 20];
    let mut state = 20u32;
    let mut below = |count: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % count
    };
    for _case in 0..20 {
        let thrown = Thrown {
            motion: motions[below(motions.len())],
            style: styles[below(styles.len())],
            speed: speeds[below(speeds.len())],
            seed: below(1000) as u32,
        };
        let fastest = thrown.speed_at_rest(&folder);
        let Thrown { motion, style, speed, .. } = thrown;
        assert!(fastest < 0.01, "{motion} {style} at speed {speed}: {fastest} m/s");
    }
}

/// Runs checks of `validate` that take less than a minute each; `hair-mesh` and `strips` take longer.
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
