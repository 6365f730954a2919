//! The look of hair: colour along the strand, two highlights, transmission, shadow depth.

use glam::Vec3;

/// The appearance of hair. Colours are linear RGB in 0..1.
///
/// Start from a preset ([`HairLook::named`]) and change its fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HairLook {
    /// Colour at the root.
    pub root_color: Vec3,
    /// Colour at the tip.
    pub tip_color: Vec3,
    /// Variation of colour between strands: 0 none, 0.4 natural, 1 strong.
    pub color_variation: f32,
    /// Strength of multiply scattered light.
    pub diffuse: f32,
    /// Strength of ambient light.
    pub ambient: f32,
    /// Strength of the primary highlight: light reflected at the surface, nearly in its own colour.
    pub primary: f32,
    /// Width of the primary highlight along the strand (sine of an angle).
    pub primary_width: f32,
    /// Shift of the primary highlight towards the root (sine of an angle).
    pub primary_shift: f32,
    /// Strength of the secondary highlight: coloured light that passed through the fibre and back.
    pub secondary: f32,
    /// Width of the secondary highlight along the strand (sine of an angle).
    pub secondary_width: f32,
    /// Shift of the secondary highlight towards the tip (sine of an angle).
    pub secondary_shift: f32,
    /// Strength of light transmitted through the fibre from behind.
    pub transmission: f32,
    /// Factor of the extinction of light by hair, 1 by default. Extinction follows from the colour as well, separately
    /// for red, green and blue: light hair absorbs less than dark hair.
    pub shadow_density: f32,
    /// Opacity of a fibre: 1 for real hair.
    pub opacity: f32,
}

const PRESETS: [(&str, [f32; 3], [f32; 3]); 7] = [
    ("black", [0.0070, 0.0060, 0.0058], [0.0090, 0.0074, 0.0070]),
    ("dark-brown", [0.0170, 0.0092, 0.0062], [0.0300, 0.0155, 0.0092]),
    ("brown", [0.042, 0.0210, 0.0112], [0.086, 0.043, 0.0210]),
    ("blond", [0.185, 0.112, 0.050], [0.39, 0.262, 0.130]),
    ("red", [0.082, 0.0185, 0.0068], [0.165, 0.043, 0.0135]),
    ("grey", [0.165, 0.167, 0.172], [0.270, 0.270, 0.275]),
    ("white", [0.36, 0.353, 0.340], [0.46, 0.452, 0.436]),
];

impl Default for HairLook {
    fn default() -> Self {
        let (_, root, tip) = PRESETS[2];
        Self::of_colors(Vec3::from(root), Vec3::from(tip))
    }
}

impl HairLook {
    /// Names of the presets.
    pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
        PRESETS.iter().map(|preset| preset.0)
    }

    /// The preset of this name, or `None`.
    pub fn named(name: &str) -> Option<Self> {
        let (_, root, tip) = PRESETS.iter().find(|preset| preset.0 == name)?;
        Some(Self::of_colors(Vec3::from(*root), Vec3::from(*tip)))
    }

    /// A natural look for hair of these colours: dark hair shines, light hair glows.
    pub fn of_colors(root_color: Vec3, tip_color: Vec3) -> Self {
        let lightness = luminance((root_color + tip_color) * 0.5).max(0.0).sqrt().min(1.0);
        Self {
            root_color,
            tip_color,
            color_variation: 0.4,
            diffuse: 0.60 - 0.10 * lightness,
            ambient: 0.30,
            primary: 0.17 - 0.05 * lightness,
            primary_width: 0.10,
            primary_shift: 0.07,
            secondary: 1.1 - 0.5 * lightness,
            secondary_width: 0.20,
            secondary_shift: 0.10,
            transmission: 0.55,
            shadow_density: 1.0,
            opacity: 1.0,
        }
    }

    /// Extinction per unit of optical depth in red, green and blue.
    ///
    /// A fibre of the colour `c` transmits about the fraction `sqrt(c)` of incident light, forward more than sideways;
    /// transmitted light reaches the hair below.
    pub(crate) fn extinction(&self) -> Vec3 {
        let color = ((self.root_color + self.tip_color) * 0.5).clamp(Vec3::ZERO, Vec3::ONE);
        let passed = Vec3::new(color.x.sqrt(), color.y.sqrt(), color.z.sqrt());
        (Vec3::splat(1.0) - passed * 0.84) * (0.36 * self.shadow_density.max(0.0))
    }
}

/// Brightness of a linear colour (Rec. 709 weights).
pub(crate) fn luminance(color: Vec3) -> f32 {
    color.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_preset() {
        assert_eq!(HairLook::names().len(), 7);
        for name in HairLook::names() {
            let look = HairLook::named(name).unwrap();
            assert!(look.root_color.min_element() > 0.0 && look.tip_color.max_element() < 1.0);
        }
        assert_eq!(HairLook::named("plaid"), None);
    }

    #[test]
    fn light_hair_lets_more_light_through() {
        let extinction = |name| luminance(HairLook::named(name).unwrap().extinction());
        assert!(extinction("black") > extinction("brown"));
        assert!(extinction("brown") > extinction("blond"));
        assert!(extinction("blond") > extinction("white"));
        let red = HairLook::named("red").unwrap().extinction();
        assert!(red.x < red.y && red.y < red.z, "red hair passes red light: {red}");
    }
}
