use glam::Vec3;

/// The Morton code of a point in the box `lo..hi`: the interleaved bits of its coordinates, ten each.
/// Points with close codes are usually close together.
pub fn morton_code(p: Vec3, lo: Vec3, hi: Vec3) -> u32 {
    let size = (hi - lo).max(Vec3::splat(1e-9));
    let cell = ((p - lo) / size * 1023.0).clamp(Vec3::ZERO, Vec3::splat(1023.0));
    let spread = |v: f32| {
        let mut x = v as u32;
        x = (x | (x << 16)) & 0x0300_00ff;
        x = (x | (x << 8)) & 0x0300_f00f;
        x = (x | (x << 4)) & 0x030c_30c3;
        (x | (x << 2)) & 0x0924_9249
    };
    spread(cell.x) | (spread(cell.y) << 1) | (spread(cell.z) << 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_interleaved() {
        let code = |x: f32, y: f32, z: f32| {
            morton_code(Vec3::new(x, y, z), Vec3::ZERO, Vec3::splat(1023.0))
        };
        assert_eq!(code(1.0, 0.0, 0.0), 1);
        assert_eq!(code(0.0, 1.0, 0.0), 2);
        assert_eq!(code(0.0, 0.0, 1.0), 4);
        assert_eq!(code(3.0, 0.0, 1.0), 0b1101);
        assert_eq!(code(1023.0, 1023.0, 1023.0), (1 << 30) - 1);
    }
}
