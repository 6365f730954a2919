//! Built-in hairstyles: strands that grow from blue-noise roots over an implicit body.
//!
//! A style grows each strand on its own (`grow.rs`), then neighbouring strands are gathered into
//! locks and given waves, curls and frizz (`locks.rs`). Everything depends on the seed and the
//! root's place only, so the same scene has the same hair on every machine.

mod coat;
mod counts;
mod fur;
pub(crate) mod grow;
mod in_the_air;
mod locks;
mod ponytail;
mod single;
mod strips;

use coif::body::{Collider, MovingCollider, Shape, TriangleMesh};
use coif::groom::strips::at_equal_arc_length;
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use glam::Vec3;
use rayon::prelude::*;

use self::locks::Locks;
use crate::figure::Figure;
use crate::file::{HairMeshScene, StripScene, Style};
use crate::hair_mesh::{self, Cut, Filling};
use crate::random::Random;
use crate::roots::{Root, scatter};

/// A request for a hairstyle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StyleRequest {
    /// The hairstyle.
    pub style: Style,
    /// Exact number of strands.
    pub strands: usize,
    /// Points per strand.
    pub points: usize,
    /// Total number of points, distributed by the lengths of the strands; replaces `points`.
    pub particles: Option<usize>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Length of the longest strands (m); by default the style's own.
    pub length: Option<f32>,
    /// Parameters of strips, if the style is strips.
    pub strips: StripScene,
    /// Material.
    pub fibre: Fibre,
    /// Parameters of the hair mesh, for styles that grow in one.
    pub hair_mesh: HairMeshScene,
}

/// A strand before locks and resampling: many points, of which the first `pinned` are fixed to the head.
#[derive(Debug, Clone)]
struct Grown {
    line: Vec<Vec3>,
    pinned: usize,
}

/// Grows one strand from its root.
type Grow = fn(&dyn Figure, &Root, &Recipe, &mut Random) -> Grown;

/// Parameters of a style.
struct Recipe {
    /// Length of the longest strands (m).
    length: f32,
    /// Grows one strand.
    grow: Grow,
    /// How strands gather and curl; `None` leaves them as they grow.
    locks: Option<Locks>,
    /// Hair shorter than this (m) is finer than the rest.
    fine_below: Option<f32>,
}

/// The recipe of a style; `None` for styles that do not grow strand by strand from the scalp.
fn recipe(style: Style, length: Option<f32>) -> Option<Recipe> {
    let (own, grow, locks): (f32, Grow, _) = match style {
        Style::Short => (0.055, grow::short, Some(Locks::tufts())),
        Style::Bob => (0.30, grow::bob, Some(Locks::smooth())),
        Style::LongStraight => (0.46, grow::long, Some(Locks::smooth())),
        Style::LongWavy => (0.44, grow::long, Some(Locks::waves())),
        Style::LongCurly => (0.38, grow::long, Some(Locks::curls())),
        Style::Ponytail => (0.34, ponytail::grow, Some(Locks::tail())),
        Style::Fur => (0.030, fur::grow, Some(Locks::coat())),
        Style::Shaggy => (0.085, coat::grow, Some(Locks::shaggy())),
        Style::Silky => (0.20, coat::grow, Some(Locks::silky())),
        Style::Tuft => (0.30, grow::long, None),
        Style::Single => (0.15, single::straight, None),
        Style::Coil => (0.20, single::coil, None),
        // Strips replace this in `strips.rs`.
        Style::Strips => (strips::LENGTH, single::straight, None),
        // Hairs in the air: see `in_the_air.rs`.
        Style::Crossed | Style::Sweep => return None,
        Style::HairMeshShort | Style::HairMeshShoulder | Style::HairMeshLong => return None,
    };
    let length = length.unwrap_or(own);
    let coat = matches!(style, Style::Shaggy | Style::Silky);
    Some(Recipe { length, grow, locks, fine_below: coat.then_some(0.4 * length) })
}

/// Minimum gap (m) between hair and body in the groom: slightly more than the skin of colliders, so that hair at rest
/// has no contact.
const GAP: f32 = 0.0008;

/// Thickness (m) above the gap that one more strand needs where hair lies on the body: hairs 0.08 mm thick that fill a
/// seventh of the volume, around the girth of the shoulders. With less, strands of dense hair overlap in one sheet.
const ROOM_PER_STRAND: f32 = 6e-8;

/// Maximum number of rounds of smoothing of a strand that was pushed out of the body unevenly.
const MAX_SMOOTHINGS: usize = 8;

/// Length of hair (m) over which it rises to its height among others.
const LIFT_OVER: f32 = 0.05;

/// Maximum of that thickness (m).
const MAX_ROOM: f32 = 0.012;

/// Maximum number of rounds of pushing a point out of surface and colliders: usually one, more in creases.
const MAX_PUSHES: usize = 24;

/// Grows a hairstyle on a figure with the triangle mesh `mesh`. `None` if the figure has no scalp; an error if the
/// requested hair cannot grow. Styles that grow coarser than requested are reported in `warnings`.
pub fn groom(
    figure: &dyn Figure,
    mesh: &TriangleMesh,
    request: &StyleRequest,
    warnings: &mut Vec<String>,
) -> coif::Result<Option<Groom>> {
    if request.style == Style::Strips {
        return strips::groom(figure, mesh, request, warnings);
    }
    Ok(strands(figure, mesh, request))
}

/// Grows all styles except strips.
fn strands(figure: &dyn Figure, mesh: &TriangleMesh, request: &StyleRequest) -> Option<Groom> {
    if matches!(request.style, Style::Crossed | Style::Sweep) {
        return in_the_air::groom(mesh, request);
    }
    if let Some(cut) = hair_mesh_cut(request.style) {
        return in_hair_mesh(figure, mesh, cut, request);
    }
    let normals = mesh.vertex_normals();
    let patch = patch(figure, mesh, request.style);
    let density = |t: usize, p: Vec3| match patch {
        Some((centre, radius)) if p.distance(centre) > radius => 0.0,
        _ => figure.hair_density_on(t, p),
    };
    let roots = scatter(mesh, &normals, density, request.strands, request.seed)?;
    let recipe = recipe(request.style, request.length)?;
    // Grow every strand on its own.
    let mut grown: Vec<Grown> = roots
        .par_iter()
        .enumerate()
        .map(|(s, root)| {
            let mut random = Random::new(request.seed, 0x9a1f_0000 + s as u64);
            (recipe.grow)(figure, root, &recipe, &mut random)
        })
        .collect();
    // Gather strands into locks.
    if let Some(locks) = &recipe.locks {
        grown = locks.gather(figure, &roots, grown, request.seed);
    }
    // Push strands out of the body, resample to the wanted number of points, taper the tips.
    let room = (ROOM_PER_STRAND * grown.len() as f32).min(MAX_ROOM);
    let solids = solids_within(&figure.colliders(), GAP + room);
    let counts = match request.particles {
        Some(total) => counts::by_length(&grown, total),
        None => vec![request.points; grown.len()],
    };
    let total = counts.iter().sum();
    let strands: Vec<(Vec<Vec3>, u32)> = grown
        .into_par_iter()
        .zip(counts)
        .enumerate()
        .map(|(s, (strand, points))| {
            let mut line = at_equal_arc_length(&strand.line, points);
            let fraction = strand.pinned as f32 / strand.line.len() as f32;
            let pinned = (fraction * (points - 1) as f32).floor() as u32 + 1;
            let lift = room * Random::new(request.seed, 0x11f7_0000 + s as u64).unit();
            lift_out(figure, &solids, &mut line, pinned as usize, lift);
            for _round in 0..MAX_SMOOTHINGS {
                if is_even(&line) {
                    break;
                }
                smooth(&mut line, pinned as usize);
                line = at_equal_arc_length(&line, points);
                lift_out(figure, &solids, &mut line, pinned as usize, lift);
            }
            (line, pinned.min(points as u32 - 1).max(1))
        })
        .collect();
    let mut all = Strands::with_capacity(strands.len(), total);
    for (line, _) in &strands {
        all.push(line);
    }
    let mut groom = Groom::new(all, request.fibre);
    groom.embedded = strands.iter().map(|(_, pinned)| *pinned).collect();
    groom.roots = roots.iter().map(|r| r.binding).collect();
    // Keep single hairs, which are for experiments, at a constant radius.
    let tapers = !matches!(request.style, Style::Single | Style::Coil);
    if tapers {
        taper(&mut groom);
    }
    if let Some(fine) = recipe.fine_below {
        thin_short_hair(&mut groom, fine);
    }
    groom.color = colors(figure, request.style, &roots, &groom.strands);
    Some(groom)
}

/// Whether no segment is much shorter or longer than the mean. Creases of the body can push neighbouring points to
/// different sides, which would fold the strand.
fn is_even(line: &[Vec3]) -> bool {
    let lengths = line.windows(2).map(|w| w[0].distance(w[1]));
    let mean = lengths.clone().sum::<f32>() / (line.len() - 1) as f32;
    lengths.clone().fold(f32::INFINITY, f32::min) > 0.6 * mean
        && lengths.fold(0.0, f32::max) < 1.6 * mean
}

/// Smooths a line from its first point that is not pinned on.
fn smooth(line: &mut [Vec3], pinned: usize) {
    let mut before = line[pinned.max(1) - 1];
    for i in pinned.max(1)..line.len() - 1 {
        let own = line[i];
        line[i] = 0.25 * (before + 2.0 * own + line[i + 1]);
        before = own;
    }
}

/// Makes strands thinner towards their tips.
pub(crate) fn taper(groom: &mut Groom) {
    for s in 0..groom.strands.strand_count() {
        let points = groom.strands.points_of(s);
        let n = points.len();
        for (i, r) in groom.radius[points].iter_mut().enumerate() {
            let along = i as f32 / (n - 1) as f32;
            *r *= 1.0 - 0.75 * ((along - 0.55) / 0.45).max(0.0);
        }
    }
}

/// The built-in hair mesh that a style grows in.
fn hair_mesh_cut(style: Style) -> Option<Cut> {
    match style {
        Style::HairMeshShort => Some(Cut::Short),
        Style::HairMeshShoulder => Some(Cut::Shoulder),
        Style::HairMeshLong => Some(Cut::Long),
        _ => None,
    }
}

fn in_hair_mesh(
    figure: &dyn Figure,
    mesh: &TriangleMesh,
    cut: Cut,
    request: &StyleRequest,
) -> Option<Groom> {
    let HairMeshScene { resolution, seams, .. } = request.hair_mesh;
    let volume = hair_mesh::built_in(figure, mesh, cut, resolution, request.length, seams)?;
    let points = request.particles.map_or(request.points, |total| {
        (total as f32 / request.strands as f32).round().clamp(2.0, 200.0) as usize
    });
    let filling = Filling {
        strands: request.strands,
        points,
        seed: request.seed,
        fibre: request.fibre,
        look: &request.hair_mesh,
    };
    hair_mesh::filled(volume, mesh, Some(figure), Some(figure), &filling)
}

/// Region of the roots, if they do not cover the whole scalp: centre and radius (m).
fn patch(figure: &dyn Figure, mesh: &TriangleMesh, style: Style) -> Option<(Vec3, f32)> {
    let (towards, radius) = match style {
        Style::Tuft => (Vec3::new(0.0, 0.45, -0.9), 0.022),
        Style::Single | Style::Coil => (Vec3::Y, 0.012),
        _ => return None,
    };
    let hairy = mesh.positions.iter().filter(|&&p| figure.hair_density(p) > 0.0);
    let farthest = hairy.max_by(|a, b| a.dot(towards).total_cmp(&b.dot(towards)));
    farthest.map(|&centre| (centre, radius))
}

/// Makes hair that is shorter than `length` finer in proportion, down to a third.
fn thin_short_hair(groom: &mut Groom, length: f32) {
    for s in 0..groom.strands.strand_count() {
        let fraction = (groom.strands.length(s) / length).clamp(0.33, 1.0);
        for r in &mut groom.radius[groom.strands.points_of(s)] {
            *r *= fraction;
        }
    }
}

/// Colours along the strands, if the style is the coat of a figure with colours of its own.
fn colors(
    figure: &dyn Figure,
    style: Style,
    roots: &[Root],
    strands: &Strands,
) -> Option<Vec<Vec3>> {
    if !matches!(style, Style::Shaggy | Style::Silky) {
        return None;
    }
    let mut colors = Vec::with_capacity(strands.point_count());
    for (s, root) in roots.iter().enumerate() {
        let [from, to] = figure.coat_color(root.position)?;
        let n = strands.points_of(s).len();
        colors.extend((0..n).map(|i| from.lerp(to, i as f32 / (n - 1) as f32)));
    }
    Some(colors)
}

/// A collider at rest, prepared for repeated queries.
pub(crate) struct Solid {
    collider: MovingCollider,
    grown: Shape,
    shape_from_world: RigidTransform,
}

pub(crate) fn solids(colliders: &[Collider]) -> Vec<Solid> {
    solids_within(colliders, GAP)
}

/// [`solids`] for hair that keeps a distance of `gap` (m).
fn solids_within(colliders: &[Collider], gap: f32) -> Vec<Solid> {
    let still = |c: &Collider| Solid {
        collider: MovingCollider {
            shape: c.shape,
            friction: c.friction,
            start: c.world_from_shape,
            end: c.world_from_shape,
        },
        grown: c.shape.grown(gap),
        shape_from_world: c.world_from_shape.inverse(),
    };
    colliders.iter().map(still).collect()
}

/// Moves points out of the surface and out of the colliders. The gap of points near the root is limited by their
/// distance from it.
pub(crate) fn keep_out(figure: &dyn Figure, solids: &[Solid], line: &mut [Vec3], pinned: usize) {
    lift_out(figure, solids, line, pinned, 0.0);
}

/// [`keep_out`] for a strand that lies on others, `lift` (m) above the gap.
fn lift_out(figure: &dyn Figure, solids: &[Solid], line: &mut [Vec3], pinned: usize, lift: f32) {
    let mut from_root = 0.0;
    for i in 1..line.len() {
        from_root += line[i].distance(line[i - 1]);
        let gap = GAP.min(from_root * 0.3) + lift * (1.0 - (-from_root / LIFT_OVER).exp());
        for _round in 0..MAX_PUSHES {
            let mut moved = false;
            let depth = gap - figure.value(line[i]);
            if depth > 0.0 {
                line[i] += figure.normal(line[i]) * depth;
                moved = true;
            }
            for solid in solids.iter().filter(|_| i >= pinned) {
                if solid.grown.contains(solid.shape_from_world.point(line[i])) {
                    let hit = solid.collider.project_point(line[i]);
                    line[i] += hit.normal * (gap - hit.distance).max(0.0);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bust::Bust;
    use crate::creature::Creature;
    use crate::figure;

    fn request(style: Style, strands: usize, points: usize) -> StyleRequest {
        StyleRequest {
            style,
            strands,
            points,
            particles: None,
            seed: 1,
            length: None,
            strips: StripScene::default(),
            fibre: Fibre::default(),
            hair_mesh: HairMeshScene::default(),
        }
    }

    /// Every style is a valid groom with the requested counts, outside of the body, at any resolution.
    #[test]
    fn styles_are_valid_and_outside_of_the_body() {
        let head = figure::mesh(&Bust, 0.006);
        let animal = figure::mesh(&Creature, 0.006);
        for &style in Style::ALL {
            let (figure, mesh): (&dyn Figure, _) = match style {
                Style::Fur | Style::Shaggy => (&Creature, &animal),
                _ => (&Bust, &head),
            };
            let solids = solids(&figure.colliders());
            for (strands, points) in [(1, 2), (300, 30), (40, 200)] {
                let (request, mut warnings) = (request(style, strands, points), Vec::new());
                let groom = groom(figure, mesh, &request, &mut warnings).unwrap().unwrap();
                assert!(warnings.is_empty(), "{warnings:?}");
                groom.validate().unwrap();
                assert_eq!(groom.strands.strand_count(), strands);
                assert_eq!(groom.strands.point_count(), strands * points);
                if points < 30 {
                    continue;
                }
                for (s, line) in groom.strands.iter().enumerate() {
                    for p in &line[groom.embedded[s] as usize..] {
                        let deepest =
                            solids.iter().map(|s| s.collider.depth_at(*p)).fold(0.0, f32::max);
                        assert!(
                            deepest < 1e-3,
                            "{style:?} strand {s} is {deepest} m inside at {p}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_seed_changes_the_hair_and_length_scales_it() {
        let mesh = figure::mesh(&Bust, 0.008);
        let of = |seed, length| {
            let mut request = request(Style::LongStraight, 50, 20);
            (request.seed, request.length) = (seed, length);
            strands(&Bust, &mesh, &request).unwrap()
        };
        assert_eq!(of(1, None), of(1, None));
        assert_ne!(of(1, None).strands, of(2, None).strands);
        let longest = |g: &Groom| {
            (0..g.strands.strand_count()).map(|s| g.strands.length(s)).fold(0.0, f32::max)
        };
        assert!(longest(&of(1, Some(0.2))) < 0.6 * longest(&of(1, None)));
    }

    #[test]
    fn a_ponytail_is_held_up_to_the_tie() {
        let mesh = figure::mesh(&Bust, 0.008);
        let groom = strands(&Bust, &mesh, &request(Style::Ponytail, 200, 40)).unwrap();
        assert!(groom.embedded.iter().all(|&e| e > 3 && e < 39));
    }
}
