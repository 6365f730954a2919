use super::NAME;
use crate::groom::Fibre;
use crate::groom::strips::wisps;
use crate::params::{Ramp, parameters};

parameters! {
    /// Parameters of the cantilever model.
    pub struct Settings of NAME {
        /// Time in which hair returns to its groom: more is softer.
        style_time: Ramp = 0.30.into(), "s", 1e-3..=1000.0;
        /// Drag of still air: hair that falls freely gets as fast as gravity over this.
        damping: Ramp = 10.0.into(), "1/s", 1e-3..=1000.0;
        /// Friction on the body, relative to what the body has.
        friction: Ramp = 1.0.into(), "", 0.0..=100.0;
        /// Whether the groom is the shape at rest under gravity; if not, it sags.
        hold_shape: bool = true;
        /// Fraction of a sudden displacement of the root that the tip of long hair does not follow at first: 0 is rigid
        /// hair, 1 leaves the tip in place.
        trail: f32 = 0.8, "", 0.0..=1.0;
        /// Fraction of the acceleration of its root that acts on hair as a force: 0 as in the paper, 1 all.
        inertia: f32 = 1.0, "", 0.0..=1.0;
        /// How much softer the topmost strips are than those in the middle, and these than the lowest, as a fraction of
        /// the style time.
        bend_variation: f32 = 0.03, "", 0.0..=1.0;
        /// Distance between adjacent layers of strips, as clearance from the body.
        layer_distance: f32 = 0.004, "m", 0.0..=0.1;
        nested {
            /// Grouping of strands into strips, if the groom has none.
            wisps: wisps::Settings,
        }
    }
}

/// Gravity (m/s^2) in the length up to which hair stands: that of the earth for all scenes, so
/// that the stiffness of hair does not depend on gravity.
const EARTH: f32 = 9.81;

impl Settings {
    /// Whether a parameter varies from root to tip.
    pub(super) fn varies(&self) -> bool {
        [&self.style_time, &self.damping, &self.friction].iter().any(|r| r.constant().is_none())
    }

    /// Total compliance D of a strip of a length (m): see [`super::kernel`].
    ///
    /// Model: after a sudden displacement of its root, a chain under drag proportional to its displacement has the shape
    /// `cos(sqrt(D) s/L)`, so its tip follows by the fraction `cos(sqrt(D))`.
    /// Hair shorter than the length up to which it stands, `(E I / (rho A g))^(1/3)`, is stiffer by
    /// the cube of its length, like a beam under its own weight.
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
    fn hair_of_five_centimetres_has_half_the_compliance_of_long_hair() {
        let (settings, fibre) = (Settings::default(), Fibre::default());
        let full = (1.0 - settings.trail).acos().powi(2);
        let half = settings.compliance(&fibre, 0.0498);
        assert!((half / full - 0.5).abs() < 0.01, "{half} of {full}");
        assert!(settings.compliance(&fibre, 0.4) > 0.99 * full);
        assert!(settings.compliance(&fibre, 0.01) < 0.01 * full);
    }

    #[test]
    fn errors_name_the_invalid_parameter() {
        assert_eq!(Settings::default().validate(), Ok(()));
        let wrong = Settings { damping: 0.0.into(), ..Settings::default() };
        assert!(wrong.validate().unwrap_err().to_string().contains("damping"));
        let wrong = Settings { trail: f32::NAN, ..Settings::default() };
        assert!(wrong.validate().is_err());
    }
}
