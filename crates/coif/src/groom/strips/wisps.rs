//! Strips fitted to the strands of any groom: neighbouring strands of similar shape form a wisp, and each wisp gets a
//! strip.

use glam::{IVec3, Vec3};

use super::order::lay_in_order;
use super::{SHORTEST, Strips, at_equal_arc_length};
use crate::Result;
use crate::groom::{Groom, RootBinding, Strands};
use crate::params::parameters;

parameters! {
    /// Parameters of the grouping of strands into wisps.
    pub struct Settings of "wisps" {
        /// How far apart the roots of strands in one strip are, for a groom that has no strips; 0 makes a strip of every
        /// strand, with its own points.
        radius as "wisp_radius": f32 = 0.006, "m", 0.0..=1.0;
        /// Segments of these strips.
        segments: usize = 13, "", 3..=200;
        /// Layers of these strips: wisps that grow higher are in higher ones, and stay farther from the body.
        layers: u32 = 4, "", 1..=64;
    }
}

/// Largest distance of the midpoints and of the tips of two strands of one wisp, in wisp radii. Less makes more,
/// narrower strips at partings and curls.
const LIKENESS: f32 = 4.0;

/// Width of a strip in standard deviations of its strands: covers nearly all of them, on both sides.
const SPREAD: f32 = 3.4;

/// Smallest width of a strip (m): narrower ones look like lines.
const NARROWEST: f32 = 0.6e-3;

/// Largest distance of the anchors of two strips of which one lies on the other, in wisp radii.
const NEIGHBOURS: f32 = 3.0;

/// Sine of the smallest angle between growth and tip that defines the plane of a strip.
const MIN_LEAN: f32 = 0.05;

/// Sine of the smallest angle between growth and the scalp's normal that defines how a strip lies on it.
const MIN_FLAT: f32 = 0.1;

/// Fits strips to the strands of a valid groom.
///
/// Model: strands are visited in the groom's order; one that is not near and similar to the first strand of an earlier
/// wisp starts a new wisp. Then every strand joins the nearest wisp. The joints of a strip are the
/// means of its strands at equal fractions of their length, offset by half the width to the first edge.
/// Source: `jung2005` 3 combines neighbouring hairs into wisps, without giving a method.
pub fn through_strands(groom: &Groom, settings: &Settings) -> Result<Strips> {
    settings.validate()?;
    groom.validate()?;
    let strands = &groom.strands;
    let wisps = if settings.radius > 0.0 {
        gather(strands, settings.radius)
    } else {
        (0..strands.strand_count() as u32).map(|s| vec![s]).collect()
    };
    let mut strips = Strips {
        edges: Strands::with_capacity(wisps.len(), wisps.len() * (settings.segments + 1)),
        strip_of_strand: vec![0; strands.strand_count()],
        ..Strips::default()
    };
    for (w, members) in wisps.iter().enumerate() {
        for &s in members {
            strips.strip_of_strand[s as usize] = w as u32;
        }
        lay(&mut strips, groom, members, settings);
    }
    // Order the strips, except those of single strands.
    strips.layer = vec![0; wisps.len()];
    if settings.radius > 0.0 {
        strips = lay_in_order(strips, NEIGHBOURS * settings.radius, settings.layers);
    }
    Ok(strips)
}

/// Sample points of a strand, for the comparison of shapes.
struct Outline {
    root: Vec3,
    middle: Vec3,
    tip: Vec3,
}

/// Groups strands into wisps; the first strand of a wisp is its seed.
fn gather(strands: &Strands, radius: f32) -> Vec<Vec<u32>> {
    let outlines: Vec<Outline> = strands.iter().map(outline).collect();
    let cell = |p: Vec3| (p / radius).floor().as_ivec3();
    // Normalise distances so that 1 is the largest within a wisp.
    let apart = |a: &Outline, b: &Outline| {
        let shape = a.middle.distance(b.middle).max(a.tip.distance(b.tip)) / LIKENESS;
        a.root.distance(b.root).max(shape) / radius
    };
    let mut grid = std::collections::BTreeMap::<[i32; 3], Vec<u32>>::new();
    let mut seeds: Vec<usize> = Vec::new();
    let nearest = |grid: &std::collections::BTreeMap<[i32; 3], Vec<u32>>,
                   seeds: &[usize],
                   o: &Outline| {
        let mut best: Option<(f32, u32)> = None;
        let here = cell(o.root);
        for offset in 0..27 {
            let step = IVec3::new(offset % 3, offset / 3 % 3, offset / 9) - IVec3::ONE;
            let at = here.saturating_add(step);
            for &w in grid.get(&at.to_array()).into_iter().flatten() {
                let d = apart(&outlines[seeds[w as usize]], o);
                if best.is_none_or(|(nearest, wisp)| d < nearest || (d == nearest && w < wisp)) {
                    best = Some((d, w));
                }
            }
        }
        best
    };
    for (s, o) in outlines.iter().enumerate() {
        if nearest(&grid, &seeds, o).is_none_or(|(d, _)| d >= 1.0) {
            grid.entry(cell(o.root).to_array()).or_default().push(seeds.len() as u32);
            seeds.push(s);
        }
    }
    let mut wisps: Vec<Vec<u32>> = seeds.iter().map(|&s| vec![s as u32]).collect();
    for (s, o) in outlines.iter().enumerate() {
        let Some((_, w)) = nearest(&grid, &seeds, o) else { continue };
        // Skip seeds, which are members already.
        if seeds.binary_search(&s).is_err() {
            wisps[w as usize].push(s as u32);
        }
    }
    wisps
}

fn outline(line: &[Vec3]) -> Outline {
    let points = at_equal_arc_length(line, 3);
    Outline { root: points[0], middle: points[1], tip: points[2] }
}

/// Fits one strip to the strands of a wisp.
fn lay(strips: &mut Strips, groom: &Groom, members: &[u32], settings: &Settings) {
    let strands = &groom.strands;
    let first = members[0] as usize;
    let own = strands.strand(first);
    let count = if settings.radius > 0.0 { settings.segments + 1 } else { own.len() };
    let lines: Vec<Vec<Vec3>> = match members {
        [_] if settings.radius == 0.0 => vec![own.to_vec()],
        _ => members
            .iter()
            .map(|&s| at_equal_arc_length(strands.strand(s as usize), count))
            .collect(),
    };
    // Average the strands; where the mean degenerates because they cancel each other, use the first.
    let mean = |j: usize| lines.iter().map(|l| l[j]).sum::<Vec3>() / lines.len() as f32;
    let mut middle: Vec<Vec3> = (0..count).map(mean).collect();
    if middle.windows(2).any(|w| w[0].distance(w[1]) < 4.0 * SHORTEST) {
        middle.clone_from(&lines[0]);
    }
    // Orient the strip flat on the scalp, with its normal outwards. Where hair grows along the normal of the scalp, or that
    // is not known, use the mean direction of the strip: B = T x T_avg (`jung2005` 4.3 step 3).
    let growth = (middle[1] - middle[0]).normalize_or(Vec3::Y);
    let lean = (middle[count - 1] - middle[0]).normalize_or(Vec3::ZERO);
    let scalp = |&s: &u32| groom.roots.get(s as usize).map_or(Vec3::ZERO, RootBinding::normal);
    let scalp = members.iter().map(scalp).sum::<Vec3>().normalize_or_zero();
    let [flat, leaning] = [scalp.cross(growth), growth.cross(lean)];
    let binormal = if flat.length() > MIN_FLAT {
        flat.normalize()
    } else if leaning.length() > MIN_LEAN {
        leaning.normalize()
    } else {
        growth.any_orthonormal_vector()
    };
    let mut strip = Strips {
        edges: Strands::new(),
        virtual_point: vec![middle[0] - growth * middle[0].distance(middle[1])],
        binormal: vec![binormal],
        ..Strips::default()
    };
    strip.edges.push(&middle);
    let mut frames = Vec::new();
    strip.rest_frames(0, &mut frames);
    // Set the width by the standard deviation of the strands across it.
    let offsets =
        lines.iter().flat_map(|l| (0..count).map(|j| (l[j] - middle[j]).dot(frames[j].binormal)));
    let variance = offsets.map(|o| o * o).sum::<f32>() / (lines.len() * count) as f32;
    let width = (SPREAD * variance.sqrt()).max(NARROWEST);
    let half = if settings.radius > 0.0 { 0.5 * width } else { 0.0 };
    let edge: Vec<Vec3> = (0..count).map(|j| middle[j] - frames[j].binormal * half).collect();
    // Keep the middle line if the offset shortens a segment to nothing, as in a sharp bend.
    let short = edge.windows(2).any(|w| w[0].distance(w[1]) < 4.0 * SHORTEST);
    let edge = if short { middle } else { edge };
    strips.virtual_point.push(edge[0] - growth * edge[0].distance(edge[1]));
    strips.edges.push(&edge);
    strips.binormal.push(binormal);
    strips.width.push(width);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::Fibre;

    /// Two tufts side by side, each of nine strands.
    fn tufts() -> Groom {
        let mut strands = Strands::new();
        for tuft in 0..2 {
            for s in 0..9 {
                let root = Vec3::new(tuft as f32 * 0.05, 0.0, 0.0)
                    + Vec3::new((s % 3) as f32, 0.0, (s / 3) as f32) * 0.001;
                let line = (0..8).map(|i| {
                    let t = i as f32 / 7.0;
                    root + Vec3::new(0.0, 0.05 * t - 0.1 * t * t, 0.08 * t)
                });
                strands.push(&line.collect::<Vec<_>>());
            }
        }
        Groom::new(strands, Fibre::default())
    }

    #[test]
    fn each_tuft_is_one_wisp() {
        let groom = tufts();
        let strips = through_strands(&groom, &Settings::default()).unwrap();
        assert_eq!(strips.count(), 2);
        assert_eq!(strips.validate(18), Ok(()));
        assert!(strips.strip_of_strand[..9].iter().all(|&s| s == 0));
        assert!(strips.strip_of_strand[9..].iter().all(|&s| s == 1));
        // The middle of the strands is half a width from the edge, and the width is that of the tuft (2 mm) within a
        // factor of two.
        let (a, f) = (strips.edges.strand(0)[0], strips.root_frame(0));
        let middle = a + f.binormal * 0.5 * strips.width[0];
        assert!(middle.distance(Vec3::new(0.001, 0.0, 0.001)) < 1e-5, "{middle}");
        assert!((0.001..0.004).contains(&strips.width[0]), "{:?}", strips.width);
        // It leans along z, so it is wide along x.
        assert!(f.binormal.x.abs() > 0.99, "{f:?}");
    }

    #[test]
    fn strands_that_diverge_are_in_different_wisps() {
        let mut strands = Strands::new();
        strands.push(&[Vec3::ZERO, Vec3::Y * 0.05, Vec3::new(0.1, 0.05, 0.0)]);
        strands.push(&[Vec3::Z * 1e-3, Vec3::Y * 0.05, Vec3::new(-0.1, 0.05, 0.0)]);
        let groom = Groom::new(strands, Fibre::default());
        assert_eq!(through_strands(&groom, &Settings::default()).unwrap().count(), 2);
    }

    #[test]
    fn without_a_radius_every_strand_is_a_strip_with_its_own_points() {
        let groom = tufts();
        let settings = Settings { radius: 0.0, ..Settings::default() };
        let strips = through_strands(&groom, &settings).unwrap();
        assert_eq!(strips.edges.positions(), groom.strands.positions());
    }

    #[test]
    fn errors_name_the_invalid_setting() {
        let groom = tufts();
        let wrong = Settings { segments: 0, ..Settings::default() };
        assert!(through_strands(&groom, &wrong).unwrap_err().to_string().contains("segments"));
    }
}
