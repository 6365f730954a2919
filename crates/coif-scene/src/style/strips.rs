//! Strips in layers over the scalp, and strands inside them.

use coif::body::TriangleMesh;
use coif::groom::Groom;
use coif::groom::strips::scalp;
use coif::grow;
use glam::Vec3;

use super::{GAP, StyleRequest, keep_out, solids, taper};
use crate::figure::Figure;

/// Length of strips (m) by default: to the chin.
pub(super) const LENGTH: f32 = 0.20;

/// Hair density above which a triangle belongs to the scalp.
const SCALP: f32 = 0.5;

/// Number and length (m) of the steps along a strip that are tested for ears. Farther along it hangs beside the ear.
const EAR_STEPS: usize = 9;
const EAR_STEP: f32 = 0.005;

/// Height above the head (m) at which ears are searched, and the minimum height of an ear over the head there.
const EAR_HEIGHT: f32 = 0.012;
const EAR_BULGE: f32 = 0.002;

/// Grows strips on a figure with the triangle mesh `mesh`. `None` if the figure has no scalp; an error names what
/// cannot grow.
///
/// A scalp with room for more strips than a groom may have gets as many as strands are requested, with a warning.
pub(super) fn groom(
    figure: &dyn Figure,
    mesh: &TriangleMesh,
    request: &StyleRequest,
    warnings: &mut Vec<String>,
) -> coif::Result<Option<Groom>> {
    let middle = |t: usize| mesh.corners(t).iter().sum::<Vec3>() / 3.0;
    let scalp = (0..mesh.triangles.len()).filter(|&t| figure.hair_density_on(t, middle(t)) > SCALP);
    let free = scalp.filter(|&t| !runs_into_ear(figure, middle(t), request.strips.tangent));
    let polygons: Vec<u32> = free.map(|t| t as u32).collect();
    let solids = solids(&figure.colliders());
    // Measure the distance to the surface and to the colliders.
    let distance = |p: Vec3| {
        let mut nearest = (figure.value(p), None);
        for solid in &solids {
            let hit = solid.collider.project_point(p);
            if hit.distance - GAP < nearest.0 {
                nearest = (hit.distance - GAP, Some(hit.normal));
            }
        }
        (nearest.0, nearest.1.unwrap_or_else(|| figure.normal(p)))
    };
    let strips = &request.strips;
    let mut settings = scalp::Settings {
        density: strips.density,
        width: strips.width,
        length: request.length.unwrap_or(LENGTH),
        segments: strips.segments as usize,
        cut: strips.cut,
        tangent: strips.tangent,
        lift: strips.lift,
        weight: strips.weight,
        layers: strips.layers,
        layer_distance: strips.layer_distance,
        seed: request.seed,
    };
    let wanted = settings.count_over(mesh, &polygons);
    if wanted > scalp::MAX_STRIPS as f64 {
        let layers = strips.layers.max(1) as usize;
        let strips = (request.strands.min(scalp::MAX_STRIPS) / layers).max(1) * layers;
        settings.density *= (strips as f64 / wanted) as f32;
        warnings.push(format!(
            "the scalp has room for {wanted:.0} strips, expected {} or fewer, so {strips} grow; hint: lower \
             groom.strip_density or groom.strip_layers, or remove vertices that lie far away from the rest \
             of the body",
            scalp::MAX_STRIPS
        ));
    }
    let strips = match scalp::around_body(mesh, &polygons, &settings, &distance) {
        Err(coif::Error::NoTriangles) => return Ok(None),
        strips => strips?,
    };
    let points =
        request.particles.map_or(request.points, |n| (n / request.strands.max(1)).clamp(2, 200));
    let mut groom =
        grow::strips::fill(strips, request.strands, points, request.fibre, request.seed)?;
    for s in 0..groom.strands.strand_count() {
        keep_out(figure, &solids, groom.strands.strand_mut(s), 1);
    }
    groom.bind(mesh)?;
    taper(&mut groom);
    Ok(Some(groom))
}

/// Whether a strip from a point would run into an ear, which would hold it off the head.
fn runs_into_ear(figure: &dyn Figure, place: Vec3, tangent: Vec3) -> bool {
    let mut p = place;
    (0..EAR_STEPS).any(|_| {
        // Stay slightly above the head without its ears.
        let out = figure.normal(p);
        p -= out * (figure.hull(p) - EAR_HEIGHT);
        let ear = figure.hull(p) - figure.value(p) > EAR_BULGE;
        p += (tangent - out * tangent.dot(out)).normalize_or_zero() * EAR_STEP;
        ear
    })
}
