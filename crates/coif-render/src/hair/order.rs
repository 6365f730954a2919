//! Strands in an order in which neighbours in the list are neighbours in space.
//!
//! Whatever works through hair in this order finds what it needs still in the cache: texels of
//! the shadow maps, tiles of the picture. No result depends on it.

use glam::Vec3;
use rayon::prelude::*;

use crate::HairView;

/// A strand of a hair view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StrandRef {
    key: u32,
    pub(crate) view: u32,
    pub(crate) strand: u32,
}

/// Lists all strands with at least one segment along a space-filling curve.
pub(crate) fn order_strands(hair: &[HairView<'_>], order: &mut Vec<StrandRef>) {
    order.clear();
    for (view, hair) in hair.iter().enumerate() {
        let long_enough = |s: &usize| hair.strands.points_of(*s).len() >= 2;
        order.extend(
            (0..hair.strands.strand_count()).filter(long_enough).map(|strand| StrandRef {
                key: 0,
                view: view as u32,
                strand: strand as u32,
            }),
        );
    }
    let middle = |at: &StrandRef| {
        let points = hair[at.view as usize].strands.strand(at.strand as usize);
        let p = points[points.len() / 2];
        if p.is_finite() { p } else { Vec3::ZERO }
    };
    let bounds = order
        .par_iter()
        .map(|at| (middle(at), middle(at)))
        .reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((lo, hi)) = bounds else { return };
    let scale = 1023.0 / (hi - lo).max_element().max(1e-9);
    order.par_iter_mut().for_each(|at| {
        let cell = (middle(at) - lo) * scale;
        at.key = spread(cell.x as u32) | spread(cell.y as u32) << 1 | spread(cell.z as u32) << 2;
    });
    order.par_sort_unstable();
}

/// Puts two zero bits between the ten low bits of a number.
fn spread(x: u32) -> u32 {
    let x = x.min(1023);
    let x = (x | x << 16) & 0x0300_00ff;
    let x = (x | x << 8) & 0x0300_f00f;
    let x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread_three_apart() {
        for x in [0u32, 1, 2, 5, 513, 1023] {
            let mut expected = 0;
            for bit in 0..10 {
                expected |= (x >> bit & 1) << (3 * bit);
            }
            assert_eq!(spread(x), expected);
        }
    }

    #[test]
    fn every_strand_with_a_segment_is_listed_once() {
        let mut strands = coif::groom::Strands::new();
        for i in 0..500 {
            strands.push(&vec![Vec3::splat((i * 37 % 101) as f32); i % 4]);
        }
        strands.push(&[Vec3::NAN; 3]);
        let radius = vec![1.0; strands.point_count()];
        let mut order = Vec::new();
        order_strands(&[HairView::new(&strands, &radius)], &mut order);
        let mut listed: Vec<u32> = order.iter().map(|at| at.strand).collect();
        listed.sort_unstable();
        let expected: Vec<u32> = (0..501).filter(|s| s % 4 >= 2 || *s == 500).collect();
        assert_eq!(listed, expected);
    }
}
