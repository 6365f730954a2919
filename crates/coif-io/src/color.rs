//! Colours of files: sRGB in files of other programs, linear in Coif.

use glam::Vec3;

/// The linear colour of an sRGB one (IEC 61966-2-1), in double precision; also beyond 0 to 1.
pub(crate) fn linear_from_srgb(color: Vec3) -> Vec3 {
    let channel = |c: f32| {
        let c = f64::from(c);
        let linear = if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        // A huge value of a damaged file stays finite.
        linear.min(f64::from(f32::MAX)) as f32
    };
    Vec3::new(channel(color.x), channel(color.y), channel(color.z))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the standard: black, the joint of both parts, middle grey, white.
    #[test]
    fn srgb_becomes_linear() {
        for (srgb, linear) in [
            (0.0, 0.0),
            (0.04045, 0.003_130_8),
            (0.5, 0.214_041_14),
            (1.0, 1.0),
            (-0.1, -0.007_739_94),
        ] {
            let found = linear_from_srgb(Vec3::splat(srgb)).y;
            assert!((found - linear).abs() < 1e-7, "{srgb}: {found} {linear}");
        }
        assert!(linear_from_srgb(Vec3::splat(f32::MAX)).is_finite());
    }
}
