//! The table of a sweep: one row per combination, as CSV.

use crate::run::Outcome;

/// Declares the figures of a row: name of the column, and value from an outcome.
macro_rules! figures {
    ($($name:literal: |$outcome:ident| $value:expr;)+) => {
        /// Names of the figures, with units.
        pub(super) const FIGURES: &[&str] = &[$($name),+];

        /// The figures of an outcome, in this order; empty where there is none.
        fn figures(outcome: &Outcome) -> Vec<String> {
            vec![$({
                let $outcome = outcome;
                $value
            }),+]
        }
    };
}

/// A number with the shortest digits that read back as the same bits.
fn number(x: impl std::fmt::Debug) -> String {
    format!("{x:?}")
}

/// A number that may be absent.
fn optional(x: Option<impl std::fmt::Debug>) -> String {
    x.map(number).unwrap_or_default()
}

/// The maximum over all frames.
fn most(outcome: &Outcome, of: fn(&crate::run::Row) -> f32) -> String {
    optional(outcome.series.iter().map(of).reduce(f32::max))
}

figures! {
    "strands": |o| number(o.strands);
    "points": |o| number(o.points);
    "frames": |o| number(o.frames);
    "steps_per_second": |o| number(o.steps_per_second);
    "ms_per_frame": |o| number(o.ms_per_frame);
    "stretch_max": |o| number(o.stretch_max);
    "penetration_max_m": |o| number(o.penetration_max_m);
    "first_frame_jump_m": |o| number(o.first_frame_jump_m);
    "kinked_strands_max": |o| number(o.kinked_strands_max);
    "drift_max": |o| most(o, |row| row.drift_max);
    "speed_max_m_s": |o| most(o, |row| row.speed_max_m_s);
    "relative_speed_max_m_s": |o| most(o, |row| row.relative_speed_max_m_s);
    "relative_speed_end_m_s": |o| optional(o.series.last().map(|row| row.relative_speed_max_m_s));
    "moving_points_end": |o| optional(o.series.last().map(|row| row.moving_points));
    "kinetic_energy_end_j": |o| optional(o.series.last().map(|row| row.kinetic_energy_j));
    "substeps": |o| number(o.substeps);
    "solve_iterations": |o| number(o.solve_iterations);
    "solve_residual": |o| number(o.solve_residual);
    "contact_pairs": |o| optional(o.contact.map(|c| c.pairs));
    "contact_springs": |o| optional(o.contact.map(|c| c.springs));
    "contact_crossings_left": |o| optional(o.contact.map(|c| c.crossings_left));
    "contact_dropped_pairs": |o| optional(o.contact.map(|c| c.dropped_pairs));
    "quarantined": |o| number(o.quarantined);
    "unresolved": |o| number(o.unresolved);
    "non_finite": |o| number(o.non_finite);
    "warnings": |o| number(o.warnings.len());
    "state_hash": |o| o.state_hash.clone();
}

/// Name of the last column.
const ERROR: &str = "error";
/// Name of the column with the hash of the whole scene: a row of another scene is not kept.
const SCENE: &str = "scene_hash";

/// The header: the keys, the hash of the scene, the figures, the error.
pub(super) fn header<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    let keys = keys.map(quoted).collect::<Vec<_>>().join(",");
    format!("{keys},{SCENE},{},{ERROR}", FIGURES.join(","))
}

/// The start of the row of a combination: its values and the hash of its scene.
pub(super) fn start(values: &[&str], scene_hash: &str) -> String {
    let values = values.iter().map(|v| quoted(v)).collect::<Vec<_>>().join(",");
    format!("{values},{scene_hash},")
}

/// The row of an outcome.
pub(super) fn row(start: &str, outcome: &Outcome) -> String {
    format!("{start}{},", figures(outcome).join(","))
}

/// The row of a combination that failed.
pub(super) fn failed(start: &str, message: &str) -> String {
    format!("{start}{}{}", ",".repeat(FIGURES.len()), quoted(message))
}

/// Whether a row has figures, and not an error.
pub(super) fn has_figures(row: &str) -> bool {
    row.ends_with(',')
}

/// A cell, in quotes if it needs them; line breaks become spaces, since a row is a line.
fn quoted(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.contains([',', '"', ' ']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// The cells of a row.
pub(super) fn cells(row: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_back() {
        let values = ["[1, 0]", "a\"b", "0.5", "x,y"];
        let row = failed(&start(&values, "00ff"), "no such file\nhint: look");
        assert_eq!(row.lines().count(), 1);
        let cells = cells(&row);
        assert_eq!(cells[..4], values);
        assert_eq!(cells[4], "00ff");
        assert_eq!(cells.len(), header(["a", "b", "c", "d"].into_iter()).split(',').count());
        assert_eq!(cells.last().map(String::as_str), Some("no such file hint: look"));
        assert!(!has_figures(&row));
    }
}
