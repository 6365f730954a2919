//! Hair grown inside a hair mesh at rest, with a style of its own: clumps, curl, frizz, uneven ends.
//!
//! A strand follows its place through the layers. The style adds an offset, always in frames
//! of the mesh, so that a mesh that is turned grows the same hair turned. Everything random comes from
//! the seed and the number of the strand or of its clump.

use glam::Vec3;
use rayon::prelude::*;

use super::place::line_point;
use super::scatter::RootPlace;
use crate::groom::hair_mesh::{Found, Frame, Frames};
use crate::groom::{HairMesh, Strands};
use crate::math::random::{GOLDEN, mix_bits, unit_from_bits};
use crate::params::parameters;

/// Length of the shortest waves of frizz (m): shorter ones look like noise.
const FRIZZ_WAVE: f32 = 0.018;

/// Fraction of hairs that leave their clump and frizz more than the others.
const STRAYS: f32 = 0.06;

/// Largest phase difference of the hairs of a clump from its curl (radians).
const OUT_OF_STEP: f32 = 0.35;

parameters! {
    /// The style of single hairs inside of the volume. The defaults are nearly straight hair in faint clumps.
    #[derive(Copy)]
    pub struct Styling of "styling" {
        /// Radius of curls; 0 leaves hair straight.
        curl: f32 = 0.0, "m", 0.0..=0.1;
        /// Length of hair in one turn of a curl.
        curl_length: f32 = 0.06, "m", 0.001..=1.0;
        /// Amplitude of the frizz of single hairs at the tip.
        frizz: f32 = 0.002, "m", 0.0..=0.1;
        /// How far hairs close in on the middle of their clump at the tip.
        clump: f32 = 0.35, "", 0.0..=1.0;
        /// Distance between neighbouring clumps at the scalp.
        clump_size: f32 = 0.010, "m", 0.001..=1.0;
        /// How much shorter than its bundle the shortest hair is, as a fraction.
        ///
        /// Most hairs are shortened little.
        length_variation: f32 = 0.12, "", 0.0..=0.95;
    }
}

/// Hair to be grown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Points on each strand.
    pub points: usize,
    /// Seed of everything random about single hairs.
    pub seed: u64,
    /// Their style.
    pub styling: Styling,
}

impl Growth {
    /// Grows one strand from each root in the rest shape of a valid hair mesh.
    pub fn grow(&self, mesh: &HairMesh, roots: &[RootPlace]) -> Strands {
        let mut frames = vec![Frame::default(); mesh.vertex_count()];
        Frames::new(mesh).update(mesh.positions(), &mut frames);
        let field = Field { mesh, frames: &frames };
        let clumps = Clumps::new(mesh, roots, self.styling.clump_size);
        let points = self.points.max(2);
        let mut positions = vec![Vec3::ZERO; roots.len() * points];
        positions.par_chunks_mut(points).enumerate().for_each(|(s, line)| {
            let clump = &roots[clumps.of[s] as usize];
            self.strand(&field, s, &roots[s], (clumps.of[s], clump), line);
        });
        Strands::from_counts(std::iter::repeat_n(points, roots.len()), positions)
            .unwrap_or_default()
    }

    fn strand(
        &self,
        field: &Field<'_>,
        s: usize,
        root: &RootPlace,
        (clump_id, clump): (u32, &RootPlace),
        line: &mut [Vec3],
    ) {
        let style = &self.styling;
        let random = |what: u64| unit_from_bits(hash(self.seed, s as u64, what));
        let in_clump =
            |what: u64| unit_from_bits(hash(self.seed, u64::from(clump_id), 0x1000 + what));
        let layers = field.mesh.bundles[root.bundle as usize].layers as f32;
        let shorter = style.length_variation * random(0) * random(1);
        let end = layers * (1.0 - shorter.clamp(0.0, 0.95));
        let stray = random(2) < STRAYS;
        let close = if stray { 0.25 } else { 1.0 } * style.clump * (0.75 + 0.25 * random(3));
        let frizz = style.frizz * if stray { 2.5 } else { 0.4 + 0.6 * random(4) };
        let turn = if in_clump(0) < 0.5 { -1.0 } else { 1.0 };
        let phase = std::f32::consts::TAU * in_clump(1) + OUT_OF_STEP * (2.0 * random(5) - 1.0);
        let pitch = style.curl_length * (0.85 + 0.3 * in_clump(2));
        let last = (line.len() - 1) as f32;
        let (mut passed, mut before) = (0.0f32, root.position);
        for (i, out) in line.iter_mut().enumerate() {
            let fraction = i as f32 / last;
            let (place, axes) = field.at(root, end * fraction);
            passed += place.distance(before);
            before = place;
            // Close in on the middle of the clump, more and more.
            let (middle, _) = field.at(clump, end * fraction);
            let mut p = place + (middle - place) * close * fraction.sqrt() * fraction.sqrt();
            // Curl about it, from nothing at the root to the full radius after half a turn.
            let [_, n, b] = axes;
            let grown = smooth(passed / (0.5 * pitch).max(1e-6));
            let angle = phase + turn * std::f32::consts::TAU * passed / pitch.max(1e-6);
            p += (n * angle.cos() + b * angle.sin()) * style.curl * grown;
            // Add frizz: waves of each hair's own.
            let mut wander = (0.0, 0.0);
            for wave in 0..3 {
                let length = FRIZZ_WAVE * (1.0 + wave as f32) * (0.8 + 0.6 * random(10 + wave));
                let (at, other) = (random(20 + wave), random(30 + wave));
                let turn = std::f32::consts::TAU * passed / length;
                let size = 0.5 + 0.25 * wave as f32;
                wander.0 += size * ((turn + at * std::f32::consts::TAU).sin());
                wander.1 += size * ((turn * 1.13 + other * std::f32::consts::TAU).sin());
            }
            let grown = fraction * smooth(passed / 0.02);
            *out = p + (n * wander.0 + b * wander.1) * (0.6 * frizz * grown);
        }
    }
}

/// The mesh at rest as lines to follow.
struct Field<'a> {
    mesh: &'a HairMesh,
    frames: &'a [Frame],
}

impl Field<'_> {
    /// The line over a root after some layers, and its frame; the end of its bundle beyond that.
    fn at(&self, root: &RootPlace, along: f32) -> (Vec3, [Vec3; 3]) {
        let along = along.min(self.mesh.bundles[root.bundle as usize].layers as f32);
        line_point(self.mesh, self.frames, &Found { bundle: root.bundle, at: root.at, along })
    }
}

/// Which root is the middle of each strand's clump.
struct Clumps {
    of: Vec<u32>,
}

impl Clumps {
    /// The first roots are evenly spread, so they are the middles. A strand belongs to the nearest one in
    /// its own bundle or in one that shares a column with it: never across a seam or a parting.
    fn new(mesh: &HairMesh, roots: &[RootPlace], size: f32) -> Self {
        let (triangles, _) = mesh.root_triangles();
        let area: f32 = (0..triangles.triangles.len())
            .map(|t| {
                let [a, b, c] = triangles.corners(t);
                0.5 * (b - a).cross(c - a).length()
            })
            .sum();
        let count = (area / (size * size).max(1e-12)).ceil().max(1.0) as usize;
        let middles = &roots[..count.min(roots.len())];
        let mut in_bundle: Vec<Vec<u32>> = vec![Vec::new(); mesh.bundles.len()];
        for (i, middle) in middles.iter().enumerate() {
            in_bundle[middle.bundle as usize].push(i as u32);
        }
        let mut of_column: Vec<Vec<u32>> = vec![Vec::new(); mesh.column_count()];
        for (b, bundle) in mesh.bundles.iter().enumerate() {
            bundle.columns().iter().for_each(|&c| of_column[c as usize].push(b as u32));
        }
        let near: Vec<Vec<u32>> = mesh
            .bundles
            .iter()
            .map(|bundle| {
                let columns = bundle.columns().iter();
                let mut near: Vec<u32> =
                    columns.flat_map(|&c| of_column[c as usize].iter().copied()).collect();
                near.sort_unstable();
                near.dedup();
                near
            })
            .collect();
        let of = roots
            .par_iter()
            .enumerate()
            .map(|(s, root)| {
                let bundles = near[root.bundle as usize].iter();
                let candidates = bundles.flat_map(|&b| in_bundle[b as usize].iter().copied());
                let distance =
                    |i: u32| middles[i as usize].position.distance_squared(root.position);
                candidates
                    .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)))
                    .unwrap_or(s as u32)
            })
            .collect();
        Self { of }
    }
}

/// 0 below 0, 1 above 1, smooth between.
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A random number for a seed and two places in lists.
pub(super) fn hash(seed: u64, a: u64, b: u64) -> u64 {
    let key = seed
        .wrapping_mul(GOLDEN)
        .wrapping_add(a.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add(b.wrapping_mul(0x8cb9_2ba7_2f3d_8dd7));
    mix_bits(mix_bits(key))
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::super::scatter;
    use super::*;

    fn growth(styling: Styling) -> Growth {
        Growth { points: 24, seed: 5, styling }
    }

    const PLAIN: Styling = Styling {
        length_variation: 0.0,
        clump: 0.0,
        clump_size: 0.02,
        curl: 0.0,
        curl_length: 0.05,
        frizz: 0.0,
    };

    fn block() -> HairMesh {
        HairMesh::block([2, 2], 4, Vec3::new(0.1, 0.3, 0.1), true)
    }

    #[test]
    fn plain_hair_fills_the_block_and_stands_straight() {
        let mesh = block();
        let roots = scatter(&mesh, 300, 1, |_| 1.0);
        let strands = growth(PLAIN).grow(&mesh, &roots);
        assert_eq!((strands.strand_count(), strands.point_count()), (300, 300 * 24));
        for (root, line) in roots.iter().zip(strands.iter()) {
            assert!(line[0].distance(root.position) < 1e-6);
            assert!(line[23].distance(root.position + Vec3::Y * 0.3) < 1e-5);
        }
    }

    #[test]
    fn every_word_of_the_style_does_what_it_says() {
        let mesh = block();
        let roots = scatter(&mesh, 400, 1, |_| 1.0);
        let plain = growth(PLAIN).grow(&mesh, &roots);
        let grown = |styling| growth(styling).grow(&mesh, &roots);
        let mean_length = |s: &Strands| (0..400).map(|i| s.length(i)).sum::<f32>() / 400.0;

        let uneven = grown(Styling { length_variation: 0.5, ..PLAIN });
        let shortest = (0..400).map(|s| uneven.length(s)).fold(1.0, f32::min);
        assert!((0.15..0.2).contains(&shortest), "{shortest}");

        let curly = grown(Styling { curl: 0.006, ..PLAIN });
        let radius = |i: usize, j: usize| curly.strand(i)[j].distance(plain.strand(i)[j]);
        assert!((0..400).all(|i| radius(i, 0) == 0.0 && (radius(i, 20) - 0.006).abs() < 1e-4));
        assert!(mean_length(&curly) > 1.1 * mean_length(&plain));

        // Clumps draw tips together: to their middle, so neighbours come closer.
        let clumped = grown(Styling { clump: 1.0, ..PLAIN });
        let spread = |s: &Strands, j: usize| {
            let nearest = |i: usize| {
                let distance = |k: usize| s.strand(i)[j].distance(s.strand(k)[j]);
                (0..400).filter(|&k| k != i).map(distance).fold(1.0, f32::min)
            };
            (0..400).map(nearest).sum::<f32>() / 400.0
        };
        assert!(spread(&clumped, 23) < 0.6 * spread(&plain, 23));
        assert!(spread(&clumped, 0) > 0.99 * spread(&plain, 0));

        let frizzy = grown(Styling { frizz: 0.004, ..PLAIN });
        let off = |i: usize, j: usize| frizzy.strand(i)[j].distance(plain.strand(i)[j]);
        let mean = (0..400).map(|i| off(i, 23)).sum::<f32>() / 400.0;
        assert!((0.0005..0.006).contains(&mean), "{mean}");
        assert!((0..400).all(|i| off(i, 0) == 0.0));
    }

    /// What grows in a turned mesh is what grew, turned: the style lives in frames of the mesh.
    #[test]
    fn a_style_turns_with_its_mesh() {
        let mesh = block();
        let styling =
            Styling { curl: 0.006, frizz: 0.003, clump: 0.5, length_variation: 0.3, ..PLAIN };
        let roots = scatter(&mesh, 60, 1, |_| 1.0);
        let strands = growth(styling).grow(&mesh, &roots);
        let mut binding = super::super::Binding::new(&mesh, &strands).unwrap();
        let turn = Quat::from_euler(glam::EulerRot::YXZ, 0.7, 2.0, -0.4);
        let moved: Vec<Vec3> = mesh.positions().iter().map(|&p| turn * p).collect();
        binding.update(&moved, &moved);
        let mut out = vec![Vec3::ZERO; strands.point_count()];
        binding.positions(&mut out);
        for (now, rest) in out.iter().zip(strands.positions()) {
            assert!(now.distance(turn * *rest) < 1e-6);
        }
    }

    #[test]
    fn clumps_do_not_reach_across_a_seam() {
        let mesh = HairMesh::parted_block(3, Vec3::new(0.1, 0.2, 0.05));
        let roots = scatter(&mesh, 500, 1, |_| 1.0);
        let clumps = Clumps::new(&mesh, &roots, 0.02);
        for (s, &middle) in clumps.of.iter().enumerate() {
            assert_eq!(roots[s].bundle, roots[middle as usize].bundle);
        }
    }
}
