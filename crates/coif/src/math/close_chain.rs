//! Inverse kinematics of a chain of segments of fixed lengths: moves one of its points to a target by the smallest
//! rotations of its segments.

use glam::{Mat3, Vec3};

/// A line of points in any layout.
pub(crate) trait Line {
    /// Position of a point (m).
    fn at(&self, i: usize) -> Vec3;
    /// Sets the position of a point.
    fn set(&mut self, i: usize, p: Vec3);
}

impl Line for [Vec3] {
    fn at(&self, i: usize) -> Vec3 {
        self[i]
    }
    fn set(&mut self, i: usize, p: Vec3) {
        self[i] = p;
    }
}

/// Largest number of Newton iterations: three or four suffice where the chain is not nearly straight.
const MAX_ITERATIONS: usize = 12;

/// Largest displacement of the end of a segment in an iteration, as a fraction of its length.
const MAX_TURN: f32 = 0.3;

/// Gap at which the chain is closed, as a fraction of its length: rounding.
const CLOSE: f32 = 1e-6;

/// Regularisation of the matrix, relative to the length of the chain: the matrix of a straight chain is singular.
const REGULAR: f32 = 1e-5;

/// A chain counts as straight if the mean squared sine of the angles between its segments and the gap is below this
/// times the relative shortening.
const STRAIGHT: f32 = 0.1;

/// Rotates the segments between the points `first`, which is fixed, and `pinned` so that the latter reaches `target` (m);
/// points after it up to `last` are translated with it. Returns the remaining gap (m): more than rounding if out of reach.
///
/// Model: the rotations `w_j` of the segments with the smallest `sum l_j |w_j|^2` that close the gap `g`, by Newton's
/// method: segment j is displaced by `l_j (1 - e_j e_j^T) u` with `sum l_j (1 - e_j e_j^T) u = g`, then rescaled to its
/// length. The weights `l_j` make the result independent of the number of segments. A straight chain that has to get
/// shorter is buckled to one side first, because its matrix is singular in that direction.
/// Symbols: l_j length (m) and e_j direction of segment j, g gap (m), u multiplier of the constraint.
pub(crate) fn close_chain<L: Line + ?Sized>(
    line: &mut L,
    [first, pinned, last]: [usize; 3],
    target: Vec3,
    length: impl Fn(usize) -> f32,
) -> f32 {
    let total: f32 = (first + 1..=pinned).map(&length).sum();
    let start = line.at(pinned);
    let mut gap = target - start;
    let mut left = gap.length();
    for iteration in 0..MAX_ITERATIONS {
        if left.is_nan() || left <= CLOSE * total {
            break;
        }
        let mut matrix = Mat3::from_diagonal(Vec3::splat(REGULAR * total));
        for j in first + 1..=pinned {
            let e = (line.at(j) - line.at(j - 1)).normalize_or(Vec3::Y);
            matrix += (Mat3::IDENTITY - outer(e)) * length(j);
        }
        let toward = gap / left;
        let along = (line.at(pinned) - line.at(first)).normalize_or(toward);
        let bends = toward.dot(matrix * toward) / total;
        if iteration == 0 && toward.dot(along) < -0.5 && bends < STRAIGHT * left / total {
            buckle(line, [first, pinned], along, 2.0 * (left / total).sqrt(), &length);
        } else {
            let u = matrix.inverse() * gap;
            let limit = (MAX_TURN / u.length().max(f32::MIN_POSITIVE)).min(1.0);
            turn(line, [first, pinned], &length, |_, e| (u - e * e.dot(u)) * limit);
        }
        gap = target - line.at(pinned);
        left = gap.length();
    }
    let moved = line.at(pinned) - start;
    for i in pinned + 1..=last {
        let p = line.at(i);
        line.set(i, p + moved);
    }
    left
}

fn outer(e: Vec3) -> Mat3 {
    Mat3::from_cols(e * e.x, e * e.y, e * e.z)
}

/// Adds `by(number, direction)` to the directions of the segments, and recomputes the points with the lengths kept.
fn turn<L: Line + ?Sized>(
    line: &mut L,
    [first, pinned]: [usize; 2],
    length: &impl Fn(usize) -> f32,
    by: impl Fn(usize, Vec3) -> Vec3,
) {
    let mut before = line.at(first);
    let mut inner = before;
    for j in first + 1..=pinned {
        let p = line.at(j);
        let e = (p - before).normalize_or(Vec3::Y);
        let direction = (e + by(j, e)).normalize_or(e);
        before = p;
        inner += direction * length(j);
        line.set(j, inner);
    }
}

/// Bends a straight chain to one side: rotates the segments by a cosine of their place, from `angle` (rad) at the first
/// to `-angle` at the last.
fn buckle<L: Line + ?Sized>(
    line: &mut L,
    [first, pinned]: [usize; 2],
    along: Vec3,
    angle: f32,
    length: &impl Fn(usize) -> f32,
) {
    let side = along.any_orthonormal_vector();
    let count = (pinned - first) as f32;
    let place = |j: usize| ((j - first) as f32 - 0.5) / count;
    turn(line, [first, pinned], length, |j, _| {
        side * (angle * (std::f32::consts::PI * place(j)).cos()).tan()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut line: Vec<Vec3>, pinned: usize, target: Vec3) -> (Vec<Vec3>, f32) {
        let last = line.len() - 1;
        let before = line.clone();
        let length = |j: usize| before[j].distance(before[j - 1]);
        let left = close_chain(&mut line[..], [1, pinned, last], target, length);
        assert_eq!(line[..2], before[..2]);
        for j in 1..=last {
            let stretch = line[j].distance(line[j - 1]) / length(j) - 1.0;
            assert!(stretch.abs() < 1e-5, "{j}: {stretch}");
        }
        assert!((line[pinned].distance(target) - left).abs() < 1e-6);
        // Points after the pinned one are translated with it.
        let moved = line[pinned] - before[pinned];
        assert!((line[last] - before[last] - moved).length() < 1e-6);
        (line, left)
    }

    fn curl() -> Vec<Vec3> {
        let at = |t: f32| Vec3::new(0.02 * t.cos(), -0.01 * t, 0.02 * t.sin());
        (0..30).map(|i| at(0.4 * i as f32)).collect()
    }

    #[test]
    fn a_bent_chain_reaches_any_target_within_its_length() {
        let line = curl();
        for by in [Vec3::X, -Vec3::Y, Vec3::Z].map(|n| n * 0.02) {
            let (_, left) = check(line.clone(), 20, line[20] + by);
            assert!(left < 1e-6, "{by}: {left}");
        }
    }

    /// A gap of 1 mm of a chain of 20 cm is closed by rotations of about 1/200 rad, distributed over all segments.
    #[test]
    fn rotations_are_distributed_over_the_chain() {
        let line = curl();
        let (found, left) = check(line.clone(), 29, line[29] + Vec3::X * 1e-3);
        assert!(left < 1e-6, "{left}");
        let turn = |j: usize| {
            let e = |line: &[Vec3]| line[j] - line[j - 1];
            e(&found).angle_between(e(&line))
        };
        let largest = (2..30).map(turn).fold(0.0, f32::max);
        assert!(largest < 0.01, "{largest}");
    }

    #[test]
    fn a_straight_chain_buckles_where_it_has_to_get_shorter() {
        let line: Vec<Vec3> = (0..30).map(|i| Vec3::NEG_Y * (0.01 * i as f32)).collect();
        for shorter in [1e-5, 1e-3, 0.05] {
            let (_, left) = check(line.clone(), 25, line[25] + Vec3::Y * shorter);
            assert!(left < 1e-5, "{shorter}: {left}");
        }
    }

    /// A chain out of reach ends near the point of its reach that is closest to the target; a NaN target changes nothing.
    #[test]
    fn lengths_are_kept_out_of_reach() {
        let line = curl();
        let reach: f32 = (2..=20).map(|j| line[j].distance(line[j - 1])).sum();
        let target = line[1] + Vec3::new(0.6, 0.8, 0.0) * (reach + 0.05);
        let (_, left) = check(line.clone(), 20, target);
        assert!((0.05..0.06).contains(&left), "{left}");
        let mut line = line;
        let before = line.clone();
        close_chain(&mut line[..], [1, 20, 29], Vec3::NAN, |_| 0.01);
        assert_eq!(line[..20], before[..20]);
    }
}
