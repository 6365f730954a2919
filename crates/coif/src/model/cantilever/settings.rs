use super::NAME;
use crate::groom::Fibre;
use crate::groom::strips::wisps;
use crate::params::{Ramp, parameters};

parameters! {
    /// How strips move.
    pub struct Settings of NAME {
        /// Time in which hair returns to its groom: more is softer.
        style_time: Ramp = 0.30.into(), "s", 1e-3..=1000.0;
        /// Drag of still air: hair that falls freely gets as fast as gravity over this.
        damping: Ramp = 10.0.into(), "1/s", 1e-3..=1000.0;
        /// Friction on the body, relative to what the body has.
        friction: Ramp = 1.0.into(), "", 0.0..=100.0;
        /// Whether the groom is the shape at rest under gravity; if not, it sags.
        hold_shape: bool = true;
        /// Fraction of a sudden move of the root that the tip of long hair does not follow at first: 0 is a helmet, 1
        /// leaves the tip where it was.
        trail: f32 = 0.8, "", 0.0..=1.0;
        /// How much of its root's acceleration hair feels as a force: 0 as in the paper, 1 all.
        inertia: f32 = 1.0, "", 0.0..=1.0;
        /// How much softer the topmost strips are than those in the middle, and these than the lowest, as a fraction of
        /// the style time.
        bend_variation: f32 = 0.03, "", 0.0..=1.0;
        /// How much farther from the body a strip stays than the one of the layer below.
        layer_distance: f32 = 0.004, "m", 0.0..=0.1;
        nested {
            /// How strands are gathered into strips, if the groom has none.
            wisps: wisps::Settings,
        }
    }
}

/// Gravity (m/s^2) for the length of hair that stands up by itself: that of the earth, independent of the scene, so
/// that hair in weightlessness is as stiff as on earth.
const EARTH: f32 = 9.81;

impl Settings {
    /// Whether joints differ by their place on the strip.
    pub(super) fn varies(&self) -> bool {
        [&self.style_time, &self.damping, &self.friction].iter().any(|r| r.constant().is_none())
    }

    /// Total compliance of a strip of a length (m): see [`super::kernel`].
    ///
    /// Model: a chain under drag in proportion to its displacement has the shape
    /// `cos(sqrt(D) s/L)` after a sudden move of its root, so its tip follows `cos(sqrt(D))` of it.
    /// Hair shorter than the length that stands up by itself, `(E I / (rho A g))^(1/3)`, is stiffer by
    /// the cube of its length, as a beam under its own weight is.
    pub(super) fn compliance(&self, fibre: &Fibre, length: f32) -> f32 {
        let radius2 = fibre.radius * fibre.radius;
        let stands3 = fibre.young_modulus * radius2 / (4.0 * fibre.density * EARTH);
        let length3 = length * length * length;
        let full = (1.0 - self.trail).acos();
        full * full * length3 / (length3 + stands3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn human_hair_stands_for_five_centimetres_and_long_hair_trails() {
        let (settings, fibre) = (Settings::default(), Fibre::default());
        let full = (1.0 - settings.trail).acos().powi(2);
        let half = settings.compliance(&fibre, 0.0498);
        assert!((half / full - 0.5).abs() < 0.01, "{half} of {full}");
        assert!(settings.compliance(&fibre, 0.4) > 0.99 * full);
        assert!(settings.compliance(&fibre, 0.01) < 0.01 * full);
    }

    #[test]
    fn impossible_values_are_named() {
        assert_eq!(Settings::default().validate(), Ok(()));
        let wrong = Settings { damping: 0.0.into(), ..Settings::default() };
        assert!(wrong.validate().unwrap_err().to_string().contains("damping"));
        let wrong = Settings { trail: f32::NAN, ..Settings::default() };
        assert!(wrong.validate().is_err());
    }
}
