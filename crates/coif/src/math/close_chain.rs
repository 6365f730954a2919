//! Closing the end gap of a chain of segments of fixed lengths by the smallest turns of its
//! segments.

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

/// Maximum number of rounds: three or four suffice where the chain is not nearly straight.
const ROUNDS: usize = 12;

/// Largest displacement of a segment in a round, as a fraction of its length.
const MAX_TURN: f32 = 0.3;

/// Distance (m) from the target that counts as zero, by the length of the chain: rounding.
const CLOSE: f32 = 1e-6;

/// Regularisation of the turns of a straight chain.
const REGULAR: f32 = 1e-5;

/// Mean square of the sine of the angles of segments to the direction in which a chain has to get shorter, below which it
/// counts as straight, by the relative shortening.
const STRAIGHT: f32 = 0.1;

/// Turns the segments between the points `first`, which stays, and `pinned` so that the latter gets to `target` (m);
/// those from there to `last` are moved along. Returns the remaining gap (m): more than rounding if out of reach.
///
/// Model: the turns `w_j` of the segments `s_j` with the smallest `sum l_j |w_j|^2` that close the gap `g`, by Newton's
/// method: segment j is moved by `l_j (1 - e_j e_j^T) u` with `sum l_j (1 - e_j e_j^T) u = g`, and gets back its length
/// `l_j`. So the turns do not depend on how finely the chain is cut. A chain that is straight and has to get shorter is
/// bent to the side first.
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
    for round in 0..ROUNDS {
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
        if round == 0 && toward.dot(along) < -0.5 && bends < STRAIGHT * left / total {
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

/// Adds to the directions of segments, by number and direction, and lays the chain out again with its lengths.
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

/// Bends a straight chain to one side: the segments by an angle (rad) that goes from `angle` to its opposite.
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
        // The rest beyond the pinned point moves along.
        let moved = line[pinned] - before[pinned];
        assert!((line[last] - before[last] - moved).length() < 1e-6);
        (line, left)
    }

    fn curl() -> Vec<Vec3> {
        let at = |t: f32| Vec3::new(0.02 * t.cos(), -0.01 * t, 0.02 * t.sin());
        (0..30).map(|i| at(0.4 * i as f32)).collect()
    }

    #[test]
    fn a_bent_chain_closes_on_any_place_within_its_reach() {
        let line = curl();
        for by in [Vec3::X, -Vec3::Y, Vec3::Z].map(|n| n * 0.02) {
            let (_, left) = check(line.clone(), 20, line[20] + by);
            assert!(left < 1e-6, "{by}: {left}");
        }
    }

    /// A millimetre of 20 cm is closed by turns of about one over two hundred, spread over all segments.
    #[test]
    fn turns_are_spread_over_the_chain() {
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
    fn a_straight_chain_bends_to_the_side_where_it_has_to_get_shorter() {
        let line: Vec<Vec3> = (0..30).map(|i| Vec3::NEG_Y * (0.01 * i as f32)).collect();
        for shorter in [1e-5, 1e-3, 0.05] {
            let (_, left) = check(line.clone(), 25, line[25] + Vec3::Y * shorter);
            assert!(left < 1e-5, "{shorter}: {left}");
        }
    }

    /// Out of reach it ends as near as possible, along the line to the target; non-finite input leaves no NaN.
    #[test]
    fn lengths_win_out_of_reach() {
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
