//! Built-in hair meshes: short, to the shoulders and long, in three resolutions, and the hair in them.
//!
//! `layout` has the root polygons, `scalp` the positions of their corners, `track` the curves that columns follow. Any
//! hair mesh, built in or from a file, is filled with strands by [`filled`].

mod layout;
mod scalp;
mod track;

use coif::body::{ClosestTriangle, TriangleMesh};
use coif::groom::hair_mesh::HairMesh;
use coif::groom::{Fibre, Groom, Strands};
use coif::grow::hair_mesh::{Growth, scatter};
use glam::Vec3;
use rayon::prelude::*;

use self::layout::Layout;
use self::scalp::Scalp;
use self::track::Track;
use crate::figure::Figure;
use crate::file::{HairMeshScene, Resolution};
use crate::implicit::smoothstep;
use crate::style::{keep_out, solids, taper};

/// Length of a built-in hair mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// A few centimetres.
    Short,
    /// To the shoulders, parted.
    Shoulder,
    /// Down the back, parted.
    Long,
}

impl Cut {
    /// Length from the top of the head to the ends (m); for short hair the length on top.
    fn length(self) -> f32 {
        match self {
            Self::Short => 0.065,
            Self::Shoulder => 0.25,
            Self::Long => 0.43,
        }
    }
}

/// Height of the top of the head (m), from which lengths are measured.
const TOP: f32 = 0.115;

/// Exponent of the distribution of levels: the k-th of n layers ends at (k / n) to this power. Layers are thinner near
/// the root, where columns turn from the skin to their track.
const EARLY: f32 = 1.35;

/// Maximum number of rounds that remove folds: near the roots, and where tracks come close to each other.
const UNTANGLING: usize = 400;

/// Target for the opening of the corners of prisms before that: volume over the product of edges. Slivers can come to
/// rest inverted after they were shaken.
const OPEN: f32 = 0.12;

/// Maximum number of rounds to reach it.
const OPENING: usize = 60;

/// Height (m) from which the length of short hair is subtracted to get the height at which its tracks end.
const SHORT_END: f32 = -0.02;

/// Height of parted hair above the head (m): at the hair line, and its increase at the parting.
const INNER: f32 = 0.004;
const VOLUME: f32 = 0.022;

/// Length (m) over which a strand goes from the skin to its place in a mesh whose flat root polygons lie below the
/// skin.
const ROOT_REACH: f32 = 0.05;

fn layout(cut: Cut, resolution: Resolution) -> Layout {
    let layout =
        |along, fan, rings, layers, vertices| Layout { along, fan, rings, layers, vertices };
    match (cut, resolution) {
        (Cut::Short, Resolution::Low) => layout(3, 2, 4, 4, 215),
        (Cut::Short, Resolution::Medium) => layout(5, 2, 5, 5, 450),
        (Cut::Short, Resolution::High) => layout(9, 4, 7, 7, 1_400),
        (Cut::Shoulder, Resolution::Low) => layout(4, 2, 3, 8, 361),
        (Cut::Shoulder, Resolution::Medium) => layout(6, 2, 4, 11, 850),
        (Cut::Shoulder, Resolution::High) => layout(9, 2, 6, 15, 2_250),
        (Cut::Long, Resolution::Low) => layout(3, 2, 3, 10, 361),
        (Cut::Long, Resolution::Medium) => layout(6, 2, 4, 13, 960),
        (Cut::Long, Resolution::High) => layout(6, 2, 4, 31, 2_305),
    }
}

/// Makes a built-in hair mesh on a figure with the triangle mesh `mesh`. `length` (m) is measured from the top of the
/// head. With `seams` it can part into locks. `None` if the figure has no scalp.
pub fn built_in(
    figure: &dyn Figure,
    mesh: &TriangleMesh,
    cut: Cut,
    resolution: Resolution,
    length: Option<f32>,
    seams: bool,
) -> Option<HairMesh> {
    let layout = layout(cut, resolution);
    let plan = layout.plan();
    let scalp = Scalp::new(figure, mesh)?;
    let length = length.unwrap_or(cut.length());
    let end = if cut == Cut::Short { SHORT_END - length } else { TOP - length };
    // Lay one track per step around the head.
    let tracks: Vec<(Track, f32)> = plan
        .tracks
        .par_iter()
        .map(|&(parting, around)| {
            let on_scalp = scalp.track(parting, around);
            let to_line: f32 = on_scalp.windows(2).map(|w| w[0].distance(w[1])).sum();
            (Track::new(figure, cut, on_scalp, around, end), to_line)
        })
        .collect();
    // Place the vertices of every column along its track.
    let lines: Vec<Vec<Vec3>> = plan
        .spots
        .par_iter()
        .map(|spot| {
            let (track, to_line) = &tracks[spot.step];
            let beside_face = lowness(plan.tracks[spot.step].1);
            let start = to_line * spot.outwards;
            let root = track.at(start, 0.0);
            let whole = match cut {
                Cut::Short => length * (0.42 + 0.58 * smoothstep(0.03, 0.105, root.y)),
                _ => track.length() - start,
            };
            (0..spot.vertices)
                .map(|k| {
                    let along = whole * (k as f32 / layout.layers as f32).powf(EARLY);
                    track.at(
                        start + along,
                        beside_face * height(cut, spot.outwards, root, along, whole),
                    )
                })
                .collect()
        })
        .collect();
    let mut columns = Strands::new();
    for line in &lines {
        columns.push(line);
    }
    let mut whole =
        HairMesh { columns, bundles: plan.bundles, seams: Vec::new(), roots: Vec::new() };
    // Open the corners of prisms and remove folds, with vertices kept out of the body.
    let solids = solids(&figure.colliders());
    let keep = |p: Vec3| {
        let mut line = [p + Vec3::X, p];
        keep_out(figure, &solids, &mut line, 1);
        if line[1].is_finite() { line[1] } else { p }
    };
    let laid_out = whole.clone();
    whole.open_to(OPEN, OPENING, keep);
    if whole.untangle(UNTANGLING, keep) > 0 {
        // Accept slivers rather than folds, and vertices in the body rather than folds.
        whole = laid_out;
        if whole.untangle(UNTANGLING, keep) > 0 {
            whole.untangle(UNTANGLING, |p| p);
        }
    }
    if !seams {
        return Some(whole);
    }
    // Cut seams along every second line outwards.
    let edges: Vec<[u32; 2]> = plan.spokes.iter().skip(1).step_by(2).flatten().copied().collect();
    Some(whole.cut(&edges, whole_until(layout.layers)))
}

/// Height above its track (m), after the arc length `along`, of a column of length `whole` that starts at the fraction
/// `outwards` of the path from parting to hair line.
fn height(cut: Cut, outwards: f32, root: Vec3, along: f32, whole: f32) -> f32 {
    let rise = |reach: f32| 1.0 - (-along / reach).exp();
    match cut {
        Cut::Short => {
            let top = smoothstep(0.03, 0.105, root.y);
            (0.005 + 0.007 * top) * rise(0.012) + (0.07 + 0.06 * top) * along
        }
        Cut::Shoulder | Cut::Long => {
            let ends = 1.0 - 0.3 * smoothstep(0.5, 1.0, along / whole);
            (INNER + VOLUME * (1.0 - outwards)) * rise(0.006 + 0.018 * (1.0 - outwards)) * ends
        }
    }
}

/// Factor of the height of hair at the position `around` the head: hair beside the face lies close, so that it frames
/// the face and does not hang in front of it.
fn lowness(around: f32) -> f32 {
    0.5 + 0.5 * smoothstep(0.0, 0.22, around.min(1.0 - around))
}

/// The first level of the seams: a third of all levels.
fn whole_until(layers: usize) -> u32 {
    (layers as u32 / 3).max(1)
}

/// Parameters of the strands that fill a hair mesh.
pub struct Filling<'a> {
    /// Number of strands.
    pub strands: usize,
    /// Points per strand.
    pub points: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Material of the strands.
    pub fibre: Fibre,
    /// Styling of single hairs.
    pub look: &'a HairMeshScene,
}

/// Grows strands in a valid hair mesh over a body, starting on the skin. `scalp` gives the density of hair, `solid`
/// keeps it out of the body. `None` if no strand fits.
pub fn filled(
    mut hair_mesh: HairMesh,
    body: &TriangleMesh,
    scalp: Option<&dyn Figure>,
    solid: Option<&dyn Figure>,
    filling: &Filling<'_>,
) -> Option<Groom> {
    hair_mesh.bind(body).ok()?;
    let density = |p: Vec3| scalp.map_or(1.0, |f| f.hair_density(p));
    let roots = scatter(&hair_mesh, filling.strands, filling.seed, density);
    let growth =
        Growth { points: filling.points, seed: filling.seed, styling: filling.look.styling };
    let mut strands = growth.grow(&hair_mesh, &roots);
    let skin = ClosestTriangle::new(body)?;
    let solids = solid.map(|f| solids(&f.colliders()));
    let mut lines: Vec<&mut [Vec3]> = Vec::with_capacity(roots.len());
    let mut rest = strands.positions_mut();
    while !rest.is_empty() {
        let (line, others) = rest.split_at_mut(filling.points.max(2));
        lines.push(line);
        rest = others;
    }
    lines.par_iter_mut().for_each(|line| {
        // Start on the skin, and blend to the place in the mesh.
        let lift = skin.closest(line[0]).point - line[0];
        let (mut passed, mut before) = (0.0f32, line[0]);
        for p in line.iter_mut() {
            passed += p.distance(before);
            before = *p;
            let t = (passed / ROOT_REACH).min(1.0);
            *p += lift * (1.0 - smoothstep(0.0, 1.0, t));
        }
        if let (Some(figure), Some(solids)) = (solid, &solids) {
            keep_out(figure, solids, line, 1);
        }
    });
    if strands.is_empty() {
        return None;
    }
    let mut groom = Groom::new(strands, filling.fibre);
    groom.bind(body).ok()?;
    taper(&mut groom);
    groom.hair_mesh = Some(std::sync::Arc::new(hair_mesh));
    Some(groom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coif::groom::hair_mesh::tetrahedron_volume;

    use crate::bust::Bust;
    use crate::figure;

    /// Smallest corner of a prism relative to the mean of its corners.
    fn narrowest(mesh: &HairMesh) -> f32 {
        let at = |v: u32| mesh.positions()[v as usize];
        let fractions = mesh.prisms().map(|prism| {
            let volumes: Vec<f32> =
                prism.corner_tetrahedra().map(|t| tetrahedron_volume(t.map(at))).collect();
            let mean = volumes.iter().sum::<f32>() / volumes.len() as f32;
            volumes.iter().fold(f32::INFINITY, |min, v| min.min(v / mean))
        });
        fractions.fold(f32::INFINITY, f32::min)
    }

    const ALL: [Cut; 3] = [Cut::Short, Cut::Shoulder, Cut::Long];

    #[test]
    fn built_in_meshes_are_valid_and_have_the_vertices_of_the_paper() {
        let head = figure::mesh(&Bust, 0.006);
        let mut counts = Vec::new();
        for cut in ALL {
            for &resolution in Resolution::ALL {
                for seams in [false, true] {
                    let mesh = built_in(&Bust, &head, cut, resolution, None, seams).unwrap();
                    let what = format!("{cut:?} {resolution:?}, seams {seams}");
                    mesh.validate().unwrap_or_else(|e| panic!("{what}: {e}"));
                    let triangles = mesh.bundles.iter().filter(|b| b.corners() == 3).count();
                    assert!(triangles > 0 && triangles < mesh.bundles.len(), "{what}");
                    assert_eq!(mesh.seams.is_empty(), !seams);
                    if !seams {
                        let vertices = mesh.vertex_count();
                        println!("{what}: {vertices} vertices, narrowest {:.3}", narrowest(&mesh));
                        counts.push(vertices);
                    }
                }
            }
        }
        for wanted in [215, 361, 2305] {
            assert!(counts.contains(&wanted), "{wanted} is not among {counts:?}");
        }
    }
}
