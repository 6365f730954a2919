//! `hair-mesh`: hair meshes spring back (`wu2016` 4, figures 7 to 9), and what that takes.
//!
//! Each length of hair is shaken at ten times the speed of a lively head for two seconds, one step a
//! frame at 30 frames a second, and then left alone for five. And it is collapsed onto its roots with
//! nothing around it. Then every vertex must be near its place, every corner have its volume, and none
//! be turned inside out. The same without the volume force, and without deformation minimisation, shows
//! what these are good for.

use coif::model::hair_mesh::{MeshDynamics, MeshMeasure, NAME, Settings};
use coif::simulation::World;

use super::{Check, Findings, Plot, Row};
use crate::failure::Failure;
use crate::shaken_mesh::{STEP, ShakenMesh};

pub(super) const CHECK: Check =
    Check { name: "hair-mesh", about: "hair meshes spring back after violence and collapse", run };

/// The scenes with hair of three lengths.
const LENGTHS: [&str; 3] = ["short", "shoulder", "long"];

/// Frames of violence, and of rest after it: two and five seconds.
const SHAKEN: usize = 60;
const CALM: usize = 150;

/// How much faster than life.
const SPEED: f32 = 10.0;

/// What is asked for: a hundredth of the length, of the volume.
const SHARE: f64 = 0.01;

/// What a run came to.
struct Outcome {
    after: MeshMeasure,
    /// Mean distance from rest over the length, frame by frame.
    line: Vec<(f64, f64)>,
    /// Vertices inside the body after a violent frame, on the mean.
    inside: f64,
}

fn run() -> Result<Findings, Failure> {
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    let mut inverted = 0.0;
    for length in LENGTHS {
        let shaken = ShakenMesh::built_in(&format!("hair-mesh-{length}"), "low")?;
        let all = Settings::default();
        let no_volume = Settings { bulk_modulus: 0.0, ..all.clone() };
        let no_minimise = Settings { minimise: false, clear_inside: false, ..all.clone() };

        let mut plot = Plot::new(
            &format!("Recovery of {length} hair"),
            "time (s)",
            "mean distance from rest / length",
        );
        let violent = shake(&shaken, &all)?;
        recovery(&mut rows, &format!("ten-times/{length}"), &violent.after);
        let loose = shake(&shaken, &no_minimise)?;
        // Figure 9: without minimisation, more vertices are left inside the body.
        rows.push(Row::at_least(
            format!("ten-times/{length}/inside-without-minimisation"),
            NAME,
            "vertices inside the body after a frame, without minimisation (reference: with)",
            [loose.inside, violent.inside],
        ));

        let collapsed = collapse(&shaken, &all)?;
        recovery(&mut rows, &format!("collapse/{length}"), &collapsed.after);
        let flat = collapse(&shaken, &no_volume)?;
        inverted += f64::from(flat.after.inverted);
        // Figure 8: without the volume force, prisms do not find their volume again.
        rows.push(Row::at_least(
            format!("collapse/{length}/volume-without-volume-force"),
            NAME,
            "largest change of a prism's volume in the end, without volume force (reference: with)",
            [flat.after.volume_change, collapsed.after.volume_change].map(f64::from),
        ));
        for (name, outcome) in [
            ("ten times the speed", violent),
            ("without minimisation", loose),
            ("collapse", collapsed),
            ("collapse without volume", flat),
        ] {
            plot.line(name, outcome.line);
        }
        plots.push(plot);
    }
    // Figure 8: without the volume force, corners stay inside out. Short hair recovers all the same.
    rows.push(Row::at_least(
        "collapse/inverted-without-volume".into(),
        NAME,
        "corners inside out in the end, without volume force",
        [inverted, 1.0],
    ));
    Ok(Findings { rows, plots })
}

fn share(measure: &MeshMeasure) -> f64 {
    f64::from(measure.mean_distance / measure.length)
}

/// The three rows that recovery takes.
fn recovery(rows: &mut Vec<Row>, name: &str, after: &MeshMeasure) {
    let distance = "mean distance from rest over the length";
    let volume = "largest change of a prism's volume over its volume";
    rows.push(Row::compare(format!("{name}/distance"), NAME, distance, [share(after), 0.0], SHARE));
    rows.push(Row::compare(
        format!("{name}/volume"),
        NAME,
        volume,
        [f64::from(after.volume_change), 0.0],
        SHARE,
    ));
    let inverted = f64::from(after.inverted);
    rows.push(Row::compare(
        format!("{name}/inverted"),
        NAME,
        "corners inside out",
        [inverted, 0.0],
        0.0,
    ));
}

/// Violence on a bust, then rest.
fn shake(shaken: &ShakenMesh, settings: &Settings) -> Result<Outcome, Failure> {
    let mut hair = MeshDynamics::new(&shaken.mesh, settings, World::default().gravity)?;
    let mut broken = vec![false; shaken.mesh.column_count()];
    let (mut line, mut inside) = (Vec::new(), 0.0);
    let at_rest = shaken.step(None, None).inside(&hair);
    let time = |frame: usize| (frame <= SHAKEN).then_some(frame as f32 * STEP * SPEED);
    for frame in 0..SHAKEN + CALM {
        let step = shaken.step(time(frame), time(frame + 1));
        let report = step.advance(&mut hair, &mut broken);
        let now = hair.measure();
        if frame < SHAKEN {
            let more = step.inside(&hair).saturating_sub(at_rest);
            inside += more as f64 / SHAKEN as f64;
        }
        // Hair that had to be put back has not come back by itself.
        let away = if report.broken > 0 { f64::NAN } else { share(&now) };
        line.push((f64::from(frame as f32 * STEP), away));
    }
    Ok(Outcome { after: hair.measure(), line, inside })
}

/// All vertices on their roots, with nothing around them, then rest.
fn collapse(shaken: &ShakenMesh, settings: &Settings) -> Result<Outcome, Failure> {
    let mut hair = MeshDynamics::new(&shaken.mesh, settings, World::default().gravity)?;
    let mut broken = vec![false; shaken.mesh.column_count()];
    hair.collapse();
    let mut line = Vec::new();
    let still = shaken.step(None, None).in_empty_space();
    for frame in 0..CALM {
        still.advance(&mut hair, &mut broken);
        line.push((f64::from(frame as f32 * STEP), share(&hair.measure())));
    }
    Ok(Outcome { after: hair.measure(), line, inside: 0.0 })
}
