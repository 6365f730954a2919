//! The background, and the conversion from light to 8-bit sRGB.

use glam::Vec3;

use crate::hash::hash;

/// The background of a picture; colours are linear RGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backdrop {
    /// Colour at the upper edge.
    pub top: Vec3,
    /// Colour at the lower edge.
    pub bottom: Vec3,
    /// Soft light added behind the middle of the picture.
    pub glow: Vec3,
    /// Darkening of the corners: 0 none to 1 black.
    pub vignette: f32,
}

impl Default for Backdrop {
    /// A cool grey studio wall, lighter behind the subject.
    fn default() -> Self {
        Self {
            top: Vec3::new(0.080, 0.087, 0.100),
            bottom: Vec3::new(0.058, 0.062, 0.071),
            glow: Vec3::new(0.150, 0.157, 0.170),
            vignette: 0.22,
        }
    }
}

impl Backdrop {
    /// A uniform colour.
    pub fn flat(color: Vec3) -> Self {
        Self { top: color, bottom: color, glow: Vec3::ZERO, vignette: 0.0 }
    }

    /// Linear colour at a position; both coordinates run from -1 to 1, `y` downwards.
    pub(crate) fn at(&self, x: f32, y: f32) -> Vec3 {
        let glow = 1.0 / (1.0 + 2.2 * x * x + 2.0 * (y + 0.1) * (y + 0.1));
        self.top.lerp(self.bottom, 0.5 + 0.5 * y) + self.glow * (glow * glow)
    }

    /// Vignetting factor at a position.
    pub(crate) fn lens(&self, x: f32, y: f32) -> f32 {
        let r2 = 0.5 * (x * x + y * y);
        1.0 - self.vignette.clamp(0.0, 1.0) * r2 * r2
    }
}

/// Start of the shoulder of the tone curve (linear light).
const SHOULDER: f32 = 0.55;

/// Tone curve: keeps dark and middle tones, compresses bright ones smoothly towards white.
fn tone(x: f32) -> f32 {
    if x <= SHOULDER {
        x.max(0.0)
    } else {
        let over = (x - SHOULDER) / (1.0 - SHOULDER);
        SHOULDER + (1.0 - SHOULDER) * over / (1.0 + over)
    }
}

/// The sRGB curve as a table.
#[derive(Debug)]
pub(crate) struct SrgbTable {
    levels: Vec<f32>,
}

impl SrgbTable {
    const SIZE: usize = 4096;

    pub(crate) fn new() -> Self {
        let level = |i: usize| {
            // Indexed by the square root: fine steps where the curve is steep.
            let root = i as f32 / Self::SIZE as f32;
            let c = root * root;
            if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
        };
        Self { levels: (0..=Self::SIZE).map(level).collect() }
    }

    fn level(&self, c: f32) -> f32 {
        let at = c.clamp(0.0, 1.0).sqrt() * Self::SIZE as f32;
        let i = (at as usize).min(Self::SIZE - 1);
        let (a, b) = (self.levels[i], self.levels[i + 1]);
        a + (b - a) * (at - i as f32)
    }

    /// Applies tone curve and sRGB, and a dither of half a step that depends only on the pixel.
    pub(crate) fn encode(&self, light: Vec3, x: usize, y: usize) -> [u8; 3] {
        // Add a little of the brightest channel to all, so that highlights desaturate instead of clipping.
        let spill = (light.max_element() - SHOULDER).max(0.0) * 0.06;
        let mut bits = hash((y as u32) << 16 ^ x as u32);
        let mut out = [0; 3];
        for k in 0..3 {
            let level = self.level(tone(light[k] + spill)) * 255.0;
            let dither = (bits & 0x3ff) as f32 / 1024.0;
            bits >>= 10;
            out[k] = (level + dither).clamp(0.0, 255.0) as u8;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_grey_and_black_keep_their_levels() {
        let table = SrgbTable::new();
        let mean = |c: f32| {
            let sum: u32 =
                (0..1000).map(|i| u32::from(table.encode(Vec3::splat(c), i, 3)[1])).sum();
            sum as f32 / 1000.0
        };
        assert!(mean(0.0) < 0.01, "black stays black");
        assert!((mean(0.2140) - 127.5).abs() < 0.6, "{}", mean(0.2140));
        assert!(table.encode(Vec3::splat(1e9), 0, 0).iter().all(|&level| level >= 254));
        assert_eq!(table.encode(Vec3::splat(-1.0), 0, 0), [0; 3]);
    }

    #[test]
    fn the_tone_curve_rises_without_a_kink() {
        let mut before = -1.0;
        for i in 0..4000 {
            let x = i as f32 * 0.001;
            assert!(tone(x) > before || x == 0.0);
            before = tone(x);
        }
        let slope = (tone(SHOULDER + 1e-3) - tone(SHOULDER)) / 1e-3;
        assert!((slope - 1.0).abs() < 0.01, "{slope}");
    }
}
