use glam::Vec3;

use super::random::GOLDEN;

/// A hash of all bits of all positions and of their order.
///
/// Model: multiply and rotate per 32-bit word, with an avalanche at the end. Not cryptographic; equal
/// states have equal hashes on every machine.
pub fn hash_positions(positions: &[Vec3]) -> u64 {
    let mut h = positions.len() as u64;
    for p in positions {
        for value in p.to_array() {
            h = (h ^ u64::from(value.to_bits())).wrapping_mul(GOLDEN).rotate_left(29);
        }
    }
    h ^= h >> 32;
    h = h.wrapping_mul(GOLDEN);
    h ^ (h >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_depends_on_every_bit_and_on_the_order() {
        let a = [Vec3::X, Vec3::Y];
        let mut b = a;
        b[1].z = -0.0;
        assert_ne!(hash_positions(&a), hash_positions(&b));
        assert_ne!(hash_positions(&a), hash_positions(&[Vec3::Y, Vec3::X]));
        assert_eq!(hash_positions(&a), hash_positions(&[Vec3::X, Vec3::Y]));
    }
}
