//! Noise over space; [`Random`] is the stream of numbers behind it.

pub(crate) use coif::math::Random;
use glam::Vec3;

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
