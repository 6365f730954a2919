//! Repeatable randomness: the same seed gives the same hair on every machine.

use glam::Vec3;

/// A stream of random numbers (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Streams of different seeds or different salts have nothing in common.
    pub(crate) fn new(seed: u64, salt: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.rotate_left(32));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly in 0..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Evenly in -1..1.
    pub(crate) fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    /// Evenly in lo..hi.
    pub(crate) fn between(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * self.unit()
    }

    /// Evenly in the unit ball's bounding box: good enough for jitter.
    pub(crate) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }
}

/// Smooth noise in -1..1 with features of size one.
pub(crate) fn noise(p: Vec3, salt: u64) -> f32 {
    let cell = p.floor();
    let f = p - cell;
    let s = f * f * (Vec3::splat(3.0) - 2.0 * f);
    let corner = |x: f32, y: f32, z: f32| {
        let c = cell + Vec3::new(x, y, z);
        let key = (c.x as i64 as u64).wrapping_mul(0x8da6_b343)
            ^ (c.y as i64 as u64).wrapping_mul(0xd816_3841)
            ^ (c.z as i64 as u64).wrapping_mul(0xcb1a_b31f);
        Random::new(key, salt).signed()
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let edge = |y: f32, z: f32| mix(corner(0.0, y, z), corner(1.0, y, z), s.x);
    mix(mix(edge(0.0, 0.0), edge(1.0, 0.0), s.y), mix(edge(0.0, 1.0), edge(1.0, 1.0), s.y), s.z)
}

/// Three independent noises.
pub(crate) fn noise3(p: Vec3, salt: u64) -> Vec3 {
    Vec3::new(noise(p, salt), noise(p, salt ^ 0x51), noise(p, salt ^ 0xa7))
}
