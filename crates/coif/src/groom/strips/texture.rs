//! A texture for strips: strands on a transparent background, thinning towards the tip.
//!
//! Only pixels: files are written by other crates. `u` runs across the strip, `v` from root to tip.

use super::unit;

/// An image with transparency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripTexture {
    /// Pixels across the strip.
    pub width: usize,
    /// Pixels from root to tip.
    pub height: usize,
    /// Red, green, blue, opacity; rows from root to tip. The colours are grey, factors of the colour of the hair.
    pub rgba: Vec<u8>,
}

/// Parameters of the texture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Pixels across.
    pub width: usize,
    /// Pixels from root to tip.
    pub height: usize,
    /// Number of strands across.
    pub strands: usize,
    /// Seed of all random values.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { width: 256, height: 512, strands: 44, seed: 1 }
    }
}

/// Largest number of pixels of a side.
const LARGEST: usize = 8192;

/// One painted strand, in fractions of the image.
struct Painted {
    /// Its u at the root, and the amplitudes of its deviations from it.
    start: f32,
    wander: [f32; 2],
    /// Half its width at the root, and v at its end.
    half: f32,
    end: f32,
    shade: f32,
}

/// Paints strands. Sizes are clamped to 1 to 8192 pixels.
///
/// Model: opacity is the largest coverage of a pixel by any strand, with edges a pixel wide. The colour
/// is that of the nearest strand, also in transparent pixels, so that no dark fringes appear
/// when the image is scaled down.
pub fn paint(settings: &Settings) -> StripTexture {
    let width = settings.width.clamp(1, LARGEST);
    let height = settings.height.clamp(1, LARGEST);
    let count = settings.strands.clamp(1, LARGEST);
    let spacing = 1.0 / count as f32;
    let strands: Vec<Painted> = (0..count)
        .map(|k| {
            let random = |j: u64| unit(settings.seed, 8 * k as u64 + j);
            // End the outermost strands first, so that the strip has no corners.
            let start = (k as f32 + 0.2 + 0.6 * random(0)) * spacing;
            let middle = 1.0 - (2.0 * start - 1.0).abs();
            Painted {
                start,
                wander: [0.05 * (random(1) - 0.5), 0.014 * (random(2) - 0.5)],
                half: spacing * (0.42 + 0.35 * random(3)),
                end: 0.66 + 0.34 * (0.45 * random(4) + 0.55 * middle.min(1.0)),
                shade: 0.62 + 0.38 * random(5),
            }
        })
        .collect();
    let mut rgba = Vec::with_capacity(4 * width * height);
    for y in 0..height {
        let v = (y as f32 + 0.5) / height as f32;
        for x in 0..width {
            let u = (x as f32 + 0.5) / width as f32;
            let (mut opacity, mut nearest, mut shade) = (0.0f32, f32::INFINITY, 1.0);
            for strand in &strands {
                let at =
                    strand.start + strand.wander[0] * v * v + strand.wander[1] * (9.0 * v).sin();
                let left = (1.0 - v / strand.end).max(0.0);
                // Keep the width of the root over two thirds of the length, then taper to a point.
                let half = strand.half * (3.0 * left).min(1.0);
                let aside = (u - at).abs();
                let covered = ((half - aside) * width as f32 + 0.5).clamp(0.0, 1.0);
                opacity = opacity.max(if left > 0.0 { covered } else { 0.0 });
                if aside < nearest {
                    (nearest, shade) = (aside, strand.shade);
                }
            }
            let grey = (255.0 * shade).round() as u8;
            rgba.extend([grey, grey, grey, (255.0 * opacity).round() as u8]);
        }
    }
    StripTexture { width, height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opacity(texture: &StripTexture, rows: std::ops::Range<usize>) -> f32 {
        let pixels = &texture.rgba[rows.start * texture.width * 4..rows.end * texture.width * 4];
        let sum: f32 = pixels.chunks(4).map(|p| f32::from(p[3]) / 255.0).sum();
        sum / (rows.len() * texture.width) as f32
    }

    #[test]
    fn roots_are_dense_and_tips_are_thin() {
        let texture = paint(&Settings { width: 64, height: 128, strands: 12, seed: 3 });
        assert_eq!(texture.rgba.len(), 64 * 128 * 4);
        let (root, tip) = (opacity(&texture, 0..16), opacity(&texture, 120..128));
        assert!(root > 0.6 && root < 1.0, "{root}");
        assert!(tip < 0.4 * root, "{tip} {root}");
        // Transparent pixels have no black colour.
        assert!(texture.rgba.chunks(4).all(|p| p[0] > 100));
    }

    #[test]
    fn sizes_of_zero_are_clamped() {
        assert_eq!(paint(&Settings { width: 0, height: 0, strands: 0, seed: 0 }).rgba.len(), 4);
    }
}
