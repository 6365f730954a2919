//! Notices about what a simulation did differently from its settings, each at most once per run.

use coif::contact::ContactSettings;
use coif::model::ModelSettings;
use coif::simulation::{Simulation, World};
use coif_scene::Built;
use coif_scene::file::BodySource;

/// Updates of springs in one frame above which there is a notice: about half a second on one core.
const MANY_UPDATES: f64 = 20e6;

/// The notices of the last step. They contain no numbers that change from step to step, so that their texts are equal.
pub(super) fn of(simulation: &Simulation, built: &Built) -> Vec<String> {
    let mut notices = Vec::new();
    let world = simulation.world();
    if let Some(report) = simulation.surface_report() {
        if report.cell_grown {
            notices.push(coarse_field(world, built));
        }
        if report.dropped_triangles > 0 {
            notices.push(
                "the body has triangles with corners that are missing or not finite; hair does not \
                 collide with those"
                    .into(),
            );
        }
        if report.open_rows > 0 {
            notices.push(
                "the body's mesh is not closed: hair collides with caps over its holes; hint: close the \
                 mesh if hair stops in the air"
                    .into(),
            );
        }
    }
    let report = simulation.report();
    if report.began_inside > 0 {
        notices.push(format!(
            "{} points begin inside of the body, up to {:.1} mm deep, and are moved out within half a second; \
             hint: move the groom outward, or give body.collide shapes that fit",
            report.began_inside,
            report.began_inside_depth * 1e3
        ));
    }
    if let ModelSettings::ExplicitSpring(_) = &built.scene.model {
        let time = &built.scene.time;
        let steps = f64::from(world.steps_per_second) / f64::from(time.fps);
        let points = built.groom.strands.point_count() as f64;
        let updates = points * steps * f64::from(report.substeps);
        if updates > MANY_UPDATES {
            notices.push(format!(
                "model explicit-spring takes {} substeps a step for springs as short and stiff as these, {:.0} million \
                 updates a frame; hint: lower model.stretch_modulus or groom.points, or set model.name to \
                 follow-the-leader",
                report.substeps,
                updates * 1e-6
            ));
        }
    }
    if report.contact.volume.is_some_and(|volume| volume.coarsened) {
        let cell = world.contacts.iter().find_map(|contact| match contact {
            ContactSettings::Volume(volume) => Some(volume.cell),
            _ => None,
        });
        let cell = cell.unwrap_or_default();
        notices.push(format!(
            "the hair is spread too far for contact in cells of {cell} m, so the cells are larger; hint: \
             set contact.volume.cell to a larger value"
        ));
    }
    notices
}

/// The notice about a distance field with larger cells than requested, because of its limit of cells.
fn coarse_field(world: &World, built: &Built) -> String {
    let of = match &built.scene.body.source {
        BodySource::File(file) => format!("{}: ", file.path),
        _ => String::new(),
    };
    let field = world.surface.as_ref().map(|surface| &surface.field);
    let sizes = field.zip(built.body.rest().bounds()).map(|(field, (lo, hi))| {
        let cell = field.cell_over(lo, hi);
        format!(
            " of {} m within {} cells, so they are larger, {cell:.3} m in the rest pose",
            field.cell, field.max_cells
        )
    });
    format!(
        "{of}the body is too large for the cells of its distance field{}, and hair does not collide with what is \
         smaller; hint: remove vertices that lie far away from the rest of the body, or set \
         body.field_cell to a larger value",
        sizes.unwrap_or_default()
    )
}
