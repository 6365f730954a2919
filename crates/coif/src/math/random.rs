//! Pseudo-random numbers that depend only on a seed, the same on every machine: splitmix64.

use glam::Vec3;

/// Increment of the state of splitmix64: 2^64 over the golden ratio.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of splitmix64: a bijection whose values at consecutive integers are statistically independent.
pub(crate) fn mix_bits(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in 0..1 from the upper bits.
pub(crate) fn unit_from_bits(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1u64 << 24) as f32
}

/// A stream of random numbers (splitmix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Streams of different seeds or different salts are independent.
    pub fn new(seed: u64, salt: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(GOLDEN) ^ salt.rotate_left(32));
        random.bits();
        random
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix_bits(self.0)
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f32 {
        unit_from_bits(self.bits())
    }

    /// Uniform in -1..1.
    pub fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in lo..hi.
    pub fn between(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * self.unit()
    }

    /// An integer below `count`; 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() >> 33) as usize % count.max(1)
    }

    /// Uniform in the cube from -1 to 1.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    /// Shuffles items (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_uniform_and_streams_independent() {
        let (mut a, mut b) = (Random::new(1, 0), Random::new(1, 1));
        let (mut mean, mut correlation) = (0.0, 0.0);
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            let (x, y) = (a.signed(), b.signed());
            assert!((-1.0..1.0).contains(&x));
            mean += x / 1e4;
            correlation += 3.0 * x * y / 1e4;
            counts[a.below(10)] += 1;
        }
        // Four standard deviations: sqrt(1/3) and 1 over the root of the number of samples, 30 of a count.
        assert!(mean.abs() < 0.024 && correlation.abs() < 0.04, "{mean} {correlation}");
        assert!(counts.iter().all(|n| (880..1120).contains(n)), "{counts:?}");
        assert_eq!(Random::new(7, 3).bits(), Random::new(7, 3).bits());
    }
}
