//! Stability limit of the explicit step.

use std::ops::Range;

use glam::Vec3;

use crate::groom::{Groom, Strands};

/// Safety factor on the stability limit for an automatic number of substeps: the limit is that of a straight
/// chain, and hair bends and collides.
pub(super) const AUTO_MARGIN: f32 = 0.8;

/// Largest automatic number of substeps.
pub(super) const MAX_AUTO: u32 = 1000;

/// The particle that requires the shortest step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stiffest {
    /// Squared angular frequency of the fastest vibration (1/s^2).
    pub(super) rate_squared: f64,
    /// Index in the groom's order.
    pub(super) point: usize,
}

impl Stiffest {
    /// The stiffest particle of all strands.
    ///
    /// Model: the squared frequencies of a chain are bounded by the largest sum of absolute values in a row of
    /// its matrix `M^-1 K` (Gershgorin): `2 (k_i + k_(i+1)) / m_i`, where a spring to an embedded particle
    /// counts once. For equal springs and masses, with half a mass at the tip, the bound is the
    /// largest squared frequency, `4 k / m`.
    pub(super) fn of(
        strands: impl Iterator<Item = (Range<usize>, usize)>,
        inverse_mass: &[f32],
        stiffness: &[f32],
    ) -> Self {
        let mut worst = Self { rate_squared: 0.0, point: 0 };
        for (points, embedded) in strands {
            let free = points.start + embedded..points.end;
            for point in free.clone() {
                let inner = if point == free.start { 1.0 } else { 2.0 };
                let outer = if point + 1 < free.end { stiffness[point + 1] } else { 0.0 };
                let sum = inner * f64::from(stiffness[point]) + 2.0 * f64::from(outer);
                let rate_squared = sum * f64::from(inverse_mass[point]);
                if rate_squared > worst.rate_squared {
                    worst = Self { rate_squared, point };
                }
            }
        }
        worst
    }

    /// The smallest number of substeps of a step of `dt` seconds that is stable, with a safety factor `margin` on the
    /// limit.
    ///
    /// Model: symplectic Euler with substeps of h on `x'' = -w^2 (x + t x')` is bounded for
    /// `w^2 (h^2 + 2 h t) < 4`, from the trace and the determinant of one substep.
    /// Symbols: w angular frequency (1/s), h substep (s), t damping as a time (s).
    pub(super) fn substeps(&self, dt: f32, damping: f32, margin: f32) -> u32 {
        let (dt, t, margin) = (f64::from(dt), f64::from(damping), f64::from(margin));
        let longest = (t * t + 4.0 * margin * margin / self.rate_squared).sqrt() - t;
        // Allow for rounding, so that a substep equal to the limit is accepted.
        let count = (dt / longest * (1.0 - 1e-6)).ceil();
        if count.is_finite() { (count as u32).max(1) } else { u32::MAX }
    }
}

/// Longest over shortest segment of a strand, and the largest such ratio for which it passes a test, below 1 if
/// segments of equal length do not pass either.
///
/// Model: a family of strands with segments `l_i^q`, scaled to the same length: q = 1 is the groom,
/// q = 0 has segments of equal length. Their ratio is `ratio^q`; bisection finds the largest q that passes.
pub(super) fn largest_ratio(
    groom: &Groom,
    strand: usize,
    passes: impl Fn(&Groom) -> bool,
) -> (f32, f32) {
    let line = groom.strands.strand(strand);
    let lengths: Vec<f32> = line.windows(2).map(|w| w[0].distance(w[1])).collect();
    let (shortest, longest) =
        lengths.iter().fold((f32::INFINITY, 0.0f32), |(lo, hi), &l| (lo.min(l), hi.max(l)));
    let ratio = longest / shortest;
    let total = lengths.iter().sum::<f32>();
    let with = |q: f32| {
        let weights = || lengths.iter().map(|l| (l / longest).powf(q));
        let scale = total / weights().sum::<f32>();
        let mut along = 0.0;
        let mut straight = vec![Vec3::ZERO];
        for weight in weights() {
            along += weight * scale;
            straight.push(Vec3::X * along);
        }
        let mut strands = Strands::new();
        strands.push(&straight);
        let mut one = Groom::new(strands, groom.fibre);
        one.radius.copy_from_slice(&groom.radius[groom.strands.points_of(strand)]);
        one.embedded[0] = groom.embedded[strand];
        one
    };
    if !passes(&with(0.0)) {
        return (ratio, 0.0);
    }
    let (mut lo, mut hi) = (0.0f32, 1.0f32);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (lo + hi);
        if passes(&with(middle)) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    (ratio, ratio.powf(lo))
}

/// Bisections of the exponent: resolves ratios of up to 1000 to better than a thousandth.
const BISECTIONS: usize = 16;
