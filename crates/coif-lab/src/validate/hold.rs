//! `hold`: a groom keeps its shape. Every built-in style is simulated at rest for two seconds under
//! gravity; the largest displacement of a tip, over the length of its strand, stays below 1 %.

use coif::groom::Strands;
use coif::model::{cantilever, follow_the_leader, mass_spring};
use coif_scene::file::Style;

use super::{Check, Findings, Plot, Row, simulation_of};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "hold",
    about: "every built-in style keeps its shape at rest under gravity for 2 s",
    run,
};

/// A model that must hold every style.
struct Case {
    model: &'static str,
    strands: u32,
    /// Suffix of the names of its rows.
    suffix: &'static str,
    sets: &'static [&'static str],
}

/// The models. Mass-spring hair takes sixteen substeps per frame, so only sixteen strands of each style are tested.
const CASES: [Case; 3] = [
    Case { model: follow_the_leader::NAME, strands: 400, suffix: "", sets: &[] },
    Case {
        model: mass_spring::NAME,
        strands: 16,
        suffix: "-mass-spring",
        sets: &["time.steps_per_second=60"],
    },
    Case { model: cantilever::NAME, strands: 400, suffix: "-cantilever", sets: &[] },
];

/// Maximum drift of a tip over the length of its strand.
const TOLERANCE: f64 = 0.01;
/// Samples per second of the plot.
const SAMPLES: u32 = 20;

fn run() -> Result<Findings, Error> {
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    for case in &CASES {
        let mut plot = Plot::new("Tip drift at rest", "time (s)", "largest drift / length");
        for style in Style::NAMES {
            let (row, line) = hold(case, style)?;
            rows.push(row);
            plot.line(style, line);
        }
        plots.push(if case.suffix.is_empty() { plot } else { plot.named(case.model) });
    }
    Ok(Findings { rows, plots })
}

/// One style at rest: the largest drift, and the drift over time.
fn hold(case: &Case, style: &str) -> Result<(Row, Vec<(f64, f64)>), Error> {
    let mut sets = vec![
        format!("groom.style={style}"),
        format!("groom.strands={}", case.strands),
        format!("model.name={}", case.model),
    ];
    sets.extend(case.sets.iter().map(|set| (*set).to_owned()));
    let mut simulation = simulation_of("still", &sets)?;
    let rest = simulation.strands();
    let mut line = vec![(0.0, 0.0)];
    for sample in 1..=2 * SAMPLES {
        let time = f64::from(sample) / f64::from(SAMPLES);
        simulation.advance_to(time);
        line.push((time, drift(&rest, &simulation.strands())));
    }
    let worst = line.iter().map(|p| p.1).fold(0.0, f64::max);
    let row = Row::compare(
        format!("hold/{style}{}", case.suffix),
        simulation.model_name(),
        "largest tip drift / length",
        [worst, 0.0],
        TOLERANCE,
    );
    Ok((row, line))
}

/// The largest displacement of a tip, over the length of its strand.
fn drift(rest: &Strands, now: &Strands) -> f64 {
    let of_strand = |s: usize| match (rest.strand(s).last(), now.strand(s).last()) {
        (Some(a), Some(b)) => f64::from(a.distance(*b) / rest.length(s)),
        _ => 0.0,
    };
    (0..rest.strand_count()).map(of_strand).fold(0.0, f64::max)
}
