//! Hash-based pseudo-random numbers: jitter per strand, dither per pixel.

/// Mixes the bits of a number, so that the hashes of neighbouring numbers are uncorrelated.
pub(crate) fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// A number in -1..1 for a key and a stream.
pub(crate) fn signed_unit(key: u32, stream: u32) -> f32 {
    let bits = hash(key ^ hash(stream.wrapping_add(0x9e37_79b9))) >> 8;
    bits as f32 * (2.0 / 16_777_216.0) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_centred_and_fills_its_range() {
        let values: Vec<f32> = (0..10_000).map(|i| signed_unit(i, 3)).collect();
        let mean = values.iter().sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.02, "{mean}");
        assert!(values.iter().all(|v| (-1.0..1.0).contains(v)));
        assert!(values.iter().any(|v| *v > 0.99) && values.iter().any(|v| *v < -0.99));
    }
}
