//! Puts a groom from a file on a body: rotate, fit, translate, thin, bind, snap.
//!
//! What was done is reported in one line each.

mod facing;
mod fit;
mod snap;
mod thin;

use std::path::Path;

use coif::body::TriangleMesh;
use coif::groom::Groom;
use glam::{DQuat, Vec3};

pub(crate) use fit::Target;
pub use fit::{Fit, Similarity};
pub(crate) use snap::FAR_ROOT;
pub use snap::Snapped;

use crate::file::{FitTo, GroomFile};

/// How a groom from a file was put on the body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Placement {
    /// The fit, if the scene wants one.
    pub fit: Option<Fit>,
    /// Roots that were moved onto the scalp.
    pub snapped: Snapped,
}

/// Where the hair belongs.
pub(crate) struct Place<'a> {
    /// The body in its rest shape.
    pub(crate) mesh: &'a TriangleMesh,
    /// The triangles that hair is bound to; all of them if absent.
    pub(crate) scalp: Option<&'a [u32]>,
    /// The triangles that the fit uses.
    pub(crate) fit: &'a [u32],
    pub(crate) target: Target,
    /// The body in messages.
    pub(crate) name: String,
}

/// Residual of a fit over the size of the head above which there is a warning.
const POOR_FIT: f32 = 0.04;

/// Places a groom and binds its roots. Returns what was done, and by how much pictures draw its strands wider.
pub(crate) fn place(
    groom: &mut Groom,
    source: &GroomFile,
    path: &Path,
    place: &Place<'_>,
    warnings: &mut Vec<String>,
) -> coif::Result<(Placement, f32)> {
    let path = path.display();
    let mut placement = Placement::default();
    rotate(groom, source.rotate);
    if source.fit == FitTo::Body {
        let roots: Vec<Vec3> = groom.strands.iter().filter_map(|s| s.first().copied()).collect();
        // A groom that the user has turned faces the right way.
        let is_turned = source.rotate != Vec3::ZERO;
        let expected = if is_turned { DQuat::IDENTITY } else { facing::to_front(groom) };
        placement.fit = fit::fit(&roots, &place.mesh.part(place.fit), place.target, expected);
        warnings.push(match &placement.fit {
            Some(fit) => {
                apply(groom, &fit.body_from_groom);
                format!("{path}: {}", fit_text(fit, place))
            }
            None => format!(
                "{path}: could not be fitted to {}: too few roots, or all on a line; hint: place it with \
                 groom.translate, groom.rotate and groom.scale",
                place.name
            ),
        });
    }
    if source.translate != Vec3::ZERO {
        groom.strands.positions_mut().iter_mut().for_each(|p| *p += source.translate);
    }
    // Thin.
    let (all, wanted) = (groom.strands.strand_count(), source.strands.map(|n| n as usize));
    let mut widening = 1.0;
    if let Some(wanted) = wanted.filter(|&wanted| wanted > 0 && wanted < all) {
        let few = groom.picked(&thin::chosen(groom, wanted, source.seed));
        let (factor, limited) = thin::widening(groom, &few);
        warnings.push(format!(
            "{path}: {wanted} of its {all} strands are simulated; pictures draw them {factor:.1} times as wide{}",
            if limited { ", which covers less than all of them" } else { " to cover as much" }
        ));
        (*groom, widening) = (few, factor);
    } else if let Some(wanted) = wanted.filter(|&wanted| wanted > all) {
        warnings.push(format!("{path}: has {all} strands, fewer than groom.strands = {wanted}"));
    }
    // Bind the roots, and move near ones onto the scalp.
    groom.bind_on(place.mesh, place.scalp)?;
    placement.snapped = snap::snap(groom, source.snap);
    warnings.extend(
        snap_texts(&placement.snapped, groom, source).map(|text| format!("{path}: {text}")),
    );
    Ok((placement, widening))
}

/// Rotates a groom about the middle of its roots: about the x, then the y, then the z axis (degrees).
fn rotate(groom: &mut Groom, degrees: Vec3) {
    if degrees == Vec3::ZERO {
        return;
    }
    let roots = || groom.strands.iter().filter_map(|s| s.first());
    let (lo, hi) =
        roots().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), &p| (lo.min(p), hi.max(p)));
    let middle = (0.5 * (lo + hi)).as_dvec3();
    let [x, y, z] = degrees.to_array().map(|v| f64::from(v).to_radians());
    let rotation =
        DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);
    let translation = middle - rotation * middle;
    apply(groom, &Similarity { scale: 1.0, rotation, translation });
}

/// Moves strands; their radii are scaled with them.
fn apply(groom: &mut Groom, to: &Similarity) {
    groom.strands.positions_mut().iter_mut().for_each(|p| *p = to.point(*p));
    let scale = to.scale as f32;
    if scale != 1.0 {
        groom.radius.iter_mut().for_each(|r| *r *= scale);
        groom.fibre.radius *= scale;
    }
}

fn fit_text(fit: &Fit, place: &Place<'_>) -> String {
    let Similarity { scale, rotation, .. } = fit.body_from_groom;
    let turn = rotation.angle_between(DQuat::IDENTITY).to_degrees();
    let on = match place.target {
        Target::Scalp => "the scalp of ",
        Target::Surface => "",
    };
    let (lo, hi) = place.mesh.part(place.fit).bounds_of_triangles().unwrap_or_default();
    let mut text = format!(
        "fitted to {on}{}: scaled by {scale:.4}, turned by {turn:.1} degrees; its roots are {:.1} mm away on average, \
         {:.1} mm at most",
        place.name,
        1000.0 * fit.mean,
        1000.0 * fit.worst
    );
    if fit.mean > POOR_FIT * (hi - lo).max_element() {
        text += ", which is a poor fit; hint: name the scalp with body.scalp, or turn the groom first with groom.rotate";
    }
    text
}

fn snap_texts(
    snapped: &Snapped,
    groom: &Groom,
    source: &GroomFile,
) -> impl Iterator<Item = String> {
    let all = groom.strands.strand_count();
    let moved = (snapped.count > 0).then(|| {
        format!(
            "{} of {all} strands were moved onto the body with their roots, by up to {:.2} mm",
            snapped.count,
            1000.0 * snapped.farthest
        )
    });
    let away = snapped.worst.map(|(strand, distance)| {
        let fit = match source.fit {
            FitTo::Body => "groom.snap to a larger distance",
            _ => "groom.fit=body",
        };
        format!(
            "{} of {all} roots are more than {:.0} mm away from the body, that of strand {strand} {distance:.3} m; hint: \
             set {fit}, body.file to the groom's own body, or groom.scale and groom.up to the file's unit and axis",
            snapped.away,
            1000.0 * source.snap.max(FAR_ROOT),
        )
    });
    moved.into_iter().chain(away)
}

#[cfg(test)]
mod tests {
    use coif::groom::{Fibre, Strands};

    use super::*;

    #[test]
    fn a_groom_turns_about_the_middle_of_its_roots_x_first() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::new(1.0, 5.0, 0.0), Vec3::new(1.0, 6.0, 0.0)]);
        strands.push(&[Vec3::new(3.0, 5.0, 0.0), Vec3::new(3.0, 6.0, 0.0)]);
        let mut groom = Groom::new(strands, Fibre::default());
        rotate(&mut groom, Vec3::new(90.0, 90.0, 0.0));
        // About x, up becomes forward; about y, forward becomes right, and right backward.
        let near = |a: Vec3, b: Vec3| assert!(a.distance(b) < 1e-6, "{a} {b}");
        near(groom.strands.strand(0)[0], Vec3::new(2.0, 5.0, 1.0));
        near(groom.strands.strand(0)[1], Vec3::new(3.0, 5.0, 1.0));
        near(groom.strands.strand(1)[0], Vec3::new(2.0, 5.0, -1.0));
    }
}
