//! Moves a pinned point to its pin on the length sphere without moving the strand into the body.
//!
//! Model: the smallest rotations that close the gap ([`close_chain`]), and, if points are inside of the body then, the smallest
//! rotations that keep the gap closed and displace these points to the tangent planes: `u_j = u + sum of n_c lambda_c` over the
//! contacts c beyond segment j, with the multipliers of the linear system of all constraints, by Newton's method. A contact whose
//! multiplier is negative is dropped. Where there is no solution, part of the gap stays open: length and the body come first.
//! Symbols: e_j direction and l_j length (m) of segment j, n_c normal of a contact, u and lambda multipliers.

use glam::{Mat3, Vec3};

use super::collider::Obstacles;
use crate::collide::GRAZING;
use crate::math::close_chain::{Line, close_chain};

/// Contacts that are held together: more are treated in the next iterations.
const MAX_CONTACTS: usize = 8;

/// Iterations of Newton's method: a new contact may be found in each.
const MAX_ITERATIONS: usize = 16;

/// Fractions of the gap to close, one after the other until there is a solution.
const FRACTIONS: [f32; 3] = [1.0, 0.5, 0.2];

/// Gap (m) that is closed without a test for contact: the strand moves by as little.
const SMALL: f32 = 2e-5;

/// Depth (m) that a point may have, less than what counts as penetration.
const SHALLOW: f32 = 0.3 * GRAZING;

/// Distance (m) from the surface at which contacts are held.
const CLEAR: f32 = 1e-5;

/// Remaining gap (m) that counts as closed.
const CLOSED: f32 = 1e-6;

/// Regularisation, relative to the length of the chain.
const REGULAR: f32 = 1e-5;

/// Largest displacement of the end of a segment in an iteration, as a fraction of its length.
const MAX_TURN: f32 = 0.3;

/// Unknowns: three for the gap, one for each contact.
const SIZE: usize = 3 + MAX_CONTACTS;

/// A contact that is held: which point, and which surface.
#[derive(Clone, Copy, Default)]
struct Held {
    point: usize,
    surface: usize,
}

/// The body around a strand.
pub(super) struct Outside<'a, A: Fn(usize) -> f32> {
    pub(super) obstacles: &'a Obstacles<'a>,
    /// Permitted depth of a point (m).
    pub(super) allowed: A,
    /// Whether the pinned point itself has to stay outside.
    pub(super) collides: bool,
}

impl<A: Fn(usize) -> f32> Outside<'_, A> {
    /// Moves the point `pinned` to `target` (m); points beyond it up to `last` are translated with it. `before` is scratch.
    pub(super) fn close<L: Line + ?Sized>(
        &self,
        line: &mut L,
        [first, pinned, last]: [usize; 3],
        target: Vec3,
        length: impl Fn(usize) -> f32,
        before: &mut Vec<Vec3>,
    ) {
        let start = line.at(pinned);
        let is_alone = self.obstacles.colliders.is_empty() && self.obstacles.field.is_none();
        if is_alone || start.distance(target) < SMALL {
            close_chain(line, [first, pinned, last], target, length);
            return;
        }
        before.clear();
        before.extend((first..=last).map(|i| line.at(i)));
        for fraction in FRACTIONS {
            let target = start + (target - start) * fraction;
            close_chain(line, [first, pinned, last], target, &length);
            let end = line.at(pinned);
            if self.leave_body(line, [first, pinned], target, &length) {
                let moved = line.at(pinned) - end;
                for i in pinned + 1..=last {
                    let p = line.at(i);
                    line.set(i, p + moved);
                }
                return;
            }
            for (i, p) in (first..=last).zip(&*before) {
                line.set(i, *p);
            }
        }
    }

    /// Depth of a point beyond what is permitted (m), and the surface.
    fn depth(&self, i: usize, p: Vec3) -> Option<(usize, f32)> {
        let (surface, depth) = self.obstacles.deepest(p)?;
        let deep = depth - (self.allowed)(i);
        (deep > 0.0).then_some((surface, deep))
    }

    /// Rotates the segments so that all points are outside and the gap stays closed; returns whether it has succeeded.
    fn leave_body<L: Line + ?Sized>(
        &self,
        line: &mut L,
        [first, pinned]: [usize; 2],
        target: Vec3,
        length: &impl Fn(usize) -> f32,
    ) -> bool {
        let total: f32 = (first + 1..=pinned).map(length).sum();
        let last = if self.collides { pinned } else { pinned - 1 };
        let mut held = [Held::default(); MAX_CONTACTS];
        let mut count = 0;
        for _ in 0..MAX_ITERATIONS {
            // Find the deepest point that is not held yet.
            let (mut new, mut deepest) = (None, 0.0f32);
            for i in first + 1..=last {
                let Some((surface, deep)) = self.depth(i, line.at(i)) else { continue };
                let known = held[..count].iter().any(|h| h.point == i && h.surface == surface);
                if deep > deepest {
                    deepest = deep;
                    new = (!known).then_some(Held { point: i, surface });
                }
            }
            if deepest.is_nan() {
                return false;
            }
            let gap = target - line.at(pinned);
            if deepest <= SHALLOW && gap.length() <= CLOSED.max(1e-6 * total) {
                return true;
            }
            if let Some(new) = new.filter(|_| count < MAX_CONTACTS && deepest > SHALLOW) {
                held[count] = new;
                count += 1;
            }
            count = self.turn(line, [first, pinned], gap, total, length, &mut held, count);
        }
        false
    }

    /// One Newton iteration with the contacts that are held; returns how many of them stay.
    #[allow(clippy::too_many_arguments)]
    fn turn<L: Line + ?Sized>(
        &self,
        line: &mut L,
        [first, pinned]: [usize; 2],
        gap: Vec3,
        total: f32,
        length: &impl Fn(usize) -> f32,
        held: &mut [Held; MAX_CONTACTS],
        mut count: usize,
    ) -> usize {
        held[..count].sort_unstable_by_key(|h| (h.point, h.surface));
        let (mut normal, mut lambda, mut u);
        loop {
            // Assemble the system of the gap and the contacts.
            let (mut a, mut b) = ([[0.0f64; SIZE]; SIZE], [0.0f64; SIZE]);
            normal = [Vec3::ZERO; MAX_CONTACTS];
            for (c, h) in held[..count].iter().enumerate() {
                let p = line.at(h.point);
                let Some((n, distance)) = self.obstacles.surface(h.surface, p) else { continue };
                normal[c] = n;
                b[3 + c] = f64::from(CLEAR - distance - (self.allowed)(h.point));
            }
            for (k, g) in gap.to_array().into_iter().enumerate() {
                b[k] = f64::from(g);
            }
            let mut reach = Mat3::ZERO;
            let mut next = 0;
            for j in first + 1..=pinned {
                let e = (line.at(j) - line.at(j - 1)).normalize_or(Vec3::Y);
                reach += (Mat3::IDENTITY - Mat3::from_cols(e * e.x, e * e.y, e * e.z)) * length(j);
                while next < count && held[next].point == j {
                    // A displacement of this point by all rotations up to it.
                    let row = reach * normal[next];
                    for (k, value) in row.to_array().into_iter().enumerate() {
                        (a[3 + next][k], a[k][3 + next]) = (value.into(), value.into());
                    }
                    for d in next..count {
                        let value = f64::from(row.dot(normal[d]));
                        (a[3 + next][3 + d], a[3 + d][3 + next]) = (value, value);
                    }
                    next += 1;
                }
            }
            let columns = reach.to_cols_array_2d();
            for (k, column) in columns.iter().enumerate() {
                for (i, value) in column.iter().enumerate() {
                    a[i][k] = f64::from(*value);
                }
            }
            for (k, row) in a.iter_mut().enumerate().take(3 + count) {
                row[k] += f64::from(REGULAR * total);
            }
            let x = solve(a, b, 3 + count);
            u = Vec3::new(x[0] as f32, x[1] as f32, x[2] as f32);
            lambda = [0.0f32; MAX_CONTACTS];
            for c in 0..count {
                lambda[c] = x[3 + c] as f32;
            }
            // Drop the contact that pulls most.
            let pulls = (0..count).min_by(|&c, &d| lambda[c].total_cmp(&lambda[d]));
            match pulls.filter(|&c| lambda[c] < 0.0) {
                Some(c) => {
                    held.copy_within(c + 1..count, c);
                    count -= 1;
                }
                None => break,
            }
        }
        // Rotate the segments, and recompute the points.
        let by = |j: usize| {
            let contacts = held[..count].iter().zip(normal.iter().zip(&lambda));
            let beyond = contacts.filter(|(h, _)| h.point >= j);
            beyond.fold(u, |sum, (_, (n, l))| sum + *n * *l)
        };
        let largest = (first + 1..=pinned).map(|j| by(j).length()).fold(0.0, f32::max);
        let limit = (MAX_TURN / largest.max(f32::MIN_POSITIVE)).min(1.0);
        let mut before = line.at(first);
        let mut inner = before;
        for j in first + 1..=pinned {
            let p = line.at(j);
            let e = (p - before).normalize_or(Vec3::Y);
            let w = by(j);
            before = p;
            inner += (e + (w - e * e.dot(w)) * limit).normalize_or(e) * length(j);
            line.set(j, inner);
        }
        count
    }
}

/// The solution of a small dense system by Gaussian elimination with pivots.
fn solve(mut a: [[f64; SIZE]; SIZE], mut b: [f64; SIZE], n: usize) -> [f64; SIZE] {
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        b.swap(k, pivot);
        let inverse = if a[k][k] == 0.0 { 0.0 } else { 1.0 / a[k][k] };
        for i in k + 1..n {
            let factor = a[i][k] * inverse;
            let (upper, lower) = a.split_at_mut(i);
            for (to, from) in lower[0][k..n].iter_mut().zip(&upper[k][k..n]) {
                *to -= factor * from;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = if a[k][k] == 0.0 { 0.0 } else { (b[k] - sum) / a[k][k] };
    }
    b
}

#[cfg(test)]
mod tests {
    use super::super::collider::tests::fixed;
    use super::*;
    use crate::body::Shape;
    use glam::Quat;

    /// A strand over a ball, whose tip is pulled to the other side: it lies on the ball, with its lengths; where it is too
    /// short nothing moves into the ball either.
    #[test]
    fn a_strand_is_closed_over_a_ball() {
        let radius = 0.1;
        let ball = [fixed(Shape::Sphere { radius }, Vec3::ZERO, Quat::IDENTITY)];
        let obstacles = Obstacles { colliders: &ball, groups: &[], field: None };
        let outside = Outside { obstacles: &obstacles, allowed: |_| 0.0, collides: true };
        // A half circle of points over the ball, with some slack.
        for (slack, tip, reaches) in [(1.3, 0.0, true), (1.1, -0.02, true), (1.0002, -0.05, false)]
        {
            let at = |i: usize| {
                let angle = std::f32::consts::PI * i as f32 / 29.0;
                Vec3::new(-angle.cos(), angle.sin() * slack, 0.0) * (radius + 0.002)
            };
            let mut line: Vec<Vec3> = (0..30).map(at).collect();
            let rest = line.clone();
            let length = |i: usize| rest[i].distance(rest[i - 1]);
            let target = line[29] + Vec3::new(0.004, tip, 0.0);
            let mut gap = 1.0;
            for _ in 0..40 {
                let step = line[29] + (target - line[29]).clamp_length_max(0.002);
                outside.close(&mut line[..], [0, 29, 29], step, length, &mut Vec::new());
                gap = line[29].distance(target);
                let depth = line[1..].iter().map(|p| radius - p.length()).fold(-1.0, f32::max);
                assert!(depth < SHALLOW, "{slack}: {depth}");
                for i in 1..30 {
                    let stretch = line[i].distance(line[i - 1]) / length(i) - 1.0;
                    assert!(stretch.abs() < 1e-5, "{slack}: {stretch}");
                }
            }
            println!("slack {slack}: gap {gap}");
            assert_eq!(gap < 1e-4, reaches, "{slack}: {gap}");
        }
    }

    #[test]
    fn a_dense_system_is_solved() {
        let mut a = [[0.0; SIZE]; SIZE];
        (a[0], a[1], a[2]) = ([0.0; SIZE], [0.0; SIZE], [0.0; SIZE]);
        for (i, row) in [[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]].into_iter().enumerate()
        {
            a[i][..3].copy_from_slice(&row);
        }
        let mut b = [0.0; SIZE];
        b[..3].copy_from_slice(&[7.0, 10.0, 6.0]);
        let x = solve(a, b, 3);
        assert!(
            (x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12 && (x[2] - 3.0).abs() < 1e-12
        );
    }
}
