//! Formats rows as a table.

use std::fmt::Write as _;

use coif_lab::bench::{Detail, Row};

use crate::units;

/// The rows as a table with an explanation, and a line for each row with additional results.
pub(super) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|r| r.name.len()).fold(12, usize::max);
    let mut out = format!(
        "{:<width$} {:>8} {:>10} {:>7} {:>12} {:>8} {:>12} {:>10} {:>8}  {}\n",
        "name",
        "strands",
        "particles",
        "threads",
        "ns/particle",
        "fastest",
        "memory limit",
        "ms/frame",
        "faster",
        "than"
    );
    for row in rows {
        let limit = row.memory_limit_ns.map_or("-".into(), |ns| format!("{ns:.2}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:<width$} {:>8} {:>10} {:>7} {:>12.2} {:>8.2} {:>12} {:>10.3} {:>7.1}x  {}",
            row.name,
            units::count(row.strands as u64),
            units::count(row.particles as u64),
            row.threads,
            row.ns_per_particle_step,
            row.ns_per_particle_step_min,
            limit,
            row.ms_per_frame,
            row.reference_ratio,
            row.reference,
        );
    }
    out.push_str(
        "\nns per particle and step, for pictures per segment; ms per frame of 1/60 s or per \
         picture.\nMedians, with the fastest piece beside them.\nMemory limit: bytes that have to move per particle over the \
         bandwidth of a plain copy, same run.\n",
    );
    for row in rows {
        if let Some(detail) = &row.detail {
            let _ = writeln!(out, "{}, threads {}: {}", row.name, row.threads, in_words(detail));
        }
    }
    out
}

/// The times of the pieces of a frame, as one line.
fn in_words(detail: &Detail) -> String {
    let mut out = format!("{} a frame", units::seconds(detail.seconds_per_frame));
    let mut fractions: Vec<_> = detail.fractions.iter().collect();
    fractions.sort_by(|a, b| b.1.total_cmp(a.1));
    // Writing to a string cannot fail.
    for (name, fraction) in fractions {
        let _ = write!(out, ", {name} {:.0} %", fraction * 100.0);
    }
    let (substeps, iterations) = (detail.substeps_per_frame, detail.max_iterations);
    let _ = write!(out, "; {substeps} substeps, at most {iterations} iterations");
    if let Some(bytes) = detail.peak_memory_bytes {
        let _ = write!(out, "; {:.2} GB", bytes as f64 * 1e-9);
    }
    if let Some(pairs) = detail.pairs_per_particle {
        let _ = write!(out, "; {pairs:.2} pairs a particle");
    }
    if let Some(growth) = detail.growth {
        let _ = write!(out, "; {growth:.2} times the smallest head's time per particle");
    }
    out
}
