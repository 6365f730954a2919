//! Strands in an order in which neighbours in the list are neighbours in space.
//!
//! Passes over hair in this order find their data in the cache: texels of the shadow maps, tiles of the picture. No
//! result depends on it.

use coif::math::morton_code;
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
    let hi = lo + Vec3::splat((hi - lo).max_element());
    order.par_iter_mut().for_each(|at| at.key = morton_code(middle(at), lo, hi));
    order.par_sort_unstable();
}
