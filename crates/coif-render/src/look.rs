//! What hair looks like: colour along the strand, two highlights, transmission, shadow depth.

use glam::Vec3;

/// The appearance of hair. Colours are linear RGB in 0..1.
///
/// Take a preset by name with [`HairLook::named`] and change what you like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HairLook {
    /// Colour at the root.
    pub root_color: Vec3,
    /// Colour at the tip.
    pub tip_color: Vec3,
    /// How much strands differ from each other: 0 all the same, 0.3 natural, 1 wild.
    pub color_variation: f32,
    /// Strength of light scattered many times inside the hair.
    pub diffuse: f32,
    /// Strength of light from everywhere.
    pub ambient: f32,
    /// Strength of the primary highlight: light that bounces off the surface, in its own colour.
    pub primary: f32,
    /// Width of the primary highlight along the strand (sine of an angle).
    pub primary_width: f32,
    /// Shift of the primary highlight towards the root (sine of an angle).
    pub primary_shift: f32,
    /// Strength of the secondary highlight: light that went through the fibre and back, coloured.
    pub secondary: f32,
    /// Width of the secondary highlight along the strand (sine of an angle).
    pub secondary_width: f32,
    /// Shift of the secondary highlight towards the tip (sine of an angle).
    pub secondary_shift: f32,
    /// Strength of light that shines through the fibre from behind.
    pub transmission: f32,
    /// How much light a layer of hair takes away: 1 for black hair, less for light hair, which
    /// glows because light is scattered on. Red, green and blue fall apart by the hair's colour.
    pub shadow_density: f32,
    /// Opacity of a fibre in front of what lies behind: 1 for real hair.
    pub opacity: f32,
}

const PRESETS: [(&str, [f32; 3], [f32; 3]); 7] = [
    ("black", [0.0075, 0.0062, 0.0060], [0.0100, 0.0080, 0.0075]),
    ("dark-brown", [0.026, 0.0135, 0.0085], [0.048, 0.024, 0.0135]),
    ("brown", [0.072, 0.035, 0.0175], [0.150, 0.076, 0.036]),
    ("blond", [0.37, 0.235, 0.105], [0.62, 0.445, 0.235]),
    ("red", [0.150, 0.036, 0.0090], [0.300, 0.080, 0.0195]),
    ("grey", [0.220, 0.222, 0.228], [0.330, 0.330, 0.335]),
    ("white", [0.66, 0.645, 0.61], [0.78, 0.765, 0.73]),
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
            color_variation: 0.3,
            diffuse: 0.62 + 0.1 * lightness,
            ambient: 0.30,
            primary: 0.20 - 0.06 * lightness,
            primary_width: 0.13,
            primary_shift: 0.07,
            secondary: 0.55,
            secondary_width: 0.24,
            secondary_shift: 0.10,
            transmission: 0.55,
            shadow_density: 1.0,
            opacity: 1.0,
        }
    }

    /// Extinction per unit of optical depth in red, green and blue.
    ///
    /// A fibre of the colour `c` passes on about the share `sqrt(c)` of what it meets, forward
    /// more than sideways; what it passes on is not lost to the hair below.
    pub(crate) fn extinction(&self) -> Vec3 {
        let color = ((self.root_color + self.tip_color) * 0.5).clamp(Vec3::ZERO, Vec3::ONE);
        let passed = Vec3::new(color.x.sqrt(), color.y.sqrt(), color.z.sqrt());
        (Vec3::splat(1.0) - passed * 0.88) * (0.32 * self.shadow_density.max(0.0))
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
