//! How dense hair is, and so how far contact may reach before it finds more neighbours than matter.

use glam::Vec3;
use rayon::prelude::*;

use crate::groom::Groom;

/// Edge of the cells (m) in which hair is measured: about the distance between the hairs of a head, much
/// less than a lock.
const CELL: f32 = 0.5e-3;

/// One cell in so many is measured.
const SAMPLED: u64 = 32;

/// A piece of hair: its cell, its strand, and how long it is (m).
type Piece = (u64, u32, f32);

/// Sine of the angle at which hairs that are near each other cross, on a head.
const CROSSING: f32 = 0.2;

/// How dense the hair of a groom is, in its rest shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Density {
    /// Other hairs per area across a hair (1/m^2), where hair is as dense as most of it.
    pub hairs_per_area: f32,
    /// Mean length of a segment (m).
    pub segment: f32,
}

impl Density {
    /// Measures a groom.
    ///
    /// Model: other hair of the length `L` in a cell of volume V is `L / V` hairs per area across it. The
    /// mean is over hair, not over cells.
    pub fn of(groom: &Groom) -> Self {
        let strands = 0..groom.strands.strand_count();
        let pieces = strands.clone().into_par_iter().flat_map_iter(|s| pieces_of(groom, s));
        let mut pieces: Vec<Piece> = pieces.collect();
        pieces.sort_unstable_by_key(|piece| (piece.0, piece.1));
        let volume = f64::from(CELL).powi(3);
        let (mut all, mut weighted) = (0.0, 0.0);
        let length = |pieces: &[Piece]| pieces.iter().map(|piece| f64::from(piece.2)).sum::<f64>();
        for cell in pieces.chunk_by(|a, b| a.0 == b.0) {
            let whole = length(cell);
            for own in cell.chunk_by(|a, b| a.1 == b.1).map(length) {
                all += own;
                weighted += own * (whole - own) / volume;
            }
        }
        let segments = groom.strands.point_count() - groom.strands.strand_count();
        let lengths = strands.map(|s| f64::from(groom.strands.length(s))).sum::<f64>();
        let hairs_per_area = if all > 0.0 { (weighted / all) as f32 } else { 0.0 };
        Self { hairs_per_area, segment: (lengths / segments.max(1) as f64) as f32 }
    }

    /// The distance (m) within which a segment has so many others; infinite where no hair is near
    /// another.
    ///
    /// Model: around a segment of the length l, `pi r^2` of the area across it is within r, and hairs
    /// that cross it at an angle a pass through another `2 r l sin a`.
    pub fn distance_for(&self, neighbours: f32) -> f32 {
        let area = neighbours / self.hairs_per_area;
        let crossing = CROSSING * self.segment;
        // The root of `pi r^2 + 2 crossing r = area`, without a difference of what is nearly equal.
        let root = (crossing * crossing + std::f32::consts::PI * area).sqrt();
        if root.is_finite() { area / (crossing + root) } else { f32::INFINITY }
    }
}

/// The pieces of a strand that are in one of the cells to be measured.
fn pieces_of(groom: &Groom, strand: usize) -> impl Iterator<Item = Piece> {
    groom.strands.strand(strand).windows(2).flat_map(move |ends| {
        let length = ends[0].distance(ends[1]);
        // Cut the segment into pieces of less than a cell.
        let count = if length < 1e3 { (2.0 * length / CELL).ceil() } else { 0.0 };
        let piece = move |i: u32| {
            let cell = cell_of(ends[0].lerp(ends[1], (i as f32 + 0.5) / count));
            (cell, strand as u32, length / count)
        };
        (0..count as u32).map(piece).filter(|piece| piece.0 % SAMPLED == 0)
    })
}

/// A number for the cell around a point; few cells share one.
fn cell_of(p: Vec3) -> u64 {
    let index = (p / CELL).floor().to_array().map(|x| x as i64 as u64);
    let mixed = index
        .into_iter()
        .fold(0u64, |sum, x| (sum ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groom::{Fibre, Strands};

    /// Hairs on a square lattice are as dense as the lattice says, however they are cut.
    #[test]
    fn a_lattice_has_its_own_density() {
        for (apart, points) in [(0.125e-3f32, 5), (0.25e-3, 30)] {
            let mut strands = Strands::new();
            for i in 0..60 * 60 {
                let root = Vec3::new((i % 60) as f32, 0.0, (i / 60) as f32) * apart;
                let line = (0..points).map(|k| root + Vec3::Y * (0.02 * k as f32 / points as f32));
                strands.push(&line.collect::<Vec<_>>());
            }
            let density = Density::of(&Groom::new(strands, Fibre::default()));
            // A hair is no neighbour of itself: where a cell has four, three others count.
            let truth = 1.0 / apart.powi(2) - 1.0 / CELL.powi(2);
            assert!((density.hairs_per_area / truth - 1.0).abs() < 0.1, "{density:?} {truth}");
        }
        let mut alone = Strands::new();
        alone.push(&[Vec3::ZERO, Vec3::Y * 0.1]);
        let density = Density::of(&Groom::new(alone, Fibre::default()));
        assert_eq!((density.hairs_per_area, density.distance_for(4.0)), (0.0, f32::INFINITY));
    }

    #[test]
    fn the_distance_has_that_many_neighbours() {
        let density = Density { hairs_per_area: 24e6, segment: 9.6e-3 };
        let r = density.distance_for(8.0);
        let crossing = 2.0 * r * density.segment * CROSSING;
        let found = density.hairs_per_area * (std::f32::consts::PI * r * r + crossing);
        assert!((found - 8.0).abs() < 1e-3 && r < 0.1e-3, "{r} {found}");
    }
}
