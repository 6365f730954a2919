//! Twist and writhe of a hair.
//!
//! A hair with pinned ends has a linking number `Lk = Tw + Wr`: its twist, and the writhe of its centre line,
//! both in turns (Calugareanu's theorem). It changes only when an end is rotated, or by
//! two when the hair passes through itself, so that it shows whether a hair that was twisted into a coil has
//! done so. Used for validation, not in a step.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3, Vec3};

/// Length of the straight extensions of a hair at its ends, in distances between the ends.
const FAR: f64 = 1e4;

/// The writhe (turns) of a line with straight extensions at its ends, away from each other.
///
/// Model: the mean over all view directions of the signed number of crossings of the line with itself: the sum over pairs
/// of segments of the solid angle of the views in which they cross, over 2 pi.
/// Source: the solid angle of two segments is that of Klenin and Langowski 2000, method 1a.
pub fn writhe(points: &[Vec3]) -> f64 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
    let (first, last) = (first.as_dvec3(), last.as_dvec3());
    let away = (last - first) * FAR;
    let mut line = vec![first - away];
    line.extend(points.iter().map(|p| p.as_dvec3()));
    line.push(last + away);
    let segments: Vec<[DVec3; 2]> = line.windows(2).map(|w| [w[0], w[1]]).collect();
    let pairs = segments.iter().enumerate().flat_map(|(i, a)| {
        segments[(i + 2).min(segments.len())..].iter().map(move |b| crossing_views(*a, *b))
    });
    pairs.sum::<f64>() / TAU
}

/// Solid angle of the views in which two segments cross, with the sign of the crossing.
fn crossing_views([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> f64 {
    let (ac, ad, bc, bd) = (c - a, d - a, c - b, d - b);
    let sides = [ac.cross(ad), ad.cross(bd), bd.cross(bc), bc.cross(ac)];
    let [p, q, r, s] = sides.map(DVec3::normalize_or_zero);
    let angle = |u: DVec3, v: DVec3| u.dot(v).clamp(-1.0, 1.0).asin();
    let size = angle(p, q) + angle(q, r) + angle(r, s) + angle(s, p);
    let side = (d - c).cross(b - a).dot(ac);
    if side > 0.0 {
        size
    } else if side < 0.0 {
        -size
    } else {
        0.0
    }
}

/// Twist of particles from end to end (rad) relative to their rest shape. Each has a position and
/// a flag whether it is a point of the hair; the others are beside the segment that they follow.
pub(super) fn twist(now: &[(DVec3, bool)], rest: &[(DVec3, bool)]) -> f64 {
    let turns = joints(now).into_iter().zip(joints(rest));
    turns.map(|(now, rest)| (now - rest + PI).rem_euclid(TAU) - PI).sum()
}

/// Rotation of the side of each segment relative to the parallel transport of the previous one (rad).
fn joints(particles: &[(DVec3, bool)]) -> Vec<f64> {
    let mut last: Option<[DVec3; 2]> = None;
    let mut turns = Vec::new();
    for row in 1..particles.len().saturating_sub(1) {
        let (side, is_point) = particles[row];
        let (before, after) = (particles[row - 1].0, particles[row + 1].0);
        if is_point {
            continue;
        }
        let along = (after - before).normalize_or(DVec3::Y);
        let side = side - before;
        let side = (side - along * side.dot(along)).normalize_or(DVec3::Y);
        if let Some([before_along, before_side]) = last {
            let carried = DQuat::from_rotation_arc(before_along, along) * before_side;
            turns.push(along.dot(carried.cross(side)).atan2(carried.dot(side)));
        }
        last = Some([along, side]);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An infinite helix has the writhe `1 - sin(pitch angle)` per turn, a mirrored
    /// one the negative of it; a plane line has none.
    #[test]
    fn the_writhe_of_a_helix_is_proportional_to_its_turns() {
        let (turns, radius, pitch) = (12.0, 0.01, 0.03);
        let helix = |sign: f64| -> Vec<Vec3> {
            let at = |i: i32| f64::from(i) * turns * TAU / 1200.0;
            (0..=1200)
                .map(at)
                .map(|t| DVec3::new(radius * t.cos(), pitch * t / TAU, sign * radius * t.sin()))
                .map(|p| p.as_vec3())
                .collect()
        };
        let slope = pitch / (TAU * radius).hypot(pitch);
        let truth = turns * (1.0 - slope);
        let (left, right) = (writhe(&helix(1.0)), writhe(&helix(-1.0)));
        println!("writhe {left} {right}, {truth} of an endless helix");
        assert!((left + right).abs() < 1e-4 && (left.abs() / truth - 1.0).abs() < 0.06);
        let flat: Vec<Vec3> = (0..50).map(|i| Vec3::new(i as f32, (i as f32).sin(), 0.0)).collect();
        assert!(writhe(&flat).abs() < 1e-9);
        assert_eq!(writhe(&[]), 0.0);
    }

    /// The twist of a straight line is the sum of the rotations of its sides.
    #[test]
    fn the_twist_is_the_rotation_of_the_sides() {
        let line = |rate: f64| -> Vec<(DVec3, bool)> {
            let mut all = Vec::new();
            for i in 0..40 {
                let angle = f64::from(i) * rate;
                let x = DVec3::X * f64::from(i);
                all.push((x, true));
                all.push((x + DVec3::new(0.5, angle.cos(), angle.sin()), false));
            }
            all.push((DVec3::X * 40.0, true));
            all
        };
        let found = twist(&line(PI / 2.0 + 0.3), &line(PI / 2.0));
        assert!((found - 39.0 * 0.3).abs() < 1e-9, "{found}");
        assert!(twist(&line(1.0), &line(1.0)).abs() < 1e-12);
    }
}
