//! `length`: hair does not stretch. Two seconds of the built-in spin, the largest relative change
//! of any segment in any frame.

use super::{Check, Findings, Plot, Row, simulation_of};
use crate::Error;

pub(super) const CHECK: Check =
    Check { name: "length", about: "segments keep their length while the head spins", run };

/// Single precision leaves about 1e-6 of a segment of a centimetre in a scene of a metre; the
/// rest is a margin for the projection out of the body.
const TOLERANCE: f64 = 1e-4;
const FRAMES: u32 = 120;

fn run() -> Result<Findings, Error> {
    let mut simulation = simulation_of("spin", &["groom.strands=500".into()])?;
    let mut line = Vec::new();
    for frame in 0..FRAMES {
        let time = f64::from(frame) / 60.0;
        simulation.advance_to(time);
        line.push((time, f64::from(simulation.health().stretch_max)));
    }
    let worst = line.iter().map(|p| p.1).fold(0.0, f64::max);
    let mut plot = Plot::new("Stretch while spinning", "time (s)", "largest relative stretch");
    plot.line("spin", line);
    let row = Row::compare(
        "length/spin".into(),
        simulation.model_name(),
        "largest relative stretch",
        [worst, 0.0],
        TOLERANCE,
    );
    Ok(Findings { rows: vec![row], plots: vec![plot] })
}
