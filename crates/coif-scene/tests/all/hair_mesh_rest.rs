//! Hair meshes come to rest on a body at rest in any pose: on a head that is turned over its shoulders, hair cannot
//! reach its groomed shape, and no force may act towards it permanently.

use std::path::Path;

use coif_scene::{Scene, build, builtin};
use glam::Vec3;

/// Time at which the body stops, time for hair to come to rest, and time of observation after that (s).
const STOP: f64 = 0.5;
const CALM: f64 = 8.0;
const WATCHED: f64 = 2.0;

/// Frames per second.
const FPS: f64 = 30.0;

/// Maximum speed of a point of hair at rest (m/s): less than two millimetres per frame.
const AT_REST: f32 = 0.05;

/// The largest fraction of points that are not at rest while a scene is observed.
fn restless(scene: &str, more: &[&str]) -> f32 {
    let mut sets = vec!["groom.strands=300".into(), format!("body.stop={STOP}")];
    sets.extend(more.iter().map(|set| set.to_string()));
    let text = builtin::text(scene).expect("a built-in scene");
    let scene = Scene::from_toml(text, scene, &sets).expect("a scene");
    let built = build(&scene, Path::new(".")).expect("hair");
    let mut run = built.simulation().expect("a simulation");
    let points = run.strands().point_count();
    let (mut before, mut now) = (vec![Vec3::ZERO; points], vec![Vec3::ZERO; points]);
    run.advance_to(STOP + CALM);
    run.positions(&mut before);
    let mut max_moving = 0;
    for frame in 1..=(WATCHED * FPS) as u32 {
        run.advance_to(STOP + CALM + f64::from(frame) / FPS);
        run.positions(&mut now);
        let moves = |(a, b): &(&Vec3, &Vec3)| a.distance(**b) * FPS as f32 > AT_REST;
        max_moving = max_moving.max(now.iter().zip(&before).filter(moves).count());
        std::mem::swap(&mut before, &mut now);
    }
    assert!(run.report().quarantined.is_empty());
    max_moving as f32 / points as f32
}

#[test]
fn hair_comes_to_rest_on_a_head_that_has_turned() {
    let cases: [(&str, &[&str], f32); 9] = [
        ("hair-mesh-short", &[], 0.0),
        ("hair-mesh-shoulder", &[], 0.0),
        ("hair-mesh-long", &[], 0.0),
        ("hair-mesh-long", &["body.stop=1.3"], 0.0),
        ("hair-mesh-long", &["body.speed=10", "body.stop=1"], 0.0),
        ("hair-mesh-long", &["groom.hair_mesh.resolution=high"], 0.0),
        ("hair-mesh-long", &["body.collide=distance-field"], 0.0),
        ("hair-mesh-long", &["model.substeps=4"], 0.0),
        // Single locks that lie on a shoulder creep down it, at up to `creep_speed`, for half a minute.
        ("hair-mesh-fitted", &["groom.strands=1500"], 0.04),
    ];
    let mut failed = Vec::new();
    for (scene, sets, max_moving) in cases {
        let found = restless(scene, sets);
        println!(
            "{scene} {sets:?}: {found:.4} of the points faster than {AT_REST} m/s, at most {max_moving}"
        );
        if found > max_moving {
            failed.push(format!("{scene} {sets:?}: {found}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
