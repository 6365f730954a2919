//! `hold`: a groom keeps its shape. Every built-in style stands still for two seconds under
//! gravity; the largest way that a tip goes, over the length of its strand, stays below 1 %.

use coif::groom::Strands;
use coif_scene::file::Style;

use super::{Check, Findings, Plot, Row, built_in};
use crate::failure::Failure;

pub(super) const CHECK: Check = Check {
    name: "hold",
    about: "every built-in style keeps its shape at rest under gravity for 2 s",
    run,
};

/// Largest drift of a tip over the length of its strand that nobody sees.
const TOLERANCE: f64 = 0.01;
/// Samples per second of the plot.
const SAMPLES: u32 = 20;

fn run() -> Result<Findings, Failure> {
    let mut rows = Vec::new();
    let mut plot = Plot::new("Tip drift at rest", "time (s)", "largest drift / length");
    for style in Style::NAMES {
        let sets = [format!("groom.style={style}"), "groom.strands=400".into()];
        let mut simulation = built_in("still", &sets)?;
        let rest = simulation.strands();
        let mut line = vec![(0.0, 0.0)];
        for sample in 1..=2 * SAMPLES {
            let time = f64::from(sample) / f64::from(SAMPLES);
            simulation.advance_to(time);
            line.push((time, drift(&rest, &simulation.strands())));
        }
        let worst = line.iter().map(|p| p.1).fold(0.0, f64::max);
        rows.push(Row::compare(
            format!("hold/{style}"),
            simulation.model_name(),
            "largest tip drift / length",
            [worst, 0.0],
            TOLERANCE,
        ));
        plot.line(style, line);
    }
    Ok(Findings { rows, plots: vec![plot] })
}

/// The largest way a tip has gone, over the length of its strand.
fn drift(rest: &Strands, now: &Strands) -> f64 {
    let of_strand = |s: usize| match (rest.strand(s).last(), now.strand(s).last()) {
        (Some(a), Some(b)) => f64::from(a.distance(*b) / rest.length(s)),
        _ => 0.0,
    };
    (0..rest.strand_count()).map(of_strand).fold(0.0, f64::max)
}
