//! Lays a strand along a curve so that every segment keeps its length.
//!
//! A hair mesh stretches and shrinks, hair does not. The curve goes through the places in the deformed mesh of the points of
//! a strand; the strand is laid along it from its root link by link, and ends
//! before the curve does where that is too long, or continues straight where it is too short. An obstacle
//! pushes a link aside; the next ones return to the curve.

use glam::Vec3A;

/// A length may be off by this fraction without the chain leaving the points of the curve: at rest both are
/// the same, to the last bit.
pub(super) const SAME: f32 = 2e-5;

/// Lengths below this have no direction (m): far below any segment.
pub(super) const NOTHING: f32 = 1e-12;

/// Least cosine between a curve and the next link for the speed of sliding to be defined.
pub(super) const GRAZING: f32 = 0.2;

/// A point with its velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moving {
    /// m.
    pub(super) at: Vec3A,
    /// m/s.
    pub(super) velocity: Vec3A,
}

/// A chain that is being laid along a curve.
pub(super) struct Chain<C: FnMut(usize) -> Moving> {
    /// The points of the curve, requested in rising order, each once.
    curve: C,
    /// How many there are.
    count: usize,
    /// Index of the second point of the segment that the chain has reached.
    next: usize,
    from: Moving,
    to: Moving,
    /// Fraction of that segment that the chain has reached, 0..1.
    fraction: f32,
    /// Where the chain ends so far.
    end: Moving,
}

impl<C: FnMut(usize) -> Moving> Chain<C> {
    /// Starts at the first point of a curve of `count` points.
    pub(super) fn new(count: usize, mut curve: C) -> Self {
        let from = curve(0);
        let to = if count > 1 { curve(1) } else { from };
        Self { curve, count, next: 1, from, to, fraction: 0.0, end: from }
    }

    /// Where the chain ends so far.
    pub(super) fn end(&self) -> Moving {
        self.end
    }

    /// Lays a link of this length (m).
    ///
    /// Model: the first place from here on at which the curve is as far from the last joint as the link is
    /// long; beyond its end the curve goes on straight. The link slides along the curve as fast as it
    /// has to for its length to stay.
    /// Symbols: q last joint, a + s d the curve's segment, l length.
    pub(super) fn link(&mut self, length: f32) -> Moving {
        let q = self.end;
        // Leave segments behind whose end is within the link's reach.
        while self.next + 1 < self.count && self.to.at.distance(q.at) < length * (1.0 - SAME) {
            self.step();
        }
        let d = self.to.at - self.from.at;
        let reached = self.to.at.distance(q.at);
        if (reached - length).abs() <= length * SAME {
            self.fraction = 1.0;
            self.end = self.slid(1.0, q);
            return self.end;
        }
        let start = self.from.at + d * self.fraction - q.at;
        if start.length_squared() > length * length {
            return self.return_to_curve(length);
        }
        // |a + s d - q| = l, where the curve leaves the ball.
        let away = self.from.at - q.at;
        let (dd, ad) = (d.length_squared(), away.dot(d));
        if dd < NOTHING * NOTHING {
            self.end = Moving { at: self.to.at, ..self.to };
            return self.end;
        }
        let root = (ad * ad - dd * (away.length_squared() - length * length)).max(0.0).sqrt();
        self.fraction = ((root - ad) / dd).max(self.fraction);
        self.end = self.slid(self.fraction, q);
        self.end
    }

    /// Moves the joint that was laid last.
    pub(super) fn push(&mut self, to: Moving) {
        self.end = to;
    }

    /// Goes to the next segment of the curve.
    fn step(&mut self) {
        self.next += 1;
        self.from = self.to;
        self.to = (self.curve)(self.next);
        self.fraction = 0.0;
    }

    /// Goes on from beside the curve: as far along it as the link is long, and there as far as it reaches.
    fn return_to_curve(&mut self, length: f32) -> Moving {
        let mut left = length;
        loop {
            let whole = self.from.at.distance(self.to.at);
            let rest = whole * (1.0 - self.fraction);
            if left <= rest || self.next + 1 >= self.count {
                self.fraction += left / whole.max(NOTHING);
                break;
            }
            left -= rest;
            self.step();
        }
        let aim = self.at(self.fraction);
        let offset = aim.at - self.end.at;
        let u = offset * (1.0 / offset.length().max(NOTHING));
        let along = u * u.dot(aim.velocity - self.end.velocity);
        self.end = Moving { at: self.end.at + u * length, velocity: aim.velocity - along };
        self.end
    }

    /// A point of the present segment.
    fn at(&self, fraction: f32) -> Moving {
        let velocity = self.to.velocity - self.from.velocity;
        Moving {
            at: self.from.at + (self.to.at - self.from.at) * fraction,
            velocity: self.from.velocity + velocity * fraction,
        }
    }

    /// A point of the present segment, with the velocity that keeps its distance from `q`.
    fn slid(&self, fraction: f32, q: Moving) -> Moving {
        let mut here = if fraction == 1.0 { self.to } else { self.at(fraction) };
        let (d, link) = (self.to.at - self.from.at, here.at - q.at);
        let rate = link.dot(d);
        if rate * rate > GRAZING * GRAZING * d.length_squared() * link.length_squared() {
            here.velocity += d * (link.dot(q.velocity - here.velocity) / rate);
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lays links along a curve.
    fn laid(curve: &[Vec3A], lengths: &[f32]) -> Vec<Vec3A> {
        let still = |i: usize| Moving { at: curve[i], velocity: Vec3A::ZERO };
        let mut chain = Chain::new(curve.len(), still);
        let mut out = vec![chain.end().at];
        out.extend(lengths.iter().map(|&l| chain.link(l).at));
        out
    }

    fn wave(n: usize, stretch: f32) -> Vec<Vec3A> {
        let at = |i: usize| Vec3A::new(0.02 * (i as f32 * 0.9).sin(), -0.01 * i as f32, 0.0);
        (0..n).map(|i| at(i) * stretch).collect()
    }

    fn lengths(line: &[Vec3A]) -> Vec<f32> {
        line.windows(2).map(|w| w[0].distance(w[1])).collect()
    }

    #[test]
    fn a_chain_of_the_right_length_lies_on_the_points() {
        let curve = wave(20, 1.0);
        assert_eq!(laid(&curve, &lengths(&curve)), curve);
    }

    #[test]
    fn links_keep_their_length_on_longer_and_shorter_curves() {
        let rest = lengths(&wave(20, 1.0));
        for stretch in [0.3, 0.8, 1.02, 1.7, 30.0] {
            let curve = wave(20, stretch);
            let out = laid(&curve, &rest);
            for (pair, length) in out.windows(2).zip(&rest) {
                assert!((pair[0].distance(pair[1]) / length - 1.0).abs() < 1e-4, "{stretch}");
            }
            // On the curve, or straight on beyond its end.
            let far = |p: &Vec3A| {
                let near = |w: &[Vec3A]| {
                    let d = w[1] - w[0];
                    let s = ((*p - w[0]).dot(d) / d.length_squared()).max(0.0);
                    let s = if w[1] == curve[19] { s } else { s.min(1.0) };
                    p.distance(w[0] + d * s)
                };
                curve.windows(2).map(near).fold(f32::INFINITY, f32::min)
            };
            assert!(out.iter().all(|p| far(p) < 1e-5), "{stretch}");
        }
    }

    #[test]
    fn a_curve_in_one_point_gives_finite_joints() {
        let curve = vec![Vec3A::ONE; 5];
        assert!(laid(&curve, &[0.1; 4]).iter().all(|p| p.is_finite()));
    }

    /// A chain that was pushed aside returns to the curve.
    #[test]
    fn a_chain_that_was_pushed_finds_back_with_the_same_lengths() {
        let curve: Vec<Vec3A> = (0..20).map(|i| Vec3A::NEG_Y * (0.01 * i as f32)).collect();
        let still = |i: usize| Moving { at: curve[i], velocity: Vec3A::ZERO };
        let mut chain = Chain::new(curve.len(), still);
        chain.link(0.01);
        chain.push(Moving { at: Vec3A::new(0.03, -0.01, 0.0), velocity: Vec3A::ZERO });
        let mut before = chain.end().at;
        for _ in 0..12 {
            let next = chain.link(0.01).at;
            assert!((next.distance(before) - 0.01).abs() < 1e-6);
            before = next;
        }
        assert!(before.x.abs() < 1e-3, "{before}");
    }
}
