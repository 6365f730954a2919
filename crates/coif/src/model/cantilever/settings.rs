use crate::groom::Fibre;
use crate::groom::strips::wisps;
use crate::{Error, Result};

/// How strips move.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Time (s) in which hair returns to its groom: more is softer.
    pub style_time: f32,
    /// Share of a sudden move of the root that the tip of long hair does not follow at first: 0 is
    /// a helmet, 1 leaves the tip where it was.
    pub trail: f32,
    /// Drag of still air (1/s): hair that falls freely gets as fast as gravity over this.
    pub damping: f32,
    /// How much of its root's acceleration hair feels as a force: 0 as in the paper, 1 all.
    pub inertia: f32,
    /// Whether the groom is the shape at rest under gravity; if not, it sags.
    pub hold_shape: bool,
    /// How much softer the topmost strips are than those in the middle, and these than the lowest, as a
    /// share of `style_time`.
    pub bend_variation: f32,
    /// How much farther from the body a strip stays than the one of the layer below (m).
    pub layer_distance: f32,
    /// How strands are gathered into strips, if the groom has none.
    pub wisps: wisps::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            style_time: 0.30,
            trail: 0.8,
            damping: 10.0,
            inertia: 1.0,
            hold_shape: true,
            bend_variation: 0.03,
            layer_distance: 0.004,
            wisps: wisps::Settings::default(),
        }
    }
}

/// Gravity (m/s^2) that says how long hair stands up by itself: that of the earth, whatever the scene
/// has, so that hair in space is as stiff as at home.
const EARTH: f32 = 9.81;

impl Settings {
    /// Names the first value that no strip can have.
    pub fn validate(&self) -> Result<()> {
        let share = |v: f32| (0.0..=1.0).contains(&v);
        let positive = |v: f32| v.is_finite() && v > 0.0;
        let checks = [
            ("style_time (s)", self.style_time, positive(self.style_time), "more than 0"),
            ("trail", self.trail, share(self.trail), "0 to 1"),
            ("damping (1/s)", self.damping, positive(self.damping), "more than 0"),
            ("inertia", self.inertia, share(self.inertia), "0 to 1"),
            ("bend_variation", self.bend_variation, share(self.bend_variation), "0 to 1"),
            (
                "layer_distance (m)",
                self.layer_distance,
                self.layer_distance.is_finite() && self.layer_distance >= 0.0,
                "0 or more",
            ),
        ];
        for (name, value, fine, expected) in checks {
            if !fine {
                return Err(Error::OutOfRange { name: name.into(), value: value.into(), expected });
            }
        }
        self.wisps.validate()
    }

    /// How strongly a strip of a length (m) bends when it is held back, in all: see [`super::kernel`].
    ///
    /// Model: a chain that is held back in proportion to how far it goes has the shape
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
        let wrong = Settings { damping: 0.0, ..Settings::default() };
        assert!(wrong.validate().unwrap_err().to_string().contains("damping"));
        let wrong = Settings { trail: f32::NAN, ..Settings::default() };
        assert!(wrong.validate().is_err());
    }
}
