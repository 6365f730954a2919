//! What a simulation had to do otherwise than asked, in words: each at most once per run.

use coif::simulation::Simulation;

/// The notices of the last step. They say no numbers that change, so that those of two steps are the same text.
pub(super) fn of(simulation: &Simulation) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(report) = simulation.surface_report() {
        if report.cell_grown {
            notices.push(
                "the body is too large for the cell of its distance field, so the cells are larger; \
                 hint: set body.field_cell to a larger value"
                    .into(),
            );
        }
        if report.dropped_triangles > 0 {
            notices.push(
                "the body has triangles with corners that are missing or not finite; hair does not \
                 touch those"
                    .into(),
            );
        }
        if report.open_rows > 0 {
            notices.push(
                "the body's mesh is not closed: hair touches caps over its holes; hint: close the \
                 mesh if hair stops in the air"
                    .into(),
            );
        }
    }
    let report = simulation.report();
    if report.began_inside > 0 {
        notices.push(format!(
            "{} points begin inside of the body, up to {:.1} mm deep, and are brought out within half a second; \
             hint: move the groom outward, or give body.collide shapes that fit",
            report.began_inside,
            report.began_inside_depth * 1e3
        ));
    }
    if report.contact.volume.is_some_and(|volume| volume.coarsened) {
        notices.push(
            "the hair is too far spread for the cell of its contact, so the cells are larger; hint: \
             set contact.volume.cell to a larger value"
                .into(),
        );
    }
    notices
}
