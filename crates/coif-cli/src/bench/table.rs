//! Rows for people.

use std::fmt::Write as _;

use super::Row;
use crate::units;

/// The rows as a table with a line of explanation.
pub(crate) fn table(rows: &[Row]) -> String {
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
         picture.\nMedians, the fastest piece beside them.\nMemory limit: bytes that must move per particle over the bandwidth of a plain \
         copy, same run.\n",
    );
    out
}
