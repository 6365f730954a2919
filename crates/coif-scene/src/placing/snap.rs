//! Roots moved onto the scalp.

use coif::groom::{Groom, RootBinding};
use glam::Vec3;

/// Distance (m) within which a root is on the surface: rounding at a metre from the origin, with a margin.
const ON_SURFACE: f32 = 1e-6;

/// Distance (m) from a root to the body above which it is too far away.
pub(crate) const FAR_ROOT: f32 = 0.01;

/// What was snapped, and what was too far away.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Snapped {
    /// Number of strands moved onto the scalp.
    pub count: usize,
    /// The largest distance (m) by which one was moved.
    pub farthest: f32,
    /// Number of roots that are too far from the scalp.
    pub away: usize,
    /// The strand whose root is farthest of these, and its distance (m).
    pub worst: Option<(usize, f32)>,
}

/// Moves every strand whose root is within `reach` (m) of the scalp so that its root lies on it.
///
/// The whole strand is moved, not its first centimetre only: its lengths, its curvature and with them its rest shape stay
/// exactly as they were groomed, and neighbours, whose roots are about as far from the scalp, stay neighbours. `roots` are
/// the bindings of the strands, which are changed with them.
pub(crate) fn snap(groom: &mut Groom, reach: f32) -> Snapped {
    let mut snapped = Snapped::default();
    for s in 0..groom.roots.len() {
        let RootBinding { offset, .. } = groom.roots[s];
        let distance = offset.length();
        if distance > reach.max(FAR_ROOT) {
            snapped.away += 1;
            if snapped.worst.is_none_or(|(_, worst)| distance > worst) {
                snapped.worst = Some((s, distance));
            }
        } else if distance > ON_SURFACE && distance <= reach {
            groom.strands.strand_mut(s).iter_mut().for_each(|p| *p -= offset);
            groom.roots[s].offset = Vec3::ZERO;
            snapped.count += 1;
            snapped.farthest = snapped.farthest.max(distance);
        }
    }
    snapped
}

#[cfg(test)]
mod tests {
    use coif::body::TriangleMesh;
    use coif::groom::{Fibre, Strands};

    use super::*;

    #[test]
    fn near_roots_come_onto_the_surface_with_their_shape_and_far_ones_stay() {
        let mesh = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::Z, Vec3::X],
            triangles: vec![[0, 1, 2]],
        };
        let mut strands = Strands::new();
        for (height, x) in [(0.004, 0.1), (-0.002, 0.2), (0.0, 0.3), (0.05, 0.4), (0.02, 0.5)] {
            let root = Vec3::new(x, height, 0.2);
            strands.push(&[root, root + Vec3::Y * 0.05, root + Vec3::new(0.02, 0.1, 0.01)]);
        }
        let mut groom = Groom::new(strands, Fibre::default());
        groom.bind(&mesh).unwrap();
        let before = groom.strands.clone();
        let snapped = snap(&mut groom, 0.01);
        assert_eq!((snapped.count, snapped.away), (2, 2));
        assert!((snapped.farthest - 0.004).abs() < 1e-6, "{snapped:?}");
        assert!(snapped.worst.is_some_and(|(s, d)| s == 3 && (d - 0.05).abs() < 1e-6));
        for s in 0..5 {
            let moved = groom.strands.strand(s)[0] - before.strand(s)[0];
            // Rounding of coordinates below one metre.
            for (a, b) in groom.strands.strand(s).iter().zip(before.strand(s)) {
                assert!((*a - *b - moved).length() < 1e-7);
            }
            let root = groom.strands.strand(s)[0];
            assert_eq!(root.y.abs() < 1e-7, s < 3, "{root}");
        }
        // With a reach of zero nothing moves.
        let mut still = Groom::new(before.clone(), Fibre::default());
        still.bind(&mesh).unwrap();
        let snapped = snap(&mut still, 0.0);
        assert_eq!((snapped.count, snapped.away), (0, 2));
        assert_eq!(still.strands, before);
    }
}
