//! Kinks: sharp bends of hair where the groom has none.

use glam::Vec3;

use super::StrandLook;
pub use crate::limits::KINK_ANGLE;
use crate::limits::KINK_COSINE;

/// Whether a strand turns by more than [`KINK_ANGLE`] at a point where its groom does not. The last point
/// that is fixed to the scalp counts: hair bends there first.
pub(super) fn is_kinked(strand: &StrandLook<'_>) -> bool {
    (strand.last_pinned.max(1)..strand.now.len().saturating_sub(1))
        .any(|i| turns(strand.now, i) && !turns(strand.rest, i))
}

/// Whether a line turns by more than [`KINK_ANGLE`] at a point that is not its first or last. Segments
/// without a length have no direction and do not turn.
fn turns(line: &[Vec3], i: usize) -> bool {
    let (a, b) = (line[i] - line[i - 1], line[i + 1] - line[i]);
    let product = a.length_squared() * b.length_squared();
    product > 0.0 && a.dot(b) < KINK_COSINE * product.sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::testing::look;
    use super::*;

    /// Segments of 1 cm that turn by these angles (degrees), one after the other.
    fn line(turns: &[f32]) -> Vec<Vec3> {
        let (mut angle, mut p) = (0.0f32, Vec3::X * 0.01);
        let mut points = vec![Vec3::ZERO, p];
        for turn in turns {
            angle += turn.to_radians();
            p += Vec3::new(angle.cos(), angle.sin(), 0.0) * 0.01;
            points.push(p);
        }
        points
    }

    #[test]
    fn the_cosine_is_that_of_the_angle() {
        assert!((KINK_ANGLE.to_radians().cos() - KINK_COSINE).abs() < 1e-6);
    }

    #[test]
    fn a_fold_is_a_kink_unless_the_groom_has_it() {
        let straight = line(&[0.0, 0.0, 0.0]);
        let kinked = |rest: &[Vec3], now: &[Vec3]| is_kinked(&look(rest, now));
        assert!(!kinked(&straight, &straight));
        assert!(!kinked(&straight, &line(&[59.0, 59.0, 59.0])));
        assert!(kinked(&straight, &line(&[0.0, 61.0, 0.0])));
        assert!(kinked(&straight, &line(&[0.0, 0.0, 180.0])));
        // A groom that folds at the second point may do so there, and not at another.
        let folded = line(&[0.0, 90.0, 0.0]);
        assert!(!kinked(&folded, &line(&[0.0, 120.0, 0.0])));
        assert!(kinked(&folded, &line(&[90.0, 0.0, 0.0])));
    }

    #[test]
    fn what_the_scalp_holds_does_not_fold() {
        let (straight, folded) = (line(&[0.0, 0.0, 0.0]), line(&[90.0, 0.0, 0.0]));
        let mut strand = look(&straight, &folded);
        strand.last_pinned = 1;
        assert!(is_kinked(&strand), "hair folds at the last point that is pinned");
        strand.last_pinned = 2;
        assert!(!is_kinked(&strand));
        // Points that coincide, and a strand of one segment, have no turn.
        assert!(!is_kinked(&look(&straight, &[Vec3::ZERO; 5])));
        assert!(!is_kinked(&look(&straight[..2], &folded[..2])));
    }
}
