//! Which way a head of hair faces.

use coif::groom::Groom;
use glam::{DQuat, Vec3};

/// Minimum horizontal length of the direction to the back, which is a sum of two vectors of length one at most; 0.23 to
/// 0.49 in public grooms with short hair and a ponytail.
const MIN_BACK: f32 = 0.15;

/// The quarter turn about y after which hair faces +z; none without evidence.
///
/// Model: roots cover the back of a head but not its face, and hair hangs to the back, so the sum of both directions points
/// there: from the middle of the roots' bounds to their mean, and from roots to tips.
pub(crate) fn to_front(groom: &Groom) -> DQuat {
    let ends = || groom.strands.iter().filter_map(|s| Some((*s.first()?, *s.last()?)));
    let count = ends().count().max(1) as f32;
    let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (mut mean, mut hang) = (Vec3::ZERO, Vec3::ZERO);
    for (root, tip) in ends() {
        (lo, hi) = (lo.min(root), hi.max(root));
        mean += root / count;
        hang += (tip - root) / count;
    }
    let half = 0.5 * (hi - lo).max_element();
    let back = (mean - 0.5 * (lo + hi)) / half + hang.normalize_or_zero();
    if !(back.is_finite() && back.with_y(0.0).length() >= MIN_BACK) {
        return DQuat::IDENTITY;
    }
    let turns =
        (0..4).map(|quarter| DQuat::from_rotation_y(f64::from(quarter) * 90f64.to_radians()));
    let backward = |turn: &DQuat| (*turn * back.as_dvec3()).z;
    turns.min_by(|a, b| backward(a).total_cmp(&backward(b))).unwrap_or(DQuat::IDENTITY)
}

#[cfg(test)]
mod tests {
    use coif::groom::{Fibre, Strands};

    use super::*;

    /// Roots on half a sphere over the head, hair that hangs down and along `hang`.
    fn groom(hang: Vec3) -> Groom {
        let mut strands = Strands::new();
        for i in 0..300 {
            let (u, angle) = (i as f32 / 300.0, i as f32 * 2.4);
            let ring = (1.0 - u * u).sqrt();
            let root = 0.09 * Vec3::new(ring * angle.cos(), u, ring * angle.sin());
            strands.push(&[root, root + 0.1 * (Vec3::NEG_Y + hang)]);
        }
        Groom::new(strands, Fibre::default())
    }

    #[test]
    fn hair_that_hangs_to_a_side_is_turned_to_the_back_and_other_hair_stays() {
        for (hang, quarters) in [
            (Vec3::ZERO, 0.0),
            (Vec3::NEG_Z * 0.5, 0.0),
            (Vec3::new(0.2, 0.0, -0.5), 0.0),
            (Vec3::Z * 0.5, 2.0),
            (Vec3::X * 0.5, 1.0),
            (Vec3::NEG_X * 0.5, 3.0),
        ] {
            let expected = DQuat::from_rotation_y(quarters * 90f64.to_radians());
            let found = to_front(&groom(hang));
            assert!(found.angle_between(expected) < 1e-6, "{hang} {found}");
        }
        assert_eq!(to_front(&Groom::default()), DQuat::IDENTITY);
    }
}
