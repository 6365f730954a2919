//! The one-way pass of `muller2012` as a linear map: the exact modes of a hanging chain.
//!
//! Model: a chain of n segments of length l hangs straight down. In one step a point i goes (all to first order in its
//! displacement `x` aside; old values without, new ones with a dash)
//!
//! ```text
//! y  = x_i + (x_i - x_i before) + t_i (x_(i+1) - x_i)     predict: velocity, pull of the next segment, late (eq. 9)
//! x' = x'_(i-1) + (y - x'_(i-1)) / (1 + d_i)              project on the length sphere of the new predecessor
//! ```
//!
//! where `l d_i` is by how much the projection shortens the segment: `d_n = g dt^2 / l` at the tip,
//! `d_i = g dt^2 / l + t_i`, `t_(i-1) = a m_i / m_(i-1) d_i`, `a = s^(1/n)`, a tip of half a mass. Lengths and tensions
//! change with the square of the displacement only, so that they are constants here. A swing `x(t) = x z^t` has
//!
//! ```text
//! (z - 1)^2 / z x_i + z d_i (x_i - x_(i-1)) - t_i (x_(i+1) - x_i) = 0
//! ```
//!
//! which is a chain with masses `m_i a^i` whose segments pull on their outer end at the end of the step (`z`) and on
//! their inner end at its start (1). From the tip, this gives `x_(n-1)` to `x_0`; the roots of `x_0(z) = 0` are the
//! modes. `z = exp(r dt)` gives frequency `Im r / 2 pi` and damping ratio `-Re r / |r|`.
//!
//! Leading order: with `z = 1 + i w dt` in the second term, a mode of frequency w and shape `x` gains the rate
//! `dt / 2 sum M d x_i (x_i - x_(i-1)) / sum M x_i^2`; the sum by parts leaves `g / (2 l) + w^2 / 2`, for every mode
//! and every s, since the tension at a point is the weight below it. So
//!
//! ```text
//! damping ratio = dt (n g / L + w^2) / (4 w),    decay rate = dt (n g / L + w^2) / 4
//! ```
//!
//! The next order makes the chain heavier: `(z - 1) d` in the two forces is `-w^2 dt^2 d / 4`, added to the inertia
//! `-w^2 dt^2`, so that w falls by the fraction `g dt^2 / (8 l^2)` times the mean distance from the tip, `L (1 - 2 /
//! j^2) / 3` in the mode of the zero j of J0, and by half the square of the damping ratio as every swing that is
//! damped.
//!
//! The leading order neglects that mass, which reduces by the fraction `dt^2 n^2 (g / L) / 12`, about, the
//! damping ratio (40 points at 60 steps a second, with w of short steps: 0.80 against 0.57; at 240: 0.200 against
//! 0.194; at 960: 0.050 against 0.050). The scale s enters by w alone: to leading order, it does not damp.

use std::ops::{Add, Div, Mul, Sub};

/// A hanging chain under the one-way pass.
pub(super) struct OneWayChain {
    /// Length of the step (s).
    dt: f64,
    /// Per point, from the root, over `dt^2` (1/s^2): shortening of the segment that ends there by the projection
    /// (`d`), and the tension of the next segment (`t`).
    shortened: Vec<f64>,
    pull: Vec<f64>,
    /// Effective masses `m_i a^i` of a swing.
    mass: Vec<f64>,
}

/// A swing of the chain.
pub(super) struct Mode {
    /// `r`: rate of growth and angular frequency (1/s).
    pub(super) rate: Complex,
    /// Weights of the displacements at the end and at the start of a step: their sum is the mode's amplitude.
    weights: [Vec<Complex>; 2],
}

impl OneWayChain {
    /// A chain of `points` and `length` (m) with the scale `s` of the velocity correction.
    pub(super) fn new(points: usize, [length, gravity, dt]: [f64; 3], s: f64) -> Self {
        let last = points - 1;
        let a = s.powf(1.0 / last as f64);
        let weight = |i: usize| if i == last { 0.5 } else { 1.0 };
        let mass = (0..points).map(|i| weight(i) * a.powi(i as i32)).collect::<Vec<_>>();
        let (mut shortened, mut pull) = (vec![0.0; points], vec![0.0; points]);
        for i in (1..points).rev() {
            shortened[i] = gravity / (length / last as f64) + pull[i];
            pull[i - 1] = mass[i] / mass[i - 1] * shortened[i];
        }
        Self { dt, shortened, pull, mass }
    }

    /// The mode with `index` nodes below the root, continued from infinitesimal steps.
    pub(super) fn mode(&self, index: usize) -> Mode {
        let mut rate = Complex(0.0, self.natural_frequency(index));
        let mut before = rate;
        for k in 1..=INCREMENTS {
            let dt = self.dt * f64::from(k) / f64::from(INCREMENTS);
            let guess = rate + (rate - before);
            (before, rate) = (rate, self.root_near(guess, dt));
        }
        let z = (rate * self.dt).exp();
        let shape = self.shape(rate, self.dt);
        // A left null vector of the tridiagonal system: each entry below the diagonal has one factor of z more
        // than its mirror image.
        let mut late = Complex(1.0, 0.0);
        let mut left = Vec::with_capacity(shape.len());
        for (x, m) in shape.iter().zip(&self.mass) {
            left.push(*x * *m * late);
            late = late / z;
        }
        // With `B2 x'' + B1 x' + B0 x = 0`, what `left (B2 x' + (z B2 + B1) x)` gives grows by z at every step.
        let last = shape.len() - 1;
        let [d, t] = [&self.shortened, &self.pull].map(|v| v.iter().map(|v| v * self.dt * self.dt));
        let (d, t): (Vec<f64>, Vec<f64>) = (d.collect(), t.collect());
        let none = Complex(0.0, 0.0);
        let mut end = vec![none; shape.len()];
        let mut start = vec![none; shape.len()];
        for j in 1..=last {
            let below = if j < last { left[j + 1] * d[j + 1] } else { none };
            end[j] = left[j] * (1.0 + d[j]) - below;
            let above = if j > 1 { left[j - 1] * t[j - 1] } else { none };
            start[j] = z * end[j] + left[j] * (t[j] - 2.0) - above;
        }
        Mode { rate, weights: [end, start] }
    }

    /// Angular frequency of a mode for infinitesimal steps (1/s), by the number of sign changes.
    fn natural_frequency(&self, index: usize) -> f64 {
        let changes = |omega: f64| {
            let mut x = [1.0, 1.0];
            let mut count = 0;
            for i in (1..self.mass.len()).rev() {
                let bent = omega * omega * x[1] + self.pull[i] * (x[0] - x[1]);
                let inner = x[1] - bent / self.shortened[i];
                count += usize::from((inner < 0.0) != (x[1] < 0.0));
                x = [x[1], inner];
            }
            count
        };
        let mut hi = 1.0;
        while changes(hi) <= index {
            hi *= 2.0;
        }
        let mut lo = 0.0;
        for _ in 0..100 {
            let middle = 0.5 * (lo + hi);
            if changes(middle) > index { hi = middle } else { lo = middle }
        }
        hi
    }

    /// Displacements of all points at this rate, 1 at the tip.
    fn shape(&self, rate: Complex, dt: f64) -> Vec<Complex> {
        let z = (rate * dt).exp();
        let inertia = (z - Complex(1.0, 0.0)) * (z - Complex(1.0, 0.0)) / z;
        let mut x = vec![Complex(1.0, 0.0); self.mass.len()];
        for i in (1..x.len()).rev() {
            let outer = x[(i + 1).min(x.len() - 1)];
            let bent = inertia * (1.0 / (dt * dt)) * x[i] - (outer - x[i]) * self.pull[i];
            x[i - 1] = x[i] + bent / (z * self.shortened[i]);
        }
        x
    }

    /// Newton's method for a rate at which the displacement of the root is zero.
    fn root_near(&self, mut rate: Complex, dt: f64) -> Complex {
        for _ in 0..NEWTON_STEPS {
            let h = Complex(1e-6 * rate.norm(), 0.0);
            let at = |rate| self.shape(rate, dt)[0];
            let slope = (at(rate + h) - at(rate - h)) / (h + h);
            rate = rate - at(rate) / slope;
        }
        rate
    }
}

/// Number of increments in which the step length is continued from zero: the rate changes by less than a tenth of its
/// size in each, down to 60 steps a second.
const INCREMENTS: i32 = 64;
/// Number of Newton steps: more than enough from so near, since each squares the error.
const NEWTON_STEPS: usize = 6;

impl Mode {
    /// The rate (1/s) of the mode in a sequence of lateral displacements (m), one line per step; NaN for fewer than
    /// three lines. Other modes have no influence, whatever their size.
    pub(super) fn measure(&self, lines: &[Vec<f64>], dt: f64) -> Complex {
        let amplitudes: Vec<Complex> = lines
            .windows(2)
            .map(|pair| {
                let sum = |w: &[Complex], x: &[f64]| {
                    w.iter().zip(x).fold(Complex(0.0, 0.0), |sum, (w, x)| sum + *w * *x)
                };
                sum(&self.weights[0], &pair[1]) + sum(&self.weights[1], &pair[0])
            })
            .collect();
        let mut sum = Complex(0.0, 0.0);
        for pair in amplitudes.windows(2) {
            sum = sum + (pair[1] / pair[0]).ln();
        }
        sum * (1.0 / (dt * amplitudes.len().saturating_sub(1) as f64))
    }
}

/// Real and imaginary part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex(pub(super) f64, pub(super) f64);

impl Complex {
    /// Absolute value.
    pub(super) fn norm(self) -> f64 {
        self.0.hypot(self.1)
    }

    fn exp(self) -> Self {
        Self(self.1.cos(), self.1.sin()) * self.0.exp()
    }

    fn ln(self) -> Self {
        Self(self.norm().ln(), self.1.atan2(self.0))
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        Self(self.0 * other, self.1 * other)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self(other.0, -other.1) * self * (1.0 / (other.0 * other.0 + other.1 * other.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: f64 = 0.3;
    const GRAVITY: f64 = 9.81;
    const J0_ZEROS: [f64; 3] =
        [2.404_825_557_695_773, 5.520_078_110_286_311, 8.653_727_912_911_013];

    fn chain(points: usize, dt: f64, s: f64) -> OneWayChain {
        OneWayChain::new(points, [LENGTH, GRAVITY, dt], s)
    }

    /// With many points and short steps, the modes are those of D. Bernoulli: a chain of n links deviates by the square
    /// of 1 / n.
    #[test]
    fn the_modes_are_those_of_a_chain() {
        for (k, zero) in J0_ZEROS.iter().enumerate() {
            let truth = 0.5 * zero * (GRAVITY / LENGTH).sqrt();
            let off = [100, 200].map(|n| {
                let rate = chain(n + 1, 1e-7, 1.0).mode(k).rate;
                (rate.1 / truth - 1.0).abs()
            });
            println!("mode {k}: off by {off:?}");
            assert!(off[1] < 1e-3 && (off[0] / off[1] - 4.0).abs() < 0.2, "{k}: {off:?}");
        }
    }

    /// The closed formula is the limit of short steps, for every mode, number of points and scale. The neglected
    /// terms go with the square of the step, and are less than the additional mass of the heaviest point, at the root:
    /// a quarter of `d`, which is `dt^2 n^2 g / L` there.
    #[test]
    fn the_damping_tends_to_the_closed_formula() {
        for (points, s) in [(15, 1.0), (40, 0.9), (40, 0.5), (60, 1.0)] {
            let n = (points - 1) as f64;
            for k in 0..3 {
                let [off, half] = [1.0 / 4000.0, 1.0 / 8000.0].map(|dt| {
                    let rate = chain(points, dt, s).mode(k).rate;
                    let formula = dt * (n * GRAVITY / LENGTH + rate.1 * rate.1) / (4.0 * rate.1);
                    let damping = -rate.0 / rate.norm();
                    let off = 1.0 - damping / formula;
                    let max_off = 0.25 * dt * dt * n * n * GRAVITY / LENGTH;
                    assert!(0.0 < off && off < max_off, "{points} {s} {k}: {off} {max_off}");
                    off
                });
                println!("{points} points, s {s}, mode {k}: {off}, {half}");
                assert!((off / half - 4.0).abs() < 0.05, "{points} {s} {k}: {off} {half}");
            }
        }
    }

    /// Relative decrease of the frequency of a mode with the step, to the next order.
    #[test]
    fn the_frequency_falls_as_the_next_order_says() {
        let (n, dt) = (59.0, 1.0 / 960.0);
        for (k, j) in J0_ZEROS.iter().enumerate() {
            let [rate, natural] = [dt, 1e-7].map(|dt| chain(60, dt, 1.0).mode(k).rate);
            let damping = rate.0 / rate.norm();
            let heavier = dt * dt * n * n * GRAVITY / LENGTH * (1.0 - 2.0 / (j * j)) / 24.0;
            let (falls, truth) = (1.0 - rate.1 / natural.1, heavier + 0.5 * damping * damping);
            println!("mode {k}: falls by {falls}, {truth}");
            assert!((falls / truth - 1.0).abs() < 0.05, "{k}: {falls} {truth}");
        }
    }

    /// The weights find the rate of a mode in any motion of the map, whatever other modes it contains.
    #[test]
    fn the_weights_find_one_mode_among_others() {
        let (points, dt) = (30, 1.0 / 60.0);
        let chain = chain(points, dt, 0.9);
        let mut lines = vec![(0..points).map(|i| (i as f64).powi(2)).collect::<Vec<_>>()];
        lines.push(lines[0].clone());
        for t in 1..40 {
            let [before, now] = [&lines[t - 1], &lines[t]];
            let mut new = vec![0.0; points];
            for i in 1..points {
                let outer = now[(i + 1).min(points - 1)];
                let y = 2.0 * now[i] - before[i] + chain.pull[i] * dt * dt * (outer - now[i]);
                new[i] = new[i - 1] + (y - new[i - 1]) / (1.0 + chain.shortened[i] * dt * dt);
            }
            lines.push(new);
        }
        for k in 0..3 {
            let mode = chain.mode(k);
            let off = (mode.measure(&lines, dt) - mode.rate).norm() / mode.rate.norm();
            println!("mode {k}: rate {:?}, off by {off}", mode.rate);
            assert!(off < 1e-9, "{k}: {off}");
        }
    }
}
